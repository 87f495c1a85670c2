/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - chat, turns and rows of a captured call. See link.h.
 *
 * The line of a request's chat holds its messages exactly: turns first_seq to
 * last_seq, then the reply. A child goes on where its parent's line fits its
 * own messages: after the parent's reply if it sends that reply back, else
 * after the parent's last message. If the chat has gone on from there already,
 * a fork of it takes the new turns.
 */
#include "engine/link.h"

#include "base/clock.h"
#include "engine/capture.h"
#include "engine/chat.h"
#include "engine/engine.h"
#include "engine/feed.h"
#include "engine/link_decide.h"
#include "engine/link_plan.h"
#include "engine/place.h"
#include "engine/turn.h"
#include "engine/work.h"
#include "store/db.h"
#include "text/analysis.h"

#include <stdatomic.h>
#include <string.h>

/* The channel that turns of captured calls carry. */
#define CHANNEL STR("llm")

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct link_input *input;
    struct link_plan *plan;
    int64_t now_ms;
    struct batch_work batch; /* what the transaction stored, for the index */
    struct link_result *out;
};

/* Where a request's new turns go. */
struct spot {
    struct chat chat;
    int64_t first_seq; /* of the request's first message */
    size_t n_known;    /* messages that are stored already */
    int64_t known_seq; /* seq of the last of these */
};

/* --- what the decision may ask for -----------------------------------------
 */

static enum clew_status plan_prefixes(void *arg, struct store_tx *tx,
                                      struct uuid **out_keys, size_t *out_count,
                                      struct clew_error *err)
{
    struct work *work = arg;
    const struct link_messages *messages = &work->plan->messages;
    struct uuid *keys = arena_zero(work->arena, messages->count, sizeof(*keys));

    (void)tx;
    if (!keys) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < messages->count; i++) {
        keys[i] = request_key(&messages->prefix[i]);
    }
    *out_keys = keys;
    *out_count = messages->count;
    return CLEW_OK;
}

static enum clew_status plan_alone(void *arg, struct store_tx *tx, size_t i,
                                   struct link_digest *out,
                                   struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status =
        link_hash_alone(work->plan->messages.items[i], out);

    (void)tx;
    return status == CLEW_OK ? CLEW_OK
                             : clew_fail(err, status, "out of memory");
}

static enum clew_status plan_needle(void *arg, struct store_tx *tx,
                                    struct str *out_needle,
                                    struct clew_error *err)
{
    struct work *work = arg;

    (void)tx;
    (void)err;
    *out_needle = work->plan->needle;
    return CLEW_OK;
}

/* --- the chat --------------------------------------------------------------
 */

static enum clew_status new_chat(struct work *work, struct store_tx *tx,
                                 struct spot *out, struct clew_error *err)
{
    const struct request *request = &work->plan->request;
    struct chat *chat = &out->chat;

    memset(out, 0, sizeof(*out));
    chat->id = uuid_derive(request->created_at_ms, &request->id, "chat", 0);
    chat->conversation_id = chat->id;
    chat->user_id = request->user_id;
    chat->branch = STR("main");
    chat->channels = STR("");
    chat->is_explicit = true;
    chat->created_at_ms = request->created_at_ms;
    chat->last_activity_at_ms = request->created_at_ms;
    out->first_seq = 1;
    return chat_insert(tx, chat, err);
}

/* A call without parent: the chat the caller named, or a new one. */
static enum clew_status root_spot(struct work *work, struct store_tx *tx,
                                  struct spot *out, struct clew_error *err)
{
    enum clew_status status;

    if (uuid_is_nil(&work->input->chat_id)) {
        return new_chat(work, tx, out, err);
    }
    memset(out, 0, sizeof(*out));
    status = chat_find(tx, work->arena, &work->input->chat_id, &out->chat, err);
    out->known_seq = out->chat.last_seq;
    out->first_seq = out->chat.last_seq + 1;
    return status;
}

/* True if the message after the parent's own is the parent's reply. */
static enum clew_status sends_reply_back(struct work *work,
                                         const struct request *parent,
                                         bool *out_does, struct clew_error *err)
{
    size_t count = (size_t)parent->message_count;
    struct link_digest alone;
    struct uuid key;
    enum clew_status status;

    *out_does = false;
    if (parent->reply_seq == 0 || count >= work->plan->messages.count) {
        return CLEW_OK;
    }
    status = plan_alone(work, NULL, count, &alone, err);
    if (status == CLEW_OK) {
        key = request_reply_key(&parent->current, &alone);
        *out_does = uuid_eq(&key, &parent->reply_key);
    }
    return status;
}

/* Go on in the parent's chat if its line ends at `at_seq`, else fork there. */
static enum clew_status enter(struct work *work, struct store_tx *tx,
                              const struct request *parent, int64_t at_seq,
                              struct str branch, struct spot *out,
                              struct clew_error *err)
{
    struct chat chat;
    enum clew_status status =
        chat_find(tx, work->arena, &parent->chat_id, &chat, err);

    if (status != CLEW_OK) {
        return status;
    }
    out->known_seq = at_seq;
    if (chat.last_seq == at_seq && str_eq(parent->branch, branch)) {
        out->chat = chat;
        return CLEW_OK;
    }
    return chat_fork(tx, work->arena, &chat, at_seq, (struct str){NULL, 0},
                     branch, work->plan->request.created_at_ms, &out->chat,
                     err);
}

/* The end of what a child shares with its parent. */
static int64_t end_of(const struct request *request)
{
    return request->reply_seq ? request->reply_seq : request->last_seq;
}

static enum clew_status child_spot(struct work *work, struct store_tx *tx,
                                   const struct link_decision *decision,
                                   struct spot *out, struct clew_error *err)
{
    const struct request *parent = &decision->parent;
    bool is_delta =
        work->plan->request.call.previous_id.len > 0 &&
        str_eq(work->plan->request.call.previous_id, parent->call.response_id);
    bool has_reply = false;
    enum clew_status status = CLEW_OK;

    memset(out, 0, sizeof(*out));
    if (decision->strategy == LINK_SUBTASK) {
        out->first_seq = 1; /* a task sees nothing of who gave it */
        return enter(work, tx, parent, 0, decision->branch, out, err);
    }
    if (decision->strategy == LINK_COMPACT || is_delta) {
        out->first_seq = end_of(parent) + 1;
        return enter(work, tx, parent, end_of(parent), decision->branch, out,
                     err);
    }
    status = sends_reply_back(work, parent, &has_reply, err);
    if (status != CLEW_OK) {
        return status;
    }
    out->first_seq = parent->first_seq;
    out->n_known = (size_t)parent->message_count + has_reply;
    return enter(work, tx, parent,
                 has_reply ? parent->reply_seq : parent->last_seq,
                 decision->branch, out, err);
}

/* The same messages again: nothing is new but perhaps the reply. */
static enum clew_status twin_spot(struct work *work, struct store_tx *tx,
                                  const struct request *twin, struct spot *out,
                                  struct clew_error *err)
{
    struct link_plan *plan = work->plan;
    enum clew_status status = CLEW_OK;

    memset(out, 0, sizeof(*out));
    if (!plan->has_reply ||
        uuid_eq(&plan->request.reply_key, &twin->reply_key)) {
        status = chat_find(tx, work->arena, &twin->chat_id, &out->chat, err);
    } else {
        status = enter(work, tx, twin, twin->last_seq, twin->branch, out, err);
    }
    out->first_seq = twin->first_seq;
    out->n_known = plan->messages.count;
    out->known_seq = twin->last_seq;
    return status;
}

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

static enum clew_status store_turn(struct work *work, const struct spot *spot,
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
    struct reading reading = {0};
    struct updates updates;
    struct turn turn;
    enum clew_status status;

    capture_prepare(&input, work->now_ms, &turn);
    status = reading_of(work->engine, work->arena, &turn, &reading, err);
    if (status == CLEW_OK) {
        status =
            capture_live(&work->batch, &input, &turn, &reading, &updates, err);
    }
    *out_seq = turn.seq;
    work->out->n_new_turns += status == CLEW_OK;
    return status;
}

/* Store the messages that are new, each with the digest up to it. */
static enum clew_status store_messages(struct work *work, struct place *place,
                                       const struct spot *spot,
                                       struct request *request,
                                       struct clew_error *err)
{
    const struct link_messages *messages = &work->plan->messages;
    enum clew_status status = CLEW_OK;

    request->last_seq = spot->known_seq;
    for (size_t i = spot->n_known; i < messages->count && status == CLEW_OK;
         i++) {
        struct content content;

        status = link_plan_content(
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
                                          const struct link_decision *decision,
                                          const struct spot *spot,
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

static enum clew_status store_reply(struct work *work, const struct spot *spot,
                                    const struct link_decision *decision,
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
                                    const struct spot *spot,
                                    const struct link_decision *decision,
                                    struct request *request,
                                    struct clew_error *err)
{
    struct place place;
    enum clew_status status = place_begin(&place, work->engine, tx, work->arena,
                                          &spot->chat.id, 1, err);

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
    if (status == CLEW_OK) {
        status = capture_end(&work->batch, err);
    }
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
        !link_digest_eq(&known.current, &work->plan->request.current)) {
        return clew_fail(err, CLEW_CONFLICT,
                         "this request_id is known with other messages");
    }
    if (status == CLEW_OK) {
        work->out->request = known;
        work->out->is_repeat = true;
    }
    return status;
}

static enum clew_status find_spot(struct work *work, struct store_tx *tx,
                                  struct link_decision *decision,
                                  struct spot *spot, struct clew_error *err)
{
    enum clew_status status;

    if (decision->has_twin) {
        return twin_spot(work, tx, &decision->twin, spot, err);
    }
    if (!decision->has_parent) {
        return root_spot(work, tx, spot, err);
    }
    status = child_spot(work, tx, decision, spot, err);
    if (status == CLEW_TOO_LARGE) {
        /* forks of forks without end: still stored, on its own */
        memset(decision, 0, sizeof(*decision));
        decision->branch = STR("main");
        work->out->note = "the tree is too deep; a new conversation was made";
        return root_spot(work, tx, spot, err);
    }
    return status;
}

static enum clew_status store_traces(struct work *work, struct store_tx *tx,
                                     struct clew_error *err)
{
    const struct link_plan *plan = work->plan;
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
    const struct link_sources sources = {work, plan_prefixes, plan_alone,
                                         plan_needle};
    struct request *request = &work->out->request;
    struct link_decision decision;
    struct spot spot;
    bool is_known;
    enum clew_status status;

    memset(work->out, 0, sizeof(*work->out));
    work->batch = (struct batch_work){0};
    status = check_known(work, tx, &is_known, err);
    if (status != CLEW_OK || is_known) {
        return status;
    }
    status = link_decide(tx, work->arena, &work->plan->request, &sources,
                         &decision, err);
    if (status == CLEW_OK) {
        status = find_spot(work, tx, &decision, &spot, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    *request = work->plan->request;
    request->conversation_id = spot.chat.conversation_id;
    request->chat_id = spot.chat.id;
    request->branch = spot.chat.branch;
    link_apply(&decision, request);
    request->first_seq = spot.first_seq;
    work->out->is_retry = decision.has_twin;
    status = store_turns(work, tx, &spot, &decision, request, err);
    return status == CLEW_OK ? store_traces(work, tx, err) : status;
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
        if (last - now_ms > CLOCK_MINUTE_MS) {
            next = now_ms;
        }
    } while (!atomic_compare_exchange_weak(&last_ms, &last, next));
    return next;
}

/* Everything that needs no transaction. */
static enum clew_status prepare(struct work *work, struct clew_error *err)
{
    const struct link_input *input = work->input;
    struct request *request = &work->plan->request;
    enum clew_status status =
        link_plan_make(work->arena, input, work->plan, err);

    if (status != CLEW_OK) {
        return status;
    }
    request->created_at_ms = input->created_at_ms == LINK_NOW
                                 ? next_time(work->now_ms)
                                 : input->created_at_ms;
    request->stored_at_ms = work->now_ms;
    request->id =
        uuid_is_nil(&input->id) ? uuid_new(request->created_at_ms) : input->id;
    return CLEW_OK;
}

enum clew_status link_request(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct link_input *input,
                              struct link_result *out, struct clew_error *err)
{
    struct link_plan plan;
    struct link_result result;
    struct work work = {.engine = engine,
                        .arena = arena,
                        .input = input,
                        .plan = &plan,
                        .now_ms = clock_now_ms(engine->clock),
                        .out = &result};
    enum clew_status status = prepare(&work, err);

    if (status == CLEW_OK) {
        status = store_write(engine->store, scope, do_link, &work, err);
    }
    if (status == CLEW_OK) {
        feed_offer(engine, scope, &work.batch);
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

enum clew_status link_requests(struct engine *engine, const struct scope *scope,
                               struct arena *arena,
                               const struct link_input *inputs, size_t count,
                               struct link_result *out,
                               enum clew_status *out_statuses,
                               struct clew_error *err)
{
    struct batch batch = {.statuses = out_statuses, .count = count};
    enum clew_status status;
    struct link_plan *plans = arena_zero(arena, count, sizeof(*plans));

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
        feed_offer(engine, scope, &batch.works[i].batch);
    }
    return status;
}
