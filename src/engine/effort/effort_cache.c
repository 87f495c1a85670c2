/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_cache.c - the efforts of a chat, and what a turn has to do with each.
 * See effort_cache.h.
 */
#include "engine/effort/effort_cache.h"

#include "base/limits.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/effort/effort_fork.h"

#include <assert.h>
#include <stdlib.h>

static struct effort_cache *find(struct batch_work *batch,
                                 const struct uuid *chat_id)
{
    return work_cache_get(batch->arena, &batch->efforts, chat_id,
                          sizeof(struct effort_cache));
}

/* Read the efforts in view, unless they are known. */
static enum clew_status load(struct observation *o, struct effort_cache *cache,
                             struct clew_error *err)
{
    const struct turn_work *work = o->work;
    enum clew_status status;

    for (size_t i = 0; i < cache->count && cache->is_loaded; i++) {
        const struct effort *effort = &cache->items[i];

        /* out of view: another may come in for it */
        cache->is_loaded = effort->is_open || effort->state != EFFORT_COLLAPSED;
    }
    if (cache->is_loaded) {
        if (cache->count > 1) {
            effort_sort(cache->items, cache->count);
        }
        return CLEW_OK;
    }
    status = effort_list_line(o->tx, o->arena, &work->placement->slot->chat,
                              work->turn->seq, false, &cache->items,
                              &cache->count, err);
    cache->is_loaded = status == CLEW_OK;
    return status;
}

enum clew_status effort_cache_load(struct observation *o,
                                   struct effort_cache **out,
                                   struct clew_error *err)
{
    struct effort_cache *cache = find(o->work->batch, &o->work->turn->chat_id);
    enum clew_status status = cache ? load(o, cache, err) : clew_no_memory(err);

    if (status != CLEW_OK) {
        return status;
    }
    assert(cache->count == 0 || cache->items);
    cache->active = NULL;
    for (size_t i = 0; i < cache->count && !cache->active; i++) {
        if (cache->items[i].state == EFFORT_ACTIVE) {
            cache->active = &cache->items[i];
        }
    }
    *out = cache;
    return CLEW_OK;
}

void effort_cache_forget(struct observation *o)
{
    struct effort_cache *cache = find(o->work->batch, &o->work->turn->chat_id);

    if (cache) { /* else there is nothing to forget */
        cache->is_loaded = false;
    }
}

enum clew_status effort_cache_words(struct observation *o, struct str text,
                                    struct effort_words *out,
                                    struct clew_error *err)
{
    struct effort_cache *cache = find(o->work->batch, &o->work->turn->chat_id);

    for (size_t i = 0; cache && i < cache->n_words && i < EFFORT_WORDS_KEPT;
         i++) {
        if (cache->words[i].text.s == text.s &&
            cache->words[i].text.len == text.len) {
            *out = cache->words[i].words;
            return CLEW_OK;
        }
    }
    if (!cache || effort_words_of(o->arena, text, out) != CLEW_OK) {
        return clew_no_memory(err);
    }
    /* over the oldest */
    cache->words[cache->n_words++ % EFFORT_WORDS_KEPT] =
        (struct effort_text){text, *out};
    return CLEW_OK;
}

/* The words of the turn itself, read once. */
static enum clew_status own_words(struct observation *o)
{
    if (o->words.stems) {
        return CLEW_OK;
    }
    return effort_words_in(o->arena, &o->analysis.tokens, &o->words);
}

enum clew_status effort_shared_with(struct observation *o, struct str text,
                                    size_t *out, struct clew_error *err)
{
    struct effort_words words;
    enum clew_status status = effort_cache_words(o, text, &words, err);

    if (status == CLEW_OK && own_words(o) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        *out = effort_words_shared(&words, &o->words);
    }
    return status;
}

enum clew_status effort_near_titles(struct observation *o,
                                    const struct effort_title *titles,
                                    size_t count, size_t *at, struct uuid *out,
                                    size_t max, size_t *out_count,
                                    struct clew_error *err)
{
    struct arena scratch; /* for the words of one title at a time */
    enum clew_status status = own_words(o);
    size_t n = 0;

    arena_init(&scratch, LIMIT_REQUEST_ARENA_BYTES);
    for (; status == CLEW_OK && *at < count && n < max; (*at)++) {
        struct effort_words words;

        arena_clear(&scratch);
        status = effort_words_of(&scratch, titles[*at].summary, &words);
        if (status == CLEW_OK && effort_words_shared(&words, &o->words) > 0) {
            out[n++] = titles[*at].memory_id;
        }
    }
    arena_release(&scratch);
    *out_count = n;
    return status == CLEW_OK ? CLEW_OK : clew_no_memory(err);
}

size_t effort_turns_since(const struct observation *o, int64_t seq)
{
    size_t n = 0;

    for (size_t i = 0; i < o->n_previous; i++) {
        n += o->previous_seq[i] > seq && o->previous[i].role == TALK_USER;
    }
    return n;
}

bool effort_is_at_work(const struct observation *o, const struct effort *effort)
{
    return effort->state == EFFORT_ACTIVE && effort->is_open &&
           (o->n_previous == 0 || effort->last_seq >= o->previous_seq[0]);
}

enum clew_status effort_make_own(struct observation *o, struct effort *effort,
                                 struct clew_error *err)
{
    return effort_part(o->work->batch, &o->work->placement->slot->chat, effort,
                       err);
}

enum clew_status effort_take_turn(struct observation *o, struct effort *effort,
                                  struct clew_error *err)
{
    const struct turn *turn = o->work->turn;

    enum clew_status status = effort_make_own(o, effort, err);

    o->matter = effort->summary;
    return status == CLEW_OK
               ? effort_own(o->tx, effort, turn->seq, turn->created_at_ms,
                            turn->token_count, err)
               : status;
}

enum clew_status effort_collapse_active(struct observation *o,
                                        struct effort_cache *cache,
                                        const struct effort *but,
                                        struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < cache->count && status == CLEW_OK; i++) {
        struct effort *effort = &cache->items[i];

        if (effort != but && effort->state == EFFORT_ACTIVE &&
            !effort->is_spawned) {
            effort->state = EFFORT_COLLAPSED;
            status =
                effort->is_shared ? CLEW_OK : effort_update(o->tx, effort, err);
        }
    }
    return status;
}
