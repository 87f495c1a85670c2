/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_vector_cache.c - what comes out is what went in, of the same tenant, model
 * and state; what was used lately stays.
 */
#include "support/test.h"

#include "base/arena.h"
#include "engine/feed/vector_cache.h"
#include "index/segment.h"

#define DIM 16

static const struct vector_owner ann = {1, 7};
static const struct vector_owner bob = {2, 7};
static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1u << 24);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct uuid id_of(unsigned n)
{
    struct uuid id = {{0}};

    id.b[0] = 1;
    memcpy(id.b + 8, &n, sizeof(n));
    return id;
}

static void put(struct vector_cache *cache, const struct vector_owner *owner,
                unsigned n, int64_t change_seq)
{
    int8_t values[DIM];
    struct recall_far_vector vector = {.id = id_of(n),
                                       .change_seq = change_seq,
                                       .values = values,
                                       .dim = DIM,
                                       .form = {.scale = (float)n + 1}};
    struct segment_half half = {.whole = (float)n};

    for (int i = 0; i < DIM; i++) {
        values[i] = (int8_t)(n + (unsigned)i);
    }
    if (n % 2) { /* a longer text */
        vector.half = &half;
        vector.first = values;
    }
    vector_cache_put(cache, owner, &vector, 1);
}

static bool has(struct vector_cache *cache, const struct vector_owner *owner,
                unsigned n, int64_t change_seq)
{
    struct recall_far_key key = {id_of(n), change_seq};
    struct recall_far_vector vector;
    struct uuid missing;
    size_t found = 0;

    assert_int_equal(vector_cache_get(cache, owner, &key, 1, &arena, &vector,
                                      &found, &missing),
                     CLEW_OK);
    if (found == 0) {
        assert_true(uuid_eq(&missing, &key.id));
        return false;
    }
    assert_true(vector.form.scale == (float)n + 1);
    assert_int_equal(vector.half != NULL, n % 2);
    if (vector.half) {
        assert_true(vector.half->whole == (float)n);
        assert_memory_equal(vector.first, vector.values, DIM);
    }
    for (int i = 0; i < DIM; i++) {
        assert_int_equal(vector.values[i], (int8_t)(n + (unsigned)i));
    }
    return true;
}

static void each_state_of_each_owner_is_its_own(void **state)
{
    struct vector_cache *cache = vector_cache_new(DIM, 1u << 20);

    (void)state;
    assert_non_null(cache);
    assert_false(has(cache, &ann, 1, 10));
    put(cache, &ann, 1, 10);
    assert_true(has(cache, &ann, 1, 10));
    assert_false(has(cache, &ann, 1, 11));
    assert_false(has(cache, &bob, 1, 10));
    assert_false(has(cache, &ann, 2, 10));
    put(cache, &ann, 1, 11);
    assert_true(has(cache, &ann, 1, 10));
    assert_true(has(cache, &ann, 1, 11));
    vector_cache_free(cache);
}

static void many_keys_are_parted_in_order(void **state)
{
    enum { N = 100 };
    struct vector_cache *cache = vector_cache_new(DIM, 1u << 20);
    struct recall_far_key keys[N];
    struct recall_far_vector vectors[N];
    struct uuid missing[N];
    size_t found = 0;

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        keys[i] = (struct recall_far_key){id_of(i), 1};
        if (i % 3 == 0) {
            put(cache, &ann, i, 1);
        }
    }
    assert_int_equal(vector_cache_get(cache, &ann, keys, N, &arena, vectors,
                                      &found, missing),
                     CLEW_OK);
    assert_int_equal(found, 34);
    for (unsigned i = 0; i < found; i++) {
        assert_true(uuid_eq(&vectors[i].id, &keys[3 * i].id));
    }
    assert_true(uuid_eq(&missing[0], &keys[1].id));
    assert_true(uuid_eq(&missing[N - found - 1], &keys[98].id));
    vector_cache_free(cache);
}

static void what_is_used_stays_and_the_rest_makes_room(void **state)
{
    struct vector_cache *cache = vector_cache_new(DIM, 1u << 16);
    unsigned n_left = 0;

    (void)state;
    put(cache, &ann, 0, 1);
    for (unsigned i = 1; i < 5000; i++) {
        put(cache, &ann, i, 1);
        assert_true(has(cache, &ann, 0, 1));
    }
    for (unsigned i = 0; i < 5000; i++) {
        n_left += has(cache, &ann, i, 1);
    }
    assert_in_range(n_left, 100, 1000); /* of 64 KiB */
    vector_cache_free(cache);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_state_of_each_owner_is_its_own),
        CASE(many_keys_are_parted_in_order),
        CASE(what_is_used_stays_and_the_rest_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
