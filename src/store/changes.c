/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - see changes.h.
 */
#include "store/changes.h"

#include "store/driver.h"

#include <string.h>

DB_SQL(take, "UPDATE tenants SET change_seq = change_seq + $2 "
             "WHERE tenant = $1 RETURNING change_seq");
DB_SQL(put, "UPDATE tenants SET change_seq = $2 WHERE tenant = $1");

static enum clew_status take_from_row(struct store_tx *tx, int64_t count,
                                      struct clew_error *err)
{
    struct db_rows rows;
    int64_t last = -1;
    enum clew_status status =
        db_query(tx, &take, DB_ARGS(db_int(count)), &rows, err);

    if (db_next(&rows)) {
        last = db_get_int(&rows, 0);
    }
    if (status == CLEW_OK) {
        status = db_end(&rows, err);
    }
    if (status == CLEW_OK && last < 0) {
        status = clew_fail(err, CLEW_NOT_FOUND, "there is no such tenant");
    }
    if (status == CLEW_OK) {
        *tx->changes =
            (struct changes){.is_known = true, .last = last, .stored = last};
    }
    return status;
}

enum clew_status db_take_changes(struct store_tx *tx, int64_t count,
                                 int64_t *out_first, struct clew_error *err)
{
    struct changes *changes = tx->changes;
    enum clew_status status = tx->status;

    if (!changes || count < 1) {
        return clew_fail(err, CLEW_INTERNAL, "cannot take change numbers here");
    }
    if (!changes->is_known || status != CLEW_OK) {
        status = take_from_row(tx, count, err);
    } else {
        changes->last += count;
    }
    if (status == CLEW_OK) {
        *out_first = changes->last - count + 1;
    }
    return status;
}

enum clew_status changes_store(struct store_tx *tx, struct clew_error *err)
{
    struct changes *changes = tx->changes;

    if (!changes->is_known || changes->last == changes->stored) {
        return CLEW_OK;
    }
    changes->stored = changes->last;
    return db_exec(tx, &put, DB_ARGS(db_int(changes->last)), err);
}

enum clew_status changes_before(struct store_tx *tx, const struct db_sql *sql,
                                struct clew_error *err)
{
    enum clew_status status;

    if (!tx->changes || !tx->changes->is_known || sql == &put ||
        !strstr(sql->text, "tenants")) {
        return CLEW_OK;
    }
    status = changes_store(tx, err);
    tx->changes->is_known = false; /* it may change the row */
    return status;
}
