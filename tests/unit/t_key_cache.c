/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_key_cache.c - what is kept of keys never outlives a change.
 *
 * Two caches on one folder stand for two processes.
 */
#include "support/test.h"

#include "base/limits.h"
#include "engine/key/key_cache.h"

#include <stdio.h>
#include <unistd.h>

struct pair {
    char folder[64];
    struct key_cache *here;
    struct key_cache *there;
};

static const unsigned char hash[SHA256_SIZE] = {1, 2, 3};
static const struct key_grant grant = {
    .id = "0123456789abcdef", .scope = {7}, .role = KEY_WRITE};

static void open_pair(struct pair *pair)
{
    (void)snprintf(pair->folder, sizeof(pair->folder), "/tmp/clew-keys-XXXXXX");
    assert_non_null(mkdtemp(pair->folder));
    pair->here = key_cache_new(pair->folder);
    pair->there = key_cache_new(pair->folder);
    assert_non_null(pair->here);
    assert_non_null(pair->there);
}

static void close_pair(struct pair *pair)
{
    char path[96];

    (void)snprintf(path, sizeof(path), "%s/keys.changes", pair->folder);
    (void)unlink(path);
    assert_int_equal(rmdir(pair->folder), 0);
    key_cache_free(pair->here);
    key_cache_free(pair->there);
}

static bool knows_grant(struct key_cache *cache)
{
    unsigned char found[SHA256_SIZE];
    struct key_grant out;

    if (!key_cache_get_grant(cache, STR("0123456789abcdef"), &out, found)) {
        return false;
    }
    assert_int_equal(out.scope.tenant, 7);
    assert_int_equal(out.role, KEY_WRITE);
    assert_memory_equal(found, hash, sizeof(hash));
    return true;
}

static void a_change_elsewhere_is_seen_at_the_next_look(void **state)
{
    struct pair pair;
    uint64_t epoch;
    bool any = true;

    (void)state;
    open_pair(&pair);
    epoch = key_cache_look(pair.here);
    assert_false(key_cache_get_any(pair.here, &any));
    key_cache_put_any(pair.here, epoch, false);
    key_cache_put_grant(pair.here, epoch, &grant, hash);
    assert_true(key_cache_get_any(pair.here, &any));
    assert_false(any);
    assert_true(knows_grant(pair.here));
    for (int i = 0; i < 3; i++) { /* each one, however soon after the last */
        key_cache_changed(pair.there);
        epoch = key_cache_look(pair.here);
        assert_false(key_cache_get_any(pair.here, &any));
        assert_false(knows_grant(pair.here));
        key_cache_put_any(pair.here, epoch, false);
        key_cache_put_grant(pair.here, epoch, &grant, hash);
    }
    close_pair(&pair);
}

static void an_answer_that_a_change_has_overtaken_is_not_kept(void **state)
{
    struct pair pair;
    uint64_t epoch;
    bool any;

    (void)state;
    open_pair(&pair);
    epoch = key_cache_look(pair.here);
    key_cache_changed(pair.here);
    key_cache_put_any(pair.here, epoch, false);
    key_cache_put_grant(pair.here, epoch, &grant, hash);
    assert_false(key_cache_get_any(pair.here, &any));
    assert_false(knows_grant(pair.here));
    close_pair(&pair);
}

static void tenants_are_found_by_their_whole_name(void **state)
{
    struct pair pair;
    char name[100];
    int64_t tenant = 0;

    (void)state;
    open_pair(&pair);
    key_cache_put_tenant(pair.here, STR("acme"), 3);
    assert_true(key_cache_get_tenant(pair.here, STR("acme"), &tenant));
    assert_int_equal(tenant, 3);
    assert_false(key_cache_get_tenant(pair.here, STR("acm"), &tenant));
    assert_false(key_cache_get_tenant(pair.here, STR("acmes"), &tenant));
    memset(name, 'x', sizeof(name)); /* too long to keep: asked each time */
    key_cache_put_tenant(pair.here, (struct str){name, sizeof(name)}, 4);
    assert_false(key_cache_get_tenant(
        pair.here, (struct str){name, sizeof(name)}, &tenant));
    close_pair(&pair);
}

/* --- what is kept for outages --- */

static bool recalls(struct key_memory *memory, uint64_t change, int64_t now_ns,
                    const char *id)
{
    unsigned char found[SHA256_SIZE];
    struct key_grant out;

    return key_memory_get(memory, (struct key_moment){change, now_ns},
                          str_of(id), &out, found);
}

static void a_change_or_too_long_a_time_ends_what_is_remembered(void **state)
{
    const int64_t limit_ns = LIMIT_KEY_OUTAGE_MS * 1000000LL;
    struct key_memory *memory = key_memory_new();
    bool any = true;

    (void)state;
    key_memory_put_any(memory, (struct key_moment){5, 1000}, false);
    assert_true(key_memory_get_any(memory, (struct key_moment){5, 1000}, &any));
    assert_false(any);
    assert_false(
        key_memory_get_any(memory, (struct key_moment){6, 1000}, &any));
    assert_false(key_memory_get_any(
        memory, (struct key_moment){5, 1001 + limit_ns}, &any));
    key_memory_put(memory, (struct key_moment){5, 1000}, &grant, hash);
    assert_true(recalls(memory, 5, 1000, grant.id));
    assert_true(recalls(memory, 5, 1000 + limit_ns, grant.id));
    assert_false(recalls(memory, 5, 1001 + limit_ns, grant.id));
    assert_false(recalls(memory, 6, 1000, grant.id));
    assert_false(recalls(memory, 5, 1000, "0123456789abcdee"));
    /* there is a key now, and that does not change any more */
    assert_true(key_memory_get_any(memory, (struct key_moment){9, 9}, &any));
    assert_true(any);
    key_memory_forget(memory, str_of(grant.id));
    assert_false(recalls(memory, 5, 1000, grant.id));
    key_memory_free(memory);
}

static void so_many_are_remembered_and_no_more(void **state)
{
    struct key_memory *memory = key_memory_new();
    char ids[KEY_MEMORY_SIZE + 9][KEY_ID_SIZE];
    struct key_grant one = grant;

    (void)state;
    for (int i = 0; i < KEY_MEMORY_SIZE + 8; i++) {
        (void)snprintf(one.id, sizeof(one.id), "%016x", i);
        key_memory_put(memory, (struct key_moment){1, 100 + i}, &one, hash);
        /* the first is in use, so it is not the one to go */
        assert_true(recalls(memory, 1, 100 + i, "0000000000000000"));
    }
    assert_int_equal(key_memory_list(memory, KEY_MEMORY_SIZE + 9, ids),
                     KEY_MEMORY_SIZE);
    assert_false(recalls(memory, 1, 500, "0000000000000001"));
    assert_true(recalls(memory, 1, 500, one.id));
    key_memory_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_elsewhere_is_seen_at_the_next_look),
        cmocka_unit_test(an_answer_that_a_change_has_overtaken_is_not_kept),
        cmocka_unit_test(tenants_are_found_by_their_whole_name),
        cmocka_unit_test(a_change_or_too_long_a_time_ends_what_is_remembered),
        cmocka_unit_test(so_many_are_remembered_and_no_more)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
