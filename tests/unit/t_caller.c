/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs called: the latest, to the minute, of one tenant. */
#include "support/test.h"
#include "support/world.h"

#include "base/limits.h"
#include "engine/key/caller.h"

#include <stdio.h>

static void note(struct world *world, const char *name, const char *via,
                 int64_t at_ms)
{
    assert_int_equal(caller_note(&world->engine, &world->scope, str_of(name),
                                 via, at_ms, NULL),
                     CLEW_OK);
}

static size_t list(struct world *world, const struct scope *scope,
                   struct caller **out)
{
    size_t count = 0;

    assert_int_equal(
        caller_list(&world->engine, scope, &world->arena, out, &count, NULL),
        CLEW_OK);
    return count;
}

static void the_last_call_of_each_is_known_to_the_minute(void **state)
{
    struct world world;
    struct caller *found;

    (void)state;
    world_open(&world);
    note(&world, "zed", CALLER_API, WORLD_NOW);
    note(&world, "claude-cli", CALLER_PROXY, WORLD_NOW + 10);
    note(&world, "zed", CALLER_API, WORLD_NOW + CALLER_APART_MS - 1);
    note(&world, "zed", CALLER_API, WORLD_NOW - CALLER_APART_MS); /* late */
    assert_int_equal(list(&world, &world.scope, &found), 2);
    assert_true(str_eq(found[0].name, STR("claude-cli")));
    assert_true(str_eq(found[0].via, STR("proxy")));
    assert_int_equal(found[1].last_at_ms, WORLD_NOW);
    note(&world, "zed", CALLER_API, WORLD_NOW + CALLER_APART_MS);
    assert_int_equal(list(&world, &world.scope, &found), 2);
    assert_true(str_eq(found[0].name, STR("zed")));
    assert_int_equal(found[0].last_at_ms, WORLD_NOW + CALLER_APART_MS);
    assert_int_equal(list(&world, &world.other, &found), 0);
    world_close(&world);
}

static void names_are_bounded_clean_and_few(void **state)
{
    struct world world;
    struct caller *found;
    char name[CALLER_NAME_BYTES + 10];

    (void)state;
    world_open(&world);
    note(&world, "", CALLER_API, WORLD_NOW);
    note(&world, "two\nlines", CALLER_API, WORLD_NOW);
    note(&world, "\xff\xfe", CALLER_API, WORLD_NOW);
    assert_int_equal(list(&world, &world.scope, &found), 0);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    note(&world, name, CALLER_API, WORLD_NOW);
    assert_int_equal(list(&world, &world.scope, &found), 1);
    assert_int_equal(found[0].name.len, CALLER_NAME_BYTES);
    for (int i = 1; i < LIMIT_CALLERS; i++) {
        (void)snprintf(name, sizeof(name), "program %d", i);
        note(&world, name, CALLER_API, WORLD_NOW + i);
    }
    assert_int_equal(list(&world, &world.scope, &found), LIMIT_CALLERS);
    note(&world, "one more", CALLER_API, WORLD_NOW + LIMIT_CALLERS);
    assert_int_equal(list(&world, &world.scope, &found), LIMIT_CALLERS);
    assert_true(str_eq(found[0].name, STR("one more")));
    assert_true(
        str_eq(found[LIMIT_CALLERS - 1].name, STR("program 1"))); /* not x */
    world_close(&world);
}

static void a_product_is_what_stands_before_its_version(void **state)
{
    (void)state;
    assert_true(str_eq(caller_product(STR(" claude-cli/2.1.0 (external, cli)")),
                       STR("claude-cli")));
    assert_true(str_eq(caller_product(STR("Zed 1.2")), STR("Zed")));
    assert_int_equal(caller_product(STR("")).len, 0);
    assert_int_equal(caller_product((struct str){NULL, 0}).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_call_of_each_is_known_to_the_minute),
        cmocka_unit_test(names_are_bounded_clean_and_few),
        cmocka_unit_test(a_product_is_what_stands_before_its_version),
    };

    return WORLD_EACH(tests);
}
