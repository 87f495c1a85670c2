/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_list.c - documents that a test has made, fed to an index in their order.
 */
#include "support/doc_list.h"

static enum clew_status latest(void *arg, int64_t tenant, int64_t *out_change,
                               struct clew_error *err)
{
    const struct doc_list *list = arg;

    (void)tenant;
    (void)err;
    *out_change = (int64_t)list->count;
    return CLEW_OK;
}

static enum clew_status load(void *arg, int64_t tenant, int64_t after,
                             size_t max, struct arena *into,
                             struct index_doc **out_docs, size_t *out_count,
                             int64_t *out_through, struct clew_error *err)
{
    const struct doc_list *list = arg;
    size_t left = list->count - (size_t)after;
    size_t most = list->step && list->step < max ? list->step : max;

    (void)tenant;
    (void)into;
    (void)err;
    *out_docs = list->docs + after;
    *out_count = left < most ? left : most;
    *out_through = after + (int64_t)*out_count;
    return CLEW_OK;
}

struct index_source doc_list_source(struct doc_list *list)
{
    return (struct index_source){.arg = list, .latest = latest, .load = load};
}
