/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.c - the program's own random keys. See secret.h.
 */
#include "engine/key/secret.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rand.h"
#include "engine/core/engine.h"
#include "store/db.h"

#include <pthread.h>
#include <string.h>

/* More than the program has. */
#define MAX_KEPT 8

DB_SQL_SYSTEM(SELECT_ONE, "SELECT value FROM secrets WHERE name = $1");
DB_SQL_SYSTEM(INSERT, "INSERT INTO secrets (name, value, created_at)"
                      " VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING");

struct secret_work {
    const char *name;
    int64_t now_ms;
    unsigned char fresh[SECRET_SIZE];
    unsigned char value[SECRET_SIZE];
    bool is_found;
};

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct secret_work *work = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_ONE, DB_ARGS(db_cstr(work->name)), &rows, err);

    work->is_found = false;
    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        struct str value = db_get_bytes(&rows, 0);

        work->is_found = value.len == SECRET_SIZE;
        if (work->is_found) {
            memcpy(work->value, value.s, SECRET_SIZE);
        }
    }
    return db_end(&rows, err);
}

static enum clew_status do_make(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct secret_work *work = arg;
    enum clew_status status =
        db_exec(tx, &INSERT,
                DB_ARGS(db_cstr(work->name), db_bytes(work->fresh, SECRET_SIZE),
                        db_int(work->now_ms)),
                err);

    /* Another process may have been first: read what is there. */
    return status == CLEW_OK ? do_find(tx, arg, err) : status;
}

struct secret_memo {
    pthread_mutex_t lock; /* guards all below */
    size_t count;
    struct {
        const char *name; /* a literal */
        unsigned char value[SECRET_SIZE];
    } kept[MAX_KEPT];
};

struct secret_memo *secret_memo_new(void)
{
    struct secret_memo *memo = alloc_zero(1, sizeof(*memo));

    if (memo && pthread_mutex_init(&memo->lock, NULL) != 0) {
        alloc_free(memo);
        return NULL;
    }
    return memo;
}

void secret_memo_free(struct secret_memo *memo)
{
    if (memo) {
        pthread_mutex_destroy(&memo->lock);
        explicit_bzero(memo, sizeof(*memo));
        alloc_free(memo);
    }
}

static bool recall(struct secret_memo *memo, const char *name,
                   unsigned char out[SECRET_SIZE])
{
    bool is_kept = false;

    if (!memo) {
        return false;
    }
    pthread_mutex_lock(&memo->lock);
    for (size_t i = 0; i < memo->count && !is_kept; i++) {
        is_kept = strcmp(memo->kept[i].name, name) == 0;
        if (is_kept) {
            memcpy(out, memo->kept[i].value, SECRET_SIZE);
        }
    }
    pthread_mutex_unlock(&memo->lock);
    return is_kept;
}

static void keep(struct secret_memo *memo, const char *name,
                 const unsigned char value[SECRET_SIZE])
{
    if (!memo) {
        return;
    }
    pthread_mutex_lock(&memo->lock);
    if (memo->count < MAX_KEPT) { /* twice the same one does no harm */
        memo->kept[memo->count].name = name;
        memcpy(memo->kept[memo->count++].value, value, SECRET_SIZE);
    }
    pthread_mutex_unlock(&memo->lock);
}

enum clew_status secret_get(struct engine *engine, const char *name,
                            unsigned char out[SECRET_SIZE],
                            struct clew_error *err)
{
    struct secret_work work = {.name = name,
                               .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status;

    if (recall(engine->secrets, name, out)) {
        return CLEW_OK;
    }
    status = store_read_system(engine->store, do_find, &work, err);
    if (status == CLEW_OK && !work.is_found) {
        rand_bytes(work.fresh, SECRET_SIZE);
        status = store_write_system(engine->store, do_make, &work, err);
    }
    if (status == CLEW_OK && !work.is_found) {
        status =
            clew_fail(err, CLEW_CORRUPT, "the secret \"%s\" is damaged", name);
    }
    if (status == CLEW_OK) {
        memcpy(out, work.value, SECRET_SIZE);
        keep(engine->secrets, name, out);
    }
    explicit_bzero(&work, sizeof(work));
    return status;
}
