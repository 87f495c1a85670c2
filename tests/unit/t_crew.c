/* SPDX-License-Identifier: Apache-2.0 */
/* A crew does each step once, whoever calls and however many help. */
#include "support/test.h"

#include "base/crew.h"

#include <pthread.h>
#include <stdatomic.h>

#define STEPS 500
#define CALLERS 6

struct tally {
    struct crew *crew;
    _Atomic int done[STEPS];
};

static void count_step(void *arg, size_t step)
{
    struct tally *tally = arg;

    tally->done[step]++;
}

static void each_step_is_done_once(void **state)
{
    (void)state;
    for (size_t helpers = 0; helpers < 10; helpers++) {
        struct crew *crew = crew_open(helpers, NULL);

        assert_non_null(crew);
        for (size_t n = 0; n < STEPS; n = n * 3 + 1) {
            struct tally tally = {.crew = crew};

            crew_run(crew, count_step, &tally, n);
            for (size_t i = 0; i < STEPS; i++) {
                assert_int_equal(tally.done[i], i < n);
            }
        }
        crew_close(crew);
    }
}

static void *call(void *arg)
{
    struct tally *tally = arg;

    for (int round = 0; round < 50; round++) {
        crew_run(tally->crew, count_step, tally, STEPS);
    }
    return NULL;
}

static void callers_side_by_side_get_their_own(void **state)
{
    static struct tally tallies[CALLERS];
    pthread_t threads[CALLERS];
    struct crew *crew = crew_open(3, NULL);

    (void)state;
    for (size_t i = 0; i < CALLERS; i++) {
        tallies[i].crew = crew;
        assert_int_equal(pthread_create(&threads[i], NULL, call, &tallies[i]),
                         0);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (size_t k = 0; k < STEPS; k++) {
            assert_int_equal(tallies[i].done[k], 50);
        }
    }
    crew_close(crew);
}

/* What was begun goes on while the caller has other things done. */
static void two_parts_are_one_run(void **state)
{
    (void)state;
    for (size_t helpers = 0; helpers < 4; helpers++) {
        struct crew *crew = crew_open(helpers, "t-crew");
        struct tally first = {.crew = crew};
        struct tally second = {.crew = crew};
        struct crew_job job;

        for (size_t n = 0; n < STEPS; n = n * 3 + 1) {
            crew_begin(crew, &job, count_step, &first, n);
            crew_run(crew, count_step, &second, STEPS);
            crew_end(crew, &job);
        }
        assert_int_equal(first.done[0], 6);
        assert_int_equal(first.done[120], 2);
        assert_int_equal(first.done[121], 1);
        assert_int_equal(first.done[364], 0);
        assert_int_equal(second.done[STEPS - 1], 7);
        crew_close(crew);
    }
}

static void nobody_is_a_crew_too(void **state)
{
    struct tally tally = {0};
    struct crew_job job;

    (void)state;
    crew_run(NULL, count_step, &tally, 3);
    crew_begin(NULL, &job, count_step, &tally, 2);
    assert_int_equal(tally.done[1], 1);
    crew_end(NULL, &job);
    assert_int_equal(tally.done[1], 2);
    assert_int_equal(tally.done[2], 1);
    assert_int_equal(tally.done[3], 0);
    crew_close(NULL);
    assert_true(crew_fitting() <= CREW_MAX_HELPERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_is_done_once),
        cmocka_unit_test(callers_side_by_side_get_their_own),
        cmocka_unit_test(two_parts_are_one_run),
        cmocka_unit_test(nobody_is_a_crew_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
