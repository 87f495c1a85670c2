/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk_cache.c - the turns before. See talk_cache.h.
 */
#include "engine/understand/talk_cache.h"

#include "base/utf8.h"
#include "engine/chat/chat.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/redact.h"
#include "engine/core/rows.h"
#include "engine/read/reading.h"
#include "store/db.h"

#include <string.h>

/* Of a long turn only its head is read again when it is the context of a later
 * one: acts and answers stand there. */
#define HEAD_CHARS 8192

DB_SQL(SELECT_BEFORE,
       "SELECT seq, role, name, SUBSTR(text, 1, CAST($5 AS INTEGER)),"
       " created_at, timezone, EXISTS (SELECT 1 FROM corrections c"
       " WHERE c.tenant = $1)"
       " FROM turns WHERE tenant = $1 AND chat_id = $2 AND seq < $3"
       " ORDER BY seq DESC LIMIT $4");

/* What the rows above tell, for a chat without turns before. */
DB_SQL(SELECT_CORRECTED, "SELECT COUNT(*) FROM (SELECT 1 FROM corrections"
                         " WHERE tenant = $1 LIMIT 1) AS c");

/* --- turns before ----------------------------------------------------------
 */

static enum talk_role role_of(struct str role)
{
    if (str_eq(role, STR("user"))) {
        return TALK_USER;
    }
    return str_eq(role, STR("assistant")) ? TALK_ASSISTANT : TALK_OTHER;
}

static bool turn_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct talk_turn *out = item;

    out->seq = db_get_int(rows, 0);
    out->role = role_of(db_get_text(rows, 1));
    out->time_ms = db_get_int(rows, 4);
    out->has_corrections = db_get_int(rows, 6) != 0;
    return rows_text(arena, rows, 2, &out->speaker) &&
           rows_text(arena, rows, 3, &out->text) &&
           rows_text(arena, rows, 5, &out->timezone);
}

static bool is_talk(const struct talk_turn *turn)
{
    return turn->role != TALK_OTHER && turn->text.len > 0;
}

/* Turns of one chat; only the talk among them if they are a fork's. */
static enum clew_status read_turns(struct turn_work *work,
                                   struct talk_cache *cache,
                                   const struct uuid *chat_id,
                                   int64_t before_seq, struct clew_error *err)
{
    struct rows_list list = {.arena = work->batch->arena,
                             .size = sizeof(struct talk_turn),
                             .fn = turn_of};
    int64_t want = (int64_t)(TALK_PREVIOUS - cache->n_turns);
    enum clew_status status =
        rows_add(work->batch->tx, &list, &SELECT_BEFORE,
                 DB_ARGS(db_uuid(chat_id), db_int(before_seq), db_int(want),
                         db_int(HEAD_CHARS)),
                 err);

    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        struct talk_turn *turn = (struct talk_turn *)list.items + i;

        cache->may_be_corrected = turn->has_corrections;
        cache->has_asked = true;
        status = redact_text(work->batch->engine, work->batch->arena,
                             &turn->text, err);
        if (status == CLEW_OK) {
            status =
                reading_said(work->batch->arena, turn->text, &turn->text, err);
        }
        if (status == CLEW_OK && (!cache->is_fork || is_talk(turn))) {
            cache->turns[cache->n_turns++] = *turn;
        }
    }
    return status;
}

/* Are there corrections at all? A new chat's first batch would else look for
 * one with every turn. */
static enum clew_status ask_corrected(struct turn_work *work,
                                      struct talk_cache *cache,
                                      struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(work->batch->tx, &SELECT_CORRECTED, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    cache->may_be_corrected = db_next(&rows) && db_get_int(&rows, 0) > 0;
    return db_end(&rows, err);
}

/* A fork's first turns answer turns of its parents. */
static enum clew_status load_turns(struct turn_work *work,
                                   struct talk_cache *cache,
                                   struct clew_error *err)
{
    const struct chat *chat = &work->placement->slot->chat;
    struct chat_part *parts = NULL;
    size_t n_parts = 0;
    enum clew_status status;

    cache->n_turns = 0;
    cache->is_fork = !uuid_is_nil(&chat->parent_id);
    cache->has_turns = !cache->is_fork;
    status = read_turns(work, cache, &chat->id, work->turn->seq, err);
    if (status == CLEW_OK && !cache->has_asked) {
        status = ask_corrected(work, cache, err);
    }
    if (status != CLEW_OK || !cache->is_fork ||
        cache->n_turns == TALK_PREVIOUS) {
        return status;
    }
    status = chat_line(work->batch->tx, work->batch->arena, &chat->parent_id,
                       &parts, &n_parts, err);
    for (size_t i = n_parts;
         status == CLEW_OK && i-- > 0 && cache->n_turns < TALK_PREVIOUS;) {
        int64_t to =
            parts[i].to_seq < chat->fork_seq ? parts[i].to_seq : chat->fork_seq;

        status = read_turns(work, cache, &parts[i].chat_id, to + 1, err);
    }
    return status;
}

/* The chat's entry; NULL on OOM. */
static struct talk_cache *find_chat(struct batch_work *batch,
                                    const struct uuid *chat_id)
{
    return work_cache_get(batch->arena, &batch->talks, chat_id,
                          sizeof(struct talk_cache));
}

enum clew_status talk_cache_enter(struct turn_work *work,
                                  struct talk_cache **out_cache,
                                  struct clew_error *err)
{
    struct talk_cache *cache = find_chat(work->batch, &work->turn->chat_id);

    if (!cache) {
        return clew_no_memory(err);
    }
    *out_cache = cache;
    return cache->has_turns ? CLEW_OK : load_turns(work, cache, err);
}

enum clew_status talk_cache_intent(struct arena *arena, struct talk_turn *turn,
                                   const struct intent_reading **out,
                                   struct clew_error *err)
{
    if (!turn->is_read &&
        reading_intent(arena, turn->text, &turn->intent) != CLEW_OK) {
        return clew_no_memory(err);
    }
    turn->is_read = true;
    *out = &turn->intent;
    return CLEW_OK;
}
