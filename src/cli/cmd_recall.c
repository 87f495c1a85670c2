/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_recall.c - find what was said.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli.h"

#include <stdio.h>

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "only this user's"},
    {"chat", 'C', "CHAT", NULL, "only this chat's"},
    {"kind", 'K', "KIND", NULL, "turn, memory, episode, chat; repeatable"},
    {"limit", 'l', "N", NULL, "at most this many"},
    {"since", 0, "TIME", NULL, "not before"},
    {"until", 0, "TIME", NULL, "not after"},
    {"at", 0, "TIME", NULL, "as of that moment"},
    {"explain", 'e', NULL, NULL, "say why each line is there"},
    {NULL, 0, NULL, NULL, NULL},
};

static bool set_kinds(const struct cli *cli, json_t *body)
{
    json_t *kinds;
    const char *kind = args_nth(&cli->args, "kind", 0);

    if (!kind) {
        return true;
    }
    kinds = json_array();
    for (size_t i = 0; kind; kind = args_nth(&cli->args, "kind", ++i)) {
        if (json_array_append_new(kinds, json_string(kind)) != 0) {
            json_decref(kinds);
            return false;
        }
    }
    return json_set(body, "kinds", kinds);
}

static json_t *body_of(const struct cli *cli, struct str query, int64_t limit)
{
    json_t *body = json_object();

    if (body && json_set_str(body, "query", query) &&
        cli_set_option(cli, body, "user_id", "user") &&
        cli_set_option(cli, body, "chat_id", "chat") && set_kinds(cli, body) &&
        cli_set_option(cli, body, "since", "since") &&
        cli_set_option(cli, body, "until", "until") &&
        cli_set_option(cli, body, "at", "at") &&
        json_set_int(body, "limit", limit) &&
        (!args_has(&cli->args, "explain") ||
         json_set_bool(body, "explain", true))) {
        return body;
    }
    json_decref(body);
    return NULL;
}

/* The reasons, on one line. */
static void show_why(struct cli *cli, const json_t *why)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    if (json_write(&text, why) == CLEW_OK) {
        (void)fputs("   ", cli->out.file);
        output_line(&cli->out, OUTPUT_DIM, buf_str(&text), 0);
        (void)fputc('\n', cli->out.file);
    }
    buf_release(&text);
}

static void show_item(struct cli *cli, const json_t *item)
{
    const json_t *why = json_object_get(item, "why");
    char score[32];

    (void)snprintf(score, sizeof(score), "%.3f",
                   json_number_value(json_object_get(item, "score")));
    output_text(&cli->out, OUTPUT_BOLD, str_of(score));
    (void)fprintf(cli->out.file, "  %s  %s  ", cli_field(item, "kind"),
                  cli_when(cli, item, "created_at"));
    output_text(&cli->out, OUTPUT_NAME, str_of(cli_field(item, "chat_id")));
    if (json_is_true(json_object_get(item, "superseded"))) {
        output_text(&cli->out, OUTPUT_DIM, STR("  superseded"));
    }
    (void)fputs("\n   ", cli->out.file);
    output_line(&cli->out, OUTPUT_PLAIN, str_of(cli_field(item, "text")),
                3 * cli->out.width);
    (void)fputc('\n', cli->out.file);
    if (why && !json_is_null(why)) {
        show_why(cli, why);
    }
}

static enum clew_status show(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    const json_t *item;
    size_t i;

    (void)err;
    if (json_array_size(items) == 0) {
        (void)fputs("nothing found\n", stderr);
    }
    json_array_foreach (items, i, item) {
        show_item(cli, item);
    }
    return CLEW_OK;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    enum clew_status status;
    int64_t limit = 10;
    json_t *body;
    struct str query;

    status = args_int(&cli->args, "limit", 1, LIMIT_PAGE_MAX, &limit, err);
    if (status == CLEW_OK) {
        status = cli_text(cli, 0, LIMIT_QUERY_BYTES, &query, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    body = body_of(cli, query, limit);
    if (!body) {
        return clew_fail(err, CLEW_INVALID, "the query must be valid UTF-8");
    }
    return cli_show(cli, "POST", "/api/v1/recall", body, show, err);
}

const struct command command_recall = {
    .name = "recall",
    .operands = "QUERY|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "find what was said, best first",
    .example = "clew recall --user ada \"when is the meeting?\"",
    .options = options,
    .run = run,
};
