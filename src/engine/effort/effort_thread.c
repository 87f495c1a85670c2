/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_thread.c - efforts by hand: spawn, look, expand, collapse. See
 * effort_thread.h.
 */
#include "engine/effort/effort_thread.h"

#include "base/clock.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/core/action.h"
#include "engine/core/budget.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/effort/effort_fork.h"
#include "engine/effort/effort_skill.h"
#include "engine/memory/lineage.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SPEAKS,
       "SELECT 1 FROM chats c CROSS JOIN turns t WHERE c.tenant = $1"
       " AND c.conversation_id = $2 AND t.tenant = $1 AND t.chat_id = c.id"
       " AND t.user_id = $3 LIMIT 1");

/* What a collapsed effort costs its parent. */
#define RESULT_TOKENS 80
/* The answer that tells the result stands among the last turns. */
#define LAST_TURNS 6

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct effort_spawn *spawn;
    const struct uuid *id;
    struct str user_id;
    struct str resolution;
    struct str outcome; /* of a spawned one; s == NULL: found */
    bool with_closed;
    enum effort_state state;
    int64_t now_ms;
    struct uuid new_id; /* made once: the function may run again */
    struct uuid new_chat_id;
    struct effort effort;
    struct effort *efforts;
    size_t count;
    struct batch_work batch;
};

static void begin(struct work *work, struct store_tx *tx)
{
    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
}

/* --- spawn -----------------------------------------------------------------
 */

/* A chat may have several who speak in it; the result is told to them all. What
 * was let in once is done again. */
static enum clew_status check_chat(struct store_tx *tx, struct work *work,
                                   struct clew_error *err)
{
    struct str user_id = work->spawn->user_id;
    struct chat chat;
    int64_t speaks = 0;
    enum clew_status status =
        chat_find(tx, work->arena, &work->spawn->chat_id, &chat, err);

    if (status != CLEW_OK || work->engine->replay ||
        str_eq(chat.user_id, user_id)) {
        return status;
    }
    status = rows_number(
        tx, &SPEAKS, DB_ARGS(db_uuid(&chat.conversation_id), db_text(user_id)),
        &speaks, err);
    return status == CLEW_OK && speaks == 0
               ? clew_fail_field(err, "chat_id",
                                 "\"chat_id\" is a chat of another user")
               : status;
}

static enum clew_status check_parent(struct store_tx *tx, struct work *work,
                                     struct clew_error *err)
{
    struct memory parent;
    enum clew_status status =
        memory_find(tx, work->arena, &work->spawn->parent_id, &parent, err);

    if (status == CLEW_OK && !str_eq(parent.type, STR("effort"))) {
        return clew_fail_field(err, "parent_id",
                               "\"parent_id\" must be an effort");
    }
    if (status == CLEW_OK && !work->engine->replay &&
        !str_eq(parent.user_id, work->spawn->user_id)) {
        return clew_fail_field(err, "parent_id",
                               "\"parent_id\" is an effort of another user");
    }
    return status == CLEW_OK ? lineage_must_hold(&work->batch, &parent, err)
                             : status;
}

static enum clew_status check_places(struct store_tx *tx, struct work *work,
                                     struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (!uuid_is_nil(&work->spawn->chat_id)) {
        status = check_chat(tx, work, err);
    }
    if (status == CLEW_OK && !uuid_is_nil(&work->spawn->parent_id)) {
        status = check_parent(tx, work, err);
    }
    return status;
}

static enum clew_status insert_thread(struct store_tx *tx, struct work *work,
                                      struct clew_error *err)
{
    struct chat chat = {.id = work->new_chat_id,
                        .conversation_id = work->new_chat_id,
                        .user_id = work->spawn->user_id,
                        .branch = STR("effort"),
                        .title = work->spawn->goal,
                        .channels = STR(""),
                        .created_at_ms = work->now_ms,
                        .last_activity_at_ms = work->now_ms,
                        .is_explicit = true};

    return chat_insert(tx, &chat, err);
}

static enum clew_status note_spawn(struct store_tx *tx, const struct work *work,
                                   struct clew_error *err)
{
    const struct effort_spawn *spawn = work->spawn;
    struct action_new action = {.kind = ACTION_EFFORT_SPAWN,
                                .subject = &work->new_chat_id,
                                .made = &work->new_id,
                                .detail = json_object(),
                                .at_ms = work->now_ms};
    json_t *detail = action.detail;

    if (!json_set_str(detail, "user_id", spawn->user_id) ||
        !json_set_str(detail, "goal", spawn->goal) ||
        !json_set_uuid(detail, "chat_id", &spawn->chat_id) ||
        !json_set_uuid(detail, "parent_id", &spawn->parent_id)) {
        json_decref(detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

static enum clew_status do_spawn(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    const struct effort_spawn *spawn = work->spawn;
    struct memory memory = {
        .id = work->new_id,
        .user_id = spawn->user_id,
        .type = STR("effort"),
        .status = STR("open"),
        .summary = spawn->goal,
        .tags = STR(""),
        .origin = STR("action"),
        .chat_id =
            uuid_is_nil(&spawn->chat_id) ? work->new_chat_id : spawn->chat_id,
        .parent_id = spawn->parent_id,
        .is_instruction = memory_reads_like_instruction(spawn->goal),
        .weight = MEMORY_WEIGHT_START,
        .weight_at_ms = work->now_ms,
        .created_at_ms = work->now_ms,
        .updated_at_ms = work->now_ms};
    struct effort effort = {.memory_id = work->new_id,
                            .thread_id = work->new_chat_id,
                            .state = EFFORT_ACTIVE,
                            .is_open = true,
                            .is_spawned = true,
                            .last_at_ms = work->now_ms};
    struct memory skill;
    enum clew_status status = forgotten_refuse(tx, work->arena, spawn->user_id,
                                               spawn->sent_at_ms, err);

    begin(work, tx);
    if (status == CLEW_OK) {
        status = check_places(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = insert_thread(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = effort_skill_offer(&work->batch, &memory, &skill, err);
    }
    if (status == CLEW_OK) {
        status = memory_insert(&work->batch, &memory, NULL, 0, NULL, 0, err);
    }
    if (status == CLEW_OK) {
        status = effort_insert(tx, &effort, err);
    }
    if (status == CLEW_OK) {
        status = note_spawn(tx, work, err);
    }
    return status == CLEW_OK
               ? effort_find(tx, work->arena, &work->new_id, &work->effort, err)
               : status;
}

enum clew_status effort_spawn(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct effort_spawn *input,
                              struct effort *out_effort, struct clew_error *err)
{
    int64_t now_ms = clock_now_ms(engine->clock);
    struct work work = {.engine = engine,
                        .arena = arena,
                        .spawn = input,
                        .now_ms = now_ms,
                        .new_id = action_new_id(engine, now_ms),
                        .new_chat_id = engine->replay ? engine->replay->other
                                                      : uuid_new(now_ms)};
    enum clew_status status =
        commit_write(engine, scope, do_spawn, &work, &work.batch, err);

    if (status == CLEW_OK) {
        *out_effort = work.effort;
    }
    return status;
}

/* --- look ------------------------------------------------------------------
 */

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;

    return effort_find(tx, work->arena, work->id, &work->effort, err);
}

enum clew_status effort_get(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const struct uuid *id,
                            struct effort *out_effort, struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .id = id};
    enum clew_status status =
        store_read(engine->store, scope, do_get, &work, err);

    if (status == CLEW_OK) {
        *out_effort = work.effort;
    }
    return status;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    struct chat chat;
    enum clew_status status;

    if (uuid_is_nil(work->id)) {
        return effort_list_user(tx, work->arena, work->user_id,
                                work->with_closed, &work->efforts, &work->count,
                                err);
    }
    status = chat_find(tx, work->arena, work->id, &chat, err);
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* no chat, no efforts */
    }
    return status == CLEW_OK
               ? effort_list_line(tx, work->arena, &chat, chat.last_seq,
                                  work->with_closed, &work->efforts,
                                  &work->count, err)
               : status;
}

enum clew_status effort_list_all(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *chat_id, struct str user_id,
                                 bool with_closed, struct effort **out_efforts,
                                 size_t *out_count, struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .arena = arena,
                        .id = chat_id,
                        .user_id = user_id,
                        .with_closed = with_closed};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out_efforts = work.efforts;
        *out_count = work.count;
    }
    return status;
}

/* --- collapse, expand ------------------------------------------------------
 */

/* What the last answer in the thread says, cut to what a result may cost. */
static enum clew_status last_answer(struct store_tx *tx, struct work *work,
                                    struct str *out, struct clew_error *err)
{
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status =
        turn_list_last(tx, work->arena, &work->effort.thread_id, LAST_TURNS,
                       &turns, &count, err);

    *out = (struct str){0};
    for (size_t i = count; status == CLEW_OK && i-- > 0 && !out->s;) {
        if (turns[i].role == TURN_ASSISTANT && turns[i].text.len > 0) {
            *out = budget_fit(work->arena, turns[i].text, RESULT_TOKENS);
        }
    }
    return status;
}

static enum clew_status end_spawned(struct store_tx *tx, struct work *work,
                                    struct clew_error *err)
{
    bool is_found = !work->outcome.s || str_eq(work->outcome, STR("found"));
    struct effort_change change = {
        .status = is_found ? "resolved" : "abandoned",
        .resolution = work->resolution,
        .outcome = work->outcome.s ? work->outcome : STR("found"),
        .time_ms = work->now_ms};
    struct memory memory;
    enum clew_status status = CLEW_OK;

    if (!change.resolution.s) {
        status = last_answer(tx, work, &change.resolution, err);
    }
    if (status == CLEW_OK) {
        status = memory_find(tx, work->arena, work->id, &memory, err);
    }
    if (status == CLEW_OK) {
        status = effort_set_status(&work->batch, &memory, &change, err);
    }
    return status;
}

static enum clew_status note_state(struct store_tx *tx, const struct work *work,
                                   struct clew_error *err)
{
    struct action_new action = {.kind = work->state == EFFORT_COLLAPSED
                                            ? ACTION_EFFORT_COLLAPSE
                                            : ACTION_EFFORT_EXPAND,
                                .subject = work->id,
                                .detail = json_object(),
                                .at_ms = work->now_ms};

    if (!json_set_str(action.detail, "resolution", work->resolution) ||
        (work->outcome.s &&
         !json_set_str(action.detail, "outcome", work->outcome))) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

/* CLEW_CONFLICT if it was taken back; what is no effort do_get() tells. */
static enum clew_status check_effort(struct store_tx *tx,
                                     const struct work *work,
                                     struct clew_error *err)
{
    struct memory memory;
    enum clew_status status =
        memory_find(tx, work->arena, work->id, &memory, NULL);

    if (status == CLEW_OK) {
        status = lineage_must_hold(&work->batch, &memory, err);
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status;
}

static enum clew_status do_state(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status;

    begin(work, tx);
    status = check_effort(tx, work, err);
    if (status == CLEW_OK) {
        status = do_get(tx, arg, err);
    }
    if (status == CLEW_OK && work->outcome.s && !work->effort.is_spawned) {
        return clew_fail_field(err, "outcome",
                               "only a spawned effort ends with an outcome; "
                               "resolve or abandon this one");
    }
    if (status == CLEW_OK && work->state == EFFORT_COLLAPSED &&
        work->effort.is_spawned &&
        (work->effort.is_open || work->outcome.s || work->resolution.s)) {
        status = end_spawned(tx, work, err);
    } else if (status == CLEW_OK) {
        struct chat chat;

        status =
            chat_find(tx, work->arena, &work->effort.thread_id, &chat, err);
        work->effort.state = work->state;
        if (status == CLEW_OK && work->state == EFFORT_EXPANDED &&
            !work->effort.is_spawned && chat.last_seq > work->effort.last_seq) {
            /* three turns from now on, not from its last turn */
            work->effort.last_seq = chat.last_seq;
            work->effort.first_seq = 0;
        }
        if (status == CLEW_OK) {
            status = effort_update(tx, &work->effort, err);
        }
    }
    if (status == CLEW_OK) {
        status = note_state(tx, work, err);
    }
    return status == CLEW_OK ? do_get(tx, arg, err) : status;
}

static enum clew_status set_state(struct work *work, const struct scope *scope,
                                  struct effort *out_effort,
                                  struct clew_error *err)
{
    enum clew_status status =
        commit_write(work->engine, scope, do_state, work, &work->batch, err);

    if (status == CLEW_OK) {
        *out_effort = work->effort;
    }
    return status;
}

enum clew_status effort_collapse(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id,
                                 const struct effort_ending *ending,
                                 struct effort *out_effort,
                                 struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .arena = arena,
                        .id = id,
                        .resolution = ending->resolution,
                        .outcome = ending->outcome,
                        .state = EFFORT_COLLAPSED,
                        .now_ms = clock_now_ms(engine->clock)};

    if (work.outcome.s && !str_eq(work.outcome, STR("found")) &&
        !str_eq(work.outcome, STR("failed")) &&
        !str_eq(work.outcome, STR("given_up"))) {
        return clew_fail_field(err, "outcome",
                               "\"outcome\" must be found, failed or given_up");
    }
    return set_state(&work, scope, out_effort, err);
}

enum clew_status effort_expand(struct engine *engine, const struct scope *scope,
                               struct arena *arena, const struct uuid *id,
                               struct effort *out_effort,
                               struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .arena = arena,
                        .id = id,
                        .state = EFFORT_EXPANDED,
                        .now_ms = clock_now_ms(engine->clock)};

    return set_state(&work, scope, out_effort, err);
}
