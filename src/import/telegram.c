/* SPDX-License-Identifier: Apache-2.0 */
/*
 * telegram.c - result.json of Telegram's export: one chat, or all of them.
 *
 * {"name", "type", "id", "messages": [{"id", "type": "message"|"service",
 * "date_unixtime", "date", "from", "text": string or [string or {"text"}],
 * "file_name", "media_type", "reply_to_message_id"}]}; all chats are in
 * {"chats": {"list": [chat]}}.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"
#include "base/json.h"

#include <stdio.h>

static void take_text(const json_t *value, struct buf *out)
{
    const json_t *part;
    size_t i;

    if (json_is_string(value)) {
        (void)buf_append(out, json_string_value(value),
                         json_string_length(value)); /* kept in it */
    }
    json_array_foreach (value, i, part) {
        struct str text =
            json_is_string(part) ? json_text(part) : import_text(part, "text");

        (void)buf_append(out, text.s ? text.s : "", text.len);
    }
}

static bool time_of(const json_t *message, int64_t *out_ms)
{
    int64_t seconds;
    struct str date = import_text(message, "date");
    char text[40];

    if (str_parse_int(import_text(message, "date_unixtime"), &seconds) &&
        seconds > 0 && seconds < CLOCK_MAX_MS / 1000) {
        *out_ms = seconds * 1000;
        return true;
    }
    /* older exports: local time without a zone, taken as UTC */
    (void)snprintf(text, sizeof(text), "%.*sZ",
                   (int)(date.len > 30 ? 30 : date.len), date.s ? date.s : "");
    return clock_parse(str_of(text), out_ms);
}

static enum clew_status take_message(struct importer *importer, struct str chat,
                                     const json_t *message, struct str *before,
                                     char own[SAID_ID_SIZE],
                                     struct clew_error *err)
{
    const json_t *id = json_object_get(message, "id");
    struct str file = import_text(message, "file_name");
    char number[32];
    struct import_message out = {.role = "user", .parent = *before};
    char copy[SAID_ID_SIZE];
    struct buf text;
    enum clew_status status;

    if (!json_is_integer(id)) {
        return clew_fail(err, CLEW_INVALID, "a message has no \"id\"");
    }
    (void)snprintf(number, sizeof(number), "%lld",
                   (long long)json_integer_value(id));
    out.id = said_id("telegram", chat, str_of(number), copy);
    if (!str_eq(import_text(message, "type"), STR("message"))) {
        return importer_skip(importer, out.id, out.parent, IMPORT_PLUMBING,
                             err);
    }
    if (!time_of(message, &out.created_at_ms)) {
        return clew_fail(err, CLEW_INVALID, "message %s has no \"date\"",
                         number);
    }
    out.name = import_id(message, "from");
    buf_init(&text, SAID_MAX_BYTES);
    take_text(json_object_get(message, "text"), &text);
    said_attach(&text, file.s ? file : import_text(message, "media_type"));
    if (text.len > 0) { /* what follows follows this one */
        (void)snprintf(own, SAID_ID_SIZE, "%s", copy);
        before->s = own;
        before->len = out.id.len;
    }
    out.parent = out.parent.s == own ? (struct str){0} : out.parent;
    status = said_add(importer, &out, &text, err);
    return status;
}

static enum clew_status take_chat(struct importer *importer, const json_t *chat,
                                  struct clew_error *err)
{
    const json_t *id = json_object_get(chat, "id");
    const json_t *messages = NULL;
    const json_t *message;
    char number[32];
    char ids[2][SAID_ID_SIZE]; /* in turn, so that the last one stays */
    struct str before = {0};
    enum clew_status status;
    size_t i;

    if (!json_is_integer(id)) {
        return clew_fail(err, CLEW_INVALID, "a chat has no \"id\"");
    }
    (void)snprintf(number, sizeof(number), "%lld",
                   (long long)json_integer_value(id));
    status = import_list(chat, "messages", &messages, err);
    if (status == CLEW_OK) {
        status =
            importer_begin(importer, import_text(chat, "name"), false, err);
    }
    json_array_foreach (messages, i, message) {
        char *own = before.s == ids[0] ? ids[1] : ids[0];

        if (status == CLEW_OK) {
            status = take_message(importer, str_of(number), message, &before,
                                  own, err);
        }
    }
    return status == CLEW_OK ? importer_end(importer, err) : status;
}

enum clew_status import_telegram(struct importer *importer, json_t *piece,
                                 int64_t number, struct clew_error *err)
{
    const json_t *chats = json_object_get(piece, "chats");
    const json_t *list = NULL;
    const json_t *chat;
    enum clew_status status;
    size_t i;

    (void)number;
    if (!chats) {
        return take_chat(importer, piece, err);
    }
    status = import_list(chats, "list", &list, err);
    json_array_foreach (list, i, chat) {
        if (status == CLEW_OK) {
            status = take_chat(importer, chat, err);
        }
    }
    return status;
}
