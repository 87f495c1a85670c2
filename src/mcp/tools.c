/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.c - the table of tools, their schemas, and the way to a call of one.
 */
#include "mcp/tools.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/uuid.h"

#include <string.h>

#define END                                                                    \
    {                                                                          \
        NULL, TOOL_TEXT, false, NULL, NULL                                     \
    }
#define DETAIL                                                                 \
    {                                                                          \
        "detail", TOOL_CHOICE, false, "compact|full",                          \
            "full adds everything that is known, as JSON; costs many tokens"   \
    }
#define AGENT                                                                  \
    {                                                                          \
        "agent", TOOL_TEXT, false, NULL,                                       \
            "your name among the agents that share this memory; default: the " \
            "client"                                                           \
    }

static const struct tool_field recall_fields[] = {
    {"query", TOOL_TEXT, true, NULL,
     "what you want to know, as a question or in keywords"},
    {"user_id", TOOL_TEXT, false, NULL, "only what belongs to this user"},
    {"chat_id", TOOL_ID, false, NULL, "only from this chat"},
    {"kinds", TOOL_CHOICES, false, "turn|memory|episode|chat",
     "turn: what was said; memory: what was kept; default: all that fit"},
    {"since", TOOL_TIME, false, NULL, "not before this time"},
    {"until", TOOL_TIME, false, NULL, "not after this time"},
    {"at", TOOL_TIME, false, NULL, "what was known at that moment"},
    {"limit", TOOL_INT, false, NULL, "at most this many; default 8"},
    DETAIL,
    END,
};

static const struct tool_field contribute_fields[] = {
    {"thought", TOOL_TEXT, true, NULL,
     "one statement that makes sense without this conversation, more than 50 "
     "characters: who or what, what holds, why"},
    {"context", TOOL_TEXT, false, NULL, "what you are working on"},
    {"session_id", TOOL_ID, false, NULL,
     "from an earlier answer, to tell clew that it belongs together"},
    AGENT,
    DETAIL,
    END,
};

static const struct tool_field refine_fields[] = {
    {"id", TOOL_ID, true, NULL, "the memory that is replaced"},
    {"thought", TOOL_TEXT, true, NULL,
     "the statement as it holds now, complete in itself"},
    {"context", TOOL_TEXT, false, NULL, "what you are working on"},
    AGENT,
    DETAIL,
    END,
};

static const struct tool_field consolidate_fields[] = {
    {"ids", TOOL_IDS, true, NULL, "two or more memories to merge"},
    {"thought", TOOL_TEXT, true, NULL, "the one statement that replaces them"},
    {"context", TOOL_TEXT, false, NULL, "what you are working on"},
    AGENT,
    DETAIL,
    END,
};

static const struct tool_field history_fields[] = {
    {"id", TOOL_ID, true, NULL, "a memory"},
    {"at", TOOL_TIME, false, NULL, "as it was at that moment"},
    DETAIL,
    END,
};

static const struct tool_field context_fields[] = {
    {"chat_id", TOOL_ID, true, NULL, "the chat to go on with"},
    {"message", TOOL_TEXT, false, NULL,
     "the message at hand: what it needs is put in"},
    {"budget_tokens", TOOL_INT, false, NULL, "never exceeded; default 2000"},
    DETAIL,
    END,
};

static const struct tool_field start_fields[] = {
    {"intent", TOOL_TEXT, false, NULL, "what the user wants to do, to begin"},
    {"start_id", TOOL_ID, false, NULL, "from the first answer, to choose"},
    {"answer", TOOL_TEXT, false, NULL,
     "the user's choice: \"1\", \"3, include 1,2\", \"just continue\""},
    {"user_id", TOOL_TEXT, false, NULL, "who; default: the configured user"},
    DETAIL,
    END,
};

static const struct tool_field effort_fields[] = {
    {"action", TOOL_CHOICE, true,
     "list|open|context|turn|collapse|resolve|reopen|abandon", "what to do"},
    {"id", TOOL_ID, false, NULL, "the effort; for all but list and open"},
    {"goal", TOOL_TEXT, false, NULL, "for open: what is to be reached"},
    {"resolution", TOOL_TEXT, false, NULL,
     "for resolve and collapse: how it was reached"},
    {"outcome", TOOL_CHOICE, false, "found|failed|given_up",
     "for collapse: how it ended; default: found"},
    {"role", TOOL_CHOICE, false, "user|assistant|tool",
     "for turn: who says it; default: assistant"},
    {"content", TOOL_TEXT, false, NULL, "for turn: what is said"},
    {"chat_id", TOOL_ID, false, NULL, "for open: the chat it belongs to"},
    {"parent_id", TOOL_ID, false, NULL, "for open: the effort it is part of"},
    {"user_id", TOOL_TEXT, false, NULL, "who; default: the configured user"},
    DETAIL,
    END,
};

/* clang-format off */
/* Ends with a row whose name is NULL. */
static const struct tool tools[] = {
    {"recall", "Recall",
     "Search long-term memory: earlier conversations, facts, decisions and "
     "other agents' thoughts. Use it before you start on a task, when the "
     "user refers to something not in this conversation, and before you ask "
     "the user for something they may have said already. Superseded items "
     "are marked with the id of what replaced them.",
     recall_fields, true, true, tool_recall},
    {"contribute", "Contribute a thought",
     "Keep one insight for later sessions and other agents, and see related "
     "thoughts. Use it when you learned something that will matter again: a "
     "decision and its reason, a cause, a preference, a fact about the "
     "project. Not for progress reports or questions. If the answer says a "
     "similar thought exists, use refine instead the next time.",
     contribute_fields, false, false, tool_contribute},
    {"refine", "Refine a thought",
     "Replace a memory by a better or newer statement; the old one stays "
     "visible in the history, marked superseded. Use it when something "
     "recalled turned out wrong, out of date or too vague.",
     refine_fields, false, false, tool_refine},
    {"consolidate", "Consolidate thoughts",
     "Merge two or more memories that say the same or belong together into "
     "one statement that supersedes them all.",
     consolidate_fields, false, false, tool_consolidate},
    {"history", "History of a thought",
     "How a memory came about and what replaced it: its lineage, oldest "
     "first. Use it when memories contradict each other, or to see why one "
     "changed.",
     history_fields, true, true, tool_history},
    {"context", "Context of a chat",
     "The compact context of a chat within a token budget: what holds, what "
     "is being worked on, the last turns. Use it to go on with a chat whose "
     "history you do not have.",
     context_fields, true, true, tool_context},
    {"start", "Start a conversation",
     "At the beginning of a piece of work: finds related chats and memories "
     "and offers to continue, fork, or start new with selected knowledge. "
     "Call it with intent, show the options to the user, then call it again "
     "with start_id and the user's answer.",
     start_fields, false, false, tool_start},
    {"effort", "Track an effort",
     "List, open, resolve, reopen or abandon efforts: pieces of work with a "
     "goal that may span sessions. Use list to see what is unfinished, open "
     "when the user takes something on, resolve when it is done; context "
     "gives what an effort needs, turn keeps what is said while working "
     "in it, collapse ends it and tells its parent the result.",
     effort_fields, false, false, tool_effort},
    {NULL, NULL, NULL, NULL, false, false, NULL},
};
/* clang-format on */

/* --- schemas ---------------------------------------------------------------
 */

static json_t *choices_of(const char *choices)
{
    struct str rest = str_of(choices);
    struct str one;
    json_t *list = json_array();

    while (list && str_split(&rest, '|', &one)) {
        if (json_array_append_new(list, json_stringn(one.s, one.len)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *type_of(const struct tool_field *field)
{
    switch (field->type) {
    case TOOL_TEXT:
        return json_pack("{s:s}", "type", "string");
    case TOOL_ID:
        return json_pack("{s:s, s:s}", "type", "string", "format", "uuid");
    case TOOL_IDS:
        return json_pack("{s:s, s:{s:s, s:s}, s:i}", "type", "array", "items",
                         "type", "string", "format", "uuid", "minItems", 2);
    case TOOL_TIME:
        return json_pack("{s:s, s:s}", "type", "string", "format", "date-time");
    case TOOL_INT:
        return json_pack("{s:s, s:i}", "type", "integer", "minimum", 1);
    case TOOL_CHOICE:
        return json_pack("{s:s, s:o}", "type", "string", "enum",
                         choices_of(field->choices));
    case TOOL_CHOICES:
        return json_pack("{s:s, s:{s:s, s:o}}", "type", "array", "items",
                         "type", "string", "enum", choices_of(field->choices));
    }
    return NULL;
}

static json_t *schema_of(const struct tool *tool)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    bool is_ok = properties && required;

    for (const struct tool_field *f = tool->fields; is_ok && f->name; f++) {
        json_t *type = type_of(f);

        is_ok = json_set_cstr(type, "description", f->help);
        is_ok = json_set(properties, f->name, type) && is_ok;
        if (is_ok && f->is_required) {
            is_ok = json_array_append_new(required, json_string(f->name)) == 0;
        }
    }
    if (!is_ok) {
        json_decref(properties);
        json_decref(required);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties",
                     properties, "required", required, "additionalProperties",
                     0);
}

enum clew_status mcp_tools_list(struct mcp_request *request,
                                struct clew_error *err)
{
    enum clew_status status = mcp_no_cursor(request, err);
    json_t *list;

    if (status != CLEW_OK) {
        return status;
    }
    list = json_array();
    for (const struct tool *t = tools; list && t->name; t++) {
        json_t *item = json_pack(
            "{s:s, s:s, s:s, s:o, s:{s:b, s:b, s:b, s:b}}", "name", t->name,
            "title", t->title, "description", t->description, "inputSchema",
            schema_of(t), "annotations", "readOnlyHint", (int)t->is_read_only,
            "destructiveHint", 0, "idempotentHint", (int)t->is_idempotent,
            "openWorldHint", 0);

        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    request->result = list ? json_pack("{s:o}", "tools", list) : NULL;
    return CLEW_OK;
}

/* --- arguments -------------------------------------------------------------
 */

static bool is_choice(const char *choices, const json_t *value)
{
    struct str rest = str_of(choices);
    struct str one;

    while (str_split(&rest, '|', &one)) {
        if (str_eq(one, str_of(json_string_value(value)))) {
            return true;
        }
    }
    return false;
}

static bool is_id(const json_t *value)
{
    struct uuid id;

    return json_is_string(value) &&
           uuid_parse(str_of(json_string_value(value)), &id);
}

/* Does every item pass? */
static bool are_all(const struct tool_field *field, const json_t *list)
{
    const json_t *item;
    size_t i;

    json_array_foreach (list, i, item) {
        if (field->type == TOOL_IDS ? !is_id(item)
                                    : !is_choice(field->choices, item)) {
            return false;
        }
    }
    return json_is_array(list);
}

/* NULL if the value fits, else what it must be. */
static const char *fault_of(const struct tool_field *field, const json_t *value)
{
    switch (field->type) {
    case TOOL_TEXT:
        return json_is_string(value) ? NULL : "a string";
    case TOOL_ID:
        return is_id(value) ? NULL : "an id (a UUID) as an answer showed it";
    case TOOL_IDS:
        return are_all(field, value)
                   ? NULL
                   : "an array of ids (UUIDs) as answers showed them";
    case TOOL_TIME:
        return json_is_string(value)
                   ? NULL
                   : "a time as in RFC 3339, \"2026-05-01T09:00:00Z\"";
    case TOOL_INT:
        return json_is_integer(value) && json_integer_value(value) > 0
                   ? NULL
                   : "a whole number above 0";
    case TOOL_CHOICE:
        return is_choice(field->choices, value) ? NULL : field->choices;
    case TOOL_CHOICES:
        return are_all(field, value) ? NULL : field->choices;
    }
    return NULL;
}

static enum clew_status check_known(const struct tool *tool, const json_t *args,
                                    struct clew_error *err)
{
    const char *known[16] = {NULL};
    size_t count = 0;

    for (const struct tool_field *f = tool->fields; f->name; f++) {
        known[count++] = f->name;
    }
    return json_check_fields(args, known, err);
}

static enum clew_status check_args(const struct tool *tool, const json_t *args,
                                   struct clew_error *err)
{
    enum clew_status status = check_known(tool, args, err);

    for (const struct tool_field *f = tool->fields;
         status == CLEW_OK && f->name; f++) {
        const json_t *value = json_object_get(args, f->name);
        const char *fault = NULL;

        if (value && !json_is_null(value)) {
            fault = fault_of(f, value);
        } else if (f->is_required) {
            fault = "given";
        }
        if (fault) {
            bool is_one = f->type == TOOL_CHOICE && fault == f->choices;
            bool is_some = f->type == TOOL_CHOICES && fault == f->choices;

            status =
                clew_fail_field(err, f->name, "\"%s\" must be %s%s", f->name,
                                is_one    ? "one of "
                                : is_some ? "an array of "
                                          : "",
                                fault);
        }
    }
    return status;
}

/* --- a call ----------------------------------------------------------------
 */

static const struct tool *find(const char *name)
{
    for (const struct tool *t = tools; t->name; t++) {
        if (strcmp(t->name, name) == 0) {
            return t;
        }
    }
    return NULL;
}

/* What to do about a failure, where the failure itself does not say. */
static const char *advice_of(const struct tool *tool, const json_t *args,
                             const struct clew_error *err)
{
    if (err->status == CLEW_NOT_FOUND) {
        return strcmp(tool->name, "context") == 0
                   ? " Use recall with kinds [\"chat\"] to find the chat's id."
               : strcmp(tool->name, "effort") == 0
                   ? " Use effort with action list to see ids."
               : strcmp(tool->name, "start") == 0
                   ? " Call start with intent to begin anew."
                   : " Use recall with kinds [\"memory\"] to find its id; "
                     "what was retracted cannot be built upon.";
    }
    if (strcmp(err->code, "MIN_CONSOLIDATION") == 0) {
        return json_array_size(json_object_get(args, "ids")) == 1
                   ? " For one memory use refine."
                   : "";
    }
    if (err->status == CLEW_FORBIDDEN) {
        return " This key may not do that; ask the user for another.";
    }
    return "";
}

/* What the model reads, and on demand all that the API said. */
static json_t *form_result(const struct tool_run *run)
{
    bool is_full =
        strcmp(mcp_text(run->args, "detail"), "full") == 0 && run->answer;
    json_t *result =
        json_pack("{s:[{s:s, s:s%}], s:b}", "content", "type", "text", "text",
                  run->text->data, run->text->len, "isError", run->is_error);

    if (is_full && !run->is_error && json_is_object(run->answer) &&
        !json_set(result, "structuredContent", json_incref(run->answer))) {
        json_decref(result);
        return NULL;
    }
    return result;
}

enum clew_status mcp_tools_call(struct mcp_request *request,
                                struct clew_error *err)
{
    const struct tool *tool = find(mcp_text(request->params, "name"));
    const json_t *given = json_object_get(request->params, "arguments");
    json_t *args =
        given && !json_is_null(given) ? json_copy_tree(given) : json_object();
    struct buf text;
    struct tool_run run = {.request = request, .args = args, .text = &text};
    enum clew_status status;

    if (!tool || !json_is_object(args)) {
        json_decref(args);
        return mcp_fail(request, MCP_INVALID_PARAMS, err,
                        tool ? "\"arguments\" must be an object"
                             : "no such tool");
    }
    buf_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    status = check_args(tool, args, err);
    if (status == CLEW_OK) {
        status = tool->fn(&run, err);
    }
    if (status != CLEW_OK) {
        /* a model can often help itself if it reads what was wrong */
        run.is_error = true;
        buf_clear(&text);
        (void)buf_printf(&text, "%s: %s.%s", err->code, err->message,
                         advice_of(tool, args, err));
    }
    if (buf_status(&text) == CLEW_OK) {
        request->result = form_result(&run);
    }
    json_decref(run.answer);
    json_decref(args);
    buf_release(&text);
    return CLEW_OK;
}
