/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_agents.c - list agent packages, check one, try one on a sentence or a
 * chat.
 */
#include "api/handlers.h"
#include "base/config.h"
#include "base/json.h"
#include "cli/core/cli.h"
#include "cli/upkeep/agents_chat.h"
#include "engine/keep/agents.h"

#include <stdio.h>
#include <stdlib.h>

/* Ask the server if one is named; its packages may be others than the
 * folder's. */
static bool has_server(const struct cli *cli)
{
    const char *url = getenv("CLEW_URL");

    return args_str(&cli->args, "url") ||
           (url && url[0] && !args_has(&cli->args, "data") &&
            !args_has(&cli->args, "store"));
}

static enum clew_status read_folder(struct cli *cli, json_t **out_json,
                                    struct clew_error *err)
{
    char *folder =
        arena_printf(&cli->arena, "%s/agents", config_dir(cli->config));
    struct agents *set;
    enum clew_status status =
        folder ? agents_load(folder, NULL, &set, err) : clew_no_memory(err);

    if (status == CLEW_OK) {
        *out_json = form_agents(set);
        agents_unref(set);
    }
    return status == CLEW_OK && !*out_json ? clew_no_memory(err) : status;
}

static void show_list(struct cli *cli, const json_t *list)
{
    const json_t *item;
    size_t i;

    json_array_foreach (json_object_get(list, "items"), i, item) {
        output_line(&cli->out, OUTPUT_NAME, str_of(cli_field(item, "name")), 0);
        (void)fputs(": ", cli->out.file);
        output_text(&cli->out, OUTPUT_PLAIN,
                    str_of(cli_field(item, "description")));
        (void)fputs(json_is_true(json_object_get(item, "kept"))
                        ? " (as it was before its file got broken)\n"
                        : "\n",
                    cli->out.file);
    }
    json_array_foreach (json_object_get(list, "problems"), i, item) {
        output_note("%s", cli_field(item, "message"));
    }
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    json_t *list = NULL;
    enum clew_status status =
        has_server(cli)
            ? cli_call(cli, "GET", "/api/v1/agents", NULL, &list, err)
            : read_folder(cli, &list, err);

    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, list);
    } else if (status == CLEW_OK) {
        show_list(cli, list);
    }
    json_decref(list);
    return status;
}

const struct command command_agents_list = {
    .name = "agents list",
    .operands = "",
    .summary = "list the agent packages, and those left out",
    .example = "clew agents list",
    .run = run_list,
};

static enum clew_status show_agent(struct cli *cli, const struct agent *agent,
                                   struct clew_error *err)
{
    json_t *json;

    if (!cli->as_json) {
        (void)fprintf(cli->out.file, "%.*s: %zu fields, well formed\n",
                      (int)agent->name.len, agent->name.s, agent->n_fields);
        return CLEW_OK;
    }
    json = form_agent(agent);
    if (!json) {
        return clew_no_memory(err);
    }
    output_json(&cli->out, json);
    json_decref(json);
    return CLEW_OK;
}

static enum clew_status run_check(struct cli *cli, struct clew_error *err)
{
    struct agent agent;
    int line;
    enum clew_status status =
        agent_read(&cli->arena, cli->args.operands[0], &agent, &line, err);

    return status == CLEW_OK ? show_agent(cli, &agent, err) : status;
}

const struct command command_agents_check = {
    .name = "agents check",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "say whether an agent package is well formed",
    .example = "clew agents check bug-report.yaml",
    .run = run_check,
};

/* What the sentence gives to each field at a step. */
static json_t *form_values(const struct agent *agent, enum agent_step step,
                           struct str text, const struct intent *intent)
{
    json_t *out = json_object();

    for (size_t i = 0; out && i < agent->n_fields; i++) {
        struct str value = agent_value(&agent->fields[i], step, text, intent);

        if (value.len > 0 &&
            json_object_setn_new(out, agent->fields[i].name.s,
                                 agent->fields[i].name.len,
                                 json_stringn(value.s, value.len)) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static enum clew_status show_test(struct cli *cli, const struct agent *agent,
                                  struct str text, const struct intent *intent,
                                  struct clew_error *err)
{
    enum agent_step fresh = agent_match(agent, text, intent, false);
    enum agent_step open = agent_match(agent, text, intent, true);
    json_t *out = json_object();

    if (!out || !json_set_cstr(out, "act", intent_act_name(intent->act)) ||
        !json_set_cstr(out, "step", agent_step_name(fresh)) ||
        !json_set_cstr(out, "step_while_open", agent_step_name(open)) ||
        !json_set(out, "values",
                  form_values(agent, fresh != AGENT_NONE ? fresh : open, text,
                              intent))) {
        json_decref(out);
        return clew_no_memory(err);
    }
    if (cli->as_json) {
        output_json(&cli->out, out);
    } else {
        const char *name;
        json_t *value;

        (void)fprintf(cli->out.file, "act %s; %s; while one is open: %s\n",
                      intent_act_name(intent->act), agent_step_name(fresh),
                      agent_step_name(open));
        json_object_foreach (json_object_get(out, "values"), name, value) {
            (void)fprintf(cli->out.file, "  %s: %s\n", name,
                          json_string_value(value));
        }
    }
    json_decref(out);
    return CLEW_OK;
}

static enum clew_status run_test(struct cli *cli, struct clew_error *err)
{
    const char *chat = args_str(&cli->args, "chat");
    struct str text;
    struct agent agent;
    struct intent intent;
    int line;
    enum clew_status status =
        agent_read(&cli->arena, cli->args.operands[0], &agent, &line, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (chat) {
        return agents_chat(cli, &agent, chat, err);
    }
    if (cli->args.n_operands < 2) {
        return clew_fail(
            err, CLEW_INVALID,
            "a sentence is wanted, or --chat with a file of turns");
    }
    text = str_of(cli->args.operands[1]);
    status = intent_of(&cli->arena, text, (struct str){0}, &intent);
    return status == CLEW_OK ? show_test(cli, &agent, text, &intent, err)
                             : status;
}

static const struct arg_option test_options[] = {
    {"chat", 'C', "TURNS", NULL,
     "a file of turns instead: lines of JSON, or \"user: …\""},
    {NULL, 0, NULL, NULL, NULL},
};

const struct command command_agents_test = {
    .name = "agents test",
    .operands = "FILE [SENTENCE]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "say what an agent package makes of a sentence, or of a chat",
    .example = "clew agents test bug-report.yaml \"I get a 401 error\"",
    .options = test_options,
    .run = run_test,
};
