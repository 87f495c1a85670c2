/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_chat.c - talk: each line is kept before anything else happens with it.
 *
 * Works offline: it records, tells what was noticed, and recalls what answers a
 * question. With `llm.url` set the model replies (chat_reply.h). Slash commands
 * look at and change the conversation; they are not part of it.
 */
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/show/show.h"
#include "cli/chat/chat_line.h"
#include "cli/chat/chat_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECALL_LINES 3
#define RECALL_LIMIT 6
/* Recall's "maybe" (search_tuning.h): what is below it answers nothing. */
#define RECALL_FLOOR 0.11
#define MAX_EFFORTS 64

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "who talks (default \"me\")"},
    {"chat", 'C', "CHAT", NULL, "go on with this chat"},
    {NULL, 0, NULL, NULL, NULL},
};

struct talk {
    struct cli *cli;
    struct chat_reply *reply; /* NULL: nobody answers */
    const char *user;
    char chat_id[64];  /* "" until the first turn */
    char start_id[64]; /* a start that waits for an answer */
    char trace_id[64];
    char efforts[MAX_EFFORTS][64]; /* ids, as /efforts numbered them */
    size_t n_efforts;
    long n_turns;
    long n_notices;
    long n_unkept; /* lines that were not stored, and why the last was not */
    enum clew_status unkept;
};

static void put_line(struct talk *talk, const char *text)
{
    output_text(&talk->cli->out, OUTPUT_PLAIN, str_of(text));
    (void)fputc('\n', talk->cli->out.file);
}

static void keep_id(char *out, size_t size, const char *id)
{
    (void)snprintf(out, size, "%s", id);
}

/* --- messages --------------------------------------------------------------
 */

static void show_notices(struct talk *talk, const json_t *answer)
{
    const json_t *notice;
    size_t i;

    json_array_foreach (json_object_get(answer, "notices"), i, notice) {
        output_line(&talk->cli->out, OUTPUT_DIM,
                    str_of(json_string_value(notice)), 0);
        (void)fputc('\n', talk->cli->out.file);
        talk->n_notices++;
    }
}

static void show_recalled(struct talk *talk, const json_t *answer,
                          const char *own_id)
{
    const json_t *item;
    size_t i;
    int n = 0;

    json_array_foreach (json_object_get(answer, "items"), i, item) {
        if (n >= RECALL_LINES || strcmp(cli_field(item, "id"), own_id) == 0) {
            continue;
        }
        (void)fputs("  ~ ", talk->cli->out.file);
        output_line(&talk->cli->out, OUTPUT_PLAIN,
                    str_of(cli_field(item, "text")), 160);
        (void)fprintf(talk->cli->out.file, "  (%s)\n",
                      cli_when(talk->cli, item, "created_at"));
        n++;
    }
    if (n == 0) {
        (void)fputs("  ~ nothing fits\n", talk->cli->out.file);
    }
}

static enum clew_status recall(struct talk *talk, const char *text,
                               const char *own_id, struct clew_error *err)
{
    json_t *body = json_object();
    json_t *answer = NULL;
    enum clew_status status;

    if (!body || !json_set_cstr(body, "query", text) ||
        !json_set_cstr(body, "user_id", talk->user) ||
        !json_set_int(body, "limit", RECALL_LIMIT) ||
        !json_set_real(body, "min_score", RECALL_FLOOR)) {
        json_decref(body);
        return clew_no_memory(err);
    }
    status = cli_call(talk->cli, "POST", "/api/v1/recall", body, &answer, err);
    if (status == CLEW_OK) {
        show_recalled(talk, answer, own_id);
    }
    json_decref(answer);
    return status;
}

static enum clew_status make_chat(struct talk *talk, struct clew_error *err)
{
    json_t *body = json_object();
    json_t *answer = NULL;
    enum clew_status status;

    if (!body || !json_set_cstr(body, "user_id", talk->user)) {
        json_decref(body);
        return clew_no_memory(err);
    }
    status = cli_call(talk->cli, "POST", "/api/v1/chats", body, &answer, err);
    if (status == CLEW_OK) {
        keep_id(talk->chat_id, sizeof(talk->chat_id), cli_field(answer, "id"));
    }
    json_decref(answer);
    return status;
}

/* The model's answer, and what was noticed in it. */
static enum clew_status hear(struct talk *talk, const char *text,
                             struct clew_error *err)
{
    json_t *answer = NULL;
    enum clew_status status = chat_reply_run(talk->reply, talk->user,
                                             talk->chat_id, text, &answer, err);

    if (answer) {
        talk->n_turns++;
        show_notices(talk, answer);
    }
    json_decref(answer);
    return status;
}

/* Keep what was typed, then say what came of it. */
static enum clew_status say(struct talk *talk, const char *text,
                            struct clew_error *err)
{
    json_t *body;
    json_t *answer = NULL;
    enum clew_status status = CLEW_OK;
    size_t len = strlen(text);

    if (!talk->chat_id[0]) {
        status = make_chat(talk, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    body = json_object();
    if (!body || !json_set_cstr(body, "user_id", talk->user) ||
        !json_set_cstr(body, "role", "user") ||
        !json_set_cstr(body, "content", text) ||
        !json_set_cstr(body, "chat_id", talk->chat_id)) {
        json_decref(body);
        return clew_fail(err, CLEW_INVALID, "a line must be valid UTF-8");
    }
    status = cli_call(talk->cli, "POST", "/api/v1/turns", body, &answer, err);
    if (status == CLEW_OK) {
        const json_t *turn = json_object_get(answer, "turn");

        talk->n_turns++;
        keep_id(talk->trace_id, sizeof(talk->trace_id),
                cli_field(answer, "trace_id"));
        show_notices(talk, answer);
        if (talk->reply) {
            status = hear(talk, text, err);
        } else if (len > 0 && text[len - 1] == '?') {
            status = recall(talk, text, cli_field(turn, "id"), err);
        }
    }
    json_decref(answer);
    return status;
}

/* --- slash commands --------------------------------------------------------
 */

typedef enum clew_status (*slash_fn)(struct talk *talk, const char *rest,
                                     struct clew_error *err);

static enum clew_status show_help(struct talk *talk, const char *rest,
                                  struct clew_error *err);

static enum clew_status need_chat(const struct talk *talk,
                                  struct clew_error *err)
{
    return talk->chat_id[0]
               ? CLEW_OK
               : clew_fail(err, CLEW_INVALID, "nothing has been said yet");
}

static enum clew_status choose(struct talk *talk, const char *text,
                               struct clew_error *err)
{
    json_t *body = json_object();
    json_t *answer = NULL;
    enum clew_status status;

    if (!body || !json_set_cstr(body, "answer", text)) {
        json_decref(body);
        return clew_fail(err, CLEW_INVALID, "an answer must be UTF-8");
    }
    status = cli_call(
        talk->cli, "POST",
        cli_path(talk->cli, "/api/v1/start", talk->start_id, "/choose"), body,
        &answer, err);
    if (status == CLEW_OK) {
        put_line(talk, cli_field(answer, "text"));
        if (strcmp(cli_field(answer, "action"), "ask") != 0) {
            keep_id(talk->chat_id, sizeof(talk->chat_id),
                    cli_field(answer, "chat_id"));
            talk->start_id[0] = '\0';
        }
    }
    json_decref(answer);
    return status;
}

static enum clew_status slash_start(struct talk *talk, const char *rest,
                                    struct clew_error *err)
{
    json_t *body = json_object();
    json_t *answer = NULL;
    enum clew_status status;

    if (!body || !json_set_cstr(body, "user_id", talk->user) ||
        !json_set_cstr(body, "intent", rest)) {
        json_decref(body);
        return clew_fail(err, CLEW_INVALID, "a line must be valid UTF-8");
    }
    status = cli_call(talk->cli, "POST", "/api/v1/start", body, &answer, err);
    if (status == CLEW_OK) {
        put_line(talk, cli_field(answer, "text"));
        keep_id(talk->start_id, sizeof(talk->start_id),
                cli_field(answer, "id"));
    }
    json_decref(answer);
    return status;
}

static enum clew_status slash_fork(struct talk *talk, const char *rest,
                                   struct clew_error *err)
{
    json_t *body = json_object();
    json_t *answer = NULL;
    int64_t at_seq = 0;
    enum clew_status status = need_chat(talk, err);

    if (status == CLEW_OK && *rest && !str_parse_int(str_of(rest), &at_seq)) {
        status = clew_fail(err, CLEW_INVALID, "/fork takes a turn's number");
    }
    if (status == CLEW_OK &&
        (!body || (*rest && !json_set_int(body, "at_seq", at_seq)))) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        json_decref(body);
        return status;
    }
    status =
        cli_call(talk->cli, "POST",
                 cli_path(talk->cli, "/api/v1/chats", talk->chat_id, "/fork"),
                 body, &answer, err);
    if (status == CLEW_OK) {
        keep_id(talk->chat_id, sizeof(talk->chat_id), cli_field(answer, "id"));
        (void)fprintf(talk->cli->out.file, "now in fork %s\n", talk->chat_id);
    }
    json_decref(answer);
    return status;
}

static enum clew_status slash_efforts(struct talk *talk, const char *rest,
                                      struct clew_error *err)
{
    char *path = arena_string(&talk->cli->arena, "/api/v1/efforts");
    json_t *answer = NULL;
    const json_t *effort;
    size_t i;
    enum clew_status status;

    (void)rest;
    path = talk->chat_id[0]
               ? cli_query(talk->cli, path, "chat_id", talk->chat_id)
               : cli_query(talk->cli, path, "user_id", talk->user);
    path = cli_query(talk->cli, path, "all", talk->chat_id[0] ? "1" : NULL);
    if (!path) {
        return clew_no_memory(err);
    }
    status = cli_call(talk->cli, "GET", path, NULL, &answer, err);
    talk->n_efforts = 0;
    json_array_foreach (json_object_get(answer, "items"), i, effort) {
        if (talk->n_efforts == MAX_EFFORTS) {
            break;
        }
        keep_id(talk->efforts[talk->n_efforts++], sizeof(talk->efforts[0]),
                cli_field(effort, "id"));
        (void)fprintf(talk->cli->out.file, "  %zu. [effort:%s] ",
                      talk->n_efforts, cli_field(effort, "status"));
        put_line(talk, cli_field(effort, "summary"));
    }
    if (status == CLEW_OK && talk->n_efforts == 0) {
        (void)fputs(talk->chat_id[0] ? "no efforts in this chat\n"
                                     : "no open efforts\n",
                    talk->cli->out.file);
    }
    json_decref(answer);
    return status;
}

/* "2 the token was old": the effort's id and the rest. Without a number the
 * one touched last. */
static enum clew_status pick_effort(struct talk *talk, const char **rest,
                                    const char **out_id, struct clew_error *err)
{
    char *end = NULL;
    long n = strtol(*rest, &end, 10);
    enum clew_status status = CLEW_OK;
    FILE *shown = talk->cli->out.file;

    if (talk->n_efforts == 0) {
        talk->cli->out.file = fopen("/dev/null", "w");
        if (talk->cli->out.file) {
            status = slash_efforts(talk, "", err);
            (void)fclose(talk->cli->out.file);
        }
        talk->cli->out.file = shown;
    }
    if (end == *rest) {
        n = 1;
    } else {
        *rest = end + strspn(end, " ,");
    }
    if (status == CLEW_OK && (n < 1 || (size_t)n > talk->n_efforts)) {
        return clew_fail(err, CLEW_NOT_FOUND, "there is no such effort");
    }
    *out_id = status == CLEW_OK ? talk->efforts[n - 1] : NULL;
    return status;
}

static enum clew_status act(struct talk *talk, const char *rest,
                            const char *base, const char *tail,
                            struct clew_error *err)
{
    const char *id = NULL;
    json_t *body = NULL;
    json_t *answer = NULL;
    enum clew_status status = pick_effort(talk, &rest, &id, err);

    /* a fork ends its own; only memories know chats */
    if (status == CLEW_OK && strcmp(base, "/api/v1/memories") == 0) {
        bool is_told = *rest && strcmp(tail, "/resolve") == 0;

        body = json_object();
        if (!body ||
            (*talk->chat_id &&
             !json_set_cstr(body, "chat_id", talk->chat_id)) ||
            (is_told && !json_set_cstr(body, "resolution", rest))) {
            json_decref(body);
            return clew_fail(err, CLEW_INVALID, "a line must be valid UTF-8");
        }
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = cli_call(talk->cli, "POST", cli_path(talk->cli, base, id, tail),
                      body, &answer, err);
    if (status == CLEW_OK) {
        (void)fprintf(talk->cli->out.file, "[effort:%s] ",
                      cli_field(answer, "status"));
        put_line(talk, cli_field(answer, "summary"));
        if (*cli_field(answer, "resolution")) {
            (void)fputs("  => ", talk->cli->out.file);
            put_line(talk, cli_field(answer, "resolution"));
        }
    }
    talk->n_efforts = 0; /* their order may be another now */
    json_decref(answer);
    return status;
}

static enum clew_status slash_resolve(struct talk *talk, const char *rest,
                                      struct clew_error *err)
{
    return act(talk, rest, "/api/v1/memories", "/resolve", err);
}

static enum clew_status slash_reopen(struct talk *talk, const char *rest,
                                     struct clew_error *err)
{
    return act(talk, rest, "/api/v1/memories", "/reopen", err);
}

static enum clew_status slash_expand(struct talk *talk, const char *rest,
                                     struct clew_error *err)
{
    return act(talk, rest, "/api/v1/efforts", "/expand", err);
}

static enum clew_status slash_collapse(struct talk *talk, const char *rest,
                                       struct clew_error *err)
{
    return act(talk, rest, "/api/v1/efforts", "/collapse", err);
}

static enum clew_status slash_context(struct talk *talk, const char *rest,
                                      struct clew_error *err)
{
    json_t *body = json_object();
    json_t *answer = NULL;
    long budget = *rest ? strtol(rest, NULL, 10) : 2000;
    enum clew_status status = need_chat(talk, err);

    if (status == CLEW_OK &&
        (!body || !json_set_int(body, "budget_tokens", budget))) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        json_decref(body);
        return status;
    }
    status = cli_call(
        talk->cli, "POST",
        cli_path(talk->cli, "/api/v1/chats", talk->chat_id, "/context"), body,
        &answer, err);
    if (status == CLEW_OK) {
        output_text(&talk->cli->out, OUTPUT_PLAIN,
                    str_of(cli_field(answer, "text")));
        (void)fprintf(
            talk->cli->out.file, "[%lld tokens]\n",
            (long long)json_integer_value(json_object_get(answer, "tokens")));
    }
    json_decref(answer);
    return status;
}

/* Why the last turn was taken as it was: its trace. */
static enum clew_status slash_why(struct talk *talk, const char *rest,
                                  struct clew_error *err)
{
    (void)rest;
    if (!talk->trace_id[0]) {
        return clew_fail(err, CLEW_NOT_FOUND, "nothing has been said yet");
    }
    return cli_show(talk->cli, "GET",
                    cli_path(talk->cli, "/api/v1/traces", talk->trace_id, ""),
                    NULL, show_why, err);
}

static enum clew_status slash_memories(struct talk *talk, const char *rest,
                                       struct clew_error *err)
{
    char *path = arena_string(&talk->cli->arena, "/api/v1/memories?limit=20");

    path = cli_query(talk->cli, path, "user_id", talk->user);
    path = cli_query(talk->cli, path, "q", *rest ? rest : NULL);
    return cli_show(talk->cli, "GET", path, NULL, show_memories, err);
}

static enum clew_status slash_tree(struct talk *talk, const char *rest,
                                   struct clew_error *err)
{
    enum clew_status status = need_chat(talk, err);

    (void)rest;
    return status == CLEW_OK ? cli_show(talk->cli, "GET",
                                        cli_path(talk->cli, "/api/v1/chats",
                                                 talk->chat_id, "/tree"),
                                        NULL, show_chat_tree, err)
                             : status;
}

static enum clew_status slash_stats(struct talk *talk, const char *rest,
                                    struct clew_error *err)
{
    (void)rest;
    (void)err;
    (void)fprintf(talk->cli->out.file, "chat %s, %ld turns kept, %ld notices\n",
                  talk->chat_id[0] ? talk->chat_id : "(none yet)",
                  talk->n_turns, talk->n_notices);
    return CLEW_OK;
}

static const struct {
    const char *name;
    slash_fn run;
    const char *help;
} slashes[] = {
    {"/start", slash_start, "TEXT: related chats and ways to begin"},
    {"/memories", slash_memories, "[WORDS]: what was kept, newest first"},
    {"/tree", slash_tree, "the forks of this chat"},
    {"/fork", slash_fork, "[SEQ]: go on in a fork"},
    {"/efforts", slash_efforts, "efforts of this chat, numbered"},
    {"/resolve", slash_resolve, "[N] [HOW]: resolve an effort"},
    {"/reopen", slash_reopen, "[N]: open it again"},
    {"/expand", slash_expand, "[N]: its turns come into the context"},
    {"/collapse", slash_collapse, "[N]: its summary stands for it"},
    {"/context", slash_context, "[TOKENS]: what a model would be told"},
    {"/why", slash_why, "how the last line was understood"},
    {"/stats", slash_stats, "this chat in numbers"},
    {"/help", show_help, "these lines"},
    {"/quit", NULL, "leave; everything is kept"},
};
#define N_SLASHES (sizeof(slashes) / sizeof(slashes[0]))

static enum clew_status show_help(struct talk *talk, const char *rest,
                                  struct clew_error *err)
{
    (void)rest;
    (void)err;
    for (size_t i = 0; i < N_SLASHES; i++) {
        (void)fprintf(talk->cli->out.file, "  %-10s %s\n", slashes[i].name,
                      slashes[i].help);
    }
    return CLEW_OK;
}

static enum clew_status slash(struct talk *talk, const char *line,
                              bool *out_quit, struct clew_error *err)
{
    size_t len = strcspn(line, " ");
    const char *rest = line + len + strspn(line + len, " ");

    for (size_t i = 0; i < N_SLASHES; i++) {
        if (strlen(slashes[i].name) == len &&
            strncmp(slashes[i].name, line, len) == 0) {
            *out_quit = !slashes[i].run;
            return slashes[i].run ? slashes[i].run(talk, rest, err) : CLEW_OK;
        }
    }
    return clew_fail(err, CLEW_INVALID, "no such command; try /help");
}

/* --- the loop --------------------------------------------------------------
 */

static enum clew_status one_line(struct talk *talk, const char *line,
                                 bool *out_quit, struct clew_error *err)
{
    enum clew_status status;
    long n_turns;

    line += strspn(line, " \t");
    if (!*line) {
        return CLEW_OK;
    }
    if (line[0] == '/') {
        return slash(talk, line, out_quit, err);
    }
    if (talk->start_id[0]) {
        return choose(talk, line, err);
    }
    n_turns = talk->n_turns;
    status = say(talk, line, err);
    if (status != CLEW_OK && talk->n_turns == n_turns) {
        talk->n_unkept++;
        talk->unkept = status;
    }
    return status;
}

/* For a person at a terminal: where they are, and who answers. */
static void greet(const struct talk *talk)
{
    const struct cli *cli = talk->cli;
    const char *url = config_str(cli->config, "llm.url");

    if (!isatty(STDIN_FILENO)) {
        return;
    }
    (void)fprintf(cli->out.file, "Hello, %s. Every line you type is kept.\n",
                  talk->user);
    if (talk->reply) {
        (void)fprintf(cli->out.file, "%s at %s answers.\n",
                      config_str(cli->config, "llm.model"), url);
    } else {
        (void)fputs("No model is set (llm.url, llm.model), so nobody answers; "
                    "a line that ends\nin \"?\" shows what is remembered of "
                    "it.\n",
                    cli->out.file);
    }
    (void)fprintf(cli->out.file,
                  "%s%s. /memories, /why and /help look around; /quit "
                  "leaves.\n",
                  talk->chat_id[0] ? "Going on with chat " : "A new chat",
                  talk->chat_id);
}

static char *history_path(struct cli *cli)
{
    const char *folder = config_data_dir(cli->config);

    return folder ? arena_printf(&cli->arena, "%s/chat_history", folder) : NULL;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    static const char *words[N_SLASHES + 1];
    const char *user = args_str(&cli->args, "user");
    const char *chat = args_str(&cli->args, "chat");
    struct talk talk = {.cli = cli, .user = user ? user : "me"};
    struct chat_line *input;
    const char *line;
    bool is_over = false;
    enum clew_status status;

    for (size_t i = 0; i < N_SLASHES; i++) {
        words[i] = slashes[i].name;
    }
    if (chat) {
        keep_id(talk.chat_id, sizeof(talk.chat_id), chat);
    }
    status = chat_reply_open(cli, &talk.reply, err);
    input = status == CLEW_OK ? chat_line_open(history_path(cli), words) : NULL;
    if (!input) {
        chat_reply_close(talk.reply);
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    greet(&talk);
    (void)fflush(cli->out.file);
    for (line = chat_line_read(input); line && !is_over;
         line = is_over ? NULL : chat_line_read(input)) {
        struct clew_error wrong = {0};

        /* a failure is told; the next line may go well */
        if (one_line(&talk, line, &is_over, &wrong) != CLEW_OK) {
            output_note("clew: %s", wrong.message);
        }
        (void)fflush(cli->out.file);
    }
    chat_line_close(input);
    chat_reply_close(talk.reply);
    return talk.n_unkept > 0 ? clew_fail(err, talk.unkept,
                                         "%ld line%s not kept", talk.n_unkept,
                                         talk.n_unkept == 1 ? " was" : "s were")
                             : CLEW_OK;
}

const struct command command_chat = {
    .name = "chat",
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .summary = "talk; every line is kept and what matters is noticed",
    .example = "clew chat --user ada",
    .options = options,
    .run = run,
    .makes_store = true,
};
