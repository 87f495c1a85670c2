/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_done.c - what was done, in a line or two: commands that change one thing
 * say which and how it is now. See show.h.
 */
#include "cli/core/typed.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

const char *show_count(struct cli *cli, int64_t n, const char *many)
{
    size_t len = strlen(many);
    const char *text;

    if (n == 1 && len > 3 && strcmp(many + len - 3, "ies") == 0) {
        text = arena_printf(&cli->arena, "1 %.*sy", (int)len - 3, many);
    } else if (n == 1 && len > 4 && strcmp(many + len - 4, "ches") == 0) {
        text = arena_printf(&cli->arena, "1 %.*s", (int)len - 2, many);
    } else if (n == 1 && len > 1 && many[len - 1] == 's') {
        text = arena_printf(&cli->arena, "1 %.*s", (int)len - 1, many);
    } else {
        text = arena_printf(&cli->arena, "%lld %s", (long long)n, many);
    }
    return text ? text : "";
}

static void name(struct cli *cli, const json_t *answer)
{
    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(answer, "id"), SHOW_ID_LONG)));
}

enum clew_status show_chat_done(struct cli *cli, const json_t *answer,
                                struct clew_error *err)
{
    const char *title = cli_field(answer, "title");
    const char *closed = cli_when(cli, answer, "closed_at");

    (void)err;
    (void)fputs("chat ", cli->out.file);
    name(cli, answer);
    if (closed[0]) {
        (void)fprintf(cli->out.file, ", closed %s", closed);
    }
    (void)fputc('\n', cli->out.file);
    if (title[0]) {
        show_paragraph(cli, "  ", str_of(title));
    }
    return CLEW_OK;
}

enum clew_status show_session_done(struct cli *cli, const json_t *answer,
                                   struct clew_error *err)
{
    (void)err;
    (void)fputs("session ", cli->out.file);
    name(cli, answer);
    (void)fprintf(cli->out.file, ", began %s, ended %s\n",
                  cli_when(cli, answer, "started_at"),
                  cli_when(cli, answer, "ended_at"));
    return CLEW_OK;
}

/* "12 turns, 1 memory": what there is any of. */
static const char *counts_of(struct cli *cli, const json_t *counts)
{
    const char *text = "";
    const char *field;
    json_t *count;

    json_object_foreach ((json_t *)(uintptr_t)counts, field, count) {
        char *what = arena_string(&cli->arena, field);

        for (char *at = what; at && *at; at++) {
            *at = *at == '_' ? ' ' : *at;
        }
        if (what && text && json_integer_value(count) > 0) {
            text =
                arena_printf(&cli->arena, "%s%s%s", text, text[0] ? ", " : "",
                             show_count(cli, json_integer_value(count), what));
        }
    }
    return text && text[0] ? text : "nothing";
}

enum clew_status show_forgotten(struct cli *cli, const json_t *answer,
                                struct clew_error *err)
{
    bool is_dry = json_is_true(json_object_get(answer, "dry_run"));
    const char *remains = cli_field(answer, "remains");
    const char *receipt = cli_field(answer, "receipt_id");

    (void)err;
    show_paragraph(
        cli, is_dry ? "would be forgotten: " : "forgotten: ",
        str_of(counts_of(cli, json_object_get(answer, "forgotten"))));
    if (remains[0]) {
        show_paragraph(cli, "remains: ", str_of(remains));
    }
    if (receipt[0]) {
        (void)fprintf(cli->out.file, "receipt: %s\n", receipt);
    }
    return CLEW_OK;
}
