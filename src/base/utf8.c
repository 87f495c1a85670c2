/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - validate, walk and cut UTF-8. See utf8.h.
 */
#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#include <utf8proc.h>

#define REPLACEMENT 0xFFFDu

static bool is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* Bytes of the valid sequence at `s`, of which `len` > 0 are there; 0 if it is
 * not valid. */
static size_t sequence_len(const unsigned char *s, size_t len)
{
    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        return len >= 2 && is_tail(s[1]) ? 2 : 0;
    }
    if ((s[0] & 0xF0) == 0xE0) {
        bool ok = len >= 3 && is_tail(s[1]) && is_tail(s[2]) &&
                  (s[0] != 0xE0 || s[1] >= 0xA0) &&
                  (s[0] != 0xED || s[1] <= 0x9F);

        return ok ? 3 : 0;
    }
    if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        bool ok = len >= 4 && is_tail(s[1]) && is_tail(s[2]) && is_tail(s[3]) &&
                  (s[0] != 0xF0 || s[1] >= 0x90) &&
                  (s[0] != 0xF4 || s[1] <= 0x8F);

        return ok ? 4 : 0;
    }
    return 0;
}

/* Bytes of ASCII at the start. */
static size_t ascii_len(const char *s, size_t len)
{
    size_t i = 0;

    while (len - i >= 8) {
        uint64_t word;

        memcpy(&word, s + i, 8);
        if (word & 0x8080808080808080u) {
            break;
        }
        i += 8;
    }
    while (i < len && (unsigned char)s[i] < 0x80) {
        i++;
    }
    return i;
}

size_t utf8_valid_len(struct str text)
{
    size_t at = 0;

    while (at < text.len) {
        size_t step = ascii_len(text.s + at, text.len - at);

        if (step == 0) {
            step =
                sequence_len((const unsigned char *)text.s + at, text.len - at);
        }
        if (step == 0) {
            return at;
        }
        at += step;
    }
    return at;
}

bool utf8_is_valid(struct str text)
{
    return utf8_valid_len(text) == text.len;
}

uint32_t utf8_next(struct str text, size_t *at)
{
    const unsigned char *s = (const unsigned char *)text.s + *at;
    size_t len;

    assert(*at < text.len);
    len = sequence_len(s, text.len - *at);
    *at += len ? len : 1;
    switch (len) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    case 3:
        return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 |
               (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    default:
        return REPLACEMENT;
    }
}

size_t utf8_put(uint32_t c, char *out)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        c = REPLACEMENT;
    }
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t utf8_count(struct str text)
{
    size_t n = 0;
    size_t at = 0;

    while (at < text.len) {
        size_t step = ascii_len(text.s + at, text.len - at);

        if (step > 0) {
            at += step;
            n += step;
        } else {
            (void)utf8_next(text, &at); /* only the position matters */
            n++;
        }
    }
    return n;
}

size_t utf8_cut(struct str text, size_t max_bytes)
{
    size_t from;
    size_t at;

    if (max_bytes >= text.len) {
        return text.len;
    }
    /* The sequence that spans the cut, if any, starts at most 3 bytes back. */
    from = max_bytes > 3 ? max_bytes - 3 : 0;
    for (at = from; at < max_bytes; at++) {
        size_t len =
            sequence_len((const unsigned char *)text.s + at, text.len - at);

        if (at + len > max_bytes) {
            return at;
        }
    }
    return max_bytes;
}

struct str utf8_head(struct str text, size_t max_bytes)
{
    return str_sub(text, 0, utf8_cut(text, max_bytes));
}

size_t utf8_cut_chars(struct str text, size_t max_chars)
{
    size_t at = 0;

    while (at < text.len && max_chars > 0) {
        (void)utf8_next(text, &at); /* only the position matters */
        max_chars--;
    }
    return at;
}

static size_t width_of(uint32_t c)
{
    int columns = utf8proc_charwidth((utf8proc_int32_t)c);

    return columns > 0 ? (size_t)columns : 0;
}

size_t utf8_width(struct str text)
{
    size_t width = 0;

    for (size_t at = 0; at < text.len;) {
        width += width_of(utf8_next(text, &at));
    }
    return width;
}

size_t utf8_cut_width(struct str text, size_t columns)
{
    size_t width = 0;
    size_t at = 0;

    while (at < text.len) {
        size_t next = at;

        width += width_of(utf8_next(text, &next));
        if (width > columns) {
            break;
        }
        at = next;
    }
    return at;
}
