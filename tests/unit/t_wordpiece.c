/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_wordpiece.c - WordPiece against what Hugging Face's tokenizers give.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "model/embed_static.h"
#include "model/wordpiece.h"

/* The shipped vocabulary: the original less tokens no text can give. */
struct vocabulary {
    struct str *tokens;
    size_t n_tokens;
    struct wordpiece *wordpiece;
};

static int open_vocabulary(void **state)
{
    struct vocabulary *v = alloc_zero(1, sizeof(*v));
    struct str file = embed_static_file();
    uint32_t at;
    uint32_t len;
    struct str text;

    assert_non_null(v);
    memcpy(&at, file.s + 24, 4);
    memcpy(&len, file.s + 28, 4);
    text = str_sub(file, at, at + len);
    v->n_tokens = wordpiece_split(text, NULL, 0);
    v->tokens = alloc_array(NULL, v->n_tokens, sizeof(*v->tokens));
    assert_non_null(v->tokens);
    assert_int_equal(wordpiece_split(text, v->tokens, v->n_tokens),
                     v->n_tokens);
    assert_int_equal(
        wordpiece_new(v->tokens, v->n_tokens, false, &v->wordpiece, NULL),
        CLEW_OK);
    *state = v;
    return 0;
}

static int close_vocabulary(void **state)
{
    struct vocabulary *v = *state;

    wordpiece_free(v->wordpiece);
    alloc_free(v->tokens);
    alloc_free(v);
    return 0;
}

static void check_pieces(const struct vocabulary *v, const char *text,
                         const char *want)
{
    uint32_t ids[600];
    size_t n = wordpiece_run(v->wordpiece, str_of(text), ids, 600);
    struct buf got;

    buf_init(&got, 1 << 16);
    for (size_t i = 0; i < n; i++) {
        (void)buf_append_cstr(&got, i ? " " : "");
        (void)buf_append_str(&got, v->tokens[ids[i]]);
    }
    if (strcmp(got.data, want) != 0) {
        print_error("text: %s\n", text);
    }
    assert_string_equal(got.data, want);
    buf_release(&got);
}

static void pieces_equal_the_reference(void **state)
{
    static const char *const cases[][2] = {
#include "wordpiece_cases.inc"
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_pieces(*state, cases[i][0], cases[i][1]);
    }
}

static void special_tokens_are_plain_text(void **state)
{
    check_pieces(*state, "[CLS]", "[ cl ##s ]");
}

static void bytes_that_are_no_text_are_left_out(void **state)
{
    check_pieces(*state,
                 "ab\xff"
                 "cd",
                 "abc ##d");
    check_pieces(*state, "\xc3", "");
    check_pieces(*state, "\xf0\x9f hello", "hello");
}

static void writing_stops_at_the_cap(void **state)
{
    struct vocabulary *v = *state;
    uint32_t ids[4] = {7, 7, 7, 7};

    assert_int_equal(wordpiece_run(v->wordpiece, STR("a b c d e"), ids, 3), 3);
    assert_int_equal(ids[3], 7);
    assert_int_equal(wordpiece_run(v->wordpiece, STR("a"), ids, 0), 0);
}

static void every_token_is_found_under_its_id(void **state)
{
    struct vocabulary *v = *state;
    uint32_t id;

    for (size_t i = 0; i < v->n_tokens; i++) {
        assert_true(wordpiece_find(v->wordpiece, v->tokens[i], &id));
        assert_int_equal(id, i);
    }
    assert_false(wordpiece_find(v->wordpiece, STR("nosuchtoken"), &id));
}

static void cased_vocabularies_keep_case_and_accents(void **state)
{
    static const struct str tokens[] = {
        {"[UNK]", 5}, {"Caf\xc3\xa9", 5}, {"cafe", 4}, {"##s", 3}};
    struct wordpiece *wp = NULL;
    uint32_t ids[4];

    (void)state;
    assert_int_equal(wordpiece_new(tokens, 4, true, &wp, NULL), CLEW_OK);
    assert_int_equal(wordpiece_run(wp, STR("Caf\xc3\xa9s cafe CAFE"), ids, 4),
                     4);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 3);
    assert_int_equal(ids[2], 2);
    assert_int_equal(ids[3], 0);
    wordpiece_free(wp);
}

static void a_vocabulary_needs_an_unknown_token(void **state)
{
    static const struct str tokens[] = {{"a", 1}};
    struct wordpiece *wp = NULL;

    (void)state;
    assert_int_equal(wordpiece_new(tokens, 1, false, &wp, NULL), CLEW_INVALID);
    assert_int_equal(wordpiece_new(tokens, 0, false, &wp, NULL), CLEW_INVALID);
    assert_null(wp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_equal_the_reference),
        cmocka_unit_test(special_tokens_are_plain_text),
        cmocka_unit_test(bytes_that_are_no_text_are_left_out),
        cmocka_unit_test(writing_stops_at_the_cap),
        cmocka_unit_test(every_token_is_found_under_its_id),
        cmocka_unit_test(cased_vocabularies_keep_case_and_accents),
        cmocka_unit_test(a_vocabulary_needs_an_unknown_token),
    };

    return cmocka_run_group_tests(tests, open_vocabulary, close_vocabulary);
}
