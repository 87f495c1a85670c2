/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renew.c - a page of rows read, written and read again. See renew.h.
 */
#include "engine/proof/renew.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/chatlink/chat_profile.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/proof/chain_lines.h"
#include "engine/topic/chain_state.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SELECT_CHAINS, "SELECT id, memory FROM chains WHERE tenant = $1"
                      " AND id > $2 ORDER BY id LIMIT $3");
DB_SQL(UPDATE_CHAIN,
       "UPDATE chains SET memory = $3 WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_PROFILES, "SELECT chat_id, data FROM chat_profiles"
                        " WHERE tenant = $1 AND chat_id > $2"
                        " ORDER BY chat_id LIMIT $3");
DB_SQL(UPDATE_PROFILE, "UPDATE chat_profiles SET data = $3 WHERE tenant = $1"
                       " AND chat_id = $2");

/* Rows of a transaction: others wait for a moment only. */
#define PAGE 100
#define ROW_BYTES ((size_t)4 << 20)
#define ARENA_BYTES ((size_t)256 << 20)

/* --- bytes ------------------------------------------------------------------
 */

static bool renew_chain(struct arena *arena, struct str bytes, struct buf *out)
{
    struct chain_state state;

    (void)arena;
    return chain_state_read(bytes, &state) &&
           chain_state_write(&state, out) == CLEW_OK;
}

static bool renew_profile(struct arena *arena, struct str bytes,
                          struct buf *out)
{
    struct chat_profile profile = {0};

    /* what does not read has no turns, which no chat that was read has */
    return chat_profile_read(arena, bytes, &profile) && profile.n_turns > 0 &&
           chat_profile_write(&profile, out) == CLEW_OK;
}

static const struct table {
    const char *type;
    const char *column;
    bool (*renew)(struct arena *arena, struct str bytes, struct buf *out);
    const struct db_sql *select;
    const struct db_sql *update;
} tables[] = {
    {"chain", "memory", renew_chain, &SELECT_CHAINS, &UPDATE_CHAIN},
    {"chat_profile", "data", renew_profile, &SELECT_PROFILES, &UPDATE_PROFILE},
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))
/* After them: updates of chains become steps (chain_lines.h). */
#define N_STAGES (N_TABLES + 1)

static bool renew(struct arena *arena, const struct table *table,
                  struct str *bytes)
{
    struct buf out;
    struct str kept = *bytes;

    buf_init(&out, ROW_BYTES);
    if (table->renew(arena, *bytes, &out)) {
        kept = arena_str(arena, buf_str(&out));
    }
    buf_release(&out);
    *bytes = kept;
    return kept.s != NULL;
}

bool renew_bytes(struct arena *arena, const char *type, const char *column,
                 struct str *bytes)
{
    for (size_t i = 0; i < N_TABLES; i++) {
        if (strcmp(tables[i].type, type) == 0 &&
            strcmp(tables[i].column, column) == 0) {
            return renew(arena, &tables[i], bytes);
        }
    }
    return true;
}

/* --- rows -------------------------------------------------------------------
 */

struct old_row {
    struct uuid id;
    struct str bytes;
};

struct stepping {
    struct engine *engine;
    const struct task *task;
    struct arena arena;
    size_t table; /* the place that was reached … */
    struct uuid after;
};

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct old_row *out = item;

    out->id = db_get_uuid(rows, 0);
    out->bytes = arena_str(arena, db_get_bytes(rows, 1));
    return out->bytes.s != NULL;
}

/* One page of a table; where the next one begins. */
static enum clew_status renew_page(struct store_tx *tx, struct stepping *s,
                                   size_t table, struct uuid *after,
                                   bool *out_end, struct clew_error *err)
{
    struct rows_list list = {
        .arena = &s->arena, .size = sizeof(struct old_row), .fn = row_of};
    struct old_row *rows = NULL;
    struct db_value from = db_bytes(after->b, sizeof(after->b));
    size_t count = 0;
    enum clew_status status;

    if (table == N_TABLES) {
        return chain_lines_fold_page(tx, &s->arena, after, out_end, err);
    }
    from.type = DB_UUID; /* the nil id is a value here, not NULL */
    status = rows_all(tx, &list, tables[table].select,
                      DB_ARGS(from, db_int(PAGE)), &rows, &count, err);
    *out_end = count < PAGE;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct str bytes = rows[i].bytes;

        if (!renew(&s->arena, &tables[table], &bytes)) {
            return clew_no_memory(err);
        }
        if (!str_eq(bytes, rows[i].bytes)) {
            status = db_exec(
                tx, tables[table].update,
                DB_ARGS(db_uuid(&rows[i].id), db_bytes(bytes.s, bytes.len)),
                err);
        }
        *after = rows[i].id;
    }
    return status;
}

/* Leave what is left to a task of its own: to go on with after a step by
 * whoever has the time, also when this process ends. */
static enum clew_status go_on(struct store_tx *tx, struct stepping *s,
                              size_t table, const struct uuid *after,
                              int64_t now_ms, struct clew_error *err)
{
    char id[UUID_TEXT_SIZE];
    struct task_new next = {.kind = RENEW_TASK,
                            .unique_key = STR("all"),
                            .priority = -10, /* everything else comes first */
                            .execute_at_ms = now_ms,
                            .now_ms = now_ms};

    uuid_format(after, id);
    next.payload = str_of(
        arena_printf(&s->arena, "{\"table\":%zu,\"after\":\"%s\"}", table, id));
    return next.payload.s ? task_add(tx, &s->arena, &next, err)
                          : clew_no_memory(err);
}

static enum clew_status do_step(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct stepping *s = arg;
    int64_t now_ms = clock_now_ms(s->engine->clock);
    struct uuid after = s->after;
    size_t table = s->table;
    bool is_end = false;
    enum clew_status status = renew_page(tx, s, table, &after, &is_end, err);

    if (status == CLEW_OK && is_end) {
        table++;
        after = (struct uuid){{0}};
    }
    if (status == CLEW_OK) {
        status = task_remove(tx, s->task, err);
    }
    return status == CLEW_OK && table < N_STAGES
               ? go_on(tx, s, table, &after, now_ms, err)
               : status;
}

enum clew_status renew_task(struct engine *engine, const struct task *task,
                            struct arena *arena, struct clew_error *err)
{
    struct stepping s = {.engine = engine, .task = task};
    json_t *payload = NULL;
    int64_t table = 0;
    enum clew_status status = json_parse(task->payload, &payload, err);

    (void)arena; /* a page may need more */
    if (status == CLEW_OK) {
        status = json_get_int(payload, "table", JSON_OPTIONAL, 0, N_STAGES - 1,
                              &table, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(payload, "after", JSON_OPTIONAL, &s.after, err);
    }
    json_decref(payload);
    s.table = (size_t)table;
    arena_init(&s.arena, ARENA_BYTES);
    if (status == CLEW_OK) {
        status = store_write(engine->store, &task->scope, do_step, &s, err);
    }
    arena_release(&s.arena);
    return status;
}

struct folding {
    struct arena arena;
    struct uuid after;
    struct uuid reached;
    bool is_end;
};

static enum clew_status do_fold(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct folding *f = arg;

    f->reached = f->after; /* it may be run again */
    return chain_lines_fold_page(tx, &f->arena, &f->reached, &f->is_end, err);
}

enum clew_status renew_updates(struct engine *engine, const struct scope *scope,
                               struct clew_error *err)
{
    struct folding f = {.is_end = false};
    enum clew_status status = CLEW_OK;

    arena_init(&f.arena, ARENA_BYTES);
    while (status == CLEW_OK && !f.is_end) {
        status = store_write(engine->store, scope, do_fold, &f, err);
        f.after = f.reached;
        arena_clear(&f.arena);
    }
    arena_release(&f.arena);
    return status;
}
