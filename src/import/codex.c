/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codex.c - a line of a Codex session, rollout-*.jsonl under ~/.codex/sessions.
 *
 * {"timestamp", "type": "session_meta"|"response_item"|"event_msg"|
 * "turn_context"|"compacted", "payload"}. Talk is in the response items:
 * {"type": "message", "role", "content": [{"type": "input_text"|"output_text",
 * "text"}]}, {"type": "function_call", "name", "arguments", "call_id"},
 * {"type": "function_call_output", "call_id", "output"}. Events say the same
 * again for the screen. A session has no ids for its lines, but only grows, so
 * that a line's place names it.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"

#include <stdio.h>

/* Where the session and its last line are kept in the memo. */
#define SESSION "codex session"
#define LINE "codex line"

/* What Codex puts in the user's name. */
static bool is_plumbing(struct str text)
{
    static const char *const marks[] = {
        "<environment_context>", "<user_instructions>", "<permissions",
        "# AGENTS.md instructions", "<turn_aborted>"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_starts(text, str_of(marks[i]))) {
            return true;
        }
    }
    return false;
}

static void take_texts(const json_t *content, struct buf *out)
{
    const json_t *block;
    size_t i;

    json_array_foreach (content, i, block) {
        struct str text = import_text(block, "text");

        if (text.s) {
            said_append(out, text);
        } else {
            said_attach(out, said_kind(import_text(block, "type")));
        }
    }
}

/* A call of a tool, or what came of one, as text. */
static void take_tool(const json_t *payload, bool is_call, struct buf *out)
{
    struct str name = import_text(payload, "name");
    const json_t *output = json_object_get(payload, "output");

    if (is_call) {
        struct str args = import_text(payload, "arguments");

        (void)buf_printf(out, "[%.*s] ", (int)name.len, name.s ? name.s : "");
        args = args.s ? args : import_text(payload, "input");
        (void)buf_append(out, args.s ? args.s : "", args.len);
    } else if (json_is_string(output)) {
        said_append(out, import_text(payload, "output"));
    } else {
        said_append(out, import_text(output, "content"));
    }
}

static enum clew_status begin(struct importer *importer, const json_t *payload,
                              struct clew_error *err)
{
    struct str id = import_id(payload, "id");

    if (!id.s) {
        return clew_fail(err, CLEW_INVALID, "the session has no \"id\"");
    }
    /* the last line of another session is not this one's parent */
    (void)json_object_del(importer_memo(importer), LINE);
    return said_set_last(importer, STR(SESSION), id, err);
}

/* The role and the words of an item; NULL if it is none of a talk. */
static const char *take_item(const json_t *payload, struct buf *out)
{
    struct str type = import_text(payload, "type");
    struct str role = import_text(payload, "role");

    if (str_eq(type, STR("message"))) {
        take_texts(json_object_get(payload, "content"), out);
        return str_eq(role, STR("user"))        ? "user"
               : str_eq(role, STR("assistant")) ? "assistant"
                                                : NULL;
    }
    if (str_eq(type, STR("function_call")) ||
        str_eq(type, STR("custom_tool_call"))) {
        take_tool(payload, true, out);
        return "assistant";
    }
    if (str_eq(type, STR("function_call_output")) ||
        str_eq(type, STR("custom_tool_call_output"))) {
        take_tool(payload, false, out);
        return "tool";
    }
    return NULL;
}

enum clew_status import_codex(struct importer *importer, json_t *piece,
                              int64_t number, struct clew_error *err)
{
    const json_t *payload = json_object_get(piece, "payload");
    struct str type = import_text(piece, "type");
    struct str session;
    char own[SAID_ID_SIZE];
    char line[32];
    struct import_message out = {0};
    struct buf text;
    enum clew_status status;
    size_t len;

    if (str_eq(type, STR("session_meta"))) {
        return begin(importer, payload, err);
    }
    if (!str_eq(type, STR("response_item"))) {
        return CLEW_OK; /* said again for the screen, or settings */
    }
    session = said_last(importer, STR(SESSION));
    if (!session.s) {
        return clew_fail(err, CLEW_INVALID,
                         "the session does not begin with \"session_meta\"");
    }
    (void)snprintf(line, sizeof(line), "%lld", (long long)number);
    out.id = said_id("codex", session, str_of(line), own);
    out.parent = said_last(importer, STR(LINE));
    buf_init(&text, SAID_MAX_BYTES);
    out.role = take_item(payload, &text);
    if (!out.role || is_plumbing(buf_str(&text))) {
        buf_release(&text);
        return importer_skip(
            importer, out.id, out.parent,
            str_eq(import_text(payload, "type"), STR("reasoning"))
                ? IMPORT_THINKING
                : IMPORT_PLUMBING,
            err);
    }
    if (!clock_parse(import_text(piece, "timestamp"), &out.created_at_ms)) {
        buf_release(&text);
        return clew_fail(err, CLEW_INVALID, "it has no \"timestamp\"");
    }
    len = text.len; /* the id before it lives in the memo until it is kept */
    status = said_add(importer, &out, &text, err);
    return status == CLEW_OK && len > 0
               ? said_set_last(importer, STR(LINE), out.id, err)
               : status;
}
