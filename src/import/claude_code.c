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
 */
#include "import/import.h"
#include "import/pieces.h"
#include "import/reader.h"

#include "base/clock.h"

#include <stdio.h>

#define ID_SIZE 160

static struct str external_id(struct str id, char out[ID_SIZE])
{
    int len = snprintf(out, ID_SIZE, "claude-code/%.*s",
                       (int)(id.len > 100 ? 100 : id.len), id.s);

    return (struct str){out, (size_t)len};
}

/* What the program says for itself in the user's name. */
static bool is_plumbing(const json_t *line, const json_t *content)
{
    static const char *const marks[] = {
        "<command-name>", "<command-message>", "<local-command-stdout>",
        "<local-command-stderr>", "Caveat: The messages below"};
    struct str text = {json_string_value(content), json_string_length(content)};

    if (json_is_true(json_object_get(line, "isMeta")) ||
        json_is_true(json_object_get(line, "isSidechain")) ||
        json_is_true(json_object_get(line, "isApiErrorMessage"))) {
        return true;
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_starts(text, str_of(marks[i]))) {
            return true;
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
    if (!id.s) {
        return CLEW_OK; /* bookkeeping that nothing follows */
    }
    if (!parent.s) { /* behind a compaction the old talk goes on */
        parent = import_id(piece, "logicalParentUuid");
    }
    out.id = external_id(id, own);
    if (parent.s) {
        out.parent = external_id(parent, above);
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
