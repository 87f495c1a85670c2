/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that a language model copies or puts together: found again as they were
 * said, left out where nobody said them, and kept as what it calls them.
 */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/llmread/quote.h"

#include <string.h>

/* What was reported as done is kept as that. */
static void a_report_stays_a_report(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "Ah, the gate was painted green by Omar there.");
    answer(NOTE("T1", "the gate was painted green by Omar", "report"), "", "",
           "");
    pause_talk();
    assert_string_equal(find("llm", "painted green")->memory.type.s, "report");
    answer("", "", "", "");
    talk_say(&talk, 'u', "The gate looks good.");
    pause_talk();
    assert_non_null(
        strstr(fake_http_seen(fake), "\\\"type\\\":\\\"report\\\""));
    assert_sound();
}

/* --- names of efforts ------------------------------------------------------
 */

#define NAMED(effort, turn, quote, title)                                      \
    "{'effort':'" effort "','turn':'" turn "','quote':'" quote                 \
    "','title':'" title "','status':'open','end_turn':'','end_quote':''}"

static void an_effort_is_called_by_words_that_were_said(void **state)
{
    const char *label;

    (void)state;
    talk_say(&talk, 'u', "It drips again, the tap in the upper kitchen.");
    answer("", NAMED("new", "T1", "It drips again", "Kitchen tap drips"), "",
           "");
    pause_talk();
    assert_string_equal(talk_memory(&talk, "effort", 0)->summary.s,
                        "Kitchen tap drips");
    assert_sound();
    /* its label is that of the words it was opened with */
    answer("", "", "", "");
    talk_say(&talk, 'u', "Still the same here.");
    pause_talk();
    label = arena_string(&talk.world.arena,
                         label_of("effort\\\":", "Kitchen tap drips"));
    talk_say(&talk, 'u', "And the washer is worn, I think.");
    answer("",
           arena_printf(&talk.world.arena,
                        NAMED("%s", "", "", "upper kitchen tap, worn washer"),
                        label),
           "", "");
    pause_talk();
    assert_string_equal(talk_memory(&talk, "effort", 0)->summary.s,
                        "upper kitchen tap, worn washer");
    assert_non_null(strstr(trace(), "\"named\":1"));
    answer("", "", "", "");
    talk_say(&talk, 'u', "So much for that.");
    pause_talk();
    assert_string_equal(
        label_of("effort\\\":", "upper kitchen tap, worn washer"), label);
    assert_sound();
}

static void no_effort_is_called_by_words_nobody_said(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "It drips again, the tap in the upper kitchen.");
    answer("",
           NAMED("new", "T1", "It drips again, the tap",
                 "Kitchen tap drips since 1998"),
           "", "");
    pause_talk();
    assert_string_equal(talk_memory(&talk, "effort", 0)->summary.s,
                        "It drips again, the tap");
    assert_non_null(strstr(trace(), "\"about\":1"));
    assert_sound();
}

/* --- quotes ---------------------------------------------------------------
 */

static void words_nobody_said_are_left_out(void)
{
    static const struct {
        const char *said;
        const char *words;
        const char *kept;
    } cases[] = {
        {"our flat is on the market", "flat on the market, price",
         "flat on the market"},
        {"the clarinet has a squeak", "cause of the clarinet squeak",
         "clarinet squeak"},
        {"Helena and the boiler", "Helena's old boiler", "Helena, boiler"},
        {"the garden, down to the brook", "garden, not the brook", "garden"},
        {"the garden is not 31 long", "garden, not 31", "garden, not 31"},
        {"since March", "since March 2019", "since March"},
        {"the year 2019", "3 March 2018, Oslo", ""},
        {"倉庫のシステム、予算", "倉庫のシステム、稼働", "倉庫のシステム"},
        {"anything", "", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str kept = {NULL, 0};

        assert_int_equal(quote_keep_said(&talk.world.arena,
                                         str_of(cases[i].said),
                                         str_of(cases[i].words), &kept),
                         CLEW_OK);
        assert_string_equal(kept.s, cases[i].kept);
    }
}

static void words_are_found_as_they_were_said(void **state)
{
    static const struct {
        const char *text;
        const char *quote;
        const char *found; /* NULL: not */
    } cases[] = {
        {"He said: the pump, 280 euros.", "the pump, 280 euros",
         "the pump, 280 euros."},
        {"It\xe2\x80\x99s done", "it's done", "It\xe2\x80\x99s done"},
        {"one  two\nthree", "\"one two three\"", "one  two\nthree"},
        {"the boiler", "oil", NULL},
        {"oil, the boiler", "boiler", "boiler"},
        {"port 8080", "port 808", NULL},
        {"a b", "", NULL},
        {"明日は会議です", "会議です", "会議です"},
        /* marks that are the speaker's */
        {"He said \"take the blue one\", so we did",
         "He said \"take the blue one\"", "He said \"take the blue one\""},
        {"He said \"take the blue one\".", "He said \"take the blue one",
         "He said \"take the blue one\"."},
        {"He said \xe2\x80\x9ctake it.\xe2\x80\x9d And then",
         "He said \"take it.\"", "He said \xe2\x80\x9ctake it.\xe2\x80\x9d"},
        {"the \"Fly\" tune, ok", "\"Fly\" tune", "\"Fly\" tune"},
        {"\xc2\xab prends-le \xc2\xbb, dit-il", "\xc2\xab prends-le \xc2\xbb",
         "\xc2\xab prends-le \xc2\xbb"},
        {"one (or two) left", "one (or two", "one (or two)"},
        {"take \"the blue\" one", "take", "take"},
        /* … and ones that are the quoter's */
        {"take the blue one", "'take the blue one'", "take the blue one"},
    };
    struct arena *arena = &talk.world.arena;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str text = str_of(cases[i].text);
        struct select_cite cite;
        bool is_found;

        assert_int_equal(
            quote_find(arena, text, str_of(cases[i].quote), &is_found, &cite),
            CLEW_OK);
        assert_int_equal(is_found, cases[i].found != NULL);
        if (is_found && !str_eq(str_sub(text, cite.from, cite.to),
                                str_of(cases[i].found))) {
            fail_msg("%s", cases[i].quote);
        }
    }
    assert_true(quote_is_said(STR("Helena runs the boilers"), STR("boiler")));
    assert_true(quote_is_said(STR("the year 2019"), STR("2019")));
    assert_false(quote_is_said(STR("the year 20191"), STR("2019")));
    assert_false(quote_is_said(STR("Helena"), STR("Oslo")));
    words_nobody_said_are_left_out();
    assert_false(quote_is_code(STR("a ```b``` c"), 12));
    assert_true(quote_is_code(STR("a ```bcd"), 6));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(a_report_stays_a_report),
        CASE(an_effort_is_called_by_words_that_were_said),
        CASE(no_effort_is_called_by_words_nobody_said),
        CASE(words_are_found_as_they_were_said),
    };

    return WORLD_EACH(tests);
}
