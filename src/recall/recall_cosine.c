/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_cosine.c - cosines of the query with single documents, and how they
 * lie over all. See recall_internal.h.
 */
#include "recall/recall_internal.h"

#include <math.h>

void recall_set_moments(struct population *pop, const struct moments *m)
{
    double n = m->count ? (double)m->count : 1;
    double mean = (double)m->sum * MOMENTS_UNIT / n;
    double variance = (double)m->squares * MOMENTS_UNIT / n - mean * mean;

    pop->cosine_mean = (float)mean;
    pop->cosine_std = (float)sqrt(variance > 0 ? variance : 0);
    pop->cosine_std = pop->cosine_std < 0.02f ? 0.02f : pop->cosine_std;
}

void recall_prefetch(const struct recall_query *query, const struct segment *s,
                     size_t doc)
{
    const int8_t *vector = s->vectors + doc * query->dim;

    for (size_t i = 0; i < query->dim && !segment_is_bare(s); i += 64) {
        __builtin_prefetch(vector + i);
    }
}

float recall_nearest(const struct recall_query *query,
                     const struct segment_half *half, const int8_t *first,
                     float cosine)
{
    float nearest = cosine;
    float own;
    float second;

    if (half && half->form.scale > 0) {
        own = recall_cosine_by(query, first, &half->form);
        second = half->whole * cosine - half->first * own;
        nearest = own > nearest ? own : nearest;
        nearest = second > nearest ? second : nearest;
    }
    return nearest;
}
