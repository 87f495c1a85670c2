/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_agents.c - list agent packages, check one, try one on a sentence.
 */
#include "base/config.h"
#include "base/json.h"
#include "cli/cli.h"
#include "engine/agents.h"

#include <stdio.h>

static json_t *form_agent(const struct agent *agent)
{
    json_t *fields = json_array();
    json_t *out = json_object();
    bool is_ok = out && fields;

    for (size_t i = 0; is_ok && i < agent->n_fields; i++) {
        is_ok = json_array_append_new(
                    fields, json_stringn(agent->fields[i].name.s,
                                         agent->fields[i].name.len)) == 0;
    }
    is_ok = json_set(out, "fields", fields) && is_ok;
    if (!is_ok || !json_set_str(out, "name", agent->name) ||
        !json_set_str(out, "description", agent->description) ||
        !json_set_bool(out, "builtin", agent->is_builtin) ||
        !json_set_str(out, "file", agent->file)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *form_problem(const struct agent_problem *problem)
{
    json_t *out = json_object();

    if (!out || !json_set_str(out, "file", problem->file) ||
        !json_set_int(out, "line", problem->line) ||
        !json_set_str(out, "message", problem->message)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static enum clew_status list_as_json(struct cli *cli, const struct agents *set,
                                     struct clew_error *err)
{
    json_t *items = json_array();
    json_t *problems = json_array();
    json_t *out = json_object();
    bool is_ok = items && problems;

    for (size_t i = 0; is_ok && i < set->n_items; i++) {
        is_ok = json_array_append_new(items, form_agent(&set->items[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < set->n_problems; i++) {
        is_ok = json_array_append_new(problems,
                                      form_problem(&set->problems[i])) == 0;
    }
    is_ok = json_set(out, "items", items) && is_ok;
    is_ok = json_set(out, "problems", problems) && is_ok;
    if (is_ok) {
        output_json(&cli->out, out);
    }
    json_decref(out);
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

static enum clew_status run_list(struct cli *cli, struct clew_error *err)
{
    const char *dir = config_dir(cli->config);
    char *folder = arena_printf(&cli->arena, "%s/agents", dir);
    struct agents *set;
    enum clew_status status;

    if (!folder) {
        return clew_no_memory(err);
    }
    status = agents_load(folder, &set, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (cli->as_json) {
        status = list_as_json(cli, set, err);
    } else {
        for (size_t i = 0; i < set->n_items; i++) {
            output_text(&cli->out, OUTPUT_NAME, set->items[i].name);
            (void)fprintf(
                cli->out.file, ": %.*s\n", (int)set->items[i].description.len,
                set->items[i].description.s ? set->items[i].description.s : "");
        }
        for (size_t i = 0; i < set->n_problems; i++) {
            (void)fprintf(stderr, "%.*s\n", (int)set->problems[i].message.len,
                          set->problems[i].message.s);
        }
    }
    agents_free(set);
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
    struct str text = str_of(cli->args.operands[1]);
    struct agent agent;
    struct intent intent;
    int line;
    enum clew_status status =
        agent_read(&cli->arena, cli->args.operands[0], &agent, &line, err);

    if (status == CLEW_OK) {
        status = intent_of(&cli->arena, text, (struct str){0}, &intent);
    }
    return status == CLEW_OK ? show_test(cli, &agent, text, &intent, err)
                             : status;
}

const struct command command_agents_test = {
    .name = "agents test",
    .operands = "FILE SENTENCE",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "say what an agent package makes of a sentence",
    .example = "clew agents test bug-report.yaml \"I get a 401 error\"",
    .run = run_test,
};
