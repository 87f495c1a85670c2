/* SPDX-License-Identifier: Apache-2.0 */
/* Reading by rules: few, and likely right. */
#include "support/test.h"

#include "base/alloc.h"
#include "talk/rule_reader.h"

#include <math.h>

#define MAX_SENTENCES 64

static struct analysis analysis;
static struct reader_sentence read[MAX_SENTENCES];

static enum clew_status try(struct arena *arena, const char *text,
                            const char *before)
{
    struct analysis_options options = {.time_ms = 1771200000000LL};
    struct intent intent;
    enum clew_status status =
        analysis_run(arena, str_of(text), &options, &analysis, NULL);

    if (status == CLEW_OK) {
        assert_true(analysis.n_sentences <= MAX_SENTENCES);
        status = intent_of(arena, str_of(text), str_of(before), &intent);
    }
    return status == CLEW_OK ? rule_read(arena, &analysis, &intent, read)
                             : status;
}

/* Read a text; each group of numbers sums to one. */
static void reads(const char *text, const char *before)
{
    struct arena arena;

    arena_init(&arena, 1 << 24);
    assert_int_equal(try(&arena, text, before), CLEW_OK);
    for (size_t i = 0; i < analysis.n_sentences; i++) {
        float keep = 0;
        float about = 0;
        float act = 0;

        for (size_t k = 0; k < READER_KEEPS; k++) {
            keep += read[i].keep[k];
        }
        for (size_t k = 0; k < READER_ABOUTS; k++) {
            about += read[i].about[k];
        }
        for (size_t k = 0; k < READER_ACTS; k++) {
            act += read[i].act[k];
        }
        assert_true(fabsf(keep - 1) < 1e-5f);
        assert_true(fabsf(about - 1) < 1e-5f);
        assert_true(fabsf(act - 1) < 1e-5f);
    }
    arena_release(&arena);
}

static size_t best(const float *p, size_t n)
{
    size_t at = 0;

    for (size_t i = 1; i < n; i++) {
        at = p[i] > p[at] ? i : at;
    }
    return at;
}

static void statements_are_kept_by_their_kind(void **state)
{
    static const struct {
        const char *text;
        enum reader_keep keep;
    } rows[] = {
        {"My sister Greta lives in Bremen.", READER_KEEP_FACT},
        {"I prefer tea to coffee.", READER_KEEP_PREFERENCE},
        {"We decided to use PostgreSQL for the archive.", READER_KEEP_DECISION},
        {"The meeting with Wanda Quill is tomorrow.", READER_KEEP_EVENT},
        {"Where does Greta live?", READER_KEEP_NONE},
        {"Hello there!", READER_KEEP_NONE},
        {"So it goes with the 12 of them.", READER_KEEP_NONE},
        {"```\nport = 8080\n```", READER_KEEP_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        reads(rows[i].text, "");
        if (best(read[0].keep, READER_KEEPS) != (size_t)rows[i].keep) {
            fail_msg("%s: %zu", rows[i].text, best(read[0].keep, READER_KEEPS));
        }
    }
}

static void acts_follow_from_what_is_done(void **state)
{
    static const struct {
        const char *text;
        const char *before;
        enum reader_act act;
    } rows[] = {
        {"Help me fix the login page.", "", READER_ACT_OPENS},
        {"I'm getting a 401 error.", "", READER_ACT_OPENS},
        {"That fixed it, thanks!", "Clear the cookies.", READER_ACT_RESOLVES},
        {"Didn't work, same error.", "Clear the cookies.", READER_ACT_FAILS},
        {"My sister Greta lives in Bremen.", "", READER_ACT_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        reads(rows[i].text, rows[i].before);
        if (best(read[0].act, READER_ACTS) != (size_t)rows[i].act) {
            fail_msg("%s: %zu", rows[i].text, best(read[0].act, READER_ACTS));
        }
    }
}

static void only_the_first_sentence_opens(void **state)
{
    (void)state;
    reads("Help me fix the login page. It is blank since Monday.", "");
    assert_int_equal(analysis.n_sentences, 2);
    assert_int_equal(best(read[0].act, READER_ACTS), READER_ACT_OPENS);
    assert_int_equal(best(read[1].act, READER_ACTS), READER_ACT_ON);
}

static void endings_are_as_sure_as_the_words(void **state)
{
    struct reader_verdict verdict;

    (void)state;
    reads("That fixed it, thanks!", "Clear the cookies.");
    verdict = rule_ending(read, analysis.n_sentences);
    assert_true(verdict.p[READER_ENDING_RESOLVED] > 0.85f);
    reads("Thanks!", "Clear the cookies.");
    verdict = rule_ending(read, analysis.n_sentences);
    assert_true(verdict.p[READER_ENDING_RESOLVED] > 0.6f);
    assert_true(verdict.p[READER_ENDING_RESOLVED] < 0.8f);
    reads("Didn't work, same error.", "Clear the cookies.");
    verdict = rule_ending(read, analysis.n_sentences);
    assert_true(verdict.p[READER_ENDING_FAILED] > 0.6f);
    assert_true(verdict.p[READER_ENDING_RESOLVED] <= 0);
    reads("The sky is blue.", "");
    verdict = rule_ending(read, analysis.n_sentences);
    for (size_t i = 0; i < READER_ENDINGS; i++) {
        assert_true(verdict.p[i] <= 0);
    }
    verdict = rule_ending(NULL, 0);
    assert_true(verdict.p[READER_ENDING_RESOLVED] <= 0);
}

static void odd_texts_are_read(void **state)
{
    static const char *const texts[] = {
        "", " \n\t", "?!?!", "```", "\xE2\x80\xAE", "....", "漢字", "-"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        reads(texts[i], texts[i]);
    }
}

static void running_out_of_memory_is_told(void **state)
{
    bool is_done = false;

    (void)state;
    for (uint64_t n = 1; n < 400 && !is_done; n++) {
        int64_t live = alloc_live_count();
        struct arena arena;
        enum clew_status status;

        arena_init(&arena, 1 << 24);
        alloc_fail_at(n);
        status = try(&arena, "I think Greta moved to Bremen. It works now!",
                     "Clear the cookies.");
        is_done = !alloc_fail_fired();
        alloc_fail_at(0);
        assert_int_equal(status, is_done ? CLEW_OK : CLEW_NO_MEMORY);
        arena_release(&arena);
        assert_int_equal(alloc_live_count(), live);
    }
    assert_true(is_done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_kept_by_their_kind),
        cmocka_unit_test(acts_follow_from_what_is_done),
        cmocka_unit_test(only_the_first_sentence_opens),
        cmocka_unit_test(endings_are_as_sure_as_the_words),
        cmocka_unit_test(odd_texts_are_read),
        cmocka_unit_test(running_out_of_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
