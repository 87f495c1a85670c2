/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - open a backend, lend connections to transactions.
 *
 * Reads borrow a connection from a bounded pool, a tenant's from a replica
 * where there is one that is up to date (replica.h). Writes go to the writer of
 * their tenant (writer.h); a backend with several writers keeps one more for
 * the system, so that claiming tasks never waits behind a tenant's batch.
 */
#include "store/store.h"

#include "base/alloc.h"
#include "store/driver.h"
#include "store/pool.h"
#include "store/replica.h"
#include "store/writer.h"

#define MAX_WRITERS 16
/* How long a read waits for a connection of the pool. */
#define READER_WAIT_S 10

struct store {
    const struct driver_ops *ops;
    struct driver *driver;
    bool is_read_only;
    bool is_pooled;
    int n_writers;
    struct writer writers[MAX_WRITERS];
    struct pool readers;
    struct replica *replica; /* NULL: none */
};

static enum clew_status run_read(struct store *store, struct conn *conn,
                                 int64_t tenant, store_fn fn, void *arg,
                                 struct clew_error *err)
{
    struct store_tx tx = {.ops = store->ops, .conn = conn, .tenant = tenant};
    enum clew_status status = store->ops->begin(conn, false, err);

    if (status != CLEW_OK) {
        return status;
    }
    status = store->ops->enter(conn, tenant, false, err);
    if (status == CLEW_OK) {
        status = fn(&tx, arg, err);
    }
    if (tx.status != CLEW_OK) {
        status = tx.status;
        *err = tx.error;
    } else if (status == CLEW_OK && tx.n_open > 0) {
        status = clew_fail(err, CLEW_INTERNAL, "a query was left open");
    }
    store->ops->rollback(conn);
    return status;
}

/* What the system reads, tasks above all, is the primary's. */
static enum clew_status read_as(struct store *store, int64_t tenant,
                                store_fn fn, void *arg, struct clew_error *err)
{
    struct clew_error own;
    struct pooled lent = {0};
    struct pool *pool = &store->readers;
    enum clew_status status = CLEW_OK;

    if (store->replica && tenant > 0 && replica_take(store->replica, &lent)) {
        status = run_read(store, lent.conn, tenant, fn, arg, &own);
        replica_give(store->replica, &lent);
    } else {
        status = pool_take(pool, READER_WAIT_S, &lent, &own);
        if (status == CLEW_OK) {
            status = run_read(store, lent.conn, tenant, fn, arg, &own);
            pool_give(pool, &lent);
        }
    }
    if (status != CLEW_OK && err) {
        *err = own;
        err->status = status;
    }
    return status;
}

static enum clew_status write_as(struct store *store, struct writer *writer,
                                 int64_t tenant, store_fn fn, void *arg,
                                 struct clew_error *err)
{
    if (store->is_read_only) {
        return clew_fail(err, CLEW_FORBIDDEN, "the store is open for reading");
    }
    return writer_run(writer, tenant, fn, arg, err);
}

static enum clew_status check_scope(const struct scope *scope,
                                    struct clew_error *err)
{
    if (!scope || scope->tenant <= 0) {
        return clew_fail(err, CLEW_INTERNAL, "a tenant is required");
    }
    return CLEW_OK;
}

/* The last writer is the system's; with only one it is everybody's. */
static struct writer *writer_of(struct store *store, int64_t tenant)
{
    int n_tenant_writers = store->n_writers > 1 ? store->n_writers - 1 : 1;

    if (tenant == 0) {
        return &store->writers[store->n_writers - 1];
    }
    return &store->writers[tenant % n_tenant_writers];
}

static enum clew_status migrate_store(struct store *store,
                                      const struct store_options *options,
                                      struct clew_error *err)
{
    enum conn_role role = store->is_read_only ? CONN_READER : CONN_WRITER;
    struct conn *conn = NULL;
    enum clew_status status =
        store->ops->conn_open(store->driver, role, &conn, err);

    if (status != CLEW_OK) {
        return status;
    }
    status = migrate(store->ops, conn, options, err);
    if (status == CLEW_OK && !store->is_read_only) {
        store->writers[0].conn = conn; /* it is as good as a new one */
    } else {
        store->ops->conn_close(conn);
    }
    return status;
}

static int clamp(int value, int max)
{
    return value < 1 ? 1 : value > max ? max : value;
}

enum clew_status store_open_driver(const struct driver_ops *ops,
                                   const struct store_options *options,
                                   struct store **out_store,
                                   struct clew_error *err)
{
    struct clew_error own;
    struct store *store = alloc_zero(1, sizeof(*store));
    enum clew_status status;

    if (!store) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not open the store");
    }
    store->ops = ops;
    store->is_read_only = options->is_read_only;
    store->is_pooled = options->is_pooled;
    pool_init(&store->readers, ops);
    status = ops->open(options, &store->driver, &own);
    if (status == CLEW_OK) {
        pool_set(&store->readers, store->driver,
                 ops->max_readers(store->driver));
        store->n_writers = clamp(ops->max_writers(store->driver), MAX_WRITERS);
        for (int i = 0; i < store->n_writers; i++) {
            writer_init(&store->writers[i], ops, store->driver, options);
        }
        status = migrate_store(store, options, &own);
    }
    if (status == CLEW_OK && options->read_location) {
        status =
            replica_open(ops, options, store->driver, &store->replica, &own);
    }
    if (status != CLEW_OK) {
        if (err) {
            *err = own;
            err->status = status;
        }
        store_close(store);
        return status;
    }
    *out_store = store;
    return CLEW_OK;
}

enum clew_status store_open(const struct store_options *options,
                            struct store **out_store, struct clew_error *err)
{
    struct str where = str_of(options->location);
    bool is_url = str_starts(where, STR("postgres://")) ||
                  str_starts(where, STR("postgresql://"));

    if (where.len == 0) {
        return clew_fail(err, CLEW_INVALID, "the store has no location");
    }
    if (options->read_location && !is_url) {
        return clew_fail(err, CLEW_INVALID,
                         "store.read_url needs PostgreSQL in store.url: a "
                         "SQLite store has no replicas");
    }
    return store_open_driver(is_url ? &postgres_driver : &sqlite_driver,
                             options, out_store, err);
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    for (int i = 0; i < store->n_writers; i++) {
        writer_release(&store->writers[i]);
    }
    pool_release(&store->readers);
    replica_close(store->replica);
    if (store->driver) {
        store->ops->close(store->driver);
    }
    alloc_free(store);
}

enum clew_status store_write(struct store *store, const struct scope *scope,
                             store_fn fn, void *arg, struct clew_error *err)
{
    enum clew_status status = check_scope(scope, err);

    if (status != CLEW_OK) {
        return status;
    }
    return write_as(store, writer_of(store, scope->tenant), scope->tenant, fn,
                    arg, err);
}

enum clew_status store_read(struct store *store, const struct scope *scope,
                            store_fn fn, void *arg, struct clew_error *err)
{
    enum clew_status status = check_scope(scope, err);

    if (status != CLEW_OK) {
        return status;
    }
    return read_as(store, scope->tenant, fn, arg, err);
}

enum clew_status store_write_system(struct store *store, store_fn fn, void *arg,
                                    struct clew_error *err)
{
    return write_as(store, writer_of(store, 0), 0, fn, arg, err);
}

enum clew_status store_read_system(struct store *store, store_fn fn, void *arg,
                                   struct clew_error *err)
{
    return read_as(store, 0, fn, arg, err);
}

const char *store_backend(const struct store *store)
{
    return store->ops->name;
}

int store_waiting(struct store *store)
{
    int n = 0;

    for (int i = 0; i < store->n_writers; i++) {
        n += writer_waiting(&store->writers[i]);
    }
    return n;
}

void store_replica_look(struct store *store, struct store_replica *out)
{
    *out = (struct store_replica){0};
    if (store->replica) {
        replica_count(store->replica, out);
    }
}

DB_SQL_SYSTEM(probe, "SELECT COUNT(*) FROM schema_migrations");

static enum clew_status run_probe(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, &probe, DB_NO_ARGS, &rows, err);
    bool has_row = db_next(&rows) && db_get_int(&rows, 0) > 0;

    (void)arg;
    if (status != CLEW_OK) {
        return status;
    }
    status = db_end(&rows, err);
    if (status == CLEW_OK && !has_row) {
        status = clew_fail(err, CLEW_CORRUPT, "the schema is gone");
    }
    return status;
}

bool store_is_healthy(struct store *store)
{
    enum clew_status status = read_as(store, 0, run_probe, NULL, NULL);

    return status == CLEW_OK || status == CLEW_BUSY;
}

enum clew_status store_backup(struct store *store, const char *path,
                              struct clew_error *err)
{
    struct clew_error own;
    enum clew_status status = store->ops->backup(store->driver, path, &own);

    if (status != CLEW_OK && err) {
        *err = own;
    }
    return status;
}

enum clew_status store_extend(struct store *store, const char *const *scripts,
                              size_t count, struct clew_error *err)
{
    struct clew_error own;
    struct conn *conn = NULL;
    enum clew_status status;

    if (store->is_read_only || store->ops != &postgres_driver) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "this store's schema cannot be extended");
    }
    if (store->is_pooled && count > 1) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "a pooler that deals out transactions has no "
                         "connection for this");
    }
    status = store->ops->conn_open(store->driver, CONN_WRITER, &conn, &own);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = store->ops->script(conn, scripts[i], &own);
    }
    if (conn) {
        store->ops->conn_close(conn);
    }
    if (status != CLEW_OK && err) {
        *err = own;
        err->status = status;
    }
    return status;
}

enum clew_status store_scrub(struct store *store, struct clew_error *err)
{
    struct clew_error own;
    struct conn *conn = NULL;
    enum clew_status status;

    if (store->is_read_only) {
        return clew_fail(err, CLEW_FORBIDDEN, "the store is open for reading");
    }
    status = store->ops->conn_open(store->driver, CONN_WRITER, &conn, &own);
    if (status == CLEW_OK) {
        status = store->ops->scrub(conn, &own);
        store->ops->conn_close(conn);
    }
    if (status != CLEW_OK && err) {
        *err = own;
        err->status = status;
    }
    return status;
}

static enum clew_status run_check(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    (void)arg;
    return tx->ops->check(tx->conn, err);
}

enum clew_status store_check(struct store *store, struct clew_error *err)
{
    return read_as(store, 0, run_check, NULL, err);
}
