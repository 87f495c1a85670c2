/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - rows of the traces table. See trace.h.
 */
#include "engine/core/trace.h"

#include "base/buf.h"
#include "base/pack.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "store/db.h"

/* More than any trace before it is cut. */
#define PACKED_BYTES ((size_t)64 << 20)

DB_SQL(INSERT,
       "INSERT INTO traces (tenant, id, chat_id, created_at, data, packed)"
       " VALUES ($1, $2, $3, $4, '', $5) ON CONFLICT (tenant, id)"
       " DO UPDATE SET data = '', packed = excluded.packed");
DB_SQL(SELECT_ONE, "SELECT id, chat_id, created_at, packed, data FROM traces"
                   " WHERE tenant = $1 AND id = $2");

enum clew_status trace_begin(struct turn_work *work, json_t *boundary,
                             struct clew_error *err)
{
    work->trace = json_object();
    if (!json_set(work->trace, "boundary", boundary)) {
        json_decref(work->trace);
        work->trace = NULL;
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

/* Drop fields from the last until it fits. */
static enum clew_status write_bounded(json_t *trace, struct buf *out)
{
    static const char *const fields[] = {"chains", "memories", "links"};
    enum clew_status status = json_write(out, trace);

    for (size_t i = 0; status == CLEW_OK && out->len > TRACE_MAX_BYTES &&
                       i < sizeof(fields) / sizeof(fields[0]);
         i++) {
        if (json_object_get(trace, fields[i]) &&
            !json_set_cstr(trace, fields[i], "too long to keep")) {
            return CLEW_NO_MEMORY;
        }
        buf_clear(out);
        status = json_write(out, trace);
    }
    return status;
}

enum clew_status trace_put(struct store_tx *tx, const struct trace *trace,
                           struct clew_error *err)
{
    struct buf packed;
    enum clew_status status;

    buf_init(&packed, PACKED_BYTES);
    status = pack(trace->data, &packed);
    status =
        status == CLEW_OK
            ? db_exec(tx, &INSERT,
                      DB_ARGS(db_uuid(&trace->id), db_uuid(&trace->chat_id),
                              db_int(trace->created_at_ms),
                              db_bytes(packed.data, packed.len)),
                      err)
            : clew_no_memory(err);
    buf_release(&packed);
    return status;
}

enum clew_status trace_end(struct turn_work *work, struct trace *trace,
                           enum clew_status status, struct clew_error *err)
{
    struct buf text;

    buf_init(&text, 64u << 20);
    if (status == CLEW_OK && work->trace) {
        status = write_bounded(work->trace, &text);
        if (status != CLEW_OK) {
            status = clew_no_memory(err);
        }
    }
    if (status == CLEW_OK && work->trace) {
        trace->data = buf_str(&text);
        status = trace_put(work->batch->tx, trace, err);
        trace->data = (struct str){NULL, 0};
    }
    buf_release(&text);
    json_decref(work->trace);
    work->trace = NULL;
    return status;
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct trace *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 1);
    out->created_at_ms = db_get_int(rows, 2);
    return rows_packed(arena, rows, 3, 4, &out->data);
}

struct work {
    struct arena *arena;
    const struct uuid *id;
    struct trace trace;
};

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;

    return rows_one(tx, work->arena, &SELECT_ONE, DB_ARGS(db_uuid(work->id)),
                    row_of, &work->trace, sizeof(work->trace), "trace", err);
}

enum clew_status trace_resume(struct turn_work *work, const struct uuid *id,
                              struct clew_error *err)
{
    struct work found = {.arena = work->batch->arena, .id = id};
    enum clew_status status = do_get(work->batch->tx, &found, NULL);

    if (status == CLEW_OK) {
        return json_parse(found.trace.data, &work->trace, err);
    }
    if (status != CLEW_NOT_FOUND) {
        return clew_fail(err, status, "could not read a trace");
    }
    work->trace = json_object();
    return work->trace ? CLEW_OK : clew_no_memory(err);
}

enum clew_status trace_add(struct store_tx *tx, struct arena *arena,
                           const struct uuid *id, const char *field,
                           json_t *value, struct clew_error *err)
{
    struct work work = {.arena = arena, .id = id};
    json_t *data = NULL;
    struct buf text;
    enum clew_status status = do_get(tx, &work, NULL);

    buf_init(&text, TRACE_MAX_BYTES);
    if (status == CLEW_OK) {
        status = json_parse(work.trace.data, &data, err);
    }
    if (status == CLEW_OK && !json_set(data, field, json_incref(value))) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK && json_write(&text, data) == CLEW_OK) {
        work.trace.data = buf_str(&text);
        status = trace_put(tx, &work.trace, err);
    }
    buf_release(&text);
    json_decref(data);
    json_decref(value);
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

enum clew_status trace_get(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *id,
                           struct trace *out, struct clew_error *err)
{
    struct work work = {.arena = arena, .id = id};
    enum clew_status status =
        store_read(engine->store, scope, do_get, &work, err);

    if (status == CLEW_OK) {
        *out = work.trace;
    }
    return status;
}
