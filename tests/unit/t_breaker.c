/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_breaker.c - the circuit breaker, on a clock that stands still.
 */
#include "support/test.h"

#include "base/clock.h"
#include "model/breaker.h"

static void it_opens_after_failures_in_a_row(void **state)
{
    struct clock clock;
    struct breaker b;

    (void)state;
    clock_init_fake(&clock, 1000);
    breaker_init(&b, &clock, 3, 100);
    for (int i = 0; i < 2; i++) {
        assert_true(breaker_allow(&b));
        breaker_report(&b, false);
    }
    assert_true(breaker_allow(&b));
    breaker_report(&b, true); /* a success starts the count again */
    for (int i = 0; i < 3; i++) {
        assert_true(breaker_allow(&b));
        breaker_report(&b, false);
    }
    assert_int_equal(breaker_state(&b), BREAKER_OPEN);
    assert_false(breaker_allow(&b));
    breaker_release(&b);
}

static void one_call_tries_when_the_time_is_over(void **state)
{
    struct clock clock;
    struct breaker b;

    (void)state;
    clock_init_fake(&clock, 1000);
    breaker_init(&b, &clock, 1, 100);
    assert_true(breaker_allow(&b));
    breaker_report(&b, false);
    clock_add_ms(&clock, 99);
    assert_false(breaker_allow(&b));
    clock_add_ms(&clock, 1);
    assert_true(breaker_allow(&b));
    assert_false(breaker_allow(&b)); /* only one at a time */
    breaker_report(&b, true);
    assert_int_equal(breaker_state(&b), BREAKER_CLOSED);
    assert_true(breaker_allow(&b));
    breaker_release(&b);
}

static void each_failed_trial_doubles_the_wait(void **state)
{
    struct clock clock;
    struct breaker b;
    int64_t wait = 100;

    (void)state;
    clock_init_fake(&clock, 1000);
    breaker_init(&b, &clock, 1, 100);
    assert_true(breaker_allow(&b));
    breaker_report(&b, false);
    for (int i = 0; i < 8; i++) {
        clock_add_ms(&clock, wait - 1);
        assert_false(breaker_allow(&b));
        clock_add_ms(&clock, 1);
        assert_true(breaker_allow(&b));
        breaker_report(&b, false);
        wait = wait < 100 * BREAKER_MAX_FACTOR ? wait * 2 : wait;
    }
    breaker_release(&b);
}

static void a_trial_nobody_reports_does_not_block_for_ever(void **state)
{
    struct clock clock;
    struct breaker b;

    (void)state;
    clock_init_fake(&clock, 1000);
    breaker_init(&b, &clock, 1, 100);
    assert_true(breaker_allow(&b));
    breaker_report(&b, false);
    clock_add_ms(&clock, 100);
    assert_true(breaker_allow(&b));
    clock_add_ms(&clock, 100);
    assert_true(breaker_allow(&b));
    breaker_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_after_failures_in_a_row),
        cmocka_unit_test(one_call_tries_when_the_time_is_over),
        cmocka_unit_test(each_failed_trial_doubles_the_wait),
        cmocka_unit_test(a_trial_nobody_reports_does_not_block_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
