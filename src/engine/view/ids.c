/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.c - what begins so. See ids.h.
 */
#include "engine/view/ids.h"

#include "engine/core/engine.h"
#include "store/db.h"

#include <string.h>

/* ($2 lowest, $3 highest id, $4 how many); each runs over an index of ids. */
#define BEGINNING(column, table)                                               \
    "SELECT " column " FROM " table " WHERE tenant = $1"                       \
    " AND " column " >= $2 AND " column " <= $3 ORDER BY " column " LIMIT $4"
DB_SQL(CHATS, BEGINNING("id", "chats"));
DB_SQL(TURNS, BEGINNING("id", "turns"));
DB_SQL(MEMORIES, BEGINNING("id", "memories"));
DB_SQL(SESSIONS, BEGINNING("id", "sessions"));
DB_SQL(CHAINS, BEGINNING("id", "chains"));
DB_SQL(EPISODES, BEGINNING("id", "episodes"));
DB_SQL(LINKS, BEGINNING("id", "link_decisions"));
DB_SQL(REQUESTS, BEGINNING("id", "requests"));
/* Some memories: a command that takes an effort means no fact beside it. */
DB_SQL(EFFORTS, "SELECT id FROM memories WHERE tenant = $1 AND id >= $2"
                " AND id <= $3 AND type = 'effort' ORDER BY id LIMIT $4");
DB_SQL(TRACES, BEGINNING("id", "traces"));
/* A conversation's id is that of its first chat. */
DB_SQL(CONVERSATIONS,
       "SELECT DISTINCT conversation_id FROM chats WHERE tenant = $1"
       " AND conversation_id >= $2 AND conversation_id <= $3"
       " ORDER BY conversation_id LIMIT $4");

static const struct {
    const char *name;
    const struct db_sql *sql;
} kinds[] = {
    {"chat", &CHATS},      {"turn", &TURNS},
    {"memory", &MEMORIES}, {"session", &SESSIONS},
    {"chain", &CHAINS},    {"episode", &EPISODES},
    {"link", &LINKS},      {"request", &REQUESTS},
    {"trace", &TRACES},    {"conversation", &CONVERSATIONS},
    {"effort", &EFFORTS},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct work {
    struct uuid low;
    struct uuid high;
    struct str kind; /* empty: all */
    struct ids_found *found;
    size_t n_found;
};

bool ids_is_kind(struct str name)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (str_eq(name, str_of(kinds[i].name))) {
            return true;
        }
    }
    return false;
}

/* Without a kind an effort is told once, as the memory it is. */
static bool is_asked_for(const struct work *work, size_t kind)
{
    return work->kind.len == 0 ? kinds[kind].sql != &EFFORTS
                               : str_eq(work->kind, str_of(kinds[kind].name));
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The first and the last id that begin so; false if none can. */
static bool range_of(struct str part, struct uuid *low, struct uuid *high)
{
    size_t n = 0;

    memset(low->b, 0, sizeof(low->b));
    memset(high->b, 0xff, sizeof(high->b));
    for (size_t i = 0; i < part.len; i++) {
        int digit = digit_of(part.s[i]);
        unsigned shift = n % 2 == 0 ? 4 : 0;

        if (part.s[i] == '-') {
            continue;
        }
        if (digit < 0 || n == 2 * sizeof(low->b)) {
            return false;
        }
        low->b[n / 2] |= (uint8_t)((unsigned)digit << shift);
        high->b[n / 2] &= (uint8_t) ~((unsigned)(15 - digit) << shift);
        n++;
    }
    return n >= IDS_MIN_DIGITS;
}

static enum clew_status find_kind(struct store_tx *tx, struct work *work,
                                  size_t kind, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status;
    enum clew_status end;

    status = db_query(tx, kinds[kind].sql,
                      DB_ARGS(db_uuid(&work->low), db_uuid(&work->high),
                              db_int(IDS_MAX_EACH)),
                      &rows, err);
    while (status == CLEW_OK && db_next(&rows)) {
        work->found[work->n_found++] =
            (struct ids_found){kinds[kind].name, db_get_uuid(&rows, 0)};
    }
    end = db_end(&rows, err);
    return status == CLEW_OK ? end : status;
}

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    enum clew_status status = CLEW_OK;

    work->n_found = 0; /* it may be done again */
    for (size_t i = 0; i < N_KINDS && status == CLEW_OK; i++) {
        if (is_asked_for(work, i)) {
            status = find_kind(tx, work, i, err);
        }
    }
    return status;
}

enum clew_status ids_find(struct engine *engine, const struct scope *scope,
                          struct arena *arena, struct str part, struct str kind,
                          struct ids_found **out, size_t *out_count,
                          struct clew_error *err)
{
    struct work work = {.kind = kind};
    enum clew_status status = CLEW_OK;

    work.found =
        arena_zero(arena, N_KINDS * IDS_MAX_EACH, sizeof(work.found[0]));
    if (!work.found) {
        return clew_no_memory(err);
    }
    if (range_of(part, &work.low, &work.high)) {
        status = store_read(engine->store, scope, do_find, &work, err);
    }
    if (status == CLEW_OK) {
        *out = work.found;
        *out_count = work.n_found;
    }
    return status;
}
