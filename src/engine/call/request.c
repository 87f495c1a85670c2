/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - rows of the requests table.
 *
 * See request.h. Every finder is one indexed lookup; "strictly earlier" is by
 * (created_at, id), which is also the order of a rebuild.
 */
#include "engine/call/request.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <string.h>

#define COLUMNS                                                                \
    "id, user_id, conversation_id, parent_id, chat_id, branch, strategy,"      \
    " message_count, first_seq, last_seq, reply_seq, subtask_number, "         \
    "hash_key,"                                                                \
    " reply_key, response_id, current_hash, parent_hash, system_hash,"         \
    " parent_reply_key, grandparent_key, grandparent_reply_key, prompt_key,"   \
    " previous_id, is_summarising, is_compact, api, model, status,"            \
    " stop_reason, error, is_complete, input_tokens, output_tokens,"           \
    " duration_ms, first_byte_ms, session_hint, created_at, stored_at,"        \
    " origin_id, parent_origin_id, cache_read_tokens, cache_write_tokens,"     \
    " cost_micros"
#define SELECT "SELECT " COLUMNS " FROM requests WHERE tenant = $1"
#define EARLIER " AND (created_at < $2 OR (created_at = $2 AND id < $3))"
#define NEWEST " ORDER BY created_at DESC, id DESC LIMIT 1"
/* The same where few rows are left: sorted, not walked in the order of time,
 * where all the others stand too. */
#define EARLIER_OF " AND (+created_at < $2 OR (+created_at = $2 AND id < $3))"
#define NEWEST_OF " ORDER BY +created_at DESC, id DESC"
/* Who says the same as somebody else does not go on with what that one said. */
#define OWN " AND user_id = $4"

DB_SQL(SELECT_ONE, SELECT " AND id = $2");
DB_SQL(SELECT_HASH, SELECT OWN " AND hash_key = $5" EARLIER NEWEST);
DB_SQL(SELECT_HASH_SYSTEM,
       SELECT OWN " AND hash_key = $5 AND system_hash = $6" EARLIER NEWEST);
DB_SQL(SELECT_REPLY, SELECT OWN " AND reply_key = $5" EARLIER NEWEST);
DB_SQL(SELECT_REPLY_SYSTEM,
       SELECT OWN " AND reply_key = $5 AND system_hash = $6" EARLIER NEWEST);
DB_SQL(SELECT_LONGEST, SELECT OWN " AND hash_key = ANY($5)" EARLIER_OF
                                  " ORDER BY message_count DESC,"
                                  " created_at DESC, id DESC LIMIT 1");
DB_SQL(SELECT_RESPONSE, SELECT OWN
       " AND response_id = $5 AND api IN ('responses', 'link')" EARLIER_OF
           NEWEST_OF " LIMIT 1");
DB_SQL(SELECT_MANY, SELECT OWN " AND id = ANY($5)" EARLIER_OF
                               " AND +created_at >= $6" NEWEST_OF " LIMIT 20");
DB_SQL(SELECT_CHILD,
       SELECT OWN " AND parent_origin_id = $5 AND conversation_id = $6"
                  " AND subtask_number IS NULL" EARLIER NEWEST);
DB_SQL(SELECT_TWIN, SELECT OWN
       " AND parent_origin_id = $5 AND conversation_id = $6"
       " AND subtask_number IS NULL AND hash_key = $7" EARLIER NEWEST);
DB_SQL(COUNT_SUBTASKS,
       "SELECT COUNT(*) FROM requests WHERE tenant = $1" EARLIER_OF
       " AND conversation_id = $4 AND subtask_number IS NOT NULL");
DB_SQL(SELECT_AFTER,
       SELECT " AND (created_at > $2 OR (created_at = $2 AND id > $3))"
              " ORDER BY created_at, id LIMIT $4");
DB_SQL(SELECT_FIRST,
       SELECT " AND chat_id = $2 ORDER BY created_at, id LIMIT 1");
/* Status 1 stands for what failed. */
#define FILTERS                                                                \
    " AND ($5 = '' OR user_id = $5) AND ($6 = '' OR model = $6)"               \
    " AND ($7 = 0 OR status = $7 OR ($7 = 1 AND"                               \
    " (status >= 400 OR error IS NOT NULL)))"
DB_SQL(SELECT_LIST,
       SELECT EARLIER " AND created_at >= $8" FILTERS
                      " ORDER BY created_at DESC, id DESC LIMIT $4");
DB_SQL(SELECT_LIST_OF,
       SELECT " AND conversation_id = $9" EARLIER_OF
              " AND +created_at >= $8" FILTERS NEWEST_OF " LIMIT $4");
DB_SQL(SELECT_PREVIEWS,
       "SELECT r.id, SUBSTR(t.text, 1, 200) FROM requests r JOIN turns t"
       " ON t.tenant = r.tenant AND t.chat_id = r.chat_id"
       " AND t.seq = r.last_seq WHERE r.tenant = $1 AND r.id = ANY($2)");
DB_SQL(SELECT_TREE,
       SELECT " AND conversation_id = $2 ORDER BY +created_at, id LIMIT 10000");
DB_SQL(INSERT,
       "INSERT INTO requests (tenant, " COLUMNS ") VALUES ($1, $2, $3, $4, $5,"
       " $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,"
       " $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34,"
       " $35, $36, $37, $38, $39, $40, $41, $42, $43, $44)");
DB_SQL(UPDATE, "UPDATE requests SET conversation_id = $3, parent_id = $4,"
               " branch = $5, strategy = $6, subtask_number = $7,"
               " origin_id = $8, parent_origin_id = $9"
               " WHERE tenant = $1 AND id = $2");

struct uuid request_key(const struct call_digest *digest)
{
    struct uuid key;

    memcpy(key.b, digest->b, sizeof(key.b));
    return key;
}

struct uuid request_reply_key(const struct call_digest *messages,
                              const struct call_digest *reply)
{
    struct call_digest both;
    struct sha256 hash;

    sha256_init(&hash);
    sha256_add(&hash, messages->b, sizeof(messages->b));
    sha256_add(&hash, reply->b, sizeof(reply->b));
    sha256_get(&hash, both.b);
    return request_key(&both);
}

/* --- rows ------------------------------------------------------------------
 */

static bool read_digest(const struct db_rows *rows, int column,
                        struct call_digest *out)
{
    struct str bytes = db_get_bytes(rows, column);

    if (bytes.len != sizeof(out->b)) {
        return false;
    }
    memcpy(out->b, bytes.s, sizeof(out->b));
    return true;
}

static int64_t int_or(const struct db_rows *rows, int column, int64_t missing)
{
    return db_is_null(rows, column) ? missing : db_get_int(rows, column);
}

static bool read_call(struct arena *arena, const struct db_rows *rows,
                      struct request_call *out)
{
    out->status = db_get_int(rows, 27);
    out->is_complete = db_get_int(rows, 30) != 0;
    out->input_tokens = int_or(rows, 31, -1);
    out->output_tokens = int_or(rows, 32, -1);
    out->duration_ms = int_or(rows, 33, -1);
    out->first_byte_ms = int_or(rows, 34, -1);
    out->cache_read_tokens = int_or(rows, 40, -1);
    out->cache_write_tokens = int_or(rows, 41, -1);
    out->cost_micros = int_or(rows, 42, -1);
    return rows_text(arena, rows, 14, &out->response_id) &&
           rows_text(arena, rows, 22, &out->previous_id) &&
           rows_text(arena, rows, 25, &out->api) &&
           rows_text(arena, rows, 26, &out->model) &&
           rows_text(arena, rows, 28, &out->stop_reason) &&
           rows_text(arena, rows, 29, &out->error) &&
           rows_text(arena, rows, 35, &out->session_hint);
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct request *out = item;

    out->id = db_get_uuid(rows, 0);
    out->conversation_id = db_get_uuid(rows, 2);
    out->parent_id = db_get_uuid(rows, 3);
    out->chat_id = db_get_uuid(rows, 4);
    out->message_count = db_get_int(rows, 7);
    out->first_seq = db_get_int(rows, 8);
    out->last_seq = db_get_int(rows, 9);
    out->reply_seq = db_get_int(rows, 10);
    out->subtask_number = db_get_int(rows, 11);
    out->hash_key = db_get_uuid(rows, 12);
    out->reply_key = db_get_uuid(rows, 13);
    (void)read_digest(rows, 15, &out->current); /* never NULL */
    out->has_parent_hash = read_digest(rows, 16, &out->parent);
    out->has_system = read_digest(rows, 17, &out->system);
    out->parent_reply_key = db_get_uuid(rows, 18);
    out->grandparent_key = db_get_uuid(rows, 19);
    out->grandparent_reply_key = db_get_uuid(rows, 20);
    out->prompt_key = db_get_uuid(rows, 21);
    out->is_summarising = db_get_int(rows, 23) != 0;
    out->is_compact = db_get_int(rows, 24) != 0;
    out->created_at_ms = db_get_int(rows, 36);
    out->stored_at_ms = db_get_int(rows, 37);
    out->origin_id = db_get_uuid(rows, 38);
    out->parent_origin_id = db_get_uuid(rows, 39);
    return rows_text(arena, rows, 1, &out->user_id) &&
           rows_text(arena, rows, 5, &out->branch) &&
           rows_text(arena, rows, 6, &out->strategy) &&
           read_call(arena, rows, &out->call);
}

static enum clew_status one(struct store_tx *tx, struct arena *arena,
                            const struct db_sql *sql,
                            const struct db_value *args, size_t n_args,
                            struct request *out, struct clew_error *err)
{
    return rows_one(tx, arena, sql, args, n_args, row_of, out, sizeof(*out),
                    "request", err);
}

static enum clew_status many(struct store_tx *tx, struct arena *arena,
                             const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             struct request **out, size_t *out_count,
                             struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct request), .fn = row_of};

    return rows_all(tx, &list, sql, args, n_args, out, out_count, err);
}

static struct db_value digest(const struct call_digest *value, bool has)
{
    return has ? db_bytes(value->b, sizeof(value->b)) : db_null();
}

static struct db_value count_or_null(int64_t value)
{
    return value >= 0 ? db_int(value) : db_null();
}

enum clew_status request_insert(struct store_tx *tx, const struct request *r,
                                struct clew_error *err)
{
    const struct request_call *c = &r->call;

    return db_exec(
        tx, &INSERT,
        DB_ARGS(
            db_uuid(&r->id), db_text(r->user_id), db_uuid(&r->conversation_id),
            db_uuid(&r->parent_id), db_uuid(&r->chat_id), db_text(r->branch),
            db_text(r->strategy), db_int(r->message_count),
            db_int(r->first_seq), db_int(r->last_seq),
            rows_int_or_null(r->reply_seq), rows_int_or_null(r->subtask_number),
            db_uuid(&r->hash_key), db_uuid(&r->reply_key),
            db_text(c->response_id), digest(&r->current, true),
            digest(&r->parent, r->has_parent_hash),
            digest(&r->system, r->has_system), db_uuid(&r->parent_reply_key),
            db_uuid(&r->grandparent_key), db_uuid(&r->grandparent_reply_key),
            db_uuid(&r->prompt_key), db_text(c->previous_id),
            db_int(r->is_summarising), db_int(r->is_compact), db_text(c->api),
            db_text(c->model), rows_int_or_null(c->status),
            db_text(c->stop_reason), db_text(c->error), db_int(c->is_complete),
            count_or_null(c->input_tokens), count_or_null(c->output_tokens),
            count_or_null(c->duration_ms), count_or_null(c->first_byte_ms),
            db_text(c->session_hint), db_int(r->created_at_ms),
            db_int(r->stored_at_ms), db_uuid(&r->origin_id),
            db_uuid(&r->parent_origin_id), count_or_null(c->cache_read_tokens),
            count_or_null(c->cache_write_tokens),
            count_or_null(c->cost_micros)),
        err);
}

enum clew_status request_update(struct store_tx *tx, const struct request *r,
                                struct clew_error *err)
{
    return db_exec(
        tx, &UPDATE,
        DB_ARGS(db_uuid(&r->id), db_uuid(&r->conversation_id),
                db_uuid(&r->parent_id), db_text(r->branch),
                db_text(r->strategy), rows_int_or_null(r->subtask_number),
                db_uuid(&r->origin_id), db_uuid(&r->parent_origin_id)),
        err);
}

/* --- finders ---------------------------------------------------------------
 */

#define BEFORE(before) db_int((before)->created_at_ms), db_uuid(&(before)->id)
#define OWN_BEFORE(before) BEFORE(before), db_text((before)->user_id)

enum clew_status request_find(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id, struct request *out,
                              struct clew_error *err)
{
    return one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), out, err);
}

enum clew_status request_find_hash(struct store_tx *tx, struct arena *arena,
                                   const struct request *before,
                                   const struct uuid *hash_key,
                                   const struct call_digest *system,
                                   struct request *out, struct clew_error *err)
{
    if (!system) {
        return one(tx, arena, &SELECT_HASH,
                   DB_ARGS(OWN_BEFORE(before), db_uuid(hash_key)), out, err);
    }
    return one(
        tx, arena, &SELECT_HASH_SYSTEM,
        DB_ARGS(OWN_BEFORE(before), db_uuid(hash_key), digest(system, true)),
        out, err);
}

enum clew_status request_find_reply(struct store_tx *tx, struct arena *arena,
                                    const struct request *before,
                                    const struct uuid *reply_key,
                                    const struct call_digest *system,
                                    struct request *out, struct clew_error *err)
{
    if (!system) {
        return one(tx, arena, &SELECT_REPLY,
                   DB_ARGS(OWN_BEFORE(before), db_uuid(reply_key)), out, err);
    }
    return one(
        tx, arena, &SELECT_REPLY_SYSTEM,
        DB_ARGS(OWN_BEFORE(before), db_uuid(reply_key), digest(system, true)),
        out, err);
}

enum clew_status request_find_longest(struct store_tx *tx, struct arena *arena,
                                      const struct request *before,
                                      const struct uuid *keys, size_t count,
                                      struct request *out,
                                      struct clew_error *err)
{
    return one(tx, arena, &SELECT_LONGEST,
               DB_ARGS(OWN_BEFORE(before), db_uuids(keys, count)), out, err);
}

enum clew_status request_find_response(struct store_tx *tx, struct arena *arena,
                                       const struct request *before,
                                       struct str response_id,
                                       struct request *out,
                                       struct clew_error *err)
{
    return one(tx, arena, &SELECT_RESPONSE,
               DB_ARGS(OWN_BEFORE(before), db_text(response_id)), out, err);
}

enum clew_status request_find_many(struct store_tx *tx, struct arena *arena,
                                   const struct request *before,
                                   const struct uuid *ids, size_t count,
                                   int64_t since_ms, struct request **out,
                                   size_t *out_count, struct clew_error *err)
{
    return many(
        tx, arena, &SELECT_MANY,
        DB_ARGS(OWN_BEFORE(before), db_uuids(ids, count), db_int(since_ms)),
        out, out_count, err);
}

enum clew_status request_find_child(struct store_tx *tx, struct arena *arena,
                                    const struct request *before,
                                    const struct request *parent,
                                    const struct uuid *hash_key,
                                    struct request *out, struct clew_error *err)
{
    if (!hash_key) {
        return one(tx, arena, &SELECT_CHILD,
                   DB_ARGS(OWN_BEFORE(before), db_uuid(&parent->origin_id),
                           db_uuid(&parent->conversation_id)),
                   out, err);
    }
    return one(tx, arena, &SELECT_TWIN,
               DB_ARGS(OWN_BEFORE(before), db_uuid(&parent->origin_id),
                       db_uuid(&parent->conversation_id), db_uuid(hash_key)),
               out, err);
}

enum clew_status request_count_subtasks(struct store_tx *tx,
                                        const struct request *before,
                                        const struct uuid *conversation_id,
                                        int64_t *out_count,
                                        struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &COUNT_SUBTASKS,
                 DB_ARGS(BEFORE(before), db_uuid(conversation_id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        *out_count = db_get_int(&rows, 0);
    }
    return db_end(&rows, err);
}

enum clew_status request_list_after(struct store_tx *tx, struct arena *arena,
                                    int64_t after_ms,
                                    const struct uuid *after_id, int64_t limit,
                                    struct request **out, size_t *out_count,
                                    struct clew_error *err)
{
    /* a nil id binds NULL, and nothing is greater than that */
    static const struct uuid lowest = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

    return many(tx, arena, &SELECT_AFTER,
                DB_ARGS(db_int(after_ms),
                        db_uuid(uuid_is_nil(after_id) ? &lowest : after_id),
                        db_int(limit)),
                out, out_count, err);
}

enum clew_status request_find_first(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_id,
                                    struct request *out, struct clew_error *err)
{
    return one(tx, arena, &SELECT_FIRST, DB_ARGS(db_uuid(chat_id)), out, err);
}

/* --- whole operations ------------------------------------------------------
 */

struct read_work {
    struct arena *arena;
    const struct uuid *id;
    const struct request_filter *filter;
    struct request *out;
    struct request *list;
    size_t count;
};

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct read_work *work = arg;

    return request_find(tx, work->arena, work->id, work->out, err);
}

enum clew_status request_get(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct request *out, struct clew_error *err)
{
    struct read_work work = {.arena = arena, .id = id, .out = out};

    return store_read(engine->store, scope, do_get, &work, err);
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    static const struct uuid highest = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                         0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                         0xFF, 0xFF, 0xFF, 0xFF}};
    struct read_work *work = arg;
    const struct request_filter *filter = work->filter;
    const struct uuid *before_id =
        uuid_is_nil(&filter->before_id) ? &highest : &filter->before_id;

    struct db_value args[8] = {
        db_int(filter->before_ms),
        db_uuid(before_id),
        db_int(filter->limit),
        db_text(filter->user_id.s ? filter->user_id : STR("")),
        db_text(filter->model.s ? filter->model : STR("")),
        db_int(filter->status),
        db_int(filter->since_ms),
        db_uuid(&filter->conversation_id),
    };
    bool has_one = !uuid_is_nil(&filter->conversation_id);

    return many(tx, work->arena, has_one ? &SELECT_LIST_OF : &SELECT_LIST, args,
                has_one ? 8 : 7, &work->list, &work->count, err);
}

enum clew_status request_list(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct request_filter *filter,
                              struct request **out, size_t *out_count,
                              struct clew_error *err)
{
    struct read_work work = {.arena = arena, .filter = filter};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out = work.list;
        *out_count = work.count;
    }
    return status;
}

static enum clew_status do_tree(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct read_work *work = arg;

    return many(tx, work->arena, &SELECT_TREE, DB_ARGS(db_uuid(work->id)),
                &work->list, &work->count, err);
}

enum clew_status request_tree(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct uuid *conversation_id,
                              struct request **out, size_t *out_count,
                              struct clew_error *err)
{
    struct read_work work = {.arena = arena, .id = conversation_id};
    enum clew_status status =
        store_read(engine->store, scope, do_tree, &work, err);

    if (status == CLEW_OK && work.count == 0) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such conversation");
    }
    if (status == CLEW_OK) {
        *out = work.list;
        *out_count = work.count;
    }
    return status;
}

struct preview {
    struct uuid id;
    struct str text;
};

struct preview_work {
    struct arena *arena;
    const struct request *requests;
    size_t count;
    struct str *out;
};

static bool preview_of(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct preview *out = item;

    out->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &out->text);
}

static enum clew_status do_previews(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    struct preview_work *work = arg;
    struct uuid *ids = arena_zero(work->arena, work->count, sizeof(*ids));
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct preview), .fn = preview_of};
    const struct preview *found;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        ids[i] = work->requests[i].id;
    }
    status = rows_add(tx, &list, &SELECT_PREVIEWS,
                      DB_ARGS(db_uuids(ids, work->count)), err);
    found = list.items;
    for (size_t k = 0; status == CLEW_OK && k < list.count; k++) {
        for (size_t i = 0; i < work->count; i++) {
            if (uuid_eq(&ids[i], &found[k].id)) {
                work->out[i] = found[k].text;
            }
        }
    }
    return status;
}

enum clew_status request_previews(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena,
                                  const struct request *requests, size_t count,
                                  struct str **out, struct clew_error *err)
{
    struct preview_work work = {arena, requests, count,
                                arena_zero(arena, count, sizeof(struct str))};
    enum clew_status status = CLEW_OK;

    if (count > 0 && !work.out) {
        return clew_no_memory(err);
    }
    if (count > 0) {
        status = store_read(engine->store, scope, do_previews, &work, err);
    }
    if (status == CLEW_OK) {
        *out = work.out;
    }
    return status;
}
