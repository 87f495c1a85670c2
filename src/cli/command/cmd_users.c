/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_users.c - who speaks here, and how long their silence may be.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"
#include "engine/chat/timeout.h"

#include <stdio.h>
#include <string.h>

static const struct arg_option list_options[] = {
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {"cursor", 0, "CURSOR", NULL, "the next page"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_list(struct cli *cli, const json_t *answer,
                                  struct clew_error *err)
{
    static const struct output_column columns[] = {{"USER", false},
                                                   {"CHATS", true},
                                                   {"TURNS", true},
                                                   {"TIMEOUT", true},
                                                   {"LAST", false}};
    const json_t *items = json_object_get(answer, "items");
    const char **cells;
    const json_t *user;
    size_t i;

    cells =
        arena_zero(&cli->arena, 5 * json_array_size(items) + 1, sizeof(*cells));
    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, user) {
        cells[5 * i] = cli_field(user, "user_id");
        cells[5 * i + 1] = show_number(cli, user, "chats");
        cells[5 * i + 2] = show_number(cli, user, "turns");
        cells[5 * i + 3] = show_number(cli, user, "inactivity_minutes");
        cells[5 * i + 4] = cli_when(cli, user, "last_activity_at");
    }
    output_table(&cli->out, columns, 5, cells, json_array_size(items));
    show_more(answer);
    return CLEW_OK;
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    char *path = NULL;
    enum clew_status status = cli_page(cli, "/api/v1/users", &path, err);

    if (status != CLEW_OK) {
        return status;
    }
    return cli_show(cli, "GET", path, NULL, show_list, err);
}

const struct command command_users = {
    .name = "users",
    .operands = "",
    .summary = "list those who speak here, with their timeouts",
    .example = "clew users",
    .options = list_options,
    .run = run_list,
};

static enum clew_status show_timeout(struct cli *cli, const json_t *answer,
                                     struct clew_error *err)
{
    const char *minutes = show_number(cli, answer, "inactivity_minutes");

    (void)err;
    output_text(&cli->out, OUTPUT_BOLD, str_of(cli_field(answer, "user_id")));
    (void)fprintf(cli->out.file, "  %s%s\n",
                  minutes[0] ? minutes : "the channel's timeout",
                  minutes[0] ? " minutes" : "");
    return CLEW_OK;
}

/* "default", or whole minutes. */
static enum clew_status read_minutes(const char *text, json_t **out,
                                     struct clew_error *err)
{
    long long minutes = 0;
    char rest = '\0';

    if (strcmp(text, "default") == 0) {
        *out = json_null();
        return CLEW_OK;
    }
    if (sscanf(text, "%lld%c", &minutes, &rest) != 1 || minutes < 1 ||
        minutes > TIMEOUT_MAX_MINUTES) {
        return clew_fail(err, CLEW_INVALID,
                         "minutes must be 1 to %d, or \"default\"",
                         TIMEOUT_MAX_MINUTES);
    }
    *out = json_integer(minutes);
    return *out ? CLEW_OK : clew_no_memory(err);
}

static enum clew_status run_timeout(struct cli *cli, struct clew_error *err)
{
    json_t *body = json_object();
    json_t *minutes = NULL;
    enum clew_status status =
        read_minutes(cli->args.operands[1], &minutes, err);

    if (status == CLEW_OK &&
        (!body || !json_set(body, "inactivity_minutes", minutes))) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        json_decref(body);
        return status;
    }
    return cli_show(cli, "PATCH",
                    cli_path(cli, "/api/v1/users", cli->args.operands[0], ""),
                    body, show_timeout, err);
}

const struct command command_users_timeout = {
    .name = "users timeout",
    .operands = "USER MINUTES|default",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "how long a user's silence may be before a session ends",
    .example = "clew users timeout ada 90",
    .run = run_timeout,
};
