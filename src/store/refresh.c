/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refresh.c - statistics for PostgreSQL's planner. See store.h.
 */
#include "store/store.h"

#include "store/db.h"

#include <string.h>

/* Is there enough to plan for, and twice of what the statistics know? Only an
 * owner may have a table looked at. */
DB_SQL_SYSTEM(SELECT_STALE,
              "SELECT COUNT(*) FROM pg_class WHERE relname = 'turns'"
              " AND relnamespace = current_schema()::regnamespace"
              " AND pg_get_userbyid(relowner) = current_user"
              " AND pg_relation_size(oid) > 131072"
              " AND pg_relation_size(oid) > 2 * relpages::bigint"
              " * current_setting('block_size')::bigint");

static const char *const look[] = {
    "DO $$ DECLARE t regclass; BEGIN"
    " FOR t IN SELECT c.oid FROM pg_class c WHERE c.relkind = 'r'"
    " AND c.relnamespace = current_schema()::regnamespace"
    " AND pg_get_userbyid(c.relowner) = current_user LOOP"
    " EXECUTE 'ANALYZE ' || t; END LOOP; END $$"};

static enum clew_status do_ask(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    bool *is_stale = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_STALE, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *is_stale = db_next(&rows) && db_get_int(&rows, 0) > 0;
    return db_end(&rows, err);
}

enum clew_status store_refresh(struct store *store, struct clew_error *err)
{
    bool is_stale = false;
    enum clew_status status = CLEW_OK;

    if (strcmp(store_backend(store), "postgres") != 0) {
        return CLEW_OK;
    }
    status = store_read_system(store, do_ask, &is_stale, err);
    return status == CLEW_OK && is_stale ? store_extend(store, look, 1, err)
                                         : status;
}
