/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.c - rows of the claims table. See claim.h.
 */
#include "engine/topic/claim.h"

#include "engine/core/rows.h"
#include "store/db.h"

DB_SQL(INSERT, "INSERT INTO claims (tenant, chain_id, chat_id, seq, position,"
               " first_byte, end_byte, type, subject, entities, keywords,"
               " confidence, valid_from, created_at) VALUES ($1, $2, $3, $4,"
               " $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)");
/* Which turn it is follows from the place, and the claim's id from the turn,
 * whose words are its statement. */
DB_SQL(SELECT_CHAIN,
       "SELECT t.id, c.chain_id, c.chat_id, c.seq, c.position, c.first_byte,"
       " c.end_byte, c.type, t.text, c.subject, c.entities, c.keywords,"
       " c.confidence, c.valid_from, c.created_at FROM claims c JOIN turns t"
       " ON t.tenant = c.tenant AND t.chat_id = c.chat_id AND t.seq = c.seq"
       " WHERE c.tenant = $1 AND c.chain_id = $2 ORDER BY c.created_at, c.seq,"
       " c.position, c.chat_id LIMIT $3");
DB_SQL(MOVE, "UPDATE claims SET chain_id = $3 WHERE tenant = $1"
             " AND chain_id = $2");

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct claim *out = item;

    out->turn_id = db_get_uuid(rows, 0);
    out->chain_id = db_get_uuid(rows, 1);
    out->chat_id = db_get_uuid(rows, 2);
    out->seq = db_get_int(rows, 3);
    out->position = db_get_int(rows, 4);
    out->first_byte = db_get_int(rows, 5);
    out->end_byte = db_get_int(rows, 6);
    out->confidence = db_get_real(rows, 12);
    out->valid_from_ms = db_get_int(rows, 13);
    out->created_at_ms = db_get_int(rows, 14);
    out->id = claim_id(out->created_at_ms, &out->turn_id, out->position);
    out->statement =
        arena_str(arena, claim_statement(db_get_text(rows, 8), out->first_byte,
                                         out->end_byte));
    return out->statement.s &&
           claim_type_parse(db_get_text(rows, 7), &out->type) &&
           rows_text(arena, rows, 9, &out->subject) &&
           rows_text(arena, rows, 10, &out->entities) &&
           rows_text(arena, rows, 11, &out->keywords);
}

enum clew_status claim_insert(struct store_tx *tx, const struct claim *claim,
                              struct clew_error *err)
{
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_uuid(&claim->chain_id), db_uuid(&claim->chat_id),
                           db_int(claim->seq), db_int(claim->position),
                           db_int(claim->first_byte), db_int(claim->end_byte),
                           db_cstr(claim_type_name(claim->type)),
                           db_text(claim->subject), db_text(claim->entities),
                           db_text(claim->keywords), db_real(claim->confidence),
                           rows_int_or_null(claim->valid_from_ms),
                           db_int(claim->created_at_ms)),
                   err);
}

enum clew_status claim_list(struct store_tx *tx, struct arena *arena,
                            const struct uuid *chain_id, int64_t limit,
                            struct claim **out_claims, size_t *out_count,
                            struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct claim), .fn = row_of};

    return rows_all(tx, &list, &SELECT_CHAIN,
                    DB_ARGS(db_uuid(chain_id), db_int(limit)), out_claims,
                    out_count, err);
}

enum clew_status claim_move(struct store_tx *tx, const struct uuid *from,
                            const struct uuid *to, struct clew_error *err)
{
    return db_exec(tx, &MOVE, DB_ARGS(db_uuid(from), db_uuid(to)), err);
}
