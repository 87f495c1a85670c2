/* SPDX-License-Identifier: Apache-2.0 */
/* Export and restore: a tenant's rows out, into another, and the same again. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/core/action.h"
#include "engine/proof/export.h"
#include "engine/proof/export_kinds.h"
#include "engine/proof/restore.h"

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

/* --- every kind of action --- */

/* What an action may hold, whatever its kind says of it. */
static const char *const details[] = {
    "{}",
    "{\"by\":\"rules\"}",
    "{\"a\":[1,-2.50,1e3,9007199254740993,true,null,\"\\u00e9\\n\"]}",
    "{\"text\":\"Zebulon \xF0\x9F\xAA\xB4\",\"ids\":[]}",
};

static void add_kind(struct store_tx *tx, const char *kind, size_t n)
{
    struct clew_error err = {0};
    struct uuid some = uuid_derive(WORLD_NOW, &(struct uuid){{1}}, kind, n);
    struct uuid other = uuid_derive(WORLD_NOW, &some, kind, n);

    for (size_t i = 0; i < 4 * sizeof(details) / sizeof(details[0]); i++) {
        struct action_new action = {.kind = kind,
                                    .subject = i & 1 ? &some : NULL,
                                    .made = i & 2 ? &other : NULL,
                                    .at_ms = WORLD_NOW + (int64_t)(7 * i)};

        assert_int_equal(
            json_parse(str_of(details[i / 4]), &action.detail, &err), CLEW_OK);
        assert_int_equal(action_add(tx, &action, &err), CLEW_OK);
    }
}

static enum clew_status add_kinds(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    (void)arg;
    (void)err;
    for (size_t i = 0; i < ACTION_KINDS; i++) {
        add_kind(tx, action_kinds[i], i);
    }
    return CLEW_OK;
}

/* The rows of an export, without its head and end. */
static json_t *lines_of(struct str text)
{
    json_t *lines = json_array();
    struct str line;

    while (str_split(&text, '\n', &line)) {
        json_t *json = NULL;

        if (line.len > 0 && !str_starts(line, STR("{\"type\":\"export\"")) &&
            !str_starts(line, STR("{\"type\":\"end\""))) {
            assert_int_equal(json_parse(line, &json, NULL), CLEW_OK);
            assert_int_equal(json_array_append_new(lines, json), 0);
        }
    }
    return lines;
}

static json_t *actions_of(const json_t *lines)
{
    json_t *actions = json_array();
    json_t *line;
    size_t i;

    json_array_foreach (lines, i, line) {
        if (str_eq(json_text_at(line, "type"), STR("action"))) {
            assert_int_equal(json_array_append(actions, line), 0);
        }
    }
    return actions;
}

static void every_kind_of_action_comes_back_field_by_field(void **state)
{
    struct restore_report report;
    struct clew_error err = {0};
    json_t *lines;
    json_t *before;
    json_t *after;

    (void)state;
    assert_int_equal(store_write(talk.world.engine.store, &talk.world.scope,
                                 add_kinds, NULL, &err),
                     CLEW_OK);
    lines = lines_of(export_of(&talk.world.scope));
    before = actions_of(lines);
    assert_int_equal(json_array_size(before),
                     ACTION_KINDS * 4 * sizeof(details) / sizeof(details[0]));
    assert_int_equal(
        restore_rows(&talk.world.engine, &talk.world.other, &talk.world.arena,
                     &(struct restore_input){.lines = lines}, &report, &err),
        CLEW_OK);
    json_decref(lines);
    lines = lines_of(export_of(&talk.world.other));
    after = actions_of(lines);
    assert_int_equal(json_array_size(after), json_array_size(before));
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    json_decref(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            everything_said_is_in_it_and_nothing_of_others, open_talk,
            close_talk),
        cmocka_unit_test_setup_teardown(each_line_is_an_object_of_a_known_type,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(
            every_kind_of_action_comes_back_field_by_field, open_talk,
            close_talk),
        cmocka_unit_test_setup_teardown(half_of_it_is_no_success, open_talk,
                                        close_talk),
    };

    return WORLD_EACH(tests);
}
