/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c - a text cut to a number of tokens. See budget.h.
 */
#include "engine/core/budget.h"

#include "base/utf8.h"
#include "text/analysis.h"

/* A token is rarely longer than this; what is read of a text to fit it. */
#define BYTES_PER_TOKEN 8
#define CUT_MARK " […] "
/* text_token_bound() never counts more. */
#define MOST_TOKENS_A_BYTE 3

struct str budget_fit(struct arena *arena, struct str text, size_t max_tokens)
{
    size_t bytes = max_tokens * BYTES_PER_TOKEN;

    /* of a short text it is known without counting */
    if (text.len <= max_tokens / MOST_TOKENS_A_BYTE ||
        (text.len <= bytes && text_token_bound(text) <= max_tokens)) {
        return text;
    }
    bytes = text.len < bytes ? text.len : bytes;
    while (bytes > 8) {
        size_t head = utf8_cut(text, bytes * 2 / 3);
        size_t tail = text.len - bytes / 3;
        const char *cut;

        while (tail < text.len &&
               ((unsigned char)text.s[tail] & 0xc0) == 0x80) {
            tail++;
        }
        if (tail < head) {
            tail = head;
        }
        cut = arena_printf(arena, "%.*s" CUT_MARK "%.*s", (int)head, text.s,
                           (int)(text.len - tail), text.s + tail);
        if (!cut || text_token_bound(str_of(cut)) <= max_tokens) {
            return str_of(cut);
        }
        bytes = bytes * 3 / 4;
    }
    return STR("[…]");
}
