/* SPDX-License-Identifier: Apache-2.0 */
/* t_title.c - a title is the first sentence that names something, whole. */
#include "support/test.h"

#include "base/utf8.h"
#include "text/title.h"

#include <string.h>

static struct arena arena;

static void is_title(const char *text, const char *wanted)
{
    struct str title;

    arena_clear(&arena);
    assert_int_equal(title_of(&arena, str_of(text), &title), CLEW_OK);
    if (!str_eq(title, str_of(wanted))) {
        fail_msg("%s: %.*s", text, (int)title.len, title.s);
    }
}

static void a_sentence_ends_where_it_ends(void **state)
{
    (void)state;
    is_title("The boiler drips. It is old.", "The boiler drips");
    is_title("Hi! server.js fails at line 3.5 of the log. Why?",
             "server.js fails at line 3.5 of the log");
    is_title("muss bis 31. märz die steuererklärung abgeben. hilfe",
             "muss bis 31. märz die steuererklärung abgeben");
    is_title("Lena hat am 14. März Geburtstag", "Lena hat am 14. März "
                                                "Geburtstag");
    is_title("tenho consulta com a dra. Helena às 16h",
             "tenho consulta com a dra. Helena às 16h");
    is_title("first line\nsecond line", "first line");
    is_title(
        "Lena hat am 14. März Geburtstag, sie wird sechs, und ich hab noch "
        "keine idee für die Party",
        "Lena hat am 14. März Geburtstag, sie wird sechs");
}

static void greetings_name_nothing(void **state)
{
    (void)state;
    is_title("你好！打印机坏了。怎么办？", "打印机坏了");
    is_title("おはようございます。お湯が出ない。困った", "お湯が出ない");
    is_title("Привет! Принтер сломался", "Принтер сломался");
    is_title("안녕하세요", "");
}

static void what_joins_is_no_beginning(void **state)
{
    (void)state;
    is_title("and the dryer squeals again", "the dryer squeals again");
    is_title("So, um, the fence fell over", "the fence fell over");
    is_title("oh… and also the lamp hums", "the lamp hums");
    is_title("Und dann noch die Steuer", "noch die Steuer");
    is_title("y entonces se rompió la llave", "se rompió la llave");
    is_title("И ещё течёт кран", "ещё течёт кран");
    is_title("Android crashes on start", "Android crashes on start");
    is_title("Well pump is dry", "Well pump is dry");
    is_title("Well, the pump is dry", "the pump is dry");
    is_title("um zehn kommt der Klempner", "um zehn kommt der Klempner");
    is_title("Ben called about the roof", "Ben called about the roof");
    /* nothing would be left */
    assert_int_equal(title_begin(STR("and so")), 0);
    assert_int_equal(title_begin(STR("")), 0);
}

static void a_cut_title_ends_with_a_word(void **state)
{
    (void)state;
    is_title("Now what about the oven leasing, it's 640 a month, and the "
             "contract runs out in March.",
             "what about the oven leasing, it's 640 a month");
    is_title("The heating in the north wing of the old school is cold again; "
             "but nobody has called the plumber yet",
             "The heating in the north wing of the old school is cold again");
    is_title("Fix the gate.", "Fix the gate");
}

/* Scripts without blanks are cut where they may be, not after a few words. */
static void a_long_one_is_cut_in_any_script(void **state)
{
    struct str title;
    char text[4096] = "";

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        memcpy(text + 3 * i, "長", 3);
    }
    assert_int_equal(title_of(&arena, str_of(text), &title), CLEW_OK);
    assert_true(str_ends(title, STR("…")));
    assert_int_equal(utf8_count(title), TITLE_CHARS + 1);
    assert_true(utf8_is_valid(title));
    memcpy(text + 60, "、", strlen("、"));
    assert_int_equal(title_of(&arena, str_of(text), &title), CLEW_OK);
    assert_int_equal(utf8_count(title), 20);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_ends_where_it_ends),
        cmocka_unit_test(greetings_name_nothing),
        cmocka_unit_test(what_joins_is_no_beginning),
        cmocka_unit_test(a_cut_title_ends_with_a_word),
        cmocka_unit_test(a_long_one_is_cut_in_any_script),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
