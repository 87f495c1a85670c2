/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_choose.c - do what was chosen from an offer. See start.h.
 *
 * A choice is carried out once: what it made is noted beside the offer, and the
 * same choice again (a retry, a second click) leads to the same chat. Another
 * choice from the same offer makes its own.
 */
#include "engine/ask/start.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "engine/ask/start_internal.h"
#include "engine/chat/chat.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SELECT,
       "SELECT user_id, offer FROM starts WHERE tenant = $1 AND id = $2");
DB_SQL(UPDATE, "UPDATE starts SET offer = $3 WHERE tenant = $1 AND id = $2");

struct row {
    struct str user_id;
    struct str offer;
};

struct choosing {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    int64_t now_ms;
    struct uuid new_id; /* made once: the function may run again */
    struct start *start;
    struct start_answer answer;
    struct str only_user; /* whose offer it must be; s == NULL: anybody's */
    struct str user_id;
    struct start_choice *out;
};

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct row *out = item;

    return rows_text(arena, rows, 0, &out->user_id) &&
           rows_text(arena, rows, 1, &out->offer);
}

/* The offer as it is kept; the caller json_decref()s it. */
static enum clew_status read_offer(struct store_tx *tx,
                                   struct choosing *choosing,
                                   json_t **out_offer, struct clew_error *err)
{
    struct row row;
    enum clew_status status =
        rows_one(tx, choosing->arena, &SELECT, DB_ARGS(db_uuid(choosing->id)),
                 row_of, &row, sizeof(row), "start", err);

    if (status == CLEW_OK && choosing->only_user.s &&
        !str_eq(row.user_id, choosing->only_user)) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such start");
    }
    if (status == CLEW_OK) {
        choosing->user_id = row.user_id;
        status = json_parse(row.offer, out_offer, err);
    }
    return status;
}

static size_t ids_parse(const json_t *list, struct uuid *out, size_t max)
{
    size_t n = 0;
    size_t i;
    json_t *item;

    json_array_foreach (list, i, item) {
        struct str text = json_text(item);

        if (n < max && text.s && uuid_parse(text, &out[n])) {
            n++;
        }
    }
    return n;
}

static enum clew_status do_load(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct choosing *choosing = arg;
    struct uuid chat_ids[START_MAX_CHATS];
    struct uuid memory_ids[START_MAX_MEMORIES];
    size_t n_chats;
    size_t n_memories;
    json_t *offer = NULL;
    enum clew_status status = read_offer(tx, choosing, &offer, err);

    if (status != CLEW_OK) {
        return status;
    }
    memset(choosing->start, 0, sizeof(*choosing->start));
    choosing->start->id = *choosing->id;
    n_chats =
        ids_parse(json_object_get(offer, "chats"), chat_ids, START_MAX_CHATS);
    n_memories = ids_parse(json_object_get(offer, "memories"), memory_ids,
                           START_MAX_MEMORIES);
    json_decref(offer);
    return start_read(tx, choosing->arena, chat_ids, n_chats, memory_ids,
                      n_memories, choosing->start, err);
}

static const struct start_option *option_for(const struct start *start,
                                             enum start_action action)
{
    for (size_t i = 0; i < start->n_options; i++) {
        if (start->options[i].action == action) {
            return &start->options[i];
        }
    }
    return &start->options[0]; /* every action that is chosen was offered */
}

/* --- making what was chosen ------------------------------------------------
 */

/* "fork ID", "new ID ID", "fresh": what tells one choice from another. */
static const char *choice_key(struct choosing *choosing)
{
    const struct start_option *option =
        option_for(choosing->start, choosing->answer.action);
    char id[UUID_TEXT_SIZE];
    struct buf key;
    const char *out = NULL;

    buf_init(&key, 1024);
    if (choosing->answer.action == START_FORK) {
        uuid_format(&option->chat_id, id);
        (void)buf_printf(&key, "fork %s", id); /* checked below */
    } else if (choosing->answer.action == START_NEW) {
        (void)buf_append_cstr(&key, "new"); /* the same */
        for (size_t i = 0; i < choosing->start->n_memories; i++) {
            if (choosing->answer.picks[i]) {
                uuid_format(&choosing->start->memories[i].id, id);
                (void)buf_printf(&key, " %s", id); /* the same */
            }
        }
    } else {
        (void)buf_append_cstr(&key, "fresh"); /* the same */
    }
    if (buf_status(&key) == CLEW_OK) {
        out = arena_copy(choosing->arena, key.data, key.len);
    }
    buf_release(&key);
    return out;
}

static enum clew_status fork_chat(struct store_tx *tx,
                                  struct choosing *choosing,
                                  struct clew_error *err)
{
    const struct start_option *option = option_for(choosing->start, START_FORK);
    struct chat_birth birth = {choosing->new_id, choosing->now_ms};
    struct chat parent;
    struct chat fork;
    enum clew_status status =
        chat_find(tx, choosing->arena, &option->chat_id, &parent, err);

    if (status == CLEW_OK) {
        status =
            chat_fork(tx, choosing->arena, &parent, parent.last_seq,
                      (struct str){0}, (struct str){0}, &birth, &fork, err);
    }
    if (status == CLEW_OK) {
        choosing->out->chat_id = fork.id;
    }
    return status;
}

static enum clew_status import(struct store_tx *tx, struct choosing *choosing,
                               const struct uuid *memory_id,
                               struct clew_error *err)
{
    struct action_new action = {.kind = ACTION_MEMORY_IMPORT,
                                .subject = &choosing->out->chat_id,
                                .made = memory_id,
                                .at_ms = choosing->now_ms};
    enum clew_status status = memory_import(tx, &choosing->out->chat_id,
                                            memory_id, choosing->now_ms, err);

    return status == CLEW_OK ? action_add(tx, &action, err) : status;
}

static enum clew_status new_chat(struct store_tx *tx, struct choosing *choosing,
                                 struct clew_error *err)
{
    struct chat_birth birth = {choosing->new_id, choosing->now_ms};
    struct chat chat;
    enum clew_status status =
        chat_insert_linked(tx, &birth, choosing->user_id, &chat, err);

    choosing->out->chat_id = choosing->new_id;
    for (size_t i = 0; i < choosing->start->n_memories && status == CLEW_OK;
         i++) {
        if (choosing->answer.picks[i]) {
            status =
                import(tx, choosing, &choosing->start->memories[i].id, err);
        }
    }
    return status;
}

/* The chat this choice made before, if it is still there. */
static bool was_made(struct store_tx *tx, struct choosing *choosing,
                     const json_t *offer, const char *key)
{
    const json_t *made = json_object_get(json_object_get(offer, "made"), key);
    struct chat chat;

    return json_is_string(made) &&
           uuid_parse(str_of(json_string_value(made)),
                      &choosing->out->chat_id) &&
           chat_find(tx, choosing->arena, &choosing->out->chat_id, &chat,
                     NULL) == CLEW_OK;
}

static enum clew_status note_made(struct store_tx *tx,
                                  struct choosing *choosing, json_t *offer,
                                  const char *key, struct clew_error *err)
{
    json_t *made = json_object_get(offer, "made");
    struct buf text;
    bool is_ok = true;
    enum clew_status status;

    if (!json_is_object(made)) {
        made = json_object();
        is_ok = json_set(offer, "made", made);
    }
    buf_init(&text, 1 << 20);
    is_ok = is_ok && json_set_uuid(made, key, &choosing->out->chat_id) &&
            json_write(&text, offer) == CLEW_OK;
    status =
        is_ok ? db_exec(tx, &UPDATE,
                        DB_ARGS(db_uuid(choosing->id), db_text(buf_str(&text))),
                        err)
              : clew_no_memory(err);
    buf_release(&text);
    return status;
}

static enum clew_status do_make(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct choosing *choosing = arg;
    const char *key = choice_key(choosing);
    json_t *offer = NULL;
    enum clew_status status =
        key ? read_offer(tx, choosing, &offer, err) : clew_no_memory(err);

    if (status == CLEW_OK && !was_made(tx, choosing, offer, key)) {
        status = choosing->answer.action == START_FORK
                     ? fork_chat(tx, choosing, err)
                     : new_chat(tx, choosing, err);
        if (status == CLEW_OK) {
            status = note_made(tx, choosing, offer, key, err);
        }
    }
    json_decref(offer);
    return status;
}

/* --- the whole -------------------------------------------------------------
 */

static const char *tell(struct choosing *choosing)
{
    const struct start_option *option =
        option_for(choosing->start, choosing->answer.action);
    struct start_choice *out = choosing->out;

    switch (out->action) {
    case START_CONTINUE:
        return arena_printf(choosing->arena, "Continuing %.*s.",
                            (int)option->label.len - 9, option->label.s + 9);
    case START_FORK:
        return arena_printf(choosing->arena, "Forked %.*s.",
                            (int)option->label.len - 5, option->label.s + 5);
    case START_NEW:
        return arena_printf(choosing->arena, "New chat with %zu artifact%s.",
                            out->n_imported, out->n_imported == 1 ? "" : "s");
    case START_FRESH:
        return "New chat without prior context.";
    case START_ASK:
        return choosing->start->text.s;
    }
    return NULL;
}

static enum clew_status carry_out(struct choosing *choosing,
                                  const struct scope *scope,
                                  struct clew_error *err)
{
    struct start_choice *out = choosing->out;
    enum clew_status status = CLEW_OK;
    const char *text;

    out->action = choosing->answer.action;
    if (out->action == START_CONTINUE) {
        out->chat_id = option_for(choosing->start, START_CONTINUE)->chat_id;
    } else if (out->action != START_ASK) {
        status =
            store_write(choosing->engine->store, scope, do_make, choosing, err);
    }
    for (size_t i = 0;
         out->action == START_NEW && i < choosing->start->n_memories; i++) {
        if (choosing->answer.picks[i]) {
            out->imported[out->n_imported++] = choosing->start->memories[i].id;
        }
    }
    text = status == CLEW_OK ? tell(choosing) : NULL;
    out->text = str_of(text);
    return status == CLEW_OK && !text ? clew_no_memory(err) : status;
}

enum clew_status start_choose(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *id,
                              struct str user_id, struct str answer,
                              struct start_choice *out, struct clew_error *err)
{
    struct start *start = arena_zero(arena, 1, sizeof(*start));
    int64_t now_ms = clock_now_ms(engine->clock);
    struct choosing choosing = {.engine = engine,
                                .arena = arena,
                                .id = id,
                                .now_ms = now_ms,
                                .new_id = uuid_new(now_ms),
                                .start = start,
                                .only_user = user_id,
                                .out = out};
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    if (!start) {
        return clew_no_memory(err);
    }
    status = store_read(engine->store, scope, do_load, &choosing, err);
    if (status == CLEW_OK && !start_write(arena, start, now_ms)) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    choosing.answer = start_parse(start, answer);
    return carry_out(&choosing, scope, err);
}
