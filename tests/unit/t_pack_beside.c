/* SPDX-License-Identifier: Apache-2.0 */
/* Texts packed beside another come back byte for byte, beside that one only. */
#include "support/test.h"

#include "base/alloc.h"
#include "base/pack.h"
#include "base/pack_beside.h"

#include <string.h>

#define SAID "The harbour master asked for the crane before the spring tide."
#define FACT                                                                   \
    "{\"confidence\":0.8500000238418579,\"source\":\"user\",\"statement\":"    \
    "\"" SAID "\"}"

static size_t comes_back(struct str text, struct str beside)
{
    struct buf packed;
    struct buf again;
    size_t len;

    buf_init(&packed, 1 << 22);
    buf_init(&again, 1 << 22);
    assert_int_equal(pack_beside(text, beside, &packed), CLEW_OK);
    len = packed.len;
    assert_int_equal(buf_append_cstr(&again, "before"), CLEW_OK);
    assert_int_equal(unpack_beside(buf_str(&packed), beside, &again), CLEW_OK);
    assert_int_equal(again.len, 6 + text.len);
    assert_true(text.len == 0 || memcmp(again.data + 6, text.s, text.len) == 0);
    buf_release(&packed);
    buf_release(&again);
    return len;
}

static void any_text_comes_back(void **state)
{
    static char noise[100000];
    static char beside[20000];
    uint32_t x = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(noise); i++) {
        x = x * 1664525u + 1013904223u;
        noise[i] = (char)(x >> 24);
        beside[i % sizeof(beside)] = (char)(x >> 16);
    }
    (void)comes_back(STR(""), STR(""));
    (void)comes_back((struct str){"\0\0a\0", 4}, STR("a"));
    (void)comes_back((struct str){noise, sizeof(noise)}, STR(""));
    (void)comes_back((struct str){noise, sizeof(noise)},
                     (struct str){beside, sizeof(beside)});
    (void)comes_back((struct str){beside, sizeof(beside)},
                     (struct str){beside, sizeof(beside)});
    memset(noise, 'x', sizeof(noise));
    assert_true(comes_back((struct str){noise, sizeof(noise)}, STR("")) < 200);
}

static void what_stands_beside_costs_next_to_nothing(void **state)
{
    (void)state;
    assert_true(comes_back(STR(FACT), STR(SAID)) < 16);
    assert_true(comes_back(STR(FACT), STR("")) > 40);
}

static void another_text_beside_it_is_noticed(void **state)
{
    static const char *const others[] = {
        "", "The harbour master asked for the crane before the spring tidy.",
        SAID SAID};

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct buf packed;
        struct buf again;

        buf_init(&packed, 1 << 20);
        buf_init(&again, 1 << 20);
        assert_int_equal(pack_beside(STR(FACT), STR(SAID), &packed), CLEW_OK);
        assert_int_equal(
            unpack_beside(buf_str(&packed), str_of(others[i]), &again),
            CLEW_CORRUPT);
        buf_release(&packed);
        buf_release(&again);
    }
}

static void what_pack_made_is_read_too(void **state)
{
    struct buf packed;
    struct buf again;

    (void)state;
    buf_init(&packed, 1 << 20);
    buf_init(&again, 1 << 20);
    assert_int_equal(pack(STR(FACT), &packed), CLEW_OK);
    assert_int_equal(unpack_beside(buf_str(&packed), STR(SAID), &again),
                     CLEW_OK);
    assert_true(str_eq(buf_str(&again), STR(FACT)));
    buf_release(&packed);
    buf_release(&again);
}

static void broken_bytes_are_corrupt_or_too_large(void **state)
{
    struct buf packed;

    (void)state;
    buf_init(&packed, 1 << 20);
    assert_int_equal(pack_beside(STR(FACT), STR(SAID), &packed), CLEW_OK);
    for (size_t n = 0; n < packed.len; n++) {
        struct buf again;

        buf_init(&again, 1 << 20);
        assert_int_equal(
            unpack_beside((struct str){packed.data, n}, STR(SAID), &again),
            CLEW_CORRUPT);
        buf_release(&again);
        for (unsigned bit = 0; bit < 8; bit++) {
            packed.data[n] = (char)(packed.data[n] ^ (1 << bit));
            buf_init(&again, 1 << 16);
            if (unpack_beside(buf_str(&packed), STR(SAID), &again)) {
                /* whatever it says: it must not read beyond its bytes */
            }
            buf_release(&again);
            packed.data[n] = (char)(packed.data[n] ^ (1 << bit));
        }
    }
    for (size_t limit = 0; limit < sizeof(FACT) - 1; limit += 20) {
        struct buf again;

        buf_init(&again, limit);
        assert_int_equal(unpack_beside(buf_str(&packed), STR(SAID), &again),
                         CLEW_TOO_LARGE);
        buf_release(&again);
    }
    buf_release(&packed);
}

static enum clew_status pack_and_unpack(void)
{
    struct buf packed;
    struct buf again;
    enum clew_status status;

    buf_init(&packed, 1 << 20);
    buf_init(&again, 1 << 20);
    status = pack_beside(STR(FACT), STR(SAID), &packed);
    if (status == CLEW_OK) {
        status = unpack_beside(buf_str(&packed), STR(SAID), &again);
    }
    buf_release(&packed);
    buf_release(&again);
    return status;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 100; n++) {
        enum clew_status status;

        alloc_fail_at(n);
        status = pack_and_unpack();
        alloc_fail_at(0);
        if (status == CLEW_OK) {
            assert_true(n > 4);
            return;
        }
        assert_int_equal(status, CLEW_NO_MEMORY);
    }
    fail_msg("it never had enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_text_comes_back),
        cmocka_unit_test(what_stands_beside_costs_next_to_nothing),
        cmocka_unit_test(another_text_beside_it_is_noticed),
        cmocka_unit_test(what_pack_made_is_read_too),
        cmocka_unit_test(broken_bytes_are_corrupt_or_too_large),
        cmocka_unit_test(no_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
