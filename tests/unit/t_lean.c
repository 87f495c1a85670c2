/* SPDX-License-Identifier: Apache-2.0 */
/* Which questions lean on what was said before them. */
#include "support/test.h"

#include "base/arena.h"
#include "talk/lean.h"

static bool does_lean(const char *text)
{
    struct arena arena;
    struct tokens tokens;
    bool leans;

    arena_init(&arena, (size_t)1 << 20);
    assert_int_equal(tokens_of(&arena, str_of(text), &tokens), CLEW_OK);
    leans = lean_is(&tokens);
    arena_release(&arena);
    return leans;
}

static void a_question_with_little_of_its_own_leans(void **state)
{
    static const char *const yes[] = {"why?",
                                      "and the price?",
                                      "who mended it?",
                                      "is she allergic?",
                                      "where was that?",
                                      "und wer hat ihn bezahlt?",
                                      "et combien ?",
                                      "¿y dónde?"};
    static const char *const no[] = {
        "",
        "...",
        "who mended the harp?",
        "where is Lisbon?",
        "that recipe with lentils and saffron",
        "did she ever pay Tomasz back for the concert tickets in Ghent?",
        "the invoice from March"};

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (!does_lean(yes[i])) {
            fail_msg("stands by itself: %s", yes[i]);
        }
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (does_lean(no[i])) {
            fail_msg("leans: %s", no[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_with_little_of_its_own_leans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
