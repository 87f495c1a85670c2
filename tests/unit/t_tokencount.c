/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_tokencount.c - estimates and bounds against counts that the encodings
 * cl100k and o200k really gave (npm package gpt-tokenizer 4.0.0).
 */
#include "support/test.h"

#include "text/analysis.h"

#include <stdio.h>

static const struct {
    const char *text;
    size_t cl100k;
    size_t o200k;
} cases[] = {
#include "tokencount_cases.inc"
};

static void the_bound_is_never_below_the_real_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t bound = text_token_bound(str_of(cases[i].text));

        if (bound < cases[i].cl100k || bound < cases[i].o200k) {
            fail_msg("case %zu: bound %zu, real %zu and %zu", i, bound,
                     cases[i].cl100k, cases[i].o200k);
        }
    }
}

/* A bound far above what a text costs leaves contexts half empty. */
static void the_bound_is_not_far_above_in_other_languages(void **state)
{
    static const struct {
        const char *text;
        size_t real; /* by the encoding that makes more of it */
        double most;
    } said[] = {
        {"Gestern kam der Klempner endlich vorbei und hat die Pumpe im Keller "
         "getauscht, die Rechnung liegt auf dem Kühlschrank.",
         37, 1.6},
        {"昨日やっと配管工の人が来て、地下室のポンプを交換してくれました。"
         "請求書は冷蔵庫の上にあります。",
         52, 1.25},
        {"昨天水管工终于来了，把地下室的水泵换了，发票放在冰箱上。", 34, 1.25},
        {"Вчера наконец пришёл сантехник и поменял насос в подвале, счёт лежит "
         "на холодильнике.",
         46, 2.1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        size_t bound = text_token_bound(str_of(said[i].text));

        if (bound < said[i].real ||
            (double)bound > said[i].most * (double)said[i].real) {
            fail_msg("\"%s\": bound %zu, real %zu", said[i].text, bound,
                     said[i].real);
        }
    }
}

static void the_estimate_is_near_over_all_prose_and_code(void **state)
{
    double estimate = 0;
    double real = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strlen(cases[i].text) > 60) {
            estimate += (double)text_token_estimate(str_of(cases[i].text));
            real += (double)(cases[i].cl100k + cases[i].o200k) / 2;
        }
    }
    assert_true(estimate > real * 0.95);
    assert_true(estimate < real * 1.05);
}

static void a_nul_byte_is_not_the_end(void **state)
{
    (void)state;
    /* both encodings make three tokens of two spaces and a NUL */
    assert_true(text_token_bound((struct str){"  \0", 3}) >= 3);
}

static void nothing_has_no_tokens(void **state)
{
    (void)state;
    assert_int_equal(text_token_estimate(STR("")), 0);
    assert_int_equal(text_token_bound(STR("")), 0);
    assert_int_equal(text_token_estimate(STR(" ")), 1);
}

static void a_megabyte_of_anything_is_bounded_by_its_bytes(void **state)
{
    static char text[1 << 20];
    static const char fills[] = {'a', ' ', '\n', '.', '0', (char)0xe4};

    (void)state;
    for (size_t i = 0; i < sizeof(fills); i++) {
        struct str all = {text, sizeof(text)};

        memset(text, fills[i], sizeof(text));
        assert_true(text_token_bound(all) >= text_token_estimate(all) / 2);
        assert_true(text_token_bound(all) <= 3 * sizeof(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_never_below_the_real_count),
        cmocka_unit_test(the_bound_is_not_far_above_in_other_languages),
        cmocka_unit_test(the_estimate_is_near_over_all_prose_and_code),
        cmocka_unit_test(a_nul_byte_is_not_the_end),
        cmocka_unit_test(nothing_has_no_tokens),
        cmocka_unit_test(a_megabyte_of_anything_is_bounded_by_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
