/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llmread_later.c - when a model reads: after a pause, and again if it could
 * not.
 *
 * One task a chat waits. It runs when nothing was said for a while, or when as
 * many turns wait as one question holds. A model that cannot answer now is
 * asked later, ever more rarely; one whose tokens of the day are used, the next
 * day. Nothing is lost by waiting: what is unread stays unread. Where the
 * tenant forbids it the task is done with: should it be allowed again, the
 * chat's next turn asks, or `clew read`.
 */
#include "engine/llmread/llmread.h"

#include "base/clock.h"
#include "base/config.h"
#include "engine/chat/turn.h"
#include "engine/core/advice.h"
#include "engine/core/consent.h"
#include "engine/core/engine.h"
#include "engine/core/task.h"
#include "engine/core/work.h"
#include "engine/llmread/stretch.h"

#include <string.h>

/* A history that is brought in is read when somebody asks for it. */
#define LIVE_MS CLOCK_DAY_MS
#define PRIORITY 5
/* The wait after a failure doubles from here to there. */
#define FIRST_WAIT_MS (30 * 1000LL)
#define LONGEST_WAIT_MS CLOCK_HOUR_MS
/* Then nobody waits any more; the chat's next turn asks again. */
#define MAX_TRIES 48
/* Stretches of one chat that one run of the task reads. */
#define MAX_STRETCHES 4

static int64_t pause_ms(const struct engine *engine)
{
    return config_int(engine->config, "llm.read_pause_seconds") * 1000;
}

static bool is_on(const struct engine *engine)
{
    return engine->llm &&
           strcmp(config_str(engine->config, "llm.read"), "off") != 0;
}

static enum clew_status add(struct store_tx *tx, struct arena *arena,
                            const struct uuid *chat_id, int64_t tries,
                            int64_t at_ms, int64_t now_ms,
                            struct clew_error *err)
{
    char id[UUID_TEXT_SIZE];
    struct task_new task = {.kind = LLMREAD_TASK,
                            .priority = PRIORITY,
                            .execute_at_ms = at_ms,
                            .now_ms = now_ms};

    uuid_format(chat_id, id);
    task.unique_key = arena_str(arena, str_of(id));
    task.payload = str_of(arena_printf(
        arena, "{\"chat_id\":\"%s\",\"tries\":%lld}", id, (long long)tries));
    if (!task.unique_key.s || !task.payload.s) {
        return clew_no_memory(err);
    }
    return task_add(tx, arena, &task, err);
}

enum clew_status llmread_later(struct turn_work *work, struct clew_error *err)
{
    const struct turn *turn = work->turn;
    struct batch_work *batch = work->batch;

    if (!work->observation || !is_on(batch->engine) ||
        turn->stored_at_ms - turn->created_at_ms > LIVE_MS) {
        return CLEW_OK;
    }
    return add(batch->tx, batch->arena, &turn->chat_id, 0,
               turn->stored_at_ms + pause_ms(batch->engine), turn->stored_at_ms,
               err);
}

/* --- the task --------------------------------------------------------------
 */

struct waiting {
    struct engine *engine;
    const struct task *task;
    struct arena *arena;
    struct uuid chat_id;
    int64_t tries;
    int64_t now_ms;
    int64_t after_seq;
    struct stretch stretch;
    int64_t again_ms; /* 0: done */
};

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct waiting *w = arg;
    enum clew_status status =
        llmread_through(tx, w->arena, &w->chat_id, &w->after_seq, err);

    return status == CLEW_OK
               ? stretch_load(w->engine, tx, w->arena, &w->chat_id,
                              w->after_seq, 0, &w->stretch, err)
               : status;
}

/* The task is done; another may take its place. */
static enum clew_status do_finish(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct waiting *w = arg;
    enum clew_status status = task_complete(tx, w->task, w->now_ms, err);

    return status == CLEW_OK && w->again_ms > 0
               ? add(tx, w->arena, &w->chat_id, w->tries, w->again_ms,
                     w->now_ms, err)
               : status;
}

/* When a model that could not answer is asked again. */
static void put_off(struct waiting *w, bool is_capped)
{
    int64_t wait_ms = FIRST_WAIT_MS;

    for (int64_t i = 0; i < w->tries && wait_ms < LONGEST_WAIT_MS; i++) {
        wait_ms *= 2;
    }
    w->tries++;
    w->again_ms =
        w->now_ms + (wait_ms < LONGEST_WAIT_MS ? wait_ms : LONGEST_WAIT_MS);
    if (is_capped) {
        w->again_ms = (w->now_ms / CLOCK_DAY_MS + 1) * CLOCK_DAY_MS;
    }
    if (w->tries > MAX_TRIES) {
        w->again_ms = 0;
    }
}

static enum clew_status read_stretches(struct waiting *w,
                                       struct clew_error *err)
{
    bool is_unsure =
        strcmp(config_str(w->engine->config, "llm.read"), "unsure") == 0;
    struct llmread_report report = {.has_more = true};
    enum clew_status status = CLEW_OK;

    for (int i = 0; i < MAX_STRETCHES && status == CLEW_OK && report.has_more;
         i++) {
        struct clew_error why = {0};

        status = llmread_next(w->engine, &w->task->scope, w->arena, &w->chat_id,
                              is_unsure, &report, &why);
        if (strcmp(why.code, CONSENT_NONE) == 0) {
            return CLEW_OK; /* nobody waits for it any more */
        }
        if (status != CLEW_OK && clew_status_retryable(status) &&
            status != CLEW_NO_MEMORY && status != CLEW_BUSY) {
            put_off(w, strcmp(why.code, ADVICE_SPENT) == 0);
            return CLEW_OK;
        }
        if (status != CLEW_OK) {
            return clew_fail(err, status, "%s", why.message);
        }
    }
    if (report.has_more || report.outcome == LLMREAD_STALE) {
        w->again_ms = w->now_ms;
    }
    return status;
}

enum clew_status llmread_task(struct engine *engine, const struct task *task,
                              struct arena *arena, struct clew_error *err)
{
    struct waiting w = {.engine = engine,
                        .task = task,
                        .arena = arena,
                        .now_ms = clock_now_ms(engine->clock)};
    json_t *payload = NULL;
    enum clew_status status = json_parse(task->payload, &payload, err);

    if (status == CLEW_OK) {
        status =
            json_get_uuid(payload, "chat_id", JSON_REQUIRED, &w.chat_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(payload, "tries", JSON_OPTIONAL, 0, 1000,
                              &w.tries, err);
    }
    json_decref(payload);
    if (status == CLEW_OK && is_on(engine)) {
        status = store_read(engine->store, &task->scope, do_look, &w, err);
        if (status == CLEW_OK && w.stretch.n_own > 0) {
            if (w.stretch.last_stored_ms + pause_ms(engine) > w.now_ms &&
                !w.stretch.is_full) {
                w.again_ms = w.stretch.last_stored_ms + pause_ms(engine);
            } else {
                status = read_stretches(&w, err);
            }
        }
    }
    if (status == CLEW_NOT_FOUND) {
        status = CLEW_OK; /* the chat is forgotten */
    }
    return status == CLEW_OK
               ? store_write(engine->store, &task->scope, do_finish, &w, err)
               : status;
}
