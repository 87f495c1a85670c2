/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.c - the table of commands and the run of one of them. See cli.h.
 */
#include "cli/core/cli.h"

#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "cli/client/client.h"
#include "cli/core/meant.h"
#include "cli/core/typed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define GROUP(title)
#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND
#undef GROUP

static const struct cli_row rows[] = {
#define GROUP(title) {title, NULL},
#define COMMAND(name) {NULL, &command_##name},
#include "cli/commands.def"
#undef COMMAND
#undef GROUP
    {NULL, NULL},
};

const struct cli_row *cli_rows(void)
{
    return rows;
}

static bool has_flag(const struct config_flag *flags, size_t n_flags,
                     const char *key)
{
    for (size_t i = 0; i < n_flags; i++) {
        if (strcmp(flags[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * A demo has a folder of its own beside the user's, whatever the settings and
 * the environment say: only who names a place with it gets that place.
 */
static enum clew_status move_to_demo(struct cli *cli, struct config_flag *flags,
                                     size_t n_flags, struct clew_error *err)
{
    const char *folder =
        arena_printf(&cli->arena, "%s-demo", config_data_dir(cli->config));

    if (!folder) {
        return clew_no_memory(err);
    }
    config_free(cli->config);
    cli->config = NULL;
    flags[n_flags++] = (struct config_flag){"data.dir", folder};
    flags[n_flags++] = (struct config_flag){"store.url", ""};
    flags[n_flags++] = (struct config_flag){"store.read_url", ""};
    return config_load(args_str(&cli->args, "config"), flags, n_flags,
                       &cli->config, err);
}

static enum clew_status load_config(struct cli *cli, struct clew_error *err)
{
    struct config_flag flags[ARGS_MAX + 3];
    size_t n_flags = 0;
    enum clew_status status =
        args_config(&cli->args, &cli->arena, flags, &n_flags, err);

    if (status == CLEW_OK) {
        status = config_load(args_str(&cli->args, "config"), flags, n_flags,
                             &cli->config, err);
    }
    if (status == CLEW_OK && args_has(&cli->args, "demo") &&
        !has_flag(flags, n_flags, "data.dir") &&
        !has_flag(flags, n_flags, "store.url")) {
        status = move_to_demo(cli, flags, n_flags, err);
    }
    if (status == CLEW_OK) {
        status = log_setup(config_str(cli->config, "log.level"), err);
    }
    return status;
}

/* Without the file; with the options, unless it is they that are wrong. */
static enum clew_status load_defaults(struct cli *cli, struct clew_error *err)
{
    struct config_flag flags[ARGS_MAX];
    size_t n_flags = 0;

    config_free(cli->config);
    cli->config = NULL;
    if (args_config(&cli->args, &cli->arena, flags, &n_flags, err) == CLEW_OK &&
        config_load("/dev/null", flags, n_flags, &cli->config, err) ==
            CLEW_OK) {
        return CLEW_OK;
    }
    return config_load("/dev/null", NULL, 0, &cli->config, err);
}

#define USAGE "usage: clew "
static enum clew_status check_operands(const struct cli *cli,
                                       struct clew_error *err)
{
    const struct command *command = cli->command;

    if (cli->args.n_operands >= command->min_operands &&
        cli->args.n_operands <= command->max_operands) {
        /* a variable of a script that is not set; what follows may be "", as
         * the title of a chat */
        bool is_empty =
            cli->args.n_operands > 0 && cli->args.operands[0][0] == '\0';

        return is_empty ? clew_fail(err, CLEW_INVALID,
                                    "%.*s is empty (see \"clew help %s\")",
                                    (int)strcspn(command->operands, " "),
                                    command->operands, command->name)
                        : CLEW_OK;
    }
    return clew_fail(err, CLEW_INVALID, USAGE "%s%s%s (see \"clew help %s\")",
                     command->name, command->operands[0] ? " " : "",
                     command->operands, command->name);
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    enum clew_status status = check_operands(cli, err);

    if (status == CLEW_OK) {
        status = load_config(cli, err);
        if (status != CLEW_OK && cli->command->takes_bad_config) {
            cli->config_error = *err;
            status = load_defaults(cli, err);
        }
    }
    if (status == CLEW_OK) {
        status = typed_resolve(cli, err);
    }
    if (status == CLEW_OK) {
        status = cli->command->run(cli, err);
    }
    if (status == CLEW_OK &&
        (fflush(cli->out.file) != 0 || fflush(stdout) != 0)) {
        /* Who closes the pipe has read enough: "clew chats | head". */
        status = errno == EPIPE ? CLEW_OK
                                : clew_fail(err, CLEW_UNAVAILABLE,
                                            "could not write the output: %s",
                                            strerror(errno));
    } else if (status == CLEW_OK && ferror(stdout)) {
        status = clew_fail(err, CLEW_UNAVAILABLE, "could not write the output");
    }
    return status;
}

/* Where the first operand is nearly a command's second word, "chains conclud",
 * ask whether that was meant. */
static void add_meant(const struct cli *cli, struct clew_error *err)
{
    const char *word = cli->args.operands[0];
    size_t len = strlen(err->message);
    const char *name = meant_below(rows, cli->command, word);

    if (name && (strstr(err->message, word) ||
                 str_starts(str_of(err->message), STR(USAGE)))) {
        (void)snprintf(err->message + len, sizeof(err->message) - len,
                       "; did you mean \"%s\"?", name);
    }
}

/* What the server cannot know: which word was not found, where a key goes. */
static void add_hint(const struct cli *cli, struct clew_error *err)
{
    size_t len = strlen(err->message);
    char *end = err->message + len;
    size_t room = sizeof(err->message) - len;

    if (err->status == CLEW_NOT_FOUND &&
        strcmp(err->message, "not found") == 0 && cli->args.n_operands > 0) {
        (void)snprintf(end, room, ": %.80s", cli->args.operands[0]);
    } else if (err->status == CLEW_UNAUTHORIZED) {
        (void)snprintf(end, room, " (--key KEY or CLEW_KEY)");
    } else if (err->status == CLEW_NOT_FOUND &&
               strncmp(err->message, "there is no store in ", 21) == 0) {
        (void)snprintf(end, room,
                       "; \"clew turn TEXT\" or \"clew import FILE\" makes "
                       "one, --data DIR or --url URL names another");
    }
    typed_blame(cli, err);
    if (cli->args.n_operands > 0) {
        add_meant(cli, err);
    }
}

static void print_error(bool as_json, const struct clew_error *err)
{
    json_t *json;
    struct output out;

    if (!as_json) {
        output_note("clew: %s", err->message);
        return;
    }
    output_init(&out, stderr);
    json = json_pack("{s:{s:s, s:s, s:s}}", "error", "code", err->code,
                     "message", err->message, "field", err->field);
    if (json) {
        output_json(&out, json);
    }
    json_decref(json);
}

/* What is wrong with a line whose words name no command. */
static void say_unknown(int argc, char *const *argv, struct clew_error *err)
{
    char meant[NEAR_TEXT_SIZE];

    if (argc == 0) {
        (void)clew_fail(err, CLEW_INVALID, "no command");
    } else if (argv[0][0] == '-') {
        args_meant(NULL, argv[0], meant);
        (void)clew_fail_field(
            err, argv[0],
            "no command, and before one there is no option %.80s%s", argv[0],
            meant);
    } else {
        (void)clew_fail(err, CLEW_INVALID, "no such command: %.80s", argv[0]);
    }
}

/* The words name no command: people are shown each that may have been meant on
 * a line of its own, programs one error. */
static int unknown(bool as_json, int argc, char *const *argv)
{
    const char *meant[MEANT_MAX + 1];
    size_t n_meant = meant_commands(rows, argc, argv, meant);
    struct clew_error err = {0};

    say_unknown(argc, argv, &err);
    if (as_json) {
        for (size_t i = 0; i < n_meant; i++) {
            size_t len = strlen(err.message);

            (void)snprintf(err.message + len, sizeof(err.message) - len,
                           "%s \"%s\"", i == 0 ? "; did you mean" : ",",
                           meant[i]);
        }
        print_error(true, &err);
        return clew_status_exit(CLEW_INVALID);
    }
    output_note("clew: %s", n_meant > 0 ? "did you mean" : err.message);
    for (size_t i = 0; i < n_meant; i++) {
        output_note("  %s", meant[i]);
    }
    output_note("See \"clew help\".");
    return clew_status_exit(CLEW_INVALID);
}

/* Options that every command has may stand before it: put them behind. */
static enum clew_status parse(struct cli *cli, int n_before, int words,
                              int argc, char *const *argv,
                              struct clew_error *err)
{
    char **line = arena_zero(&cli->arena, (size_t)argc + 1, sizeof(*line));
    int n = 0;

    if (!line) {
        return clew_no_memory(err);
    }
    for (int i = 0; i < n_before; i++) {
        line[n++] = argv[i];
    }
    for (int i = n_before + words; i < argc; i++) {
        line[n++] = argv[i];
    }
    return args_parse(cli->command->options, n, line, &cli->args, err);
}

static int run_line(struct output *out, int argc, char *const *argv)
{
    struct clew_error err = {0};
    struct cli cli = {.rows = rows, .out = *out};
    enum clew_status status;
    int n_before = args_before(argc, argv);
    int words = 0;

    if (argc == 0 || strcmp(argv[0], "--help") == 0 ||
        strcmp(argv[0], "-h") == 0) {
        cli_help_all(&cli.out, rows);
        return 0;
    }
    if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0) {
        cli.command = &command_version;
        n_before = 0;
        words = 1;
    } else {
        cli.command = cli_find(rows, argc - n_before, argv + n_before, &words);
    }
    if (!cli.command) {
        return unknown(args_name_json(argc, argv), argc - n_before,
                       argv + n_before);
    }
    arena_init(&cli.arena, LIMIT_REQUEST_ARENA_BYTES);
    status = parse(&cli, n_before, words, argc, argv, &err);
    cli.as_json = status == CLEW_OK ? args_has(&cli.args, "json")
                                    : args_name_json(argc, argv);
    if (status == CLEW_OK && args_has(&cli.args, "help")) {
        cli_help_command(&cli.out, cli.command);
    } else if (status == CLEW_OK) {
        status = run(&cli, &err);
    }
    if (status != CLEW_OK) {
        add_hint(&cli, &err);
        (void)fflush(cli.out.file);
        (void)fflush(stdout); /* what was printed comes before the error */
        print_error(cli.as_json, &err);
    }
    client_close(cli.client);
    config_free(cli.config);
    arena_release(&cli.arena);
    return clew_status_exit(status);
}

int cli_run(int argc, char *const *argv)
{
    struct output out;
    int code;

    output_open(&out, stdout);
    code = run_line(&out, argc, argv);
    output_close(&out);
    return code;
}
