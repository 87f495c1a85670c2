/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_json_out.c - JSON without a tree: the same bytes as from one.
 */
#include "support/test.h"

#include "base/json.h"
#include "base/json_out.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The digits of a number's text alone, without zeros around them. */
static void digits_of(const char *text, char *out)
{
    size_t n = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0')) {
            out[n++] = *text;
        }
    }
    while (n > 0 && out[n - 1] == '0') {
        n--;
    }
    out[n] = '\0';
}

/* The fewest digits that give the value back, by the C library. */
static void expect_shortest(double value)
{
    char want[64];
    char text[64];
    char got[64];
    struct json_out out;
    struct buf buf;

    for (int precision = 0; precision < 17; precision++) {
        (void)snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    digits_of(text, want);
    buf_init(&buf, 64);
    json_out_init(&out, &buf);
    json_out_real(&out, NULL, value);
    assert_int_equal(buf_status(&buf), CLEW_OK);
    assert_true(strtod(buf.data, NULL) == value);
    digits_of(buf.data, got);
    assert_string_equal(got, want);
    buf_release(&buf);
}

static void reals_have_the_fewest_digits_that_read_back(void **state)
{
    static const double odd[] = {0.1,
                                 1.0 / 3,
                                 2.0 / 3,
                                 0.5,
                                 0.25,
                                 0.9999999999999999,
                                 1e-6,
                                 0.001,
                                 9.999999999999999e-7,
                                 123456.78901234567,
                                 999999999999999.9,
                                 1e15,
                                 4503599627370496.5,
                                 9007199254740993.0,
                                 1.7976931348623157e308,
                                 5e-324,
                                 2.2250738585072014e-308,
                                 1048576.0,
                                 0.000030517578125};
    uint64_t seed = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        expect_shortest(odd[i]);
        expect_shortest(-odd[i]);
        expect_shortest(nextafter(odd[i], 0));
        expect_shortest(nextafter(odd[i], 1e300));
    }
    for (int i = 0; i < 30000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double part = (double)(seed >> 11) / 9007199254740992.0;

        if (part > 0) {
            expect_shortest(part * pow(10, (int)(seed % 24) - 8));
            expect_shortest((double)(float)part);
        }
    }
}

static void every_byte_is_escaped_as_json_asks(void **state)
{
    struct json_out out;
    struct buf buf;
    char text[40];

    (void)state;
    for (int c = 1; c < 256; c++) {
        for (size_t at = 0; at < 17; at++) { /* wherever it stands in a word */
            json_t *back = NULL;
            struct str whole = {text, 17 + (c >= 0x80)};

            memset(text, 'a', sizeof(text));
            if (c < 0x80) {
                text[at] = (char)c;
            } else { /* one code point of two bytes */
                text[at] = (char)(0xc0 | c >> 6);
                text[at + 1] = (char)(0x80 | (c & 0x3f));
            }
            buf_init(&buf, 1000);
            json_out_init(&out, &buf);
            json_out_str(&out, NULL, whole);
            assert_int_equal(json_parse(buf_str(&buf), &back, NULL), CLEW_OK);
            assert_int_equal(json_string_length(back), whole.len);
            assert_memory_equal(json_string_value(back), text, whole.len);
            json_decref(back);
            buf_release(&buf);
        }
    }
    buf_init(&buf, 1000);
    json_out_init(&out, &buf);
    json_out_str(&out, NULL, STR("\"\\\b\f\n\r\t\x01\x1f/\x7f"));
    assert_string_equal(buf.data,
                        "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\x7f\"");
    buf_release(&buf);
}

static void write_all(struct buf *buf)
{
    struct uuid id = {{1, 2, 3}};
    int64_t time_ms = 1700000000123;
    struct json_out out;

    json_out_init(&out, buf);
    json_out_object(&out, NULL);
    json_out_array(&out, "empty");
    json_out_end_array(&out);
    json_out_array(&out, "list");
    json_out_int(&out, NULL, INT64_MIN);
    json_out_int(&out, NULL, 0);
    json_out_object(&out, NULL);
    json_out_end_object(&out);
    json_out_str(&out, NULL, STR("x"));
    json_out_end_array(&out);
    json_out_bool(&out, "yes", true);
    json_out_str(&out, "none", (struct str){0});
    json_out_uuid(&out, "id", &id);
    json_out_uuid(&out, "no_id", NULL);
    json_out_time(&out, "at", &time_ms);
    json_out_time(&out, "never", NULL);
    json_out_field(&out, STR("a \"name\""));
    json_out_real(&out, NULL, 0.5);
    json_out_end_object(&out);
}

static void commas_and_fields_stand_where_a_tree_has_them(void **state)
{
    static const char want[] =
        "{\"empty\":[],\"list\":[-9223372036854775808,0,{},\"x\"],"
        "\"yes\":true,\"none\":null,"
        "\"id\":\"01020300-0000-0000-0000-000000000000\",\"no_id\":null,"
        "\"at\":\"2023-11-14T22:13:20.123Z\",\"never\":null,"
        "\"a \\\"name\\\"\":0.5}";
    json_t *tree = NULL;
    struct buf buf;
    struct buf again;

    (void)state;
    buf_init(&buf, 1000);
    buf_init(&again, 1000);
    write_all(&buf);
    assert_int_equal(buf_status(&buf), CLEW_OK);
    assert_string_equal(buf.data, want);
    assert_int_equal(json_parse(buf_str(&buf), &tree, NULL), CLEW_OK);
    assert_int_equal(json_write(&again, tree), CLEW_OK);
    assert_string_equal(again.data, want);
    json_decref(tree);
    buf_release(&buf);
    buf_release(&again);
}

static void a_ceiling_is_remembered(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 40);
    write_all(&buf);
    assert_int_equal(buf_status(&buf), CLEW_TOO_LARGE);
    buf_release(&buf);
}

/* How many bytes a text is written in, without its quotes. */
static size_t written(struct str text)
{
    struct json_out out;
    struct buf buf;
    size_t len;

    buf_init(&buf, 4096);
    json_out_init(&out, &buf);
    json_out_str(&out, NULL, text);
    assert_int_equal(buf_status(&buf), CLEW_OK);
    len = buf.len - 2;
    buf_release(&buf);
    return len;
}

static void a_text_is_cut_by_what_it_takes_to_write_it(void **state)
{
    static const char text[] = "a\x01\"b\\\n\x1f\t\b\f\rü→😀 plain and long\x02";
    struct str whole = {text, sizeof(text) - 1};

    (void)state;
    for (size_t max = 0; max < written(whole); max++) {
        size_t len = json_out_cut(whole, max);
        size_t next = len;

        assert_true(len < whole.len);
        assert_true(written(str_sub(whole, 0, len)) <= max);
        assert_true(utf8_is_valid(str_sub(whole, 0, len)));
        (void)utf8_next(whole, &next); /* one more is too much */
        assert_true(written(str_sub(whole, 0, next)) > max);
    }
    assert_int_equal(json_out_cut(whole, written(whole)), whole.len);
    assert_int_equal(json_out_cut((struct str){NULL, 0}, 0), 0);
}

static void what_was_cut_is_marked(void **state)
{
    struct json_out out;
    struct buf buf;

    (void)state;
    buf_init(&buf, 4096);
    json_out_init(&out, &buf);
    json_out_object(&out, NULL);
    json_out_cut_str(&out, "none", (struct str){NULL, 0}, 3);
    json_out_cut_str(&out, "whole", STR("a\nb"), 4);
    json_out_cut_str(&out, "part", STR("a\nbc"), 4);
    json_out_end_object(&out);
    assert_int_equal(buf_status(&buf), CLEW_OK);
    assert_string_equal(buf.data, "{\"none\":null,\"whole\":\"a\\nb\","
                                  "\"part\":\"a\\nb…\"}");
    buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_have_the_fewest_digits_that_read_back),
        cmocka_unit_test(every_byte_is_escaped_as_json_asks),
        cmocka_unit_test(commas_and_fields_stand_where_a_tree_has_them),
        cmocka_unit_test(a_ceiling_is_remembered),
        cmocka_unit_test(a_text_is_cut_by_what_it_takes_to_write_it),
        cmocka_unit_test(what_was_cut_is_marked),
    };

    return cmocka_run_group_tests_name("json_out", tests, NULL, NULL);
}
