/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slack.c - a message of a Slack export: channel/2024-01-02.json in its zip.
 *
 * {"type": "message", "user", "text", "ts": "1700000000.000100", "thread_ts",
 * "subtype", "user_profile": {"real_name", "display_name"}, "files":
 * [{"name"}]}. A channel is a chat, over all its days; a thread is a fork of it
 * at the message it hangs on. Names of people are in users.json beside the
 * channels.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Joined, left, renamed: said by nobody. */
static bool is_talk(const json_t *piece)
{
    struct str subtype = import_text(piece, "subtype");

    return !subtype.s || str_eq(subtype, STR("thread_broadcast")) ||
           str_eq(subtype, STR("bot_message")) ||
           str_eq(subtype, STR("file_share")) ||
           str_eq(subtype, STR("me_message"));
}

static struct str name_of(struct importer *importer, const json_t *piece)
{
    const json_t *profile = json_object_get(piece, "user_profile");
    struct str name = import_id(profile, "real_name");
    char key[160];
    struct str user = import_id(piece, "user");

    name = name.s ? name : import_id(profile, "display_name");
    name = name.s ? name : import_id(piece, "username");
    if (!name.s && user.s) {
        (void)snprintf(key, sizeof(key), "slack user %.*s",
                       (int)(user.len > 100 ? 100 : user.len), user.s);
        name = said_last(importer, str_of(key));
        name = name.s ? name : user;
    }
    return name;
}

/* users.json: remember who is called what. */
enum clew_status import_slack_user(struct importer *importer, json_t *piece,
                                   int64_t number, struct clew_error *err)
{
    struct str name = import_id(piece, "real_name");
    struct str id = import_id(piece, "id");
    char key[160];

    (void)number;
    name = name.s ? name : import_id(piece, "name");
    if (!id.s || !name.s) {
        return CLEW_OK;
    }
    (void)snprintf(key, sizeof(key), "slack user %.*s",
                   (int)(id.len > 100 ? 100 : id.len), id.s);
    return said_set_last(importer, str_of(key), name, err);
}

enum clew_status import_slack(struct importer *importer, json_t *piece,
                              int64_t number, struct clew_error *err)
{
    struct str channel = import_folder(importer);
    struct str stamp = import_id(piece, "ts");
    struct str thread = import_id(piece, "thread_ts");
    bool is_reply = thread.s && !str_eq(thread, stamp);
    char own[SAID_ID_SIZE];
    char root[SAID_ID_SIZE];
    char line[SAID_ID_SIZE];
    struct import_message out = {.role = "user"};
    struct str key = channel;
    const json_t *file;
    struct buf text;
    double seconds = stamp.s ? strtod(stamp.s, NULL) : 0;
    enum clew_status status;
    size_t len;
    size_t i;

    (void)number;
    if (seconds <= 0 || seconds > 4e9) {
        return clew_fail(err, CLEW_INVALID, "a message has no \"ts\"");
    }
    out.created_at_ms = (int64_t)(seconds * 1000);
    out.id = said_id("slack", channel, stamp, own);
    if (is_reply) { /* goes on the thread, or begins it at its root */
        key = said_id("slack thread", channel, thread, line);
        out.parent = said_last(importer, key);
        out.parent =
            out.parent.s ? out.parent : said_id("slack", channel, thread, root);
    } else {
        out.parent = said_last(importer, channel);
    }
    if (!is_talk(piece)) {
        return importer_skip(importer, out.id, out.parent, IMPORT_PLUMBING,
                             err);
    }
    out.name = name_of(importer, piece);
    buf_init(&text, SAID_MAX_BYTES);
    said_append(&text, import_text(piece, "text"));
    json_array_foreach (json_object_get(piece, "files"), i, file) {
        said_attach(&text, import_text(file, "name"));
    }
    len = text.len;
    status = said_add(importer, &out, &text, err);
    return status == CLEW_OK && len > 0
               ? said_set_last(importer, key, out.id, err)
               : status;
}
