/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correction.c - rows of the corrections table. See correction.h.
 */
#include "engine/understand/correction.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/read/reading.h"
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

/* From before corrections were actions: older than the first that is one. */
DB_SQL(SELECT_OLD,
       "SELECT key, act, was, level, created_at FROM corrections"
       " WHERE tenant = $1 AND created_at < COALESCE((SELECT MIN(created_at)"
       " FROM actions WHERE tenant = $1 AND kind = '" ACTION_INTENT_CORRECT
       "'), 9223372036854775807) ORDER BY key");

DB_SQL(SELECT_KEYS, "SELECT key FROM corrections WHERE tenant = $1"
                    " ORDER BY key");
DB_SQL(DROP, "DELETE FROM corrections WHERE tenant = $1 AND key = $2");
DB_SQL(SELECT_TOLD, "SELECT id, detail, packed FROM actions WHERE tenant = $1"
                    " AND kind = '" ACTION_INTENT_CORRECT "'");
DB_SQL(DROP_TOLD, "DELETE FROM actions WHERE tenant = $1"
                  " AND kind = '" ACTION_INTENT_CORRECT "' AND id = ANY($2)");

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

/* A row as it is kept, and as an action tells of it. */
struct correction_row {
    unsigned char key[SHA256_SIZE];
    const char *act;
    const char *was;
    const char *level;
    int64_t at_ms;
};

static enum clew_status put(struct store_tx *tx,
                            const struct correction_row *row,
                            struct clew_error *err)
{
    return db_exec(tx, &UPSERT,
                   DB_ARGS(db_bytes(row->key, SHA256_SIZE), db_cstr(row->act),
                           db_cstr(row->was), db_cstr(row->level),
                           db_int(row->at_ms)),
                   err);
}

/* What was set right is part of the log: a replay does it again. */
static enum clew_status note(struct store_tx *tx,
                             const struct correction_row *row,
                             struct clew_error *err)
{
    char key[SHA256_HEX_SIZE];
    struct action_new action = {.kind = ACTION_INTENT_CORRECT,
                                .at_ms = row->at_ms};

    hex_format(row->key, SHA256_SIZE, key);
    action.detail = json_pack("{s:s, s:s, s:s, s:s}", "key", key, "act",
                              row->act, "was", row->was, "level", row->level);
    return action.detail ? action_add(tx, &action, err) : clew_no_memory(err);
}

static enum clew_status do_add(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct correction_work *work = arg;
    struct correction_row row = {.act = intent_act_name(work->act),
                                 .was = intent_act_name(work->was->act),
                                 .level = intent_level_name(work->was->level),
                                 .at_ms = work->now_ms};
    enum clew_status status;

    memcpy(row.key, work->has_previous ? work->key : work->general_key,
           SHA256_SIZE);
    status = put(tx, &row, err);
    return status == CLEW_OK ? note(tx, &row, err) : status;
}

/* The act without corrections, and both keys. */
static enum clew_status prepare(struct arena *arena, struct str text,
                                struct str previous, struct intent *out_intent,
                                struct correction_work *work)
{
    bool has_previous = str_trim(previous).len > 0;
    struct intent_reading reading;
    struct intent before;
    struct intent_reading earlier;
    enum clew_status status = reading_intent(arena, text, &reading);

    if (status == CLEW_OK && has_previous) {
        status = reading_intent(arena, previous, &earlier);
    }
    if (status == CLEW_OK && has_previous) {
        status = intent_decide(arena, &earlier, NULL, &before);
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

enum clew_status correction_keys_of(struct arena *arena, struct str text,
                                    struct correction_key out[CORRECTION_KEYS])
{
    struct intent_reading reading;
    enum clew_status status = reading_intent(arena, text, &reading);

    if (status != CLEW_OK) {
        return status;
    }
    key_of(reading.pieces, NULL, out[0].b);
    for (int i = 0; i < INTENT_ACTS; i++) {
        struct intent before = {.act = (enum intent_act)i};

        key_of(reading.pieces, &before, out[1 + i].b);
    }
    return CLEW_OK;
}

static bool read_key(struct arena *arena, const struct db_rows *rows, void *out)
{
    struct correction_key *key = out;
    struct str bytes = db_get_bytes(rows, 0);

    (void)arena;
    memcpy(key->b, bytes.s,
           bytes.len < sizeof(key->b) ? bytes.len : sizeof(key->b));
    return true;
}

enum clew_status correction_list(struct store_tx *tx, struct arena *arena,
                                 struct correction_key **out_keys,
                                 size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct correction_key), .fn = read_key};

    return rows_all(tx, &list, &SELECT_KEYS, DB_NO_ARGS, out_keys, out_count,
                    err);
}

/* An action that tells of a correction. */
struct told {
    struct uuid id;
    struct str detail;
};

static bool read_told(struct arena *arena, const struct db_rows *rows,
                      void *out)
{
    struct told *told = out;

    told->id = db_get_uuid(rows, 0);
    return rows_packed(arena, rows, 2, 1, &told->detail);
}

enum clew_status correction_remove(struct store_tx *tx, struct arena *arena,
                                   const struct correction_key *key,
                                   struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct told), .fn = read_told};
    struct told *told = NULL;
    size_t count = 0;
    char name[SHA256_HEX_SIZE];
    enum clew_status status =
        db_exec(tx, &DROP, DB_ARGS(db_bytes(key->b, sizeof(key->b))), err);

    hex_format(key->b, sizeof(key->b), name);
    if (status == CLEW_OK) {
        status =
            rows_all(tx, &list, &SELECT_TOLD, DB_NO_ARGS, &told, &count, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        if (str_find(told[i].detail, str_of(name), 0) != SIZE_MAX) {
            status =
                db_exec(tx, &DROP_TOLD, DB_ARGS(db_uuids(&told[i].id, 1)), err);
        }
    }
    return status;
}

enum clew_status correction_again(struct store_tx *tx, const json_t *detail,
                                  int64_t at_ms, struct clew_error *err)
{
    const char *key = json_string_value(json_object_get(detail, "key"));
    struct correction_row row = {
        .act = json_string_value(json_object_get(detail, "act")),
        .was = json_string_value(json_object_get(detail, "was")),
        .level = json_string_value(json_object_get(detail, "level")),
        .at_ms = at_ms};
    enum intent_act act;

    if (!key || !row.act || !row.was || !row.level ||
        strlen(key) != 2 * SHA256_SIZE ||
        !hex_parse(str_of(key), row.key, SHA256_SIZE) ||
        !intent_act_parse(str_of(row.act), &act)) {
        return clew_fail(err, CLEW_INVALID, "no correction can be read");
    }
    return put(tx, &row, err);
}

enum clew_status correction_seed(struct store_tx *from, struct store_tx *to,
                                 struct arena *arena, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status ended;
    enum clew_status status =
        db_query(from, &SELECT_OLD, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    while (status == CLEW_OK && db_next(&rows)) {
        struct str key = db_get_bytes(&rows, 0);
        const char *words[3];
        struct correction_row row = {.at_ms = db_get_int(&rows, 4)};
        bool is_whole = key.len == SHA256_SIZE;

        for (int i = 0; i < 3; i++) {
            struct str word = db_get_text(&rows, i + 1);

            words[i] = arena_copy(arena, word.s, word.len);
            is_whole = is_whole && words[i];
        }
        if (!is_whole) {
            continue;
        }
        memcpy(row.key, key.s, SHA256_SIZE);
        row.act = words[0];
        row.was = words[1];
        row.level = words[2];
        status = put(to, &row, err);
    }
    ended = db_end(&rows, status == CLEW_OK ? err : NULL);
    return status == CLEW_OK ? ended : status;
}
