/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild_replay.c - read the log in order and live it again.
 *
 * Three streams (turns told here, turns imported, actions) are merged by their
 * place in the log. Turns of one transaction are captured in one again. A turn
 * keeps its id, its times and where it stands; all else is found anew.
 */
#include "engine/proof/rebuild_internal.h"

#include "base/limits.h"
#include "engine/capture/capture.h"
#include "engine/capture/read_turn.h"
#include "engine/chat/place.h"
#include "engine/core/advice.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/feed/feed.h"
#include "engine/read/reading.h"
#include "store/db.h"

#include <string.h>

#define PAGE 500
#define ARENA_BYTES ((size_t)1 << 32)

DB_SQL(SELECT_LATEST, "SELECT change_seq FROM tenants WHERE tenant = $1");
/* What it named itself; what it took over later is taken over again. */
DB_SQL(SELECT_SOURCES,
       "SELECT source_id FROM memory_sources WHERE tenant = $1"
       " AND memory_id = $2 AND created_at <= $3 ORDER BY ordinal LIMIT 1000");

/* --- reading ---------------------------------------------------------------
 */

/* Run `fn` in the caller's transaction, or in one of its own. */
static enum clew_status read_real(struct rebuild *r, struct store_tx *tx,
                                  store_fn fn, void *arg,
                                  struct clew_error *err)
{
    return tx ? fn(tx, arg, err)
              : store_read(r->engine->store, &r->scope, fn, arg, err);
}

static enum clew_status do_latest(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct rebuild *r = arg;

    return rows_number(tx, &SELECT_LATEST, DB_NO_ARGS, &r->through, err);
}

/* The chats that a page of turns stands in. */
static enum clew_status load_chats(struct rebuild_turns *stream,
                                   struct store_tx *tx, struct clew_error *err)
{
    struct uuid *ids = arena_zero(&stream->arena, stream->count, sizeof(*ids));
    size_t n_ids = 0;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < stream->count; i++) {
        const struct uuid *id = &stream->items[i].turn.chat_id;
        size_t k = 0;

        while (k < n_ids && !uuid_eq(&ids[k], id)) {
            k++;
        }
        if (k == n_ids) {
            ids[n_ids++] = *id;
        }
    }
    stream->n_chats = 0;
    return n_ids == 0 ? CLEW_OK
                      : chat_find_many(tx, &stream->arena, ids, n_ids,
                                       &stream->chats, &stream->n_chats, err);
}

static enum clew_status do_turns_page(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    struct rebuild_turns *stream = arg;
    enum clew_status status;

    stream->at = 0;
    stream->count = 0;
    status = turn_list_log(tx, &stream->arena, &stream->after, PAGE,
                           &stream->items, &stream->count, err);
    if (status == CLEW_OK) {
        stream->is_end = stream->count < PAGE;
        status = load_chats(stream, tx, err);
    }
    return status;
}

/* What only the real store knows of an action. */
static enum clew_status load_extras(struct rebuild_actions *stream,
                                    struct store_tx *tx,
                                    struct rebuild_action *entry,
                                    struct clew_error *err)
{
    struct arena *arena = &stream->arena;
    enum clew_status status = CLEW_OK;
    struct str key = {NULL, 0};
    json_t *detail = NULL;

    if (str_eq(entry->action.kind, STR(ACTION_THOUGHT))) {
        struct rows_list list = {
            .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};

        status =
            memory_find(tx, arena, &entry->action.made, &entry->memory, err);
        if (status == CLEW_NOT_FOUND) {
            entry->memory.id = (struct uuid){{0}};
            return CLEW_OK;
        }
        if (status == CLEW_OK) {
            status = rows_add(tx, &list, &SELECT_SOURCES,
                              DB_ARGS(db_uuid(&entry->action.made),
                                      db_int(entry->memory.created_at_ms)),
                              err);
        }
        entry->sources = list.items;
        entry->n_sources = list.count;
        return status;
    }
    if (str_eq(entry->action.kind, STR(ACTION_CHAT_FORK))) {
        status =
            chat_find(tx, arena, &entry->action.subject, &entry->chat, err);
        if (status == CLEW_NOT_FOUND) {
            entry->chat.id = (struct uuid){{0}};
            status = CLEW_OK;
        }
        return status;
    }
    if (json_parse(entry->action.detail, &detail, NULL) == CLEW_OK &&
        json_get_str(detail, "answer", JSON_OPTIONAL, 1024, &key, NULL) ==
            CLEW_OK &&
        key.s) {
        status = advice_find(tx, arena, key, &entry->answer, err);
    }
    json_decref(detail);
    return status;
}

static enum clew_status do_actions_page(struct store_tx *tx, void *arg,
                                        struct clew_error *err)
{
    struct rebuild_actions *stream = arg;
    struct action *actions = NULL;
    enum clew_status status;

    stream->at = 0;
    stream->count = 0;
    status =
        action_list(tx, &stream->arena, stream->after_seq, &stream->after_id,
                    PAGE, &actions, &stream->count, err);
    if (status != CLEW_OK) {
        return status;
    }
    stream->is_end = stream->count < PAGE;
    stream->items =
        arena_zero(&stream->arena, stream->count + 1, sizeof(*stream->items));
    if (!stream->items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < stream->count && status == CLEW_OK; i++) {
        stream->items[i].action = actions[i];
        status = load_extras(stream, tx, &stream->items[i], err);
    }
    return status;
}

/* The next turn of a stream; NULL at its end. `can_empty` says that nothing of
 * the page before is in use any more. */
static enum clew_status
head_turn(struct rebuild *r, struct rebuild_turns *stream, struct store_tx *tx,
          bool can_empty, const struct turn_entry **out, struct clew_error *err)
{
    *out = NULL;
    if (stream->at == stream->count && !stream->is_end) {
        enum clew_status status;

        if (can_empty) {
            arena_clear(&stream->arena);
        }
        status = read_real(r, tx, do_turns_page, stream, err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    if (stream->at < stream->count) {
        const struct turn_entry *entry = &stream->items[stream->at];

        /* what came since is for the next look */
        if (stream->after.is_imported || entry->log_seq <= r->through) {
            *out = entry;
        }
    }
    return CLEW_OK;
}

static void take_turn(struct rebuild_turns *stream)
{
    const struct turn_entry *entry = &stream->items[stream->at++];

    stream->after.log_seq = entry->log_seq;
    stream->after.change_seq = entry->turn.change_seq;
}

static enum clew_status head_action(struct rebuild *r, struct store_tx *tx,
                                    const struct rebuild_action **out,
                                    struct clew_error *err)
{
    struct rebuild_actions *stream = &r->actions;

    *out = NULL;
    if (stream->at == stream->count && !stream->is_end) {
        enum clew_status status;

        arena_clear(&stream->arena);
        status = read_real(r, tx, do_actions_page, stream, err);
        if (status != CLEW_OK) {
            return status;
        }
    }
    if (stream->at < stream->count &&
        stream->items[stream->at].action.seq <= r->through) {
        *out = &stream->items[stream->at];
    }
    return CLEW_OK;
}

/* --- turns -----------------------------------------------------------------
 */

/* The turns of one transaction. */
struct batch {
    struct rebuild *r;
    struct rebuild_turns *stream;
    struct arena *arena;
    struct turn *turns; /* as recorded */
    struct reading *readings;
    size_t count;
    size_t cap;
};

static bool opens_chat(const struct turn *turn)
{
    struct uuid fresh = uuid_derive(turn->created_at_ms, &turn->id, "chat", 0);

    return !(turn->log_flags & TURN_LOG_NAMED) &&
           uuid_eq(&fresh, &turn->chat_id);
}

/* A chat whose beginning was forgotten: it begins with what is left. */
static enum clew_status insert_chat(struct batch *batch, struct store_tx *tx,
                                    const struct turn *turn,
                                    struct clew_error *err)
{
    struct chat chat = {.id = turn->chat_id,
                        .conversation_id = turn->chat_id,
                        .user_id = turn->user_id,
                        .branch = STR("main"),
                        .is_explicit = true,
                        .created_at_ms = turn->created_at_ms};

    for (size_t i = 0; i < batch->stream->n_chats; i++) {
        if (uuid_eq(&batch->stream->chats[i].id, &turn->chat_id)) {
            chat = batch->stream->chats[i];
        }
    }
    chat.title = (struct str){NULL, 0};
    chat.is_titled_by_user = false;
    chat.summary = (struct str){NULL, 0};
    chat.channels = STR("");
    chat.inactivity_minutes = 0;
    chat.last_activity_at_ms = chat.created_at_ms;
    chat.closed_at_ms = 0;
    chat.last_seq = chat.fork_seq;
    chat.primary_episode_id = (struct uuid){{0}};
    chat.cross_episodes = (struct str){NULL, 0};
    return chat_insert(tx, &chat, err);
}

static void add_id(struct uuid *ids, size_t *count, const struct uuid *id)
{
    for (size_t i = 0; i < *count; i++) {
        if (uuid_eq(&ids[i], id)) {
            return;
        }
    }
    ids[(*count)++] = *id;
}

/* Every chat that this batch does not open itself is there. */
static enum clew_status make_chats(struct batch *batch, struct store_tx *tx,
                                   struct uuid *ids, size_t *out_count,
                                   struct clew_error *err)
{
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < batch->count && status == CLEW_OK; i++) {
        const struct turn *turn = &batch->turns[i];
        bool is_opened = opens_chat(turn);
        struct chat chat;

        for (size_t k = 0; k < i && !is_opened; k++) {
            is_opened = opens_chat(&batch->turns[k]) &&
                        uuid_eq(&batch->turns[k].chat_id, &turn->chat_id);
        }
        if (is_opened) {
            continue;
        }
        status = chat_find(tx, batch->arena, &turn->chat_id, &chat, NULL);
        if (status == CLEW_NOT_FOUND) {
            status = insert_chat(batch, tx, turn, err);
        }
        if (turn->log_flags & TURN_LOG_NAMED) {
            add_id(ids, &n, &turn->chat_id);
        }
    }
    *out_count = n;
    return status;
}

static enum clew_status live_again(struct batch *batch, struct batch_work *work,
                                   size_t i, struct clew_error *err)
{
    const struct turn *was = &batch->turns[i];
    struct turn turn = *was;
    struct updates updates;
    struct capture_input input = {
        .user_id = was->user_id,
        .role = was->role,
        .content = {.json = was->content, .text = was->text},
        .name = was->name,
        .channel = was->channel,
        .timezone = was->timezone,
        .external_id = was->external_id,
        .recorded = was,
        .created_at_ms = was->created_at_ms};

    if (was->log_flags & TURN_LOG_NAMED) {
        input.chat_id = was->chat_id;
    }
    return capture_live(work, &input, &turn, &batch->readings[i], &updates,
                        err);
}

static enum clew_status do_turns(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct batch *batch = arg;
    struct place place;
    struct batch_work work = {.engine = &batch->r->scratch,
                              .tx = tx,
                              .arena = batch->arena,
                              .place = &place};
    struct uuid *ids = arena_zero(batch->arena, batch->count, sizeof(*ids));
    size_t n_ids = 0;
    enum clew_status status =
        ids ? make_chats(batch, tx, ids, &n_ids, err) : clew_no_memory(err);

    if (status == CLEW_OK) {
        status = place_begin(&place, &batch->r->scratch, tx, batch->arena, ids,
                             n_ids, err);
    }
    for (size_t i = 0; i < batch->count && status == CLEW_OK; i++) {
        status = live_again(batch, &work, i, err);
    }
    return status == CLEW_OK ? capture_end(&work, err) : status;
}

/* Take the turns of one transaction from the stream. */
static enum clew_status collect(struct batch *batch, struct store_tx *tx,
                                struct clew_error *err)
{
    const struct turn_entry *entry;
    enum clew_status status =
        head_turn(batch->r, batch->stream, tx, true, &entry, err);

    while (status == CLEW_OK && entry) {
        struct turn *grown;

        if (!entry->is_flagged) {
            return clew_fail(err, CLEW_UNSUPPORTED,
                             "some turns were stored by a clew that kept no "
                             "actions; what follows from them cannot be made "
                             "again");
        }
        if (batch->count > 0 && (entry->turn.log_flags & TURN_LOG_FIRST)) {
            break;
        }
        grown = arena_grow(batch->arena, batch->turns, batch->count,
                           &batch->cap, sizeof(*grown));
        if (!grown) {
            return clew_no_memory(err);
        }
        batch->turns = grown;
        batch->turns[batch->count++] = entry->turn;
        take_turn(batch->stream);
        status = head_turn(batch->r, batch->stream, tx, false, &entry, err);
    }
    return status;
}

static enum clew_status replay_turns(struct rebuild *r, struct store_tx *tx,
                                     struct rebuild_turns *stream,
                                     struct arena *arena,
                                     struct clew_error *err)
{
    struct batch batch = {.r = r, .stream = stream, .arena = arena};
    enum clew_status status = collect(&batch, tx, err);

    if (status != CLEW_OK || batch.count == 0) {
        return status;
    }
    batch.readings = arena_zero(arena, batch.count, sizeof(*batch.readings));
    if (!batch.readings) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < batch.count && status == CLEW_OK; i++) {
        status = reading_to_store(&r->scratch, arena, &batch.turns[i],
                                  &batch.readings[i], err);
    }
    clock_set_ms(&r->clock, batch.turns[0].stored_at_ms);
    r->replay = (struct replay){0};
    if (status == CLEW_OK) {
        status =
            store_write(r->scratch.store, &r->scope, do_turns, &batch, err);
    }
    r->report.n_turns += (int64_t)batch.count;
    r->report.n_done += (int64_t)batch.count;
    return status;
}

/* --- actions ---------------------------------------------------------------
 */

static enum clew_status replay_action(struct rebuild *r,
                                      const struct rebuild_action *entry,
                                      struct arena *arena,
                                      struct clew_error *err)
{
    struct clew_error why = {.status = CLEW_OK};
    enum clew_status status;

    clock_set_ms(&r->clock, entry->action.at_ms);
    r->replay = (struct replay){.made = entry->action.made,
                                .other = entry->action.subject,
                                .answer = entry->answer};
    status = rebuild_do_action(r, entry, arena, &why);
    if (status == CLEW_NOT_FOUND || status == CLEW_CONFLICT ||
        status == CLEW_INVALID) {
        r->report.n_skipped++; /* what it was done to is forgotten */
        status = CLEW_OK;
    }
    if (status != CLEW_OK && err) {
        *err = why;
    }
    r->actions.after_seq = entry->action.seq;
    r->actions.after_id = entry->action.id;
    r->actions.n_done += !str_eq(entry->action.kind, STR(ACTION_READ));
    r->actions.at++;
    r->report.n_actions++;
    r->report.n_done++;
    return status;
}

/* --- in order --------------------------------------------------------------
 */

/* What comes next stands here; if others came after it already, it was imported
 * meanwhile. */
static enum clew_status reach(struct rebuild *r, int64_t place,
                              struct clew_error *err)
{
    if (place < r->reached) {
        return clew_fail(err, CLEW_CONFLICT, "things were imported meanwhile");
    }
    r->reached = place;
    return CLEW_OK;
}

/* Replay what comes next; `*out_any` is false at the end of the log. */
static enum clew_status step(struct rebuild *r, struct store_tx *tx,
                             struct arena *arena, bool *out_any,
                             struct clew_error *err)
{
    const struct turn_entry *told = NULL;
    const struct turn_entry *imported = NULL;
    const struct rebuild_action *action = NULL;
    enum clew_status status = head_turn(r, &r->told, tx, true, &told, err);

    if (status == CLEW_OK) {
        status = head_turn(r, &r->imported, tx, true, &imported, err);
    }
    if (status == CLEW_OK) {
        status = head_action(r, tx, &action, err);
    }
    *out_any = told || imported || action;
    if (status != CLEW_OK || !*out_any) {
        return status;
    }
    if (imported && (!told || imported->log_seq <= told->log_seq) &&
        (!action || imported->log_seq <= action->action.seq)) {
        status = reach(r, imported->log_seq, err);
        return status == CLEW_OK ? replay_turns(r, tx, &r->imported, arena, err)
                                 : status;
    }
    if (told && (!action || told->log_seq <= action->action.seq)) {
        status = reach(r, told->log_seq, err);
        return status == CLEW_OK ? replay_turns(r, tx, &r->told, arena, err)
                                 : status;
    }
    status = reach(r, action->action.seq, err);
    return status == CLEW_OK ? replay_action(r, action, arena, err) : status;
}

/* --- what no log says was read ---------------------------------------------
 */

/* The most turns of an earlier version that are read anew. */
#define MAX_REST 10000000

struct rest {
    struct arena *arena;
    struct uuid *ids;
    size_t count;
};

static enum clew_status do_rest(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct rest *rest = arg;

    return read_turn_list(tx, rest->arena, MAX_REST, &rest->ids, &rest->count,
                          err);
}

/* Turns that wait here and not in the real store were read there by a clew
 * that wrote down no reading: they are read now. Both lists have one order. */
static enum clew_status read_rest(struct rebuild *r, struct store_tx *tx,
                                  struct arena *arena, struct clew_error *err)
{
    struct rest here = {.arena = arena};
    struct rest real = {.arena = arena};
    struct arena own;
    size_t k = 0;
    enum clew_status status =
        store_read(r->scratch.store, &r->scope, do_rest, &here, err);

    if (status == CLEW_OK && here.count > 0) {
        status = read_real(r, tx, do_rest, &real, err);
    }
    arena_init(&own, ARENA_BYTES);
    for (size_t i = 0; i < here.count && status == CLEW_OK; i++) {
        if (k < real.count && uuid_eq(&here.ids[i], &real.ids[k])) {
            k++;
            continue;
        }
        status =
            read_turn(&r->scratch, &r->scope, &own, &here.ids[i], NULL, err);
        arena_clear(&own);
    }
    arena_release(&own);
    return status;
}

enum clew_status rebuild_sync(struct rebuild *r, struct store_tx *tx,
                              struct clew_error *err)
{
    enum clew_status status = read_real(r, tx, do_latest, r, err);
    bool has_more = true;
    struct arena arena;

    r->told.is_end = false;
    r->imported.is_end = false;
    r->actions.is_end = false;
    arena_init(&arena, ARENA_BYTES);
    while (status == CLEW_OK && has_more) {
        status = step(r, tx, &arena, &has_more, err);
        arena_clear(&arena);
        /* whoever looks on may write, which the last transaction forbids */
        if (status == CLEW_OK && !tx && r->options->progress &&
            !r->options->progress(r->options->arg, &r->report)) {
            status = clew_fail(err, CLEW_UNAVAILABLE, "broken off");
        }
    }
    if (status == CLEW_OK) {
        status = read_rest(r, tx, &arena, err);
    }
    arena_release(&arena);
    return status;
}
