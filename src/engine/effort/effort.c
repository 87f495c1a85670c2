/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort.c - rows of the efforts table and changes of status. See effort.h.
 */
#include "engine/effort/effort.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                \
    "e.memory_id, e.thread_id, e.state, e.outcome, e.is_open, e.is_spawned,"   \
    " e.first_seq, e.last_seq, e.last_at, e.raw_tokens, m.summary, m.status,"  \
    " m.resolution, m.parent_id, m.user_id FROM "
/* CROSS: SQLite reads the first table first. Efforts are the fewer. */
#define JOINED                                                                 \
    " WHERE e.tenant = $1 AND m.tenant = $1 AND m.id = e.memory_id"            \
    " AND m.retracted_at IS NULL"
#define EFFORTS COLUMNS "efforts e CROSS JOIN memories m" JOINED
#define MEMORIES COLUMNS "memories m CROSS JOIN efforts e" JOINED

DB_SQL(SELECT_THREAD, "SELECT " EFFORTS " AND e.thread_id = $2"
                      " AND (e.is_open = 1 OR e.state <> 'collapsed')"
                      " ORDER BY e.last_seq DESC, e.memory_id DESC LIMIT $3");
DB_SQL(SELECT_ALL, "SELECT " EFFORTS " AND e.thread_id = $2"
                   " ORDER BY e.last_seq DESC, e.memory_id DESC LIMIT $3");
DB_SQL(SELECT_THREADS, "SELECT " EFFORTS " AND e.thread_id = ANY($2)"
                       " AND m.parent_id IS NULL AND e.is_spawned = 0"
                       " AND e.is_open = 1"
                       " ORDER BY e.last_at DESC, e.memory_id DESC LIMIT $3");
DB_SQL(SELECT_THREADS_ALL,
       "SELECT " EFFORTS " AND e.thread_id = ANY($2)"
       " AND m.parent_id IS NULL AND e.is_spawned = 0"
       " ORDER BY e.last_at DESC, e.memory_id DESC LIMIT $3");
DB_SQL(SELECT_ATTEMPTS, "SELECT " MEMORIES " AND m.parent_id = $2"
                        " ORDER BY +m.created_at, m.id LIMIT $3");
DB_SQL(SELECT_USER, "SELECT " EFFORTS " AND ($2 = '' OR m.user_id = $2)"
                    " AND e.is_open = 1 AND m.parent_id IS NULL"
                    " ORDER BY +m.created_at DESC, m.id DESC LIMIT $3");
DB_SQL(SELECT_ENDED, "SELECT " MEMORIES " AND m.user_id = $2"
                     " AND m.created_at > $4 AND m.parent_id IS NULL"
                     " AND e.is_open = 0 AND e.is_spawned = 0"
                     " ORDER BY m.created_at DESC, m.id DESC LIMIT $3");
DB_SQL(SELECT_OTHER, "SELECT 1 FROM efforts WHERE tenant = $1 AND thread_id ="
                     " $2 AND memory_id <> $3 LIMIT 1");
DB_SQL(SELECT_ONE, "SELECT " EFFORTS " AND e.memory_id = $2");
DB_SQL(INSERT,
       "INSERT INTO efforts (tenant, memory_id, thread_id, state, outcome,"
       " is_open, is_spawned, first_seq, last_seq, last_at, raw_tokens)"
       " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
DB_SQL(UPDATE, "UPDATE efforts SET thread_id = $3, state = $4, outcome = $5,"
               " is_open = $6, first_seq = $7, last_seq = $8, last_at = $9,"
               " raw_tokens = $10 WHERE tenant = $1 AND memory_id = $2");

static const char *const state_names[] = {"active", "expanded", "collapsed"};

const char *effort_state_name(enum effort_state state)
{
    return state_names[state];
}

static enum effort_state state_parse(struct str name)
{
    if (str_eq(name, STR("active"))) {
        return EFFORT_ACTIVE;
    }
    return str_eq(name, STR("expanded")) ? EFFORT_EXPANDED : EFFORT_COLLAPSED;
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct effort *out = item;

    out->memory_id = db_get_uuid(rows, 0);
    out->thread_id = db_get_uuid(rows, 1);
    out->state = state_parse(db_get_text(rows, 2));
    out->is_open = db_get_int(rows, 4) != 0;
    out->is_spawned = db_get_int(rows, 5) != 0;
    out->first_seq = db_get_int(rows, 6);
    out->last_seq = db_get_int(rows, 7);
    out->last_at_ms = db_get_int(rows, 8);
    out->raw_tokens = db_get_int(rows, 9);
    out->parent_id = db_get_uuid(rows, 13);
    return rows_text(arena, rows, 3, &out->outcome) &&
           rows_text(arena, rows, 10, &out->summary) &&
           rows_text(arena, rows, 11, &out->status) &&
           rows_text(arena, rows, 12, &out->resolution) &&
           rows_text(arena, rows, 14, &out->user_id);
}

static enum clew_status select_efforts(struct store_tx *tx, struct arena *arena,
                                       const struct db_sql *sql,
                                       struct db_value key, int64_t limit,
                                       struct effort **out_efforts,
                                       size_t *out_count,
                                       struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct effort), .fn = row_of};

    return rows_all(tx, &list, sql, DB_ARGS(key, db_int(limit)), out_efforts,
                    out_count, err);
}

static int by_last_touch(const void *a, const void *b)
{
    const struct effort *x = a;
    const struct effort *y = b;

    if (x->last_seq != y->last_seq) {
        return x->last_seq < y->last_seq ? 1 : -1;
    }
    return -uuid_cmp(&x->memory_id, &y->memory_id);
}

void effort_sort(struct effort *efforts, size_t count)
{
    qsort(efforts, count, sizeof(*efforts), by_last_touch);
}

enum clew_status effort_list(struct store_tx *tx, struct arena *arena,
                             const struct uuid *thread_id, bool with_closed,
                             struct effort **out_efforts, size_t *out_count,
                             struct clew_error *err)
{
    return select_efforts(tx, arena, with_closed ? &SELECT_ALL : &SELECT_THREAD,
                          db_uuid(thread_id),
                          with_closed ? EFFORT_MAX_ALL : EFFORT_MAX_LIST,
                          out_efforts, out_count, err);
}

enum clew_status effort_list_threads(struct store_tx *tx, struct arena *arena,
                                     const struct uuid *thread_ids,
                                     size_t n_threads, bool with_closed,
                                     struct effort **out_efforts,
                                     size_t *out_count, struct clew_error *err)
{
    return select_efforts(tx, arena,
                          with_closed ? &SELECT_THREADS_ALL : &SELECT_THREADS,
                          db_uuids(thread_ids, n_threads),
                          with_closed ? EFFORT_MAX_ALL : EFFORT_MAX_LIST,
                          out_efforts, out_count, err);
}

enum clew_status effort_is_only(struct store_tx *tx,
                                const struct uuid *thread_id,
                                const struct uuid *memory_id, bool *out,
                                struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_OTHER,
                 DB_ARGS(db_uuid(thread_id), db_uuid(memory_id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out = !db_next(&rows);
    return db_end(&rows, err);
}

enum clew_status effort_attempts(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *parent_id,
                                 struct effort **out_efforts, size_t *out_count,
                                 struct clew_error *err)
{
    return select_efforts(tx, arena, &SELECT_ATTEMPTS, db_uuid(parent_id),
                          EFFORT_MAX_LIST, out_efforts, out_count, err);
}

enum clew_status effort_list_user(struct store_tx *tx, struct arena *arena,
                                  struct str user_id,
                                  struct effort **out_efforts,
                                  size_t *out_count, struct clew_error *err)
{
    return select_efforts(tx, arena, &SELECT_USER, db_text(user_id),
                          EFFORT_MAX_ALL, out_efforts, out_count, err);
}

enum clew_status effort_list_ended(struct store_tx *tx, struct arena *arena,
                                   struct str user_id, int64_t since_ms,
                                   struct effort **out_efforts,
                                   size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct effort), .fn = row_of};

    return rows_all(
        tx, &list, &SELECT_ENDED,
        DB_ARGS(db_text(user_id), db_int(EFFORT_MAX_LIST), db_int(since_ms)),
        out_efforts, out_count, err);
}

enum clew_status effort_find(struct store_tx *tx, struct arena *arena,
                             const struct uuid *memory_id,
                             struct effort *out_effort, struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(memory_id)), row_of,
                    out_effort, sizeof(*out_effort), "effort", err);
}

enum clew_status effort_insert(struct store_tx *tx, const struct effort *effort,
                               struct clew_error *err)
{
    return db_exec(
        tx, &INSERT,
        DB_ARGS(db_uuid(&effort->memory_id), db_uuid(&effort->thread_id),
                db_cstr(effort_state_name(effort->state)),
                db_text(effort->outcome), db_int(effort->is_open),
                db_int(effort->is_spawned), db_int(effort->first_seq),
                db_int(effort->last_seq), db_int(effort->last_at_ms),
                db_int(effort->raw_tokens)),
        err);
}

enum clew_status effort_update(struct store_tx *tx, const struct effort *effort,
                               struct clew_error *err)
{
    return db_exec(
        tx, &UPDATE,
        DB_ARGS(db_uuid(&effort->memory_id), db_uuid(&effort->thread_id),
                db_cstr(effort_state_name(effort->state)),
                db_text(effort->outcome), db_int(effort->is_open),
                db_int(effort->first_seq), db_int(effort->last_seq),
                db_int(effort->last_at_ms), db_int(effort->raw_tokens)),
        err);
}

enum clew_status effort_own(struct store_tx *tx, struct effort *effort,
                            int64_t seq, int64_t time_ms, int64_t tokens,
                            struct clew_error *err)
{
    struct memory_ref ref = {.chat_id = effort->thread_id};
    enum clew_status status;

    if (seq <= effort->last_seq && effort->last_seq > 0) {
        return CLEW_OK;
    }
    if (seq != effort->last_seq + 1 || effort->first_seq == 0) {
        effort->first_seq = seq; /* a new stretch */
    }
    effort->last_seq = seq;
    effort->last_at_ms = time_ms;
    effort->raw_tokens += tokens;
    ref.first_seq = effort->first_seq;
    ref.last_seq = seq;
    status = memory_add_ref(tx, &effort->memory_id, &ref, err);
    return status == CLEW_OK ? effort_update(tx, effort, err) : status;
}

/* --- changes of status -----------------------------------------------------
 */

/* The memory's fields to change; an object whatever was there. */
static json_t *open_fields(const struct memory *memory)
{
    json_t *fields = NULL;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK ||
        !json_is_object(fields)) {
        json_decref(fields);
        fields = json_object();
    }
    return fields;
}

/* Write the fields back, if `is_ok`; lets go of them in any case. */
static enum clew_status close_fields(struct arena *arena, json_t *fields,
                                     bool is_ok, struct memory *memory,
                                     struct clew_error *err)
{
    struct buf text;

    buf_init(&text, (size_t)1 << 20);
    is_ok = is_ok && json_write(&text, fields) == CLEW_OK;
    if (is_ok) {
        memory->fields = arena_str(arena, buf_str(&text));
        is_ok = memory->fields.s != NULL;
    }
    buf_release(&text);
    json_decref(fields);
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* Add what the memory is now to the log in its fields. */
static enum clew_status add_log(struct arena *arena, struct memory *memory,
                                struct clew_error *err)
{
    json_t *fields = open_fields(memory);
    json_t *entry = json_object();
    json_t *log = json_object_get(fields, "log");
    bool is_ok = true;

    if (!json_is_array(log)) {
        log = json_array();
        is_ok = json_set(fields, "log", log);
    }
    is_ok = is_ok && json_set_str(entry, "status", memory->status) &&
            json_set_time(entry, "at", &memory->updated_at_ms) &&
            (!memory->resolution.s ||
             json_set_str(entry, "resolution", memory->resolution));
    if (!is_ok) {
        json_decref(entry);
        entry = NULL;
    }
    is_ok = entry && json_array_append_new(log, entry) == 0;
    return close_fields(arena, fields, is_ok, memory, err);
}

/* How sure the resolution is; a status set by hand has none. */
static enum clew_status put_confidence(struct arena *arena,
                                       struct memory *memory, float confidence,
                                       struct clew_error *err)
{
    json_t *fields = open_fields(memory);
    bool is_ok = fields != NULL;

    if (is_ok && confidence > 0) {
        is_ok =
            json_set_real(fields, "resolution_confidence", (double)confidence);
    } else if (is_ok) {
        (void)json_object_del(fields, "resolution_confidence"); /* if any */
    }
    return close_fields(arena, fields, is_ok, memory, err);
}

/* An effort closed again tells how it was closed before. */
static bool whole_resolution(struct arena *arena, struct memory *memory,
                             struct str newer)
{
    if (!memory->resolution.len || str_eq(memory->resolution, newer)) {
        memory->resolution = newer;
        return true;
    }
    memory->resolution = str_of(
        arena_printf(arena, "%.*s (before: %.*s)", (int)newer.len, newer.s,
                     (int)memory->resolution.len, memory->resolution.s));
    return memory->resolution.s != NULL;
}

static enum clew_status sync_row(struct batch_work *batch,
                                 const struct memory *memory,
                                 const struct effort_change *change,
                                 struct clew_error *err)
{
    struct effort effort;
    enum clew_status status =
        effort_find(batch->tx, batch->arena, &memory->id, &effort, NULL);

    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* contributed: it has no turns here */
    }
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not read the effort");
    }
    effort.is_open = strcmp(change->status, "open") == 0;
    effort.state = effort.is_open ? EFFORT_ACTIVE : EFFORT_COLLAPSED;
    effort.outcome = change->outcome;
    return effort_update(batch->tx, &effort, err);
}

enum clew_status effort_set_status(struct batch_work *batch,
                                   struct memory *memory,
                                   const struct effort_change *change,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (!str_eq(memory->status, STR("open")) &&
        strcmp(change->status, "open") == 0) {
        status = add_log(batch->arena, memory, err);
    }
    if (status == CLEW_OK && (change->confidence > 0 || memory->fields.s)) {
        status = put_confidence(batch->arena, memory, change->confidence, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    memory->status = str_of(change->status);
    if (change->resolution.s &&
        !whole_resolution(batch->arena, memory, change->resolution)) {
        return clew_no_memory(err);
    }
    memory->updated_at_ms = change->time_ms;
    status = memory_update(batch, memory, err);
    return status == CLEW_OK ? sync_row(batch, memory, change, err) : status;
}
