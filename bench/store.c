/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - how many durable writes a second, on both backends.
 *
 *   bench_store [folder] SQLite in a folder of its own below `folder`
 *
 * PostgreSQL runs with fsync on. Each single write takes a change number and
 * inserts a row of about 300 bytes; a batch is 200 such rows.
 */
#include "base/clock.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/db.h"
#include "store/store.h"
#include "support/pg.h"

#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 3, BATCH = 200, MAX_THREADS = 64 };

DB_SQL_SYSTEM(add_tenant, "INSERT INTO tenants "
                          "(tenant, name, created_at, change_seq) "
                          "VALUES ($1, $2, 0, 0)");
DB_SQL(
    add_turn,
    "INSERT INTO turns (tenant, chat_id, seq, id, session_id, user_id, role, "
    "text, token_count, created_at, stored_at, change_seq) "
    "VALUES ($1, $2, $3, $4, $2, 'u', 'user', $5, 60, 0, 0, $3)");
DB_SQL(get_turn, "SELECT text FROM turns WHERE tenant = $1 AND chat_id = $2 "
                 "AND seq = $3");

static const char text[] =
    "The quick brown fox jumps over the lazy dog while the rain falls on the "
    "roof of the old house by the river, and nobody in the village remembers "
    "who built it, when the bridge was still made of wood and the road ended "
    "at the mill. That is all there is to say about it, more or less.";

struct load {
    struct store *store;
    struct scope scope;
    int n_rows;
    bool is_read;
    atomic_bool *must_stop;
    int64_t n_done;
    pthread_t thread;
};

static struct uuid chat = {{1}};

static enum clew_status write_turns(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    const struct load *load = arg;
    int64_t first = 0;
    enum clew_status status = db_take_changes(tx, load->n_rows, &first, err);

    for (int64_t i = 0; i < load->n_rows && status == CLEW_OK; i++) {
        struct uuid id = uuid_new(0);

        status = db_exec(tx, &add_turn,
                         DB_ARGS(db_uuid(&chat), db_int(first + i),
                                 db_uuid(&id), db_text(STR(text))),
                         err);
    }
    return status;
}

static enum clew_status read_turn(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    const struct load *load = arg;
    struct db_rows rows;
    enum clew_status status = db_query(
        tx, &get_turn, DB_ARGS(db_uuid(&chat), db_int(1 + load->n_done % 1000)),
        &rows, err);

    while (db_next(&rows)) {
        (void)db_get_text(&rows, 0);
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static void *run_load(void *arg)
{
    struct load *load = arg;
    struct clew_error err;

    while (!atomic_load(load->must_stop)) {
        enum clew_status status =
            load->is_read
                ? store_read(load->store, &load->scope, read_turn, load, &err)
                : store_write(load->store, &load->scope, write_turns, load,
                              &err);

        if (status != CLEW_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            exit(1);
        }
        load->n_done += load->n_rows;
    }
    return NULL;
}

static void measure(struct store *store, const char *what, int n_threads,
                    int n_rows, bool is_read, int n_tenants)
{
    static struct load loads[MAX_THREADS];
    atomic_bool must_stop = false;
    int64_t start = clock_mono_ns();
    int64_t n_done = 0;
    double seconds;
    struct timespec pause = {.tv_sec = SECONDS};

    for (int i = 0; i < n_threads; i++) {
        loads[i] = (struct load){.store = store,
                                 .scope = {1 + i % n_tenants},
                                 .n_rows = n_rows,
                                 .is_read = is_read,
                                 .must_stop = &must_stop};
        (void)pthread_create(&loads[i].thread, NULL, run_load, &loads[i]);
    }
    (void)nanosleep(&pause, NULL);
    atomic_store(&must_stop, true);
    for (int i = 0; i < n_threads; i++) {
        (void)pthread_join(loads[i].thread, NULL);
        n_done += loads[i].n_done;
    }
    seconds = (double)(clock_mono_ns() - start) / 1e9;
    (void)printf("%-9s %-18s %2d threads %2d tenants %9.0f rows/s\n",
                 store_backend(store), what, n_threads, n_tenants,
                 (double)n_done / seconds);
    (void)fflush(stdout);
}

static enum clew_status add_tenants(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    (void)arg;
    for (int64_t i = 1; i <= MAX_THREADS && status == CLEW_OK; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "t%d", (int)i);
        status =
            db_exec(tx, &add_tenant, DB_ARGS(db_int(i), db_cstr(name)), err);
    }
    return status;
}

static void bench(const char *location)
{
    struct store_options options = {.location = location};
    struct clew_error err;
    struct store *store = NULL;

    if (store_open(&options, &store, &err) != CLEW_OK ||
        store_write_system(store, add_tenants, NULL, &err) != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    measure(store, "single writes", 1, 1, false, 1);
    measure(store, "single writes", 16, 1, false, 1);
    measure(store, "single writes", 64, 1, false, 1);
    measure(store, "single writes", 64, 1, false, 16);
    measure(store, "batches of 200", 1, BATCH, false, 1);
    measure(store, "batches of 200", 4, BATCH, false, 4);
    measure(store, "single reads", 1, 1, true, 1);
    measure(store, "single reads", 16, 1, true, 1);
    store_close(store);
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    char folder[256];
    char url[200];

    (void)snprintf(folder, sizeof(folder), "%s/clew-bench-XXXXXX",
                   argc > 1 ? argv[1] : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    bench(folder);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    (void)setenv("CLEW_TEST_PG_FSYNC", "1", 1);
    pg_new_database(url, sizeof(url));
    bench(url);
    return 0;
}
