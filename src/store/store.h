/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - durable storage: open a backend, run transactions on it.
 *
 * All that clew keeps is reached through a transaction that belongs to one
 * tenant. A unit of work is a function: the store runs it inside a transaction
 * and commits if it returns CLEW_OK. Several waiting writes share one commit
 * (group commit); one that fails takes none of the others with it.
 *
 * Semantics, equal on every backend:
 * - store_write() returns CLEW_OK only after the commit is durable.
 * - A write function sees its own effects and those of all commits before it;
 *   writes of one tenant do not overlap. A read function sees one snapshot.
 * - A write function may be run more than once (another of its group failed,
 *   serialisation failure, lost connection): it must reset what it returns
 * through `arg` at its start and have no other effect outside the transaction.
 * - A function must not call store_read()/store_write() itself, nor keep the
 *   transaction, nor block on anything but the store.
 * - Times are the caller's. Text is UTF-8 without NUL; bytes are bytes.
 *
 * Thread-safety: a struct store may be used by any number of threads; a
 * struct store_tx belongs to the function it was given to.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
struct store_tx;

/* Whose data a call may touch. Made from a key by engine/key/key.h, or from the
 * operator's own choice on the command line; never from a request body. */
struct scope {
    int64_t tenant; /* row id of the tenant; > 0 */
};

struct store_options {
    /* A folder (SQLite, file clew.db in it; made if missing), ":memory:", or a
     * libpq URL "postgres://…" / "postgresql://…" (several hosts allowed). */
    const char *location;
    /* A server that follows it, to read from what it has already; NULL: none.
     * PostgreSQL only. */
    const char *read_location;
    int max_readers;   /* 0 = as pool_fitting() says */
    int max_waiting;   /* writes per writer before CLEW_BUSY, 0 = 1024 */
    int group_ms;      /* running time of writes that share a commit, 0 = 500 */
    int wait_ms;       /* of a write behind a lock of others, 0 = 20 s */
    int answer_ms;     /* longest wait for PostgreSQL's answer, 0 = 45 s */
    bool must_exist;   /* do not create a new SQLite file */
    bool is_read_only; /* refuse store_write() */
    bool is_pooled;    /* `location` is a pooler that deals out transactions */
    bool is_replica;   /* the driver's: `location` may not accept writes */
    bool is_scratch;   /* SQLite: will be thrown away, so nothing is synced */
};

typedef enum clew_status (*store_fn)(struct store_tx *tx, void *arg,
                                     struct clew_error *err);

/*
 * Open and migrate. CLEW_NEWER_SCHEMA if a newer clew wrote it, CLEW_CORRUPT if
 * it is no clew store, CLEW_UNAVAILABLE if it cannot be reached. The caller
 * store_close()s it.
 */
enum clew_status store_open(const struct store_options *options,
                            struct store **out_store,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Waits for running transactions. NULL is a no-op. */
void store_close(struct store *store);

/*
 * Run `fn` in a read-write transaction of one tenant. CLEW_UNAVAILABLE if the
 * backend is down or the disk is full: nothing was written. CLEW_BUSY if the
 * queue of writers is full or the lock could not be had in time.
 */
enum clew_status store_write(struct store *store, const struct scope *scope,
                             store_fn fn, void *arg,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Run `fn` on one snapshot; db_exec() is refused inside. */
enum clew_status store_read(struct store *store, const struct scope *scope,
                            store_fn fn, void *arg,
                            struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The same without a tenant, for the few tables that stand above tenants
 * (tenants, api_keys, tasks to claim). Only statements marked DB_SYSTEM run.
 */
enum clew_status store_write_system(struct store *store, store_fn fn, void *arg,
                                    struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status store_read_system(struct store *store, store_fn fn, void *arg,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Run scripts that change the schema beside the migrations, each in a
 * transaction of its own unless it says otherwise, one after the other on one
 * connection. PostgreSQL only (CLEW_UNSUPPORTED). A script may need what
 * transactions cannot hold (CREATE INDEX CONCURRENTLY); settings made by one
 * last for those after it. Stops at the first that fails.
 */
enum clew_status store_extend(struct store *store, const char *const *scripts,
                              size_t count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/*
 * PostgreSQL plans by what it knew of a table when it last looked, which it
 * does once a minute at best: what is brought in at once is then looked up by
 * the wrong index. If the turns have doubled since, it is made to look again.
 * Nothing to do on SQLite, which plans without statistics.
 */
enum clew_status store_refresh(struct store *store,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Which database this is: one that was restored has the same contents and ids,
 * but is another. All 0 on SQLite. */
struct store_place {
    int64_t system;    /* of the server; 0 if it does not tell */
    int64_t database;  /* in it */
    bool is_fenceless; /* our role passes through row-level security */
};
enum clew_status store_find_place(struct store *store, struct store_place *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* What became of reads that might have gone to the replica. */
struct store_replica {
    bool is_used; /* there is one in the options; else all is 0 */
    bool is_down;
    bool is_behind; /* as it looks now; also if it is down */
    int64_t n_reads;
    int64_t n_behind; /* read on the primary, since it had not caught up */
    int64_t n_down;   /* read on the primary, since it could not be asked */
};
/* Looks, and says. */
void store_replica_look(struct store *store, struct store_replica *out);
/* "sqlite" or "postgres". */
const char *store_backend(const struct store *store);
/* Writes that wait for their turn, over all writers; for /metrics. */
int store_waiting(struct store *store);
/* True while the backend answers; for /healthz. */
bool store_is_healthy(struct store *store);
/* Copy the whole store, consistently and while in use, to the file `path`
 * (SQLite). CLEW_UNSUPPORTED on PostgreSQL: its own tools do that. */
enum clew_status store_backup(struct store *store, const char *path,
                              struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Drop what the backend still holds of deleted rows: SQLite's log is written
 * back and emptied, PostgreSQL's tables are written anew (those under 256 MB;
 * larger ones are vacuumed, which leaves bytes in their pages). For after a
 * forget; may take long. CLEW_BUSY if readers of the old state do not end in
 * time or a table was too large. PostgreSQL's write-ahead log, backups and
 * archived logs are the operator's.
 */
enum clew_status store_scrub(struct store *store,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The backend's own consistency check (integrity_check, amcheck where there).
 */
enum clew_status store_check(struct store *store,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
