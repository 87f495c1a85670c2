/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_context.c - what the next turn of a chat needs to know.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"

#include <stdio.h>

static const struct arg_option options[] = {
    {"budget", 'b', "TOKENS", NULL, "at most this many (default 4000)"},
    {"message", 'm', "TEXT", NULL, "the message at hand: adds what it recalls"},
    {"format", 'f', "FORM", NULL, "text (default), openai or anthropic"},
    {"explain", 'e', NULL, NULL, "say where each section comes from"},
    {NULL, 0, NULL, NULL, NULL},
};

static void explain(struct cli *cli, const json_t *answer)
{
    const json_t *section;
    size_t i;

    (void)fprintf(
        cli->out.file, "\ntokens %lld, block %.16s%s\n",
        (long long)json_integer_value(json_object_get(answer, "tokens")),
        cli_field(answer, "hash"),
        json_is_true(json_object_get(answer, "cached")) ? ", cached" : "");
    json_array_foreach (json_object_get(answer, "sections"), i, section) {
        const json_t *source;
        size_t k;

        (void)fprintf(
            cli->out.file, "%s: %lld tokens\n", cli_field(section, "name"),
            (long long)json_integer_value(json_object_get(section, "tokens")));
        json_array_foreach (json_object_get(section, "sources"), k, source) {
            (void)fputs("  ", cli->out.file);
            output_line(&cli->out, OUTPUT_DIM,
                        str_of(json_string_value(source)), 0);
            (void)fputc('\n', cli->out.file);
        }
    }
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    int64_t budget = 4000;
    json_t *answer = NULL;
    json_t *body = json_object();
    enum clew_status status =
        args_int(&cli->args, "budget", 64, 1000000, &budget, err);

    if (status == CLEW_OK &&
        (!body || !json_set_int(body, "budget_tokens", budget) ||
         !cli_set_option(cli, body, "message", "message") ||
         !cli_set_option(cli, body, "format", "format"))) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        json_decref(body);
        return status;
    }
    status = cli_call(
        cli, "POST",
        cli_path(cli, "/api/v1/chats", cli->args.operands[0], "/context"), body,
        &answer, err);
    if (status == CLEW_OK &&
        (cli->as_json || !json_object_get(answer, "text"))) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        output_text(&cli->out, OUTPUT_PLAIN, str_of(cli_field(answer, "text")));
        if (args_has(&cli->args, "explain")) {
            explain(cli, answer);
        }
    }
    json_decref(answer);
    return status;
}

const struct command command_context = {
    .name = "context",
    .operands = "CHAT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "show what the next turn of a chat needs to know",
    .example = "clew context 0199c1d2-7a00 --explain",
    .options = options,
    .run = run,
};
