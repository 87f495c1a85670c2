/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - prove that what is stored holds together.
 *
 * Four looks: the backend's own consistency check, the invariants between the
 * tables (each one query per tenant), the search index against the tables, and
 * all that is derived against a replay of the log (rebuild.h). Changes nothing.
 * Thread-safety: safe while the store is in use; a finding in a store that is
 * being written is real, since every query sees one snapshot.
 */
#ifndef ENGINE_VERIFY_H
#define ENGINE_VERIFY_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/proof/rebuild.h"

#include <stddef.h>
#include <stdint.h>

struct engine;

/* One broken rule. */
struct verify_fault {
    const char *tenant; /* name */
    const char *rule;   /* "every turn stands in a chat" */
    int64_t count;      /* rows that break it */
    const char *detail; /* why it could not be looked at; NULL if it was */
    bool is_derived;    /* a rebuild sets it right */
};

struct verify_report {
    int64_t n_tenants;
    int64_t n_chats;
    int64_t n_turns;
    int64_t n_memories;
    struct verify_fault *faults;
    size_t n_faults;
    int64_t n_replayed;   /* turns and actions */
    int64_t n_due;        /* rows that wait for a rebuild asked for already */
    int64_t n_unreplayed; /* tenants with turns from before actions were kept */
    struct rebuild_difference shown[REBUILD_MAX_SHOWN];
    size_t n_shown; /* of what does not follow from the log */
};

struct verify_options {
    bool is_quick; /* the log is not replayed */
    rebuild_fn progress;
    void *arg;
};

/*
 * Look at everything; `options` NULL for all of it in silence. CLEW_OK also if
 * faults were found: they are in the report; CLEW_CORRUPT only if the backend
 * itself says so.
 */
enum clew_status verify_run(struct engine *engine, struct arena *arena,
                            const struct verify_options *options,
                            struct verify_report *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
