/* SPDX-License-Identifier: Apache-2.0 */
/* Links between chats as the reader sees them. */
#include "support/one_talk.h"
#include "support/test.h"

#include "base/json.h"
#include "engine/capture/read_task.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_feedback.h"
#include "engine/chatlink/chatlink_read.h"
#include "engine/core/task.h"
#include "engine/read/verdicts.h"
#include "task/worker.h"

#define MINUTE CLOCK_MINUTE_MS
#define DAY CLOCK_DAY_MS

static const struct capture_result *sms(int64_t at_ms, const char *text)
{
    return talk_by(&talk, "sms", at_ms, TURN_USER, text);
}

static void reply(int64_t at_ms, const char *text)
{
    (void)talk_by(&talk, "sms", at_ms, TURN_ASSISTANT, text);
}

/* Two talks; gives the chats' ids. */
static void two_chats(struct uuid *weather, struct uuid *python)
{
    *python = sms(9 * DAY, "How do I sort a list in Python?")->turn.chat_id;
    reply(9 * DAY + MINUTE,
          "Use sorted() with a key function; list.sort() sorts in place.");
    *weather = sms(10 * DAY - 45 * MINUTE, "What's the weather in New York?")
                   ->turn.chat_id;
    reply(10 * DAY - 44 * MINUTE, "Sunny, high of 72 degrees.");
}

static void work_off(void)
{
    struct clew_error err = {0};
    size_t run = 1;

    while (run > 0) {
        assert_int_equal(worker_run_due(&talk.world.engine, 10, &run, &err),
                         CLEW_OK);
    }
}

/* Is there a link between two chats on record, and what was seen? */
static bool is_linked(const struct uuid *chat, const struct uuid *other,
                      struct str *out_signals)
{
    struct chatlink_filter filter = {
        .chat_id = *chat, .before_time_ms = INT64_MAX, .limit = 50};
    struct chatlink_decision *items = NULL;
    size_t count = 0;

    assert_int_equal(chatlink_decision_list(
                         &talk.world.engine, &talk.world.scope,
                         &talk.world.arena, &filter, &items, &count, NULL),
                     CLEW_OK);
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&items[i].other_chat_id, other) ||
            uuid_eq(&items[i].chat_id, other)) {
            *out_signals = items[i].signals;
            return chatlink_decision_is_link(&items[i]);
        }
    }
    return false;
}

/* Chats that wait to be held against earlier ones. */
static int64_t n_chats_waiting(void)
{
    struct read_task_counts counts = {0};

    assert_int_equal(read_task_count(&talk.world.engine, &counts, NULL),
                     CLEW_OK);
    assert_int_equal(counts.n_waiting, 0); /* turns are read with the call */
    return counts.n_chats;
}

static void a_chat_waits_until_the_reader_has_seen_it(void **state)
{
    (void)state;
    world_use_reader(&talk.world);
    assert_int_equal(n_chats_waiting(), 0);
    sms(0, "The outboard motor of our little boat stalls at low revs");
    talk_by(&talk, "web", 4 * DAY, TURN_USER,
            "the boat again: the motor still stalls as soon as revs are low");
    assert_true(n_chats_waiting() > 0);
    work_off();
    assert_int_equal(n_chats_waiting(), 0);
}

static void what_was_read_of_two_chats_is_remembered(void **state)
{
    struct verdicts *verdicts;
    uint64_t n_known;

    (void)state;
    world_use_reader(&talk.world);
    verdicts = talk.world.engine.verdicts;
    assert_non_null(verdicts);
    sms(0, "The outboard motor of our little boat stalls at low revs");
    talk_by(&talk, "web", 4 * DAY, TURN_USER,
            "the boat again: the motor still stalls as soon as revs are low");
    n_known = verdicts_known(verdicts);
    work_off(); /* which looks twice, before the writer is taken and after */
    assert_true(verdicts_known(verdicts) > n_known);
}

static void one_matter_in_other_words_is_seen_by_the_reader(void **state)
{
    struct str signals = {NULL, 0};
    struct uuid boat, allotment, later;

    (void)state;
    world_use_reader(&talk.world);
    boat = sms(0, "The outboard motor of our little boat stalls at low revs. "
                  "We want to be on the water by June.")
               ->turn.chat_id;
    reply(MINUTE, "Most likely the carburettor. Clean the idle jet first.");
    allotment = talk_by(&talk, "web", DAY, TURN_USER,
                        "Slugs eat every lettuce on my allotment, what helps?")
                    ->turn.chat_id;
    later = sms(4 * DAY,
                "Took the idle jet out and soaked it overnight, the engine "
                "still dies when I throttle back near the jetty")
                ->turn.chat_id;
    reply(4 * DAY + MINUTE, "Does it die at once or after a while?");
    sms(4 * DAY + 2 * MINUTE, "at once, as soon as the revs drop");
    reply(4 * DAY + 3 * MINUTE, "Then check the float bowl for water.");
    sms(4 * DAY + 4 * MINUTE,
        "will do, the boat has to be in the water by june after all");
    work_off();
    assert_true(is_linked(&later, &boat, &signals));
    assert_true(str_find(signals, STR("matter"), 0) != SIZE_MAX);
    assert_false(is_linked(&later, &allotment, &signals));
}

/* Two workers, and the one with the later turn is quicker. */
static void what_a_later_turn_asked_for_waits_for_an_earlier_ones(void **state)
{
    const struct turn *last;
    struct str signals = {NULL, 0};
    struct uuid toaster, kiln;

    (void)state;
    world_use_reader(&talk.world);
    toaster = sms(0, "The toaster in the canteen trips the breaker at noon")
                  ->turn.chat_id;
    kiln = sms(3 * DAY, "The kiln in the pottery trips the breaker whenever it "
                        "goes above 900 degrees")
               ->turn.chat_id;
    reply(3 * DAY + MINUTE, "Then the relay. Does it click when it trips?");
    sms(3 * DAY + 2 * MINUTE, "it does, twice, at 880 already");
    reply(3 * DAY + 3 * MINUTE, "What does it draw at that point?");
    last = &sms(3 * DAY + 4 * MINUTE, "41 amps, its breaker is a 40")->turn;
    assert_int_equal(task_do_now(&talk.world.engine, &talk.world.scope,
                                 &talk.world.arena, CHATLINK_READ_TASK,
                                 task_key(&talk.world.arena, &kiln, last->seq),
                                 chatlink_read_task, NULL),
                     CLEW_OK);
    (void)is_linked(&kiln, &toaster, &signals);
    assert_true(str_find(signals, STR("matter"), 0) == SIZE_MAX);
    work_off();
    assert_int_equal(n_chats_waiting(), 1); /* put off for a moment */
    clock_add_ms(&talk.world.clock, CHATLINK_READ_BEHIND_MS);
    work_off();
    assert_int_equal(n_chats_waiting(), 0);
    (void)is_linked(&kiln, &toaster, &signals);
    assert_true(str_find(signals, STR("matter"), 0) != SIZE_MAX);
}

static void a_matter_is_taken_up_where_it_stands(void **state)
{
    struct str signals = {NULL, 0};
    struct uuid first, second, third;

    (void)state;
    world_use_reader(&talk.world);
    first = sms(0, "The kiln in the pottery trips the breaker whenever it goes "
                   "above 900 degrees, the glaze firing is ruined")
                ->turn.chat_id;
    reply(MINUTE, "Check the heating coils for a short, and the relay.");
    second = sms(3 * DAY, "the kiln again: coils are fine, it trips the "
                          "breaker at 900 degrees all the same")
                 ->turn.chat_id;
    reply(3 * DAY + MINUTE, "Then the relay. Does it click when it trips?");
    third = sms(6 * DAY, "new relay is in, but the kiln still trips the "
                         "breaker above 900 degrees, what about the relay "
                         "clicking you asked for?")
                ->turn.chat_id;
    reply(6 * DAY + MINUTE, "What does the kiln draw at that point?");
    sms(6 * DAY + 2 * MINUTE, "41 amps, the breaker of the kiln is a 40");
    work_off();
    assert_true(is_linked(&second, &first, &signals));
    assert_true(is_linked(&third, &second, &signals));
    assert_false(is_linked(&third, &first, &signals));
}

/* How likely a chat about the kiln goes on with an earlier one, after talk of
 * other things. */
static double odds_after(size_t n_between)
{
    static const char *const between[] = {
        "Slugs eat every lettuce on my allotment, what helps?",
        "Which train gets me to Leipzig before nine on a Sunday?",
        "Can I freeze cooked lentils with coconut milk in them?"};
    struct str signals = {NULL, 0};
    struct uuid first, second;
    json_t *fields = NULL;
    double odds;

    world_use_reader(&talk.world);
    first = sms(0, "The kiln in the pottery trips the breaker whenever it goes "
                   "above 900 degrees, the glaze firing is ruined")
                ->turn.chat_id;
    for (size_t i = 0; i < n_between; i++) {
        sms((int64_t)(i + 1) * DAY, between[i]);
    }
    second = sms(9 * DAY, "the kiln again: coils are fine, it trips the "
                          "breaker at 900 degrees all the same")
                 ->turn.chat_id;
    work_off();
    (void)is_linked(&second, &first, &signals);
    assert_int_equal(json_parse(signals, &fields, NULL), CLEW_OK);
    odds = json_real_value(json_object_get(fields, "odds"));
    json_decref(fields);
    assert_true(odds > 0 && odds < 1);
    return odds;
}

static void what_lies_between_makes_a_link_less_likely(void **state)
{
    double near = odds_after(0);

    assert_int_equal(close_talk(state), 0);
    assert_int_equal(open_talk(state), 0);
    assert_true(odds_after(3) < near - 0.05);
}

/* Its caller keeps it apart: nobody waits for the link, so the reader makes
 * it. */
static void a_chat_kept_apart_is_linked_by_the_reader(void **state)
{
    struct str signals = {NULL, 0};
    struct uuid first, second;

    (void)state;
    world_use_reader(&talk.world);
    first = talk_by(&talk, "web", 0, TURN_USER,
                    "The kiln in the pottery trips the breaker whenever it "
                    "goes above 900 degrees, the glaze firing is ruined")
                ->turn.chat_id;
    second = talk_by(&talk, "web", 3 * DAY, TURN_USER,
                     "the kiln again: coils are fine, it still trips the "
                     "breaker above 900 degrees and ruins the glaze firing")
                 ->turn.chat_id;
    assert_false(is_linked(&second, &first, &signals));
    work_off();
    assert_true(is_linked(&second, &first, &signals));
}

static void a_short_opener_stays_with_what_it_leans_on(void **state)
{
    struct uuid weather, python, next;
    struct str signals;

    (void)state;
    world_use_reader(&talk.world);
    two_chats(&weather, &python);
    next = sms(10 * DAY, "Oh, and what is it on Thursday?")->turn.chat_id;
    work_off();
    assert_true(is_linked(&next, &weather, &signals));
    assert_false(is_linked(&next, &python, &signals));
}

/* Words join the labels with the sluice when they are said, and would not any
 * more when the reader comes to look. */
static void a_link_that_words_would_not_make_again_is_judged(void **state)
{
    struct str signals = {NULL, 0};
    struct uuid sluice, labels;

    (void)state;
    world_use_reader(&talk.world);
    sluice = sms(0, "The sluice gate at the mill is jammed again, the pond is "
                    "rising")
                 ->turn.chat_id;
    reply(MINUTE, "Clear the rack first, then try the hand wheel. If it will "
                  "not turn, call Ferreira.");
    sms(30 * MINUTE, "Wheel won't budge. Ferreira comes Wednesday at 8, costs "
                     "95 for the call-out");
    (void)talk_by(&talk, "web", DAY, TURN_USER,
                  "Ferreira rang, it's Friday now, and his son does it, "
                  "Duarte");
    (void)talk_by(&talk, "whatsapp", 4 * DAY, TURN_USER,
                  "gate opens like butter since this morning, it was a stone "
                  "in the groove");
    labels = talk_by(&talk, "email", 5 * DAY, TURN_USER,
                     "For the flour labels: always grams first, ounces in "
                     "brackets.")
                 ->turn.chat_id;
    work_off();
    assert_false(is_linked(&labels, &sluice, &signals));
}

static void what_a_person_said_of_a_link_stands(void **state)
{
    struct uuid weather, python, next;
    struct chatlink_decision judged;
    struct str signals;

    (void)state;
    world_use_reader(&talk.world);
    two_chats(&weather, &python);
    next = sms(10 * DAY, "Oh, and what is it on Thursday?")->turn.chat_id;
    assert_int_equal(chatlink_feedback(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena,
                                       &talk.last.updates.links[0].id, false,
                                       &judged, NULL),
                     CLEW_OK);
    work_off();
    assert_true(is_linked(&next, &weather, &signals)); /* as it was recorded */
    assert_true(str_find(signals, STR("matter"), 0) == SIZE_MAX);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
    static const struct CMUnitTest tests[] = {
        CASE(a_chat_waits_until_the_reader_has_seen_it),
        CASE(what_was_read_of_two_chats_is_remembered),
        CASE(one_matter_in_other_words_is_seen_by_the_reader),
        CASE(what_a_later_turn_asked_for_waits_for_an_earlier_ones),
        CASE(a_matter_is_taken_up_where_it_stands),
        CASE(what_lies_between_makes_a_link_less_likely),
        CASE(a_chat_kept_apart_is_linked_by_the_reader),
        CASE(a_short_opener_stays_with_what_it_leans_on),
        CASE(a_link_that_words_would_not_make_again_is_judged),
        CASE(what_a_person_said_of_a_link_stands),
    };

    return WORLD_EACH(tests);
}
