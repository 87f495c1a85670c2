/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_tuning.h - how linking learns from its outcomes, tenant by tenant.
 *
 * A tuning is a threshold, four weights and how much an LLM's word counts. The
 * one in force is the newest that was adopted or reverted to; all are kept. A
 * tuning is adopted only if it is right more often on the recorded decisions
 * than the one in force, and it moves by a bounded step.
 * Thread-safety: as store.h; chatlink_tuning_fit() is pure.
 */
#ifndef ENGINE_CHATLINK_TUNING_H
#define ENGINE_CHATLINK_TUNING_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_score.h"
#include "store/store.h"

struct engine;
struct task;

/* The grid of thresholds, and the largest step of one tuning. */
#define CHATLINK_THRESHOLD_MIN 0.50
#define CHATLINK_THRESHOLD_MAX 0.90
#define CHATLINK_STEP 0.05
/* Decisions a tuning learns from. */
#define CHATLINK_TUNING_SAMPLE 1000

struct chatlink_metrics {
    double accuracy;
    double false_positive_rate;
    double false_negative_rate;
};

struct chatlink_tuning {
    struct uuid id;          /* nil: the defaults */
    struct uuid previous_id; /* nil: the defaults */
    double threshold;
    struct chatlink_weights weights;
    double llm_weight;
    struct str prompt_signals; /* JSON array: what the LLM is told to look at */
    struct str reason;
    struct str metrics; /* JSON object */
    int64_t created_at_ms;
    bool is_current;
};

/* One judged decision as fitting sees it. */
struct chatlink_sample {
    double signals[4];
    bool should_link;
    bool was_link;
    bool has_llm;
    bool llm_said_link;
};

/*
 * The best tuning within a step of `from`, with measures before and after;
 * false if none is better.
 */
bool chatlink_tuning_fit(const struct chatlink_tuning *from,
                         const struct chatlink_sample *samples, size_t count,
                         struct chatlink_tuning *out,
                         struct chatlink_metrics *out_before,
                         struct chatlink_metrics *out_after);

/* The tuning in force, inside a transaction. */
enum clew_status
chatlink_tuning_current(struct store_tx *tx, const struct engine *engine,
                        struct arena *arena, struct chatlink_tuning *out,
                        struct clew_error *err) CLEW_MUST_CHECK;

/* CHATLINK_TUNE_TASK: learn from the recorded outcomes. */
enum clew_status chatlink_tuning_task(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* The one in force and the history, newest first. */
enum clew_status chatlink_tuning_list(struct engine *engine,
                                      const struct scope *scope,
                                      struct arena *arena, int64_t limit,
                                      struct chatlink_tuning *out_current,
                                      struct chatlink_tuning **out_history,
                                      size_t *out_count,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* Go back to the tuning before; CLEW_CONFLICT if there was none. */
enum clew_status chatlink_tuning_revert(struct engine *engine,
                                        const struct scope *scope,
                                        struct arena *arena,
                                        struct chatlink_tuning *out,
                                        struct clew_error *err) CLEW_MUST_CHECK;

#endif
