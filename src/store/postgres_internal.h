/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_internal.h - what the files of the PostgreSQL driver share.
 */
#ifndef STORE_POSTGRES_INTERNAL_H
#define STORE_POSTGRES_INTERNAL_H

#include "base/buf.h"
#include "store/driver.h"
#include "store/stmt_cache.h"

#include <libpq-fe.h>

/* Statements sent and not yet answered: bounds what waits in buffers, and how
 * late a failure can be noticed. */
#define POSTGRES_MAX_PENDING 256
#define POSTGRES_MAX_ARGS 128
/* So much is kept back before it is sent: about what a turn writes, so that the
 * server works on it while the next is prepared. */
#define POSTGRES_SEND_BYTES 4096
/* Questions asked ahead and not yet fetched; more are not asked ahead. */
#define POSTGRES_MAX_AHEAD 8
/* Statements the server still holds though we let them go: more are not left
 * behind. */
#define POSTGRES_MAX_LEFT 64

struct driver {
    char *url;
    int max_readers;
    int answer_ms;
    bool is_read_only;
    bool is_replica;
    bool is_pooled; /* each transaction may have another session */
};

/* A statement prepared on the server. A type of 0 was left to the server. */
struct pg_stmt {
    char name[24];
    bool is_pending; /* the server has not confirmed it yet */
    int n_args;
    Oid types[]; /* n_args of them */
};

enum pending_kind {
    PENDING_PREPARE,
    PENDING_LET_GO,
    PENDING_RUN,
    PENDING_AHEAD,
    PENDING_SYNC
};

/* A question asked ahead: free, asked (its answer is pending), answered. */
struct ahead {
    enum { AHEAD_FREE, AHEAD_ASKED, AHEAD_ANSWERED } state;
    const struct db_sql *sql; /* NULL: nobody wants it any more */
    struct buf key;           /* the values, as they were sent */
    PGresult *result;         /* if answered */
};

/* One answer that is still to come. */
struct pending {
    enum pending_kind kind;
    struct stmt_slot *slot; /* of PENDING_PREPARE */
    struct ahead *ahead;    /* of PENDING_AHEAD */
};

/* Always in pipeline mode, except inside postgres_script(). */
struct conn {
    struct driver *driver;
    PGconn *pg;
    bool is_in_tx;
    bool is_write; /* of the current transaction */
    /* The tenant whose part runs, and the one that was announced (and locked)
     * in parts that were kept; -1 if none. */
    int64_t tenant;
    int64_t kept_tenant;
    bool is_tx_lost; /* the server gave the transaction up */
    bool is_lost;
    bool is_cut; /* lost, and the server said so before it came to the commit */
    uint64_t n_prepared;
    int n_left; /* let go in a transaction that failed before it */
    struct stmt_cache cache;
    struct pending pending[POSTGRES_MAX_PENDING];
    int n_pending;
    size_t unsent_bytes; /* about */
    struct ahead aheads[POSTGRES_MAX_AHEAD];
};

/* postgres_value.c: the binary format. */
struct pg_args {
    const char *values[POSTGRES_MAX_ARGS];
    int lengths[POSTGRES_MAX_ARGS];
    int formats[POSTGRES_MAX_ARGS];
    uint64_t scratch[POSTGRES_MAX_ARGS];
    struct buf lists;
};
/* The type a value is sent as, 0 for a bare NULL. */
Oid postgres_type_of(const struct db_value *value);
/* Encode; `out` borrows the values. Release it with postgres_args_release(),
 * also after a failure. */
enum clew_status postgres_args_init(struct pg_args *out,
                                    const struct db_value *args, size_t n);
void postgres_args_release(struct pg_args *args);
int64_t postgres_decode_int(const PGresult *result, int row, int column);
double postgres_decode_real(const PGresult *result, int row, int column);

/* postgres_stmt.c: the pipeline and the statements in it. */
/* Send a statement without waiting. */
enum clew_status postgres_send(struct conn *conn, const struct db_sql *sql,
                               const struct db_value *args, size_t n_args,
                               struct clew_error *err);
/* The same for a text that takes no parameters and is not kept prepared. */
enum clew_status postgres_send_text(struct conn *conn, const char *text,
                                    struct clew_error *err);
/* Ask for all answers and do not wait. */
void postgres_flush(struct conn *conn);
/* Wait for all answers; the first failure. `*out_last` (may be NULL) is the
 * answer to the last statement, the caller's to PQclear(). */
enum clew_status postgres_drain(struct conn *conn, PGresult **out_last,
                                struct clew_error *err);
enum clew_status postgres_script(struct conn *conn, const char *text,
                                 struct clew_error *err);
enum clew_status postgres_exec(struct conn *conn, const struct db_sql *sql,
                               const struct db_value *args, size_t n_args,
                               int64_t *out_count, struct clew_error *err);
enum clew_status postgres_query(struct conn *conn, const struct db_sql *sql,
                                const struct db_value *args, size_t n_args,
                                void **out_rows, struct clew_error *err);
enum clew_status postgres_rows_next(void *rows, bool *out_has_row,
                                    struct clew_error *err);
void postgres_rows_end(void *rows);
bool postgres_is_null(void *rows, int column);
int64_t postgres_get_int(void *rows, int column);
double postgres_get_real(void *rows, int column);
struct str postgres_get_bytes(void *rows, int column);
/* postgres_ahead.c: questions asked before their answers are fetched. */
enum clew_status postgres_ahead(struct conn *conn, const struct db_sql *sql,
                                const struct db_value *args, size_t n_args,
                                struct clew_error *err);
/* A free place for the answer to a question with these values; NULL: none. */
struct ahead *postgres_ahead_new(struct conn *conn, const struct db_value *args,
                                 size_t n_args);
/* The question asked ahead that is this one, NULL if none was. */
struct ahead *postgres_ahead_find(struct conn *conn, const struct db_sql *sql,
                                  const struct db_value *args, size_t n_args);
/* Its answer has come, or a failure instead of it. Takes ownership. */
void postgres_ahead_answer(struct ahead *ahead, PGresult *result, bool is_good);
/* Nobody will fetch what was asked so far. */
void postgres_ahead_forget(struct conn *conn);
/* Let all go, with the connection. */
void postgres_ahead_release(struct conn *conn);

void postgres_release_all(struct conn *conn);
/* Between transactions: let go of all statements if too many were left. */
enum clew_status postgres_clear_left(struct conn *conn, struct clew_error *err);

/* postgres_schema.c: what migrations need. */
enum clew_status postgres_is_new(struct conn *conn, bool *out_new,
                                 struct clew_error *err);
enum clew_status postgres_begin_migration(struct conn *conn,
                                          struct clew_error *err);
enum clew_status postgres_start_changes(struct conn *conn,
                                        struct clew_error *err);
enum clew_status postgres_end_migration(struct conn *conn,
                                        const char *system_tables,
                                        struct clew_error *err);
enum clew_status postgres_check(struct conn *conn, struct clew_error *err);

/* postgres_scrub.c: leave no bytes of what was deleted. */
enum clew_status postgres_scrub(struct conn *conn, struct clew_error *err);

#endif
