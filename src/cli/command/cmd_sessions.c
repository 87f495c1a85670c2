/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sessions.c - the work periods of a chat and what they came to.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>

static const struct arg_option options[] = {
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {"cursor", 0, "CURSOR", NULL, "the next page"},
    {NULL, 0, NULL, NULL, NULL},
};

static void show_session(struct cli *cli, const json_t *session, size_t width)
{
    const char *summary = cli_field(session, "summary");
    bool is_open = json_is_null(json_object_get(session, "ended_at"));

    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(session, "id"), width)));
    (void)fputs("  ", cli->out.file);
    output_text(&cli->out, OUTPUT_DIM,
                str_of(cli_when(cli, session, "started_at")));
    (void)fputs(is_open ? ", open\n" : ", ended\n", cli->out.file);
    if (summary[0]) {
        show_paragraph(cli, "  ", str_of(summary));
    }
    (void)fputc('\n', cli->out.file);
}

static enum clew_status show(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "id");
    const json_t *session;
    size_t i;

    (void)err;
    json_array_foreach (items, i, session) {
        show_session(cli, session, width);
    }
    if (i == 0) {
        (void)fputs("nothing found\n", stderr);
    }
    show_more(answer);
    return CLEW_OK;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    char *path = NULL;
    enum clew_status status = cli_page(cli, "/api/v1/sessions", &path, err);

    if (status != CLEW_OK) {
        return status;
    }
    path = cli_query(cli, path, "chat_id", cli->args.operands[0]);
    return cli_show(cli, "GET", path, NULL, show, err);
}

const struct command command_sessions = {
    .name = "sessions",
    .operands = "CHAT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "list a chat's work periods and what each came to",
    .example = "clew sessions 0199c1d2-7a00",
    .options = options,
    .run = run,
};
