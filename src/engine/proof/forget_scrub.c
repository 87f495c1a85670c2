/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_scrub.c - bytes of what is forgotten. See forget_scrub.h.
 */
#include "engine/proof/forget_scrub.h"

#include "engine/core/engine.h"
#include "engine/feed/model_use.h"
#include "index/index.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

DB_SQL(DROP_TASK, "DELETE FROM tasks WHERE tenant = $1 AND unique_key = $2"
                  " AND status = 'pending'");

struct done {
    struct str key;
};

static enum clew_status do_done(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    const struct done *done = arg;

    return db_exec(tx, &DROP_TASK, DB_ARGS(db_text(done->key)), err);
}

/* The rows are gone; now their traces in the index's and the store's files. */
static enum clew_status clean(struct engine *engine, const struct scope *scope,
                              struct clew_error *err)
{
    enum clew_status status = index_purge(engine->indexes, scope->tenant, err);

    if (status == CLEW_OK) {
        status = model_use_purge(engine, scope, err);
    }
    return status == CLEW_OK ? store_scrub(engine->store, err) : status;
}

enum clew_status forget_scrub_later(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *receipt_id,
                                    int64_t now_ms, struct clew_error *err)
{
    char id[UUID_TEXT_SIZE];
    struct task_new task = {.kind = FORGET_SCRUB_TASK,
                            .payload = STR("{}"),
                            .execute_at_ms = now_ms + FORGET_SCRUB_DELAY_MS,
                            .now_ms = now_ms};

    uuid_format(receipt_id, id);
    task.unique_key = str_of(id);
    return task_add(tx, arena, &task, err);
}

enum clew_status forget_scrub(struct engine *engine, const struct scope *scope,
                              const struct uuid *receipt_id,
                              struct clew_error *err)
{
    char key[sizeof(FORGET_SCRUB_TASK) + UUID_TEXT_SIZE];
    char id[UUID_TEXT_SIZE];
    struct done done = {.key = {NULL, 0}};
    enum clew_status status = clean(engine, scope, err);

    if (status != CLEW_OK) {
        return status;
    }
    uuid_format(receipt_id, id);
    (void)snprintf(key, sizeof(key), FORGET_SCRUB_TASK ":%s", id);
    done.key = str_of(key);
    /* one that stays does it once more, and finds nothing */
    clew_ignore(store_write(engine->store, scope, do_done, &done, NULL));
    return CLEW_OK;
}

enum clew_status forget_scrub_task(struct engine *engine,
                                   const struct task *task, struct arena *arena,
                                   struct clew_error *err)
{
    enum clew_status status = clean(engine, &task->scope, err);

    (void)arena;
    /* what a large table keeps is told in the receipt; only a person may write
     * it anew */
    return status == CLEW_BUSY &&
                   strcmp(store_backend(engine->store), "postgres") == 0
               ? CLEW_OK
               : status;
}
