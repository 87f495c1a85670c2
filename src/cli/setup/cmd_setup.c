/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_setup.c - connect a client: its MCP entry, and the brain skill.
 *
 * Shows what would change and asks before it writes. Only the entry "clew" is
 * touched; --undo takes it out again. A skill that was changed by hand is not
 * removed, and a skill of that name that is not clew's is left alone.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/config.h"
#include "base/json.h"
#include "cli/core/cli.h"
#include "cli/setup/clients.h"
#include "cli/setup/clients_check.h"
#include "cli/setup/edit.h"
#include "cli/setup/file.h"
#include "mcp/mcp.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 16

/* skills/brain/SKILL.md, from its first byte to one past its last. */
__asm__(".section .rodata\n"
        ".global skill_bytes\n"
        ".global skill_end\n"
        ".hidden skill_bytes\n"
        ".hidden skill_end\n"
        "skill_bytes:\n"
        ".incbin \"" CLEW_SKILL_FILE "\"\n"
        "skill_end:\n"
        ".previous\n");
extern const char skill_bytes[];
extern const char skill_end[];

/* One file and what becomes of it. */
struct change {
    const char *path;
    struct buf before;
    struct buf after;
    bool had_file;
    bool is_removal; /* the file goes */
    bool is_whole;   /* all of it is ours: only its name is shown */
};

struct setup {
    struct cli *cli;
    const struct clients_place *place;
    const char *words[MAX_WORDS]; /* the program and its arguments */
    size_t n_words;
    struct change config;
    struct change skill;
    struct change proxy; /* its base URL; no path: it is not asked for */
};

#define N_CHANGES 3

/* --- what to start ---------------------------------------------------------
 */

static void add_word(struct setup *setup, const char *word)
{
    if (setup->n_words < MAX_WORDS) {
        setup->words[setup->n_words++] = word;
    }
}

static void pass_option(struct setup *setup, const char *flag,
                        const char *value)
{
    if (value) {
        add_word(setup, flag);
        add_word(setup, value);
    }
}

/* This program, and the options that say where the data is. */
static enum clew_status find_words(struct setup *setup, struct clew_error *err)
{
    struct cli *cli = setup->cli;
    const char *data = args_str(&cli->args, "data");
    const char *user = args_str(&cli->args, "user");
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *own = len > 0 ? arena_copy(&cli->arena, path, (size_t)len) : NULL;

    if (!own) {
        return clew_fail(err, CLEW_UNAVAILABLE, "could not find the program");
    }
    add_word(setup, own);
    add_word(setup, "mcp");
    pass_option(setup, "--url", args_str(&cli->args, "url"));
    if (data && !realpath(data, path)) {
        return clew_fail_field(err, "data", "there is no folder \"%.200s\"",
                               data);
    }
    pass_option(setup, "--data", data ? arena_string(&cli->arena, path) : NULL);
    pass_option(setup, "--store", args_str(&cli->args, "store"));
    pass_option(setup, "--tenant", args_str(&cli->args, "tenant"));
    if (user && !mcp_user_is_valid(str_of(user))) {
        return clew_fail_field(err, "user", "--user needs a user's id");
    }
    pass_option(setup, "--user", user);
    return CLEW_OK;
}

static json_t *words_from(const struct setup *setup, size_t first)
{
    json_t *list = json_array();

    for (size_t i = first; list && i < setup->n_words; i++) {
        if (json_array_append_new(list, json_string(setup->words[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The entry as JSON; the key, if one was given, in its environment. */
static json_t *entry_json(const struct setup *setup)
{
    const char *key = args_str(&setup->cli->args, "key");
    bool is_opencode = setup->place->form == CLIENTS_OPENCODE;
    json_t *entry =
        is_opencode ? json_pack("{s:s, s:o, s:b}", "type", "local", "command",
                                words_from(setup, 0), "enabled", 1)
                    : json_pack("{s:s, s:o}", "command", setup->words[0],
                                "args", words_from(setup, 1));

    if (entry && ((setup->place->form == CLIENTS_CLAUDE &&
                   !json_set_cstr(entry, "type", "stdio")) ||
                  (setup->place->form == CLIENTS_ZED &&
                   !json_set_cstr(entry, "source", "custom")))) {
        json_decref(entry);
        return NULL;
    }
    if (entry && key &&
        !json_set(entry, is_opencode ? "environment" : "env",
                  json_pack("{s:s}", "CLEW_KEY", key))) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* Pretty, with each line but the first moved in by four. */
static enum clew_status write_entry(const struct setup *setup, struct buf *out)
{
    json_t *entry = entry_json(setup);
    char *text = entry ? json_dumps(entry, JSON_INDENT(2)) : NULL;

    for (const char *c = text; c && *c; c++) {
        (void)buf_append_char(out, *c); /* kept in the buffer */
        if (*c == '\n') {
            (void)buf_append_cstr(out, "    ");
        }
    }
    alloc_free(text); /* jansson allocates through base/alloc.h */
    json_decref(entry);
    return text ? buf_status(out) : CLEW_NO_MEMORY;
}

/* A JSON string, or an array of them, is TOML too. */
static enum clew_status write_toml(const struct setup *setup, struct buf *out)
{
    const char *key = args_str(&setup->cli->args, "key");
    json_t *command = json_string(setup->words[0]);
    json_t *args = words_from(setup, 1);
    json_t *secret = key ? json_string(key) : NULL;
    enum clew_status status = CLEW_NO_MEMORY;

    if (command && args) {
        (void)buf_append_cstr(out, "command = "); /* kept in the buffer */
        clew_ignore(json_write(out, command));
        (void)buf_append_cstr(out, "\nargs = ");
        clew_ignore(json_write(out, args));
        (void)buf_append_cstr(out, "\n");
        if (secret) {
            (void)buf_append_cstr(out, "env = { CLEW_KEY = ");
            clew_ignore(json_write(out, secret));
            (void)buf_append_cstr(out, " }\n");
        }
        status = buf_status(out);
    }
    json_decref(command);
    json_decref(args);
    json_decref(secret);
    return status;
}

/* --- the changes -----------------------------------------------------------
 */

static enum clew_status plan_config(struct setup *setup, bool is_undo,
                                    struct clew_error *err)
{
    const struct clients_place *place = setup->place;
    struct change *change = &setup->config;
    struct str before = buf_str(&change->before);
    struct buf entry;
    enum clew_status status;

    buf_init(&entry, CLIENTS_MAX_BYTES);
    if (place->form == CLIENTS_CODEX) {
        status = write_toml(setup, &entry);
        if (status == CLEW_OK) {
            status = is_undo
                         ? edit_toml_remove(before, place->group, CLIENTS_ENTRY,
                                            &change->after)
                         : edit_toml_set(before, place->group, CLIENTS_ENTRY,
                                         buf_str(&entry), &change->after);
        }
    } else {
        status = write_entry(setup, &entry);
        if (status == CLEW_OK) {
            status = is_undo
                         ? edit_json_remove(before, place->group, CLIENTS_ENTRY,
                                            &change->after, err)
                         : edit_json_set(before, place->group, CLIENTS_ENTRY,
                                         buf_str(&entry), &change->after, err);
        }
    }
    buf_release(&entry);
    if (status == CLEW_NO_MEMORY || status == CLEW_TOO_LARGE) {
        return clew_fail(err, status, "could not change \"%.200s\"",
                         change->path);
    }
    return status;
}

/* The server that our entry in a client's file names, in the arena; NULL if it
 * names none. JSON and TOML write the words of a list alike. */
static const char *entry_url(const struct setup *setup)
{
    struct str text = buf_str(&setup->config.before);
    size_t at = str_find(text, STR(CLIENTS_ENTRY), 0);
    size_t flag = at == SIZE_MAX ? at : str_find(text, STR("\"--url\""), at);
    size_t from = flag == SIZE_MAX
                      ? flag
                      : str_find(text, STR("\""), flag + strlen("\"--url\""));
    size_t to = from == SIZE_MAX ? from : str_find(text, STR("\""), from + 1);

    return to == SIZE_MAX ? NULL
                          : arena_copy(&setup->cli->arena, text.s + from + 1,
                                       to - from - 1);
}

/* Take the base URL out if it is this server's, or the one that the entry
 * beside it names: another one was not set by us and stays. */
static enum clew_status remove_proxy(const struct setup *setup, struct str text,
                                     struct buf *out, struct clew_error *err)
{
    const struct base_url *place = &setup->place->url;
    const char *own[] = {
        args_str(&setup->cli->args, "proxy"),
        arena_printf(&setup->cli->arena, "http://%s",
                     config_str(setup->cli->config, "server.listen")),
        entry_url(setup)};
    enum clew_status status = base_url_remove(place, text, own, 3, out, err);
    char left[512];

    base_url_get(place, buf_str(out), left, sizeof(left));
    if (status == CLEW_OK && left[0]) {
        size_t len = strlen(left) - strlen(place->path);

        if (str_ends(str_of(left), str_of(place->path))) {
            left[len] = '\0';
        }
        output_note("%s is %s, which stays (--proxy %s takes it out)",
                    place->name, left, left);
    }
    return status;
}

static enum clew_status edit_proxy(const struct setup *setup, bool is_undo,
                                   struct str text, struct buf *out,
                                   struct clew_error *err)
{
    return is_undo
               ? remove_proxy(setup, text, out, err)
               : base_url_set(&setup->place->url, text,
                              args_str(&setup->cli->args, "proxy"), out, err);
}

/* Where the client sends its calls: in a file of its own, or in the one that
 * is changed already. */
static enum clew_status plan_proxy(struct setup *setup, bool is_undo,
                                   struct clew_error *err)
{
    const struct clients_place *place = setup->place;
    struct change *change = &setup->proxy;
    enum clew_status status;
    struct buf text;

    if (!args_str(&setup->cli->args, "proxy") && !is_undo) {
        return CLEW_OK;
    }
    if (place->url.form == BASE_URL_NONE) {
        return is_undo ? CLEW_OK
                       : clew_fail_field(
                             err, "proxy",
                             "--proxy: %s has no file for it; docs/proxy.md "
                             "says how its base URL is set",
                             place->client);
    }
    if (place->proxy) {
        change->path = clients_proxy_path(&setup->cli->arena, place);
        status =
            file_read(change->path, &change->before, &change->had_file, err);
        return status == CLEW_OK
                   ? edit_proxy(setup, is_undo, buf_str(&change->before),
                                &change->after, err)
                   : status;
    }
    buf_init(&text, CLIENTS_MAX_BYTES);
    status =
        edit_proxy(setup, is_undo, buf_str(&setup->config.after), &text, err);
    if (status == CLEW_OK) {
        buf_clear(&setup->config.after);
        status = buf_append_str(&setup->config.after, buf_str(&text));
    }
    buf_release(&text);
    return status;
}

static void plan_skill(struct setup *setup, bool is_undo)
{
    struct change *change = &setup->skill;
    struct str own = {skill_bytes, (size_t)(skill_end - skill_bytes)};
    struct str before = buf_str(&change->before);
    bool is_own = str_eq(before, own);
    bool is_foreign = change->had_file && before.len > 0 &&
                      str_find(before, STR("clew brain"), 0) == SIZE_MAX;

    if (!change->path) {
        return; /* it knows no skills */
    }
    if (!is_undo && is_foreign) {
        output_note("%s is not clew's; it is left as it is", change->path);
        (void)buf_append_str(&change->after, before); /* no change */
    } else if (!is_undo) {
        (void)buf_append_str(&change->after, own); /* checked when written */
    } else if (is_own) {
        change->is_removal = true;
    } else {
        (void)buf_append_str(&change->after, buf_str(&change->before));
    }
}

static bool is_change(const struct change *change)
{
    return change->is_removal ||
           !str_eq(buf_str(&change->before), buf_str(&change->after));
}

/* Lines [from, to) with a sign in front. */
static void show_lines(struct cli *cli, char sign, struct str text)
{
    struct str line;

    while (str_split(&text, '\n', &line)) {
        if (line.len > 0) {
            (void)fprintf(cli->out.file, "%c ", sign);
            output_line(&cli->out, OUTPUT_PLAIN, line, 0);
            (void)fputc('\n', cli->out.file);
        }
    }
}

/* What differs: the lines between the common beginning and end. */
static void show_change(struct cli *cli, const struct change *change)
{
    struct str a = buf_str(&change->before);
    struct str b = buf_str(&change->after);
    size_t head = 0;
    size_t tail = 0;

    (void)fprintf(cli->out.file, "%s %s\n",
                  change->is_removal ? "remove"
                  : change->had_file ? "change"
                                     : "create",
                  change->path);
    if (change->is_removal || change->is_whole) {
        return;
    }
    while (head < a.len && head < b.len && a.s[head] == b.s[head]) {
        head++;
    }
    while (head > 0 && b.s[head - 1] != '\n') {
        head--;
    }
    while (tail < a.len - head && tail < b.len - head &&
           a.s[a.len - tail - 1] == b.s[b.len - tail - 1]) {
        tail++;
    }
    while (tail > 0 && a.s[a.len - tail] != '\n') {
        tail--;
    }
    show_lines(cli, '-', str_sub(a, head, a.len - tail));
    show_lines(cli, '+', str_sub(b, head, b.len - tail));
}

static enum clew_status confirm(const struct cli *cli, struct clew_error *err)
{
    char answer[16];

    if (args_has(&cli->args, "yes")) {
        return CLEW_OK;
    }
    if (isatty(STDIN_FILENO)) {
        (void)fputs("Write this? [y/N] ", stderr);
        if (fgets(answer, sizeof(answer), stdin) &&
            (answer[0] == 'y' || answer[0] == 'Y')) {
            return CLEW_OK;
        }
    }
    return clew_fail(err, CLEW_INVALID,
                     "nothing was written; confirm with --yes");
}

static enum clew_status apply(const struct change *change,
                              struct clew_error *err)
{
    enum clew_status status;
    bool has_file = false;
    bool is_same;
    struct buf now;

    if (!is_change(change)) {
        return CLEW_OK;
    }
    /* clients write these files too, perhaps while the question stood */
    buf_init(&now, CLIENTS_MAX_BYTES);
    status = file_read(change->path, &now, &has_file, err);
    is_same = has_file == change->had_file &&
              str_eq(buf_str(&now), buf_str(&change->before));
    buf_release(&now);
    if (status == CLEW_OK && !is_same) {
        status = clew_fail(err, CLEW_CONFLICT,
                           "\"%.200s\" was changed meanwhile; run it again",
                           change->path);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (change->is_removal) {
        return file_remove(change->path, err);
    }
    return file_replace(change->path, buf_str(&change->after), err);
}

/* --- the command -----------------------------------------------------------
 */

static enum clew_status find_place(struct setup *setup, struct clew_error *err)
{
    const char *name = setup->cli->args.operands[0];

    setup->place = clients_find(name);
    return setup->place
               ? CLEW_OK
               : clew_fail_field(err, "client", "\"%.40s\" is none of %s", name,
                                 clients_names(&setup->cli->arena));
}

static enum clew_status plan(struct setup *setup, struct clew_error *err)
{
    bool is_undo = args_has(&setup->cli->args, "undo");
    enum clew_status status = find_place(setup, err);

    if (status == CLEW_OK) {
        status = clients_paths(&setup->cli->arena, setup->place,
                               &setup->config.path, &setup->skill.path, err);
    }
    if (status == CLEW_OK) {
        status = find_words(setup, err);
    }
    if (status == CLEW_OK) {
        status = file_read(setup->config.path, &setup->config.before,
                           &setup->config.had_file, err);
    }
    if (status == CLEW_OK && setup->skill.path) {
        status = file_read(setup->skill.path, &setup->skill.before,
                           &setup->skill.had_file, err);
    }
    if (status == CLEW_OK) {
        status = plan_config(setup, is_undo, err);
    }
    if (status == CLEW_OK) {
        plan_skill(setup, is_undo);
        status = plan_proxy(setup, is_undo, err);
    }
    return status;
}

static enum clew_status carry_out(struct setup *setup, struct clew_error *err)
{
    struct change *changes[] = {&setup->config, &setup->skill, &setup->proxy};
    enum clew_status status;
    size_t count = 0;

    for (size_t i = 0; i < N_CHANGES; i++) {
        if (is_change(changes[i])) {
            show_change(setup->cli, changes[i]);
            count++;
        }
    }
    if (count == 0) {
        (void)fputs("nothing to change\n", setup->cli->out.file);
        return CLEW_OK;
    }
    (void)fflush(setup->cli->out.file); /* before the question */
    status = confirm(setup->cli, err);
    for (size_t i = 0; status == CLEW_OK && i < N_CHANGES; i++) {
        status = apply(changes[i], err);
    }
    return status;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    struct setup setup = {.cli = cli, .skill.is_whole = true};
    struct buf *bufs[] = {&setup.config.before, &setup.config.after,
                          &setup.skill.before,  &setup.skill.after,
                          &setup.proxy.before,  &setup.proxy.after};
    enum clew_status status;

    if (args_has(&cli->args, "list")) {
        return clients_show_all(cli, err);
    }
    if (cli->args.n_operands == 0) {
        return clew_fail(err, CLEW_INVALID,
                         "name a client: %s; --list shows which are connected",
                         clients_names(&cli->arena));
    }
    if (args_has(&cli->args, "check")) {
        return clients_show_check(cli, err);
    }
    for (size_t i = 0; i < 2 * N_CHANGES; i++) {
        buf_init(bufs[i], CLIENTS_MAX_BYTES);
    }
    status = plan(&setup, err);
    if (status == CLEW_OK) {
        status = carry_out(&setup, err);
    }
    for (size_t i = 0; i < 2 * N_CHANGES; i++) {
        buf_release(bufs[i]);
    }
    return status;
}

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "whom the client's calls are for"},
    {"proxy", 0, "URL", NULL, "also let its calls pass through this server"},
    {"list", 0, NULL, NULL, "which clients there are, and which are connected"},
    {"check", 0, NULL, NULL, "start what the client would start, and ask it"},
    {"undo", 0, NULL, NULL, "take all of it out again"},
    {"yes", 'y', NULL, NULL, "write without asking"},
    {NULL, 0, NULL, NULL, NULL},
};

const struct command command_setup = {
    .name = "setup",
    .operands = "[CLIENT]",
    .max_operands = 1,
    .summary = "connect a client: add the MCP server and the brain skill",
    .example = "clew setup claude-code --url http://127.0.0.1:2539",
    .options = options,
    .run = run,
};
