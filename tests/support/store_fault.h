/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fault.h - a table of driver functions that counts and fails calls.
 *
 * store_fault_ops() is a copy of a backend's table whose begin, exec, query
 * and commit go through a counter; the N-th call from now on can be made to
 * fail with a chosen status. It also adds a table "probe" to the schema of a
 * new store. One program uses one setting for all its stores.
 */
#ifndef SUPPORT_STORE_FAULT_H
#define SUPPORT_STORE_FAULT_H

#include "store/driver.h"

/* The delegating table for `base`, which is one of the two backends. */
const struct driver_ops *store_fault_ops(const struct driver_ops *base);
/* No fault armed, counters at 0. */
void store_fault_reset(void);
/* The n-th call from now (1 = the next) fails with `status`; 0 = none. */
void store_fault_at(int n, enum clew_status status);
/* The n-th commit from now fails with `status` before it is sent. */
void store_fault_at_commit(int n, enum clew_status status);
/* Call `hook` before the n-th call from now, or the n-th commit. */
void store_fault_hook_at(int n, void (*hook)(void));
void store_fault_hook_at_commit(int n, void (*hook)(void));
bool store_fault_has_fired(void);
/* Calls and commits since the reset. */
int store_fault_calls(void);
int store_fault_commits(void);
/* Run this on each new writer connection (NULL: nothing). */
void store_fault_on_connect(const char *script);

#endif
