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
#include "base/json.h"
#include "cli/bring/bring.h"
#include "cli/core/cli.h"
#include "engine/proof/export_kinds.h"
#include "engine/proof/restore.h"
#include "import/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A piece of an import: rows, and bytes of their lines. */
#define PIECE_ROWS 500
#define PIECE_BYTES (8u << 20)
/* One line: the largest turn, with every byte of it escaped; and read. */
#define LINE_BYTES (128u << 20)
#define LOOK_BYTES (2 * (size_t)LINE_BYTES)

/* --- clew's own export -----------------------------------------------------
 */

struct import {
    struct cli *cli;
    const char *begun_at;   /* as struct bring has it */
    json_t *rows;           /* of the piece being gathered */
    int64_t at[PIECE_ROWS]; /* the lines they stand in */
    size_t n_bytes;
    int64_t n_lines;
    int64_t n_rows;
    int64_t n_added;
    int64_t n_forgotten;
    bool has_begun; /* the first line was there */
    bool has_ended; /* the last one too */
    struct progress progress;
};

/* The answer speaks of a row of its piece; who reads it has lines. */
static void tell_line(const struct import *import, enum clew_status status,
                      struct clew_error *err)
{
    struct clew_error why;
    size_t row = 0;

    if (sscanf(err->field, "rows[%zu]", &row) != 1 || row >= PIECE_ROWS) {
        return;
    }
    why = *err;
    (void)clew_fail_code(err, status, why.code,
                         "line %lld: %.200s; %lld rows before it were taken, "
                         "and the whole file can be brought again",
                         (long long)import->at[row], why.message,
                         (long long)import->n_rows);
}

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
    body = json_pack("{s:o, s:b}", "rows", import->rows, "restore_forgotten",
                     args_has(&import->cli->args, "restore-forgotten"));
    import->rows = json_array();
    import->n_bytes = 0;
    if (!body || !import->rows ||
        (import->begun_at[0] &&
         !json_set_cstr(body, "begun_at", import->begun_at))) {
        json_decref(body);
        return clew_no_memory(err);
    }
    status =
        cli_call(import->cli, "POST", "/api/v1/import", body, &answer, err);
    if (status == CLEW_OK) {
        int64_t n_rows = json_integer_value(json_object_get(answer, "rows"));

        import->n_rows += n_rows;
        import->n_added += json_integer_value(json_object_get(answer, "added"));
        import->n_forgotten +=
            json_integer_value(json_object_get(answer, "forgotten"));
        progress_add(&import->progress, n_rows);
    } else if (err) {
        tell_line(import, status, err);
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
            json_integer_value(json_object_get(line, "version")) ==
            EXPORT_VERSION;
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
    if (line) {
        import->at[json_array_size(import->rows)] = import->n_lines;
        if (json_array_append_new(import->rows, line) != 0) {
            return clew_no_memory(err);
        }
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

/* A look at a file before anything of it is sent. */
struct look {
    struct arena arena; /* of one line */
    int64_t n_lines;
    int64_t n_rows; /* since the last "export" */
    bool has_begun;
    bool has_ended; /* nothing but another "export" may come */
};

/* What the first and the last line of an export say of it. */
static enum clew_status look_at_mark(struct look *look, const json_t *json,
                                     bool is_end, struct clew_error *err)
{
    const char *name = is_end ? "rows" : "version";
    int64_t number = json_integer_value(json_object_get(json, name));

    if (!is_end && number > EXPORT_VERSION) {
        return clew_fail(err, CLEW_INVALID,
                         "is of a newer clew: it has form %lld, and this one "
                         "reads %d",
                         (long long)number, EXPORT_VERSION);
    }
    if (is_end && number != look->n_rows) {
        return clew_fail(err, CLEW_INVALID,
                         "counts %lld rows, and %lld are before it",
                         (long long)number, (long long)look->n_rows);
    }
    look->n_rows = 0;
    look->has_begun = look->has_begun || number == EXPORT_VERSION;
    look->has_ended = is_end;
    return CLEW_OK;
}

static enum clew_status look_at_line(struct look *look, struct str text,
                                     struct clew_error *err)
{
    json_t *json = NULL;
    struct clew_error why = {.status = CLEW_OK};
    const char *type;
    enum clew_status status = json_parse(text, &json, NULL);

    if (status != CLEW_OK) {
        return clew_fail(err, status, "is not JSON");
    }
    type = cli_field(json, "type");
    if (strcmp(type, "export") == 0 || strcmp(type, "end") == 0) {
        status = look_at_mark(look, json, strcmp(type, "end") == 0, err);
    } else if (!look->has_begun || look->has_ended) {
        status = clew_fail(err, CLEW_INVALID, "stands outside of an export");
    } else {
        look->n_rows++;
        status = restore_look(&look->arena, json, &why);
        arena_clear(&look->arena);
    }
    json_decref(json);
    return why.status == CLEW_OK
               ? status
               : clew_fail_code(err, status, why.code, "is wrong: %.240s",
                                why.message);
}

/* Is it whole, and each line of it well formed? Read to its end before anything
 * of it is sent, so that one that is damaged leaves nothing behind. */
static enum clew_status check_own(const char *path, FILE *file,
                                  struct clew_error *err)
{
    struct look look = {.n_lines = 0};
    struct clew_error why = {.status = CLEW_OK};
    enum clew_status status = CLEW_OK;
    struct buf line;

    arena_init(&look.arena, LOOK_BYTES);
    buf_init(&line, LINE_BYTES);
    while (status == CLEW_OK && read_line(file, &line)) {
        look.n_lines++;
        if (buf_status(&line) != CLEW_OK) {
            status = clew_fail(&why, buf_status(&line), "is too long");
        } else if (line.len > 0) {
            status = look_at_line(&look, buf_str(&line), &why);
        }
    }
    buf_release(&line);
    arena_release(&look.arena);
    if (status != CLEW_OK) {
        return clew_fail_code(err, status, why.code, "%.110s: line %lld %.180s",
                              path, (long long)look.n_lines, why.message);
    }
    return look.has_ended
               ? CLEW_OK
               : clew_fail(err, CLEW_INVALID,
                           "%.110s: the export is cut off behind line %lld",
                           path, (long long)look.n_lines);
}

static void tell_own(struct cli *cli, const struct import *import)
{
    bool is_dry = args_has(&cli->args, "dry-run");

    if (cli->as_json) {
        json_t *json = json_pack(
            "{s:I, s:I, s:I, s:b}", "rows", (json_int_t)import->n_rows, "added",
            (json_int_t)import->n_added, "forgotten",
            (json_int_t)import->n_forgotten, "dry_run", is_dry);

        output_json(&cli->out, json);
        json_decref(json);
        return;
    }
    if (is_dry) { /* which are new, only the store could say */
        (void)fprintf(cli->out.file, "%lld rows, none of them imported\n",
                      (long long)import->n_rows);
        return;
    }
    (void)fprintf(cli->out.file, "%lld rows, %lld of them new\n",
                  (long long)import->n_rows, (long long)import->n_added);
    if (import->n_forgotten > 0) {
        (void)fprintf(cli->out.file,
                      "%lld rows left out, of what was forgotten here; "
                      "--restore-forgotten brings it back\n",
                      (long long)import->n_forgotten);
    }
}

static enum clew_status import_own(const struct bring *bring, FILE *file,
                                   struct clew_error *err)
{
    struct import import = {
        .cli = bring->cli, .begun_at = bring->begun_at, .rows = json_array()};
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
    tell_own(bring->cli, &import);
    return CLEW_OK;
}

/* --- the command -----------------------------------------------------------
 */

/* Of a pipe, which cannot be begun again, the first byte decides. */
static enum clew_status import_pipe(struct bring *bring, FILE *file,
                                    struct clew_error *err)
{
    enum import_format format = bring->format;
    int first = getc(file);

    if (first == EOF) {
        return clew_fail(err, CLEW_INVALID, "there is nothing in it");
    }
    (void)ungetc(first, file); /* one byte always fits */
    return format == IMPORT_CLEW || (format == IMPORT_UNKNOWN && first != '[')
               ? import_own(bring, file, err)
               : bring_stream(bring, file, err);
}

/* What a look at one of the operands found. */
struct found {
    bool is_pipe; /* it is read once, as it comes */
    bool is_own;
    int64_t total;
};

/* Pipes have a name too: <(unzip -p export.zip). */
static bool is_pipe(const char *path)
{
    struct stat info;

    return strcmp(path, "-") == 0 ||
           (stat(path, &info) == 0 &&
            (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)));
}

static enum clew_status open_file(const char *path, FILE **out,
                                  struct clew_error *err)
{
    *out = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    return *out ? CLEW_OK
                : clew_fail(err, CLEW_NOT_FOUND, "could not read \"%s\": %s",
                            path, strerror(errno));
}

static enum clew_status look_at(struct bring *bring, const char *path,
                                struct found *out, struct clew_error *err)
{
    FILE *file;
    enum clew_status status;

    out->is_pipe = is_pipe(path);
    if (out->is_pipe) {
        return CLEW_OK;
    }
    status = bring_look(bring, path, &out->is_own, &out->total, err);
    if (status == CLEW_OK && out->is_own) {
        status = open_file(path, &file, err);
        if (status == CLEW_OK) {
            status = check_own(path, file, err);
            (void)fclose(file); /* it was only read */
        }
    }
    return status;
}

static enum clew_status take(struct bring *bring, const char *path,
                             const struct found *found, struct clew_error *err)
{
    FILE *file;
    enum clew_status status;

    if (!found->is_pipe && !found->is_own) {
        return bring_take(bring, path, found->total, err);
    }
    status = open_file(path, &file, err);
    if (status != CLEW_OK) {
        return status;
    }
    status = found->is_pipe ? import_pipe(bring, file, err)
                            : import_own(bring, file, err);
    if (file != stdin) {
        (void)fclose(file); /* it was only read */
    }
    return status;
}

/* All of them are looked at before the first is brought: one that is damaged
 * stops the others too. */
static enum clew_status import_all(struct cli *cli, struct bring *bring,
                                   struct clew_error *err)
{
    size_t count = cli->args.n_operands;
    struct found *found = arena_zero(&cli->arena, count + 1, sizeof(*found));
    enum clew_status status = found ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        status = look_at(bring, cli->args.operands[i], &found[i], err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        status = take(bring, cli->args.operands[i], &found[i], err);
    }
    return status;
}

static enum clew_status run_import(struct cli *cli, struct clew_error *err)
{
    const char *from = args_str(&cli->args, "from");
    const char *watch = args_str(&cli->args, "watch");
    struct bring bring;
    enum clew_status status;

    bring_init(&bring, cli);
    bring_catch();
    bring.format = from ? import_format_parse(from) : IMPORT_UNKNOWN;
    if (from && bring.format == IMPORT_UNKNOWN) {
        return clew_fail_field(err, "from", "--from: \"%.40s\" is none of %s",
                               from, import_format_names());
    }
    if (cli->args.n_operands == 0 && !watch) {
        return clew_fail(err, CLEW_INVALID,
                         "name a file, a folder or a zip (see \"clew help "
                         "import\")");
    }
    status = bring_begin(&bring, err);
    if (status == CLEW_OK) {
        status = import_all(cli, &bring, err);
    }
    if (status == CLEW_OK && !bring.is_dry) {
        cli_note_unread(cli);
    }
    if (status == CLEW_OK && watch) {
        status = bring_watch(&bring, watch, err);
    }
    return status;
}

static const struct arg_option import_options[] = {
    {"user", 'U', "ID", NULL, "whose conversations they are (default \"me\")"},
    {"from", 0, "FORMAT", NULL, "which format it is; default: look"},
    {"dry-run", 0, NULL, NULL, "only say what would be imported"},
    {"watch", 0, "FOLDER", NULL, "go on importing what is written there"},
    {"restore-forgotten", 0, NULL, NULL, "bring back what was forgotten since"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct command command_import = {
    .name = "import",
    .operands = "[FILE|FOLDER|ZIP]...",
    .max_operands = ARGS_MAX,
    .summary = "read what other programs, and clew, exported",
    .example = "clew import --user ada conversations.json",
    .options = import_options,
    .run = run_import,
    .makes_store = true,
};
