/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_ahead.c - questions asked before their answers are fetched.
 *
 * A question goes into the pipeline like a statement nobody waits for; its
 * answer comes with the next drain and stays here until a query with the same
 * values fetches it. What nobody fetched is dropped with its part of the
 * transaction; an answer still under way is dropped when it comes.
 */
#include "store/postgres_internal.h"

#include <string.h>

/* The largest values that are worth comparing. */
#define MAX_KEY_BYTES 4096u

/* The values as one run of bytes. False if there are too many of them. */
static bool key_of(struct buf *out, const struct db_value *args, size_t n_args)
{
    struct pg_args wire;
    bool is_good = postgres_args_init(&wire, args, n_args) == CLEW_OK;

    for (size_t i = 0; is_good && i < n_args; i++) {
        int32_t len = wire.values[i] ? wire.lengths[i] : -1;

        buf_append(out, &args[i].type, sizeof(args[i].type));
        buf_append(out, &len, sizeof(len));
        if (len > 0) {
            buf_append(out, wire.values[i], (size_t)len);
        }
    }
    postgres_args_release(&wire);
    return is_good && buf_status(out) == CLEW_OK;
}

static void let_go(struct ahead *ahead)
{
    PQclear(ahead->result);
    ahead->result = NULL;
    ahead->state = AHEAD_FREE;
}

static struct ahead *free_one(struct conn *conn)
{
    for (int i = 0; i < POSTGRES_MAX_AHEAD; i++) {
        if (conn->aheads[i].state == AHEAD_FREE) {
            return &conn->aheads[i];
        }
    }
    return NULL;
}

struct ahead *postgres_ahead_new(struct conn *conn, const struct db_value *args,
                                 size_t n_args)
{
    struct ahead *ahead = free_one(conn);

    if (ahead) {
        buf_release(&ahead->key);
        buf_init(&ahead->key, MAX_KEY_BYTES);
    }
    return ahead && key_of(&ahead->key, args, n_args) ? ahead : NULL;
}

struct ahead *postgres_ahead_find(struct conn *conn, const struct db_sql *sql,
                                  const struct db_value *args, size_t n_args)
{
    struct ahead *found = NULL;
    struct buf key;

    buf_init(&key, MAX_KEY_BYTES);
    for (int i = 0; i < POSTGRES_MAX_AHEAD && !found; i++) {
        struct ahead *ahead = &conn->aheads[i];

        if (ahead->state == AHEAD_FREE || ahead->sql != sql ||
            (key.len == 0 && !key_of(&key, args, n_args))) {
            continue;
        }
        if (str_eq(buf_str(&key), buf_str(&ahead->key))) {
            found = ahead;
        }
    }
    buf_release(&key);
    return found;
}

void postgres_ahead_answer(struct ahead *ahead, PGresult *result, bool is_good)
{
    ahead->result = result;
    ahead->state = AHEAD_ANSWERED;
    if (!is_good || !ahead->sql) {
        let_go(ahead);
    }
}

void postgres_ahead_forget(struct conn *conn)
{
    for (int i = 0; i < POSTGRES_MAX_AHEAD; i++) {
        struct ahead *ahead = &conn->aheads[i];

        ahead->sql = NULL;
        if (ahead->state == AHEAD_ANSWERED) {
            let_go(ahead);
        }
    }
}

void postgres_ahead_release(struct conn *conn)
{
    for (int i = 0; i < POSTGRES_MAX_AHEAD; i++) {
        let_go(&conn->aheads[i]);
        buf_release(&conn->aheads[i].key);
    }
}
