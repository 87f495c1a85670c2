/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_words.c - see chat_words.h.
 */
#include "engine/chatlink/chat_words.h"

#include "engine/chatlink/chat_profile.h"

#include <math.h>
#include <stdlib.h>

static int by_hash(const void *left, const void *right)
{
    uint64_t a = ((const struct chatlink_term *)left)->hash;
    uint64_t b = ((const struct chatlink_term *)right)->hash;

    return a < b ? -1 : a > b;
}

static double product(const struct chatlink_term *a,
                      const struct chatlink_term *b)
{
    return (double)a->idf * (double)b->idf;
}

enum clew_status chat_words_load(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chat_ids, size_t n_chats,
                                 struct chat_words **out, size_t *out_count,
                                 struct clew_error *err)
{
    struct chat_profile *profiles = NULL;
    size_t count = 0;
    enum clew_status status = chat_profile_load_many(
        tx, arena, chat_ids, n_chats, &profiles, &count, err);

    *out_count = 0;
    *out = arena_zero(arena, count + 1, sizeof(**out));
    if (status == CLEW_OK && !*out) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct chat_profile *profile = &profiles[i];
        double sum = 0;

        /* nothing else of a profile is looked at, so its order may go */
        qsort(profile->terms, profile->n_terms, sizeof(*profile->terms),
              by_hash);
        for (size_t k = 0; k < profile->n_terms; k++) {
            sum += product(&profile->terms[k], &profile->terms[k]);
        }
        (*out)[(*out_count)++] = (struct chat_words){
            profile->chat_id, profile->terms, profile->n_terms, sqrt(sum)};
    }
    return status;
}

double chat_words_alike(const struct chat_words *a, const struct chat_words *b)
{
    double sum = 0;
    size_t i = 0;
    size_t k = 0;

    while (i < a->count && k < b->count) {
        int order = by_hash(&a->terms[i], &b->terms[k]);

        sum += order == 0 ? product(&a->terms[i], &b->terms[k]) : 0;
        i += order <= 0;
        k += order >= 0;
    }
    return a->norm > 0 && b->norm > 0 ? sum / (a->norm * b->norm) : 0;
}
