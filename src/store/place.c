/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - which database this is, and as whom. See store.h.
 */
#include "store/store.h"

#include "store/db.h"

#include <string.h>

DB_SQL_SYSTEM(SELECT_SYSTEM,
              "SELECT system_identifier FROM pg_control_system()");
DB_SQL_SYSTEM(SELECT_DATABASE, "SELECT oid::bigint FROM pg_database"
                               " WHERE datname = current_database()");
DB_SQL_SYSTEM(SELECT_ROLE, "SELECT (rolsuper OR rolbypassrls)::int::bigint"
                           " FROM pg_roles WHERE rolname = current_user");

struct question {
    const struct db_sql *sql;
    int64_t answer;
};

static enum clew_status do_ask(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct question *question = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, question->sql, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    question->answer = db_next(&rows) ? db_get_int(&rows, 0) : 0;
    return db_end(&rows, err);
}

static enum clew_status ask(struct store *store, const struct db_sql *sql,
                            int64_t *out, struct clew_error *err)
{
    struct question question = {.sql = sql};
    enum clew_status status = store_read_system(store, do_ask, &question, err);

    if (status == CLEW_OK) {
        *out = question.answer;
    }
    return status;
}

enum clew_status store_find_place(struct store *store, struct store_place *out,
                                  struct clew_error *err)
{
    struct store_place place = {0};
    int64_t is_fenceless = 0;
    enum clew_status status = CLEW_OK;

    if (strcmp(store_backend(store), "postgres") == 0) {
        status = ask(store, &SELECT_SYSTEM, &place.system, err);
        if (status == CLEW_FORBIDDEN) {
            status = CLEW_OK; /* some who rent servers out keep that secret */
        }
        if (status == CLEW_OK) {
            status = ask(store, &SELECT_DATABASE, &place.database, err);
        }
        if (status == CLEW_OK) {
            status = ask(store, &SELECT_ROLE, &is_fenceless, err);
        }
    }
    place.is_fenceless = is_fenceless != 0;
    if (status == CLEW_OK) {
        *out = place;
    }
    return status;
}
