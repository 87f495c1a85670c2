/* SPDX-License-Identifier: Apache-2.0 */
/* Efforts: each sentence of spec/chats.md about them, and the dialogues. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/ask/context.h"
#include "engine/effort/effort_thread.h"
#include "engine/thought/memory_view.h"

static struct effort effort_of(size_t n)
{
    struct effort effort;
    const struct memory *memory = talk_memory(&talk, "effort", n);

    assert_non_null(memory);
    assert_int_equal(effort_get(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &memory->id, &effort, NULL),
                     CLEW_OK);
    return effort;
}

static void has_notice(const char *part)
{
    if (!strstr(talk_notices(&talk), part)) {
        fail_msg("no \"%s\" in:\n%s", part, talk_notices(&talk));
    }
}

static void is_status(size_t n, const char *status)
{
    assert_string_equal(talk_memory(&talk, "effort", n)->status.s, status);
}

static void the_401_error_is_resolved_and_compacted(void **state)
{
    const struct memory *memory;

    (void)state;
    talk_script(&talk, "u:I'm getting a 401 error"
                       "|a:Let's look. Is the token still valid?"
                       "|u:here is the log, it says unauthorized on every call"
                       "|a:The token may have expired; try refreshing it.");
    is_status(0, "open");
    talk_say(&talk, 'u', "Oh! Token was expired, works now!");
    memory = talk_memory(&talk, "effort", 0);
    assert_string_equal(memory->status.s, "resolved");
    /* few words of their own: what they answer stands beside them */
    assert_string_equal(memory->resolution.s,
                        "Token was expired, works now! [assistant: The token "
                        "may have expired; try refreshing it.]");
    has_notice("[effort:resolved] I'm getting a 401 error\n");
    has_notice("\n  => Token was expired, works now! [assistant: ");
    has_notice(" raw → ");
    has_notice(" compacted | Savings: ");
    assert_int_equal(effort_of(0).state, EFFORT_COLLAPSED);
}

static void mom_stays_out_of_the_auth_effort(void **state)
{
    struct effort effort;

    (void)state;
    talk_script(&talk, "u:I'm getting a weird error in auth"
                       "|a:Let's investigate. What does the log say?"
                       "|u:also, remind me to call mom later");
    effort = effort_of(0);
    assert_int_equal(effort.last_seq, 2);
    talk_script(&talk, "a:Sure.|u:back to that bug - I tried X");
    has_notice("[effort:active] I'm getting a weird error in auth");
    assert_int_equal(effort_of(0).last_seq, 5);
    assert_int_equal(effort_of(0).first_seq, 5);
    talk_script(&talk, "a:What about rotating the key?|u:that fixed it!");
    is_status(0, "resolved");
}

static void attempts_of_the_auth_bug_fail_and_find(void **state)
{
    const struct memory *memory;

    (void)state;
    talk_script(&talk, "u:Help me debug the auth bug|a:Try refreshing the "
                       "token.|u:Didn't work, same error");
    has_notice("[attempt:failed] Try refreshing the token");
    talk_script(&talk, "a:Check the headers then.|u:no luck, the headers look "
                       "fine");
    has_notice("[attempt:failed] Check the headers");
    is_status(0, "open");
    talk_script(&talk, "a:Let's inspect the JWT payload.|u:Found it! The token "
                       "had the wrong audience claim, that fixed it");
    has_notice("[attempt:found] Inspect the JWT payload");
    memory = talk_memory(&talk, "effort", 0);
    assert_string_equal(memory->status.s, "resolved");
    assert_string_equal(memory->resolution.s,
                        "The token had the wrong audience claim, that fixed "
                        "it");
    assert_int_equal(talk_count(&talk, "effort"), 4);
    for (size_t i = 1; i < 4; i++) {
        assert_true(
            uuid_eq(&talk_memory(&talk, "effort", i)->parent_id, &memory->id));
    }
    assert_string_equal(effort_of(3).outcome.s, "found");
}

static void an_offer_that_is_declined_was_not_tried(void **state)
{
    (void)state;
    talk_script(&talk, "u:Help me fix the login page|a:The cookie is stale. "
                       "Shall I write to the hosting people?"
                       "|u:No, still the same error when I log in");
    assert_int_equal(talk_count(&talk, "effort"), 1);
    talk_script(&talk, "a:Have you tried a private window?"
                       "|u:Same error there, made no difference");
    has_notice("[attempt:failed] ");
    assert_int_equal(talk_count(&talk, "effort"), 2);
}

static void thanks_with_one_more_thing_resolves(void **state)
{
    (void)state;
    talk_script(&talk, "u:Help me fix the login page"
                       "|a:Clear the cookies of the login page."
                       "|u:Thanks! But one more thing...");
    is_status(0, "resolved");
}

static void sarcasm_and_another_approach_do_not_resolve(void **state)
{
    (void)state;
    talk_script(&talk, "u:Help me fix the login page|a:Clear the cookies."
                       "|u:Oh great, thanks for nothing");
    is_status(0, "open");
    talk_script(&talk, "a:Sorry.|u:What about this other approach?");
    is_status(0, "open");
    talk_script(&talk, "a:Which one?|u:I have no idea");
    is_status(0, "open");
}

static void holding_never_resolves(void **state)
{
    (void)state;
    talk_script(&talk, "u:Help me fix the login page|a:Clear the cookies."
                       "|u:I'll come back to this later");
    is_status(0, "open");
    talk_script(&talk, "a:ok|u:put it on hold|a:ok|u:Thanks!");
    is_status(0, "open");
}

static void thanks_after_the_topic_moved_on_resolves_nothing(void **state)
{
    (void)state;
    talk_script(&talk,
                "u:Help me fix the login page|a:Clear the cookies first."
                "|u:The weather in Madrid was wonderful during our holiday"
                "|a:How nice, Madrid is lovely in spring."
                "|u:Our neighbours bought a yellow sports car"
                "|a:A fast one?|u:Thanks for asking, it is");
    is_status(0, "open");
}

static void three_turns_without_a_reference_collapse(void **state)
{
    (void)state;
    talk_script(&talk,
                "u:Help me plan the garden layout|a:Start with the beds."
                "|u:The weather in Madrid was wonderful during our holiday"
                "|a:Nice.|u:Our neighbour bought a yellow sports car yesterday"
                "|a:Wow.");
    assert_int_equal(effort_of(0).state, EFFORT_ACTIVE);
    talk_say(&talk, 'u', "My sister plays the violin in an orchestra");
    assert_int_equal(effort_of(0).state, EFFORT_COLLAPSED);
    is_status(0, "open");
    has_notice("[effort:collapsed] Help me plan the garden layout");
}

static void a_name_brings_one_back_and_a_vague_word_asks(void **state)
{
    (void)state;
    talk_script(&talk, "u:Help me fix the login page|a:ok"
                       "|u:Build a report for marketing|a:ok"
                       "|u:back to that one");
    has_notice("[effort:which]");
    assert_int_equal(effort_of(0).state, EFFORT_COLLAPSED);
    talk_say(&talk, 'u', "back to the login page");
    has_notice("[effort:active] Help me fix the login page");
    assert_int_equal(effort_of(0).state, EFFORT_ACTIVE);
    assert_int_equal(effort_of(1).state, EFFORT_COLLAPSED);
}

static void coming_back_in_another_chat_goes_on_there(void **state)
{
    struct effort effort;

    (void)state;
    talk_script(&talk, "u:Help me fix the login page|a:ok");
    talk_leave(&talk);
    talk_say(&talk, 'u', "back to the login page");
    has_notice("[effort:active] Help me fix the login page");
    effort = effort_of(0);
    assert_true(uuid_eq(&effort.thread_id, &talk.chat_id));
    assert_int_equal(talk_count(&talk, "effort"), 1);
}

static void reopening_keeps_the_log_and_closing_tells_the_whole(void **state)
{
    const struct memory *memory;

    (void)state;
    talk_script(&talk, "u:Help me fix the login page|a:hm"
                       "|u:Clearing the cookies fixed it|a:great"
                       "|u:back to the login page, it fails again");
    has_notice("[effort:reopened] Help me fix the login page");
    is_status(0, "open");
    talk_script(&talk, "a:hm|u:Restarting the proxy fixed it");
    memory = talk_memory(&talk, "effort", 0);
    assert_string_equal(memory->status.s, "resolved");
    assert_non_null(strstr(memory->resolution.s, "Restarting the proxy"));
    assert_non_null(strstr(memory->resolution.s, "Clearing the cookies"));
    assert_non_null(strstr(memory->fields.s, "\"log\""));
}

static void the_title_of_the_chat_is_its_first_effort(void **state)
{
    (void)state;
    talk_script(&talk, "u:hello|a:hi|u:Help me fix the login page");
    assert_string_equal(talk.last.chat.title.s, "Help me fix the login page");
    talk_script(&talk, "a:ok|u:Build a report for marketing");
    assert_string_equal(talk.last.chat.title.s, "Help me fix the login page");
}

static void an_action_resolves_reopens_and_abandons(void **state)
{
    struct str resolution = STR("done by hand");
    struct memory_action resolve = {.status = "resolved",
                                    .resolution = &resolution};
    struct memory_action reopen = {.status = "open"};
    struct memory_action abandon = {.status = "abandoned"};
    struct memory_view view;
    struct uuid id;

    (void)state;
    talk_script(&talk, "u:Help me fix the login page");
    id = talk_memory(&talk, "effort", 0)->id;
    assert_int_equal(memory_view_act(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &id, &resolve, &view,
                                     NULL),
                     CLEW_OK);
    assert_false(effort_of(0).is_open);
    assert_int_equal(effort_of(0).state, EFFORT_COLLAPSED);
    assert_int_equal(memory_view_act(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &id, &reopen, &view,
                                     NULL),
                     CLEW_OK);
    assert_int_equal(effort_of(0).state, EFFORT_ACTIVE);
    assert_int_equal(memory_view_act(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &id, &abandon, &view,
                                     NULL),
                     CLEW_OK);
    is_status(0, "abandoned");
}

static void a_spawned_effort_has_a_context_of_its_own(void **state)
{
    struct effort_spawn input = {.user_id = STR("ada"),
                                 .goal = STR("Find the slow query")};
    struct context_request request = {.budget_tokens = 2000};
    struct context context;
    struct effort effort;

    (void)state;
    talk_script(&talk, "u:Help me fix the login page|a:ok");
    input.chat_id = talk.chat_id;
    assert_int_equal(effort_spawn(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &input, &effort, NULL),
                     CLEW_OK);
    talk.chat_id = effort.thread_id;
    talk_script(&talk, "u:Look at the slow log of the database"
                       "|a:The orders table lacks an index on user_id.");
    request.chat_id = effort.thread_id;
    assert_int_equal(context_build(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &request, &context, NULL),
                     CLEW_OK);
    assert_non_null(strstr(context.text.s, "lacks an index"));
    assert_null(strstr(context.text.s, "login page"));
    assert_int_equal(effort_collapse(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &effort.memory_id,
                                     &(struct effort_ending){0}, &effort, NULL),
                     CLEW_OK);
    assert_string_equal(effort.status.s, "resolved");
    assert_non_null(strstr(effort.resolution.s, "lacks an index"));
    request.chat_id = input.chat_id;
    assert_int_equal(context_build(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &request, &context, NULL),
                     CLEW_OK);
    assert_non_null(
        strstr(context.text.s, "[effort:resolved] Find the slow query => "));
    assert_null(strstr(context.text.s, "slow log of the database"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_401_error_is_resolved_and_compacted),
        TEST(mom_stays_out_of_the_auth_effort),
        TEST(attempts_of_the_auth_bug_fail_and_find),
        TEST(an_offer_that_is_declined_was_not_tried),
        TEST(thanks_with_one_more_thing_resolves),
        TEST(sarcasm_and_another_approach_do_not_resolve),
        TEST(holding_never_resolves),
        TEST(thanks_after_the_topic_moved_on_resolves_nothing),
        TEST(three_turns_without_a_reference_collapse),
        TEST(a_name_brings_one_back_and_a_vague_word_asks),
        TEST(coming_back_in_another_chat_goes_on_there),
        TEST(reopening_keeps_the_log_and_closing_tells_the_whole),
        TEST(the_title_of_the_chat_is_its_first_effort),
        TEST(an_action_resolves_reopens_and_abandons),
        TEST(a_spawned_effort_has_a_context_of_its_own),
    };

    return WORLD_EACH(tests);
}
