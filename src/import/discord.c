/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discord.c - a channel of Discord: as DiscordChatExporter writes it, and as
 * Discord's own data package does.
 *
 * The exporter's file is {"guild": {"name"}, "channel": {"id", "name"},
 * "messages": [{"id", "type", "timestamp", "content", "author": {"name",
 * "nickname"}, "attachments": [{"fileName"}], "embeds"}]}, oldest first. The
 * package has messages/cID/messages.json, an array of {"ID", "Timestamp",
 * "Contents", "Attachments"}: what the user said, without the others.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static bool is_talk(struct str type)
{
    return !type.s || str_eq(type, STR("Default")) ||
           str_eq(type, STR("Reply")) ||
           str_eq(type, STR("ThreadStarterMessage"));
}

static enum clew_status take_message(struct importer *importer,
                                     struct str channel, const json_t *message,
                                     struct clew_error *err)
{
    const json_t *author = json_object_get(message, "author");
    struct str id = import_id(message, "id");
    char own[SAID_ID_SIZE];
    struct import_message out = {.role = "user"};
    const json_t *item;
    struct buf text;
    enum clew_status status = CLEW_OK;
    size_t i;

    if (!id.s ||
        !clock_parse(import_text(message, "timestamp"), &out.created_at_ms)) {
        return clew_fail(err, CLEW_INVALID,
                         "a message has no \"id\" or \"timestamp\"");
    }
    out.id = said_id("discord", channel, id, own);
    out.parent = said_last(importer, channel);
    if (!is_talk(import_text(message, "type"))) {
        return importer_skip(importer, out.id, out.parent, IMPORT_PLUMBING,
                             err);
    }
    out.name = import_id(author, "nickname");
    out.name = out.name.s ? out.name : import_id(author, "name");
    buf_init(&text, SAID_MAX_BYTES);
    said_append(&text, import_text(message, "content"));
    json_array_foreach (json_object_get(message, "attachments"), i, item) {
        said_attach(&text, import_text(item, "fileName"));
    }
    i = text.len;
    status = said_add(importer, &out, &text, err);
    return status == CLEW_OK && i > 0
               ? said_set_last(importer, channel, out.id, err)
               : status;
}

enum clew_status import_discord(struct importer *importer, json_t *piece,
                                int64_t number, struct clew_error *err)
{
    const json_t *channel = json_object_get(piece, "channel");
    struct str id = import_id(channel, "id");
    const json_t *messages = NULL;
    const json_t *message;
    enum clew_status status;
    size_t i;

    (void)number;
    if (!id.s) {
        return clew_fail(err, CLEW_INVALID, "its channel has no \"id\"");
    }
    status = import_list(piece, "messages", &messages, err);
    if (status == CLEW_OK) {
        status =
            importer_begin(importer, import_text(channel, "name"), false, err);
    }
    json_array_foreach (messages, i, message) {
        if (status == CLEW_OK) {
            status = take_message(importer, id, message, err);
        }
    }
    return status == CLEW_OK ? importer_end(importer, err) : status;
}

enum clew_status import_discord_package(struct importer *importer,
                                        json_t *piece, int64_t number,
                                        struct clew_error *err)
{
    struct str channel = import_folder(importer);
    struct str time = import_text(piece, "Timestamp");
    const json_t *id = json_object_get(piece, "ID");
    char own[SAID_ID_SIZE];
    char digits[40];
    char when[48];
    struct import_message out = {.role = "user"};
    struct buf text;
    enum clew_status status;
    size_t len;

    (void)number;
    /* a number in older packages, a text in newer ones; "2024-01-02 10:00:00"
     */
    (void)snprintf(digits, sizeof(digits), "%lld",
                   (long long)json_integer_value(id));
    (void)snprintf(when, sizeof(when), "%.*s%s",
                   (int)(time.len > 40 ? 40 : time.len), time.s ? time.s : "",
                   time.len == 19 ? "Z" : "");
    if (strlen(when) > 10 && when[10] == ' ') {
        when[10] = 'T';
    }
    if (!clock_parse(str_of(when), &out.created_at_ms) ||
        (!json_is_integer(id) && !import_id(piece, "ID").s)) {
        return clew_fail(err, CLEW_INVALID,
                         "a message has no \"ID\" or \"Timestamp\"");
    }
    out.id = said_id(
        "discord", channel,
        json_is_integer(id) ? str_of(digits) : import_text(piece, "ID"), own);
    buf_init(&text, SAID_MAX_BYTES);
    said_append(&text, import_text(piece, "Contents"));
    said_attach(&text, import_text(piece, "Attachments"));
    out.parent = said_last(importer, channel);
    len = text.len;
    status = said_add(importer, &out, &text, err);
    return status == CLEW_OK && len > 0
               ? said_set_last(importer, channel, out.id, err)
               : status;
}
