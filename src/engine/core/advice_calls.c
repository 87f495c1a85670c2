/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_calls.c - which calls a turn was sent with. See advice.h.
 *
 * Looked up when somebody asks, by the recorded answers: a trace is made anew
 * by a rebuild, and what a call took is not derived from anything.
 */
#include "engine/core/advice.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

/* CROSS: SQLite reads the first table first, which is one row. */
DB_SQL(SELECT_CALLS,
       "SELECT a.purpose, a.model, a.created_at, a.first_seq, a.last_seq,"
       " COALESCE(a.input_tokens, 0), COALESCE(a.output_tokens, 0)"
       " FROM turns t CROSS JOIN llm_answers a WHERE t.tenant = $1"
       " AND a.tenant = $1 AND t.id = $2 AND a.chat_id = t.chat_id"
       " AND a.first_seq <= t.seq AND a.last_seq >= t.seq"
       " ORDER BY a.created_at, a.key LIMIT $3");

struct calls_work {
    const struct uuid *turn_id;
    struct rows_list list;
};

static bool sent_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct advice_sent *out = item;

    out->at_ms = db_get_int(rows, 2);
    out->first_seq = db_get_int(rows, 3);
    out->last_seq = db_get_int(rows, 4);
    out->input_tokens = db_get_int(rows, 5);
    out->output_tokens = db_get_int(rows, 6);
    return rows_text(arena, rows, 0, &out->purpose) &&
           rows_text(arena, rows, 1, &out->model);
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct calls_work *work = arg;

    work->list.count = 0;
    return rows_add(tx, &work->list, &SELECT_CALLS,
                    DB_ARGS(db_uuid(work->turn_id), db_int(ADVICE_SENT_MOST)),
                    err);
}

enum clew_status advice_sent_list(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena,
                                  const struct uuid *turn_id,
                                  struct advice_sent **out, size_t *out_count,
                                  struct clew_error *err)
{
    struct calls_work work = {.turn_id = turn_id,
                              .list = {.arena = arena,
                                       .size = sizeof(struct advice_sent),
                                       .fn = sent_of}};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out = work.list.items;
        *out_count = work.list.count;
    }
    return status;
}
