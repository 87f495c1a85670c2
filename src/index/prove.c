/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prove.c - is an index that was read from files of the tables that are there?
 *
 * A store that is restored from a backup is itself again, at an earlier moment,
 * and gives change numbers out once more: files that were made meanwhile hold
 * what was never there, and miss what has those numbers now. Once the numbers
 * have passed the files' own, only the documents tell. So the newest here must
 * be known there, and the last there must be known here.
 */
#include "index/tenant.h"

#include <string.h>

/* Put an id among the newest; those are in order, the newest first. False if it
 * is older than all of as many as there may be. */
static bool put(struct index_proof *proof, const struct uuid *id)
{
    size_t at = proof->n_ids;

    while (at > 0 && uuid_cmp(&proof->ids[at - 1], id) < 0) {
        at--;
    }
    if (at == INDEX_PROOF_IDS) {
        return false;
    }
    if (proof->n_ids == INDEX_PROOF_IDS) {
        proof->n_ids--;
    }
    memmove(&proof->ids[at + 1], &proof->ids[at],
            (proof->n_ids - at) * sizeof(*id));
    proof->ids[at] = *id;
    proof->n_ids++;
    return true;
}

/* Ids begin with their time, so the newest are the last of the id table.
 * Episodes are left out: they are made and unmade. */
static void put_newest(struct index_proof *proof, const struct segment *segment)
{
    uint32_t n_docs = segment->head->n_docs;

    for (uint32_t i = n_docs; i-- > 0;) {
        uint32_t doc = segment->ids[i];

        if (doc < n_docs && !segment_is_removed(segment, doc) &&
            segment_kind_of(segment, doc) != INDEX_EPISODE &&
            !put(proof, &segment->docs[doc].id)) {
            return;
        }
    }
}

static bool holds(const struct tenant *tenant, const struct uuid *id)
{
    for (size_t i = 0; i < tenant->count; i++) {
        uint32_t doc;

        if (segment_find_id(tenant->segments[i], id, &doc) &&
            !segment_is_removed(tenant->segments[i], doc)) {
            return true;
        }
    }
    return false;
}

enum clew_status tenant_prove(const struct tenant *tenant, bool *out_same,
                              struct clew_error *err)
{
    const struct index_source *source = &tenant->home->source;
    struct index_proof proof = {.through = tenant->through, .is_known = true};
    enum clew_status status = CLEW_OK;

    *out_same = true;
    if (!source->prove || tenant->through == 0) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < tenant->count; i++) {
        put_newest(&proof, tenant->segments[i]);
    }
    status = source->prove(source->arg, tenant->id, &proof, err);
    *out_same = proof.is_known;
    for (size_t i = 0; i < proof.n_last && *out_same; i++) {
        *out_same = holds(tenant, &proof.last[i]);
    }
    return status;
}
