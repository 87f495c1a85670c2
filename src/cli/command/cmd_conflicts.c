/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_conflicts.c - memories that disagree, and taking back what one source
 * contributed.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>

/* --- clew conflicts --------------------------------------------------------
 */

static const struct arg_option list_options[] = {
    {"user", 'U', "ID", NULL, "only this user's"},
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {NULL, 0, NULL, NULL, NULL},
};

static void show_side(struct cli *cli, const json_t *side)
{
    (void)fputs("   ", cli->out.file);
    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(side, "id"), SHOW_ID_LONG)));
    (void)fprintf(cli->out.file, ", %s\n", cli_when(cli, side, "created_at"));
    show_paragraph(cli, "      ", str_of(cli_field(side, "summary")));
}

static void show_conflict(struct cli *cli, const json_t *item)
{
    const json_t *suggestion = json_object_get(item, "suggestion");
    const char *subject = cli_field(item, "subject");
    const char *attribute = cli_field(item, "attribute");
    FILE *file = cli->out.file;

    output_text(&cli->out, OUTPUT_BOLD, str_of(cli_field(item, "user_id")));
    if (subject[0]) {
        (void)fprintf(file, ": %s%s%s", subject, attribute[0] ? ", " : "",
                      attribute);
    }
    (void)fputc('\n', file);
    show_side(cli, json_object_get(item, "older"));
    show_side(cli, json_object_get(item, "newer"));
    (void)fputs("   if the newer holds:\n", file);
    output_command(
        &cli->out, "      ",
        str_of(arena_printf(
            &cli->arena, "clew brain refine %s %s",
            show_id(cli, cli_field(suggestion, "refines"), SHOW_ID_LONG),
            show_word(cli, cli_field(suggestion, "prompt")))));
}

static enum clew_status show_conflicts(struct cli *cli, const json_t *answer,
                                       struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    const json_t *item;
    size_t i;

    (void)err;
    json_array_foreach (items, i, item) {
        show_conflict(cli, item);
    }
    if (json_array_size(items) == 0) {
        (void)fputs("no conflicts\n", stderr);
    }
    return CLEW_OK;
}

static enum clew_status run_conflicts(struct cli *cli, struct clew_error *err)
{
    int64_t limit = LIMIT_PAGE_DEFAULT;
    char *path;
    enum clew_status status =
        args_int(&cli->args, "limit", 1, LIMIT_PAGE_MAX, &limit, err);

    if (status != CLEW_OK) {
        return status;
    }
    path = arena_printf(&cli->arena, "/api/v1/conflicts?limit=%lld",
                        (long long)limit);
    path = cli_query(cli, path, "user_id", args_str(&cli->args, "user"));
    status = cli_show(cli, "GET", path, NULL, show_conflicts, err);
    if (status == CLEW_OK) {
        cli_note_unread(cli);
    }
    return status;
}

const struct command command_conflicts = {
    .name = "conflicts",
    .operands = "",
    .summary = "list memories that disagree, and how to settle it",
    .example = "clew conflicts --user ada",
    .options = list_options,
    .run = run_conflicts,
};

/* --- clew undo -------------------------------------------------------------
 */

static const struct arg_option undo_options[] = {
    {"from", 0, "AGENT", NULL, "what this agent, or key, contributed"},
    {"since", 0, "TIME", NULL, "from this moment on"},
    {"dry-run", 0, NULL, NULL, "only say what would be taken back"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_undone(struct cli *cli, const json_t *answer,
                                    struct clew_error *err)
{
    (void)err;
    (void)fprintf(
        cli->out.file, "%zu %s%s\n",
        json_array_size(json_object_get(answer, "retracted")),
        args_has(&cli->args, "dry-run") ? "would be taken back" : "taken back",
        json_is_true(json_object_get(answer, "more")) ? "; there are more"
                                                      : "");
    return CLEW_OK;
}

static enum clew_status run_undo(struct cli *cli, struct clew_error *err)
{
    json_t *body;

    if (!args_has(&cli->args, "from") || !args_has(&cli->args, "since")) {
        return clew_fail(err, CLEW_INVALID,
                         "--from AGENT and --since TIME are needed");
    }
    body = json_object();
    if (!cli_set_option(cli, body, "from", "from") ||
        !cli_set_option(cli, body, "since", "since") ||
        !json_set_bool(body, "dry_run", args_has(&cli->args, "dry-run"))) {
        json_decref(body);
        return clew_fail(err, CLEW_INVALID, "--from must be valid UTF-8");
    }
    return cli_show(cli, "POST", "/api/v1/memories/undo", body, show_undone,
                    err);
}

const struct command command_undo = {
    .name = "undo",
    .operands = "",
    .summary = "take back all that an agent or a key contributed",
    .example = "clew undo --from scraper --since 2026-05-01T00:00:00Z",
    .options = undo_options,
    .run = run_undo,
};
