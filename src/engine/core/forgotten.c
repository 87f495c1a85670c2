/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forgotten.c - names of forgotten turns, as digests. See forgotten.h.
 */
#include "engine/core/forgotten.h"

#include "base/rand.h"
#include "base/sha256.h"
#include "base/uuid.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 500                  /* names left by one statement */
#define SEAL_BLOCK 64             /* of SHA-256, for HMAC */
#define KEY_NAME "forgotten.key." /* and what tells it from others */

DB_SQL(SELECT_KEYS, "SELECT value FROM tenant_settings WHERE tenant = $1"
                    " AND name >= '" KEY_NAME "' AND name < 'forgotten.key/'"
                    " ORDER BY changed_at, name");
DB_SQL(INSERT_KEY,
       "INSERT INTO tenant_settings (tenant, name, value, changed_at)"
       " VALUES ($1, $2, $3, $4)");
#define NAMES                                                                  \
    " FROM forget_set f JOIN turns t ON t.tenant = f.tenant AND t.id = f.id"   \
    " WHERE f.tenant = $1 AND f.kind = 'turn' AND t.tenant = $1"               \
    " AND t.external_id IS NOT NULL"
DB_SQL(HAS_NAMES, "SELECT COUNT(*) FROM (SELECT 1" NAMES " LIMIT 1) AS n");
DB_SQL(SELECT_NAMES, "SELECT t.id, t.user_id, t.external_id" NAMES
                     " AND f.id > $2 ORDER BY f.id LIMIT $3");
/* Calls are found again by their messages; what a chat's were is in the digests
 * that its requests and its turns left. */
DB_SQL(SELECT_CHATS, "SELECT DISTINCT r.chat_id FROM forget_set f"
                     " CROSS JOIN requests r WHERE f.tenant = $1"
                     " AND f.kind = 'chat' AND r.tenant = $1"
                     " AND r.chat_id = f.id ORDER BY r.chat_id");
#define OF_CHAT " WHERE r.tenant = $1 AND r.chat_id = $2"
DB_SQL(SELECT_CALLS,
       "SELECT k.key, k.user_id FROM (SELECT r.hash_key AS key, r.user_id"
       " FROM requests r" OF_CHAT " UNION SELECT r.reply_key, r.user_id"
       " FROM requests r" OF_CHAT " AND r.reply_key IS NOT NULL"
       " UNION SELECT r.prefix_key, c.user_id FROM request_prefixes r"
       " CROSS JOIN chats c" OF_CHAT " AND c.tenant = $1 AND c.id = $2) AS k"
       " WHERE k.key > $3 ORDER BY k.key, k.user_id LIMIT $4");
/* Each is looked up: PostgreSQL, which knows of no names before the first
 * forget, would compare all that are there with all of a list. */
DB_SQL(SELECT_LEFT,
       "SELECT value FROM UNNEST($2) AS value WHERE (SELECT 1 FROM tombstones d"
       " WHERE d.tenant = $1 AND d.kind = '" FORGOTTEN_KIND
       "' AND d.id = value LIMIT 1) = 1");
DB_SQL(DROP_NAMES,
       "DELETE FROM tombstones WHERE tenant = $1 AND kind = '" FORGOTTEN_KIND
       "' AND id = ANY($2)");
DB_SQL(
    LEAVE_NAMES,
    "INSERT INTO tombstones (tenant, change_seq, kind, id, created_at)"
    " SELECT $1, $3 - 1 + ROW_NUMBER() OVER (ORDER BY value), '" FORGOTTEN_KIND
    "', value, $4 FROM UNNEST($2) AS value WHERE TRUE");
DB_SQL(SELECT_FORGOTTEN,
       "SELECT id, MAX(created_at) FROM tombstones WHERE tenant = $1 AND kind ="
       " '" FORGOTTEN_KIND "' AND id = ANY($2) GROUP BY id ORDER BY id");

struct key {
    unsigned char bytes[SHA256_SIZE];
};

/* What was said under a name, and when it was forgotten. */
struct grave {
    struct uuid id;
    int64_t at_ms;
};

/* --- digests -------------------------------------------------------------- */

/* HMAC-SHA256(key, length of user . user . name), as much as an id holds. */
static struct uuid digest_of(const struct key *key, struct str user_id,
                             struct str external_id)
{
    uint64_t len = user_id.len;
    unsigned char sum[SHA256_SIZE];
    unsigned char pad[SEAL_BLOCK];
    unsigned char prefix[8];
    struct sha256 hash;
    struct uuid out;

    for (size_t i = 0; i < sizeof(prefix); i++) {
        prefix[i] = (unsigned char)(len >> (8 * i));
    }
    for (int round = 0; round < 2; round++) {
        memset(pad, round ? 0x5c : 0x36, sizeof(pad));
        for (size_t i = 0; i < sizeof(key->bytes); i++) {
            pad[i] ^= key->bytes[i];
        }
        sha256_init(&hash);
        sha256_add(&hash, pad, sizeof(pad));
        if (round == 0) {
            sha256_add(&hash, prefix, sizeof(prefix));
            sha256_add_str(&hash, user_id);
            sha256_add_str(&hash, external_id);
        } else {
            sha256_add(&hash, sum, sizeof(sum));
        }
        sha256_get(&hash, sum);
    }
    explicit_bzero(pad, sizeof(pad));
    memcpy(out.b, sum, sizeof(out.b));
    return out;
}

/* --- keys ----------------------------------------------------------------- */

/* What an import brought as a key and is none counts as one of zeros: nothing
 * here was left under it. */
static bool read_key(struct arena *arena, const struct db_rows *rows, void *out)
{
    struct key *key = out;

    (void)arena;
    (void)hex_parse(db_get_text(rows, 0), key->bytes, sizeof(key->bytes));
    return true;
}

static enum clew_status find_keys(struct store_tx *tx, struct arena *arena,
                                  struct key **out_keys, size_t *out_count,
                                  struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct key), .fn = read_key};

    return rows_all(tx, &list, &SELECT_KEYS, DB_NO_ARGS, out_keys, out_count,
                    err);
}

/* The tenant's first key, made if it has none. */
static enum clew_status take_key(struct store_tx *tx, struct arena *arena,
                                 int64_t now_ms, struct key *out,
                                 struct clew_error *err)
{
    struct key *keys = NULL;
    size_t count = 0;
    unsigned char tag[8];
    char name[sizeof(KEY_NAME) + 2 * sizeof(tag)] = KEY_NAME;
    char value[SHA256_HEX_SIZE];
    enum clew_status status = find_keys(tx, arena, &keys, &count, err);

    if (status != CLEW_OK || count > 0) {
        *out = status == CLEW_OK ? keys[0] : (struct key){{0}};
        return status;
    }
    rand_bytes(out->bytes, sizeof(out->bytes));
    rand_bytes(tag, sizeof(tag));
    hex_format(tag, sizeof(tag), name + sizeof(KEY_NAME) - 1);
    hex_format(out->bytes, sizeof(out->bytes), value);
    return db_exec(tx, &INSERT_KEY,
                   DB_ARGS(db_cstr(name), db_cstr(value), db_int(now_ms)), err);
}

/* --- leaving -------------------------------------------------------------- */

/* Of messages; no name that a caller gives holds a NUL. */
#define CALL_NAME_BYTES (1 + sizeof(struct uuid))

static struct str name_of_call(const struct uuid *key, char *bytes)
{
    bytes[0] = '\0';
    memcpy(bytes + 1, key->b, sizeof(key->b));
    return (struct str){bytes, CALL_NAME_BYTES};
}

struct str forgotten_call_name(struct arena *arena, const struct uuid *key)
{
    char bytes[CALL_NAME_BYTES];

    return arena_str(arena, name_of_call(key, bytes));
}

struct str forgotten_words_name(struct arena *arena,
                                const unsigned char digest[SHA256_SIZE])
{
    char bytes[1 + SHA256_SIZE] = "";

    memcpy(bytes + 1, digest, SHA256_SIZE);
    return arena_str(arena, (struct str){bytes, sizeof(bytes)});
}

/* Digests of the next names, after the turn `*after`. */
static enum clew_status read_page(struct store_tx *tx, const struct key *key,
                                  struct uuid *after, struct uuid *ids,
                                  size_t *out_count, struct clew_error *err)
{
    struct db_value from = db_bytes(after->b, sizeof(after->b));
    struct db_rows rows;
    size_t n = 0;
    enum clew_status status;

    from.type = DB_UUID; /* the nil id is a value here, not NULL */
    status =
        db_query(tx, &SELECT_NAMES, DB_ARGS(from, db_int(PAGE)), &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    while (n < PAGE && db_next(&rows)) {
        *after = db_get_uuid(&rows, 0);
        ids[n++] = digest_of(key, db_get_text(&rows, 1), db_get_text(&rows, 2));
    }
    *out_count = n;
    return db_end(&rows, err);
}

/* Mostly there are none. */
static enum clew_status drop_left(struct store_tx *tx, const struct uuid *ids,
                                  size_t count, struct clew_error *err)
{
    struct uuid left[PAGE];
    struct db_rows rows;
    size_t n = 0;
    enum clew_status status =
        db_query(tx, &SELECT_LEFT, DB_ARGS(db_uuids(ids, count)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    while (n < PAGE && db_next(&rows)) {
        left[n++] = db_get_uuid(&rows, 0);
    }
    status = db_end(&rows, err);
    return status == CLEW_OK && n > 0
               ? db_exec(tx, &DROP_NAMES, DB_ARGS(db_uuids(left, n)), err)
               : status;
}

static enum clew_status leave_page(struct store_tx *tx, const struct uuid *ids,
                                   size_t count, int64_t now_ms,
                                   struct clew_error *err)
{
    int64_t first = 0;
    enum clew_status status = drop_left(tx, ids, count, err);

    if (status == CLEW_OK) {
        status = db_take_changes(tx, (int64_t)count, &first, err);
    }
    return status == CLEW_OK ? db_exec(tx, &LEAVE_NAMES,
                                       DB_ARGS(db_uuids(ids, count),
                                               db_int(first), db_int(now_ms)),
                                       err)
                             : status;
}

static enum clew_status leave_names(struct store_tx *tx, const struct key *key,
                                    int64_t now_ms, struct clew_error *err)
{
    struct uuid ids[PAGE];
    struct uuid after = {{0}};
    size_t count = PAGE;
    enum clew_status status = CLEW_OK;

    while (count == PAGE && status == CLEW_OK) {
        status = read_page(tx, key, &after, ids, &count, err);
        if (status == CLEW_OK && count > 0) {
            status = leave_page(tx, ids, count, now_ms, err);
        }
    }
    return status;
}

/* The next of a chat's calls, after the one with the key `*after`. */
static enum clew_status read_calls(struct store_tx *tx, const struct key *key,
                                   const struct uuid *chat_id,
                                   struct uuid *after, struct uuid *ids,
                                   size_t *out_count, struct clew_error *err)
{
    struct db_value from = db_bytes(after->b, sizeof(after->b));
    char bytes[CALL_NAME_BYTES];
    struct db_rows rows;
    size_t n = 0;
    enum clew_status status;

    from.type = DB_UUID; /* the nil id is a value here, not NULL */
    status =
        db_query(tx, &SELECT_CALLS,
                 DB_ARGS(db_uuid(chat_id), from, db_int(PAGE)), &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    while (n < PAGE && db_next(&rows)) {
        *after = db_get_uuid(&rows, 0);
        ids[n++] =
            digest_of(key, db_get_text(&rows, 1), name_of_call(after, bytes));
    }
    *out_count = n;
    return db_end(&rows, err);
}

static enum clew_status leave_calls(struct store_tx *tx, const struct key *key,
                                    const struct uuid *chat_id, int64_t now_ms,
                                    struct clew_error *err)
{
    struct uuid ids[PAGE];
    struct uuid after = {{0}};
    size_t count = PAGE;
    enum clew_status status = CLEW_OK;

    while (count == PAGE && status == CLEW_OK) {
        status = read_calls(tx, key, chat_id, &after, ids, &count, err);
        if (status == CLEW_OK && count > 0) {
            status = leave_page(tx, ids, count, now_ms, err);
        }
    }
    return status;
}

enum clew_status forgotten_leave(struct store_tx *tx, struct arena *arena,
                                 int64_t now_ms, struct clew_error *err)
{
    struct uuid *chats = NULL;
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct key key = {{0}};
    int64_t has_names = 0;
    size_t n_chats = 0;
    enum clew_status status =
        rows_number(tx, &HAS_NAMES, DB_NO_ARGS, &has_names, err);

    if (status == CLEW_OK) {
        status = rows_all(tx, &list, &SELECT_CHATS, DB_NO_ARGS, &chats,
                          &n_chats, err);
    }
    if (status != CLEW_OK || (has_names == 0 && n_chats == 0)) {
        return status;
    }
    status = take_key(tx, arena, now_ms, &key, err);
    if (status == CLEW_OK && has_names > 0) {
        status = leave_names(tx, &key, now_ms, err);
    }
    for (size_t i = 0; i < n_chats && status == CLEW_OK; i++) {
        status = leave_calls(tx, &key, &chats[i], now_ms, err);
    }
    explicit_bzero(&key, sizeof(key));
    return status;
}

enum clew_status forgotten_leave_user(struct store_tx *tx, struct arena *arena,
                                      struct str user_id, int64_t now_ms,
                                      struct clew_error *err)
{
    struct forgotten_name user = {user_id, FORGOTTEN_USER, 0};

    return forgotten_leave_names(tx, arena, &user, 1, now_ms, err);
}

enum clew_status forgotten_leave_names(struct store_tx *tx, struct arena *arena,
                                       const struct forgotten_name *names,
                                       size_t count, int64_t now_ms,
                                       struct clew_error *err)
{
    struct uuid ids[PAGE];
    struct key key = {{0}};
    enum clew_status status = take_key(tx, arena, now_ms, &key, err);

    for (size_t at = 0; at < count && status == CLEW_OK; at += PAGE) {
        size_t n = count - at < PAGE ? count - at : PAGE;

        for (size_t i = 0; i < n; i++) {
            ids[i] = digest_of(&key, names[at + i].user_id,
                               names[at + i].external_id);
        }
        status = leave_page(tx, ids, n, now_ms, err);
    }
    explicit_bzero(&key, sizeof(key));
    return status;
}

/* --- finding -------------------------------------------------------------- */

static bool read_grave(struct arena *arena, const struct db_rows *rows,
                       void *out)
{
    struct grave *grave = out;

    (void)arena;
    grave->id = db_get_uuid(rows, 0);
    grave->at_ms = db_get_int(rows, 1);
    return true;
}

enum clew_status forgotten_ahead(struct store_tx *tx, struct clew_error *err)
{
    return db_ahead(tx, &SELECT_KEYS, DB_NO_ARGS, err);
}

static int by_grave(const void *a, const void *b)
{
    return uuid_cmp(&((const struct grave *)a)->id,
                    &((const struct grave *)b)->id);
}

/* When what a digest names was last forgotten; 0: never. In order, each once.
 */
static int64_t at_of(const struct rows_list *graves, const struct uuid *id)
{
    struct grave key = {.id = *id};
    const struct grave *found =
        graves->count == 0 ? NULL
                           : bsearch(&key, graves->items, graves->count,
                                     sizeof(key), by_grave);

    return found ? found->at_ms : 0;
}

enum clew_status forgotten_find(struct store_tx *tx, struct arena *arena,
                                struct forgotten_name *names, size_t count,
                                struct clew_error *err)
{
    struct rows_list graves = {
        .arena = arena, .size = sizeof(struct grave), .fn = read_grave};
    struct key *keys = NULL;
    struct uuid *ids;
    size_t n_keys = 0;
    enum clew_status status = find_keys(tx, arena, &keys, &n_keys, err);

    for (size_t i = 0; i < count; i++) {
        names[i].at_ms = 0;
    }
    if (status != CLEW_OK || n_keys == 0 || count == 0) {
        return status; /* mostly: nothing with a name was ever forgotten */
    }
    ids = arena_zero(arena, n_keys * count, sizeof(*ids));
    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < n_keys * count; i++) {
        const struct forgotten_name *name = &names[i % count];

        ids[i] = digest_of(&keys[i / count], name->user_id, name->external_id);
    }
    status = rows_add(tx, &graves, &SELECT_FORGOTTEN,
                      DB_ARGS(db_uuids(ids, n_keys * count)), err);
    for (size_t i = 0; status == CLEW_OK && i < n_keys * count; i++) {
        int64_t at_ms = at_of(&graves, &ids[i]);

        if (at_ms > names[i % count].at_ms) { /* of several keys */
            names[i % count].at_ms = at_ms;
        }
    }
    return status;
}

enum clew_status forgotten_refuse(struct store_tx *tx, struct arena *arena,
                                  struct str user_id, int64_t sent_ms,
                                  struct clew_error *err)
{
    struct forgotten_name user = {user_id, FORGOTTEN_USER, 0};
    enum clew_status status =
        sent_ms > 0 ? forgotten_find(tx, arena, &user, 1, err) : CLEW_OK;

    return status == CLEW_OK && user.at_ms > 0 && user.at_ms >= sent_ms
               ? clew_fail(err, CLEW_CONFLICT,
                           "its user was forgotten after this was sent")
               : status;
}

struct question {
    struct arena *arena;
    struct forgotten_name *name;
};

static enum clew_status do_ask(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct question *question = arg;

    return forgotten_find(tx, question->arena, question->name, 1, err);
}

enum clew_status forgotten_ask(struct engine *engine, const struct scope *scope,
                               struct arena *arena, struct forgotten_name *name,
                               struct clew_error *err)
{
    struct question question = {arena, name};

    return store_read(engine->store, scope, do_ask, &question, err);
}
