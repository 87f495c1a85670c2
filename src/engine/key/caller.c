/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.c - see caller.h.
 */
#include "engine/key/caller.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

DB_SQL(SELECT_LAST, "SELECT last_at FROM callers WHERE tenant = $1"
                    " AND name = $2 AND via = $3");
DB_SQL(PUT_CALLER,
       "INSERT INTO callers (tenant, name, via, last_at)"
       " VALUES ($1, $2, $3, $4) ON CONFLICT (tenant, name, via) DO UPDATE SET"
       " last_at = excluded.last_at WHERE callers.last_at < excluded.last_at");
DB_SQL(DROP_OLDEST, "DELETE FROM callers WHERE tenant = $1 AND (name, via) IN ("
                    "SELECT name, via FROM callers WHERE tenant = $1"
                    " ORDER BY last_at DESC, name, via LIMIT 1000 OFFSET $2)");
DB_SQL(SELECT_CALLERS, "SELECT name, via, last_at FROM callers"
                       " WHERE tenant = $1 ORDER BY last_at DESC, name, via");

struct note_work {
    struct str name;
    struct str via;
    int64_t at_ms;
    int64_t last_ms;
};

struct str caller_product(struct str user_agent)
{
    size_t end = 0;

    user_agent = str_trim(user_agent);
    while (end < user_agent.len && user_agent.s[end] != '/' &&
           user_agent.s[end] != ' ') {
        end++;
    }
    return str_sub(user_agent, 0, end);
}

static bool is_clean(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.s[i] < ' ' || name.s[i] == 0x7f) {
            return false;
        }
    }
    return name.len > 0 && utf8_is_valid(name);
}

struct str caller_name(struct str name)
{
    name = utf8_head(str_trim(name), CALLER_NAME_BYTES);
    return is_clean(name) ? name : (struct str){NULL, 0};
}

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct note_work *work = arg;

    return rows_number(tx, &SELECT_LAST,
                       DB_ARGS(db_text(work->name), db_text(work->via)),
                       &work->last_ms, err);
}

static enum clew_status do_note(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    const struct note_work *work = arg;
    enum clew_status status = db_exec(
        tx, &PUT_CALLER,
        DB_ARGS(db_text(work->name), db_text(work->via), db_int(work->at_ms)),
        err);

    return status == CLEW_OK
               ? db_exec(tx, &DROP_OLDEST, DB_ARGS(db_int(LIMIT_CALLERS)), err)
               : status;
}

enum clew_status caller_note(struct engine *engine, const struct scope *scope,
                             struct str name, const char *via, int64_t at_ms,
                             struct clew_error *err)
{
    struct note_work work = {.via = str_of(via), .at_ms = at_ms};
    enum clew_status status;

    work.name = caller_name(name);
    if (work.name.len == 0) {
        return CLEW_OK;
    }
    status = store_read(engine->store, scope, do_look, &work, err);
    if (status != CLEW_OK || at_ms - work.last_ms < CALLER_APART_MS) {
        return status;
    }
    return store_write(engine->store, scope, do_note, &work, err);
}

struct list_work {
    struct arena *arena;
    struct caller *callers;
    size_t count;
};

static bool read_caller(struct arena *arena, const struct db_rows *rows,
                        void *out)
{
    struct caller *caller = out;

    caller->last_at_ms = db_get_int(rows, 2);
    return rows_text(arena, rows, 0, &caller->name) &&
           rows_text(arena, rows, 1, &caller->via);
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct list_work *work = arg;
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct caller), .fn = read_caller};

    return rows_all(tx, &list, &SELECT_CALLERS, DB_NO_ARGS, &work->callers,
                    &work->count, err);
}

enum clew_status caller_list(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct caller **out,
                             size_t *out_count, struct clew_error *err)
{
    struct list_work work = {.arena = arena};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out = work.callers;
        *out_count = work.count;
    }
    return status;
}
