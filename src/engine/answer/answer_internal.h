/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_internal.h - what the files of answer/ share.
 */
#ifndef ENGINE_ANSWER_INTERNAL_H
#define ENGINE_ANSWER_INTERNAL_H

#include "base/buf.h"
#include "engine/answer/answer.h"

/* A reply on its way. */
struct answer_reading {
    struct arena *arena;
    const struct answer_query *query;
    struct answer *answer;
    struct buf line;  /* what came of the last line */
    size_t n_bytes;   /* of the whole reply */
    bool is_none;     /* it says that the passages do not answer */
    bool is_too_long; /* more sentences than an answer has: cut off */
    bool is_flood;    /* no answer at all, by its length */
    enum clew_status status;
};

/* --- answer_prompt.c: what is sent, and what is said without anybody --- */

/* The manuals: to answer, and to ask on. */
extern const char answer_manual[];
extern const char answer_more_manual[];
/* The question and what is shown, as JSON; s == NULL without memory. */
struct str answer_prompt(struct arena *arena, const struct answer_query *query,
                         const struct answer *answer);
/* That nothing is known, in the question's language. */
struct str answer_nothing(struct arena *arena, struct str question);

/* The notes drawn from a passage that say more than its words: at most so many,
 * in their order. */
#define ANSWER_NOTES 2
size_t answer_notes(const struct answer_source *source,
                    struct str out[ANSWER_NOTES]);

/* --- answer_around.c --- */

/* Bytes of one passage. */
#define ANSWER_SOURCE_BYTES 1500
/* What was said beside each, and how the efforts that were found ended. */
enum clew_status answer_look_around(struct engine *engine,
                                    const struct scope *scope,
                                    struct arena *arena,
                                    const struct answer_query *query,
                                    struct answer *answer,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* --- answer_read.c: lines into sentences --- */

/* The next piece; false when enough came. */
bool answer_read_piece(struct answer_reading *reading, struct str piece);
/* The last line has no end. */
void answer_read_end(struct answer_reading *reading);

/* --- answer_check.c --- */

/* Hold a sentence with its citations against them; sets `fault`. */
enum clew_status answer_check(struct arena *arena, struct str question,
                              const struct answer *answer,
                              struct answer_sentence *sentence,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
