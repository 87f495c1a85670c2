/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_key_tags.c - right keys are told from guesses, and the store is asked for
 * them once in a while whatever is guessed.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "engine/key/key_tags.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define MS_NS 1000000LL

static struct key_moment moment(uint64_t change, int64_t now_ms)
{
    return (struct key_moment){.change = change, .now_ns = now_ms * MS_NS};
}

/* As if the store had been read: `count` of `list`. */
static void put(struct key_tags *tags, struct key_moment at,
                const uint64_t *list, size_t count)
{
    uint64_t *copy = alloc_array(NULL, count + 1, sizeof(*copy));

    assert_non_null(copy);
    memcpy(copy, list, count * sizeof(*copy));
    key_tags_put(tags, at, copy, count);
}

static void guesses_ask_for_the_list_once_in_its_time(void **state)
{
    static const uint64_t list[] = {900, 7, UINT64_MAX};
    struct key_tags *tags = key_tags_new();

    (void)state;
    assert_int_equal(key_tags_look(tags, moment(0, 5000), 7),
                     KEY_TAGS_OUTDATED);
    put(tags, moment(0, 5000), list, 3);
    for (uint64_t guess = 8; guess < 800; guess++) {
        assert_int_equal(
            key_tags_look(tags, moment(0, 4999 + LIMIT_KEY_CACHE_MS), guess),
            KEY_TAGS_NOT_LISTED);
    }
    for (size_t i = 0; i < 3; i++) { /* however old the list is */
        assert_int_equal(key_tags_look(tags, moment(9, 1 << 30), list[i]),
                         KEY_TAGS_LISTED);
    }
    assert_int_equal(
        key_tags_look(tags, moment(0, 5000 + LIMIT_KEY_CACHE_MS), 8),
        KEY_TAGS_OUTDATED);
    put(tags, moment(0, 6000), list, 0);
    assert_int_equal(key_tags_look(tags, moment(0, 6001), 7),
                     KEY_TAGS_NOT_LISTED);
    key_tags_free(tags);
}

static void a_change_of_keys_ends_a_list_at_once(void **state)
{
    static const uint64_t list[] = {7};
    struct key_tags *tags = key_tags_new();

    (void)state;
    assert_int_equal(key_tags_look(tags, moment(1, 1), 7), KEY_TAGS_OUTDATED);
    put(tags, moment(1, 1), list, 0);
    assert_int_equal(key_tags_look(tags, moment(2, 1), 7), KEY_TAGS_OUTDATED);
    put(tags, moment(2, 1), list, 1);
    assert_int_equal(key_tags_look(tags, moment(2, 1), 7), KEY_TAGS_LISTED);
    /* who looked up what had changed before the list was made */
    assert_int_equal(key_tags_look(tags, moment(1, 1), 8), KEY_TAGS_NOT_LISTED);
    key_tags_free(tags);
}

static void a_list_that_cannot_be_read_is_not_tried_at_each_guess(void **state)
{
    static const uint64_t list[] = {7};
    struct key_tags *tags = key_tags_new();

    (void)state;
    assert_int_equal(key_tags_look(tags, moment(0, 1), 7), KEY_TAGS_OUTDATED);
    put(tags, moment(0, 1), list, 1);
    assert_int_equal(key_tags_look(tags, moment(0, 5000), 8),
                     KEY_TAGS_OUTDATED);
    key_tags_put(tags, moment(0, 5000), NULL, 0);
    assert_int_equal(key_tags_look(tags, moment(0, 5001), 8),
                     KEY_TAGS_NOT_LISTED);
    assert_int_equal(key_tags_look(tags, moment(0, 5001), 7), KEY_TAGS_LISTED);
    assert_int_equal(key_tags_look(tags, moment(0, 6000), 8),
                     KEY_TAGS_OUTDATED);
    key_tags_free(tags);
}

static void many_keys_are_listed_less_often(void **state)
{
    enum { N = 20000 };
    struct key_tags *tags = key_tags_new();
    uint64_t *list = alloc_zero(N, sizeof(*list));

    (void)state;
    assert_non_null(list);
    assert_int_equal(key_tags_look(tags, moment(0, 1), 7), KEY_TAGS_OUTDATED);
    key_tags_put(tags, moment(0, 1), list, N);
    assert_int_equal(key_tags_look(tags, moment(0, 2999), 7),
                     KEY_TAGS_NOT_LISTED);
    assert_int_equal(key_tags_look(tags, moment(0, 3001), 7),
                     KEY_TAGS_OUTDATED);
    key_tags_free(tags);
}

struct waiting {
    struct key_tags *tags;
    atomic_int n_began;
    atomic_int n_outdated;
    atomic_int n_listed;
};

static void *look_once(void *arg)
{
    struct waiting *waiting = arg;

    atomic_fetch_add(&waiting->n_began, 1);
    switch (key_tags_look(waiting->tags, moment(0, 1), 7)) {
    case KEY_TAGS_OUTDATED:
        atomic_fetch_add(&waiting->n_outdated, 1);
        break;
    case KEY_TAGS_LISTED:
        atomic_fetch_add(&waiting->n_listed, 1);
        break;
    case KEY_TAGS_NOT_LISTED:
        break;
    }
    return NULL;
}

/* So many look while it is read; true if none had to wait for too long. */
static bool all_are_listed(void)
{
    enum { N = 8 };
    static const uint64_t list[] = {7};
    struct waiting waiting = {.tags = key_tags_new()};
    pthread_t threads[N];

    assert_int_equal(key_tags_look(waiting.tags, moment(0, 1), 7),
                     KEY_TAGS_OUTDATED);
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, look_once, &waiting),
                         0);
    }
    while (atomic_load(&waiting.n_began) < N) {
        (void)sched_yield();
    }
    put(waiting.tags, moment(0, 1), list, 1);
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    key_tags_free(waiting.tags);
    assert_int_equal(waiting.n_outdated, 0);
    return waiting.n_listed == N;
}

static void who_comes_while_it_is_read_waits_and_reads_nothing(void **state)
{
    bool is_seen = false;

    (void)state;
    for (int i = 0; i < 50 && !is_seen; i++) { /* a machine may be slow */
        is_seen = all_are_listed();
    }
    assert_true(is_seen);
}

static void nobody_waits_for_ever(void **state)
{
    struct key_tags *tags = key_tags_new();

    (void)state;
    assert_int_equal(key_tags_look(tags, moment(0, 1), 7), KEY_TAGS_OUTDATED);
    assert_int_equal(key_tags_look(tags, moment(0, 1), 7), KEY_TAGS_NOT_LISTED);
    key_tags_put(tags, moment(0, 1), NULL, 0);
    key_tags_free(tags);
}

static void a_tag_is_of_id_and_secret(void **state)
{
    unsigned char hash[SHA256_SIZE] = {1};
    uint64_t tag = key_tag(STR("0123456789abcdef"), hash);

    (void)state;
    assert_true(tag == key_tag(STR("0123456789abcdef"), hash));
    assert_true(tag != key_tag(STR("1123456789abcdef"), hash));
    hash[31] = 1;
    assert_true(tag != key_tag(STR("0123456789abcdef"), hash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_ask_for_the_list_once_in_its_time),
        cmocka_unit_test(a_change_of_keys_ends_a_list_at_once),
        cmocka_unit_test(a_list_that_cannot_be_read_is_not_tried_at_each_guess),
        cmocka_unit_test(many_keys_are_listed_less_often),
        cmocka_unit_test(who_comes_while_it_is_read_waits_and_reads_nothing),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(a_tag_is_of_id_and_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
