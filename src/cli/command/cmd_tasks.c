/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tasks.c - `clew tasks` lists later work.
 */
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>

static const struct arg_option task_options[] = {
    {"status", 's', "TASK-STATUS", NULL, "pending, running, done or failed"},
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {"cursor", 0, "CURSOR", NULL, "go on after an earlier list"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_tasks(struct cli *cli, const json_t *answer,
                                   struct clew_error *err)
{
    static const struct output_column columns[] = {{"KIND", false},
                                                   {"STATUS", false},
                                                   {"TRIES", true},
                                                   {"DUE", false},
                                                   {"ERROR", false}};
    const json_t *items = json_object_get(answer, "items");
    const json_t *task;
    const char **cells;
    size_t i;

    cells =
        arena_zero(&cli->arena, 5 * json_array_size(items) + 1, sizeof(*cells));
    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, task) {
        json_int_t tries =
            json_integer_value(json_object_get(task, "attempts"));
        const char *text = arena_printf(&cli->arena, "%lld", (long long)tries);

        cells[5 * i] = cli_field(task, "kind");
        cells[5 * i + 1] = cli_field(task, "status");
        cells[5 * i + 2] = text ? text : "";
        cells[5 * i + 3] = cli_when(cli, task, "execute_at");
        cells[5 * i + 4] = cli_field(task, "last_error");
    }
    output_table(&cli->out, columns, 5, cells, json_array_size(items));
    if (json_array_size(items) == 0) {
        (void)fputs("nothing found\n", stderr);
    }
    show_more(answer);
    return CLEW_OK;
}

static enum clew_status run_tasks(struct cli *cli, struct clew_error *err)
{
    char *path = NULL;
    enum clew_status status = cli_page(cli, "/api/v1/tasks", &path, err);

    if (status != CLEW_OK) {
        return status;
    }
    path = cli_query(cli, path, "status", args_str(&cli->args, "status"));
    return cli_show(cli, "GET", path, NULL, show_tasks, err);
}

const struct command command_tasks = {
    .name = "tasks",
    .operands = "",
    .summary = "list later work, newest first",
    .example = "clew tasks --status failed",
    .options = task_options,
    .run = run_tasks,
};
