/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claude_ai.c - a conversation of Claude.ai's conversations.json.
 *
 * {"uuid", "name", "created_at", "chat_messages": [{"uuid", "sender":
 * "human"|"assistant", "text", "content": [{"type", "text"}], "created_at",
 * "attachments": [{"file_name", "extracted_content"}], and in newer exports
 * "parent_message_uuid"}]}. Without parents the messages are a line.
 */
#include "import/import.h"
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static struct str external_id(struct str conversation, struct str message,
                              char out[SAID_ID_SIZE])
{
    return said_id("claude-ai", conversation, message, out);
}

static void add_text(struct buf *out, struct str text)
{
    if (text.len > 0) {
        (void)buf_printf(out, "%s", out->len ? "\n" : ""); /* kept in it */
        (void)buf_append(out, text.s, text.len);
    }
}

/* The words of the message, then what was attached as text. NULL: nothing. */
static json_t *content_of(const json_t *message, struct clew_error *err,
                          enum clew_status *out_status)
{
    const json_t *block;
    struct buf text;
    size_t i;

    buf_init(&text, SAID_MAX_BYTES);
    json_array_foreach (json_object_get(message, "content"), i, block) {
        if (str_eq(import_text(block, "type"), STR("text"))) {
            add_text(&text, import_text(block, "text"));
        }
    }
    if (text.len == 0) {
        add_text(&text, import_text(message, "text"));
    }
    json_array_foreach (json_object_get(message, "attachments"), i, block) {
        struct str name = import_text(block, "file_name");
        struct str words = import_text(block, "extracted_content");

        if (words.len > 0) {
            (void)buf_printf(&text, "%s[%.*s]", text.len ? "\n\n" : "",
                             name.s ? (int)name.len : 10,
                             name.s ? name.s : "attachment");
            add_text(&text, words);
        }
    }
    return said_take(&text, out_status, err);
}

static enum clew_status take_message(struct importer *importer,
                                     struct str conversation,
                                     const json_t *message, struct str parent,
                                     int64_t *time_ms, struct clew_error *err)
{
    char own[SAID_ID_SIZE];
    struct str id = import_id(message, "uuid");
    struct import_message out = {.parent = parent};
    enum clew_status status = CLEW_OK;

    if (!id.s) {
        return clew_fail(err, CLEW_INVALID, "a message has no \"uuid\"");
    }
    out.id = external_id(conversation, id, own);
    out.role = str_eq(import_text(message, "sender"), STR("human"))
                   ? "user"
                   : "assistant";
    if (!clock_parse(import_text(message, "created_at"), time_ms) &&
        *time_ms == 0) {
        return clew_fail(err, CLEW_INVALID, "a message has no \"created_at\"");
    }
    out.created_at_ms = *time_ms;
    out.content = content_of(message, err, &status);
    if (status == CLEW_OK) {
        status = out.content ? importer_add(importer, &out, err)
                             : importer_skip(importer, out.id, parent,
                                             IMPORT_EMPTY, err);
    }
    json_decref(out.content);
    return status;
}

enum clew_status import_claude_ai(struct importer *importer, json_t *piece,
                                  int64_t number, struct clew_error *err)
{
    const json_t *messages = json_object_get(piece, "chat_messages");
    struct str conversation = import_id(piece, "uuid");
    char above[SAID_ID_SIZE];
    struct str before = {0};
    const json_t *message;
    int64_t time_ms = 0;
    enum clew_status status;
    size_t i;

    (void)number;
    if (!conversation.s || !json_is_array(messages)) {
        return clew_fail(err, CLEW_INVALID,
                         "it has no \"uuid\" or no \"chat_messages\"");
    }
    /* Where a message has no time of its own. */
    (void)clock_parse(import_text(piece, "created_at"), &time_ms);
    status = importer_begin(importer, import_text(piece, "name"), true, err);
    json_array_foreach (messages, i, message) {
        struct str parent = import_id(message, "parent_message_uuid");

        if (status != CLEW_OK) {
            return status;
        }
        parent = parent.s ? parent : before;
        status = take_message(
            importer, conversation, message,
            parent.s ? external_id(conversation, parent, above) : parent,
            &time_ms, err);
        before = import_id(message, "uuid");
    }
    return status == CLEW_OK ? importer_end(importer, err) : status;
}
