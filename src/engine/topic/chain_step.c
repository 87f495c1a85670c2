/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_step.c - rows of chain_steps and chain_blocks, and what they tell. See
 * chain_step.h.
 */
#include "engine/topic/chain_step.h"

#include "engine/chat/turn.h"
#include "engine/core/rows.h"
#include "engine/read/claim_spans.h"
#include "store/db.h"

#include <math.h>

/* Distances are kept as whole numbers of these. */
#define DISTANCE_STEPS 1e4

/* The steps in a chain's blocks ($2), each with its turn, found in this order
 * (that is what SQLite takes CROSS JOIN for); 64 is CHAIN_BLOCK. */
#define IN_BLOCKS " FROM chain_blocks b CROSS JOIN chain_steps u"
#define OF_CHAIN                                                               \
    " WHERE b.tenant = $1 AND b.chain_id = $2 AND u.tenant = $1 AND"           \
    " u.chat_id = b.chat_id AND u.seq >= b.from_seq AND"                       \
    " u.seq < b.from_seq + 64"
#define WITH_TURN " CROSS JOIN turns t"
#define OF_TURN " AND t.tenant = $1 AND t.chat_id = u.chat_id AND t.seq = u.seq"
#define ITS_CLAIMS                                                             \
    " AND u.claims <> '' AND COALESCE(u.moved_to, u.chain_id) = $2"
/* The earlier of two times, of which one may be NULL. */
#define EARLIER                                                                \
    " ON CONFLICT (tenant, chain_id, chat_id, from_seq) DO UPDATE SET"         \
    " first_at = CASE WHEN chain_blocks.first_at IS NULL OR"                   \
    " excluded.first_at < chain_blocks.first_at THEN excluded.first_at"        \
    " ELSE chain_blocks.first_at END"

DB_SQL(INSERT, "INSERT INTO chain_steps (tenant, chat_id, seq, position,"
               " chain_id, kind, claims, distance, said, parent_id, moved_to)"
               " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
DB_SQL(ADD_BLOCK, "INSERT INTO chain_blocks (tenant, chain_id, chat_id,"
                  " from_seq, first_at) VALUES ($1, $2, $3, $4, $5)" EARLIER);
DB_SQL(SELECT_UPDATES,
       "SELECT " CHAIN_STEP_COLUMNS IN_BLOCKS WITH_TURN OF_CHAIN OF_TURN
       " AND u.chain_id = $2 AND u.kind <> 0"
       " ORDER BY t.created_at, u.position, u.seq, u.chat_id LIMIT $3");
#define HELD                                                                   \
    "SELECT " CHAIN_STEP_COLUMNS IN_BLOCKS WITH_TURN OF_CHAIN OF_TURN ITS_CLAIMS
DB_SQL(SELECT_LAST, HELD " ORDER BY t.created_at DESC, u.seq DESC,"
                         " u.position DESC LIMIT $3");
#define FIRST " ORDER BY t.created_at, u.seq, u.position LIMIT 1"
DB_SQL(SELECT_FIRST,
       HELD " AND b.first_at = (SELECT MIN(m.first_at) FROM chain_blocks m"
            " WHERE m.tenant = $1 AND m.chain_id = $2)" FIRST);
DB_SQL(SELECT_FIRST_LEFT, HELD FIRST);
DB_SQL(SELECT_CLAIMS,
       "SELECT u.chat_id, u.seq, u.claims, t.id, t.created_at, t.text, t.name,"
       " t.timezone" IN_BLOCKS WITH_TURN OF_CHAIN OF_TURN ITS_CLAIMS
       " ORDER BY t.created_at, u.seq, u.position, u.chat_id LIMIT $3");
DB_SQL(MOVE_CLAIMS, "UPDATE chain_steps SET moved_to = $3 WHERE tenant = $1 AND"
                    " (chat_id, seq, position) IN (SELECT u.chat_id, u.seq,"
                    " u.position" IN_BLOCKS OF_CHAIN ITS_CLAIMS ")");
DB_SQL(MOVE_BLOCKS, "INSERT INTO chain_blocks (tenant, chain_id, chat_id,"
                    " from_seq, first_at) SELECT $1, $3, chat_id, from_seq,"
                    " first_at FROM chain_blocks WHERE tenant = $1 AND"
                    " chain_id = $2 AND first_at IS NOT NULL" EARLIER);
DB_SQL(EMPTY_BLOCKS, "UPDATE chain_blocks SET first_at = NULL WHERE"
                     " tenant = $1 AND chain_id = $2");

/* Blocks it was found in by claims alone. */
DB_SQL(DROP_BLOCKS,
       "DELETE FROM chain_blocks WHERE tenant = $1 AND chain_id = $2 AND NOT"
       " EXISTS (SELECT 1 FROM chain_steps u WHERE u.tenant = $1 AND"
       " u.chat_id = chain_blocks.chat_id AND u.seq >= chain_blocks.from_seq"
       " AND u.seq < chain_blocks.from_seq + 64 AND u.chain_id = $2)");

/* --- what is told of a step -------------------------------------------------
 */

/* The topic stands between the two. */
static const struct told {
    const char *type;
    const char *before;
    const char *after;
} told[] = {
    [CHAIN_STEP_CLAIMS] = {"", "", ""},
    [CHAIN_STEP_CREATE] = {"create", "New topic: \"", "\""},
    [CHAIN_STEP_BRANCH] = {"branch", "Branched from \"",
                           "\" due to topic shift"},
    [CHAIN_STEP_BRANCH_ENDED] = {"branch", "Branched from \"",
                                 "\", which is concluded"},
    [CHAIN_STEP_CONTINUE] = {"extend", "Continues \"", "\""},
    [CHAIN_STEP_BACK] = {"extend", "Back to \"", "\""},
    [CHAIN_STEP_REVIVE] = {"extend", "Revived chain about \"", "\""},
    [CHAIN_STEP_REPLY] = {"extend", "Replies to the end of \"", "\""},
    [CHAIN_STEP_PART] = {"part", "Parted from \"", "\" at the fork"},
    /* both topics: `this" into "that` */
    [CHAIN_STEP_MERGE] = {"merge", "Merged \"", "\""},
    [CHAIN_STEP_CONCLUDE] = {"conclude", "Concluded \"", "\" in so many words"},
    [CHAIN_STEP_RESOLVE] = {"conclude", "Concluded \"",
                            "\": its effort is resolved"},
};
#define N_KINDS (sizeof(told) / sizeof(told[0]))

const char *chain_step_type(enum chain_step_kind kind)
{
    return told[kind].type;
}

struct str chain_step_reasoning(struct arena *arena, enum chain_step_kind kind,
                                struct str said)
{
    return str_of(arena_printf(arena, "%s%.*s%s", told[kind].before,
                               (int)said.len, said.s, told[kind].after));
}

bool chain_step_parse(struct str type, struct str reasoning,
                      enum chain_step_kind *out_kind, struct str *out_said)
{
    for (size_t i = CHAIN_STEP_CREATE; i < N_KINDS; i++) {
        struct str before = str_of(told[i].before);
        struct str after = str_of(told[i].after);

        if (str_eq(type, str_of(told[i].type)) &&
            reasoning.len >= before.len + after.len &&
            str_starts(reasoning, before) &&
            str_eq(str_sub(reasoning, reasoning.len - after.len, reasoning.len),
                   after)) {
            *out_kind = (enum chain_step_kind)i;
            *out_said =
                str_sub(reasoning, before.len, reasoning.len - after.len);
            return true;
        }
    }
    return false;
}

struct uuid chain_step_id(int64_t created_at_ms, const struct uuid *turn_id,
                          int64_t position)
{
    return uuid_derive(created_at_ms, turn_id, "chain_update",
                       (uint64_t)position);
}

struct str chain_step_claim_ids(struct arena *arena,
                                const struct chain_step *step)
{
    struct claim *claims = NULL;
    size_t count = 0;
    char *text = NULL;

    if (claim_spans_read(arena, step->claims, &claims, &count)) {
        text = arena_zero(arena, count + 1, UUID_TEXT_SIZE);
    }
    for (size_t i = 0; text && i < count; i++) {
        struct uuid id =
            claim_id(step->created_at_ms, &step->turn_id, claims[i].position);

        /* the terminator of one is the comma before the next */
        uuid_format(&id, text + i * UUID_TEXT_SIZE);
        if (i > 0) {
            text[i * UUID_TEXT_SIZE - 1] = ',';
        }
    }
    return str_of(text);
}

/* --- rows -------------------------------------------------------------------
 */

bool chain_step_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chain_step *out = item;
    int64_t kind = db_get_int(rows, 4);

    out->chat_id = db_get_uuid(rows, 0);
    out->seq = db_get_int(rows, 1);
    out->position = db_get_int(rows, 2);
    out->chain_id = db_get_uuid(rows, 3);
    out->kind = kind > 0 && kind < (int64_t)N_KINDS ? (enum chain_step_kind)kind
                                                    : CHAIN_STEP_CLAIMS;
    out->distance =
        db_is_null(rows, 6) ? -1 : (double)db_get_int(rows, 6) / DISTANCE_STEPS;
    out->parent_id = db_get_uuid(rows, 8);
    out->moved_to = db_get_uuid(rows, 9);
    out->turn_id = db_get_uuid(rows, 10);
    out->created_at_ms = db_get_int(rows, 11);
    return rows_text(arena, rows, 5, &out->claims) &&
           rows_text(arena, rows, 7, &out->said);
}

enum clew_status chain_step_insert(struct store_tx *tx,
                                   const struct chain_step *step,
                                   struct clew_error *err)
{
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_uuid(&step->chat_id), db_int(step->seq),
                           db_int(step->position), db_uuid(&step->chain_id),
                           db_int(step->kind), db_text(step->claims),
                           step->distance < 0 ? db_null()
                                              : db_int(llround(step->distance *
                                                               DISTANCE_STEPS)),
                           db_text(step->said), db_uuid(&step->parent_id),
                           db_uuid(&step->moved_to)),
                   err);
}

enum clew_status chain_block_add(struct store_tx *tx, const struct uuid *chain,
                                 const struct uuid *chat_id, int64_t seq,
                                 int64_t first_at_ms, struct clew_error *err)
{
    return db_exec(tx, &ADD_BLOCK,
                   DB_ARGS(db_uuid(chain), db_uuid(chat_id),
                           db_int(seq - seq % CHAIN_BLOCK),
                           rows_int_or_null(first_at_ms)),
                   err);
}

static enum clew_status list(struct store_tx *tx, struct arena *arena,
                             const struct db_sql *sql,
                             const struct uuid *chain_id, int64_t limit,
                             struct chain_step **out, size_t *out_count,
                             struct clew_error *err)
{
    struct rows_list rows = {
        .arena = arena, .size = sizeof(struct chain_step), .fn = chain_step_of};

    return rows_all(tx, &rows, sql, DB_ARGS(db_uuid(chain_id), db_int(limit)),
                    out, out_count, err);
}

enum clew_status chain_step_list(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *chain_id, int64_t limit,
                                 struct chain_step **out, size_t *out_count,
                                 struct clew_error *err)
{
    return list(tx, arena, &SELECT_UPDATES, chain_id, limit, out, out_count,
                err);
}

enum clew_status chain_step_list_last(struct store_tx *tx, struct arena *arena,
                                      const struct uuid *chain_id,
                                      int64_t limit, struct chain_step **out,
                                      size_t *out_count, struct clew_error *err)
{
    return list(tx, arena, &SELECT_LAST, chain_id, limit, out, out_count, err);
}

enum clew_status chain_step_first(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *chain_id,
                                  struct chain_step *out,
                                  struct clew_error *err)
{
    enum clew_status status =
        rows_one(tx, arena, &SELECT_FIRST, DB_ARGS(db_uuid(chain_id)),
                 chain_step_of, out, sizeof(*out), "claim", err);

    /* what a block had first may be forgotten */
    return status == CLEW_NOT_FOUND
               ? rows_one(tx, arena, &SELECT_FIRST_LEFT,
                          DB_ARGS(db_uuid(chain_id)), chain_step_of, out,
                          sizeof(*out), "claim", err)
               : status;
}

/* --- claims -----------------------------------------------------------------
 */

/* A turn with claims of the chain. */
struct held {
    struct turn turn;
    struct str claims;
};

static bool held_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct held *out = item;

    out->turn.chat_id = db_get_uuid(rows, 0);
    out->turn.seq = db_get_int(rows, 1);
    out->turn.id = db_get_uuid(rows, 3);
    out->turn.created_at_ms = db_get_int(rows, 4);
    return rows_text(arena, rows, 2, &out->claims) &&
           rows_text(arena, rows, 5, &out->turn.text) &&
           rows_text(arena, rows, 6, &out->turn.name) &&
           rows_text(arena, rows, 7, &out->turn.timezone);
}

enum clew_status chain_claims(const struct engine *engine, struct store_tx *tx,
                              struct arena *arena, const struct uuid *chain_id,
                              int64_t limit, struct claim **out_claims,
                              size_t *out_count, struct clew_error *err)
{
    struct rows_list rows = {
        .arena = arena, .size = sizeof(struct held), .fn = held_of};
    struct claim *all = NULL;
    size_t n = 0;
    size_t cap = 0;
    enum clew_status status =
        rows_add(tx, &rows, &SELECT_CLAIMS,
                 DB_ARGS(db_uuid(chain_id), db_int(limit)), err);

    for (size_t i = 0; status == CLEW_OK && i < rows.count; i++) {
        const struct held *held = (const struct held *)rows.items + i;
        struct claim *claims = NULL;
        size_t count = 0;

        status = claim_spans_read(arena, held->claims, &claims, &count)
                     ? claim_spans_fill(engine, arena, &held->turn, claims,
                                        count, err)
                     : clew_no_memory(err);
        for (size_t k = 0; status == CLEW_OK && k < count && (int64_t)n < limit;
             k++) {
            all = arena_grow(arena, all, n, &cap, sizeof(*all));
            if (!all) {
                return clew_no_memory(err);
            }
            all[n] = claims[k];
            all[n].chain_id = *chain_id;
            all[n].chat_id = held->turn.chat_id;
            all[n++].seq = held->turn.seq;
        }
    }
    if (status == CLEW_OK) {
        *out_claims = all;
        *out_count = n;
    }
    return status;
}

enum clew_status chain_claims_move(struct store_tx *tx, const struct uuid *from,
                                   const struct uuid *to,
                                   struct clew_error *err)
{
    enum clew_status status =
        db_exec(tx, &MOVE_CLAIMS, DB_ARGS(db_uuid(from), db_uuid(to)), err);

    if (status == CLEW_OK) {
        status =
            db_exec(tx, &MOVE_BLOCKS, DB_ARGS(db_uuid(from), db_uuid(to)), err);
    }
    if (status == CLEW_OK) {
        status = db_exec(tx, &EMPTY_BLOCKS, DB_ARGS(db_uuid(from)), err);
    }
    return status == CLEW_OK
               ? db_exec(tx, &DROP_BLOCKS, DB_ARGS(db_uuid(from)), err)
               : status;
}
