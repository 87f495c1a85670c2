/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_reader.h - what reads turns where there is no trained reader.
 *
 * Few rules, each cheap and likely right, on what is known anyway: the
 * dialogue act, the kind of statement, dates and names. Gives the same answers
 * as model/reader.h, so that nothing else needs to know who read.
 * Thread-safety: pure functions.
 */
#ifndef TALK_RULE_READER_H
#define TALK_RULE_READER_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/intent.h"
#include "model/reader.h"
#include "text/analysis.h"

/* out[i] belongs to analysis->sentences[i]. Fails only with CLEW_NO_MEMORY. */
enum clew_status rule_read(struct arena *arena, const struct analysis *analysis,
                           const struct intent *intent,
                           struct reader_sentence *out) CLEW_MUST_CHECK;

/*
 * Where a form is certain, it counts beside what a reader said of a user's
 * sentence: "I work at X", "I prefer tea", "we decided to". Such a sentence is
 * kept and opens nothing. Fails only with CLEW_NO_MEMORY.
 */
enum clew_status rule_lift(struct arena *arena, const struct analysis *analysis,
                           struct str speaker,
                           struct reader_sentence *read) CLEW_MUST_CHECK;

/* How a turn that was read so stands to the effort it is about. */
struct reader_verdict rule_ending(const struct reader_sentence *read,
                                  size_t n_sentences);

#endif
