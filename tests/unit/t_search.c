/* SPDX-License-Identifier: Apache-2.0 */
/* Search: rows for what recall ranks, lineage, and the walls around it. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/ask/search.h"
#include "engine/memory/memory.h"

static struct search_result find(const struct scope *scope,
                                 struct search_query query,
                                 enum clew_status expected)
{
    struct search_result result = {0};

    query.limit = query.limit ? query.limit : 10;
    query.since_ms = INT64_MIN;
    query.until_ms = INT64_MAX;
    query.at_ms = INT64_MAX;
    assert_int_equal(search_run(&talk.world.engine, scope, &talk.world.arena,
                                &query, &result, NULL),
                     expected);
    return result;
}

static void a_hit_has_its_row_and_its_lines(void **state)
{
    struct search_result found;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    found = find(
        &talk.world.scope,
        (struct search_query){.query = STR("Zebulon"), .kinds = RECALL_TURN},
        CLEW_OK);
    assert_true(found.count > 0);
    assert_non_null(found.hits[0].turn);
    assert_null(found.hits[0].memory);
    assert_true(str_eq(found.hits[0].text, STR("My dog is called Zebulon")));
    assert_non_null(found.hits[0].source_ref.s);
    assert_non_null(strstr(found.hits[0].source_ref.s, ":lines-1"));
}

static void a_newer_statement_stands_for_the_older(void **state)
{
    struct search_result found;
    bool is_seen = false;

    (void)state;
    talk_script(&talk, "u:I live in Berlin|a:nice"
                       "|u:I live in Hamburg now|a:noted");
    found = find(&talk.world.scope,
                 (struct search_query){.query = STR("where do I live"),
                                       .kinds = RECALL_MEMORY},
                 CLEW_OK);
    for (size_t i = 0; i < found.count; i++) {
        const struct search_hit *hit = &found.hits[i];

        assert_non_null(hit->memory);
        if (strstr(hit->text.s, "Berlin")) {
            assert_true(hit->is_superseded);
            assert_false(uuid_is_nil(&hit->refined_by));
        } else {
            is_seen = true;
            assert_false(hit->is_superseded);
        }
    }
    assert_true(is_seen);
}

static void nothing_crosses_the_walls(void **state)
{
    struct uuid unknown = {{7}};

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    assert_int_equal(find(&talk.world.other,
                          (struct search_query){.query = STR("Zebulon")},
                          CLEW_OK)
                         .count,
                     0);
    assert_int_equal(find(&talk.world.scope,
                          (struct search_query){.query = STR("Zebulon"),
                                                .user_id = STR("bob")},
                          CLEW_OK)
                         .count,
                     0);
    (void)find(
        &talk.world.scope,
        (struct search_query){.query = STR("Zebulon"), .chat_id = unknown},
        CLEW_NOT_FOUND);
    (void)find(
        &talk.world.other,
        (struct search_query){.query = STR("Zebulon"), .chat_id = talk.chat_id},
        CLEW_NOT_FOUND);
}

static const char *const odd_jobs =
    "u:The dishwasher hums since Marek moved it|a:Since when?"
    "|u:Terracotta pots stand behind the greenhouse|a:Noted."
    "|u:getShelfById fails for shelf 12|a:I will look."
    "|u:Du brauchst im Keller eine Lampe, die Waschmaschine steht dort|a:Ja.";

/* The question as it was looked for; "" if it was as it was put. */
static const char *meant(struct search_query query)
{
    struct search_result found = find(&talk.world.scope, query, CLEW_OK);

    return found.did_you_mean.s ? found.did_you_mean.s : "";
}

static void a_slip_of_the_hand_finds_what_was_meant(void **state)
{
    static const char *const cases[][2] = {
        /* as asked, as looked for: swapped, one less, one more, two */
        {"where are the terarcotta pots", "where are the terracotta pots"},
        {"who moved the dishwaser?", "who moved the dishwasher?"},
        {"is the greeenhouse warm", "is the greenhouse warm"},
        {"what stands behind the grenehoose", "what stands behind the "
                                              "greenhouse"},
        /* known words, other real words, identifiers and numbers stay */
        {"who moved the dishwasher?", ""},
        {"where are the potsherds", ""},
        {"why does getShelfByIdd fail", ""},
        {"what about shelf 13", ""},
        /* other forms of a word, in languages whose words are not known */
        {"Welche Lampe brauchte der Keller?", ""},
        {"Wo steht die Wachmaschine?", "Wo steht die waschmaschine?"}};

    (void)state;
    talk_script(&talk, odd_jobs);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(meant((struct search_query){
                                .query = str_of(cases[i][0]), .is_fast = true}),
                            cases[i][1]);
    }
    for (int fast = 0; fast < 2; fast++) {
        struct search_query query = {.query = STR("the dishwaser"),
                                     .is_fast = fast == 1};
        struct search_result found = find(&talk.world.scope, query, CLEW_OK);

        assert_true(found.count > 0);
        assert_non_null(strstr(found.hits[0].text.s, "dishwasher"));
    }
}

static void nobody_is_told_words_of_another(void **state)
{
    (void)state;
    talk_script(&talk, odd_jobs);
    assert_string_equal(
        meant((struct search_query){.query = STR("the dishwaser"),
                                    .user_id = STR("bob"),
                                    .is_fast = true}),
        "");
    assert_string_equal(
        meant((struct search_query){.query = STR("the dishwaser"),
                                    .user_id = STR("ada"),
                                    .is_fast = true}),
        "the dishwasher");
}

/* Is a text among the first `n`? */
static bool is_among(const struct search_result *found, size_t n,
                     const char *words)
{
    for (size_t i = 0; i < found->count && i < n; i++) {
        if (strstr(found->hits[i].text.s, words)) {
            return true;
        }
    }
    return false;
}

/* Another chat of the same user; the talk goes on there. */
static struct uuid begin_chat(const char *script)
{
    talk_leave(&talk);
    talk_script(&talk, script);
    return talk.chat_id;
}

static void a_question_that_leans_is_completed_from_its_chat(void **state)
{
    struct uuid harp;
    struct search_query query = {.query = STR("and what did it cost?"),
                                 .kinds = RECALL_TURN | RECALL_MEMORY};
    struct search_result found;

    (void)state;
    begin_chat("u:The garden shed cost 800 francs|a:noted"
               "|u:The second-hand harp cost 3100 francs|a:noted"
               "|u:The school trip cost 45 francs|a:noted");
    harp = begin_chat("u:My harp has a crack in the neck"
                      "|a:Does the harp still hold its tuning?"
                      "|u:Barely, a harp maker should look at it|a:Yes.");
    for (int fast = 0; fast < 2; fast++) {
        query.is_fast = fast == 1;
        query.asked_in = (struct uuid){{0}};
        found = find(&talk.world.scope, query, CLEW_OK);
        assert_null(found.lent.s);
        query.asked_in = harp;
        found = find(&talk.world.scope, query, CLEW_OK);
        assert_non_null(found.lent.s);
        assert_non_null(strstr(found.lent.s, "harp"));
        assert_true(is_among(&found, 1, "3100"));
    }
    /* what stands by itself is looked for as it is */
    query.query = STR("how many francs was the garden shed?");
    assert_null(find(&talk.world.scope, query, CLEW_OK).lent.s);
}

/* Seven turns full of words, each other than the rest. */
static void a_long_talk_lends_a_few_words(void **state)
{
    struct search_query query = {.query = STR("and what did it cost?"),
                                 .is_fast = true};
    size_t n_words = 1;
    struct str lent;

    (void)state;
    query.asked_in = begin_chat(
        "u:The anvil, bellows, crucible, dowel, easel, ferrule, gasket, hinge "
        "and ingot are packed"
        "|u:The jigsaw, kiln, lathe, mallet, nozzle, oilcan, pulley, quill and "
        "rasp too"
        "|u:The sander, trowel, urn, valve, wrench, axle, bracket, chisel and "
        "drill follow"
        "|u:The engine, flywheel, girder, hammer, iron, jack, knob, ladder and "
        "magnet stay"
        "|u:The needle, oven, pump, rivet, saw, tongs, vice, wedge and awl go"
        "|u:The bobbin, clamp, dial, fuse, gimlet, hoist, joist, lever and "
        "mitre wait"
        "|u:The nail, plane, rope, spanner, thimble, winch, barrow, cable and "
        "duct are sold");
    lent = find(&talk.world.scope, query, CLEW_OK).lent;
    assert_non_null(lent.s);
    for (size_t i = 0; i < lent.len; i++) {
        n_words += lent.s[i] == ' ';
    }
    assert_int_equal(n_words, 5);
}

static void nobody_borrows_from_a_chat_of_another(void **state)
{
    struct uuid unknown = {{7}};
    struct uuid chat;
    struct search_query query = {.query = STR("and what did it cost?"),
                                 .user_id = STR("bob"),
                                 .is_fast = true};

    (void)state;
    chat = begin_chat("u:My harp has a crack in the neck|a:I see.");
    query.asked_in = chat;
    assert_null(find(&talk.world.scope, query, CLEW_OK).lent.s);
    query.user_id = STR("ada");
    assert_non_null(find(&talk.world.scope, query, CLEW_OK).lent.s);
    (void)find(&talk.world.other, query, CLEW_NOT_FOUND);
    query.asked_in = unknown;
    (void)find(&talk.world.scope, query, CLEW_NOT_FOUND);
}

#define DAYS(n) ((n)*CLOCK_DAY_MS)

/* Asked on 12 December 2026; the first turn is of 16 February. */
static const char *first_of(const char *question)
{
    struct search_query query = {.query = str_of(question),
                                 .kinds = RECALL_TURN,
                                 .limit = 5,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = WORLD_NOW + DAYS(299)};
    struct search_result found = {0};

    assert_int_equal(search_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &query, &found, NULL),
                     CLEW_OK);
    return found.count > 0 ? found.hits[0].text.s : "";
}

/* What meeting the times asked about gives a turn; fast, without a reader. */
static float time_given(const char *question, const char *text)
{
    struct search_query query = {.query = str_of(question),
                                 .kinds = RECALL_TURN,
                                 .limit = 5,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = WORLD_NOW + DAYS(299),
                                 .is_fast = true};
    struct search_result found = {0};

    assert_int_equal(search_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &query, &found, NULL),
                     CLEW_OK);
    for (size_t i = 0; i < found.count; i++) {
        if (str_eq(found.hits[i].text, str_of(text))) {
            return found.hits[i].item.parts.time;
        }
    }
    return -1;
}

static void a_time_without_its_year_is_the_past_one_too(void **state)
{
    static const char *const cellar = "Der Keller wird gestrichen.";

    (void)state;
    (void)talk_by(&talk, "web", DAYS(42), TURN_USER, cellar); /* 30 March */
    assert_true(time_given("Keller im März", cellar) > 0);
    assert_true(time_given("Keller im März 2027", cellar) == 0);
    assert_true(time_given("Keller im Mai", cellar) == 0);
}

static void what_was_said_just_after_counts_by_how_long_ago_it_is(void **state)
{
    (void)state;
    (void)talk_by(&talk, "web", DAYS(200), TURN_USER, "Soup again.");
    (void)talk_by(&talk, "web", DAYS(297), TURN_USER, "The soup was salty.");
    (void)talk_by(&talk, "web", DAYS(299), TURN_USER, "The soup was thin.");
    assert_true(time_given("the soup, two days ago", "The soup was salty.") >
                0);
    assert_true(time_given("the soup, two days ago", "The soup was thin.") ==
                0);
    /* told within the week, asked months later: it was 4 September */
    assert_true(time_given("the soup on 1 September", "Soup again.") > 0);
}

static void
a_time_asked_about_is_preferred_though_others_answer_too(void **state)
{
    (void)state;
    world_use_reader(&talk.world);
    (void)talk_by(&talk, "web", DAYS(0), TURN_USER, "I cooked a fish soup.");
    (void)talk_by(&talk, "web", DAYS(90), TURN_USER, "I cooked lentil curry.");
    (void)talk_by(&talk, "web", DAYS(240), TURN_USER,
                  "I cooked pumpkin risotto.");
    (void)talk_by(&talk, "web", DAYS(297), TURN_USER, "I cooked goulash.");
    /* the newest of those that answer, but for the time asked about */
    assert_string_equal(first_of("what did I cook?"), "I cooked goulash.");
    assert_string_equal(first_of("what did I cook in May?"),
                        "I cooked lentil curry.");
    assert_string_equal(first_of("what did I cook in February?"),
                        "I cooked a fish soup.");
    assert_string_equal(first_of("was habe ich im Oktober gekocht?"),
                        "I cooked pumpkin risotto.");
    assert_string_equal(first_of("what was there two days ago?"),
                        "I cooked goulash.");
    assert_string_equal(first_of("五月我做了什么菜？"),
                        "I cooked lentil curry.");
}

static void what_held_at_the_time_asked_about_is_not_outdated(void **state)
{
    (void)state;
    world_use_reader(&talk.world);
    (void)talk_by(&talk, "web", DAYS(90), TURN_USER, "My rent is 800 euros.");
    (void)talk_by(&talk, "web", DAYS(240), TURN_USER,
                  "My rent is 950 euros now.");
    assert_string_equal(first_of("what is my rent?"),
                        "My rent is 950 euros now.");
    assert_string_equal(first_of("what was my rent in May?"),
                        "My rent is 800 euros.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_hit_has_its_row_and_its_lines,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(a_newer_statement_stands_for_the_older,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(nothing_crosses_the_walls, open_talk,
                                        close_talk),
        cmocka_unit_test_setup_teardown(a_slip_of_the_hand_finds_what_was_meant,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(nobody_is_told_words_of_another,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(
            a_question_that_leans_is_completed_from_its_chat, open_talk,
            close_talk),
        cmocka_unit_test_setup_teardown(a_long_talk_lends_a_few_words,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(nobody_borrows_from_a_chat_of_another,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(
            a_time_without_its_year_is_the_past_one_too, open_talk, close_talk),
        cmocka_unit_test_setup_teardown(
            what_was_said_just_after_counts_by_how_long_ago_it_is, open_talk,
            close_talk),
        cmocka_unit_test_setup_teardown(
            a_time_asked_about_is_preferred_though_others_answer_too, open_talk,
            close_talk),
        cmocka_unit_test_setup_teardown(
            what_held_at_the_time_asked_about_is_not_outdated, open_talk,
            close_talk),
    };

    return WORLD_EACH(tests);
}
