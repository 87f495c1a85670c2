/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_trail.c - see request_trail.h.
 */
#include "engine/call/request_trail.h"

#include "base/clock.h"
#include "engine/chat/chat.h"
#include "engine/core/rows.h"
#include "store/db.h"

DB_SQL(SELECT_TASK,
       "SELECT t.request_id FROM request_tasks t JOIN requests r"
       " ON r.tenant = t.tenant AND r.id = t.request_id"
       " WHERE t.tenant = $1 AND t.prompt_key = $4 AND t.created_at >= $5"
       " AND (t.created_at < $2 OR (t.created_at = $2 AND t.request_id < $3))"
       " AND r.user_id = $6"
       " ORDER BY t.created_at DESC, t.request_id DESC LIMIT 1");
/* A reply that holds the needle has every one of its anchors. */
DB_SQL(SELECT_ANCHOR_IDS,
       "SELECT request_id FROM request_anchors WHERE tenant = $1"
       " AND hour = ANY($2) AND anchor = ANY($3) GROUP BY request_id"
       " HAVING COUNT(*) >= $4 LIMIT 10000");
DB_SQL(INSERT_TASK, "INSERT INTO request_tasks (tenant, prompt_key, created_at,"
                    " request_id) VALUES ($1, $2, $3, $4)"
                    " ON CONFLICT DO NOTHING");
DB_SQL(INSERT_ANCHOR, "INSERT INTO request_anchors (tenant, hour, anchor,"
                      " request_id) VALUES ($1, $2, $3, $4)"
                      " ON CONFLICT DO NOTHING");
DB_SQL(INSERT_PREFIX, "INSERT INTO request_prefixes (tenant, chat_id, seq,"
                      " prefix_key) VALUES ($1, $2, $3, $4)"
                      " ON CONFLICT DO NOTHING");
DB_SQL(SELECT_PREFIXES, "SELECT prefix_key FROM request_prefixes WHERE"
                        " tenant = $1 AND chat_id = $2 AND seq > $3"
                        " AND seq <= $4 ORDER BY seq");

/* --- sub-agents ------------------------------------------------------------
 */

enum clew_status request_add_task(struct store_tx *tx,
                                  const struct request *request,
                                  const struct uuid *prompt_key,
                                  struct clew_error *err)
{
    return db_exec(tx, &INSERT_TASK,
                   DB_ARGS(db_uuid(prompt_key), db_int(request->created_at_ms),
                           db_uuid(&request->id)),
                   err);
}

enum clew_status request_find_task(struct store_tx *tx, struct arena *arena,
                                   const struct request *before,
                                   const struct uuid *prompt_key,
                                   int64_t since_ms, struct request *out,
                                   struct clew_error *err)
{
    struct uuid id;
    enum clew_status status =
        rows_one(tx, arena, &SELECT_TASK,
                 DB_ARGS(db_int(before->created_at_ms), db_uuid(&before->id),
                         db_uuid(prompt_key), db_int(since_ms),
                         db_text(before->user_id)),
                 rows_id, &id, sizeof(id), "request", err);

    return status == CLEW_OK ? request_find(tx, arena, &id, out, err) : status;
}

/* --- anchors ---------------------------------------------------------------
 */

/* Hours since 1970, rounded down. */
static int64_t hour_of(int64_t time_ms)
{
    return time_ms / CLOCK_HOUR_MS - (time_ms % CLOCK_HOUR_MS < 0);
}

enum clew_status request_add_anchors(struct store_tx *tx,
                                     const struct request *request,
                                     const int64_t *anchors, size_t count,
                                     struct clew_error *err)
{
    int64_t hour = hour_of(request->created_at_ms);
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = db_exec(
            tx, &INSERT_ANCHOR,
            DB_ARGS(db_int(hour), db_int(anchors[i]), db_uuid(&request->id)),
            err);
    }
    return status;
}

/* Hours of one lookup: a week and the hour it begins in. */
#define MAX_HOURS (7 * 24 + 1)

enum clew_status request_find_anchors(struct store_tx *tx, struct arena *arena,
                                      const struct request *before,
                                      const int64_t *anchors, size_t count,
                                      int64_t since_ms, struct request **out,
                                      size_t *out_count, struct clew_error *err)
{
    struct rows_list ids = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    int64_t hours[MAX_HOURS];
    size_t n_hours = 0;
    enum clew_status status;

    for (int64_t hour = hour_of(before->created_at_ms);
         hour >= hour_of(since_ms) && n_hours < MAX_HOURS; hour--) {
        hours[n_hours++] = hour;
    }
    status = rows_add(tx, &ids, &SELECT_ANCHOR_IDS,
                      DB_ARGS(db_ints(hours, n_hours), db_ints(anchors, count),
                              db_int((int64_t)count)),
                      err);
    if (status != CLEW_OK || ids.count == 0) {
        *out_count = 0;
        return status;
    }
    return request_find_many(tx, arena, before, ids.items, ids.count, since_ms,
                             out, out_count, err);
}

/* --- prefixes --------------------------------------------------------------
 */

enum clew_status request_add_prefix(struct store_tx *tx,
                                    const struct uuid *chat_id, int64_t seq,
                                    const struct call_digest *prefix,
                                    struct clew_error *err)
{
    struct uuid key = request_key(prefix);

    return db_exec(tx, &INSERT_PREFIX,
                   DB_ARGS(db_uuid(chat_id), db_int(seq), db_uuid(&key)), err);
}

enum clew_status request_prefixes(struct store_tx *tx, struct arena *arena,
                                  const struct request *request,
                                  struct uuid **out_keys, size_t *out_count,
                                  struct clew_error *err)
{
    struct rows_list keys = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct chat_part *parts;
    size_t n_parts;
    enum clew_status status =
        chat_line(tx, arena, &request->chat_id, &parts, &n_parts, err);

    for (size_t i = 0; status == CLEW_OK && i < n_parts; i++) {
        int64_t after = parts[i].after_seq < request->first_seq - 1
                            ? request->first_seq - 1
                            : parts[i].after_seq;
        int64_t to = parts[i].to_seq > request->last_seq ? request->last_seq
                                                         : parts[i].to_seq;

        if (after < to) {
            status = rows_add(
                tx, &keys, &SELECT_PREFIXES,
                DB_ARGS(db_uuid(&parts[i].chat_id), db_int(after), db_int(to)),
                err);
        }
    }
    if (status == CLEW_OK) {
        *out_keys = keys.items;
        *out_count = keys.count;
    }
    return status;
}
