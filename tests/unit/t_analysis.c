/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_analysis.c - sentences, keywords, entities, subjects, topics, likeness.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "text/analysis.h"

#include <stdio.h>

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)256 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct analysis run(const char *text)
{
    static const struct str known[] = {{"hydra", 5}, {"blue whale", 10}};
    struct analysis_options options = {
        .speaker = STR("Melanie"), .known_names = known, .n_known_names = 2};
    struct analysis analysis;

    assert_true(clock_parse(STR("2023-05-08T13:56:00Z"), &options.time_ms));
    assert_int_equal(
        analysis_run(&arena, str_of(text), &options, &analysis, NULL), CLEW_OK);
    return analysis;
}

static const struct entity *entity(const struct analysis *analysis,
                                   const char *key)
{
    for (size_t i = 0; i < analysis->n_entities; i++) {
        if (str_eq(analysis->entities[i].key, str_of(key))) {
            return &analysis->entities[i];
        }
    }
    return NULL;
}

static void entities_have_their_kind(void **state)
{
    static const struct {
        const char *text;
        const char *key;
        int kind; /* -1: it must not be one */
    } cases[] = {
        {"I talked to Caroline about it", "caroline", ENTITY_PERSON},
        {"Caroline's dog is big", "caroline", ENTITY_PERSON},
        {"We met Dr. Smith there", "dr smith", ENTITY_PERSON},
        {"we asked John Okonkwo again", "john okonkwo", ENTITY_PERSON},
        {"melanie said so", "melanie", ENTITY_PERSON},
        {"She lives in Paris now", "paris", ENTITY_PLACE},
        {"We flew to New York City", "new york city", ENTITY_PLACE},
        {"a walk in Xanten", "xanten", ENTITY_PLACE},
        {"He works at Google", "google", ENTITY_ORGANISATION},
        {"She studied at the University of Oxford", "university of oxford",
         ENTITY_ORGANISATION},
        {"He joined Acme Corp last year", "acme corp", ENTITY_ORGANISATION},
        {"my iPhone broke", "iphone", ENTITY_PRODUCT},
        {"we use PostgreSQL here", "postgresql", ENTITY_PRODUCT},
        {"work on Project Apollo goes on", "project apollo", ENTITY_PROJECT},
        {"hydra is slow again", "hydra", ENTITY_NAME},
        {"the blue whale build is red", "blue whale", ENTITY_NAME},
        {"edit src/text/token.c please", "src/text/token.c", ENTITY_FILE},
        {"open notes.md now", "notes.md", ENTITY_FILE},
        {"see https://example.com/a", "https://example.com/a", ENTITY_URL},
        {"write to bob@example.org", "bob@example.org", ENTITY_EMAIL},
        {"We left last Thursday", "last thursday", ENTITY_DATE},
        {"it cost $1,200 in all", "$1,200", ENTITY_AMOUNT},
        {"a run of 5 km", "5 km", ENTITY_AMOUNT},
        {"it needs 10GB", "10gb", ENTITY_AMOUNT},
        {"about 80% of it", "80%", ENTITY_AMOUNT},
        {"getting a 401 error", "401", ENTITY_NUMBER},
        {"the call to getUserName fails", "getusername", ENTITY_NUMBER},
        {"The weather is nice", "the", -1},
        {"Weather is nice", "weather", -1},
        {"Yes I think so", "i", -1},
        {"Every Monday it rains", "monday", -1},
        {"Please call me", "please", -1},
        {"Ask Anna about it", "ask anna", -1},
        {"Ask Anna about it", "anna", ENTITY_PERSON},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct analysis analysis = run(cases[i].text);
        const struct entity *found = entity(&analysis, cases[i].key);
        int kind = found ? (int)found->kind : -1;

        if (kind != cases[i].kind) {
            for (size_t k = 0; k < analysis.n_entities; k++) {
                print_error(
                    "  \"%.*s\" kind %d\n", (int)analysis.entities[k].key.len,
                    analysis.entities[k].key.s, (int)analysis.entities[k].kind);
            }
            fail_msg("\"%s\": \"%s\" is %d, not %d", cases[i].text,
                     cases[i].key, kind, cases[i].kind);
        }
    }
}

static void keywords_come_rarest_first(void **state)
{
    struct analysis analysis =
        run("I need to fix the payment integration. The integration with "
            "Stripe fails with a webhook timeout, please help!");

    (void)state;
    assert_true(analysis.n_keywords >= 6);
    for (size_t i = 0; i < analysis.n_keywords; i++) {
        assert_false(str_eq(analysis.keywords[i].stem, STR("pleas")));
        assert_false(str_eq(analysis.keywords[i].stem, STR("the")));
        if (str_eq(analysis.keywords[i].stem, STR("integr"))) {
            assert_int_equal(analysis.keywords[i].count, 2);
            assert_true(analysis.keywords[i].is_noun);
        }
    }
    assert_true(text_idf(STR("webhook")) > text_idf(STR("payment")));
    assert_true(text_idf(STR("payment")) > text_idf(STR("time")));
    assert_true(text_idf(STR("xyzzyplugh")) > 12.0f);
}

static void sentences_say_if_they_ask(void **state)
{
    struct analysis analysis =
        run("It broke. Why \"now?\" Help! \xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x9f"
            "\n```\ncode?\n```\n");

    (void)state;
    assert_int_equal(analysis.n_sentences, 5);
    assert_false(analysis.sentences[0].is_question);
    assert_true(analysis.sentences[1].is_question);
    assert_true(analysis.sentences[2].is_exclaimed);
    assert_true(analysis.sentences[3].is_question);
    assert_true(analysis.sentences[4].is_code);
    assert_false(analysis.sentences[4].is_question);
    for (size_t i = 0; i < analysis.n_sentences; i++) {
        assert_true(analysis.sentences[i].span.from <
                    analysis.sentences[i].span.to);
    }
}

static void counted_nouns_are_no_ends(void **state)
{
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {
        {"Oma wohnt im 3. Stock links.", 1},
        {"Sie kam zum 2. Mal zu spät. Es regnete.", 2},
        {"Nach der 4. Klasse zieht er um.", 1},
        {"Wir bleiben bis zum 12. Dann fahren wir heim.", 2},
        {"I am 27. Paul is 30.", 2},
        {"We meet on the 12. Bring a coat.", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct analysis analysis = run(cases[i].text);

        if (analysis.n_sentences != cases[i].n) {
            fail_msg("\"%s\": %zu", cases[i].text, analysis.n_sentences);
        }
    }
}

static void subjects_and_topics_read_well(void **state)
{
    static const struct {
        const char *text;
        const char *subject;
        const char *topic;
    } cases[] = {
        {"The payment integration is broken again.", "The payment integration",
         "payment integration"},
        {"I am planning my trip to Lisbon.", "my trip to Lisbon",
         "trip to Lisbon"},
        {"Can you fix the webhook timeout?", "the webhook timeout",
         "webhook timeout"},
        {"My sister bought a house.", "My sister", NULL},
        {"Anna loves pottery.", NULL, NULL},
        {"How do I sort a list of dicts in Python?", NULL, NULL},
        {"it is.", "", ""},
        {"", NULL, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct analysis analysis = run(cases[i].text);
        struct str topic = analysis_topic(&analysis);

        if (cases[i].subject) {
            struct str subject =
                analysis_subject(&analysis, &analysis.sentences[0]);

            if (!str_eq(subject, str_of(cases[i].subject))) {
                fail_msg("\"%s\": subject \"%.*s\"", cases[i].text,
                         (int)subject.len, subject.s);
            }
        }
        if (cases[i].topic && !str_eq(topic, str_of(cases[i].topic))) {
            fail_msg("\"%s\": topic \"%.*s\"", cases[i].text, (int)topic.len,
                     topic.s);
        }
    }
}

static void alike_strings_are_alike(void **state)
{
    (void)state;
    assert_true(text_fuzzy(STR("the payment integration"),
                           STR("payment integration")) > 0.99);
    assert_true(text_fuzzy(STR("integration of payments"),
                           STR("payment integration")) > 0.9);
    assert_true(text_fuzzy(STR("Postgres"), STR("postgress")) > 0.85);
    assert_true(text_fuzzy(STR("weather in Boston"), STR("tax return")) < 0.35);
    assert_true(text_fuzzy(STR(""), STR("")) < 0.01);
    assert_true(text_fuzzy(STR("a"), STR("")) < 0.01);
    assert_true(text_fuzzy(STR("same"), STR("same")) > 0.999);
}

static void odd_texts_are_analysed_too(void **state)
{
    static const char *const texts[] = {
        "",
        "\n\n\n",
        "?!?!",
        "\xff\xfe\xfd",
        "```",
        "`",
        "> ",
        "@",
        "a@",
        "https://",
        "1,",
        "\xe2\x80\x99",
        "\xf0\x9f\x91\xa8\xe2\x80\x8d",
        "- \n- \n",
        "\xe6\x98\xa8\xe5\xa4\xa9\xe6\x88\x91\xe5\x8e\xbb\xe4\xba\x86",
        "\xd8\xb0\xd9\x87\xd8\xa8\xd8\xaa \xd8\xa3\xd9\x85\xd8\xb3",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct analysis analysis = run(texts[i]);

        (void)analysis_topic(&analysis);
        for (size_t s = 0; s < analysis.n_sentences; s++) {
            (void)analysis_subject(&analysis, &analysis.sentences[s]);
        }
    }
}

static void the_same_text_gives_the_same_analysis(void **state)
{
    const char *text = "Anna met Bob in Paris last May; they paid $5 each.";
    struct analysis a = run(text);
    struct analysis b = run(text);

    (void)state;
    assert_int_equal(a.n_keywords, b.n_keywords);
    assert_int_equal(a.n_entities, b.n_entities);
    for (size_t i = 0; i < a.n_keywords; i++) {
        assert_true(str_eq(a.keywords[i].stem, b.keywords[i].stem));
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    const char *text = "Anna met na\xc3\xafve Bob in Xanten on May 5th, 2023; "
                       "getUserName() cost $5,000.";
    struct analysis_options options = {0};
    int64_t live;

    (void)state;
    (void)run(text); /* the thread's stemmers are made */
    live = alloc_live_count();
    for (uint64_t n = 1; n < 200; n++) {
        struct arena small;
        struct analysis analysis;
        enum clew_status status;

        arena_init(&small, 1 << 20);
        alloc_fail_at(n);
        status = analysis_run(&small, str_of(text), &options, &analysis, NULL);
        arena_release(&small);
        assert_int_equal(alloc_live_count(), live);
        if (!alloc_fail_fired()) {
            alloc_fail_at(0);
            assert_int_equal(status, CLEW_OK);
            assert_true(n > 1);
            return;
        }
        assert_int_equal(status, CLEW_NO_MEMORY);
    }
    fail_msg("no end of allocations");
}

static void a_huge_text_takes_linear_time(void **state)
{
    static const char *const words[] = {"today ", "Anna ", "the ",  "met ",
                                        "in ",    "$5 ",   "x.y/z "};
    size_t cap = 4u << 20;
    char *text = malloc(cap);
    size_t len = 0;
    struct analysis_options options = {0};
    struct analysis analysis;
    struct arena big;

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; len + 16 < cap; i++) {
        const char *word = words[i * 7919 % 7];

        memcpy(text + len, word, strlen(word));
        len += strlen(word);
    }
    arena_init(&big, (size_t)256 << 20);
    assert_int_equal(
        analysis_run(&big, (struct str){text, len}, &options, &analysis, NULL),
        CLEW_OK);
    (void)analysis_topic(&analysis);
    (void)analysis_subject(&analysis, &analysis.sentences[0]);
    arena_release(&big);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entities_have_their_kind),
        cmocka_unit_test(keywords_come_rarest_first),
        cmocka_unit_test(sentences_say_if_they_ask),
        cmocka_unit_test(counted_nouns_are_no_ends),
        cmocka_unit_test(subjects_and_topics_read_well),
        cmocka_unit_test(alike_strings_are_alike),
        cmocka_unit_test(odd_texts_are_analysed_too),
        cmocka_unit_test(the_same_text_gives_the_same_analysis),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(a_huge_text_takes_linear_time),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
