/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_turn.c - turns that wait are read. See read_turn.h.
 */
#include "engine/capture/read_turn.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/crew.h"
#include "engine/capture/observers.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chatlink_later.h"
#include "engine/chatlink/chatlink_read.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/read_log.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/core/trace.h"
#include "engine/core/work.h"
#include "engine/read/reading.h"
#include "engine/read/sense.h"
#include "engine/understand/observation.h"
#include "model/embed.h"
#include "model/reader.h"
#include "store/db.h"

#include <string.h>

DB_SQL(INSERT, "INSERT INTO unread (tenant, created_at, turn_id, chat_id,"
               " user_id) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING");
DB_SQL(DELETE, "DELETE FROM unread WHERE tenant = $1 AND turn_id = $2");
DB_SQL(SELECT_ONE, "SELECT 1 FROM unread WHERE tenant = $1 AND turn_id = $2");
DB_SQL(SELECT_ALL, "SELECT turn_id FROM unread WHERE tenant = $1"
                   " ORDER BY created_at, turn_id LIMIT $2");
DB_SQL(SELECT_USER, "SELECT turn_id FROM unread WHERE tenant = $1"
                    " AND user_id = $2 AND given_up_at IS NULL"
                    " ORDER BY created_at, turn_id LIMIT $3");
/* A row if it waits; does another of the same user wait before it? The chat is
 * asked for so that SQLite finds `w` by its turn: no index that walks the
 * tenant has it. */
DB_SQL(SELECT_PLACE,
       "SELECT EXISTS (SELECT 1 FROM unread u WHERE u.tenant = $1"
       " AND u.user_id = w.user_id AND u.given_up_at IS NULL"
       " AND u.created_at <= w.created_at" /* for the index */
       " AND (u.created_at < w.created_at OR u.turn_id < w.turn_id)),"
       " w.chat_id FROM unread w WHERE w.tenant = $1 AND w.turn_id = $2");

/* A call stays for so many turns of its user that wait before its own. */
#define STAY_FOR 8
/* The task reads so many turns a transaction, and none more after so long or
 * when others wait for the writer. */
#define TOGETHER 4
#define TOGETHER_NS 2000000
/* What a turn asked for is done by who read it, or by others after that. */
#define LINK_WAIT_MS (10 * CLOCK_SECOND_MS)
/* What a look ahead at one turn works in; of a longer one there is none. */
#define AHEAD_BYTES ((size_t)32 << 20)
/* What a turn does to chains when it is read is numbered from here. */
#define READ_TOLD 1000

enum clew_status read_turn_wait(struct store_tx *tx, const struct turn *turn,
                                struct clew_error *err)
{
    if (turn->role != TURN_USER && turn->role != TURN_ASSISTANT) {
        return CLEW_OK;
    }
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_int(turn->created_at_ms), db_uuid(&turn->id),
                           db_uuid(&turn->chat_id), db_text(turn->user_id)),
                   err);
}

enum clew_status read_turn_later(struct store_tx *tx, struct arena *arena,
                                 int64_t now_ms, struct clew_error *err)
{
    struct task_new task = {.kind = READ_TURN_TASK,
                            .unique_key = STR("all"),
                            .payload = STR("{}"),
                            .priority = 30,
                            .execute_at_ms = now_ms,
                            .now_ms = now_ms};

    return task_add(tx, arena, &task, err);
}

/* --- one turn --------------------------------------------------------------
 */

/* A turn on its way, in the transaction that looks and in the one that
 * writes. */
struct doing {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *turn_id;
    struct sense_memo memo;
    struct updates *updates;
    struct batch_work batch;
    struct chat chat; /* of the turn, as the reading left it */
    int64_t change;   /* the turn's … */
    int64_t stored_at_ms;
    int64_t now_ms;
    int64_t seq;
    int64_t wait_ms; /* what it asked for is due so long after */
    bool has_asked;  /* to hold its chat against earlier ones */
    bool is_gone;    /* forgotten, or read meanwhile */
    bool is_early;   /* another of the same user comes first */
};

/* Whether it is gone, or early. */
static enum clew_status look_up(struct store_tx *tx, struct doing *d,
                                const struct db_sql *sql,
                                struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, sql, DB_ARGS(db_uuid(d->turn_id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    d->is_gone = !db_next(&rows);
    d->is_early = !d->is_gone && sql == &SELECT_PLACE && !d->engine->replay &&
                  db_get_int(&rows, 0) != 0;
    return db_end(&rows, err);
}

typedef enum clew_status (*look_fn)(struct turn_work *work,
                                    struct clew_error *err);

/* Show the turn to the observers: `look` is what they do with it. */
static enum clew_status show(struct doing *d, struct store_tx *tx, look_fn look,
                             struct clew_error *err)
{
    struct turn *turn = NULL;
    size_t n_turns = 0;
    struct place place;
    struct placement placement = {.rule = PLACE_NAMED};
    struct reading reading = {0};
    struct turn_work work = {.batch = &d->batch,
                             .reading = &reading,
                             .placement = &placement,
                             .updates = d->updates,
                             .n_told = READ_TOLD};
    enum clew_status status =
        turn_find_many(tx, d->arena, d->turn_id, 1, &turn, &n_turns, err);

    d->batch = (struct batch_work){.engine = d->engine,
                                   .tx = tx,
                                   .arena = d->arena,
                                   .memo = &d->memo,
                                   .place = &place};
    if (status == CLEW_OK && n_turns == 0) {
        return clew_fail(err, CLEW_NOT_FOUND, "the turn is forgotten");
    }
    if (status == CLEW_OK) {
        work.turn = turn;
        d->change = turn->change_seq;
        d->seq = turn->seq;
        d->stored_at_ms = turn->stored_at_ms;
        status = reading_of(d->engine, d->arena, turn, &reading, err);
    }
    if (status == CLEW_OK) {
        status = place_begin(&place, d->engine, tx, d->arena, &turn->chat_id, 1,
                             err);
    }
    if (status == CLEW_OK) {
        placement.slot = place_find(&place, &turn->chat_id);
        status = look(&work, err);
        d->chat = placement.slot->chat;
    }
    d->batch.place = NULL; /* it ends with this function */
    return status;
}

static enum clew_status do_foresee(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct doing *d = arg;
    enum clew_status status = look_up(tx, d, &SELECT_ONE, err);

    if (status != CLEW_OK || d->is_gone) {
        return status;
    }
    return show(d, tx, observers_foresee, err);
}

/* Read it, and write down what the reading was. */
static enum clew_status read_it(struct turn_work *work, struct clew_error *err)
{
    enum clew_status status = trace_resume(work, &work->turn->id, err);

    if (status == CLEW_OK) {
        status = observers_read(work, err);
    }
    status = trace_end(work, &work->turn->id, status, err);
    if (status == CLEW_OK) {
        status = observers_batch_end(work->batch, err);
    }
    return status == CLEW_OK ? place_end(work->batch->place, err) : status;
}

static enum clew_status do_read(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct doing *d = arg;
    const char *by = d->engine->reader ? reader_id(d->engine->reader) : "rules";
    enum clew_status status = look_up(tx, d, &SELECT_PLACE, err);

    *d->updates = (struct updates){0};
    if (status != CLEW_OK || d->is_gone || d->is_early) {
        return status;
    }
    status = show(d, tx, read_it, err);
    if (status == CLEW_OK) {
        status = db_exec(tx, &DELETE, DB_ARGS(db_uuid(d->turn_id)), err);
    }
    if (status == CLEW_OK && d->engine->reader && !d->engine->replay) {
        status = chatlink_read_wake(tx, d->arena, &d->chat.id, d->seq,
                                    d->now_ms + d->wait_ms, &d->has_asked, err);
    }
    return status == CLEW_OK ? read_log_add(tx, d->change, d->stored_at_ms, by,
                                            d->now_ms, err)
                             : status;
}

/* What is slow is done before the writer is taken: the reader is asked, or a
 * model elsewhere for a vector. Rules and the shipped vectors are as quick
 * there as anywhere, and a look ahead would only ask the store everything
 * twice. */
static bool must_foresee(const struct engine *engine)
{
    return engine->reader || engine->embedder != embed_static();
}

/* `out->is_early`: it still waits, for another of its user comes first.
 * `known` (may be NULL) is what the reader said of it before. */
static enum clew_status read_one(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *turn_id,
                                 const struct sense_memo *known,
                                 int64_t wait_ms, struct updates *updates,
                                 struct doing *out, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    *out = (struct doing){.engine = engine,
                          .arena = arena,
                          .turn_id = turn_id,
                          .updates = updates,
                          .wait_ms = wait_ms,
                          .now_ms = clock_now_ms(engine->clock)};
    if (known) {
        out->memo = *known;
    }
    if (must_foresee(engine)) {
        status = store_read(engine->store, scope, do_foresee, out, err);
    }
    return status == CLEW_OK && !out->is_gone
               ? commit_write(engine, scope, do_read, out, &out->batch, err)
               : status;
}

enum clew_status read_turn(struct engine *engine, const struct scope *scope,
                           struct arena *arena, const struct uuid *turn_id,
                           bool *out_early, struct clew_error *err)
{
    struct updates nobody = {0};
    struct doing doing;
    enum clew_status status =
        read_one(engine, scope, arena, turn_id, NULL, 0, &nobody, &doing, err);

    if (out_early) {
        *out_early = doing.is_early;
    }
    return status;
}

/* --- ahead -----------------------------------------------------------------
 */

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct doing *d = arg;
    enum clew_status status = look_up(tx, d, &SELECT_ONE, err);

    return status == CLEW_OK && !d->is_gone
               ? show(d, tx, observers_foresee, err)
               : status;
}

/* If it fails, or all is about to end, the turn is read as if nobody had
 * looked. */
static void look_ahead(void *arg, size_t step)
{
    struct read_turn_ahead *ahead = arg;
    struct read_turn_seen *seen = &ahead->turns[step];
    struct updates nobody = {0};
    struct doing d = {.engine = ahead->engine,
                      .arena = &seen->arena,
                      .turn_id = &seen->turn_id,
                      .updates = &nobody};

    if (!atomic_load(&ahead->engine->is_stopping) &&
        store_read(ahead->engine->store, ahead->scope, do_look, &d, NULL) ==
            CLEW_OK) {
        seen->memo = d.memo;
    }
}

void read_turn_look_begin(struct engine *engine, const struct scope *scope,
                          const struct uuid *turn_ids, size_t count,
                          bool has_helpers, struct read_turn_ahead *ahead)
{
    *ahead = (struct read_turn_ahead){
        .engine = engine,
        .scope = scope,
        .count = count < READ_TURN_AHEAD ? count : READ_TURN_AHEAD};
    for (size_t i = 0; i < ahead->count; i++) {
        ahead->turns[i].turn_id = turn_ids[i];
        arena_init(&ahead->turns[i].arena, AHEAD_BYTES);
    }
    crew_begin(engine->later, &ahead->job, look_ahead, ahead,
               has_helpers && engine->reader ? ahead->count : 0);
}

void read_turn_look_end(struct read_turn_ahead *ahead)
{
    crew_end(ahead->engine->later, &ahead->job);
}

void read_turn_forget(struct read_turn_ahead *ahead)
{
    for (size_t i = 0; i < ahead->count; i++) {
        arena_release(&ahead->turns[i].arena);
    }
    ahead->count = 0;
}

static const struct sense_memo *seen_of(const struct read_turn_ahead *ahead,
                                        const struct uuid *turn_id)
{
    for (size_t i = 0; ahead && i < ahead->count; i++) {
        if (uuid_eq(&ahead->turns[i].turn_id, turn_id)) {
            return &ahead->turns[i].memo;
        }
    }
    return NULL;
}

/* --- a few turns together --------------------------------------------------
 */

struct together {
    struct store *store;
    struct doing *items;
    struct updates *nobody; /* is told what they changed */
    size_t count;
    size_t n_done;
};

/* Most of a small transaction is its end. Each turn is read as if alone: it
 * sees what those before it wrote. */
static enum clew_status do_read_some(struct store_tx *tx, void *arg,
                                     struct clew_error *err)
{
    struct together *all = arg;
    int64_t until_ns = clock_mono_ns() + TOGETHER_NS;
    enum clew_status status = CLEW_OK;

    all->n_done = 0;
    for (size_t i = 0; i < all->count && status == CLEW_OK &&
                       (i == 0 || (clock_mono_ns() < until_ns &&
                                   store_waiting(all->store) == 0));
         i++) {
        all->items[i].batch = (struct batch_work){0};
        status = do_read(tx, &all->items[i], err);
        all->n_done += status == CLEW_OK;
    }
    return status;
}

static enum clew_status read_together(struct engine *engine,
                                      const struct scope *scope,
                                      struct together *all,
                                      struct clew_error *err)
{
    enum clew_status status =
        store_write(engine->store, scope, do_read_some, all, err);

    for (size_t i = 0; i < all->n_done && status == CLEW_OK; i++) {
        commit_offer(engine, scope, &all->items[i].batch);
    }
    return status;
}

/* What its chat asked for is done before the next turn, as if each were told
 * when it was said; if it fails a worker does it. */
static void link_now(const struct doing *d, const struct scope *scope,
                     struct arena *arena)
{
    struct str key = task_key(arena, &d->chat.id, d->seq);

    if (key.s) {
        clew_ignore(task_do_now(d->engine, scope, arena, CHATLINK_READ_TASK,
                                key, chatlink_read_task, NULL));
    }
}

enum clew_status read_turn_some(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct uuid *turn_ids, size_t count,
                                const struct read_turn_ahead *ahead,
                                size_t *out_passed, size_t *out_early,
                                struct clew_error *err)
{
    struct together all = {.store = engine->store,
                           .count = count < TOGETHER ? count : TOGETHER};
    struct updates nobody = {0};
    struct doing doing;
    enum clew_status status;

    if (all.count > 1 && !must_foresee(engine)) {
        all.items = arena_zero(arena, all.count, sizeof(*all.items));
        all.nobody = arena_zero(arena, all.count, sizeof(*all.nobody));
    }
    for (size_t i = 0; all.items && all.nobody && i < all.count; i++) {
        all.items[i] = (struct doing){.engine = engine,
                                      .arena = arena,
                                      .turn_id = &turn_ids[i],
                                      .updates = &all.nobody[i],
                                      .now_ms = clock_now_ms(engine->clock)};
    }
    if (all.items && all.nobody &&
        read_together(engine, scope, &all, NULL) == CLEW_OK) {
        *out_passed = all.n_done;
        *out_early = 0;
        for (size_t i = 0; i < all.n_done; i++) {
            *out_early += all.items[i].is_early;
        }
        return CLEW_OK;
    }
    /* one of them may be why it failed: each by itself tells */
    status = read_one(engine, scope, arena, turn_ids, seen_of(ahead, turn_ids),
                      LINK_WAIT_MS, &nobody, &doing, err);
    if (status == CLEW_OK && doing.has_asked) {
        link_now(&doing, scope, arena);
    }
    *out_passed = 1;
    *out_early = doing.is_early;
    return status;
}

/* --- before a call returns -------------------------------------------------
 */

struct listing {
    struct arena *arena;
    struct str user_id;
    int64_t limit;
    struct uuid *ids;
    size_t count;
};

enum clew_status read_turn_list(struct store_tx *tx, struct arena *arena,
                                int64_t limit, struct uuid **out_ids,
                                size_t *out_count, struct clew_error *err)
{
    struct rows_list rows = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status =
        rows_add(tx, &rows, &SELECT_ALL, DB_ARGS(db_int(limit)), err);

    *out_ids = rows.items;
    *out_count = rows.count;
    return status;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct listing *list = arg;
    struct rows_list rows = {
        .arena = list->arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status =
        rows_add(tx, &rows, &SELECT_USER,
                 DB_ARGS(db_text(list->user_id), db_int(list->limit)), err);

    list->ids = rows.items;
    list->count = rows.count;
    return status;
}

static enum clew_status do_later(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    const struct doing *d = arg;

    return read_turn_later(tx, d->arena, d->now_ms, err);
}

enum clew_status read_turn_leave(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 struct clew_error *err)
{
    struct doing d = {.arena = arena, .now_ms = clock_now_ms(engine->clock)};

    return store_write(engine->store, scope, do_later, &d, err);
}

static struct updates *updates_of(const struct read_turn_now *wanted,
                                  const struct uuid *id)
{
    for (size_t i = 0; i < wanted->count; i++) {
        if (uuid_eq(&wanted->turn_ids[i], id)) {
            return wanted->updates[i];
        }
    }
    return NULL;
}

/* What reading changed comes after what storing changed. */
static enum clew_status add_updates(struct arena *arena, struct updates *to,
                                    const struct updates *from)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < from->n_chains && status == CLEW_OK; i++) {
        status = updates_add_chain(to, arena, &from->chains[i]);
    }
    for (size_t i = 0; i < from->n_memories && status == CLEW_OK; i++) {
        status = updates_add_memory(to, arena, &from->memories[i]);
    }
    for (size_t i = 0; i < from->n_notices && status == CLEW_OK; i++) {
        status = updates_add_notice(to, arena, from->notices[i]);
    }
    return status;
}

/* The chat as it stands now, wherever the caller shows it. */
static void tell_chat(const struct read_turn_now *wanted,
                      const struct chat *chat)
{
    for (size_t i = 0; i < wanted->n_chats; i++) {
        if (uuid_eq(&wanted->chats[i]->id, &chat->id)) {
            *wanted->chats[i] = *chat;
        }
    }
}

static enum clew_status
read_wanted(struct engine *engine, const struct scope *scope,
            struct arena *arena, const struct read_turn_now *wanted,
            const struct uuid *turn_id, bool *out_left, struct clew_error *err)
{
    struct updates *to = updates_of(wanted, turn_id);
    struct updates changed = {0};
    struct doing doing;
    enum clew_status status =
        read_one(engine, scope, arena, turn_id, NULL, 0, &changed, &doing, err);

    *out_left = doing.is_early;
    if (status != CLEW_OK || doing.is_gone || doing.is_early) {
        return status;
    }
    tell_chat(wanted, &doing.chat);
    return !to || add_updates(arena, to, &changed) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

void read_turn_now(struct engine *engine, const struct scope *scope,
                   struct arena *arena, const struct read_turn_now *wanted)
{
    struct listing list = {.arena = arena,
                           .user_id = wanted->user_id,
                           .limit = (int64_t)wanted->count + STAY_FOR + 1};
    struct clew_error err;
    bool is_left = false;
    enum clew_status status =
        store_read(engine->store, scope, do_list, &list, &err);

    is_left = status != CLEW_OK || list.count == (size_t)list.limit;
    for (size_t i = 0; i < list.count && status == CLEW_OK && !is_left; i++) {
        status = read_wanted(engine, scope, arena, wanted, &list.ids[i],
                             &is_left, &err);
    }
    for (size_t i = 0; i < wanted->count; i++) {
        /* if it fails they are told as words made them */
        clew_ignore(
            chatlink_read_told(engine, scope, arena, wanted->updates[i], &err));
    }
    if (status != CLEW_OK || is_left) {
        /* if this fails too, the user's next turn or the next start does it */
        clew_ignore(read_turn_leave(engine, scope, arena, &err));
    }
}
