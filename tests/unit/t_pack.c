/* SPDX-License-Identifier: Apache-2.0 */
/* Packed texts come back byte for byte. */
#include "support/test.h"

#include "base/alloc.h"
#include "base/pack.h"

#include <string.h>

#define ID "01943c90-f340-7201-8e7f-4837bef9b734"

static void comes_back(struct str text, size_t max_bytes)
{
    struct buf packed;
    struct buf again;

    buf_init(&packed, 1 << 20);
    buf_init(&again, 1 << 20);
    assert_int_equal(pack(text, &packed), CLEW_OK);
    assert_int_equal(unpack(buf_str(&packed), &again), CLEW_OK);
    assert_int_equal(again.len, text.len);
    assert_true(text.len == 0 || memcmp(again.data, text.s, text.len) == 0);
    assert_true(packed.len <= max_bytes);
    buf_release(&packed);
    buf_release(&again);
}

static void any_text_comes_back(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "0",
        "0.",
        "0.5",
        "0.0",
        "0.00",
        "0.000",
        "0.0000",
        "0.12345678901234567890123",
        "10.5188",
        "00123",
        "123",
        "99999999999999999",
        "999999999999999999",
        "9999999999999999999999",
        "-17.25e-8",
        "\"01943c90-f340-7201-8e7f-4837bef9b734\"",
        "01943C90-F340-7201-8E7F-4837BEF9B734",
        "01943c90-f340-7201-8e7f-4837bef9b73",
        "00000000-0000-0000-0000-000000000001",
        "{\"kind\":\"generate_session_summary\",\"key\":\"x\"}",
        "{\"topic\":\"\xe6\x9d\xb1\xe4\xba\xac \x01\x7f\x80\xff\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        comes_back(str_of(texts[i]), 2 * strlen(texts[i]) + 4);
    }
    comes_back((struct str){"\0\0a\0", 4}, 16);
    /* an id that is close to the one before takes two bytes or three */
    comes_back(STR(ID ID "," ID), 1 + 17 + 2 + 1 + 2);
    comes_back(STR(ID " 01943c90-f340-7201-8e7f-4837bef9b735"), 1 + 17 + 3);
    comes_back(STR(ID " 01943c90-f340-7201-8e7f-4837bef9c734"), 1 + 17 + 4);
}

static void every_byte_and_length_comes_back(void **state)
{
    char text[1200];

    (void)state;
    for (size_t len = 0; len < sizeof(text); len += 97) {
        for (int first = 0; first < 256; first++) {
            for (size_t i = 0; i < len; i++) {
                text[i] = (char)(first + (int)(i * i % 251));
            }
            comes_back((struct str){text, len}, 4 + 2 * len);
        }
    }
}

static void a_trace_takes_few_bytes(void **state)
{
    (void)state;
    comes_back(
        STR("{\"boundary\":{\"rule\":\"silence within the timeout continues "
            "the chat\",\"silence_ms\":40000,\"timeout_ms\":1800000},"
            "\"observe\":{\"act\":\"question\",\"confidence\":0.85,\"level\":"
            "\"rule\",\"rule\":\"question-mark\"},\"chains\":{\"considered\":"
            "[{\"chain_id\":\"" ID "\",\"distance\":0.1705},{\"chain_id\":"
            "\"" ID "\",\"distance\":0.9816}],\"rule\":\"default\","
            "\"continue\":0.55,\"branch\":0.75}}"),
        60);
}

/* Stores hold such bytes: what form 1 means never changes. */
static void what_was_packed_once_is_read_forever(void **state)
{
    static const char bytes[] = "\x01\x80\x06\xc0\xb8\x02\x84\x87\x04\x55\x90"
                                "\x97\x01\x01\x02\x03\x04\x05\x06\x07\x08"
                                "\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x99\x02\xa9"
                                "\x06\x9c";
    static const char text[] =
        "{\"boundary\":{\"rule\":\"silence within the timeout continues the "
        "chat\",\"silence_ms\":40000,\"timeout_ms\":1800000},\"observe\":{"
        "\"act\":\"question\",\"confidence\":0.85,\"level\":\"rule\",\"rule\":"
        "\"question-mark\"},\"chains\":{\"considered\":[{\"chain_id\":"
        "\"01020304-0506-0708-090a-0b0c0d0e0f10\",\"distance\":0.1705}],"
        "\"rule\":\"default\",\"continue\":0.55,\"branch\":0.75}}";
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(unpack((struct str){bytes, sizeof(bytes) - 1}, &out),
                     CLEW_OK);
    assert_string_equal(out.data, text);
    buf_release(&out);
    comes_back(str_of(text), sizeof(bytes) - 1);
}

static void what_is_damaged_is_refused(void **state)
{
    static const struct str broken[] = {
        {"", 0},
        {"\x02", 1},
        {"\x01\x01", 2},
        {"\x01\x02\x01", 3},
        {"\x01\x06\xff", 3},
        {"\x01\x07\x05zz", 5},
        {"\x01\x08\x09\x12", 4},
        {"\x01\x1f", 2},
        {"\x01\xff", 2},
        {"\x01\xff\xff", 3},
        {"\x01\x09", 2},
        {"\x01\x0a\x01", 3},
        {"\x01\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12},
    };
    struct buf out;

    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        buf_init(&out, 4096);
        assert_int_equal(unpack(broken[i], &out), CLEW_CORRUPT);
        buf_release(&out);
    }
    buf_init(&out, 8);
    assert_int_equal(unpack(STR("\x01\x80"), &out), CLEW_TOO_LARGE);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_text_comes_back),
        cmocka_unit_test(every_byte_and_length_comes_back),
        cmocka_unit_test(a_trace_takes_few_bytes),
        cmocka_unit_test(what_was_packed_once_is_read_forever),
        cmocka_unit_test(what_is_damaged_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
