/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_statement.c - which statements disagree, and how one is taken apart.
 */
#include "support/test.h"

#include "base/arena.h"
#include "talk/statement.h"

static void statements_that_disagree(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool is_conflict;
    } rows[] = {
        {"The deadline of the Apollo project is Friday.",
         "The deadline of the Apollo project is Monday.", true},
        {"The deadline of the Apollo project is Friday.",
         "The deadline for the Apollo project is now Monday.", true},
        {"The Apollo deadline is Friday.",
         "The deadline of the Apollo project is Monday.", true},
        {"Apollo's database is MySQL.",
         "The database of Apollo was set to PostgreSQL last week.", true},
        {"The yearly budget of the hall is 5000 euros.",
         "The yearly budget of the hall is 7000 euros.", true},
        /* denied */
        {"The staging cluster is open to everybody.",
         "The staging cluster is not open to everybody.", true},
        {"The staging cluster is no longer public.",
         "The staging cluster is not public.", false},
        {"The release day of Apollo is not Friday.",
         "The release day of Apollo is Monday.", false},
        /* the same, or more of it */
        {"The deadline of the Apollo project is Friday.",
         "The deadline of the Apollo project is Friday at noon.", false},
        {"The deadline of the Apollo project is Friday.",
         "The deadline of the Apollo project is friday!", false},
        /* of something else */
        {"The deadline of the Apollo project is Friday.",
         "The deadline of the Gemini project is Monday.", false},
        {"The deadline of the Apollo project is Friday.",
         "The owner of the Apollo project is Alice.", false},
        {"The deadline of the Apollo project is Friday.",
         "The deadline of the second Apollo project review is Monday.", false},
        /* no statements */
        {"Is the deadline of the Apollo project Friday?",
         "The deadline of the Apollo project is Monday.", false},
        {"It is Friday.", "It is Monday.", false},
        {"Deploy on Fridays.", "Deploy on Mondays.", false},
        {"", "The deadline of the Apollo project is Monday.", false},
        {" is ", "is is is is", false},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct statement a;
        struct statement b;
        bool is_conflict = statement_of(&arena, str_of(rows[i].a), &a) &&
                           statement_of(&arena, str_of(rows[i].b), &b) &&
                           statement_disagrees(&a, &b) &&
                           statement_disagrees(&b, &a);

        if (is_conflict != rows[i].is_conflict) {
            fail_msg("%s / %s", rows[i].a, rows[i].b);
        }
    }
    arena_release(&arena);
}

static void a_statement_is_taken_apart(void **state)
{
    static const struct {
        const char *text;
        const char *subject;
        const char *attribute;
        const char *value;
    } rows[] = {
        {"The deadline of the Apollo project is Friday. Tell all.",
         "Apollo project", "deadline", "Friday"},
        {"Apollo's main database is MySQL 8.0", "Apollo", "main database",
         "MySQL 8.0"},
        {"Our staging cluster is not public", "staging cluster", "", "public"},
    };
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct statement s;

        assert_true(statement_of(&arena, str_of(rows[i].text), &s));
        assert_true(str_eq(s.subject, str_of(rows[i].subject)));
        assert_true(str_eq(s.attribute, str_of(rows[i].attribute)));
        assert_true(str_eq(s.value, str_of(rows[i].value)));
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_that_disagree),
        cmocka_unit_test(a_statement_is_taken_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
