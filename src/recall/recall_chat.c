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
    bool is_used;
    float *tf; /* per term */
};

static struct chat_sum *chat_sum_of(struct chat_sum *table, size_t cap,
                                    const struct uuid *id)
{
    uint64_t hash;
    size_t i;

    memcpy(&hash, id->b + 8, sizeof(hash)); /* the random half */
    hash ^= (uint64_t)id->b[5] << 8 | id->b[6];
    i = (size_t)(hash * 0x9e3779b97f4a7c15ull >> 32) & (cap - 1);
    while (table[i].is_used && !uuid_eq(&table[i].id, id)) {
        i = (i + 1) & (cap - 1);
    }
    return &table[i];
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
static void add_words(struct population *pop, struct chat_sum *table,
                      size_t cap)
{
    for (size_t i = 0; i < pop->n_slots; i++) {
        const struct slot *slot = &pop->slots[i];
        const struct segment *s = pop->slices[slot->slice].segment;
        const struct segment_chat *chat = segment_chat_of(s, slot->doc);
        struct chat_sum *sum = chat ? chat_sum_of(table, cap, &chat->id) : NULL;

        for (size_t t = 0; sum && sum->is_used && t < pop->n_terms; t++) {
            sum->tf[t] += (float)pop->tf2[i * pop->n_terms + t] / 2;
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
    pop->chats = arena_zero(pop->arena, cap, sizeof(*pop->chats));
    pop->cap_chats = cap;
    if (!pop->chats) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < pop->n_items; i++) {
        struct chat_sum *chat =
            chat_sum_of(pop->chats, cap, &pop->items[i].chat);

        chat->is_used = true;
        chat->id = pop->items[i].chat;
        add_turn(pop, chat, i);
    }
    return CLEW_OK;
}

void recall_lean(struct population *pop)
{
    for (size_t i = 0; i < pop->n_items; i++) {
        struct recall_item *item = &pop->items[i];
        struct recall_parts *parts = &item->parts;
        const struct chat_sum *chat =
            chat_sum_of(pop->chats, pop->cap_chats, &item->chat);
        const float rest = (float)(1 - LEAN);

        parts->lexical *= rest;
        parts->neighbour *= rest;
        parts->vector *= rest;
        parts->window *= rest;
        parts->time *= rest;
        parts->prior *= rest;
        parts->chat = (float)(LEAN * mean_of(chat));
        item->score = (1 - LEAN) * item->score + LEAN * mean_of(chat);
    }
}

enum clew_status recall_chats(struct population *pop,
                              struct recall_item **out_items, size_t *out_count,
                              struct clew_error *err)
{
    struct recall_item *items =
        arena_zero(pop->arena, pop->n_items + 1, sizeof(*items));
    size_t n = 0;

    if (!items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < pop->cap_chats; i++) {
        struct chat_sum *chat = &pop->chats[i];

        if (chat->is_used) {
            chat->tf = arena_zero(pop->arena, pop->n_terms + 1, sizeof(float));
            if (!chat->tf) {
                return clew_no_memory(err);
            }
        }
    }
    add_words(pop, pop->chats, pop->cap_chats);
    for (size_t i = 0; i < pop->cap_chats; i++) {
        const struct chat_sum *chat = &pop->chats[i];

        if (chat->is_used) {
            items[n] = pop->items[chat->item];
            items[n].kind = RECALL_CHAT;
            items[n].best_turn = items[n].id;
            items[n].id = chat->id;
            items[n++].score = score_of(pop, chat);
        }
    }
    *out_items = items;
    *out_count = n;
    return CLEW_OK;
}
