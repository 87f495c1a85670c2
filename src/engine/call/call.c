/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - turns and rows of a captured call. See call.h.
 */
#include "engine/call/call.h"

#include "base/clock.h"
#include "engine/capture/capture.h"
#include "engine/capture/read_turn.h"
#include "engine/core/engine.h"
#include "engine/call/call_decide.h"
#include "engine/call/call_forgotten.h"
#include "engine/call/call_plan.h"
#include "engine/call/call_spot.h"
#include "engine/call/call_stats.h"
#include "engine/call/call_trace.h"
#include "engine/call/request_trail.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/commit.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "store/db.h"
#include "text/analysis.h"

#include <stdatomic.h>
#include <string.h>

/* The channel that turns of captured calls carry. */
#define CHANNEL STR("llm")

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct call_input *input;
    struct call_plan *plan;
    int64_t now_ms;
    size_t n_forgotten;      /* first messages that were forgotten */
    struct batch_work batch; /* what the transaction stored, for the index */
    struct call_result *out;
};

/* --- turns -----------------------------------------------------------------
 */

static enum turn_role role_of(const json_t *message)
{
    struct str role =
        str_of(json_string_value(json_object_get(message, "role")));
    const json_t *content = json_object_get(message, "content");
    const json_t *item;
    size_t n_results = 0;
    size_t i;

    if (str_eq(role, STR("assistant"))) {
        return TURN_ASSISTANT;
    }
    json_array_foreach (content, i, item) {
        const char *type = json_string_value(json_object_get(item, "type"));

        n_results += type && strcmp(type, "tool_result") == 0;
    }
    /* what a tool returned is not what the user said */
    if (str_eq(role, STR("tool")) ||
        (n_results > 0 && n_results == json_array_size(content))) {
        return TURN_TOOL;
    }
    return TURN_USER;
}

static enum clew_status store_turn(struct work *work,
                                   const struct call_spot *spot,
                                   enum turn_role role, struct content content,
                                   int64_t created_at_ms, int64_t *out_seq,
                                   struct clew_error *err)
{
    struct capture_input input = {.user_id = work->plan->request.user_id,
                                  .role = role,
                                  .content = content,
                                  .channel = CHANNEL,
                                  .chat_id = spot->chat.id,
                                  .created_at_ms = created_at_ms};
    int64_t began_ns = clock_mono_ns();
    struct reading reading = {0};
    struct updates updates;
    struct turn turn;
    enum clew_status status;

    status = capture_prepare(work->engine, work->arena, &input, work->now_ms,
                             &turn, err);
    if (status == CLEW_OK) {
        status =
            reading_to_store(work->engine, work->arena, &turn, &reading, err);
    }
    if (status == CLEW_OK) {
        status =
            capture_live(&work->batch, &input, &turn, &reading, &updates, err);
    }
    *out_seq = turn.seq;
    work->out->n_new_turns += status == CLEW_OK;
    work->out->turns_ns += clock_mono_ns() - began_ns;
    return status;
}

/* Store the messages that are new, each with the digest up to it. What was
 * forgotten is not: it is only sent again. */
static enum clew_status store_messages(struct work *work, struct place *place,
                                       const struct call_spot *spot,
                                       struct request *request,
                                       struct clew_error *err)
{
    const struct call_messages *messages = &work->plan->messages;
    enum clew_status status = CLEW_OK;

    size_t n_known =
        work->n_forgotten > spot->n_known ? work->n_forgotten : spot->n_known;

    request->last_seq = spot->known_seq;
    for (size_t i = n_known; i < messages->count && status == CLEW_OK; i++) {
        struct content content;

        status = call_plan_content(
            work->arena, json_object_get(messages->items[i], "content"),
            &content, err);
        if (status == CLEW_OK) {
            status =
                store_turn(work, spot, role_of(messages->items[i]), content,
                           request->created_at_ms, &request->last_seq, err);
        }
        if (status == CLEW_OK) {
            status =
                request_add_prefix(place->tx, &spot->chat.id, request->last_seq,
                                   &messages->prefix[i], err);
        }
    }
    return status;
}

/* The digest up to the parent's reply is known only now that it came back. */
static enum clew_status note_reply_prefix(struct work *work,
                                          struct store_tx *tx,
                                          const struct call_decision *decision,
                                          const struct call_spot *spot,
                                          struct clew_error *err)
{
    if (!decision->has_parent || spot->n_known == 0 || decision->has_twin ||
        spot->known_seq != decision->parent.reply_seq) {
        return CLEW_OK;
    }
    return request_add_prefix(tx, &decision->parent.chat_id, spot->known_seq,
                              &work->plan->messages.prefix[spot->n_known - 1],
                              err);
}

static enum clew_status store_reply(struct work *work,
                                    const struct call_spot *spot,
                                    const struct call_decision *decision,
                                    struct request *request,
                                    struct clew_error *err)
{
    int64_t duration_ms = request->call.duration_ms;

    if (!work->plan->has_reply) {
        return CLEW_OK;
    }
    if (decision->has_twin &&
        uuid_eq(&request->reply_key, &decision->twin.reply_key)) {
        request->reply_seq = decision->twin.reply_seq;
        return CLEW_OK;
    }
    return store_turn(work, spot, TURN_ASSISTANT, work->plan->reply,
                      request->created_at_ms +
                          (duration_ms > 0 ? duration_ms : 0),
                      &request->reply_seq, err);
}

static enum clew_status store_turns(struct work *work, struct store_tx *tx,
                                    const struct call_spot *spot,
                                    const struct call_decision *decision,
                                    struct request *request,
                                    struct clew_error *err)
{
    struct place place;
    int64_t began_ns = clock_mono_ns();
    enum clew_status status = place_begin(&place, work->engine, tx, work->arena,
                                          &spot->chat.id, 1, err);

    work->out->turns_ns += clock_mono_ns() - began_ns;
    work->batch = (struct batch_work){.engine = work->engine,
                                      .tx = tx,
                                      .arena = work->arena,
                                      .place = &place};
    if (status == CLEW_OK) {
        status = store_messages(work, &place, spot, request, err);
    }
    if (status == CLEW_OK) {
        status = store_reply(work, spot, decision, request, err);
    }
    if (status == CLEW_OK) {
        status = note_reply_prefix(work, tx, decision, spot, err);
    }
    began_ns = clock_mono_ns();
    if (status == CLEW_OK && engine_observes(work->batch.engine)) {
        status = read_turn_later(tx, work->batch.arena,
                                 clock_now_ms(work->batch.engine->clock), err);
    }
    if (status == CLEW_OK) {
        status = capture_end(&work->batch, err);
    }
    work->out->turns_ns += clock_mono_ns() - began_ns;
    work->batch.place = NULL; /* it ends with this function */
    return status;
}

/* --- the request -----------------------------------------------------------
 */

/* A request with this id is there already: the same, or another? */
static enum clew_status check_known(struct work *work, struct store_tx *tx,
                                    bool *out_known, struct clew_error *err)
{
    struct request known;
    enum clew_status status =
        request_find(tx, work->arena, &work->plan->request.id, &known, err);

    *out_known = status == CLEW_OK;
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK;
    }
    if (status == CLEW_OK &&
        !call_digest_eq(&known.current, &work->plan->request.current)) {
        return clew_fail(err, CLEW_CONFLICT,
                         "this request_id is known with other messages");
    }
    if (status == CLEW_OK) {
        work->out->request = known;
        work->out->is_repeat = true;
    }
    return status;
}

static enum clew_status store_rows(struct work *work, struct store_tx *tx,
                                   struct clew_error *err)
{
    const struct call_plan *plan = work->plan;
    const struct request *request = &work->out->request;
    enum clew_status status = request_insert(tx, request, err);

    for (size_t i = 0; i < plan->n_tasks && status == CLEW_OK; i++) {
        status = request_add_task(tx, request, &plan->tasks[i], err);
    }
    if (status == CLEW_OK) {
        status = request_add_anchors(tx, request, plan->anchors,
                                     plan->n_anchors, err);
    }
    return status;
}

static enum clew_status do_link(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    struct call_sources sources;
    struct request *request = &work->out->request;
    struct call_decision decision;
    struct call_spot spot;
    int64_t began_ns = clock_mono_ns();
    bool is_known = false;
    enum clew_status status = CLEW_OK;

    memset(work->out, 0, sizeof(*work->out));
    work->batch = (struct batch_work){0};
    if (!uuid_is_nil(&work->input->id) && !work->input->is_first) {
        status = check_known(work, tx, &is_known, err);
    }
    if (status != CLEW_OK || is_known) {
        return status;
    }
    call_plan_sources(work->plan, &sources);
    status = call_decide(tx, work->arena, &work->plan->request, &sources,
                         &decision, err);
    if (status == CLEW_OK) {
        status = call_forgotten(tx, work->arena, work->plan, &decision,
                                &work->n_forgotten, err);
    }
    if (status == CLEW_OK) {
        status =
            call_spot_find(tx, work->arena, work->plan, &decision, &spot, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    *request = work->plan->request;
    request->conversation_id = spot.chat.conversation_id;
    request->chat_id = spot.chat.id;
    request->branch = spot.chat.branch;
    call_apply(&decision, request);
    request->first_seq = spot.first_seq;
    work->out->is_retry = decision.has_twin;
    work->out->note = spot.note;
    status = store_turns(work, tx, &spot, &decision, request, err);
    if (status == CLEW_OK) {
        status = store_rows(work, tx, err);
    }
    if (status == CLEW_OK) {
        status = call_trace_put(tx, request, &decision, work->out->note, err);
    }
    work->out->link_ns = clock_mono_ns() - began_ns - work->out->turns_ns;
    return status;
}

/* The clock's time, but later than any time given out before. */
static int64_t next_time(int64_t now_ms)
{
    static _Atomic int64_t last_ms = INT64_MIN;
    int64_t last = atomic_load(&last_ms);
    int64_t next;

    do {
        next = now_ms > last ? now_ms : last + 1;
        /* a clock set back by much is believed */
        if (last > now_ms && last - now_ms > CLOCK_MINUTE_MS) {
            next = now_ms;
        }
    } while (!atomic_compare_exchange_weak(&last_ms, &last, next));
    return next;
}

/* Everything that needs no transaction. */
static enum clew_status prepare(struct work *work, struct clew_error *err)
{
    const struct call_input *input = work->input;
    struct request *request = &work->plan->request;
    enum clew_status status =
        call_plan_make(work->arena, input, work->plan, err);

    if (status != CLEW_OK) {
        return status;
    }
    request->created_at_ms = input->created_at_ms == CALL_NOW
                                 ? next_time(work->now_ms)
                                 : input->created_at_ms;
    work->plan->sent_at_ms =
        input->sent_at_ms > 0 && input->sent_at_ms < request->created_at_ms
            ? input->sent_at_ms
            : request->created_at_ms;
    request->stored_at_ms = work->now_ms;
    request->id =
        uuid_is_nil(&input->id) ? uuid_new(request->created_at_ms) : input->id;
    return CLEW_OK;
}

enum clew_status call_link(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct call_input *input,
                           struct call_result *out, struct clew_error *err)
{
    struct call_plan plan;
    struct call_result result;
    struct work work = {.engine = engine,
                        .arena = arena,
                        .input = input,
                        .plan = &plan,
                        .now_ms = clock_now_ms(engine->clock),
                        .out = &result};
    enum clew_status status = prepare(&work, err);

    if (status == CLEW_OK) {
        status = commit_write(engine, scope, do_link, &work, &work.batch, err);
    }
    if (status == CLEW_OK) {
        call_stats_count(&result);
        *out = result;
    }
    return status;
}

struct batch {
    struct work *works;
    enum clew_status *prepared; /* before the transaction */
    enum clew_status *statuses;
    size_t count;
};

/* Statuses that concern one call and leave the transaction as it was. */
static bool is_own_fault(enum clew_status status)
{
    return status == CLEW_CONFLICT || status == CLEW_NOT_FOUND ||
           status == CLEW_INVALID;
}

static enum clew_status do_batch(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct batch *batch = arg;

    for (size_t i = 0; i < batch->count; i++) {
        batch->statuses[i] = batch->prepared[i];
        if (batch->prepared[i] == CLEW_OK) {
            batch->statuses[i] = do_link(tx, &batch->works[i], err);
        }
        if (batch->statuses[i] != CLEW_OK &&
            !is_own_fault(batch->statuses[i])) {
            if (batch->prepared[i] == CLEW_OK) {
                return batch->statuses[i];
            }
        }
    }
    return CLEW_OK;
}

enum clew_status call_link_many(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct call_input *inputs, size_t count,
                                struct call_result *out,
                                enum clew_status *out_statuses,
                                struct clew_error *err)
{
    struct batch batch = {.statuses = out_statuses, .count = count};
    enum clew_status status;
    struct call_plan *plans = arena_zero(arena, count, sizeof(*plans));

    batch.works = arena_zero(arena, count, sizeof(*batch.works));
    batch.prepared = arena_zero(arena, count, sizeof(*batch.prepared));
    if (!plans || !batch.works || !batch.prepared) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        batch.works[i] = (struct work){.engine = engine,
                                       .arena = arena,
                                       .input = &inputs[i],
                                       .plan = &plans[i],
                                       .now_ms = clock_now_ms(engine->clock),
                                       .out = &out[i]};
        batch.prepared[i] = prepare(&batch.works[i], err);
    }
    status = store_write(engine->store, scope, do_batch, &batch, err);
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        commit_offer(engine, scope, &batch.works[i].batch);
        if (out_statuses[i] == CLEW_OK) {
            call_stats_count(&out[i]);
        }
    }
    return status;
}
