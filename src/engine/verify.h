/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - prove that what is stored holds together.
 *
 * Three looks: the backend's own consistency check, the invariants between the
 * tables (each one query per tenant), and the search index against the tables.
 * Changes nothing.
 * Thread-safety: safe while the store is in use; a finding in a store that is
 * being written is real, since every query sees one snapshot.
 */
#ifndef ENGINE_VERIFY_H
#define ENGINE_VERIFY_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct engine;

/* One broken rule. */
struct verify_fault {
    const char *tenant; /* name */
    const char *rule;   /* "every turn stands in a chat" */
    int64_t count;      /* rows that break it */
};

struct verify_report {
    int64_t n_tenants;
    int64_t n_chats;
    int64_t n_turns;
    int64_t n_memories;
    struct verify_fault *faults;
    size_t n_faults;
};

/*
 * Look at everything. CLEW_OK also if faults were found: they are in the
 * report; CLEW_CORRUPT only if the backend itself says so.
 */
enum clew_status verify_run(struct engine *engine, struct arena *arena,
                            struct verify_report *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
