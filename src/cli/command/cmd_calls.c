/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_calls.c - captured calls: link one of a file, list them, link all again.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- clew link FILE --------------------------------------------------------
 */

static enum clew_status show_one(struct cli *cli, const json_t *answer,
                                 struct clew_error *err)
{
    const char *parent = cli_field(answer, "parent_request_id");

    (void)err;
    (void)fprintf(
        cli->out.file, "%s, %s\nconversation ",
        parent[0] ? "goes on from an earlier call" : "a new conversation",
        show_count(cli,
                   json_integer_value(json_object_get(answer, "new_turns")),
                   "new turns"));
    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(answer, "conversation_id"),
                               SHOW_ID_LONG)));
    (void)fprintf(cli->out.file, ", branch %s, by %s\n",
                  cli_field(answer, "branch_id"),
                  cli_field(answer, "strategy"));
    return CLEW_OK;
}

static enum clew_status run_link(struct cli *cli, struct clew_error *err)
{
    struct buf text;
    json_t *body = NULL;
    enum clew_status status;

    buf_init(&text, LIMIT_BODY_BYTES);
    status = cli_read_file(cli->args.operands[0], &text, err);
    if (status == CLEW_OK) {
        status = json_parse(buf_str(&text), &body, err);
    }
    buf_release(&text);
    return status == CLEW_OK
               ? cli_show(cli, "POST", "/api/v1/link", body, show_one, err)
               : status;
}

const struct command command_link = {
    .name = "link",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "place a call to an LLM in its conversation ({\"messages\":…})",
    .example = "clew link call.json",
    .run = run_link,
    .makes_store = true,
};

/* --- clew requests ---------------------------------------------------------
 */

static const struct arg_option requests_options[] = {
    {"conversation", 0, "CONVERSATION", NULL, "only this conversation's"},
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status run_requests(struct cli *cli, struct clew_error *err)
{
    char *path = arena_string(&cli->arena, "/api/v1/requests");

    path = cli_query(cli, path, "conversation_id",
                     args_str(&cli->args, "conversation"));
    path = cli_query(cli, path, "limit", args_str(&cli->args, "limit"));
    return cli_show(cli, "GET", path, NULL, show_calls, err);
}

const struct command command_requests = {
    .name = "requests",
    .operands = "",
    .summary = "list captured calls, newest first",
    .example = "clew requests --limit 20",
    .options = requests_options,
    .run = run_requests,
};

/* --- clew rebuild links ----------------------------------------------------
 */

static void show_progress(const json_t *report)
{
    int64_t done = json_integer_value(json_object_get(report, "requests"));
    int64_t total = json_integer_value(json_object_get(report, "total"));
    int filled = total > 0 ? (int)(done * 40 / total) : 40;

    if (isatty(STDERR_FILENO)) {
        (void)fprintf(stderr, "\r[%.*s%*s] %lld of %lld", filled,
                      "########################################", 40 - filled,
                      "", (long long)done, (long long)total);
    }
}

static void show_report(struct cli *cli, const json_t *report, bool is_resumed)
{
    const char *name;
    json_t *count;

    json_object_foreach (json_object_get(report, "by_strategy"), name, count) {
        (void)fprintf(cli->out.file, "%-13s %lld\n", name,
                      (long long)json_integer_value(count));
    }
    (void)fprintf(
        cli->out.file, "%lld requests, %lld changed%s\n",
        (long long)json_integer_value(json_object_get(report, "requests")),
        (long long)json_integer_value(json_object_get(report, "changed")),
        is_resumed ? ", taken up again" : "");
}

static enum clew_status run_rebuild(struct cli *cli, struct clew_error *err)
{
    json_t *report = NULL;
    bool is_resumed = false;
    bool is_first = true;
    enum clew_status status;

    do {
        json_decref(report);
        report = NULL;
        status = cli_call(cli, "POST", "/api/v1/requests/relink", NULL, &report,
                          err);
        if (status != CLEW_OK) {
            return status;
        }
        is_resumed = is_first ? json_is_true(json_object_get(report, "resumed"))
                              : is_resumed;
        is_first = false;
        show_progress(report);
    } while (!json_is_true(json_object_get(report, "done")));
    if (isatty(STDERR_FILENO)) {
        (void)fputc('\n', stderr);
    }
    if (cli->as_json) {
        (void)json_set_bool(report, "resumed", is_resumed); /* its first word */
        output_json(&cli->out, report);
    } else {
        show_report(cli, report, is_resumed);
    }
    json_decref(report);
    return CLEW_OK;
}

const struct command command_rebuild_links = {
    .name = "rebuild links",
    .operands = "",
    .summary = "decide again which call continues which",
    .example = "clew rebuild links",
    .run = run_rebuild,
};
