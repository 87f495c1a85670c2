/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claude_code.c - a line of a Claude Code session,
 * a .jsonl under ~/.claude/projects.
 *
 * {"type": "user"|"assistant", "uuid", "parentUuid", "timestamp", "message":
 * {"role", "content": string or blocks}, "isSidechain", "isMeta"}; a "summary"
 * names the session; other types are bookkeeping. A session that was resumed
 * repeats messages in another file under the same ids, so the ids alone name
 * them and a file may go on where another ended.
 *
 * A sub-agent's talk ("isSidechain", "agentId") stands among the lines of its
 * session, or in a file of its own, <session>/subagents/agent-<id>.jsonl, which
 * comes after the session's. It begins without a parent, or with one of the
 * main talk, and becomes a chat beside that.
 */
#include "import/import.h"
#include "import/pieces.h"
#include "import/reader.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdio.h>

#define ID_SIZE 160
/* Of a sub-agent's name. */
#define AGENT_BYTES 40

static struct str external_id(struct str id, char out[ID_SIZE])
{
    int len = snprintf(out, ID_SIZE, "claude-code/%.*s",
                       (int)(id.len > 100 ? 100 : id.len), id.s);

    return (struct str){out, (size_t)len};
}

static bool is_true(const json_t *line, const char *field)
{
    return json_is_true(json_object_get(line, field));
}

/* The words of a slash command stand in its arguments; one without any, what
 * it printed and what the program explains of it are nobody's. */
static bool is_command(struct str text)
{
    size_t at = str_find(text, STR("<command-args>"), 0);
    struct str words = str_sub(text, at == SIZE_MAX ? text.len : at, text.len);
    size_t end = str_find(words, STR("</command-args>"), 0);

    words = str_sub(words, sizeof("<command-args>") - 1, end);
    return end != SIZE_MAX && str_trim(words).len > 0;
}

/* What the program says for itself, in the user's name or the model's. */
static bool is_plumbing(const json_t *line, const json_t *content)
{
    static const char *const marks[] = {
        "<command-name>", "<command-message>", "<local-command-stdout>",
        "<local-command-stderr>", "Caveat: The messages below"};
    const json_t *message = json_object_get(line, "message");
    struct str text = json_text(content);

    if (is_true(line, "isMeta") || is_true(line, "isApiErrorMessage") ||
        str_eq(import_text(message, "model"), STR("<synthetic>"))) {
        return true;
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_starts(text, str_of(marks[i]))) {
            return !is_command(text);
        }
    }
    return false;
}

/* Blocks that are all results of tools were not said by a person. */
static bool is_tool_result(const json_t *content)
{
    const json_t *block;
    size_t i;

    json_array_foreach (content, i, block) {
        if (!str_eq(import_text(block, "type"), STR("tool_result"))) {
            return false;
        }
    }
    return json_array_size(content) > 0;
}

/* A reply's reasoning is not part of what was said. NULL: nothing is left. */
static json_t *content_of(json_t *content, struct clew_error *err,
                          enum clew_status *out_status)
{
    json_t *out;
    json_t *block;
    size_t i;

    *out_status = CLEW_OK;
    if (json_is_string(content)) {
        return json_string_length(content) > 0 ? json_incref(content) : NULL;
    }
    out = json_array();
    json_array_foreach (content, i, block) {
        struct str type = import_text(block, "type");

        if (!str_eq(type, STR("thinking")) &&
            !str_eq(type, STR("redacted_thinking")) &&
            json_array_append(out, block) != 0) {
            *out_status = clew_no_memory(err);
        }
    }
    if (*out_status != CLEW_OK || json_array_size(out) == 0) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* --- side chains ------------------------------------------------------------
 */

/* A table of the memo, made if it is not there; NULL without memory. */
static json_t *table(struct importer *importer, const char *name)
{
    json_t *memo = importer_memo(importer);
    json_t *found = json_object_get(memo, name);

    if (!found) {
        found = json_object();
        return json_set(memo, name, found) ? found : NULL;
    }
    return found;
}

static bool note(json_t *table, struct str key, struct str value)
{
    return json_object_setn_new_nocheck(
               table, key.s, key.len,
               json_stringn_nocheck(value.s, value.len)) == 0;
}

static struct str noted(const json_t *table, struct str key)
{
    const json_t *value =
        key.s ? json_object_getn(table, key.s, key.len) : NULL;

    return json_text(value);
}

/* Whose talk a line is, and beside which: the main one of its session, whose
 * last message is remembered, or a sub-agent's. */
static enum clew_status find_side(struct importer *importer, const json_t *line,
                                  struct str id, struct import_message *out,
                                  struct clew_error *err)
{
    json_t *agents = table(importer, "claude-code agents");
    json_t *sessions = table(importer, "claude-code sessions");
    struct str session = import_id(line, "sessionId");
    struct str named = import_id(line, "agentId");
    struct str known;

    if (!agents || !sessions) {
        return clew_no_memory(err);
    }
    if (!is_true(line, "isSidechain")) {
        return !session.s || note(sessions, session, out->id)
                   ? CLEW_OK
                   : clew_no_memory(err);
    }
    known = noted(agents, out->parent);
    out->beside = noted(sessions, session);
    if (!known.s) { /* it begins */
        out->beside = out->parent.s ? out->parent : out->beside;
        out->parent = (struct str){0};
    }
    out->agent = known.s ? known : named.s ? named : id;
    out->agent = utf8_head(out->agent, AGENT_BYTES);
    return note(agents, out->id, out->agent) ? CLEW_OK : clew_no_memory(err);
}

enum clew_status import_claude_code(struct importer *importer, json_t *piece,
                                    int64_t number, struct clew_error *err)
{
    json_t *content =
        json_object_get(json_object_get(piece, "message"), "content");
    struct str type = import_text(piece, "type");
    struct str id = import_id(piece, "uuid");
    struct str parent = import_id(piece, "parentUuid");
    bool is_user = str_eq(type, STR("user"));
    bool is_said = is_user || str_eq(type, STR("assistant"));
    char own[ID_SIZE];
    char above[ID_SIZE];
    struct import_message out = {0};
    enum clew_status status = CLEW_OK;

    (void)number;
    if (str_eq(type, STR("summary"))) {
        return importer_title(importer, import_text(piece, "summary"), err);
    }
    if (!id.s) { /* bookkeeping that nothing follows has none */
        return is_said && content
                   ? clew_fail(err, CLEW_INVALID, "it has no \"uuid\"")
                   : CLEW_OK;
    }
    if (!parent.s) { /* behind a compaction the old talk goes on */
        parent = import_id(piece, "logicalParentUuid");
    }
    out.id = external_id(id, own);
    if (parent.s) {
        out.parent = external_id(parent, above);
    }
    status = is_said ? find_side(importer, piece, id, &out, err) : CLEW_OK;
    if (status != CLEW_OK) {
        return status;
    }
    if (is_said && !is_plumbing(piece, content)) {
        out.content = content_of(content, err, &status);
    }
    if (status != CLEW_OK || !out.content) {
        return status == CLEW_OK
                   ? importer_skip(importer, out.id, out.parent,
                                   is_said && !is_plumbing(piece, content)
                                       ? IMPORT_THINKING
                                       : IMPORT_PLUMBING,
                                   err)
                   : status;
    }
    out.role = !is_user                  ? "assistant"
               : is_tool_result(content) ? "tool"
                                         : "user";
    if (!clock_parse(import_text(piece, "timestamp"), &out.created_at_ms)) {
        status = clew_fail(err, CLEW_INVALID, "it has no \"timestamp\"");
    } else {
        status = importer_add(importer, &out, err);
    }
    json_decref(out.content);
    return status;
}
