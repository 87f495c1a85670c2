/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_words.c - words of a beginning as bits. See shared_words.h.
 */
#include "engine/chatlink/shared_words.h"

#include "text/analysis.h"

#include <stdbool.h>

enum clew_status shared_words_of(struct arena *arena, struct str text,
                                 struct chatlink_turn *out,
                                 struct clew_error *err)
{
    struct analysis_options options = {.has_no_keywords = false};
    struct analysis analysis;
    enum clew_status status =
        analysis_run(arena, text, &options, &analysis, err);

    if (status != CLEW_OK) {
        return status;
    }
    return chatlink_turn_of(arena, &analysis, out) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

void shared_words_add(struct shared_words *words,
                      const struct chatlink_turn *turn)
{
    for (size_t i = 0; i < turn->n_terms && words->count < SHARED_WORDS_MAX;
         i++) {
        bool is_known = false;

        for (size_t k = 0; k < words->count && !is_known; k++) {
            is_known = words->items[k].hash == turn->terms[i].hash;
        }
        if (!is_known) {
            words->items[words->count++] = turn->terms[i];
        }
    }
}

uint64_t shared_words_in(const struct shared_words *words,
                         const struct chatlink_turn *turn)
{
    uint64_t mask = 0;

    for (size_t k = 0; k < words->count; k++) {
        for (size_t i = 0; i < turn->n_terms; i++) {
            if (turn->terms[i].hash == words->items[k].hash) {
                mask |= (uint64_t)1 << k;
            }
        }
    }
    return mask;
}

double shared_words_weight(const struct shared_words *words, uint64_t mask)
{
    double sum = 0;

    for (size_t k = 0; k < words->count; k++) {
        sum += mask & ((uint64_t)1 << k) ? (double)words->items[k].idf : 0;
    }
    return sum;
}
