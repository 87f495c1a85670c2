/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_push.c - add a token to those found so far. See token_internal.h.
 */
#include "base/limits.h"
#include "text/fold.h"
#include "text/stem.h"
#include "text/token_internal.h"

#include <string.h>

struct token *scan_push(struct scan *scan, size_t from, size_t to,
                        uint16_t kind, uint16_t flags)
{
    struct token *token;

    if (scan->count >= LIMIT_TEXT_TOKENS || scan->is_full) {
        scan->is_full = true;
        return NULL;
    }
    if (scan->count == scan->cap) {
        void *grown = arena_grow(scan->arena, scan->items, scan->count,
                                 &scan->cap, sizeof(*scan->items));

        if (!grown) {
            scan->is_full = true;
            scan->is_out_of_memory = true;
            return NULL;
        }
        scan->items = grown;
    }
    token = &scan->items[scan->count++];
    token->from = (uint32_t)from;
    token->to = (uint32_t)to;
    token->kind = kind;
    token->flags = (uint16_t)(flags | scan->area | scan->pending);
    token->folded = (struct str){scan->lower + from, to - from};
    token->stem = token->folded;
    scan->pending = 0;
    return token;
}

struct token *scan_push_run(struct scan *scan, const struct extent *extent,
                            uint16_t kind, uint16_t flags)
{
    struct token *token;

    if (extent->starts_upper) {
        flags |= TOKEN_CAPITAL;
        if (extent->letters >= 2 && extent->uppers == extent->letters) {
            flags |= TOKEN_ALL_CAPS;
        }
    } else if (extent->starts_lower) {
        flags |= TOKEN_LOWER_START;
    }
    token = scan_push(scan, extent->from, extent->to, kind, flags);
    if (token && extent->has_wide) {
        struct str raw = {scan->text.s + extent->from,
                          extent->to - extent->from};

        if (!fold_token(scan->arena, raw, &token->folded)) {
            scan->is_full = true;
            scan->is_out_of_memory = true;
            return NULL;
        }
        token->stem = token->folded;
    }
    if (token && kind == TOKEN_WORD) {
        scan_note_word(scan, token);
    }
    return token;
}
