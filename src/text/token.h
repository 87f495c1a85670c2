/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - split text into tokens.
 *
 * Tokens carry their byte range in the source, a folded form (NFKC, case
 * folded) and what shape they have. Identifiers, paths, versions and URLs come
 * whole, followed by their parts (flag TOKEN_PART); scripts without spaces
 * (Han, kana, Hangul not, Thai, Lao, Khmer) come as overlapping bigrams.
 * Works on any bytes; invalid UTF-8 is skipped. Everything is in the arena.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_TOKEN_H
#define TEXT_TOKEN_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

enum token_kind {
    TOKEN_WORD,
    TOKEN_NUMBER,  /* 42, 3.5, 1,000, 401 */
    TOKEN_CODE,    /* identifier, path, version, e-mail, URL kept whole */
    TOKEN_BIGRAM,  /* of a script without spaces */
    TOKEN_SYMBOL,  /* emoji and other symbols that carry meaning */
    TOKEN_PUNCT    /* . ? ! , ; : quotes, brackets: for rules, not for search */
};

enum token_flags {
    TOKEN_CAPITAL = 1 << 0,        /* first letter upper-case in the source */
    TOKEN_ALL_CAPS = 1 << 1,       /* two letters or more, all upper-case */
    TOKEN_SENTENCE_START = 1 << 2, /* first word of a sentence */
    TOKEN_STOP = 1 << 3,           /* stop word of the token's language */
    TOKEN_PART = 1 << 4,           /* part of the TOKEN_CODE before it */
    TOKEN_IN_CODE = 1 << 5,        /* inside a fenced or inline code span */
    TOKEN_IN_QUOTE = 1 << 6        /* inside a quoted (>) line */
};

struct token {
    struct str folded; /* comparable form */
    struct str stem;   /* Snowball stem of `folded`; equal to it for non-words */
    uint32_t from;     /* byte range in the source */
    uint32_t to;
    uint16_t kind;  /* enum token_kind */
    uint16_t flags; /* enum token_flags */
};

struct tokens {
    struct token *items;
    size_t count;
};

/* All tokens in order. Text past 4 GiB - 1 is CLEW_TOO_LARGE. */
enum clew_status tokens_of(struct arena *arena, struct str text,
                           struct tokens *out) CLEW_MUST_CHECK;

/*
 * The terms to search by: stems of non-stop words, codes with their parts,
 * numbers, bigrams, symbols; in order, with repeats. If only stop words are
 * there, they are the terms.
 */
enum clew_status terms_of(struct arena *arena, const struct tokens *tokens,
                          struct str **out_terms,
                          size_t *out_count) CLEW_MUST_CHECK;

#endif
