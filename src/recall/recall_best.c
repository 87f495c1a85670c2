/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_best.c - cut a stream back to its best.
 */
#include "recall/recall_best.h"

#include <math.h>

/* One of several that are equally good. */
struct tie {
    uint64_t draw; /* by its time */
    uint64_t key;
};

enum clew_status best_init(struct best *best, const struct population *pop,
                           size_t want, struct clew_error *err)
{
    best->pop = pop;
    best->keys = arena_alloc(pop->arena, want * 2 * sizeof(*best->keys));
    best->count = 0;
    best->want = want;
    best->floor = -INFINITY;
    best->least = NULL;
    best->ties = NULL;
    return best->keys ? CLEW_OK
                      : clew_fail(err, CLEW_NO_MEMORY, "could not search");
}

bool best_is_before(const struct segment *a, uint32_t i,
                    const struct segment *b, uint32_t j)
{
    if (a->times[i] != b->times[j]) {
        return best_draw(a->times[i]) < best_draw(b->times[j]);
    }
    if (a->docs[i].seq != b->docs[j].seq) {
        return best_draw(a->docs[i].seq) < best_draw(b->docs[j].seq);
    }
    return uuid_cmp(&a->docs[i].id, &b->docs[j].id) < 0;
}

/* Which of three has the middle key. */
static size_t middle_of(const uint64_t *a, size_t x, size_t y, size_t z)
{
    size_t low = a[x] < a[y] ? x : y;
    size_t high = a[x] < a[y] ? y : x;

    return a[z] < a[low] ? low : (a[z] > a[high] ? high : z);
}

/*
 * Move the best `want` to the front, the least of them last (quickselect). The
 * inner loop has no branch that could be guessed wrong, which would be most of
 * its time.
 */
static void select_best(uint64_t *a, size_t count, size_t want)
{
    size_t low = 0;
    size_t high = count;

    while (high - low > 1) {
        size_t middle = middle_of(a, low, low + (high - low) / 2, high - 1);
        uint64_t pivot = a[middle];
        size_t n = low; /* those from `low` to here are above the pivot */

        a[middle] = a[high - 1];
        for (size_t i = low; i < high - 1; i++) {
            uint64_t key = a[i];

            a[i] = a[n];
            a[n] = key;
            n += key > pivot;
        }
        a[high - 1] = a[n];
        a[n] = pivot;
        if (n >= want) {
            high = n;
        } else if (n + 1 < want) {
            low = n + 1;
        } else {
            return;
        }
    }
}

static const struct segment *locate(const struct population *pop, uint64_t key,
                                    uint32_t *out_doc)
{
    size_t position = position_of_key(key);
    const struct slice *slice =
        &pop->slices[population_slice_of(pop, position)];

    *out_doc = doc_at(slice, position);
    return slice->segment;
}

static bool is_before(const struct best *best, const struct tie *x,
                      const struct tie *y)
{
    const struct segment *a;
    const struct segment *b;
    uint32_t i;
    uint32_t j;

    if (x->draw != y->draw || x->key == y->key) {
        return x->draw < y->draw;
    }
    a = locate(best->pop, x->key, &i);
    b = locate(best->pop, y->key, &j);
    return best_is_before(a, i, b, j);
}

/* Move the first `want` of them to the front, the last of these last. */
static void select_ties(const struct best *best, struct tie *a, size_t count,
                        size_t want)
{
    size_t low = 0;
    size_t high = count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        struct tie pivot = a[middle];
        size_t n = low; /* those from `low` to here come before the pivot */

        a[middle] = a[high - 1];
        for (size_t i = low; i < high - 1; i++) {
            struct tie tie = a[i];

            if (is_before(best, &tie, &pivot)) {
                a[i] = a[n];
                a[n++] = tie;
            }
        }
        a[high - 1] = a[n];
        a[n] = pivot;
        if (n >= want) {
            high = n;
        } else if (n + 1 < want) {
            low = n + 1;
        } else {
            return;
        }
    }
}

/* Move the keys of this score to the end; how many there are. */
static size_t gather_ties(uint64_t *keys, size_t count, uint32_t score)
{
    size_t n = 0;

    for (size_t i = count; i-- > 0;) {
        uint64_t key = keys[i];

        if (key >> 32 == score) {
            keys[i] = keys[count - 1 - n];
            keys[count - 1 - n++] = key;
        }
    }
    return n;
}

/* Of keys that are not better than this score: is one as good? */
static bool has_tie(const uint64_t *keys, size_t count, uint32_t score)
{
    uint64_t least = (uint64_t)score << 32;
    bool has_tie = false;

    for (size_t i = 0; i < count; i++) {
        has_tie |= keys[i] >= least;
    }
    return has_tie;
}

/*
 * The best `want` are in front, but for those that are as good as the least of
 * them: they are on either side, and the first of them belong in front.
 */
static void settle_ties(struct best *best, uint32_t score)
{
    size_t want = best->want;
    size_t n_kept = gather_ties(best->keys, want, score);
    size_t n = 0;

    if (!best->ties) {
        best->ties =
            arena_alloc(best->pop->arena, 2 * want * sizeof(*best->ties));
    }
    if (!best->ties) {
        return; /* without memory one is as good as the other */
    }
    for (size_t i = want - n_kept; i < best->count; i++) {
        uint32_t doc;

        if (best->keys[i] >> 32 == score) {
            const struct segment *s = locate(best->pop, best->keys[i], &doc);

            best->ties[n].key = best->keys[i];
            best->ties[n++].draw = best_draw(s->times[doc]);
        }
    }
    select_ties(best, best->ties, n, n_kept);
    for (size_t i = 0; i < n_kept; i++) {
        best->keys[want - n_kept + i] = best->ties[i].key;
    }
    best->least = locate(best->pop, best->keys[want - 1], &best->least_doc);
    best->least_draw = best_draw(best->least->times[best->least_doc]);
}

void best_cut(struct best *best)
{
    uint32_t score;

    if (best->count <= best->want) {
        return;
    }
    select_best(best->keys, best->count, best->want);
    best->floor = score_of_key(best->keys[best->want - 1]);
    score = (uint32_t)(best->keys[best->want - 1] >> 32);
    best->least = NULL;
    if (has_tie(best->keys + best->want, best->count - best->want, score)) {
        settle_ties(best, score);
    }
    best->count = best->want;
}

void best_mark(struct best *best, struct population *pop)
{
    best_cut(best);
    for (size_t i = 0; i < best->count; i++) {
        mark_set(pop->candidates, position_of_key(best->keys[i]));
    }
}
