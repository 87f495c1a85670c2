/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_calls.c - captured calls: link one of a file, list them, link all again.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"
#include "engine/call/call_rebuild.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- clew link FILE --------------------------------------------------------
 */

static enum clew_status read_file(const char *path, struct buf *out,
                                  struct clew_error *err)
{
    char block[65536];
    ssize_t n = -1;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                    : open(path, O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0) {
        if (buf_append(out, block, (size_t)n) != CLEW_OK) {
            (void)close(fd); /* only read from */
            return clew_fail(err, buf_status(out), "the file is too large");
        }
    }
    if (fd < 0 || n < 0) {
        int code = errno;

        if (fd >= 0) {
            (void)close(fd);
        }
        return clew_fail(err, CLEW_NOT_FOUND, "could not read \"%.200s\": %s",
                         path, strerror(code));
    }
    (void)close(fd);
    return CLEW_OK;
}

static enum clew_status show_one(struct cli *cli, const json_t *answer,
                                 struct clew_error *err)
{
    const char *parent = cli_field(answer, "parent_request_id");

    (void)err;
    (void)fprintf(
        cli->out.file, "%s, %lld new turns, conversation ",
        parent[0] ? "goes on an earlier call" : "a new conversation",
        (long long)json_integer_value(json_object_get(answer, "new_turns")));
    output_text(&cli->out, OUTPUT_NAME,
                str_of(cli_field(answer, "conversation_id")));
    (void)fprintf(cli->out.file, ", %s by %s\n", cli_field(answer, "branch_id"),
                  cli_field(answer, "strategy"));
    return CLEW_OK;
}

static enum clew_status run_link(struct cli *cli, struct clew_error *err)
{
    struct buf text;
    json_t *body = NULL;
    enum clew_status status;

    buf_init(&text, LIMIT_BODY_BYTES);
    status = read_file(cli->args.operands[0], &text, err);
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

static bool show_progress(void *arg, const struct call_rebuild_report *report)
{
    (void)arg;
    if (isatty(STDERR_FILENO)) {
        int filled =
            report->n_total ? (int)(report->n_done * 40 / report->n_total) : 40;

        (void)fprintf(stderr, "\r[%.*s%*s] %lld of %lld", filled,
                      "########################################", 40 - filled,
                      "", (long long)report->n_done,
                      (long long)report->n_total);
    }
    return true;
}

static json_t *report_json(const struct call_rebuild_report *report)
{
    json_t *by = json_object();

    for (size_t i = 0; i < CALL_STRATEGIES; i++) {
        (void)json_set_int(by, call_strategy_name((enum call_strategy)i),
                           report->n_by[i]);
    }
    return json_pack("{s:I,s:I,s:b,s:o}", "requests",
                     (json_int_t)report->n_done, "changed",
                     (json_int_t)report->n_changed, "resumed",
                     report->is_resumed, "by_strategy", by);
}

static enum clew_status run_rebuild(struct cli *cli, struct clew_error *err)
{
    struct call_rebuild_report report;
    struct engine *engine;
    struct scope scope;
    enum clew_status status = cli_tenant(cli, &engine, &scope, err);

    if (status == CLEW_OK) {
        status =
            call_rebuild(engine, &scope, show_progress, NULL, &report, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (isatty(STDERR_FILENO)) {
        (void)fputc('\n', stderr);
    }
    if (cli->as_json) {
        json_t *out = report_json(&report);

        output_json(&cli->out, out);
        json_decref(out);
        return CLEW_OK;
    }
    for (size_t i = 0; i < CALL_STRATEGIES; i++) {
        (void)fprintf(cli->out.file, "%-13s %lld\n",
                      call_strategy_name((enum call_strategy)i),
                      (long long)report.n_by[i]);
    }
    (void)fprintf(cli->out.file, "%lld requests, %lld changed%s\n",
                  (long long)report.n_done, (long long)report.n_changed,
                  report.is_resumed ? ", taken up again" : "");
    return CLEW_OK;
}

const struct command command_rebuild_links = {
    .name = "rebuild links",
    .operands = "",
    .summary = "decide again which call continues which",
    .example = "clew rebuild links",
    .run = run_rebuild,
};
