/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat.c - rows of the chats table, and the operations on one chat.
 *
 * See chat.h. Reading a line walks the parents in one recursive query; the
 * turns themselves are fetched part by part (turn.c).
 */
#include "engine/chat/chat.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engine/chat/channel.h"
#include "engine/chat/timeout.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/forgotten.h"
#include "engine/core/redact.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <string.h>

#define COLUMNS                                                                \
    "id, user_id, conversation_id, parent_id, fork_seq, depth, branch, title," \
    " is_titled_by_user, summary, is_explicit, channels, inactivity_minutes,"  \
    " created_at, last_activity_at, closed_at, last_seq, primary_episode_id,"  \
    " cross_episodes"
/* A chat as it is read: with the minutes its user was given. */
#define READ_COLUMNS                                                           \
    COLUMNS ", (SELECT u.inactivity_minutes FROM users u"                      \
            " WHERE u.tenant = $1 AND u.user_id = chats.user_id)"

DB_SQL(SELECT_ONE,
       "SELECT " READ_COLUMNS " FROM chats WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_MANY,
       "SELECT " READ_COLUMNS " FROM chats WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_CURRENT,
       "SELECT " READ_COLUMNS " FROM chats WHERE tenant = $1 AND user_id = $2"
       " AND is_explicit = 0 AND created_at <= $3"
       " ORDER BY created_at DESC, id DESC LIMIT 1");
DB_SQL(SELECT_TREE,
       "SELECT " READ_COLUMNS " FROM chats WHERE tenant = $1"
       " AND conversation_id = $2 ORDER BY depth, created_at, id LIMIT 10000");
/* The filters are always there and switched off by a NULL; `LIKE` runs on at
 * most the user's own chats. */
#define LIST_OF(user, at)                                                      \
    "SELECT " READ_COLUMNS " FROM chats WHERE tenant = $1"                     \
    " AND (" at " < $2 OR (" at " = $2 AND id < $3))"                          \
    " AND (LOWER(COALESCE(title, '')) LIKE $4 ESCAPE '\\'"                     \
    "  OR LOWER(COALESCE(summary, '')) LIKE $4 ESCAPE '\\')"                   \
    " AND last_activity_at >= $6 AND last_activity_at < $7" user               \
    " ORDER BY " at " DESC, id DESC LIMIT $5"
#define OF_USER " AND user_id = $8"
DB_SQL(SELECT_LIST_USER, LIST_OF(OF_USER, "last_activity_at"));
DB_SQL(SELECT_LIST_ALL, LIST_OF("", "last_activity_at"));
DB_SQL(SELECT_MADE_USER, LIST_OF(OF_USER, "created_at"));
DB_SQL(SELECT_MADE_ALL, LIST_OF("", "created_at"));
DB_SQL(SELECT_LONG_USER, LIST_OF(OF_USER, "(last_seq - fork_seq)"));
DB_SQL(SELECT_LONG_ALL, LIST_OF("", "(last_seq - fork_seq)"));
/* UNION, not UNION ALL: it ends, whatever hangs on what. */
DB_SQL(SELECT_LINE,
       "WITH RECURSIVE line (id, parent_id, fork_seq, to_seq, depth) AS ("
       "SELECT id, parent_id, fork_seq, last_seq, depth FROM chats"
       " WHERE tenant = $1 AND id = $2"
       " UNION SELECT c.id, c.parent_id, c.fork_seq, line.fork_seq, c.depth"
       " FROM line JOIN chats c ON c.tenant = $1 AND c.id = line.parent_id)"
       " SELECT id, fork_seq, to_seq FROM line ORDER BY depth");
DB_SQL(INSERT,
       "INSERT INTO chats (tenant, " COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6,"
       " $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)");
DB_SQL(UPDATE,
       "UPDATE chats SET title = $3, is_titled_by_user = $4, summary = $5,"
       " channels = $6, inactivity_minutes = $7, last_activity_at = $8,"
       " closed_at = $9, last_seq = $10, created_at = $11,"
       " primary_episode_id = $12, cross_episodes = $13"
       " WHERE tenant = $1 AND id = $2");

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chat *out = item;

    out->id = db_get_uuid(rows, 0);
    out->conversation_id = db_get_uuid(rows, 2);
    out->parent_id = db_get_uuid(rows, 3);
    out->fork_seq = db_get_int(rows, 4);
    out->depth = db_get_int(rows, 5);
    out->is_titled_by_user = db_get_int(rows, 8) != 0;
    out->is_explicit = db_get_int(rows, 10) != 0;
    out->inactivity_minutes = db_get_int(rows, 12);
    out->created_at_ms = db_get_int(rows, 13);
    out->last_activity_at_ms = db_get_int(rows, 14);
    out->closed_at_ms = db_get_int(rows, 15);
    out->last_seq = db_get_int(rows, 16);
    out->primary_episode_id = db_get_uuid(rows, 17);
    out->user_minutes = db_get_int(rows, 19);
    return rows_text(arena, rows, 1, &out->user_id) &&
           rows_text(arena, rows, 6, &out->branch) &&
           rows_text(arena, rows, 7, &out->title) &&
           rows_text(arena, rows, 9, &out->summary) &&
           rows_text(arena, rows, 11, &out->channels) &&
           rows_text(arena, rows, 18, &out->cross_episodes);
}

/* All rows of a query. */
static enum clew_status select_chats(struct store_tx *tx, struct arena *arena,
                                     const struct db_sql *sql,
                                     const struct db_value *args, size_t n_args,
                                     struct chat **out_chats, size_t *out_count,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chat), .fn = row_of};

    return rows_all(tx, &list, sql, args, n_args, out_chats, out_count, err);
}

bool chat_is_subtask(const struct chat *chat)
{
    return str_starts(chat->branch, STR("subtask_"));
}

enum clew_status chat_find(struct store_tx *tx, struct arena *arena,
                           const struct uuid *id, struct chat *out_chat,
                           struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), row_of,
                    out_chat, sizeof(*out_chat), "chat", err);
}

enum clew_status chat_find_many(struct store_tx *tx, struct arena *arena,
                                const struct uuid *ids, size_t count,
                                struct chat **out_chats, size_t *out_count,
                                struct clew_error *err)
{
    return select_chats(tx, arena, &SELECT_MANY, DB_ARGS(db_uuids(ids, count)),
                        out_chats, out_count, err);
}

enum clew_status chat_insert(struct store_tx *tx, const struct chat *chat,
                             struct clew_error *err)
{
    return db_exec(
        tx, &INSERT,
        DB_ARGS(
            db_uuid(&chat->id), db_text(chat->user_id),
            db_uuid(&chat->conversation_id), db_uuid(&chat->parent_id),
            db_int(chat->fork_seq), db_int(chat->depth), db_text(chat->branch),
            db_text(chat->title), db_int(chat->is_titled_by_user),
            db_text(chat->summary), db_int(chat->is_explicit),
            db_text(chat->channels), rows_int_or_null(chat->inactivity_minutes),
            db_int(chat->created_at_ms), db_int(chat->last_activity_at_ms),
            rows_int_or_null(chat->closed_at_ms), db_int(chat->last_seq),
            db_uuid(&chat->primary_episode_id), db_text(chat->cross_episodes)),
        err);
}

enum clew_status chat_update(struct store_tx *tx, const struct chat *chat,
                             struct clew_error *err)
{
    return db_exec(tx, &UPDATE,
                   DB_ARGS(db_uuid(&chat->id), db_text(chat->title),
                           db_int(chat->is_titled_by_user),
                           db_text(chat->summary), db_text(chat->channels),
                           rows_int_or_null(chat->inactivity_minutes),
                           db_int(chat->last_activity_at_ms),
                           rows_int_or_null(chat->closed_at_ms),
                           db_int(chat->last_seq), db_int(chat->created_at_ms),
                           db_uuid(&chat->primary_episode_id),
                           db_text(chat->cross_episodes)),
                   err);
}

enum clew_status chat_find_current(struct store_tx *tx, struct arena *arena,
                                   struct str user_id, int64_t time_ms,
                                   struct chat *out_chat,
                                   struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_CURRENT,
                    DB_ARGS(db_text(user_id), db_int(time_ms)), row_of,
                    out_chat, sizeof(*out_chat), "chat", err);
}

enum clew_status chat_ahead_current(struct store_tx *tx, struct str user_id,
                                    int64_t time_ms, struct clew_error *err)
{
    return db_ahead(tx, &SELECT_CURRENT,
                    DB_ARGS(db_text(user_id), db_int(time_ms)), err);
}

static bool part_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chat_part *out = item;

    (void)arena;
    out->chat_id = db_get_uuid(rows, 0);
    out->after_seq = db_get_int(rows, 1);
    out->to_seq = db_get_int(rows, 2);
    return true;
}

enum clew_status chat_line(struct store_tx *tx, struct arena *arena,
                           const struct uuid *id, struct chat_part **out_parts,
                           size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chat_part), .fn = part_of};
    enum clew_status status =
        rows_add(tx, &list, &SELECT_LINE, DB_ARGS(db_uuid(id)), err);

    if (status == CLEW_OK && list.count == 0) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such chat");
    }
    if (status == CLEW_OK) {
        *out_parts = list.items;
        *out_count = list.count;
    }
    return status;
}

enum clew_status chat_insert_linked(struct store_tx *tx,
                                    const struct chat_birth *birth,
                                    struct str user_id, struct chat *out_chat,
                                    struct clew_error *err)
{
    struct chat chat = {.id = birth->id,
                        .conversation_id = birth->id,
                        .user_id = user_id,
                        .branch = STR("main"),
                        .channels = STR(""),
                        .is_explicit = true,
                        .created_at_ms = birth->at_ms,
                        .last_activity_at_ms = birth->at_ms};
    struct action_new action = {.kind = ACTION_CHAT_LINK,
                                .made = &chat.id,
                                .detail = json_object(),
                                .at_ms = birth->at_ms};
    enum clew_status status;

    if (!json_set_str(action.detail, "user_id", user_id)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    status = action_add(tx, &action, err);
    if (status == CLEW_OK) {
        status = chat_insert(tx, &chat, err);
    }
    if (status == CLEW_OK) {
        *out_chat = chat;
    }
    return status;
}

/* --- whole operations ------------------------------------------------------
 */

/* What the transaction functions below are given. */
struct work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    const struct chat_new *input;
    const struct chat_filter *filter;
    const struct chat_change *change;
    int64_t now_ms;
    struct chat chat;
    struct chat *chats;
    size_t count;
};

static enum clew_status note_create(struct store_tx *tx,
                                    const struct work *work,
                                    struct clew_error *err)
{
    const struct chat_new *input = work->input;
    struct action_new action = {.kind = ACTION_CHAT_CREATE,
                                .made = &work->chat.id,
                                .detail = json_object(),
                                .at_ms = work->now_ms};

    if (!json_set_str(action.detail, "user_id", input->user_id) ||
        !json_set_str(action.detail, "channel", input->channel) ||
        !json_set_str(action.detail, "title", input->title) ||
        !json_set_int(action.detail, "minutes", input->inactivity_minutes)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

static enum clew_status do_create(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct work *work = arg;
    struct chat *chat = &work->chat;
    const struct chat_new *input = work->input;
    struct timeout_user user;
    enum clew_status status;

    memset(chat, 0, sizeof(*chat));
    chat->id = action_new_id(work->engine, work->now_ms);
    chat->conversation_id = chat->id;
    chat->user_id = input->user_id;
    chat->branch = STR("main");
    chat->title = input->title;
    chat->is_titled_by_user = input->title.s != NULL;
    chat->channels = input->channel.s ? input->channel : STR("");
    chat->is_explicit =
        !input->channel.s || channel_is_explicit(work->engine, input->channel);
    chat->inactivity_minutes = input->inactivity_minutes;
    chat->created_at_ms = work->now_ms;
    chat->last_activity_at_ms = work->now_ms;
    status = forgotten_refuse(tx, work->arena, chat->user_id, input->sent_at_ms,
                              err);
    if (status == CLEW_OK) {
        status = timeout_user_find(tx, chat->user_id, &user, err);
    }
    if (status == CLEW_OK) {
        chat->user_minutes = user.minutes;
        status = chat_insert(tx, chat, err);
    }
    return status == CLEW_OK ? note_create(tx, work, err) : status;
}

enum clew_status chat_create(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct chat_new *input,
                             struct chat *out_chat, struct clew_error *err)
{
    struct chat_new masked = *input;
    struct work work = {.engine = engine,
                        .arena = arena,
                        .input = &masked,
                        .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status = redact_text(engine, arena, &masked.title, err);

    if (status == CLEW_OK) {
        status = redact_text(engine, arena, &masked.channel, err);
    }
    if (status == CLEW_OK) {
        status = store_write(engine->store, scope, do_create, &work, err);
    }
    if (status == CLEW_OK) {
        *out_chat = work.chat;
    }
    return status;
}

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;

    return chat_find(tx, work->arena, work->id, &work->chat, err);
}

enum clew_status chat_get(struct engine *engine, const struct scope *scope,
                          struct arena *arena, const struct uuid *id,
                          struct chat *out_chat, struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .id = id};
    enum clew_status status =
        store_read(engine->store, scope, do_get, &work, err);

    if (status == CLEW_OK) {
        *out_chat = work.chat;
    }
    return status;
}

/* "%words%" with the wildcards of LIKE escaped, ASCII lower case. */
static const char *like_pattern(struct arena *arena, struct str query)
{
    char *pattern = arena_alloc(arena, query.len * 2 + 3);
    size_t n = 0;

    if (!pattern) {
        return NULL;
    }
    pattern[n++] = '%';
    for (size_t i = 0; i < query.len; i++) {
        char c = query.s[i];

        if (c == '%' || c == '_' || c == '\\') {
            pattern[n++] = '\\';
        }
        pattern[n++] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    pattern[n++] = '%';
    pattern[n] = '\0';
    return query.len ? pattern : "%";
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    static const struct db_sql *const statements[][2] = {
        [CHAT_BY_ACTIVITY] = {&SELECT_LIST_ALL, &SELECT_LIST_USER},
        [CHAT_BY_START] = {&SELECT_MADE_ALL, &SELECT_MADE_USER},
        [CHAT_BY_TURNS] = {&SELECT_LONG_ALL, &SELECT_LONG_USER},
    };
    struct work *work = arg;
    const struct chat_filter *filter = work->filter;
    const char *pattern = like_pattern(work->arena, filter->query);
    bool is_first = uuid_is_nil(&filter->after_id);
    bool has_user = filter->user_id.s != NULL;
    struct db_value args[7];

    if (!pattern) {
        return clew_no_memory(err);
    }
    args[0] = db_int(is_first ? INT64_MAX : filter->after_number);
    args[1] = db_bytes(filter->after_id.b, 16);
    args[1].type = DB_UUID; /* the nil id is a value here, not NULL */
    args[2] = db_cstr(pattern);
    args[3] = db_int(filter->limit);
    args[4] = db_int(filter->since_ms);
    args[5] = db_int(filter->until_ms ? filter->until_ms : INT64_MAX);
    args[6] = db_text(filter->user_id);
    return select_chats(tx, work->arena, statements[filter->sort][has_user],
                        args, has_user ? 7 : 6, &work->chats, &work->count,
                        err);
}

/* Run a reading function that yields a list of chats. */
static enum clew_status read_list(struct engine *engine,
                                  const struct scope *scope, store_fn fn,
                                  struct work *work, struct chat **out_chats,
                                  size_t *out_count, struct clew_error *err)
{
    enum clew_status status = store_read(engine->store, scope, fn, work, err);

    if (status == CLEW_OK) {
        *out_chats = work->chats;
        *out_count = work->count;
    }
    return status;
}

int64_t chat_sort_number(const struct chat *chat, enum chat_sort sort)
{
    switch (sort) {
    case CHAT_BY_START:
        return chat->created_at_ms;
    case CHAT_BY_TURNS:
        return chat->last_seq - chat->fork_seq;
    case CHAT_BY_ACTIVITY:
        break;
    }
    return chat->last_activity_at_ms;
}

enum clew_status chat_list(struct engine *engine, const struct scope *scope,
                           struct arena *arena,
                           const struct chat_filter *filter,
                           struct chat **out_chats, size_t *out_count,
                           struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .filter = filter};

    return read_list(engine, scope, do_list, &work, out_chats, out_count, err);
}

static enum clew_status do_tree(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status =
        chat_find(tx, work->arena, work->id, &work->chat, err);

    if (status != CLEW_OK) {
        return status;
    }
    return select_chats(tx, work->arena, &SELECT_TREE,
                        DB_ARGS(db_uuid(&work->chat.conversation_id)),
                        &work->chats, &work->count, err);
}

enum clew_status chat_tree(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *id,
                           struct chat **out_chats, size_t *out_count,
                           struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .id = id};

    return read_list(engine, scope, do_tree, &work, out_chats, out_count, err);
}

static enum clew_status note_patch(struct store_tx *tx, const struct work *work,
                                   struct clew_error *err)
{
    const struct chat_change *change = work->change;
    struct action_new action = {.kind = ACTION_CHAT_PATCH,
                                .subject = work->id,
                                .detail = json_object(),
                                .at_ms = work->now_ms};

    if (!action.detail ||
        (change->title &&
         !json_set_str(action.detail, "title", *change->title)) ||
        (change->inactivity_minutes &&
         !json_set_int(action.detail, "minutes",
                       *change->inactivity_minutes))) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

static enum clew_status do_patch(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    const struct chat_change *change = work->change;
    enum clew_status status =
        chat_find(tx, work->arena, work->id, &work->chat, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (change->title) {
        work->chat.title = *change->title;
        work->chat.is_titled_by_user = true;
    }
    if (change->inactivity_minutes) {
        work->chat.inactivity_minutes = *change->inactivity_minutes;
    }
    status = chat_update(tx, &work->chat, err);
    return status == CLEW_OK ? note_patch(tx, work, err) : status;
}

enum clew_status chat_patch(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const struct uuid *id,
                            const struct chat_change *change,
                            struct chat *out_chat, struct clew_error *err)
{
    struct chat_change masked = *change;
    struct str title = change->title ? *change->title : (struct str){NULL, 0};
    struct work work = {.engine = engine,
                        .arena = arena,
                        .id = id,
                        .change = &masked,
                        .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status = redact_text(engine, arena, &title, err);

    masked.title = change->title ? &title : NULL;
    if (status == CLEW_OK) {
        status = store_write(engine->store, scope, do_patch, &work, err);
    }
    if (status == CLEW_OK) {
        *out_chat = work.chat;
    }
    return status;
}
