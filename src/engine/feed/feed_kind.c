/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_kind.c - turns, memories and episodes behind one table. See
 * feed_kind.h.
 */
#include "engine/feed/feed_kind.h"

#include "engine/chat/turn.h"
#include "engine/episode/episode.h"
#include "engine/memory/memory.h"
#include "engine/read/doc.h"

#include <assert.h>

/* The typed functions of a noun, as the table wants them. */
#define NOUN_LISTS(noun)                                                       \
    static enum clew_status noun##_rows_changed(                               \
        struct store_tx *tx, struct arena *arena, int64_t after,               \
        int64_t limit, void **out_items, size_t *out_count,                    \
        struct clew_error *err)                                                \
    {                                                                          \
        struct noun *items = NULL;                                             \
        enum clew_status status = noun##_list_changes(tx, arena, after, limit, \
                                                      &items, out_count, err); \
                                                                               \
        *out_items = items;                                                    \
        return status;                                                         \
    }                                                                          \
    static enum clew_status noun##_rows_found(                                 \
        struct store_tx *tx, struct arena *arena, const struct uuid *ids,      \
        size_t count, void **out_items, size_t *out_count,                     \
        struct clew_error *err)                                                \
    {                                                                          \
        struct noun *items = NULL;                                             \
        enum clew_status status =                                              \
            noun##_find_many(tx, arena, ids, count, &items, out_count, err);   \
                                                                               \
        *out_items = items;                                                    \
        return status;                                                         \
    }

NOUN_LISTS(turn)
NOUN_LISTS(memory)
NOUN_LISTS(episode)

static struct str turn_text(struct arena *arena, const void *item)
{
    const struct turn *turn = item;

    (void)arena;
    return turn->text.s ? turn->text : STR("");
}

static struct str memory_text(struct arena *arena, const void *item)
{
    return memory_search_text(arena, item);
}

static struct str episode_text(struct arena *arena, const void *item)
{
    return episode_search_text(arena, item);
}

static enum clew_status turn_doc(struct engine *engine, struct arena *arena,
                                 const void *item, struct index_doc *out,
                                 struct clew_error *err)
{
    struct doc_text text;
    enum clew_status status =
        doc_text_of_turn(engine, arena, item, false, &text, err);

    return status == CLEW_OK ? doc_of_turn(arena, item, &text, out, err)
                             : status;
}

static enum clew_status doc_of_memory(struct engine *engine,
                                      struct arena *arena, const void *item,
                                      struct index_doc *out,
                                      struct clew_error *err)
{
    return memory_doc(engine, arena, item, out, err);
}

static enum clew_status doc_of_episode(struct engine *engine,
                                       struct arena *arena, const void *item,
                                       struct index_doc *out,
                                       struct clew_error *err)
{
    return episode_doc(engine, arena, item, out, err);
}

const struct feed_kind feed_kinds[INDEX_KINDS] = {
    [INDEX_TURN] = {"turn", sizeof(struct turn), offsetof(struct turn, id),
                    offsetof(struct turn, change_seq), turn_rows_changed,
                    turn_rows_found, turn_text, turn_doc},
    [INDEX_MEMORY] = {"memory", sizeof(struct memory),
                      offsetof(struct memory, id),
                      offsetof(struct memory, change_seq), memory_rows_changed,
                      memory_rows_found, memory_text, doc_of_memory},
    [INDEX_EPISODE] = {"episode", sizeof(struct episode),
                       offsetof(struct episode, id),
                       offsetof(struct episode, change_seq),
                       episode_rows_changed, episode_rows_found, episode_text,
                       doc_of_episode},
};

const void *feed_row(const struct feed_kind *kind, const struct feed_rows *rows,
                     size_t i)
{
    assert(i < rows->count);
    return (const char *)rows->items + i * kind->size;
}

const struct uuid *feed_id(const struct feed_kind *kind, const void *item)
{
    return (const void *)((const char *)item + kind->id_at);
}

int64_t feed_change(const struct feed_kind *kind, const void *item)
{
    const void *at = (const char *)item + kind->change_at;

    return *(const int64_t *)at;
}

enum clew_status feed_list(struct store_tx *tx, struct arena *arena,
                           int64_t after, int64_t limit,
                           struct feed_rows out[INDEX_KINDS],
                           struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t k = 0; k < INDEX_KINDS && status == CLEW_OK; k++) {
        status = feed_kinds[k].list_changes(tx, arena, after, limit,
                                            &out[k].items, &out[k].count, err);
    }
    return status;
}

int64_t feed_through(const struct feed_rows rows[INDEX_KINDS], int64_t limit,
                     int64_t latest)
{
    int64_t through = latest;

    for (size_t k = 0; k < INDEX_KINDS; k++) {
        const struct feed_kind *kind = &feed_kinds[k];

        if (rows[k].count > 0 && (int64_t)rows[k].count >= limit) {
            int64_t last =
                feed_change(kind, feed_row(kind, &rows[k], rows[k].count - 1));

            through = last < through ? last : through;
        }
    }
    return through;
}
