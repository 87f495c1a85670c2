/* SPDX-License-Identifier: Apache-2.0 */
/* Links between chats: scores, decisions, records, outcomes, tuning. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/chatlink/chat_words.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_feedback.h"
#include "engine/chatlink/chatlink_score.h"
#include "engine/chatlink/chatlink_tuning.h"
#include "engine/episode/episode.h"
#include "task/worker.h"

#include <stdio.h>

#define MINUTE CLOCK_MINUTE_MS
#define HOUR CLOCK_HOUR_MS
#define DAY CLOCK_DAY_MS

/* Say something by a channel; the boundary rules find the chat. */
static const struct capture_result *by(const char *channel, int64_t at_ms,
                                       enum turn_role role, const char *text)
{
    return talk_by(&talk, channel, at_ms, role, text);
}

static const struct capture_result *sms(int64_t at_ms, const char *text)
{
    return by("sms", at_ms, TURN_USER, text);
}

static const struct chatlink_update *
link_of(const struct capture_result *result)
{
    for (size_t i = 0; i < result->updates.n_links; i++) {
        if (strcmp(result->updates.links[i].decision, "link") == 0) {
            return &result->updates.links[i];
        }
    }
    return NULL;
}

/* Weather 40 min ago, Python a day, Lisbon a week; gives the chats' ids. */
static void three_chats(struct uuid *weather, struct uuid *python,
                        struct uuid *lisbon)
{
    int64_t now = 10 * DAY;

    *lisbon = sms(now - 7 * DAY, "We plan a trip to Lisbon in May, three days")
                  ->turn.chat_id;
    by("sms", now - 7 * DAY + MINUTE, TURN_ASSISTANT,
       "For Lisbon I suggest Belem, the Alfama and a day trip to Sintra.");
    *python = sms(now - DAY, "How do I sort a list in Python?")->turn.chat_id;
    by("sms", now - DAY + MINUTE, TURN_ASSISTANT,
       "Use sorted() with a key function; list.sort() sorts in place.");
    *weather =
        sms(now - 45 * MINUTE, "What's the weather in New York?")->turn.chat_id;
    by("sms", now - 44 * MINUTE, TURN_ASSISTANT, "Sunny, high of 72 degrees.");
    sms(now - 40 * MINUTE, "What about next week?");
}

static void expect_link(const char *text, const struct uuid *chat)
{
    const struct chatlink_update *link = link_of(sms(10 * DAY, text));

    if (!link) {
        fail_msg("not linked: %s", text);
    }
    assert_memory_equal(&link->other_chat_id, chat, sizeof(*chat));
    assert_true(link->algorithmic > 0.7);
}

/* --- the seed's examples ---------------------------------------------------
 */

static void thursday_goes_on_with_the_weather_in_new_york(void **state)
{
    struct uuid weather, python, lisbon;
    const struct capture_result *result;
    const struct chatlink_update *link;

    (void)state;
    three_chats(&weather, &python, &lisbon);
    result = sms(10 * DAY, "Oh, and what is it on Thursday?");
    assert_memory_not_equal(&result->turn.chat_id, &weather, sizeof(weather));
    assert_int_equal(result->chat.last_seq, 1);
    link = link_of(result);
    assert_non_null(link);
    assert_memory_equal(&link->other_chat_id, &weather, sizeof(weather));
    assert_string_equal(link->confidence, "high");
    assert_true(link->llm < 0);
}

static void what_about_boston_goes_on_with_the_weather(void **state)
{
    struct uuid weather, python, lisbon;

    (void)state;
    three_chats(&weather, &python, &lisbon);
    expect_link("What about Boston?", &weather);
}

static void and_tomorrow_goes_on_with_the_weather(void **state)
{
    struct uuid weather, python, lisbon;

    (void)state;
    three_chats(&weather, &python, &lisbon);
    expect_link("And tomorrow?", &weather);
}

static void a_chat_a_week_old_is_found_when_referred_to(void **state)
{
    struct uuid weather, python, lisbon;

    (void)state;
    three_chats(&weather, &python, &lisbon);
    expect_link("Back to the Lisbon trip: is Belem worth a whole day?",
                &lisbon);
}

static void shared_words_find_the_chat_of_yesterday(void **state)
{
    struct uuid weather, python, lisbon;

    (void)state;
    three_chats(&weather, &python, &lisbon);
    expect_link("How do I sort a list of dicts in Python by key?", &python);
}

static void fresh_talk_is_not_linked(void **state)
{
    static const char *const fresh[] = {
        "Can you recommend an Italian restaurant?",
        "How do I write a loop in Rust?", "I need help with my tax return.",
        "Hello, how are you today?"};
    struct uuid weather, python, lisbon;

    (void)state;
    for (size_t i = 0; i < sizeof(fresh) / sizeof(fresh[0]); i++) {
        if (i > 0) {
            talk_close(&talk);
            talk_open(&talk);
        }
        three_chats(&weather, &python, &lisbon);
        assert_null(link_of(sms(10 * DAY, fresh[i])));
        /* the decision not to is recorded too */
        assert_true(talk.last.updates.n_links > 0);
        assert_string_equal(talk.last.updates.links[0].decision, "no_link");
    }
}

/* --- what a link does ------------------------------------------------------
 */

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

static const struct episode_view *cross_of(const struct uuid *chat_id)
{
    size_t count;
    struct episode_view *views = episodes_of(chat_id, &count);

    for (size_t i = 0; i < count; i++) {
        if (!episode_is_primary(&views[i].episode)) {
            return &views[i];
        }
    }
    return NULL;
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

static void a_link_makes_a_cross_chat_episode_of_both(void **state)
{
    struct uuid weather, python, lisbon;
    const struct episode_view *view;
    struct chat newer;
    struct chat older;

    (void)state;
    three_chats(&weather, &python, &lisbon);
    sms(10 * DAY, "Oh, and what is it on Thursday?");
    newer = chat_now(&talk.last.turn.chat_id);
    older = chat_now(&weather);
    assert_int_equal(newer.cross_episodes.len, 36);
    assert_true(str_eq(newer.cross_episodes, older.cross_episodes));
    view = cross_of(&weather);
    assert_non_null(view);
    assert_int_equal(view->n_chat_ids, 2);
    assert_memory_equal(&view->chat_ids[0], &weather, sizeof(weather));
    assert_memory_equal(&view->chat_ids[1], &newer.id, sizeof(newer.id));
    assert_true(str_find(view->episode.meso, STR("weather"), 0) != SIZE_MAX);
}

static void a_third_chat_joins_the_same_episode(void **state)
{
    struct uuid first;
    struct uuid second;
    const struct episode_view *view;

    (void)state;
    first = sms(0, "What's the weather in New York?")->turn.chat_id;
    second = sms(40 * MINUTE, "Oh, and what is it on Thursday?")->turn.chat_id;
    sms(80 * MINUTE, "And on Friday?");
    assert_non_null(link_of(&talk.last));
    view = cross_of(&first);
    assert_int_equal(view->n_chat_ids, 3);
    assert_memory_equal(&cross_of(&second)->episode.id, &view->episode.id, 16);
    assert_memory_equal(&cross_of(&talk.last.turn.chat_id)->episode.id,
                        &view->episode.id, 16);
}

static void both_cities_link_both_chats_into_one_episode(void **state)
{
    struct uuid york;
    struct uuid boston;
    const struct episode_view *view;

    (void)state;
    york = sms(0, "What's the weather in New York?")->turn.chat_id;
    by("sms", MINUTE, TURN_ASSISTANT, "Sunny in New York.");
    boston = sms(5 * HOUR, "I need the weather in Boston please")->turn.chat_id;
    by("sms", 5 * HOUR + MINUTE, TURN_ASSISTANT, "Rain in Boston.");
    sms(10 * HOUR, "How is the weather in both cities, New York and Boston?");
    assert_int_equal(talk.last.updates.n_links, 2);
    view = cross_of(&york);
    assert_non_null(view);
    assert_int_equal(view->n_chat_ids, 3);
    assert_memory_equal(&cross_of(&boston)->episode.id, &view->episode.id, 16);
}

static void an_explicit_chat_is_decided_about_too(void **state)
{
    struct uuid weather;
    const struct chatlink_update *link;

    (void)state;
    weather = sms(0, "What's the weather in New York?")->turn.chat_id;
    by("sms", MINUTE, TURN_ASSISTANT, "Sunny, high of 72 degrees.");
    link = link_of(
        by("web", 40 * MINUTE, TURN_USER, "Oh, and what is it on Thursday?"));
    assert_true(talk.last.chat.is_explicit);
    assert_non_null(link);
    assert_memory_equal(&link->other_chat_id, &weather, sizeof(weather));
}

static void another_users_chats_are_no_candidates(void **state)
{
    struct world *world = &talk.world;
    struct clew_error err = {0};
    struct capture_input input = {
        .user_id = STR("bob"),
        .role = TURN_USER,
        .content = {.text = STR("Oh, and what is it on Thursday?")},
        .channel = STR("sms"),
        .created_at_ms = WORLD_NOW + 40 * MINUTE};

    (void)state;
    sms(0, "What's the weather in New York?");
    assert_int_equal(capture_turns(&world->engine, &world->scope, &world->arena,
                                   &input, 1, &talk.last, &err),
                     CLEW_OK);
    assert_int_equal(talk.last.updates.n_links, 0);
}

static void an_old_chat_is_found_among_hundreds(void **state)
{
    struct uuid kayak;
    char text[128];

    (void)state;
    kayak =
        sms(0, "My kayak paddle broke at the fjord near Bergen")->turn.chat_id;
    for (int i = 1; i <= 200; i++) {
        (void)snprintf(text, sizeof(text),
                       "Please note invoice %d for the warehouse", i * 7);
        sms(i * HOUR, text);
    }
    sms(300 * HOUR, "About the kayak in Bergen: where do I get that paddle "
                    "fixed?");
    assert_non_null(link_of(&talk.last));
    assert_memory_equal(&link_of(&talk.last)->other_chat_id, &kayak,
                        sizeof(kayak));
}

/* --- the decision of both paths --------------------------------------------
 */

static void both_paths_decide_as_specified(void **state)
{
    static const struct {
        double score;
        bool is_related;
        double confidence;
        bool is_link;
        bool is_agreed;
        enum chatlink_confidence sure;
    } cases[] = {
        {0.88, true, 0.92, true, true, CHATLINK_HIGH},
        {0.40, false, 0.90, false, true, CHATLINK_HIGH},
        {0.72, false, 0.65, true, false, CHATLINK_UNCERTAIN},
        {0.68, true, 0.85, true, false, CHATLINK_UNCERTAIN},
        {0.72, false, 0.90, false, false, CHATLINK_UNCERTAIN},
        {0.68, true, 0.60, false, false, CHATLINK_UNCERTAIN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct chatlink_opinion opinion = {true, cases[i].is_related,
                                           cases[i].confidence};
        struct chatlink_verdict verdict =
            chatlink_decide(cases[i].score, 0.7, &opinion, 1);

        assert_int_equal(verdict.is_link, cases[i].is_link);
        assert_int_equal(verdict.is_agreed, cases[i].is_agreed);
        assert_int_equal(verdict.confidence, cases[i].sure);
    }
}

static void the_threshold_itself_is_no_link(void **state)
{
    (void)state;
    assert_false(chatlink_decide(0.7, 0.7, NULL, 1).is_link);
    assert_true(chatlink_decide(0.7000001, 0.7, NULL, 1).is_link);
}

static void a_no_at_065_is_a_probability_of_035(void **state)
{
    struct chatlink_opinion no = {true, false, 0.65};
    struct chatlink_opinion yes = {true, true, 0.65};

    (void)state;
    assert_true(chatlink_probability(&no) > 0.3499 &&
                chatlink_probability(&no) < 0.3501);
    assert_true(chatlink_probability(&yes) > 0.6499);
}

/* --- outcomes --------------------------------------------------------------
 */

static struct chatlink_decision decision_of(const struct uuid *chat_id)
{
    struct chatlink_filter filter = {.chat_id = *chat_id, .limit = 10};
    struct chatlink_decision *links = NULL;
    struct clew_error err = {0};
    size_t count = 0;

    assert_int_equal(chatlink_decision_list(
                         &talk.world.engine, &talk.world.scope,
                         &talk.world.arena, &filter, &links, &count, &err),
                     CLEW_OK);
    assert_true(count > 0);
    return links[0];
}

static void talk_that_goes_on_proves_a_link_right(void **state)
{
    struct uuid chat;

    (void)state;
    sms(0, "What's the weather in New York?");
    chat = sms(40 * MINUTE, "Oh, and what is it on Thursday?")->turn.chat_id;
    assert_null(decision_of(&chat).outcome.s);
    sms(41 * MINUTE, "And will it rain?");
    assert_true(str_eq(decision_of(&chat).outcome, STR("correct")));
    assert_true(str_eq(decision_of(&chat).outcome_by, STR("inferred")));
}

static void a_protest_proves_a_link_wrong(void **state)
{
    struct uuid chat;

    (void)state;
    sms(0, "What's the weather in New York?");
    chat = sms(40 * MINUTE, "Oh, and what is it on Thursday?")->turn.chat_id;
    sms(41 * MINUTE, "No, that's not what I meant.");
    assert_true(str_eq(decision_of(&chat).outcome, STR("incorrect")));
}

static void a_reminder_proves_a_missing_link_wrong(void **state)
{
    struct uuid chat;

    (void)state;
    sms(0, "What's the weather in New York?");
    chat = sms(9 * HOUR, "Can you recommend a restaurant?")->turn.chat_id;
    assert_null(link_of(&talk.last));
    sms(9 * HOUR + MINUTE, "Didn't we talk about this?");
    assert_true(str_eq(decision_of(&chat).outcome, STR("incorrect")));
}

static void a_word_of_the_user_beats_what_was_inferred(void **state)
{
    struct chatlink_decision decision;
    struct chatlink_decision after;
    struct clew_error err = {0};
    struct uuid chat;

    (void)state;
    sms(0, "What's the weather in New York?");
    chat = sms(40 * MINUTE, "Oh, and what is it on Thursday?")->turn.chat_id;
    sms(41 * MINUTE, "And will it rain?");
    decision = decision_of(&chat);
    assert_int_equal(chatlink_feedback(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, &decision.id, false,
                                       &after, &err),
                     CLEW_OK);
    assert_true(str_eq(after.outcome, STR("incorrect")));
    assert_true(str_eq(after.outcome_by, STR("feedback")));
    assert_int_equal(chatlink_feedback(&talk.world.engine, &talk.world.other,
                                       &talk.world.arena, &decision.id, true,
                                       &after, &err),
                     CLEW_NOT_FOUND);
}

/* --- tuning ----------------------------------------------------------------
 */

static struct chatlink_tuning defaults(void)
{
    struct chatlink_tuning tuning = {.threshold = 0.7, .llm_weight = 1};

    tuning.weights = chatlink_default_weights;
    return tuning;
}

static void tuning_adopts_only_what_is_better(void **state)
{
    struct chatlink_tuning from = defaults();
    struct chatlink_tuning next;
    struct chatlink_metrics before;
    struct chatlink_metrics after;
    struct chatlink_sample samples[100];

    (void)state;
    memset(samples, 0, sizeof(samples));
    for (int i = 0; i < 100; i++) {
        double score = i < 50 ? 0.9 : 0.2;

        for (int k = 0; k < 4; k++) {
            samples[i].signals[k] = score;
        }
        samples[i].should_link = i < 50;
    }
    /* all right already: nothing to gain */
    assert_false(
        chatlink_tuning_fit(&from, samples, 100, &next, &before, &after));
    assert_true(before.accuracy == 1.0);
    /* twenty links at .68 were missed */
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 4; k++) {
            samples[i].signals[k] = 0.68;
        }
    }
    assert_true(
        chatlink_tuning_fit(&from, samples, 100, &next, &before, &after));
    assert_true(next.threshold < 0.68 && next.threshold >= 0.65 - 1e-9);
    assert_true(after.accuracy > before.accuracy);
    assert_true(before.false_negative_rate > 0.39);
    assert_true(after.false_negative_rate == 0);
}

static void a_tuning_moves_by_a_bounded_step(void **state)
{
    struct chatlink_tuning from = defaults();
    struct chatlink_tuning next;
    struct chatlink_metrics before;
    struct chatlink_metrics after;
    struct chatlink_sample samples[10];

    (void)state;
    memset(samples, 0, sizeof(samples));
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 4; k++) {
            samples[i].signals[k] = 0.4;
        }
        samples[i].should_link = true;
    }
    /* out of reach within one step */
    assert_false(
        chatlink_tuning_fit(&from, samples, 10, &next, &before, &after));
    assert_true(next.threshold == from.threshold);
}

/* One judged decision: not linked at .68, and that was wrong or right. */
static enum clew_status put_judged(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    int i = *(int *)arg;
    struct uuid source = {{1}};
    struct chatlink_decision decision = {
        .user_id = STR("ada"),
        .algorithmic = 0.68,
        .llm = -1,
        .threshold = 0.7,
        .decision = STR("no_link"),
        .agreement = STR("absent"),
        .confidence = STR("uncertain"),
        .signals = STR("{\"keyword\":0.68,\"entity\":0.68,\"topic\":0.68,"
                       "\"recency\":0.68}"),
        .created_at_ms = WORLD_NOW + i,
        .updated_at_ms = WORLD_NOW + i};
    bool is_set;
    enum clew_status status;

    decision.id = uuid_derive(WORLD_NOW, &source, "id", (uint64_t)i);
    decision.chat_id = uuid_derive(WORLD_NOW, &source, "chat", (uint64_t)i);
    decision.other_chat_id = source;
    decision.turn_id = source;
    status = chatlink_decision_put(tx, &decision, err);
    return status == CLEW_OK
               ? chatlink_decision_judge(tx, &talk.world.arena, &decision,
                                         i % 10 == 0, "feedback", WORLD_NOW + i,
                                         &is_set, err)
               : status;
}

static void a_hundred_outcomes_tune_and_a_revert_undoes_it(void **state)
{
    struct world *world = &talk.world;
    struct clew_error err = {0};
    struct chatlink_tuning current;
    struct chatlink_tuning *history = NULL;
    struct chatlink_tuning reverted;
    size_t count = 0;
    size_t run = 0;

    (void)state;
    clock_set_ms(&world->clock, WORLD_NOW + DAY);
    assert_int_equal(chatlink_tuning_revert(&world->engine, &world->scope,
                                            &world->arena, &reverted, &err),
                     CLEW_CONFLICT);
    for (int i = 0; i < CHATLINK_OUTCOMES_PER_TUNING; i++) {
        assert_int_equal(worker_run_due(&world->engine, 10, &run, &err),
                         CLEW_OK);
        assert_int_equal(run, 0); /* not before the hundredth */
        assert_int_equal(store_write(world->engine.store, &world->scope,
                                     put_judged, &i, &err),
                         CLEW_OK);
    }
    assert_int_equal(worker_run_due(&world->engine, 10, &run, &err), CLEW_OK);
    assert_int_equal(run, 1);
    assert_int_equal(chatlink_tuning_list(&world->engine, &world->scope,
                                          &world->arena, 10, &current, &history,
                                          &count, &err),
                     CLEW_OK);
    assert_int_equal(count, 1);
    assert_true(current.threshold < 0.68 && current.threshold > 0.649);
    assert_true(str_find(current.metrics, STR("accuracy_before"), 0) !=
                SIZE_MAX);
    assert_int_equal(chatlink_tuning_revert(&world->engine, &world->scope,
                                            &world->arena, &reverted, &err),
                     CLEW_OK);
    assert_true(reverted.threshold == 0.7);
    /* another tenant was never touched */
    assert_int_equal(chatlink_tuning_list(&world->engine, &world->other,
                                          &world->arena, 10, &current, &history,
                                          &count, &err),
                     CLEW_OK);
    assert_int_equal(count, 0);
}

static void chats_are_alike_by_their_rare_words(void **state)
{
    static const struct chatlink_term roof[] = {
        {.hash = 1, .idf = 3}, {.hash = 5, .idf = 12}, {.hash = 9, .idf = 8}};
    static const struct chatlink_term gutter[] = {{.hash = 5, .idf = 12},
                                                  {.hash = 7, .idf = 9}};
    static const struct chatlink_term dog[] = {{.hash = 1, .idf = 3},
                                               {.hash = 6, .idf = 11}};
    struct chat_words a = {.terms = roof, .count = 3, .norm = 14.7309};
    struct chat_words b = {.terms = gutter, .count = 2, .norm = 15};
    struct chat_words c = {.terms = dog, .count = 2, .norm = 11.4018};
    struct chat_words none = {0};

    (void)state;
    assert_true(chat_words_alike(&a, &a) > 0.999);
    assert_true(chat_words_alike(&a, &b) > 0.6);
    assert_true(chat_words_alike(&a, &b) == chat_words_alike(&b, &a));
    assert_true(chat_words_alike(&a, &c) < 0.06);
    assert_true(chat_words_alike(&b, &c) == 0);
    assert_true(chat_words_alike(&a, &none) == 0);
}

int main(void)
{
    static const struct CMUnitTest pure[] = {
        cmocka_unit_test(chats_are_alike_by_their_rare_words),
        cmocka_unit_test(both_paths_decide_as_specified),
        cmocka_unit_test(the_threshold_itself_is_no_link),
        cmocka_unit_test(a_no_at_065_is_a_probability_of_035),
        cmocka_unit_test(tuning_adopts_only_what_is_better),
        cmocka_unit_test(a_tuning_moves_by_a_bounded_step),
    };
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
    static const struct CMUnitTest stored[] = {
        CASE(thursday_goes_on_with_the_weather_in_new_york),
        CASE(what_about_boston_goes_on_with_the_weather),
        CASE(and_tomorrow_goes_on_with_the_weather),
        CASE(a_chat_a_week_old_is_found_when_referred_to),
        CASE(shared_words_find_the_chat_of_yesterday),
        CASE(fresh_talk_is_not_linked),
        CASE(a_link_makes_a_cross_chat_episode_of_both),
        CASE(a_third_chat_joins_the_same_episode),
        CASE(both_cities_link_both_chats_into_one_episode),
        CASE(an_explicit_chat_is_decided_about_too),
        CASE(another_users_chats_are_no_candidates),
        CASE(an_old_chat_is_found_among_hundreds),
        CASE(talk_that_goes_on_proves_a_link_right),
        CASE(a_protest_proves_a_link_wrong),
        CASE(a_reminder_proves_a_missing_link_wrong),
        CASE(a_word_of_the_user_beats_what_was_inferred),
        CASE(a_hundred_outcomes_tune_and_a_revert_undoes_it),
    };
    int failed = cmocka_run_group_tests(pure, NULL, NULL);

    return failed + WORLD_EACH(stored);
}
