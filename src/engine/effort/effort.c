/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort.c - rows of the efforts table. See effort.h.
 */
#include "engine/effort/effort.h"

#include "engine/core/rows.h"
#include "store/db.h"

#define COLUMNS                                                                \
    "e.memory_id, e.thread_id, e.state, e.outcome, e.is_open, e.is_spawned,"   \
    " e.first_seq, e.last_seq, e.last_at, e.raw_tokens, m.summary, m.status,"  \
    " m.resolution, m.parent_id, m.user_id, e.twin_of, (SELECT"                \
    " c.conversation_id FROM chats c WHERE c.tenant = $1 AND c.id ="           \
    " e.thread_id), m.created_at FROM "
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
/* Of every row last_seq is not less: asked so that SQLite does not take the
 * key, which has all the rest, and walk it. */
DB_SQL(SELECT_OWNERS,
       "SELECT " COLUMNS "memory_refs r CROSS JOIN efforts e CROSS JOIN"
       " memories m" JOINED " AND r.tenant = $1 AND r.chat_id = ANY($2)"
       " AND r.last_seq >= r.first_seq"
       " AND e.memory_id = r.memory_id AND m.parent_id IS NULL"
       " AND e.is_spawned = 0"
       " ORDER BY r.first_seq DESC, e.memory_id DESC LIMIT $3");
DB_SQL(SELECT_ATTEMPTS, "SELECT " MEMORIES " AND m.parent_id = $2"
                        " ORDER BY +m.created_at, m.id LIMIT $3");
#define OF_ALL                                                                 \
    " AND e.is_open = 1 AND m.parent_id IS NULL"                               \
    " ORDER BY +m.created_at DESC, m.id DESC LIMIT $2"
/* As memories_unended has them: asked with every turn, and others' are many. */
#define OF_USER                                                                \
    " AND m.user_id = $2 AND m.type = 'effort' AND m.parent_id IS NULL"        \
    " AND m.status <> 'resolved' AND m.status <> 'abandoned'"                  \
    " AND e.is_open = 1 ORDER BY m.created_at DESC, m.id DESC LIMIT $3"
DB_SQL(SELECT_OPEN, "SELECT " EFFORTS OF_ALL);
DB_SQL(SELECT_USER, "SELECT " MEMORIES OF_USER);
/* Ended ones too. */
DB_SQL(SELECT_EVERY, "SELECT " MEMORIES " AND m.parent_id IS NULL"
                     " ORDER BY m.created_at DESC, m.id DESC LIMIT $2");
DB_SQL(SELECT_USER_EVERY, "SELECT " MEMORIES " AND m.user_id = $2"
                          " AND m.parent_id IS NULL"
                          " ORDER BY m.created_at DESC, m.id DESC LIMIT $3");
/* The same, only what tells whether a turn may be about them. */
#define TITLES "SELECT m.id, m.summary FROM "
DB_SQL(SELECT_OPEN_TITLES,
       TITLES "efforts e CROSS JOIN memories m" JOINED OF_ALL);
DB_SQL(SELECT_USER_TITLES,
       TITLES "memories m CROSS JOIN efforts e" JOINED OF_USER);
DB_SQL(SELECT_THESE, "SELECT " EFFORTS " AND e.memory_id = ANY($2)"
                     " ORDER BY e.memory_id LIMIT $3");
DB_SQL(SELECT_ENDED, "SELECT " MEMORIES " AND m.user_id = $2"
                     " AND m.created_at > $4 AND m.parent_id IS NULL"
                     " AND e.is_open = 0 AND e.is_spawned = 0"
                     " ORDER BY m.created_at DESC, m.id DESC LIMIT $3");
DB_SQL(SELECT_OTHER, "SELECT 1 FROM efforts WHERE tenant = $1 AND thread_id ="
                     " $2 AND memory_id <> $3 LIMIT 1");
DB_SQL(SELECT_ONE, "SELECT " EFFORTS " AND e.memory_id = $2");
DB_SQL(INSERT,
       "INSERT INTO efforts (tenant, memory_id, thread_id, state, outcome,"
       " is_open, is_spawned, first_seq, last_seq, last_at, raw_tokens,"
       " twin_of) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)");
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
    out->twin_of = db_get_uuid(rows, 15);
    out->conversation_id = db_get_uuid(rows, 16);
    out->created_at_ms = db_get_int(rows, 17);
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

enum clew_status effort_list_owners(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_ids, size_t n_chats,
                                    struct effort **out_efforts,
                                    size_t *out_count, struct clew_error *err)
{
    struct effort *rows = NULL;
    size_t n_rows = 0;
    size_t n = 0;
    enum clew_status status =
        select_efforts(tx, arena, &SELECT_OWNERS, db_uuids(chat_ids, n_chats),
                       EFFORT_MAX_ALL, &rows, &n_rows, err);

    for (size_t i = 0; status == CLEW_OK && i < n_rows; i++) {
        size_t k = 0;

        while (k < n && !uuid_eq(&rows[k].memory_id, &rows[i].memory_id)) {
            k++;
        }
        if (k == n) {
            rows[n++] = rows[i];
        }
    }
    *out_efforts = rows;
    *out_count = n;
    return status;
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
                                  struct str user_id, bool with_closed,
                                  struct effort **out_efforts,
                                  size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct effort), .fn = row_of};

    return user_id.len > 0
               ? select_efforts(tx, arena,
                                with_closed ? &SELECT_USER_EVERY : &SELECT_USER,
                                db_text(user_id), EFFORT_MAX_ALL, out_efforts,
                                out_count, err)
               : rows_all(tx, &list, with_closed ? &SELECT_EVERY : &SELECT_OPEN,
                          DB_ARGS(db_int(EFFORT_MAX_ALL)), out_efforts,
                          out_count, err);
}

static bool title_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct effort_title *out = item;

    out->memory_id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &out->summary);
}

enum clew_status effort_list_titles(struct store_tx *tx, struct arena *arena,
                                    struct str user_id,
                                    struct effort_title **out_titles,
                                    size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct effort_title), .fn = title_of};

    return user_id.len > 0
               ? rows_all(tx, &list, &SELECT_USER_TITLES,
                          DB_ARGS(db_text(user_id), db_int(EFFORT_MAX_ALL)),
                          out_titles, out_count, err)
               : rows_all(tx, &list, &SELECT_OPEN_TITLES,
                          DB_ARGS(db_int(EFFORT_MAX_ALL)), out_titles,
                          out_count, err);
}

enum clew_status effort_list_these(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *ids, size_t n_ids,
                                   struct effort **out_efforts,
                                   size_t *out_count, struct clew_error *err)
{
    return select_efforts(tx, arena, &SELECT_THESE, db_uuids(ids, n_ids),
                          (int64_t)n_ids, out_efforts, out_count, err);
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
                db_int(effort->raw_tokens), db_uuid(&effort->twin_of)),
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
