/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a conversation: what is offered, and every answer. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/ask/context.h"
#include "engine/ask/start.h"

static struct uuid research; /* a chat about payments */

static int open_own(void **state)
{
    (void)state;
    talk_open(&talk);
    talk_script(&talk, "u:Help me research the payment gateway"
                       "|a:Stripe and PayPal are the usual ones."
                       "|u:We use the Stripe payment API v2023-10|a:ok"
                       "|u:Our payment webhook endpoint is /api/webhooks/stripe"
                       "|a:ok|u:I'll go with Stripe for the payment gateway");
    research = talk.chat_id;
    talk_leave(&talk);
    talk_script(&talk, "u:Help me design the checkout endpoints"
                       "|a:Use POST /checkout with a token of the cart."
                       "|u:that did it, thanks!");
    talk_leave(&talk);
    talk_script(&talk, "u:My tomatoes grow well on the balcony|a:Nice.");
    clock_add_ms(&talk.world.clock, 3 * CLOCK_DAY_MS);
    return 0;
}

static struct start begin(const char *intent)
{
    struct clew_error err = {0};
    struct start start;

    if (start_begin(&talk.world.engine, &talk.world.scope, &talk.world.arena,
                    STR("ada"), str_of(intent), &start, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return start;
}

static struct start_choice choose(const struct start *start, const char *answer)
{
    struct clew_error err = {0};
    struct start_choice choice;

    if (start_choose(&talk.world.engine, &talk.world.scope, &talk.world.arena,
                     &start->id, (struct str){0}, str_of(answer), &choice,
                     &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return choice;
}

static void related_context_is_shown_with_four_options(void **state)
{
    struct start start = begin("work on the payment integration");

    (void)state;
    print_message("%s", start.text.s);
    assert_true(start.n_chats >= 1);
    assert_true(uuid_eq(&start.chats[0].chat.id, &research));
    assert_true(start.chats[0].has_open_effort);
    assert_true(start.n_memories >= 2);
    assert_int_equal(start.n_options, 4);
    assert_non_null(strstr(start.text.s,
                           "RELATED CHATS:\n  1. \"Help me "
                           "research the payment gateway\" (3 days ago)\n"));
    assert_non_null(strstr(start.text.s, "     Artifacts: "));
    assert_non_null(strstr(start.text.s, "1 open effort"));
    assert_non_null(strstr(start.text.s, "RELEVANT ARTIFACTS:\n  • ["));
    assert_non_null(strstr(start.text.s,
                           "  1. Continue \"Help me research the "
                           "payment gateway\" (has open effort)\n"));
    assert_non_null(
        strstr(start.text.s, "  4. Start fresh (no prior context)\n"));
    assert_null(strstr(start.text.s, "tomatoes"));
}

static void one_continues_the_chat(void **state)
{
    struct start start = begin("work on the payment integration");
    struct start_choice choice = choose(&start, "1");

    (void)state;
    assert_int_equal(choice.action, START_CONTINUE);
    assert_true(uuid_eq(&choice.chat_id, &research));
}

static void just_continue_picks_the_most_relevant(void **state)
{
    struct start start = begin("work on the payment integration");
    struct start_choice choice = choose(&start, "just continue");

    (void)state;
    assert_int_equal(choice.action, START_CONTINUE);
    assert_true(uuid_eq(&choice.chat_id, &research));
}

static void two_forks_a_chat(void **state)
{
    struct start start = begin("work on the payment integration");
    struct start_choice choice = choose(&start, " 2 ");
    struct chat chat;

    (void)state;
    assert_int_equal(choice.action, START_FORK);
    assert_int_equal(chat_get(&talk.world.engine, &talk.world.scope,
                              &talk.world.arena, &choice.chat_id, &chat, NULL),
                     CLEW_OK);
    assert_true(uuid_eq(&chat.parent_id, &start.options[1].chat_id));
}

static void three_imports_what_is_selected(void **state)
{
    struct start start = begin("work on the payment integration");
    struct start_choice choice = choose(&start, "3, include 1,2");
    struct context_request request = {.budget_tokens = 1000};
    struct context context;

    (void)state;
    assert_int_equal(choice.action, START_NEW);
    assert_int_equal(choice.n_imported, 2);
    assert_true(uuid_eq(&choice.imported[0], &start.memories[0].id));
    request.chat_id = choice.chat_id;
    assert_int_equal(context_build(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &request, &context, NULL),
                     CLEW_OK);
    assert_int_equal(context.parts[CONTEXT_MEMORY].count, 2);
    choice = choose(&start, "3, exclude 1");
    assert_int_equal(choice.n_imported, start.n_memories - 1);
    choice = choose(&start, "3");
    assert_int_equal(choice.n_imported, start.n_memories);
}

static void four_starts_fresh(void **state)
{
    struct start start = begin("work on the payment integration");
    struct start_choice choice = choose(&start, "4");

    (void)state;
    assert_int_equal(choice.action, START_FRESH);
    assert_int_equal(choice.n_imported, 0);
    assert_false(uuid_is_nil(&choice.chat_id));
}

static void nonsense_gets_the_options_again(void **state)
{
    static const char *const answers[] = {
        "",   "5",         "0",           "blue",          "12",
        "1x", "3 include", "3, include",  "3, include 99", "3, maybe 1",
        "-1", "4, please", "3, exclude x"};
    struct start start = begin("work on the payment integration");

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct start_choice choice = choose(&start, answers[i]);

        if (choice.action != START_ASK) {
            fail_msg("\"%s\" was taken for an answer", answers[i]);
        }
        assert_true(uuid_is_nil(&choice.chat_id));
        assert_non_null(strstr(choice.text.s, "Options:\n"));
    }
}

static void nothing_related_offers_a_fresh_start_only(void **state)
{
    struct start start = begin("quantum chromodynamics lattice simulation");

    (void)state;
    print_message("%s", start.text.s);
    assert_int_equal(start.n_chats, 0);
    assert_int_equal(start.n_options, 1);
    assert_int_equal(choose(&start, "1").action, START_ASK);
    assert_int_equal(choose(&start, "just continue").action, START_FRESH);
}

static void a_start_of_another_tenant_is_unknown(void **state)
{
    struct start start = begin("work on the payment integration");
    struct start_choice choice;

    (void)state;
    assert_int_equal(start_choose(&talk.world.engine, &talk.world.other,
                                  &talk.world.arena, &start.id, (struct str){0},
                                  STR("1"), &choice, NULL),
                     CLEW_NOT_FOUND);
    assert_int_equal(start_choose(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &start.id, STR("nobody"),
                                  STR("1"), &choice, NULL),
                     CLEW_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_own, close_talk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(related_context_is_shown_with_four_options),
        TEST(one_continues_the_chat),
        TEST(just_continue_picks_the_most_relevant),
        TEST(two_forks_a_chat),
        TEST(three_imports_what_is_selected),
        TEST(four_starts_fresh),
        TEST(nonsense_gets_the_options_again),
        TEST(nothing_related_offers_a_fresh_start_only),
        TEST(a_start_of_another_tenant_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
