/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_efforts.c - list efforts, and change them by hand.
 */
#include "base/json.h"
#include "cli/cli.h"

#include <stdio.h>

static const struct arg_option list_options[] = {
    {"user", 'U', "ID", NULL, "whose (default \"me\")"},
    {"chat", 'C', "CHAT", NULL, "of this chat instead"},
    {"all", 'a', NULL, NULL, "closed ones of the chat too"},
    {NULL, 0, NULL, NULL, NULL},
};

static void show(struct cli *cli, const json_t *effort)
{
    const char *resolution = cli_field(effort, "resolution");
    bool is_attempt = json_is_string(json_object_get(effort, "parent_id"));

    output_text(&cli->out, OUTPUT_NAME, str_of(cli_field(effort, "id")));
    (void)fprintf(cli->out.file, "  %s[%s:%s] ", is_attempt ? "  " : "",
                  is_attempt ? "attempt" : "effort",
                  is_attempt && *cli_field(effort, "outcome")
                      ? cli_field(effort, "outcome")
                      : cli_field(effort, "status"));
    output_line(&cli->out, OUTPUT_PLAIN, str_of(cli_field(effort, "summary")),
                0);
    if (*resolution) {
        (void)fputs(" => ", cli->out.file);
        output_line(&cli->out, OUTPUT_PLAIN, str_of(resolution), 0);
    }
    (void)fputc('\n', cli->out.file);
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    const char *user = args_str(&cli->args, "user");
    const char *chat = args_str(&cli->args, "chat");
    char *path = arena_string(&cli->arena, "/api/v1/efforts");
    json_t *answer = NULL;
    const json_t *effort;
    size_t i;
    enum clew_status status;

    path = chat ? cli_query(cli, path, "chat_id", chat)
                : cli_query(cli, path, "user_id", user ? user : "me");
    path =
        cli_query(cli, path, "all", args_has(&cli->args, "all") ? "1" : NULL);
    if (!path) {
        return clew_no_memory(err);
    }
    status = cli_call(cli, "GET", path, NULL, &answer, err);
    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        json_array_foreach (json_object_get(answer, "items"), i, effort) {
            show(cli, effort);
        }
    }
    json_decref(answer);
    return status;
}

const struct command command_efforts = {
    .name = "efforts",
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .summary = "list efforts",
    .example = "clew efforts --chat 0199c1d2-7a00-7000-8000-000000000001 --all",
    .options = list_options,
    .run = run_list,
};

/* One action on the effort that is the first operand; a second one tells how
 * it was resolved. */
static enum clew_status act(struct cli *cli, const char *base, const char *tail,
                            struct clew_error *err)
{
    json_t *answer = NULL;
    json_t *body = NULL;
    enum clew_status status;

    if (cli->args.n_operands > 1) {
        body = json_object();
        if (!body ||
            !json_set_cstr(body, "resolution", cli->args.operands[1])) {
            json_decref(body);
            return clew_fail(err, CLEW_INVALID, "the text must be UTF-8");
        }
    }
    status =
        cli_call(cli, "POST", cli_path(cli, base, cli->args.operands[0], tail),
                 body, &answer, err);
    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        show(cli, answer);
    }
    json_decref(answer);
    return status;
}

static enum clew_status run_resolve(struct cli *cli, struct clew_error *err)
{
    return act(cli, "/api/v1/memories", "/resolve", err);
}

static enum clew_status run_reopen(struct cli *cli, struct clew_error *err)
{
    return act(cli, "/api/v1/memories", "/reopen", err);
}

static enum clew_status run_abandon(struct cli *cli, struct clew_error *err)
{
    return act(cli, "/api/v1/memories", "/abandon", err);
}

static enum clew_status run_expand(struct cli *cli, struct clew_error *err)
{
    return act(cli, "/api/v1/efforts", "/expand", err);
}

static enum clew_status run_collapse(struct cli *cli, struct clew_error *err)
{
    return act(cli, "/api/v1/efforts", "/collapse", err);
}

#define ID "0199c1d2-7a00-7000-8000-000000000001"

const struct command command_resolve = {
    .name = "resolve",
    .operands = "EFFORT [HOW]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "resolve an effort",
    .example = "clew resolve " ID " \"the token was expired\"",
    .run = run_resolve,
};

const struct command command_reopen = {
    .name = "reopen",
    .operands = "EFFORT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "open an effort again",
    .example = "clew reopen " ID,
    .run = run_reopen,
};

const struct command command_abandon = {
    .name = "abandon",
    .operands = "EFFORT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "give an effort up",
    .example = "clew abandon " ID,
    .run = run_abandon,
};

const struct command command_expand = {
    .name = "expand",
    .operands = "EFFORT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "put an effort's turns in view",
    .example = "clew expand " ID,
    .run = run_expand,
};

const struct command command_collapse = {
    .name = "collapse",
    .operands = "EFFORT [RESULT]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "put an effort's turns out of view; a spawned one ends",
    .example = "clew collapse " ID,
    .run = run_collapse,
};
