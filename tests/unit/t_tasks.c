/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of things to do, and sentences that only look like one. */
#include "support/test.h"

#include "talk/tasks.h"

static size_t count_of(const char *text)
{
    struct str things[TASKS_MAX];

    return tasks_of(str_of(text), things);
}

static void a_list_names_its_things(void **state)
{
    struct str things[TASKS_MAX];

    (void)state;
    assert_int_equal(
        tasks_of(STR("Still to do: redirect the mail, cancel the gym in Leeds "
                     "(30 days notice!), tell the vet."),
                 things),
        3);
    assert_true(str_starts(things[1], STR("cancel the gym")));
    assert_int_equal(count_of("I have to pack the kitchen, sell the sofa and "
                              "book a van."),
                     3);
    assert_int_equal(count_of("What's left: the discussion and the abstract"),
                     2);
    assert_int_equal(count_of("Ich muss die Küche packen, das Sofa verkaufen "
                              "und einen Wagen mieten."),
                     3);
    assert_int_equal(count_of("Il reste à faire : les rideaux, la lampe et le "
                              "tapis"),
                     3);
    assert_int_equal(count_of("Tengo que pagar la luz, llamar a Marta y "
                              "comprar pan"),
                     3);
}

static void one_thing_is_no_list(void **state)
{
    static const char *const none[] = {
        "",
        ":",
        "Fix the login page, it shows 401 and users are angry",
        "I have to find a replacement, ideally somebody for the night shift",
        "I need to fix the login and the session handling",
        "I have to fix the bug, the deadline is Friday and my boss is angry",
        "Build error: undefined reference to foo, bar and baz",
        "Next: the VAT return is due, I've never done it, 10% or 20%?",
        "The pods crash, restart and time out",
        "Our service answers 401 since this morning"};

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        if (count_of(none[i]) != 0) {
            fail_msg("a list: %s", none[i]);
        }
    }
}

static void all_of_it_is_said_so(void **state)
{
    (void)state;
    assert_true(tasks_are_all(STR("Everything is done!")));
    assert_true(tasks_are_all(STR("beides erledigt")));
    assert_false(tasks_are_all(STR("the van is booked")));
    assert_false(tasks_are_all(STR("call me")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_names_its_things),
        cmocka_unit_test(one_thing_is_no_list),
        cmocka_unit_test(all_of_it_is_said_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
