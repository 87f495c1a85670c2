/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild.c - a scratch store, the log replayed into it, and the end.
 *
 * Most of the log is replayed while others go on writing. What they added
 * meanwhile is replayed inside the last transaction, which then compares and
 * writes. If something was forgotten or imported meanwhile, the past itself has
 * changed and all begins again.
 */
#include "engine/proof/rebuild_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/fd.h"
#include "base/rand.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/proof/rebuild_later.h"
#include "engine/proof/renew.h"
#include "engine/understand/correction.h"
#include "store/db.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "rebuild-"
/* Files of a scratch folder: the store, and a copy of it while it is empty. */
#define STORE "clew.db"
#define EMPTY "empty.db"
#define MAX_EMPTY_BYTES ((size_t)64 << 20)
#define ARENA_BYTES ((size_t)1 << 32)
/* Looks at what was added meanwhile before the last transaction. */
#define SYNC_ROUNDS 4
/* Beginnings from scratch before giving up. */
#define MAX_TRIES 3
/* A task that rebuilds renews its claim so often in its length. */
#define EXTEND_PARTS 4

DB_SQL_SYSTEM(ADD_TENANT,
              "INSERT INTO tenants (tenant, name, created_at, change_seq)"
              " VALUES ($1, 'scratch', 0, 0)");
DB_SQL(SELECT_EPOCH,
       "SELECT (SELECT COUNT(*) FROM forget_receipts WHERE tenant = $1),"
       " (SELECT COUNT(*) FROM turns WHERE tenant = $1 AND log_seq IS NOT"
       " NULL)");
/* Actions up to the last that was replayed. */
DB_SQL(COUNT_ACTIONS, "SELECT COUNT(*) FROM actions WHERE tenant = $1"
                      " AND (seq, id) <= ($2, $3)"
                      " AND kind <> '" ACTION_READ "'");
/* Turns, their readings and other actions. */
DB_SQL(SELECT_SIZE, "SELECT (SELECT 2 * COUNT(*) FROM turns WHERE tenant = $1)"
                    " - (SELECT COUNT(*) FROM unread WHERE tenant = $1)"
                    " + (SELECT COUNT(*) FROM actions WHERE tenant = $1"
                    " AND kind <> '" ACTION_READ "')");

DB_SQL(SELECT_TASK, "SELECT COUNT(*) FROM tasks WHERE tenant = $1"
                    " AND kind = '" REBUILD_TASK "' AND finished_at IS NULL");
/* One that runs settles itself. */
DB_SQL(SETTLE_TASK, "UPDATE tasks SET status = 'done', finished_at = $2"
                    " WHERE tenant = $1 AND kind = '" REBUILD_TASK "'"
                    " AND status = 'pending' AND finished_at IS NULL");

/* --- the scratch store -----------------------------------------------------
 */

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_folder(const char *path)
{
    /* what cannot be removed is removed by the next rebuild */
    (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Folders that processes left behind when they died. */
static void sweep(const char *dir)
{
    DIR *list = opendir(dir);
    struct dirent *entry;

    while (list && (entry = readdir(list))) {
        char path[4096];
        long pid;

        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0) {
            continue;
        }
        pid = strtol(entry->d_name + strlen(PREFIX), NULL, 10);
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
            snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) <
                (int)sizeof(path)) {
            remove_folder(path);
        }
    }
    if (list) {
        (void)closedir(list);
    }
}

static enum clew_status do_tenant(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    const struct rebuild *r = arg;

    return db_exec(tx, &ADD_TENANT, DB_ARGS(db_int(r->scope.tenant)), err);
}

void rebuild_empty_init(struct rebuild_empty *empty)
{
    buf_init(&empty->bytes, MAX_EMPTY_BYTES);
}

void rebuild_empty_release(struct rebuild_empty *empty)
{
    buf_release(&empty->bytes);
}

/* A file of the scratch folder; -1 if it cannot be had. */
static int open_file(const struct rebuild *r, const char *name, int flags)
{
    char path[4096];
    int len = snprintf(path, sizeof(path), "%s/%s", r->folder, name);

    return len > 0 && len < (int)sizeof(path)
               ? open(path, flags | O_CLOEXEC, 0600)
               : -1;
}

/* Keep a copy of the store that was just made. Without one the next rebuild
 * makes its own, as this one did. */
static void keep_empty(const struct rebuild *r, struct rebuild_empty *empty)
{
    char path[4096];
    int fd = -1;

    if (snprintf(path, sizeof(path), "%s/" EMPTY, r->folder) <
            (int)sizeof(path) &&
        store_backup(r->scratch.store, path, NULL) == CLEW_OK) {
        fd = open_file(r, EMPTY, O_RDONLY);
    }
    if (fd >= 0) {
        if (fd_read_all(fd, &empty->bytes) != CLEW_OK) {
            buf_clear(&empty->bytes);
        }
        (void)close(fd);
    }
}

/* Begin with what an earlier rebuild made. A file that is not whole would be
 * taken for a damaged store: it goes, and an empty one is made. */
static void begin_with(const struct rebuild *r,
                       const struct rebuild_empty *empty)
{
    int fd = mkdir(r->folder, 0700) == 0
                 ? open_file(r, STORE, O_WRONLY | O_CREAT | O_EXCL)
                 : -1;
    bool is_whole = fd >= 0 && fd_write_all(fd, buf_str(&empty->bytes));

    if (fd >= 0) {
        is_whole = close(fd) == 0 && is_whole;
    }
    if (!is_whole) {
        remove_folder(r->folder);
    }
}

static enum clew_status open_scratch(struct rebuild *r, struct clew_error *err)
{
    struct store_options options = {.location = ":memory:", .is_scratch = true};
    struct rebuild_empty *empty = r->options->empty;
    enum clew_status status;

    if (r->engine->data_dir) {
        size_t size = strlen(r->engine->data_dir) + 64;

        sweep(r->engine->data_dir);
        r->folder = alloc_bytes(size);
        if (!r->folder) {
            return clew_no_memory(err);
        }
        (void)snprintf(r->folder, size, "%s/" PREFIX "%ld-%08llx",
                       r->engine->data_dir, (long)getpid(),
                       (unsigned long long)rand_below(0xffffffff));
        options.location = r->folder;
        if (empty && empty->bytes.len > 0) {
            begin_with(r, empty);
        }
    }
    r->scratch = *r->engine;
    r->scratch.store = NULL;
    r->scratch.clock = &r->clock;
    r->scratch.replay = &r->replay;
    /* nobody searches here, and nobody is asked */
    r->scratch.indexes = NULL;
    r->scratch.feed = NULL;
    r->scratch.models = NULL;
    r->scratch.graph = NULL;
    r->scratch.contexts = NULL;
    r->scratch.llm = NULL;
    clock_init_fake(&r->clock, 0);
    status = store_open(&options, &r->scratch.store, err);
    if (status == CLEW_OK && r->folder && empty && empty->bytes.len == 0) {
        keep_empty(r, empty);
    }
    return status == CLEW_OK
               ? store_write_system(r->scratch.store, do_tenant, r, err)
               : status;
}

static void release(struct rebuild *r)
{
    store_close(r->scratch.store);
    if (r->folder) {
        remove_folder(r->folder);
    }
    alloc_free(r->folder);
    arena_release(&r->told.arena);
    arena_release(&r->imported.arena);
    arena_release(&r->actions.arena);
}

/* --- the straight line -----------------------------------------------------
 */

static enum clew_status read_epoch(struct store_tx *tx,
                                   struct rebuild_epoch *out,
                                   struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_EPOCH, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out = (struct rebuild_epoch){0};
    if (db_next(&rows)) {
        out->n_forgotten = db_get_int(&rows, 0);
        out->n_imported = db_get_int(&rows, 1);
    }
    return db_end(&rows, err);
}

struct seeding {
    struct rebuild *r;
    struct store_tx *from;
};

static enum clew_status do_seed(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    const struct seeding *seeding = arg;
    enum clew_status status;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    status = correction_seed(seeding->from, tx, &arena, err);
    arena_release(&arena);
    return status;
}

static enum clew_status do_begin(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct rebuild *r = arg;
    struct seeding seeding = {r, tx};
    enum clew_status status = read_epoch(tx, &r->epoch, err);

    if (status == CLEW_OK) {
        status =
            store_write(r->scratch.store, &r->scope, do_seed, &seeding, err);
    }
    return status == CLEW_OK ? rows_number(tx, &SELECT_SIZE, DB_NO_ARGS,
                                           &r->report.n_total, err)
                             : status;
}

/* This rebuild is the one that was asked for. */
static enum clew_status look_for_task(struct rebuild *r, struct store_tx *tx,
                                      struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_TASK, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    r->report.is_due = db_next(&rows) && db_get_int(&rows, 0) > 0;
    status = db_end(&rows, err);
    if (status != CLEW_OK || r->options->is_dry_run || !r->report.is_due) {
        return status;
    }
    return db_exec(tx, &SETTLE_TASK,
                   DB_ARGS(db_int(clock_now_ms(r->engine->clock))), err);
}

/* An action that was imported before those that were replayed already is seen
 * by no stream. (One may go: a timeout that is set again replaces the last.) */
static enum clew_status look_for_actions(const struct rebuild *r,
                                         struct store_tx *tx,
                                         struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status = rows_number(
        tx, &COUNT_ACTIONS,
        DB_ARGS(db_int(r->actions.after_seq), db_uuid(&r->actions.after_id)),
        &count, err);

    return status == CLEW_OK && count > r->actions.n_done
               ? clew_fail(err, CLEW_CONFLICT, "things were imported meanwhile")
               : status;
}

static enum clew_status do_end(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct rebuild *r = arg;
    struct rebuild_epoch now = {0};
    enum clew_status status = read_epoch(tx, &now, err);

    if (status == CLEW_OK && (now.n_forgotten != r->epoch.n_forgotten ||
                              now.n_imported != r->epoch.n_imported)) {
        return clew_fail(err, CLEW_CONFLICT,
                         "things were forgotten or imported meanwhile");
    }
    if (status == CLEW_OK) {
        status = rebuild_sync(r, tx, err);
    }
    if (status == CLEW_OK) {
        status = look_for_actions(r, tx, err);
    }
    if (status == CLEW_OK) {
        status = rebuild_diff(r, tx, err);
    }
    return status == CLEW_OK ? look_for_task(r, tx, err) : status;
}

static enum clew_status run_once(struct rebuild *r, struct clew_error *err)
{
    struct store *store = r->engine->store;
    enum clew_status status = open_scratch(r, err);

    if (status == CLEW_OK) {
        status = store_read(store, &r->scope, do_begin, r, err);
    }
    for (int i = 0; i < SYNC_ROUNDS && status == CLEW_OK; i++) {
        int64_t before = r->report.n_done;

        status = rebuild_sync(r, NULL, err);
        if (r->report.n_done == before) {
            break;
        }
    }
    if (status == CLEW_OK) {
        status = r->options->is_dry_run
                     ? store_read(store, &r->scope, do_end, r, err)
                     : store_write(store, &r->scope, do_end, r, err);
    }
    return status;
}

enum clew_status rebuild_run(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct rebuild_options *options,
                             struct rebuild_report *out, struct clew_error *err)
{
    struct rebuild *r = alloc_zero(1, sizeof(*r));
    enum clew_status status;

    if (!r) {
        return clew_no_memory(err);
    }
    /* a row of an earlier form is no difference */
    status = renew_updates(engine, scope, err);
    status = status == CLEW_OK ? CLEW_CONFLICT : status;
    for (int i = 0; i < MAX_TRIES && status == CLEW_CONFLICT; i++) {
        *r = (struct rebuild){.engine = engine,
                              .scope = *scope,
                              .arena = arena,
                              .options = options,
                              .imported.after.is_imported = true};
        r->told.after.change_seq = INT64_MIN;
        r->imported.after.log_seq = INT64_MIN;
        r->imported.after.change_seq = INT64_MIN;
        r->actions.after_seq = INT64_MIN;
        r->reached = INT64_MIN;
        arena_init(&r->told.arena, ARENA_BYTES);
        arena_init(&r->imported.arena, ARENA_BYTES);
        arena_init(&r->actions.arena, ARENA_BYTES);
        status = run_once(r, err);
        if (status == CLEW_OK) {
            *out = r->report;
        }
        release(r);
    }
    alloc_free(r);
    return status;
}

/* --- the task --------------------------------------------------------------
 */

struct claim {
    struct engine *engine;
    const struct task *task;
    int64_t until_ms;
    int64_t extended_at_ms;
};

static enum clew_status do_extend(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    const struct claim *claim = arg;

    return task_extend(tx, claim->task, claim->until_ms, err);
}

/* Others may take the task over if this process dies; not while it lives. */
static bool extend(void *arg, const struct rebuild_report *report)
{
    struct claim *claim = arg;
    int64_t now_ms = clock_now_ms(claim->engine->clock);

    (void)report;
    if (now_ms - claim->extended_at_ms <
        task_lease_ms(claim->engine) / EXTEND_PARTS) {
        return true;
    }
    claim->extended_at_ms = now_ms;
    claim->until_ms = now_ms + task_lease_ms(claim->engine);
    return store_write(claim->engine->store, &claim->task->scope, do_extend,
                       claim, NULL) == CLEW_OK;
}

enum clew_status rebuild_task(struct engine *engine, const struct task *task,
                              struct arena *arena, struct clew_error *err)
{
    struct claim claim = {.engine = engine,
                          .task = task,
                          .extended_at_ms = clock_now_ms(engine->clock)};
    struct rebuild_options options = {.progress = extend, .arg = &claim};
    struct rebuild_report report;
    enum clew_status status =
        rebuild_run(engine, &task->scope, arena, &options, &report, err);

    /* what was told before actions were kept stays as it is */
    return status == CLEW_UNSUPPORTED ? CLEW_OK : status;
}
