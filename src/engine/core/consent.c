/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consent.c - a tenant's own word on language models. See consent.h.
 */
#include "engine/core/consent.h"

#include "base/clock.h"
#include "base/str.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

DB_SQL(COUNT_FORBIDDEN, "SELECT COUNT(*) FROM tenant_settings WHERE tenant = $1"
                        " AND name = 'llm' AND value = 'forbidden'");
DB_SQL(PUT_SETTING,
       "INSERT INTO tenant_settings (tenant, name, value, changed_at)"
       " VALUES ($1, 'llm', $2, $3) ON CONFLICT (tenant, name) DO UPDATE SET"
       " value = excluded.value, changed_at = excluded.changed_at");

enum clew_status consent_find(struct store_tx *tx, bool *out_forbidden,
                              struct clew_error *err)
{
    int64_t count = 0;
    enum clew_status status =
        rows_number(tx, &COUNT_FORBIDDEN, DB_NO_ARGS, &count, err);

    if (status == CLEW_OK) {
        *out_forbidden = count > 0;
    }
    return status;
}

enum clew_status consent_check(struct store_tx *tx, struct clew_error *err)
{
    bool is_forbidden = false;
    enum clew_status status = consent_find(tx, &is_forbidden, err);

    return status == CLEW_OK && is_forbidden
               ? clew_fail_code(err, CLEW_FORBIDDEN, CONSENT_NONE,
                                "this tenant forbids language models")
               : status;
}

static enum clew_status do_check(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    (void)arg;
    return consent_check(tx, err);
}

enum clew_status consent_ask(struct engine *engine, const struct scope *scope,
                             struct clew_error *err)
{
    return store_read(engine->store, scope, do_check, NULL, err);
}

struct set_work {
    struct str value;
    int64_t now_ms;
};

static enum clew_status do_set(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct set_work *work = arg;

    return db_exec(tx, &PUT_SETTING,
                   DB_ARGS(db_text(work->value), db_int(work->now_ms)), err);
}

enum clew_status consent_set(struct engine *engine, const struct scope *scope,
                             bool is_forbidden, struct clew_error *err)
{
    struct set_work work = {.value = is_forbidden ? STR("forbidden")
                                                  : STR("allowed"),
                            .now_ms = clock_now_ms(engine->clock)};

    return store_write(engine->store, scope, do_set, &work, err);
}
