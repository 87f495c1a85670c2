/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missed.c - a small table of counts. See missed.h.
 */
#include "index/missed.h"

#include <string.h>

void missed_init(struct missed *missed)
{
    memset(missed, 0, sizeof(*missed));
    (void)pthread_mutex_init(&missed->lock, NULL); /* cannot fail on Linux */
}

void missed_release(struct missed *missed)
{
    (void)pthread_mutex_destroy(&missed->lock);
}

/* The tenant's place, else a free one; NULL if there is neither. */
static struct missed_place *place_of(struct missed *missed, int64_t tenant)
{
    struct missed_place *place = NULL;

    for (size_t i = 0; i < MISSED_MAX_TENANTS; i++) {
        struct missed_place *at = &missed->places[i];

        if (at->n_docs > 0 && at->tenant == tenant) {
            return at;
        }
        place = !place && at->n_docs == 0 ? at : place;
    }
    return place;
}

void missed_add(struct missed *missed, int64_t tenant, size_t n_docs)
{
    struct missed_place *place;

    (void)pthread_mutex_lock(&missed->lock);
    place = place_of(missed, tenant);
    if (place) {
        place->tenant = tenant;
        place->n_docs += n_docs;
    }
    (void)pthread_mutex_unlock(&missed->lock);
}

bool missed_take(struct missed *missed, size_t at_least, int64_t *out_tenant)
{
    bool is_found = false;

    (void)pthread_mutex_lock(&missed->lock);
    for (size_t i = 0; i < MISSED_MAX_TENANTS && !is_found; i++) {
        struct missed_place *at = &missed->places[i];

        if (at->n_docs > 0 && at->n_docs >= at_least) {
            *out_tenant = at->tenant;
            at->n_docs = 0;
            is_found = true;
        }
    }
    (void)pthread_mutex_unlock(&missed->lock);
    return is_found;
}
