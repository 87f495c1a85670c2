/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeout.c - whose minutes count. See timeout.h.
 */
#include "engine/chat/timeout.h"

#include "base/clock.h"
#include "base/limits.h"
#include "engine/chat/channel.h"
#include "engine/chat/chat.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <stdio.h>

DB_SQL(SELECT_USER, "SELECT inactivity_minutes FROM users WHERE tenant = $1"
                    " AND user_id = $2");
DB_SQL(INSERT_USER, "INSERT INTO users (tenant, user_id, created_at)"
                    " VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");
DB_SQL(UPDATE_USER, "UPDATE users SET inactivity_minutes = $3"
                    " WHERE tenant = $1 AND user_id = $2");
DB_SQL(DROP_ACTIONS, "DELETE FROM actions WHERE tenant = $1 AND subject = $2"
                     " AND kind = '" ACTION_USER_PATCH "'" ACTION_BY_SUBJECT);
DB_SQL(DROP_USER, "DELETE FROM users WHERE tenant = $1 AND user_id = $2");

enum clew_status timeout_user_find(struct store_tx *tx, struct str user_id,
                                   struct timeout_user *out,
                                   struct clew_error *err)
{
    struct db_rows rows;
    struct timeout_user found = {.user_id = user_id};
    enum clew_status status =
        db_query(tx, &SELECT_USER, DB_ARGS(db_text(user_id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    found.is_known = db_next(&rows);
    found.minutes = found.is_known ? db_get_int(&rows, 0) : 0;
    status = db_end(&rows, err);
    if (status == CLEW_OK) {
        *out = found;
    }
    return status;
}

enum clew_status timeout_user_insert(struct store_tx *tx, struct str user_id,
                                     int64_t created_at_ms,
                                     struct clew_error *err)
{
    return db_exec(tx, &INSERT_USER,
                   DB_ARGS(db_text(user_id), db_int(created_at_ms)), err);
}

int64_t timeout_of_turn_ms(const struct engine *engine, const struct chat *chat,
                           struct str channel)
{
    int64_t minutes = chat->inactivity_minutes;

    if (minutes == 0) {
        minutes = chat->user_minutes;
    }
    if (minutes == 0) {
        minutes = channel_inactivity_minutes(engine, channel);
    }
    return minutes * CLOCK_MINUTE_MS;
}

int64_t timeout_of_chat_ms(const struct engine *engine, const struct chat *chat)
{
    struct str rest = chat->channels;
    struct str channel;
    int64_t longest = 0;

    while (str_split(&rest, ',', &channel)) {
        int64_t one = timeout_of_turn_ms(engine, chat, channel);

        longest = one > longest ? one : longest;
    }
    return longest > 0
               ? longest
               : timeout_of_turn_ms(engine, chat, (struct str){NULL, 0});
}

/* --- whole operations ------------------------------------------------------
 */

/* Users have names, actions have subjects that are ids: one follows from the
 * other, so that what was done to a user can be forgotten with them. */
static struct uuid subject_of(struct str user_id)
{
    static const struct uuid none = {{0}};
    char kind[LIMIT_NAME_BYTES + 8];

    (void)snprintf(kind, sizeof(kind), "user:%.*s", (int)user_id.len,
                   user_id.s);
    return uuid_derive(0, &none, kind, 0);
}

struct set_work {
    struct str user_id;
    int64_t minutes;
    int64_t now_ms;
};

static enum clew_status note_set(struct store_tx *tx,
                                 const struct set_work *work,
                                 struct clew_error *err)
{
    struct uuid subject = subject_of(work->user_id);
    json_t *detail = json_object();
    struct action_new action = {.kind = ACTION_USER_PATCH,
                                .subject = &subject,
                                .detail = detail,
                                .at_ms = work->now_ms};

    if (!detail || !json_set_str(detail, "user_id", work->user_id) ||
        !json_set_int(detail, "minutes", work->minutes)) {
        json_decref(detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

static enum clew_status do_set(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct set_work *work = arg;
    enum clew_status status =
        timeout_user_insert(tx, work->user_id, work->now_ms, err);

    if (status == CLEW_OK) {
        status = db_exec(
            tx, &UPDATE_USER,
            DB_ARGS(db_text(work->user_id), rows_int_or_null(work->minutes)),
            err);
    }
    return status == CLEW_OK ? note_set(tx, work, err) : status;
}

enum clew_status timeout_user_set(struct engine *engine,
                                  const struct scope *scope, struct str user_id,
                                  int64_t minutes, struct clew_error *err)
{
    struct set_work work = {.user_id = user_id,
                            .minutes = minutes,
                            .now_ms = clock_now_ms(engine->clock)};

    return store_write(engine->store, scope, do_set, &work, err);
}

enum clew_status timeout_user_forget(struct store_tx *tx, struct str user_id,
                                     struct clew_error *err)
{
    struct uuid subject = subject_of(user_id);
    enum clew_status status =
        db_exec(tx, &DROP_ACTIONS, DB_ARGS(db_uuid(&subject)), err);

    return status == CLEW_OK
               ? db_exec(tx, &DROP_USER, DB_ARGS(db_text(user_id)), err)
               : status;
}
