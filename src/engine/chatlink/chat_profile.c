/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_profile.c - profiles of chats: growing, storing, finding candidates.
 */
#include "engine/chatlink/chat_profile.h"

#include "base/buf.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DATA_BYTES (64u * 1024)
/* A word this common finds nothing: it is left out of chat_terms. */
#define MIN_KEY_IDF 3.5f
/* Candidates by recency, words asked for, and rows read for them. */
#define RECENT_CHATS 12
#define ASKED_TERMS 12
#define TERM_ROWS 160

DB_SQL(SELECT_ONE, "SELECT chat_id, user_id, created_at, last_at, data"
                   " FROM chat_profiles WHERE tenant = $1 AND chat_id = $2");
DB_SQL(SELECT_MANY,
       "SELECT chat_id, user_id, created_at, last_at, data FROM chat_profiles"
       " WHERE tenant = $1 AND chat_id = ANY($2) ORDER BY chat_id");
DB_SQL(SELECT_RECENT,
       "SELECT chat_id, user_id, created_at, last_at, data FROM chat_profiles"
       " WHERE tenant = $1 AND user_id = $2 AND last_at <= $3 AND chat_id <> $4"
       " ORDER BY last_at DESC, chat_id DESC LIMIT $5");
DB_SQL(SELECT_BY_TERMS,
       "SELECT term, chat_id FROM chat_terms WHERE tenant = $1 AND user_id = $2"
       " AND term = ANY($3) AND started_at <= $4"
       " ORDER BY started_at DESC, chat_id DESC LIMIT $5");
DB_SQL(UPSERT, "INSERT INTO chat_profiles (tenant, chat_id, user_id,"
               " created_at, last_at, data) VALUES ($1, $2, $3, $4, $5, $6)"
               " ON CONFLICT (tenant, chat_id) DO UPDATE SET"
               " last_at = excluded.last_at, data = excluded.data");
DB_SQL(INSERT_TERMS,
       "INSERT INTO chat_terms (tenant, user_id, term, started_at, chat_id)"
       " SELECT $1, $2, value, $4, $5 FROM UNNEST($3) AS value WHERE TRUE"
       " ON CONFLICT DO NOTHING");

/* --- growing ---------------------------------------------------------------
 */

static struct chatlink_term *find(const struct chat_profile *profile,
                                  uint64_t hash)
{
    for (size_t i = 0; i < profile->n_terms; i++) {
        if (profile->terms[i].hash == hash) {
            return &profile->terms[i];
        }
    }
    return NULL;
}

const struct chatlink_term *
chat_profile_find(const struct chat_profile *profile, uint64_t hash)
{
    return find(profile, hash);
}

/* What was in the last turn is now in the last two; what was not, is not. */
static void age_terms(struct chat_profile *profile)
{
    for (size_t i = 0; i < profile->n_terms; i++) {
        uint8_t flags = profile->terms[i].flags;
        uint8_t kept =
            (uint8_t)(flags & ~(CHATLINK_IN_LAST | CHATLINK_IN_LAST_TWO));

        if (flags & CHATLINK_IN_LAST) {
            kept |= CHATLINK_IN_LAST_TWO;
        }
        profile->terms[i].flags = kept;
    }
}

/* In whole steps, as they are stored: what is kept from turn to turn is then
 * the same as what is stored and loaded in between. */
static void add_vector(struct chat_profile *profile, const float *vector)
{
    float steps = chat_profile_steps(profile->dim);

    for (size_t i = 0; i < profile->dim; i++) {
        float part = rintf(vector[i] * steps);

        profile->sum[i] = (rintf(profile->sum[i] * steps) + part) / steps;
        profile->last[i] = part / steps;
    }
}

void chat_profile_add(struct chat_profile *profile,
                      const struct chatlink_turn *turn, const float *vector,
                      int64_t time_ms)
{
    uint8_t mark = CHATLINK_IN_LAST | CHATLINK_IN_LAST_TWO;

    if (profile->n_turns == 0) {
        mark |= CHATLINK_IN_FIRST;
        profile->first_cues = turn->cues;
        profile->first_answers = turn->answers;
        profile->first_words = turn->n_words;
    }
    age_terms(profile);
    for (size_t i = 0; i < turn->n_terms; i++) {
        const struct chatlink_term *from = &turn->terms[i];
        struct chatlink_term *term = find(profile, from->hash);

        if (!term && profile->n_terms < CHAT_PROFILE_TERMS) {
            term = &profile->terms[profile->n_terms++];
            *term = (struct chatlink_term){
                .hash = from->hash, .idf = chat_profile_round_idf(from->idf)};
        }
        if (term) {
            term->count = (uint16_t)(term->count + (term->count < 60000));
            term->flags |= (uint8_t)(from->flags | mark);
        }
    }
    if (vector) {
        add_vector(profile, vector);
    }
    profile->n_turns++;
    profile->last_cues = turn->cues;
    profile->last_asks = turn->asks;
    profile->mass += turn->mass;
    if (time_ms > profile->last_at_ms) {
        profile->last_at_ms = time_ms;
    }
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct chat_profile *out = item;
    int64_t last_at_ms = db_get_int(rows, 3);

    out->chat_id = db_get_uuid(rows, 0);
    out->created_at_ms = db_get_int(rows, 2);
    if (!rows_text(arena, rows, 1, &out->user_id) ||
        !chat_profile_read(arena, db_get_bytes(rows, 4), out)) {
        return false;
    }
    out->last_at_ms = last_at_ms;
    return true;
}

/* --- rows ------------------------------------------------------------------
 */

enum clew_status chat_profile_ahead(struct store_tx *tx,
                                    const struct uuid *chat_id,
                                    struct clew_error *err)
{
    return db_ahead(tx, &SELECT_ONE, DB_ARGS(db_uuid(chat_id)), err);
}

enum clew_status chat_profile_load(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct chat_profile *out,
                                   struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(chat_id)), row_of,
                    out, sizeof(*out), "profile", err);
}

/* Make the next rare words findable. Words are numbered as they came, and the
 * first `n_keys` rare ones are written already. */
static enum clew_status save_keys(struct store_tx *tx,
                                  struct chat_profile *profile,
                                  struct clew_error *err)
{
    int64_t fresh[CHAT_PROFILE_KEYS];
    size_t n_fresh = 0;
    uint32_t n = 0;

    for (size_t i = 0; i < profile->n_terms && n < CHAT_PROFILE_KEYS; i++) {
        if (profile->terms[i].idf < MIN_KEY_IDF || n++ < profile->n_keys) {
            continue;
        }
        profile->n_keys = n;
        fresh[n_fresh++] = (int64_t)profile->terms[i].hash;
    }
    return n_fresh == 0 ? CLEW_OK
                        : db_exec(tx, &INSERT_TERMS,
                                  DB_ARGS(db_text(profile->user_id),
                                          db_ints(fresh, n_fresh),
                                          db_int(profile->created_at_ms),
                                          db_uuid(&profile->chat_id)),
                                  err);
}

enum clew_status chat_profile_save(struct store_tx *tx, struct arena *arena,
                                   struct chat_profile *profile,
                                   struct clew_error *err)
{
    struct buf data;
    enum clew_status status = save_keys(tx, profile, err);

    (void)arena;
    buf_init(&data, DATA_BYTES * 8);
    if (status == CLEW_OK && chat_profile_write(profile, &data) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = db_exec(
            tx, &UPSERT,
            DB_ARGS(db_uuid(&profile->chat_id), db_text(profile->user_id),
                    db_int(profile->created_at_ms), db_int(profile->last_at_ms),
                    db_bytes(data.data, data.len)),
            err);
    }
    buf_release(&data);
    return status;
}

/* --- candidates ------------------------------------------------------------
 */

static int rarest_first(const void *a, const void *b)
{
    const struct chatlink_term *left = *(const struct chatlink_term *const *)a;
    const struct chatlink_term *right = *(const struct chatlink_term *const *)b;

    if (left->idf != right->idf) {
        return left->idf > right->idf ? -1 : 1;
    }
    return left->hash < right->hash ? -1 : left->hash > right->hash;
}

struct tally {
    struct uuid chat_id;
    double weight;
};

struct tallies {
    struct tally items[TERM_ROWS];
    size_t count;
};

static void tally_add(struct tallies *tallies, const struct uuid *chat_id,
                      double weight)
{
    for (size_t i = 0; i < tallies->count; i++) {
        if (uuid_eq(&tallies->items[i].chat_id, chat_id)) {
            tallies->items[i].weight += weight;
            return;
        }
    }
    if (tallies->count < TERM_ROWS) {
        tallies->items[tallies->count++] = (struct tally){*chat_id, weight};
    }
}

static int heaviest_first(const void *a, const void *b)
{
    const struct tally *left = a;
    const struct tally *right = b;

    if (left->weight != right->weight) {
        return left->weight > right->weight ? -1 : 1;
    }
    return -uuid_cmp(&left->chat_id, &right->chat_id);
}

/* Chats that hold the rarest words of the profile, weighed by them. */
static enum clew_status tally_terms(struct store_tx *tx,
                                    const struct chat_profile *profile,
                                    struct tallies *out, struct clew_error *err)
{
    const struct chatlink_term *sorted[CHAT_PROFILE_TERMS];
    int64_t asked[ASKED_TERMS];
    size_t n_asked = 0;
    struct db_rows rows;
    enum clew_status status;

    out->count = 0;
    for (size_t i = 0; i < profile->n_terms; i++) {
        sorted[i] = &profile->terms[i];
    }
    qsort(sorted, profile->n_terms, sizeof(sorted[0]), rarest_first);
    for (size_t i = 0; i < profile->n_terms && n_asked < ASKED_TERMS; i++) {
        if (sorted[i]->idf >= MIN_KEY_IDF) {
            asked[n_asked++] = (int64_t)sorted[i]->hash;
        }
    }
    if (n_asked == 0) {
        return CLEW_OK;
    }
    status =
        db_query(tx, &SELECT_BY_TERMS,
                 DB_ARGS(db_text(profile->user_id), db_ints(asked, n_asked),
                         db_int(profile->created_at_ms), db_int(TERM_ROWS)),
                 &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    while (db_next(&rows)) {
        struct uuid chat_id = db_get_uuid(&rows, 1);
        const struct chatlink_term *term =
            find(profile, (uint64_t)db_get_int(&rows, 0));

        if (term && !uuid_eq(&chat_id, &profile->chat_id)) {
            tally_add(out, &chat_id, (double)term->idf);
        }
    }
    qsort(out->items, out->count, sizeof(out->items[0]), heaviest_first);
    return db_end(&rows, err);
}

static bool is_listed(const struct rows_list *list, const struct uuid *chat_id)
{
    const struct chat_profile *items = list->items;

    for (size_t i = 0; i < list->count; i++) {
        if (uuid_eq(&items[i].chat_id, chat_id)) {
            return true;
        }
    }
    return false;
}

enum clew_status chat_profile_candidates(struct store_tx *tx,
                                         struct arena *arena,
                                         const struct chat_profile *profile,
                                         struct chat_profile **out,
                                         size_t *out_count,
                                         struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chat_profile), .fn = row_of};
    struct uuid further[CHAT_PROFILE_CANDIDATES];
    struct tallies *tallies = arena_zero(arena, 1, sizeof(*tallies));
    size_t n_further = 0;
    enum clew_status status;

    if (!tallies) {
        return clew_no_memory(err);
    }
    status = rows_add(tx, &list, &SELECT_RECENT,
                      DB_ARGS(db_text(profile->user_id),
                              db_int(profile->created_at_ms),
                              db_uuid(&profile->chat_id), db_int(RECENT_CHATS)),
                      err);
    if (status == CLEW_OK) {
        status = tally_terms(tx, profile, tallies, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < tallies->count &&
                       list.count + n_further < CHAT_PROFILE_CANDIDATES;
         i++) {
        if (!is_listed(&list, &tallies->items[i].chat_id)) {
            further[n_further++] = tallies->items[i].chat_id;
        }
    }
    if (status == CLEW_OK && n_further > 0) {
        status = rows_add(tx, &list, &SELECT_MANY,
                          DB_ARGS(db_uuids(further, n_further)), err);
    }
    if (status == CLEW_OK) {
        *out = list.items;
        *out_count = list.count;
    }
    return status;
}

enum clew_status
chat_profile_load_many(struct store_tx *tx, struct arena *arena,
                       const struct uuid *chat_ids, size_t n_chats,
                       struct chat_profile **out, size_t *out_count,
                       struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct chat_profile), .fn = row_of};
    enum clew_status status =
        n_chats == 0 ? CLEW_OK
                     : rows_add(tx, &list, &SELECT_MANY,
                                DB_ARGS(db_uuids(chat_ids, n_chats)), err);

    *out = list.items;
    *out_count = list.count;
    return status;
}

static enum clew_status set_state(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *chat_id,
                                  enum chat_profile_state state,
                                  struct clew_error *err)
{
    struct chat_profile profile;
    enum clew_status status =
        chat_profile_load(tx, arena, chat_id, &profile, err);

    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK;
    }
    if (status != CLEW_OK || profile.state == CHAT_PROFILE_TOLD ||
        (profile.state == CHAT_PROFILE_SETTLED && state != CHAT_PROFILE_TOLD)) {
        return status;
    }
    profile.state = state;
    profile.decided_turns = profile.n_turns;
    return chat_profile_save(tx, arena, &profile, err);
}

enum clew_status chat_profile_settle(struct store_tx *tx, struct arena *arena,
                                     const struct uuid *chat_id, bool is_link,
                                     struct clew_error *err)
{
    return set_state(tx, arena, chat_id,
                     is_link ? CHAT_PROFILE_LINKED : CHAT_PROFILE_SETTLED, err);
}

enum clew_status chat_profile_told(struct store_tx *tx, struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct clew_error *err)
{
    return set_state(tx, arena, chat_id, CHAT_PROFILE_TOLD, err);
}
