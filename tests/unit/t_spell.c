/* SPDX-License-Identifier: Apache-2.0 */
/* The words a slip of the hand away: which are made, which are not. */
#include "support/test.h"

#include "text/spell.h"

#include <string.h>

struct wanted {
    const char *word;
    bool is_there;
    enum spell_step step; /* the likeliest way to it */
    size_t n_made;
};

static void look(void *arg, struct str word, enum spell_step step)
{
    struct wanted *wanted = arg;

    wanted->n_made++;
    if (str_eq(word, str_of(wanted->word)) &&
        (!wanted->is_there || step < wanted->step)) {
        wanted->is_there = true;
        wanted->step = step;
    }
}

static void the_likelier_slip_is_told_from_the_others(void **state)
{
    static const struct {
        const char *written;
        const char *meant;
        bool is_two;
        enum spell_step step;
    } cases[] = {
        {"ptomise", "potmise", false, SPELL_SLIP},
        {"adress", "address", false, SPELL_SLIP},
        {"tommorow", "tomorow", false, SPELL_SLIP},
        {"seperate", "separate", false, SPELL_SLIP},
        {"hosptal", "hospital", false, SPELL_EDIT},
        {"hospxital", "hospital", false, SPELL_EDIT},
        {"hosbital", "hospital", false, SPELL_EDIT},
        {"tommorow", "tomorrow", true, SPELL_TWO},
        {"restaraunt", "restaurant", true, SPELL_TWO},
        {"\xD0\xBC\xD0\xBE\xD0\xBB\xD0\xBA\xD0\xBE",
         "\xD0\xBC\xD0\xBE\xD0\xBB\xD0\xBE\xD0\xBA\xD0\xBE", false, SPELL_EDIT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wanted wanted = {.word = cases[i].meant};

        (cases[i].is_two ? spell_two : spell_one)(str_of(cases[i].written),
                                                  look, &wanted);
        if (!wanted.is_there || wanted.step != cases[i].step) {
            fail_msg("%s: %s %d", cases[i].written, cases[i].meant,
                     (int)wanted.step);
        }
    }
}

static void the_first_letter_stays(void **state)
{
    struct wanted wanted = {.word = "bear"};

    (void)state;
    spell_one(STR("pear"), look, &wanted);
    assert_false(wanted.is_there);
}

static void what_has_no_alphabet_has_no_near_words(void **state)
{
    static const char *const none[] = {"",
                                       "ab",
                                       "r2d2",
                                       "caf\xC3\xA9",
                                       "\xE6\xB0\xB4\xE6\xB0\xB4\xE6\xB0\xB4",
                                       "ab\xD0\xBC\xD0\xBE",
                                       "\xff\xff\xff"};
    struct wanted wanted = {.word = "x"};
    char longest[SPELL_MAX_LETTERS + 2];

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_int_equal(spell_letters(str_of(none[i])), 0);
        spell_one(str_of(none[i]), look, &wanted);
        spell_two(str_of(none[i]), look, &wanted);
    }
    memset(longest, 'a', sizeof(longest));
    assert_int_equal(spell_letters((struct str){longest, SPELL_MAX_LETTERS}),
                     SPELL_MAX_LETTERS);
    assert_int_equal(
        spell_letters((struct str){longest, SPELL_MAX_LETTERS + 1}), 0);
    assert_int_equal(wanted.n_made, 0);
    /* at the edge: room for two more */
    spell_two((struct str){longest, SPELL_MAX_LETTERS}, look, &wanted);
    assert_true(wanted.n_made > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_likelier_slip_is_told_from_the_others),
        cmocka_unit_test(the_first_letter_stays),
        cmocka_unit_test(what_has_no_alphabet_has_no_near_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
