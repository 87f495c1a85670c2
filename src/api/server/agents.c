/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents.c - the agent packages in use, and what is wrong with the others.
 *
 * Files are named without their folder: where the server keeps its settings is
 * nobody's business.
 */
#include "engine/keep/agents.h"

#include "api/handlers.h"
#include "engine/core/engine.h"
#include "engine/keep/agents_live.h"

/* The part behind the last slash before the file's own name. */
static struct str file_name(struct str path)
{
    for (size_t i = path.len; i > 0; i--) {
        if (path.s[i - 1] == '/') {
            return str_sub(path, i, path.len);
        }
    }
    return path.s ? path : STR("");
}

json_t *form_agent(const struct agent *agent)
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
        !json_set_str(out, "description",
                      agent->description.s ? agent->description : STR("")) ||
        !json_set_bool(out, "builtin", agent->is_builtin) ||
        !json_set_bool(out, "kept", agent->is_kept) ||
        !json_set_str(out, "file", file_name(agent->file))) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* "folder/x.yaml:4: reason" without the folder. */
static struct str without_folder(const struct agent_problem *problem)
{
    struct str name = file_name(problem->file);
    size_t cut = problem->file.len - name.len;

    return str_starts(problem->message, problem->file)
               ? str_sub(problem->message, cut, problem->message.len)
               : problem->message;
}

static json_t *form_problem(const struct agents *set,
                            const struct agent_problem *problem)
{
    json_t *out = json_object();
    bool is_kept = false;

    for (size_t i = 0; i < set->n_items; i++) {
        is_kept = is_kept || (set->items[i].is_kept &&
                              str_eq(set->items[i].file, problem->file));
    }
    if (!json_set_str(out, "file", file_name(problem->file)) ||
        !json_set_int(out, "line", problem->line) ||
        !json_set_str(out, "message", without_folder(problem)) ||
        !json_set_bool(out, "kept", is_kept)) {
        json_decref(out);
        return NULL;
    }
    return out;
}

json_t *form_agents(const struct agents *set)
{
    json_t *items = json_array();
    json_t *problems = json_array();
    json_t *out = json_object();
    bool is_ok = items && problems;

    for (size_t i = 0; is_ok && i < set->n_items; i++) {
        is_ok = json_array_append_new(items, form_agent(&set->items[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < set->n_problems; i++) {
        is_ok = json_array_append_new(
                    problems, form_problem(set, &set->problems[i])) == 0;
    }
    is_ok = json_set(out, "items", items) && is_ok;
    is_ok = json_set(out, "problems", problems) && is_ok;
    if (!is_ok) {
        json_decref(out);
        return NULL;
    }
    return out;
}

enum clew_status agents_list(struct api_call *call, struct clew_error *err)
{
    struct agents *set = agents_live_take(call->engine->agents);

    call->out = form_agents(set);
    agents_unref(set);
    return call->out ? CLEW_OK : clew_no_memory(err);
}
