/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_internal.h - one forget while it runs, for forget.c, forget_answers.c,
 * forget_corrections.c and forget_cascade.c.
 */
#ifndef ENGINE_FORGET_INTERNAL_H
#define ENGINE_FORGET_INTERNAL_H

#include "engine/proof/forget.h"

struct forget_work {
    struct engine *engine;
    struct arena *arena;
    const struct forget_input *input;
    int64_t now_ms;
    int64_t end_ms; /* the last moment of it */
    const char *selector;
    unsigned char digest[SHA256_SIZE];
    struct uuid *spared; /* efforts that stay (forget_effort.h) */
    size_t n_spared;
    struct forget_receipt *out;
};

/* One more count of the receipt. */
void forget_count_add(struct forget_receipt *out, const char *name,
                      int64_t count);

/* Drop what a language model answered to anything that the scratch table
 * names. Call while that is there. */
enum clew_status forget_answers(struct forget_work *work, struct store_tx *tx,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* Drop what a person set right about words that go. Call while the scratch
 * table and the turns are there. */
enum clew_status forget_corrections(struct forget_work *work,
                                    struct store_tx *tx,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Leave tombstones for what the scratch table `forget_set` names, and delete it
 * with all that hangs on it; counts go into the receipt.
 */
enum clew_status forget_cascade(struct forget_work *work, struct store_tx *tx,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
