/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.c - see digits.h.
 */
#include "text/digits.h"

#include "text/chars.h"

#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

static utf8proc_category_t category(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c);
}

/* Unicode has the digits of a script in order from 0, ten by ten. */
static char ascii_digit(uint32_t c)
{
    uint32_t n = 0;

    while (category(c - n - 1) == UTF8PROC_CATEGORY_ND) {
        n++;
    }
    return (char)('0' + n % 10);
}

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.s[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

struct str digits_plain(struct arena *arena, struct str text)
{
    char *out;
    size_t len = 0;
    uint32_t n;

    if (is_ascii(text)) {
        return text;
    }
    out = arena_alloc(arena, text.len);
    if (!out) {
        return (struct str){NULL, 0};
    }
    for (size_t at = 0; at < text.len; at += n) {
        uint32_t c = char_decode(text, at, &n);

        if (c >= 0x80 && category(c) == UTF8PROC_CATEGORY_ND) {
            out[len++] = ascii_digit(c);
        } else {
            memcpy(out + len, text.s + at, n);
            len += n;
        }
    }
    return (struct str){out, len};
}

/* Superscripts and subscripts. */
static bool is_small(uint32_t c)
{
    return c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0x2070 && c <= 0x208F);
}

bool digits_next_sign(struct str text, size_t *at, struct str *out)
{
    uint32_t n;

    for (; *at < text.len; *at += n) {
        uint32_t c = char_decode(text, *at, &n);
        utf8proc_category_t kind =
            c < 0x80 ? UTF8PROC_CATEGORY_CN : category(c);

        if ((kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO) &&
            !(is_small(c) && *at > 0 &&
              isalpha((unsigned char)text.s[*at - 1]))) {
            *out = str_sub(text, *at, *at + n);
            *at += n;
            return true;
        }
    }
    return false;
}
