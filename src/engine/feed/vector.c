/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.c - rows of vectors and vector_models. See vector.h.
 */
#include "engine/feed/vector.h"

#include "engine/core/rows.h"
#include "engine/feed/vector_graph.h"
#include "model/embed.h"
#include "store/db.h"
#include "vec/vec.h"

#include <string.h>

#define SCALE_BYTES 4

/* The row must still be there in the state that was embedded. */
#define PUT(kind, table)                                                       \
    "INSERT INTO vectors (tenant, kind, id, model, source_change, change_seq," \
    " dim, bytes) SELECT tenant, '" kind "', id, $2, change_seq, $5, $6, $7"   \
    " FROM " table " WHERE tenant = $1 AND id = $3 AND change_seq = $4"        \
    " ON CONFLICT (tenant, kind, id, model) DO UPDATE SET"                     \
    " source_change = excluded.source_change,"                                 \
    " change_seq = excluded.change_seq, dim = excluded.dim,"                   \
    " bytes = excluded.bytes"

DB_SQL(PUT_TURN, PUT("turn", "turns"));
DB_SQL(PUT_MEMORY, PUT("memory", "memories"));
DB_SQL(PUT_EPISODE, PUT("episode", "episodes"));

/* By enum index_kind. */
static const struct {
    const char *name;
    const struct db_sql *put;
} kinds[INDEX_KINDS] = {
    {"turn", &PUT_TURN}, {"memory", &PUT_MEMORY}, {"episode", &PUT_EPISODE}};

DB_SQL(SELECT_CHANGES,
       "SELECT kind, id, source_change, change_seq, dim, bytes FROM vectors"
       " WHERE tenant = $1 AND model = $2 AND change_seq > $3"
       " ORDER BY change_seq LIMIT $4");
DB_SQL(DELETE_VECTORS, "DELETE FROM vectors WHERE tenant = $1 AND model = $2");
DB_SQL(DELETE_MODEL,
       "DELETE FROM vector_models WHERE tenant = $1 AND model = $2");
DB_SQL(SELECT_PROGRESS,
       "SELECT n.change_seq, v.through, v.ready_at FROM tenants n"
       " LEFT JOIN vector_models v ON v.tenant = n.tenant AND v.model = $2"
       " WHERE n.tenant = $1");
DB_SQL(UPSERT_PROGRESS,
       "INSERT INTO vector_models (tenant, model, dim, through, ready_at)"
       " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant, model) DO UPDATE SET"
       " dim = excluded.dim, through = excluded.through,"
       " ready_at = COALESCE(vector_models.ready_at, excluded.ready_at)");

/* --- bytes --------------------------------------------------------------- */

static void write_bytes(const struct vector *vector,
                        unsigned char out[SCALE_BYTES + EMBED_MAX_DIM])
{
    float scale =
        vec_quantise(vector->values, vector->dim, (int8_t *)out + SCALE_BYTES);
    uint32_t bits;

    memcpy(&bits, &scale, sizeof(bits));
    for (int i = 0; i < SCALE_BYTES; i++) {
        out[i] = (unsigned char)(bits >> (8 * i));
    }
}

/* What is damaged is as good as refused: NULL. */
static bool read_bytes(struct arena *arena, struct str bytes, size_t dim,
                       const float **out)
{
    uint32_t bits = 0;
    float *values;
    float scale;

    *out = NULL;
    if (dim == 0 || dim > EMBED_MAX_DIM || bytes.len != SCALE_BYTES + dim) {
        return true;
    }
    values = arena_zero(arena, dim, sizeof(*values));
    if (!values) {
        return false;
    }
    for (int i = 0; i < SCALE_BYTES; i++) {
        bits |= (uint32_t)(unsigned char)bytes.s[i] << (8 * i);
    }
    memcpy(&scale, &bits, sizeof(scale));
    for (size_t i = 0; i < dim; i++) {
        values[i] = scale * (float)(signed char)bytes.s[SCALE_BYTES + i];
    }
    *out = values;
    return true;
}

/* --- rows ---------------------------------------------------------------- */

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct vector *out = item;

    out->kind =
        str_eq(db_get_text(rows, 0), STR("turn")) ? INDEX_TURN : INDEX_MEMORY;
    out->id = db_get_uuid(rows, 1);
    out->source_change = db_get_int(rows, 2);
    out->change_seq = db_get_int(rows, 3);
    out->dim = (size_t)db_get_int(rows, 4);
    return read_bytes(arena, db_get_bytes(rows, 5), out->dim, &out->values);
}

enum clew_status vector_put(struct store_tx *tx, const char *model,
                            const struct vector *vector, struct clew_error *err)
{
    unsigned char bytes[SCALE_BYTES + EMBED_MAX_DIM];
    size_t len = 0;

    if (vector->dim > 0) {
        write_bytes(vector, bytes);
        len = SCALE_BYTES + vector->dim;
    }
    return db_exec(tx, kinds[vector->kind].put,
                   DB_ARGS(db_cstr(model), db_uuid(&vector->id),
                           db_int(vector->source_change),
                           db_int(vector->change_seq),
                           db_int((int64_t)vector->dim), db_bytes(bytes, len)),
                   err);
}

enum clew_status vector_list_changes(struct store_tx *tx, struct arena *arena,
                                     const char *model, int64_t after,
                                     int64_t limit, struct vector **out_vectors,
                                     size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct vector), .fn = row_of};

    return rows_all(tx, &list, &SELECT_CHANGES,
                    DB_ARGS(db_cstr(model), db_int(after), db_int(limit)),
                    out_vectors, out_count, err);
}

enum clew_status vector_remove_model(struct store_tx *tx, const char *model,
                                     struct clew_error *err)
{
    enum clew_status status =
        db_exec(tx, &DELETE_VECTORS, DB_ARGS(db_cstr(model)), err);

    if (status == CLEW_OK) {
        status = db_exec(tx, &DELETE_MODEL, DB_ARGS(db_cstr(model)), err);
    }
    return status == CLEW_OK ? vector_graph_remove(tx, model, err) : status;
}

enum clew_status vector_progress_get(struct store_tx *tx, const char *model,
                                     struct vector_progress *out,
                                     struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_PROGRESS, DB_ARGS(db_cstr(model)), &rows, err);

    memset(out, 0, sizeof(*out));
    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        out->latest = db_get_int(&rows, 0);
        out->through = db_get_int(&rows, 1);
        out->ready_at = db_get_int(&rows, 2);
    }
    return db_end(&rows, err);
}

enum clew_status vector_progress_set(struct store_tx *tx, const char *model,
                                     size_t dim, int64_t through,
                                     int64_t ready_at_ms,
                                     struct clew_error *err)
{
    return db_exec(tx, &UPSERT_PROGRESS,
                   DB_ARGS(db_cstr(model), db_int((int64_t)dim),
                           db_int(through), rows_int_or_null(ready_at_ms)),
                   err);
}
