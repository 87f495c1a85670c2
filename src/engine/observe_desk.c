/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe_desk.c - the turns before and the efforts in view. See
 * observe_desk.h.
 */
#include "engine/observe_desk.h"

#include "base/utf8.h"
#include "engine/chat.h"
#include "engine/effort_fork.h"
#include "engine/rows.h"
#include "store/db.h"

#include <stdlib.h>
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

struct observe_desk {
    struct desk_chat *chats; /* the one used last first */
};

/* --- turns before ----------------------------------------------------------
 */

static enum extract_role role_of(struct str role)
{
    if (str_eq(role, STR("user"))) {
        return EXTRACT_USER;
    }
    return str_eq(role, STR("assistant")) ? EXTRACT_ASSISTANT : EXTRACT_OTHER;
}

static bool turn_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct desk_turn *out = item;

    out->seq = db_get_int(rows, 0);
    out->role = role_of(db_get_text(rows, 1));
    out->time_ms = db_get_int(rows, 4);
    out->has_corrections = db_get_int(rows, 6) != 0;
    return rows_text(arena, rows, 2, &out->speaker) &&
           rows_text(arena, rows, 3, &out->text) &&
           rows_text(arena, rows, 5, &out->timezone);
}

static bool is_talk(const struct desk_turn *turn)
{
    return turn->role != EXTRACT_OTHER && turn->text.len > 0;
}

/* Turns of one chat; only the talk among them if they are a fork's. */
static enum clew_status read_turns(struct turn_work *work,
                                   struct desk_chat *chat,
                                   const struct uuid *chat_id,
                                   int64_t before_seq, struct clew_error *err)
{
    struct rows_list list = {.arena = work->batch->arena,
                             .size = sizeof(struct desk_turn),
                             .fn = turn_of};
    int64_t want = (int64_t)(OBSERVE_PREVIOUS - chat->n_turns);
    enum clew_status status =
        rows_add(work->batch->tx, &list, &SELECT_BEFORE,
                 DB_ARGS(db_uuid(chat_id), db_int(before_seq), db_int(want),
                         db_int(HEAD_CHARS)),
                 err);

    for (size_t i = 0; status == CLEW_OK && i < list.count; i++) {
        struct desk_turn *turn = (struct desk_turn *)list.items + i;

        chat->may_be_corrected = turn->has_corrections;
        chat->has_asked = true;
        status = reading_said(work->batch->arena, turn->text, &turn->text, err);
        if (status == CLEW_OK && (!chat->is_fork || is_talk(turn))) {
            chat->turns[chat->n_turns++] = *turn;
        }
    }
    return status;
}

/* Are there corrections at all? A new chat's first batch would else look for
 * one with every turn. */
static enum clew_status ask_corrected(struct turn_work *work,
                                      struct desk_chat *desk,
                                      struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(work->batch->tx, &SELECT_CORRECTED, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    desk->may_be_corrected = db_next(&rows) && db_get_int(&rows, 0) > 0;
    return db_end(&rows, err);
}

/* A fork's first turns answer turns of its parents. */
static enum clew_status load_turns(struct turn_work *work,
                                   struct desk_chat *desk,
                                   struct clew_error *err)
{
    const struct chat *chat = &work->placement->slot->chat;
    struct chat_part *parts = NULL;
    size_t n_parts = 0;
    enum clew_status status;

    desk->n_turns = 0;
    desk->is_fork = !uuid_is_nil(&chat->parent_id);
    desk->has_turns = !desk->is_fork;
    status = read_turns(work, desk, &chat->id, work->turn->seq, err);
    if (status == CLEW_OK && !desk->has_asked) {
        status = ask_corrected(work, desk, err);
    }
    if (status != CLEW_OK || !desk->is_fork ||
        desk->n_turns == OBSERVE_PREVIOUS) {
        return status;
    }
    status = chat_line(work->batch->tx, work->batch->arena, &chat->parent_id,
                       &parts, &n_parts, err);
    for (size_t i = n_parts;
         status == CLEW_OK && i-- > 0 && desk->n_turns < OBSERVE_PREVIOUS;) {
        int64_t to =
            parts[i].to_seq < chat->fork_seq ? parts[i].to_seq : chat->fork_seq;

        status = read_turns(work, desk, &parts[i].chat_id, to + 1, err);
    }
    return status;
}

/* The chat's place on the desk, to the front; NULL on OOM. */
static struct desk_chat *find_chat(struct batch_work *batch,
                                   const struct uuid *chat_id)
{
    struct desk_chat **at;
    struct desk_chat *chat;

    if (!batch->observe) {
        batch->observe = arena_zero(batch->arena, 1, sizeof(*batch->observe));
        if (!batch->observe) {
            return NULL;
        }
    }
    at = &batch->observe->chats;
    while (*at && !uuid_eq(&(*at)->chat_id, chat_id)) {
        at = &(*at)->next;
    }
    chat = *at;
    if (chat) {
        *at = chat->next;
    } else {
        chat = arena_zero(batch->arena, 1, sizeof(*chat));
        if (!chat) {
            return NULL;
        }
        chat->chat_id = *chat_id;
    }
    chat->next = batch->observe->chats;
    batch->observe->chats = chat;
    return chat;
}

enum clew_status desk_ahead(struct turn_work *work, struct clew_error *err)
{
    struct desk_chat *chat = find_chat(work->batch, &work->turn->chat_id);
    enum clew_status status = CLEW_OK;

    if (!chat) {
        return clew_no_memory(err);
    }
    if (!chat->has_turns) { /* as read_turns() begins */
        status = db_ahead(work->batch->tx, &SELECT_BEFORE,
                          DB_ARGS(db_uuid(&work->turn->chat_id),
                                  db_int(work->turn->seq),
                                  db_int(OBSERVE_PREVIOUS), db_int(HEAD_CHARS)),
                          err);
    }
    return status == CLEW_OK && !chat->has_efforts
               ? effort_ahead(work->batch->tx, &work->turn->chat_id, err)
               : status;
}

enum clew_status desk_enter(struct turn_work *work, struct desk_chat **out_chat,
                            struct clew_error *err)
{
    struct desk_chat *chat = find_chat(work->batch, &work->turn->chat_id);

    if (!chat) {
        return clew_no_memory(err);
    }
    *out_chat = chat;
    return chat->has_turns ? CLEW_OK : load_turns(work, chat, err);
}

/* The head of a text as the store would cut it. */
static struct str head_of(struct str text)
{
    size_t end = 0;

    if (text.len <= HEAD_CHARS) {
        return text;
    }
    for (size_t n = 0; n < HEAD_CHARS && end < text.len; n++) {
        end++;
        while (end < text.len && ((unsigned char)text.s[end] & 0xC0) == 0x80) {
            end++;
        }
    }
    return str_sub(text, 0, end);
}

enum clew_status desk_leave(struct turn_work *work, struct clew_error *err)
{
    const struct turn *turn = work->turn;
    struct desk_chat *chat = find_chat(work->batch, &turn->chat_id);
    struct desk_turn now = {.seq = turn->seq,
                            .speaker = turn->name,
                            .role = role_of(str_of(turn_role_name(turn->role))),
                            .time_ms = turn->created_at_ms,
                            .timezone = turn->timezone};
    enum clew_status status;

    if (!chat) {
        return clew_no_memory(err);
    }
    if (!chat->has_turns) {
        return CLEW_OK; /* they are read when they are wanted */
    }
    status =
        reading_said(work->batch->arena, head_of(turn->text), &now.text, err);
    if (now.role != EXTRACT_OTHER && now.text.len == work->reading->said.len) {
        now.text = work->reading->said;
        now.intent = work->reading->intent;
        now.is_read = true;
    }
    if (chat->n_turns < OBSERVE_PREVIOUS) {
        chat->n_turns++;
    }
    memmove(chat->turns + 1, chat->turns,
            (chat->n_turns - 1) * sizeof(*chat->turns));
    chat->turns[0] = now;
    return status;
}

enum clew_status desk_intent(struct arena *arena, struct desk_turn *turn,
                             const struct intent_reading **out,
                             struct clew_error *err)
{
    if (!turn->is_read &&
        intent_read(arena, turn->text, &turn->intent) != CLEW_OK) {
        return clew_no_memory(err);
    }
    turn->is_read = true;
    *out = &turn->intent;
    return CLEW_OK;
}

/* --- efforts ---------------------------------------------------------------
 */

static int by_last_touch(const void *a, const void *b)
{
    const struct effort *x = a;
    const struct effort *y = b;

    if (x->last_seq != y->last_seq) {
        return x->last_seq < y->last_seq ? 1 : -1;
    }
    return -uuid_cmp(&x->memory_id, &y->memory_id);
}

enum clew_status desk_efforts(struct turn_work *work, struct desk_chat *chat,
                              struct clew_error *err)
{
    enum clew_status status;

    for (size_t i = 0; i < chat->n_efforts && chat->has_efforts; i++) {
        const struct effort *effort = &chat->efforts[i];

        /* out of view: another may come in for it */
        chat->has_efforts =
            effort->is_open || effort->state != EFFORT_COLLAPSED;
    }
    if (chat->has_efforts) {
        if (chat->n_efforts > 1) {
            qsort(chat->efforts, chat->n_efforts, sizeof(*chat->efforts),
                  by_last_touch);
        }
        return CLEW_OK;
    }
    status = effort_list_line(work->batch->tx, work->batch->arena,
                              &work->placement->slot->chat, work->turn->seq,
                              false, &chat->efforts, &chat->n_efforts, err);
    /* what a fork shares, others may change */
    chat->has_efforts = status == CLEW_OK && !chat->is_fork;
    return status;
}

enum clew_status desk_words(struct arena *arena, struct desk_chat *chat,
                            struct str text, struct effort_words *out,
                            struct clew_error *err)
{
    for (size_t i = 0; i < chat->n_words && i < OBSERVE_WORDS; i++) {
        if (chat->words[i].text.s == text.s &&
            chat->words[i].text.len == text.len) {
            *out = chat->words[i].words;
            return CLEW_OK;
        }
    }
    if (effort_words_of(arena, text, out) != CLEW_OK) {
        return clew_no_memory(err);
    }
    /* over the oldest */
    chat->words[chat->n_words++ % OBSERVE_WORDS] =
        (struct desk_words){text, *out};
    return CLEW_OK;
}

void desk_forget_efforts(struct desk_chat *chat)
{
    chat->has_efforts = false;
}
