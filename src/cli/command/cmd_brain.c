/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_brain.c - the verbs of the brain skill: think with other agents.
 */
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/core/cli.h"
#include "cli/show/lineage_tree.h"
#include "cli/show/show.h"
#include "engine/thought/thought.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct arg_option think_options[] = {
    {"agent", 'a', "NAME", NULL, "who speaks; default: CLEW_AGENT, or you"},
    {"context", 0, "TEXT", NULL, "what is being worked on"},
    {"session", 0, "ID", NULL, "go on with a session of an earlier answer"},
    {NULL, 0, NULL, NULL, NULL},
};

static const char *agent_of(const struct cli *cli)
{
    const char *names[] = {args_str(&cli->args, "agent"), getenv("CLEW_AGENT"),
                           getenv("USER")};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i] && names[i][0]) {
            return names[i];
        }
    }
    return "cli";
}

/* What every call of /api/v1/memory has; NULL for bad UTF-8 or no memory. */
static json_t *body_of(const struct cli *cli, struct str prompt)
{
    const char *agent = agent_of(cli);
    json_t *body = json_object();

    if (body && json_set_str(body, "prompt", prompt) &&
        json_set_cstr(body, "agent_id", agent) &&
        json_set_cstr(body, "agent_name", agent) &&
        cli_set_option(cli, body, "context", "context") &&
        cli_set_option(cli, body, "session_id", "session")) {
        return body;
    }
    json_decref(body);
    return NULL;
}

/* --- showing ---------------------------------------------------------------
 */

/* Columns of a contributor's name, so that the line fits. */
#define MAX_NAME 16
/* Where the API cuts a thought that is shown. */
#define PREVIEW_CHARS 80

static void show_source(struct cli *cli, const json_t *source)
{
    const char *preview = cli_field(source, "content_preview");
    FILE *file = cli->out.file;
    char score[32];

    (void)snprintf(score, sizeof(score), "%.3f",
                   json_number_value(json_object_get(source, "score")));
    output_text(&cli->out, OUTPUT_BOLD, str_of(score));
    (void)fputs("  ", file);
    output_text(
        &cli->out, OUTPUT_NAME,
        str_of(show_id(cli, cli_field(source, "thought_id"), SHOW_ID_LONG)));
    (void)fputs("  by ", file);
    output_line(&cli->out, OUTPUT_PLAIN,
                str_of(cli_field(source, "contributor")), MAX_NAME);
    if (json_is_true(json_object_get(source, "superseded"))) {
        (void)fprintf(
            file, "  superseded by %s",
            show_id(cli, cli_field(source, "refined_by"), SHOW_ID_LONG));
    }
    (void)fputc('\n', file);
    show_paragraph(
        cli, "   ",
        str_of(arena_printf(
            &cli->arena, "%s%s", preview,
            utf8_count(str_of(preview)) < PREVIEW_CHARS ? "" : "…")));
}

static void show_remark(struct cli *cli, const json_t *result,
                        const char *field)
{
    const char *text = cli_field(result, field);

    if (text[0]) {
        output_text(&cli->out, OUTPUT_PLAIN, str_of(text));
        (void)fputc('\n', cli->out.file);
    }
}

static void show(struct cli *cli, const json_t *answer)
{
    const json_t *result = json_object_get(answer, "result");
    const json_t *sources = json_object_get(result, "sources");
    const char *id = cli_field(result, "thought_id");
    const json_t *source;
    size_t i;

    if (id[0]) {
        (void)fputs("stored ", cli->out.file);
        output_text(&cli->out, OUTPUT_NAME, str_of(id));
        (void)fputc('\n', cli->out.file);
    }
    show_remark(cli, result, "guidance");
    json_array_foreach (sources, i, source) {
        show_source(cli, source);
    }
    if (!id[0] && json_array_size(sources) == 0) {
        (void)fputs("nothing found\n", stderr);
    }
}

/* Call /api/v1/memory; takes `body`, which may be NULL. */
static enum clew_status think(struct cli *cli, json_t *body, bool must_store,
                              struct clew_error *err)
{
    json_t *answer = NULL;
    enum clew_status status;

    if (!body) {
        return clew_fail(err, CLEW_INVALID, "the text must be valid UTF-8");
    }
    status = cli_call(cli, "POST", "/api/v1/memory", body, &answer, err);
    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        show(cli, answer);
    }
    if (status == CLEW_OK && must_store &&
        !cli_field(json_object_get(answer, "result"), "thought_id")[0]) {
        status = clew_fail(err, CLEW_INVALID,
                           "not stored: a thought is a statement of more than "
                           "50 characters, and the key must be able to write");
    }
    json_decref(answer);
    return status;
}

/* --- the verbs -------------------------------------------------------------
 */

/* Sets what one verb adds to the body; false for bad UTF-8 or no memory. */
typedef bool (*verb_fn)(const struct cli *cli, struct str prompt, json_t *body);

/* The text is the last operand. */
static enum clew_status think_with(struct cli *cli, verb_fn add,
                                   bool must_store, struct clew_error *err)
{
    struct str prompt;
    enum clew_status status = cli_text(cli, cli->args.n_operands - 1,
                                       LIMIT_QUERY_BYTES, &prompt, err);
    json_t *body;

    if (status != CLEW_OK) {
        return status;
    }
    body = body_of(cli, prompt);
    if (body && !add(cli, prompt, body)) {
        json_decref(body);
        body = NULL;
    }
    return think(cli, body, must_store, err);
}

/* A query strengthens what it finds, but is never stored itself. */
static bool add_query(const struct cli *cli, struct str prompt, json_t *body)
{
    (void)cli;
    return !thought_is_worth_storing(prompt) ||
           json_set_bool(body, "read_only", true);
}

static enum clew_status run_query(struct cli *cli, struct clew_error *err)
{
    return think_with(cli, add_query, false, err);
}

static bool add_nothing(const struct cli *cli, struct str prompt, json_t *body)
{
    (void)cli;
    (void)prompt;
    (void)body;
    return true;
}

static enum clew_status run_contribute(struct cli *cli, struct clew_error *err)
{
    return think_with(cli, add_nothing, true, err);
}

static bool add_refines(const struct cli *cli, struct str prompt, json_t *body)
{
    (void)prompt;
    return json_set_cstr(body, "refines", cli->args.operands[0]);
}

static enum clew_status run_refine(struct cli *cli, struct clew_error *err)
{
    return think_with(cli, add_refines, true, err);
}

/* "id,id" as an array. */
static json_t *ids_of(const char *text)
{
    struct str rest = str_of(text);
    json_t *list = json_array();
    struct str id;

    while (list && str_split(&rest, ',', &id)) {
        id = str_trim(id);
        if (json_array_append_new(list, json_stringn(id.s, id.len)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static bool add_consolidates(const struct cli *cli, struct str prompt,
                             json_t *body)
{
    (void)prompt;
    return json_set(body, "consolidates", ids_of(cli->args.operands[0]));
}

static enum clew_status run_consolidate(struct cli *cli, struct clew_error *err)
{
    return think_with(cli, add_consolidates, true, err);
}

static enum clew_status run_history(struct cli *cli, struct clew_error *err)
{
    char *path =
        cli_path(cli, "/api/v1/memories", cli->args.operands[0], "/lineage");

    path = cli_query(cli, path, "at", args_str(&cli->args, "at"));
    return cli_show(cli, "GET", path, NULL, lineage_tree_show, err);
}

static enum clew_status show_retracted(struct cli *cli, const json_t *answer,
                                       struct clew_error *err)
{
    (void)answer;
    (void)err;
    (void)fputs("retracted; what it superseded is valid again\n",
                cli->out.file);
    return CLEW_OK;
}

static enum clew_status run_retract(struct cli *cli, struct clew_error *err)
{
    char *path =
        cli_path(cli, "/api/v1/memories", cli->args.operands[0], "/retract");

    return cli_show(cli, "POST", path, json_object(), show_retracted, err);
}

const struct command command_brain_query = {
    .name = "brain query",
    .operands = "TEXT|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "ask what other agents know",
    .example = "clew brain query \"how do we deploy to staging?\"",
    .options = think_options,
    .run = run_query,
};

const struct command command_brain_contribute = {
    .name = "brain contribute",
    .operands = "TEXT|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "keep a thought for other agents and later sessions",
    .example = "clew brain contribute \"Staging is deployed on Tuesdays.\"",
    .options = think_options,
    .run = run_contribute,
    .makes_store = true,
};

const struct command command_brain_refine = {
    .name = "brain refine",
    .operands = "THOUGHT TEXT|-",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "put a better thought in place of one; the old one stays",
    .example = "clew brain refine 0199c1d2-7a00 "
               "\"Staging is deployed daily.\"",
    .options = think_options,
    .run = run_refine,
};

const struct command command_brain_consolidate = {
    .name = "brain consolidate",
    .operands = "THOUGHT,THOUGHT[,...] TEXT|-",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "merge thoughts into one that supersedes them",
    .example = "clew brain consolidate \"$A,$B\" \"Both in one sentence.\"",
    .options = think_options,
    .run = run_consolidate,
};

static const struct arg_option history_options[] = {
    {"at", 0, "TIME", NULL, "as it was at that moment"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct command command_brain_history = {
    .name = "brain history",
    .operands = "THOUGHT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "draw how a thought came about and what replaced it",
    .example = "clew brain history 0199c1d2-7a00",
    .options = history_options,
    .run = run_history,
};

const struct command command_brain_retract = {
    .name = "brain retract",
    .operands = "THOUGHT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "take a thought back; what it superseded is valid again",
    .example = "clew brain retract 0199c1d2-7a00",
    .run = run_retract,
};
