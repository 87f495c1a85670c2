/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_ratelimit.c - token buckets: burst, refill, separation, bounded table.
 */
#include "support/test.h"

#include "http/ratelimit.h"

#include <stdio.h>

#define SECOND 1000000000LL

static void a_burst_passes_then_the_rate_holds(void **state)
{
    struct ratelimit *limit;
    int64_t wait_ms = 0;
    int64_t now = 1000 * SECOND;
    int passed = 0;

    (void)state;
    assert_int_equal(ratelimit_new(60, 10, &limit), CLEW_OK);
    for (int i = 0; i < 20; i++) {
        passed += ratelimit_take(limit, STR("k"), now, &wait_ms);
    }
    assert_int_equal(passed, 10);
    assert_in_range(wait_ms, 1, 1001);
    assert_false(ratelimit_take(limit, STR("k"), now + SECOND / 2, &wait_ms));
    assert_true(ratelimit_take(limit, STR("k"), now + SECOND, &wait_ms));
    assert_false(ratelimit_take(limit, STR("k"), now + SECOND, &wait_ms));
    passed = 0;
    for (int i = 0; i < 20; i++) {
        passed += ratelimit_take(limit, STR("k"), now + 60 * SECOND, &wait_ms);
    }
    assert_int_equal(passed, 10);
    ratelimit_free(limit);
}

static void one_key_does_not_use_up_another(void **state)
{
    struct ratelimit *limit;
    int64_t wait_ms;

    (void)state;
    assert_int_equal(ratelimit_new(1, 1, &limit), CLEW_OK);
    assert_true(ratelimit_take(limit, STR("a"), SECOND, &wait_ms));
    assert_false(ratelimit_take(limit, STR("a"), SECOND, &wait_ms));
    assert_true(ratelimit_take(limit, STR("b"), SECOND, &wait_ms));
    ratelimit_free(limit);
}

static void zero_means_no_limit(void **state)
{
    struct ratelimit *limit;
    int64_t wait_ms;

    (void)state;
    assert_int_equal(ratelimit_new(0, 0, &limit), CLEW_OK);
    for (int i = 0; i < 1000; i++) {
        assert_true(ratelimit_take(limit, STR("a"), SECOND, &wait_ms));
    }
    assert_true(ratelimit_take(NULL, STR("a"), SECOND, &wait_ms));
    ratelimit_free(limit);
}

static void a_flood_of_keys_leaves_an_active_one_limited(void **state)
{
    struct ratelimit *limit;
    int64_t wait_ms;
    int64_t now = SECOND;
    int passed = 0;

    (void)state;
    /* The busy key runs further ahead than any made-up one, so it stays. */
    assert_int_equal(ratelimit_new(60, 5, &limit), CLEW_OK);
    for (int i = 0; i < 100000; i++) {
        char key[32];

        (void)snprintf(key, sizeof(key), "flood-%d", i);
        (void)ratelimit_take(limit, str_of(key), now, &wait_ms);
        if (i % 100 == 0) {
            passed += ratelimit_take(limit, STR("busy"), now, &wait_ms);
        }
    }
    assert_in_range(passed, 5, 12);
    ratelimit_free(limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_passes_then_the_rate_holds),
        cmocka_unit_test(one_key_does_not_use_up_another),
        cmocka_unit_test(zero_means_no_limit),
        cmocka_unit_test(a_flood_of_keys_leaves_an_active_one_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
