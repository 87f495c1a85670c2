/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencode.c - what `opencode export` writes, and OpenCode's database.
 *
 * The export: {"info": {"id", "title", "time"}, "messages": [{"info": {"id",
 * "role", "time": {"created"}}, "parts": [{"type": "text"|"tool"|..., "text",
 * "tool", "state": {"input", "output"}}]}]}.
 *
 * The database (since 1.2) has the same in three tables: "session" (id,
 * parent_id, title), "message" (id, session_id, data: the info without its id)
 * and "part" (id, message_id, data). Ids rise with time. A session with a
 * parent is a sub-agent's, and is kept beside its parent's talk.
 */
#include "import/opencode.h"

#include "base/clock.h"
#include "base/json.h"
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define MAX_VALUE (64 << 20)

/* One session as it is read: the last of its messages, and whose it is. */
struct line {
    struct importer *importer;
    struct str session;
    struct str before;
    struct str agent;  /* s == NULL: a person's */
    struct str beside; /* a message of the talk it is beside */
    char ids[2][SAID_ID_SIZE];
};

static const char *role_of(struct str role)
{
    return str_eq(role, STR("user"))        ? "user"
           : str_eq(role, STR("assistant")) ? "assistant"
                                            : NULL;
}

static void take_part(const json_t *part, struct buf *out)
{
    const json_t *state = json_object_get(part, "state");
    struct str type = import_text(part, "type");
    struct str tool = import_text(part, "tool");
    struct str file = import_text(part, "filename");

    if (str_eq(type, STR("text"))) {
        if (!json_is_true(json_object_get(part, "synthetic"))) {
            said_append(out, import_text(part, "text"));
        }
    } else if (str_eq(type, STR("tool"))) {
        said_attach(out, tool);
        said_append(out, import_text(state, "output"));
    } else if (str_eq(type, STR("file"))) {
        said_attach(out, file.s ? file : STR("file"));
    }
}

/* A message, the `number`-th of its session. Releases `text`. */
static enum clew_status take_message(struct line *line, const json_t *head,
                                     struct str id, size_t number,
                                     struct buf *text, struct clew_error *err)
{
    const json_t *created =
        json_object_get(json_object_get(head, "time"), "created");
    struct import_message out = {.role = role_of(import_text(head, "role")),
                                 .parent = line->before,
                                 .agent = line->agent,
                                 .beside = line->beside};
    char *own = line->before.s == line->ids[0] ? line->ids[1] : line->ids[0];
    size_t len = text->len;
    enum clew_status status;

    if (!id.s || !out.role || !json_is_number(created)) {
        buf_release(text);
        return clew_fail(err, CLEW_INVALID,
                         "message %zu has no \"id\", \"role\" or \"time\"",
                         number);
    }
    out.id = said_id("opencode", line->session, id, own);
    if (json_number_value(created) < 0 ||
        json_number_value(created) > (double)CLOCK_MAX_MS) {
        buf_release(text);
        return clew_fail(err, CLEW_INVALID,
                         "message %zu: \"created\" is no time", number);
    }
    out.created_at_ms = (int64_t)json_number_value(created);
    status = said_add(line->importer, &out, text, err);
    line->before = len > 0 ? out.id : line->before;
    return status;
}

enum clew_status import_opencode(struct importer *importer, json_t *piece,
                                 int64_t number, struct clew_error *err)
{
    const json_t *info = json_object_get(piece, "info");
    struct line line = {.importer = importer, .session = import_id(info, "id")};
    const json_t *messages = NULL;
    const json_t *message;
    enum clew_status status;
    size_t i;

    (void)number;
    if (!line.session.s) {
        return clew_fail(err, CLEW_INVALID, "the session has no \"id\"");
    }
    status = import_list(piece, "messages", &messages, err);
    if (status == CLEW_OK) {
        status =
            importer_begin(importer, import_text(info, "title"), false, err);
    }
    json_array_foreach (messages, i, message) {
        const json_t *head = json_object_get(message, "info");
        const json_t *part;
        struct buf text;
        size_t k;

        if (status != CLEW_OK) {
            return status;
        }
        buf_init(&text, SAID_MAX_BYTES);
        json_array_foreach (json_object_get(message, "parts"), k, part) {
            take_part(part, &text);
        }
        status =
            take_message(&line, head, import_id(head, "id"), i + 1, &text, err);
    }
    return status == CLEW_OK ? importer_end(importer, err) : status;
}

/* --- the database ----------------------------------------------------------
 */

enum { SESSIONS, MESSAGES, PARTS, FIRST, N_QUERIES };

static const char *const queries[N_QUERIES] = {
    [SESSIONS] = "SELECT id, title, parent_id FROM session"
                 " ORDER BY time_created, id",
    [MESSAGES] = "SELECT id, data FROM message WHERE session_id = ?1"
                 " ORDER BY time_created, id",
    [PARTS] = "SELECT data FROM part WHERE message_id = ?1 ORDER BY id",
    [FIRST] = "SELECT id FROM message WHERE session_id = ?1"
              " ORDER BY time_created, id LIMIT 1",
};

struct base {
    sqlite3 *db;
    sqlite3_stmt *of[N_QUERIES];
};

static enum clew_status broken(sqlite3 *db, struct clew_error *err)
{
    return clew_fail(err, CLEW_INVALID, "the database cannot be read: %.150s",
                     db ? sqlite3_errmsg(db) : "out of memory");
}

static struct str column(sqlite3_stmt *row, int at)
{
    const void *text = sqlite3_column_blob(row, at);

    return (struct str){text, text ? (size_t)sqlite3_column_bytes(row, at) : 0};
}

/* Ask for what belongs to `id`; false if it cannot be. */
static bool ask(sqlite3_stmt *query, struct str id)
{
    (void)sqlite3_reset(query); /* what it says was said before */
    return sqlite3_bind_text(query, 1, id.s, (int)id.len, SQLITE_TRANSIENT) ==
           SQLITE_OK;
}

static enum clew_status read_parts(const struct base *base, struct str id,
                                   struct buf *out, struct clew_error *err)
{
    sqlite3_stmt *parts = base->of[PARTS];
    enum clew_status status = CLEW_OK;
    int step = SQLITE_DONE;

    if (!ask(parts, id)) {
        return broken(base->db, err);
    }
    while (status == CLEW_OK && (step = sqlite3_step(parts)) == SQLITE_ROW) {
        json_t *part = NULL;

        status = json_parse(column(parts, 0), &part, err);
        if (status == CLEW_OK) {
            take_part(part, out);
        }
        json_decref(part);
    }
    return status == CLEW_OK && step != SQLITE_DONE ? broken(base->db, err)
                                                    : status;
}

static enum clew_status read_message(const struct base *base, struct line *line,
                                     size_t number, struct clew_error *err)
{
    struct str id = column(base->of[MESSAGES], 0);
    json_t *head = NULL;
    struct buf text;
    enum clew_status status =
        json_parse(column(base->of[MESSAGES], 1), &head, err);

    buf_init(&text, SAID_MAX_BYTES);
    if (status == CLEW_OK) {
        status = read_parts(base, id, &text, err);
    }
    if (status == CLEW_OK) {
        status = take_message(line, head, id.len > 0 ? id : (struct str){0},
                              number, &text, err);
    } else {
        buf_release(&text);
    }
    json_decref(head);
    return status;
}

/* A sub-agent's session is kept beside its parent's first message. */
static void find_parent(const struct base *base, struct str parent,
                        struct line *line, char out[SAID_ID_SIZE])
{
    if (parent.len == 0) {
        return;
    }
    line->agent = line->session;
    if (ask(base->of[FIRST], parent) &&
        sqlite3_step(base->of[FIRST]) == SQLITE_ROW) {
        line->beside =
            said_id("opencode", parent, column(base->of[FIRST], 0), out);
    }
}

static enum clew_status read_session(const struct base *base,
                                     struct importer *importer,
                                     struct clew_error *err)
{
    sqlite3_stmt *row = base->of[SESSIONS];
    struct line line = {.importer = importer, .session = column(row, 0)};
    char beside[SAID_ID_SIZE];
    enum clew_status status;
    int step = SQLITE_DONE;
    size_t n = 0;

    if (line.session.len == 0 || !ask(base->of[MESSAGES], line.session)) {
        return clew_fail(err, CLEW_INVALID, "a session has no \"id\"");
    }
    find_parent(base, column(row, 2), &line, beside);
    status = importer_begin(importer, column(row, 1), false, err);
    while (status == CLEW_OK &&
           (step = sqlite3_step(base->of[MESSAGES])) == SQLITE_ROW) {
        status = read_message(base, &line, ++n, err);
    }
    if (status == CLEW_OK && step != SQLITE_DONE) {
        return broken(base->db, err);
    }
    return status == CLEW_OK ? importer_end(importer, err) : status;
}

static enum clew_status read_sessions(const struct base *base,
                                      struct importer *importer,
                                      struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    int step = SQLITE_DONE;
    int64_t number = 0;

    while (status == CLEW_OK &&
           (step = sqlite3_step(base->of[SESSIONS])) == SQLITE_ROW) {
        number++;
        status = read_session(base, importer, err);
        if (status != CLEW_OK) {
            struct clew_error why = *err;

            (void)clew_fail_code(err, status, why.code, "session %lld: %.200s",
                                 (long long)number, why.message);
        }
    }
    return status == CLEW_OK && step != SQLITE_DONE ? broken(base->db, err)
                                                    : status;
}

enum clew_status opencode_read(struct importer *importer, const char *path,
                               bool *out_has, struct clew_error *err)
{
    struct base base = {0};
    enum clew_status status = CLEW_OK;

    *out_has = true;
    if (sqlite3_open_v2(path, &base.db, SQLITE_OPEN_READONLY, NULL) !=
        SQLITE_OK) {
        status = broken(base.db, err);
    } else {
        (void)sqlite3_limit(base.db, SQLITE_LIMIT_LENGTH, MAX_VALUE);
    }
    for (size_t i = 0; status == CLEW_OK && *out_has && i < N_QUERIES; i++) {
        *out_has = sqlite3_prepare_v2(base.db, queries[i], -1, &base.of[i],
                                      NULL) == SQLITE_OK;
    }
    if (status == CLEW_OK && *out_has) {
        status = read_sessions(&base, importer, err);
    }
    for (size_t i = 0; i < N_QUERIES; i++) {
        (void)sqlite3_finalize(base.of[i]);
    }
    (void)sqlite3_close(base.db);
    return status;
}
