/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_efforts.c - list efforts, and change them by hand.
 */
#include "base/json.h"
#include "cli/core/cli.h"
#include "cli/core/typed.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

static const struct arg_option list_options[] = {
    {"user", 'U', "ID", NULL, "whose (default \"me\")"},
    {"chat", 'C', "CHAT", NULL, "of this chat instead"},
    {"all", 'a', NULL, NULL, "closed ones too"},
    {NULL, 0, NULL, NULL, NULL},
};

static void show(struct cli *cli, const json_t *effort, size_t width)
{
    const char *resolution = cli_field(effort, "resolution");
    bool is_open = strcmp(cli_field(effort, "status"), "open") == 0;
    bool is_attempt = json_is_string(json_object_get(effort, "parent_id"));

    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(effort, "id"), width)));
    (void)fprintf(cli->out.file, "  %s[%s:%s] ", is_attempt ? "  " : "",
                  is_attempt ? "attempt" : "effort",
                  is_attempt && *cli_field(effort, "outcome")
                      ? cli_field(effort, "outcome")
                      : cli_field(effort, "status"));
    output_line(&cli->out, OUTPUT_PLAIN, str_of(cli_field(effort, "summary")),
                cli->out.is_terminal ? cli->out.width - width - 22 : 0);
    (void)fputc('\n', cli->out.file);
    if (*resolution) {
        show_paragraph(cli, is_open ? "    before: " : "    => ",
                       str_of(resolution));
    }
}

static enum clew_status show_list(struct cli *cli, const json_t *answer,
                                  struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "id");
    const json_t *effort;
    size_t i;

    (void)err;
    json_array_foreach (items, i, effort) {
        show(cli, effort, width);
    }
    if (json_array_size(items) == 0) {
        const char *user = args_str(&cli->args, "user");

        output_note(
            args_has(&cli->args, "chat")  ? "no efforts in this chat"
            : args_has(&cli->args, "all") ? "no efforts of \"%.60s\"%s"
                                          : "no open efforts of \"%.60s\"%s",
            user ? user : "me",
            user ? "" : "; --user names another, \"clew users\" lists them");
    }
    return CLEW_OK;
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    const char *user = args_str(&cli->args, "user");
    const char *chat = args_str(&cli->args, "chat");
    char *path = arena_string(&cli->arena, "/api/v1/efforts");
    enum clew_status status;

    path = chat ? cli_query(cli, path, "chat_id", chat)
                : cli_query(cli, path, "user_id", user ? user : "me");
    path =
        cli_query(cli, path, "all", args_has(&cli->args, "all") ? "1" : NULL);
    status = cli_show(cli, "GET", path, NULL, show_list, err);
    if (status == CLEW_OK) {
        cli_note_unread(cli);
    }
    return status;
}

const struct command command_efforts = {
    .name = "efforts",
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .summary = "list efforts",
    .example = "clew efforts --chat 0199c1d2-7a00 --all",
    .options = list_options,
    .run = run_list,
};

enum clew_status show_effort(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    (void)err;
    show(cli, answer, TYPED_ID_COLUMNS);
    return CLEW_OK;
}

/* The action the command is named after, on the effort that is the first
 * operand; a second one tells how it was resolved. */
static enum clew_status act(struct cli *cli, const char *base,
                            struct clew_error *err)
{
    const char *action = arena_printf(&cli->arena, "/%s", cli->command->name);
    json_t *body = NULL;

    if (!action) {
        return clew_no_memory(err);
    }
    if (cli->args.n_operands > 1) {
        body = json_object();
        if (!body ||
            !json_set_cstr(body, "resolution", cli->args.operands[1])) {
            json_decref(body);
            return clew_fail(err, CLEW_INVALID, "the text must be UTF-8");
        }
    }
    return cli_show(cli, "POST",
                    cli_path(cli, base, cli->args.operands[0], action), body,
                    show_effort, err);
}

static enum clew_status run_on_memory(struct cli *cli, struct clew_error *err)
{
    return act(cli, "/api/v1/memories", err);
}

static enum clew_status run_on_effort(struct cli *cli, struct clew_error *err)
{
    return act(cli, "/api/v1/efforts", err);
}

#define ID "0199c1d2-7a00"

const struct command command_resolve = {
    .name = "resolve",
    .operands = "EFFORT [HOW]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "resolve an effort",
    .example = "clew resolve " ID " \"the token was expired\"",
    .run = run_on_memory,
};

const struct command command_reopen = {
    .name = "reopen",
    .operands = "EFFORT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "open an effort again",
    .example = "clew reopen " ID,
    .run = run_on_memory,
};

const struct command command_abandon = {
    .name = "abandon",
    .operands = "EFFORT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "give an effort up",
    .example = "clew abandon " ID,
    .run = run_on_memory,
};

const struct command command_expand = {
    .name = "expand",
    .operands = "EFFORT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "put an effort's turns in view",
    .example = "clew expand " ID,
    .run = run_on_effort,
};

const struct command command_collapse = {
    .name = "collapse",
    .operands = "EFFORT [RESULT]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "put an effort's turns out of view; a spawned one ends",
    .example = "clew collapse " ID,
    .run = run_on_effort,
};
