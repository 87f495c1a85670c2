/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_chat.c - chats are as good as their best turns, and what they say
 * altogether; turns lean on the chats they are in.
 */
#include "recall/recall_internal.h"

#include <string.h>

/* The mean of so many best turns. */
#define N_BEST 3
#define BEST_WEIGHT 0.5
#define WORDS_WEIGHT 0.33
/* Saturation of a term over a whole chat. */
#define CHAT_K1 1.2f
/* So much of a turn's score is its chat's: where more of the best turns are,
 * the answer is more likely. */
#define LEAN 0.1

struct chat_sum {
    struct uuid id;
    double best[N_BEST];
    size_t n_turns;
    size_t item; /* its best turn */
    float *tf;   /* per term */
};

/* Where it is noted which of the chats this is, from 1 on; 0: none yet. */
static uint32_t *place_of(const struct population *pop, const struct uuid *id)
{
    uint64_t hash;
    size_t i;

    memcpy(&hash, id->b + 8, sizeof(hash)); /* the random half */
    hash ^= (uint64_t)id->b[5] << 8 | id->b[6];
    i = (size_t)(hash * 0x9e3779b97f4a7c15ull >> 32) & (pop->cap_places - 1);
    while (pop->places[i] && !uuid_eq(&pop->chats[pop->places[i] - 1].id, id)) {
        i = (i + 1) & (pop->cap_places - 1);
    }
    return &pop->places[i];
}

/* Of equally good turns the newer speaks for the chat, as in the answer. */
static bool is_better(const struct recall_item *x, const struct recall_item *y)
{
    if (x->score > y->score || x->score < y->score) {
        return x->score > y->score;
    }
    if (x->created_at_ms != y->created_at_ms) {
        return x->created_at_ms > y->created_at_ms;
    }
    return x->seq != y->seq ? x->seq > y->seq : uuid_cmp(&x->id, &y->id) < 0;
}

static void add_turn(struct population *pop, struct chat_sum *chat, size_t item)
{
    double score = pop->items[item].score;

    if (chat->n_turns == 0 ||
        (score >= chat->best[0] &&
         is_better(&pop->items[item], &pop->items[chat->item]))) {
        chat->item = item;
    }
    for (size_t k = 0; k < N_BEST; k++) {
        if (k >= chat->n_turns || score > chat->best[k]) {
            double swap = chat->best[k];

            chat->best[k] = score;
            if (k >= chat->n_turns) {
                break;
            }
            score = swap;
        }
    }
    chat->n_turns++;
}

/* Words of all turns at hand, candidates or not. */
static void add_words(struct population *pop)
{
    for (size_t i = 0; i < pop->n_slots; i++) {
        const struct slot *slot = &pop->slots[i];
        const struct segment *s = pop->slices[slot->slice].segment;
        const struct segment_chat *chat = segment_chat_of(s, slot->doc);
        uint32_t place = chat ? *place_of(pop, &chat->id) : 0;

        for (size_t t = 0; place && t < pop->n_terms; t++) {
            pop->chats[place - 1].tf[t] +=
                (float)pop->tf2[i * pop->n_terms + t] / 2;
        }
    }
}

static double mean_of(const struct chat_sum *chat)
{
    size_t n = chat->n_turns < N_BEST ? chat->n_turns : N_BEST;
    double mean = 0;

    for (size_t k = 0; k < n; k++) {
        mean += chat->best[k] / (double)n;
    }
    return mean;
}

/* On the scale of a turn's. */
static double score_of(const struct population *pop,
                       const struct chat_sum *chat)
{
    double words = 0;

    for (size_t t = 0; t < pop->n_terms; t++) {
        float tf = chat->tf[t];

        words += (double)(pop->terms[t].weight * tf / (tf + CHAT_K1) *
                          (1 + CHAT_K1));
    }
    return (mean_of(chat) + BEST_WEIGHT * chat->best[0] +
            WORDS_WEIGHT * words) /
           (1 + BEST_WEIGHT + WORDS_WEIGHT);
}

enum clew_status recall_gather(struct population *pop, struct clew_error *err)
{
    size_t cap = 64;

    while (cap < pop->n_items * 2) {
        cap *= 2;
    }
    pop->places = arena_zero(pop->arena, cap, sizeof(*pop->places));
    pop->cap_places = cap;
    pop->chats =
        arena_alloc(pop->arena, (pop->n_items + 1) * sizeof(*pop->chats));
    if (!pop->places || !pop->chats) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < pop->n_items; i++) {
        uint32_t *place = place_of(pop, &pop->items[i].chat);

        if (!*place) {
            pop->chats[pop->n_chats] =
                (struct chat_sum){.id = pop->items[i].chat};
            *place = ++pop->n_chats;
        }
        add_turn(pop, &pop->chats[*place - 1], i);
    }
    return CLEW_OK;
}

void recall_lean(struct population *pop)
{
    for (size_t i = 0; i < pop->n_items; i++) {
        struct recall_item *item = &pop->items[i];
        struct recall_parts *parts = &item->parts;
        const struct chat_sum *chat =
            &pop->chats[*place_of(pop, &item->chat) - 1];
        const double mean = mean_of(chat);
        const float rest = (float)(1 - LEAN);

        parts->lexical *= rest;
        parts->neighbour *= rest;
        parts->vector *= rest;
        parts->window *= rest;
        parts->time *= rest;
        parts->prior *= rest;
        parts->chat = (float)(LEAN * mean);
        item->score = (1 - LEAN) * item->score + LEAN * mean;
    }
}

enum clew_status recall_chats(struct population *pop,
                              struct recall_item **out_items, size_t *out_count,
                              struct clew_error *err)
{
    struct recall_item *items =
        arena_zero(pop->arena, pop->n_chats + 1, sizeof(*items));

    if (!items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < pop->n_chats; i++) {
        struct chat_sum *chat = &pop->chats[i];

        chat->tf = arena_zero(pop->arena, pop->n_terms + 1, sizeof(float));
        if (!chat->tf) {
            return clew_no_memory(err);
        }
    }
    add_words(pop);
    for (size_t i = 0; i < pop->n_chats; i++) {
        const struct chat_sum *chat = &pop->chats[i];

        items[i] = pop->items[chat->item];
        items[i].kind = RECALL_CHAT;
        items[i].best_turn = items[i].id;
        items[i].id = chat->id;
        items[i].score = score_of(pop, chat);
    }
    *out_items = items;
    *out_count = pop->n_chats;
    return CLEW_OK;
}
