/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_breaker.c - the circuit breaker, on a clock that stands still, and on one
 * that somebody sets.
 */
#include "support/test.h"

#include "base/clock.h"
#include "model/breaker.h"
#include "model/llm_gate.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Seconds that the clocks of this program are off: it finds this function
 * before the system's. */
static time_t wall_off;
static time_t mono_off;

int clock_gettime(clockid_t id, struct timespec *out)
{
    long rc = syscall(SYS_clock_gettime, id, out);

    out->tv_sec += id == CLOCK_REALTIME ? wall_off : mono_off;
    return (int)rc;
}

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

/* Somebody sets the clock back by a day: a minute is still a minute. */
static void a_clock_that_is_set_makes_no_wait_longer(void **state)
{
    struct breaker b;
    struct llm_gate gate;

    (void)state;
    breaker_init(&b, &clock_system, 1, 60000);
    llm_gate_init(&gate, &clock_system, 1);
    assert_true(breaker_allow(&b));
    breaker_report(&b, false);
    llm_gate_hold(&gate, 60000);
    wall_off -= 24 * 3600;
    assert_false(breaker_allow(&b));
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_RATE_LIMITED);
    mono_off += 61;
    assert_true(breaker_allow(&b));
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_OK);
    llm_gate_leave(&gate);
    llm_gate_release(&gate);
    breaker_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_after_failures_in_a_row),
        cmocka_unit_test(one_call_tries_when_the_time_is_over),
        cmocka_unit_test(each_failed_trial_doubles_the_wait),
        cmocka_unit_test(a_trial_nobody_reports_does_not_block_for_ever),
        cmocka_unit_test(a_clock_that_is_set_makes_no_wait_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
