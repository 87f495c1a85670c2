/* SPDX-License-Identifier: Apache-2.0 */
/*
 * continue.c - sessions of Continue (~/.continue/sessions/ID.json).
 *
 * {"sessionId", "title", "workspaceDirectory", "history": [{"message": {"role",
 * "content": text or [{"type": "text", "text"}], "toolCalls"}}]}. Messages have
 * no ids and no times: one is named by all that was said up to it, and its time
 * is the file's, a millisecond apart; that of a file in a zip is now.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"

#include <sys/stat.h>

static const char *role_of(struct str role)
{
    return str_eq(role, STR("user"))        ? "user"
           : str_eq(role, STR("assistant")) ? "assistant"
           : str_eq(role, STR("tool"))      ? "tool"
                                            : NULL;
}

/* When the file was last written. */
static int64_t time_of(const struct importer *importer)
{
    const char *path = importer_source(importer);
    struct stat info;

    return path && path[0] && stat(path, &info) == 0
               ? (int64_t)info.st_mtim.tv_sec * 1000
               : clock_now_ms(&clock_system);
}

static void take_words(const json_t *message, struct buf *out)
{
    const json_t *content = json_object_get(message, "content");
    const json_t *part;
    size_t i;

    said_append(out, import_text(message, "content"));
    json_array_foreach (content, i, part) {
        said_append(out, import_text(part, "text"));
        if (json_object_get(part, "imageUrl")) {
            said_attach(out, STR("image"));
        }
    }
    json_array_foreach (json_object_get(message, "toolCalls"), i, part) {
        said_attach(out,
                    import_text(json_object_get(part, "function"), "name"));
    }
}

enum clew_status import_continue(struct importer *importer, json_t *piece,
                                 int64_t number, struct clew_error *err)
{
    const json_t *history = NULL;
    struct str session = import_id(piece, "sessionId");
    int64_t time_ms;
    char ids[2][SAID_ID_SIZE];
    struct str before = {0};
    const json_t *item;
    enum clew_status status;
    size_t i;

    (void)number;
    if (!session.s) {
        return clew_fail(err, CLEW_INVALID, "the session has no \"sessionId\"");
    }
    status = import_list(piece, "history", &history, err);
    time_ms = time_of(importer) - (int64_t)json_array_size(history);
    if (status == CLEW_OK) {
        status =
            importer_begin(importer, import_text(piece, "title"), false, err);
    }
    json_array_foreach (history, i, item) {
        const json_t *message = json_object_get(item, "message");
        struct import_message out = {.role =
                                         role_of(import_text(message, "role")),
                                     .parent = before,
                                     .created_at_ms = time_ms + (int64_t)i};
        char *own = before.s == ids[0] ? ids[1] : ids[0];
        struct buf text;

        if (status != CLEW_OK) {
            return status;
        }
        buf_init(&text, SAID_MAX_BYTES);
        take_words(message, &text);
        out.id = said_hash("continue", before.s ? before : session,
                           buf_str(&text), 0, 0, own);
        if (!out.role || text.len == 0) { /* a system's word, or nothing */
            status =
                importer_skip(importer, out.id, out.parent,
                              out.role ? IMPORT_EMPTY : IMPORT_PLUMBING, err);
            buf_release(&text);
            continue;
        }
        status = said_add(importer, &out, &text, err);
        before = out.id;
    }
    return status == CLEW_OK ? importer_end(importer, err) : status;
}
