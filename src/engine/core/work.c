/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - change numbers and documents of one transaction. See work.h.
 */
#include "engine/core/work.h"

#include "store/db.h"

#include <assert.h>

/* Numbers reserved at a time: a turn and a few memories. Unused ones are gaps,
 * which nobody minds. */
#define BLOCK_CHANGES 16

void *work_cache_get(struct arena *arena, struct work_cache **list,
                     const struct uuid *key, size_t size)
{
    struct work_cache *entry = *list;

    assert(size >= sizeof(*entry));
    while (entry && !uuid_eq(&entry->key, key)) {
        entry = entry->next;
    }
    if (!entry) {
        entry = arena_zero(arena, 1, size);
        if (entry) {
            entry->key = *key;
            entry->next = *list;
            *list = entry;
        }
    }
    return entry;
}

enum clew_status work_take_change(struct batch_work *batch, int64_t *out_change,
                                  struct clew_error *err)
{
    if (batch->next_change == batch->end_change) {
        int64_t first;
        enum clew_status status =
            db_take_changes(batch->tx, BLOCK_CHANGES, &first, err);

        if (status != CLEW_OK) {
            return status;
        }
        if (batch->first_change == 0) {
            batch->first_change = first;
        }
        batch->next_change = first;
        batch->end_change = first + BLOCK_CHANGES;
    }
    assert(batch->next_change < batch->end_change);
    *out_change = batch->next_change++;
    return CLEW_OK;
}

enum clew_status work_add_doc(struct batch_work *batch,
                              const struct index_doc *doc,
                              struct clew_error *err)
{
    struct index_doc *grown =
        arena_grow(batch->arena, batch->docs, batch->n_docs, &batch->cap_docs,
                   sizeof(*grown));

    if (!grown) {
        return clew_no_memory(err);
    }
    batch->docs = grown;
    /* the index takes them in this order */
    assert(doc->change_seq < batch->next_change);
    assert(batch->n_docs == 0 ||
           doc->change_seq > batch->docs[batch->n_docs - 1].change_seq);
    batch->docs[batch->n_docs++] = *doc;
    return CLEW_OK;
}
