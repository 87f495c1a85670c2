/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_call_clock.c - calls without a time of their own get the clock's.
 *
 * A program by itself: what is tried is the very first call of a process, which
 * has no time before it.
 */
#include "support/test.h"
#include "support/world.h"

#include "base/json.h"
#include "engine/call/call.h"

static struct world world;

static int open_world(void **state)
{
    (void)state;
    world_open(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static int64_t link_now(const char *text)
{
    json_t *messages =
        json_pack("[{s:s, s:s}]", "role", "user", "content", text);
    struct call_input input = {
        .created_at_ms = CALL_NOW,
        .messages = messages,
        .call = {.api = STR("link"), .is_complete = true}};
    struct call_result result;

    assert_non_null(messages);
    assert_int_equal(call_link(&world.engine, &world.scope, &world.arena,
                               &input, &result, NULL),
                     CLEW_OK);
    json_decref(messages);
    return result.request.created_at_ms;
}

static void calls_by_the_clock_come_one_after_another(void **state)
{
    int64_t first;

    (void)state;
    first = link_now("hi");
    assert_true(first >= WORLD_NOW);
    assert_int_equal(link_now("hello"), first + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            calls_by_the_clock_come_one_after_another, open_world, close_world),
    };
    int failed;

    json_setup();
    failed = cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
    world_backend = "postgres";
    return failed + cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
}
