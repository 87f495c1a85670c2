/* SPDX-License-Identifier: Apache-2.0 */
/*
 * totals.c - see totals.h.
 */
#include "engine/view/totals.h"

#include "engine/core/engine.h"
#include "store/db.h"
#include "store/store.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

DB_SQL_SYSTEM(SELECT_TENANTS,
              "SELECT tenant FROM tenants ORDER BY tenant LIMIT $1");
DB_SQL_SYSTEM(COUNT_TASKS,
              "SELECT status, COUNT(*) FROM tasks GROUP BY status LIMIT $1");
DB_SQL_SYSTEM(COUNT_UNREAD, "SELECT COUNT(*) FROM unread WHERE tenant > $1");
DB_SQL(COUNT_TURNS, "SELECT COUNT(*) FROM turns WHERE tenant = $1");
DB_SQL(COUNT_MEMORIES, "SELECT COUNT(*) FROM memories WHERE tenant = $1"
                       " AND retracted_at IS NULL");
DB_SQL(SUM_LEDGER, "SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT),"
                   " CAST(COALESCE(SUM(failures), 0) AS BIGINT),"
                   " CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT),"
                   " CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT),"
                   " CAST(COALESCE(SUM(cost_micros), 0) AS BIGINT)"
                   " FROM llm_ledger WHERE tenant = $1");

struct work {
    struct totals *out;
    int64_t tenants[TOTALS_MAX_TENANTS];
    size_t n_tenants;
};

static const char *const states[TOTALS_TASK_STATES] = {
    [TOTALS_PENDING] = "pending",
    [TOTALS_RUNNING] = "running",
    [TOTALS_DONE] = "done",
    [TOTALS_FAILED] = "failed"};

static enum clew_status count_tasks(struct store_tx *tx, struct totals *out,
                                    struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &COUNT_TASKS, DB_ARGS(db_int(100)), &rows, err);
    enum clew_status end;

    memset(out->n_tasks, 0, sizeof(out->n_tasks));
    while (status == CLEW_OK && db_next(&rows)) {
        for (size_t i = 0; i < TOTALS_TASK_STATES; i++) {
            if (str_eq(db_get_text(&rows, 0), str_of(states[i]))) {
                out->n_tasks[i] = db_get_int(&rows, 1);
            }
        }
    }
    end = db_end(&rows, err);
    return status == CLEW_OK ? end : status;
}

/* What no tenant owns: who there is, tasks, turns that wait. */
static enum clew_status do_system(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct work *work = arg;
    struct db_rows rows;
    enum clew_status end;
    enum clew_status status = db_query(
        tx, &SELECT_TENANTS, DB_ARGS(db_int(TOTALS_MAX_TENANTS)), &rows, err);

    work->n_tenants = 0; /* it may be done again */
    while (status == CLEW_OK && db_next(&rows)) {
        work->tenants[work->n_tenants++] = db_get_int(&rows, 0);
    }
    end = db_end(&rows, err);
    status = status == CLEW_OK ? end : status;
    if (status != CLEW_OK) {
        return status;
    }
    status = db_query(tx, &COUNT_UNREAD, DB_ARGS(db_int(-1)), &rows, err);
    if (status == CLEW_OK && db_next(&rows)) {
        work->out->n_waiting = db_get_int(&rows, 0);
    }
    end = db_end(&rows, err);
    status = status == CLEW_OK ? end : status;
    return status == CLEW_OK ? count_tasks(tx, work->out, err) : status;
}

/* The counts of one tenant, to be added when all of them are there. */
static enum clew_status do_tenant(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    static const struct db_sql *const counts[] = {&COUNT_TURNS, &COUNT_MEMORIES,
                                                  &SUM_LEDGER};
    struct totals *out = arg;
    int64_t *const places[] = {&out->n_turns,          &out->n_memories,
                               &out->llm_calls,        &out->llm_failures,
                               &out->llm_input_tokens, &out->llm_output_tokens,
                               &out->llm_cost_micros};
    enum clew_status status = CLEW_OK;
    size_t place = 0;

    for (size_t i = 0; i < 3 && status == CLEW_OK; i++) {
        int n_columns = i == 2 ? 5 : 1;
        struct db_rows rows;
        enum clew_status end;

        status = db_query(tx, counts[i], DB_NO_ARGS, &rows, err);
        if (status == CLEW_OK && db_next(&rows)) {
            for (int c = 0; c < n_columns; c++) {
                *places[place++] = db_get_int(&rows, c);
            }
        }
        end = db_end(&rows, err);
        status = status == CLEW_OK ? end : status;
    }
    return status;
}

/* The index has a folder a tenant, and no more. */
#define MAX_DEPTH 4

static int64_t folder_bytes(const char *path, int depth)
{
    DIR *folder = depth < MAX_DEPTH ? opendir(path) : NULL;
    const struct dirent *entry;
    int64_t n_bytes = 0;

    while (folder && (entry = readdir(folder)) != NULL) {
        char inside[4096];
        struct stat info;
        int len =
            snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);

        if (strcmp(entry->d_name, ".") == 0 ||
            strcmp(entry->d_name, "..") == 0 || len < 0 ||
            (size_t)len >= sizeof(inside) || lstat(inside, &info) != 0) {
            continue;
        }
        n_bytes += S_ISDIR(info.st_mode)   ? folder_bytes(inside, depth + 1)
                   : S_ISREG(info.st_mode) ? info.st_size
                                           : 0;
    }
    if (folder) {
        (void)closedir(folder); /* it was only read */
    }
    return n_bytes;
}

/* The database and its log, where they are files. */
static int64_t store_bytes(const struct engine *engine)
{
    static const char *const names[] = {"clew.db", "clew.db-wal"};
    int64_t n_bytes = -1;

    for (size_t i = 0; i < 2; i++) {
        char path[4096];
        struct stat info;

        (void)snprintf(path, sizeof(path), "%s/%s", engine->data_dir, names[i]);
        if (strcmp(store_backend(engine->store), "sqlite") == 0 &&
            stat(path, &info) == 0) {
            n_bytes = (n_bytes < 0 ? 0 : n_bytes) + info.st_size;
        }
    }
    return n_bytes;
}

static int64_t index_bytes(const struct engine *engine)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/index", engine->data_dir);
    return folder_bytes(engine->index_dir ? engine->index_dir : path, 0);
}

static void add(struct totals *out, const struct totals *one)
{
    out->n_turns += one->n_turns;
    out->n_memories += one->n_memories;
    out->llm_calls += one->llm_calls;
    out->llm_failures += one->llm_failures;
    out->llm_input_tokens += one->llm_input_tokens;
    out->llm_output_tokens += one->llm_output_tokens;
    out->llm_cost_micros += one->llm_cost_micros;
}

enum clew_status totals_read(struct engine *engine, struct totals *out,
                             struct clew_error *err)
{
    struct totals all = {0};
    struct work work = {.out = &all};
    enum clew_status status =
        store_read_system(engine->store, do_system, &work, err);

    for (size_t i = 0; i < work.n_tenants && status == CLEW_OK; i++) {
        struct scope scope = {.tenant = work.tenants[i]};
        struct totals one = {0};

        status = store_read(engine->store, &scope, do_tenant, &one, err);
        add(&all, &one);
    }
    if (status == CLEW_OK) {
        all.n_tenants = (int64_t)work.n_tenants;
        all.store_bytes = store_bytes(engine);
        all.index_bytes = index_bytes(engine);
        *out = all;
    }
    return status;
}
