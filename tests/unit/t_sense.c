/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader is asked, and that it is asked once. */
#include "support/test.h"

#include "engine/core/work.h"
#include "engine/read/sense.h"
#include "support/world.h"

static struct world world;
static struct sense_memo memo;
static struct batch_work batch;

static int open_all(void **state)
{
    (void)state;
    world_open(&world);
    world_use_reader(&world);
    memo = (struct sense_memo){0};
    batch = (struct batch_work){
        .engine = &world.engine, .arena = &world.arena, .memo = &memo};
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static struct reader_sentence *read_text(const char *text, const char *before,
                                         size_t *out_n)
{
    struct reader_said said = {STR("ada"), str_of(before ? before : "")};
    struct analysis_options options = {.time_ms = WORLD_NOW};
    struct analysis analysis;
    struct intent intent;
    struct reader_sentence *out = NULL;
    struct sense_turn turn = {.said = {STR("user"), str_of(text)},
                              .analysis = &analysis,
                              .intent = &intent,
                              .before = &said,
                              .n_before = before ? 1 : 0};

    assert_int_equal(
        analysis_run(&world.arena, str_of(text), &options, &analysis, NULL),
        CLEW_OK);
    assert_int_equal(intent_of(&world.arena, str_of(text), STR(""), &intent),
                     CLEW_OK);
    assert_int_equal(sense_read(&batch, &turn, &out, NULL, NULL), CLEW_OK);
    *out_n = analysis.n_sentences;
    return out;
}

#define TEXT "The port is 8080. My sister Greta lives in Bremen."

static void a_turn_is_asked_about_once(void **state)
{
    size_t n;
    struct reader_sentence *first = read_text(TEXT, NULL, &n);

    (void)state;
    assert_int_equal(n, 2);
    assert_int_equal(memo.count, 1);
    assert_memory_equal(read_text(TEXT, NULL, &n), first, n * sizeof(*first));
    assert_int_equal(memo.count, 1);
    /* another turn before it makes another question */
    assert_ptr_not_equal(read_text(TEXT, "Tell me more.", &n), first);
    assert_int_equal(memo.count, 2);
    /* and without a memo the answer is the same, asked anew */
    batch.memo = NULL;
    assert_ptr_not_equal(read_text(TEXT, NULL, &n), first);
    assert_memory_equal(read_text(TEXT, NULL, &n), first, n * sizeof(*first));
}

/* The shipped reader has no pieces for these characters, and the letters alone
 * of these words: of a greeting it would say what it says of any other. */
static void a_word_that_is_not_seen_opens_nothing(void **state)
{
    static const char *const unseen[] = {"谢谢你", "嗯嗯", "Здравствуйте",
                                         "고마워요", "مرحبا"};
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++) {
        struct reader_sentence *read = read_text(unseen[i], NULL, &n);

        assert_int_equal(n, 1);
        if (read[0].act[READER_ACT_OPENS] > 0 ||
            read[0].keep[READER_KEEP_NONE] < 1.0f) {
            fail_msg("%s opens %f", unseen[i],
                     (double)read[0].act[READER_ACT_OPENS]);
        }
    }
    assert_true(read_text("打印机坏了", NULL, &n)[0].act[READER_ACT_OPENS] >
                0.5f);
    assert_true(read_text("Drucker kaputt", NULL, &n)[0].act[READER_ACT_OPENS] >
                0.5f);
    assert_true(read_text("Zahnschmerzen", NULL, &n)[0].act[READER_ACT_OPENS] >
                0);
}

static void rules_read_where_there_is_no_reader(void **state)
{
    struct reader_sentence *read;
    size_t n;

    (void)state;
    world.engine.reader = NULL;
    read = read_text(TEXT, NULL, &n);
    assert_int_equal(n, 2);
    assert_true(read[1].keep[READER_KEEP_FACT] > 0.5f);
    assert_int_equal(memo.count, 0); /* cheaper than to look it up */
}

static void pairs_are_compared_once_in_any_company(void **state)
{
    struct reader_pair pairs[] = {
        {STR("user: the port is 8080"), STR("user: the port is 9090 now")},
        {STR("user: I live in Bremen"), STR("user: I like tea")}};
    struct reader_verdict both[2];
    struct reader_verdict again[2];

    (void)state;
    assert_int_equal(
        sense_compare(&batch, READER_NOTE, &pairs[1], 1, &both[1], NULL),
        CLEW_OK);
    assert_int_equal(memo.count, 1);
    assert_int_equal(sense_compare(&batch, READER_NOTE, pairs, 2, again, NULL),
                     CLEW_OK);
    assert_int_equal(memo.count, 2); /* the other one only */
    assert_memory_equal(&again[1], &both[1], sizeof(both[1]));
    assert_int_equal(sense_compare(&batch, READER_NOTE, pairs, 2, both, NULL),
                     CLEW_OK);
    assert_int_equal(memo.count, 2);
    assert_memory_equal(both, again, sizeof(both));
    /* another kind of question is another question */
    assert_int_equal(
        sense_compare(&batch, READER_ENDING, pairs, 1, again, NULL), CLEW_OK);
    assert_int_equal(memo.count, 3);
    assert_int_equal(sense_compare(&batch, READER_NOTE, NULL, 0, NULL, NULL),
                     CLEW_OK);
}

static void texts_are_put_together_as_they_were_learnt(void **state)
{
    struct reader_said said = {STR("ada"), STR("it works")};
    struct reader_said before = {STR("assistant"), STR("try the fuse")};
    char longer[400];

    (void)state;
    assert_string_equal(sense_speaker(true, STR("ada")).s, "assistant");
    assert_string_equal(sense_speaker(false, STR("ada")).s, "ada");
    assert_string_equal(sense_speaker(false, STR("")).s, "user");
    assert_string_equal(sense_said(&world.arena, &said).s, "ada: it works");
    assert_string_equal(sense_step(&world.arena, &said, NULL).s,
                        "ada: it works");
    assert_string_equal(sense_step(&world.arena, &said, &before).s,
                        "ada: it works || assistant: try the fuse");
    memset(longer, 'x', sizeof(longer));
    before.text = (struct str){longer, sizeof(longer)};
    assert_true(sense_step(&world.arena, &said, &before).len < 300);
}

static void
without_memory_there_is_no_text_and_nothing_is_remembered(void **state)
{
    struct reader_said said = {STR("ada"), STR("it works")};
    struct reader_pair pair = {STR("a: b"), STR("c: d")};
    struct reader_verdict verdict;
    struct arena small;

    (void)state;
    arena_init(&small, 1);
    assert_null(sense_said(&small, &said).s);
    assert_null(sense_step(&small, &said, &said).s);
    batch.arena = &small;
    /* a reader has memory of its own: the verdict is had, not remembered */
    assert_int_equal(
        sense_compare(&batch, READER_NOTE, &pair, 1, &verdict, NULL), CLEW_OK);
    assert_int_equal(memo.count, 0);
    arena_release(&small);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        CASE(a_turn_is_asked_about_once),
        CASE(a_word_that_is_not_seen_opens_nothing),
        CASE(rules_read_where_there_is_no_reader),
        CASE(pairs_are_compared_once_in_any_company),
        CASE(texts_are_put_together_as_they_were_learnt),
        CASE(without_memory_there_is_no_text_and_nothing_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
