/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_line.c - see one_line.h.
 */
#include "base/one_line.h"

#include "base/utf8.h"

#include <string.h>

#define CUT "…"

bool one_line_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E ||
           c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* Bytes up to the next character that must go. */
static size_t clean_len(struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        unsigned char byte = (unsigned char)text.s[at];

        if (byte >= ' ' && byte < 0x7F) { /* nearly all of most texts */
            at++;
        } else if (one_line_is_control(utf8_next(text, &at))) {
            return from;
        }
    }
    return text.len;
}

void one_line_append(struct buf *out, struct str text, size_t max_chars)
{
    size_t end =
        max_chars < text.len ? utf8_cut_chars(text, max_chars) : text.len;
    struct str rest = str_sub(text, 0, end);

    while (rest.len > 0) {
        size_t n = clean_len(rest);

        (void)buf_append(out, rest.s, n); /* `out` remembers a failure */
        if (n < rest.len) {
            (void)utf8_next(rest, &n); /* past what becomes a blank */
            (void)buf_append_char(out, ' ');
        }
        rest = str_sub(rest, n, rest.len);
    }
    if (end < text.len) {
        (void)buf_append_cstr(out, CUT);
    }
}

struct str one_line(struct arena *arena, struct str text, size_t max_chars)
{
    struct str out = {NULL, 0};
    struct buf buf;

    if (text.len == 0) {
        return STR("");
    }
    if (clean_len(text) == text.len &&
        (max_chars >= text.len ||
         utf8_cut_chars(text, max_chars) == text.len)) {
        return text;
    }
    buf_init(&buf, text.len + strlen(CUT) + 1);
    one_line_append(&buf, text, max_chars);
    if (buf_status(&buf) == CLEW_OK) {
        out = arena_str(arena, buf_str(&buf));
    }
    buf_release(&buf);
    return out;
}
