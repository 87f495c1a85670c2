/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action.c - rows of the actions table. See action.h.
 */
#include "engine/core/action.h"

#include "base/buf.h"
#include "base/pack.h"
#include "engine/core/engine.h"
#include "engine/core/read_log.h"
#include "engine/core/rows.h"
#include "store/db.h"

#define DETAIL_BYTES (4u << 20)
#define COLUMNS "seq, id, kind, subject, made, packed, created_at, detail"

DB_SQL(INSERT, "INSERT INTO actions (tenant, " COLUMNS ")"
               " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '')");
DB_SQL(SELECT_AFTER, "SELECT " COLUMNS " FROM actions WHERE tenant = $1"
                     " AND (seq, id) > ($2, $3) ORDER BY seq, id LIMIT $4");

const char *const action_kinds[ACTION_KINDS] = {
    ACTION_CHAT_CREATE,   ACTION_CHAT_LINK,
    ACTION_CHAT_PATCH,    ACTION_CHAT_CLOSE,
    ACTION_CHAT_FORK,     ACTION_CHAIN_CONCLUDE,
    ACTION_CHAIN_REOPEN,  ACTION_COMPACT,
    ACTION_EFFORT_SPAWN,  ACTION_EFFORT_COLLAPSE,
    ACTION_EFFORT_EXPAND, ACTION_INTENT_CORRECT,
    ACTION_LINK_FEEDBACK, ACTION_LLM_READ,
    ACTION_MEMORY_ACT,    ACTION_MEMORY_FORGET,
    ACTION_MEMORY_IMPORT, ACTION_MEMORY_RETRACT,
    ACTION_READ,          ACTION_SESSION_END,
    ACTION_TASK,          ACTION_THOUGHT,
    ACTION_TUNING_REVERT, ACTION_UNDO,
    ACTION_USER_PATCH,
};
bool action_is_kind(struct str kind)
{
    for (size_t i = 0; i < ACTION_KINDS; i++) {
        if (str_eq(kind, str_of(action_kinds[i]))) {
            return true;
        }
    }
    return false;
}

static enum clew_status insert(struct store_tx *tx,
                               const struct action_new *input,
                               struct str packed, struct clew_error *err)
{
    int64_t seq = 0;
    struct uuid id = uuid_new(input->at_ms);
    enum clew_status status = db_take_changes(tx, 1, &seq, err);

    if (status != CLEW_OK) {
        return status;
    }
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_int(seq), db_uuid(&id), db_cstr(input->kind),
                           db_uuid(input->subject), db_uuid(input->made),
                           db_bytes(packed.s, packed.len),
                           db_int(input->at_ms)),
                   err);
}

enum clew_status action_add(struct store_tx *tx, const struct action_new *input,
                            struct clew_error *err)
{
    struct buf text;
    struct buf packed;
    enum clew_status status = CLEW_OK;

    buf_init(&text, DETAIL_BYTES);
    buf_init(&packed, DETAIL_BYTES + DETAIL_BYTES / 64);
    if (input->detail) {
        status = json_write(&text, input->detail);
    } else {
        buf_append_cstr(&text, "{}");
        status = buf_status(&text);
    }
    json_decref(input->detail);
    if (status == CLEW_OK) {
        status = pack(buf_str(&text), &packed);
    }
    status = status == CLEW_OK
                 ? insert(tx, input, buf_str(&packed), err)
                 : clew_fail(err, status, "could not write an action down");
    buf_release(&packed);
    buf_release(&text);
    return status;
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct action *out = item;

    out->seq = db_get_int(rows, 0);
    out->id = db_get_uuid(rows, 1);
    out->subject = db_get_uuid(rows, 3);
    out->made = db_get_uuid(rows, 4);
    out->at_ms = db_get_int(rows, 6);
    return rows_text(arena, rows, 2, &out->kind) &&
           rows_packed(arena, rows, 5, 7, &out->detail);
}

/* Two lists in order become one, of at most `limit`; false on OOM. */
static bool merge(struct arena *arena, const struct rows_list *list,
                  const struct action *readings, size_t n_readings,
                  size_t limit, struct action **out, size_t *out_count)
{
    const struct action *rows = list->items;
    size_t most = list->count + n_readings;
    struct action *all = arena_zero(arena, most + 1, sizeof(*all));
    size_t a = 0;
    size_t b = 0;

    if (!all) {
        return false;
    }
    most = most < limit ? most : limit;
    while (a + b < most) {
        bool is_row = b == n_readings ||
                      (a < list->count &&
                       (rows[a].seq < readings[b].seq ||
                        (rows[a].seq == readings[b].seq &&
                         uuid_cmp(&rows[a].id, &readings[b].id) <= 0)));
        struct action next = is_row ? rows[a] : readings[b];

        all[a + b] = next;
        a += is_row ? 1 : 0;
        b += is_row ? 0 : 1;
    }
    *out = all;
    *out_count = most;
    return true;
}

enum clew_status action_list(struct store_tx *tx, struct arena *arena,
                             int64_t after_seq, const struct uuid *after_id,
                             int64_t limit, struct action **out_actions,
                             size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct action), .fn = row_of};
    struct db_value after = db_bytes(after_id->b, sizeof(after_id->b));
    struct action *readings = NULL;
    size_t n_readings = 0;
    enum clew_status status;

    after.type = DB_UUID; /* the nil id is a value here, not NULL */
    status = rows_add(tx, &list, &SELECT_AFTER,
                      DB_ARGS(db_int(after_seq), after, db_int(limit)), err);
    if (status == CLEW_OK) {
        status = read_log_list(tx, arena, after_seq, after_id, (size_t)limit,
                               &readings, &n_readings, err);
    }
    return status == CLEW_OK && !merge(arena, &list, readings, n_readings,
                                       (size_t)limit, out_actions, out_count)
               ? clew_no_memory(err)
               : status;
}

struct uuid action_new_id(const struct engine *engine, int64_t now_ms)
{
    return engine->replay ? engine->replay->made : uuid_new(now_ms);
}
