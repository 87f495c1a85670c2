/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - which format, and piece by piece. See reader.h.
 */
#include "import/reader.h"

#include "base/json.h"
#include "import/import.h"
#include "import/pieces.h"

#include <string.h>

typedef enum clew_status (*piece_fn)(struct importer *importer, json_t *piece,
                                     struct clew_error *err);

static const struct {
    const char *name;
    piece_fn read;
    bool is_array; /* else each file is one conversation of lines */
} formats[] = {
    [IMPORT_UNKNOWN] = {"unknown", NULL, false},
    [IMPORT_CLEW] = {"clew", NULL, false},
    [IMPORT_CHATGPT] = {"chatgpt", import_chatgpt, true},
    [IMPORT_CLAUDE_AI] = {"claude-ai", import_claude_ai, true},
    [IMPORT_CLAUDE_CODE] = {"claude-code", import_claude_code, false},
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

enum import_format import_format_parse(const char *name)
{
    for (size_t i = 1; i < N_FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return (enum import_format)i;
        }
    }
    return IMPORT_UNKNOWN;
}

const char *import_format_name(enum import_format format)
{
    return formats[format].name;
}

struct str import_text(const json_t *object, const char *field)
{
    const json_t *text = json_object_get(object, field);

    return (struct str){json_string_value(text), json_string_length(text)};
}

struct str import_id(const json_t *object, const char *field)
{
    struct str text = import_text(object, field);

    return text.len > 0 ? text : (struct str){0};
}

static enum import_format guess(const json_t *piece, bool is_array)
{
    if (is_array) {
        return json_object_get(piece, "mapping")         ? IMPORT_CHATGPT
               : json_object_get(piece, "chat_messages") ? IMPORT_CLAUDE_AI
                                                         : IMPORT_UNKNOWN;
    }
    if (str_eq(import_text(piece, "type"), STR("export")) &&
        json_object_get(piece, "version")) {
        return IMPORT_CLEW;
    }
    return json_object_get(piece, "sessionId") ||
                   json_object_get(piece, "leafUuid") ||
                   json_object_get(piece, "parentUuid") ||
                   str_eq(import_text(piece, "type"),
                          STR("file-history-snapshot"))
               ? IMPORT_CLAUDE_CODE
               : IMPORT_UNKNOWN;
}

/* Say which piece a fault is in. */
static enum clew_status at_piece(const struct pieces *pieces,
                                 enum clew_status status,
                                 struct clew_error *err)
{
    struct clew_error why = *err;

    return clew_fail(err, status, "%s %lld (byte %lld): %.200s",
                     pieces->is_array ? "conversation" : "line",
                     (long long)pieces->number, (long long)pieces->offset,
                     why.message);
}

static enum clew_status read_piece(struct importer *importer,
                                   struct pieces *pieces,
                                   enum import_format *format,
                                   struct clew_error *err)
{
    json_t *piece = NULL;
    enum clew_status status = json_parse(buf_str(&pieces->text), &piece, err);

    if (status == CLEW_OK && *format == IMPORT_UNKNOWN) {
        *format = guess(piece, pieces->is_array);
    }
    if (status == CLEW_OK && *format == IMPORT_UNKNOWN) {
        status = clew_fail(err, CLEW_INVALID,
                           "this is no export that can be read here");
    }
    if (status == CLEW_OK && formats[*format].read) {
        status = formats[*format].is_array == pieces->is_array
                     ? formats[*format].read(importer, piece, err)
                     : clew_fail(err, CLEW_INVALID, "this is no export of %s",
                                 formats[*format].name);
    }
    json_decref(piece);
    return status == CLEW_OK ? status : at_piece(pieces, status, err);
}

enum clew_status import_read(struct importer *importer, FILE *file,
                             enum import_format format,
                             enum import_format *out_format,
                             struct clew_error *err)
{
    struct pieces pieces;
    bool has_piece = false;
    enum clew_status status = CLEW_OK;

    pieces_init(&pieces, file);
    if (!pieces.is_array && format != IMPORT_CLEW) {
        status = importer_begin(importer, (struct str){0}, false, err);
    }
    while (status == CLEW_OK && format != IMPORT_CLEW) {
        status = pieces_next(&pieces, &has_piece, err);
        if (status != CLEW_OK || !has_piece) {
            break;
        }
        status = read_piece(importer, &pieces, &format, err);
    }
    if (status == CLEW_OK) {
        status = importer_end(importer, err);
    }
    if (status == CLEW_OK && ferror(file)) {
        status = clew_fail(err, CLEW_UNAVAILABLE, "could not read the file");
    }
    pieces_release(&pieces);
    *out_format = format;
    return status;
}
