/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - how much of everything a tenant has, and on which days.
 *
 * Counts of rows, for people to look at: nothing is decided by them.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_STATS_H
#define ENGINE_STATS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

struct engine;

/* Days of one answer; a longer span is cut at its beginning. */
#define STATS_MAX_DAYS 366

struct stats_query {
    struct str user_id; /* s == NULL: everyone */
    int64_t since_ms;   /* first day of `days` */
    int64_t until_ms;   /* its last */
    int64_t offset_ms;  /* where the caller's midnight lies, from UTC */
};

/* So many of a kind. */
struct stats_group {
    struct str name;
    struct str more; /* a second name; s == NULL if there is none */
    int64_t count;
};
struct stats_groups {
    struct stats_group *items;
    size_t count;
};

struct stats_day {
    int64_t turns;
    int64_t memories;
    int64_t calls;
};

struct stats {
    int64_t n_chats;
    int64_t n_turns;
    int64_t n_calls;
    int64_t n_episodes;
    int64_t n_chains;
    int64_t n_memories; /* not taken back */
    int64_t n_superseded;
    int64_t n_retracted;
    int64_t n_pinned;
    int64_t n_failed_tasks;
    struct stats_groups by_type;   /* of memories; so the next three */
    struct stats_groups by_effort; /* status of efforts */
    struct stats_groups by_user;   /* the largest first, at most 100 */
    struct stats_groups by_agent;  /* id, and its name */
    struct stats_day *days;        /* from the day of since_ms on */
    size_t n_days;
    int64_t first_day; /* days since 1970 in the caller's time */
};

enum clew_status stats_read(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct stats_query *query, struct stats *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* One who speaks here. */
struct stats_user {
    struct str user_id;
    int64_t n_chats;
    int64_t n_turns;
    int64_t last_at_ms;
    int64_t inactivity_minutes; /* their own timeout; 0 = none */
};
/* By name, those after `after` (s == NULL: from the first). */
enum clew_status stats_users(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct str after,
                             int64_t limit, struct stats_user **out,
                             size_t *out_count,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
