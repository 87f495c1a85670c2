/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers keep the digits they were written with. */
#include "support/test.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_digits.h"

#include <string.h>

static const char *const kept[] = {
    "1.10",
    "-0.0",
    "-0",
    "0",
    "1e5",
    "1E+05",
    "[1.10,1,-0.0,[2.50,{\"a\":0.10,\"b\":[]}],\"1.10\",\"\\\\\",3.0]",
    "{\"a\":666666666666600.00000891234567890123456789,\"b\":1,\"c\":1.0}",
    "[88888888888888888.888]",
    "[9007199254740993,9223372036854775807,-9223372036854775808]",
    "[12345678901234567890,1,1.10,{\"a\":-1}]",
    "{\"e\":\"1.10\",\"t\":true,\"f\":false,\"n\":null,\"x\":1e-7}",
    "[0.1,5,15,123456789012345]",
};

static void as_text(enum clew_status (*write)(struct buf *, const json_t *),
                    const json_t *json, const char *expected)
{
    struct buf out;

    buf_init(&out, 1 << 16);
    assert_int_equal(write(&out, json), CLEW_OK);
    assert_string_equal(out.data, expected);
    buf_release(&out);
}

static void what_is_parsed_is_written_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        json_t *json = NULL;
        json_t *copy;

        assert_int_equal(json_parse(str_of(kept[i]), &json, NULL), CLEW_OK);
        as_text(json_write, json, kept[i]);
        copy = json_copy_tree(json);
        json_decref(json);
        as_text(json_write, copy, kept[i]);
        json_decref(copy);
    }
}

static void equal_values_are_equal_bytes_where_that_is_asked_for(void **state)
{
    json_t *json = NULL;

    (void)state;
    assert_int_equal(
        json_parse(STR("[1.10,1.0,-0.0,1E+05,10.50e0]"), &json, NULL), CLEW_OK);
    as_text(json_write_values, json, "[1.1,1,0,100000,10.5]");
    assert_true(json_real_value(json_array_get(json, 0)) == 1.1);
    json_decref(json);
    assert_int_equal(json_parse_values(STR("[1.10]"), &json, NULL), CLEW_OK);
    as_text(json_write, json, "[1.1]");
    json_decref(json);
}

static void numbers_made_here_are_their_values(void **state)
{
    json_t *json = json_pack("[f,i]", 1.5, 7);

    (void)state;
    assert_null(json_digits_of(json_array_get(json, 0)).s);
    as_text(json_write, json, "[1.5,7]");
    json_decref(json);
}

/* jansson goes on without a byte it had no room for: that is no JSON error, and
 * above all no other text. */
static void without_memory_a_text_is_parsed_whole_or_not_at_all(void **state)
{
    enum clew_status status = CLEW_NO_MEMORY;
    int64_t before = alloc_live_count();
    char text[512] = "[1.10,{\"a\":-0.0},12345678901234567890,\"";

    (void)state;
    memset(text + strlen(text), 'x', 300);
    memcpy(text + strlen(text), "\",true]", 8);
    for (uint64_t n = 1; status != CLEW_OK; n++) {
        json_t *json = NULL;

        alloc_fail_at(n);
        status = json_parse(str_of(text), &json, NULL);
        alloc_fail_at(0);
        if (status == CLEW_OK) {
            as_text(json_write, json, text);
        } else {
            assert_int_equal(status, CLEW_NO_MEMORY);
        }
        json_decref(json);
        assert_int_equal(alloc_live_count(), before);
    }
}

static void without_memory_there_is_no_copy(void **state)
{
    json_t *json = NULL;
    json_t *copy = NULL;
    int64_t before;

    (void)state;
    assert_int_equal(json_parse(str_of(kept[6]), &json, NULL), CLEW_OK);
    before = alloc_live_count();
    for (uint64_t n = 1; !copy; n++) {
        alloc_fail_at(n);
        copy = json_copy_tree(json);
        alloc_fail_at(0);
        assert_true(copy || alloc_live_count() == before);
    }
    json_decref(copy);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_parsed_is_written_again),
        cmocka_unit_test(
            equal_values_are_equal_bytes_where_that_is_asked_for),
        cmocka_unit_test(numbers_made_here_are_their_values),
        cmocka_unit_test(
            without_memory_a_text_is_parsed_whole_or_not_at_all),
        cmocka_unit_test(without_memory_there_is_no_copy),
    };

    json_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
