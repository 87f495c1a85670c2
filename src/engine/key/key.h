/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - API keys: who may do what in which tenant.
 *
 * A key is "clew_<id>_<secret>" with 256 random bits. It is shown once; the
 * store keeps the SHA-256 of the secret. Keys are compared in constant time,
 * an unknown id against a dummy. What the store says of a key is kept for a
 * moment (key_cache.h): a change on this data folder counts at once, one made
 * on another machine within a second. Thread-safety: internally safe.
 */
#ifndef ENGINE_KEY_H
#define ENGINE_KEY_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

enum key_role { KEY_READ = 1, KEY_WRITE, KEY_ADMIN };

#define KEY_ID_SIZE 17   /* 16 hex digits */
#define KEY_TEXT_SIZE 96 /* clew_<16>_<64> */

struct key {
    char id[KEY_ID_SIZE];
    const char *tenant; /* name, in the arena */
    enum key_role role;
    const char *label; /* may be NULL */
    int64_t created_at_ms;
    int64_t revoked_at_ms; /* 0 = valid */
};

/* "read", "write", "admin". */
const char *key_role_name(enum key_role role);
bool key_role_parse(struct str text, enum key_role *out_role);

/* Make a key for a tenant (made if needed). `out_text` is the only copy of the
 * secret: show it once and wipe it. */
enum clew_status key_create(struct engine *engine, struct arena *arena,
                            const char *tenant, enum key_role role,
                            const char *label, struct key *out_key,
                            char out_text[KEY_TEXT_SIZE],
                            struct clew_error *err) CLEW_MUST_CHECK;
/* All keys, oldest first, revoked ones too. */
enum clew_status key_list(struct engine *engine, struct arena *arena,
                          struct key **out_keys, size_t *out_count,
                          struct clew_error *err) CLEW_MUST_CHECK;
/* --- of one tenant, for its own admin --- */

enum clew_status key_create_in(struct engine *engine, struct arena *arena,
                               const struct scope *scope, enum key_role role,
                               const char *label, struct key *out_key,
                               char out_text[KEY_TEXT_SIZE],
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status key_list_in(struct engine *engine, struct arena *arena,
                             const struct scope *scope, struct key **out_keys,
                             size_t *out_count,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_NOT_FOUND also for another tenant's. */
enum clew_status key_revoke_in(struct engine *engine, const struct scope *scope,
                               struct str id,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* --- of all tenants, for the operator --- */

/* CLEW_NOT_FOUND if there is no such valid key. */
enum clew_status key_revoke(struct engine *engine, struct str id,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* True once any key was ever made: from then on every request needs one. */
enum clew_status key_any(struct engine *engine, bool *out_any,
                         struct clew_error *err) CLEW_MUST_CHECK;

/* What a valid key allows. */
struct key_grant {
    char id[KEY_ID_SIZE];
    struct scope scope;
    enum key_role role;
};

/* CLEW_UNAUTHORIZED for anything but a valid key, without saying why. */
enum clew_status key_authenticate(struct engine *engine, struct str text,
                                  struct key_grant *out_grant,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Would the store let `text` in, by a list of all keys that is a moment old at
 * most (key_tags.h)? For whom has sent too many wrong ones: a guess costs no
 * look at the store. Lets nobody in by itself.
 */
bool key_is_listed(struct engine *engine, struct str text);

/*
 * The same two while the store cannot be asked, from what it said shortly
 * before (key_memory.h). CLEW_UNAVAILABLE if that is not known.
 */
enum clew_status key_any_known(struct engine *engine, bool *out_any,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status key_known(struct engine *engine, struct str text,
                           struct key_grant *out_grant,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Ask the store again about keys that are known; a server does so every
 * second. Those that another machine revoked are forgotten. */
enum clew_status key_confirm(struct engine *engine,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* How often that was done since the start. */
int64_t key_confirmations(const struct engine *engine);

#endif
