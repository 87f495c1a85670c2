/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - what a backend implements. Internal to store/ (and to tests that
 * slip faults in between: copy a table, replace a function, delegate).
 *
 * A driver hands out connections; a connection runs one transaction at a time
 * and belongs to one thread at a time. The layers above see only struct store
 * and struct store_tx. Every pointer is required, and every `err` given to a
 * driver is non-NULL.
 */
#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include "store/db.h"
#include "store/store.h"

/* Opaque here; each backend has its own idea of them. */
struct driver;
struct conn;
struct changes;

enum conn_role { CONN_READER, CONN_WRITER };

/* How a connection stands after a failure. */
enum conn_state {
    CONN_READY,   /* the transaction, if any, can go on */
    CONN_TX_LOST, /* usable after rollback(); nothing of it was kept */
    CONN_CUT,     /* to be closed; nothing of the transaction was kept */
    CONN_LOST     /* to be closed; an unanswered commit may have happened */
};

/* How far a server is in the log of all changes. */
struct position {
    bool is_standby;
    int64_t timeline; /* goes up with every failover */
    int64_t at;       /* bytes: written by a primary, replayed by a standby */
    int64_t system;   /* which server, and */
    int64_t database; /* which database of it: the same on its replicas */
    bool can_read;    /* our role may read the tables */
};

struct driver_ops {
    const char *name;
    /* What {int} {real} {text} {bytes} {id} and the end of a table become, and
     * of one that is only its key and a little ({keyed}). */
    const char *type_int;
    const char *type_real;
    const char *type_text;
    const char *type_bytes;
    const char *type_id;
    const char *table_end;
    const char *keyed_end;

    enum clew_status (*open)(const struct store_options *options,
                             struct driver **out_driver,
                             struct clew_error *err);
    void (*close)(struct driver *driver);
    /* Transactions that may write at the same time, and read. */
    int (*max_writers)(struct driver *driver);
    int (*max_readers)(struct driver *driver);

    enum clew_status (*conn_open)(struct driver *driver, enum conn_role role,
                                  struct conn **out_conn,
                                  struct clew_error *err);
    /* Also in the middle of a transaction, which is then rolled back. */
    void (*conn_close)(struct conn *conn);
    /* Without a round trip: does an idle connection look usable? */
    bool (*is_alive)(struct conn *conn);
    enum conn_state (*state)(struct conn *conn);
    /* Outside of transactions. CLEW_UNSUPPORTED where there are no replicas. */
    enum clew_status (*position)(struct conn *conn, struct position *out,
                                 struct clew_error *err);

    /* Start a transaction; if it fails there is none. */
    enum clew_status (*begin)(struct conn *conn, bool is_write,
                              struct clew_error *err);
    /* Start one tenant's part of it (0: the system's); a savepoint lets
     * leave() undo this part alone. */
    enum clew_status (*enter)(struct conn *conn, int64_t tenant,
                              bool has_savepoint, struct clew_error *err);
    /* End the part that had a savepoint. `is_kept` false undoes it. A failure
     * that was deferred comes out here; then the part must be left again with
     * `is_kept` false. */
    enum clew_status (*leave)(struct conn *conn, bool is_kept,
                              struct clew_error *err);
    /* CLEW_OK: durable. Otherwise see state(); rollback() follows. */
    enum clew_status (*commit)(struct conn *conn, struct clew_error *err);
    void (*rollback)(struct conn *conn);

    /* `out_count` NULL: the statement may be deferred. */
    enum clew_status (*exec)(struct conn *conn, const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             int64_t *out_count, struct clew_error *err);
    /* The query() that follows may be answered by this. */
    enum clew_status (*ahead)(struct conn *conn, const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              struct clew_error *err);
    /* `*out_rows` goes to the functions below and at last to rows_end(). */
    enum clew_status (*query)(struct conn *conn, const struct db_sql *sql,
                              const struct db_value *args, size_t n_args,
                              void **out_rows, struct clew_error *err);
    enum clew_status (*rows_next)(void *rows, bool *out_has_row,
                                  struct clew_error *err);
    void (*rows_end)(void *rows);
    bool (*is_null)(void *rows, int column);
    int64_t (*get_int)(void *rows, int column);
    double (*get_real)(void *rows, int column);
    struct str (*get_text)(void *rows, int column);
    struct str (*get_bytes)(void *rows, int column);

    /* True if nothing was ever stored here; CLEW_CORRUPT if it is not ours. */
    enum clew_status (*is_new)(struct conn *conn, bool *out_new,
                               struct clew_error *err);
    /* A transaction that no other migration overlaps. */
    enum clew_status (*begin_migration)(struct conn *conn,
                                        struct clew_error *err);
    /* Called in it before the first change, if there is one to make. */
    enum clew_status (*start_changes)(struct conn *conn,
                                      struct clew_error *err);
    /* Several statements without parameters. */
    enum clew_status (*script)(struct conn *conn, const char *text,
                               struct clew_error *err);
    /* Last touches before the commit; `system_tables` (comma-separated) are
     * those that a system transaction may see whole. */
    enum clew_status (*end_migration)(struct conn *conn,
                                      const char *system_tables,
                                      struct clew_error *err);

    enum clew_status (*backup)(struct driver *driver, const char *path,
                               struct clew_error *err);
    /* Outside of transactions, on a writer's connection. */
    enum clew_status (*scrub)(struct conn *conn, struct clew_error *err);
    /* Inside a read transaction of the system. */
    enum clew_status (*check)(struct conn *conn, struct clew_error *err);
};

extern const struct driver_ops sqlite_driver;
extern const struct driver_ops postgres_driver;

/* A transaction as the wrappers of db.c see it. */
struct store_tx {
    const struct driver_ops *ops;
    struct conn *conn;
    int64_t tenant; /* 0 in a system transaction */
    bool is_write;
    bool has_written;        /* a statement that may have changed something */
    struct changes *changes; /* the group's; NULL where none can be taken */
    int n_open;              /* queries not yet ended */
    enum clew_status status; /* the first failure; all later calls repeat it */
    struct clew_error error; /* its words */
};

/* Open a store on a given table of functions, for tests. */
enum clew_status store_open_driver(const struct driver_ops *ops,
                                   const struct store_options *options,
                                   struct store **out_store,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Bring the schema up to date, or only compare it if it is to be read only; a
 * new one is made unless it must exist. */
enum clew_status migrate(const struct driver_ops *ops, struct conn *conn,
                         const struct store_options *options,
                         struct clew_error *err) CLEW_MUST_CHECK;

#endif
