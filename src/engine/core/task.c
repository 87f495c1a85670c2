/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.c - rows of the tasks table. See task.h.
 */
#include "engine/core/task.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/rand.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <string.h>

/* Due tasks looked at for a hand: what others take first leaves enough. */
#define MAX_SEEN (4 * TASK_MAX_CLAIM)
/* What nobody who ran it could say. */
#define NOBODY_BACK "no worker that ran it came back"

#define COLUMNS                                                                \
    "tenant, id, kind, unique_key, payload, status, priority, execute_at,"     \
    " attempts, last_error, created_at, finished_at"

DB_SQL(INSERT,
       "INSERT INTO tasks (tenant, id, kind, unique_key, payload, status,"
       " priority, execute_at, attempts, created_at) VALUES ($1, $2, $3, $4,"
       " $5, 'pending', $6, $7, 0, $8)"
       " ON CONFLICT (tenant, unique_key) WHERE finished_at IS NULL"
       " DO NOTHING");
DB_SQL(INSERT_FAILED,
       "INSERT INTO tasks (tenant, id, kind, unique_key, payload, status,"
       " priority, execute_at, attempts, last_error, created_at, finished_at)"
       " VALUES ($1, $2, $3, $4, $5, 'failed', 0, $6, $7, $8, $6, $6)");
DB_SQL(COMPLETE,
       "UPDATE tasks SET status = 'done', finished_at = $4, lease_until = NULL,"
       " last_error = NULL WHERE tenant = $1 AND id = $2 AND attempts = $3"
       " AND finished_at IS NULL");
DB_SQL(REMOVE, "DELETE FROM tasks WHERE tenant = $1 AND id = $2"
               " AND attempts = $3 AND finished_at IS NULL");
DB_SQL(EXTEND, "UPDATE tasks SET lease_until = $4 WHERE tenant = $1"
               " AND id = $2 AND attempts = $3 AND finished_at IS NULL");
DB_SQL(PUT_OFF, "UPDATE tasks SET status = 'pending', execute_at = $4,"
                " attempts = attempts - 1, lease_until = NULL WHERE tenant = $1"
                " AND id = $2 AND attempts = $3 AND finished_at IS NULL");
DB_SQL(LIST, "SELECT " COLUMNS " FROM tasks WHERE tenant = $1"
             " AND ($2 = '' OR status = $2)"
             " AND (created_at < $3 OR (created_at = $3 AND id < $4))"
             " ORDER BY created_at DESC, id DESC LIMIT $5");
/* A lease that ran out makes a running task claimable again. Looks over all
 * tenants, so it takes no lock: rows of several may stand on several servers.
 */
DB_SQL_SYSTEM(SELECT_DUE,
              "SELECT " COLUMNS " FROM tasks WHERE finished_at IS NULL"
              " AND execute_at <= $1"
              " AND (lease_until IS NULL OR lease_until <= $1)"
              " ORDER BY priority DESC, execute_at, id LIMIT $2");
DB_SQL_SYSTEM(SELECT_IS_DUE,
              "SELECT 1 FROM tasks WHERE finished_at IS NULL"
              " AND execute_at <= $1"
              " AND (lease_until IS NULL OR lease_until <= $1) LIMIT 1");
/* Unless another took it since it was seen, or is about to. */
DB_SQL_SYSTEM(CLAIM, "UPDATE tasks SET status = 'running',"
                     " attempts = attempts + 1, lease_until = $3"
                     " WHERE tenant = $1 AND id = (SELECT id FROM tasks"
                     " WHERE tenant = $1 AND id = $2 AND attempts = $4"
                     " AND finished_at IS NULL"
                     " AND (lease_until IS NULL OR lease_until <= $5)"
                     " FOR UPDATE SKIP LOCKED)");
DB_SQL_SYSTEM(SETTLE, "UPDATE tasks SET status = $4, execute_at = $5,"
                      " finished_at = $6, last_error = $7, lease_until = NULL"
                      " WHERE tenant = $1 AND id = $2 AND attempts = $3"
                      " AND finished_at IS NULL");
DB_SQL_SYSTEM(SETTLE_DONE,
              "UPDATE tasks SET status = 'done', finished_at = $4,"
              " last_error = NULL, lease_until = NULL WHERE tenant = $1"
              " AND id = ANY($2) AND attempts = $3 AND finished_at IS NULL");
DB_SQL_SYSTEM(HOLD, "UPDATE tasks SET lease_until = $4 WHERE tenant = $1"
                    " AND id = $2 AND attempts = $3 AND finished_at IS NULL"
                    " AND lease_until < $4");
DB_SQL_SYSTEM(RELEASE, "UPDATE tasks SET status = 'pending',"
                       " attempts = attempts - 1, lease_until = NULL"
                       " WHERE tenant = $1 AND id = $2 AND attempts = $3"
                       " AND finished_at IS NULL");

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct task *out = item;

    out->scope.tenant = db_get_int(rows, 0);
    out->id = db_get_uuid(rows, 1);
    out->priority = db_get_int(rows, 6);
    out->execute_at_ms = db_get_int(rows, 7);
    out->attempts = db_get_int(rows, 8);
    out->created_at_ms = db_get_int(rows, 10);
    out->finished_at_ms = db_get_int(rows, 11);
    return rows_text(arena, rows, 2, &out->kind) &&
           rows_text(arena, rows, 3, &out->unique_key) &&
           rows_text(arena, rows, 4, &out->payload) &&
           rows_text(arena, rows, 5, &out->status) &&
           rows_text(arena, rows, 9, &out->last_error);
}

/* Kind and key as one, in the arena; NULL without memory. */
static const char *key_of(struct arena *arena, const struct task_new *input)
{
    return arena_printf(arena, "%s:%.*s", input->kind,
                        (int)input->unique_key.len, input->unique_key.s);
}

enum clew_status task_add(struct store_tx *tx, struct arena *arena,
                          const struct task_new *input, struct clew_error *err)
{
    struct uuid id = uuid_new(input->now_ms);
    const char *key = key_of(arena, input);

    if (!key) {
        return clew_no_memory(err);
    }
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_uuid(&id), db_cstr(input->kind), db_cstr(key),
                           db_text(input->payload), db_int(input->priority),
                           db_int(input->execute_at_ms), db_int(input->now_ms)),
                   err);
}

enum clew_status task_add_about(struct store_tx *tx, struct arena *arena,
                                const struct task_new *input, const char *field,
                                const struct uuid *id, struct clew_error *err)
{
    struct task_new task = *input;
    char text[UUID_TEXT_SIZE];

    uuid_format(id, text);
    if (!task.unique_key.s) {
        task.unique_key = str_of(text);
    }
    task.payload = str_of(arena_printf(arena, "{\"%s\":\"%s\"}", field, text));
    return task.payload.s ? task_add(tx, arena, &task, err)
                          : clew_no_memory(err);
}

enum clew_status task_get_id(const struct task *task, const char *field,
                             struct uuid *out, struct clew_error *err)
{
    json_t *payload = NULL;
    enum clew_status status = json_parse(task->payload, &payload, err);

    if (status == CLEW_OK) {
        status = json_get_uuid(payload, field, JSON_REQUIRED, out, err);
    }
    json_decref(payload);
    return status;
}

enum clew_status task_add_failed(struct store_tx *tx, struct arena *arena,
                                 const struct task_new *input, int64_t attempts,
                                 struct str why, struct clew_error *err)
{
    struct uuid id = uuid_new(input->now_ms);
    const char *key = key_of(arena, input);

    if (!key) {
        return clew_no_memory(err);
    }
    return db_exec(tx, &INSERT_FAILED,
                   DB_ARGS(db_uuid(&id), db_cstr(input->kind), db_cstr(key),
                           db_text(input->payload), db_int(input->now_ms),
                           db_int(attempts),
                           db_text(why.s ? why : STR(NOBODY_BACK))),
                   err);
}

/* What came of a statement that must find the task still claimed as it was. */
static enum clew_status was_claimed(enum clew_status status, int64_t count,
                                    struct clew_error *err)
{
    return status == CLEW_OK && count == 0
               ? clew_fail(err, CLEW_CONFLICT,
                           "another worker has taken this task over")
               : status;
}

/* Run such a statement that sets a time. */
static enum clew_status change_claimed(struct store_tx *tx,
                                       const struct db_sql *sql,
                                       const struct task *task, int64_t time_ms,
                                       struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status = db_exec_count(
        tx, sql,
        DB_ARGS(db_uuid(&task->id), db_int(task->attempts), db_int(time_ms)),
        &count, err);

    return was_claimed(status, count, err);
}

enum clew_status task_remove(struct store_tx *tx, const struct task *task,
                             struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status = db_exec_count(
        tx, &REMOVE, DB_ARGS(db_uuid(&task->id), db_int(task->attempts)),
        &count, err);

    return was_claimed(status, count, err);
}

enum clew_status task_complete(struct store_tx *tx, const struct task *task,
                               int64_t now_ms, struct clew_error *err)
{
    return change_claimed(tx, &COMPLETE, task, now_ms, err);
}

/* Fill a detail with what `note` says. */
static bool set_note(json_t *detail, const struct task_note *note)
{
    if (!note) {
        return detail != NULL;
    }
    return json_set_int(detail, "through", note->through_seq) &&
           json_set_str(detail, "answer", note->answer);
}

enum clew_status task_note_action(struct store_tx *tx, const char *kind,
                                  const struct uuid *subject,
                                  const struct task_note *note, int64_t now_ms,
                                  struct clew_error *err)
{
    struct action_new action = {.kind = kind,
                                .subject = subject,
                                .detail = json_object(),
                                .at_ms = now_ms};

    if (!set_note(action.detail, note)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

enum clew_status task_complete_noted(struct store_tx *tx,
                                     const struct task *task,
                                     const struct task_note *note,
                                     int64_t now_ms, struct clew_error *err)
{
    struct action_new action = {
        .kind = ACTION_TASK, .made = &task->id, .at_ms = now_ms};
    enum clew_status status = task_complete(tx, task, now_ms, err);

    if (status != CLEW_OK) {
        return status;
    }
    action.detail = json_object();
    if (!set_note(action.detail, note) ||
        !json_set_str(action.detail, "kind", task->kind) ||
        !json_set_str(action.detail, "key", task->unique_key) ||
        !json_set_str(action.detail, "payload", task->payload)) {
        json_decref(action.detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

enum clew_status task_extend(struct store_tx *tx, const struct task *task,
                             int64_t until_ms, struct clew_error *err)
{
    return change_claimed(tx, &EXTEND, task, until_ms, err);
}

enum clew_status task_put_off(struct store_tx *tx, const struct task *task,
                              int64_t execute_at_ms, struct clew_error *err)
{
    return change_claimed(tx, &PUT_OFF, task, execute_at_ms, err);
}

int64_t task_lease_ms(const struct engine *engine)
{
    return config_int(engine->config, "tasks.lease_seconds") * CLOCK_SECOND_MS;
}

/* How long a task of this kind is claimed for. */
static int64_t lease_ms(const struct engine *engine, struct str kind)
{
    static const char *const in_steps[] = {"reembed", "turns.read",
                                           "texts.pack"};
    int64_t lease = task_lease_ms(engine);

    for (size_t i = 0; i < sizeof(in_steps) / sizeof(in_steps[0]); i++) {
        if (str_eq(kind, str_of(in_steps[i])) && lease > TASK_STEP_LEASE_MS) {
            return TASK_STEP_LEASE_MS;
        }
    }
    return lease;
}

/* Was it promised? It is tried again however often its workers died or it
 * failed, once an hour in the end. */
static bool is_owed(const struct task *task)
{
    return str_eq(task->kind, STR("scrub"));
}

/* How long it is claimed for. One that is owed and killed worker after worker
 * is taken up later and later. */
static int64_t claim_ms(const struct engine *engine, const struct task *task)
{
    int64_t claim = lease_ms(engine, task->kind);

    for (int64_t n = TASK_MAX_ATTEMPTS;
         n <= task->attempts && claim < TASK_BACKOFF_MAX_MS; n++) {
        claim *= 2;
    }
    return claim < TASK_BACKOFF_MAX_MS ? claim : TASK_BACKOFF_MAX_MS;
}

struct claim_work {
    struct engine *engine;
    struct arena *arena;
    int64_t now_ms;
    struct rows_list found;
    struct task *tasks;
    size_t count;
    bool has_given_up;
};

static enum clew_status do_is_due(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct claim_work *work = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_IS_DUE, DB_ARGS(db_int(work->now_ms)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    work->count = db_next(&rows) ? 1 : 0;
    return db_end(&rows, err);
}

/* Its workers died, every one: no more of them. */
static enum clew_status give_up(struct store_tx *tx, const struct task *task,
                                int64_t now_ms, struct clew_error *err)
{
    return db_exec(tx, &SETTLE,
                   DB_ARGS(db_int(task->scope.tenant), db_uuid(&task->id),
                           db_int(task->attempts), db_cstr("failed"),
                           db_int(task->execute_at_ms), db_int(now_ms),
                           db_cstr(NOBODY_BACK)),
                   err);
}

static enum clew_status claim_one(struct store_tx *tx, struct claim_work *work,
                                  struct task *task, struct clew_error *err)
{
    int64_t n_claimed = 0;
    enum clew_status status;

    if (task->attempts >= TASK_MAX_ATTEMPTS && !is_owed(task)) {
        work->has_given_up = true;
        return give_up(tx, task, work->now_ms, err);
    }
    status = db_exec_count(
        tx, &CLAIM,
        DB_ARGS(db_int(task->scope.tenant), db_uuid(&task->id),
                db_int(work->now_ms + claim_ms(work->engine, task)),
                db_int(task->attempts), db_int(work->now_ms)),
        &n_claimed, err);
    if (status == CLEW_OK && n_claimed == 1) {
        task->attempts++;
        work->tasks[work->count++] = *task;
    }
    return status;
}

static enum clew_status do_claim(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct claim_work *work = arg;
    struct task *found;
    enum clew_status status;

    work->count = 0;
    work->found.count = 0;
    work->has_given_up = false;
    status = rows_add(tx, &work->found, &SELECT_DUE,
                      DB_ARGS(db_int(work->now_ms), db_int(MAX_SEEN)), err);
    found = work->found.items;
    for (size_t i = 0; i < work->found.count && status == CLEW_OK; i++) {
        /* what failed or was left behind does not share a worker's hand */
        if (work->count > 0 &&
            (found[i].attempts > 0 || work->tasks[0].attempts > 1)) {
            continue;
        }
        status = claim_one(tx, work, &found[i], err);
        if (work->count == TASK_MAX_CLAIM || work->has_given_up) {
            break; /* given up: the next look sees the others */
        }
    }
    return status;
}

enum clew_status task_claim(struct engine *engine, struct arena *arena,
                            int64_t now_ms, struct task **out_tasks,
                            size_t *out_count, struct clew_error *err)
{
    struct claim_work work = {
        .engine = engine,
        .arena = arena,
        .now_ms = now_ms,
        .found = {.arena = arena, .size = sizeof(struct task), .fn = row_of},
        .tasks = arena_zero(arena, TASK_MAX_CLAIM, sizeof(struct task))};
    /* looking first keeps idle workers from taking the writer */
    enum clew_status status =
        work.tasks ? store_read_system(engine->store, do_is_due, &work, err)
                   : clew_no_memory(err);

    if (status == CLEW_OK && work.count > 0) {
        status = store_write_system(engine->store, do_claim, &work, err);
    }
    if (status == CLEW_OK) {
        *out_tasks = work.tasks;
        *out_count = work.count;
    }
    return status;
}

/* A statement on each of some claimed tasks. */
struct each_work {
    const struct task *tasks;
    size_t count;
    int64_t time_ms;
};

static enum clew_status do_hold(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    const struct each_work *work = arg;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        const struct task *task = &work->tasks[i];

        status = db_exec(tx, &HOLD,
                         DB_ARGS(db_int(task->scope.tenant), db_uuid(&task->id),
                                 db_int(task->attempts), db_int(work->time_ms)),
                         err);
    }
    return status;
}

enum clew_status task_hold(struct engine *engine, const struct task *tasks,
                           size_t count, int64_t until_ms,
                           struct clew_error *err)
{
    struct each_work work = {
        .tasks = tasks, .count = count, .time_ms = until_ms};

    return store_write_system(engine->store, do_hold, &work, err);
}

static enum clew_status do_release(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    const struct each_work *work = arg;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        const struct task *task = &work->tasks[i];

        status = db_exec(tx, &RELEASE,
                         DB_ARGS(db_int(task->scope.tenant), db_uuid(&task->id),
                                 db_int(task->attempts)),
                         err);
    }
    return status;
}

enum clew_status task_release(struct engine *engine, const struct task *tasks,
                              size_t count, struct clew_error *err)
{
    struct each_work work = {.tasks = tasks, .count = count};

    return store_write_system(engine->store, do_release, &work, err);
}

static enum clew_status do_settle_done(struct store_tx *tx, void *arg,
                                       struct clew_error *err)
{
    const struct each_work *work = arg;
    struct uuid ids[TASK_MAX_CLAIM];
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        const struct task *task = &work->tasks[i];
        const struct task *next =
            i + 1 < work->count && n + 1 < TASK_MAX_CLAIM ? task + 1 : NULL;

        ids[n++] = task->id;
        if (next && next->scope.tenant == task->scope.tenant &&
            next->attempts == task->attempts) {
            continue; /* by the same statement */
        }
        status = db_exec(tx, &SETTLE_DONE,
                         DB_ARGS(db_int(task->scope.tenant), db_uuids(ids, n),
                                 db_int(task->attempts), db_int(work->time_ms)),
                         err);
        n = 0;
    }
    return status;
}

enum clew_status task_settle_done(struct engine *engine,
                                  const struct task *tasks, size_t count,
                                  int64_t now_ms, struct clew_error *err)
{
    struct each_work work = {.tasks = tasks, .count = count, .time_ms = now_ms};

    return count == 0
               ? CLEW_OK
               : store_write_system(engine->store, do_settle_done, &work, err);
}

/* How long to wait after the n-th failure: doubled, capped, jittered by 25 %.
 */
static int64_t backoff_ms(int64_t attempts)
{
    int64_t wait = TASK_BACKOFF_MS;

    while (--attempts > 0 && wait < TASK_BACKOFF_MAX_MS) {
        wait *= 2;
    }
    if (wait > TASK_BACKOFF_MAX_MS) {
        wait = TASK_BACKOFF_MAX_MS;
    }
    return wait + (int64_t)rand_below((uint64_t)wait / 4 + 1);
}

struct settle_work {
    const struct task *task;
    const char *status;
    int64_t execute_at_ms;
    int64_t finished_at_ms; /* 0 = stays open */
    const char *message;
};

static enum clew_status do_settle(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct settle_work *work = arg;
    const struct task *task = work->task;

    return db_exec(tx, &SETTLE,
                   DB_ARGS(db_int(task->scope.tenant), db_uuid(&task->id),
                           db_int(task->attempts), db_cstr(work->status),
                           db_int(work->execute_at_ms),
                           rows_int_or_null(work->finished_at_ms),
                           db_cstr(work->message)),
                   err);
}

enum clew_status task_settle(struct engine *engine, const struct task *task,
                             enum clew_status outcome, const char *message,
                             int64_t now_ms, struct clew_error *err)
{
    struct settle_work work = {.task = task,
                               .status = "done",
                               .execute_at_ms = task->execute_at_ms,
                               .finished_at_ms = now_ms};

    if (outcome != CLEW_OK) {
        bool can_retry = clew_status_retryable(outcome) ||
                         outcome == CLEW_INTERNAL || outcome == CLEW_CONFLICT;

        work.message = message;
        if (is_owed(task) ||
            (can_retry && task->attempts < TASK_MAX_ATTEMPTS)) {
            work.status = "pending";
            work.execute_at_ms = now_ms + backoff_ms(task->attempts);
            work.finished_at_ms = 0;
        } else {
            work.status = "failed";
        }
    }
    return store_write_system(engine->store, do_settle, &work, err);
}

struct list_work {
    const struct task_filter *filter;
    struct rows_list list;
};

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct list_work *work = arg;
    const struct task_filter *filter = work->filter;
    bool is_first = uuid_is_nil(&filter->before_id);
    struct db_value before = db_bytes(filter->before_id.b, 16);

    before.type = DB_UUID; /* the nil id is a value here, not NULL */
    work->list.count = 0;
    return rows_add(
        tx, &work->list, &LIST,
        DB_ARGS(db_text(filter->status.s ? filter->status : STR("")),
                db_int(is_first ? INT64_MAX : filter->before_time_ms), before,
                db_int(filter->limit)),
        err);
}

enum clew_status task_list(struct engine *engine, const struct scope *scope,
                           struct arena *arena,
                           const struct task_filter *filter,
                           struct task **out_tasks, size_t *out_count,
                           struct clew_error *err)
{
    struct list_work work = {
        .filter = filter,
        .list = {.arena = arena, .size = sizeof(struct task), .fn = row_of}};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out_tasks = work.list.items;
        *out_count = work.list.count;
    }
    return status;
}
