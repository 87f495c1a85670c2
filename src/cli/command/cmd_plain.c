/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_plain.c - commands that are one call of the API and no more.
 *
 * A row says which call it is (struct command, `call`). Options become the
 * call's query, or its body. A list is printed an item a line, anything else
 * a value a line.
 */
#include "base/json.h"
#include "cli/core/cli.h"
#include "cli/core/typed.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

/* The API's name of an option: "dry-run" is dry_run, "user" user_id. */
static const char *field_of(struct cli *cli, const char *option)
{
    char *name;

    if (strcmp(option, "user") == 0 || strcmp(option, "chat") == 0) {
        return arena_printf(&cli->arena, "%s_id", option);
    }
    name = arena_string(&cli->arena, option);
    for (char *at = name; at && *at; at++) {
        if (*at == '-') {
            *at = '_';
        }
    }
    return name;
}

/* An operand or an option's value as it goes into a body. */
static bool set_field(json_t *body, const char *field, const char *text)
{
    return field && (text ? json_set_cstr(body, field, text)
                          : json_set_bool(body, field, true));
}

/* The next word of the call. */
static struct str next_word(struct str *rest)
{
    struct str word = {0};

    (void)str_split(rest, ' ', &word);
    return word;
}

/* The path with operands in place of {}; `*n_used` of them. */
static char *path_of(struct cli *cli, struct str pattern, size_t *n_used)
{
    char *path = arena_copy(&cli->arena, pattern.s, pattern.len);
    char *gap = path ? strstr(path, "/{}") : NULL;

    *n_used = 0;
    if (gap) {
        *gap = '\0';
        path = cli_path(cli, path, cli->args.operands[0], gap + 3);
        *n_used = 1;
    }
    return path;
}

static bool is_own(const struct cli *cli, const struct arg_option *option)
{
    for (const struct arg_option *at = cli->command->options; at && at->name;
         at++) {
        if (at == option) {
            return true;
        }
    }
    return false;
}

static json_t *body_of(struct cli *cli, struct str fields, size_t n_used)
{
    json_t *body = json_object();
    bool is_ok = body != NULL;

    for (size_t i = n_used; is_ok && i < cli->args.n_operands; i++) {
        struct str field = next_word(&fields);

        is_ok = set_field(body, arena_copy(&cli->arena, field.s, field.len),
                          cli->args.operands[i]);
    }
    for (size_t i = 0; is_ok && i < cli->args.n_given; i++) {
        const struct arg_option *option = cli->args.given[i].option;

        if (is_own(cli, option)) {
            is_ok = set_field(body, field_of(cli, option->name),
                              cli->args.given[i].value);
        }
    }
    is_ok = is_ok && (!cli->command->sends_zone || typed_set_zone(cli, body));
    if (!is_ok) {
        json_decref(body);
    }
    return is_ok ? body : NULL;
}

static char *query_of(struct cli *cli, char *path)
{
    for (size_t i = 0; i < cli->args.n_given; i++) {
        const struct arg_option *option = cli->args.given[i].option;

        if (is_own(cli, option)) {
            const char *value = cli->args.given[i].value;

            path = cli_query(cli, path, field_of(cli, option->name),
                             value ? value : "1");
        }
    }
    return path;
}

/* --- showing ---------------------------------------------------------------
 */

/* Turns, one a paragraph; anything else a value a line. */
static enum clew_status show(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "id");
    const json_t *item;
    size_t i;

    (void)err;
    if (!items) {
        cli_show_tree(cli, answer);
        return CLEW_OK;
    }
    json_array_foreach (items, i, item) {
        const char *name = cli_field(item, "name");

        output_text(&cli->out, OUTPUT_BOLD,
                    str_of(name[0] ? name : cli_field(item, "role")));
        (void)fprintf(cli->out.file, ", %s, turn ",
                      cli_when(cli, item, "created_at"));
        output_text(&cli->out, OUTPUT_NAME,
                    str_of(show_id(cli, cli_field(item, "id"), width)));
        (void)fputc('\n', cli->out.file);
        show_paragraph(cli, "  ", str_of(cli_field(item, "text")));
    }
    if (json_array_size(items) == 0) {
        (void)fputs("nothing found\n", stderr);
    }
    show_more(answer);
    return CLEW_OK;
}

static enum clew_status show_source(struct cli *cli, const json_t *answer,
                                    struct clew_error *err)
{
    if (json_array_size(json_object_get(answer, "items")) == 0) {
        (void)fputs("it was contributed: there are no turns it was drawn "
                    "from\n",
                    stderr);
        return CLEW_OK;
    }
    return show(cli, answer, err);
}

/* What is wrong with a word that was typed is told of that word, not of the
 * field it became. */
static void blame(const struct cli *cli, struct str fields, size_t n_used,
                  struct clew_error *err)
{
    for (size_t i = n_used; err && i < cli->args.n_operands; i++) {
        struct str field = next_word(&fields);
        char quoted[80];
        struct clew_error was = *err;
        const char *at;

        (void)snprintf(quoted, sizeof(quoted), "\"%.*s\"", (int)field.len,
                       field.len ? field.s : "");
        at = strstr(was.message, quoted);
        if (field.len > 0 && str_eq(field, str_of(was.field)) && at) {
            (void)snprintf(err->message, sizeof(err->message),
                           "%.*s\"%.40s\"%s", (int)(at - was.message),
                           was.message, cli->args.operands[i],
                           at + strlen(quoted));
        }
    }
}

static enum clew_status run_plain(struct cli *cli, struct clew_error *err)
{
    struct str rest = str_of(cli->command->call);
    struct str method = next_word(&rest);
    struct str pattern = next_word(&rest);
    size_t n_used = 0;
    char *path = path_of(cli, pattern, &n_used);
    cli_show_fn shower = cli->command->show ? cli->command->show : show;
    enum clew_status status;
    json_t *body;

    if (str_eq(method, STR("GET"))) {
        return cli_show(cli, "GET", query_of(cli, path), NULL, shower, err);
    }
    body = body_of(cli, rest, n_used);
    if (!body) {
        return clew_fail(err, CLEW_INVALID, "the text must be valid UTF-8");
    }
    status = cli_show(cli, str_eq(method, STR("PATCH")) ? "PATCH" : "POST",
                      path, body, shower, err);
    if (status == CLEW_INVALID) {
        blame(cli, rest, n_used, err);
    }
    return status;
}

/* --- the commands ----------------------------------------------------------
 */

#define ID "0199c1d2-7a00"
#define PAGE_OPTIONS                                                           \
    {"limit", 'l', "N", NULL, "at most this many (default 50)"},               \
    {                                                                          \
        "cursor", 0, "CURSOR", NULL, "go on where the last list ended"         \
    }
#define END_OF_OPTIONS                                                         \
    {                                                                          \
        NULL, 0, NULL, NULL, NULL                                              \
    }

/* clang-format off: a table */
#define PLAIN(id, words, takes, least, most, does, shows, own, route, ...)     \
    const struct command command_##id = {.name = words,                        \
                                         .operands = takes,                    \
                                         .min_operands = least,                \
                                         .max_operands = most,                 \
                                         .summary = does,                      \
                                         .example = "clew " shows,             \
                                         .options = own,                       \
                                         .run = run_plain,                     \
                                         .call = route,                        \
                                         __VA_ARGS__}

static const struct arg_option episode_options[] = {
    {"chat", 'C', "CHAT", NULL, "of this chat"}, PAGE_OPTIONS, END_OF_OPTIONS};
static const struct arg_option link_options[] = {
    {"chat", 'C', "CHAT", NULL, "from or to this chat"},
    {"decision", 0, "WHICH", NULL, "link or no_link"},
    PAGE_OPTIONS,
    END_OF_OPTIONS};
static const struct arg_option effort_options[] = {
    {"chat", 'C', "CHAT", NULL, "in this chat"}, END_OF_OPTIONS};
static const struct arg_option analyse_options[] = {
    {"previous", 0, "TEXT", NULL, "what was said before it"}, END_OF_OPTIONS};

PLAIN(health, "health", "", 0, 0, "ask a server how it is; 0 if it is well",
      "health --url http://127.0.0.1:2539", NULL, "GET /healthz", .show = NULL);
PLAIN(memories_show, "memories show", "MEMORY", 1, 1,
      "show one memory and where it came from", "memories show " ID, NULL,
      "GET /api/v1/memories/{}", .show = show_memory);
PLAIN(memories_source, "memories source", "MEMORY", 1, 1,
      "read the turns a memory was drawn from", "memories source " ID, NULL,
      "GET /api/v1/memories/{}/source", .show = show_source);
PLAIN(efforts_new, "efforts new", "USER GOAL", 2, 2, "open an effort by hand",
      "efforts new ada \"move to the new flat\"", effort_options,
      "POST /api/v1/efforts user_id goal", .makes_store = true,
      .show = show_effort);
PLAIN(episodes, "episodes", "", 0, 0, "list stretches of talk and their sums",
      "episodes --chat " ID, episode_options, "GET /api/v1/episodes",
      .show = show_episodes);
PLAIN(episodes_show, "episodes show", "EPISODE", 1, 1, "show one episode",
      "episodes show " ID, NULL, "GET /api/v1/episodes/{}",
      .show = show_episode);
PLAIN(links, "links", "", 0, 0, "list which chats were joined, and which not",
      "links --decision link", link_options, "GET /api/v1/links",
      .show = show_links);
PLAIN(links_feedback, "links feedback", "LINK correct|incorrect", 2, 2,
      "say whether two chats were rightly joined",
      "links feedback " ID " incorrect", NULL,
      "POST /api/v1/links/{}/feedback outcome", .show = show_rated);
PLAIN(tuning, "tuning", "", 0, 0, "show how links are weighed, and since when",
      "tuning", NULL, "GET /api/v1/tuning", .show = show_tuning);
PLAIN(tuning_revert, "tuning revert", "", 0, 0, "take the last tuning back",
      "tuning revert", NULL, "POST /api/v1/tuning/revert", .show = show_tuning);
PLAIN(chains_show, "chains show", "CHAIN", 1, 1, "show a chain's claims",
      "chains show " ID, NULL, "GET /api/v1/chains/{}", .show = show_chain);
PLAIN(chains_conclude, "chains conclude", "CHAIN", 1, 1, "end a topic",
      "chains conclude " ID, NULL, "POST /api/v1/chains/{}/conclude",
      .show = show_chain);
PLAIN(chains_reopen, "chains reopen", "CHAIN", 1, 1, "take a topic up again",
      "chains reopen " ID, NULL, "POST /api/v1/chains/{}/reopen",
      .show = show_chain);
PLAIN(chats_title, "chats title", "CHAT TITLE", 2, 2, "give a chat a title",
      "chats title " ID " \"the move\"", NULL, "PATCH /api/v1/chats/{} title",
      .show = show_chat_done);
PLAIN(chats_close, "chats close", "CHAT", 1, 1,
      "close a chat: the next message opens another", "chats close " ID, NULL,
      "POST /api/v1/chats/{}/close", .show = show_chat_done);
PLAIN(chats_compact, "chats compact", "CHAT", 1, 1,
      "sum up a chat's episodes now", "chats compact " ID, NULL,
      "POST /api/v1/chats/{}/compact", .show = show_episodes);
PLAIN(sessions_end, "sessions end", "SESSION", 1, 1, "end a work period",
      "sessions end " ID, NULL, "POST /api/v1/sessions/{}/end",
      .show = show_session_done);
PLAIN(conversation, "conversation", "CONVERSATION", 1, 1,
      "show the tree of captured calls", "conversation " ID, NULL,
      "GET /api/v1/conversations/{}", .show = show_conversation);
PLAIN(analyse, "analyse", "TEXT", 1, 1, "say what a sentence does",
      "analyse \"could you send me the report by Friday?\"", analyse_options,
      "POST /api/v1/analyse text", .sends_zone = true, .show = show_analysis);
/* clang-format on */
