/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.c - rows of chains, what happened to them and their words. See
 * chain.h.
 */
#include "engine/topic/chain.h"

#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                \
    "id, user_id, chat_id, session_id, topic, state, started_at,"              \
    " last_extended_at, last_seq, n_claims, branches_from, merged_into,"       \
    " memory, twin_of"

DB_SQL(INSERT, "INSERT INTO chains (tenant, " COLUMNS ") VALUES ($1, $2, $3,"
               " $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)");
DB_SQL(UPDATE, "UPDATE chains SET chat_id = $3, session_id = $4, topic = $5,"
               " state = $6, last_extended_at = $7, last_seq = $8,"
               " n_claims = $9, branches_from = $10, merged_into = $11,"
               " memory = $12 WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_ONE,
       "SELECT " COLUMNS " FROM chains WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_OPEN,
       "SELECT " COLUMNS " FROM chains WHERE tenant = $1 AND session_id = $2"
       " AND state <> 'concluded' ORDER BY +last_extended_at DESC,"
       " last_seq DESC, id DESC LIMIT 10");
DB_SQL(SELECT_LATEST,
       "SELECT " COLUMNS " FROM chains WHERE tenant = $1 AND user_id = $2"
       " AND (session_id <> $3 OR state <> 'active') AND merged_into IS NULL"
       " ORDER BY last_extended_at DESC, id DESC LIMIT 12");
DB_SQL(SELECT_BY_TERM,
       "SELECT " COLUMNS " FROM chains WHERE tenant = $1 AND id IN (SELECT"
       " chain_id FROM chain_terms WHERE tenant = $1 AND user_id = $2 AND term"
       " = $3 ORDER BY chain_id DESC LIMIT 6) AND merged_into IS NULL"
       " ORDER BY id DESC");
DB_SQL(INSERT_TERMS,
       "INSERT INTO chain_terms (tenant, user_id, term, chain_id)"
       " SELECT $1, $2, value, $4 FROM UNNEST($3) AS value WHERE TRUE"
       " ON CONFLICT DO NOTHING");
DB_SQL(INSERT_EVENT,
       "INSERT INTO chain_updates (tenant, id, chain_id, position, type,"
       " reasoning, created_at, claim_ids)"
       " VALUES ($1, $2, $3, 0, $4, $5, $6, '')");
/* By hand, or of a turn of before that is not a step yet. */
DB_SQL(SELECT_EVENTS,
       "SELECT u.id, u.chain_id, u.turn_id, u.type, u.parent_id, u.packed,"
       " u.distance, u.reasoning, u.created_at, u.claim_ids, t.chat_id, t.seq,"
       " u.position FROM chain_updates u LEFT JOIN turns t ON t.tenant = $1"
       " AND t.id = u.turn_id WHERE u.tenant = $1 AND u.chain_id = $2"
       " ORDER BY u.created_at, u.position, u.id LIMIT $3");
/* The rows of a chat or session are few: they are found by its index (the plus
 * keeps SQLite from walking all chains by time) and sorted. */
#define FILTERS(at)                                                            \
    " AND ($2 = '' OR state = $2)"                                             \
    " AND (" at " < $3 OR (" at " = $3 AND id < $4))"                          \
    " ORDER BY " at " DESC, id DESC LIMIT $5"
#define BY_TIME FILTERS("last_extended_at")
#define SORTED FILTERS("+last_extended_at")
DB_SQL(LIST_ALL, "SELECT " COLUMNS " FROM chains WHERE tenant = $1" BY_TIME);
DB_SQL(LIST_USER, "SELECT " COLUMNS
                  " FROM chains WHERE tenant = $1 AND user_id = $6" BY_TIME);
DB_SQL(LIST_SESSION, "SELECT " COLUMNS " FROM chains WHERE tenant = $1"
                     " AND session_id = $6" SORTED);
DB_SQL(LIST_CHAT, "SELECT " COLUMNS " FROM chains WHERE tenant = $1"
                  " AND chat_id = $6" SORTED);

static const char *const phase_names[] = {"active", "dormant", "concluded"};

const char *chain_phase_name(enum chain_phase phase)
{
    return phase_names[phase];
}

bool chain_phase_parse(struct str name, enum chain_phase *out_phase)
{
    for (size_t i = 0; i < 3; i++) {
        if (str_eq(name, str_of(phase_names[i]))) {
            *out_phase = (enum chain_phase)i;
            return true;
        }
    }
    return false;
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chain *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 2);
    out->session_id = db_get_uuid(rows, 3);
    out->started_at_ms = db_get_int(rows, 6);
    out->last_extended_at_ms = db_get_int(rows, 7);
    out->last_seq = db_get_int(rows, 8);
    out->n_claims = db_get_int(rows, 9);
    out->branches_from = db_get_uuid(rows, 10);
    out->merged_into = db_get_uuid(rows, 11);
    out->twin_of = db_get_uuid(rows, 13);
    if (!chain_phase_parse(db_get_text(rows, 5), &out->phase)) {
        out->phase = CHAIN_DORMANT;
    }
    /* a memory of an older form is an empty one: the chain starts afresh */
    if (!chain_state_read(db_get_bytes(rows, 12), &out->state)) {
        chain_state_init(&out->state);
    }
    return rows_text(arena, rows, 1, &out->user_id) &&
           rows_text(arena, rows, 4, &out->topic);
}

static bool event_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct chain_event *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chain_id = db_get_uuid(rows, 1);
    out->turn_id = db_get_uuid(rows, 2);
    out->parent_id = db_get_uuid(rows, 4);
    out->distance = db_is_null(rows, 6) ? -1 : db_get_real(rows, 6);
    out->created_at_ms = db_get_int(rows, 8);
    out->chat_id = db_get_uuid(rows, 10);
    out->seq = db_get_int(rows, 11);
    out->position = db_get_int(rows, 12);
    return rows_text(arena, rows, 3, &out->type) &&
           rows_packed(arena, rows, 5, 9, &out->claim_ids) &&
           rows_text(arena, rows, 7, &out->reasoning);
}

enum clew_status chain_insert(struct store_tx *tx, const struct chain *chain,
                              struct clew_error *err)
{
    struct buf memory;
    enum clew_status status;

    buf_init(&memory, (size_t)1 << 16);
    status = chain_state_write(&chain->state, &memory);
    if (status == CLEW_OK) {
        status = db_exec(
            tx, &INSERT,
            DB_ARGS(
                db_uuid(&chain->id), db_text(chain->user_id),
                db_uuid(&chain->chat_id), db_uuid(&chain->session_id),
                db_text(chain->topic), db_cstr(chain_phase_name(chain->phase)),
                db_int(chain->started_at_ms),
                db_int(chain->last_extended_at_ms), db_int(chain->last_seq),
                db_int(chain->n_claims), db_uuid(&chain->branches_from),
                db_uuid(&chain->merged_into), db_bytes(memory.data, memory.len),
                db_uuid(&chain->twin_of)),
            err);
    }
    buf_release(&memory);
    return status;
}

enum clew_status chain_update_row(struct store_tx *tx,
                                  const struct chain *chain,
                                  struct clew_error *err)
{
    struct buf memory;
    enum clew_status status;

    buf_init(&memory, (size_t)1 << 16);
    status = chain_state_write(&chain->state, &memory);
    if (status == CLEW_OK) {
        status = db_exec(
            tx, &UPDATE,
            DB_ARGS(db_uuid(&chain->id), db_uuid(&chain->chat_id),
                    db_uuid(&chain->session_id), db_text(chain->topic),
                    db_cstr(chain_phase_name(chain->phase)),
                    db_int(chain->last_extended_at_ms), db_int(chain->last_seq),
                    db_int(chain->n_claims), db_uuid(&chain->branches_from),
                    db_uuid(&chain->merged_into),
                    db_bytes(memory.data, memory.len)),
            err);
    }
    buf_release(&memory);
    return status;
}

enum clew_status chain_find(struct store_tx *tx, struct arena *arena,
                            const struct uuid *id, struct chain *out_chain,
                            struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), row_of,
                    out_chain, sizeof(*out_chain), "chain", err);
}

enum clew_status chain_list_open(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *session_id,
                                 struct chain **out_chains, size_t *out_count,
                                 struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chain), .fn = row_of};

    return rows_all(tx, &list, &SELECT_OPEN, DB_ARGS(db_uuid(session_id)),
                    out_chains, out_count, err);
}

enum clew_status chain_ahead_open(struct store_tx *tx,
                                  const struct uuid *session_id,
                                  struct clew_error *err)
{
    return db_ahead(tx, &SELECT_OPEN, DB_ARGS(db_uuid(session_id)), err);
}

enum clew_status chain_list_resting(struct store_tx *tx, struct arena *arena,
                                    struct str user_id,
                                    const struct uuid *session_id,
                                    const int64_t *terms, size_t n_terms,
                                    struct chain **out_chains,
                                    size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chain), .fn = row_of};
    enum clew_status status =
        rows_add(tx, &list, &SELECT_LATEST,
                 DB_ARGS(db_text(user_id), db_uuid(session_id)), err);

    for (size_t i = 0; status == CLEW_OK && i < n_terms; i++) {
        status = rows_add(tx, &list, &SELECT_BY_TERM,
                          DB_ARGS(db_text(user_id), db_int(terms[i])), err);
    }
    if (status == CLEW_OK) {
        *out_chains = list.items;
        *out_count = list.count;
    }
    return status;
}

enum clew_status chain_add_terms(struct store_tx *tx, const struct chain *chain,
                                 struct clew_error *err)
{
    const struct chain_state *state = &chain->state;
    int64_t terms[2 * CHAIN_TOPS];
    size_t n = 0;

    for (size_t i = 0; i < state->n_tops && i < CHAIN_TOPS; i++) {
        terms[n++] = state->tops[i];
    }
    for (size_t i = 0; i < state->n_names && i < CHAIN_TOPS; i++) {
        terms[n++] = state->names[i].hash;
    }
    return n == 0 ? CLEW_OK
                  : db_exec(tx, &INSERT_TERMS,
                            DB_ARGS(db_text(chain->user_id), db_ints(terms, n),
                                    db_uuid(&chain->id)),
                            err);
}

static enum clew_status chain_add_event(struct store_tx *tx,
                                        const struct chain_event *event,
                                        struct clew_error *err)
{
    return db_exec(tx, &INSERT_EVENT,
                   DB_ARGS(db_uuid(&event->id), db_uuid(&event->chain_id),
                           db_text(event->type), db_text(event->reasoning),
                           db_int(event->created_at_ms)),
                   err);
}

enum clew_status chain_list_rows(struct store_tx *tx, struct arena *arena,
                                 const struct chain_filter *f,
                                 struct chain **out_chains, size_t *out_count,
                                 struct clew_error *err)
{
    struct str state = f->state.s ? f->state : STR("");
    int64_t before = f->before_time_ms ? f->before_time_ms : INT64_MAX;
    static const struct uuid last = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff}};
    const struct uuid *id = uuid_is_nil(&f->before_id) ? &last : &f->before_id;
    const struct db_sql *sql = &LIST_ALL;
    struct db_value args[5] = {db_text(state), db_int(before), db_uuid(id),
                               db_int(f->limit), db_null()};
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chain), .fn = row_of};
    size_t n_args = 5;

    if (!uuid_is_nil(&f->session_id)) {
        sql = &LIST_SESSION;
        args[4] = db_uuid(&f->session_id);
    } else if (!uuid_is_nil(&f->chat_id)) {
        sql = &LIST_CHAT;
        args[4] = db_uuid(&f->chat_id);
    } else if (f->user_id.s) {
        sql = &LIST_USER;
        args[4] = db_text(f->user_id);
    } else {
        n_args = 4;
    }
    return rows_all(tx, &list, sql, args, n_args, out_chains, out_count, err);
}

static bool event_of_step(struct arena *arena, const struct chain_step *step,
                          struct chain_event *out)
{
    *out = (struct chain_event){
        .id =
            chain_step_id(step->created_at_ms, &step->turn_id, step->position),
        .chain_id = step->chain_id,
        .turn_id = step->turn_id,
        .chat_id = step->chat_id,
        .seq = step->seq,
        .position = step->position,
        .type = str_of(chain_step_type(step->kind)),
        .parent_id = step->parent_id,
        .claim_ids = chain_step_claim_ids(arena, step),
        .distance = step->distance,
        .reasoning = chain_step_reasoning(arena, step->kind, step->said),
        .created_at_ms = step->created_at_ms};
    return out->claim_ids.s && out->reasoning.s;
}

static int by_time(const void *a, const void *b)
{
    const struct chain_event *x = a;
    const struct chain_event *y = b;

    if (x->created_at_ms != y->created_at_ms) {
        return x->created_at_ms < y->created_at_ms ? -1 : 1;
    }
    if (x->position != y->position) {
        return x->position < y->position ? -1 : 1;
    }
    return uuid_cmp(&x->id, &y->id);
}

enum clew_status chain_list_events(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *id, int64_t limit,
                                   struct chain_event **out_events,
                                   size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chain_event), .fn = event_of};
    struct chain_step *steps = NULL;
    struct chain_event *all;
    size_t n_steps = 0;
    size_t n;
    enum clew_status status = rows_add(
        tx, &list, &SELECT_EVENTS, DB_ARGS(db_uuid(id), db_int(limit)), err);

    if (status == CLEW_OK) {
        status = chain_step_list(tx, arena, id, limit, &steps, &n_steps, err);
    }
    n = status == CLEW_OK ? list.count + n_steps : 0;
    all = arena_zero(arena, n + 1, sizeof(*all));
    if (status != CLEW_OK || !all) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    for (size_t i = 0; i < n_steps; i++) {
        if (!event_of_step(arena, &steps[i], &all[i])) {
            return clew_no_memory(err);
        }
    }
    if (list.count > 0) {
        memcpy(all + n_steps, list.items, list.count * sizeof(*all));
    }
    qsort(all, n, sizeof(*all), by_time);
    *out_events = all;
    *out_count = n < (size_t)limit ? n : (size_t)limit;
    return CLEW_OK;
}

/* --- whole operations -------------------------------------------------------
 */

struct action_work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    int64_t now_ms;
    enum chain_phase phase;
    struct chain chain;
};

static enum clew_status note_action(struct store_tx *tx,
                                    struct action_work *work,
                                    struct clew_error *err)
{
    bool is_end = work->phase == CHAIN_CONCLUDED;
    const char *reasoning = arena_printf(
        work->arena, "%s \"%.*s\" by hand", is_end ? "Concluded" : "Reopened",
        (int)work->chain.topic.len, work->chain.topic.s);
    struct chain_event event = {.id = action_new_id(work->engine, work->now_ms),
                                .chain_id = *work->id,
                                .type =
                                    is_end ? STR("conclude") : STR("extend"),
                                .claim_ids = STR(""),
                                .distance = -1,
                                .reasoning = str_of(reasoning),
                                .created_at_ms = work->now_ms};
    struct action_new action = {.kind = is_end ? ACTION_CHAIN_CONCLUDE
                                               : ACTION_CHAIN_REOPEN,
                                .subject = work->id,
                                .made = &event.id,
                                .at_ms = work->now_ms};
    enum clew_status status;

    if (!reasoning) {
        return clew_no_memory(err);
    }
    status = chain_add_event(tx, &event, err);
    return status == CLEW_OK ? action_add(tx, &action, err) : status;
}

static enum clew_status do_action(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct action_work *work = arg;
    enum clew_status status =
        chain_find(tx, work->arena, work->id, &work->chain, err);

    if (status != CLEW_OK || work->chain.phase == work->phase) {
        return status;
    }
    if (!uuid_is_nil(&work->chain.merged_into)) {
        return clew_fail(err, CLEW_CONFLICT,
                         "this chain was merged into another");
    }
    work->chain.phase = work->phase;
    status = chain_update_row(tx, &work->chain, err);
    if (status == CLEW_OK && work->phase == CHAIN_CONCLUDED) {
        status = chain_add_terms(tx, &work->chain, err);
    }
    return status == CLEW_OK ? note_action(tx, work, err) : status;
}

static enum clew_status act(struct engine *engine, const struct scope *scope,
                            struct action_work *work, struct chain *out_chain,
                            struct clew_error *err)
{
    enum clew_status status;

    work->engine = engine;
    work->now_ms = clock_now_ms(engine->clock);
    status = store_write(engine->store, scope, do_action, work, err);
    if (status == CLEW_OK) {
        *out_chain = work->chain;
    }
    return status;
}

enum clew_status chain_conclude(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct uuid *id, struct chain *out_chain,
                                struct clew_error *err)
{
    struct action_work work = {
        .arena = arena, .id = id, .phase = CHAIN_CONCLUDED};

    return act(engine, scope, &work, out_chain, err);
}

enum clew_status chain_reopen(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *id,
                              struct chain *out_chain, struct clew_error *err)
{
    struct action_work work = {.arena = arena, .id = id, .phase = CHAIN_ACTIVE};

    return act(engine, scope, &work, out_chain, err);
}
