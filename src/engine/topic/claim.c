/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.c - rows of the claims table. See claim.h.
 */
#include "engine/topic/claim.h"

#include "engine/core/rows.h"
#include "store/db.h"

#define COLUMNS                                                                \
    "id, chain_id, turn_id, chat_id, seq, position, first_byte, end_byte,"     \
    " type, statement, subject, entities, keywords, confidence, valid_from,"   \
    " created_at"

DB_SQL(INSERT, "INSERT INTO claims (tenant, " COLUMNS ") VALUES ($1, $2, $3,"
               " $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
               " $17)");
DB_SQL(SELECT_CHAIN, "SELECT " COLUMNS " FROM claims WHERE tenant = $1"
                     " AND chain_id = $2 ORDER BY created_at, seq, position,"
                     " id LIMIT $3");
DB_SQL(MOVE, "UPDATE claims SET chain_id = $3 WHERE tenant = $1"
             " AND chain_id = $2");

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct claim *out = item;

    out->id = db_get_uuid(rows, 0);
    out->chain_id = db_get_uuid(rows, 1);
    out->turn_id = db_get_uuid(rows, 2);
    out->chat_id = db_get_uuid(rows, 3);
    out->seq = db_get_int(rows, 4);
    out->position = db_get_int(rows, 5);
    out->first_byte = db_get_int(rows, 6);
    out->end_byte = db_get_int(rows, 7);
    out->confidence = db_get_real(rows, 13);
    out->valid_from_ms = db_get_int(rows, 14);
    out->created_at_ms = db_get_int(rows, 15);
    return claim_type_parse(db_get_text(rows, 8), &out->type) &&
           rows_text(arena, rows, 9, &out->statement) &&
           rows_text(arena, rows, 10, &out->subject) &&
           rows_text(arena, rows, 11, &out->entities) &&
           rows_text(arena, rows, 12, &out->keywords);
}

enum clew_status claim_insert(struct store_tx *tx, const struct claim *claim,
                              struct clew_error *err)
{
    return db_exec(tx, &INSERT,
                   DB_ARGS(db_uuid(&claim->id), db_uuid(&claim->chain_id),
                           db_uuid(&claim->turn_id), db_uuid(&claim->chat_id),
                           db_int(claim->seq), db_int(claim->position),
                           db_int(claim->first_byte), db_int(claim->end_byte),
                           db_cstr(claim_type_name(claim->type)),
                           db_text(claim->statement), db_text(claim->subject),
                           db_text(claim->entities), db_text(claim->keywords),
                           db_real(claim->confidence),
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
