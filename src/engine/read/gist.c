/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gist.c - rows of the gists table. See gist.h.
 */
#include "engine/read/gist.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "model/reader.h"
#include "store/db.h"

_Static_assert(INDEX_GIST_DIM == READER_GIST_DIM, "as the reader makes them");

DB_SQL(UPSERT, "INSERT INTO gists (tenant, id, model, place, change_seq) VALUES"
               " ($1, $2, $3, $4, $5) ON CONFLICT (tenant, id) DO UPDATE SET"
               " model = excluded.model, place = excluded.place,"
               " change_seq = excluded.change_seq");
DB_SQL(SELECT_CHANGES,
       "SELECT id, change_seq, model, place FROM gists WHERE tenant = $1"
       " AND change_seq > $2 ORDER BY change_seq LIMIT $3");

int64_t gist_model(const struct engine *engine)
{
    if (!engine->reader || !reader_can_gist(engine->reader)) {
        return 0;
    }
    /* four bytes a row are enough to tell readers apart */
    return (int64_t)(index_term_hash(str_of(reader_gist_id(engine->reader))) &
                     INT32_MAX) |
           1;
}

enum clew_status gist_put(struct store_tx *tx, const struct gist *gist,
                          int64_t model, struct clew_error *err)
{
    return db_exec(tx, &UPSERT,
                   DB_ARGS(db_uuid(&gist->id), db_int(model),
                           db_bytes(gist->place, INDEX_GIST_DIM),
                           db_int(gist->change_seq)),
                   err);
}

struct listing {
    struct gist gist;
    int64_t model;
};

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct listing *out = item;
    struct str place = arena_str(arena, db_get_bytes(rows, 3));

    out->gist.id = db_get_uuid(rows, 0);
    out->gist.change_seq = db_get_int(rows, 1);
    out->model = db_get_int(rows, 2);
    if (place.len == INDEX_GIST_DIM) {
        out->gist.place = (const int8_t *)place.s;
    }
    return place.s != NULL;
}

enum clew_status gist_list_changes(struct store_tx *tx, struct arena *arena,
                                   int64_t model, int64_t after, int64_t limit,
                                   struct gist **out_gists, size_t *out_count,
                                   struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct listing), .fn = row_of};
    struct listing *rows = NULL;
    enum clew_status status =
        rows_all(tx, &list, &SELECT_CHANGES,
                 DB_ARGS(db_int(after), db_int(limit)), &rows, out_count, err);
    struct gist *gists = status == CLEW_OK
                             ? arena_zero(arena, *out_count + 1, sizeof(*gists))
                             : NULL;

    if (status == CLEW_OK && !gists) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; gists && i < *out_count; i++) {
        gists[i] = rows[i].gist;
        gists[i].place = rows[i].model == model ? gists[i].place : NULL;
    }
    *out_gists = gists;
    return status;
}
