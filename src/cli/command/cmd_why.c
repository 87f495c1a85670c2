/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_why.c - `clew why`: what was decided, on what, and how sure.
 *
 * Of a turn or a call that is its trace; of what was made of turns, the thing
 * itself as it stands now, what happened to it, and what was seen in its turns.
 */
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <string.h>

/* Turns of a memory that are told of. */
#define MAX_SEEN 5

/* "resolved, just now, by hand", "resolved, 2 h ago, turn 3, 99 % sure" */
static void show_changes(struct cli *cli, const json_t *changes)
{
    const json_t *change;
    size_t i;

    if (json_array_size(changes) > 0) {
        show_heading(cli, "What happened to it");
    }
    json_array_foreach (changes, i, change) {
        bool is_by_hand = json_is_true(json_object_get(change, "by_hand"));
        double sure =
            100 * json_number_value(json_object_get(change, "confidence"));
        const char *text =
            is_by_hand
                ? "by hand"
                : arena_printf(&cli->arena, "by turn %s%s",
                               show_number(cli, change, "seq"),
                               sure > 0 ? arena_printf(&cli->arena,
                                                       ", %.0f %% sure", sure)
                                        : "");

        text =
            arena_printf(&cli->arena, "%s, %s, %s", cli_field(change, "status"),
                         cli_when(cli, change, "at"), text ? text : "");
        show_paragraph(cli, "  - ", str_of(text ? text : ""));
    }
}

/* What the reader saw in one turn; without it, only what was said. */
static void show_turn(struct cli *cli, const json_t *turn)
{
    const char *name = cli_field(turn, "name");
    struct clew_error ignored = {0};
    json_t *trace = NULL;
    const json_t *reading;
    char *head =
        arena_printf(&cli->arena, "Turn %s of chat %s, %s, %s",
                     show_number(cli, turn, "seq"),
                     show_id(cli, cli_field(turn, "chat_id"), SHOW_ID_LONG),
                     name[0] ? name : cli_field(turn, "role"),
                     cli_when(cli, turn, "created_at"));

    show_heading(cli, head ? head : "");
    show_paragraph(cli, "  ", str_of(cli_field(turn, "text")));
    /* a trace may be gone: what was said is there */
    clew_ignore(cli_call(
        cli, "GET", cli_path(cli, "/api/v1/traces", cli_field(turn, "id"), ""),
        NULL, &trace, &ignored));
    reading = json_object_get(json_object_get(trace, "decisions"), "reading");
    if (reading) {
        show_reading(cli, reading);
    }
    json_decref(trace);
}

static enum clew_status show_memory_why(struct cli *cli, const json_t *memory,
                                        struct clew_error *err)
{
    const json_t *made_of = json_object_get(memory, "source_ids");
    json_t *source = NULL;
    const json_t *items;
    const json_t *id;
    size_t i;
    enum clew_status status = show_memory(cli, memory, err);

    json_array_foreach (made_of, i, id) {
        const char *text = json_string_value(id);

        show_paragraph(cli, "made of     ", str_of(text ? text : ""));
    }
    show_changes(cli,
                 json_object_get(json_object_get(memory, "fields"), "changes"));
    if (status == CLEW_OK) {
        status = cli_call(cli, "GET",
                          cli_path(cli, "/api/v1/memories",
                                   cli_field(memory, "id"), "/source"),
                          NULL, &source, err);
    }
    items = json_object_get(source, "items");
    for (i = 0; i < json_array_size(items) && i < MAX_SEEN; i++) {
        show_turn(cli, json_array_get(items, i));
    }
    if (status == CLEW_OK && json_array_size(items) == 0) {
        show_heading(cli, "No turn is behind it");
        show_paragraph(cli, "  ", STR("it was contributed or written by hand"));
    }
    json_decref(source);
    return status;
}

static const struct {
    const char *kind;
    const char *path;
    cli_show_fn show;
} subjects[] = {
    {"turn", "/api/v1/traces", show_why},
    {"request", "/api/v1/traces", show_why},
    {"memory", "/api/v1/memories", show_memory_why},
    {"link", "/api/v1/links", show_rated},
    {"chain", "/api/v1/chains", show_chain},
    {"episode", "/api/v1/episodes", show_episode},
};

/* What has the id; "" if nothing does. */
static enum clew_status kind_of(struct cli *cli, const char *id,
                                const char **out, struct clew_error *err)
{
    json_t *answer = NULL;
    enum clew_status status = cli_call(
        cli, "GET", cli_path(cli, "/api/v1/ids", id, ""), NULL, &answer, err);

    if (status == CLEW_OK) {
        const json_t *items = json_object_get(answer, "items");
        const char *kind = cli_field(json_array_get(items, 0), "kind");

        *out = arena_string(&cli->arena, kind);
        status = *out ? CLEW_OK : clew_no_memory(err);
    }
    json_decref(answer);
    return status;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    const char *id = cli->args.operands[0];
    const char *kind = "";
    enum clew_status status = kind_of(cli, id, &kind, err);

    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        if (strcmp(subjects[i].kind, kind) == 0) {
            return cli_show(cli, "GET", cli_path(cli, subjects[i].path, id, ""),
                            NULL, subjects[i].show, err);
        }
    }
    if (!kind[0]) {
        return clew_fail(err, CLEW_NOT_FOUND, "nothing has the id \"%.40s\"",
                         id);
    }
    return clew_fail(err, CLEW_INVALID,
                     "that is a %s: ask about one of its turns, \"clew why "
                     "CHAT:3\", or see \"clew links --chat CHAT\"",
                     kind);
}

const struct command command_why = {
    .name = "why",
    .operands = "TURN|CALL|MEMORY|EFFORT|LINK|CHAIN|EPISODE|CHAT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "say what was decided, on what, and how sure it is",
    .example = "clew why 0199c1d2-7a00:3",
    .run = run,
};
