/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - split text into tokens.
 *
 * Tokens carry their byte range in the source, a folded form (NFKC, case
 * folded) and what shape they have. Identifiers, paths, versions and URLs come
 * whole, followed by their parts (flag TOKEN_PART), and so do words joined by
 * hyphens. Scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese) come
 * as overlapping bigrams, Han bigrams followed by their first character as a
 * part; Korean words of three syllables or more are followed by their bigrams.
 *
 * `folded` is NFKC and case folded; thousands separators ("1,000") and the
 * dots of acronyms ("U.S.", "p.m.") are dropped, curly apostrophes are made
 * straight. `stem` is Snowball's for the text's language without diacritics,
 * so "café" and "cafe" meet; for hyphenated words it is that of the letters
 * joined ("e-mail" meets "email").
 *
 * At most LIMIT_TEXT_TOKENS tokens are made of one text; `end` says how far.
 * Works on any bytes; invalid UTF-8 is skipped. Everything is in the arena,
 * points into the text or into constant tables.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_TOKEN_H
#define TEXT_TOKEN_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/language.h"

#include <stdint.h>

enum token_kind {
    TOKEN_WORD,
    TOKEN_NUMBER, /* 42, 3.5, 1,000, 401 */
    TOKEN_CODE,   /* identifier, path, version, e-mail, URL kept whole */
    TOKEN_BIGRAM, /* of a script without spaces */
    TOKEN_SYMBOL, /* emoji and other symbols that carry meaning */
    TOKEN_PUNCT   /* . ? ! , ; : quotes, brackets: for rules, not for search */
};

enum token_flags {
    TOKEN_CAPITAL = 1 << 0,        /* first letter upper-case in the source */
    TOKEN_ALL_CAPS = 1 << 1,       /* two letters or more, all upper-case */
    TOKEN_SENTENCE_START = 1 << 2, /* first word of a sentence */
    TOKEN_STOP = 1 << 3,           /* stop word of the token's language */
    TOKEN_PART = 1 << 4,           /* part of the compound token before it */
    TOKEN_IN_CODE = 1 << 5,        /* inside a fenced or inline code span */
    TOKEN_IN_QUOTE = 1 << 6,       /* inside a quoted (>) line */
    TOKEN_AFTER_SPACE = 1 << 7,    /* white space lies before it */
    TOKEN_AFTER_LINE = 1 << 8,     /* a line end lies before it */
    TOKEN_AFTER_BLANK = 1 << 9,    /* an empty line lies before it */
    TOKEN_IN_FENCE = 1 << 10,      /* inside a fenced block, fences included */
    TOKEN_BREAK = 1 << 11,         /* first token of a sentence, any kind */
    TOKEN_KNOWN = 1 << 12,         /* a word of the shipped lexicon */
    TOKEN_CHAT = 1 << 13,          /* small talk: "please", "okay", "want" */
    TOKEN_LOWER_START = 1 << 14    /* first letter lower-case in the source */
};

struct token {
    struct str folded; /* comparable form */
    struct str stem;   /* Snowball stem of `folded`; equal for non-words */
    uint32_t from;     /* byte range in the source */
    uint32_t to;
    uint16_t kind;  /* enum token_kind */
    uint16_t flags; /* enum token_flags */
};

struct tokens {
    struct token *items;
    size_t count;
    size_t end; /* bytes of the text that were looked at */
    enum text_language language;
};

/* All tokens in order. Text past 4 GiB - 1 is CLEW_TOO_LARGE. */
enum clew_status tokens_of(struct arena *arena, struct str text,
                           struct tokens *out) CLEW_MUST_CHECK;

/*
 * The terms to search by: stems of non-stop words, codes with their parts,
 * numbers, bigrams, symbols; in order, with repeats. If only stop words are
 * there, they are the terms. Where the language is another than English, or
 * cannot be told (a query of two words), a word may give several terms: its
 * stem by each language that can be meant, so that question and answer meet.
 */
enum clew_status terms_of(struct arena *arena, const struct tokens *tokens,
                          struct str **out_terms,
                          size_t *out_count) CLEW_MUST_CHECK;

#endif
