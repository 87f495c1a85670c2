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

DB_SQL(INSERT, "INSERT INTO traces (tenant, id, packed)"
               " VALUES ($1, $2, $3) ON CONFLICT (tenant, id)"
               " DO UPDATE SET data = NULL, packed = excluded.packed");
DB_SQL(SELECT_DATA,
       "SELECT id, packed, data FROM traces WHERE tenant = $1 AND id = $2");
/* A turn has no trace, nor a request, without being there itself. */
DB_SQL(SELECT_OWNER,
       "SELECT chat_id, created_at FROM turns WHERE tenant = $1 AND id = $2"
       " UNION ALL SELECT chat_id, created_at FROM requests"
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

enum clew_status trace_put(struct store_tx *tx, const struct uuid *id,
                           struct str data, struct clew_error *err)
{
    struct buf packed;
    enum clew_status status;

    buf_init(&packed, PACKED_BYTES);
    status = pack(data, &packed);
    status =
        status == CLEW_OK
            ? db_exec(tx, &INSERT,
                      DB_ARGS(db_uuid(id), db_bytes(packed.data, packed.len)),
                      err)
            : clew_no_memory(err);
    buf_release(&packed);
    return status;
}

enum clew_status trace_end(struct turn_work *work, const struct uuid *id,
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
        status = trace_put(work->batch->tx, id, buf_str(&text), err);
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
    return rows_packed(arena, rows, 1, 2, &out->data);
}

static bool owner_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct trace *out = item;

    (void)arena; /* nothing to copy */
    out->chat_id = db_get_uuid(rows, 0);
    out->created_at_ms = db_get_int(rows, 1);
    return true;
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

    return rows_one(tx, work->arena, &SELECT_DATA, DB_ARGS(db_uuid(work->id)),
                    row_of, &work->trace, sizeof(work->trace), "trace", err);
}

static enum clew_status do_get_whole(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    struct work *work = arg;
    struct trace owner = {0};
    enum clew_status status = do_get(tx, arg, err);

    if (status == CLEW_OK) {
        status =
            rows_one(tx, work->arena, &SELECT_OWNER, DB_ARGS(db_uuid(work->id)),
                     owner_of, &owner, sizeof(owner), "trace", err);
    }
    work->trace.chat_id = owner.chat_id;
    work->trace.created_at_ms = owner.created_at_ms;
    return status;
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
        status = trace_put(tx, id, buf_str(&text), err);
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
        store_read(engine->store, scope, do_get_whole, &work, err);

    if (status == CLEW_OK) {
        *out = work.trace;
    }
    return status;
}
