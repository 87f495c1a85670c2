/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.c - small things that several commands need. See cli.h.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/client/client.h"
#include "cli/core/cli.h"
#include "engine/key/tenant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_note_unread(struct cli *cli)
{
    json_t *health = NULL;
    const json_t *reading;
    long long n;

    if (cli->as_json ||
        cli_call(cli, "GET", "/healthz", NULL, &health, NULL) != CLEW_OK) {
        return; /* the answer stands without it */
    }
    reading = json_object_get(health, "reading");
    /* chats that wait are counted among them */
    n = json_integer_value(json_object_get(reading, "waiting")) -
        json_integer_value(json_object_get(reading, "chats"));
    if (n > 0) {
        output_note("%lld turn%s wait%s to be read; memories are made of them "
                    "%s",
                    n, n == 1 ? "" : "s", n == 1 ? "s" : "",
                    cli_is_here(cli) ? "while \"clew serve\" runs"
                                     : "in a while");
    }
    json_decref(health);
}

/* How many of the words name this command: all of its own, or 0. */
static int words_of(const struct command *command, int argc, char *const *argv)
{
    struct str rest = str_of(command->name);
    struct str word;
    int n = 0;

    while (str_split(&rest, ' ', &word)) {
        if (n >= argc || !str_eq(word, str_of(argv[n]))) {
            return 0;
        }
        n++;
    }
    return n;
}

const struct cli_row *cli_next(const struct cli_row *row)
{
    while (row->heading) {
        row++;
    }
    return row->command ? row : NULL;
}

const struct command *cli_find(const struct cli_row *rows, int argc,
                               char *const *argv, int *out_words)
{
    const struct command *best = NULL;

    *out_words = 0;
    for (rows = cli_next(rows); rows; rows = cli_next(rows + 1)) {
        int n = words_of(rows->command, argc, argv);

        if (n > *out_words) {
            *out_words = n;
            best = rows->command;
        }
    }
    return best;
}

/* The server that is talked to; NULL: none. */
static const char *url_of(const struct cli *cli)
{
    const char *url = args_str(&cli->args, "url");

    if (!url && !args_has(&cli->args, "data") &&
        !args_has(&cli->args, "store")) {
        url = getenv("CLEW_URL");
    }
    return url && url[0] ? url : NULL;
}

static enum clew_status open_client(struct cli *cli, struct clew_error *err)
{
    struct client_options options = {
        .config = cli->config,
        .url = url_of(cli),
        .key = args_str(&cli->args, "key"),
        .ca_file = args_str(&cli->args, "ca-file"),
        .tenant = args_str(&cli->args, "tenant"),
        .must_exist = !cli->command->makes_store,
    };
    enum clew_status status;

    if (!options.key) {
        options.key = getenv("CLEW_KEY");
    }
    if (!options.ca_file) {
        options.ca_file = getenv("SSL_CERT_FILE");
    }
    status = client_open(&options, &cli->client, err);
    if (status == CLEW_OK && options.tenant && options.must_exist &&
        client_engine(cli->client)) {
        status = engine_tenant_check(client_engine(cli->client), options.tenant,
                                     err);
    }
    return status;
}

bool cli_is_here(const struct cli *cli)
{
    return cli->client ? client_engine(cli->client) != NULL : !url_of(cli);
}

enum clew_status cli_client(struct cli *cli, struct client **out_client,
                            struct clew_error *err)
{
    enum clew_status status = cli->client ? CLEW_OK : open_client(cli, err);

    if (status == CLEW_OK) {
        *out_client = cli->client;
    }
    return status;
}

enum clew_status cli_engine(struct cli *cli, struct engine **out_engine,
                            struct clew_error *err)
{
    struct client *client;
    enum clew_status status = cli_client(cli, &client, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (!client_engine(client)) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "\"%s\" works on the data folder: run it where the "
                         "data is, without --url and CLEW_URL",
                         cli->command->name);
    }
    *out_engine = client_engine(client);
    return CLEW_OK;
}

enum clew_status cli_tenant(struct cli *cli, struct engine **out_engine,
                            struct scope *out_scope, struct clew_error *err)
{
    const char *tenant = args_str(&cli->args, "tenant");
    enum clew_status status = cli_engine(cli, out_engine, err);

    return status == CLEW_OK
               ? engine_tenant(*out_engine, tenant ? tenant : "default",
                               out_scope, err)
               : status;
}

enum clew_status cli_call(struct cli *cli, const char *method, const char *path,
                          json_t *body, json_t **out_json,
                          struct clew_error *err)
{
    struct client *client = NULL;
    enum clew_status status;

    if (!path) {
        status = clew_no_memory(err);
    } else {
        status = cli_client(cli, &client, err);
    }
    if (status == CLEW_OK) {
        status = client_call(client, method, path, body, out_json, err);
    }
    json_decref(body);
    return status;
}

enum clew_status cli_stream(struct cli *cli, const char *method,
                            const char *path, const json_t *body,
                            bool (*sink)(void *arg, const char *bytes,
                                         size_t len),
                            void *arg, struct clew_error *err)
{
    struct client *client = NULL;
    enum clew_status status = cli_client(cli, &client, err);

    return status == CLEW_OK
               ? client_stream(client, method, path, body, sink, arg, err)
               : status;
}

enum clew_status cli_show(struct cli *cli, const char *method, const char *path,
                          json_t *body, cli_show_fn show,
                          struct clew_error *err)
{
    json_t *answer = NULL;
    enum clew_status status = cli_call(cli, method, path, body, &answer, err);

    if (status == CLEW_OK && cli->as_json) {
        output_json(&cli->out, answer);
    } else if (status == CLEW_OK) {
        status = show(cli, answer, err);
    }
    json_decref(answer);
    return status;
}

void cli_encode(struct buf *out, struct str text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-_.~";

    for (size_t i = 0; i < text.len; i++) {
        if (text.s[i] && strchr(plain, text.s[i])) {
            (void)buf_append_char(out, text.s[i]); /* kept in the buffer */
        } else {
            (void)buf_printf(out, "%%%02X", (unsigned char)text.s[i]);
        }
    }
}

/* The buffer's text moves to the arena; NULL if anything failed. */
static char *finish(struct cli *cli, struct buf *text)
{
    char *copy = NULL;

    if (buf_status(text) == CLEW_OK) {
        copy = arena_copy(&cli->arena, text->data, text->len);
    }
    buf_release(text);
    return copy;
}

char *cli_path(struct cli *cli, const char *base, const char *id,
               const char *tail)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    (void)buf_printf(&text, "%s/", base); /* checked in finish() */
    cli_encode(&text, str_of(id));
    (void)buf_append_cstr(&text, tail);
    return finish(cli, &text);
}

char *cli_query(struct cli *cli, char *path, const char *name,
                const char *value)
{
    struct buf text;

    if (!path || !value) {
        return path;
    }
    buf_init(&text, 1 << 20);
    (void)buf_printf(&text, "%s%c%s=", path, strchr(path, '?') ? '&' : '?',
                     name); /* checked in finish() */
    cli_encode(&text, str_of(value));
    return finish(cli, &text);
}

enum clew_status cli_page(struct cli *cli, const char *base, char **out_path,
                          struct clew_error *err)
{
    int64_t limit = LIMIT_PAGE_DEFAULT;
    enum clew_status status =
        args_int(&cli->args, "limit", 1, LIMIT_PAGE_MAX, &limit, err);

    if (status == CLEW_OK) {
        *out_path = cli_query(
            cli,
            arena_printf(&cli->arena, "%s?limit=%lld", base, (long long)limit),
            "cursor", args_str(&cli->args, "cursor"));
    }
    return status;
}

bool cli_set_option(const struct cli *cli, json_t *body, const char *field,
                    const char *option)
{
    const char *value = args_str(&cli->args, option);

    return !value || json_set_cstr(body, field, value);
}

const char *cli_field(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));

    return text ? text : "";
}

const char *cli_when(struct cli *cli, const json_t *object, const char *field)
{
    char text[OUTPUT_TIME_SIZE];
    int64_t time_ms;
    const char *copy;

    if (!clock_parse(str_of(cli_field(object, field)), &time_ms)) {
        return "";
    }
    output_time(time_ms, clock_now_ms(&clock_system), text);
    copy = arena_string(&cli->arena, text);
    return copy ? copy : "";
}

const char *cli_date(struct cli *cli, const json_t *object, const char *field,
                     bool has_clock)
{
    char text[OUTPUT_TIME_SIZE];
    int64_t time_ms;
    const char *copy;

    if (!clock_parse(str_of(cli_field(object, field)), &time_ms)) {
        return "";
    }
    output_date(time_ms, has_clock, text);
    copy = arena_string(&cli->arena, text);
    return copy ? copy : "";
}

enum clew_status cli_read_file(const char *path, struct buf *out,
                               struct clew_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    enum clew_status status = fd < 0 ? CLEW_UNAVAILABLE : fd_read_all(fd, out);

    if (status == CLEW_UNAVAILABLE) {
        status = clew_fail(err, CLEW_NOT_FOUND, "could not read \"%.200s\": %s",
                           path, strerror(errno));
    } else if (status != CLEW_OK) {
        status = clew_fail(err, status, "\"%.200s\" is too large", path);
    }
    if (fd >= 0 && !is_stdin) {
        (void)close(fd); /* only read from */
    }
    return status;
}

static enum clew_status read_stdin(struct cli *cli, size_t limit,
                                   struct str *out, struct clew_error *err)
{
    enum clew_status status;
    struct buf text;

    buf_init(&text, limit);
    status = fd_read_all(STDIN_FILENO, &text);
    if (status == CLEW_OK) {
        out->len = text.len;
        out->s = finish(cli, &text);
        status = out->s ? CLEW_OK : CLEW_NO_MEMORY;
    }
    buf_release(&text);
    return status == CLEW_OK ? status
                             : clew_fail(err, status,
                                         "could not read the "
                                         "standard input: %s",
                                         clew_status_text(status));
}

enum clew_status cli_text(struct cli *cli, size_t operand, size_t limit,
                          struct str *out, struct clew_error *err)
{
    const char *word = cli->args.operands[operand];

    if (strcmp(word, "-") == 0) {
        return read_stdin(cli, limit, out, err);
    }
    *out = str_of(word);
    return CLEW_OK;
}

/* One line a value, indented by how deep it stands. */
static void show_value(struct cli *cli, const char *name, const json_t *value,
                       int depth)
{
    (void)fprintf(cli->out.file, "%*s", depth * 2, "");
    output_text(&cli->out, OUTPUT_NAME, str_of(name));
    if (json_is_object(value) || json_is_array(value)) {
        (void)fputc('\n', cli->out.file);
        return;
    }
    (void)fputs("  ", cli->out.file);
    if (json_is_string(value)) {
        output_line(&cli->out, OUTPUT_PLAIN, str_of(json_string_value(value)),
                    0);
    } else if (json_is_real(value)) {
        (void)fprintf(cli->out.file, "%.3f", json_real_value(value));
    } else if (json_is_integer(value)) {
        (void)fprintf(cli->out.file, "%lld",
                      (long long)json_integer_value(value));
    } else {
        (void)fputs(json_is_true(value)    ? "yes"
                    : json_is_false(value) ? "no"
                                           : "-",
                    cli->out.file);
    }
    (void)fputc('\n', cli->out.file);
}

/* What the API answers is a few levels deep. */
#define MAX_DEPTH 8
static void show_tree(struct cli *cli, const json_t *json, int depth)
{
    const char *name;
    const json_t *value;
    size_t i;

    if (depth > MAX_DEPTH) {
        return;
    }
    if (json_is_array(json)) {
        json_array_foreach (json, i, value) {
            show_value(cli, "-", value, depth);
            show_tree(cli, value, depth + 1);
        }
        return;
    }
    json_object_foreach ((json_t *)(uintptr_t)json, name, value) {
        show_value(cli, name, value, depth);
        show_tree(cli, value, depth + 1);
    }
}

void cli_show_tree(struct cli *cli, const json_t *json)
{
    show_tree(cli, json, 0);
}
