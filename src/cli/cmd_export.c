/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - everything out as lines of JSON, and back in.
 *
 * An import is carried out in pieces, each all or nothing. What is there
 * already is left alone, so one that was broken off is simply run again.
 */
#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A piece of an import: rows, and bytes of their lines. */
#define PIECE_ROWS 500
#define PIECE_BYTES (8u << 20)
/* One line: the largest turn, with every byte of it escaped. */
#define LINE_BYTES (128u << 20)

static bool write_part(void *arg, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, arg) == len;
}

static enum clew_status run_export(struct cli *cli, struct clew_error *err)
{
    const char *path = cli->args.n_operands ? cli->args.operands[0] : NULL;
    FILE *file = cli->out.file;
    struct client *client;
    enum clew_status status = cli_client(cli, &client, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (path) {
        file = fopen(path, "wxe");
    }
    if (!file) {
        return clew_fail(err, CLEW_CONFLICT, "could not make \"%s\": %s", path,
                         strerror(errno));
    }
    status = client_stream(client, "GET", "/api/v1/export", NULL, write_part,
                           file, err);
    if (path && fclose(file) != 0 && status == CLEW_OK) {
        status = clew_fail(err, CLEW_UNAVAILABLE, "could not write \"%s\": %s",
                           path, strerror(errno));
    }
    return status;
}

const struct command command_export = {
    .name = "export",
    .operands = "[FILE]",
    .max_operands = 1,
    .summary = "write everything of a tenant, one JSON object a line",
    .example = "clew export memory.jsonl",
    .run = run_export,
};

/* --- import --- */

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

static void show_import(const struct import *import)
{
    struct cli *cli = import->cli;

    if (cli->as_json) {
        json_t *json =
            json_pack("{s:I, s:I}", "rows", (json_int_t)import->n_rows, "added",
                      (json_int_t)import->n_added);

        output_json(&cli->out, json);
        json_decref(json);
        return;
    }
    (void)fprintf(cli->out.file, "%lld rows, %lld of them new\n",
                  (long long)import->n_rows, (long long)import->n_added);
}

static enum clew_status run_import(struct cli *cli, struct clew_error *err)
{
    const char *path = cli->args.operands[0];
    bool is_stdin = strcmp(path, "-") == 0;
    struct import import = {.cli = cli, .rows = json_array()};
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    enum clew_status status = CLEW_OK;

    if (!file) {
        status = clew_fail(err, CLEW_NOT_FOUND, "could not read \"%s\": %s",
                           path, strerror(errno));
    } else if (!import.rows) {
        status = clew_no_memory(err);
    } else {
        progress_begin(&import.progress, "importing", 0);
        status = take_file(&import, file, err);
        progress_end(&import.progress);
    }
    if (status == CLEW_OK) {
        show_import(&import);
    }
    if (file && !is_stdin) {
        (void)fclose(file);
    }
    json_decref(import.rows);
    return status;
}

const struct command command_import = {
    .name = "import",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "read an export back; what is there already stays",
    .example = "clew import memory.jsonl --data /var/lib/clew",
    .run = run_import,
};
