/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a question to its answers: one matter once, read with the question,
 * scored, what holds first. On both stores. Cases that need the reader are
 * skipped in a build without a model.
 */
#include "support/test.h"
#include "support/talk.h"

#include "base/buf.h"
#include "base/crew.h"
#include "engine/ask/search.h"
#include "engine/read/verdicts.h"
#include "model/reader.h"

#include <stdio.h>

static struct talk talk;

static int open_talk(void **state)
{
    (void)state;
    talk_open(&talk);
    talk_script(&talk,
                "u:The pump in the cellar broke down last night."
                "|a:That is annoying. Is the cellar flooded?"
                "|u:A little. I want to plan the repair of the pump."
                "|a:Start by calling a plumber."
                "|u:Marek repaired the pump this morning, he charged 140 euros."
                "|a:Good to hear.");
    talk_leave(&talk);
    talk_script(&talk, "u:My name is Ada and I live in Berlin."
                       "|a:Noted."
                       "|u:I bake sourdough bread on Sundays."
                       "|a:Lovely.");
    return 0;
}

static int open_read(void **state)
{
    struct clew_error err = {0};

    (void)open_talk(state);
    if (reader_open(NULL, &talk.world.engine.reader, &err) == CLEW_NOT_FOUND) {
        talk.world.engine.reader = NULL;
        return 0;
    }
    assert_non_null(talk.world.engine.reader);
    talk.world.engine.crew = crew_open(2, NULL);
    return 0;
}

static int close_talk(void **state)
{
    (void)state;
    crew_close(talk.world.engine.crew);
    reader_close(talk.world.engine.reader);
    talk_close(&talk);
    return 0;
}

static void need_reader(void)
{
    if (!talk.world.engine.reader) {
        skip();
    }
}

static struct search_query asking(const char *question)
{
    return (struct search_query){.query = str_of(question),
                                 .limit = 10,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = talk.at_ms + CLOCK_MINUTE_MS};
}

static struct search_result run(const struct search_query *query)
{
    struct search_result result;
    struct clew_error err = {0};

    if (search_run(&talk.world.engine, &talk.world.scope, &talk.world.arena,
                   query, &result, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return result;
}

static bool says(const struct search_hit *hit, const char *words)
{
    return str_find(hit->text, str_of(words), 0) != SIZE_MAX;
}

static void a_turn_is_shown_once_with_its_coats_behind(void **state)
{
    struct search_query query = asking("where does Ada live?");
    struct search_result result = run(&query);
    bool has_memory = false;

    (void)state;
    assert_true(result.count > 0);
    assert_int_equal(result.hits[0].item.kind, RECALL_TURN);
    assert_true(says(&result.hits[0], "live in Berlin"));
    assert_true(str_eq(result.hits[0].speaker, STR("user")));
    for (size_t i = 0; i < result.hits[0].n_also; i++) {
        has_memory = has_memory || result.hits[0].also[i].kind == RECALL_MEMORY;
    }
    assert_true(has_memory); /* drawn from it */
    for (size_t i = 0; i < result.count; i++) {
        /* all that was kept here cites its turns */
        assert_int_not_equal(result.hits[i].item.kind, RECALL_MEMORY);
        for (size_t k = 0; k < i; k++) {
            assert_false(
                uuid_eq(&result.hits[i].item.id, &result.hits[k].item.id));
        }
    }
}

static void a_kind_asked_for_is_what_comes(void **state)
{
    struct search_query query = asking("where does Ada live?");
    struct search_result result;

    (void)state;
    query.kinds = RECALL_MEMORY;
    result = run(&query);
    assert_true(result.count > 0);
    for (size_t i = 0; i < result.count; i++) {
        assert_non_null(result.hits[i].memory);
    }
}

static void the_turn_that_says_it_comes_before_the_plan(void **state)
{
    struct search_query query = asking("who repaired the pump?");
    struct search_result result;

    (void)state;
    need_reader();
    result = run(&query);
    assert_true(says(&result.hits[0], "Marek repaired the pump"));
    assert_int_equal(result.answered, SEARCH_YES);
    assert_true(result.hits[0].read >= 0);
}

static void nothing_answers_what_was_never_said(void **state)
{
    struct search_query query =
        asking("which lattice spacing did the quantum chromodynamics run use?");
    struct search_result result;

    (void)state;
    need_reader();
    result = run(&query);
    assert_int_equal(result.answered, SEARCH_NO);
    query.min_score = 0.5;
    assert_int_equal(run(&query).count, 0);
    query.min_score = 0;
    query.is_floored = true;
    assert_int_equal(run(&query).count, 0);
}

static void a_word_is_found_where_it_stands(void **state)
{
    struct search_query query = asking("sourdough");
    struct search_result result;

    (void)state;
    need_reader();
    result = run(&query);
    assert_true(says(&result.hits[0], "sourdough"));
    assert_int_not_equal(result.answered, SEARCH_NO);
    query.query = STR("trombone");
    assert_int_equal(run(&query).answered, SEARCH_NO);
}

static void fast_reads_nothing(void **state)
{
    struct search_query query = asking("who repaired the pump?");
    struct search_result result;

    (void)state;
    query.is_fast = true;
    result = run(&query);
    assert_true(result.count > 0);
    for (size_t i = 0; i < result.count; i++) {
        assert_true(result.hits[i].read < 0);
        assert_true(result.hits[i].item.score > 0 &&
                    result.hits[i].item.score < 1);
        assert_true(i == 0 ||
                    result.hits[i].item.score <= result.hits[i - 1].item.score);
    }
}

static void what_holds_comes_before_what_held(void **state)
{
    struct search_query query = asking("when is the dentist appointment?");
    struct search_result result;

    (void)state;
    need_reader();
    talk_leave(&talk);
    talk_say(&talk, 'u', "My dentist appointment is on Tuesday at nine.");
    query.at_ms = talk.at_ms + CLOCK_MINUTE_MS;
    talk_say(&talk, 'a', "Noted.");
    clock_add_ms(&talk.world.clock, CLOCK_DAY_MS);
    talk.at_ms += CLOCK_DAY_MS;
    talk_say(&talk, 'u',
             "The dentist appointment was moved to Friday at eleven.");
    assert_true(says(&run(&query).hits[0], "Tuesday")); /* as of then */
    query.at_ms = talk.at_ms + CLOCK_MINUTE_MS;
    result = run(&query);
    assert_true(says(&result.hits[0], "Friday"));
    assert_true(result.count > 1);
}

static void a_long_turn_answers_by_its_passage(void **state)
{
    struct search_query query = asking("what is the vault code?");
    struct search_result result;
    struct buf text;

    (void)state;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 400; i++) {
        assert_int_equal(
            buf_printf(&text, "Paragraph %d tells of walls and windows. %s", i,
                       i == 333 ? "The vault code is 4711-QX. " : ""),
            CLEW_OK);
    }
    talk_say(&talk, 'u', text.data);
    query.at_ms = talk.at_ms + CLOCK_MINUTE_MS;
    result = run(&query);
    assert_true(says(&result.hits[0], "4711-QX"));
    assert_true(result.hits[0].text.len < 1000);
    assert_true(
        str_eq(result.hits[0].text,
               str_sub(result.hits[0].turn->text, result.hits[0].passage_from,
                       result.hits[0].passage_to)));
    buf_release(&text);
}

static void the_same_question_has_the_same_answers(void **state)
{
    struct search_query query = asking("what did Ada do with the pump?");
    struct search_result first = run(&query);
    struct crew *crew = talk.world.engine.crew;
    struct verdicts *before = talk.world.engine.verdicts;
    struct verdicts *verdicts = verdicts_new();

    (void)state;
    assert_non_null(verdicts);
    for (int round = 0; round < 6; round++) {
        struct search_result again;

        talk.world.engine.crew = round % 2 ? crew : NULL;
        /* read anew, and as it was read before */
        talk.world.engine.verdicts = round >= 2 ? verdicts : NULL;
        again = run(&query);
        assert_int_equal(again.count, first.count);
        for (size_t i = 0; i < first.count; i++) {
            assert_true(
                uuid_eq(&again.hits[i].item.id, &first.hits[i].item.id));
            assert_true(again.hits[i].item.score == first.hits[i].item.score);
        }
    }
    assert_true(!talk.world.engine.reader || verdicts_known(verdicts) > 0);
    talk.world.engine.crew = crew;
    talk.world.engine.verdicts = before;
    verdicts_free(verdicts);
}

static void an_empty_store_answers_no(void **state)
{
    struct search_query query = asking("who repaired the pump?");
    struct search_result result;

    (void)state;
    query.at_ms = 0; /* before anything was said */
    result = run(&query);
    assert_int_equal(result.count, 0);
    assert_int_equal(result.answered, SEARCH_NO);
}

/* The hit that is this text; NULL if there is none. */
static const struct search_hit *hit_of(const struct search_result *result,
                                       const char *text)
{
    for (size_t i = 0; i < result->count; i++) {
        if (str_eq(result->hits[i].text, str_of(text))) {
            return &result->hits[i];
        }
    }
    return NULL;
}

static void what_only_asks_the_same_is_no_answer(void **state)
{
    static const struct {
        const char *said;
        const char *question;
        bool is_same;
    } cases[] = {
        {"Who fed the heron?", "Who fed the heron?", true},
        {"hi! who fed the grey heron at the pond", "who fed the heron?", true},
        {"Can you tell me who fed the heron?", "who fed the heron?", true},
        {"Wann kommt der Heizungsbauer?", "Wann kommt der Heizungsbauer?",
         true},
        {"¿Dónde está la llave?", "¿dónde está la llave?", true},
        {"谁修好了打印机？", "谁修好了打印机？", true},
        /* these tell something, or are not asked again */
        {"Is the alarm code still 4471?", "What is the alarm code?", false},
        {"Which hotel was it in Porto, the Infante?",
         "Which hotel was it in Porto?", false},
        {"Could you remind me to send the offer on Thursday?",
         "When must I send the offer?", false},
        {"Who fed the heron? It was Olga.", "Who fed the heron?", false},
        {"Who fed the heron?", "heron", false},
        {"How long may raw milk stand?", "What did I ask about raw milk?",
         false}};

    (void)state;
    need_reader();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct search_query query = asking(cases[i].question);
        struct search_result result;
        const struct search_hit *hit;

        talk_leave(&talk);
        talk_say(&talk, 'u', cases[i].said);
        query.chat_id = talk.chat_id;
        query.at_ms = talk.at_ms + CLOCK_MINUTE_MS;
        result = run(&query);
        hit = hit_of(&result, cases[i].said);
        if (!hit) {
            fail_msg("%s is not found", cases[i].said);
            return;
        }
        if (hit->is_asking != cases[i].is_same) {
            fail_msg("%s", cases[i].said);
        }
        assert_int_equal(result.was_asked, cases[i].is_same);
        if (cases[i].is_same) {
            assert_int_equal(result.answered, SEARCH_NO);
        }
    }
}

/* The reader judges single turns; its no to the best match must not bring
 * forward what it never read. */
static void what_was_read_stands_before_what_was_not(void **state)
{
    static const char *const things[] = {"chair", "lamp", "gate", "bicycle",
                                         "vase",  "shed", "coat", "drum"};
    struct search_query query = asking("When does Otis sing in Lisbon?");
    struct search_result result;
    size_t n_read = 0;

    (void)state;
    need_reader();
    for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "Otis painted the %s.", things[i]);
        talk_say(&talk, 'u', text);
    }
    query.at_ms = talk.at_ms + CLOCK_MINUTE_MS;
    query.kinds = RECALL_TURN;
    query.read_ms = 8; /* some of them */
    result = run(&query);
    while (n_read < result.count && result.hits[n_read].read >= 0) {
        n_read++;
    }
    assert_true(n_read > 0 && n_read < result.count);
    for (size_t i = n_read; i < result.count; i++) {
        assert_true(result.hits[i].read < 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
#define READ(name) cmocka_unit_test_setup_teardown(name, open_read, close_talk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_turn_is_shown_once_with_its_coats_behind),
        TEST(a_kind_asked_for_is_what_comes),
        READ(the_turn_that_says_it_comes_before_the_plan),
        READ(nothing_answers_what_was_never_said),
        READ(a_word_is_found_where_it_stands),
        TEST(fast_reads_nothing),
        READ(fast_reads_nothing),
        READ(what_holds_comes_before_what_held),
        TEST(a_long_turn_answers_by_its_passage),
        READ(a_long_turn_answers_by_its_passage),
        TEST(the_same_question_has_the_same_answers),
        READ(the_same_question_has_the_same_answers),
        READ(an_empty_store_answers_no),
        READ(what_only_asks_the_same_is_no_answer),
        READ(what_was_read_stands_before_what_was_not),
    };

    return world_each(tests, sizeof(tests) / sizeof(tests[0]));
}
