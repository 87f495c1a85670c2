/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - a borrowed slice of bytes, and small helpers on it.
 *
 * A slice never owns its bytes and need not be NUL-terminated. The helpers
 * are ASCII-only on purpose: anything that must know Unicode is in utf8.h.
 * Thread-safety: values, no shared state.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *s;
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

/* A slice of a C string; NULL gives the empty slice. */
struct str str_of(const char *text);
bool str_eq(struct str a, struct str b);
/* ASCII case-insensitive. */
bool str_ieq(struct str a, struct str b);
bool str_starts(struct str text, struct str prefix);
bool str_istarts(struct str text, struct str prefix);
bool str_ends(struct str text, struct str suffix);
/* Offset of the first match at or after `from`, or SIZE_MAX. */
size_t str_find(struct str text, struct str needle, size_t from);
size_t str_ifind(struct str text, struct str needle, size_t from);
/* Without ASCII white space at both ends. */
struct str str_trim(struct str text);
/* Bytes [from, to), clamped to the slice. */
struct str str_sub(struct str text, size_t from, size_t to);
/* Cut `*rest` at the next `sep`; false when nothing is left. */
bool str_split(struct str *rest, char sep, struct str *out_part);
/* A whole decimal number; false on anything else or overflow. */
bool str_parse_int(struct str text, int64_t *out_value);
/* A finite decimal number, "-1", ".5" or "2.5e3", and nothing else that
 * strtod() takes: no hexadecimal, no blanks, no names. */
bool str_parse_real(struct str text, double *out_value);
/* 64-bit FNV-1a, for hash tables (not for security). */
uint64_t str_hash(struct str text);
/* Order by bytes, as memcmp with length: <0, 0, >0. */
int str_cmp(struct str a, struct str b);

/* "query, user_id, limit": names of a list that NULL ends (or NULL), as far as
 * there is room, for an error that tells what there is. */
#define STR_NAMES_SIZE 200
void str_names(const char *const *names, char out[STR_NAMES_SIZE]);

#endif
