/* SPDX-License-Identifier: Apache-2.0 */
/* Export and restore: a tenant's rows out, into another, and the same again. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/proof/export.h"
#include "engine/proof/export_kinds.h"

#include <stdio.h>

/* The export of a tenant, in the world's arena. */
static struct str export_of(const struct scope *scope)
{
    struct clew_error err = {0};
    FILE *file = tmpfile();
    long len;
    char *text;

    assert_non_null(file);
    assert_int_equal(export_write(&talk.world.engine, scope, &talk.world.arena,
                                  fileno(file), &err),
                     CLEW_OK);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    len = ftell(file);
    assert_true(len > 0);
    rewind(file);
    text = arena_alloc(&talk.world.arena, (size_t)len + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)len, file), len);
    text[len] = '\0';
    (void)fclose(file);
    return (struct str){text, (size_t)len};
}

static bool has(struct str text, const char *part)
{
    return str_find(text, str_of(part), 0) != SIZE_MAX;
}

static void everything_said_is_in_it_and_nothing_of_others(void **state)
{
    struct str own;
    struct str other;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    own = export_of(&talk.world.scope);
    other = export_of(&talk.world.other);
    assert_true(str_starts(own, STR("{\"type\":\"export\"")));
    assert_true(has(own, "My dog is called Zebulon"));
    assert_true(has(own, "A fine name."));
    assert_true(has(own, "\"type\":\"turn\""));
    assert_true(has(own, "\"type\":\"memory\""));
    assert_false(has(other, "Zebulon"));
    assert_false(has(other, "\"type\":\"turn\""));
}

static void each_line_is_an_object_of_a_known_type(void **state)
{
    struct str text;
    struct str line;
    size_t n = 0;

    (void)state;
    talk_script(&talk, "u:I want to fix the login page|a:What is wrong?");
    text = export_of(&talk.world.scope);
    while (str_split(&text, '\n', &line)) {
        if (line.len > 0) {
            assert_true(str_starts(line, STR("{\"type\":\"")));
            assert_true(line.s[line.len - 1] == '}');
            n++;
        }
    }
    assert_true(n > 5);
}

/* Without memory for where a page ended there is no next one: that is said. */
static void half_of_it_is_no_success(void **state)
{
    struct clew_error err = {0};
    FILE *file = tmpfile();
    struct arena none;

    (void)state;
    assert_non_null(file);
    for (int i = 0; i < 201; i++) {
        struct capture_result result;
        struct capture_input input = {
            .user_id = str_of(arena_printf(&talk.world.arena, "user %03d", i)),
            .role = TURN_USER,
            .content = {.text = STR("Hello.")},
            .created_at_ms = WORLD_NOW};

        assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, &input, 1, &result,
                                       &err),
                         CLEW_OK);
    }
    arena_init(&none, 1);
    assert_int_equal(export_write(&talk.world.engine, &talk.world.scope, &none,
                                  fileno(file), &err),
                     CLEW_NO_MEMORY);
    arena_release(&none);
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            everything_said_is_in_it_and_nothing_of_others, open_talk,
            close_talk),
        cmocka_unit_test_setup_teardown(each_line_is_an_object_of_a_known_type,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(half_of_it_is_no_success, open_talk,
                                        close_talk),
    };

    return WORLD_EACH(tests);
}
