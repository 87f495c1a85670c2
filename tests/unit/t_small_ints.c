/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of small numbers come back as they were, and take few bytes. */
#include "support/test.h"

#include "base/small_ints.h"

#define COUNT 256

static void comes_back(const int32_t *values, size_t count, size_t max_bytes)
{
    int32_t again[COUNT];
    struct buf out;
    struct str bytes;

    buf_init(&out, 1 << 16);
    assert_int_equal(small_ints_write(values, count, &out), CLEW_OK);
    assert_true(out.len <= max_bytes);
    bytes = buf_str(&out);
    assert_true(small_ints_read(&bytes, again, count));
    assert_int_equal(bytes.len, 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(again[i], values[i]);
    }
    for (size_t len = 0; len < out.len; len++) {
        bytes = (struct str){out.data, len};
        assert_false(small_ints_read(&bytes, again, count));
    }
    buf_release(&out);
}

static void numbers_come_back(void **state)
{
    int32_t values[COUNT] = {0};

    (void)state;
    comes_back(values, 0, 1);
    comes_back(values, COUNT, 1 + COUNT / 8);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = (int32_t)(i * 7919 % 49) - 24;
    }
    comes_back(values, COUNT, 1 + COUNT * 7 / 8);
    values[0] = SMALL_INTS_MAX;
    values[255] = -SMALL_INTS_MAX;
    comes_back(values, COUNT, 16 + COUNT * 7 / 8);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = i % 2 ? SMALL_INTS_MAX : -SMALL_INTS_MAX;
    }
    comes_back(values, COUNT, COUNT * 5);
}

static void what_is_too_large_is_cut(void **state)
{
    const int32_t values[] = {INT32_MAX, INT32_MIN};
    int32_t again[2];
    struct buf out;
    struct str bytes;

    (void)state;
    buf_init(&out, 1 << 10);
    assert_int_equal(small_ints_write(values, 2, &out), CLEW_OK);
    bytes = buf_str(&out);
    assert_true(small_ints_read(&bytes, again, 2));
    assert_int_equal(again[0], SMALL_INTS_MAX);
    assert_int_equal(again[1], -SMALL_INTS_MAX);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(what_is_too_large_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
