/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store.c - main of the conformance suite: fixtures, and cases times
 * backends.
 */
#include "suite.h"

#include "support/pg.h"
#include "support/store_fault.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

const struct scope tenant_1 = {1};
const struct scope tenant_2 = {2};
_Thread_local struct clew_error suite_error;

static const char *const backend_names[] = {"sqlite", "memory", "postgres"};

static const struct store_case *const groups[] = {
    server_cases, basic_cases, value_cases,  ahead_cases,  group_cases,
    thread_cases, fault_cases, schema_cases, random_cases, rights_cases,
};

DB_SQL_SYSTEM(add_tenant, "INSERT INTO tenants "
                          "(tenant, name, created_at, change_seq) "
                          "VALUES ($1, $2, $3, 0)");
DB_SQL(add_probe, "INSERT INTO probe (tenant, id, i, r, t, b) "
                  "VALUES ($1, $2, $3, $4, $5, $6)");
DB_SQL(count_probe, "SELECT COUNT(*) FROM probe WHERE tenant = $1");
DB_SQL(find_probe, "SELECT id FROM probe WHERE tenant = $1 AND id = $2");

static enum clew_status add_tenants(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    (void)arg;
    for (int64_t i = 1; i <= 2; i++) {
        enum clew_status status = db_exec(
            tx, &add_tenant,
            DB_ARGS(db_int(i), db_cstr(i == 1 ? "one" : "two"), db_int(0)),
            err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    return CLEW_OK;
}

enum clew_status env_reopen(struct env *env, struct clew_error *err)
{
    /* no machine is so slow that a group does not end by itself */
    struct store_options options = {.location = env->location,
                                    .group_ms = 60 * 1000};

    return store_open_driver(store_fault_ops(env->backend == BACKEND_POSTGRES
                                                 ? &postgres_driver
                                                 : &sqlite_driver),
                             &options, &env->store, err);
}

void env_open(struct env *env, enum backend backend)
{
    memset(env, 0, sizeof(*env));
    env->backend = backend;
    switch (backend) {
    case BACKEND_SQLITE:
        (void)snprintf(env->folder, sizeof(env->folder),
                       "/tmp/clew-store-XXXXXX");
        assert_non_null(mkdtemp(env->folder));
        (void)snprintf(env->location, sizeof(env->location), "%s", env->folder);
        break;
    case BACKEND_MEMORY:
        (void)snprintf(env->location, sizeof(env->location), ":memory:");
        break;
    case BACKEND_POSTGRES:
        pg_new_database(env->location, sizeof(env->location));
        break;
    case N_BACKENDS:
        fail();
    }
    assert_ok(env_reopen(env, ERR));
    assert_ok(store_write_system(env->store, add_tenants, NULL, ERR));
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

void env_close(struct env *env)
{
    store_close(env->store);
    if (env->folder[0]) {
        (void)nftw(env->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

enum clew_status probe_add_in(struct store_tx *tx, const struct probe *row,
                              struct clew_error *err)
{
    return db_exec(tx, &add_probe,
                   DB_ARGS(db_int(row->id), db_int(row->i), db_real(row->r),
                           db_text(row->t), db_bytes(row->b.s, row->b.len)),
                   err);
}

static enum clew_status add_one(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct probe row = {.id = *(int64_t *)arg};

    return probe_add_in(tx, &row, err);
}

enum clew_status probe_add(struct store *store, const struct scope *scope,
                           int64_t id, struct clew_error *err)
{
    return store_write(store, scope, add_one, &id, err);
}

struct look {
    const struct db_sql *sql;
    int64_t id;
    int64_t n_rows;
    int64_t value;
};

static enum clew_status run_look(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct look *look = arg;
    struct db_rows rows;
    enum clew_status status =
        look->sql == &find_probe
            ? db_query(tx, look->sql, DB_ARGS(db_int(look->id)), &rows, err)
            : db_query(tx, look->sql, DB_NO_ARGS, &rows, err);

    look->n_rows = 0;
    while (db_next(&rows)) {
        look->n_rows++;
        look->value = db_get_int(&rows, 0);
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

int64_t probe_count(struct store *store, const struct scope *scope)
{
    struct look look = {.sql = &count_probe};

    assert_ok(store_read(store, scope, run_look, &look, ERR));
    return look.value;
}

bool probe_has(struct store *store, const struct scope *scope, int64_t id)
{
    struct look look = {.sql = &find_probe, .id = id};

    assert_ok(store_read(store, scope, run_look, &look, ERR));
    return look.n_rows > 0;
}

struct run_of_case {
    const struct store_case *the_case;
    enum backend backend;
};

static void run_case(void **state)
{
    const struct run_of_case *run = *state;
    struct env env;

    store_fault_reset();
    env_open(&env, run->backend);
    run->the_case->run(&env);
    store_fault_reset();
    env_close(&env);
}

int main(int argc, char **argv)
{
    enum { MAX_RUNS = 400, NAME_SIZE = 120 };
    static struct CMUnitTest tests[MAX_RUNS];
    static struct run_of_case runs[MAX_RUNS];
    static char names[MAX_RUNS][NAME_SIZE];
    size_t n = 0;

    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        for (const struct store_case *c = groups[g]; c->name; c++) {
            for (int b = 0; b < N_BACKENDS; b++) {
                if (!(c->backends & (1 << b))) {
                    continue;
                }
                runs[n] = (struct run_of_case){c, (enum backend)b};
                (void)snprintf(names[n], NAME_SIZE, "%s [%s]", c->name,
                               backend_names[b]);
                tests[n] = (struct CMUnitTest){names[n], run_case, NULL, NULL,
                                               &runs[n]};
                n++;
            }
        }
    }
    return _cmocka_run_group_tests("store", tests, n, NULL, NULL);
}
