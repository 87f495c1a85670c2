/* SPDX-License-Identifier: Apache-2.0 */
/* text/summary_points.h: what was found is told, not how it was greeted. */
#include "support/test.h"

#include "base/arena.h"
#include "text/summarise.h"
#include "text/summary_points.h"

#define MAX_TURNS 16

/* "u:…" and "a:…" lines. */
static struct summary_points points_of(struct arena *arena,
                                       const char *const *lines, size_t n)
{
    static struct analysis analyses[MAX_TURNS];
    struct summary_turn turns[MAX_TURNS];
    struct analysis_options options = {0};
    struct summary_points out;

    assert_true(n <= MAX_TURNS);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(analysis_run(arena, str_of(lines[i] + 2), &options,
                                      &analyses[i], NULL),
                         CLEW_OK);
        turns[i] = (struct summary_turn){&analyses[i], lines[i][0] == 'u'};
    }
    assert_int_equal(summary_points_of(arena, turns, n, &out), CLEW_OK);
    return out;
}

static void what_was_found_outlasts_the_reactions_to_it(void **state)
{
    static const char *const lines[] = {
        "u:How do I keep the seedlings from falling over?",
        "a:Long stems mean too little light; move them to the south window.",
        "u:They stand at the south window now.",
        "a:Great.",
        "u:The tomatoes in the cellar have white mould on the soil.",
        "a:Understood.",
        "u:I sprinkled cinnamon on it and the mould is gone.",
        "a:Enjoy.",
        "u:We leave for Crete on Sunday.",
        "a:Of course."};
    struct arena arena;
    struct summary_points points;

    (void)state;
    arena_init(&arena, (size_t)1 << 24);
    points = points_of(&arena, lines, sizeof(lines) / sizeof(lines[0]));
    assert_true(points.n[SUMMARY_FOUND] > 0);
    for (size_t i = 0; i < points.n[SUMMARY_FOUND]; i++) {
        struct str text = points.of[SUMMARY_FOUND][i].text;

        if (text.len < 20) {
            fail_msg("found: %.*s", (int)text.len, text.s);
        }
    }
    arena_release(&arena);
}

/* The micro summary of what a user said. */
static struct str micro_of(struct arena *arena, const char *const *lines,
                           size_t n)
{
    static struct analysis analyses[MAX_TURNS];
    struct summary_turn turns[MAX_TURNS];
    struct analysis_options options = {0};
    struct summary out;

    assert_true(n <= MAX_TURNS);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(
            analysis_run(arena, str_of(lines[i]), &options, &analyses[i], NULL),
            CLEW_OK);
        turns[i] = (struct summary_turn){&analyses[i], true};
    }
    assert_int_equal(summarise(arena, turns, n, &out), CLEW_OK);
    return out.micro.text;
}

static void sentences_end_as_their_script_ends_them(void **state)
{
    static const char *const japanese[] = {"玄関の鍵をなくした",
                                           "合鍵は母が持っている"};
    static const char *const french[] = {"le moteur du portail est grillé",
                                         "un voisin prête son échelle"};
    static const char *const russian[] = {
        "на кухне опять протекает труба под раковиной и вода дошла до соседей",
        "сантехник обещал заехать с новым краном"};
    struct arena arena;
    struct str text;

    (void)state;
    arena_init(&arena, (size_t)1 << 24);
    text = micro_of(&arena, japanese, 2);
    assert_true(str_eq(text, STR("玄関の鍵をなくした。合鍵は母が持っている")));
    text = micro_of(&arena, french, 2);
    assert_true(str_find(text, STR("grillé. un voisin"), 0) != SIZE_MAX);
    /* both, whole: a letter of two bytes is no token of its own */
    text = micro_of(&arena, russian, 2);
    assert_true(str_find(text, STR("соседей. сантехник"), 0) != SIZE_MAX);
    assert_true(str_ends(text, STR("краном")));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_end_as_their_script_ends_them),
        cmocka_unit_test(what_was_found_outlasts_the_reactions_to_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
