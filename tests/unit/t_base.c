/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_base.c - arena, buffer, clock, JSON, UUID, SHA-256, slices, errors.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/near.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"

#include <stdio.h>
#include <unistd.h>

static void buffer_keeps_its_ceiling(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 4);
    assert_int_equal(buf_append(&b, "abcd", 4), CLEW_OK);
    assert_int_equal(buf_append(&b, "e", 1), CLEW_TOO_LARGE);
    assert_string_equal(b.data, "abcd");
    assert_int_equal(buf_status(&b), CLEW_TOO_LARGE);
    buf_release(&b);
}

static void arena_stops_at_its_limit(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 10000);
    assert_non_null(arena_alloc(&arena, 9000));
    assert_null(arena_alloc(&arena, 9000));
    assert_non_null(arena_alloc(&arena, 500));
    arena_release(&arena);
}

static void times_read_back_as_written(void **state)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"2024-02-29T23:59:60Z", "2024-02-29T23:59:59.999Z"},
        {"2024-03-01T09:00:00.000Z", "2024-03-01T09:00:00.000Z"},
        {"2024-03-01T09:00:00.1239+02:00", "2024-03-01T07:00:00.123Z"},
        {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},
        {"0001-01-01", "0001-01-01T00:00:00.000Z"},
        {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
    };
    static const char *const bad[] = {"",
                                      "2024",
                                      "2024-13-01",
                                      "2023-02-29",
                                      "2024-01-01T",
                                      "2024-01-01T00:00:00",
                                      "0000-01-01T00:00:00Z",
                                      "2024-01-01T24:00:00Z",
                                      "2024-01-01T00:00:00Zx",
                                      "9999-12-31T23:59:59-01:00"};
    char text[CLOCK_TEXT_SIZE];
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(clock_parse(str_of(cases[i].in), &ms));
        clock_format(ms, text);
        assert_string_equal(text, cases[i].out);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(clock_parse(str_of(bad[i]), &ms));
    }
}

static void json_prints_numbers_as_javascript_does(void **state)
{
    static const struct {
        const char *in;
        const char *out;
    } cases[] = {
        {"0.1", "0.1"},
        {"1.0", "1"},
        {"1e21", "1e+21"},
        {"1e20", "100000000000000000000"},
        {"1.5e-7", "1.5e-7"},
        {"0.000001", "0.000001"},
        {"-2.50", "-2.5"},
        {"123.456", "123.456"},
        {"0.3254671216011047", "0.3254671216011047"},
        {"1e-6", "0.000001"},
        {"9.5e-7", "9.5e-7"},
        {"-0.1250", "-0.125"},
        {"1e9", "1000000000"},
        {"999999999.999999", "999999999.999999"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"5e-324", "5e-324"},
        {"-100.0", "-100"},
        {"{\"b\":1,\"a\":[true,null,\"\\u00e9\\n\"]}",
         "{\"b\":1,\"a\":[true,null,\"\xc3\xa9\\n\"]}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out;
        json_t *json = NULL;

        buf_init(&out, 1000);
        assert_int_equal(json_parse(str_of(cases[i].in), &json, NULL), CLEW_OK);
        assert_int_equal(json_write(&out, json), CLEW_OK);
        assert_string_equal(out.data, cases[i].out);
        json_decref(json);
        buf_release(&out);
    }
}

static void json_refuses_deep_and_broken_documents(void **state)
{
    char deep[201];
    struct clew_error err;
    json_t *json = NULL;

    (void)state;
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = '\0';
    assert_int_equal(json_parse(str_of(deep), &json, &err), CLEW_TOO_LARGE);
    assert_int_equal(json_parse(STR("{\"a\":"), &json, &err), CLEW_INVALID);
    assert_int_equal(json_parse(STR("\"\xff\""), &json, &err), CLEW_INVALID);
    assert_int_equal(json_parse(STR("{\"a\":1,\"a\":2}"), &json, &err),
                     CLEW_INVALID);
    assert_null(json);
}

/* What trees take, with the heap's own. */
static size_t live_bytes;
static size_t most_bytes;

#define HEAP_HEAD 16

static void *count_in(size_t size)
{
    size_t *head = alloc_bytes(HEAP_HEAD + size);

    assert_non_null(head);
    *head = (size + 8 + 15) / 16 * 16 + 16; /* json_digits.h adds eight */
    live_bytes += *head;
    most_bytes = live_bytes > most_bytes ? live_bytes : most_bytes;
    return (char *)head + HEAP_HEAD;
}

static void count_out(void *ptr)
{
    if (ptr) {
        size_t *head = (void *)((char *)ptr - HEAP_HEAD);

        live_bytes -= *head;
        alloc_free(head);
    }
}

/* The list in a string, as arguments of tools come, and both trees at once. */
static void parse_quoted(struct str list)
{
    json_t *text = json_stringn(list.s, list.len);
    json_t *outer = NULL;
    json_t *inner = NULL;
    struct buf quoted;

    buf_init(&quoted, 1 << 23);
    assert_int_equal(json_write(&quoted, text), CLEW_OK);
    json_decref(text);
    most_bytes = 0;
    assert_int_equal(json_parse(buf_str(&quoted), &outer, NULL), CLEW_OK);
    assert_int_equal(json_parse(json_text(outer), &inner, NULL), CLEW_OK);
    assert_true(most_bytes <= json_tree_bytes(buf_str(&quoted)) + 512);
    json_decref(outer);
    json_decref(inner);
    buf_release(&quoted);
}

static void a_tree_takes_no_more_than_was_foretold(void **state)
{
    static const char *const items[] = {
        "[]",
        "{}",
        "1",
        "-1.50",
        "null",
        "\"\"",
        "\"ab\\\"[[{,\"",
        "[[[]]]",
        "[1]",
        "[1,2,3]",
        "{\"a\":{}}",
        "{\"a\":1,\"b\":[true],\"c\":\"\"}",
        "{\"0\":0,\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0}"};
    json_malloc_t take;
    json_free_t give;
    struct buf text;

    (void)state;
    json_get_alloc_funcs(&take, &give);
    json_set_alloc_funcs(count_in, count_out);
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        for (int n = 1; n <= 20000; n = n * 5 + 1) {
            json_t *json = NULL;

            buf_init(&text, 1 << 22);
            for (int k = 0; k < n; k++) {
                assert_int_equal(buf_append_char(&text, k ? ',' : '['), 0);
                assert_int_equal(buf_append_cstr(&text, items[i]), 0);
            }
            assert_int_equal(buf_append_char(&text, ']'), 0);
            most_bytes = 0;
            assert_int_equal(json_parse(buf_str(&text), &json, NULL), CLEW_OK);
            /* a parser's own buffers are some hundred bytes */
            assert_true(most_bytes <= json_tree_bytes(buf_str(&text)) + 512);
            json_decref(json);
            parse_quoted(buf_str(&text));
            assert_int_equal(live_bytes, 0);
            buf_release(&text);
        }
    }
    json_set_alloc_funcs(take, give);
}

static void ids_are_ordered_derived_and_readable(void **state)
{
    struct uuid a = uuid_new(1700000000000);
    struct uuid b = uuid_new(1700000000000);
    struct uuid c = uuid_derive(1700000000000, &a, "claim", 1);
    struct uuid d = uuid_derive(1700000000000, &a, "claim", 1);
    char text[UUID_TEXT_SIZE];
    struct uuid back;

    (void)state;
    assert_true(uuid_cmp(&a, &b) < 0);
    assert_true(uuid_eq(&c, &d));
    uuid_format(&c, text);
    assert_int_equal(text[14], '7');
    assert_true(uuid_parse(str_of(text), &back));
    assert_true(uuid_eq(&back, &c));
    assert_false(uuid_parse(STR("not-an-id"), &back));
}

static void running_digest_goes_on_after_a_look(void **state)
{
    struct sha256 hash;
    char hex[SHA256_HEX_SIZE];

    (void)state;
    sha256_init(&hash);
    sha256_add_str(&hash, STR("a"));
    sha256_get_hex(&hash, hex);
    sha256_add_str(&hash, STR("bc"));
    sha256_get_hex(&hash, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9c"
                             "b410ff61f20015ad");
}

static void whole_numbers_parse_to_the_ends_of_their_range(void **state)
{
    int64_t value;

    (void)state;
    assert_true(str_parse_int(STR("-9223372036854775808"), &value));
    assert_true(value == INT64_MIN);
    assert_true(str_parse_int(STR("9223372036854775807"), &value));
    assert_true(value == INT64_MAX);
    assert_false(str_parse_int(STR("9223372036854775808"), &value));
    assert_false(str_parse_int(STR("1x"), &value));
    assert_false(str_parse_int(STR("-"), &value));
}

static void numbers_are_decimal(void **state)
{
    static const char *const bad[] = {
        "",    "-",     ".",   "e1", "1e", "0x10", "0x1p4",    "inf",
        "nan", "1e999", "1,5", " 1", "1 ", "1-2",  "infinity", "1.2.3"};
    double value = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_false(str_parse_real(str_of(bad[i]), &value));
    }
    assert_false(str_parse_real((struct str){"1\0", 2}, &value));
    assert_true(str_parse_real(STR("-2.5e-1"), &value));
    assert_float_equal(value, -0.25, 1e-12);
    assert_true(str_parse_real(STR("+.5"), &value));
    assert_float_equal(value, 0.5, 1e-12);
    assert_true(str_parse_real((struct str){"10", 1}, &value)); /* a slice */
    assert_float_equal(value, 1, 1e-12);
}

static void a_number_past_64_bits_does_not_refuse_the_document(void **state)
{
    json_t *json = NULL;
    struct clew_error err;
    struct buf out;
    int64_t limit = 0;

    (void)state;
    buf_init(&out, 1000);
    assert_int_equal(
        json_parse(STR("{\"limit\":50,\"id\":18446744073709551615}"), &json,
                   &err),
        CLEW_OK);
    assert_int_equal(
        json_get_int(json, "limit", JSON_REQUIRED, 1, 500, &limit, &err),
        CLEW_OK);
    assert_int_equal(limit, 50);
    assert_int_equal(
        json_get_int(json, "id", JSON_REQUIRED, 1, INT64_MAX, &limit, &err),
        CLEW_INVALID);
    assert_int_equal(json_write(&out, json), CLEW_OK);
    assert_string_equal(out.data, "{\"limit\":50,\"id\":18446744073709552000}");
    json_decref(json);
    assert_int_equal(json_parse(STR("1e999"), &json, &err), CLEW_INVALID);
    buf_release(&out);
}

static struct str letters(char *room, uint32_t *dice, uint32_t most)
{
    size_t len;

    *dice = *dice * 1664525u + 1013904223u;
    len = (*dice >> 16) % most;
    for (size_t i = 0; i < len; i++) {
        *dice = *dice * 1664525u + 1013904223u;
        room[i] = "abAB.\xe4"[(*dice >> 16) % 6];
    }
    return (struct str){room, len};
}

/* The same place as one finds by trying each. */
static void text_is_found_in_any_case(void **state)
{
    uint32_t dice = 3;

    (void)state;
    for (int round = 0; round < 100000; round++) {
        char a[20];
        char b[4];
        struct str text = letters(a, &dice, 20);
        struct str needle = letters(b, &dice, 4);
        size_t from = dice % 6;
        size_t at = from;

        while (at + needle.len <= text.len &&
               !str_ieq(str_sub(text, at, at + needle.len), needle)) {
            at++;
        }
        assert_int_equal(str_ifind(text, needle, from),
                         at + needle.len <= text.len ? at : SIZE_MAX);
    }
}

/* A slice of nothing has no address to count from: UBSan looks. */
static void nothing_is_a_text_like_any_other(void **state)
{
    struct str none = {NULL, 0};

    (void)state;
    assert_int_equal(str_sub(none, 0, 5).len, 0);
    assert_true(str_ends(none, none));
    assert_false(str_ends(none, STR("x")));
    assert_int_equal(str_find(none, none, 0), 0);
    assert_int_equal(str_ifind(none, none, 0), 0);
    assert_int_equal(str_ifind(none, STR("x"), 0), SIZE_MAX);
    assert_int_equal(str_trim(none).len, 0);
}

static void a_text_goes_through_a_descriptor_whole(void **state)
{
    FILE *file = tmpfile();
    char text[40000];
    struct buf got;
    int fd;

    (void)state;
    assert_non_null(file);
    fd = fileno(file);
    memset(text, 'x', sizeof(text));
    assert_true(fd_write_all(fd, (struct str){text, sizeof(text)}));
    assert_true(fd_write_all(fd, STR("")));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    buf_init(&got, sizeof(text));
    assert_int_equal(fd_read_all(fd, &got), CLEW_OK);
    assert_int_equal(got.len, sizeof(text));
    assert_memory_equal(got.data, text, sizeof(text));
    buf_release(&got);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    buf_init(&got, sizeof(text) - 1);
    assert_int_equal(fd_read_all(fd, &got), CLEW_TOO_LARGE);
    buf_release(&got);
    assert_int_equal(fclose(file), 0);
    buf_init(&got, 10);
    assert_int_equal(fd_read_all(-1, &got), CLEW_UNAVAILABLE);
    assert_false(fd_write_all(-1, STR("x")));
    buf_release(&got);
}

static void the_words_of_an_error_are_whole_characters(void **state)
{
    struct clew_error err;
    char field[200];

    (void)state;
    (void)clew_fail(&err, CLEW_INVALID, "no \"%.4s\" here",
                    "z\xC3\xBC\xC3\xBC");
    assert_string_equal(err.message, "no \"z\xC3\xBC\" here");
    for (size_t i = 0; i + 1 < sizeof(field); i += 2) {
        memcpy(field + i, "\xC3\xBC", 2);
    }
    field[sizeof(field) - 1] = '\0';
    (void)clew_fail_field(&err, field, "%c%s%s", 'x', field, field);
    assert_true(utf8_is_valid(str_of(err.field)) && strlen(err.field) > 90);
    assert_true(utf8_is_valid(str_of(err.message)) &&
                strlen(err.message) > 310);
}

static void names_are_listed_as_far_as_there_is_room(void **state)
{
    static const char *const few[] = {"query", "limit", NULL};
    static const char *const many[] = {
        "a_name_of_forty_bytes_as_fields_have_it1",
        "a_name_of_forty_bytes_as_fields_have_it2",
        "a_name_of_forty_bytes_as_fields_have_it3",
        "a_name_of_forty_bytes_as_fields_have_it4",
        "a_name_of_forty_bytes_as_fields_have_it5",
        NULL};
    char out[STR_NAMES_SIZE];

    (void)state;
    str_names(few, out);
    assert_string_equal(out, "query, limit");
    str_names(many, out);
    assert_non_null(strstr(out, "have_it4, …"));
    assert_null(strstr(out, "have_it5"));
    str_names(NULL, out);
    assert_string_equal(out, "");
}

static void a_name_is_near_by_what_typing_does(void **state)
{
    static const char *const names[] = {
        "memories", "limit", "until", "status", "link", "ask", "conversation"};
    static const struct {
        const char *typed;
        const char *meant; /* NULL: none is near */
    } rows[] = {
        {"memmories", "memories"},
        {"memory", "memories"},
        {"LIMIT", "limit"},
        {"limti", "limit"},
        {"untl", "until"},
        {"conv", "conversation"},
        {"lnk", "link"},
        {"limit", NULL}, /* no word is its own correction */
        {"list", NULL},
        {"log", NULL},
        {"us", NULL},
        {"", NULL},
        {"statistics of a very long sort that nobody would ever type in here",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct near near;

        near_init(&near, str_of(rows[i].typed));
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
            near_offer(&near, str_of(names[n]));
        }
        if (rows[i].meant ? !str_eq(near.name, str_of(rows[i].meant))
                          : near.name.len > 0) {
            fail_msg("\"%s\" gave \"%.*s\"", rows[i].typed, (int)near.name.len,
                     near.name.s ? near.name.s : "");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_keeps_its_ceiling),
        cmocka_unit_test(arena_stops_at_its_limit),
        cmocka_unit_test(a_text_goes_through_a_descriptor_whole),
        cmocka_unit_test(the_words_of_an_error_are_whole_characters),
        cmocka_unit_test(text_is_found_in_any_case),
        cmocka_unit_test(nothing_is_a_text_like_any_other),
        cmocka_unit_test(times_read_back_as_written),
        cmocka_unit_test(json_prints_numbers_as_javascript_does),
        cmocka_unit_test(json_refuses_deep_and_broken_documents),
        cmocka_unit_test(a_number_past_64_bits_does_not_refuse_the_document),
        cmocka_unit_test(a_tree_takes_no_more_than_was_foretold),
        cmocka_unit_test(ids_are_ordered_derived_and_readable),
        cmocka_unit_test(running_digest_goes_on_after_a_look),
        cmocka_unit_test(whole_numbers_parse_to_the_ends_of_their_range),
        cmocka_unit_test(numbers_are_decimal),
        cmocka_unit_test(names_are_listed_as_far_as_there_is_room),
        cmocka_unit_test(a_name_is_near_by_what_typing_does),
    };

    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
