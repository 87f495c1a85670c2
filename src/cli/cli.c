/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.c - the table of commands and the run of one of them. See cli.h.
 */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "cli/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP(title)
#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
};
#undef GROUP

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *const *cli_commands(size_t *out_n)
{
    *out_n = N_COMMANDS;
    return commands;
}

/* How many of the words name this command: all of its own, or 0. */
static int words_of(const struct command *command, int argc, char *const *argv)
{
    struct str rest = str_of(command->name);
    struct str word;
    int n = 0;

    while (str_split(&rest, ' ', &word)) {
        if (n >= argc || !str_eq(word, str_of(argv[n]))) {
            return 0;
        }
        n++;
    }
    return n;
}

const struct command *cli_find(int argc, char *const *argv, int *out_words)
{
    const struct command *best = NULL;

    *out_words = 0;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        int n = words_of(commands[i], argc, argv);

        if (n > *out_words) {
            *out_words = n;
            best = commands[i];
        }
    }
    return best;
}

enum clew_status cli_client(struct cli *cli, struct client **out_client,
                            struct clew_error *err)
{
    struct client_options options = {
        .config = cli->config,
        .url = args_str(&cli->args, "url"),
        .key = args_str(&cli->args, "key"),
        .tenant = args_str(&cli->args, "tenant"),
    };
    enum clew_status status = CLEW_OK;

    if (!options.url && !args_has(&cli->args, "data") &&
        !args_has(&cli->args, "store")) {
        options.url = getenv("CLEW_URL");
    }
    if (options.url && !options.url[0]) {
        options.url = NULL;
    }
    if (!options.key) {
        options.key = getenv("CLEW_KEY");
    }
    if (!cli->client) {
        status = client_open(&options, &cli->client, err);
    }
    if (status == CLEW_OK) {
        *out_client = cli->client;
    }
    return status;
}

enum clew_status cli_engine(struct cli *cli, struct engine **out_engine,
                            struct clew_error *err)
{
    struct client *client;
    enum clew_status status = cli_client(cli, &client, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (!client_engine(client)) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "\"%s\" works on the data folder: run it where the "
                         "data is, without --url and CLEW_URL",
                         cli->command->name);
    }
    *out_engine = client_engine(client);
    return CLEW_OK;
}

enum clew_status cli_call(struct cli *cli, const char *method, const char *path,
                          json_t *body, json_t **out_json,
                          struct clew_error *err)
{
    struct client *client;
    enum clew_status status;

    if (!path) {
        status = clew_no_memory(err);
    } else {
        status = cli_client(cli, &client, err);
    }
    if (status == CLEW_OK) {
        status = client_call(client, method, path, body, out_json, err);
    }
    json_decref(body);
    return status;
}

enum clew_status cli_show(struct cli *cli, const char *method, const char *path,
                          json_t *body, cli_show_fn show,
                          struct clew_error *err)
{
    json_t *answer = NULL;
    enum clew_status status = cli_call(cli, method, path, body, &answer, err);

    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        status = show(cli, answer, err);
    }
    json_decref(answer);
    return status;
}

static enum clew_status load_config(struct cli *cli, struct clew_error *err)
{
    struct config_flag flags[ARGS_MAX];
    size_t n_flags = 0;
    enum clew_status status =
        args_config(&cli->args, &cli->arena, flags, &n_flags, err);

    if (status == CLEW_OK) {
        status = config_load(args_str(&cli->args, "config"), flags, n_flags,
                             &cli->config, err);
    }
    if (status == CLEW_OK) {
        status = log_setup(config_str(cli->config, "log.level"), err);
    }
    return status;
}

static enum clew_status check_operands(const struct cli *cli,
                                       struct clew_error *err)
{
    const struct command *command = cli->command;

    if (cli->args.n_operands >= command->min_operands &&
        cli->args.n_operands <= command->max_operands) {
        return CLEW_OK;
    }
    return clew_fail(err, CLEW_INVALID,
                     "usage: clew %s%s%s (see \"clew help %s\")", command->name,
                     command->operands[0] ? " " : "", command->operands,
                     command->name);
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    enum clew_status status = check_operands(cli, err);

    if (status == CLEW_OK) {
        status = load_config(cli, err);
    }
    if (status == CLEW_OK) {
        status = cli->command->run(cli, err);
    }
    if (status == CLEW_OK && fflush(stdout) != 0) {
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
    }
}

static void print_error(bool as_json, const struct clew_error *err)
{
    json_t *json;
    struct output out;

    output_init(&out, stderr);
    if (!as_json) {
        (void)fputs("clew: ", stderr);
        output_text(&out, OUTPUT_PLAIN, str_of(err->message));
        (void)fputc('\n', stderr);
        return;
    }
    json = json_pack("{s:{s:s, s:s, s:s}}", "error", "code", err->code,
                     "message", err->message, "field", err->field);
    if (json) {
        output_json(&out, json);
    }
    json_decref(json);
}

/* The first word names no command. */
static int unknown(int argc, char *const *argv)
{
    struct output out;
    bool found = false;

    output_init(&out, stderr);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        struct str name = str_of(commands[i]->name);

        if (argc > 0 && str_starts(name, str_of(argv[0])) && argv[0][0]) {
            (void)fprintf(stderr, "%s\n  %s", found ? "" : "clew: did you mean",
                          name.s);
            found = true;
        }
    }
    if (!found) {
        (void)fputs("clew: no such command: ", stderr);
        output_line(&out, OUTPUT_PLAIN, str_of(argv[0]), 80);
    }
    (void)fputs("\nSee \"clew help\".\n", stderr);
    return clew_status_exit(CLEW_INVALID);
}

int cli_run(int argc, char *const *argv)
{
    struct clew_error err = {0};
    struct cli cli = {0};
    enum clew_status status;
    int words = 0;

    output_init(&cli.out, stdout);
    if (argc == 0 || strcmp(argv[0], "--help") == 0 ||
        strcmp(argv[0], "-h") == 0) {
        cli_help_all(&cli.out);
        return 0;
    }
    if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0) {
        cli.command = &command_version;
        words = 1;
    } else {
        cli.command = cli_find(argc, argv, &words);
    }
    if (!cli.command) {
        return unknown(argc, argv);
    }
    arena_init(&cli.arena, LIMIT_REQUEST_ARENA_BYTES);
    status = args_parse(cli.command->options, argc - words, argv + words,
                        &cli.args, &err);
    cli.as_json = args_has(&cli.args, "json");
    if (status == CLEW_OK && args_has(&cli.args, "help")) {
        cli_help_command(&cli.out, cli.command);
    } else if (status == CLEW_OK) {
        status = run(&cli, &err);
    }
    if (status != CLEW_OK) {
        add_hint(&cli, &err);
        (void)fflush(stdout); /* what was printed comes before the error */
        print_error(cli.as_json, &err);
    }
    client_close(cli.client);
    config_free(cli.config);
    arena_release(&cli.arena);
    return clew_status_exit(status);
}
