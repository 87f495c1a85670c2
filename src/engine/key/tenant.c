/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenant.c - names of tenants. See tenant.h.
 */
#include "engine/key/tenant.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/key/key_cache.h"
#include "store/db.h"

DB_SQL_SYSTEM(SELECT_TENANT, "SELECT tenant FROM tenants WHERE name = $1");
DB_SQL_SYSTEM(
    INSERT_TENANT,
    "INSERT INTO tenants (tenant, name, created_at, change_seq)"
    " SELECT COALESCE(MAX(tenant), 0) + 1, $1, $2, 0 FROM tenants WHERE 1 = 1"
    " ON CONFLICT (name) DO NOTHING");

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

static enum clew_status do_make(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct tenant_work *work = arg;
    enum clew_status status =
        db_exec(tx, &INSERT_TENANT,
                DB_ARGS(db_text(work->name), db_int(work->now_ms)), err);

    return status == CLEW_OK ? do_find(tx, arg, err) : status;
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
