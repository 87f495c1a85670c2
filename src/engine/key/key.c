/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c - API keys. See key.h.
 */
#include "engine/key/key.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/sha256.h"
#include "engine/core/engine.h"
#include "engine/key/key_cache.h"
#include "engine/key/tenant.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

#define SECRET_BYTES 32
/* Keys asked about in one round: all of them within two seconds. */
#define CONFIRMED_AT_ONCE (KEY_MEMORY_SIZE / 2)
#define MAX_KEYS 10000 /* listed at once; more is a mistake, not a need */

DB_SQL_SYSTEM(INSERT, "INSERT INTO api_keys (key_id, tenant_id, role,"
                      " secret_hash, label, created_at)"
                      " VALUES ($1, $2, $3, $4, $5, $6)");
DB_SQL_SYSTEM(SELECT_ONE, "SELECT tenant_id, role, secret_hash FROM api_keys"
                          " WHERE key_id = $1 AND revoked_at IS NULL");
DB_SQL_SYSTEM(SELECT_ANY, "SELECT 1 FROM api_keys LIMIT 1");
DB_SQL_SYSTEM(SELECT_ALL,
              "SELECT k.key_id, t.name, k.role, k.label, k.created_at,"
              " k.revoked_at FROM api_keys k JOIN tenant_names t"
              " ON t.tenant_id = k.tenant_id WHERE $2 = 0 OR k.tenant_id = $2"
              " ORDER BY k.created_at, k.key_id LIMIT $1");
DB_SQL_SYSTEM(SELECT_HASHES, "SELECT key_id, secret_hash FROM api_keys"
                             " WHERE revoked_at IS NULL"
                             " ORDER BY key_id LIMIT $1");
/* Tenant 0: whatever tenant it is of. */
DB_SQL_SYSTEM(REVOKE, "UPDATE api_keys SET revoked_at = $2"
                      " WHERE key_id = $1 AND revoked_at IS NULL"
                      " AND ($3 = 0 OR tenant_id = $3)");

static const char *const role_names[] = {"", "read", "write", "admin"};

const char *key_role_name(enum key_role role)
{
    return role_names[role];
}

bool key_role_parse(struct str text, enum key_role *out_role)
{
    for (int i = KEY_READ; i <= KEY_ADMIN; i++) {
        if (str_eq(text, str_of(role_names[i]))) {
            *out_role = (enum key_role)i;
            return true;
        }
    }
    return false;
}

struct create_work {
    const struct key *key;
    int64_t tenant;
    const unsigned char *hash;
};

static enum clew_status do_create(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct create_work *work = arg;

    return db_exec(tx, &INSERT,
                   DB_ARGS(db_cstr(work->key->id), db_int(work->tenant),
                           db_cstr(key_role_name(work->key->role)),
                           db_bytes(work->hash, SHA256_SIZE),
                           db_cstr(work->key->label),
                           db_int(work->key->created_at_ms)),
                   err);
}

static enum clew_status create(struct engine *engine, struct arena *arena,
                               const struct scope *scope, struct key *key,
                               const char *label, char out_text[KEY_TEXT_SIZE],
                               struct clew_error *err)
{
    unsigned char secret[SECRET_BYTES];
    unsigned char id[(KEY_ID_SIZE - 1) / 2];
    char hex[2 * SECRET_BYTES + 1];
    unsigned char hash[SHA256_SIZE];
    struct create_work work = {key, scope->tenant, hash};
    enum clew_status status;

    rand_bytes(id, sizeof(id));
    rand_bytes(secret, sizeof(secret));
    hex_format(id, sizeof(id), key->id);
    hex_format(secret, sizeof(secret), hex);
    sha256_of(str_of(hex), hash);
    key->label = label ? arena_string(arena, label) : NULL;
    key->created_at_ms = clock_now_ms(engine->clock);
    status = store_write_system(engine->store, do_create, &work, err);
    if (status == CLEW_OK) {
        key_cache_changed(engine->keys);
        (void)snprintf(out_text, KEY_TEXT_SIZE, "clew_%s_%s", key->id, hex);
    }
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(hex, sizeof(hex));
    return status;
}

enum clew_status key_create(struct engine *engine, struct arena *arena,
                            const char *tenant, enum key_role role,
                            const char *label, struct key *out_key,
                            char out_text[KEY_TEXT_SIZE],
                            struct clew_error *err)
{
    struct key key = {.role = role, .tenant = arena_string(arena, tenant)};
    struct scope scope;
    enum clew_status status = engine_tenant(engine, tenant, &scope, err);

    if (status == CLEW_OK) {
        status = create(engine, arena, &scope, &key, label, out_text, err);
    }
    if (status == CLEW_OK) {
        *out_key = key;
    }
    return status;
}

enum clew_status key_create_in(struct engine *engine, struct arena *arena,
                               const struct scope *scope, enum key_role role,
                               const char *label, struct key *out_key,
                               char out_text[KEY_TEXT_SIZE],
                               struct clew_error *err)
{
    struct key key = {.role = role};
    enum clew_status status =
        create(engine, arena, scope, &key, label, out_text, err);

    if (status == CLEW_OK) {
        *out_key = key;
    }
    return status;
}

struct list_work {
    struct arena *arena;
    int64_t tenant; /* 0 = all */
    struct key *keys;
    size_t count;
};

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct list_work *work = arg;
    struct db_rows rows;
    size_t cap = 0;
    enum clew_status status =
        db_query(tx, &SELECT_ALL,
                 DB_ARGS(db_int(MAX_KEYS), db_int(work->tenant)), &rows, err);

    work->keys = NULL;
    work->count = 0;
    if (status != CLEW_OK) {
        return status;
    }
    while (db_next(&rows)) {
        struct key *grown = arena_grow(work->arena, work->keys, work->count,
                                       &cap, sizeof(*grown));
        struct str id = db_get_text(&rows, 0);
        struct key *key;

        if (!grown) {
            clew_ignore(
                db_end(&rows, NULL)); /* the lack of memory is reported */
            return clew_no_memory(err);
        }
        work->keys = grown;
        key = &grown[work->count++];
        memset(key, 0, sizeof(*key));
        (void)snprintf(key->id, sizeof(key->id), "%.*s", (int)id.len, id.s);
        key->tenant = arena_str(work->arena, db_get_text(&rows, 1)).s;
        (void)key_role_parse(db_get_text(&rows, 2), &key->role);
        key->label = db_is_null(&rows, 3)
                         ? NULL
                         : arena_str(work->arena, db_get_text(&rows, 3)).s;
        key->created_at_ms = db_get_int(&rows, 4);
        key->revoked_at_ms = db_get_int(&rows, 5);
    }
    return db_end(&rows, err);
}

static enum clew_status list(struct engine *engine, struct arena *arena,
                             int64_t tenant, struct key **out_keys,
                             size_t *out_count, struct clew_error *err)
{
    struct list_work work = {.arena = arena, .tenant = tenant};
    enum clew_status status =
        store_read_system(engine->store, do_list, &work, err);

    if (status == CLEW_OK) {
        *out_keys = work.keys;
        *out_count = work.count;
    }
    return status;
}

enum clew_status key_list(struct engine *engine, struct arena *arena,
                          struct key **out_keys, size_t *out_count,
                          struct clew_error *err)
{
    return list(engine, arena, 0, out_keys, out_count, err);
}

enum clew_status key_list_in(struct engine *engine, struct arena *arena,
                             const struct scope *scope, struct key **out_keys,
                             size_t *out_count, struct clew_error *err)
{
    return list(engine, arena, scope->tenant, out_keys, out_count, err);
}

struct revoke_work {
    struct str id;
    int64_t now_ms;
    int64_t tenant; /* 0 = any */
};

static enum clew_status do_revoke(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct revoke_work *work = arg;
    int64_t count = 0;
    enum clew_status status = db_exec_count(
        tx, &REVOKE,
        DB_ARGS(db_text(work->id), db_int(work->now_ms), db_int(work->tenant)),
        &count, err);

    if (status == CLEW_OK && count == 0) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such valid key");
    }
    return status;
}

static enum clew_status revoke(struct engine *engine, int64_t tenant,
                               struct str id, struct clew_error *err)
{
    struct revoke_work work = {id, clock_now_ms(engine->clock), tenant};
    enum clew_status status =
        store_write_system(engine->store, do_revoke, &work, err);

    if (status == CLEW_OK) {
        key_cache_changed(engine->keys);
    }
    return status;
}

enum clew_status key_revoke(struct engine *engine, struct str id,
                            struct clew_error *err)
{
    return revoke(engine, 0, id, err);
}

enum clew_status key_revoke_in(struct engine *engine, const struct scope *scope,
                               struct str id, struct clew_error *err)
{
    return revoke(engine, scope->tenant, id, err);
}

static enum clew_status do_any(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(tx, &SELECT_ANY, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *(bool *)arg = db_next(&rows);
    return db_end(&rows, err);
}

enum clew_status key_any(struct engine *engine, bool *out_any,
                         struct clew_error *err)
{
    uint64_t epoch = key_cache_look(engine->keys);
    struct key_moment at;
    enum clew_status status;

    if (key_cache_get_any(engine->keys, out_any)) {
        return CLEW_OK;
    }
    at = key_cache_moment(engine->keys);
    status = store_read_system(engine->store, do_any, out_any, err);
    if (status == CLEW_OK) {
        key_cache_put_any(engine->keys, epoch, *out_any);
        key_memory_put_any(key_cache_memory(engine->keys), at, *out_any);
    }
    return status;
}

struct check_work {
    struct str id;
    struct key_grant grant;          /* tenant 0 if there is no such key */
    unsigned char hash[SHA256_SIZE]; /* zeros if there is no such key */
};

static enum clew_status do_check(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct check_work *work = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_ONE, DB_ARGS(db_text(work->id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        struct str hash = db_get_bytes(&rows, 2);

        if (key_role_parse(db_get_text(&rows, 1), &work->grant.role) &&
            hash.len == SHA256_SIZE) {
            work->grant.scope.tenant = db_get_int(&rows, 0);
            memcpy(work->hash, hash.s, SHA256_SIZE);
        }
    }
    return db_end(&rows, err);
}

/* Ask the store, and keep what it says for when it cannot be asked. */
static enum clew_status ask(struct engine *engine, struct check_work *work,
                            struct clew_error *err)
{
    struct key_memory *memory = key_cache_memory(engine->keys);
    struct key_moment at = key_cache_moment(engine->keys);
    enum clew_status status;

    (void)snprintf(work->grant.id, sizeof(work->grant.id), "%.*s",
                   (int)work->id.len, work->id.s);
    status = store_read_system(engine->store, do_check, work, err);
    if (status == CLEW_OK && work->grant.scope.tenant != 0) {
        key_memory_put(memory, at, &work->grant, work->hash);
    } else if (status == CLEW_OK) {
        key_memory_forget(memory, work->id);
    }
    return status;
}

/* What the store or a recent look at it says of this id. */
static enum clew_status look_up(struct engine *engine, struct check_work *work,
                                struct clew_error *err)
{
    uint64_t epoch = key_cache_look(engine->keys);
    enum clew_status status;

    if (key_cache_get_grant(engine->keys, work->id, &work->grant, work->hash)) {
        return CLEW_OK;
    }
    status = ask(engine, work, err);
    if (status == CLEW_OK && work->grant.scope.tenant != 0) {
        key_cache_put_grant(engine->keys, epoch, &work->grant, work->hash);
    }
    return status;
}

/* "clew_<id>_<secret>" into its parts. */
static bool split_key(struct str text, struct str *out_id,
                      struct str *out_secret)
{
    size_t id_len = KEY_ID_SIZE - 1;
    size_t head = 5; /* "clew_" */

    if (!str_starts(text, STR("clew_")) ||
        text.len != head + id_len + 1 + 2 * SECRET_BYTES ||
        text.s[head + id_len] != '_') {
        return false;
    }
    *out_id = str_sub(text, head, head + id_len);
    *out_secret = str_sub(text, head + id_len + 1, text.len);
    return true;
}

/* Is `secret` the one whose hash was found? */
static enum clew_status judge(const struct check_work *work, struct str secret,
                              struct key_grant *out_grant,
                              struct clew_error *err)
{
    unsigned char hash[SHA256_SIZE];

    sha256_of(secret, hash);
    if (!sha256_equal(hash, work->hash) || work->grant.scope.tenant == 0) {
        return clew_fail(err, CLEW_UNAUTHORIZED, "a valid key is required");
    }
    *out_grant = work->grant;
    return CLEW_OK;
}

enum clew_status key_authenticate(struct engine *engine, struct str text,
                                  struct key_grant *out_grant,
                                  struct clew_error *err)
{
    struct check_work work = {0};
    struct str secret;
    enum clew_status status;

    if (!split_key(text, &work.id, &secret)) {
        return clew_fail(err, CLEW_UNAUTHORIZED, "a valid key is required");
    }
    status = look_up(engine, &work, err);
    return status == CLEW_OK ? judge(&work, secret, out_grant, err) : status;
}

/* --- for whom has sent wrong ones --- */

struct tags_work {
    uint64_t *list;
    size_t cap;
    size_t count;
};

static enum clew_status do_tags(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct tags_work *work = arg;
    struct db_rows rows;
    enum clew_status status = db_query(
        tx, &SELECT_HASHES, DB_ARGS(db_int(LIMIT_KEYS_LISTED)), &rows, err);

    work->count = 0;
    if (status != CLEW_OK) {
        return status;
    }
    while (db_next(&rows)) {
        struct str hash = db_get_bytes(&rows, 1);

        if (work->count == work->cap) {
            size_t cap = work->cap * 2 + 64;
            uint64_t *grown = alloc_array(work->list, cap, sizeof(*grown));

            if (!grown) {
                clew_ignore(db_end(&rows, NULL)); /* memory is reported */
                return clew_no_memory(err);
            }
            work->list = grown;
            work->cap = cap;
        }
        if (hash.len == SHA256_SIZE) {
            work->list[work->count++] =
                key_tag(db_get_text(&rows, 0), (const unsigned char *)hash.s);
        }
    }
    return db_end(&rows, err);
}

/* A list without keys is one, too. */
static void list_tags(struct engine *engine, struct key_moment at)
{
    struct tags_work work = {.list = alloc_array(NULL, 1, sizeof(uint64_t)),
                             .cap = 1};

    if (!work.list ||
        store_read_system(engine->store, do_tags, &work, NULL) != CLEW_OK) {
        alloc_free(work.list);
        work.list = NULL;
    }
    key_tags_put(key_cache_tags(engine->keys), at, work.list, work.count);
}

bool key_is_listed(struct engine *engine, struct str text)
{
    struct key_tags *tags = key_cache_tags(engine->keys);
    unsigned char hash[SHA256_SIZE];
    struct key_moment at;
    enum key_tags_word word;
    struct str id;
    struct str secret;
    uint64_t tag;

    if (!split_key(text, &id, &secret)) {
        return false;
    }
    sha256_of(secret, hash);
    tag = key_tag(id, hash);
    (void)key_cache_look(engine->keys); /* sees changes made meanwhile */
    at = key_cache_moment(engine->keys);
    word = key_tags_look(tags, at, tag);
    if (word == KEY_TAGS_OUTDATED) {
        list_tags(engine, at);
        word = key_tags_look(tags, at, tag);
    }
    return word == KEY_TAGS_LISTED;
}

/* --- while the store is down --- */

static enum clew_status not_known(struct clew_error *err)
{
    return clew_fail(err, CLEW_UNAVAILABLE,
                     "the store cannot be asked about this key");
}

enum clew_status key_any_known(struct engine *engine, bool *out_any,
                               struct clew_error *err)
{
    (void)key_cache_look(engine->keys); /* sees changes made meanwhile */
    return key_memory_get_any(key_cache_memory(engine->keys),
                              key_cache_moment(engine->keys), out_any)
               ? CLEW_OK
               : not_known(err);
}

enum clew_status key_known(struct engine *engine, struct str text,
                           struct key_grant *out_grant, struct clew_error *err)
{
    struct check_work work = {0};
    struct str secret;

    if (!split_key(text, &work.id, &secret)) {
        return clew_fail(err, CLEW_UNAUTHORIZED, "a valid key is required");
    }
    (void)key_cache_look(engine->keys); /* sees changes made meanwhile */
    if (!key_memory_get(key_cache_memory(engine->keys),
                        key_cache_moment(engine->keys), work.id, &work.grant,
                        work.hash)) {
        return not_known(err);
    }
    return judge(&work, secret, out_grant, err);
}

enum clew_status key_confirm(struct engine *engine, struct clew_error *err)
{
    char ids[CONFIRMED_AT_ONCE][KEY_ID_SIZE];
    struct key_memory *memory = key_cache_memory(engine->keys);
    size_t count = key_memory_list(memory, CONFIRMED_AT_ONCE, ids);
    enum clew_status status = CLEW_OK;
    struct key_moment at;
    bool any = false;

    (void)key_cache_look(engine->keys); /* sees changes made meanwhile */
    at = key_cache_moment(engine->keys);
    status = store_read_system(engine->store, do_any, &any, err);
    if (status == CLEW_OK) {
        key_memory_put_any(memory, at, any);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct check_work work = {.id = str_of(ids[i])};

        status = ask(engine, &work, err);
    }
    if (status == CLEW_OK) {
        key_memory_count(memory);
    }
    return status;
}

int64_t key_confirmations(const struct engine *engine)
{
    return key_memory_counted(key_cache_memory(engine->keys));
}
