/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_utf8.c - validation, walking, cutting and normal forms.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/utf8.h"

#include <utf8proc.h>

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
    }
    assert_int_equal(utf8_cut_chars(text, 0), 0);
    assert_int_equal(utf8_cut_chars(text, 3), 6);
    assert_int_equal(utf8_cut_chars(text, 99), text.len);
    assert_int_equal(utf8_width(text), 6);
    assert_int_equal(utf8_width(STR("e\xCC\x81\xE4\xB8\xAD")), 3);
    assert_int_equal(utf8_cut(STR("\xFF\xFF\xFF\xFF\xFF"), 3), 3);
}

static void folding_makes_equal_words_equal(void **state)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"", ""},
        {"Hello, WORLD", "hello, world"},
        {"STRASSE", "strasse"},
        {"Stra\xC3\x9F"
         "e",
         "strasse"},
        {"\xEF\xBC\xA1\xEF\xBC\xA2", "ab"}, /* full width */
        {"\xEF\xAC\x81", "fi"},             /* ligature */
        {"e\xCC\x81", "\xC3\xA9"},          /* composes */
        {"\xCE\xA3\xCE\xB1\xCF\x82", "\xCF\x83\xCE\xB1\xCF\x83"},
        {"co\xC2\xADop", "coop"}, /* soft hyphen */
        {"a\xFF", "a\xEF\xBF\xBD"},
    };
    struct arena arena;
    struct str out;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < LEN(cases); i++) {
        assert_int_equal(utf8_fold(&arena, str_of(cases[i].in), &out), CLEW_OK);
        assert_string_equal(out.s, cases[i].out);
        assert_int_equal(out.len, strlen(cases[i].out));
    }
    arena_release(&arena);
}

/* Characters that combine, decompose, reorder or do none of it. */
static uint32_t any_char(void)
{
    static const uint32_t picks[] = {
        'a',    'E',    ' ',    '\n',   0xE9,    0x301,  0x323,  0x327,
        0x1100, 0x1161, 0x11A8, 0xAC00, 0x304B,  0x3099, 0xFF76, 0xFF9E,
        0x4E2D, 0xDF,   0xFDFA, 0x3A3,  0x1F600, 0x3B1,  0xDD9,  0xDCF,
        0x915,  0x93C,  0x644,  0x627,  0x653,   0x0E01, 0x0E49, 0x212B};

    return picks[rand_below(LEN(picks))];
}

static void chunks_normalise_as_the_whole_would(void **state)
{
    char text[4096];

    (void)state;
    rand_seed(7);
    for (int round = 0; round < 300; round++) {
        struct arena arena;
        struct str out;
        utf8proc_uint8_t *want;
        size_t len = 0;
        int marks = 0;

        while (len < sizeof(text) - 5) {
            uint32_t c = any_char();

            /* runs longer than any writing system has are cut by force */
            marks = c < 0x80 ? 0 : marks + 1;
            len += utf8_put(marks > 20 ? ' ' : c, text + len);
            marks = marks > 20 ? 0 : marks;
        }
        text[len] = '\0';
        want = utf8proc_NFC((const utf8proc_uint8_t *)text);
        arena_init(&arena, 1 << 20);
        assert_int_equal(utf8_nfc(&arena, str_of(text), &out), CLEW_OK);
        assert_string_equal(out.s, (const char *)want);
        arena_release(&arena);
        free(want);
    }
    rand_seed(0);
}

static void a_megabyte_of_marks_takes_no_quadratic_time(void **state)
{
    size_t len = 1 << 20;
    char *text = alloc_bytes(len);
    struct arena arena;
    struct str out;
    int64_t start = clock_mono_ns();

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < len; i += 4) {
        memcpy(text + i, "\xCC\x81\xCC\xA3", 4); /* above, then below */
    }
    arena_init(&arena, 64 << 20);
    assert_int_equal(utf8_nfc(&arena, (struct str){text, len}, &out), CLEW_OK);
    assert_int_equal(out.len, len);
    /* Quadratic would be 10^11 steps: minutes, whatever the machine. */
    assert_true(clock_mono_ns() - start < 60LL * 1000 * 1000 * 1000);
    arena_release(&arena);
    alloc_free(text);
}

static void running_out_of_memory_leaves_nothing_behind(void **state)
{
    int64_t live = alloc_live_count();

    (void)state;
    for (uint64_t n = 1; n < 100; n++) {
        struct arena arena;
        struct str out = {NULL, 0};
        enum clew_status status;

        arena_init(&arena, 1 << 20);
        alloc_fail_at(n);
        status = utf8_fold(&arena,
                           STR("\xFF Stra\xC3\x9F"
                               "e"),
                           &out);
        if (!alloc_fail_fired()) {
            assert_int_equal(status, CLEW_OK);
            alloc_fail_at(0);
            arena_release(&arena);
            break;
        }
        alloc_fail_at(0);
        assert_int_equal(status, CLEW_NO_MEMORY);
        assert_null(out.s);
        arena_release(&arena);
        assert_int_equal(alloc_live_count(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_is_valid_and_reads_back),
        cmocka_unit_test(invalid_bytes_are_found_where_they_are),
        cmocka_unit_test(an_invalid_byte_counts_as_one_character),
        cmocka_unit_test(cutting_splits_no_character),
        cmocka_unit_test(folding_makes_equal_words_equal),
        cmocka_unit_test(chunks_normalise_as_the_whole_would),
        cmocka_unit_test(a_megabyte_of_marks_takes_no_quadratic_time),
        cmocka_unit_test(running_out_of_memory_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
