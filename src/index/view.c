/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - what a view holds. See index.h.
 */
#include "index/view.h"

#include <string.h>

int64_t index_view_bare(const struct index_view *view)
{
    int64_t newest = 0;

    for (size_t i = 0; i < view->count && view->dim > 0; i++) {
        if (segment_is_bare(view->segments[i])) {
            int64_t own = segment_newest_change(view->segments[i]);

            newest = own > newest ? own : newest;
        }
    }
    return newest;
}

void index_view_count(const struct index_view *view, struct index_count *out)
{
    memset(out, 0, sizeof(*out));
    out->through = view->through;
    for (size_t i = 0; i < view->count; i++) {
        const struct segment *s = view->segments[i];

        for (uint32_t doc = 0; doc < s->head->n_docs; doc++) {
            if (!segment_is_removed(s, doc)) {
                out->n_docs[segment_kind_of(s, doc)]++;
                out->n_bare += view->dim > 0 && segment_is_bare(s);
                out->n_vectors += view->dim > 0 && !segment_is_bare(s) &&
                                  s->forms[doc].scale > 0;
            }
        }
    }
}
