/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - a durable piece of later work.
 *
 * A task is added in the transaction that makes it necessary, so it exists if
 * and only if its cause does. Workers (task/worker.h) claim what is due with a
 * lease; a worker that dies loses its lease and the task is claimed again.
 * Work that must happen exactly once marks its task done in the transaction
 * that does it (task_complete).
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_TASK_H
#define ENGINE_TASK_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

#define TASK_MAX_ATTEMPTS 8
/* Claimed with one commit; each worker has at most so many in hand. */
#define TASK_MAX_CLAIM 16
/* For kinds that renew their claim with every step (task_extend). */
#define TASK_STEP_LEASE_MS (10 * 1000LL)
/* The wait after a failure doubles from here, up to an hour, with jitter. */
#define TASK_BACKOFF_MS 2000LL
#define TASK_BACKOFF_MAX_MS (60 * 60 * 1000LL)

struct task {
    struct scope scope;
    struct uuid id;
    struct str kind;
    struct str unique_key;
    struct str payload;    /* JSON object */
    struct str status;     /* pending, running, done, failed */
    struct str last_error; /* s == NULL if there was none */
    int64_t priority;      /* higher first among those due */
    int64_t execute_at_ms;
    int64_t attempts;
    int64_t created_at_ms;
    int64_t finished_at_ms; /* 0 while open */
};

/* Does the work of one task. May mark it done itself (task_complete). */
typedef enum clew_status (*task_fn)(struct engine *engine,
                                    const struct task *task,
                                    struct arena *arena,
                                    struct clew_error *err);

/* Those that failed, as the index of them has it. It does without the status,
 * so that claims change no index (migration 0036). */
#define TASK_FAILED                                                            \
    " AND status = 'failed' AND last_error IS NOT NULL"                        \
    " AND finished_at IS NOT NULL"

struct task_handler {
    const char *kind;
    task_fn fn;
};
/* What later work found and a replay cannot find by itself. */
struct task_note {
    int64_t through_seq; /* how far the chat was read; 0 = no matter */
    struct str answer;   /* digest of the LLM's answer; s == NULL: none */
};

struct task_new {
    const char *kind;
    struct str unique_key; /* with the kind: one open task at a time */
    struct str payload;
    int64_t priority;
    int64_t execute_at_ms;
    int64_t now_ms;
};

/* "id:seq", a key for work that a turn asks for; s == NULL without memory. */
struct str task_key(struct arena *arena, const struct uuid *id, int64_t seq);
/* The `seq` of such a key. */
int64_t task_key_seq(struct str key);
/* Add a task in the caller's transaction; nothing happens if one with the same
 * kind and key is open. */
enum clew_status task_add(struct store_tx *tx, struct arena *arena,
                          const struct task_new *input,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* The same for one about one thing: the payload is {"field": id}, which
 * task_get_id() reads, and the key the id where `input` has none. */
enum clew_status task_add_about(struct store_tx *tx, struct arena *arena,
                                const struct task_new *input, const char *field,
                                const struct uuid *id,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status task_get_id(const struct task *task, const char *field,
                             struct uuid *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Note, as a task that failed for good, what another task gives up; `why`
 * (s == NULL: nobody came back to say) is its last error. */
enum clew_status task_add_failed(struct store_tx *tx, struct arena *arena,
                                 const struct task_new *input, int64_t attempts,
                                 struct str why,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The open task of this kind and key, if there is one that nobody has claimed
 * (`*out_found`), is due from `execute_at_ms` on. */
enum clew_status task_wake(struct store_tx *tx, struct arena *arena,
                           const char *kind, struct str unique_key,
                           int64_t execute_at_ms, bool *out_found,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Is there an open task of this kind and key that is due or that somebody is
 * at? */
enum clew_status task_is_due(struct store_tx *tx, struct arena *arena,
                             const char *kind, struct str unique_key,
                             int64_t now_ms, bool *out_due,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Mark a claimed task done inside the transaction that does its work.
 * CLEW_CONFLICT if another worker took it over meanwhile. */
enum clew_status task_complete(struct store_tx *tx, const struct task *task,
                               int64_t now_ms,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The same for one that nobody asks about any more: it goes. */
enum clew_status task_remove(struct store_tx *tx, const struct task *task,
                             struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The same, and write down that it ran (action.h), for work that changes what
 * is derived. `note` is what it found then, for a replay; NULL: nothing.
 */
enum clew_status task_complete_noted(struct store_tx *tx,
                                     const struct task *task,
                                     const struct task_note *note,
                                     int64_t now_ms,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* The same for work that no task asked for: `kind` on `subject`. */
enum clew_status task_note_action(struct store_tx *tx, const char *kind,
                                  const struct uuid *subject,
                                  const struct task_note *note, int64_t now_ms,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Set when the claim ends, for work in steps: each step that is stored moves
 * it on, so that a worker that died is replaced soon. Such kinds are listed in
 * task.c and claimed for TASK_STEP_LEASE_MS at first. CLEW_CONFLICT if another
 * worker took the task over meanwhile.
 */
enum clew_status task_extend(struct store_tx *tx, const struct task *task,
                             int64_t until_ms,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* Give a claimed task back, to be claimed again from `execute_at_ms` on: what
 * it waits for is not there yet. Counts as no attempt. CLEW_CONFLICT if another
 * worker took the task over meanwhile. */
enum clew_status task_put_off(struct store_tx *tx, const struct task *task,
                              int64_t execute_at_ms,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* How long a claim holds (tasks.lease_seconds). */
int64_t task_lease_ms(const struct engine *engine);
/*
 * Claim what is due at `now_ms`, of any tenant, in one commit: at most
 * TASK_MAX_CLAIM tasks, and nothing is written if there are none. Attempts are
 * counted by the claim. A task that was claimed before and never settled may
 * have killed its worker: it comes alone, and is given up after
 * TASK_MAX_ATTEMPTS; one that was promised ("scrub") is claimed for twice as
 * long each time then, up to TASK_BACKOFF_MAX_MS.
 */
enum clew_status task_claim(struct engine *engine, struct arena *arena,
                            int64_t now_ms, struct task **out_tasks,
                            size_t *out_count,
                            struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Claim the open task of this kind and key, due or not, do it with `fn` and
 * settle it. Nothing happens where there is none, or somebody is at it. What
 * fails is tried again by a worker; fails itself for the store's troubles.
 */
enum clew_status task_do_now(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const char *kind,
                             struct str unique_key, task_fn fn,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Claims that end before `until_ms` hold until then; for what still waits in a
 * worker's hand. Tasks taken over by others stay theirs. */
enum clew_status task_hold(struct engine *engine, const struct task *tasks,
                           size_t count, int64_t until_ms,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Give back what was claimed and not begun, as if it had not been. */
enum clew_status task_release(struct engine *engine, const struct task *tasks,
                              size_t count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Settle tasks that succeeded, in one commit; those that task_complete()
 * settled stay as they are. */
enum clew_status task_settle_done(struct engine *engine,
                                  const struct task *tasks, size_t count,
                                  int64_t now_ms,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Settle one claimed task: done, or put off with backoff, or failed for good
 * after TASK_MAX_ATTEMPTS or a status that cannot succeed later. A task that
 * task_complete() settled stays as it is.
 */
enum clew_status task_settle(struct engine *engine, const struct task *task,
                             enum clew_status outcome, const char *message,
                             int64_t now_ms,
                             struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Drop finished tasks that are older than tasks.keep_days (those given up:
 * tasks.keep_failed_days), some hundred at a time; `*out_count` is how many.
 */
enum clew_status task_prune(struct engine *engine, int64_t now_ms,
                            int64_t *out_count,
                            struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Of each tenant that had tasks done since the last time, drop those beyond the
 * newest tasks.keep_done, some hundred at a time. When `*out_count` is 0 none
 * is left. Looks at nobody else: upkeep asks every half minute.
 */
enum clew_status task_trim(struct engine *engine, int64_t now_ms,
                           int64_t *out_count,
                           struct clew_error *err) CLEW_MUST_CHECK;

struct task_filter {
    struct str status;      /* s == NULL: any */
    int64_t before_time_ms; /* continue a page: 0 and nil for the first */
    struct uuid before_id;
    int64_t limit;
};
/* Newest first. */
enum clew_status task_list(struct engine *engine, const struct scope *scope,
                           struct arena *arena,
                           const struct task_filter *filter,
                           struct task **out_tasks, size_t *out_count,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
