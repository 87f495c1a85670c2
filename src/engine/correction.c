/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correction.c - rows of the corrections table. See correction.h.
 */
#include "engine/correction.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "engine/engine.h"
#include "model/intent_words.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SELECT_ACT, "SELECT act FROM corrections WHERE tenant = $1 AND key = $2"
                   " AND created_at <= $3");
DB_SQL(UPSERT,
       "INSERT INTO corrections (tenant, key, act, was, level, created_at)"
       " VALUES ($1, $2, $3, $4, $5, $6)"
       " ON CONFLICT (tenant, key) DO UPDATE SET act = excluded.act,"
       " was = excluded.was, level = excluded.level,"
       " created_at = excluded.created_at");

struct correction_work {
    unsigned char key[SHA256_SIZE];         /* words and the act before */
    unsigned char general_key[SHA256_SIZE]; /* words alone */
    bool has_previous;
    enum intent_act act;
    const struct intent *was;
    int64_t now_ms;
    bool is_found;
};

/* The digest of the normalised words, and of the act they answer. */
static void key_of(const struct intent_pieces *pieces,
                   const struct intent *before, unsigned char out[SHA256_SIZE])
{
    struct sha256 hash;

    sha256_init(&hash);
    for (size_t i = 0; i < pieces->count; i++) {
        for (size_t k = 0; k < pieces->items[i].n_words; k++) {
            const struct intent_word *word = &pieces->items[i].words[k];

            /* with the terminator: words stay apart */
            sha256_add(&hash, word->s, (size_t)word->len + 1);
        }
    }
    if (before) {
        sha256_add_str(&hash, str_of(intent_act_name(before->act)));
    }
    sha256_get(&hash, out);
}

static void keys_of(const struct intent_pieces *pieces,
                    const struct intent *before, struct correction_work *work)
{
    work->has_previous = before != NULL;
    if (before) {
        key_of(pieces, before, work->key);
    }
    key_of(pieces, NULL, work->general_key);
}

static enum clew_status find_key(struct store_tx *tx,
                                 const unsigned char key[SHA256_SIZE],
                                 struct correction_work *work,
                                 struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(
        tx, &SELECT_ACT,
        DB_ARGS(db_bytes(key, SHA256_SIZE), db_int(work->now_ms)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        work->is_found = intent_act_parse(db_get_text(&rows, 0), &work->act);
    }
    return db_end(&rows, err);
}

static enum clew_status do_find(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct correction_work *work = arg;
    enum clew_status status = CLEW_OK;

    work->is_found = false;
    if (work->has_previous) {
        status = find_key(tx, work->key, work, err);
    }
    if (status == CLEW_OK && !work->is_found) {
        status = find_key(tx, work->general_key, work, err);
    }
    return status;
}

static enum clew_status do_add(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct correction_work *work = arg;

    return db_exec(
        tx, &UPSERT,
        DB_ARGS(db_bytes(work->has_previous ? work->key : work->general_key,
                         SHA256_SIZE),
                db_cstr(intent_act_name(work->act)),
                db_cstr(intent_act_name(work->was->act)),
                db_cstr(intent_level_name(work->was->level)),
                db_int(work->now_ms)),
        err);
}

/* The act without corrections, and both keys. */
static enum clew_status prepare(struct arena *arena, struct str text,
                                struct str previous, struct intent *out_intent,
                                struct correction_work *work)
{
    bool has_previous = str_trim(previous).len > 0;
    struct intent_reading reading;
    struct intent before;
    enum clew_status status = intent_read(arena, text, &reading);

    if (status == CLEW_OK && has_previous) {
        status = intent_after(arena, previous, NULL, &before);
    }
    if (status == CLEW_OK) {
        status = intent_decide(arena, &reading, has_previous ? &before : NULL,
                               out_intent);
    }
    if (status == CLEW_OK) {
        keys_of(reading.pieces, has_previous ? &before : NULL, work);
    }
    return status;
}

enum clew_status correction_apply(struct store_tx *tx, struct arena *arena,
                                  const struct correction_turn *turn,
                                  struct intent *intent, bool *out_corrected,
                                  struct clew_error *err)
{
    struct correction_work work = {.now_ms = turn->stored_at_ms};
    enum clew_status status;

    *out_corrected = false;
    if (intent->level == INTENT_LEVEL_COMMAND || turn->pieces->count == 0) {
        return CLEW_OK;
    }
    keys_of(turn->pieces, turn->previous, &work);
    status = do_find(tx, &work, err);
    if (status == CLEW_OK && work.is_found &&
        intent_correct(arena, intent, work.act) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    *out_corrected = status == CLEW_OK && work.is_found;
    return status;
}

enum clew_status correction_intent(struct engine *engine,
                                   const struct scope *scope,
                                   struct arena *arena, struct str text,
                                   struct str previous,
                                   struct intent *out_intent,
                                   bool *out_corrected, struct clew_error *err)
{
    struct correction_work work = {.now_ms = clock_now_ms(engine->clock)};
    struct intent intent;
    enum clew_status status = prepare(arena, text, previous, &intent, &work);

    if (status == CLEW_OK) {
        status = store_read(engine->store, scope, do_find, &work, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (work.is_found && intent_correct(arena, &intent, work.act) != CLEW_OK) {
        return clew_no_memory(err);
    }
    *out_intent = intent;
    *out_corrected = work.is_found;
    return CLEW_OK;
}

enum clew_status correction_add(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                struct str text, struct str previous,
                                enum intent_act act, struct clew_error *err)
{
    struct intent was;
    struct correction_work work = {.now_ms = clock_now_ms(engine->clock)};
    enum clew_status status = prepare(arena, text, previous, &was, &work);

    if (status != CLEW_OK) {
        return status;
    }
    work.act = act;
    work.was = &was;
    return store_write(engine->store, scope, do_add, &work, err);
}
