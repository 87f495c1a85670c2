/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_internal.h - what the files of secret_scan.h share. Private to text/.
 */
#ifndef TEXT_SECRET_INTERNAL_H
#define TEXT_SECRET_INTERNAL_H

#include "text/secret_scan.h"

#include <stdint.h>

/* What the rest of a key may hold. */
enum secret_rest {
    REST_ALNUM,  /* letters and digits */
    REST_UPPER,  /* capitals and digits */
    REST_HEX,    /* hexadecimal */
    REST_WORD,   /* letters, digits, _ and - */
    REST_DOTTED, /* the same and dots */
};

/* A prefix by which a provider's keys are known. */
struct secret_prefix {
    const char *text;
    enum secret_rest rest;
    uint16_t min; /* bytes of the rest */
    uint16_t max;
};
extern const struct secret_prefix secret_prefixes[]; /* by first letter */
extern const size_t secret_n_prefixes;

/* A word that says what comes next. */
enum secret_say { SAY_PASSWORD, SAY_PIN, SAY_KEY, SAY_SPACELESS };
struct secret_label {
    const char *text; /* in small letters */
    enum secret_say say;
};
extern const struct secret_label secret_labels[];
extern const size_t secret_n_labels;

/* "is" and its like: a space-separated list; those written without spaces. */
extern const char *const secret_is[];
extern const char *const secret_is_spaceless[];
/* What may stand there and is no password: "required", "wrong", "falsch". */
bool secret_is_plain_word(struct str word);

static inline bool secret_is_alnum(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
}

static inline unsigned char secret_small(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

/* Do the bytes at `at` begin with `word`, whatever their case? */
bool secret_starts(struct str text, size_t at, const char *word);

/* A password or key said as such, whose label begins at `at`. */
bool secret_said(struct str text, size_t at, struct secret_span *out);

#endif
