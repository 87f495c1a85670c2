/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_cursor.c - sealed list positions: only ours, only here, only unchanged.
 */
#include "support/test.h"

#include "api/answer/cursor.h"

#include <stdio.h>

static const unsigned char key[CURSOR_KEY_SIZE] =
    "0123456789abcdef0123456789abcde";
static const struct cursor_scope scope = {key, 7, "/api/v1/chats"};
static struct arena arena;

static int open_arena(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 24);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static bool is_refused(const struct cursor_scope *where, struct str text)
{
    struct clew_error err = {0};
    struct str payload = {0};
    enum clew_status status = cursor_parse(where, &arena, text, &payload, &err);

    return status == CLEW_INVALID && strcmp(err.field, "cursor") == 0;
}

static void a_cursor_gives_its_payload_back(void **state)
{
    static const char bytes[CURSOR_MAX_PAYLOAD + 1] = "x\0y";
    static const size_t lengths[] = {0, 1, 3, 100, CURSOR_MAX_PAYLOAD};

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct str in = {bytes, lengths[i]};
        struct str text = cursor_format(&scope, &arena, in);
        struct str out = {0};

        assert_non_null(text.s);
        assert_int_equal(cursor_parse(&scope, &arena, text, &out, NULL),
                         CLEW_OK);
        assert_true(str_eq(in, out));
    }
    assert_null(
        cursor_format(&scope, &arena, (struct str){bytes, sizeof(bytes)}).s);
}

static void another_tenant_list_or_key_refuses_it(void **state)
{
    static const unsigned char other_key[CURSOR_KEY_SIZE] = "other";
    struct cursor_scope tenant = scope;
    struct cursor_scope list = scope;
    struct cursor_scope keyed = scope;
    struct str text = cursor_format(&scope, &arena, STR("12:34"));

    (void)state;
    tenant.tenant = 8;
    list.list = "/api/v1/chat";
    keyed.key = other_key;
    assert_true(is_refused(&tenant, text));
    assert_true(is_refused(&list, text));
    assert_true(is_refused(&keyed, text));
}

static void every_changed_bit_is_noticed(void **state)
{
    struct str text = cursor_format(&scope, &arena, STR("12:34"));
    char *copy = arena_copy(&arena, text.s, text.len);

    (void)state;
    for (size_t i = 0; i < text.len; i++) {
        for (const char *c = "0123456789abcdef g"; *c; c++) {
            char kept = copy[i];

            if (*c == kept) {
                continue;
            }
            copy[i] = *c;
            assert_true(is_refused(&scope, (struct str){copy, text.len}));
            copy[i] = kept;
        }
    }
    for (size_t len = 0; len < text.len; len++) {
        assert_true(is_refused(&scope, (struct str){copy, len}));
    }
}

static void a_part_of_the_list_cannot_move_into_the_payload(void **state)
{
    struct cursor_scope shorter = {key, 7, "/a"};
    struct cursor_scope longer = {key, 7, "/ab"};
    struct str text = cursor_format(&shorter, &arena, STR("b1"));

    (void)state;
    assert_true(is_refused(&longer, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cursor_gives_its_payload_back),
        cmocka_unit_test(another_tenant_list_or_key_refuses_it),
        cmocka_unit_test(every_changed_bit_is_noticed),
        cmocka_unit_test(a_part_of_the_list_cannot_move_into_the_payload),
    };

    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
