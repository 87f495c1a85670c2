/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_import.c - read exports: clew's own, and those of other programs.
 *
 * clew's own is carried out in pieces of rows, each all or nothing; the others
 * are posted as turns in batches, with forks where their trees branch. What is
 * there already is left alone either way, so an import that was broken off is
 * simply run again.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "import/import.h"
#include "import/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A piece of an import: rows, and bytes of their lines. */
#define PIECE_ROWS 500
#define PIECE_BYTES (8u << 20)
/* One line: the largest turn, with every byte of it escaped. */
#define LINE_BYTES (128u << 20)

/* --- clew's own export -----------------------------------------------------
 */

struct import {
    struct cli *cli;
    json_t *rows; /* of the piece being gathered */
    size_t n_bytes;
    int64_t n_lines;
    int64_t n_rows;
    int64_t n_added;
    bool has_begun; /* the first line was there */
    bool has_ended; /* the last one too */
    struct progress progress;
};

static enum clew_status send_piece(struct import *import,
                                   struct clew_error *err)
{
    json_t *body;
    json_t *answer = NULL;
    enum clew_status status;

    if (json_array_size(import->rows) == 0) {
        return CLEW_OK;
    }
    if (args_has(&import->cli->args, "dry-run")) {
        import->n_rows += (int64_t)json_array_size(import->rows);
        import->n_bytes = 0;
        (void)json_array_clear(import->rows); /* fails for non-arrays only */
        return CLEW_OK;
    }
    body = json_pack("{s:o}", "rows", import->rows);
    import->rows = json_array();
    import->n_bytes = 0;
    if (!body || !import->rows) {
        json_decref(body);
        return clew_no_memory(err);
    }
    status =
        cli_call(import->cli, "POST", "/api/v1/import", body, &answer, err);
    if (status == CLEW_OK) {
        int64_t n_rows = json_integer_value(json_object_get(answer, "rows"));

        import->n_rows += n_rows;
        import->n_added += json_integer_value(json_object_get(answer, "added"));
        progress_add(&import->progress, n_rows);
    }
    json_decref(answer);
    return status;
}

/* The first or the last line; false if it is neither. */
static bool take_mark(struct import *import, const json_t *line)
{
    const char *type = cli_field(line, "type");

    if (strcmp(type, "export") == 0) {
        import->has_begun =
            json_integer_value(json_object_get(line, "version")) == 1;
        return true;
    }
    if (strcmp(type, "end") == 0) {
        import->has_ended = true;
        return true;
    }
    return false;
}

static enum clew_status take_line(struct import *import, struct str text,
                                  struct clew_error *err)
{
    json_t *line = NULL;
    enum clew_status status = json_parse(text, &line, err);

    import->n_lines++;
    if (status != CLEW_OK) {
        return clew_fail(err, CLEW_INVALID, "line %lld is not JSON",
                         (long long)import->n_lines);
    }
    if (take_mark(import, line)) {
        json_decref(line);
        line = NULL;
    }
    if (!import->has_begun) {
        json_decref(line);
        return clew_fail(err, CLEW_INVALID,
                         "this is no export that this version can read");
    }
    if (line && json_array_append_new(import->rows, line) != 0) {
        return clew_no_memory(err);
    }
    import->n_bytes += text.len;
    if (json_array_size(import->rows) >= PIECE_ROWS ||
        import->n_bytes >= PIECE_BYTES) {
        return send_piece(import, err);
    }
    return CLEW_OK;
}

/* One line without its end; false at the end of the file. */
static bool read_line(FILE *file, struct buf *line)
{
    char part[65536];

    buf_clear(line);
    while (fgets(part, sizeof(part), file)) {
        size_t len = strlen(part);

        if (len > 0 && part[len - 1] == '\n') {
            (void)buf_append(line, part, len - 1);
            return true;
        }
        (void)buf_append(line, part, len);
    }
    return line->len > 0;
}

static enum clew_status take_file(struct import *import, FILE *file,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    struct buf line;

    buf_init(&line, LINE_BYTES);
    while (status == CLEW_OK && read_line(file, &line)) {
        status = buf_status(&line);
        if (status != CLEW_OK) {
            (void)clew_fail(err, status, "line %lld is too long",
                            (long long)import->n_lines + 1);
        } else if (line.len > 0) {
            status = take_line(import, buf_str(&line), err);
        }
    }
    buf_release(&line);
    if (status == CLEW_OK) {
        status = send_piece(import, err);
    }
    if (status == CLEW_OK && !import->has_ended) {
        status = clew_fail(err, CLEW_INVALID,
                           "the export is cut off; what it had was taken");
    }
    return status;
}

static enum clew_status import_own(struct cli *cli, FILE *file,
                                   struct clew_error *err)
{
    struct import import = {.cli = cli, .rows = json_array()};
    enum clew_status status = CLEW_OK;

    if (!import.rows) {
        return clew_no_memory(err);
    }
    progress_begin(&import.progress, "importing", 0);
    status = take_file(&import, file, err);
    progress_end(&import.progress);
    json_decref(import.rows);
    if (status != CLEW_OK) {
        return status;
    }
    if (cli->as_json) {
        json_t *json =
            json_pack("{s:I, s:I}", "rows", (json_int_t)import.n_rows, "added",
                      (json_int_t)import.n_added);

        output_json(&cli->out, json);
        json_decref(json);
    } else {
        (void)fprintf(cli->out.file, "%lld rows, %lld of them new\n",
                      (long long)import.n_rows, (long long)import.n_added);
    }
    return CLEW_OK;
}

/* --- the exports of others: what the importer asks for, through the API ----
 */

struct foreign {
    struct cli *cli;
    const char *user;
    bool is_dry;
    int64_t n_fake; /* chats that a dry run made up */
    struct progress progress;
};

static void take_turn(const json_t *turn, struct import_place *out)
{
    (void)snprintf(out->chat, sizeof(out->chat), "%s",
                   cli_field(turn, "chat_id"));
    out->seq = json_integer_value(json_object_get(turn, "seq"));
}

static enum clew_status find(void *arg, struct str id, struct import_place *out,
                             struct clew_error *err)
{
    struct foreign *foreign = arg;
    struct cli *cli = foreign->cli;
    char *path = arena_string(&cli->arena, "/api/v1/turns");
    json_t *answer = NULL;
    const json_t *turn;
    enum clew_status status;

    path = cli_query(cli, path, "external_id",
                     arena_copy(&cli->arena, id.s, id.len));
    status = cli_call(cli, "GET", path, NULL, &answer, err);
    turn = json_array_get(json_object_get(answer, "items"), 0);
    out->is_known = turn != NULL;
    if (turn) {
        take_turn(turn, out);
    }
    json_decref(answer);
    return status;
}

static json_t *form_message(const struct foreign *foreign, const char *chat,
                            const struct import_message *message)
{
    json_t *out = json_object();

    if (out && json_set_cstr(out, "user_id", foreign->user) &&
        json_set_cstr(out, "role", message->role) &&
        json_set_cstr(out, "channel", "chat") &&
        json_set_str(out, "external_id", message->id) &&
        json_set_time(out, "created_at", &message->created_at_ms) &&
        (!chat[0] || json_set_cstr(out, "chat_id", chat)) &&
        (!message->name.s || json_set_str(out, "name", message->name)) &&
        json_object_set(out, "content", message->content) == 0) {
        return out;
    }
    json_decref(out);
    return NULL;
}

static enum clew_status add(void *arg, const char *chat,
                            const struct import_message *messages, size_t n,
                            struct import_place *out, struct clew_error *err)
{
    struct foreign *foreign = arg;
    json_t *turns = json_array();
    json_t *body = json_pack("{s:o}", "turns", turns);
    json_t *answer = NULL;
    enum clew_status status;

    for (size_t i = 0; body && i < n; i++) {
        if (json_array_append_new(
                turns, form_message(foreign, chat, &messages[i])) != 0) {
            json_decref(body);
            body = NULL;
        }
    }
    if (!body) {
        return clew_no_memory(err);
    }
    status =
        cli_call(foreign->cli, "POST", "/api/v1/turns", body, &answer, err);
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        const json_t *item =
            json_array_get(json_object_get(answer, "items"), i);

        take_turn(json_object_get(item, "turn"), &out[i]);
        out[i].is_known = json_is_true(json_object_get(item, "repeated"));
    }
    json_decref(answer);
    progress_add(&foreign->progress, (int64_t)n);
    return status;
}

static enum clew_status fork_chat(void *arg, const char *chat, int64_t seq,
                                  char out_chat[IMPORT_CHAT_ID_SIZE],
                                  struct clew_error *err)
{
    struct foreign *foreign = arg;
    struct cli *cli = foreign->cli;
    json_t *answer = NULL;
    json_t *body = json_pack("{s:I}", "at_seq", (json_int_t)seq);
    enum clew_status status =
        cli_call(cli, "POST", cli_path(cli, "/api/v1/chats", chat, "/fork"),
                 body, &answer, err);

    if (status == CLEW_OK) {
        (void)snprintf(out_chat, IMPORT_CHAT_ID_SIZE, "%s",
                       cli_field(answer, "id"));
    }
    json_decref(answer);
    return status;
}

static enum clew_status set_title(void *arg, const char *chat, struct str title,
                                  struct clew_error *err)
{
    struct foreign *foreign = arg;
    struct cli *cli = foreign->cli;
    json_t *answer = NULL;
    json_t *body = json_object();
    enum clew_status status;

    if (!body ||
        !json_set_str(body, "title", str_sub(title, 0, utf8_cut(title, 200)))) {
        json_decref(body);
        return clew_no_memory(err);
    }
    status = cli_call(cli, "PATCH", cli_path(cli, "/api/v1/chats", chat, ""),
                      body, &answer, err);
    json_decref(answer);
    return status;
}

static const struct import_ops api_ops = {find, add, fork_chat, set_title};

/* --- a dry run -------------------------------------------------------------
 */

static enum clew_status add_dry(void *arg, const char *chat,
                                const struct import_message *messages, size_t n,
                                struct import_place *out,
                                struct clew_error *err)
{
    struct foreign *foreign = arg;

    foreign->n_fake += !chat[0];
    for (size_t i = 0; i < n; i++) {
        enum clew_status status = find(arg, messages[i].id, &out[i], err);

        if (status != CLEW_OK) {
            return status;
        }
        if (!out[i].is_known) {
            (void)snprintf(out[i].chat, sizeof(out[i].chat), "dry-%lld",
                           (long long)foreign->n_fake);
            out[i].seq = 1;
        }
    }
    return CLEW_OK;
}

static enum clew_status fork_dry(void *arg, const char *chat, int64_t seq,
                                 char out_chat[IMPORT_CHAT_ID_SIZE],
                                 struct clew_error *err)
{
    struct foreign *foreign = arg;

    (void)chat;
    (void)seq;
    (void)err;
    (void)snprintf(out_chat, IMPORT_CHAT_ID_SIZE, "dry-%lld",
                   (long long)++foreign->n_fake);
    return CLEW_OK;
}

static enum clew_status title_dry(void *arg, const char *chat, struct str title,
                                  struct clew_error *err)
{
    (void)arg;
    (void)chat;
    (void)title;
    (void)err;
    return CLEW_OK;
}

static const struct import_ops dry_ops = {find, add_dry, fork_dry, title_dry};

/* --- the command -----------------------------------------------------------
 */

static void show_counts(struct cli *cli, const struct import_counts *counts,
                        enum import_format format)
{
    bool is_dry = args_has(&cli->args, "dry-run");

    if (cli->as_json) {
        json_t *json = json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:I, s:b}", "format",
            import_format_name(format), "conversations",
            (json_int_t)counts->n_conversations, "messages",
            (json_int_t)counts->n_messages, "added", (json_int_t)counts->n_new,
            "forks", (json_int_t)counts->n_forks, "skipped",
            (json_int_t)counts->n_skipped, "dry_run", is_dry);

        output_json(&cli->out, json);
        json_decref(json);
        return;
    }
    (void)fprintf(cli->out.file,
                  "%s: %lld conversations, %lld messages, %lld of them %s, "
                  "%lld forks; %lld left out\n",
                  import_format_name(format),
                  (long long)counts->n_conversations,
                  (long long)counts->n_messages, (long long)counts->n_new,
                  is_dry ? "would be new" : "new", (long long)counts->n_forks,
                  (long long)counts->n_skipped);
}

static enum clew_status import_file(struct cli *cli, FILE *file,
                                    enum import_format format,
                                    struct clew_error *err)
{
    const char *user = args_str(&cli->args, "user");
    struct foreign foreign = {.cli = cli,
                              .user = user ? user : "me",
                              .is_dry = args_has(&cli->args, "dry-run")};
    struct importer *importer = NULL;
    enum clew_status status = importer_new(foreign.is_dry ? &dry_ops : &api_ops,
                                           &foreign, &importer, err);

    if (status != CLEW_OK) {
        return status;
    }
    progress_begin(&foreign.progress, "importing", 0);
    status = import_read(importer, file, format, &format, err);
    progress_end(&foreign.progress);
    if (status == CLEW_OK && format != IMPORT_CLEW) {
        show_counts(cli, importer_counts(importer), format);
    }
    importer_free(importer);
    if (status == CLEW_OK && format == IMPORT_CLEW) {
        rewind(file);
        status = import_own(cli, file, err);
    }
    return status;
}

/* Only a file can be begun again, so of a pipe the first byte decides. */
static enum clew_status import_stdin(struct cli *cli, enum import_format format,
                                     struct clew_error *err)
{
    int first = getc(stdin);

    (void)ungetc(first, stdin); /* one byte always fits */
    return format == IMPORT_CLEW || (format == IMPORT_UNKNOWN && first != '[')
               ? import_own(cli, stdin, err)
               : import_file(cli, stdin, format, err);
}

static enum clew_status import_one(struct cli *cli, const char *path,
                                   enum import_format format,
                                   struct clew_error *err)
{
    struct clew_error why;
    enum clew_status status;
    FILE *file;

    if (strcmp(path, "-") == 0) {
        return import_stdin(cli, format, err);
    }
    file = fopen(path, "re");
    if (!file) {
        return clew_fail(err, CLEW_NOT_FOUND, "could not read \"%s\": %s", path,
                         strerror(errno));
    }
    status = import_file(cli, file, format, err);
    (void)fclose(file); /* it was only read */
    if (status != CLEW_OK && cli->args.n_operands > 1) {
        why = *err;
        (void)clew_fail(err, status, "%.100s: %.200s", path, why.message);
    }
    return status;
}

static enum clew_status run_import(struct cli *cli, struct clew_error *err)
{
    const char *from = args_str(&cli->args, "from");
    enum import_format format =
        from ? import_format_parse(from) : IMPORT_UNKNOWN;
    enum clew_status status = CLEW_OK;

    if (from && format == IMPORT_UNKNOWN) {
        return clew_fail_field(err, "from",
                               "\"%.40s\" is none of clew, chatgpt, "
                               "claude-ai, claude-code",
                               from);
    }
    for (size_t i = 0; status == CLEW_OK && i < cli->args.n_operands; i++) {
        status = import_one(cli, cli->args.operands[i], format, err);
    }
    return status;
}

static const struct arg_option import_options[] = {
    {"user", 'U', "ID", NULL, "whose conversations they are (default \"me\")"},
    {"from", 0, "PROGRAM", NULL,
     "chatgpt, claude-ai, claude-code or clew; default: look"},
    {"dry-run", 0, NULL, NULL, "only say what would be imported"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct command command_import = {
    .name = "import",
    .operands = "FILE...",
    .min_operands = 1,
    .max_operands = ARGS_MAX,
    .summary = "read exports of clew, ChatGPT, Claude.ai, Claude Code",
    .example = "clew import --user ada conversations.json",
    .options = import_options,
    .run = run_import,
};
