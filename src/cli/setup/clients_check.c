/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients_check.c - see clients_check.h.
 */
#include "cli/setup/clients_check.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "cli/setup/clients.h"
#include "cli/setup/file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 32
/* What http/router.h says of an address that is not there. */
#define NO_ROUTE "no such address"
/* Clients give up after some seconds too. */
#define ANSWER_MS 10000

/* What a client's file says. */
struct found {
    const char *path;
    const char *program;        /* NULL: no entry */
    char *words[MAX_WORDS + 1]; /* the program and its arguments */
};

static bool take_words(struct cli *cli, struct found *out, const json_t *list)
{
    const json_t *word;
    size_t n = 0;
    size_t i;

    while (out->words[n]) {
        n++;
    }
    json_array_foreach (list, i, word) {
        if (n == MAX_WORDS || !json_is_string(word)) {
            return false;
        }
        out->words[n] = arena_string(&cli->arena, json_string_value(word));
        n++;
    }
    return true;
}

/* The arguments of the entry; a TOML array of texts is JSON too. */
static void take_args(struct cli *cli, const struct clients_place *place,
                      struct str text, struct found *out)
{
    json_t *json = NULL;
    const json_t *entry;

    if (place->form == CLIENTS_CODEX) {
        size_t at = str_find(text, STR("[mcp_servers." CLIENTS_ENTRY "]"), 0);
        struct str rest = str_sub(text, at, text.len);
        size_t from = str_find(rest, STR("args = ["), 0);
        size_t end = from == SIZE_MAX ? from : str_find(rest, STR("]\n"), from);

        out->words[0] = arena_string(&cli->arena, out->program);
        if (end != SIZE_MAX && json_parse(str_sub(rest, from + 7, end + 1),
                                          &json, NULL) == CLEW_OK) {
            (void)take_words(cli, out, json); /* fewer, then */
        }
    } else if (json_parse(text, &json, NULL) == CLEW_OK) {
        entry =
            json_object_get(json_object_get(json, place->group), CLIENTS_ENTRY);
        if (json_is_array(json_object_get(entry, "command"))) {
            (void)take_words(cli, out, json_object_get(entry, "command"));
        } else {
            out->words[0] = arena_string(&cli->arena, out->program);
            (void)take_words(cli, out, json_object_get(entry, "args"));
        }
    }
    json_decref(json);
}

static enum clew_status find(struct cli *cli, const struct clients_place *place,
                             struct found *out, struct clew_error *err)
{
    const char *skill = NULL;
    bool has_file = false;
    struct buf text;
    enum clew_status status =
        clients_paths(&cli->arena, place, &out->path, &skill, err);

    buf_init(&text, CLIENTS_MAX_BYTES);
    if (status == CLEW_OK) {
        status = file_read(out->path, &text, &has_file, err);
    }
    if (status == CLEW_OK && has_file) {
        out->program = clients_program(&cli->arena, place, buf_str(&text));
        if (out->program) {
            take_args(cli, place, buf_str(&text), out);
        }
    }
    buf_release(&text);
    return status;
}

enum clew_status clients_show_all(struct cli *cli, struct clew_error *err)
{
    static const struct output_column columns[] = {
        {"CLIENT", false}, {"CONNECTED", false}, {"FILE", false}};
    const char *cells[3 * 32];
    size_t n = 0;
    json_t *list = json_array();
    const char *home = getenv("HOME");
    size_t home_len = home ? strlen(home) : 0;

    for (const struct clients_place *p = clients_places; p->client && n < 32;
         p++, n++) {
        struct found found = {0};
        enum clew_status status = find(cli, p, &found, err);
        bool is_there;

        if (status != CLEW_OK) {
            json_decref(list);
            return status;
        }
        is_there = found.program && access(found.program, X_OK) == 0;
        cells[3 * n] = p->client;
        cells[3 * n + 1] = is_there        ? "yes"
                           : found.program ? "its program is gone"
                                           : "no";
        cells[3 * n + 2] =
            home_len && strncmp(found.path, home, home_len) == 0
                ? arena_printf(&cli->arena, "~%s", found.path + home_len)
                : found.path;
        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:b, s:s, s:s*}", "client", p->client, "connected",
                      is_there, "file", found.path, "program", found.program));
    }
    if (cli->as_json) {
        json_t *json = json_pack("{s:O}", "items", list);

        output_json(&cli->out, json);
        json_decref(json);
    } else {
        output_table(&cli->out, columns, 3, cells, n);
    }
    json_decref(list);
    return CLEW_OK;
}

/* --- trying it ------------------------------------------------------------ */

/* A child with pipes on its standard input and output. */
static bool start(char *const *words, pid_t *pid, int *to, int *from)
{
    posix_spawn_file_actions_t actions;
    int in[2];
    int out[2];
    bool is_ok;

    if (pipe2(in, O_CLOEXEC) != 0) {
        return false;
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        (void)close(in[0]);
        (void)close(in[1]);
        return false;
    }
    (void)posix_spawn_file_actions_init(&actions);
    is_ok = posix_spawn_file_actions_adddup2(&actions, in[0], 0) == 0 &&
            posix_spawn_file_actions_adddup2(&actions, out[1], 1) == 0 &&
            posix_spawnp(pid, words[0], &actions, NULL, words, environ) == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(in[0]);
    (void)close(out[1]);
    *to = in[1];
    *from = out[0];
    if (!is_ok) {
        (void)close(*to);
        (void)close(*from);
    }
    return is_ok;
}

/* Its first line, or what there is of it after a while. */
static void read_line(int from, struct buf *out)
{
    int64_t end_ns = clock_mono_ns() + ANSWER_MS * 1000000LL;

    while (!memchr(out->data ? out->data : "", '\n', out->len)) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int64_t left_ms = (end_ns - clock_mono_ns()) / 1000000;
        char part[4096];
        ssize_t n;

        if (left_ms <= 0 || poll(&ready, 1, (int)left_ms) <= 0) {
            return;
        }
        n = read(from, part, sizeof(part));
        if (n <= 0 || buf_append(out, part, (size_t)n) != CLEW_OK) {
            return;
        }
    }
}

/* Greet it as a client does; true if it answers as clew. */
static bool answers(char *const *words)
{
    static const char greeting[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
        "\"clientInfo\":{\"name\":\"clew setup\",\"version\":\"1\"}}}\n";
    bool is_clew = false;
    struct buf line;
    pid_t pid = 0;
    int to;
    int from;

    if (!start(words, &pid, &to, &from)) {
        return false;
    }
    buf_init(&line, 1 << 20);
    if (write(to, greeting, sizeof(greeting) - 1) ==
        (ssize_t)(sizeof(greeting) - 1)) {
        read_line(from, &line);
        is_clew = line.len > 0 && strstr(line.data, "\"serverInfo\"") != NULL;
    }
    buf_release(&line);
    (void)close(to); /* its end of input: it ends */
    (void)close(from);
    (void)kill(pid, SIGTERM); /* if it does not */
    (void)waitpid(pid, NULL, 0);
    return is_clew;
}

/* --- its calls ------------------------------------------------------------ */

/* Look where the client's calls go, unless the person names a place: its entry
 * may name another server or folder than this command would take. */
static enum clew_status go_there(struct cli *cli, const struct found *found,
                                 struct clew_error *err)
{
    static const struct arg_option own[] = {{"user", 'U', "ID", NULL, NULL},
                                            {NULL, 0, NULL, NULL, NULL}};
    struct config_flag flags[ARGS_MAX];
    struct config *config = NULL;
    struct args entry = {0};
    size_t n_flags = 0;
    int n = 0;
    enum clew_status status;

    while (found->words[n]) {
        n++;
    }
    if (args_has(&cli->args, "url") || args_has(&cli->args, "data") ||
        args_has(&cli->args, "store") || n < 2) {
        return CLEW_OK;
    }
    status = args_parse(own, n - 2, found->words + 2, &entry, err);
    for (size_t i = 0; status == CLEW_OK && i < entry.n_given; i++) {
        if (entry.given[i].option != own && cli->args.n_given < ARGS_MAX) {
            cli->args.given[cli->args.n_given++] = entry.given[i];
        }
    }
    if (status == CLEW_OK) {
        status = args_config(&cli->args, &cli->arena, flags, &n_flags, err);
    }
    if (status == CLEW_OK) {
        status = config_load(args_str(&cli->args, "config"), flags, n_flags,
                             &config, err);
    }
    if (status == CLEW_OK) {
        config_free(cli->config);
        cli->config = config;
    }
    return status;
}

/* The latest of its calls that came by `via`; NULL if there is none. */
static const json_t *last_call(const struct clients_place *place,
                               const json_t *callers, const char *via)
{
    const json_t *caller;
    size_t i;

    json_array_foreach (callers, i, caller) {
        if (strcmp(cli_field(caller, "via"), via) == 0 &&
            clients_is_name(place, str_of(cli_field(caller, "name")))) {
            return caller;
        }
    }
    return NULL;
}

static void tell_call(struct cli *cli, const struct clients_place *place,
                      const char *what, const json_t *call)
{
    if (call) {
        (void)fprintf(cli->out.file, "last call %s: %s, as \"%s\"\n", what,
                      cli_when(cli, call, "last_at"), cli_field(call, "name"));
    } else {
        (void)fprintf(cli->out.file, "last call %s: none seen from %s\n", what,
                      place->client);
    }
}

/* Who else called: a program may have taken another name. */
static void tell_others(struct cli *cli, const json_t *callers)
{
    const json_t *caller;
    size_t i;

    json_array_foreach (callers, i, caller) {
        (void)fprintf(cli->out.file, "%s%s (%s)",
                      i == 0 ? "programs that did call: " : ", ",
                      cli_field(caller, "name"),
                      cli_when(cli, caller, "last_at"));
    }
    if (i > 0) {
        (void)fputc('\n', cli->out.file);
    }
}

static enum clew_status tell_calls(struct cli *cli,
                                   const struct clients_place *place,
                                   const struct found *found,
                                   struct clew_error *err)
{
    json_t *answer = NULL;
    const json_t *list;
    const json_t *own;
    const json_t *passed;
    enum clew_status status = go_there(cli, found, err);

    if (status == CLEW_OK) {
        status = cli_call(cli, "GET", "/api/v1/callers", NULL, &answer, err);
    }
    if (status == CLEW_NOT_FOUND && strcmp(err->message, NO_ROUTE) == 0) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "the server is older and does not tell who called");
    }
    if (status == CLEW_NOT_FOUND) {
        status = CLEW_OK; /* no store yet, so no call */
    }
    if (status != CLEW_OK) {
        return status;
    }
    list = json_object_get(answer, "items");
    own = last_call(place, list, "api");
    passed = last_call(place, list, "proxy");
    if (cli->as_json) {
        json_t *out = json_pack(
            "{s:s, s:b, s:s, s:o, s:o}", "client", place->client, "connected",
            1, "program", found->program, "last_call",
            own ? json_deep_copy(own) : json_null(), "last_proxy_call",
            passed ? json_deep_copy(passed) : json_null());

        output_json(&cli->out, out);
        json_decref(out);
    } else {
        tell_call(cli, place, "for memory", own);
        if (passed || place->url.form != BASE_URL_NONE) {
            tell_call(cli, place, "through the proxy", passed);
        }
        if (!own && !passed) {
            tell_others(cli, list);
        }
    }
    json_decref(answer);
    return CLEW_OK;
}

enum clew_status clients_show_check(struct cli *cli, struct clew_error *err)
{
    const char *name = cli->args.operands[0];
    const struct clients_place *place = clients_find(name);
    struct found found = {0};
    enum clew_status status;

    if (!place) {
        return clew_fail_field(err, "client", "\"%.40s\" is none of %s", name,
                               clients_names(&cli->arena));
    }
    status = find(cli, place, &found, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (!found.program) {
        return clew_fail(err, CLEW_CONFLICT,
                         "%s is not connected; \"clew setup %s\" does it", name,
                         name);
    }
    if (!found.words[0] || !answers(found.words)) {
        return clew_fail(err, CLEW_CONFLICT,
                         "%s would start \"%.100s\", which does not answer; "
                         "\"clew setup %s\" sets it right",
                         name, found.program, name);
    }
    if (!cli->as_json) {
        (void)fprintf(cli->out.file, "%s is connected: %s answers\n", name,
                      found.program);
    }
    return tell_calls(cli, place, &found, err);
}
