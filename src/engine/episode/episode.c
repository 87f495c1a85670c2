/* SPDX-License-Identifier: Apache-2.0 */
/*
 * episode.c - rows of episodes, and a turn's step through them. See episode.h.
 */
#include "engine/episode/episode.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pack.h"
#include "base/pack_beside.h"
#include "engine/chat/chat.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/core/work.h"
#include "engine/episode/compact.h"
#include "engine/read/doc.h"
#include "engine/read/reading.h"
#include "store/db.h"
#include "text/smalltalk.h"
#include "text/summarise.h"

#include <string.h>

/* An episode is compacted at the latest a day after it began. */
#define DAY_MS CLOCK_DAY_MS
/* Chats that ended by one silence; more than one only after an import. */
#define MAX_ENDED 2
/* More than the citations of any episode. */
#define PACKED_BYTES ((size_t)64 << 20)

#define COLUMNS                                                                \
    "id, type, user_id, chat_id, ordinal, first_seq, last_seq, compacted_seq," \
    " compacted_at, cause, micro, meso_packed, macro_packed, packed, method,"  \
    " coverage, created_at, updated_at, change_seq, citations, meso, macro"

DB_SQL(SELECT_ONE,
       "SELECT " COLUMNS " FROM episodes WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_MANY,
       "SELECT " COLUMNS " FROM episodes WHERE tenant = $1 AND id = ANY($2)");
/* The other texts take long to unpack. */
DB_SQL(SELECT_SHOWN,
       "SELECT id, type, chat_id, first_seq, compacted_seq, micro,"
       " meso_packed, meso FROM episodes WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_CHANGES,
       "SELECT " COLUMNS " FROM episodes WHERE tenant = $1 AND change_seq > $2"
       " AND micro IS NOT NULL ORDER BY change_seq LIMIT $3");
DB_SQL(LIST_CHAT,
       "SELECT " COLUMNS " FROM episodes WHERE tenant = $1 AND id IN"
       " (SELECT id FROM episodes WHERE tenant = $1 AND chat_id = $2 UNION ALL"
       " SELECT episode_id FROM episode_chats WHERE tenant = $1"
       " AND chat_id = $2)"
       " AND (+created_at < $3 OR (+created_at = $3 AND id < $4))"
       " ORDER BY +created_at DESC, id DESC LIMIT $5");
DB_SQL(LIST_ALL, "SELECT " COLUMNS " FROM episodes WHERE tenant = $1"
                 " AND (created_at < $2 OR (created_at = $2 AND id < $3))"
                 " AND ($5 = '' OR user_id = $5)"
                 " ORDER BY created_at DESC, id DESC LIMIT $4");
DB_SQL(SELECT_OPEN_CHAT,
       "SELECT id FROM episodes WHERE tenant = $1 AND chat_id = $2"
       " ORDER BY ordinal DESC LIMIT 1");
DB_SQL(SELECT_ENDED,
       "SELECT e.id FROM episodes e JOIN chats c ON c.tenant = e.tenant"
       " AND c.id = e.chat_id WHERE e.tenant = $1 AND e.user_id = $2"
       " AND e.compacted_at IS NULL AND e.type = 'primary'"
       " AND c.is_explicit = 0 AND e.chat_id <> $3"
       " AND e.created_at <= $4 ORDER BY e.created_at DESC LIMIT $5");
DB_SQL(INSERT,
       "INSERT INTO episodes (tenant, " COLUMNS ") VALUES ($1, $2, $3, $4, $5,"
       " $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,"
       " $20, NULL, NULL, NULL)");
DB_SQL(UPDATE,
       "UPDATE episodes SET last_seq = $3, compacted_seq = $4,"
       " compacted_at = $5, cause = $6, micro = $7, meso_packed = $8,"
       " macro_packed = $9, packed = $10, meso = NULL, macro = NULL,"
       " citations = NULL, method = $11, coverage = $12, updated_at = $13,"
       " change_seq = $14 WHERE tenant = $1 AND id = $2");
DB_SQL(CLOSE, "UPDATE episodes SET last_seq = $3 WHERE tenant = $1 AND id = $2"
              " AND last_seq IS NULL");
DB_SQL(SELECT_CHATS, "SELECT chat_id FROM episode_chats WHERE tenant = $1"
                     " AND episode_id = $2 ORDER BY added_at, chat_id");

bool episode_is_primary(const struct episode *episode)
{
    return str_eq(episode->type, STR("primary"));
}

static void append(struct buf *out, struct str text)
{
    if (text.len) {
        if (out->len) {
            buf_append_char(out, '\n');
        }
        buf_append_str(out, text);
    }
}

struct str episode_search_text(struct arena *arena,
                               const struct episode *episode)
{
    struct str out = {NULL, 0};
    struct buf text;

    buf_init(&text, 1 << 20);
    append(&text, episode->micro);
    append(&text, episode->meso);
    append(&text, episode->macro);
    if (buf_status(&text) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    return out;
}

enum clew_status episode_doc(struct engine *engine, struct arena *arena,
                             const struct episode *episode,
                             struct index_doc *out, struct clew_error *err)
{
    *out = (struct index_doc){.kind = INDEX_EPISODE,
                              .id = episode->id,
                              .chat = episode->chat_id,
                              .user = episode->user_id,
                              .seq = episode->first_seq,
                              .created_at_ms = episode->created_at_ms,
                              .change_seq = episode->change_seq};
    return doc_of_text(engine, arena, episode_search_text(arena, episode), out,
                       err);
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct episode *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 3);
    out->ordinal = db_get_int(rows, 4);
    out->first_seq = db_get_int(rows, 5);
    out->last_seq = db_get_int(rows, 6);
    out->compacted_seq = db_get_int(rows, 7);
    out->compacted_at_ms = db_get_int(rows, 8);
    out->coverage = db_get_real(rows, 15);
    out->created_at_ms = db_get_int(rows, 16);
    out->updated_at_ms = db_get_int(rows, 17);
    out->change_seq = db_get_int(rows, 18);
    return rows_text(arena, rows, 1, &out->type) &&
           rows_text(arena, rows, 2, &out->user_id) &&
           rows_text(arena, rows, 9, &out->cause) &&
           rows_text(arena, rows, 10, &out->micro) &&
           rows_packed_beside(arena, rows, 11, 20, out->micro, &out->meso) &&
           rows_packed_beside(arena, rows, 12, 21, out->micro, &out->macro) &&
           rows_packed(arena, rows, 13, 19, &out->citations) &&
           rows_text(arena, rows, 14, &out->method);
}

enum clew_status episode_find(struct store_tx *tx, struct arena *arena,
                              const struct uuid *id, struct episode *out,
                              struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), row_of, out,
                    sizeof(*out), "episode", err);
}

static enum clew_status select_all(struct store_tx *tx, struct arena *arena,
                                   const struct db_sql *sql,
                                   const struct db_value *args, size_t n_args,
                                   struct episode **out, size_t *out_count,
                                   struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct episode), .fn = row_of};

    return rows_all(tx, &list, sql, args, n_args, out, out_count, err);
}

enum clew_status episode_find_many(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *ids, size_t count,
                                   struct episode **out, size_t *out_count,
                                   struct clew_error *err)
{
    return select_all(tx, arena, &SELECT_MANY, DB_ARGS(db_uuids(ids, count)),
                      out, out_count, err);
}

static bool shown_row(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct episode *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 2);
    out->first_seq = db_get_int(rows, 3);
    out->compacted_seq = db_get_int(rows, 4);
    return rows_text(arena, rows, 1, &out->type) &&
           rows_text(arena, rows, 5, &out->micro) &&
           rows_packed_beside(arena, rows, 6, 7, out->micro, &out->meso);
}

enum clew_status episode_find_shown(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *ids, size_t count,
                                    struct episode **out, size_t *out_count,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct episode), .fn = shown_row};

    return rows_all(tx, &list, &SELECT_SHOWN, DB_ARGS(db_uuids(ids, count)),
                    out, out_count, err);
}

enum clew_status episode_list_changes(struct store_tx *tx, struct arena *arena,
                                      int64_t after, int64_t limit,
                                      struct episode **out, size_t *out_count,
                                      struct clew_error *err)
{
    return select_all(tx, arena, &SELECT_CHANGES,
                      DB_ARGS(db_int(after), db_int(limit)), out, out_count,
                      err);
}

enum clew_status episode_chats(struct store_tx *tx, struct arena *arena,
                               const struct uuid *id, struct uuid **out_ids,
                               size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};

    return rows_all(tx, &list, &SELECT_CHATS, DB_ARGS(db_uuid(id)), out_ids,
                    out_count, err);
}

/* The texts of an episode as they are bound: the longer ones repeat the first.
 */
struct packed {
    struct buf meso; /* each is empty where there is none */
    struct buf macro;
    struct buf citations;
};

static void release(struct packed *packed)
{
    buf_release(&packed->meso);
    buf_release(&packed->macro);
    buf_release(&packed->citations);
}

/* `packed` is released on failure. */
static enum clew_status pack_texts(const struct episode *episode,
                                   struct packed *packed,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    buf_init(&packed->meso, PACKED_BYTES);
    buf_init(&packed->macro, PACKED_BYTES);
    buf_init(&packed->citations, PACKED_BYTES);
    if (episode->meso.s) {
        status = pack_beside(episode->meso, episode->micro, &packed->meso);
    }
    if (status == CLEW_OK && episode->macro.s) {
        status = pack_beside(episode->macro, episode->micro, &packed->macro);
    }
    if (status == CLEW_OK && episode->citations.s) {
        status = pack(episode->citations, &packed->citations);
    }
    if (status != CLEW_OK) {
        release(packed);
        return clew_fail(err, status, "could not keep an episode's texts");
    }
    return CLEW_OK;
}

static struct db_value packed_value(const struct buf *packed)
{
    return packed->len > 0 ? db_bytes(packed->data, packed->len) : db_null();
}

enum clew_status episode_insert(struct store_tx *tx,
                                const struct episode *episode,
                                struct clew_error *err)
{
    struct packed packed;
    enum clew_status status = pack_texts(episode, &packed, err);

    if (status != CLEW_OK) {
        return status;
    }
    status = db_exec(
        tx, &INSERT,
        DB_ARGS(db_uuid(&episode->id), db_text(episode->type),
                db_text(episode->user_id), db_uuid(&episode->chat_id),
                db_int(episode->ordinal), db_int(episode->first_seq),
                rows_int_or_null(episode->last_seq),
                db_int(episode->compacted_seq),
                rows_int_or_null(episode->compacted_at_ms),
                db_text(episode->cause), db_text(episode->micro),
                packed_value(&packed.meso), packed_value(&packed.macro),
                packed_value(&packed.citations), db_text(episode->method),
                db_real(episode->coverage), db_int(episode->created_at_ms),
                db_int(episode->updated_at_ms), db_int(episode->change_seq)),
        err);
    release(&packed);
    return status;
}

enum clew_status episode_update(struct batch_work *batch,
                                struct episode *episode, struct clew_error *err)
{
    struct index_doc doc;
    struct packed packed;
    enum clew_status status =
        work_take_change(batch, &episode->change_seq, err);

    if (status == CLEW_OK) {
        status = episode_doc(batch->engine, batch->arena, episode, &doc, err);
    }
    if (status == CLEW_OK) {
        status = work_add_doc(batch, &doc, err);
    }
    if (status == CLEW_OK) {
        status = pack_texts(episode, &packed, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = db_exec(
        batch->tx, &UPDATE,
        DB_ARGS(db_uuid(&episode->id), rows_int_or_null(episode->last_seq),
                db_int(episode->compacted_seq),
                rows_int_or_null(episode->compacted_at_ms),
                db_text(episode->cause), db_text(episode->micro),
                packed_value(&packed.meso), packed_value(&packed.macro),
                packed_value(&packed.citations), db_text(episode->method),
                db_real(episode->coverage), db_int(episode->updated_at_ms),
                db_int(episode->change_seq)),
        err);
    release(&packed);
    return status;
}

/* --- a turn's step ---------------------------------------------------------
 */

/* Ask for the compaction of an episode, `cause` as above. */
static enum clew_status episode_ask(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *id, const char *cause,
                                    int64_t execute_at_ms, int64_t now_ms,
                                    struct clew_error *err)
{
    struct task_new task = {.kind = EPISODE_COMPACT_TASK,
                            .execute_at_ms = execute_at_ms,
                            .now_ms = now_ms};
    char text[UUID_TEXT_SIZE];

    uuid_format(id, text);
    task.unique_key = str_of(arena_printf(arena, "%s:%s", text, cause));
    task.payload = str_of(arena_printf(
        arena, "{\"episode_id\":\"%s\",\"cause\":\"%s\"}", text, cause));
    if (!task.unique_key.s || !task.payload.s) {
        return clew_no_memory(err);
    }
    return task_add(tx, arena, &task, err);
}

/* Ask for the compaction of all episodes a query names. */
static enum clew_status ask_all(struct store_tx *tx, struct arena *arena,
                                const struct db_sql *sql,
                                const struct db_value *args, size_t n_args,
                                int64_t now_ms, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status = rows_add(tx, &list, sql, args, n_args, err);

    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = episode_ask(tx, arena, (struct uuid *)list.items + i, "end",
                             now_ms, now_ms, err);
    }
    return status;
}

enum clew_status episode_end_chat(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *chat_id, int64_t now_ms,
                                  struct clew_error *err)
{
    return ask_all(tx, arena, &SELECT_OPEN_CHAT, DB_ARGS(db_uuid(chat_id)),
                   now_ms, err);
}

enum clew_status episode_end_session(struct store_tx *tx, struct arena *arena,
                                     const struct session *session,
                                     int64_t now_ms, struct clew_error *err)
{
    return episode_end_chat(tx, arena, &session->chat_id, now_ms, err);
}

/* The turn is the first of the chat's next episode. */
static enum clew_status begin(struct turn_work *work, struct chat *chat,
                              int64_t ordinal, struct clew_error *err)
{
    const struct turn *turn = work->turn;
    struct store_tx *tx = work->batch->tx;
    struct arena *arena = work->batch->arena;
    struct episode episode = {.type = STR("primary")};
    struct uuid before = chat->primary_episode_id;
    struct episode_update update = {.type = "primary", .change = "created"};
    enum clew_status status;

    episode.id = uuid_derive(turn->created_at_ms, &turn->id, "episode", 0);
    episode.user_id = chat->user_id;
    episode.chat_id = chat->id;
    episode.ordinal = ordinal;
    episode.first_seq = turn->seq;
    episode.created_at_ms = turn->created_at_ms;
    episode.updated_at_ms = turn->created_at_ms;
    status = episode_insert(tx, &episode, err);
    if (status == CLEW_OK && !uuid_is_nil(&before)) {
        status = db_exec(tx, &CLOSE,
                         DB_ARGS(db_uuid(&before), db_int(turn->seq - 1)), err);
        if (status == CLEW_OK) {
            status = episode_ask(tx, arena, &before, "turns",
                                 turn->created_at_ms, turn->created_at_ms, err);
        }
    }
    if (status == CLEW_OK) {
        status =
            episode_ask(tx, arena, &episode.id, "day",
                        turn->created_at_ms + DAY_MS, turn->created_at_ms, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    chat->primary_episode_id = episode.id;
    update.id = episode.id;
    return updates_add_episode(work->updates, arena, &update);
}

enum clew_status episode_observe(struct turn_work *work, struct clew_error *err)
{
    struct chat *chat = &work->placement->slot->chat;
    const struct turn *turn = work->turn;
    int64_t nth = turn->seq - chat->fork_seq - 1;
    enum clew_status status = CLEW_OK;

    if (!chat->summary.s && turn->role == TURN_USER &&
        !smalltalk_is(work->reading->said)) {
        /* until it is compacted: how it began */
        chat->summary =
            summary_cut(str_trim(work->reading->said), SUMMARY_MICRO_TOKENS);
        chat->summary =
            chat->summary.len ? chat->summary : (struct str){NULL, 0};
    }
    if (nth % EPISODE_TURNS == 0) {
        status = begin(work, chat, nth / EPISODE_TURNS, err);
    }
    if (status == CLEW_OK && nth == 0 &&
        work->placement->rule == PLACE_SILENCE) {
        status =
            ask_all(work->batch->tx, work->batch->arena, &SELECT_ENDED,
                    DB_ARGS(db_text(chat->user_id), db_uuid(&chat->id),
                            db_int(turn->created_at_ms), db_int(MAX_ENDED)),
                    turn->created_at_ms, err);
    }
    /* a session of this chat that no clock ended before the turn came */
    if (status == CLEW_OK && nth > 0 &&
        !uuid_is_nil(&work->placement->ended.id)) {
        status = episode_end_session(work->batch->tx, work->batch->arena,
                                     &work->placement->ended,
                                     turn->created_at_ms, err);
    }
    return status;
}

/* --- whole operations ------------------------------------------------------
 */

struct work {
    struct arena *arena;
    struct str user_id; /* empty: everyone */
    const struct uuid *id;
    int64_t before_ms;
    const struct uuid *before_id;
    int64_t limit;
    struct episode_view *views;
    size_t count;
};

/* Give an episode the chats it covers. */
static enum clew_status view_of(struct store_tx *tx, struct arena *arena,
                                const struct episode *episode,
                                struct episode_view *out,
                                struct clew_error *err)
{
    out->episode = *episode;
    if (!episode_is_primary(episode)) {
        return episode_chats(tx, arena, &episode->id, &out->chat_ids,
                             &out->n_chat_ids, err);
    }
    out->chat_ids = arena_zero(arena, 1, sizeof(*out->chat_ids));
    if (!out->chat_ids) {
        return clew_no_memory(err);
    }
    out->chat_ids[0] = episode->chat_id;
    out->n_chat_ids = 1;
    return CLEW_OK;
}

static enum clew_status views_of(struct store_tx *tx, struct work *work,
                                 const struct episode *episodes, size_t count,
                                 struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    work->views = arena_zero(work->arena, count + 1, sizeof(*work->views));
    work->count = count;
    if (!work->views) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = view_of(tx, work->arena, &episodes[i], &work->views[i], err);
    }
    return status;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    bool is_first = uuid_is_nil(work->before_id);
    struct db_value before = db_bytes(work->before_id->b, 16);
    struct db_value time = db_int(is_first ? INT64_MAX : work->before_ms);
    struct episode *episodes = NULL;
    size_t count = 0;
    enum clew_status status;

    before.type = DB_UUID; /* the nil id is a value here, not NULL */
    if (uuid_is_nil(work->id)) {
        status = select_all(
            tx, work->arena, &LIST_ALL,
            DB_ARGS(time, before, db_int(work->limit), db_text(work->user_id)),
            &episodes, &count, err);
    } else {
        status = select_all(
            tx, work->arena, &LIST_CHAT,
            DB_ARGS(db_uuid(work->id), time, before, db_int(work->limit)),
            &episodes, &count, err);
    }
    return status == CLEW_OK ? views_of(tx, work, episodes, count, err)
                             : status;
}

static enum clew_status list(struct engine *engine, const struct scope *scope,
                             struct work *work, struct episode_view **out,
                             size_t *out_count, struct clew_error *err)
{
    enum clew_status status =
        store_read(engine->store, scope, do_list, work, err);

    if (status == CLEW_OK) {
        *out = work->views;
        *out_count = work->count;
    }
    return status;
}

enum clew_status episode_list(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *chat_id,
                              int64_t before_ms, const struct uuid *before_id,
                              int64_t limit, struct episode_view **out,
                              size_t *out_count, struct clew_error *err)
{
    struct work work = {.arena = arena,
                        .id = chat_id,
                        .user_id = STR(""),
                        .before_ms = before_ms,
                        .before_id = before_id,
                        .limit = limit};

    return list(engine, scope, &work, out, out_count, err);
}

enum clew_status episode_list_of(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 struct str user_id, int64_t before_ms,
                                 const struct uuid *before_id, int64_t limit,
                                 struct episode_view **out, size_t *out_count,
                                 struct clew_error *err)
{
    static const struct uuid none = {{0}};
    struct work work = {.arena = arena,
                        .id = &none,
                        .user_id = user_id,
                        .before_ms = before_ms,
                        .before_id = before_id,
                        .limit = limit};

    return list(engine, scope, &work, out, out_count, err);
}

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;
    struct episode episode;
    enum clew_status status =
        episode_find(tx, work->arena, work->id, &episode, err);

    return status == CLEW_OK ? views_of(tx, work, &episode, 1, err) : status;
}

enum clew_status episode_get(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct episode_view *out, struct clew_error *err)
{
    struct work work = {.arena = arena, .id = id};
    enum clew_status status =
        store_read(engine->store, scope, do_get, &work, err);

    if (status == CLEW_OK) {
        *out = work.views[0];
    }
    return status;
}
