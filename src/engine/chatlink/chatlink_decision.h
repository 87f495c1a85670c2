/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_decision.h - why two chats were, or were not, joined, and how it
 * went.
 *
 * One row per pair of chats; it changes while the new chat's first turns come
 * in, when an LLM answers, and when its outcome is known.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_CHATLINK_DECISION_H
#define ENGINE_CHATLINK_DECISION_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chatlink/chatlink_score.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct chatlink_decision {
    struct uuid id;
    struct str user_id;
    struct uuid chat_id;       /* the newer chat */
    struct uuid other_chat_id; /* the earlier one */
    struct uuid turn_id;       /* the turn that decided last */
    int64_t seq;
    double algorithmic;
    double llm; /* probability of relatedness; < 0 if absent */
    double threshold;
    struct str decision;   /* link, no_link */
    struct str agreement;  /* yes, no, absent (no LLM) */
    struct str confidence; /* high, uncertain */
    struct str signals;    /* JSON object */
    struct str outcome;    /* correct, incorrect; s == NULL until known */
    struct str outcome_by; /* feedback, inferred */
    int64_t outcome_at_ms;
    int64_t created_at_ms;
    int64_t updated_at_ms;
};

/* Equal for every turn that decides about this pair. */
struct uuid chatlink_decision_id(int64_t chat_created_at_ms,
                                 const struct uuid *chat_id,
                                 const struct uuid *other_chat_id);
bool chatlink_decision_is_link(const struct chatlink_decision *decision);
/* Did a person say whether it was right? Then nobody decides it anew. */
bool chatlink_decision_is_said(const struct chatlink_decision *decision);
/* Are the two joined: as it was decided, or not where a person says that this
 * was wrong? The same of the rows of an alias ("d." or ""), in SQL. */
bool chatlink_decision_stands(const struct chatlink_decision *decision);
#define CHATLINK_STANDS(d)                                                     \
    "(" d "decision = 'link') <> (COALESCE(" d "outcome_by, '') = 'feedback'"  \
    " AND COALESCE(" d "outcome, '') = 'incorrect')"
/* Fill decision, agreement, confidence and llm from a verdict. */
void chatlink_decision_set(struct chatlink_decision *decision,
                           const struct chatlink_verdict *verdict,
                           const struct chatlink_opinion *opinion);
/* What else was seen or said ("llm", "matter"), beside what words told; takes
 * `value`, which may be NULL for want of memory. */
enum clew_status chatlink_decision_note(struct chatlink_decision *decision,
                                        struct arena *arena, const char *name,
                                        json_t *value,
                                        struct clew_error *err) CLEW_MUST_CHECK;

/* --- inside a transaction --- */

/* Insert, or replace what was decided about the same pair. */
enum clew_status chatlink_decision_put(struct store_tx *tx,
                                       const struct chatlink_decision *decision,
                                       struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chatlink_decision_find(struct store_tx *tx,
                                        struct arena *arena,
                                        const struct uuid *id,
                                        struct chatlink_decision *out,
                                        struct clew_error *err) CLEW_MUST_CHECK;
/* Those made when `chat_id` was the newer chat. */
enum clew_status
chatlink_decision_of_chat(struct store_tx *tx, struct arena *arena,
                          const struct uuid *chat_id,
                          struct chatlink_decision **out, size_t *out_count,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* Number the profiles that are joined with each other alike. */
enum clew_status
chatlink_decision_group(struct store_tx *tx, struct arena *arena,
                        struct chat_profile *profiles, size_t count,
                        struct clew_error *err) CLEW_MUST_CHECK;
/* The newest `limit` with an outcome, newest first: what tuning learns from. */
enum clew_status
chatlink_decision_judged(struct store_tx *tx, struct arena *arena,
                         int64_t limit, struct chatlink_decision **out,
                         size_t *out_count,
                         struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Say how a decision went. An explicit word (`by` "feedback") is never
 * replaced by an inferred one. Every CHATLINK_OUTCOMES_PER_TUNING-th outcome
 * adds a task that tunes. `*out_is_set` says if anything changed.
 */
#define CHATLINK_OUTCOMES_PER_TUNING 100
#define CHATLINK_TUNE_TASK "link.tune"
enum clew_status chatlink_decision_judge(
    struct store_tx *tx, struct arena *arena,
    const struct chatlink_decision *decision, bool is_correct, const char *by,
    int64_t now_ms, bool *out_is_set, struct clew_error *err) CLEW_MUST_CHECK;
/* What was inferred to be right is wrong after all. */
enum clew_status
chatlink_decision_unjudge(struct store_tx *tx,
                          const struct chatlink_decision *decision,
                          struct clew_error *err) CLEW_MUST_CHECK;

/* --- whole operations --- */

/* Newest first. */
struct chatlink_filter {
    struct uuid chat_id; /* nil: any; either side of the pair */
    struct str decision; /* s == NULL: any */
    struct str user_id;  /* s == NULL: anyone's */
    int64_t before_time_ms;
    struct uuid before_id;
    int64_t limit;
};
enum clew_status chatlink_decision_get(struct engine *engine,
                                       const struct scope *scope,
                                       struct arena *arena,
                                       const struct uuid *id,
                                       struct chatlink_decision *out,
                                       struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status chatlink_decision_list(
    struct engine *engine, const struct scope *scope, struct arena *arena,
    const struct chatlink_filter *filter, struct chatlink_decision **out,
    size_t *out_count, struct clew_error *err) CLEW_MUST_CHECK;

#endif
