/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_best.h - the best few of a long stream of scored positions.
 *
 * Thread-safety: none; belongs to one recall.
 */
#ifndef ENGINE_RECALL_BEST_H
#define ENGINE_RECALL_BEST_H

#include "recall/recall_internal.h"

#include <string.h>

/*
 * The best `want` of a stream: twice that is kept, then cut back. A key is the
 * score and, for equal scores, the lower position: the larger is the better.
 */
struct best {
    uint64_t *keys;
    size_t count;
    size_t want;
    float floor; /* not above this: not among the best */
};

/* Room for `want`; the arena owns it. */
enum clew_status best_init(struct best *best, struct arena *arena, size_t want,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Keep the best `want`, in no order, and raise the floor to the least. */
void best_cut(struct best *best);
/* Cut, and make them candidates. */
void best_mark(struct best *best, struct population *pop);

/* Floats in the order of their bits, negative ones below. */
static inline uint64_t key_of(float score, size_t position)
{
    uint32_t bits;

    memcpy(&bits, &score, sizeof(bits));
    bits = bits >> 31 ? ~bits : bits | 0x80000000u;
    return (uint64_t)bits << 32 | (uint32_t) ~(uint32_t)position;
}

static inline float score_of_key(uint64_t key)
{
    uint32_t bits = (uint32_t)(key >> 32);
    float score;

    bits = bits >> 31 ? bits & 0x7fffffffu : ~bits;
    memcpy(&score, &bits, sizeof(score));
    return score;
}

static inline size_t position_of_key(uint64_t key)
{
    return (uint32_t) ~(uint32_t)key;
}

static inline void best_add(struct best *best, float score, size_t position)
{
    best->keys[best->count++] = key_of(score, position);
    if (best->count == best->want * 2) {
        best_cut(best);
    }
}

#endif
