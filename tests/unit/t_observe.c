/* SPDX-License-Identifier: Apache-2.0 */
/* What a turn leaves behind: facts, events, decisions, and what must not. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/memory/lineage.h"
#include "engine/thought/memory_view.h"

static struct memory_view view_of(const struct memory *memory)
{
    struct memory_view view;

    assert_non_null(memory);
    assert_int_equal(memory_view_get(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &memory->id, &view,
                                     NULL),
                     CLEW_OK);
    return view;
}

static size_t count_all(void)
{
    return talk_count(&talk, "");
}

static void greetings_leave_nothing(void **state)
{
    (void)state;
    talk_script(&talk, "u:hello how are you?|a:Hi! How can I help?|u:hi");
    assert_int_equal(count_all(), 0);
}

static void system_prompts_are_never_mined(void **state)
{
    (void)state;
    talk_say(&talk, 's', "I live in Berlin. I work at Siemens.");
    assert_int_equal(count_all(), 0);
}

static void injected_text_is_never_mined(void **state)
{
    (void)state;
    talk_say(&talk, 'u',
             "<clew-context hash=\"1\">\nI live in Berlin.\n</clew-context>\n"
             "I work at Siemens as an engineer");
    assert_int_equal(talk_count(&talk, "fact"), 1);
    assert_non_null(
        strstr(talk_memory(&talk, "fact", 0)->summary.s, "Siemens"));
}

static void an_unclosed_fence_hides_the_rest(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "<clew-context>\nI live in Berlin.");
    assert_int_equal(count_all(), 0);
}

static void a_question_answered_becomes_a_fact_of_both_turns(void **state)
{
    struct memory_view view;

    (void)state;
    talk_script(&talk, "u:what's the capital of France?"
                       "|a:The capital of France is Paris.");
    assert_int_equal(talk_count(&talk, "fact"), 1);
    view = view_of(talk_memory(&talk, "fact", 0));
    assert_non_null(strstr(view.memory.summary.s, "Paris"));
    assert_true(view.n_refs >= 1);
    assert_true(uuid_eq(&view.refs[0].chat_id, &talk.chat_id));
}

static void a_memory_cites_its_turn(void **state)
{
    struct memory_view view;

    (void)state;
    talk_script(&talk, "u:hello|a:hi|u:I work at Siemens as an engineer");
    view = view_of(talk_memory(&talk, "fact", 0));
    assert_int_equal(view.n_refs, 1);
    assert_int_equal(view.refs[0].first_seq, 3);
    assert_int_equal(view.refs[0].last_seq, 3);
    assert_int_equal(view.memory.created_at_ms, talk.at_ms);
}

static void the_same_statement_is_kept_once(void **state)
{
    struct memory_view view;

    (void)state;
    talk_script(&talk, "u:I work at Siemens as an engineer|a:ok"
                       "|u:I work at Siemens as an engineer!");
    assert_int_equal(talk_count(&talk, "fact"), 1);
    view = view_of(talk_memory(&talk, "fact", 0));
    assert_int_equal(view.n_refs, 2);
}

static void a_newer_statement_refines_the_older(void **state)
{
    struct memory_view older;

    (void)state;
    talk_script(&talk, "u:I live in Berlin|a:nice"
                       "|u:I moved to Hamburg last month");
    assert_non_null(strstr(talk_notices(&talk), ":refined]"));
    older = view_of(talk_memory(&talk, "fact", 0));
    assert_true(older.is_superseded);
    assert_int_equal(older.memory.retracted_at_ms, 0);
}

static void what_was_so_can_be_so_again(void **state)
{
    (void)state;
    talk_script(&talk, "u:I live in Berlin|a:nice"
                       "|u:I moved to Hamburg last month|a:ok"
                       "|u:I live in Berlin");
    assert_int_equal(talk_count(&talk, "fact"), 2);
    assert_true(view_of(talk_memory(&talk, "fact", 0)).is_superseded);
    assert_false(view_of(talk_memory(&talk, "fact", 1)).is_superseded);
}

static void an_unrelated_statement_supersedes_nothing(void **state)
{
    (void)state;
    talk_script(&talk, "u:I live in Berlin|a:nice"
                       "|u:I work at Siemens as an engineer");
    assert_false(view_of(talk_memory(&talk, "fact", 0)).is_superseded);
    assert_false(view_of(talk_memory(&talk, "fact", 1)).is_superseded);
}

static void a_reminder_is_an_event(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "remind me to call mom tomorrow");
    assert_int_equal(talk_count(&talk, "event"), 1);
    assert_int_equal(talk_count(&talk, "effort"), 0);
    assert_non_null(strstr(talk_notices(&talk),
                           "[event] remind me to call mom tomorrow [2026-"));
}

static void a_planned_event_expires(void **state)
{
    const struct memory *event;

    (void)state;
    talk_say(&talk, 'u', "remind me to call the dentist tomorrow");
    event = talk_memory(&talk, "event", 0);
    assert_non_null(event);
    assert_true(event->expires_at_ms > talk.at_ms);
}

static void a_choice_is_a_decision(void **state)
{
    (void)state;
    talk_script(&talk, "u:Let's compare Stripe and PayPal"
                       "|a:Stripe has better webhooks."
                       "|u:I'll go with Stripe");
    assert_int_equal(talk_count(&talk, "decision"), 1);
    assert_non_null(
        strstr(talk_memory(&talk, "decision", 0)->summary.s, "Stripe"));
}

static void updates_tell_each_memory(void **state)
{
    const struct updates *updates;

    (void)state;
    talk_say(&talk, 'u', "I work at Siemens as an engineer");
    updates = &talk.last.updates;
    assert_int_equal(updates->n_memories, 1);
    assert_string_equal(updates->memories[0].change, "created");
    assert_int_equal(updates->n_notices, 1);
}

static void ids_are_derived_from_the_turn(void **state)
{
    const struct memory *memory;
    struct uuid id;

    (void)state;
    talk_say(&talk, 'u', "I work at Siemens as an engineer");
    memory = talk_memory(&talk, "fact", 0);
    id = uuid_derive(talk.last.turn.created_at_ms, &talk.last.turn.id, "memory",
                     0);
    assert_true(uuid_eq(&memory->id, &id));
}

static void a_fork_answers_turns_of_its_parent(void **state)
{
    struct chat fork;

    (void)state;
    talk_script(&talk, "u:what's the capital of France?");
    assert_int_equal(chat_fork_at(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &talk.chat_id, -1,
                                  (struct str){0}, &fork, NULL),
                     CLEW_OK);
    talk.chat_id = fork.id;
    talk_say(&talk, 'a', "The capital of France is Paris.");
    assert_int_equal(talk_count(&talk, "fact"), 1);
}

static void ten_megabytes_are_observed_in_bounds(void **state)
{
    size_t size = (size_t)10 << 20;
    char *text = malloc(size + 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'x', size);
    text[size] = '\0';
    talk_say(&talk, 'u', text);
    talk_say(&talk, 'u', "hello");
    free(text);
    assert_int_equal(talk_count(&talk, "fact"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(greetings_leave_nothing),
        TEST(system_prompts_are_never_mined),
        TEST(injected_text_is_never_mined),
        TEST(an_unclosed_fence_hides_the_rest),
        TEST(a_question_answered_becomes_a_fact_of_both_turns),
        TEST(a_memory_cites_its_turn),
        TEST(the_same_statement_is_kept_once),
        TEST(a_newer_statement_refines_the_older),
        TEST(what_was_so_can_be_so_again),
        TEST(an_unrelated_statement_supersedes_nothing),
        TEST(a_reminder_is_an_event),
        TEST(a_planned_event_expires),
        TEST(a_choice_is_a_decision),
        TEST(updates_tell_each_memory),
        TEST(ids_are_derived_from_the_turn),
        TEST(a_fork_answers_turns_of_its_parent),
        TEST(ten_megabytes_are_observed_in_bounds),
    };

    return WORLD_EACH(tests);
}
