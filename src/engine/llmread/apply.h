/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h - what a model found becomes rows, as what the reader finds does.
 *
 * In the order of the turns: what one opens, what it says, what it ends; then
 * what is none is taken back. Ids follow from the turn and the answer, times
 * are the turn's, so that a replay of the same answer makes the same rows.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_LLMREAD_APPLY_H
#define ENGINE_LLMREAD_APPLY_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct batch_work;
struct found;
struct stretch;

/* What it came to. */
struct apply_counts {
    size_t kept;    /* new notes */
    size_t known;   /* that were kept already */
    size_t refined; /* that took another's place */
    size_t opened;  /* efforts */
    size_t ended;   /* efforts whose standing changed */
    size_t named;   /* efforts that have a better name now */
    size_t removed; /* notes and efforts that are none */
    size_t linked;  /* earlier chats that this one goes on with */
    size_t parted;  /* links that are none */
    /* notes that the reader finds worthless, and nothing rests on: dropped */
    size_t worthless;
};

/* `key` names the answer (hex), `model` who gave it; `now_ms` is when it is
 * taken. */
enum clew_status apply_found(struct batch_work *batch,
                             const struct stretch *stretch,
                             const struct found *found, struct str key,
                             struct str model, int64_t now_ms,
                             struct apply_counts *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
