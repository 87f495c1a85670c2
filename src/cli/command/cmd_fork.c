/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fork.c - fork a chat, and see the tree that forks make.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

static const struct arg_option fork_options[] = {
    {"at", 0, "SEQ", NULL, "after this turn (default: the last)"},
    {"title", 0, "TITLE", NULL, "title of the new chat"},
    {NULL, 0, NULL, NULL, NULL},
};

static enum clew_status show_fork(struct cli *cli, const json_t *answer,
                                  struct clew_error *err)
{
    const json_t *chat = json_object_get(answer, "chat");

    (void)err;
    output_text(&cli->out, OUTPUT_NAME,
                str_of(cli_field(chat ? chat : answer, "id")));
    (void)fputc('\n', cli->out.file);
    return CLEW_OK;
}

static enum clew_status run_fork(struct cli *cli, struct clew_error *err)
{
    int64_t at_seq = -1;
    json_t *body = json_object();
    enum clew_status status =
        args_int(&cli->args, "at", 0, INT64_MAX, &at_seq, err);

    if (status == CLEW_OK &&
        (!body || !cli_set_option(cli, body, "title", "title") ||
         (at_seq >= 0 && !json_set_int(body, "at_seq", at_seq)))) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        json_decref(body);
        return status;
    }
    return cli_show(
        cli, "POST",
        cli_path(cli, "/api/v1/chats", cli->args.operands[0], "/fork"), body,
        show_fork, err);
}

const struct command command_fork = {
    .name = "fork",
    .operands = "CHAT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "start a chat that shares another's history up to a turn",
    .example = "clew fork 0199c1d2-7a00 --at 12",
    .options = fork_options,
    .run = run_fork,
};

static void show_node(struct cli *cli, const json_t *chat, const char *indent,
                      const char *joint, size_t width)
{
    json_int_t last = json_integer_value(json_object_get(chat, "last_seq"));
    json_int_t fork = json_integer_value(json_object_get(chat, "fork_seq"));

    (void)fprintf(cli->out.file, "%s%s", indent, joint);
    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(chat, "id"), width)));
    if (last == fork + 1) {
        (void)fprintf(cli->out.file, "  turn %lld  ", (long long)last);
    } else if (last > fork) {
        (void)fprintf(cli->out.file, "  turns %lld-%lld  ",
                      (long long)(fork + 1), (long long)last);
    } else {
        (void)fprintf(cli->out.file, "  at %lld  ", (long long)fork);
    }
    output_line(&cli->out, OUTPUT_PLAIN, str_of(cli_field(chat, "title")), 50);
    (void)fputc('\n', cli->out.file);
}

/* The chats whose parent is `parent`, each with its own below it. */
static void show_children(struct cli *cli, const json_t *items,
                          const char *parent, const char *indent, int depth)
{
    const json_t *last = NULL;
    const json_t *chat;
    size_t i;

    json_array_foreach (items, i, chat) {
        if (strcmp(cli_field(chat, "parent_id"), parent) == 0) {
            last = chat;
        }
    }
    json_array_foreach (items, i, chat) {
        bool is_root = parent[0] == '\0';
        const char *deeper;

        if (strcmp(cli_field(chat, "parent_id"), parent) != 0) {
            continue;
        }
        show_node(cli, chat, indent,
                  is_root ? "" : (chat == last ? "└─ " : "├─ "),
                  show_id_columns(items, "id"));
        deeper = arena_printf(&cli->arena, "%s%s", indent,
                              is_root ? "" : (chat == last ? "   " : "│  "));
        if (deeper && depth < LIMIT_FORK_DEPTH) {
            show_children(cli, items, cli_field(chat, "id"), deeper, depth + 1);
        }
    }
}

enum clew_status show_chat_tree(struct cli *cli, const json_t *answer,
                                struct clew_error *err)
{
    (void)err;
    show_children(cli, json_object_get(answer, "items"), "", "", 0);
    return CLEW_OK;
}

static enum clew_status run_tree(struct cli *cli, struct clew_error *err)
{
    char *path = cli_path(cli, "/api/v1/chats", cli->args.operands[0], "/tree");

    return cli_show(cli, "GET", path, NULL, show_chat_tree, err);
}

const struct command command_tree = {
    .name = "tree",
    .operands = "CHAT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "show the chats that share history with one",
    .example = "clew tree 0199c1d2-7a00",
    .run = run_tree,
};
