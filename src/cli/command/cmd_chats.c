/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_chats.c - list chats and read one.
 */
#include "base/json.h"
#include "base/limits.h"
#include "base/one_line.h"
#include "cli/core/cli.h"
#include "cli/show/lineage_tree.h"
#include "cli/show/show.h"

#include <stdio.h>

static const struct arg_option list_options[] = {
    {"user", 'U', "ID", NULL, "only this user's"},
    {"query", 'q', "WORDS", NULL, "with these words in title or summary"},
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {"cursor", 0, "CURSOR", NULL, "the next page"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_list(struct cli *cli, const json_t *answer,
                                  struct clew_error *err)
{
    static const struct output_column columns[] = {
        {"CHAT", false}, {"TURNS", true}, {"LAST", false}, {"TITLE", false}};
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "id");
    const char **cells;
    const json_t *chat;
    size_t i;

    cells =
        arena_zero(&cli->arena, 4 * json_array_size(items) + 1, sizeof(*cells));
    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, chat) {
        cells[4 * i] = show_id(cli, cli_field(chat, "id"), width);
        cells[4 * i + 1] = show_number(cli, chat, "last_seq");
        cells[4 * i + 2] = cli_when(cli, chat, "last_activity_at");
        cells[4 * i + 3] = cli_field(chat, "title");
    }
    output_table(&cli->out, columns, 4, cells, json_array_size(items));
    if (json_array_size(items) == 0) {
        (void)fputs("no chats\n", stderr);
    }
    show_more(answer);
    return CLEW_OK;
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    char *path = NULL;
    enum clew_status status = cli_page(cli, "/api/v1/chats", &path, err);

    if (status != CLEW_OK) {
        return status;
    }
    path = cli_query(cli, path, "user_id", args_str(&cli->args, "user"));
    path = cli_query(cli, path, "q", args_str(&cli->args, "query"));
    return cli_show(cli, "GET", path, NULL, show_list, err);
}

const struct command command_chats = {
    .name = "chats",
    .operands = "",
    .summary = "list chats, newest first",
    .example = "clew chats --user ada",
    .options = list_options,
    .run = run_list,
};

static const struct arg_option history_options[] = {
    {"after", 0, "SEQ", NULL, "from the turn after this one"},
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {"show-secrets", 0, NULL, NULL, "as they were said, not starred"},
    {NULL, 0, NULL, NULL, NULL},
};

static void show_turn(struct cli *cli, const json_t *turn)
{
    const char *name = cli_field(turn, "name");

    (void)fprintf(cli->out.file, "%s  ", show_number(cli, turn, "seq"));
    output_line(&cli->out, OUTPUT_BOLD,
                str_of(name[0] ? name : cli_field(turn, "role")),
                ONE_LINE_NAME_CHARS);
    (void)fputs("  ", cli->out.file);
    output_text(&cli->out, OUTPUT_DIM,
                str_of(cli_when(cli, turn, "created_at")));
    (void)fputc('\n', cli->out.file);
    output_text(&cli->out, OUTPUT_PLAIN, str_of(cli_field(turn, "text")));
    (void)fputs("\n\n", cli->out.file);
}

/* The id is no chat's: a memory's has a history too. */
static enum clew_status show_lineage(struct cli *cli, struct clew_error *err)
{
    enum clew_status status = cli_show(
        cli, "GET",
        cli_path(cli, "/api/v1/memories", cli->args.operands[0], "/lineage"),
        NULL, lineage_tree_show, err);

    return status == CLEW_NOT_FOUND
               ? clew_fail(err, CLEW_NOT_FOUND,
                           "there is no such chat or memory")
               : status;
}

static enum clew_status show_turns(struct cli *cli, const json_t *answer,
                                   struct clew_error *err)
{
    const json_t *turn;
    size_t i;

    (void)err;
    json_array_foreach (json_object_get(answer, "items"), i, turn) {
        show_turn(cli, turn);
    }
    return CLEW_OK;
}

static enum clew_status run_history(struct cli *cli, struct clew_error *err)
{
    int64_t limit = LIMIT_PAGE_DEFAULT;
    int64_t after = 0;
    enum clew_status status;
    char *path;

    status = args_int(&cli->args, "limit", 1, LIMIT_PAGE_MAX, &limit, err);
    if (status == CLEW_OK) {
        status = args_int(&cli->args, "after", 0, INT64_MAX, &after, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    path = cli_path(cli, "/api/v1/chats", cli->args.operands[0], "/turns");
    path = cli_query(cli, path, "limit",
                     arena_printf(&cli->arena, "%lld", (long long)limit));
    path = cli_query(cli, path, "after_seq",
                     arena_printf(&cli->arena, "%lld", (long long)after));
    path = cli_query(cli, path, "secrets",
                     args_has(&cli->args, "show-secrets") ? "show" : NULL);
    status = cli_show(cli, "GET", path, NULL, show_turns, err);
    return status == CLEW_NOT_FOUND ? show_lineage(cli, err) : status;
}

const struct command command_history = {
    .name = "history",
    .operands = "CHAT|MEMORY",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "read a chat through its forks, or draw a memory's lineage",
    .example = "clew history 0199c1d2-7a00 --after 40",
    .options = history_options,
    .run = run_history,
};
