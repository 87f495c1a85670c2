/* SPDX-License-Identifier: Apache-2.0 */
/* chatlink_later.c - work of its own that a turn asks for. See
 * chatlink_later.h. */
#include "engine/chatlink/chatlink_later.h"

#include "base/config.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_assess.h"
#include "engine/chatlink/chatlink_read.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/core/work.h"
#include "store/db.h"

#include <string.h>

DB_SQL(COUNT_UNREAD, "SELECT COUNT(*) FROM turns t JOIN unread u ON"
                     " u.tenant = t.tenant AND u.turn_id = t.id"
                     " WHERE t.tenant = $1 AND t.chat_id = $2 AND t.seq = $3"
                     " AND u.given_up_at IS NULL");

enum clew_status chatlink_read_later(struct batch_work *batch,
                                     const struct uuid *chat_id, int64_t seq,
                                     int64_t now_ms, struct clew_error *err)
{
    struct task_new task = {.kind = CHATLINK_READ_TASK,
                            .unique_key = task_key(batch->arena, chat_id, seq),
                            .priority = CHATLINK_READ_PRIORITY,
                            .execute_at_ms = now_ms + CHATLINK_READ_WAIT_MS,
                            .now_ms = now_ms};

    return task.unique_key.s ? task_add_about(batch->tx, batch->arena, &task,
                                              "chat_id", chat_id, err)
                             : clew_no_memory(err);
}

enum clew_status chatlink_read_wake(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_id, int64_t seq,
                                    int64_t at_ms, bool *out_found,
                                    struct clew_error *err)
{
    struct str key = task_key(arena, chat_id, seq);

    *out_found = false;
    return key.s ? task_wake(tx, arena, CHATLINK_READ_TASK, key, at_ms,
                             out_found, err)
                 : clew_no_memory(err);
}

/* Is what an earlier turn of the chat asked for due, or under way? */
static enum clew_status is_behind(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *chat_id, int64_t seq,
                                  int64_t now_ms, bool *out,
                                  struct clew_error *err)
{
    int64_t from = seq > CHATLINK_TURNS ? seq - CHATLINK_TURNS : 1;
    enum clew_status status = CLEW_OK;

    *out = false;
    for (; from < seq && status == CLEW_OK && !*out; from++) {
        struct str key = task_key(arena, chat_id, from);

        status = key.s ? task_is_due(tx, arena, CHATLINK_READ_TASK, key, now_ms,
                                     out, err)
                       : clew_no_memory(err);
    }
    return status;
}

enum clew_status chatlink_read_wait(struct store_tx *tx, struct arena *arena,
                                    const struct uuid *chat_id, int64_t seq,
                                    int64_t now_ms, int64_t *out_ms,
                                    struct clew_error *err)
{
    int64_t n_unread = 0;
    bool must_wait = false;
    enum clew_status status =
        rows_number(tx, &COUNT_UNREAD, DB_ARGS(db_uuid(chat_id), db_int(seq)),
                    &n_unread, err);

    if (status == CLEW_OK && n_unread == 0) {
        status = is_behind(tx, arena, chat_id, seq, now_ms, &must_wait, err);
    }
    *out_ms = n_unread > 0 ? CHATLINK_READ_WAIT_MS
              : must_wait  ? CHATLINK_READ_BEHIND_MS
                           : 0;
    return status;
}

enum clew_status chatlink_assess_later(struct batch_work *batch,
                                       const struct uuid *link_id, int64_t seq,
                                       int64_t now_ms, struct clew_error *err)
{
    const struct engine *engine = batch->engine;
    struct task_new task = {.kind = CHATLINK_ASSESS_TASK,
                            .unique_key = task_key(batch->arena, link_id, seq),
                            .priority = CHATLINK_READ_PRIORITY,
                            .execute_at_ms = now_ms,
                            .now_ms = now_ms};

    if (!engine->llm ||
        strcmp(config_str(engine->config, "llm.read"), "off") != 0) {
        return CLEW_OK;
    }
    return task.unique_key.s ? task_add_about(batch->tx, batch->arena, &task,
                                              "link_id", link_id, err)
                             : clew_no_memory(err);
}
