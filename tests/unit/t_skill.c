/* SPDX-License-Identifier: Apache-2.0 */
/* Skills: the rules of confidence, and the steps of a text. */
#include "support/test.h"

#include "base/clock.h"
#include "talk/skill.h"

#include <math.h>
#include <string.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) < 5e-4;
}

static void confidence_grows_with_sightings_and_checks(void **state)
{
    static const double clean[4] = {1, 1, 1, 1};
    static const double worse[4] = {1, 1, 1, 0.5};

    (void)state;
    assert_true(is_near(skill_confidence(15, clean), 0.702));
    assert_true(is_near(skill_confidence(5, worse), 0.542));
    assert_true(is_near(skill_confidence(50, clean), 1.0));
    assert_true(is_near(skill_confidence(500, clean), 1.0));
}

static void confidence_follows_use_outcomes_and_idling(void **state)
{
    (void)state;
    assert_true(is_near(skill_after_use(0.8, 3, 4), 0.775));
    assert_true(is_near(skill_after_use(0.8, 0, 0), 0.8));
    assert_true(is_near(skill_after_outcome(0.8, true), 0.85));
    assert_true(is_near(skill_after_outcome(0.8, false), 0.70));
    assert_true(is_near(skill_after_outcome(0.98, true), 1.0));
    assert_true(is_near(skill_after_outcome(0.05, false), 0.0));
    assert_true(is_near(skill_after_idling(0.8, 29 * CLOCK_DAY_MS), 0.8));
    assert_true(is_near(skill_after_idling(0.8, 60 * CLOCK_DAY_MS), 0.722));
}

static void a_list_in_a_text_is_its_steps(void **state)
{
    struct str steps[SKILL_MAX_STEPS];

    (void)state;
    assert_int_equal(skill_steps(STR("Try this:\n1. Open the valve\n 2) Wait\n"
                                     "That is all."),
                                 steps),
                     2);
    assert_true(str_eq(steps[0], STR("Open the valve")));
    assert_true(str_eq(steps[1], STR("Wait")));
    assert_int_equal(skill_steps(STR("• Ventil zu\n- warten"), steps), 2);
    assert_true(str_eq(steps[0], STR("Ventil zu")));
    assert_int_equal(skill_steps(STR("1、開く\n2．待つ"), steps), 2);
    assert_true(str_eq(steps[1], STR("待つ")));
    /* one item, a number or a dash are no list */
    assert_int_equal(skill_steps(STR("- only this"), steps), 0);
    assert_int_equal(skill_steps(STR("2026 was fine\n3.5 litres\n-x"), steps),
                     0);
    assert_int_equal(skill_steps(STR(""), steps), 0);
}

static void more_steps_than_are_kept_are_left_out(void **state)
{
    struct str steps[SKILL_MAX_STEPS];
    char text[64 * 6];
    size_t len = 0;

    (void)state;
    for (int i = 0; i < 64; i++) {
        memcpy(text + len, "- abc\n", 6);
        len += 6;
    }
    assert_int_equal(skill_steps((struct str){text, len}, steps),
                     SKILL_MAX_STEPS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(confidence_grows_with_sightings_and_checks),
        cmocka_unit_test(confidence_follows_use_outcomes_and_idling),
        cmocka_unit_test(a_list_in_a_text_is_its_steps),
        cmocka_unit_test(more_steps_than_are_kept_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
