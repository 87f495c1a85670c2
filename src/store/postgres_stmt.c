/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_stmt.c - statements in a pipeline.
 *
 * What returns nothing is sent and not waited for, so a batch of inserts costs
 * one round trip. Each thing sent has an entry in `pending`; postgres_drain()
 * reads the answers in that order. After a failure the server skips what
 * follows up to the next sync, and the transaction can only be rolled back (to
 * its savepoint); the wrappers of db.c see to that.
 * Sockets do not block, so that no wait is without end: a server that stands
 * still is given up like one that is gone.
 */
#include "store/postgres_internal.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000LL

struct rows {
    PGresult *result;
    struct stmt_slot *slot; /* NULL if it was asked ahead */
    int at;
};

static enum clew_status lost(struct conn *conn, struct clew_error *err)
{
    conn->is_lost = true;
    conn->n_pending = 0;
    return clew_fail(err, CLEW_UNAVAILABLE,
                     "the connection to the database was lost");
}

/* --- failures ------------------------------------------------------------- */

static bool is_class(const char *state, const char *class_code)
{
    return strncmp(state, class_code, 2) == 0;
}

/* Failures after which another server, or the same a little later, may serve.
 */
static bool is_end_of_connection(const struct conn *conn, const char *state)
{
    return is_class(state, "08") || strncmp(state, "57P", 3) == 0 ||
           (strcmp(state, "25006") == 0 && conn->is_write);
}

/* Its last words, whatever their code: too long idle in a transaction, say. */
static bool is_fatal(const PGresult *result)
{
    const char *severity =
        PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    return severity &&
           (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

/* No name is used twice on a connection, and none is let go but by us: another
 * has the same session, or had it before. */
static bool is_shared(const char *state)
{
    return strcmp(state, "42P05") == 0 || strcmp(state, "26000") == 0;
}

static enum clew_status status_of(const char *state)
{
    static const struct {
        const char *prefix;
        enum clew_status status;
    } table[] = {
        {"23505", CLEW_CONFLICT},  {"23503", CLEW_CONFLICT},
        {"23514", CLEW_INVALID},   {"22021", CLEW_INVALID},
        {"22P05", CLEW_INVALID},   {"22003", CLEW_INVALID},
        {"40001", CLEW_BUSY},      {"40P01", CLEW_BUSY},
        {"55P03", CLEW_BUSY},      {"57014", CLEW_TIMEOUT},
        {"42501", CLEW_FORBIDDEN}, {"53", CLEW_UNAVAILABLE},
        {"58", CLEW_UNAVAILABLE},  {"XX001", CLEW_CORRUPT},
        {"XX002", CLEW_CORRUPT},   {"54", CLEW_TOO_LARGE},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strncmp(state, table[i].prefix, strlen(table[i].prefix)) == 0) {
            return table[i].status;
        }
    }
    return CLEW_INTERNAL;
}

/* The status of a failed result; notes what it means for the connection. */
static enum clew_status postgres_fail(struct conn *conn, const PGresult *result,
                                      struct clew_error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *advice = "";
    enum clew_status status;

    if (!state || PQstatus(conn->pg) != CONNECTION_OK) {
        conn->is_lost = true;
        status = CLEW_UNAVAILABLE;
    } else if (is_shared(state)) {
        conn->is_lost = true;
        status = CLEW_UNAVAILABLE;
        advice = "; behind a pooler that deals out transactions set "
                 "store.pooling: transaction";
    } else if (is_fatal(result) || is_end_of_connection(conn, state)) {
        conn->is_lost = true;
        status = CLEW_UNAVAILABLE;
    } else {
        status = status_of(state);
    }
    if (state && is_class(state, "40")) {
        conn->is_tx_lost = true;
    }
    /* Not the detail: it holds values. */
    return clew_fail(err, status, "the database refused: %s (%s)%s",
                     words ? words : "the connection was lost",
                     state ? state : "-", advice);
}

/* --- the pipeline --------------------------------------------------------- */

static void forget(struct stmt_slot *slot)
{
    alloc_free(slot->stmt);
    slot->stmt = NULL;
    slot->is_busy = false;
}

static void push(struct conn *conn, enum pending_kind kind,
                 struct stmt_slot *slot, struct ahead *ahead)
{
    conn->pending[conn->n_pending++] =
        (struct pending){.kind = kind, .slot = slot, .ahead = ahead};
}

/* Send what is still to be sent and wait until there is something to take.
 * False if that takes too long. */
static bool await_result(struct conn *conn)
{
    int64_t until = clock_mono_ns() + conn->driver->answer_ms * NS_PER_MS;

    while (PQisBusy(conn->pg)) {
        struct pollfd fd = {.fd = PQsocket(conn->pg), .events = POLLIN};
        int64_t left_ms = (until - clock_mono_ns()) / NS_PER_MS;
        int n;

        if (PQflush(conn->pg) == 1) {
            fd.events |= POLLOUT;
        }
        n = left_ms > 0 ? poll(&fd, 1, (int)left_ms) : 0;
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        if (n > 0 && PQconsumeInput(conn->pg) != 1) {
            return true; /* PQgetResult() says why */
        }
    }
    return true;
}

static PGresult *next_result(struct conn *conn)
{
    if (!conn->is_lost && !await_result(conn)) {
        conn->is_lost = true;
    }
    return conn->is_lost ? NULL : PQgetResult(conn->pg);
}

/* Take the answer to one entry: its result, NULL if the connection is gone. */
static PGresult *take_answer(struct conn *conn, enum pending_kind kind)
{
    PGresult *result = next_result(conn);
    PGresult *more;

    if (!result || kind == PENDING_SYNC) {
        return result;
    }
    more = next_result(conn); /* NULL ends each statement's answer */
    while (more) {
        PQclear(more);
        more = next_result(conn);
    }
    return result;
}

/* Judge the answer to one entry. */
static enum clew_status settle(struct conn *conn, const struct pending *entry,
                               const PGresult *result, struct clew_error *err)
{
    ExecStatusType outcome = PQresultStatus(result);
    bool is_good = outcome == PGRES_COMMAND_OK || outcome == PGRES_TUPLES_OK ||
                   outcome == PGRES_PIPELINE_SYNC;

    if (entry->kind == PENDING_PREPARE) {
        if (is_good) {
            ((struct pg_stmt *)entry->slot->stmt)->is_pending = false;
        } else {
            forget(entry->slot); /* the server does not have it */
        }
    }
    if (is_good) {
        return CLEW_OK;
    }
    if (entry->kind == PENDING_LET_GO) {
        conn->n_left++; /* a failure before it, and the server has it still */
    }
    if (outcome == PGRES_PIPELINE_ABORTED) {
        return clew_fail(err, CLEW_INTERNAL, "a statement was skipped");
    }
    return postgres_fail(conn, result, err);
}

static void push_sync(struct conn *conn)
{
    if (PQpipelineSync(conn->pg) != 1) {
        conn->is_lost = true;
    }
    push(conn, PENDING_SYNC, NULL, NULL);
}

void postgres_flush(struct conn *conn)
{
    if (!conn->is_lost) {
        push_sync(conn);
    }
}

enum clew_status postgres_drain(struct conn *conn, PGresult **out_last,
                                struct clew_error *err)
{
    PGresult *last = NULL;
    struct clew_error later;
    enum clew_status status = CLEW_OK;

    if (!conn->is_lost) {
        push_sync(conn);
    }
    for (int i = 0; i < conn->n_pending && !conn->is_lost; i++) {
        struct pending *entry = &conn->pending[i];
        PGresult *result = take_answer(conn, entry->kind);
        enum clew_status own;

        if (!result) {
            conn->is_lost = true;
            break;
        }
        own = settle(conn, entry, result, status == CLEW_OK ? err : &later);
        /* The server's own last words, with statements still to come: it never
         * came to the last one, which may be the commit. */
        conn->is_cut = conn->is_lost && i + 2 < conn->n_pending &&
                       PQresultErrorField(result, PG_DIAG_SQLSTATE) &&
                       !conn->driver->is_pooled; /* those are the pooler's */
        status = status == CLEW_OK ? own : status;
        if (entry->kind == PENDING_RUN) {
            PQclear(last);
            last = result;
        } else if (entry->kind == PENDING_AHEAD) {
            postgres_ahead_answer(entry->ahead, result, own == CLEW_OK);
        } else {
            PQclear(result);
        }
    }
    conn->n_pending = 0;
    conn->unsent_bytes = 0;
    if (conn->is_lost && status == CLEW_OK) {
        status = lost(conn, err);
    }
    if (status != CLEW_OK || !out_last) {
        PQclear(last);
        return status;
    }
    *out_last = last;
    return CLEW_OK;
}

/* Make room for `n` more entries and a sync. */
static enum clew_status reserve(struct conn *conn, int n,
                                struct clew_error *err)
{
    if (conn->is_lost) {
        return lost(conn, err);
    }
    if (conn->n_pending + n + 1 < POSTGRES_MAX_PENDING) {
        return CLEW_OK;
    }
    return postgres_drain(conn, NULL, err);
}

/* --- statements ----------------------------------------------------------- */

static bool is_fitting(const struct pg_stmt *stmt, const struct db_value *args,
                       size_t n_args)
{
    if (stmt->n_args != (int)n_args) {
        return false;
    }
    for (size_t i = 0; i < n_args; i++) {
        Oid type = postgres_type_of(&args[i]);

        if (type != 0 && type != stmt->types[i]) {
            return false;
        }
    }
    return true;
}

static struct pg_stmt *new_stmt(struct conn *conn, const struct pg_stmt *old,
                                const struct db_value *args, size_t n_args)
{
    struct pg_stmt *stmt =
        alloc_zero(1, sizeof(*stmt) + n_args * sizeof(stmt->types[0]));

    if (!stmt) {
        return NULL;
    }
    (void)snprintf(stmt->name, sizeof(stmt->name), "clew_%llu",
                   (unsigned long long)++conn->n_prepared);
    stmt->is_pending = true;
    stmt->n_args = (int)n_args;
    for (size_t i = 0; i < n_args; i++) {
        stmt->types[i] = postgres_type_of(&args[i]);
        if (stmt->types[i] == 0 && old && old->n_args == (int)n_args) {
            stmt->types[i] = old->types[i];
        }
    }
    return stmt;
}

enum clew_status postgres_send_text(struct conn *conn, const char *text,
                                    struct clew_error *err)
{
    enum clew_status status = reserve(conn, 1, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (PQsendQueryParams(conn->pg, text, 0, NULL, NULL, NULL, NULL, 1) != 1) {
        return lost(conn, err);
    }
    push(conn, PENDING_RUN, NULL, NULL);
    return CLEW_OK;
}

/* Let the server forget a statement that gives way to another. */
static enum clew_status evict(struct conn *conn, struct stmt_slot *slot,
                              struct clew_error *err)
{
    struct pg_stmt *stmt = slot->stmt;
    enum clew_status status = CLEW_OK;
    char text[48];

    if (stmt->is_pending) {
        status = postgres_drain(conn, NULL, err);
    }
    if (status != CLEW_OK || !slot->stmt) {
        return status;
    }
    (void)snprintf(text, sizeof(text), "DEALLOCATE %s", stmt->name);
    if (PQsendQueryParams(conn->pg, text, 0, NULL, NULL, NULL, NULL, 1) != 1) {
        return lost(conn, err);
    }
    push(conn, PENDING_LET_GO, NULL, NULL);
    forget(slot);
    return CLEW_OK;
}

/* The statement in a slot, prepared for values of these types. */
static enum clew_status prepare(struct conn *conn, const struct db_sql *sql,
                                const struct db_value *args, size_t n_args,
                                struct stmt_slot **out_slot,
                                struct clew_error *err)
{
    struct stmt_slot *slot = stmt_cache_find(&conn->cache, sql);
    struct pg_stmt *stmt;
    enum clew_status status = CLEW_OK;

    if (slot && slot->is_busy) {
        return clew_fail(err, CLEW_INTERNAL, "a statement is open twice");
    }
    if (slot && is_fitting(slot->stmt, args, n_args)) {
        *out_slot = slot;
        return CLEW_OK;
    }
    if (!slot) {
        slot = stmt_cache_room(&conn->cache, sql);
    }
    if (!slot) {
        return clew_fail(err, CLEW_INTERNAL, "too many open statements");
    }
    stmt = new_stmt(conn, slot->sql == sql ? slot->stmt : NULL, args, n_args);
    if (!stmt) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not prepare a statement");
    }
    if (slot->stmt) {
        status = evict(conn, slot, err);
    }
    if (status == CLEW_OK && PQsendPrepare(conn->pg, stmt->name, sql->text,
                                           (int)n_args, stmt->types) != 1) {
        status = lost(conn, err);
    }
    if (status != CLEW_OK) {
        alloc_free(stmt);
        return status;
    }
    slot->sql = sql;
    slot->stmt = stmt;
    push(conn, PENDING_PREPARE, slot, NULL);
    *out_slot = slot;
    return CLEW_OK;
}

/* The server need not wait for the next sync to begin. What the socket does
 * not take now goes with the rest, and what fails shows at the drain. */
static void send_early(struct conn *conn, const struct pg_args *wire,
                       size_t n_args)
{
    enum { MESSAGE_BYTES = 64 };

    conn->unsent_bytes += MESSAGE_BYTES;
    for (size_t i = 0; i < n_args; i++) {
        conn->unsent_bytes += wire->values[i] ? (size_t)wire->lengths[i] : 0;
    }
    if (conn->unsent_bytes >= POSTGRES_SEND_BYTES) {
        conn->unsent_bytes = 0;
        (void)PQflush(conn->pg);
    }
}

/* Hand a statement to libpq: prepared once, or, where the session is another
 * one the next time, whole. */
static int pass_on(struct conn *conn, const struct db_sql *sql,
                   const struct stmt_slot *slot, const struct db_value *args,
                   const struct pg_args *wire, int n_args)
{
    Oid types[POSTGRES_MAX_ARGS];

    if (slot) {
        return PQsendQueryPrepared(
            conn->pg, ((const struct pg_stmt *)slot->stmt)->name, n_args,
            wire->values, wire->lengths, wire->formats, 1);
    }
    for (int i = 0; i < n_args; i++) {
        types[i] = postgres_type_of(&args[i]);
    }
    return PQsendQueryParams(conn->pg, sql->text, n_args, types, wire->values,
                             wire->lengths, wire->formats, 1);
}

/* Send a statement; with `ahead` its answer goes there. `*out_slot` stays NULL
 * where nothing is kept prepared. */
static enum clew_status send(struct conn *conn, const struct db_sql *sql,
                             const struct db_value *args, size_t n_args,
                             struct stmt_slot **out_slot, struct ahead *ahead,
                             struct clew_error *err)
{
    struct pg_args wire;
    enum clew_status status = reserve(conn, 3, err);

    if (status == CLEW_OK && !conn->driver->is_pooled) {
        status = prepare(conn, sql, args, n_args, out_slot, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = postgres_args_init(&wire, args, n_args);
    if (status != CLEW_OK) {
        status = clew_fail(err, status, "could not send parameters");
    } else if (pass_on(conn, sql, *out_slot, args, &wire, (int)n_args) != 1) {
        status =
            PQstatus(conn->pg) == CONNECTION_OK
                ? clew_fail(err, CLEW_NO_MEMORY, "could not send a statement")
                : lost(conn, err);
    } else {
        push(conn, ahead ? PENDING_AHEAD : PENDING_RUN, NULL, ahead);
        send_early(conn, &wire, n_args);
    }
    postgres_args_release(&wire);
    return status;
}

enum clew_status postgres_send(struct conn *conn, const struct db_sql *sql,
                               const struct db_value *args, size_t n_args,
                               struct clew_error *err)
{
    struct stmt_slot *slot = NULL;

    return send(conn, sql, args, n_args, &slot, NULL, err);
}

enum clew_status postgres_ahead(struct conn *conn, const struct db_sql *sql,
                                const struct db_value *args, size_t n_args,
                                struct clew_error *err)
{
    struct ahead *ahead = postgres_ahead_new(conn, args, n_args);
    struct stmt_slot *slot = NULL;
    enum clew_status status = CLEW_OK;

    if (!ahead) {
        return CLEW_OK; /* only a hint */
    }
    status = send(conn, sql, args, n_args, &slot, ahead, err);
    if (status == CLEW_OK) {
        ahead->sql = sql;
        ahead->state = AHEAD_ASKED;
    }
    return status;
}

enum clew_status postgres_exec(struct conn *conn, const struct db_sql *sql,
                               const struct db_value *args, size_t n_args,
                               int64_t *out_count, struct clew_error *err)
{
    PGresult *result = NULL;
    enum clew_status status = postgres_send(conn, sql, args, n_args, err);

    if (status != CLEW_OK || !out_count) {
        return status;
    }
    status = postgres_drain(conn, &result, err);
    if (status == CLEW_OK) {
        *out_count = strtoll(PQcmdTuples(result), NULL, 10);
        PQclear(result);
    }
    return status;
}

enum clew_status postgres_query(struct conn *conn, const struct db_sql *sql,
                                const struct db_value *args, size_t n_args,
                                void **out_rows, struct clew_error *err)
{
    struct rows *rows = alloc_zero(1, sizeof(*rows));
    struct ahead *ahead = postgres_ahead_find(conn, sql, args, n_args);
    enum clew_status status = CLEW_OK;

    if (!rows) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not run a query");
    }
    rows->at = -1;
    if (!ahead) {
        status = send(conn, sql, args, n_args, &rows->slot, NULL, err);
    }
    if (status == CLEW_OK && (!ahead || ahead->state == AHEAD_ASKED)) {
        status = postgres_drain(conn, ahead ? NULL : &rows->result, err);
    }
    if (status != CLEW_OK) {
        alloc_free(rows);
        return status;
    }
    if (ahead) {
        rows->result = ahead->result;
        ahead->result = NULL;
        ahead->state = AHEAD_FREE;
    } else if (rows->slot) {
        rows->slot->is_busy = true;
    }
    *out_rows = rows;
    return CLEW_OK;
}

enum clew_status postgres_rows_next(void *rows, bool *out_has_row,
                                    struct clew_error *err)
{
    struct rows *r = rows;

    (void)err; /* all rows are here already */
    if (r->at < PQntuples(r->result)) {
        r->at++;
    }
    *out_has_row = r->at < PQntuples(r->result);
    return CLEW_OK;
}

void postgres_rows_end(void *rows)
{
    struct rows *r = rows;

    if (r->slot) {
        r->slot->is_busy = false;
    }
    PQclear(r->result);
    alloc_free(r);
}

bool postgres_is_null(void *rows, int column)
{
    struct rows *r = rows;

    return PQgetisnull(r->result, r->at, column);
}

int64_t postgres_get_int(void *rows, int column)
{
    struct rows *r = rows;

    return postgres_decode_int(r->result, r->at, column);
}

double postgres_get_real(void *rows, int column)
{
    struct rows *r = rows;

    return postgres_decode_real(r->result, r->at, column);
}

struct str postgres_get_bytes(void *rows, int column)
{
    struct rows *r = rows;
    struct str bytes = {NULL, 0};

    if (!PQgetisnull(r->result, r->at, column)) {
        bytes.s = PQgetvalue(r->result, r->at, column);
        bytes.len = (size_t)PQgetlength(r->result, r->at, column);
    }
    return bytes;
}

void postgres_release_all(struct conn *conn)
{
    for (int i = 0; i < STMT_CACHE_SETS; i++) {
        for (int j = 0; j < STMT_CACHE_WAYS; j++) {
            forget(&conn->cache.slots[i][j]);
        }
    }
}

enum clew_status postgres_clear_left(struct conn *conn, struct clew_error *err)
{
    enum clew_status status;

    if (conn->n_left < POSTGRES_MAX_LEFT) {
        return CLEW_OK;
    }
    conn->n_left = 0;
    postgres_release_all(conn);
    status = postgres_send_text(conn, "DEALLOCATE ALL", err);
    /* what is sent next must not be of its transaction */
    return status == CLEW_OK ? postgres_drain(conn, NULL, err) : status;
}

enum clew_status postgres_script(struct conn *conn, const char *text,
                                 struct clew_error *err)
{
    PGresult *result;
    enum clew_status status = postgres_drain(conn, NULL, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (PQexitPipelineMode(conn->pg) != 1) {
        return lost(conn, err);
    }
    result = PQexec(conn->pg, text);
    if (PQresultStatus(result) != PGRES_COMMAND_OK &&
        PQresultStatus(result) != PGRES_TUPLES_OK) {
        status = postgres_fail(conn, result, err);
    }
    PQclear(result);
    if (PQenterPipelineMode(conn->pg) != 1) {
        status = status == CLEW_OK ? lost(conn, err) : status;
    }
    return status;
}
