/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemini.c - an entry of Gemini's "My Activity.json" from Google Takeout.
 *
 * {"header": "Gemini Apps", "title": "Prompted <question>", "time",
 * "safeHtmlItem": [{"html": answer}], "subtitles": [{"name": attachment}],
 * "titleUrl"}, newest first. Google does not say which entries are of one
 * conversation, so each is a chat of a question and its answer.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"

static enum clew_status answer(struct importer *importer, const json_t *piece,
                               struct str time, struct str question,
                               int64_t time_ms, struct clew_error *err)
{
    char own[SAID_ID_SIZE];
    struct import_message out = {
        .role = "assistant", .parent = question, .created_at_ms = time_ms};
    const json_t *item;
    struct buf text;
    size_t i;

    out.id = said_id("gemini", time, STR("answer"), own);
    buf_init(&text, SAID_MAX_BYTES);
    json_array_foreach (json_object_get(piece, "safeHtmlItem"), i, item) {
        said_html(&text, import_text(item, "html"));
    }
    return said_add(importer, &out, &text, err);
}

enum clew_status import_gemini(struct importer *importer, json_t *piece,
                               int64_t number, struct clew_error *err)
{
    static const char prompted[] = "Prompted ";
    struct str title = import_text(piece, "title");
    struct str time = import_id(piece, "time");
    char own[SAID_ID_SIZE];
    struct import_message out = {.role = "user"};
    const json_t *item;
    struct buf text;
    enum clew_status status;
    size_t i;

    (void)number;
    if (!title.s || !time.s || !clock_parse(time, &out.created_at_ms)) {
        return clew_fail(err, CLEW_INVALID, "it has no \"title\" or \"time\"");
    }
    out.id = said_id("gemini", time, STR("question"), own);
    if (!str_starts(title, STR(prompted))) { /* "Used an extension" and such */
        return importer_skip(importer, out.id, (struct str){0}, IMPORT_PLUMBING,
                             err);
    }
    title = str_sub(title, sizeof(prompted) - 1, title.len);
    status = importer_begin(importer, title, false, err);
    buf_init(&text, SAID_MAX_BYTES);
    said_append(&text, title);
    json_array_foreach (json_object_get(piece, "subtitles"), i, item) {
        said_attach(&text, import_text(item, "name"));
    }
    if (status != CLEW_OK) {
        buf_release(&text);
        return status;
    }
    status = said_add(importer, &out, &text, err);
    return status == CLEW_OK
               ? answer(importer, piece, time, out.id, out.created_at_ms, err)
               : status;
}
