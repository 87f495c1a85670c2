/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secrets.h - secrets that are stored already: found, and starred.
 *
 * For stores from before secrets were recognised, or whose redact.mode was off,
 * and after the recogniser has learned. Looks at every text a tenant has, in
 * turns and in what was made of them. Masking stars them in place (what was
 * sent stays in the turn's content unless redact.mode is drop), derives the
 * rest again and drops the tenant's index, which is then made anew.
 *
 * A server on the same store keeps the index it has in memory: stop it first.
 * Thread-safety: safe.
 */
#ifndef ENGINE_SECRETS_H
#define ENGINE_SECRETS_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

#define SECRETS_MAX_SHOWN 100

/* One text that holds a secret. */
struct secrets_found {
    const char *type;   /* as in an export: "turn" */
    const char *column; /* "text" */
    const char *key;    /* of the row */
    const char *kind;   /* of the first secret: "api_key" */
    const char *around; /* the text about it, secrets starred */
};

struct secrets_report {
    int64_t n_rows;  /* texts looked at */
    int64_t n_found; /* texts that hold a secret */
    int64_t n_masked;
    struct secrets_found shown[SECRETS_MAX_SHOWN];
    size_t n_shown;
};

/* What a column of an export's kind may hold secrets as. */
enum secrets_form { SECRETS_NONE, SECRETS_TEXT, SECRETS_JSON };
enum secrets_form secrets_form_of(const char *type, const char *column);

/* Find, and mask if `is_masking`. What the report points to is in the arena. */
enum clew_status secrets_run(struct engine *engine, const struct scope *scope,
                             struct arena *arena, bool is_masking,
                             struct secrets_report *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
