/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents_chat.c - follow a package through a chat. See agents_chat.h.
 */
#include "cli/upkeep/agents_chat.h"

#include "base/buf.h"
#include "base/json.h"
#include "cli/core/cli.h"
#include "engine/keep/agent_follow.h"
#include "model/reader.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES (4u << 20)
#define MAX_TURNS 2000
/* Turns before that the reader sees, as when a chat is kept. */
#define BEFORE 2

struct chat_file {
    struct cli *cli;
    struct reader *reader; /* NULL: there is none */
    struct reader_said *said;
    bool *is_user;
    size_t count;
    json_t *turns;     /* what each did */
    json_t *artifacts; /* what became of each */
};

/* --- the file --------------------------------------------------------------
 */

static bool add_turn(struct chat_file *chat, bool is_user, struct str text)
{
    struct str copy = arena_str(&chat->cli->arena, str_trim(text));

    if (!copy.s || chat->count == MAX_TURNS) {
        return false;
    }
    chat->is_user[chat->count] = is_user;
    chat->said[chat->count++] =
        (struct reader_said){is_user ? STR("user") : STR("assistant"), copy};
    return true;
}

/* {"role": "user", "content": "…"} */
static enum clew_status add_json(struct chat_file *chat, struct str line,
                                 size_t number, struct clew_error *err)
{
    json_t *turn = NULL;
    const char *role;
    const char *text;
    enum clew_status status = json_parse(line, &turn, NULL);

    role = cli_field(turn, "role");
    text = *cli_field(turn, "content") ? cli_field(turn, "content")
                                       : cli_field(turn, "text");
    if (status != CLEW_OK || !*role || !*text) {
        status =
            clew_fail(err, CLEW_INVALID,
                      "line %zu is no {\"role\": …, \"content\": …}", number);
    } else if (strcmp(role, "user") == 0 || strcmp(role, "assistant") == 0) {
        status = add_turn(chat, role[0] == 'u', str_of(text))
                     ? CLEW_OK
                     : clew_fail(err, CLEW_TOO_LARGE, "too many turns");
    }
    json_decref(turn);
    return status;
}

/* "user: …": how much of the line says who; 0 if it does not. */
static size_t who(struct str line, bool *out_is_user)
{
    *out_is_user = str_istarts(line, STR("user:"));
    return *out_is_user                           ? strlen("user:")
           : str_istarts(line, STR("assistant:")) ? strlen("assistant:")
                                                  : 0;
}

static enum clew_status read_turns(struct chat_file *chat, struct str text,
                                   struct clew_error *err)
{
    struct str rest = text;
    struct str line;
    size_t number = 0;
    size_t from = 0; /* where the turn's words begin */
    bool has_turn = false;
    bool is_user = false;
    enum clew_status status = CLEW_OK;

    while (status == CLEW_OK && str_split(&rest, '\n', &line)) {
        size_t at = (size_t)(line.s - text.s);
        bool is_next_user;
        size_t head = who(line, &is_next_user);

        number++;
        if (!has_turn && str_starts(line, STR("{"))) {
            status = add_json(chat, line, number, err);
            continue;
        }
        if (!has_turn && head == 0 && str_trim(line).len > 0) {
            return clew_fail(err, CLEW_INVALID,
                             "line %zu: \"user:\" or \"assistant:\" is wanted "
                             "before what was said",
                             number);
        }
        if (head == 0) {
            continue;
        }
        if (has_turn && !add_turn(chat, is_user, str_sub(text, from, at))) {
            return clew_fail(err, CLEW_TOO_LARGE, "too many turns");
        }
        has_turn = true;
        is_user = is_next_user;
        from = at + head;
    }
    if (status == CLEW_OK && has_turn &&
        !add_turn(chat, is_user, str_sub(text, from, text.len))) {
        return clew_fail(err, CLEW_TOO_LARGE, "too many turns");
    }
    return status;
}

/* --- following -------------------------------------------------------------
 */

/* A turn as the program understands it when it is kept. */
static enum clew_status understand(struct chat_file *chat, size_t i,
                                   struct agent_said *out,
                                   struct clew_error *err)
{
    struct arena *arena = &chat->cli->arena;
    struct analysis *analysis = arena_zero(arena, 1, sizeof(*analysis));
    struct intent *intent = arena_zero(arena, 1, sizeof(*intent));
    size_t n_before = i < BEFORE ? i : BEFORE;
    struct reader_sentence *read = NULL;
    struct reader_span *spans;
    enum clew_status status;

    if (!analysis || !intent) {
        return clew_no_memory(err);
    }
    status = analysis_run(arena, chat->said[i].text,
                          &(struct analysis_options){0}, analysis, err);
    if (status == CLEW_OK) {
        status = intent_of(arena, chat->said[i].text,
                           i ? chat->said[i - 1].text : STR(""), intent);
    }
    if (status == CLEW_OK && chat->reader) {
        read = arena_zero(arena, analysis->n_sentences + 1, sizeof(*read));
        spans = arena_zero(arena, analysis->n_sentences + 1, sizeof(*spans));
        if (!read || !spans) {
            return clew_no_memory(err);
        }
        for (size_t k = 0; k < analysis->n_sentences; k++) {
            spans[k].from = (uint32_t)analysis->sentences[k].span.from;
            spans[k].to = (uint32_t)analysis->sentences[k].span.to;
        }
        status = reader_read(chat->reader, arena, &chat->said[i],
                             chat->said + i - n_before, n_before, spans,
                             analysis->n_sentences, read, err);
    }
    *out = (struct agent_said){
        .text = chat->said[i].text,
        .intent = intent,
        .analysis = analysis,
        .read = read,
        .seq = (int64_t)i + 1,
        .is_user = chat->is_user[i],
    };
    return status;
}

static json_t *form_missing(const struct agent *agent, const json_t *fields)
{
    json_t *out = json_array();

    for (size_t i = 0; out && i < agent->n_fields; i++) {
        const struct agent_field *field = &agent->fields[i];

        if (!agent_field_value(field, fields) &&
            json_array_append_new(
                out, json_stringn(field->name.s, field->name.len)) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* An artifact is over, or the chat is. Takes `fields`. */
static bool add_artifact(struct chat_file *chat, const struct agent *agent,
                         json_t *fields, const char *status)
{
    json_t *from = json_incref(json_object_get(fields, AGENT_FROM));
    json_t *out = json_object();
    bool is_ok;

    (void)json_object_del(fields, AGENT_FROM); /* it may have none */
    is_ok = json_set_cstr(out, "status", status);
    is_ok = json_set(out, "from", from) && is_ok;
    is_ok = json_set(out, "asked_for", form_missing(agent, fields)) && is_ok;
    is_ok = json_set(out, "fields", fields) && is_ok;
    return json_array_append_new(chat->artifacts, out) == 0 && is_ok;
}

static bool add_step(struct chat_file *chat, const struct agent_said *turn,
                     const struct agent_news *news)
{
    json_t *out = json_object();
    bool is_ok =
        json_set_int(out, "turn", turn->seq) &&
        json_set_cstr(out, "role", turn->is_user ? "user" : "assistant") &&
        json_set_cstr(out, "act", intent_act_name(turn->intent->act)) &&
        json_set_cstr(out, "step", agent_step_name(news->step));

    return json_array_append_new(chat->turns, out) == 0 && is_ok;
}

static enum clew_status follow(struct chat_file *chat,
                               const struct agent *agent,
                               struct clew_error *err)
{
    struct agent_said turns[2]; /* this one and the one before, in turn */
    json_t *fields = NULL;
    bool is_open = false;
    bool is_ok = true;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < chat->count && status == CLEW_OK && is_ok; i++) {
        struct agent_said *turn = &turns[i % 2];
        struct agent_news news = {.step = AGENT_NONE};

        if (!is_open) {
            json_decref(fields);
            fields = json_object();
        }
        status = understand(chat, i, turn, err);
        if (status == CLEW_OK && (is_open || turn->is_user)) {
            status = agent_follow(&chat->cli->arena, agent, turn,
                                  i ? &turns[(i + 1) % 2] : NULL, is_open,
                                  fields, &news);
        }
        is_ok = status == CLEW_OK && add_step(chat, turn, &news);
        is_open = is_open || news.step == AGENT_OPENS;
        if (is_ok && news.step == AGENT_CONCLUDES) {
            is_ok = add_artifact(chat, agent, fields,
                                 news.is_incomplete ? "abandoned" : "resolved");
            fields = NULL;
            is_open = false;
        }
    }
    if (is_ok && status == CLEW_OK && is_open) {
        is_ok = add_artifact(chat, agent, fields, "open");
        fields = NULL;
    }
    json_decref(fields);
    return status == CLEW_OK && !is_ok ? clew_no_memory(err) : status;
}

/* --- telling ---------------------------------------------------------------
 */

static void show_value(struct cli *cli, const char *name, const json_t *value,
                       const json_t *from)
{
    (void)fprintf(cli->out.file, "  %s (turn %lld, %s): ", name,
                  (long long)json_integer_value(json_object_get(from, "seq")),
                  cli_field(from, "by"));
    output_text(
        &cli->out, OUTPUT_PLAIN,
        str_of(json_string_value(value) ? json_string_value(value) : ""));
    (void)fputc('\n', cli->out.file);
}

static void show_artifact(struct cli *cli, const struct agent *agent,
                          const json_t *artifact)
{
    const json_t *asked = json_object_get(artifact, "asked_for");
    const json_t *from = json_object_get(artifact, "from");
    const json_t *value;
    const json_t *item;
    const char *name;
    size_t i;

    (void)fprintf(cli->out.file, "[%.*s:%s]\n", (int)agent->name.len,
                  agent->name.s, cli_field(artifact, "status"));
    json_object_foreach (json_object_get(artifact, "fields"), name, value) {
        if (!json_is_array(value)) {
            show_value(cli, name, value, json_object_get(from, name));
        }
        json_array_foreach (value, i, item) {
            show_value(cli, name, item,
                       json_array_get(json_object_get(from, name), i));
        }
    }
    if (json_array_size(asked) > 0) {
        (void)fputs("  still asked for:", cli->out.file);
        json_array_foreach (asked, i, item) {
            (void)fprintf(cli->out.file, "%s %s", i ? "," : "",
                          json_string_value(item));
        }
        (void)fputc('\n', cli->out.file);
    }
}

static void show(struct chat_file *chat, const struct agent *agent)
{
    struct cli *cli = chat->cli;
    const json_t *item;
    size_t i;

    json_array_foreach (chat->turns, i, item) {
        (void)fprintf(cli->out.file, "turn %zu, %s: %s, %s\n", i + 1,
                      cli_field(item, "role"), cli_field(item, "act"),
                      cli_field(item, "step"));
    }
    json_array_foreach (chat->artifacts, i, item) {
        show_artifact(cli, agent, item);
    }
    if (json_array_size(chat->artifacts) == 0) {
        (void)fputs("no turn opens one\n", cli->out.file);
    }
}

static enum clew_status tell(struct chat_file *chat, const struct agent *agent,
                             struct clew_error *err)
{
    json_t *out;

    if (!chat->cli->as_json) {
        show(chat, agent);
        return CLEW_OK;
    }
    out = json_pack("{s:O,s:O}", "turns", chat->turns, "artifacts",
                    chat->artifacts);
    if (!out) {
        return clew_no_memory(err);
    }
    output_json(&chat->cli->out, out);
    json_decref(out);
    return CLEW_OK;
}

enum clew_status agents_chat(struct cli *cli, const struct agent *agent,
                             const char *path, struct clew_error *err)
{
    struct chat_file chat = {.cli = cli};
    struct buf text;
    enum clew_status status;

    buf_init(&text, MAX_BYTES);
    chat.said = arena_zero(&cli->arena, MAX_TURNS, sizeof(*chat.said));
    chat.is_user = arena_zero(&cli->arena, MAX_TURNS, sizeof(*chat.is_user));
    chat.turns = json_array();
    chat.artifacts = json_array();
    status = chat.said && chat.is_user && chat.turns && chat.artifacts
                 ? cli_read_file(path, &text, err)
                 : clew_no_memory(err);
    if (status == CLEW_OK) {
        status = read_turns(&chat, buf_str(&text), err);
    }
    if (status == CLEW_OK && chat.count == 0) {
        status = clew_fail(err, CLEW_INVALID, "the chat has no turns");
    }
    /* without a reader the rules read, as when a chat is kept */
    if (status == CLEW_OK && reader_open(NULL, &chat.reader, NULL) != CLEW_OK) {
        chat.reader = NULL;
    }
    if (status == CLEW_OK) {
        status = follow(&chat, agent, err);
    }
    if (status == CLEW_OK) {
        status = tell(&chat, agent, err);
    }
    reader_close(chat.reader);
    json_decref(chat.turns);
    json_decref(chat.artifacts);
    buf_release(&text);
    return status;
}
