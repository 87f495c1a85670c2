/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild.h - make everything derived again from the log, and compare.
 *
 * The log is the turns, the requests, the actions (action.h) and the recorded
 * answers of an LLM. It is replayed, in order and through the code that first
 * saw it, into a scratch store beside the real one; then the two are compared
 * row by row. A rebuild writes the differences in one transaction, a dry run
 * only tells of them. So an interruption leaves all as it was, others read and
 * write meanwhile (what they add is replayed too), and a second rebuild finds
 * nothing to do.
 *
 * Not derived, and left alone: turns, requests and their keys, actions,
 * answers, the ledger, what agents were given and how a memory's
 * weight grew by it, receipts, tombstones, vectors.
 * Thread-safety: safe; two at once do the same work twice.
 */
#ifndef ENGINE_REBUILD_H
#define ENGINE_REBUILD_H

#include "base/arena.h"
#include "base/buf.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/core/task.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

#define REBUILD_MAX_KINDS 32
#define REBUILD_MAX_SHOWN 20

/* How one kind of row differs. */
struct rebuild_kind_report {
    const char *type; /* as in an export: "memory" */
    int64_t n_rows;   /* that follow from the log */
    int64_t n_missing;
    int64_t n_extra;
    int64_t n_changed;
};

/* One row that differs; names no content. */
struct rebuild_difference {
    const char *type;
    const char *what;   /* missing, extra, changed */
    const char *key;    /* the row's key, in words */
    const char *column; /* the first that differs; NULL unless changed */
};

struct rebuild_report {
    int64_t n_total; /* turns and actions when it began */
    int64_t n_done;
    int64_t n_turns;
    int64_t n_actions;
    int64_t n_skipped; /* actions on what was forgotten since */
    int64_t n_differences;
    int64_t n_tasks; /* open tasks that were missing */
    bool is_due;     /* a rebuild was asked for and had not run */
    struct rebuild_kind_report kinds[REBUILD_MAX_KINDS];
    size_t n_kinds;
    struct rebuild_difference shown[REBUILD_MAX_SHOWN];
    size_t n_shown;
};

/* Called now and then; false breaks off with CLEW_UNAVAILABLE. */
typedef bool (*rebuild_fn)(void *arg, const struct rebuild_report *report);

/*
 * An empty store, for several rebuilds to begin with: to make one takes longer
 * than to replay a short log. The first keeps a copy of its own here; the
 * caller inits and releases it.
 */
struct rebuild_empty {
    struct buf bytes; /* of the file; none: not made yet */
};
void rebuild_empty_init(struct rebuild_empty *empty);
void rebuild_empty_release(struct rebuild_empty *empty);

struct rebuild_options {
    bool is_dry_run;             /* compare only */
    struct rebuild_empty *empty; /* NULL: this is the only one */
    rebuild_fn progress;
    void *arg;
};

/*
 * Rebuild one tenant. CLEW_UNSUPPORTED if it has turns from before actions were
 * kept: they cannot be replayed as they came. CLEW_CONFLICT if things were
 * forgotten or imported again and again meanwhile. What the report points to
 * lives in the arena.
 */
enum clew_status rebuild_run(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct rebuild_options *options,
                             struct rebuild_report *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* Tasks whose runs are actions of the log (task_complete_noted()), which a
 * replay runs again; ends with a row whose kind is NULL. */
extern const struct task_handler rebuild_handlers[];

/* The task that rebuild_later.h asks for. */
enum clew_status rebuild_task(struct engine *engine, const struct task *task,
                              struct arena *arena,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
