/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renew.h - derived rows of an earlier form, written in the one of today.
 *
 * Memories of chains and profiles of chats are bytes whose form has changed,
 * updates of chains were rows (chain_lines.h), readings stood among the actions
 * (core/read_log.h), and texts were kept as they are that are now packed beside
 * others (base/pack_beside.h). All are read, so nothing waits for this: a
 * task a tenant, which migrations ask for, walks the tables once. Each does a
 * page in one transaction and leaves the next to another, which begins where it
 * ended: broken off at any point it goes on there. Thread-safety: safe.
 */
#ifndef ENGINE_RENEW_H
#define ENGINE_RENEW_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

struct engine;
struct scope;
struct task;

#define RENEW_TASK "rows.renew"

/*
 * The bytes of a column in the form of today: of a kind of export_kinds.h and
 * its column. Others, and bytes that do not read, stay as they are. `*bytes`
 * then lies in the arena; false on OOM.
 */
bool renew_bytes(struct arena *arena, const char *type, const char *column,
                 struct str *bytes) CLEW_MUST_CHECK;

/* Renew a page of the tenant's rows, and ask for the next. */
enum clew_status renew_task(struct engine *engine, const struct task *task,
                            struct arena *arena,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* Fold all updates of chains that are rows of their own, a page a transaction:
 * before what is stored is compared with what should be. */
enum clew_status renew_updates(struct engine *engine, const struct scope *scope,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
