/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_best.h - the best few of a long stream of scored positions.
 *
 * Which of equally good ones are kept is drawn by when they were said, not by
 * where they lie in segments, which changes with every merge. Drawn, as in the
 * order of their times each of very many would be better than all before it.
 *
 * Thread-safety: none; belongs to one recall.
 */
#ifndef ENGINE_RECALL_BEST_H
#define ENGINE_RECALL_BEST_H

#include "recall/recall_internal.h"

#include <string.h>

/*
 * The best `want` of a stream: twice that is kept, then cut back. A key is the
 * score and the position; what is equally good is told apart by best_cut().
 */
struct best {
    const struct population *pop;
    uint64_t *keys;
    size_t count;
    size_t want;
    float floor; /* below this: not among the best */
    /* what is as good as the floor must come before this one; NULL while
     * nothing as good was cut */
    const struct segment *least;
    uint32_t least_doc;
    uint64_t least_draw;
    struct tie *ties; /* room to tell them apart; NULL until there are some */
};

/* Room for `want`; the population's arena owns it. */
enum clew_status best_init(struct best *best, const struct population *pop,
                           size_t want, struct clew_error *err) CLEW_MUST_CHECK;
/* Of two that are equally good: is the first drawn first? */
bool best_is_before(const struct segment *a, uint32_t i,
                    const struct segment *b, uint32_t j);
/* Keep the best `want`, in no order, and raise the floor to the least. */
void best_cut(struct best *best);
/* Cut, and make them candidates. */
void best_mark(struct best *best, struct population *pop);

/* Floats in the order of their bits, negative ones below. */
static inline uint64_t key_of(float score, size_t position)
{
    uint32_t bits;

    score += 0.0f; /* there is one zero only */
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

/* A number of which no bit tells how large the other was. */
static inline uint64_t best_draw(int64_t value)
{
    uint64_t x = (uint64_t)value;

    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

/* May what is as good as the floor be among the best? */
static inline bool best_wants_tie(const struct best *best,
                                  const struct segment *s, uint32_t doc)
{
    uint64_t draw = best_draw(s->times[doc]);

    return draw < best->least_draw ||
           (draw == best->least_draw &&
            best_is_before(s, doc, best->least, best->least_doc));
}

/* May it be among the best? Only such need be added. */
static inline bool best_wants(const struct best *best, float score,
                              const struct segment *s, uint32_t doc)
{
    return score >= best->floor && (score > best->floor || !best->least ||
                                    best_wants_tie(best, s, doc));
}

static inline void best_add(struct best *best, float score, size_t position)
{
    best->keys[best->count++] = key_of(score, position);
    if (best->count == best->want * 2) {
        best_cut(best);
    }
}

#endif
