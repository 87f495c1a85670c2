/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.c - normal forms by utf8proc, without its heap. See fold.h.
 */
#include "text/fold.h"

#include "base/limits.h"
#include "text/chars.h"

#include <utf8proc.h>

/* NFKC makes at most 18 code points of one (U+FDFA). */
#define WORK_CHARS (LIMIT_TOKEN_BYTES * 9)

static bool keep(struct arena *arena, struct str text, struct str *out)
{
    char *copy = arena_copy(arena, text.s, text.len);

    if (!copy) {
        return false;
    }
    *out = (struct str){copy, text.len};
    return true;
}

/* Normalise into `work`; the length in code points, or -1. */
static utf8proc_ssize_t decompose(struct str text, utf8proc_int32_t *work,
                                  utf8proc_option_t options)
{
    utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)text.s,
                                            (utf8proc_ssize_t)text.len, work,
                                            WORK_CHARS, options);

    return n > WORK_CHARS ? -1 : n;
}

bool fold_token(struct arena *arena, struct str text, struct str *out)
{
    /* one more: utf8proc writes a terminator */
    utf8proc_int32_t work[WORK_CHARS + 1];
    utf8proc_ssize_t n =
        decompose(text, work,
                  UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                      UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);

    if (n < 0) {
        return keep(arena, text, out); /* invalid bytes: as they are */
    }
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        if (char_is_apostrophe((uint32_t)work[i])) {
            work[i] = '\'';
        }
    }
    n = utf8proc_reencode(work, n, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (n < 0) {
        return keep(arena, text, out);
    }
    return keep(arena, (struct str){(const char *)work, (size_t)n}, out);
}

/* Letters whose marks do not make another letter of the alphabet. */
static bool loses_marks(utf8proc_int32_t c)
{
    return c < 0x0400 || (c >= 0x1e00 && c < 0x2000);
}

static bool is_arabic_point(utf8proc_int32_t c)
{
    return (c >= 0x064b && c <= 0x0652) || c == 0x0670 || c == 0x0640;
}

bool fold_marks(struct arena *arena, struct str text, struct str *out)
{
    utf8proc_int32_t work[WORK_CHARS + 1];
    utf8proc_ssize_t n;
    utf8proc_ssize_t kept = 0;
    bool after_latin = false;

    n = decompose(text, work, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    if (n < 0) {
        *out = text;
        return true;
    }
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        bool is_mark = char_class_of((uint32_t)work[i]) == CHAR_MARK;

        if ((is_mark && after_latin && work[i] >= 0x80) ||
            is_arabic_point(work[i])) {
            continue;
        }
        if (!is_mark) {
            after_latin = loses_marks(work[i]);
        }
        work[kept++] = work[i];
    }
    if (kept == n) {
        *out = text;
        return true;
    }
    kept = utf8proc_reencode(work, kept, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (kept < 0) {
        *out = text;
        return true;
    }
    return keep(arena, (struct str){(const char *)work, (size_t)kept}, out);
}
