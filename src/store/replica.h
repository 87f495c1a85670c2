/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica.h - reads from a server that follows the primary.
 *
 * A read goes there only if that server has replayed everything that was
 * acknowledged, to whomever and by whichever process, when the read began: the
 * primary is asked how far it is, which costs it a lookup of two numbers, and
 * the replica whether it is as far. A replica that is a little behind is waited
 * for; one that stays behind, is gone, or was promoted is left alone for a
 * moment, and the primary reads. So it takes load, never answers with less.
 *
 * Positions of different timelines cannot be compared: after a failover a
 * replica may hold more bytes of the old primary's log than the new one has. It
 * is used again once it is known to follow the new one.
 *
 * Internal to store/. Thread-safety: internally locked.
 */
#ifndef STORE_REPLICA_H
#define STORE_REPLICA_H

#include "store/driver.h"
#include "store/pool.h"

struct replica;

/* `primary` is borrowed and outlives it. Nothing is connected yet. */
enum clew_status replica_open(const struct driver_ops *ops,
                              const struct store_options *options,
                              struct driver *primary,
                              struct replica **out_replica,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* NULL is a no-op. */
void replica_close(struct replica *replica);

/* Borrow a connection that has all that was acknowledged before this call.
 * False: the primary is to be read. */
bool replica_take(struct replica *replica, struct pooled *out);
void replica_give(struct replica *replica, struct pooled *lent);

void replica_count(struct replica *replica, struct store_replica *out);

#endif
