/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_best.c - cut a stream back to its best.
 */
#include "engine/recall_best.h"

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

/* Move the best `want` to the front (quickselect). */
static void select_best(uint64_t *a, ptrdiff_t count, ptrdiff_t want)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = count - 1;

    while (low < high) {
        uint64_t pivot = a[low + (high - low) / 2];
        ptrdiff_t i = low;
        ptrdiff_t j = high;

        while (i <= j) {
            while (a[i] > pivot) {
                i++;
            }
            while (a[j] < pivot) {
                j--;
            }
            if (i <= j) {
                uint64_t swap = a[i];

                a[i++] = a[j];
                a[j--] = swap;
            }
        }
        if (want <= j) {
            high = j;
        } else if (want >= i) {
            low = i;
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
    select_best(best->keys, (ptrdiff_t)best->count, (ptrdiff_t)best->want);
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
