/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_chat.c - chats are as good as their best turns, and what they say
 * altogether.
 */
#include "engine/recall_internal.h"

#include <string.h>

/* The mean of so many best turns. */
#define N_BEST 3
#define BEST_WEIGHT 0.65
#define WORDS_WEIGHT 0.33
/* Saturation of a term over a whole chat. */
#define CHAT_K1 0.9f

struct chat_sum {
    struct uuid id;
    double best[N_BEST];
    size_t n_turns;
    size_t item; /* its best turn */
    bool is_used;
    float *tf; /* per term */
};

static enum clew_status out_of_memory(struct clew_error *err)
{
    return clew_fail(err, CLEW_NO_MEMORY, "could not search");
}

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

static void add_turn(struct population *pop, struct chat_sum *chat, size_t item)
{
    double score = pop->items[item].score;

    if (chat->n_turns == 0 || score > chat->best[0]) {
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

static double score_of(const struct population *pop,
                       const struct chat_sum *chat)
{
    size_t n = chat->n_turns < N_BEST ? chat->n_turns : N_BEST;
    double mean = 0;
    double words = 0;

    for (size_t k = 0; k < n; k++) {
        mean += chat->best[k] / (double)n;
    }
    for (size_t t = 0; t < pop->n_terms; t++) {
        float tf = chat->tf[t];

        words += (double)(pop->terms[t].weight * tf / (tf + CHAT_K1) *
                          (1 + CHAT_K1));
    }
    return mean + BEST_WEIGHT * chat->best[0] + WORDS_WEIGHT * words;
}

enum clew_status recall_chats(struct population *pop, struct clew_error *err)
{
    struct recall_item *items;
    struct chat_sum *table;
    size_t cap = 64;
    size_t n = 0;

    while (cap < pop->n_items * 2) {
        cap *= 2;
    }
    table = arena_zero(pop->arena, cap, sizeof(*table));
    items = arena_zero(pop->arena, pop->n_items + 1, sizeof(*items));
    if (!table || !items) {
        return out_of_memory(err);
    }
    for (size_t i = 0; i < pop->n_items; i++) {
        struct chat_sum *chat = chat_sum_of(table, cap, &pop->items[i].chat);

        if (!chat->is_used) {
            chat->is_used = true;
            chat->id = pop->items[i].chat;
            chat->tf = arena_zero(pop->arena, pop->n_terms + 1, sizeof(float));
            if (!chat->tf) {
                return out_of_memory(err);
            }
        }
        add_turn(pop, chat, i);
    }
    add_words(pop, table, cap);
    for (size_t i = 0; i < cap; i++) {
        if (table[i].is_used) {
            items[n] = pop->items[table[i].item];
            items[n].kind = RECALL_CHAT;
            items[n].best_turn = items[n].id;
            items[n].id = table[i].id;
            items[n++].score = score_of(pop, &table[i]);
        }
    }
    pop->items = items;
    pop->n_items = n;
    return CLEW_OK;
}
