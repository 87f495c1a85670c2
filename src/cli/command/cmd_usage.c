/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_usage.c - what the language model was asked for, and what it cost.
 */
#include "cli/core/cli.h"

#include <stdio.h>

#define COLUMNS 8

static const struct arg_option options[] = {
    {"days", 0, "N", NULL, "of the last N days (default 30)"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_usage(struct cli *cli, const json_t *answer,
                                   struct clew_error *err)
{
    static const struct output_column columns[COLUMNS] = {
        {.title = "day"},
        {.title = "for"},
        {.title = "model"},
        {.title = "calls", .is_number = true},
        {.title = "failed", .is_number = true},
        {.title = "sent", .is_number = true},
        {.title = "answered", .is_number = true},
        {.title = "cost", .is_number = true},
    };
    static const char *const texts[] = {"day", "purpose", "model"};
    static const char *const counts[] = {"calls", "failures", "input_tokens",
                                         "output_tokens"};
    const json_t *items = json_object_get(answer, "items");
    size_t n = json_array_size(items);
    const char **cells =
        arena_zero(&cli->arena, n * COLUMNS + 1, sizeof(*cells));

    if (!cells) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(items, i);
        const char **row = cells + i * COLUMNS;

        for (size_t k = 0; k < 3; k++) {
            row[k] = cli_field(item, texts[k]);
        }
        for (size_t k = 0; k < 4; k++) {
            row[3 + k] = arena_printf(&cli->arena, "%lld",
                                      (long long)json_integer_value(
                                          json_object_get(item, counts[k])));
        }
        row[7] = arena_printf(&cli->arena, "%.4f",
                              json_number_value(json_object_get(item, "cost")));
        for (size_t k = 3; k < COLUMNS; k++) {
            if (!row[k]) {
                return clew_no_memory(err);
            }
        }
    }
    if (n == 0) {
        (void)fprintf(cli->out.file, "no language model was asked\n");
        return CLEW_OK;
    }
    output_table(&cli->out, columns, COLUMNS, cells, n);
    return CLEW_OK;
}

static enum clew_status run_usage(struct cli *cli, struct clew_error *err)
{
    char *path = arena_string(&cli->arena, "/api/v1/usage");

    path = cli_query(cli, path, "days", args_str(&cli->args, "days"));
    return path ? cli_show(cli, "GET", path, NULL, show_usage, err)
                : clew_no_memory(err);
}

const struct command command_usage = {
    .name = "usage",
    .operands = "",
    .summary = "list what the language model was asked for, and its cost",
    .example = "clew usage --days 7",
    .options = options,
    .run = run_usage,
};
