/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_forget.c - `clew forget`: says what would go, and removes it if told to.
 *
 * --yes tells it, or who sits at the terminal when asked; a script is never
 * asked and without --yes removes nothing.
 */
#include "base/json.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct arg_option options[] = {
    {"turn", 0, "TURN", NULL, "this turn; may be repeated"},
    {"memory", 0, "MEMORY", NULL, "this memory; may be repeated"},
    {"external-id", 0, "ID", NULL, "the turn with your id; may be repeated"},
    {"chat", 'C', "CHAT", NULL, "this chat"},
    {"user", 'U', "ID", NULL, "everything of this user"},
    {"dry-run", 0, NULL, NULL, "only say what would go, and do not ask"},
    {"yes", 'y', NULL, NULL, "do it without asking"},
    {NULL, 0, NULL, NULL, NULL},
};

/* Every value of an option as a list; nothing if it was not given. */
static bool set_list(const struct cli *cli, json_t *body, const char *field,
                     const char *option)
{
    json_t *list = args_has(&cli->args, option) ? json_array() : NULL;
    const char *value;

    if (!list) {
        return !args_has(&cli->args, option);
    }
    for (size_t i = 0; (value = args_nth(&cli->args, option, i)); i++) {
        if (json_array_append_new(list, json_string(value)) != 0) {
            json_decref(list);
            return false;
        }
    }
    return json_set(body, field, list);
}

static bool is_nothing(json_t *forgotten)
{
    const char *what;
    json_t *count;

    json_object_foreach (forgotten, what, count) {
        if (json_integer_value(count) > 0) {
            return false;
        }
    }
    return true;
}

/* Nothing of a user is done as well, but a name may be mistyped. */
static enum clew_status show(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const char *user = args_str(&cli->args, "user");
    enum clew_status status = show_forgotten(cli, answer, err);

    if (status == CLEW_OK && user &&
        is_nothing(json_object_get(answer, "forgotten"))) {
        output_note("nothing is kept of \"%.60s\"; \"clew users\" lists those "
                    "who speak here",
                    user);
    }
    return status;
}

/* Say what goes, or remove it. */
static enum clew_status forget(struct cli *cli, bool is_dry,
                               struct clew_error *err)
{
    json_t *body = json_object();

    if (!body || !set_list(cli, body, "turn_ids", "turn") ||
        !set_list(cli, body, "memory_ids", "memory") ||
        !set_list(cli, body, "external_ids", "external-id") ||
        !cli_set_option(cli, body, "chat_id", "chat") ||
        !cli_set_option(cli, body, "user_id", "user") ||
        !json_set_bool(body, "dry_run", is_dry)) {
        json_decref(body);
        return clew_fail(err, CLEW_INVALID, "ids must be valid UTF-8");
    }
    if (json_object_size(body) == 1) {
        json_decref(body);
        return clew_fail(err, CLEW_INVALID,
                         "say what: --turn, --memory, --external-id, --chat or "
                         "--user");
    }
    return cli_show(cli, "POST", "/api/v1/forget", body, show, err);
}

/* Whoever reads what would go and can answer. */
static bool is_asked(const struct cli *cli)
{
    return !cli->as_json && !args_has(&cli->args, "dry-run") &&
           cli->out.is_terminal && isatty(STDIN_FILENO);
}

/* Anything but a yes is a no, and so is the end of the input. */
static bool says_yes(struct cli *cli)
{
    char answer[16];

    (void)fputs("Forget this for good? [y/N] ", cli->out.file);
    (void)fflush(cli->out.file);
    if (!fgets(answer, sizeof(answer), stdin)) {
        (void)fputc('\n', cli->out.file);
        return false;
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return str_ieq(str_of(answer), STR("y")) ||
           str_ieq(str_of(answer), STR("yes"));
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    bool is_told = args_has(&cli->args, "yes");
    enum clew_status status;

    if (is_told && args_has(&cli->args, "dry-run")) {
        return clew_fail(err, CLEW_INVALID,
                         "--yes and --dry-run exclude each "
                         "other");
    }
    status = forget(cli, !is_told, err);
    if (status != CLEW_OK || is_told) {
        return status;
    }
    if (is_asked(cli) && says_yes(cli)) {
        return forget(cli, false, err);
    }
    (void)fputs("nothing was forgotten; --yes does it\n", stderr);
    return CLEW_OK;
}

const struct command command_forget = {
    .name = "forget",
    .operands = "",
    .summary = "remove turns with all that was drawn from them, for good",
    .example = "clew forget --chat 0199c1d2-7a00 --yes",
    .options = options,
    .run = run,
};
