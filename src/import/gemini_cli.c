/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemini_cli.c - sessions of Gemini CLI, and of Qwen Code, which began as it.
 *
 * Gemini CLI (~/.gemini/tmp/PROJECT/chats/session-*.jsonl) writes a head
 * {"sessionId", "projectHash", ...}, then messages {"id", "timestamp", "type":
 * "user"|"gemini"|"info"|..., "content": text or parts, "toolCalls": [{"name",
 * "resultDisplay"}]}. One that comes again replaces itself, {"$set":
 * {"messages"}} replaces many, {"$rewindTo": ID} goes back to before one; what
 * was said there stays, as a fork. Older versions wrote one object with
 * "messages". So a session is read whole, under a ceiling, before it is handed
 * on.
 *
 * Qwen Code (~/.qwen/projects/PROJECT/chats/ID.jsonl) writes lines like Claude
 * Code's, {"uuid", "parentUuid", "type", "message": {"parts"}}.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"
#include "base/json.h"

/* --- what both write -------------------------------------------------------
 */

/* What a tool gave back: {"response": {"output"}}. */
static void take_response(const json_t *answer, struct buf *out)
{
    const json_t *response = json_object_get(answer, "response");
    struct str output = import_text(response, "output");

    said_append(out, output.s ? output : import_text(response, "error"));
}

/* Text or parts, without a model's reasoning. */
static void take_parts(const json_t *content, struct buf *out)
{
    const json_t *part;
    size_t i;

    if (json_is_string(content)) {
        said_append(out, json_text(content));
        return;
    }
    json_array_foreach (content, i, part) {
        const json_t *call = json_object_get(part, "functionCall");
        const json_t *answer = json_object_get(part, "functionResponse");
        struct str text =
            json_is_string(part) ? json_text(part) : import_text(part, "text");

        if (json_is_true(json_object_get(part, "thought"))) {
            continue;
        }
        said_append(out, text);
        said_attach(out, import_text(call, "name"));
        take_response(answer, out);
        if (json_object_get(part, "inlineData") ||
            json_object_get(part, "fileData")) {
            said_attach(out, STR("file"));
        }
    }
}

/* What the program puts into the user's mouth. */
static bool is_plumbing(struct str text)
{
    text = str_trim(text);
    return str_starts(text, STR("<session_context>")) ||
           str_starts(text, STR("<hook_context>")) ||
           str_starts(text, STR("/"));
}

/* --- Gemini CLI ------------------------------------------------------------
 */

/* A session as it is gathered: {ID: {"record", "parent"}} in the order in
 * which they first came. */
struct session {
    json_t *messages;
    json_t *last; /* the id that the next one follows; NULL: none */
    struct buf id;
    size_t n_bytes;
};

static enum clew_status gather(struct session *s, json_t *record,
                               struct clew_error *err)
{
    const json_t *id = json_object_get(record, "id");
    const char *key = json_string_value(id);
    json_t *known = key ? json_object_get(s->messages, key) : NULL;
    json_t *entry;

    if (!key || !key[0]) {
        return import_text(record, "type").s &&
                       json_object_get(record, "content")
                   ? clew_fail(err, CLEW_INVALID, "a message has no \"id\"")
                   : CLEW_OK; /* bookkeeping */
    }
    entry = known ? json_incref(known) : json_object();
    if (!entry ||
        (!known && s->last && json_object_set(entry, "parent", s->last) != 0) ||
        json_object_set(entry, "record", record) != 0 ||
        (!known && json_object_set(s->messages, key, entry) != 0)) {
        json_decref(entry);
        return clew_no_memory(err);
    }
    json_decref(entry);
    json_decref(s->last);
    s->last = json_string(key);
    return s->last ? CLEW_OK : clew_no_memory(err);
}

/* Before that message; before all, if there is no such. */
static void rewind_to(struct session *s, const char *id)
{
    json_t *parent =
        json_object_get(json_object_get(s->messages, id), "parent");

    json_decref(s->last);
    s->last = json_incref(parent);
}

static enum clew_status read_record(struct session *s, json_t *record,
                                    struct clew_error *err)
{
    const json_t *set = json_object_get(record, "$set");
    const char *rewound =
        json_string_value(json_object_get(record, "$rewindTo"));
    json_t *many = json_object_get(set ? set : record, "messages");
    struct str id = import_id(record, "sessionId");
    json_t *one;
    enum clew_status status = CLEW_OK;
    size_t i;

    if (rewound) {
        rewind_to(s, rewound);
        return CLEW_OK;
    }
    if (id.s && s->id.len == 0) {
        (void)buf_append_str(&s->id, id); /* its failure stays in the buffer */
    }
    if (many && !json_is_array(many)) {
        return clew_fail(err, CLEW_INVALID, "its \"messages\" is no list");
    }
    json_array_foreach (many, i, one) {
        if (status == CLEW_OK) {
            status = gather(s, one, err);
        }
    }
    return status == CLEW_OK && !set && !many ? gather(s, record, err) : status;
}

static enum clew_status hand_on(struct importer *importer,
                                const struct session *s, const char *id,
                                const json_t *entry, struct clew_error *err)
{
    const json_t *record = json_object_get(entry, "record");
    struct str type = import_text(record, "type");
    bool is_user = str_eq(type, STR("user"));
    bool is_said = is_user || str_eq(type, STR("gemini"));
    struct str parent = import_id(entry, "parent");
    char own[SAID_ID_SIZE];
    char above[SAID_ID_SIZE];
    struct import_message out = {.role = is_user ? "user" : "assistant"};
    const json_t *call;
    struct buf text;
    size_t i;

    out.id = said_id("gemini-cli", buf_str(&s->id), str_of(id), own);
    if (parent.s) {
        out.parent = said_id("gemini-cli", buf_str(&s->id), parent, above);
    }
    buf_init(&text, SAID_MAX_BYTES);
    take_parts(json_object_get(record, "content"), &text);
    json_array_foreach (json_object_get(record, "toolCalls"), i, call) {
        said_attach(&text, import_text(call, "name"));
        said_append(&text, import_text(call, "resultDisplay"));
    }
    if (!is_said || (is_user && is_plumbing(buf_str(&text)))) {
        buf_release(&text);
        return importer_skip(importer, out.id, out.parent, IMPORT_PLUMBING,
                             err);
    }
    if (!clock_parse(import_text(record, "timestamp"), &out.created_at_ms)) {
        buf_release(&text);
        return clew_fail(err, CLEW_INVALID,
                         "message \"%.60s\" has no \"timestamp\"", id);
    }
    return said_add(importer, &out, &text, err);
}

static enum clew_status gather_all(struct session *s, struct pieces *pieces,
                                   struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    bool has = true;

    while (status == CLEW_OK) {
        json_t *record = NULL;

        status = pieces_next(pieces, &has, err);
        if (status != CLEW_OK || !has) {
            break;
        }
        s->n_bytes += pieces->text.len;
        if (s->n_bytes > PIECES_MAX_BYTES) {
            return clew_fail(err, CLEW_TOO_LARGE,
                             "the session has more than %u MB",
                             PIECES_MAX_BYTES >> 20);
        }
        status = json_parse(buf_str(&pieces->text), &record, err);
        if (status == CLEW_OK) {
            status = read_record(s, record, err);
        }
        json_decref(record);
    }
    return status;
}

bool import_gemini_cli_is(struct str head)
{
    struct str first = str_sub(head, 0, 512);

    return str_starts(str_trim(first), STR("{")) &&
           str_find(first, STR("\"sessionId\""), 0) != SIZE_MAX &&
           str_find(first, STR("\"projectHash\""), 0) != SIZE_MAX;
}

enum clew_status import_gemini_cli(struct importer *importer,
                                   struct pieces *pieces,
                                   struct clew_error *err)
{
    struct session s = {.messages = json_object()};
    enum clew_status status;
    const char *id;
    json_t *entry;

    if (pieces->is_array) {
        json_decref(s.messages);
        return clew_fail(err, CLEW_INVALID, "this is no export of gemini-cli");
    }
    buf_init(&s.id, SAID_ID_SIZE);
    status = s.messages ? gather_all(&s, pieces, err) : clew_no_memory(err);
    if (status == CLEW_OK && s.id.len == 0) {
        status =
            clew_fail(err, CLEW_INVALID, "the session has no \"sessionId\"");
    }
    if (status == CLEW_OK) {
        status = importer_begin(importer, (struct str){0}, true, err);
    }
    if (status == CLEW_OK) {
        json_object_foreach (s.messages, id, entry) {
            if (status == CLEW_OK) {
                status = hand_on(importer, &s, id, entry, err);
            }
        }
    }
    json_decref(s.messages);
    json_decref(s.last);
    buf_release(&s.id);
    return status;
}

/* --- Qwen Code -------------------------------------------------------------
 */

enum clew_status import_qwen(struct importer *importer, json_t *piece,
                             int64_t number, struct clew_error *err)
{
    const json_t *parts =
        json_object_get(json_object_get(piece, "message"), "parts");
    struct str type = import_text(piece, "type");
    struct str id = import_id(piece, "uuid");
    struct str parent = import_id(piece, "parentUuid");
    const char *role = str_eq(type, STR("user"))          ? "user"
                       : str_eq(type, STR("assistant"))   ? "assistant"
                       : str_eq(type, STR("tool_result")) ? "tool"
                                                          : NULL;
    char own[SAID_ID_SIZE];
    char above[SAID_ID_SIZE];
    struct import_message out = {.role = role};
    struct buf text;

    (void)number;
    if (!id.s) { /* bookkeeping that nothing follows has none */
        return role ? clew_fail(err, CLEW_INVALID, "it has no \"uuid\"")
                    : CLEW_OK;
    }
    out.id = said_id("qwen", id, (struct str){0}, own);
    if (parent.s) {
        out.parent = said_id("qwen", parent, (struct str){0}, above);
    }
    buf_init(&text, SAID_MAX_BYTES);
    take_parts(parts, &text);
    if (!role || (str_eq(type, STR("user")) && is_plumbing(buf_str(&text)))) {
        buf_release(&text);
        return importer_skip(importer, out.id, out.parent, IMPORT_PLUMBING,
                             err);
    }
    if (!clock_parse(import_text(piece, "timestamp"), &out.created_at_ms)) {
        buf_release(&text);
        return clew_fail(err, CLEW_INVALID, "it has no \"timestamp\"");
    }
    return said_add(importer, &out, &text, err);
}
