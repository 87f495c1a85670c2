/* SPDX-License-Identifier: Apache-2.0 */
/* Boundaries, episodes, compaction, summaries: the cases of the spec. */
#include "support/one_talk.h"
#include "support/test.h"

#include "base/json.h"
#include "engine/ask/search.h"
#include "engine/capture/close.h"
#include "engine/core/task.h"
#include "engine/core/trace.h"
#include "engine/episode/compact.h"
#include "engine/episode/episode.h"
#include "engine/proof/forget.h"
#include "engine/thought/memory_view.h"
#include "task/worker.h"
#include "text/summarise.h"

#include <stdio.h>

#define MINUTE CLOCK_MINUTE_MS
#define HOUR CLOCK_HOUR_MS

static const struct capture_result *by(const char *channel, int64_t at_ms,
                                       enum turn_role role, const char *text)
{
    return talk_by(&talk, channel, at_ms, role, text);
}

static size_t run_tasks(void)
{
    struct clew_error err = {0};
    size_t run = 0;

    assert_int_equal(worker_run_due(&talk.world.engine, 1000, &run, &err),
                     CLEW_OK);
    return run;
}

static struct episode_view *episodes_of(const struct uuid *chat_id,
                                        size_t *out_count)
{
    struct uuid none = {{0}};
    struct episode_view *views = NULL;
    struct clew_error err = {0};

    assert_int_equal(episode_list(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, chat_id, 0, &none, 100,
                                  &views, out_count, &err),
                     CLEW_OK);
    return views;
}

static struct chat chat_now(const struct uuid *id)
{
    struct clew_error err = {0};
    struct chat chat;

    assert_int_equal(chat_get(&talk.world.engine, &talk.world.scope,
                              &talk.world.arena, id, &chat, &err),
                     CLEW_OK);
    return chat;
}

/* --- boundaries ------------------------------------------------------------
 */

static void thirty_minutes_continue_and_one_ms_more_does_not(void **state)
{
    struct uuid first;

    (void)state;
    first = by("sms", 0, TURN_USER, "one")->turn.chat_id;
    by("sms", 30 * MINUTE, TURN_USER, "two");
    assert_memory_equal(&talk.last.turn.chat_id, &first, 16);
    by("sms", 60 * MINUTE + 1, TURN_USER, "three");
    assert_memory_not_equal(&talk.last.turn.chat_id, &first, 16);
    assert_int_equal(talk.last.chat.last_seq, 1);
    assert_int_equal(chat_now(&first).last_seq, 2);
}

static void one_chat_goes_on_over_two_channels(void **state)
{
    struct uuid first;

    (void)state;
    first = by("sms", 0, TURN_USER, "one")->turn.chat_id;
    by("whatsapp", 5 * MINUTE, TURN_USER, "two");
    assert_memory_equal(&talk.last.turn.chat_id, &first, 16);
    assert_true(str_eq(talk.last.chat.channels, STR("sms,whatsapp")));
}

static void the_trace_says_which_rule_placed_a_turn(void **state)
{
    struct clew_error err = {0};
    struct trace trace;

    (void)state;
    by("sms", 0, TURN_USER, "one");
    by("sms", 31 * MINUTE, TURN_USER, "two");
    assert_int_equal(trace_get(&talk.world.engine, &talk.world.scope,
                               &talk.world.arena, &talk.last.turn.id, &trace,
                               &err),
                     CLEW_OK);
    assert_true(str_find(trace.data, STR("silence longer"), 0) != SIZE_MAX);
    assert_true(str_find(trace.data, STR("\"timeout_ms\":1800000"), 0) !=
                SIZE_MAX);
    assert_int_equal(trace_get(&talk.world.engine, &talk.world.other,
                               &talk.world.arena, &talk.last.turn.id, &trace,
                               &err),
                     CLEW_NOT_FOUND);
}

/* --- episodes --------------------------------------------------------------
 */

static void turn_51_starts_the_next_episode(void **state)
{
    struct episode_view *views;
    struct uuid chat = {{0}};
    struct chat now;
    size_t count;
    char text[64];

    (void)state;
    for (int i = 1; i <= 51; i++) {
        (void)snprintf(text, sizeof(text), "message number %d on Lisbon", i);
        chat = by("sms", i * MINUTE, TURN_USER, text)->turn.chat_id;
        if (i == 50) {
            (void)episodes_of(&chat, &count);
            assert_int_equal(count, 1);
        }
    }
    views = episodes_of(&chat, &count);
    assert_int_equal(count, 2);
    assert_int_equal(views[0].episode.first_seq, 51);
    assert_int_equal(views[1].episode.last_seq, 50);
    now = chat_now(&chat);
    assert_memory_equal(&now.primary_episode_id, &views[0].episode.id, 16);
    assert_int_equal(run_tasks(), 2); /* and a look whether the talk is over */
    views = episodes_of(&chat, &count);
    assert_int_equal(views[1].episode.compacted_seq, 50);
    assert_true(str_eq(views[1].episode.cause, STR("turns")));
    assert_int_equal(views[0].episode.compacted_at_ms, 0);
}

static void silence_compacts_the_chat_that_ended(void **state)
{
    struct uuid chat;
    struct episode_view *views;
    size_t count;

    (void)state;
    chat = by("sms", 0, TURN_USER, "We decided to fly to Lisbon with TAP.")
               ->turn.chat_id;
    by("sms", MINUTE, TURN_ASSISTANT, "Noted: TAP to Lisbon.");
    assert_int_equal(run_tasks(), 0);
    by("sms", HOUR, TURN_USER, "Can you recommend a book?");
    assert_true(run_tasks() >= 1);
    views = episodes_of(&chat, &count);
    assert_int_equal(count, 1);
    assert_int_equal(views[0].episode.compacted_seq, 2);
    assert_true(str_eq(views[0].episode.cause, STR("end")));
    assert_true(str_find(views[0].episode.micro, STR("Lisbon"), 0) != SIZE_MAX);
    assert_true(views[0].episode.coverage >= SUMMARY_MIN_COVERAGE);
    assert_true(str_eq(chat_now(&chat).summary, views[0].episode.micro));
}

static void closing_a_chat_compacts_it(void **state)
{
    struct clew_error err = {0};
    struct chat chat;
    struct uuid id;
    size_t count;

    (void)state;
    id = by("web", 0, TURN_USER, "Plan the trip to Porto")->turn.chat_id;
    assert_int_equal(chat_close(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &id, &chat, &err),
                     CLEW_OK);
    assert_int_equal(run_tasks(), 1);
    assert_int_equal(episodes_of(&id, &count)[0].episode.compacted_seq, 1);
}

static void a_day_compacts_an_open_chat(void **state)
{
    int64_t minutes = 3 * 24 * 60; /* silence ends it later */
    struct chat_change change = {.inactivity_minutes = &minutes};
    struct clew_error err = {0};
    struct chat chat;
    struct uuid id;
    size_t count;

    (void)state;
    id = by("web", 0, TURN_USER, "Plan the trip to Porto")->turn.chat_id;
    assert_int_equal(chat_patch(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &id, &change, &chat, &err),
                     CLEW_OK);
    clock_set_ms(&talk.world.clock, WORLD_NOW + 24 * HOUR - 1);
    assert_int_equal(run_tasks(), 1); /* a look whether the talk is over */
    assert_int_equal(run_tasks(), 0);
    clock_set_ms(&talk.world.clock, WORLD_NOW + 24 * HOUR);
    assert_int_equal(run_tasks(), 1);
    assert_true(str_eq(episodes_of(&id, &count)[0].episode.cause, STR("day")));
}

static void compacting_by_hand_twice_changes_nothing(void **state)
{
    struct clew_error err = {0};
    struct episode_view *first = NULL;
    struct episode_view *second = NULL;
    struct uuid id;
    size_t count;

    (void)state;
    id = by("web", 0, TURN_USER, "Plan the trip to Porto")->turn.chat_id;
    assert_int_equal(compact_chat(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &id, &first, &count, &err),
                     CLEW_OK);
    assert_int_equal(count, 1);
    clock_add_ms(&talk.world.clock, HOUR);
    assert_int_equal(compact_chat(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &id, &second, &count,
                                  &err),
                     CLEW_OK);
    assert_int_equal(first[0].episode.change_seq, second[0].episode.change_seq);
    assert_int_equal(first[0].episode.compacted_at_ms,
                     second[0].episode.compacted_at_ms);
}

static void turns_stay_and_the_episode_is_found_after_compaction(void **state)
{
    struct search_query query = {.query = STR("flight Lisbon TAP"),
                                 .user_id = STR("ada"),
                                 .kinds = RECALL_EPISODE,
                                 .limit = 5,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = WORLD_NOW + 48 * HOUR};
    struct search_result found;
    struct clew_error err = {0};
    struct turn *turns = NULL;
    struct uuid id;
    size_t count;

    (void)state;
    id = by("sms", 0, TURN_USER, "The flight to Lisbon with TAP leaves at 9")
             ->turn.chat_id;
    by("sms", 2 * HOUR, TURN_USER, "Can you recommend a book?");
    (void)run_tasks();
    assert_int_equal(search_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &query, &found, &err),
                     CLEW_OK);
    assert_int_equal(found.count, 1);
    assert_non_null(found.hits[0].episode);
    assert_memory_equal(&found.hits[0].item.chat, &id, 16);
    assert_true(str_find(found.hits[0].text, STR("Lisbon"), 0) != SIZE_MAX);
    assert_int_equal(turn_list(&talk.world.engine, &talk.world.scope,
                               &talk.world.arena, &id, 0, 10, &turns, &count,
                               &err),
                     CLEW_OK);
    assert_int_equal(count, 1);
}

static void forgetting_a_turn_takes_the_summaries_with_it(void **state)
{
    struct forget_receipt receipt;
    struct clew_error err = {0};
    struct forget_input input = {.n_turn_ids = 1};
    struct uuid secret;
    struct uuid chat;
    size_t count;

    (void)state;
    secret =
        by("sms", 0, TURN_USER, "My doctor is Wanda Quill in Oslo")->turn.id;
    chat = talk.last.turn.chat_id;
    by("sms", 2 * HOUR, TURN_USER, "Can you recommend a book?");
    (void)run_tasks();
    assert_non_null(episodes_of(&chat, &count)[0].episode.micro.s);
    input.turn_ids = &secret;
    assert_int_equal(forget_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &input, &receipt, &err),
                     CLEW_OK);
    assert_null(episodes_of(&chat, &count)[0].episode.micro.s);
    assert_null(chat_now(&chat).summary.s);
}

static void forgetting_a_chat_takes_its_episodes_and_links(void **state)
{
    struct forget_receipt receipt;
    struct clew_error err = {0};
    struct forget_input input = {0};
    size_t count;

    (void)state;
    input.chat_id = by("sms", 0, TURN_USER, "What's the weather in New York?")
                        ->turn.chat_id;
    by("sms", HOUR, TURN_USER, "Oh, and what is it on Thursday?");
    assert_int_equal(forget_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &input, &receipt, &err),
                     CLEW_OK);
    (void)episodes_of(&input.chat_id, &count);
    assert_int_equal(count, 0);
    /* the tasks that were asked for find nothing and end well */
    (void)run_tasks();
}

/* --- summaries -------------------------------------------------------------
 */

static void summaries_keep_their_limits_and_their_sources_length(void **state)
{
    struct arena arena;
    struct analysis analyses[60];
    struct summary_turn turns[60];
    struct summary summary;
    struct clew_error err = {0};

    (void)state;
    arena_init(&arena, (size_t)1 << 30);
    for (size_t n = 0; n <= 60; n += n < 4 ? 1 : 14) {
        size_t bytes = 0;

        for (size_t i = 0; i < n; i++) {
            struct analysis_options options = {.time_ms = WORLD_NOW};
            struct str text = str_of(arena_printf(
                &arena,
                "In Lisbon we saw house %zu of Pessoa. We decided to take "
                "tram %zu to Belem. Is the museum of tile number %zu open?",
                i, i * 3, i * 7));

            assert_int_equal(
                analysis_run(&arena, text, &options, &analyses[i], &err),
                CLEW_OK);
            turns[i] = (struct summary_turn){&analyses[i], i % 2 == 0};
            bytes += text.len;
        }
        assert_int_equal(summarise(&arena, turns, n, &summary), CLEW_OK);
        assert_true(text_token_bound(summary.micro.text) <= 100);
        assert_true(text_token_bound(summary.meso.text) <= 500);
        assert_true(text_token_bound(summary.macro.text) <= 1000);
        assert_true(summary.micro.text.len <= bytes);
        assert_true(summary.meso.text.len <= bytes);
        assert_true(summary.macro.text.len <= bytes);
        assert_true(n == 0 || summary.micro.text.len > 0);
        /* every sentence stands where it is cited, in order */
        for (size_t i = 0; i < summary.meso.n_cites; i++) {
            const struct summary_cite *cite = &summary.meso.cites[i];
            struct str said =
                str_sub(analyses[cite->turn].text, cite->from, cite->to);

            assert_true(str_find(summary.meso.text, said, 0) != SIZE_MAX);
            assert_true(i == 0 || cite[-1].turn <= cite->turn);
        }
    }
    arena_release(&arena);
}

static void coverage_counts_names_decisions_and_open_questions(void **state)
{
    static const struct summary_item items[] = {
        {SUMMARY_NAME, {"Lisbon", 6}, 0, 1},
        {SUMMARY_NAME, {"Porto", 5}, 0, 1},
        {SUMMARY_DECISION, {"We decided to take the train", 28}, 1, 1},
        {SUMMARY_QUESTION, {"When does it leave?", 19}, 2, 1},
    };

    (void)state;
    assert_true(summary_coverage(STR("Lisbon"), items, 4) == 0.25);
    assert_true(summary_coverage(STR("lisbon, porto; decided: train taken;"
                                     " when will it leave?"),
                                 items, 4) == 1.0);
    assert_true(summary_coverage(STR(""), items, 0) == 1.0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
    static const struct CMUnitTest stored[] = {
        CASE(thirty_minutes_continue_and_one_ms_more_does_not),
        CASE(one_chat_goes_on_over_two_channels),
        CASE(the_trace_says_which_rule_placed_a_turn),
        CASE(turn_51_starts_the_next_episode),
        CASE(silence_compacts_the_chat_that_ended),
        CASE(closing_a_chat_compacts_it),
        CASE(a_day_compacts_an_open_chat),
        CASE(compacting_by_hand_twice_changes_nothing),
        CASE(turns_stay_and_the_episode_is_found_after_compaction),
        CASE(forgetting_a_turn_takes_the_summaries_with_it),
        CASE(forgetting_a_chat_takes_its_episodes_and_links),
    };
    static const struct CMUnitTest pure[] = {
        cmocka_unit_test(summaries_keep_their_limits_and_their_sources_length),
        cmocka_unit_test(coverage_counts_names_decisions_and_open_questions),
    };
    int failed = cmocka_run_group_tests(pure, NULL, NULL);

    return failed + WORLD_EACH(stored);
}
