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
/* A word may be given up for so much of what is kept on its side, not more. */
#define WORD_SHARE 2

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

/* The end of the last word that is whole before `at`; `at` itself where none
 * ends near: some scripts have no spaces. */
static size_t head_end(struct str text, size_t at)
{
    size_t end = at;

    while (end > at - at / WORD_SHARE && !is_space(text.s[end])) {
        end--;
    }
    while (end > 0 && is_space(text.s[end]) && is_space(text.s[end - 1])) {
        end--;
    }
    return is_space(text.s[end]) ? end : at;
}

/* The same behind it, forward: where the first whole word begins. */
static size_t tail_start(struct str text, size_t at)
{
    size_t start = at;
    size_t end = at + (text.len - at) / WORD_SHARE;

    while (start > 0 && start < end && !is_space(text.s[start - 1])) {
        start++;
    }
    return start == end && !is_space(text.s[start - 1]) ? at : start;
}

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
        if (head < text.len && tail < text.len) {
            head = head_end(text, head);
            tail = tail_start(text, tail);
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
