/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_intent.c - the dialogue act of a turn: the seed's tables, the
 * specification's sentences, and what must not be mistaken for what.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "model/intent.h"
#include "model/intent_words.h"

#include <stdio.h>

struct row {
    const char *text;
    const char *previous; /* NULL = none */
    enum intent_act act;
    uint32_t must; /* flags that must be set */
    uint32_t must_not;
};

static void check_rows(const struct row *rows, size_t n)
{
    struct arena arena;
    int wrong = 0;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < n; i++) {
        struct intent got;

        assert_int_equal(intent_of(&arena, str_of(rows[i].text),
                                   str_of(rows[i].previous), &got),
                         CLEW_OK);
        if (got.act != rows[i].act ||
            (got.flags & rows[i].must) != rows[i].must ||
            (got.flags & rows[i].must_not)) {
            print_error("\"%s\": %s by %s %.2f flags %x, want %s\n",
                        rows[i].text, intent_act_name(got.act), got.rule,
                        (double)got.confidence, got.flags,
                        intent_act_name(rows[i].act));
            wrong++;
        }
        arena_clear(&arena);
    }
    arena_release(&arena);
    assert_int_equal(wrong, 0);
}

#define CHECK(...)                                                             \
    do {                                                                       \
        static const struct row rows[] = {__VA_ARGS__};                        \
                                                                               \
        (void)state;                                                           \
        check_rows(rows, sizeof(rows) / sizeof(rows[0]));                      \
    } while (0)

/* --- seed 001, "Subject Doesn't Matter, Structure Does" ------------------- */

static void a_greeting_with_a_question_mark_is_a_greeting(void **state)
{
    CHECK({"hello how are you?", NULL, INTENT_GREETING, 0, 0});
}

static void lets_solve_a_bug_opens_an_effort(void **state)
{
    CHECK({"lets solve a bug", NULL, INTENT_REQUEST, 0, 0});
}

static void wanting_to_learn_opens_an_effort(void **state)
{
    CHECK({"i want to learn about ww2", NULL, INTENT_REQUEST, 0, 0});
}

static void a_fight_with_the_girlfriend_is_a_statement(void **state)
{
    CHECK({"i got in a bad fight with my gf", NULL, INTENT_INFORM, 0,
           INTENT_PROBLEM});
}

static void the_capital_of_france_is_a_question(void **state)
{
    CHECK({"what's the capital of France?", NULL, INTENT_QUESTION, 0, 0},
          {"what's the capital of France", NULL, INTENT_QUESTION, 0, 0});
}

static void that_fixed_it_resolves(void **state)
{
    CHECK({"that fixed it, thanks!", NULL, INTENT_ACCEPT, INTENT_STRONG,
           INTENT_HOLD | INTENT_MORE},
          {"that fixed it, thanks!", "Try refreshing the token.", INTENT_ACCEPT,
           INTENT_STRONG, 0});
}

static void going_with_an_option_is_a_decision(void **state)
{
    CHECK({"I'll go with option A", NULL, INTENT_COMMIT, 0, 0},
          {"I'll go with option A", "Which one do you prefer?", INTENT_COMMIT,
           0, 0});
}

/* --- seed 001, "Dialogue Acts" -------------------------------------------- */

static void hi_and_hello_are_greetings(void **state)
{
    CHECK({"hi", NULL, INTENT_GREETING, 0, 0},
          {"hello", NULL, INTENT_GREETING, 0, 0},
          {"Hello!", NULL, INTENT_GREETING, 0, 0});
}

static void what_is_x_is_a_question(void **state)
{
    CHECK({"what is X?", NULL, INTENT_QUESTION, 0, 0},
          {"what is X", NULL, INTENT_QUESTION, 0, 0});
}

static void help_me_with_x_is_a_request(void **state)
{
    CHECK({"help me with X", NULL, INTENT_REQUEST, 0, 0});
}

static void i_did_x_yesterday_informs(void **state)
{
    CHECK({"I did X yesterday", NULL, INTENT_INFORM, 0, 0});
}

static void ill_do_x_commits(void **state)
{
    CHECK({"I'll do X", NULL, INTENT_COMMIT, 0, 0});
}

static void that_works_thanks_accepts(void **state)
{
    CHECK({"that works, thanks", NULL, INTENT_ACCEPT, 0, 0},
          {"that works, thanks", "You could cache the token.", INTENT_ACCEPT, 0,
           0});
}

static void no_thats_not_it_rejects(void **state)
{
    CHECK({"no that's not it", NULL, INTENT_REJECT, 0, 0},
          {"no that's not it", "Check the headers.", INTENT_REJECT, 0, 0},
          {"no that's not it", "Is it the header?", INTENT_REJECT, 0, 0});
}

/* --- seed 001, other sentences -------------------------------------------- */

static void the_cascade_examples_of_the_seed_hold(void **state)
{
    CHECK({"lets debug this auth issue", NULL, INTENT_REQUEST, 0, 0},
          {"I had a weird experience yesterday", NULL, INTENT_INFORM, 0, 0},
          {"I want to work on the payment integration", NULL, INTENT_REQUEST, 0,
           0});
}

static void the_401_dialogue_of_the_seed_holds(void **state)
{
    CHECK({"I'm getting a 401 error", NULL, INTENT_INFORM, INTENT_PROBLEM, 0},
          {"Oh! Token was expired, works now!", "Try refreshing it.",
           INTENT_ACCEPT, INTENT_STRONG, 0});
}

static void the_auth_dialogue_of_the_seed_holds(void **state)
{
    CHECK(
        {"I'm getting a weird error in auth", NULL, INTENT_INFORM,
         INTENT_PROBLEM, 0},
        {"Here's the error log", "Let's investigate...", INTENT_INFORM, 0,
         INTENT_STRONG},
        {"Try X", NULL, INTENT_REQUEST, 0, 0},
        {"Didn't work", "Try X", INTENT_REJECT, INTENT_STRONG, 0},
        {"also, remind me to call mom later", NULL, INTENT_REQUEST,
         INTENT_REMINDER, 0},
        {"back to that bug - I tried X", NULL, INTENT_INFORM, INTENT_RETURN, 0},
        {"that fixed it!", "What about Y?", INTENT_ACCEPT, INTENT_STRONG, 0});
}

/* --- what stands behind a comma --------------------------------------------
 */

static void orders_and_questions_behind_a_comma_are_heard(void **state)
{
    CHECK({"Far too long, please shorten it.", NULL, INTENT_REQUEST, 0, 0},
          {"I don't get the joke, explain it to me.", NULL, INTENT_INFORM, 0,
           0}, /* who tells of themself orders "me" alone */
          {"I don't get the joke, help me understand it.", NULL, INTENT_REQUEST,
           0, 0},
          {"Not the second one, give me another.", NULL, INTENT_REQUEST, 0, 0},
          {"As a beginner, what are the best ways to learn chess.", NULL,
           INTENT_QUESTION, 0, 0},
          {"Which chess opening books are still in print", NULL,
           INTENT_QUESTION, 0, 0},
          {"I jog every morning, eat a good breakfast and read.", NULL,
           INTENT_INFORM, 0, 0},
          {"The factory is run by Ada, who is a chemist.", NULL, INTENT_INFORM,
           0, 0},
          {"Rephrase the second paragraph", NULL, INTENT_REQUEST, 0, 0},
          /* a picture behind a sentence takes its mark from nobody */
          {"It was so cool seeing their eyes light up! [image: two children]",
           NULL, INTENT_INFORM, 0, 0});
}

/* --- spec/chats.md ---------------------------------------------------------
 */

static void thanks_that_fixed_it_resolves(void **state)
{
    CHECK({"Thanks! That fixed it", NULL, INTENT_ACCEPT, INTENT_STRONG,
           INTENT_MORE},
          {"Thanks! That fixed it", "Refresh the token.", INTENT_ACCEPT,
           INTENT_STRONG, INTENT_MORE});
}

static void
thanks_but_one_more_thing_resolves_with_less_confidence(void **state)
{
    struct arena arena;
    struct intent plain;
    struct intent more;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(intent_of(&arena, str_of("Thanks!"),
                               str_of("Refresh the token."), &plain),
                     CLEW_OK);
    assert_int_equal(intent_of(&arena, str_of("Thanks! But one more thing..."),
                               str_of("Refresh the token."), &more),
                     CLEW_OK);
    assert_int_equal(plain.act, INTENT_ACCEPT);
    assert_int_equal(more.act, INTENT_ACCEPT);
    assert_true(more.flags & INTENT_MORE);
    assert_true(more.confidence < plain.confidence - 0.1f);
    arena_release(&arena);
}

static void thanks_for_nothing_does_not_resolve(void **state)
{
    CHECK({"Oh great, thanks for nothing", NULL, INTENT_REJECT, 0, 0},
          {"Oh great, thanks for nothing", "Try X.", INTENT_REJECT, 0, 0});
}

static void what_about_this_other_approach_does_not_resolve(void **state)
{
    CHECK({"What about this other approach?", "Try X.", INTENT_REQUEST, 0,
           INTENT_STRONG},
          {"What about this other approach?", NULL, INTENT_REQUEST, 0, 0});
}

static void i_have_no_idea_is_not_a_rejection(void **state)
{
    CHECK({"I have no idea", NULL, INTENT_INFORM, 0, 0},
          {"I have no idea", "Try X.", INTENT_INFORM, 0, 0},
          {"I have no idea.", "Which port is it on?", INTENT_INFORM, 0, 0});
}

static void coming_back_later_never_resolves(void **state)
{
    CHECK({"I'll come back to this later", "Try X.", INTENT_COMMIT, INTENT_HOLD,
           INTENT_STRONG},
          {"put it on hold", "Try X.", INTENT_REQUEST, INTENT_HOLD,
           INTENT_STRONG});
}

static void disagreement_is_checked_before_acceptance(void **state)
{
    CHECK({"Thanks, but it still doesn't work", "Try X.", INTENT_REJECT,
           INTENT_STRONG, 0},
          {"Great, same error.", "Try X.", INTENT_REJECT, INTENT_STRONG, 0},
          {"ok tried it, no luck", "Try X.", INTENT_REJECT, INTENT_STRONG, 0},
          {"That didn't fix it.", "Try X.", INTENT_REJECT, INTENT_STRONG, 0});
}

static void no_problem_is_no_refusal(void **state)
{
    CHECK({"No problem.", "Could you send it?", INTENT_ACCEPT, 0, 0},
          {"No, thanks.", "Would you like to join us?", INTENT_REJECT, 0, 0},
          {"Not sure.", "Is it the cache?", INTENT_INFORM, 0, 0});
}

static void yes_answers_a_question_and_grants_a_request(void **state)
{
    CHECK({"Yes.", "Is it raining?", INTENT_INFORM, 0, 0},
          {"Sure.", "Could you open the window?", INTENT_ACCEPT, 0, 0},
          {"Sure. Go ahead.", "May I come in?", INTENT_ACCEPT, 0, 0});
}

static void questions_are_known_without_their_mark(void **state)
{
    CHECK(
        {"good morning is there a bank near here", NULL, INTENT_QUESTION, 0, 0},
        {"where did i put the keys", NULL, INTENT_QUESTION, 0, 0},
        {"and is the shop open on sunday", NULL, INTENT_QUESTION, 0, 0},
        {"our flat is the third on the left", NULL, INTENT_INFORM, 0, 0},
        {"my sister is the tall one in the middle", NULL, INTENT_INFORM, 0, 0},
        {"can you change some money for me", NULL, INTENT_REQUEST, 0, 0});
}

static void slash_commands_are_certain(void **state)
{
    struct arena arena;
    struct intent got;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(intent_of(&arena, str_of("/resolve it was the token"),
                               str_of(NULL), &got),
                     CLEW_OK);
    assert_int_equal(got.level, INTENT_LEVEL_COMMAND);
    assert_int_equal(got.act, INTENT_ACCEPT);
    assert_true(got.confidence == 1.0f);
    assert_int_equal(intent_of(&arena, str_of("/usr/bin/env is missing"),
                               str_of(NULL), &got),
                     CLEW_OK);
    assert_int_not_equal(got.level, INTENT_LEVEL_COMMAND);
    assert_int_equal(intent_of(&arena, str_of("/resolved"), str_of(NULL), &got),
                     CLEW_OK);
    assert_int_not_equal(got.level, INTENT_LEVEL_COMMAND);
    arena_release(&arena);
}

static void segments_carry_their_byte_ranges(void **state)
{
    static const char text[] = "Thanks! Can you also fix the “other” one?";
    struct arena arena;
    struct intent got;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(intent_of(&arena, str_of(text), str_of(NULL), &got),
                     CLEW_OK);
    assert_int_equal(got.n_segments, 2);
    assert_int_equal(got.segments[0].from, 0);
    assert_int_equal(got.segments[0].to, 6);
    assert_int_equal(got.segments[1].from, 8);
    assert_int_equal(got.segments[1].to, sizeof(text) - 2);
    assert_int_equal(got.segments[1].act, INTENT_REQUEST);
    arena_release(&arena);
}

static void any_bytes_give_an_act(void **state)
{
    static const char *const odd[] = {"",
                                      " ",
                                      "?",
                                      "...",
                                      "\xff\xfe",
                                      "\xe2\x80",
                                      "'",
                                      "' '",
                                      "a.",
                                      ".a",
                                      "u u u u u u u u u",
                                      "gonna gonna gonna",
                                      "it's_it's_it's_",
                                      "\xe3\x80\x82\xef\xbc\x9f",
                                      "/",
                                      "//",
                                      "no no no no no no no",
                                      "a,b,c,d,e,f,g"};
    struct arena arena;
    uint32_t seed = 7;

    (void)state;
    arena_init(&arena, 1 << 22);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct intent got;

        assert_int_equal(
            intent_of(&arena, str_of(odd[i]), str_of(odd[i]), &got), CLEW_OK);
        arena_clear(&arena);
    }
    for (int round = 0; round < 2000; round++) {
        static const char bytes[] = "ab'u .?!,-I\xe2\x80\x99\xef\xbc\x9f/ \n";
        char text[300];
        size_t len;
        struct intent got;

        seed = seed * 1664525u + 1013904223u;
        len = (seed >> 8) % sizeof(text);
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = bytes[(seed >> 12) % (sizeof(bytes) - 1)];
        }
        assert_int_equal(intent_of(&arena, (struct str){text, len},
                                   (struct str){text, len / 2}, &got),
                         CLEW_OK);
        for (size_t i = 0; i < got.n_segments; i++) {
            assert_true(got.segments[i].from < got.segments[i].to);
            assert_true(got.segments[i].to <= len);
        }
        arena_clear(&arena);
    }
    arena_release(&arena);
}

static void a_huge_text_costs_no_more_than_its_ends(void **state)
{
    size_t len = 10u << 20;
    char *text = alloc_bytes(len);
    struct arena arena;
    struct intent got;
    static const char tail[] = ". Could you summarise this?";

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < len; i++) {
        text[i] = "lorem ipsum. "[i % 13];
    }
    memcpy(text + len - sizeof(tail) + 1, tail, sizeof(tail) - 1);
    arena_init(&arena, 1 << 20);
    assert_int_equal(
        intent_of(&arena, (struct str){text, len}, str_of(NULL), &got),
        CLEW_OK);
    assert_int_equal(got.act, INTENT_REQUEST);
    arena_release(&arena);
    alloc_free(text);
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 50; n++) {
        struct arena arena;
        struct intent got;
        enum clew_status status;

        arena_init(&arena, 1 << 20);
        alloc_fail_at(n);
        status = intent_of(&arena, str_of("Is it?"), str_of("Try X."), &got);
        alloc_fail_at(0);
        arena_release(&arena);
        assert_true(status == CLEW_OK || status == CLEW_NO_MEMORY);
    }
}

/* Of a long text the ends are read: from a character on, and from a word on if
 * one begins near. */
static void a_long_text_is_cut_between_characters(void **state)
{
    static const char *const fills[] = {"\u00e9", "\u5b57", "\U0001f642"};
    static char text[16000];

    (void)state;
    for (size_t i = 0; i < 12; i++) {
        size_t len =
            (size_t)snprintf(text, sizeof(text), "%.*s", (int)i / 3, "aaaa");
        struct intent_pieces pieces;
        struct arena arena;

        while (len < 12000) {
            len += (size_t)snprintf(text + len, 8, "%s", fills[i % 3]);
        }
        arena_init(&arena, 1 << 22);
        assert_int_equal(intent_split(&arena, (struct str){text, len}, &pieces),
                         CLEW_OK);
        for (size_t k = 0; k < pieces.count; k++) {
            for (size_t w = 0; w < pieces.items[k].n_words; w++) {
                const struct intent_word *word = &pieces.items[k].words[w];

                assert_true(((unsigned char)text[word->from] & 0xc0) != 0x80);
            }
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_greeting_with_a_question_mark_is_a_greeting),
        cmocka_unit_test(lets_solve_a_bug_opens_an_effort),
        cmocka_unit_test(wanting_to_learn_opens_an_effort),
        cmocka_unit_test(a_fight_with_the_girlfriend_is_a_statement),
        cmocka_unit_test(the_capital_of_france_is_a_question),
        cmocka_unit_test(that_fixed_it_resolves),
        cmocka_unit_test(going_with_an_option_is_a_decision),
        cmocka_unit_test(hi_and_hello_are_greetings),
        cmocka_unit_test(what_is_x_is_a_question),
        cmocka_unit_test(help_me_with_x_is_a_request),
        cmocka_unit_test(i_did_x_yesterday_informs),
        cmocka_unit_test(ill_do_x_commits),
        cmocka_unit_test(that_works_thanks_accepts),
        cmocka_unit_test(no_thats_not_it_rejects),
        cmocka_unit_test(the_cascade_examples_of_the_seed_hold),
        cmocka_unit_test(a_long_text_is_cut_between_characters),
        cmocka_unit_test(the_401_dialogue_of_the_seed_holds),
        cmocka_unit_test(the_auth_dialogue_of_the_seed_holds),
        cmocka_unit_test(orders_and_questions_behind_a_comma_are_heard),
        cmocka_unit_test(thanks_that_fixed_it_resolves),
        cmocka_unit_test(
            thanks_but_one_more_thing_resolves_with_less_confidence),
        cmocka_unit_test(thanks_for_nothing_does_not_resolve),
        cmocka_unit_test(what_about_this_other_approach_does_not_resolve),
        cmocka_unit_test(i_have_no_idea_is_not_a_rejection),
        cmocka_unit_test(coming_back_later_never_resolves),
        cmocka_unit_test(disagreement_is_checked_before_acceptance),
        cmocka_unit_test(no_problem_is_no_refusal),
        cmocka_unit_test(yes_answers_a_question_and_grants_a_request),
        cmocka_unit_test(questions_are_known_without_their_mark),
        cmocka_unit_test(slash_commands_are_certain),
        cmocka_unit_test(segments_carry_their_byte_ranges),
        cmocka_unit_test(any_bytes_give_an_act),
        cmocka_unit_test(a_huge_text_costs_no_more_than_its_ends),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
