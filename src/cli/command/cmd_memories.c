/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_memories.c - `clew memories` lists what was kept.
 *
 * A type is one of clew's own, a package's, or one that some memory has; the
 * store is asked only for a word that is none of the first.
 */
#include "base/near.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"

#include <string.h>

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "whose"},
    {"type", 0, "TYPE", NULL, "fact, event, decision, effort, thought, skill"},
    {"status", 0, "STATUS", NULL,
     "active, open, resolved, abandoned, retracted"},
    {"tag", 0, "TAG", NULL, "with this tag"},
    {"chat", 'C', "CHAT", NULL, "drawn from this chat"},
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},
    {"cursor", 0, "CURSOR", NULL, "go on where the last list ended"},
    {NULL, 0, NULL, NULL, NULL},
};

static const char *const own_types[] = {
    "fact",    "preference",  "event",  "decision", "effort",
    "thought", "instruction", "report", "skill",    NULL};

/* Types that are told of at most, and NULL. */
#define MAX_TYPES 40
struct types {
    const char *names[MAX_TYPES + 1];
    size_t n;
};

static bool has_type(const struct types *types, const char *name)
{
    for (size_t i = 0; i < types->n; i++) {
        if (strcmp(types->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_type(struct cli *cli, struct types *types, const char *name)
{
    char *copy = arena_string(&cli->arena, name);

    if (copy && types->n < MAX_TYPES && !has_type(types, copy)) {
        types->names[types->n++] = copy;
    }
}

/* Those of the packages in use and of the memories there are. */
static enum clew_status add_stored(struct cli *cli, struct types *types,
                                   struct clew_error *err)
{
    json_t *agents = NULL;
    json_t *stats = NULL;
    const json_t *agent;
    const char *name;
    json_t *count;
    size_t i;
    enum clew_status status =
        cli_call(cli, "GET", "/api/v1/agents", NULL, &agents, err);

    if (status == CLEW_OK) {
        status = cli_call(cli, "GET", "/api/v1/stats", NULL, &stats, err);
    }
    json_array_foreach (json_object_get(agents, "items"), i, agent) {
        add_type(cli, types, cli_field(agent, "name"));
    }
    json_object_foreach (
        json_object_get(json_object_get(stats, "memories"), "by_type"), name,
        count) {
        add_type(cli, types, name);
    }
    json_decref(agents);
    json_decref(stats);
    return status;
}

static enum clew_status check_type(struct cli *cli, const char *type,
                                   struct clew_error *err)
{
    struct types types = {0};
    char names[STR_NAMES_SIZE];
    char meant[NEAR_TEXT_SIZE];
    struct near near;
    enum clew_status status;

    for (size_t i = 0; own_types[i]; i++) {
        types.names[types.n++] = own_types[i];
    }
    if (has_type(&types, type)) {
        return CLEW_OK;
    }
    status = add_stored(cli, &types, err);
    if (status != CLEW_OK || has_type(&types, type)) {
        return status;
    }
    near_init(&near, str_of(type));
    for (size_t i = 0; i < types.n; i++) {
        near_offer(&near, str_of(types.names[i]));
    }
    near_text(&near, "", meant);
    str_names(types.names, names);
    return clew_fail_field(err, "type",
                           "--type: there is no \"%.40s\" among %s%s", type,
                           names, meant);
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    const char *type = args_str(&cli->args, "type");
    char *path = NULL;
    enum clew_status status = type ? check_type(cli, type, err) : CLEW_OK;

    if (status == CLEW_OK) {
        status = cli_page(cli, "/api/v1/memories", &path, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    path = cli_query(cli, path, "type", type);
    path = cli_query(cli, path, "user_id", args_str(&cli->args, "user"));
    path = cli_query(cli, path, "status", args_str(&cli->args, "status"));
    path = cli_query(cli, path, "tag", args_str(&cli->args, "tag"));
    path = cli_query(cli, path, "chat_id", args_str(&cli->args, "chat"));
    status = cli_show(cli, "GET", path, NULL, show_memories, err);
    if (status == CLEW_OK) {
        cli_note_unread(cli);
    }
    return status;
}

const struct command command_memories = {
    .name = "memories",
    .operands = "",
    .summary = "list what was kept, newest first",
    .example = "clew memories --user ada --type fact",
    .options = options,
    .run = run,
};
