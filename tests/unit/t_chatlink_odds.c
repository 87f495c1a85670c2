/* SPDX-License-Identifier: Apache-2.0 */
/* A link is as likely as all its signs make it, not one alone. */
#include "support/test.h"

#include "engine/chatlink/chatlink_odds.h"

#include <math.h>

static const struct chatlink_signs usual = {.matter = 0.9,
                                            .shared = 20,
                                            .n_words = 12,
                                            .n_candidates = 5,
                                            .n_before = 1};

static void each_sign_counts_in_its_direction(void **state)
{
    double odds = chatlink_odds(&usual);
    struct chatlink_signs signs = usual;

    (void)state;
    assert_true(odds > 0 && odds < 1);
    signs.matter = 0.99;
    assert_true(chatlink_odds(&signs) > odds);
    signs = usual;
    signs.n_before = 4;
    assert_true(chatlink_odds(&signs) < odds);
    signs = usual;
    signs.shared = 40;
    assert_true(chatlink_odds(&signs) > odds);
    signs = usual;
    signs.n_words = 40; /* the same words, of more */
    assert_true(chatlink_odds(&signs) < odds);
}

static void what_the_reader_doubts_and_lies_far_back_is_none(void **state)
{
    struct chatlink_signs signs = usual;

    (void)state;
    assert_true(chatlink_odds(&signs) > 0.66);
    signs.matter = 0.2;
    signs.n_before = 5;
    assert_true(chatlink_odds(&signs) < 0.3);
}

static void nothing_is_beyond_its_bounds(void **state)
{
    struct chatlink_signs signs = usual;
    double far;

    (void)state;
    signs.n_before = CHATLINK_MOST_BEFORE;
    far = chatlink_odds(&signs);
    signs.n_before = 100000;
    assert_true(chatlink_odds(&signs) == far);
    signs = (struct chatlink_signs){.matter = 1, .shared = 1e9};
    assert_true(isfinite(chatlink_odds(&signs)));
    signs = (struct chatlink_signs){.matter = 0, .shared = -1};
    assert_true(chatlink_odds(&signs) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sign_counts_in_its_direction),
        cmocka_unit_test(what_the_reader_doubts_and_lies_far_back_is_none),
        cmocka_unit_test(nothing_is_beyond_its_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
