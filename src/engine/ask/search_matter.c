/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_matter.c - what belongs to the matter that is asked about. See
 * search_internal.h.
 *
 * Who talked about everything with one assistant has turns of ten matters that
 * look like an answer. What is told without being asked for (a context) shall
 * be of one. A matter is a few chats: so each chat weighs as much as what was
 * found in it, chats that speak of the same (chat_words.h) lend each other a
 * part of that, and of the chats that weigh far less than the first nothing is
 * told. A question that many chats have something to say about keeps them all.
 */
#include "engine/ask/search_internal.h"

#include "engine/chatlink/chat_words.h"
#include "engine/core/engine.h"
#include "engine/memory/memory.h"

#include <math.h>
#include <stdlib.h>

/* A chat, or what stands in none, with what was found of it. */
struct place {
    struct uuid chat_id; /* nil: in none */
    double found;
    double weight; /* … with what chats like it lend */
    size_t first;  /* the best of it, for an order that hangs on no id */
    const struct chat_words *words;
    bool is_kept;
};

struct places {
    struct search_work *work;
    struct place *items;
    size_t count;
    struct chat_words *words;
    size_t n_words;
};

static struct uuid chat_of(const struct search_hit *hit)
{
    if (hit->turn) {
        return hit->turn->chat_id;
    }
    return hit->n_refs > 0 ? hit->refs[0].chat_id : hit->item.chat;
}

static struct place *place_of(const struct places *places,
                              const struct uuid *chat_id)
{
    for (size_t i = 0; i < places->count && !uuid_is_nil(chat_id); i++) {
        if (uuid_eq(&places->items[i].chat_id, chat_id)) {
            return &places->items[i];
        }
    }
    return NULL;
}

/* Each hit adds what it stands for, the best of all 1. */
static void add_found(struct places *places)
{
    const struct search_work *work = places->work;
    double best = -HUGE_VAL;

    for (size_t i = 0; i < work->count; i++) {
        best = fmax(best, search_nearness(work, &work->matters[i]));
    }
    for (size_t i = 0; i < work->count; i++) {
        const struct matter *matter = &work->matters[i];
        struct uuid chat_id = chat_of(&matter->hit);
        struct place *place = place_of(places, &chat_id);

        if (!place) {
            place = &places->items[places->count++];
            *place = (struct place){.chat_id = chat_id, .first = i};
        }
        place->found +=
            exp((search_nearness(work, matter) - best) / MATTER_STEP);
    }
}

static int by_found(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;

    if (a->found != b->found) {
        return a->found > b->found ? -1 : 1;
    }
    return a->first < b->first ? -1 : a->first > b->first;
}

static int by_weight(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;

    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return a->first < b->first ? -1 : a->first > b->first;
}

static enum clew_status do_words(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct places *places = arg;
    struct uuid ids[MATTER_COMPARED];
    size_t n = 0;

    for (size_t i = 0; i < places->count && n < MATTER_COMPARED; i++) {
        if (!uuid_is_nil(&places->items[i].chat_id)) {
            ids[n++] = places->items[i].chat_id;
        }
    }
    return chat_words_load(tx, places->work->arena, ids, n, &places->words,
                           &places->n_words, err);
}

static double alike(const struct place *a, const struct place *b)
{
    double cosine =
        a->words && b->words ? chat_words_alike(a->words, b->words) : 0;

    return fmin(1, fmax(0, (cosine - MATTER_ALIKE) / MATTER_ALIKE_WIDTH));
}

/* What chats that speak of the same were found by counts for both. */
static void lend(struct places *places)
{
    size_t n =
        places->count < MATTER_COMPARED ? places->count : MATTER_COMPARED;

    for (size_t i = 0; i < places->n_words; i++) {
        struct place *place = place_of(places, &places->words[i].chat_id);

        if (place) {
            place->words = &places->words[i];
        }
    }
    for (size_t i = 0; i < places->count; i++) {
        places->items[i].weight = places->items[i].found;
        for (size_t k = 0; i < n && k < n; k++) {
            if (k != i) {
                places->items[i].weight +=
                    MATTER_LENT * alike(&places->items[i], &places->items[k]) *
                    places->items[k].found;
            }
        }
    }
}

/* The heaviest, and those that had by themselves nearly as much as the most: a
 * matter of thirty chats is not the eight that are most like the others. */
static void keep_heavy(struct places *places)
{
    double most = 0;

    for (size_t i = 0; i < places->count; i++) {
        most = fmax(most, places->items[i].found);
    }
    for (size_t i = 0; i < places->count; i++) {
        struct place *place = &places->items[i];

        place->is_kept =
            (i < MATTER_CHATS &&
             place->weight >= MATTER_SHARE * places->items[0].weight) ||
            place->found >= MATTER_FOUND * most;
    }
}

enum clew_status search_leave_below(const struct search_work *work,
                                    const struct search_hit *hit,
                                    struct search_result *out,
                                    struct clew_error *err)
{
    struct search_hit *copy;

    if (out->n_below == SEARCH_BELOW) {
        return CLEW_OK;
    }
    copy = arena_zero(work->arena, 1, sizeof(*copy));
    if (!copy) {
        return clew_no_memory(err);
    }
    *copy = *hit;
    out->below[out->n_below++] = copy;
    return CLEW_OK;
}

enum clew_status search_keep_matter(struct search_work *work,
                                    struct search_result *out,
                                    struct clew_error *err)
{
    struct places places = {.work = work};
    size_t n = 0;
    enum clew_status status;

    if (work->count < 2 || !search_reads(work)) {
        return CLEW_OK;
    }
    places.items = arena_zero(work->arena, work->count, sizeof(*places.items));
    if (!places.items) {
        return clew_no_memory(err);
    }
    add_found(&places);
    qsort(places.items, places.count, sizeof(*places.items), by_found);
    status = search_tx(work, do_words, &places, err);
    if (status != CLEW_OK) {
        return status;
    }
    lend(&places);
    qsort(places.items, places.count, sizeof(*places.items), by_weight);
    keep_heavy(&places);
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct matter matter = work->matters[i];
        struct uuid chat_id = chat_of(&matter.hit);
        const struct place *place = place_of(&places, &chat_id);

        /* the first few may answer whatever the others are about */
        if (i < MATTER_FIRST || !place || place->is_kept) {
            work->matters[n++] = matter;
        } else {
            matter.hit.is_aside = true;
            status = search_leave_below(work, &matter.hit, out, err);
        }
    }
    work->count = n;
    return status;
}
