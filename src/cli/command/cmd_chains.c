/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_chains.c - draw the chains of a chat, a session or a user as a timeline.
 *
 * One column per chain, one row per update: "o" begins a chain, "|" runs past,
 * "*" extends, "x" concludes, "<" takes another chain in.
 */
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LANES 12
#define MAX_ROWS 2000

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "only this user's"},
    {"session", 'S', "SESSION", NULL, "only this session's"},
    {"state", 's', "STATE", NULL, "only active, dormant or concluded ones"},
    {NULL, 0, NULL, NULL, NULL},
};

struct row {
    const char *at;
    const char *when; /* the same for people */
    const char *type;
    const char *reasoning;
    size_t order; /* as they came, where times are equal */
    size_t lane;
};

struct timeline {
    struct row rows[MAX_ROWS];
    size_t n_rows;
    size_t n_lanes;
    size_t first[MAX_LANES]; /* rows a lane begins and ends with */
    size_t last[MAX_LANES];
};

static int by_time(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int cmp = strcmp(x->at, y->at);

    if (cmp != 0) {
        return cmp;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static void add_rows(struct cli *cli, struct timeline *line,
                     const json_t *chain, size_t lane)
{
    const json_t *update;
    size_t i;

    json_array_foreach (json_object_get(chain, "updates"), i, update) {
        if (line->n_rows < MAX_ROWS) {
            line->rows[line->n_rows] =
                (struct row){cli_field(update, "created_at"),
                             cli_date(cli, update, "created_at", true),
                             cli_field(update, "type"),
                             cli_field(update, "reasoning"),
                             line->n_rows,
                             lane};
            line->n_rows++;
        }
    }
}

static char mark_of(const char *type)
{
    switch (type[0]) {
    case 'e':
        return '*';
    case 'm':
        return '<';
    default:
        return strcmp(type, "conclude") == 0 ? 'x' : 'o';
    }
}

static void draw(struct cli *cli, struct timeline *line)
{
    qsort(line->rows, line->n_rows, sizeof(line->rows[0]), by_time);
    for (size_t i = 0; i < line->n_rows; i++) {
        size_t lane = line->rows[i].lane;

        line->last[lane] = i;
        if (line->first[lane] == SIZE_MAX) {
            line->first[lane] = i;
        }
    }
    for (size_t i = 0; i < line->n_rows; i++) {
        const struct row *row = &line->rows[i];
        char lanes[2 * MAX_LANES + 1] = {0};

        for (size_t l = 0; l < line->n_lanes; l++) {
            bool is_open = line->first[l] <= i && i <= line->last[l];

            lanes[2 * l] = row->lane == l ? mark_of(row->type)
                           : is_open      ? '|'
                                          : ' ';
            lanes[2 * l + 1] = ' ';
        }
        output_text(&cli->out, OUTPUT_DIM, str_of(row->when));
        (void)fputs("  ", cli->out.file);
        output_text(&cli->out, OUTPUT_NAME, str_of(lanes));
        (void)fputc(' ', cli->out.file);
        output_line(&cli->out, OUTPUT_PLAIN, str_of(row->reasoning),
                    cli->out.width > 18 + 2 * line->n_lanes + 20
                        ? cli->out.width - 19 - 2 * line->n_lanes
                        : 20);
        (void)fputc('\n', cli->out.file);
    }
}

/* Read each chain and draw them all, the oldest to the left. */
static enum clew_status show(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    size_t count = json_array_size(items);
    json_t *details[MAX_LANES] = {NULL};
    struct timeline *line = arena_zero(&cli->arena, 1, sizeof(*line));
    enum clew_status status = CLEW_OK;

    if (!line) {
        return clew_no_memory(err);
    }
    line->n_lanes = count < MAX_LANES ? count : MAX_LANES;
    memset(line->first, 0xff, sizeof(line->first));
    for (size_t i = 0; i < line->n_lanes && status == CLEW_OK; i++) {
        const json_t *chain = json_array_get(items, line->n_lanes - 1 - i);
        char *path =
            cli_path(cli, "/api/v1/chains", cli_field(chain, "id"), "");

        status = cli_call(cli, "GET", path, NULL, &details[i], err);
        if (status == CLEW_OK) {
            add_rows(cli, line, details[i], i);
        }
    }
    if (status == CLEW_OK) {
        draw(cli, line);
    }
    for (size_t i = 0; i < line->n_lanes && status == CLEW_OK; i++) {
        size_t width = show_id_columns(items, "id");

        output_line(&cli->out, OUTPUT_BOLD,
                    str_of(cli_field(details[i], "topic")),
                    cli->out.width - width - 30);
        (void)fprintf(cli->out.file, "  %s, %s, %s\n",
                      show_id(cli, cli_field(details[i], "id"), width),
                      cli_field(details[i], "state"),
                      show_count(cli,
                                 json_integer_value(json_object_get(
                                     details[i], "claim_count")),
                                 "claims"));
    }
    for (size_t i = 0; i < MAX_LANES; i++) {
        json_decref(details[i]);
    }
    return status;
}

static enum clew_status run_chains(struct cli *cli, struct clew_error *err)
{
    const char *chat = cli->args.n_operands ? cli->args.operands[0] : NULL;
    char *path = arena_string(&cli->arena, "/api/v1/chains?limit=50");

    path = cli_query(cli, path, "chat_id", chat);
    path = cli_query(cli, path, "user_id", args_str(&cli->args, "user"));
    path = cli_query(cli, path, "session_id", args_str(&cli->args, "session"));
    path = cli_query(cli, path, "state", args_str(&cli->args, "state"));
    return cli_show(cli, "GET", path, NULL, show, err);
}

const struct command command_chains = {
    .name = "chains",
    .operands = "[CHAT]",
    .max_operands = 1,
    .summary = "draw what was talked about as a timeline of chains",
    .example = "clew chains 0199c1d2-7a00",
    .options = options,
    .run = run_chains,
};
