/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - the inside of a view, for those who rank: segments to read.
 *
 * Thread-safety: a view belongs to one thread; its segments are shared.
 */
#ifndef INDEX_VIEW_H
#define INDEX_VIEW_H

#include "index/segment.h"

struct index_view {
    struct segment **segments; /* counted */
    size_t count;
    size_t dim;
    uint64_t gists;      /* what the set's gists are made by; 0 = nothing */
    const float *centre; /* the set's; NULL = the origin */
    int64_t through;
};

#endif
