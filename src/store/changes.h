/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - the change numbers that one transaction takes.
 *
 * A tenant's last number stands in its row of `tenants`. The first take of a
 * transaction goes to that row, which is locked until the commit; later ones,
 * also of other writes in the same group, are counted here, and the row is
 * written once more before the commit. A group of a hundred writes thus asks
 * for its numbers once. db_take_changes() is what callers see; db.c does it,
 * since each statement minds the numbers and they are statements themselves.
 * Thread-safety: none; belongs to the transaction.
 */
#ifndef STORE_CHANGES_H
#define STORE_CHANGES_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

struct db_sql;
struct store_tx;

/* What is known of one tenant's numbers. All zero: nothing yet. A copy taken
 * before a write and put back after it failed gives its numbers back. */
struct changes {
    bool is_known;
    int64_t last;   /* the last number taken */
    int64_t stored; /* what the row says */
};

/* Write the last number to the tenant's row if it does not say so yet. May be
 * deferred, as db_exec(). */
enum clew_status changes_store(struct store_tx *tx,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Before any statement: one that names the table `tenants` finds the row as if
 * each take had gone to it. */
enum clew_status changes_before(struct store_tx *tx, const struct db_sql *sql,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
