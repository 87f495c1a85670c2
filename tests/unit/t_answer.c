/* SPDX-License-Identifier: Apache-2.0 */
/* What a model is shown of what recall found, and what stands around it. */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/answer/answer.h"
#include "model/llm.h"

#include <string.h>

static struct answer asked;

static const struct answer *ask(const char *question, int64_t at_ms)
{
    struct answer_query query = {.search = {.query = str_of(question),
                                            .since_ms = INT64_MIN,
                                            .until_ms = INT64_MAX,
                                            .at_ms = at_ms}};

    fake_http_answer(fake, 500, "{}");
    assert_int_equal(answer_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &query, &asked, NULL),
                     CLEW_OK);
    return &asked;
}

/* The passage with these words, or one that says nothing. */
static const struct answer_source *source_of(const struct answer *answer,
                                             const char *words)
{
    static const struct answer_source none;

    for (size_t i = 0; i < answer->n_sources; i++) {
        if (str_find(answer->sources[i].text, str_of(words), 0) != SIZE_MAX) {
            return &answer->sources[i];
        }
    }
    return &none;
}

static bool has(struct str text, const char *words)
{
    return str_find(text, str_of(words), 0) != SIZE_MAX;
}

static void a_passage_is_shown_with_what_was_said_beside_it(void **state)
{
    const struct answer_source *source;
    const struct answer *got;

    (void)state;
    talk_script(&talk, "u:So who keeps the allotment keys in June?"
                       "|a:Nobody said so far."
                       "|u:The allotment keys are with Bruno until the 7th."
                       "|a:And the rest of the month Wanda has them.");
    got = ask("Who has the allotment keys until the 7th?", INT64_MAX / 4);
    source = source_of(got, "with Bruno");
    assert_true(source->text.len > 0);
    assert_true(has(source->before.text, "Nobody said so far"));
    assert_true(has(source->before.by, "assistant"));
    assert_true(has(source->after.text, "Wanda has them"));
    assert_non_null(strstr(fake_http_seen(fake), "Wanda has them"));
    assert_non_null(strstr(fake_http_seen(fake), "\\\"day\\\":"));
}

/* What came after the moment asked about is not known then. */
static void what_was_said_later_is_not_beside_it(void **state)
{
    const struct answer_source *source;
    int64_t at_ms;

    (void)state;
    talk_say(&talk, 'u', "The allotment keys are with Bruno until the 7th.");
    at_ms = talk.last.turn.created_at_ms;
    talk_say(&talk, 'a', "And the rest of the month Wanda has them.");
    source = source_of(ask("Who has the allotment keys until the 7th?", at_ms),
                       "with Bruno");
    assert_true(source->text.len > 0);
    assert_int_equal(source->after.text.len, 0);
    assert_null(strstr(fake_http_seen(fake), "Wanda"));
}

#define COURSE "The pottery course starts on 4 May and costs 90 euros."

/* One value of a passage changed: the passage says which, and the rest of it
 * holds. */
static void a_changed_value_is_told_with_its_passage(void **state)
{
    const struct answer_source *source;
    const char *notes =
        "{'turn':'T1','quote':'The pottery course starts on 4 May','about':'',"
        "'type':'event','hedged':false,'updates':[]},"
        "{'turn':'T1','quote':'costs 90 euros','about':'pottery course',"
        "'type':'fact','hedged':false,'updates':[]}";
    int64_t before_ms;

    (void)state;
    talk_say(&talk, 'u', COURSE);
    answer(notes, "", "", "");
    pause_talk();
    answer("", "", "", "");
    talk_say(&talk, 'u', "About the pottery course once more.");
    pause_talk(); /* shows the label */
    before_ms = talk.last.turn.created_at_ms;
    talk_say(&talk, 'u', "They made it the 11th.");
    answer(arena_printf(&talk.world.arena,
                        "{'turn':'T1','quote':'They made it the 11th','about':"
                        "'pottery course starts','type':'event','hedged':"
                        "false,'updates':['%s']}",
                        label_of("note\\\":", "starts on 4 May")),
           "", "", "");
    pause_talk();
    source = source_of(ask("What does the pottery course cost, and when does "
                           "it start?",
                           INT64_MAX / 4),
                       "costs 90 euros");
    assert_int_equal(source->n_replaced, 1);
    assert_true(has(source->replaced[0].was, "starts on 4 May"));
    assert_false(has(source->replaced[0].was, "90 euros"));
    assert_true(has(source->replaced[0].now, "They made it the 11th"));
    assert_non_null(strstr(fake_http_seen(fake), "\\\"was\\\":"));
    assert_null(strstr(fake_http_seen(fake), "\\\"replaced\\\":true"));
    /* before it changed, nobody knew */
    source = source_of(ask("What does the pottery course cost?", before_ms),
                       "costs 90 euros");
    assert_true(source->text.len > 0);
    assert_int_equal(source->n_replaced, 0);
}

#define MOWER "the mower at the allotment stalls uphill"

/* An effort that is found brings the words that ended it. */
static void how_an_effort_ended_is_a_passage(void **state)
{
    const struct answer *got;

    (void)state;
    talk_say(&talk, 'u', "So " MOWER ".");
    answer("", EFFORT("new", "T1", MOWER, "open", "", ""), "", "");
    pause_talk();
    talk_leave(&talk);
    answer("", "", "", "");
    talk_say(&talk, 'u', "Good morning.");
    pause_talk(); /* shows the label */
    talk_say(&talk, 'u', "Guess what, a wasp nest sat in there.");
    answer("",
           arena_printf(&talk.world.arena,
                        "{'effort':'%s','turn':'','quote':'','status':"
                        "'resolved','end_turn':'T1','end_quote':"
                        "'a wasp nest sat in there'}",
                        label_of("effort\\\":", "the mower")),
           "", "");
    pause_talk();
    assert_int_equal(talk_count(&talk, "effort"), 1);
    assert_string_equal(talk_memory(&talk, "effort", 0)->status.s, "resolved");
    talk_leave(&talk);
    for (int i = 0; i < 40; i++) {
        talk_say(&talk, 'u',
                 arena_printf(&talk.world.arena,
                              "The hedge of allotment %d needs a cut.",
                              i + 100));
    }
    got = ask("Why did " MOWER "?", INT64_MAX / 4);
    assert_true(source_of(got, "So the mower")->text.len > 0);
    assert_true(source_of(got, "a wasp nest sat")->text.len > 0);
    assert_true(got->n_sources > 10);
}

/* … and nobody is shown anything of it without a model. */
static void without_a_model_it_is_as_it_was(void **state)
{
    struct llm *llm = talk.world.engine.llm;
    const struct answer *got;

    (void)state;
    for (int i = 0; i < 40; i++) {
        talk_say(&talk, 'u',
                 arena_printf(&talk.world.arena,
                              "The hedge of allotment %d needs a cut.",
                              i + 100));
    }
    talk.world.engine.llm = NULL;
    got = ask("Why did " MOWER "?", INT64_MAX / 4);
    talk.world.engine.llm = llm;
    assert_true(got->n_sources <= 10);
    for (size_t i = 0; i < got->n_sources; i++) {
        assert_int_equal(got->sources[i].before.text.len, 0);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(a_passage_is_shown_with_what_was_said_beside_it),
        CASE(what_was_said_later_is_not_beside_it),
        CASE(a_changed_value_is_told_with_its_passage),
        CASE(how_an_effort_ended_is_a_passage),
        CASE(without_a_model_it_is_as_it_was),
    };

    return WORLD_EACH(tests);
}
