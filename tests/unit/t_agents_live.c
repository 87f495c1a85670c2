/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_agents_live.c - packages stay in use whatever becomes of their folder while
 * it is edited, and what is wrong is told.
 */
#include "support/test.h"

#include "base/arena.h"
#include "engine/keep/agents.h"
#include "engine/keep/agents_live.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_BUILTIN 4

struct folder {
    char path[64];
    struct agents_live *live;
};

static const char *in(const struct folder *folder, const char *name)
{
    static char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    return path;
}

static void write_bytes(const struct folder *folder, const char *name,
                        const char *text)
{
    FILE *out = fopen(in(folder, name), "w");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void write_package(const struct folder *folder, const char *file,
                          const char *name)
{
    char text[256];

    (void)snprintf(text, sizeof(text),
                   "name: %s\nfields: [text]\nopens: {words: [%s]}\n"
                   "extract: {text: {from: opens, take: sentence}}\n",
                   name, name);
    write_bytes(folder, file, text);
}

/* With packages "idea" and "joke", in use. */
static int open_folder(void **state)
{
    static struct folder folder;

    (void)alarm(60); /* what waits for ever is a failure */
    (void)snprintf(folder.path, sizeof(folder.path), "/tmp/clew-live-XXXXXX");
    assert_non_null(mkdtemp(folder.path));
    write_package(&folder, "idea.yaml", "idea");
    write_package(&folder, "joke.yaml", "joke");
    assert_int_equal(agents_live_open(folder.path, &folder.live, NULL),
                     CLEW_OK);
    *state = &folder;
    return 0;
}

static void empty_folder(const struct folder *folder)
{
    DIR *dir = opendir(folder->path);
    const struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.' && unlink(in(folder, entry->d_name)) != 0) {
            (void)rmdir(in(folder, entry->d_name));
        }
    }
    assert_int_equal(closedir(dir), 0);
}

static int close_folder(void **state)
{
    struct folder *folder = *state;

    (void)alarm(0);
    agents_live_close(folder->live);
    empty_folder(folder);
    return rmdir(folder->path);
}

/* Load what changed: `kept` of "idea" and "joke" are those of a broken file,
 * and so many problems are told. */
static void reload(const struct folder *folder, bool is_seen, size_t n_items,
                   size_t n_problems)
{
    struct agents *set;
    bool is_changed = false;

    assert_int_equal(agents_live_reload(folder->live, false, &is_changed, NULL),
                     CLEW_OK);
    assert_int_equal(is_changed, is_seen);
    set = agents_live_take(folder->live);
    assert_int_equal(set->n_items, N_BUILTIN + n_items);
    assert_int_equal(set->n_problems, n_problems);
    for (size_t i = 0; i < set->n_problems; i++) {
        assert_true(str_starts(set->problems[i].file, str_of(folder->path)));
        assert_true(set->problems[i].message.len > 0);
    }
    agents_unref(set);
}

static bool is_kept(const struct folder *folder, const char *name)
{
    struct agents *set = agents_live_take(folder->live);
    const struct agent *agent = agents_find(set, str_of(name));
    bool is_it = agent && agent->is_kept;

    assert_non_null(agent);
    agents_unref(set);
    return is_it;
}

/* "idea" is as it was, "joke" untouched; then the file is whole again. */
static void assert_survived(const struct folder *folder)
{
    reload(folder, true, 2, 1);
    assert_true(is_kept(folder, "idea"));
    assert_false(is_kept(folder, "joke"));
    reload(folder, false, 2, 1);
    if (unlink(in(folder, "idea.yaml")) != 0) {
        assert_int_equal(rmdir(in(folder, "idea.yaml")), 0);
    }
    write_package(folder, "idea.yaml", "idea");
    reload(folder, true, 2, 0);
    assert_false(is_kept(folder, "idea"));
}

static void half_of_a_file_changes_nothing(void **state)
{
    static const char *const halves[] = {
        "",
        "name",
        "name: id",
        "name: idea\nfields: [te",
        "name: idea\nfields: [text]\nopens: {words: [",
        "\xff\xfe\x00"};

    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
        write_bytes(*state, "idea.yaml", halves[i]);
        assert_survived(*state);
    }
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    const struct folder *folder = *state;
    const char *path = in(folder, "idea.yaml");

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_survived(folder);
    path = in(folder, "idea.yaml");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_survived(folder);
    path = in(folder, "idea.yaml");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("idea.yaml", path), 0); /* to itself */
    assert_survived(folder);
    path = in(folder, "idea.yaml");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_survived(folder);
}

static void a_file_of_a_gigabyte_is_not_read(void **state)
{
    const struct folder *folder = *state;

    assert_int_equal(truncate(in(folder, "idea.yaml"), (off_t)1 << 30), 0);
    assert_survived(folder);
}

static void a_link_to_nowhere_is_told_where_none_was(void **state)
{
    const struct folder *folder = *state;

    assert_int_equal(symlink("nowhere", in(folder, "new.yaml")), 0);
    reload(folder, true, 2, 1);
    assert_int_equal(unlink(in(folder, "new.yaml")), 0);
    reload(folder, true, 2, 0);
    assert_int_equal(unlink(in(folder, "idea.yaml")), 0); /* gone is gone */
    reload(folder, true, 1, 0);
}

static void two_of_one_name_are_the_first_and_a_problem(void **state)
{
    write_package(*state, "idea2.yaml", "idea");
    reload(*state, true, 2, 1);
    assert_false(is_kept(*state, "idea"));
    assert_int_equal(unlink(in(*state, "idea.yaml")), 0); /* the next has it */
    reload(*state, true, 2, 0);
    assert_false(is_kept(*state, "idea"));
}

static void a_folder_that_cannot_be_read_takes_none_away(void **state)
{
    struct folder *folder = *state;
    char aside[80];

    (void)snprintf(aside, sizeof(aside), "%s.aside", folder->path);
    assert_int_equal(rename(folder->path, aside), 0);
    assert_int_equal(close(open(folder->path, O_CREAT | O_WRONLY, 0600)), 0);
    reload(folder, true, 2, 1);
    assert_true(is_kept(folder, "idea") && is_kept(folder, "joke"));
    reload(folder, false, 2, 1);
    assert_int_equal(unlink(folder->path), 0);
    reload(folder, true, 0, 0); /* that is a wish */
    assert_int_equal(rename(aside, folder->path), 0);
    reload(folder, true, 2, 0);
}

static void of_ten_thousand_files_the_first_are_taken(void **state)
{
    const struct folder *folder = *state;
    char name[32];

    empty_folder(folder);
    for (int i = 0; i < 10000; i++) { /* not in their order */
        (void)snprintf(name, sizeof(name), "p%05d.yaml", i * 7919 % 10000);
        write_bytes(folder, name, "");
    }
    write_package(folder, "p00000.yaml", "first");
    write_package(folder, "p00063.yaml", "last");
    write_package(folder, "p00064.yaml", "late");
    reload(folder, true, 2, AGENT_MAX_PACKAGES - 2 + 1);
    assert_false(is_kept(folder, "first"));
    assert_false(is_kept(folder, "last"));
}

int main(void)
{
#define CASE(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        CASE(half_of_a_file_changes_nothing),
        CASE(what_is_no_file_is_not_waited_for),
        CASE(a_file_of_a_gigabyte_is_not_read),
        CASE(a_link_to_nowhere_is_told_where_none_was),
        CASE(two_of_one_name_are_the_first_and_a_problem),
        CASE(a_folder_that_cannot_be_read_takes_none_away),
        CASE(of_ten_thousand_files_the_first_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
