/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_task.c - what waits is read, or given up. See read_task.h.
 */
#include "engine/capture/read_task.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/crew.h"
#include "engine/capture/read_turn.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chatlink_later.h"
#include "engine/chatlink/chatlink_read.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "store/db.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

DB_SQL(SELECT_NEXT, "SELECT turn_id, tries, chat_id, user_id FROM unread"
                    " WHERE tenant = $1 AND given_up_at IS NULL"
                    " ORDER BY created_at, turn_id LIMIT $2");
DB_SQL(SELECT_GIVEN_UP, "SELECT turn_id FROM unread WHERE tenant = $1"
                        " AND given_up_at IS NOT NULL"
                        " ORDER BY created_at, turn_id LIMIT $2");
DB_SQL(ADD_TRIES, "UPDATE unread SET tries = tries + $3 WHERE tenant = $1"
                  " AND turn_id = $2");
DB_SQL(GIVE_UP, "UPDATE unread SET given_up_at = $3 WHERE tenant = $1"
                " AND turn_id = $2");
DB_SQL_SYSTEM(COUNT_WAITING, "SELECT COUNT(*) FROM (SELECT 1 FROM unread"
                             " WHERE given_up_at IS NULL LIMIT $1) AS w");
DB_SQL_SYSTEM(COUNT_GIVEN_UP, "SELECT COUNT(*) FROM (SELECT 1 FROM unread"
                              " WHERE given_up_at IS NOT NULL LIMIT $1) AS w");
/* By priority: the index has those that are open by it. */
DB_SQL_SYSTEM(COUNT_CHATS,
              "SELECT COUNT(*) FROM (SELECT 1 FROM tasks WHERE finished_at"
              " IS NULL AND priority = $2 AND kind = '" CHATLINK_READ_TASK "'"
              " LIMIT $1) AS w");
/* Where turns wait and no task will come for them. */
DB_SQL_SYSTEM(SELECT_TENANTS,
              "SELECT t.tenant FROM tenants t WHERE EXISTS (SELECT 1 FROM"
              " unread u WHERE u.tenant = t.tenant AND u.given_up_at IS NULL)"
              " AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.tenant ="
              " t.tenant AND k.unique_key = '" READ_TURN_TASK ":all'"
              " AND k.finished_at IS NULL) LIMIT $1");

/* Turns taken from the list at a time; the claim is renewed then, and when half
 * of it is over. Hands wait for one another at a page's end: with as many as
 * these the last lane is mostly short beside what was read. */
#define PAGE 256
#define ARENA_BYTES ((size_t)256 << 20)
#define MAX_TENANTS 100000
#define MAX_GIVEN_UP 100000
/* After some were read and one failed: a new beginning, but not at once. */
#define PAUSE_MS 2000

/* --- in the background -----------------------------------------------------
 */

/*
 * Turns of one user or of one chat are in one lane, and are read in their
 * order; lanes are read side by side. A chat's turns mostly come together, so
 * a page has many lanes only where it is long.
 */
struct waiting {
    struct uuid turn_id;
    struct uuid chat_id;
    uint64_t user; /* its hash */
    int64_t tries;
    size_t lane; /* the first turn of it */
};

struct stepping {
    struct engine *engine;
    const struct task *task;
    struct arena *arena;
    struct waiting *turns;
    size_t count;
    size_t n_passed;   /* read, or given up, by this run of the task */
    size_t n_given_up; /* of them */
    bool is_suspect;   /* turns[0] may be what failed before; its try is
                          counted */
    bool is_done;
};

/* It is the store that has troubles, not the turn. */
static bool is_outage(enum clew_status status)
{
    return status == CLEW_UNAVAILABLE || status == CLEW_BUSY ||
           status == CLEW_TIMEOUT;
}

static bool waiting_of(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct waiting *out = item;

    (void)arena; /* nothing to copy */
    out->turn_id = db_get_uuid(rows, 0);
    out->tries = db_get_int(rows, 1);
    out->chat_id = db_get_uuid(rows, 2);
    out->user = str_hash(db_get_text(rows, 3));
    return true;
}

static enum clew_status list_next(struct stepping *s, struct store_tx *tx,
                                  int64_t limit, struct clew_error *err)
{
    struct rows_list rows = {
        .arena = s->arena, .size = sizeof(struct waiting), .fn = waiting_of};
    enum clew_status status =
        rows_add(tx, &rows, &SELECT_NEXT, DB_ARGS(db_int(limit)), err);

    s->turns = rows.items;
    s->count = rows.count;
    return status;
}

/* What it asked for need not wait until it is read. */
static enum clew_status let_go(const struct stepping *s, struct store_tx *tx,
                               const struct uuid *id, int64_t now_ms,
                               struct clew_error *err)
{
    struct turn *turn = NULL;
    size_t count = 0;
    bool has_asked;
    enum clew_status status =
        turn_find_many(tx, s->arena, id, 1, &turn, &count, err);

    return status == CLEW_OK && count > 0
               ? chatlink_read_wake(tx, s->arena, &turn->chat_id, turn->seq,
                                    now_ms, &has_asked, err)
               : status;
}

/* No more of this one: its failed task says so. */
static enum clew_status give_up(struct stepping *s, struct store_tx *tx,
                                int64_t now_ms, struct clew_error *err)
{
    const struct uuid *id = &s->turns[0].turn_id;
    char text[UUID_TEXT_SIZE];
    char payload[64];
    struct task_new task = {.kind = READ_TURN_TASK, .now_ms = now_ms};
    enum clew_status status =
        db_exec(tx, &GIVE_UP, DB_ARGS(db_uuid(id), db_int(now_ms)), err);

    uuid_format(id, text);
    (void)snprintf(payload, sizeof(payload), "{\"turn_id\":\"%s\"}", text);
    task.unique_key = str_of(text);
    task.payload = str_of(payload);
    if (status == CLEW_OK) {
        status = task_add_failed(tx, s->arena, &task, s->task->attempts,
                                 s->task->last_error, err);
    }
    if (status == CLEW_OK) {
        status = let_go(s, tx, id, now_ms, err);
    }
    s->n_given_up += status == CLEW_OK;
    return status;
}

/* The task was tried before: what comes first may be why it failed. */
static enum clew_status suspect(struct stepping *s, struct store_tx *tx,
                                int64_t now_ms, struct clew_error *err)
{
    enum clew_status status = list_next(s, tx, 1, err);

    s->is_suspect = false;
    if (status != CLEW_OK || s->count == 0) {
        return status;
    }
    if (s->turns[0].tries >= READ_TASK_TRIES) {
        status = give_up(s, tx, now_ms, err);
        return status == CLEW_OK ? list_next(s, tx, PAGE, err) : status;
    }
    s->is_suspect = true;
    return db_exec(tx, &ADD_TRIES,
                   DB_ARGS(db_uuid(&s->turns[0].turn_id), db_int(1)), err);
}

/* Some were read, or the process ends: the task begins anew, with all its
 * attempts, for those that ended with their processes say nothing about what
 * is left. */
static enum clew_status begin_anew(const struct stepping *s,
                                   struct store_tx *tx, int64_t pause_ms,
                                   struct clew_error *err)
{
    int64_t now_ms = clock_now_ms(s->engine->clock);
    enum clew_status status = task_complete(tx, s->task, now_ms, err);

    return status == CLEW_OK
               ? read_turn_later(tx, s->arena, now_ms + pause_ms, err)
               : status;
}

/* Renew the claim, or be done when nothing waits: whoever stores more after
 * this transaction adds a task of its own. */
static enum clew_status do_step(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct stepping *s = arg;
    int64_t now_ms = clock_now_ms(s->engine->clock);
    enum clew_status status;

    s->n_given_up = 0; /* run again: nothing was written */
    s->is_suspect = false;
    if ((s->task->attempts > 1 && s->n_passed > 0) ||
        atomic_load(&s->engine->is_stopping)) {
        s->is_done = true;
        return begin_anew(s, tx, 0, err);
    }
    status = s->task->attempts > 1 ? suspect(s, tx, now_ms, err)
                                   : list_next(s, tx, PAGE, err);
    s->is_done = status == CLEW_OK && s->count == 0;
    if (status != CLEW_OK) {
        return status;
    }
    return s->is_done ? task_complete(tx, s->task, now_ms, err)
                      : task_extend(tx, s->task,
                                    now_ms + task_lease_ms(s->engine), err);
}

/* The try was none. */
static enum clew_status do_untry(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct stepping *s = arg;

    return db_exec(tx, &ADD_TRIES,
                   DB_ARGS(db_uuid(&s->turns[0].turn_id), db_int(-1)), err);
}

static enum clew_status do_begin_anew(struct store_tx *tx, void *arg,
                                      struct clew_error *err)
{
    return begin_anew(arg, tx, PAUSE_MS, err);
}

/* One turn could not be read; what becomes of the task? */
static enum clew_status fail(struct stepping *s, enum clew_status status,
                             struct clew_error *err)
{
    struct clew_error other = {0};

    if (is_outage(status)) {
        if (s->is_suspect) {
            /* if not, it is one try less */
            clew_ignore(store_write(s->engine->store, &s->task->scope, do_untry,
                                    s, &other));
        }
        return status;
    }
    if (s->n_passed > 0) {
        return store_write(s->engine->store, &s->task->scope, do_begin_anew, s,
                           err);
    }
    /* so that it is tried again, whatever it was; the words stay */
    if (err) {
        err->status = CLEW_INTERNAL;
    }
    return CLEW_INTERNAL;
}

/* The lanes of a page, read side by side. */
struct lanes {
    const struct stepping *s;
    int64_t until_ns;     /* no turn is begun after it */
    atomic_size_t n_left; /* lanes that are not read yet */
    size_t count;
    struct lane {
        size_t first;
        size_t n_turns;
        size_t n_read;
        enum clew_status status;
        struct clew_error err;
    } items[PAGE];
};

/* The lane of turn `n`; it may make one of what was apart before. */
static void put_in_lane(struct waiting *turns, size_t n)
{
    turns[n].lane = n;
    for (size_t i = 0; i < n; i++) {
        size_t mine = turns[n].lane;
        size_t other = turns[i].lane;
        size_t first = mine < other ? mine : other;

        if (mine == other || (turns[i].user != turns[n].user &&
                              !uuid_eq(&turns[i].chat_id, &turns[n].chat_id))) {
            continue;
        }
        for (size_t k = 0; k <= n; k++) {
            if (turns[k].lane == mine || turns[k].lane == other) {
                turns[k].lane = first;
            }
        }
    }
}

/* The longest first, so that no hand is left with a long one when the others
 * are done; of the same length the one that began first. */
static int compare_lanes(const void *left, const void *right)
{
    const struct lane *a = left;
    const struct lane *b = right;

    return a->n_turns != b->n_turns
               ? (a->n_turns < b->n_turns) - (a->n_turns > b->n_turns)
               : (a->first > b->first) - (a->first < b->first);
}

/* Rules are quick: they read one after another, a few turns a transaction. */
static void make_lanes(const struct stepping *s, struct lanes *all)
{
    for (size_t i = 0; i < s->count; i++) {
        s->turns[i].lane = 0;
        if (s->engine->reader) {
            put_in_lane(s->turns, i);
        }
    }
    for (size_t i = 0; i < s->count; i++) {
        if (s->turns[i].lane == i) {
            all->items[all->count++].first = i;
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < s->count; k++) {
            all->items[i].n_turns += s->turns[k].lane == all->items[i].first;
        }
    }
    qsort(all->items, all->count, sizeof(*all->items), compare_lanes);
    atomic_store(&all->n_left, all->count);
}

/* Are there hands that no lane is left for? They look ahead. */
static bool has_helpers(struct lanes *all)
{
    return atomic_load(&all->n_left) < crew_size(all->s->engine->later);
}

/* Read the turns that were taken. */
static void read_taken(const struct lanes *all, struct lane *lane,
                       struct arena *own, const struct read_turn_ahead *taken)
{
    const struct stepping *s = all->s;
    struct uuid ids[READ_TURN_AHEAD];
    size_t n_passed = 0;

    for (size_t i = 0; i < taken->count; i++) {
        ids[i] = taken->turns[i].turn_id;
    }
    for (size_t i = 0; i < taken->count && lane->status == CLEW_OK &&
                       !atomic_load(&s->engine->is_stopping);
         i += n_passed) {
        size_t n_early = 0;

        lane->status = read_turn_some(s->engine, &s->task->scope, own, ids + i,
                                      taken->count - i, taken, &n_passed,
                                      &n_early, &lane->err);
        lane->n_read += lane->status == CLEW_OK ? n_passed - n_early : 0;
        arena_clear(own);
    }
}

/* While some turns are read helpers look at the next. */
static void read_lane(void *arg, size_t step)
{
    struct lanes *all = arg;
    const struct stepping *s = all->s;
    struct lane *lane = &all->items[step];
    struct uuid ids[PAGE];
    struct read_turn_ahead aheads[2];
    struct arena own;
    size_t count = 0;
    size_t from = 0;

    for (size_t i = 0; i < s->count; i++) {
        if (s->turns[i].lane == lane->first) {
            ids[count++] = s->turns[i].turn_id;
        }
    }
    arena_init(&own, ARENA_BYTES);
    read_turn_look_begin(s->engine, &s->task->scope, ids, count,
                         has_helpers(all), &aheads[0]);
    for (size_t n = 0; aheads[n % 2].count > 0; n++) {
        struct read_turn_ahead *now = &aheads[n % 2];
        bool is_over = lane->status != CLEW_OK ||
                       (n > 0 && clock_mono_ns() > all->until_ns);

        read_turn_look_end(now);
        from += now->count;
        read_turn_look_begin(s->engine, &s->task->scope, ids + from,
                             is_over ? 0 : count - from, has_helpers(all),
                             &aheads[(n + 1) % 2]);
        if (!is_over) {
            read_taken(all, lane, &own, now);
        }
        read_turn_forget(now);
    }
    atomic_fetch_sub(&all->n_left, 1);
    arena_release(&own);
}

/* Read a page of turns. What fails in one lane is no other's trouble; told is
 * what failed first in the page. */
static enum clew_status read_page(struct stepping *s, struct lanes *all,
                                  struct clew_error *err)
{
    const struct lane *failed = NULL;
    size_t n_read = 0;

    *all = (struct lanes){.s = s,
                          .until_ns = clock_mono_ns() +
                                      task_lease_ms(s->engine) * 1000000 / 2};
    make_lanes(s, all);
    crew_run(s->engine->later, read_lane, all, all->count);
    for (size_t i = 0; i < all->count; i++) {
        const struct lane *lane = &all->items[i];

        n_read += lane->n_read;
        if (lane->status != CLEW_OK &&
            (!failed || lane->first < failed->first)) {
            failed = lane;
        }
    }
    s->n_passed += n_read;
    if (failed && err) {
        *err = failed->err;
    }
    if (failed || n_read > 0 || atomic_load(&s->engine->is_stopping)) {
        /* if it is to stop, the next step breaks off */
        return failed ? failed->status : CLEW_OK;
    }
    /* somebody else is at them: look again later */
    return clew_fail(err, CLEW_UNAVAILABLE, "turns are being read elsewhere");
}

enum clew_status read_task(struct engine *engine, const struct task *task,
                           struct arena *arena, size_t *out_given_up,
                           struct clew_error *err)
{
    struct stepping s = {.engine = engine, .task = task, .arena = arena};
    struct lanes *lanes = alloc_zero(1, sizeof(*lanes));
    enum clew_status status = lanes ? CLEW_OK : clew_no_memory(err);
    bool is_over = false;

    *out_given_up = 0;
    while (status == CLEW_OK && !s.is_done && !is_over) {
        status = store_write(engine->store, &task->scope, do_step, &s, err);
        if (status != CLEW_OK || s.is_done) {
            continue;
        }
        *out_given_up += s.n_given_up;
        s.n_passed += s.n_given_up;
        status = read_page(&s, lanes, err);
        if (status != CLEW_OK) {
            status = fail(&s, status, err);
            is_over = true;
        }
    }
    if (s.is_done) {
        *out_given_up += s.n_given_up;
    }
    alloc_free(lanes);
    return status;
}

/* --- once more -------------------------------------------------------------
 */

struct again {
    struct arena *arena;
    struct uuid *ids;
    size_t count;
};

static enum clew_status do_list_given_up(struct store_tx *tx, void *arg,
                                         struct clew_error *err)
{
    struct again *again = arg;
    struct rows_list rows = {
        .arena = again->arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status = rows_add(tx, &rows, &SELECT_GIVEN_UP,
                                       DB_ARGS(db_int(MAX_GIVEN_UP)), err);

    again->ids = rows.items;
    again->count = rows.count;
    return status;
}

enum clew_status read_task_anew(struct engine *engine,
                                const struct scope *scope,
                                struct read_task_again *out,
                                struct clew_error *err)
{
    struct arena list;
    struct arena own;
    struct again again = {.arena = &list};
    enum clew_status status;

    *out = (struct read_task_again){0};
    arena_init(&list, ARENA_BYTES);
    arena_init(&own, ARENA_BYTES);
    status = store_read(engine->store, scope, do_list_given_up, &again, err);
    for (size_t i = 0; i < again.count && status == CLEW_OK; i++) {
        bool is_early = false;

        status = read_turn(engine, scope, &own, &again.ids[i], &is_early, err);
        arena_clear(&own);
        out->n_read += status == CLEW_OK && !is_early;
        out->n_left += status != CLEW_OK || is_early;
        status = is_outage(status) ? status : CLEW_OK;
    }
    arena_release(&own);
    arena_release(&list);
    return status;
}

/* --- across tenants --------------------------------------------------------
 */

static enum clew_status count_one(struct store_tx *tx, const struct db_sql *sql,
                                  int64_t *out, struct clew_error *err)
{
    return rows_number(tx, sql, DB_ARGS(db_int(READ_TASK_COUNTED)), out, err);
}

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct read_task_counts *out = arg;
    enum clew_status status =
        count_one(tx, &COUNT_WAITING, &out->n_waiting, err);

    if (status == CLEW_OK) {
        status = count_one(tx, &COUNT_GIVEN_UP, &out->n_given_up, err);
    }
    return status == CLEW_OK
               ? rows_number(tx, &COUNT_CHATS,
                             DB_ARGS(db_int(READ_TASK_COUNTED),
                                     db_int(CHATLINK_READ_PRIORITY)),
                             &out->n_chats, err)
               : status;
}

enum clew_status read_task_count(struct engine *engine,
                                 struct read_task_counts *out,
                                 struct clew_error *err)
{
    struct read_task_counts counts = {0};
    enum clew_status status =
        store_read_system(engine->store, do_count, &counts, err);

    if (status == CLEW_OK) {
        *out = counts;
    }
    return status;
}

enum clew_status read_task_resume(struct engine *engine, struct arena *arena,
                                  struct clew_error *err)
{
    int64_t *tenants = NULL;
    size_t count = 0;
    enum clew_status status =
        rows_tenants(engine->store, arena, &SELECT_TENANTS,
                     DB_ARGS(db_int(MAX_TENANTS)), &tenants, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct scope scope = {.tenant = tenants[i]};

        status = read_turn_leave(engine, &scope, arena, err);
    }
    return status;
}
