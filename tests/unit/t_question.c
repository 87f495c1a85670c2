/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_question.c - the kind of answer a question asks for.
 */
#include "support/test.h"

#include "base/arena.h"
#include "text/question.h"

static const struct {
    const char *text;
    uint32_t wants;
} cases[] = {
    {"When did the boiler break?", QUESTION_TIME},
    {"when's the exam", QUESTION_TIME},
    {"Since when do we have two cars?", QUESTION_TIME},
    {"Thanks! When do we leave?", QUESTION_TIME},
    {"Wann fährt der Zug?", QUESTION_TIME},
    {"¿Cuándo llega mi hermana?", QUESTION_TIME},
    {"Quand est-ce que tu pars ?", QUESTION_TIME},
    {"Когда ты приедешь?", QUESTION_TIME},
    {"你什么时候搬家的？", QUESTION_TIME},
    {"出発はいつですか", QUESTION_TIME},
    {"Who fixed the roof?", QUESTION_NAME},
    {"In which town is the office?", QUESTION_NAME},
    {"Wo liegt der Schlüssel?", QUESTION_NAME},
    {"¿De quién es el coche?", QUESTION_NAME},
    {"钥匙在哪里？", QUESTION_NAME},
    {"How many rooms are there?", QUESTION_NUMBER},
    {"For how long did it rain?", QUESTION_NUMBER},
    {"Wie viele Zimmer hat das Haus?", QUESTION_NUMBER},
    {"Combien de chambres ?", QUESTION_NUMBER},
    {"房间有多少？", QUESTION_NUMBER},
    {"Who came, and when?", QUESTION_NAME},
    {"Who came? When did they leave?", QUESTION_TIME | QUESTION_NAME},
    /* further in it joins clauses */
    {"What did we eat when it rained?", 0},
    {"The hotel where we stayed was loud.", 0},
    {"How do I get there?", 0},
    {"Wie heißt der Hund?", 0},
    {"tax return", 0},
    {"", 0},
};

static void the_question_word_tells_the_kind_of_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str text = str_of(cases[i].text);
        struct arena arena;
        struct tokens tokens;

        arena_init(&arena, (size_t)1 << 20);
        assert_int_equal(tokens_of(&arena, text, &tokens), CLEW_OK);
        if (question_wants(text, &tokens) != cases[i].wants) {
            print_error("case: %s\n", cases[i].text);
        }
        assert_int_equal(question_wants(text, &tokens), cases[i].wants);
        arena_release(&arena);
    }
}

static void a_name_is_asked_of_one_thing(void **state)
{
    static const struct {
        const char *text;
        const char *of; /* its last word; NULL: of nothing */
    } names[] = {
        {"What is my girlfriend's name?", "girlfriend's"},
        {"what's the name of my sister?", "sister"},
        {"what is our dog called", "dog"},
        {"Wie heißt meine Schwester?", "schwester"},
        {"¿Cómo se llama mi hermana?", "hermana"},
        {"what is my sister's age?", NULL},
        {"what's the name of the old server?", "server"},
        {"what is my business partner's name?", "partner's"},
        {"what's the name of the server with the invoices?", NULL},
        {"what is her name?", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct arena arena;
        struct tokens tokens;
        size_t first = 0;
        size_t last = 0;
        bool is_asked;

        arena_init(&arena, (size_t)1 << 20);
        assert_int_equal(tokens_of(&arena, str_of(names[i].text), &tokens),
                         CLEW_OK);
        is_asked = question_names(&tokens, &first, &last);
        if (is_asked != (names[i].of != NULL)) {
            print_error("case: %s\n", names[i].text);
        }
        assert_true(is_asked == (names[i].of != NULL));
        if (names[i].of) {
            assert_true(first <= last);
            assert_true(str_eq(tokens.items[last].folded, str_of(names[i].of)));
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_question_word_tells_the_kind_of_answer),
        cmocka_unit_test(a_name_is_asked_of_one_thing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
