/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - validate, walk and cut UTF-8; normal forms are text/fold.h's.
 *
 * Thread-safety: pure functions.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Offset of the first invalid byte, or text.len if all is valid. Surrogates,
 * overlong forms and values past U+10FFFF are invalid. */
size_t utf8_valid_len(struct str text);
bool utf8_is_valid(struct str text);
/*
 * The code point at `*at`, which moves past it; an invalid byte gives U+FFFD
 * and moves by one. Only call with *at < text.len.
 */
uint32_t utf8_next(struct str text, size_t *at);
/* Bytes written (1-4) for `c`; `out` holds 4. */
size_t utf8_put(uint32_t c, char *out);
/* Code points in valid or invalid text. */
size_t utf8_count(struct str text);
/* The longest prefix of at most `max_bytes` bytes that cuts no code point: how
 * many bytes, and itself. JSON, PostgreSQL and models take no other. */
size_t utf8_cut(struct str text, size_t max_bytes);
struct str utf8_head(struct str text, size_t max_bytes);
/* Its bytes, where code points are counted. */
size_t utf8_cut_chars(struct str text, size_t max_chars);
/* Columns on a terminal: ideographs take two, combining marks none. */
size_t utf8_width(struct str text);
/* The longest prefix of at most so many columns, in bytes. */
size_t utf8_cut_width(struct str text, size_t columns);

#endif
