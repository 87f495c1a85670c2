/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite.h - the conformance suite: every case runs on every backend.
 *
 * A case gets an open store with two tenants (1 and 2) and a table "probe" of
 * all types beside the ordinary schema. Between the store and its backend
 * lies a table of functions that can count and fail calls.
 */
#ifndef STORE_SUITE_H
#define STORE_SUITE_H

#include "support/test.h"

#include "base/str.h"
#include "store/db.h"
#include "store/driver.h"
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum backend { BACKEND_SQLITE, BACKEND_MEMORY, BACKEND_POSTGRES, N_BACKENDS };

enum {
    ON_SQLITE = 1 << BACKEND_SQLITE,
    ON_MEMORY = 1 << BACKEND_MEMORY,
    ON_POSTGRES = 1 << BACKEND_POSTGRES,
    ON_FILES = ON_SQLITE | ON_POSTGRES,
    ON_ALL = ON_SQLITE | ON_MEMORY | ON_POSTGRES
};

struct env {
    enum backend backend;
    struct store *store;
    char folder[64];    /* of BACKEND_SQLITE, removed at the end */
    char location[160]; /* what store_open() takes */
};

struct store_case {
    const char *name;
    void (*run)(struct env *env);
    int backends;
};

/* A row of such a table, named as its function. */
#define STORE_CASE(function, where)                                            \
    {                                                                          \
        .name = #function, .run = function, .backends = where                  \
    }

/* The cases of each file, ended by an empty one. */
extern const struct store_case server_cases[];
extern const struct store_case basic_cases[];
extern const struct store_case value_cases[];
extern const struct store_case ahead_cases[];
extern const struct store_case group_cases[];
extern const struct store_case thread_cases[];
extern const struct store_case fault_cases[];
extern const struct store_case schema_cases[];
extern const struct store_case random_cases[];
extern const struct store_case rights_cases[];

extern const struct scope tenant_1;
extern const struct scope tenant_2;

/* Open an empty store of its own, beside the case's; env_close() it. */
void env_open(struct env *env, enum backend backend);
void env_close(struct env *env);
/* Open the same location again (not for memory). */
enum clew_status env_reopen(struct env *env, struct clew_error *err);

#define assert_ok(call)                                                        \
    do {                                                                       \
        struct clew_error *e_ = &suite_error;                                  \
        enum clew_status s_ = (call);                                          \
        if (s_ != CLEW_OK) {                                                   \
            fail_msg("%s: %s: %s", #call, clew_status_code(s_), e_->message);  \
        }                                                                      \
    } while (0)

/* Where calls checked with assert_ok() leave their words. */
extern _Thread_local struct clew_error suite_error;
#define ERR (&suite_error)

/* --- the table "probe" (tenant, id, i, r, t, b) --------------------------- */

struct probe {
    int64_t id;
    int64_t i;
    double r;
    struct str t;
    struct str b;
};

/* Insert a row in a write of its own. */
enum clew_status probe_add(struct store *store, const struct scope *scope,
                           int64_t id, struct clew_error *err);
enum clew_status probe_add_in(struct store_tx *tx, const struct probe *row,
                              struct clew_error *err);
/* Rows of a tenant. */
int64_t probe_count(struct store *store, const struct scope *scope);
bool probe_has(struct store *store, const struct scope *scope, int64_t id);

#endif
