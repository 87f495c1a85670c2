/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_utf8.c - validation, walking and cutting.
 */
#include "support/test.h"

#include "base/utf8.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void every_code_point_is_valid_and_reads_back(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char bytes[4];
        size_t at = 0;
        struct str text = {bytes, utf8_put(c, bytes)};
        uint32_t want = c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c;

        assert_int_equal(utf8_valid_len(text), text.len);
        assert_int_equal(utf8_next(text, &at), want);
        assert_int_equal(at, text.len);
        if (text.len > 1) {
            text.len--;
            assert_false(utf8_is_valid(text));
        }
    }
}

static void invalid_bytes_are_found_where_they_are(void **state)
{
    static const struct {
        const char *text;
        size_t valid;
    } cases[] = {
        {"abc", 3},
        {"abc\x80", 3},          /* a tail alone */
        {"12345678\xC0\x80", 8}, /* overlong NUL */
        {"\xC1\xBF", 0},         /* overlong */
        {"\xE0\x9F\xBF", 0},     /* overlong, three bytes */
        {"\xF0\x8F\xBF\xBF", 0}, /* overlong, four bytes */
        {"a\xED\xA0\x80", 1},    /* surrogate */
        {"\xF4\x90\x80\x80", 0}, /* past U+10FFFF */
        {"\xF5\x80\x80\x80", 0}, /* past U+10FFFF */
        {"\xC3\xA9\xE2\x82", 2}, /* cut short */
        {"\xFF", 0},
    };

    (void)state;
    for (size_t i = 0; i < LEN(cases); i++) {
        assert_int_equal(utf8_valid_len(str_of(cases[i].text)), cases[i].valid);
    }
}

static void an_invalid_byte_counts_as_one_character(void **state)
{
    struct str text = STR("a\xFF\xC3\xA9\xE2\x82");
    size_t at = 1;

    (void)state;
    assert_int_equal(utf8_count(text), 5);
    assert_int_equal(utf8_next(text, &at), 0xFFFD);
    assert_int_equal(at, 2);
}

static void cutting_splits_no_character(void **state)
{
    struct str text = STR("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};

    (void)state;
    for (size_t i = 0; i < LEN(want); i++) {
        assert_int_equal(utf8_cut(text, i), want[i]);
        assert_int_equal(utf8_head(text, i).len, want[i]);
    }
    assert_int_equal(utf8_cut_chars(text, 0), 0);
    assert_int_equal(utf8_cut_chars(text, 3), 6);
    assert_int_equal(utf8_cut_chars(text, 99), text.len);
    assert_int_equal(utf8_width(text), 6);
    assert_int_equal(utf8_width(STR("e\xCC\x81\xE4\xB8\xAD")), 3);
    assert_int_equal(utf8_cut_width(STR("e\xCC\x81\xE4\xB8\xADx"), 2), 3);
    assert_int_equal(utf8_cut_width(STR("e\xCC\x81\xE4\xB8\xADx"), 3), 6);
    assert_int_equal(utf8_cut_width(STR("abc"), 9), 3);
    assert_int_equal(utf8_cut(STR("\xFF\xFF\xFF\xFF\xFF"), 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_is_valid_and_reads_back),
        cmocka_unit_test(invalid_bytes_are_found_where_they_are),
        cmocka_unit_test(an_invalid_byte_counts_as_one_character),
        cmocka_unit_test(cutting_splits_no_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
