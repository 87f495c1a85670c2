/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_internal.h - what the files of the tokenizer share.
 *
 * token.c walks the text, compound.c reads what is more than a plain word,
 * spaceless.c the scripts without spaces, stem and stop words are settled in
 * token_language.c once all words are seen, sentence.c marks sentences.
 */
#ifndef TEXT_TOKEN_INTERNAL_H
#define TEXT_TOKEN_INTERNAL_H

#include "base/arena.h"
#include "base/str.h"
#include "text/chars.h"
#include "text/token.h"

#include <stdbool.h>

struct scan {
    struct arena *arena;
    struct str text;
    const char *lower; /* the text with ASCII letters lower-cased */
    struct token *items;
    size_t count;
    size_t cap;
    uint16_t pending;  /* TOKEN_AFTER_... flags for the next token */
    uint16_t area;     /* TOKEN_IN_... flags that hold here */
    size_t inline_end; /* end of the inline code span we are in, or 0 */
    /* Evidence of the language: function words met. */
    uint32_t hits[TEXT_LANGUAGES];
    uint32_t own_hits[TEXT_LANGUAGES]; /* not English words as well */
    uint32_t n_words;
    uint32_t n_unknown;
    uint32_t n_open_ends; /* unknown words that end in a or o */
    bool is_full;         /* limit reached, or out of memory */
    bool is_out_of_memory;
};

/* The shape of one run of characters that may be one token. */
struct extent {
    size_t from;
    size_t to;
    size_t body; /* first byte past a leading "/", "./", "@", "#" */
    uint16_t letters;
    uint16_t uppers;
    uint16_t digits;
    uint16_t dots;
    uint16_t dashes;
    uint16_t slashes;
    uint16_t colons;
    uint16_t commas;
    uint16_t apostrophes;
    uint16_t others; /* underscore, @, &, ::, ++, # */
    bool is_camel;
    bool has_wide; /* bytes past ASCII */
    bool starts_upper;
    bool starts_lower;
};

/* Append a token; NULL when full. */
struct token *scan_push(struct scan *scan, size_t from, size_t to,
                        uint16_t kind, uint16_t flags);
/* Append a word, number or code of bytes [from, to) with its flags. */
struct token *scan_push_run(struct scan *scan, const struct extent *extent,
                            uint16_t kind, uint16_t flags);

/* Anything that begins with a word character; returns where it ends. */
size_t scan_compound(struct scan *scan, size_t from, size_t body);
/* A run of Han and kana, of Thai and its like, of Hangul. */
size_t scan_spaceless(struct scan *scan, size_t at, enum char_class class);
/* One emoji with its modifiers. */
size_t scan_emoji(struct scan *scan, size_t at);

/* Note a word for the language guess; sets TOKEN_KNOWN, CHAT and the stem. */
void scan_note_word(struct scan *scan, struct token *token);
/* Settle the language, then stems and stop words of all tokens. */
void scan_settle_language(struct scan *scan, enum text_language *out);

/* Set TOKEN_BREAK and TOKEN_SENTENCE_START. */
void sentence_mark(struct str text, struct tokens *tokens);

#endif
