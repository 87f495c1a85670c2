/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.c - see cursor.h.
 *
 * The table cursorDiskKV has "composerData:ID" -> {"composerId", "name",
 * "createdAt", "fullConversationHeadersOnly": [{"bubbleId", "type"}]} and
 * "bubbleId:ID:BUBBLE" -> {"type": 1 (user) or 2, "text", "toolFormerData":
 * {"name", "result"}}; older ones hold the bubbles in "conversation". Bubbles
 * rarely have times: those of the chat are kept, a millisecond apart.
 */
#include "import/cursor.h"

#include "base/clock.h"
#include "base/json.h"
#include "import/pieces.h"
#include "import/said.h"

#include <sqlite3.h>
#include <string.h>

#define MAX_VALUE (64 << 20)

struct chat {
    struct importer *importer;
    sqlite3_stmt *find; /* a bubble by its key */
    struct str id;
    struct str before;
    int64_t time_ms;
    char ids[2][SAID_ID_SIZE];
};

bool cursor_is(FILE *file)
{
    static const char mark[] = "SQLite format 3";
    char head[sizeof(mark)];
    bool is_sqlite = fread(head, 1, sizeof(head), file) == sizeof(head) &&
                     memcmp(head, mark, sizeof(mark)) == 0;

    rewind(file);
    return is_sqlite;
}

static enum clew_status broken(sqlite3 *db, struct clew_error *err)
{
    return clew_fail(err, CLEW_INVALID, "the database cannot be read: %.150s",
                     db ? sqlite3_errmsg(db) : "out of memory");
}

/* The words of a bubble, and what its tool gave back. */
static void take_words(const json_t *bubble, struct buf *out)
{
    const json_t *tool = json_object_get(bubble, "toolFormerData");

    said_append(out, import_text(bubble, "text"));
    said_attach(out, import_text(tool, "name"));
    said_append(out, import_text(tool, "result"));
}

static enum clew_status take_bubble(struct chat *chat, const json_t *bubble,
                                    struct str id, struct clew_error *err)
{
    json_int_t type = json_integer_value(json_object_get(bubble, "type"));
    char *own = chat->before.s == chat->ids[0] ? chat->ids[1] : chat->ids[0];
    struct import_message out = {.role = type == 1 ? "user" : "assistant",
                                 .parent = chat->before,
                                 .created_at_ms = chat->time_ms++};
    enum clew_status status;
    struct buf text;
    size_t len;

    if (!id.s) {
        return clew_fail(err, CLEW_INVALID, "a bubble has no \"bubbleId\"");
    }
    out.id = said_id("cursor", chat->id, id, own);
    buf_init(&text, SAID_MAX_BYTES);
    take_words(bubble, &text);
    len = text.len;
    status = said_add(chat->importer, &out, &text, err);
    chat->before = len > 0 ? out.id : chat->before;
    return status;
}

/* A bubble that is kept by itself; one that is gone is passed over. */
static enum clew_status find_bubble(struct chat *chat, struct str id,
                                    struct clew_error *err)
{
    char key[SAID_ID_SIZE];
    struct str name;
    json_t *bubble = NULL;
    enum clew_status status = CLEW_OK;

    if (!id.s) {
        return CLEW_OK;
    }
    (void)snprintf(key, sizeof(key), "bubbleId:%.*s:%.*s",
                   (int)(chat->id.len > 100 ? 100 : chat->id.len), chat->id.s,
                   (int)(id.len > 100 ? 100 : id.len), id.s);
    name = str_of(key);
    (void)sqlite3_reset(chat->find); /* what it says was said before */
    if (sqlite3_bind_text(chat->find, 1, name.s, (int)name.len,
                          SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(chat->find) == SQLITE_ROW) {
        struct str text = {(const char *)sqlite3_column_blob(chat->find, 0),
                           (size_t)sqlite3_column_bytes(chat->find, 0)};

        status = text.s ? json_parse(text, &bubble, err) : CLEW_OK;
        if (status == CLEW_OK && bubble) {
            status = take_bubble(chat, bubble, id, err);
        }
    }
    json_decref(bubble);
    return status;
}

static enum clew_status take_chat(struct chat *chat, const json_t *data,
                                  struct clew_error *err)
{
    const json_t *heads = json_object_get(data, "fullConversationHeadersOnly");
    const json_t *item;
    enum clew_status status;
    double time_ms = json_number_value(json_object_get(data, "createdAt"));
    size_t i;

    chat->id = import_id(data, "composerId");
    chat->before = (struct str){0};
    if (!chat->id.s || time_ms < 1) {
        return CLEW_OK; /* an empty sheet */
    }
    if (time_ms > (double)CLOCK_MAX_MS) {
        return clew_fail(err, CLEW_INVALID, "\"createdAt\" is no time");
    }
    chat->time_ms = (int64_t)time_ms;
    status =
        importer_begin(chat->importer, import_text(data, "name"), false, err);
    json_array_foreach (json_object_get(data, "conversation"), i, item) {
        if (status == CLEW_OK) {
            status = take_bubble(chat, item, import_id(item, "bubbleId"), err);
        }
    }
    json_array_foreach (heads, i, item) {
        if (status == CLEW_OK) {
            status = find_bubble(chat, import_id(item, "bubbleId"), err);
        }
    }
    return status == CLEW_OK ? importer_end(chat->importer, err) : status;
}

static enum clew_status each_chat(struct importer *importer, sqlite3 *db,
                                  sqlite3_stmt *list, sqlite3_stmt *find,
                                  struct clew_error *err)
{
    struct chat chat = {.importer = importer, .find = find};
    enum clew_status status = CLEW_OK;
    int64_t number = 0;
    int step = SQLITE_ROW;

    while (status == CLEW_OK && (step = sqlite3_step(list)) == SQLITE_ROW) {
        struct str text = {(const char *)sqlite3_column_blob(list, 0),
                           (size_t)sqlite3_column_bytes(list, 0)};
        json_t *data = NULL;
        struct clew_error why;

        number++;
        status = text.len > 0 ? json_parse(text, &data, err) : CLEW_OK;
        if (status == CLEW_OK && data) {
            status = take_chat(&chat, data, err);
        }
        json_decref(data);
        if (status != CLEW_OK) {
            why = *err;
            (void)clew_fail(err, status, "chat %lld: %.200s", (long long)number,
                            why.message);
        }
    }
    return status == CLEW_OK && step != SQLITE_DONE ? broken(db, err) : status;
}

enum clew_status cursor_read(struct importer *importer, const char *path,
                             bool *out_has, struct clew_error *err)
{
    static const char list_sql[] =
        "SELECT value FROM cursorDiskKV WHERE key >= 'composerData:'"
        " AND key < 'composerData;' ORDER BY key";
    static const char find_sql[] = "SELECT value FROM cursorDiskKV"
                                   " WHERE key = ?1";
    sqlite3 *db = NULL;
    sqlite3_stmt *list = NULL;
    sqlite3_stmt *find = NULL;
    enum clew_status status = CLEW_OK;

    *out_has = true;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        status = broken(db, err);
    } else if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_schema", -1, &list,
                                  NULL) != SQLITE_OK ||
               sqlite3_step(list) == SQLITE_NOTADB) {
        status = broken(db, err);
    }
    (void)sqlite3_finalize(list);
    list = NULL;
    if (status == CLEW_OK) {
        (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_VALUE);
        *out_has =
            sqlite3_prepare_v2(db, list_sql, -1, &list, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(db, find_sql, -1, &find, NULL) == SQLITE_OK;
    }
    if (status == CLEW_OK && *out_has) {
        status = each_chat(importer, db, list, find, err);
    }
    (void)sqlite3_finalize(list);
    (void)sqlite3_finalize(find);
    (void)sqlite3_close(db);
    return status;
}
