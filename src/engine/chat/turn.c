/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.c - rows of the turns table, and reading a line. See turn.h.
 */
#include "engine/chat/turn.h"

#include "base/one_line.h"
#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#define COLUMNS                                                                \
    "chat_id, seq, id, session_id, user_id, role, name, channel, content,"     \
    " text, token_count, created_at, stored_at, timezone, external_id,"        \
    " change_seq"

DB_SQL(INSERT,
       "INSERT INTO turns (tenant, " COLUMNS ", log_flags) VALUES ($1, $2, $3,"
       " $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)");
/* The log in order: turns told here, and turns imported from elsewhere. */
DB_SQL(SELECT_LOG,
       "SELECT " COLUMNS ", log_flags, log_seq FROM turns WHERE tenant = $1"
       " AND change_seq > $2 AND log_seq IS NULL ORDER BY change_seq LIMIT $3");
DB_SQL(SELECT_LOG_IMPORTED,
       "SELECT " COLUMNS ", log_flags, log_seq FROM turns WHERE tenant = $1"
       " AND log_seq IS NOT NULL AND (log_seq, change_seq) > ($2, $3)"
       " ORDER BY log_seq, change_seq LIMIT $4");
DB_SQL(SELECT_IDS,
       "SELECT " COLUMNS " FROM turns WHERE tenant = $1 AND id = ANY($2)");
/* The ids alone; their rows are read by id. A planner without statistics walks
 * the tenant's turns once for each when both are one statement. */
DB_SQL(SELECT_BEFORE, "SELECT (SELECT p.id FROM turns p WHERE p.tenant = $1"
                      " AND p.chat_id = t.chat_id AND p.seq = t.seq - 1"
                      " AND p.role IN ('user', 'assistant')"
                      " AND substr(p.text, 1, 10) <> '[tool_use:')"
                      " FROM turns t WHERE t.tenant = $1 AND t.id = ANY($2)");
/* CROSS and the plus: SQLite would walk the tenant's turns by time. */
DB_SQL(SELECT_CITED,
       "SELECT DISTINCT t.id, t.created_at FROM memory_refs r"
       " CROSS JOIN turns t WHERE t.tenant = $1 AND t.chat_id = r.chat_id"
       " AND t.seq BETWEEN r.first_seq AND r.last_seq"
       " AND r.tenant = $1 AND r.memory_id = ANY($2)"
       " ORDER BY t.created_at DESC, t.id LIMIT $3");
DB_SQL(SELECT_STANDING, "SELECT COUNT(*), MAX(change_seq) FROM turns"
                        " WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_EXTERNAL, "SELECT " COLUMNS " FROM turns WHERE tenant = $1"
                        " AND external_id = ANY($2)");
DB_SQL(SELECT_PART,
       "SELECT " COLUMNS " FROM turns WHERE tenant = $1 AND chat_id = $2"
       " AND seq > $3 AND seq <= $4 ORDER BY seq LIMIT $5");
DB_SQL(SELECT_PART_END,
       "SELECT " COLUMNS " FROM turns WHERE tenant = $1 AND chat_id = $2"
       " AND seq > $3 AND seq <= $4 ORDER BY seq DESC LIMIT $5");
DB_SQL(SELECT_CHANGES,
       "SELECT " COLUMNS " FROM turns WHERE tenant = $1 AND change_seq > $2"
       " ORDER BY change_seq LIMIT $3");

static const char *const role_names[] = {"user", "assistant", "system", "tool"};

const char *turn_role_name(enum turn_role role)
{
    return role_names[role];
}

bool turn_role_parse(struct str text, enum turn_role *out_role)
{
    for (int i = 0; i < 4; i++) {
        if (str_eq(text, str_of(role_names[i]))) {
            *out_role = (enum turn_role)i;
            return true;
        }
    }
    return false;
}

struct str turn_who(struct arena *arena, struct str name, struct str role)
{
    struct str line = one_line(arena, name, ONE_LINE_NAME_CHARS);

    return line.s && str_trim(line).len == 0 ? role : line;
}

enum clew_status turn_insert(struct store_tx *tx, const struct turn *turn,
                             struct clew_error *err)
{
    return db_exec(
        tx, &INSERT,
        DB_ARGS(db_uuid(&turn->chat_id), db_int(turn->seq), db_uuid(&turn->id),
                db_uuid(&turn->session_id), db_text(turn->user_id),
                db_cstr(turn_role_name(turn->role)), db_text(turn->name),
                db_text(turn->channel), db_text(turn->content),
                db_text(turn->text), db_int(turn->token_count),
                db_int(turn->created_at_ms), db_int(turn->stored_at_ms),
                db_text(turn->timezone), db_text(turn->external_id),
                db_int(turn->change_seq), db_int(turn->log_flags)),
        err);
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct turn *out = item;

    out->chat_id = db_get_uuid(rows, 0);
    out->seq = db_get_int(rows, 1);
    out->id = db_get_uuid(rows, 2);
    out->session_id = db_get_uuid(rows, 3);
    out->token_count = db_get_int(rows, 10);
    out->created_at_ms = db_get_int(rows, 11);
    out->stored_at_ms = db_get_int(rows, 12);
    out->change_seq = db_get_int(rows, 15);
    if (!turn_role_parse(db_get_text(rows, 5), &out->role)) {
        out->role = TURN_USER; /* only a damaged row; verify names it */
    }
    return rows_text(arena, rows, 4, &out->user_id) &&
           rows_text(arena, rows, 6, &out->name) &&
           rows_text(arena, rows, 7, &out->channel) &&
           rows_text(arena, rows, 8, &out->content) &&
           rows_text(arena, rows, 9, &out->text) &&
           rows_text(arena, rows, 13, &out->timezone) &&
           rows_text(arena, rows, 14, &out->external_id);
}

/* One query into a fresh list. */
static enum clew_status select_into(struct store_tx *tx, struct arena *arena,
                                    const struct db_sql *sql,
                                    const struct db_value *args, size_t n_args,
                                    struct turn **out_turns, size_t *out_count,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct turn), .fn = row_of};

    return rows_all(tx, &list, sql, args, n_args, out_turns, out_count, err);
}

enum clew_status turn_find_many(struct store_tx *tx, struct arena *arena,
                                const struct uuid *ids, size_t count,
                                struct turn **out_turns, size_t *out_count,
                                struct clew_error *err)
{
    return select_into(tx, arena, &SELECT_IDS, DB_ARGS(db_uuids(ids, count)),
                       out_turns, out_count, err);
}

/* The turns whose ids a query gives; without one (NULL) there is none. */
static enum clew_status select_found(struct store_tx *tx, struct arena *arena,
                                     const struct db_sql *sql,
                                     const struct db_value *args, size_t n_args,
                                     struct turn **out_turns, size_t *out_count,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = NULL;
    size_t count = 0;
    enum clew_status status =
        rows_all(tx, &list, sql, args, n_args, &ids, &count, err);

    *out_count = 0;
    return status == CLEW_OK && count > 0
               ? turn_find_many(tx, arena, ids, count, out_turns, out_count,
                                err)
               : status;
}

enum clew_status turn_find_before(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *ids, size_t count,
                                  struct turn **out_turns, size_t *out_count,
                                  struct clew_error *err)
{
    return select_found(tx, arena, &SELECT_BEFORE,
                        DB_ARGS(db_uuids(ids, count)), out_turns, out_count,
                        err);
}

enum clew_status turn_find_cited(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *memory_ids, size_t count,
                                 int64_t limit, struct turn **out_turns,
                                 size_t *out_count, struct clew_error *err)
{
    return select_found(tx, arena, &SELECT_CITED,
                        DB_ARGS(db_uuids(memory_ids, count), db_int(limit)),
                        out_turns, out_count, err);
}

enum clew_status turn_still_stand(struct store_tx *tx, struct arena *arena,
                                  const struct turn *turns, size_t count,
                                  bool *out, struct clew_error *err)
{
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    int64_t last_change = 0;
    struct db_rows rows;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = turns[i].id;
        last_change = turns[i].change_seq > last_change ? turns[i].change_seq
                                                        : last_change;
    }
    status = db_query(tx, &SELECT_STANDING, DB_ARGS(db_uuids(ids, count)),
                      &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    *out = db_next(&rows) && db_get_int(&rows, 0) == (int64_t)count &&
           (count == 0 || db_get_int(&rows, 1) == last_change);
    return db_end(&rows, err);
}

enum clew_status turn_find_external(struct store_tx *tx, struct arena *arena,
                                    const struct str *external_ids,
                                    size_t count, struct turn **out_turns,
                                    size_t *out_count, struct clew_error *err)
{
    return select_into(tx, arena, &SELECT_EXTERNAL,
                       DB_ARGS(db_texts(external_ids, count)), out_turns,
                       out_count, err);
}

enum clew_status turn_list_changes(struct store_tx *tx, struct arena *arena,
                                   int64_t after, int64_t limit,
                                   struct turn **out_turns, size_t *out_count,
                                   struct clew_error *err)
{
    return select_into(tx, arena, &SELECT_CHANGES,
                       DB_ARGS(db_int(after), db_int(limit)), out_turns,
                       out_count, err);
}

static bool entry_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct turn_entry *out = item;

    out->is_flagged = !db_is_null(rows, 16);
    out->turn.log_flags = (unsigned)db_get_int(rows, 16);
    out->log_seq = db_get_int(rows, 17);
    if (!row_of(arena, rows, &out->turn)) {
        return false;
    }
    if (db_is_null(rows, 17)) {
        out->log_seq = out->turn.change_seq;
    }
    return true;
}

enum clew_status turn_list_log(struct store_tx *tx, struct arena *arena,
                               const struct turn_place *after, int64_t limit,
                               struct turn_entry **out, size_t *out_count,
                               struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct turn_entry), .fn = entry_of};
    enum clew_status status =
        after->is_imported
            ? rows_add(tx, &list, &SELECT_LOG_IMPORTED,
                       DB_ARGS(db_int(after->log_seq),
                               db_int(after->change_seq), db_int(limit)),
                       err)
            : rows_add(tx, &list, &SELECT_LOG,
                       DB_ARGS(db_int(after->change_seq), db_int(limit)), err);

    if (status == CLEW_OK) {
        *out = list.items;
        *out_count = list.count;
    }
    return status;
}

/* Turns (after_seq, to_seq] of the line, at most `limit`. */
static enum clew_status list_between(struct store_tx *tx, struct arena *arena,
                                     const struct chat_part *parts,
                                     size_t n_parts, int64_t after_seq,
                                     int64_t limit, struct turn **out_turns,
                                     size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct turn), .fn = row_of};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < n_parts && status == CLEW_OK; i++) {
        const struct chat_part *part = &parts[i];
        int64_t left = limit - (int64_t)list.count;

        if (left <= 0) {
            break;
        }
        if (part->to_seq <= after_seq || part->to_seq <= part->after_seq) {
            continue;
        }
        status = rows_add(
            tx, &list, &SELECT_PART,
            DB_ARGS(db_uuid(&part->chat_id),
                    db_int(after_seq > part->after_seq ? after_seq
                                                       : part->after_seq),
                    db_int(part->to_seq), db_int(left)),
            err);
    }
    if (status == CLEW_OK) {
        *out_turns = list.items;
        *out_count = list.count;
    }
    return status;
}

/* The last `limit` turns of the line up to `to_seq`, oldest first. Some may
 * have been forgotten, so the numbers do not tell where they begin. */
static enum clew_status list_end(struct store_tx *tx, struct arena *arena,
                                 const struct chat_part *parts, size_t n_parts,
                                 int64_t to_seq, int64_t limit,
                                 struct turn **out_turns, size_t *out_count,
                                 struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct turn), .fn = row_of};
    struct turn *turns;
    enum clew_status status = CLEW_OK;

    for (size_t i = n_parts; i-- > 0 && status == CLEW_OK;) {
        const struct chat_part *part = &parts[i];
        int64_t left = limit - (int64_t)list.count;
        int64_t end = part->to_seq < to_seq ? part->to_seq : to_seq;

        if (left > 0 && end > part->after_seq) {
            status = rows_add(tx, &list, &SELECT_PART_END,
                              DB_ARGS(db_uuid(&part->chat_id),
                                      db_int(part->after_seq), db_int(end),
                                      db_int(left)),
                              err);
        }
    }
    turns = list.items;
    for (size_t i = 0; i < list.count / 2; i++) {
        struct turn last = turns[list.count - 1 - i];

        turns[list.count - 1 - i] = turns[i];
        turns[i] = last;
    }
    if (status == CLEW_OK) {
        *out_turns = turns;
        *out_count = list.count;
    }
    return status;
}

enum clew_status turn_list_line(struct store_tx *tx, struct arena *arena,
                                const struct uuid *chat_id, int64_t after_seq,
                                int64_t limit, struct turn **out_turns,
                                size_t *out_count, struct clew_error *err)
{
    struct chat_part *parts;
    size_t n_parts;
    enum clew_status status =
        chat_line(tx, arena, chat_id, &parts, &n_parts, err);

    if (status != CLEW_OK) {
        return status;
    }
    return list_between(tx, arena, parts, n_parts, after_seq, limit, out_turns,
                        out_count, err);
}

enum clew_status turn_list_last(struct store_tx *tx, struct arena *arena,
                                const struct uuid *chat_id, int64_t limit,
                                struct turn **out_turns, size_t *out_count,
                                struct clew_error *err)
{
    return turn_list_until(tx, arena, chat_id, INT64_MAX, limit, out_turns,
                           out_count, err);
}

enum clew_status turn_list_until(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chat_id, int64_t to_seq,
                                 int64_t limit, struct turn **out_turns,
                                 size_t *out_count, struct clew_error *err)
{
    struct chat_part *parts;
    size_t n_parts;
    enum clew_status status =
        chat_line(tx, arena, chat_id, &parts, &n_parts, err);

    if (status != CLEW_OK) {
        return status;
    }
    return list_end(tx, arena, parts, n_parts, to_seq, limit, out_turns,
                    out_count, err);
}

struct list_work {
    struct arena *arena;
    const struct uuid *chat_id;
    int64_t after_seq;
    int64_t limit;
    struct turn *turns;
    size_t count;
};

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct list_work *work = arg;

    return turn_list_line(tx, work->arena, work->chat_id, work->after_seq,
                          work->limit, &work->turns, &work->count, err);
}

enum clew_status turn_list(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *chat_id,
                           int64_t after_seq, int64_t limit,
                           struct turn **out_turns, size_t *out_count,
                           struct clew_error *err)
{
    struct list_work work = {.arena = arena,
                             .chat_id = chat_id,
                             .after_seq = after_seq,
                             .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out_turns = work.turns;
        *out_count = work.count;
    }
    return status;
}

static enum clew_status do_list_before(struct store_tx *tx, void *arg,
                                       struct clew_error *err)
{
    struct list_work *work = arg;
    struct chat_part *parts;
    size_t n_parts;
    enum clew_status status =
        chat_line(tx, work->arena, work->chat_id, &parts, &n_parts, err);

    return status == CLEW_OK
               ? list_end(tx, work->arena, parts, n_parts, work->after_seq - 1,
                          work->limit, &work->turns, &work->count, err)
               : status;
}

enum clew_status
turn_list_before(struct engine *engine, const struct scope *scope,
                 struct arena *arena, const struct uuid *chat_id,
                 int64_t before_seq, int64_t limit, struct turn **out_turns,
                 size_t *out_count, struct clew_error *err)
{
    struct list_work work = {.arena = arena,
                             .chat_id = chat_id,
                             .after_seq = before_seq,
                             .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_list_before, &work, err);

    if (status == CLEW_OK) {
        *out_turns = work.turns;
        *out_count = work.count;
    }
    return status;
}

struct external_work {
    struct arena *arena;
    struct str external_id;
    struct turn *turns;
    size_t count;
};

static enum clew_status do_by_external_id(struct store_tx *tx, void *arg,
                                          struct clew_error *err)
{
    struct external_work *work = arg;

    return turn_find_external(tx, work->arena, &work->external_id, 1,
                              &work->turns, &work->count, err);
}

enum clew_status turn_by_external_id(struct engine *engine,
                                     const struct scope *scope,
                                     struct arena *arena,
                                     struct str external_id,
                                     struct turn **out_turns, size_t *out_count,
                                     struct clew_error *err)
{
    struct external_work work = {.arena = arena, .external_id = external_id};
    enum clew_status status =
        store_read(engine->store, scope, do_by_external_id, &work, err);

    if (status == CLEW_OK) {
        *out_turns = work.turns;
        *out_count = work.count;
    }
    return status;
}
