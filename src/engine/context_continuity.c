/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_continuity.c - what linked chats add to a context.
 *
 * The place where links come in: a line for each chat linked to this one, with
 * context_add(b, CONTEXT_CONTINUITY, ...). While nothing links chats there is
 * nothing to add.
 */
#include "engine/context_internal.h"

enum clew_status context_continuity(struct store_tx *tx, struct builder *b,
                                    struct clew_error *err)
{
    (void)tx;
    (void)b;
    (void)err;
    return CLEW_OK;
}
