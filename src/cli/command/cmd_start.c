/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_start.c - begin a conversation with what there is already.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "who begins (default \"me\")"},
    {"choose", 0, "ANSWER", NULL, "answer at once: 1, \"3, include 1,2\" ..."},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status choose(struct cli *cli, const char *id,
                               const char *choice, json_t **out_answer,
                               struct clew_error *err)
{
    json_t *body = json_object();

    if (!body || !json_set_cstr(body, "answer", choice)) {
        json_decref(body);
        return clew_fail(err, CLEW_INVALID, "the answer must be UTF-8");
    }
    return cli_call(cli, "POST", cli_path(cli, "/api/v1/start", id, "/choose"),
                    body, out_answer, err);
}

/* Print the outcome; false if the options are to be shown again. */
static bool show_choice(struct cli *cli, const json_t *answer)
{
    output_text(&cli->out, OUTPUT_PLAIN, str_of(cli_field(answer, "text")));
    (void)fputc('\n', cli->out.file);
    if (strcmp(cli_field(answer, "action"), "ask") == 0) {
        return false;
    }
    output_text(&cli->out, OUTPUT_NAME, str_of(cli_field(answer, "chat_id")));
    (void)fputc('\n', cli->out.file);
    return true;
}

/* Ask on the terminal until the answer is one. */
static enum clew_status ask(struct cli *cli, const char *id,
                            struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    bool is_done = false;
    char line[1024];

    while (status == CLEW_OK && !is_done) {
        json_t *answer = NULL;

        (void)fputs("> ", cli->out.file);
        (void)fflush(cli->out.file);
        if (!fgets(line, sizeof(line), stdin)) {
            return CLEW_OK;
        }
        line[strcspn(line, "\r\n")] = '\0';
        status = choose(cli, id, line, &answer, err);
        is_done = status == CLEW_OK && show_choice(cli, answer);
        json_decref(answer);
    }
    return status;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    const char *user = args_str(&cli->args, "user");
    const char *choice = args_str(&cli->args, "choose");
    json_t *answer = NULL;
    json_t *chosen = NULL;
    json_t *body = json_object();
    struct str intent;
    enum clew_status status = cli_text(cli, 0, LIMIT_BODY_BYTES, &intent, err);

    if (status == CLEW_OK &&
        (!body || !json_set_cstr(body, "user_id", user ? user : "me") ||
         !json_set_str(body, "intent", intent))) {
        status = clew_fail(err, CLEW_INVALID, "the text must be UTF-8");
    }
    if (status != CLEW_OK) {
        json_decref(body);
        return status;
    }
    status = cli_call(cli, "POST", "/api/v1/start", body, &answer, err);
    if (status == CLEW_OK && choice) {
        status = choose(cli, cli_field(answer, "id"), choice, &chosen, err);
    }
    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, chosen ? chosen : answer);
    } else if (status == CLEW_OK && chosen) {
        (void)show_choice(cli, chosen); /* asked once only */
    } else if (status == CLEW_OK) {
        output_text(&cli->out, OUTPUT_PLAIN, str_of(cli_field(answer, "text")));
        if (isatty(STDIN_FILENO)) {
            status = ask(cli, cli_field(answer, "id"), err);
        }
    }
    json_decref(chosen);
    json_decref(answer);
    return status;
}

const struct command command_start = {
    .name = "start",
    .operands = "TEXT|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "begin a conversation with what there is already",
    .example = "clew start \"I want to work on the payment integration\"",
    .options = options,
    .run = run,
    .makes_store = true,
};
