/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.h - lines of an export become rows again.
 *
 * Ids, times and contents are kept; the tenant is the caller's, and change
 * numbers are taken anew. What is there already stays as it is, or takes over a
 * later state where its kind tells which is later (export_kinds.h); so a broken
 * import is simply run again, and a later export can go on top of an earlier.
 * What was forgotten here does not come back, unless that is asked for, nor
 * what had been made of its words; what lines say was forgotten where they come
 * from is forgotten here. Thread-safety: safe.
 */
#ifndef ENGINE_RESTORE_H
#define ENGINE_RESTORE_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Rows of one call. */
#define RESTORE_MAX_ROWS 1000

struct restore_input {
    const json_t *lines; /* an array */
    bool brings_back;    /* also what was forgotten here */
    /* What was forgotten then or later goes with it, also of a user of whom
     * these lines are the first. 0: now */
    int64_t sent_at_ms;
};

struct restore_report {
    int64_t n_rows;
    int64_t n_added;     /* the rest was there, or was forgotten */
    int64_t n_forgotten; /* left out: they are of what was forgotten */
};

/*
 * Take lines, all or nothing. CLEW_INVALID names what is wrong with
 * which ("rows[3].seq"), also if it points at nothing that is there or among
 * them (restore_fit.h); CLEW_CONFLICT if a row contradicts one that is there
 * (another turn at the same place, the same external_id on another turn).
 */
enum clew_status restore_rows(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct restore_input *input,
                              struct restore_report *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* Is one line well formed by itself, whatever is stored? CLEW_INVALID names the
 * field. */
enum clew_status restore_look(struct arena *arena, const json_t *line,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
