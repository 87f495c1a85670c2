/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_agents.c - agent packages: reading, refusing, matching.
 */
#include "support/test.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "engine/keep/agent_follow.h"
#include "engine/keep/agents.h"
#include "engine/memory/note.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char good[] = "name: recipe\n"
                           "fields: [dish, {name: steps, many: true}]\n"
                           "triggers: {words: [recipe, cook]}\n"
                           "opens: {acts: [request, question]}\n"
                           "concludes: {acts: [accept], flags: [strong]}\n"
                           "extract:\n"
                           "  dish: {from: opens, take: sentence}\n";

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *out;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fputs(text, out) >= 0, 1);
    assert_int_equal(fclose(out), 0);
}

static void four_packages_are_built_in(void **state)
{
    static const char *const names[] = {"effort", "fact", "event", "decision"};
    struct agents *set;

    (void)state;
    assert_int_equal(agents_load(NULL, NULL, &set, NULL), CLEW_OK);
    assert_int_equal(set->n_items, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct agent *agent = agents_find(set, str_of(names[i]));

        assert_non_null(agent);
        assert_true(agent->is_builtin);
    }
    agents_unref(set);
    assert_int_equal(agents_load("/nowhere/at/all", NULL, &set, NULL), CLEW_OK);
    assert_int_equal(set->n_items, 4);
    agents_unref(set);
}

static void a_broken_package_is_named_and_the_rest_load(void **state)
{
    char folder[] = "/tmp/clew-agents-XXXXXX";
    struct agents *set;

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "a.yaml", good);
    write_file(folder, "b.yaml", "name: x\nfields: [a]\nfoo: 1\n");
    write_file(folder, "c.yaml", good); /* the same name again */
    write_file(folder, "d.yml",
               "name: note\nfields: [text]\n"
               "triggers: [note]\n");
    write_file(folder, "e.txt", "not a package");
    assert_int_equal(agents_load(folder, NULL, &set, NULL), CLEW_OK);
    assert_int_equal(set->n_items, 6);
    assert_non_null(agents_find(set, STR("recipe")));
    assert_non_null(agents_find(set, STR("note")));
    assert_int_equal(set->n_problems, 2);
    assert_int_equal(set->problems[0].line, 3);
    assert_true(str_ends(set->problems[0].file, STR("/b.yaml")));
    assert_true(str_find(set->problems[0].message,
                         STR("b.yaml:3: unknown key \"foo\""), 0) != SIZE_MAX);
    assert_true(str_ends(set->problems[1].file, STR("/c.yaml")));
    agents_unref(set);
    for (const char *name = "abcde"; *name; name++) {
        char path[256];

        (void)snprintf(path, sizeof(path), "%s/%c.%s", folder, *name,
                       *name == 'd'   ? "yml"
                       : *name == 'e' ? "txt"
                                      : "yaml");
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void mistakes_are_told_with_their_line(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *says;
    } rows[] = {
        {"", 1, "a package is a map"},
        {"- a\n- b\n", 1, "a package is a map"},
        {"name: [unclosed\n", 2, "p.yaml:2:"},
        {"name: Recipe\n", 1, "small letters"},
        {"name: fact\n", 1, "taken by clew"},
        {"fields: [a]\ntriggers: [b]\n", 1, "\"name\" is missing"},
        {"name: x\ntriggers: [b]\n", 1, "\"fields\" is missing"},
        {"name: x\nfields: [a]\n", 1, "\"triggers\" or \"opens\""},
        {"name: x\nfields: a\n", 2, "must be a list"},
        {"name: x\nfields: [a, a]\n", 2, "given twice"},
        {"name: x\nfields: [a]\nopens:\n  acts: [shout]\n", 4, "unknown act"},
        {"name: x\nfields: [a]\nopens:\n  flags: [odd]\n", 4, "unknown flag"},
        {"name: x\nfields: [a]\nopens:\n  when: now\n", 4, "unknown key"},
        {"name: x\nfields: [a]\ntriggers: [b]\nextract:\n  c: {take: line}\n",
         5, "no such field"},
        {"name: x\nfields: [a]\ntriggers: [b]\nextract:\n  a:\n    take: all\n",
         6, "unknown value"},
        {"name: x\nfields:\n  - name: a\n    required: perhaps\n", 4,
         "true or false"},
        {"name: x\nfields: [a]\ntriggers:\n  words: {a: b}\n", 4,
         "list of texts"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct agent agent;
        struct clew_error err = {0};
        int line = 0;

        arena_init(&arena, 1 << 20);
        assert_int_equal(agent_parse(&arena, "p.yaml", str_of(rows[i].yaml),
                                     &agent, &line, &err),
                         CLEW_INVALID);
        if (line != rows[i].line || !strstr(err.message, rows[i].says)) {
            print_error("row %zu: line %d, %s\n", i, line, err.message);
        }
        assert_int_equal(line, rows[i].line);
        assert_non_null(strstr(err.message, rows[i].says));
        assert_non_null(strstr(err.message, "p.yaml:"));
        arena_release(&arena);
    }
}

static enum agent_step step_of(const struct agent *agent, const char *text,
                               const char *previous, bool is_open,
                               struct str *out_first)
{
    static struct arena arena;
    struct intent intent;
    enum agent_step step;

    arena_init(&arena, 1 << 20);
    assert_int_equal(intent_of(&arena, str_of(text), str_of(previous), &intent),
                     CLEW_OK);
    step = agent_match(agent, str_of(text), &intent, is_open);
    if (out_first) {
        *out_first =
            agent_value(&agent->fields[0], step, str_of(text), &intent);
    }
    arena_release(&arena);
    return step;
}

static void the_shipped_bug_report_follows_a_session(void **state)
{
    struct agents *set;
    const struct agent *bug;
    struct str value;

    (void)state;
    assert_int_equal(
        agents_load(CLEW_SOURCE_DIR "/packaging/agents", NULL, &set, NULL),
        CLEW_OK);
    for (size_t i = 0; i < set->n_problems; i++) {
        print_error("%.*s\n", (int)set->problems[i].message.len,
                    set->problems[i].message.s);
    }
    assert_int_equal(set->n_problems, 0);
    bug = agents_find(set, STR("bug-report"));
    assert_non_null(bug);
    assert_int_equal(bug->n_fields, 3);
    assert_true(bug->fields[0].is_required);
    assert_int_equal(step_of(bug, "Hello there. I'm getting a 401 error here.",
                             NULL, false, &value),
                     AGENT_OPENS);
    assert_true(str_eq(value, STR("I'm getting a 401 error here")));
    assert_int_equal(step_of(bug, "I like terrors.", NULL, false, NULL),
                     AGENT_NONE);
    assert_int_equal(
        step_of(bug, "It happens every time I log in.", NULL, true, NULL),
        AGENT_EXTENDS);
    assert_int_equal(step_of(bug, "The weather is nice.", NULL, true, NULL),
                     AGENT_NONE);
    assert_int_equal(step_of(bug, "That fixed it, thanks!",
                             "Refresh the token.", true, NULL),
                     AGENT_CONCLUDES);
    assert_int_equal(step_of(bug, "That fixed it, thanks!",
                             "Refresh the token.", false, NULL),
                     AGENT_NONE);
    agents_unref(set);
}

/* A session in which the same is told again and again, a page each time. */
static void a_long_session_still_fits_its_memory(void **state)
{
    static char page[12000];
    struct agents *set;
    json_t *fields = json_object();
    const json_t *steps;
    struct arena arena;

    (void)state;
    assert_int_equal(
        agents_load(CLEW_SOURCE_DIR "/packaging/agents", NULL, &set, NULL),
        CLEW_OK);
    memset(page, 'x', sizeof(page) - 1);
    memcpy(page, "It happens every time ", 22);
    arena_init(&arena, 64u << 20);
    for (int64_t i = 0; i < 120; i++) {
        struct intent intent;
        struct agent_said turn = {.seq = i + 1,
                                  .text = {page, sizeof(page) - 1},
                                  .intent = &intent,
                                  .is_user = true};
        struct agent_news news;

        arena_clear(&arena);
        assert_int_equal(intent_of(&arena, turn.text, STR(""), &intent),
                         CLEW_OK);
        assert_int_equal(agent_follow(&arena,
                                      agents_find(set, STR("bug-report")),
                                      &turn, NULL, true, fields, &news),
                         CLEW_OK);
        assert_int_equal(news.step, AGENT_EXTENDS);
    }
    steps = json_object_get(fields, "repro_steps");
    assert_int_equal(json_array_size(steps), 2);
    assert_int_equal(json_array_size(json_object_get(
                         json_object_get(fields, "_from"), "repro_steps")),
                     2);
    assert_true(note_json(&arena, fields).s != NULL);
    arena_release(&arena);
    agents_unref(set);
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 40; n++) {
        struct agents *set = NULL;
        int64_t live = alloc_live_count();
        enum clew_status status;

        alloc_fail_at(n);
        status =
            agents_load(CLEW_SOURCE_DIR "/packaging/agents", NULL, &set, NULL);
        alloc_fail_at(0);
        assert_true(status == CLEW_OK || status == CLEW_NO_MEMORY);
        if (status == CLEW_OK) {
            agents_unref(set);
        }
        assert_int_equal(alloc_live_count(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_packages_are_built_in),
        cmocka_unit_test(a_broken_package_is_named_and_the_rest_load),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(the_shipped_bug_report_follows_a_session),
        cmocka_unit_test(a_long_session_still_fits_its_memory),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
