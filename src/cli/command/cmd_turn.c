/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_turn.c - keep one message.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/core/typed.h"

#include <stdio.h>

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "whose conversation it is (default \"me\")"},
    {"role", 'r', "ROLE", NULL, "user (default), assistant, system or tool"},
    {"chat", 'C', "CHAT", NULL, "put it in this chat"},
    {"channel", 0, "NAME", NULL, "how it came: web, sms, email ..."},
    {"name", 'n', "NAME", NULL, "the speaker, if there are several"},
    {"at", 0, "TIME", NULL, "when it was said (RFC 3339; default now)"},
    {"timezone", 0, "ZONE", NULL,
     "the speaker's time zone (default: this machine's)"},
    {"external-id", 0, "ID", NULL, "your id: the same again stores nothing"},
    {NULL, 0, NULL, NULL, NULL},
};

static json_t *body_of(struct cli *cli, struct str text)
{
    const char *user = args_str(&cli->args, "user");
    const char *role = args_str(&cli->args, "role");
    json_t *body = json_object();

    if (body && json_set_cstr(body, "user_id", user ? user : "me") &&
        json_set_cstr(body, "role", role ? role : "user") &&
        json_set_str(body, "content", text) &&
        cli_set_option(cli, body, "chat_id", "chat") &&
        cli_set_option(cli, body, "channel", "channel") &&
        cli_set_option(cli, body, "name", "name") &&
        cli_set_option(cli, body, "created_at", "at") &&
        typed_set_zone(cli, body) &&
        cli_set_option(cli, body, "external_id", "external-id")) {
        return body;
    }
    json_decref(body);
    return NULL;
}

static enum clew_status show(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const json_t *turn = json_object_get(answer, "turn");
    const json_t *notices = json_object_get(answer, "notices");
    const json_t *notice;
    size_t i;

    (void)err;
    (void)fprintf(cli->out.file, "kept as turn %lld of chat ",
                  (long long)json_integer_value(json_object_get(turn, "seq")));
    output_text(&cli->out, OUTPUT_NAME, str_of(cli_field(turn, "chat_id")));
    (void)fputc('\n', cli->out.file);
    json_array_foreach (notices, i, notice) {
        output_line(&cli->out, OUTPUT_DIM, str_of(json_string_value(notice)),
                    0);
        (void)fputc('\n', cli->out.file);
    }
    if (json_array_size(notices) == 0 && cli_is_here(cli)) {
        cli_note_unread(cli); /* it waits behind others, or says nothing */
    }
    return CLEW_OK;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    enum clew_status status;
    json_t *body;
    struct str text;

    status = cli_text(cli, 0, LIMIT_BODY_BYTES, &text, err);
    if (status != CLEW_OK) {
        return status;
    }
    body = body_of(cli, text);
    if (!body) {
        return clew_fail(err, CLEW_INVALID,
                         "the text must be valid UTF-8 without NUL");
    }
    return cli_show(cli, "POST", "/api/v1/turns", body, show, err);
}

const struct command command_turn = {
    .name = "turn",
    .operands = "TEXT|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "keep one message; \"-\" reads it from the standard input",
    .example = "clew turn --user ada \"the meeting moved to Friday\"",
    .options = options,
    .run = run,
    .makes_store = true,
};
