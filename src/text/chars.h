/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chars.h - what a character is, for the tokenizer.
 *
 * ASCII is answered from a table, the rest by utf8proc and script ranges.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_CHARS_H
#define TEXT_CHARS_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum char_class {
    CHAR_SPACE,
    CHAR_NEWLINE,
    CHAR_LOWER, /* also letters without case */
    CHAR_UPPER,
    CHAR_DIGIT,
    CHAR_MARK, /* combining: belongs to the letter before */
    CHAR_HAN,  /* Han and kana: no spaces between words */
    CHAR_SEA,  /* Thai, Lao, Khmer, Myanmar: no spaces, with marks */
    CHAR_HANGUL,
    CHAR_EMOJI,
    CHAR_CURRENCY,
    CHAR_IGNORE, /* zero-width, controls, invalid bytes */
    CHAR_PUNCT
};

extern const uint8_t char_ascii[128];

/* Decode at `at` < text.len; `*out_len` bytes (1 for an invalid one, U+FFFD).
 */
uint32_t char_decode(struct str text, size_t at, uint32_t *out_len);
/* The class of a code point past ASCII. */
enum char_class char_class_of(uint32_t c);

static inline enum char_class char_at(struct str text, size_t at,
                                      uint32_t *out_c, uint32_t *out_len)
{
    unsigned char byte = (unsigned char)text.s[at];

    if (byte < 0x80) {
        *out_c = byte;
        *out_len = 1;
        return (enum char_class)char_ascii[byte];
    }
    *out_c = char_decode(text, at, out_len);
    return char_class_of(*out_c);
}

/* Upper, lower, digit: what an identifier is made of. */
static inline bool char_is_word(enum char_class c)
{
    return c == CHAR_LOWER || c == CHAR_UPPER || c == CHAR_DIGIT ||
           c == CHAR_MARK;
}

static inline bool char_is_letter(enum char_class c)
{
    return c == CHAR_LOWER || c == CHAR_UPPER;
}

/* ’ and ʼ are apostrophes inside a word. */
static inline bool char_is_apostrophe(uint32_t c)
{
    return c == '\'' || c == 0x2019 || c == 0x02bc;
}

#endif
