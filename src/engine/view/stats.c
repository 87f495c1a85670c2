/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - how much of everything. See stats.h.
 */
#include "engine/view/stats.h"

#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "store/db.h"

/* Each takes ($2 = '' or the user). The counts run over indexes. */
#define OF_USER " AND ($2 = '' OR user_id = $2)"
DB_SQL(COUNT_CHATS, "SELECT COUNT(*) FROM chats WHERE tenant = $1" OF_USER);
DB_SQL(COUNT_TURNS, "SELECT COUNT(*) FROM turns WHERE tenant = $1" OF_USER);
DB_SQL(COUNT_CALLS, "SELECT COUNT(*) FROM requests WHERE tenant = $1" OF_USER);
DB_SQL(COUNT_EPISODES,
       "SELECT COUNT(*) FROM episodes WHERE tenant = $1" OF_USER);
DB_SQL(COUNT_CHAINS, "SELECT COUNT(*) FROM chains WHERE tenant = $1" OF_USER);
DB_SQL(COUNT_MEMORIES, "SELECT COUNT(*) FROM memories WHERE tenant = $1"
                       " AND retracted_at IS NULL" OF_USER);
DB_SQL(COUNT_RETRACTED, "SELECT COUNT(*) FROM memories WHERE tenant = $1"
                        " AND retracted_at IS NOT NULL" OF_USER);
DB_SQL(COUNT_PINNED,
       "SELECT COUNT(*) FROM memories WHERE tenant = $1"
       " AND pinned_at IS NOT NULL AND retracted_at IS NULL" OF_USER);
DB_SQL(COUNT_SUPERSEDED,
       "SELECT COUNT(DISTINCT s.source_id) FROM memory_sources s"
       " JOIN memories n ON n.tenant = s.tenant AND n.id = s.memory_id"
       " AND n.retracted_at IS NULL"
       " JOIN memories o ON o.tenant = s.tenant AND o.id = s.source_id"
       " AND o.retracted_at IS NULL"
       " WHERE s.tenant = $1 AND ($2 = '' OR o.user_id = $2)");
DB_SQL(COUNT_FAILED, "SELECT COUNT(*) FROM tasks WHERE tenant = $1" TASK_FAILED
                     " AND ($2 = '' OR $2 <> '')");

DB_SQL(BY_TYPE, "SELECT type, NULL, COUNT(*) FROM memories WHERE tenant = $1"
                " AND retracted_at IS NULL" OF_USER
                " GROUP BY type ORDER BY 3 DESC, 1 LIMIT 100");
DB_SQL(BY_EFFORT, "SELECT status, NULL, COUNT(*) FROM memories"
                  " WHERE tenant = $1 AND type = 'effort'"
                  " AND retracted_at IS NULL" OF_USER
                  " GROUP BY status ORDER BY 1 LIMIT 100");
DB_SQL(BY_USER, "SELECT user_id, NULL, COUNT(*) FROM memories"
                " WHERE tenant = $1 AND retracted_at IS NULL" OF_USER
                " GROUP BY user_id ORDER BY 3 DESC, 1 LIMIT 100");
DB_SQL(BY_AGENT, "SELECT agent_id, MAX(agent_name), COUNT(*) FROM memories"
                 " WHERE tenant = $1 AND agent_id IS NOT NULL"
                 " AND retracted_at IS NULL" OF_USER
                 " GROUP BY agent_id ORDER BY 3 DESC, 1 LIMIT 100");

/* $3 from, $4 to, $5 the caller's offset. */
#define BY_DAY(table)                                                          \
    "SELECT (created_at + $5) / 86400000, COUNT(*) FROM " table                \
    " WHERE tenant = $1 AND created_at >= $3 AND created_at < $4" OF_USER      \
    " GROUP BY 1"
DB_SQL(DAY_TURNS, BY_DAY("turns"));
DB_SQL(DAY_MEMORIES, BY_DAY("memories"));
DB_SQL(DAY_CALLS, BY_DAY("requests"));

DB_SQL(USERS, "SELECT user_id, COUNT(*), SUM(last_seq - fork_seq),"
              " MAX(last_activity_at), (SELECT u.inactivity_minutes FROM users"
              " u WHERE u.tenant = $1 AND u.user_id = chats.user_id)"
              " FROM chats WHERE tenant = $1"
              " AND user_id > $2 GROUP BY user_id ORDER BY user_id LIMIT $3");

struct work {
    struct arena *arena;
    const struct stats_query *query;
    struct stats *out;
};

static struct db_value user_of(const struct work *work)
{
    return work->query->user_id.s ? db_text(work->query->user_id) : db_cstr("");
}

static enum clew_status count_all(struct store_tx *tx, const struct work *work,
                                  struct clew_error *err)
{
    struct stats *out = work->out;
    const struct {
        const struct db_sql *sql;
        int64_t *into;
    } counts[] = {
        {&COUNT_CHATS, &out->n_chats},
        {&COUNT_TURNS, &out->n_turns},
        {&COUNT_CALLS, &out->n_calls},
        {&COUNT_EPISODES, &out->n_episodes},
        {&COUNT_CHAINS, &out->n_chains},
        {&COUNT_MEMORIES, &out->n_memories},
        {&COUNT_SUPERSEDED, &out->n_superseded},
        {&COUNT_RETRACTED, &out->n_retracted},
        {&COUNT_PINNED, &out->n_pinned},
        {&COUNT_FAILED, &out->n_failed_tasks},
    };
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < sizeof(counts) / sizeof(counts[0]) && status == CLEW_OK; i++) {
        status = rows_number(tx, counts[i].sql, DB_ARGS(user_of(work)),
                             counts[i].into, err);
    }
    return status;
}

static bool group_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct stats_group *out = item;

    out->count = db_get_int(rows, 2);
    return rows_text(arena, rows, 0, &out->name) &&
           rows_text(arena, rows, 1, &out->more);
}

static enum clew_status group_all(struct store_tx *tx, const struct work *work,
                                  struct clew_error *err)
{
    struct stats *out = work->out;
    const struct {
        const struct db_sql *sql;
        struct stats_groups *into;
    } groups[] = {
        {&BY_TYPE, &out->by_type},
        {&BY_EFFORT, &out->by_effort},
        {&BY_USER, &out->by_user},
        {&BY_AGENT, &out->by_agent},
    };
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < sizeof(groups) / sizeof(groups[0]) && status == CLEW_OK; i++) {
        struct rows_list list = {.arena = work->arena,
                                 .size = sizeof(struct stats_group),
                                 .fn = group_of};

        status =
            rows_add(tx, &list, groups[i].sql, DB_ARGS(user_of(work)), err);
        *groups[i].into = (struct stats_groups){list.items, list.count};
    }
    return status;
}

static int64_t day_of(const struct stats_query *query, int64_t time_ms)
{
    return (time_ms + query->offset_ms) / CLOCK_DAY_MS;
}

/* Which of a day's counts a statement fills. */
static int64_t *field_of(struct stats_day *day, size_t which)
{
    int64_t *const fields[] = {&day->turns, &day->memories, &day->calls};

    return fields[which];
}

static enum clew_status read_days(struct store_tx *tx, const struct work *work,
                                  struct clew_error *err)
{
    static const struct db_sql *const sqls[] = {&DAY_TURNS, &DAY_MEMORIES,
                                                &DAY_CALLS};
    const struct stats_query *query = work->query;
    struct stats *out = work->out;
    int64_t last = day_of(query, query->until_ms);
    enum clew_status status = CLEW_OK;

    out->first_day = day_of(query, query->since_ms);
    if (out->first_day < last - STATS_MAX_DAYS + 1) {
        out->first_day = last - STATS_MAX_DAYS + 1;
    }
    out->n_days =
        last < out->first_day ? 0 : (size_t)(last - out->first_day + 1);
    out->days = arena_zero(work->arena, out->n_days + 1, sizeof(*out->days));
    if (!out->days) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < 3 && status == CLEW_OK; i++) {
        struct db_rows rows;
        int64_t from = out->first_day * CLOCK_DAY_MS - query->offset_ms;
        int64_t to = (last + 1) * CLOCK_DAY_MS - query->offset_ms;

        status = db_query(tx, sqls[i],
                          DB_ARGS(user_of(work), db_int(from), db_int(to),
                                  db_int(query->offset_ms)),
                          &rows, err);
        if (status != CLEW_OK) {
            break;
        }
        while (db_next(&rows)) {
            int64_t at = db_get_int(&rows, 0) - out->first_day;

            if (at >= 0 && (size_t)at < out->n_days) {
                *field_of(&out->days[at], i) = db_get_int(&rows, 1);
            }
        }
        status = db_end(&rows, err);
    }
    return status;
}

static enum clew_status do_read(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status = count_all(tx, work, err);

    if (status == CLEW_OK) {
        status = group_all(tx, work, err);
    }
    return status == CLEW_OK ? read_days(tx, work, err) : status;
}

enum clew_status stats_read(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct stats_query *query, struct stats *out,
                            struct clew_error *err)
{
    struct stats stats = {0};
    struct work work = {arena, query, &stats};
    enum clew_status status =
        store_read(engine->store, scope, do_read, &work, err);

    if (status == CLEW_OK) {
        *out = stats;
    }
    return status;
}

struct users_work {
    struct arena *arena;
    struct str after;
    int64_t limit;
    struct rows_list list;
};

static bool user_row(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct stats_user *out = item;

    out->n_chats = db_get_int(rows, 1);
    out->n_turns = db_get_int(rows, 2);
    out->last_at_ms = db_get_int(rows, 3);
    out->inactivity_minutes = db_get_int(rows, 4);
    return rows_text(arena, rows, 0, &out->user_id);
}

static enum clew_status do_users(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct users_work *work = arg;

    work->list = (struct rows_list){.arena = work->arena,
                                    .size = sizeof(struct stats_user),
                                    .fn = user_row};
    return rows_add(tx, &work->list, &USERS,
                    DB_ARGS(work->after.s ? db_text(work->after) : db_cstr(""),
                            db_int(work->limit)),
                    err);
}

enum clew_status stats_users(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct str after,
                             int64_t limit, struct stats_user **out,
                             size_t *out_count, struct clew_error *err)
{
    struct users_work work = {.arena = arena, .after = after, .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_users, &work, err);

    if (status == CLEW_OK) {
        *out = work.list.items;
        *out_count = work.list.count;
    }
    return status;
}
