/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close.c - the end of sessions and chats. See close.h.
 */
#include "engine/capture/close.h"

#include "base/clock.h"
#include "engine/capture/observers.h"
#include "engine/chat/chat.h"
#include "engine/chat/session.h"
#include "engine/chat/timeout.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/task.h"

struct work {
    struct arena *arena;
    const struct uuid *id;
    int64_t now_ms;
    struct session session;
    struct chat chat;
};

static enum clew_status note(struct store_tx *tx, const struct work *work,
                             const char *kind, struct clew_error *err)
{
    struct action_new action = {
        .kind = kind, .subject = work->id, .at_ms = work->now_ms};

    return action_add(tx, &action, err);
}

static enum clew_status do_end(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status =
        session_find(tx, work->arena, work->id, &work->session, err);

    if (status != CLEW_OK || work->session.ended_at_ms != 0) {
        return status;
    }
    work->session.ended_at_ms = work->now_ms;
    status = session_update(tx, &work->session, err);
    if (status == CLEW_OK) {
        status = observers_session_ended(tx, work->arena, &work->session,
                                         work->now_ms, err);
    }
    return status == CLEW_OK ? note(tx, work, ACTION_SESSION_END, err) : status;
}

enum clew_status session_end(struct engine *engine, const struct scope *scope,
                             struct arena *arena, const struct uuid *id,
                             struct session *out_session,
                             struct clew_error *err)
{
    struct work work = {
        .arena = arena, .id = id, .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        store_write(engine->store, scope, do_end, &work, err);

    if (status == CLEW_OK) {
        *out_session = work.session;
    }
    return status;
}

/* --- by the clock ----------------------------------------------------------
 */

struct timeout_work {
    struct engine *engine;
    struct arena *arena;
    const struct task *task;
    struct uuid id;
    int64_t now_ms;
};

/* Somebody spoke since: look again when that silence is over. */
static enum clew_status look_later(struct store_tx *tx,
                                   const struct timeout_work *work,
                                   int64_t over_ms, struct clew_error *err)
{
    return task_put_off(tx, work->task,
                        session_watch_at_ms(over_ms, work->now_ms), err);
}

static enum clew_status do_timeout(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    const struct timeout_work *work = arg;
    struct session session;
    struct chat chat;
    int64_t over_ms;
    enum clew_status status =
        session_find(tx, work->arena, &work->id, &session, err);

    if (status == CLEW_NOT_FOUND ||
        (status == CLEW_OK && session.ended_at_ms != 0)) {
        /* forgotten, or ended by a turn or a person: nothing is left to do */
        return task_complete_noted(tx, work->task, NULL, work->now_ms, err);
    }
    if (status == CLEW_OK) {
        status = chat_find(tx, work->arena, &session.chat_id, &chat, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    over_ms =
        session.last_activity_at_ms + timeout_of_chat_ms(work->engine, &chat);
    /* what was over then is over in a replay, whatever was forgotten since */
    if (work->now_ms <= over_ms && !work->engine->replay) {
        return look_later(tx, work, over_ms, err);
    }
    session.ended_at_ms = session.last_activity_at_ms;
    status = session_update(tx, &session, err);
    if (status == CLEW_OK) {
        status = observers_session_ended(tx, work->arena, &session,
                                         work->now_ms, err);
    }
    return status == CLEW_OK
               ? task_complete_noted(tx, work->task, NULL, work->now_ms, err)
               : status;
}

enum clew_status session_timeout_task(struct engine *engine,
                                      const struct task *task,
                                      struct arena *arena,
                                      struct clew_error *err)
{
    struct timeout_work work = {.engine = engine,
                                .arena = arena,
                                .task = task,
                                .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status = task_get_id(task, "session_id", &work.id, err);

    return status == CLEW_OK ? store_write(engine->store, &task->scope,
                                           do_timeout, &work, err)
                             : status;
}

static enum clew_status do_close(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status =
        chat_find(tx, work->arena, work->id, &work->chat, err);

    if (status != CLEW_OK || work->chat.closed_at_ms != 0) {
        return status;
    }
    work->chat.closed_at_ms = work->now_ms;
    status = chat_update(tx, &work->chat, err);
    if (status == CLEW_OK) {
        status =
            observers_chat_ended(tx, work->arena, work->id, work->now_ms, err);
    }
    return status == CLEW_OK ? note(tx, work, ACTION_CHAT_CLOSE, err) : status;
}

enum clew_status chat_close(struct engine *engine, const struct scope *scope,
                            struct arena *arena, const struct uuid *id,
                            struct chat *out_chat, struct clew_error *err)
{
    struct work work = {
        .arena = arena, .id = id, .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        store_write(engine->store, scope, do_close, &work, err);

    if (status == CLEW_OK) {
        *out_chat = work.chat;
    }
    return status;
}
