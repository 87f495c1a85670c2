/* SPDX-License-Identifier: Apache-2.0 */
/* t_cli_fold.c - lines are broken between words, below their own beginning. */
#include "support/test.h"

#include "base/utf8.h"
#include "cli/core/fold.h"

#include <stdlib.h>
#include <string.h>

/* What `text` becomes at `width`, in parts of `step` characters. */
static void becomes(const char *text, size_t width, size_t step,
                    const char *expected)
{
    struct str all = str_of(text);
    char *out = NULL;
    size_t len = 0;
    struct fold fold = {.raw = open_memstream(&out, &len), .width = width};
    size_t n = 0;

    assert_non_null(fold.raw);
    for (size_t at = 0; at < all.len;) {
        fold_put(&fold, utf8_next(all, &at));
        if (++n % step == 0) {
            fold_flush(&fold);
        }
    }
    fold_flush(&fold);
    assert_int_equal(fclose(fold.raw), 0);
    assert_string_equal(out, expected);
    free(out);
}

static void words_stay_whole(void **state)
{
    (void)state;
    becomes("one two three four", 9, 1000, "one two\nthree\nfour");
    becomes("one two", 7, 1000, "one two");
    becomes("one two", 6, 1000, "one\ntwo");
    becomes("one  two   three\nx", 80, 1000, "one  two   three\nx");
}

static void a_line_goes_on_below_its_beginning(void **state)
{
    (void)state;
    becomes("   why: a longer reason\nnext", 14, 1000,
            "   why: a\n   longer\n   reason\nnext");
    /* an indent that would leave no room is cut down */
    becomes("          a b", 11, 1000, "          a\n     b");
}

static void what_cannot_be_broken_stays(void **state)
{
    char word[2 * FOLD_WORD_BYTES + 1];

    (void)state;
    becomes("abcdefghij", 4, 1000, "abcdefghij");
    becomes("x abcdefghij y", 4, 1000, "x\nabcdefghij\ny");
    memset(word, 'w', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    becomes(word, 2000, 1000, word);
}

static void wide_characters_break_anywhere(void **state)
{
    (void)state;
    becomes("鈴木さん", 4, 1000, "鈴木\nさん");
    becomes("é ö", 1, 1000, "é\nö");
}

static void a_prompt_is_not_held_back(void **state)
{
    (void)state;
    becomes("name: ", 80, 6, "name: ");
    becomes("a b c", 80, 1, "a b c");
    becomes("abc ", 3, 4, "abc"); /* a space past the edge is of no use */
    becomes("a\tb", 80, 1000, "a\tb");
}

static void other_programs_get_what_there_is(void **state)
{
    (void)state;
    becomes("one two   \n\n three", 0, 1, "one two   \n\n three");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_stay_whole),
        cmocka_unit_test(a_line_goes_on_below_its_beginning),
        cmocka_unit_test(what_cannot_be_broken_stays),
        cmocka_unit_test(wide_characters_break_anywhere),
        cmocka_unit_test(a_prompt_is_not_held_back),
        cmocka_unit_test(other_programs_get_what_there_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
