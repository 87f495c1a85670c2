/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_best.c - cut a stream back to its best.
 */
#include "recall/recall_best.h"

#include <math.h>

enum clew_status best_init(struct best *best, struct arena *arena, size_t want,
                           struct clew_error *err)
{
    best->keys = arena_alloc(arena, want * 2 * sizeof(*best->keys));
    best->count = 0;
    best->want = want;
    best->floor = -INFINITY;
    return best->keys ? CLEW_OK
                      : clew_fail(err, CLEW_NO_MEMORY, "could not search");
}

/* Which of three has the middle key. */
static size_t middle_of(const uint64_t *a, size_t x, size_t y, size_t z)
{
    size_t low = a[x] < a[y] ? x : y;
    size_t high = a[x] < a[y] ? y : x;

    return a[z] < a[low] ? low : (a[z] > a[high] ? high : z);
}

/*
 * Move the best `want` to the front (quickselect). The inner loop has no branch
 * that could be guessed wrong, which would be most of its time.
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
        if (want < n) {
            high = n;
        } else if (want > n + 1) {
            low = n + 1;
        } else {
            return;
        }
    }
}

void best_cut(struct best *best)
{
    uint64_t least = UINT64_MAX;

    if (best->count <= best->want) {
        return;
    }
    select_best(best->keys, best->count, best->want);
    best->count = best->want;
    for (size_t i = 0; i < best->count; i++) {
        least = best->keys[i] < least ? best->keys[i] : least;
    }
    best->floor = score_of_key(least);
}

void best_mark(struct best *best, struct population *pop)
{
    best_cut(best);
    for (size_t i = 0; i < best->count; i++) {
        mark_set(pop->candidates, position_of_key(best->keys[i]));
    }
}
