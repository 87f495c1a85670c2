/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a language model says replaces something: several notes, one of its own
 * answer, a value out of a guess that held two; and that recall puts what holds
 * before what held, in whatever words. And what the reader finds worthless.
 */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "base/crew.h"
#include "engine/ask/search.h"

#include <string.h>

/* With the shipped reader. */
static int open_read(void **state)
{
    (void)open_all(state);
    world_use_reader(&talk.world);
    talk.world.engine.crew = crew_open(2, NULL);
    return 0;
}

static int close_read(void **state)
{
    crew_close(talk.world.engine.crew);
    talk.world.engine.crew = NULL;
    return close_all(state);
}

/* A note of T1 with what it is about and what it replaces (a JSON value). */
static const char *told(const char *quote, const char *about,
                        const char *updates)
{
    return arena_printf(&talk.world.arena,
                        "{'turn':'T1','quote':'%s','about':'%s','type':"
                        "'decision','hedged':false,'updates':%s}",
                        quote, about, updates);
}

/* Say it, and let the model read it so. */
static void say_and_read(const char *text, const char *notes)
{
    talk_say(&talk, 'u', text);
    answer(notes, "", "", "");
    pause_talk();
}

/* The label of a note, as it is shown beside what is said now. */
static const char *label_now(const char *text, const char *says)
{
    say_and_read(text, "");
    return arena_string(&talk.world.arena, label_of("note\\\":", says));
}

static const struct memory_view *any(const char *words)
{
    const struct memory_view *view = find("llm", words);

    view = view ? view : find("extracted", words);
    if (!view) {
        fail_msg("nothing kept of %s", words);
    }
    return view;
}

static void one_note_may_replace_two(void **state)
{
    const char *first;
    const char *second;

    (void)state;
    say_and_read("So the regatta dinner is planned at the Anchor.",
                 told("the regatta dinner is planned at the Anchor", "", "[]"));
    say_and_read("We keep the Anchor for the regatta dinner, forty seats.",
                 told("We keep the Anchor for the regatta dinner", "", "[]"));
    first = label_now("The regatta dinner needs a menu, Anchor or not.",
                      "dinner is planned at the Anchor");
    second = arena_string(&talk.world.arena,
                          label_of("note\\\":", "We keep the Anchor"));
    say_and_read(
        "The regatta dinner moves to the boathouse.",
        told("The regatta dinner moves to the boathouse", "",
             arena_printf(&talk.world.arena, "['%s','%s']", first, second)));
    assert_true(any("planned at the Anchor")->is_superseded);
    assert_true(any("We keep the Anchor")->is_superseded);
    assert_false(any("moves to the boathouse")->is_superseded);
    assert_sound();
}

/* Two changes in one breath: no note of the first is shown yet. */
static void a_note_may_replace_one_of_its_own_answer(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "Then the ferry leaves at 7:40 for us.");
    talk_say(&talk, 'u', "No wait, the ferry for us leaves at 9:15.");
    answer("{'turn':'T1','quote':'the ferry leaves at 7:40','about':'','type':"
           "'event','hedged':false,'updates':[]},"
           "{'turn':'T2','quote':'the ferry for us leaves at 9:15','about':'',"
           "'type':'event','hedged':false,'updates':['#1']}",
           "", "", "");
    pause_talk();
    assert_true(any("7:40")->is_superseded);
    assert_false(any("9:15")->is_superseded);
    assert_sound();
}

/* It cannot name what comes after it, itself, or nothing. */
static void a_number_that_is_none_replaces_nothing(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "Then the ferry leaves at 7:40 for us.");
    answer("{'turn':'T1','quote':'the ferry leaves at 7:40','about':'','type':"
           "'event','hedged':false,'updates':['#1','#2','#x','#']}",
           "", "", "");
    pause_talk();
    assert_false(any("7:40")->is_superseded);
    assert_non_null(strstr(trace(), "\"label\":4"));
    assert_sound();
}

/* What the reader kept as one note holds two values; each may change. */
static void a_guess_of_two_values_is_parted(void **state)
{
    const char *label;
    const char *type;

    (void)state;
    talk_say(&talk, 'u',
             "The pottery course starts on 4 May and costs 90 euros.");
    if (count_origin("extracted") != 1) {
        fail_msg("the reader does not keep it as one");
    }
    type = arena_string(&talk.world.arena,
                        find("extracted", "pottery")->memory.type.s);
    answer(arena_printf(&talk.world.arena,
                        "{'turn':'T1','quote':'The pottery course starts on 4 "
                        "May','about':'','type':'%s','hedged':false,"
                        "'updates':[]},{'turn':'T1','quote':'costs 90 euros',"
                        "'about':'','type':'%s','hedged':false,'updates':[]}",
                        type, type),
           "", "", "");
    pause_talk();
    assert_int_equal(count_origin("extracted"), 0);
    assert_int_equal(count_origin("llm"), 2);
    label = label_now("About the pottery course once more.",
                      "pottery course starts on 4 May");
    say_and_read("The pottery course starts on 11 May after all.",
                 told("The pottery course starts on 11 May", "",
                      arena_printf(&talk.world.arena, "['%s']", label)));
    assert_true(any("starts on 4 May")->is_superseded);
    assert_false(any("costs 90 euros")->is_superseded);
    assert_sound();
}

/* What the reader saw of changes holds for the notes in its guesses' place, on
 * either side; and the model is shown what only a guess replaced. */
static void lineage_of_a_guess_is_inherited(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "I live in Bremen.");
    talk_say(&talk, 'u', "I live in Hamburg now.");
    assert_true(find("extracted", "Bremen")->is_superseded);
    answer(NOTE("T2", "live in Hamburg now", "decision"), "", "", "");
    pause_talk();
    assert_non_null(strstr(fake_http_seen(fake), "live in Bremen"));
    assert_non_null(find("llm", "Hamburg"));
    assert_null(find("extracted", "Hamburg"));
    assert_true(find("extracted", "Bremen")->is_superseded);
    assert_sound();
    close_all(state);
    open_all(state);
    talk_say(&talk, 'u', "I live in Bremen.");
    talk_say(&talk, 'u', "I live in Hamburg now.");
    answer(NOTE("T1", "live in Bremen", "decision"), "", "", "");
    pause_talk();
    assert_null(find("extracted", "Bremen"));
    assert_true(find("llm", "Bremen")->is_superseded);
    assert_sound();
}

/* --- recall ---------------------------------------------------------------
 */

static size_t rank_of(const struct search_result *result, const char *words)
{
    size_t at = 0;

    while (at < result->count &&
           str_find(result->hits[at].text, str_of(words), 0) == SIZE_MAX) {
        at++;
    }
    return at;
}

static struct search_result ask(const char *question)
{
    struct search_query query = {.query = str_of(question),
                                 .limit = 10,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = INT64_MAX / 4};
    struct search_result result;

    assert_int_equal(search_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &query, &result, NULL),
                     CLEW_OK);
    return result;
}

/* Twice in a row, in words that have nothing of the question. */
static void what_holds_comes_first_in_whatever_words(void **state)
{
    struct search_result result;
    const char *label;

    (void)state;
    say_and_read("The hall for the recital is the Guildhall.",
                 told("The hall for the recital is the Guildhall", "", "[]"));
    label = label_now("Is the Guildhall heated?", "recital is the Guildhall");
    say_and_read("They let us down, so Saint Olave then.",
                 told("so Saint Olave then", "hall for the recital",
                      arena_printf(&talk.world.arena, "['%s']", label)));
    label = label_now("Olave has an organ.", "so Saint Olave then");
    say_and_read("Scrap that, we take Barbican.",
                 told("we take Barbican", "hall for the recital",
                      arena_printf(&talk.world.arena, "['%s']", label)));
    result = ask("Which hall is the recital in?");
    assert_true(rank_of(&result, "we take Barbican") <
                rank_of(&result, "recital is the Guildhall"));
    assert_true(rank_of(&result, "we take Barbican") <=
                rank_of(&result, "so Saint Olave then"));
    assert_true(rank_of(&result, "recital is the Guildhall") < result.count);
    assert_true(result.hits[rank_of(&result, "recital is the Guildhall")]
                    .is_superseded);
    assert_sound();
}

/* A turn of two values, of which the other changed, holds. */
static void the_other_value_of_a_turn_still_holds(void **state)
{
    struct search_result result;
    const char *label;

    (void)state;
    talk_say(&talk, 'u',
             "The pottery course starts on 4 May and costs 90 euros.");
    answer(arena_printf(&talk.world.arena, "%s,%s",
                        told("The pottery course starts on 4 May", "", "[]"),
                        told("costs 90 euros", "pottery course", "[]")),
           "", "", "");
    pause_talk();
    label = label_now("About the pottery course once more.",
                      "pottery course starts on 4 May");
    say_and_read("They made it the 11th.",
                 told("They made it the 11th", "pottery course starts",
                      arena_printf(&talk.world.arena, "['%s']", label)));
    assert_true(any("starts on 4 May")->is_superseded);
    result = ask("When does the pottery course start?");
    assert_true(rank_of(&result, "They made it the 11th") <
                rank_of(&result, "starts on 4 May"));
    result = ask("What does the pottery course cost?");
    assert_int_equal(rank_of(&result, "costs 90 euros"), 0);
    assert_false(result.hits[0].is_superseded);
}

/* What a model reads otherwise was never so, however far back is asked; a value
 * that a person takes back held until then. */
static void what_was_misread_never_held(void **state)
{
    const struct memory_view *guess;
    struct memory_view after;
    struct uuid id;

    (void)state;
    talk_say(&talk, 'u', "My sister Wanda moved to Utrecht in March.");
    guess = find("extracted", "Utrecht");
    assert_non_null(guess);
    id = guess->memory.id;
    answer(told("Wanda moved to Utrecht in March", "sister", "[]"), "", "", "");
    pause_talk();
    assert_non_null(find("llm", "Utrecht"));
    assert_int_equal(memory_view_get(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &id, &after, NULL),
                     CLEW_OK);
    assert_true(after.memory.retracted_at_ms != 0);
    assert_int_equal(after.memory.retracted_at_ms, after.memory.created_at_ms);
    assert_sound();
}

/* --- worth ----------------------------------------------------------------
 */

#define CHATTER "Thanks, you were a great help, have a lovely evening!"

static void what_the_reader_finds_worthless_is_dropped(void **state)
{
    (void)state;
    say_and_read(CHATTER, told("have a lovely evening", "", "[]"));
    assert_true(was_asked());
    assert_int_equal(count_origin("llm"), 0);
    assert_non_null(strstr(trace(), "\"worth\":1"));
    assert_sound();
}

/* … but for what a person wants done for good, and what ends an effort. */
static void what_something_rests_on_is_not_dropped(void **state)
{
    (void)state;
    say_and_read(CHATTER,
                 "{'turn':'T1','quote':'have a lovely evening','about':"
                 "'','type':'instruction','hedged':false,'updates':[]}");
    assert_int_equal(count_origin("llm"), 1);
    assert_sound();
    close_read(state);
    open_read(state);
    talk_say(&talk, 'u', "So the zip of the tent is stuck.");
    talk_say(&talk, 'u', CHATTER);
    answer("{'turn':'T2','quote':'have a lovely evening','about':'','type':"
           "'fact','hedged':false,'updates':[]}",
           EFFORT("new", "T1", "the zip of the tent is stuck", "resolved", "T2",
                  "have a lovely evening"),
           "", "");
    pause_talk();
    assert_non_null(find("llm", "have a lovely evening"));
    assert_sound();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
#define READ(name) cmocka_unit_test_setup_teardown(name, open_read, close_read)
    static const struct CMUnitTest tests[] = {
        CASE(one_note_may_replace_two),
        CASE(a_note_may_replace_one_of_its_own_answer),
        CASE(a_number_that_is_none_replaces_nothing),
        CASE(a_guess_of_two_values_is_parted),
        CASE(lineage_of_a_guess_is_inherited),
        CASE(what_holds_comes_first_in_whatever_words),
        CASE(the_other_value_of_a_turn_still_holds),
        CASE(what_was_misread_never_held),
        READ(what_holds_comes_first_in_whatever_words),
        READ(the_other_value_of_a_turn_still_holds),
        READ(what_the_reader_finds_worthless_is_dropped),
        READ(what_something_rests_on_is_not_dropped),
    };

    return WORLD_EACH(tests);
}
