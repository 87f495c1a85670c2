/* SPDX-License-Identifier: Apache-2.0 */
/* Skills: the rules of confidence, and finding what recurs. */
#include "support/test.h"

#include "base/arena.h"
#include "base/clock.h"
#include "talk/skill.h"

#include <math.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) < 5e-4;
}

static void fifteen_clean_sightings_are_kept_and_five_are_not(void **state)
{
    static const double clean[4] = {1, 1, 1, 1};
    static const double worse[4] = {1, 1, 1, 0.5};

    (void)state;
    assert_true(is_near(skill_confidence(15, clean), 0.702));
    assert_true(skill_is_kept(skill_confidence(15, clean)));
    assert_true(is_near(skill_confidence(5, worse), 0.542));
    assert_false(skill_is_kept(skill_confidence(5, worse)));
    assert_true(is_near(skill_confidence(50, clean), 1.0));
    assert_true(is_near(skill_confidence(500, clean), 1.0));
    assert_false(skill_is_kept(0.7));
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

static void a_fix_that_worked_sixteen_times_is_a_skill(void **state)
{
    static const char *const said[] = {
        "The deploy to the staging server fails with a permission error.",
        "1. Run the login command on the staging server.\n"
        "2. Restart the deploy job.\n3. Check the log.",
        "Great, that fixed it!"};
    struct analysis analyses[3];
    struct skill_turn turns[48];
    struct skill *skills = NULL;
    struct clew_error err = {0};
    struct arena arena;
    size_t count = 0;

    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    for (size_t i = 0; i < 3; i++) {
        struct analysis_options options = {0};

        assert_int_equal(
            analysis_run(&arena, str_of(said[i]), &options, &analyses[i], &err),
            CLEW_OK);
    }
    for (size_t i = 0; i < 48; i++) {
        turns[i] = (struct skill_turn){&analyses[i % 3], i % 3 != 1};
    }
    assert_int_equal(skill_find(&arena, turns, 48, &skills, &count), CLEW_OK);
    assert_int_equal(count, 1);
    assert_int_equal(skills[0].n_sightings, 16);
    assert_int_equal(skills[0].n_steps, 3);
    assert_int_equal(skills[0].n_examples, SKILL_MAX_EXAMPLES);
    assert_true(skill_is_kept(skills[0].confidence));
    /* twice is no pattern */
    assert_int_equal(skill_find(&arena, turns, 6, &skills, &count), CLEW_OK);
    assert_int_equal(count, 0);
    arena_release(&arena);
}

static void talk_without_steps_teaches_nothing(void **state)
{
    static const char *const said[] = {"How are you?", "I am fine.", "Great!"};
    struct analysis analyses[3];
    struct skill_turn turns[30];
    struct skill *skills = NULL;
    struct clew_error err = {0};
    struct arena arena;
    size_t count = 1;

    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    for (size_t i = 0; i < 3; i++) {
        struct analysis_options options = {0};

        assert_int_equal(
            analysis_run(&arena, str_of(said[i]), &options, &analyses[i], &err),
            CLEW_OK);
    }
    for (size_t i = 0; i < 30; i++) {
        turns[i] = (struct skill_turn){&analyses[i % 3], i % 3 != 1};
    }
    assert_int_equal(skill_find(&arena, turns, 30, &skills, &count), CLEW_OK);
    assert_int_equal(count, 0);
    arena_release(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifteen_clean_sightings_are_kept_and_five_are_not),
        cmocka_unit_test(confidence_follows_use_outcomes_and_idling),
        cmocka_unit_test(a_fix_that_worked_sixteen_times_is_a_skill),
        cmocka_unit_test(talk_without_steps_teaches_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
