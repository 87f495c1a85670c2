/* SPDX-License-Identifier: Apache-2.0 */
/* text/title.h: a long sentence is cut where a clause ends. */
#include "support/test.h"

#include "base/arena.h"
#include "text/title.h"

static void a_cut_title_ends_with_a_word(void **state)
{
    static const char *const titles[][2] = {
        {"Now what about the oven leasing, it's 640 a month, and the contract "
         "runs out in March.",
         "Now what about the oven leasing, it's 640 a month"},
        {"The heating in the north wing of the old school is cold again; but "
         "nobody has called the plumber yet",
         "The heating in the north wing of the old school is cold again"},
        {"Fix the gate.", "Fix the gate"}};
    struct arena arena;

    (void)state;
    arena_init(&arena, (size_t)1 << 20);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        struct str title;

        assert_int_equal(title_of(&arena, str_of(titles[i][0]), &title),
                         CLEW_OK);
        assert_int_equal(title.len, strlen(titles[i][1]));
        assert_memory_equal(title.s, titles[i][1], title.len);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_title_ends_with_a_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
