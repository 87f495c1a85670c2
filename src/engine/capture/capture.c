/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - a turn's life, step by step. See capture.h.
 *
 * What depends on the text alone (analysis, vector) is done before the writer
 * is taken. Inside the transaction: repeats are sorted out, each turn is placed
 * and stored, and what follows from it is derived. After the commit the search
 * index is told; if that fails, the index catches up by itself.
 */
#include "engine/capture/capture.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/limits.h"
#include "engine/capture/left_out.h"
#include "engine/capture/observers.h"
#include "engine/capture/read_turn.h"
#include "engine/chat/place.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/chat/content_redact.h"
#include "engine/core/redact.h"
#include "engine/core/trace.h"
#include "engine/core/updates.h"
#include "engine/core/work.h"
#include "engine/read/doc.h"
#include "engine/read/reading.h"
#include "store/db.h"
#include "text/analysis.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* One turn on its way. */
struct item {
    const struct capture_input *input;
    struct capture_input placed; /* the same in the chat made for it */
    struct turn turn; /* id, times and text are set before the transaction */
    struct reading reading;   /* what it says, made before as well */
    const struct turn *first; /* the stored turn this one repeats, or NULL */
    struct updates updates;   /* what it changed */
    size_t same_as;    /* an earlier item of this batch it repeats, or itself */
    bool is_forgotten; /* nothing is stored of it (left_out.h) */
};

struct batch {
    struct engine *engine;
    struct arena *arena;
    struct item *items;
    size_t count;
    bool may_leave_out;
    bool is_unread;         /* commit_is_unread() */
    struct batch_work work; /* of the transaction; kept for the index */
    struct capture_result *out;
    /* for read_batch() */
    struct uuid *ids;
    struct updates **updates;
    struct chat **chats;
};

/* Put "turns[i]." before the field an error names, in a batch. */
static enum clew_status at_item(const struct batch *batch, size_t i,
                                enum clew_status status, struct clew_error *err)
{
    char field[sizeof(err->field)];

    if (status != CLEW_OK && err && batch->count > 1) {
        (void)snprintf(field, sizeof(field), "turns[%zu]%s%.60s", i,
                       err->field[0] ? "." : "", err->field);
        memcpy(err->field, field, sizeof(field));
    }
    return status;
}

/* --- before the transaction ------------------------------------------------
 */

enum clew_status capture_prepare(const struct engine *engine,
                                 struct arena *arena,
                                 const struct capture_input *input,
                                 int64_t now_ms, struct turn *out,
                                 struct clew_error *err)
{
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    out->id = uuid_new(now_ms);
    out->role = input->role;
    out->user_id = input->user_id;
    out->name = input->name;
    out->channel = input->channel;
    out->timezone = input->timezone;
    out->external_id = input->external_id;
    out->content = input->content.json;
    out->text = input->content.text;
    out->stored_at_ms = now_ms;
    out->created_at_ms =
        input->created_at_ms == CAPTURE_NOW ? now_ms : input->created_at_ms;
    status = content_redact(engine, arena, &out->text, &out->content, err);
    /* both are shown with the turn, the name is looked for */
    if (status == CLEW_OK) {
        status = redact_text(engine, arena, &out->name, err);
    }
    if (status == CLEW_OK) {
        status = redact_text(engine, arena, &out->channel, err);
    }
    out->token_count = (int64_t)text_token_estimate(out->text);
    return status;
}

/* --- repeats ---------------------------------------------------------------
 */

/* Kept beside the text only for what is starred there. */
static bool is_plain(const struct turn *turn)
{
    return turn->content.len > 0 && turn->content.s[0] == '"';
}

/* The same text, also if one of them was stored under another redact.mode. */
static bool is_same_text(struct arena *arena, const struct turn *a,
                         const struct turn *b)
{
    struct str left = a->text;
    struct str right = b->text;

    if (str_eq(left, right)) {
        return str_eq(a->content, b->content) ||
               (!a->content.s && is_plain(b)) || (!b->content.s && is_plain(a));
    }
    return redact_str(arena, &left, NULL) == CLEW_OK &&
           redact_str(arena, &right, NULL) == CLEW_OK && str_eq(left, right);
}

static bool is_same_turn(struct arena *arena, const struct turn *a,
                         const struct turn *b)
{
    return a->role == b->role && str_eq(a->user_id, b->user_id) &&
           is_same_text(arena, a, b);
}

static enum clew_status conflict(const struct batch *batch, size_t i,
                                 struct clew_error *err)
{
    (void)clew_fail(err, CLEW_CONFLICT,
                    "this external_id is known with other content");
    if (err) {
        memcpy(err->field, "external_id", sizeof("external_id"));
    }
    return at_item(batch, i, CLEW_CONFLICT, err);
}

/* Mark the items that repeat an earlier one of the same batch. */
static enum clew_status find_twins(struct batch *batch, struct clew_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];

        item->same_as = i;
        item->first = NULL;
        item->is_forgotten = false; /* it may be done once more */
        for (size_t k = 0; item->turn.external_id.s && k < i; k++) {
            struct item *twin = &batch->items[k];

            if (twin->same_as == k && twin->turn.external_id.s &&
                str_eq(twin->turn.external_id, item->turn.external_id)) {
                if (!is_same_turn(batch->arena, &twin->turn, &item->turn)) {
                    return conflict(batch, i, err);
                }
                item->same_as = k;
                break;
            }
        }
    }
    return CLEW_OK;
}

/* Mark the items that are stored already. */
static enum clew_status find_repeats(struct batch *batch, struct store_tx *tx,
                                     struct clew_error *err)
{
    struct str *ids = arena_zero(batch->arena, batch->count, sizeof(*ids));
    size_t n_ids = 0;
    struct turn *found;
    size_t n_found;
    enum clew_status status = find_twins(batch, err);

    if (status != CLEW_OK || !ids) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].turn.external_id.s) {
            ids[n_ids++] = batch->items[i].turn.external_id;
        }
    }
    if (n_ids == 0) {
        return CLEW_OK;
    }
    status =
        turn_find_external(tx, batch->arena, ids, n_ids, &found, &n_found, err);
    for (size_t i = 0; status == CLEW_OK && i < batch->count; i++) {
        struct item *item = &batch->items[i];

        for (size_t k = 0; item->turn.external_id.s && k < n_found; k++) {
            if (str_eq(found[k].external_id, item->turn.external_id)) {
                if (!is_same_turn(batch->arena, &found[k], &item->turn)) {
                    return conflict(batch, i, err);
                }
                item->first = &found[k];
            }
        }
    }
    return status;
}

static bool is_forgotten(const struct batch *batch, size_t i)
{
    return batch->items[batch->items[i].same_as].is_forgotten;
}

static bool is_fresh(const struct batch *batch, size_t i)
{
    return !batch->items[i].first && batch->items[i].same_as == i &&
           !is_forgotten(batch, i);
}

/* Mark the items that were forgotten and are not to come in. */
static enum clew_status find_forgotten(struct batch *batch, struct store_tx *tx,
                                       struct clew_error *err)
{
    struct left_out *left =
        arena_zero(batch->arena, batch->count, sizeof(*left));
    size_t n = 0;
    enum clew_status status;

    if (!left) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (is_fresh(batch, i)) {
            left[n++] = (struct left_out){item->input, &item->turn, false};
        }
    }
    status = left_out_find(tx, batch->arena, left, n, err);
    for (size_t i = batch->count; status == CLEW_OK && i-- > 0;) {
        if (is_fresh(batch, i)) {
            batch->items[i].is_forgotten = left[--n].is_out;
        }
    }
    return status;
}

/* --- inside the transaction ------------------------------------------------
 */

static void add_id(struct uuid *ids, size_t *count, const struct uuid *id)
{
    if (uuid_is_nil(id)) {
        return;
    }
    for (size_t i = *count; i-- > 0;) {
        if (uuid_eq(&ids[i], id)) {
            return;
        }
    }
    ids[(*count)++] = *id;
}

/* Make the chat that the batch is to begin, if there is anything to put into
 * it: who brings the same at the same time finds all of it known here. */
static enum clew_status open_fork(struct batch *batch, struct store_tx *tx,
                                  struct clew_error *err)
{
    const struct chat_origin *origin = batch->items[0].input->origin;
    struct chat fork;
    size_t i = 0;
    enum clew_status status;

    while (i < batch->count && !is_fresh(batch, i)) {
        i++;
    }
    if (!origin || i == batch->count) {
        return CLEW_OK;
    }
    status =
        chat_fork_from(batch->engine, tx, batch->arena, origin, &fork, err);
    for (; status == CLEW_OK && i < batch->count; i++) {
        struct item *item = &batch->items[i];

        item->placed = *item->input; /* once more as it was, if done again */
        item->placed.chat_id = fork.id;
        item->input = &item->placed;
    }
    return status;
}

/* Load every chat that the batch names or repeats; what is left out may name
 * one that is gone. */
static enum clew_status begin_place(struct batch *batch, struct store_tx *tx,
                                    struct place *place, struct clew_error *err)
{
    struct uuid *ids = arena_zero(batch->arena, batch->count, sizeof(*ids));
    size_t n_ids = 0;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (!is_forgotten(batch, i)) {
            add_id(ids, &n_ids,
                   item->first ? &item->first->chat_id : &item->input->chat_id);
        }
    }
    return place_begin(place, batch->engine, tx, batch->arena, ids, n_ids, err);
}

/* What follows from a turn, step by step. */
static enum clew_status observe(struct turn_work *work, struct clew_error *err)
{
    const struct turn *turn = work->turn;
    enum clew_status status =
        trace_begin(work, place_trace(work->placement), err);

    if (status == CLEW_OK && engine_observes(work->batch->engine)) {
        status = observers_turn(work, err);
        if (status == CLEW_OK) {
            status = read_turn_wait(work->batch->tx, turn, err);
        }
    }
    return trace_end(work, &turn->id, status, err);
}

enum clew_status capture_live(struct batch_work *work,
                              const struct capture_input *input,
                              struct turn *turn, const struct reading *reading,
                              struct updates *updates, struct clew_error *err)
{
    struct place_wish wish = {input->chat_id, input->recorded};
    struct placement placement;
    struct index_doc doc;
    struct turn_work turn_work = {.batch = work,
                                  .turn = turn,
                                  .reading = reading,
                                  .placement = &placement,
                                  .updates = updates};
    enum clew_status status =
        place_turn(work->place, &wish, turn, &placement, err);

    *updates = (struct updates){0};
    turn->log_flags = (work->first_change == 0 ? TURN_LOG_FIRST : 0) |
                      (uuid_is_nil(&input->chat_id) ? 0 : TURN_LOG_NAMED);
    if (status == CLEW_OK) {
        status = work_take_change(work, &turn->change_seq, err);
    }
    if (status == CLEW_OK) {
        status = turn_insert(work->tx, turn, err);
    }
    if (status == CLEW_OK && !work->is_unread) {
        status = doc_of_turn(work->arena, turn, &reading->text, &doc, err);
        if (status == CLEW_OK) {
            status = work_add_doc(work, &doc, err);
        }
    }
    return status == CLEW_OK ? observe(&turn_work, err) : status;
}

enum clew_status capture_end(struct batch_work *work, struct clew_error *err)
{
    enum clew_status status = observers_batch_end(work, err);

    return status == CLEW_OK ? place_end(work->place, err) : status;
}

static void fill_results(struct batch *batch, struct place *place)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        struct capture_result *result = &batch->out[i];
        struct place_chat *slot;

        result->is_repeat = !is_fresh(batch, i);
        result->is_forgotten = is_forgotten(batch, i);
        result->turn =
            item->first ? *item->first : batch->items[item->same_as].turn;
        if (result->is_forgotten) {
            continue;
        }
        if (is_fresh(batch, i)) {
            result->updates = item->updates;
        }
        slot = place_find(place, &result->turn.chat_id);
        assert(slot); /* begin_place() loaded it, or the turn opened it */
        result->chat = slot->chat;
    }
}

/* Few enough turns to be read before the call returns? */
static bool is_live(const struct batch *batch)
{
    return engine_observes(batch->engine) &&
           batch->count <=
               (size_t)config_int(batch->engine->config, "reader.live_turns");
}

static enum clew_status store_batch(struct store_tx *tx, void *arg,
                                    struct clew_error *err)
{
    struct batch *batch = arg;
    struct place place;
    enum clew_status status;

    batch->work = (struct batch_work){.engine = batch->engine,
                                      .tx = tx,
                                      .arena = batch->arena,
                                      .place = &place,
                                      .is_unread = batch->is_unread};
    status = left_out_ahead(tx, err);
    if (status == CLEW_OK) {
        status = find_repeats(batch, tx, err);
    }
    if (status == CLEW_OK && batch->may_leave_out) {
        status = find_forgotten(batch, tx, err);
    }
    if (status == CLEW_OK) {
        status = open_fork(batch, tx, err);
    }
    if (status == CLEW_OK) {
        status = begin_place(batch, tx, &place, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < batch->count; i++) {
        struct item *item = &batch->items[i];

        if (is_fresh(batch, i)) {
            status = capture_live(&batch->work, item->input, &item->turn,
                                  &item->reading, &item->updates, err);
            status = at_item(batch, i, status, err);
        }
    }
    if (status == CLEW_OK && !batch->may_leave_out) {
        /* it can only be refused: asked last, it waits for no answer */
        status = find_forgotten(batch, tx, err);
    }
    if (status == CLEW_OK) {
        status = capture_end(&batch->work, err);
    }
    if (status == CLEW_OK && engine_observes(batch->engine) &&
        !is_live(batch)) {
        status = read_turn_later(tx, batch->arena,
                                 clock_now_ms(batch->engine->clock), err);
    }
    if (status == CLEW_OK) {
        fill_results(batch, &place);
    }
    batch->work.place = NULL; /* it ends with this function */
    return status;
}

/* --- after the transaction -------------------------------------------------
 */

/* What reading a batch needs, made before the batch is stored: after that
 * nothing fails. */
static enum clew_status prepare_reading(struct batch *batch,
                                        struct clew_error *err)
{
    size_t n = batch->count;

    batch->ids = arena_zero(batch->arena, n, sizeof(*batch->ids));
    batch->updates = arena_zero(batch->arena, n, sizeof(struct updates *));
    batch->chats = arena_zero(batch->arena, n, sizeof(struct chat *));
    if (!batch->ids || !batch->updates || !batch->chats) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        batch->chats[i] = &batch->out[i].chat;
    }
    return CLEW_OK;
}

/* Is `i` the first new turn of its user? */
static bool is_first_of_user(const struct batch *batch, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (!batch->out[k].is_repeat &&
            str_eq(batch->out[k].turn.user_id, batch->out[i].turn.user_id)) {
            return false;
        }
    }
    return !batch->out[i].is_repeat;
}

/* Read the turns that are new, user by user. */
static void read_batch(struct batch *batch, const struct scope *scope)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct read_turn_now wanted = {.user_id = batch->out[i].turn.user_id,
                                       .turn_ids = batch->ids,
                                       .updates = batch->updates,
                                       .chats = batch->chats,
                                       .n_chats = batch->count};

        if (!is_first_of_user(batch, i)) {
            continue;
        }
        for (size_t k = i; k < batch->count; k++) {
            if (!batch->out[k].is_repeat &&
                str_eq(batch->out[k].turn.user_id, wanted.user_id)) {
                batch->ids[wanted.count] = batch->out[k].turn.id;
                batch->updates[wanted.count++] = &batch->out[k].updates;
            }
        }
        read_turn_now(batch->engine, scope, batch->arena, &wanted);
    }
}

enum clew_status capture_turns(struct engine *engine, const struct scope *scope,
                               struct arena *arena,
                               const struct capture_input *inputs, size_t count,
                               struct capture_result *out,
                               struct clew_error *err)
{
    struct batch batch = {
        .engine = engine, .arena = arena, .count = count, .out = out};
    int64_t now_ms = clock_now_ms(engine->clock);
    enum clew_status status = CLEW_OK;

    if (count == 0 || count > LIMIT_BATCH_TURNS) {
        return clew_fail_field(err, "turns",
                               "a batch has 1 to %d turns, this one %zu",
                               LIMIT_BATCH_TURNS, count);
    }
    batch.items = arena_zero(arena, count, sizeof(*batch.items));
    if (!batch.items) {
        return clew_no_memory(err);
    }
    memset(out, 0, count * sizeof(*out));
    batch.may_leave_out = inputs[0].may_leave_out;
    batch.is_unread = commit_is_unread(engine, scope);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct item *item = &batch.items[i];

        item->input = &inputs[i];
        status = capture_prepare(engine, arena, &inputs[i], now_ms, &item->turn,
                                 err);
        if (status == CLEW_OK && !batch.is_unread) {
            status = reading_to_store(engine, arena, &item->turn,
                                      &item->reading, err);
        }
    }
    if (status == CLEW_OK && is_live(&batch)) {
        status = prepare_reading(&batch, err);
    }
    if (status == CLEW_OK) {
        status =
            commit_write(engine, scope, store_batch, &batch, &batch.work, err);
    }
    if (status == CLEW_OK && is_live(&batch)) {
        read_batch(&batch, scope);
    }
    return status;
}
