/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renew.c - a page of rows read, written and read again. See renew.h.
 */
#include "engine/proof/renew.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/chatlink/chat_profile.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/read_log.h"
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
DB_SQL(SELECT_FIELDS, "SELECT id, fields, summary FROM memories WHERE"
                      " tenant = $1 AND id > $2 ORDER BY id LIMIT $3");
DB_SQL(PACK_FIELDS, "UPDATE memories SET packed = $3, fields = NULL"
                    " WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_MESO, "SELECT id, meso, micro FROM episodes WHERE tenant = $1"
                    " AND id > $2 ORDER BY id LIMIT $3");
DB_SQL(PACK_MESO, "UPDATE episodes SET meso_packed = $3, meso = NULL"
                  " WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_MACRO, "SELECT id, macro, micro FROM episodes WHERE tenant = $1"
                     " AND id > $2 ORDER BY id LIMIT $3");
DB_SQL(PACK_MACRO, "UPDATE episodes SET macro_packed = $3, macro = NULL"
                   " WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_SESSIONS,
       "SELECT session_id, summary, '' FROM session_summaries WHERE tenant = $1"
       " AND session_id > $2 ORDER BY session_id LIMIT $3");
DB_SQL(PACK_SESSION, "UPDATE session_summaries SET packed = $3, summary = ''"
                     " WHERE tenant = $1 AND session_id = $2");
DB_SQL(SELECT_READINGS,
       "SELECT seq, id, subject, packed, created_at, detail FROM actions WHERE"
       " tenant = $1 AND (seq, id) > ($2, $3) AND kind = '" ACTION_READ "'"
       " ORDER BY seq, id LIMIT $4");
DB_SQL(DROP_ACTION,
       "DELETE FROM actions WHERE tenant = $1 AND seq = $2 AND id = $3");
DB_SQL(SELECT_TURN, "SELECT COUNT(*) FROM turns WHERE tenant = $1 AND id = $2");

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

struct stepping;
/* Where the next page begins. */
struct place {
    size_t table;
    struct uuid after;
    int64_t after_seq; /* of actions */
};
typedef enum clew_status (*page_fn)(struct store_tx *tx, struct stepping *s,
                                    struct place *place, size_t *out_count,
                                    struct clew_error *err);
static enum clew_status renew_page(struct store_tx *tx, struct stepping *s,
                                   struct place *place, size_t *out_count,
                                   struct clew_error *err);
static enum clew_status pack_page(struct store_tx *tx, struct stepping *s,
                                  struct place *place, size_t *out_count,
                                  struct clew_error *err);
static enum clew_status move_readings(struct store_tx *tx, struct stepping *s,
                                      struct place *place, size_t *out_count,
                                      struct clew_error *err);
static enum clew_status fold_updates(struct store_tx *tx, struct stepping *s,
                                     struct place *place, size_t *out_count,
                                     struct clew_error *err);

static const struct table {
    const char *type;
    const char *column;
    bool (*renew)(struct arena *arena, struct str bytes, struct buf *out);
    const struct db_sql *select;
    const struct db_sql *update;
    page_fn page;
} tables[] = {
    {"chain", "memory", renew_chain, &SELECT_CHAINS, &UPDATE_CHAIN, renew_page},
    {"chat_profile", "data", renew_profile, &SELECT_PROFILES, &UPDATE_PROFILE,
     renew_page},
    {"", "", NULL, NULL, NULL, fold_updates},
    {"", "", NULL, NULL, NULL, move_readings},
    {"", "", NULL, &SELECT_FIELDS, &PACK_FIELDS, pack_page},
    {"", "", NULL, &SELECT_MESO, &PACK_MESO, pack_page},
    {"", "", NULL, &SELECT_MACRO, &PACK_MACRO, pack_page},
    {"", "", NULL, &SELECT_SESSIONS, &PACK_SESSION, pack_page},
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

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
    struct place place; /* that was reached */
};

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct old_row *out = item;

    out->id = db_get_uuid(rows, 0);
    out->bytes = arena_str(arena, db_get_bytes(rows, 1));
    return out->bytes.s != NULL;
}

/* The nil id is a value here, not NULL. */
static struct db_value id_value(const struct uuid *id)
{
    struct db_value value = db_bytes(id->b, sizeof(id->b));

    value.type = DB_UUID;
    return value;
}

/* One page of a table; where the next one begins. */
static enum clew_status renew_page(struct store_tx *tx, struct stepping *s,
                                   struct place *place, size_t *out_count,
                                   struct clew_error *err)
{
    const struct table *table = &tables[place->table];
    struct rows_list list = {
        .arena = &s->arena, .size = sizeof(struct old_row), .fn = row_of};
    struct old_row *rows = NULL;
    enum clew_status status = rows_all(
        tx, &list, table->select,
        DB_ARGS(id_value(&place->after), db_int(PAGE)), &rows, out_count, err);

    for (size_t i = 0; status == CLEW_OK && i < *out_count; i++) {
        struct str bytes = rows[i].bytes;

        if (!renew(&s->arena, table, &bytes)) {
            return clew_no_memory(err);
        }
        if (!str_eq(bytes, rows[i].bytes)) {
            status = db_exec(
                tx, table->update,
                DB_ARGS(db_uuid(&rows[i].id), db_bytes(bytes.s, bytes.len)),
                err);
        }
        place->after = rows[i].id;
    }
    return status;
}

/* Updates of chains become steps (chain_lines.h), some chains at a time. */
static enum clew_status fold_updates(struct store_tx *tx, struct stepping *s,
                                     struct place *place, size_t *out_count,
                                     struct clew_error *err)
{
    bool is_end = false;
    enum clew_status status =
        chain_lines_fold_page(tx, &s->arena, &place->after, &is_end, err);

    *out_count = is_end ? 0 : PAGE;
    return status;
}

/* --- texts that are packed beside others ------------------------------------
 */

struct plain {
    struct uuid id;
    struct str text; /* s == NULL: there is none, or it is packed */
    struct str beside;
};

static bool plain_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct plain *out = item;

    out->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &out->text) &&
           rows_text(arena, rows, 2, &out->beside);
}

static enum clew_status pack_page(struct store_tx *tx, struct stepping *s,
                                  struct place *place, size_t *out_count,
                                  struct clew_error *err)
{
    const struct table *table = &tables[place->table];
    struct rows_list list = {
        .arena = &s->arena, .size = sizeof(struct plain), .fn = plain_of};
    struct plain *rows = NULL;
    enum clew_status status = rows_all(
        tx, &list, table->select,
        DB_ARGS(id_value(&place->after), db_int(PAGE)), &rows, out_count, err);

    for (size_t i = 0; status == CLEW_OK && i < *out_count; i++) {
        struct db_value packed;

        place->after = rows[i].id;
        if (rows[i].text.len == 0) {
            continue;
        }
        status =
            rows_pack_beside(&s->arena, rows[i].text, rows[i].beside, &packed)
                ? db_exec(tx, table->update,
                          DB_ARGS(db_uuid(&rows[i].id), packed), err)
                : clew_no_memory(err);
    }
    return status;
}

/* --- readings ---------------------------------------------------------------
 */

static bool action_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct action *out = item;

    out->seq = db_get_int(rows, 0);
    out->id = db_get_uuid(rows, 1);
    out->subject = db_get_uuid(rows, 2);
    out->at_ms = db_get_int(rows, 4);
    return rows_packed(arena, rows, 3, 5, &out->detail);
}

/* It stands in the log of readings, or its turn is forgotten. */
static enum clew_status drop_moved(struct store_tx *tx,
                                   const struct action *action,
                                   const struct read_log_item *item,
                                   struct clew_error *err)
{
    int64_t n_turns = 0;
    enum clew_status status = CLEW_OK;

    if (!item->is_kept) {
        status = rows_number(tx, &SELECT_TURN, DB_ARGS(db_uuid(&item->turn_id)),
                             &n_turns, err);
    }
    return status == CLEW_OK && n_turns == 0
               ? db_exec(tx, &DROP_ACTION,
                         DB_ARGS(db_int(action->seq), db_uuid(&action->id)),
                         err)
               : status;
}

/* Readings that stand among the actions go where those of today do. One that
 * says more than others stays. */
static enum clew_status move_readings(struct store_tx *tx, struct stepping *s,
                                      struct place *place, size_t *out_count,
                                      struct clew_error *err)
{
    struct rows_list list = {
        .arena = &s->arena, .size = sizeof(struct action), .fn = action_of};
    struct read_log_item items[PAGE];
    const struct action *moved[PAGE];
    struct action *rows = NULL;
    size_t n = 0;
    enum clew_status status =
        rows_all(tx, &list, &SELECT_READINGS,
                 DB_ARGS(db_int(place->after_seq), id_value(&place->after),
                         db_int(PAGE)),
                 &rows, out_count, err);

    for (size_t i = 0; status == CLEW_OK && i < *out_count; i++) {
        struct read_log_item item = {.seq = rows[i].seq,
                                     .turn_id = rows[i].subject,
                                     .at_ms = rows[i].at_ms};

        place->after_seq = rows[i].seq;
        place->after = rows[i].id;
        if (!uuid_is_nil(&item.turn_id) &&
            read_log_reader(&s->arena, rows[i].detail, &item.reader)) {
            moved[n] = &rows[i];
            items[n++] = item;
        }
    }
    if (status == CLEW_OK && n > 0) {
        status = read_log_put(tx, &s->arena, items, n, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        status = drop_moved(tx, moved[i], &items[i], err);
    }
    return status;
}

/* --- in steps ---------------------------------------------------------------
 */

/* Leave what is left to a task of its own: to go on with after a step by
 * whoever has the time, also when this process ends. */
static enum clew_status go_on(struct store_tx *tx, struct stepping *s,
                              const struct place *place, int64_t now_ms,
                              struct clew_error *err)
{
    char id[UUID_TEXT_SIZE];
    struct task_new next = {.kind = RENEW_TASK,
                            .unique_key = STR("all"),
                            .priority = -10, /* everything else comes first */
                            .execute_at_ms = now_ms,
                            .now_ms = now_ms};

    uuid_format(&place->after, id);
    next.payload = str_of(
        arena_printf(&s->arena, "{\"table\":%zu,\"after\":\"%s\",\"seq\":%lld}",
                     place->table, id, (long long)place->after_seq));
    return next.payload.s ? task_add(tx, &s->arena, &next, err)
                          : clew_no_memory(err);
}

static enum clew_status do_step(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct stepping *s = arg;
    int64_t now_ms = clock_now_ms(s->engine->clock);
    struct place place = s->place;
    size_t count = 0;
    enum clew_status status =
        tables[place.table].page(tx, s, &place, &count, err);

    if (status == CLEW_OK && count < PAGE) {
        place = (struct place){.table = place.table + 1};
    }
    if (status == CLEW_OK) {
        status = task_remove(tx, s->task, err);
    }
    return status == CLEW_OK && place.table < N_TABLES
               ? go_on(tx, s, &place, now_ms, err)
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
        status = json_get_int(payload, "table", JSON_OPTIONAL, 0, N_TABLES - 1,
                              &table, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_uuid(payload, "after", JSON_OPTIONAL, &s.place.after, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(payload, "seq", JSON_OPTIONAL, 0, INT64_MAX,
                              &s.place.after_seq, err);
    }
    json_decref(payload);
    s.place.table = (size_t)table;
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
