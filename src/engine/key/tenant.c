/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenant.c - names of tenants. See tenant.h.
 */
#include "engine/key/tenant.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/core/consent.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/key/key_cache.h"
#include "store/db.h"

/* Numbers tried for a new tenant, each taken by another process meanwhile. */
#define MAX_TRIES 16

/* Names and numbers are given out here, for all tenants at once; a tenant's own
 * row stands with the rest of what it has (migration 25). */
DB_SQL_SYSTEM(SELECT_TENANT,
              "SELECT tenant_id FROM tenant_names WHERE name = $1");
DB_SQL_SYSTEM(INSERT_NAME, "INSERT INTO tenant_names (name, tenant_id)"
                           " SELECT $1, COALESCE(MAX(tenant_id), 0) + 1"
                           " FROM tenant_names WHERE 1 = 1"
                           " ON CONFLICT DO NOTHING");
DB_SQL_SYSTEM(INSERT_TENANT,
              "INSERT INTO tenants (tenant, name, created_at, change_seq)"
              " VALUES ($1, $2, $3, 0) ON CONFLICT (tenant) DO NOTHING");

DB_SQL_SYSTEM(SELECT_ALL, "SELECT name, created_at FROM tenants"
                          " ORDER BY tenant LIMIT $1");

DB_SQL(SELECT_NAME, "SELECT name FROM tenants WHERE tenant = $1");

struct tenant_work {
    struct str name;
    int64_t now_ms;
    int64_t tenant; /* 0 = not found */
};

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct tenant_work *work = arg;

    return rows_number(tx, &SELECT_TENANT, DB_ARGS(db_text(work->name)),
                       &work->tenant, err);
}

/* Another process may take the next number first, for another name. */
static enum clew_status do_make(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct tenant_work *work = arg;
    enum clew_status status = CLEW_OK;

    work->tenant = 0;
    for (int i = 0; i < MAX_TRIES && status == CLEW_OK && work->tenant == 0;
         i++) {
        status = db_exec(tx, &INSERT_NAME, DB_ARGS(db_text(work->name)), err);
        if (status == CLEW_OK) {
            status = do_find(tx, arg, err);
        }
    }
    if (status == CLEW_OK && work->tenant == 0) {
        return clew_fail(err, CLEW_BUSY, "too many tenants are made at once");
    }
    return status == CLEW_OK
               ? db_exec(tx, &INSERT_TENANT,
                         DB_ARGS(db_int(work->tenant), db_text(work->name),
                                 db_int(work->now_ms)),
                         err)
               : status;
}

enum clew_status engine_tenant_check(struct engine *engine, const char *name,
                                     struct clew_error *err)
{
    struct tenant_work work = {.name = str_of(name)};
    enum clew_status status =
        store_read_system(engine->store, do_find, &work, err);

    return status == CLEW_OK && work.tenant == 0
               ? clew_fail(err, CLEW_NOT_FOUND, "there is no tenant \"%s\"",
                           name)
               : status;
}

enum clew_status engine_tenant(struct engine *engine, const char *name,
                               struct scope *out_scope, struct clew_error *err)
{
    struct tenant_work work = {.name = str_of(name),
                               .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status;

    if (work.name.len == 0 || work.name.len > LIMIT_NAME_BYTES) {
        return clew_fail_field(err, "tenant",
                               "a tenant's name has 1 to %d bytes",
                               LIMIT_NAME_BYTES);
    }
    if (key_cache_get_tenant(engine->keys, work.name, &out_scope->tenant)) {
        return CLEW_OK;
    }
    status = store_read_system(engine->store, do_find, &work, err);
    if (status == CLEW_OK && work.tenant == 0) {
        status = store_write_system(engine->store, do_make, &work, err);
    }
    if (status == CLEW_OK) {
        key_cache_put_tenant(engine->keys, work.name, work.tenant);
        out_scope->tenant = work.tenant;
    }
    return status;
}

struct get_work {
    struct arena *arena;
    struct tenant tenant;
};

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct get_work *work = arg;
    struct db_rows rows;
    bool is_ok = true;
    enum clew_status status =
        db_query(tx, &SELECT_NAME, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        is_ok = rows_text(work->arena, &rows, 0, &work->tenant.name);
    }
    status = db_end(&rows, err);
    if (status != CLEW_OK || !is_ok) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    return work->tenant.name.s
               ? consent_find(tx, &work->tenant.forbids_llm, err)
               : clew_fail(err, CLEW_NOT_FOUND, "no such tenant");
}

enum clew_status tenant_get(struct engine *engine, const struct scope *scope,
                            struct arena *arena, struct tenant *out,
                            struct clew_error *err)
{
    struct get_work work = {.arena = arena};
    enum clew_status status =
        store_read(engine->store, scope, do_get, &work, err);

    if (status == CLEW_OK) {
        *out = work.tenant;
    }
    return status;
}

static bool entry_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct tenant_entry *out = item;

    out->created_at_ms = db_get_int(rows, 1);
    return rows_text(arena, rows, 0, &out->name);
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct rows_list *list = arg;

    return rows_add(tx, list, &SELECT_ALL, DB_ARGS(db_int(TENANT_MAX_LISTED)),
                    err);
}

enum clew_status tenant_list(struct engine *engine, struct arena *arena,
                             struct tenant_entry **out_tenants,
                             size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct tenant_entry), .fn = entry_of};
    enum clew_status status =
        store_read_system(engine->store, do_list, &list, err);

    if (status == CLEW_OK) {
        *out_tenants = list.items;
        *out_count = list.count;
    }
    return status;
}
