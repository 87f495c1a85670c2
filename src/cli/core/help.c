/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - help and shell completion, both made from the table of commands.
 */
#include "base/config.h"
#include "cli/core/cli.h"
#include "cli/core/meant.h"

#include <stdio.h>
#include <string.h>

/* Column in which the list of commands says what each does. */
#define NAME_WIDTH 19

void cli_help_all(const struct output *out, const struct cli_row *rows)
{
    output_text(out, OUTPUT_BOLD, STR("clew"));
    (void)fprintf(out->file, " - a memory for AI conversations\n\n"
                             "usage: clew COMMAND [OPTIONS] [ARGUMENTS]\n");
    for (; rows->heading || rows->command; rows++) {
        const struct command *command = rows->command;

        if (!command) {
            (void)fprintf(out->file, "\n%s\n", rows->heading);
            continue;
        }
        (void)fputs("  ", out->file);
        output_text(out, OUTPUT_NAME, str_of(command->name));
        (void)fprintf(out->file, "%*s%s\n",
                      (int)(NAME_WIDTH - strlen(command->name)), "",
                      command->summary);
    }
    (void)fputs("\nCommands work on the data folder, or on a server with --url "
                "(CLEW_URL).\n"
                "\"clew help COMMAND\" explains one and shows an example.\n",
                out->file);
}

static void show_options(const struct output *out,
                         const struct arg_option *options)
{
    for (; options && options->name; options++) {
        char left[64];
        char letter[8] = "    ";

        if (options->letter) {
            (void)snprintf(letter, sizeof(letter), "-%c, ", options->letter);
        }
        (void)snprintf(left, sizeof(left), "%s--%s%s%s", letter, options->name,
                       options->value ? " " : "",
                       options->value ? options->value : "");
        (void)fprintf(out->file, "  %-26s %s\n", left, options->help);
    }
}

void cli_help_command(const struct output *out, const struct command *command)
{
    (void)fprintf(out->file, "usage: clew %s [OPTIONS]%s%s\n\n", command->name,
                  command->operands[0] ? " " : "", command->operands);
    (void)fprintf(out->file, "%s\n", command->summary);
    if (command->options) {
        (void)fputs("\n", out->file);
        show_options(out, command->options);
    }
    (void)fputs("\n", out->file);
    show_options(out, args_common);
    (void)fputs("\nexample:\n  ", out->file);
    output_text(out, OUTPUT_NAME, str_of(command->example));
    (void)fputs("\n", out->file);
}

static enum clew_status run_help(struct cli *cli, struct clew_error *err)
{
    char *words[2] = {NULL, NULL};
    const char *meant[MEANT_MAX + 1];
    char names[STR_NAMES_SIZE];
    const struct command *command;
    int n_words = (int)cli->args.n_operands;
    int n = 0;

    if (n_words == 0) {
        cli_help_all(&cli->out, cli->rows);
        return CLEW_OK;
    }
    for (size_t i = 0; i < cli->args.n_operands; i++) {
        words[i] = arena_string(&cli->arena, cli->args.operands[i]);
        if (!words[i]) {
            return clew_no_memory(err);
        }
    }
    command = cli_find(cli->rows, n_words, words, &n);
    if (!command) {
        (void)meant_commands(cli->rows, n_words, words, meant);
        str_names(meant, names);
        return clew_fail(err, CLEW_INVALID, "no such command: \"%.80s\"%s%s",
                         words[0], meant[0] ? "; did you mean: " : "", names);
    }
    cli_help_command(&cli->out, command);
    return CLEW_OK;
}

const struct command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .max_operands = 2,
    .summary = "explain the program or one command",
    .example = "clew help recall",
    .run = run_help,
};

static enum clew_status run_version(struct cli *cli, struct clew_error *err)
{
    json_t *json;

    if (!cli->as_json) {
        (void)fputs("clew " CLEW_VERSION "\n", cli->out.file);
        return CLEW_OK;
    }
    json = json_pack("{s:s}", "version", CLEW_VERSION);
    if (!json) {
        return clew_no_memory(err);
    }
    output_json(&cli->out, json);
    json_decref(json);
    return CLEW_OK;
}

const struct command command_version = {
    .name = "version",
    .operands = "",
    .summary = "print the version",
    .example = "clew version",
    .run = run_version,
};
