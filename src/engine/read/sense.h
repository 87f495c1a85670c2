/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sense.h - what a turn means in its chat: the reader, as the engine asks it.
 *
 * How texts are put together here is how the reader was trained
 * (models/train/reader_examples.py): change both or neither.
 * Thread-safety: pure functions over the engine's immutable reader.
 */
#ifndef ENGINE_SENSE_H
#define ENGINE_SENSE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/intent.h"
#include "model/reader.h"
#include "talk/line.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>

struct batch_work;

/*
 * What the reader said, kept from the transaction that looks ahead to the one
 * that writes. Answers are known by the texts they are about, so whatever
 * changed in between is asked anew.
 */
struct sense_memo {
    struct sense_answer *answers;
    size_t count, cap;
};

/* Turns before that a reader sees. */
#define SENSE_BEFORE 2

/* "assistant", the speaker's name, or "user". */
struct str sense_speaker(bool is_assistant, struct str name);
/* As it is shown to people: the name, also where the role is an assistant's;
 * else "assistant" or "user". */
struct str sense_name(const struct talk_line *line);

/*
 * What each sentence of a turn says; in the arena, one for each of
 * analysis->sentences. `before` holds up to SENSE_BEFORE turns, oldest first;
 * `intent` is what rules go by where there is no reader. `out_gist` may be
 * NULL; rules know none.
 */
struct sense_turn {
    struct reader_said said;
    const struct analysis *analysis;
    const struct intent *intent;
    const struct reader_said *before;
    size_t n_before;
};
enum clew_status sense_read(struct batch_work *batch,
                            const struct sense_turn *turn,
                            struct reader_sentence **out,
                            struct reader_gist *out_gist,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* reader_compare() on what is not known yet. The engine has a reader. */
enum clew_status sense_compare(struct batch_work *batch,
                               enum reader_pair_kind kind,
                               const struct reader_pair *pairs, size_t n,
                               struct reader_verdict *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The most pairs of one call. */
#define SENSE_MAX_PAIRS 16

/* The texts below are in the arena; s == NULL: there was no memory. */
/* A turn as the ending of an effort is looked for in it: "ada: it works ||
 * assistant: try the fuse". `before` may be NULL. */
struct str sense_step(struct arena *arena, const struct reader_said *turn,
                      const struct reader_said *before);
/* "ada: 30 July then || ada: on 29 July, room 2": two turns that may both
 * answer, of which the later may hold instead; s == NULL without memory. */
struct str sense_two_answers(struct arena *arena,
                             const struct reader_said *earlier,
                             const struct reader_said *later);
/* "ada: the boiler knocks" */
struct str sense_said(struct arena *arena, const struct reader_said *said);

#endif
