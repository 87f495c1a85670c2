/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_cli_args.c - option parsing and what people are shown.
 */
#include "support/test.h"

#include "base/arena.h"
#include "base/clock.h"
#include "cli/core/args.h"
#include "cli/core/cli.h"
#include "cli/core/output.h"

#include <stdio.h>

/* argc and argv of these words; args_parse() writes to none of them. */
#define WORDS(...)                                                             \
    (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),             \
        (char *const *)(uintptr_t)(const char *[])                             \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static const struct arg_option own[] = {
    {"limit", 'l', "N", NULL, "at most"},
    {"kind", 'K', "KIND", NULL, "of this kind"},
    {"explain", 'e', NULL, NULL, "say why"},
    {"listen", 0, "ADDR", "server.listen", "where"},
    {"upstream", 0, "NAME=URL", "proxy.upstreams.*", "to whom"},
    {NULL, 0, NULL, NULL, NULL},
};

static void options_come_in_every_usual_form(void **state)
{
    struct args args;
    struct clew_error err;
    int64_t limit = 0;

    (void)state;
    assert_int_equal(args_parse(own,
                                WORDS("a", "--limit=5", "-K", "turn", "-Kchat",
                                      "-e", "--json", "b", "--", "--limit"),
                                &args, &err),
                     CLEW_OK);
    assert_int_equal(args.n_operands, 3);
    assert_string_equal(args.operands[1], "b");
    assert_string_equal(args.operands[2], "--limit");
    assert_true(args_has(&args, "explain"));
    assert_true(args_has(&args, "json"));
    assert_false(args_has(&args, "help"));
    assert_string_equal(args_nth(&args, "kind", 0), "turn");
    assert_string_equal(args_str(&args, "kind"), "chat");
    assert_null(args_nth(&args, "kind", 2));
    assert_int_equal(args_int(&args, "limit", 1, 5, &limit, &err), CLEW_OK);
    assert_int_equal(limit, 5);
    assert_int_equal(args_int(&args, "limit", 1, 4, &limit, &err),
                     CLEW_INVALID);
    assert_string_equal(err.field, "limit");
}

static void a_path_may_be_any_bytes(void **state)
{
    struct args args;

    (void)state;
    assert_int_equal(args_parse(own, WORDS("--data=a\xff"), &args, NULL),
                     CLEW_OK);
    assert_string_equal(args_str(&args, "data"), "a\xff");
}

static void a_single_dash_is_an_operand(void **state)
{
    struct args args;

    (void)state;
    assert_int_equal(args_parse(own, WORDS("-"), &args, NULL), CLEW_OK);
    assert_string_equal(args.operands[0], "-");
}

static void what_is_not_understood_is_named(void **state)
{
    static const struct {
        const char *word;
        const char *says;
    } cases[] = {{"--odd", "--odd"},
                 {"-x", "-x"},
                 {"--explain=1", "no value"},
                 {"--limit", "needs a value"},
                 {"--kind=a\xff", "--kind must be valid UTF-8"},
                 {"--tenant=\xc3", "--tenant needs a tenant's name"},
                 {"--tenant=", "--tenant needs a tenant's name"},
                 {"--=x", "unknown option"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args args;
        struct clew_error err;

        assert_int_equal(args_parse(own, WORDS(cases[i].word), &args, &err),
                         CLEW_INVALID);
        assert_non_null(strstr(err.message, cases[i].says));
    }
}

static void options_set_their_configuration_key(void **state)
{
    struct config_flag flags[ARGS_MAX];
    struct clew_error err;
    struct arena arena;
    struct args args;
    size_t n = 0;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(
        args_parse(own,
                   WORDS("--listen", "unix:/s", "-d", "/data", "--set",
                         "llm.model=a=b", "--upstream", "own=http://h/?a=b"),
                   &args, &err),
        CLEW_OK);
    assert_int_equal(args_config(&args, &arena, flags, &n, &err), CLEW_OK);
    assert_int_equal(n, 4);
    assert_string_equal(flags[0].key, "server.listen");
    assert_string_equal(flags[1].key, "data.dir");
    assert_string_equal(flags[2].key, "llm.model");
    assert_string_equal(flags[2].value, "a=b");
    assert_string_equal(flags[3].key, "proxy.upstreams.own");
    assert_string_equal(flags[3].value, "http://h/?a=b");
    assert_int_equal(args_parse(own, WORDS("--set", "x"), &args, &err),
                     CLEW_OK);
    assert_int_equal(args_config(&args, &arena, flags, &n, &err), CLEW_INVALID);
    arena_release(&arena);
}

static void every_command_can_be_found_and_explains_itself(void **state)
{
    size_t n = 0;

    (void)state;
    for (const struct cli_row *row = cli_next(cli_rows()); row;
         row = cli_next(row + 1)) {
        const struct command *command = row->command;
        char copy[64];
        char *words[2];
        char *space;
        int n_words = 0;

        assert_non_null(command->run);
        assert_true(strlen(command->name) < 19); /* fits the help */
        assert_non_null(strstr(command->example, command->name));
        (void)snprintf(copy, sizeof(copy), "%s", command->name);
        space = strchr(copy, ' ');
        words[0] = copy;
        words[1] = space ? space + 1 : copy;
        if (space) {
            *space = '\0';
        }
        assert_ptr_equal(cli_find(cli_rows(), space ? 2 : 1, words, &n_words),
                         command);
        assert_int_equal(n_words, space ? 2 : 1);
        n++;
    }
    assert_true(n > 10);
}

static void times_read_as_people_say_them(void **state)
{
    static const struct {
        int64_t age;
        const char *says;
    } cases[] = {{0, "just now"},
                 {59999, "just now"},
                 {60000, "1 min ago"},
                 {CLOCK_HOUR_MS, "1 h ago"},
                 {CLOCK_DAY_MS - 1, "23 h ago"},
                 {13 * CLOCK_DAY_MS, "13 d ago"},
                 {14 * CLOCK_DAY_MS, "2026-01-17"},
                 {-4999, "just now"}, /* clocks differ */
                 {-5000, "in 1 min"},
                 {-CLOCK_MINUTE_MS, "in 1 min"},
                 {-CLOCK_MINUTE_MS - 1, "in 2 min"},
                 {-CLOCK_HOUR_MS, "in 1 h"},
                 {-CLOCK_DAY_MS + 1, "in 24 h"},
                 {-CLOCK_DAY_MS, "2026-02-01"}};
    int64_t now;
    char text[OUTPUT_TIME_SIZE];

    (void)state;
    assert_true(clock_parse(STR("2026-01-31T12:00:00Z"), &now));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        output_time(now - cases[i].age, now, text);
        assert_string_equal(text, cases[i].says);
    }
}

/* What `print` writes, as a string. */
static const char *printed(void (*print)(const struct output *out))
{
    static char text[4096];
    FILE *file = tmpfile();
    struct output out;
    size_t n;

    assert_non_null(file);
    output_init(&out, file);
    print(&out);
    rewind(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    (void)fclose(file);
    return text;
}

static void print_table(const struct output *out)
{
    static const struct output_column columns[] = {
        {"NAME", false}, {"N", true}, {"TEXT", false}};
    static const char *const cells[] = {
        "a", "1", "x", "\xE4\xB8\xAD\xE6\x96\x87", "100", "line\nbreak"};

    output_table(out, columns, 3, cells, 2);
    output_table(out, columns, 3, cells, 0);
}

static void print_hostile(const struct output *out)
{
    output_text(out, OUTPUT_BOLD,
                STR("a\033[2J\xC2\x9B"
                    "b\nc"));
    output_line(out, OUTPUT_DIM, STR("0123456789"), 5);
}

static void columns_line_up_whatever_the_script(void **state)
{
    (void)state;
    assert_string_equal(printed(print_table),
                        "NAME    N  TEXT\n"
                        "a       1  x\n"
                        "\xE4\xB8\xAD\xE6\x96\x87  100  line break\n");
}

static void stored_text_cannot_drive_the_terminal(void **state)
{
    (void)state;
    assert_string_equal(printed(print_hostile), "a [2J b\nc0123…");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_come_in_every_usual_form),
        cmocka_unit_test(a_path_may_be_any_bytes),
        cmocka_unit_test(a_single_dash_is_an_operand),
        cmocka_unit_test(what_is_not_understood_is_named),
        cmocka_unit_test(options_set_their_configuration_key),
        cmocka_unit_test(every_command_can_be_found_and_explains_itself),
        cmocka_unit_test(times_read_as_people_say_them),
        cmocka_unit_test(columns_line_up_whatever_the_script),
        cmocka_unit_test(stored_text_cannot_drive_the_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
