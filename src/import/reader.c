/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - which format, and piece by piece. See reader.h.
 */
#include "import/reader.h"

#include "base/json.h"
#include "import/import.h"
#include "import/pieces.h"
#include "import/said.h"

#include <string.h>

/* How conversations lie in a file. */
enum shape {
    SHAPE_NONE,
    SHAPE_EACH,     /* an array; each element is one */
    SHAPE_LINES,    /* lines; the file is one */
    SHAPE_ARRAY,    /* an array; the file is one, or a part of one */
    SHAPE_DOCUMENT, /* one object */
    SHAPE_TEXT      /* no JSON */
};

static const struct {
    const char *name;
    enum shape shape;
    import_piece_fn read;
    enum clew_status (*read_text)(struct importer *importer,
                                  struct pieces *pieces,
                                  struct clew_error *err);
} formats[] = {
    [IMPORT_UNKNOWN] = {"unknown", SHAPE_NONE, NULL, NULL},
    [IMPORT_CLEW] = {"clew", SHAPE_NONE, NULL, NULL},
    [IMPORT_CHATGPT] = {"chatgpt", SHAPE_EACH, import_chatgpt, NULL},
    [IMPORT_CLAUDE_AI] = {"claude-ai", SHAPE_EACH, import_claude_ai, NULL},
    [IMPORT_GEMINI] = {"gemini", SHAPE_EACH, import_gemini, NULL},
    [IMPORT_CLAUDE_CODE] = {"claude-code", SHAPE_LINES, import_claude_code,
                            NULL},
    [IMPORT_CODEX] = {"codex", SHAPE_LINES, import_codex, NULL},
    [IMPORT_OPENCODE] = {"opencode", SHAPE_DOCUMENT, import_opencode, NULL},
    [IMPORT_CURSOR] = {"cursor", SHAPE_NONE, NULL, NULL},
    [IMPORT_GEMINI_CLI] = {"gemini-cli", SHAPE_TEXT, NULL, import_gemini_cli},
    [IMPORT_QWEN] = {"qwen", SHAPE_LINES, import_qwen, NULL},
    [IMPORT_CONTINUE] = {"continue", SHAPE_DOCUMENT, import_continue, NULL},
    [IMPORT_SLACK] = {"slack", SHAPE_ARRAY, import_slack, NULL},
    [IMPORT_SLACK_USERS] = {"slack-users", SHAPE_NONE, import_slack_user, NULL},
    [IMPORT_DISCORD] = {"discord", SHAPE_DOCUMENT, import_discord, NULL},
    [IMPORT_DISCORD_PACKAGE] = {"discord-package", SHAPE_ARRAY,
                                import_discord_package, NULL},
    [IMPORT_TELEGRAM] = {"telegram", SHAPE_DOCUMENT, import_telegram, NULL},
    [IMPORT_WHATSAPP] = {"whatsapp", SHAPE_TEXT, NULL, import_whatsapp},
    [IMPORT_MAIL] = {"mail", SHAPE_TEXT, NULL, import_mail},
    [IMPORT_JSONL] = {"jsonl", SHAPE_LINES, import_plain, NULL},
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

const char *import_format_names(void)
{
    return "clew, chatgpt, claude-ai, gemini, claude-code, codex, opencode, "
           "cursor, gemini-cli, qwen, continue, slack, discord, "
           "discord-package, telegram, whatsapp, mail, "
           "jsonl";
}

/* --- telling them apart --------------------------------------------------- */

static bool has(const json_t *piece, const char *field)
{
    return json_object_get(piece, field) != NULL;
}

static enum import_format guess_element(const json_t *piece)
{
    return has(piece, "mapping")                            ? IMPORT_CHATGPT
           : has(piece, "chat_messages")                    ? IMPORT_CLAUDE_AI
           : has(piece, "header") && has(piece, "time")     ? IMPORT_GEMINI
           : has(piece, "ts") && has(piece, "type")         ? IMPORT_SLACK
           : has(piece, "team_id") && has(piece, "profile") ? IMPORT_SLACK_USERS
           : has(piece, "ID") && has(piece, "Contents") ? IMPORT_DISCORD_PACKAGE
                                                        : IMPORT_UNKNOWN;
}

static enum import_format guess_line(const json_t *piece)
{
    struct str type = import_text(piece, "type");

    if (str_eq(type, STR("export")) && has(piece, "version")) {
        return IMPORT_CLEW;
    }
    if (has(piece, "payload") && (has(piece, "timestamp"))) {
        return IMPORT_CODEX;
    }
    if (has(piece, "systemPayload") ||
        has(json_object_get(piece, "message"), "parts")) {
        return IMPORT_QWEN;
    }
    if (has(piece, "history") && has(piece, "workspaceDirectory")) {
        return IMPORT_CONTINUE;
    }
    /* other programs' notes have a session too, but no kind */
    if ((has(piece, "sessionId") && type.s) || has(piece, "leafUuid") ||
        has(piece, "parentUuid") ||
        str_eq(type, STR("file-history-snapshot"))) {
        return IMPORT_CLAUDE_CODE;
    }
    if (has(piece, "messages") && has(piece, "info")) {
        return IMPORT_OPENCODE;
    }
    if (has(piece, "messages") && has(piece, "channel")) {
        return IMPORT_DISCORD;
    }
    if (has(json_object_get(piece, "chats"), "list") ||
        (has(piece, "messages") && has(piece, "id") && has(piece, "type"))) {
        return IMPORT_TELEGRAM;
    }
    return has(piece, "role") && has(piece, "content") ? IMPORT_JSONL
                                                       : IMPORT_UNKNOWN;
}

static enum import_format guess_text(const struct pieces *pieces)
{
    size_t from = pieces_text_start(pieces);
    struct str head = {(const char *)pieces->head + from,
                       pieces->n_head - from};

    return import_gemini_cli_is(head) ? IMPORT_GEMINI_CLI
           : import_mail_is(head)     ? IMPORT_MAIL
           : import_whatsapp_is(head) ? IMPORT_WHATSAPP
                                      : IMPORT_UNKNOWN;
}

/* --- reading -------------------------------------------------------------- */

/* Say which piece a fault is in. */
static enum clew_status at_piece(const struct pieces *pieces,
                                 enum clew_status status,
                                 struct clew_error *err)
{
    struct clew_error why = *err;

    if (status == CLEW_UNAVAILABLE) {
        return status; /* whoever keeps it could not, or was stopped */
    }
    return clew_fail_code(err, status, why.code, "%s %lld (byte %lld): %.200s",
                          pieces->is_array ? "conversation" : "line",
                          (long long)pieces->number, (long long)pieces->offset,
                          why.message);
}

static bool fits(enum import_format format, bool is_array)
{
    enum shape shape = formats[format].shape;

    return format == IMPORT_SLACK_USERS ||
           (is_array ? shape == SHAPE_EACH || shape == SHAPE_ARRAY
                     : shape == SHAPE_LINES || shape == SHAPE_DOCUMENT);
}

/* A file that is one conversation, or goes on with one, begins it. */
static enum clew_status begin(struct importer *importer,
                              enum import_format format, struct clew_error *err)
{
    enum shape shape = formats[format].shape;
    struct str title = {0};

    if (shape != SHAPE_LINES && shape != SHAPE_ARRAY) {
        return CLEW_OK;
    }
    if (shape == SHAPE_ARRAY) {
        title = import_folder(importer);
    } else if (format == IMPORT_JSONL) {
        title = import_title(importer);
    }
    return importer_begin(importer, title, false, err);
}

static enum clew_status read_piece(struct importer *importer,
                                   struct pieces *pieces, bool is_first,
                                   enum import_format *format,
                                   struct clew_error *err)
{
    json_t *piece = NULL;
    enum clew_status status = json_parse(buf_str(&pieces->text), &piece, err);

    if (status == CLEW_INVALID && is_first && *format == IMPORT_UNKNOWN &&
        !pieces->is_array && pieces->text.data[0] != '{') {
        status = clew_fail_code(err, CLEW_INVALID, IMPORT_UNKNOWN_CODE,
                                "this is no export that can be read here");
    }
    if (status == CLEW_OK && *format == IMPORT_UNKNOWN) {
        *format = pieces->is_array ? guess_element(piece) : guess_line(piece);
    }
    if (status == CLEW_OK && *format == IMPORT_UNKNOWN) {
        status = clew_fail_code(err, CLEW_INVALID, IMPORT_UNKNOWN_CODE,
                                "this is no export that can be read here");
    }
    if (status == CLEW_OK && formats[*format].read &&
        !fits(*format, pieces->is_array)) {
        status = clew_fail(err, CLEW_INVALID, "this is no export of %s",
                           formats[*format].name);
    }
    if (status == CLEW_OK && is_first) {
        status = begin(importer, *format, err);
    }
    if (status == CLEW_OK && formats[*format].read) {
        status = formats[*format].read(importer, piece, pieces->number, err);
    }
    json_decref(piece);
    return status == CLEW_OK ? status : at_piece(pieces, status, err);
}

static enum clew_status read_pieces(struct importer *importer,
                                    struct pieces *pieces,
                                    enum import_format *format,
                                    struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    bool is_first = true;
    bool has_piece = true;

    while (status == CLEW_OK && *format != IMPORT_CLEW) {
        status = pieces_next(pieces, &has_piece, err);
        if (status != CLEW_OK || !has_piece) {
            break;
        }
        status = read_piece(importer, pieces, is_first, format, err);
        is_first = false;
    }
    return status;
}

enum clew_status import_read(struct importer *importer, FILE *file,
                             enum import_format format,
                             enum import_format *out_format,
                             struct clew_error *err)
{
    struct pieces pieces;
    enum clew_status status;

    pieces_init(&pieces, file);
    if (format == IMPORT_UNKNOWN && !ferror(file)) {
        format = guess_text(&pieces);
    }
    if (formats[format].read_text) {
        pieces.at_head = pieces_text_start(&pieces);
        pieces.at = (int64_t)pieces.at_head;
        status = formats[format].read_text(importer, &pieces, err);
        if (status != CLEW_OK) {
            pieces.is_array = false;
            status = at_piece(&pieces, status, err);
        }
    } else {
        status = read_pieces(importer, &pieces, &format, err);
    }
    if (status == CLEW_OK && format == IMPORT_UNKNOWN && !pieces.is_array) {
        status = clew_fail_code(err, CLEW_INVALID, IMPORT_UNKNOWN_CODE,
                                "there is nothing in it");
    }
    if (status == CLEW_OK) {
        status = importer_end(importer, err);
    }
    if (ferror(file)) {
        status = clew_fail(err, CLEW_UNAVAILABLE, "could not read the file");
    }
    pieces_release(&pieces);
    *out_format = format;
    return status;
}
