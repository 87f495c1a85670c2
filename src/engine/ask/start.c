/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - find what is related and keep the offer. See start.h.
 */
#include "engine/ask/start.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "engine/ask/search.h"
#include "engine/ask/start_internal.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/effort/effort_fork.h"
#include "store/db.h"

#include <assert.h>
#include <string.h>

#define FIND_LIMIT 12
/* Beside recall's floor: without a common word the meaning must be this near;
 * an intent is no question, and what is read with it says less. */
#define MEANING_FLOOR 0.5
/* What falls this far behind the best is not related. */
#define BEHIND 0.3

DB_SQL(INSERT, "INSERT INTO starts (tenant, id, user_id, offer, created_at)"
               " VALUES ($1, $2, $3, $4, $5)");
DB_SQL(SELECT_COUNTS,
       "SELECT type, status, COUNT(*) FROM memories WHERE tenant = $1 AND"
       " chat_id = $2 AND retracted_at IS NULL AND parent_id IS NULL"
       " GROUP BY type, status ORDER BY CASE type WHEN 'fact' THEN 0 WHEN"
       " 'decision' THEN 1 WHEN 'event' THEN 2 WHEN 'effort' THEN 4 ELSE 3"
       " END, type, status DESC LIMIT $3");
/* What a chat came to, if it has no summary yet. */
DB_SQL(SELECT_GIST,
       "SELECT summary, CASE WHEN status <> 'open' THEN resolution END"
       " FROM memories WHERE tenant = $1 AND chat_id = $2 AND"
       " retracted_at IS NULL AND parent_id IS NULL AND"
       " is_instruction = 0 ORDER BY CASE WHEN type = 'decision' THEN 0 WHEN"
       " type = 'effort' AND status = 'resolved' THEN 1 WHEN type = 'effort'"
       " THEN 2 ELSE 3 END, created_at DESC, id DESC LIMIT 2");

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *chat_ids;
    size_t n_chat_ids;
    const struct uuid *memory_ids;
    size_t n_memory_ids;
    struct str user_id;
    struct str offer;
    const struct uuid *id;
    int64_t now_ms;
    struct start *start;
};

/* --- reading what was found ------------------------------------------------
 */

static bool count_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct start_count *out = item;

    out->count = db_get_int(rows, 2);
    return rows_text(arena, rows, 0, &out->type) &&
           rows_text(arena, rows, 1, &out->status);
}

struct told {
    struct str summary;
    struct str resolution;
};

static bool told_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct told *out = item;

    return rows_text(arena, rows, 0, &out->summary) &&
           rows_text(arena, rows, 1, &out->resolution);
}

static enum clew_status read_counts(struct store_tx *tx, struct arena *arena,
                                    struct start_chat *chat,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct start_count), .fn = count_of};
    enum clew_status status = rows_add(
        tx, &list, &SELECT_COUNTS,
        DB_ARGS(db_uuid(&chat->chat.id), db_int(START_MAX_COUNTS)), err);

    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        const struct start_count *count =
            (const struct start_count *)list.items + i;

        assert(chat->n_counts < START_MAX_COUNTS); /* the query's limit */
        chat->counts[chat->n_counts++] = *count;
        chat->n_memories += count->count;
        chat->has_open_effort =
            chat->has_open_effort || (str_eq(count->type, STR("effort")) &&
                                      str_eq(count->status, STR("open")));
    }
    return status;
}

/* One more of a type and status. */
static void add_count(struct start_chat *chat, struct str status)
{
    size_t i = 0;

    while (i < chat->n_counts &&
           !(str_eq(chat->counts[i].type, STR("effort")) &&
             str_eq(chat->counts[i].status, status))) {
        i++;
    }
    if (i == START_MAX_COUNTS) {
        return;
    }
    if (i == chat->n_counts) {
        chat->counts[chat->n_counts++] =
            (struct start_count){.type = STR("effort"), .status = status};
    }
    chat->counts[i].count++;
    chat->n_memories++;
    chat->has_open_effort =
        chat->has_open_effort || str_eq(status, STR("open"));
}

/* A fork has the efforts of its line, as they were where it left. */
static enum clew_status count_shared(struct store_tx *tx, struct arena *arena,
                                     struct start_chat *chat,
                                     struct clew_error *err)
{
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status =
        uuid_is_nil(&chat->chat.parent_id)
            ? CLEW_OK
            : effort_list_line(tx, arena, &chat->chat, chat->chat.last_seq,
                               true, &efforts, &count, err);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (efforts[i].is_shared) {
            add_count(chat, efforts[i].status);
        }
    }
    return status;
}

static enum clew_status read_gist(struct store_tx *tx, struct arena *arena,
                                  struct start_chat *chat,
                                  struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct told), .fn = told_of};
    enum clew_status status;

    chat->summary = chat->chat.summary;
    if (chat->summary.len > 0) {
        return CLEW_OK;
    }
    status = rows_add(tx, &list, &SELECT_GIST, DB_ARGS(db_uuid(&chat->chat.id)),
                      err);
    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        const struct told *told = (const struct told *)list.items + i;

        chat->summary = str_of(arena_printf(
            arena, "%.*s%s%.*s%s%.*s", (int)chat->summary.len,
            chat->summary.s ? chat->summary.s : "", i ? "; " : "",
            (int)told->summary.len, told->summary.s,
            told->resolution.len ? ": " : "", (int)told->resolution.len,
            told->resolution.s ? told->resolution.s : ""));
        if (!chat->summary.s) {
            return clew_no_memory(err);
        }
    }
    return status;
}

static enum clew_status read_chats(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *ids, size_t count,
                                   struct start *out, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct start_chat *chat = &out->chats[out->n_chats];

        status = chat_find(tx, arena, &ids[i], &chat->chat, NULL);
        if (status == CLEW_NOT_FOUND) {
            status = CLEW_OK; /* forgotten meanwhile */
            continue;
        }
        if (status != CLEW_OK) {
            return clew_fail(err, status, "could not read the chat");
        }
        status = read_counts(tx, arena, chat, err);
        if (status == CLEW_OK) {
            status = count_shared(tx, arena, chat, err);
        }
        if (status == CLEW_OK) {
            status = read_gist(tx, arena, chat, err);
        }
        out->n_chats++;
    }
    return status;
}

/* What is offered is read, not kept: of a long text its beginning, and how long
 * it is. False without memory. */
static bool shorten(struct arena *arena, struct str *text)
{
    size_t len = json_out_cut(*text, LIMIT_ANSWER_TEXT_BYTES);

    if (len < text->len) {
        *text = str_of(arena_printf(arena, "%.*s… (%zu bytes)", (int)len,
                                    text->s, text->len));
    }
    return text->len == 0 || text->s;
}

/* Names by commas: the first of them. */
static void shorten_names(struct str *names)
{
    size_t len = json_out_cut(*names, LIMIT_ANSWER_TEXT_BYTES);

    while (len < names->len && len > 0 && names->s[len] != ',') {
        len--;
    }
    names->len = len;
}

static enum clew_status shorten_all(struct arena *arena, struct start *start,
                                    struct clew_error *err)
{
    bool is_ok = true;

    for (size_t i = 0; i < start->n_chats; i++) {
        struct start_chat *chat = &start->chats[i];

        shorten_names(&chat->chat.channels);
        shorten_names(&chat->chat.cross_episodes);
        is_ok = is_ok && shorten(arena, &chat->chat.title) &&
                shorten(arena, &chat->chat.summary) &&
                shorten(arena, &chat->summary);
    }
    for (size_t i = 0; i < start->n_memories; i++) {
        is_ok = is_ok && shorten(arena, &start->memories[i].summary) &&
                shorten(arena, &start->memories[i].resolution);
    }
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

/* How many of the memories offered a chat made. */
static size_t share_of(const struct start *start, const struct start_chat *chat)
{
    size_t n = 0;

    for (size_t i = 0; i < start->n_memories; i++) {
        n += uuid_eq(&start->memories[i].chat_id, &chat->chat.id);
    }
    return n;
}

/* The chat that more of the memories come from stands first; few, so simply. */
static void sort_chats(struct start *start)
{
    for (size_t i = 1; i < start->n_chats; i++) {
        for (size_t k = i; k > 0 && share_of(start, &start->chats[k]) >
                                        share_of(start, &start->chats[k - 1]);
             k--) {
            struct start_chat chat = start->chats[k];

            start->chats[k] = start->chats[k - 1];
            start->chats[k - 1] = chat;
        }
    }
}

enum clew_status start_read(struct store_tx *tx, struct arena *arena,
                            const struct uuid *chat_ids, size_t n_chat_ids,
                            const struct uuid *memory_ids, size_t n_memory_ids,
                            struct start *out, struct clew_error *err)
{
    struct memory *memories = NULL;
    size_t count = 0;
    enum clew_status status =
        read_chats(tx, arena, chat_ids, n_chat_ids, out, err);

    if (status == CLEW_OK && n_memory_ids > 0) {
        status = memory_find_many(tx, arena, memory_ids, n_memory_ids,
                                  &memories, &count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n_memory_ids; i++) {
        for (size_t k = 0; k < count; k++) {
            if (uuid_eq(&memories[k].id, &memory_ids[i])) {
                out->memories[out->n_memories++] = memories[k];
            }
        }
    }
    if (status == CLEW_OK) {
        sort_chats(out);
        status = shorten_all(arena, out, err);
    }
    return status;
}

/* --- finding ---------------------------------------------------------------
 */

static void add_id(struct uuid *ids, size_t *count, size_t max,
                   const struct uuid *id)
{
    for (size_t i = 0; i < *count; i++) {
        if (uuid_eq(&ids[i], id)) {
            return;
        }
    }
    if (*count < max && !uuid_is_nil(id)) {
        ids[(*count)++] = *id;
    }
}

static enum clew_status search(struct engine *engine, const struct scope *scope,
                               struct arena *arena, struct str user_id,
                               struct str intent, uint32_t kind,
                               struct search_result *out,
                               struct clew_error *err)
{
    struct search_query query = {.query = intent,
                                 .user_id = user_id,
                                 .kinds = kind,
                                 .limit = FIND_LIMIT,
                                 .is_floored = true,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = clock_now_ms(engine->clock),
                                 .ahead_ms = SEARCH_AHEAD_MS};

    return search_run(engine, scope, arena, &query, out, err);
}

static bool is_related(const struct search_result *found, size_t i)
{
    const struct recall_item *item = &found->hits[i].item;
    bool has_word = item->parts.lexical + item->parts.neighbour > 0;

    return (has_word || item->score >= MEANING_FLOOR) && item->score > 0 &&
           item->score >= BEHIND * found->hits[0].item.score;
}

/* Is anything there above recall's floor, of which chats may be offered? */
static enum clew_status is_known(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 struct str user_id, struct str intent,
                                 bool *out_known, struct clew_error *err)
{
    struct search_result turns = {0};
    enum clew_status status = CLEW_OK;

    if (!*out_known) {
        status = search(engine, scope, arena, user_id, intent, RECALL_TURN,
                        &turns, err);
        *out_known = turns.count > 0;
    }
    return status;
}

/* Chats by their turns, and the chats the memories come from. */
static enum clew_status find(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct str user_id,
                             struct str intent, struct uuid *chat_ids,
                             size_t *n_chat_ids, struct uuid *memory_ids,
                             size_t *n_memory_ids, struct clew_error *err)
{
    struct search_result memories = {0};
    struct search_result chats = {0};
    enum clew_status status = search(engine, scope, arena, user_id, intent,
                                     RECALL_MEMORY, &memories, err);
    bool known = memories.count > 0;

    if (status == CLEW_OK) {
        status = is_known(engine, scope, arena, user_id, intent, &known, err);
    }
    if (status == CLEW_OK && known) {
        status = search(engine, scope, arena, user_id, intent, RECALL_CHAT,
                        &chats, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < chats.count; i++) {
        if (is_related(&chats, i)) {
            add_id(chat_ids, n_chat_ids, START_MAX_CHATS,
                   &chats.hits[i].item.id);
        }
    }
    for (size_t i = 0; status == CLEW_OK && i < memories.count; i++) {
        const struct search_hit *hit = &memories.hits[i];

        if (!hit->is_superseded && hit->memory &&
            uuid_is_nil(&hit->memory->parent_id) &&
            !hit->memory->is_instruction && is_related(&memories, i)) {
            add_id(memory_ids, n_memory_ids, START_MAX_MEMORIES,
                   &hit->memory->id);
            add_id(chat_ids, n_chat_ids, START_MAX_CHATS,
                   &hit->memory->chat_id);
        }
    }
    return status;
}

/* --- the offer -------------------------------------------------------------
 */

static json_t *ids_form(const struct uuid *ids, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < count; i++) {
        char text[UUID_TEXT_SIZE];

        uuid_format(&ids[i], text);
        if (json_array_append_new(list, json_string(text)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static struct str offer_of(struct arena *arena, const struct work *work)
{
    json_t *offer = json_object();
    struct buf text;
    struct str out = {0};

    buf_init(&text, 1 << 16);
    if (json_set(offer, "chats", ids_form(work->chat_ids, work->n_chat_ids)) &&
        json_set(offer, "memories",
                 ids_form(work->memory_ids, work->n_memory_ids)) &&
        json_write(&text, offer) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    json_decref(offer);
    return out;
}

static enum clew_status do_begin(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status;

    work->start->n_chats = 0;
    work->start->n_memories = 0;
    memset(work->start->chats, 0, sizeof(work->start->chats));
    status = start_read(tx, work->arena, work->chat_ids, work->n_chat_ids,
                        work->memory_ids, work->n_memory_ids, work->start, err);
    if (status != CLEW_OK) {
        return status;
    }
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_uuid(work->id), db_text(work->user_id),
                           db_text(work->offer), db_int(work->now_ms)),
                   err);
}

enum clew_status start_begin(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct str user_id,
                             struct str intent, struct start *out,
                             struct clew_error *err)
{
    struct uuid chat_ids[START_MAX_CHATS];
    struct uuid memory_ids[START_MAX_MEMORIES];
    struct work work = {.engine = engine,
                        .arena = arena,
                        .chat_ids = chat_ids,
                        .memory_ids = memory_ids,
                        .user_id = user_id,
                        .now_ms = clock_now_ms(engine->clock),
                        .start = out};
    enum clew_status status =
        find(engine, scope, arena, user_id, intent, chat_ids, &work.n_chat_ids,
             memory_ids, &work.n_memory_ids, err);

    memset(out, 0, sizeof(*out));
    out->id = uuid_new(work.now_ms);
    work.id = &out->id;
    if (status != CLEW_OK) {
        return status;
    }
    work.offer = offer_of(arena, &work);
    if (!work.offer.s) {
        return clew_no_memory(err);
    }
    status = store_write(engine->store, scope, do_begin, &work, err);
    if (status == CLEW_OK && !start_write(arena, out, work.now_ms)) {
        status = clew_no_memory(err);
    }
    return status;
}
