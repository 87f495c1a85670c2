/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_told.h - efforts that somebody else read in turns.
 *
 * A language model that was asked later (llmread/) says that a turn opens an
 * effort, that one ended, or that none is. The rows are those the reader makes;
 * one that it opened with the same words, or at the same turn with most of
 * them, is the same.
 * What a person closed or opened is left alone: only an end that was a guess
 * may be told better.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_EFFORT_TOLD_H
#define ENGINE_EFFORT_TOLD_H

#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

struct batch_work;
struct memory;
struct observation;

/* The turn opens an effort with these words; `*out_new`: none was known. A new
 * one is called by `name`, unless that is empty. */
enum clew_status effort_told_open(struct observation *o, struct str words,
                                  struct str name, float confidence,
                                  struct uuid *out_id, bool *out_new,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Call it so from now on, if a reader named it and nobody pinned it; the words
 * that opened it stay its goal. */
enum clew_status effort_told_name(struct batch_work *batch,
                                  const struct uuid *id, struct str name,
                                  bool *out_changed,
                                  struct clew_error *err) CLEW_MUST_CHECK;

struct effort_told {
    const char *status;    /* open, resolved, abandoned */
    struct str resolution; /* the words that hold it; of an end only */
    float confidence;
};
/* By this turn the effort stands so; `*out_changed`: it did not. */
enum clew_status effort_told_stand(struct observation *o, const struct uuid *id,
                                   const struct effort_told *told,
                                   bool *out_changed,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
