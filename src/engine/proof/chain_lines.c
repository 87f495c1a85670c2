/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_lines.c - steps to lines, and lines to steps. See chain_lines.h.
 */
#include "engine/proof/chain_lines.h"

#include "engine/chat/turn.h"
#include "engine/core/rows.h"
#include "engine/read/claim_spans.h"
#include "store/db.h"

#include <math.h>
#include <stdlib.h>

#define PAGE 200
/* Chains whose updates are folded in a transaction. */
#define PAGE_CHAINS 20
#define CLAIMS_BYTES ((size_t)1 << 16)
/* A distance of more digits than a step keeps is no step's. */
#define DISTANCE_SLACK 1e-9

#define WITH_TURN                                                              \
    " FROM chain_steps u JOIN turns t ON t.tenant = $1 AND"                    \
    " t.chat_id = u.chat_id AND t.seq = u.seq WHERE u.tenant = $1"
DB_SQL(SELECT_NAMELESS, "SELECT id FROM chains WHERE tenant = $1"
                        " AND topic = '' AND n_claims > 0");
DB_SQL(NAME_CHAIN,
       "UPDATE chains SET topic = $3 WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_PAGE,
       "SELECT " CHAIN_STEP_COLUMNS ", t.text, t.name, t.timezone" WITH_TURN
       " AND (u.chat_id, u.seq, u.position) > ($3, $4, $5)"
       " ORDER BY u.chat_id, u.seq, u.position LIMIT $2");
DB_SQL(SELECT_PLACE,
       "SELECT u.chat_id, u.seq, u.position, u.chain_id, u.kind, u.claims,"
       " u.distance, u.said, u.parent_id, u.moved_to, NULL, 0"
       " FROM chain_steps u WHERE u.tenant = $1 AND u.chat_id = $2"
       " AND u.seq = $3 ORDER BY u.position");
DB_SQL(SELECT_TURN, "SELECT chat_id, seq, created_at FROM turns"
                    " WHERE tenant = $1 AND id = $2");
DB_SQL(DROP_STEP, "DELETE FROM chain_steps WHERE tenant = $1 AND chat_id = $2"
                  " AND seq = $3 AND position = $4");
DB_SQL(SELECT_CHAINS, "SELECT DISTINCT chain_id FROM chain_updates WHERE"
                      " tenant = $1 AND chain_id > $2 ORDER BY chain_id"
                      " LIMIT $3");
DB_SQL(SELECT_UPDATES,
       "SELECT chain_id, created_at, position, id, turn_id, type, parent_id,"
       " packed, distance, reasoning, claim_ids FROM chain_updates WHERE"
       " tenant = $1 AND chain_id = $2 AND turn_id IS NOT NULL"
       " ORDER BY created_at, position, id");
DB_SQL(DROP_UPDATE,
       "DELETE FROM chain_updates WHERE tenant = $1 AND chain_id = $2"
       " AND created_at = $3 AND position = $4 AND id = $5");

/* --- steps to lines ---------------------------------------------------------
 */

struct stepped {
    struct chain_step step;
    struct turn turn;
};

static bool stepped_of(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct stepped *out = item;

    if (!chain_step_of(arena, rows, &out->step)) {
        return false;
    }
    out->turn.id = out->step.turn_id;
    out->turn.created_at_ms = out->step.created_at_ms;
    return rows_text(arena, rows, 12, &out->turn.text) &&
           rows_text(arena, rows, 13, &out->turn.name) &&
           rows_text(arena, rows, 14, &out->turn.timezone);
}

struct telling {
    struct engine *engine;
    struct arena *scratch;
    chain_line_fn fn;
    void *arg;
};

static enum clew_status tell_claim(const struct telling *telling,
                                   const struct chain_step *step,
                                   const struct claim *claim,
                                   struct clew_error *err)
{
    const struct uuid *chain =
        uuid_is_nil(&step->moved_to) ? &step->chain_id : &step->moved_to;
    json_t *line = json_object();
    bool is_ok =
        line && json_set_cstr(line, "type", "claim") &&
        json_set_uuid(line, "chat_id", &step->chat_id) &&
        json_set_int(line, "seq", step->seq) &&
        json_set_int(line, "position", claim->position) &&
        json_set_uuid(line, "chain_id", chain) &&
        json_set_int(line, "first_byte", claim->first_byte) &&
        json_set_int(line, "end_byte", claim->end_byte) &&
        json_set_cstr(line, "claim_type", claim_type_name(claim->type)) &&
        json_set_str(line, "subject", claim->subject) &&
        json_set_str(line, "entities", claim->entities) &&
        json_set_str(line, "keywords", claim->keywords) &&
        json_set_real(line, "confidence", claim->confidence) &&
        (claim->valid_from_ms == 0 ||
         json_set_int(line, "valid_from", claim->valid_from_ms)) &&
        json_set_time(line, "created_at", &claim->created_at_ms);
    enum clew_status status =
        is_ok ? telling->fn(telling->arg, line, err) : clew_no_memory(err);

    json_decref(line);
    return status;
}

static enum clew_status tell_claims(const struct telling *telling,
                                    const struct stepped *stepped,
                                    struct clew_error *err)
{
    struct claim *claims = NULL;
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    if (stepped->step.claims.len == 0) {
        return CLEW_OK;
    }
    status = claim_spans_read(telling->scratch, stepped->step.claims, &claims,
                              &count)
                 ? claim_spans_fill(telling->engine, telling->scratch,
                                    &stepped->turn, claims, count, err)
                 : clew_no_memory(err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = tell_claim(telling, &stepped->step, &claims[i], err);
    }
    return status;
}

static enum clew_status tell_update(const struct telling *telling,
                                    const struct stepped *stepped,
                                    struct clew_error *err)
{
    const struct chain_step *step = &stepped->step;
    struct uuid id =
        chain_step_id(step->created_at_ms, &step->turn_id, step->position);
    struct str ids = chain_step_claim_ids(telling->scratch, step);
    struct str reasoning =
        chain_step_reasoning(telling->scratch, step->kind, step->said);
    enum clew_status status;
    json_t *line;
    bool is_ok;

    if (step->kind == CHAIN_STEP_CLAIMS) {
        return CLEW_OK;
    }
    line = json_object();
    is_ok =
        ids.s && reasoning.s && line &&
        json_set_cstr(line, "type", "chain_update") &&
        json_set_uuid(line, "chain_id", &step->chain_id) &&
        json_set_time(line, "created_at", &step->created_at_ms) &&
        json_set_int(line, "position", step->position) &&
        json_set_uuid(line, "id", &id) &&
        json_set_uuid(line, "turn_id", &step->turn_id) &&
        json_set_cstr(line, "chain_update_type", chain_step_type(step->kind)) &&
        (uuid_is_nil(&step->parent_id) ||
         json_set_uuid(line, "parent_id", &step->parent_id)) &&
        json_set_str(line, "claim_ids", ids) &&
        (step->distance < 0 ||
         json_set_real(line, "distance", step->distance)) &&
        json_set_str(line, "reasoning", reasoning);
    status = is_ok ? telling->fn(telling->arg, line, err) : clew_no_memory(err);
    json_decref(line);
    return status;
}

static enum clew_status
tell_all(struct store_tx *tx, const struct telling *telling,
         enum clew_status (*tell)(const struct telling *telling,
                                  const struct stepped *stepped,
                                  struct clew_error *err),
         struct clew_error *err)
{
    struct uuid chat_id = {{0}};
    int64_t seq = 0;
    int64_t position = 0;
    enum clew_status status = CLEW_OK;
    size_t count = PAGE;

    while (status == CLEW_OK && count == PAGE) {
        struct rows_list list = {.arena = telling->scratch,
                                 .size = sizeof(struct stepped),
                                 .fn = stepped_of};
        struct db_value after = db_bytes(chat_id.b, sizeof(chat_id.b));
        const struct stepped *items;

        after.type = DB_UUID; /* the nil id is a value here, not NULL */
        status = rows_add(
            tx, &list, &SELECT_PAGE,
            DB_ARGS(db_int(PAGE), after, db_int(seq), db_int(position)), err);
        items = list.items;
        count = list.count;
        for (size_t i = 0; i < count && status == CLEW_OK; i++) {
            status = tell(telling, &items[i], err);
        }
        if (count > 0) {
            chat_id = items[count - 1].step.chat_id;
            seq = items[count - 1].step.seq;
            position = items[count - 1].step.position;
        }
        arena_clear(telling->scratch);
    }
    return status;
}

enum clew_status chain_lines_claims(struct engine *engine, struct store_tx *tx,
                                    struct arena *scratch, chain_line_fn fn,
                                    void *arg, struct clew_error *err)
{
    struct telling telling = {engine, scratch, fn, arg};

    return tell_all(tx, &telling, tell_claims, err);
}

enum clew_status chain_lines_updates(struct engine *engine, struct store_tx *tx,
                                     struct arena *scratch, chain_line_fn fn,
                                     void *arg, struct clew_error *err)
{
    struct telling telling = {engine, scratch, fn, arg};

    return tell_all(tx, &telling, tell_update, err);
}

/* --- lines to steps ---------------------------------------------------------
 */

static enum clew_status steps_at(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chat_id, int64_t seq,
                                 struct chain_step **out, size_t *out_count,
                                 struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chain_step), .fn = chain_step_of};

    return rows_all(tx, &list, &SELECT_PLACE,
                    DB_ARGS(db_uuid(chat_id), db_int(seq)), out, out_count,
                    err);
}

/* The claims as a step has them; s == NULL on OOM. */
static struct str spans_of(struct arena *arena, const struct claim *claims,
                           size_t count)
{
    struct buf spans;
    struct str out = {NULL, 0};

    buf_init(&spans, CLAIMS_BYTES);
    if (claim_spans_write(claims, count, &spans) == CLEW_OK) {
        out = count > 0 ? arena_str(arena, buf_str(&spans)) : STR("");
    }
    buf_release(&spans);
    return out;
}

enum clew_status chain_lines_add_claim(struct store_tx *tx, struct arena *arena,
                                       const struct claim *claim,
                                       bool *out_added, struct clew_error *err)
{
    struct chain_step step = {.chat_id = claim->chat_id,
                              .seq = claim->seq,
                              .position = CHAIN_STEP_LOOSE + claim->position,
                              .chain_id = claim->chain_id,
                              .claims = spans_of(arena, claim, 1),
                              .distance = -1,
                              .said = STR("")};
    struct chain_step *steps = NULL;
    size_t n_steps = 0;
    enum clew_status status =
        steps_at(tx, arena, &claim->chat_id, claim->seq, &steps, &n_steps, err);

    *out_added = false;
    for (size_t i = 0; i < n_steps && status == CLEW_OK; i++) {
        struct claim *held = NULL;
        size_t count = 0;

        if (!claim_spans_read(arena, steps[i].claims, &held, &count)) {
            return clew_no_memory(err);
        }
        for (size_t k = 0; k < count; k++) {
            if (held[k].position == claim->position) {
                return CLEW_OK;
            }
        }
    }
    if (status == CLEW_OK) {
        status = step.claims.s ? chain_step_insert(tx, &step, err)
                               : clew_no_memory(err);
    }
    *out_added = status == CLEW_OK;
    return status == CLEW_OK
               ? chain_block_add(tx, &claim->chain_id, &claim->chat_id,
                                 claim->seq, claim->created_at_ms, err)
               : status;
}

/* A step in the making, from what stands at its place. */
struct folding {
    struct chain_step step;
    struct chain_step *there; /* loose ones that it takes in come first */
    size_t n_taken;
    struct claim *claims;
    size_t n_claims;
    size_t cap_claims;
    struct uuid holder; /* the chain the claims are in; nil: none yet */
    bool is_fit;
};

static bool names_id(struct str ids, const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    uuid_format(id, text);
    return str_find(ids, str_of(text), 0) < ids.len;
}

/* Take a loose step's claims in if the update names them all; it may also stand
 * where the update is to stand. */
static bool take_loose(struct arena *arena, const struct chain_event *event,
                       size_t at, struct folding *f)
{
    struct chain_step loose = f->there[at];
    const struct uuid *holder =
        uuid_is_nil(&loose.moved_to) ? &loose.chain_id : &loose.moved_to;
    struct claim *claims = NULL;
    size_t count = 0;
    bool is_named = true;

    if (!claim_spans_read(arena, loose.claims, &claims, &count)) {
        return false;
    }
    for (size_t i = 0; i < count && is_named; i++) {
        struct uuid id =
            claim_id(event->created_at_ms, &event->turn_id, claims[i].position);

        is_named = names_id(event->claim_ids, &id);
    }
    if (!is_named) {
        f->is_fit = f->is_fit && loose.position != event->position;
        return true;
    }
    f->is_fit =
        f->is_fit && (uuid_is_nil(&f->holder) || uuid_eq(&f->holder, holder));
    f->holder = *holder;
    f->there[at] = f->there[f->n_taken];
    f->there[f->n_taken++] = loose;
    for (size_t i = 0; i < count; i++) {
        f->claims = arena_grow(arena, f->claims, f->n_claims, &f->cap_claims,
                               sizeof(*f->claims));
        if (!f->claims) {
            return false;
        }
        f->claims[f->n_claims++] = claims[i];
    }
    return true;
}

static int by_position(const void *a, const void *b)
{
    const struct claim *x = a;
    const struct claim *y = b;

    return (x->position > y->position) - (x->position < y->position);
}

/* Can a step tell what the update tells? Its turn says where it stands. */
static enum clew_status prepare(struct store_tx *tx,
                                const struct chain_event *event,
                                struct folding *out, bool *out_gone,
                                struct clew_error *err)
{
    double steps = event->distance * 1e4;
    struct uuid id =
        chain_step_id(event->created_at_ms, &event->turn_id, event->position);
    struct db_rows rows;
    enum clew_status status;

    out->step = (struct chain_step){.position = event->position,
                                    .chain_id = event->chain_id,
                                    .distance = event->distance,
                                    .parent_id = event->parent_id};
    status = db_query(tx, &SELECT_TURN, DB_ARGS(db_uuid(&event->turn_id)),
                      &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    *out_gone = !db_next(&rows);
    if (!*out_gone) {
        out->step.chat_id = db_get_uuid(&rows, 0);
        out->step.seq = db_get_int(&rows, 1);
        out->is_fit =
            db_get_int(&rows, 2) == event->created_at_ms &&
            uuid_eq(&id, &event->id) && event->position >= 0 &&
            event->position < CHAIN_STEP_LOOSE &&
            (event->distance < 0 ||
             (steps < 1e9 && fabs(steps - round(steps)) < DISTANCE_SLACK)) &&
            chain_step_parse(event->type, event->reasoning, &out->step.kind,
                             &out->step.said);
    }
    return db_end(&rows, err);
}

static enum clew_status write_fold(struct store_tx *tx, struct arena *arena,
                                   struct folding *f, struct clew_error *err)
{
    struct chain_step *step = &f->step;
    enum clew_status status = CLEW_OK;

    if (f->n_claims > 1) {
        qsort(f->claims, f->n_claims, sizeof(*f->claims), by_position);
    }
    step->claims = spans_of(arena, f->claims, f->n_claims);
    if (!step->claims.s) {
        return clew_no_memory(err);
    }
    if (!uuid_eq(&f->holder, &step->chain_id)) {
        step->moved_to = f->holder; /* nil without claims */
    }
    for (size_t i = 0; i < f->n_taken && status == CLEW_OK; i++) {
        status = db_exec(tx, &DROP_STEP,
                         DB_ARGS(db_uuid(&step->chat_id), db_int(step->seq),
                                 db_int(f->there[i].position)),
                         err);
    }
    if (status == CLEW_OK) {
        status = chain_step_insert(tx, step, err);
    }
    return status == CLEW_OK
               ? chain_block_add(tx, &step->chain_id, &step->chat_id, step->seq,
                                 0, err)
               : status;
}

enum clew_status chain_lines_fold(struct store_tx *tx, struct arena *arena,
                                  const struct chain_event *event,
                                  enum chain_fold *out, struct clew_error *err)
{
    struct folding f = {.is_fit = false};
    bool is_gone = false;
    size_t count = 0;
    enum clew_status status = prepare(tx, event, &f, &is_gone, err);

    *out = is_gone ? CHAIN_FOLD_GONE : CHAIN_FOLD_NOT;
    if (status != CLEW_OK || !f.is_fit) {
        return status;
    }
    status =
        steps_at(tx, arena, &f.step.chat_id, f.step.seq, &f.there, &count, err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (f.there[i].kind != CHAIN_STEP_CLAIMS) {
            if (f.there[i].position == event->position) {
                *out = CHAIN_FOLD_KNOWN;
                return CLEW_OK;
            }
        } else if (!take_loose(arena, event, i, &f)) {
            status = clew_no_memory(err);
        }
    }
    if (status == CLEW_OK && f.is_fit) {
        *out = CHAIN_FOLD_ADDED;
        status = write_fold(tx, arena, &f, err);
    }
    return status;
}

/* --- rows of before ---------------------------------------------------------
 */

static bool update_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct chain_event *out = item;

    out->chain_id = db_get_uuid(rows, 0);
    out->created_at_ms = db_get_int(rows, 1);
    out->position = db_get_int(rows, 2);
    out->id = db_get_uuid(rows, 3);
    out->turn_id = db_get_uuid(rows, 4);
    out->parent_id = db_get_uuid(rows, 6);
    out->distance = db_is_null(rows, 8) ? -1 : db_get_real(rows, 8);
    return rows_text(arena, rows, 5, &out->type) &&
           rows_packed(arena, rows, 7, 10, &out->claim_ids) &&
           rows_text(arena, rows, 9, &out->reasoning);
}

static enum clew_status fold_chain(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chain_id,
                                   struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chain_event), .fn = update_of};
    const struct chain_event *events;
    enum clew_status status =
        rows_add(tx, &list, &SELECT_UPDATES, DB_ARGS(db_uuid(chain_id)), err);

    events = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        enum chain_fold fold = CHAIN_FOLD_NOT;

        status = chain_lines_fold(tx, arena, &events[i], &fold, err);
        if (status == CLEW_OK &&
            (fold == CHAIN_FOLD_ADDED || fold == CHAIN_FOLD_KNOWN)) {
            status = db_exec(
                tx, &DROP_UPDATE,
                DB_ARGS(db_uuid(chain_id), db_int(events[i].created_at_ms),
                        db_int(events[i].position), db_uuid(&events[i].id)),
                err);
        }
    }
    return status;
}

enum clew_status chain_lines_fold_page(struct store_tx *tx, struct arena *arena,
                                       struct uuid *after, bool *out_end,
                                       struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct db_value from = db_bytes(after->b, sizeof(after->b));
    const struct uuid *ids;
    enum clew_status status;

    from.type = DB_UUID; /* the nil id is a value here, not NULL */
    status = rows_add(tx, &list, &SELECT_CHAINS,
                      DB_ARGS(from, db_int(PAGE_CHAINS)), err);
    ids = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = fold_chain(tx, arena, &ids[i], err);
        *after = ids[i];
    }
    *out_end = list.count < PAGE_CHAINS;
    return status;
}

/* --- names --- */

enum clew_status chain_lines_name(struct engine *engine, struct store_tx *tx,
                                  struct arena *arena, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status =
        rows_add(tx, &list, &SELECT_NAMELESS, DB_NO_ARGS, err);

    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        const struct uuid *id = (const struct uuid *)list.items + i;
        struct claim *claims = NULL;
        size_t count = 0;

        status = chain_claims(engine, tx, arena, id, 1, &claims, &count, err);
        if (status == CLEW_OK && count > 0) {
            status =
                db_exec(tx, &NAME_CHAIN,
                        DB_ARGS(db_uuid(id), db_text(claims[0].subject)), err);
        }
    }
    return status;
}
