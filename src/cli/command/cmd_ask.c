/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_ask.c - a question, answered in sentences that cite.
 *
 * Sentences are shown as they come, what they cite when all are there. What a
 * model said before it failed has been shown by then: the end says what
 * counts.
 */
#include "base/json.h"
#include "base/limits.h"
#include "base/sse.h"
#include "cli/core/cli.h"
#include "cli/core/typed.h"

#include <stdio.h>
#include <string.h>

/* Of a cited passage: its columns, those of its speaker. */
#define MAX_COLUMNS 80
#define SPEAKER_COLUMNS 24

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "only this user's"},
    {"chat", 'C', "CHAT", NULL, "only this chat's"},
    {"since", 0, "TIME", NULL, "not before"},
    {"until", 0, "TIME", NULL, "not after"},
    {"at", 0, "TIME", NULL, "as of that moment"},
    {"deep", 0, NULL, NULL, "let the model ask on, once"},
    {NULL, 0, NULL, NULL, NULL},
};

static json_t *body_of(struct cli *cli, struct str query)
{
    json_t *body = json_object();

    if (body && json_set_str(body, "query", query) &&
        cli_set_option(cli, body, "user_id", "user") &&
        cli_set_option(cli, body, "chat_id", "chat") &&
        typed_set_zone(cli, body) &&
        cli_set_option(cli, body, "since", "since") &&
        cli_set_option(cli, body, "until", "until") &&
        cli_set_option(cli, body, "at", "at") &&
        (!args_has(&cli->args, "deep") || json_set_bool(body, "deep", true))) {
        return body;
    }
    json_decref(body);
    return NULL;
}

static int64_t number_of(const json_t *item)
{
    return json_integer_value(json_object_get(item, "number"));
}

/* "The rent is 900 euros. [1][3]" */
static void show_sentence(struct cli *cli, const json_t *sentence)
{
    const json_t *cite;
    size_t i;

    output_text(&cli->out, OUTPUT_PLAIN, str_of(cli_field(sentence, "text")));
    json_array_foreach (json_object_get(sentence, "cites"), i, cite) {
        (void)fprintf(cli->out.file, "%s[%lld]", i == 0 ? " " : "",
                      (long long)number_of(cite));
    }
    if (!json_is_true(json_object_get(sentence, "supported"))) {
        output_text(&cli->out, OUTPUT_BOLD, STR(" (not supported)"));
    }
    (void)fputc('\n', cli->out.file);
}

static bool is_cited(const json_t *answer, int64_t number)
{
    const json_t *sentence;
    const json_t *cite;
    size_t i;
    size_t k;

    json_array_foreach (json_object_get(answer, "sentences"), i, sentence) {
        json_array_foreach (json_object_get(sentence, "cites"), k, cite) {
            if (number_of(cite) == number) {
                return true;
            }
        }
    }
    return false;
}

/* "[1] user, 3 h ago, chat 9398ac: I pay 900 euros …" */
static void show_source(struct cli *cli, const json_t *source, bool has_words)
{
    struct str chat = str_of(cli_field(source, "chat_id"));
    const char *speaker = cli_field(source, "speaker");
    size_t columns =
        cli->out.width < MAX_COLUMNS ? cli->out.width : MAX_COLUMNS;

    (void)fprintf(cli->out.file, "[%lld] ", (long long)number_of(source));
    output_line(&cli->out, OUTPUT_NAME,
                str_of(speaker[0] ? speaker : cli_field(source, "kind")),
                SPEAKER_COLUMNS);
    (void)fprintf(cli->out.file, ", %s", cli_when(cli, source, "created_at"));
    if (chat.len > 0) {
        (void)fprintf(cli->out.file, ", chat %.*s", TYPED_ID_COLUMNS, chat.s);
    }
    if (json_is_true(json_object_get(source, "superseded"))) {
        output_text(&cli->out, OUTPUT_DIM, STR(", no longer holds"));
    }
    if (json_is_true(json_object_get(source, "is_instruction"))) {
        output_text(&cli->out, OUTPUT_BOLD, STR(", reads like an order"));
    }
    (void)fputc('\n', cli->out.file);
    if (has_words) {
        (void)fputs("    ", cli->out.file);
        output_line(&cli->out, OUTPUT_DIM, str_of(cli_field(source, "text")),
                    columns - 4);
        (void)fputc('\n', cli->out.file);
    }
}

/* An answer on its way. */
struct hearing {
    struct cli *cli;
    size_t n_shown;
    json_t *answer; /* the whole; NULL until it is there */
};

static void on_event(void *arg, struct str name, struct str data)
{
    struct hearing *h = arg;
    json_t *json = NULL;

    if (json_parse(data, &json, NULL) != CLEW_OK) {
        return;
    }
    if (str_eq(name, STR("sentence"))) {
        show_sentence(h->cli, json);
        (void)fflush(h->cli->out.file);
        h->n_shown++;
    } else if (str_eq(name, STR("answer")) && !h->answer) {
        h->answer = json_incref(json);
    }
    json_decref(json);
}

static bool on_bytes(void *arg, const char *bytes, size_t len)
{
    sse_feed(arg, bytes, len);
    return true;
}

/* Why passages answered, in words where there are some. */
static const char *why_no_model(struct cli *cli, const char *reason)
{
    const char *text = "no language model is set (llm.url)";

    if (strcmp(reason, "NO_MODEL") != 0) {
        text = arena_printf(&cli->arena, "no language model answered (%s)",
                            reason);
    }
    return text ? text : reason;
}

/* What is left to show when the sentences are. */
static void show_rest(const struct hearing *h)
{
    struct cli *cli = h->cli;
    const json_t *answer = h->answer;
    bool is_model = strcmp(cli_field(answer, "by"), "model") == 0;
    const char *reason = cli_field(answer, "reason");
    size_t n = json_array_size(json_object_get(answer, "sentences"));
    const json_t *item;
    size_t i;

    if (n == 0) {
        output_text(&cli->out, OUTPUT_PLAIN, str_of(cli_field(answer, "text")));
        (void)fputc('\n', cli->out.file);
        return;
    }
    (void)fputc('\n', cli->out.file);
    json_array_foreach (json_object_get(answer, "sources"), i, item) {
        if (is_cited(answer, number_of(item))) {
            show_source(cli, item, is_model);
        }
    }
    if (reason[0]) {
        (void)fflush(cli->out.file);
        output_note("%s: these are passages of what was said",
                    why_no_model(cli, reason));
    }
    if (h->n_shown > n) {
        (void)fprintf(stderr, "it broke off: the last %zu of these %zu count\n",
                      n, h->n_shown);
    }
}

static enum clew_status show_as_it_comes(struct cli *cli, json_t *body,
                                         struct clew_error *err)
{
    struct hearing hearing = {.cli = cli};
    struct sse sse;
    enum clew_status status;

    sse_init(&sse, LIMIT_BODY_BYTES, on_event, &hearing);
    status =
        json_set_bool(body, "stream", true)
            ? cli_stream(cli, "POST", "/api/v1/ask", body, on_bytes, &sse, err)
            : clew_no_memory(err);
    if (status == CLEW_OK && !hearing.answer) {
        status = clew_fail(err, CLEW_UPSTREAM, "the answer broke off");
    }
    if (status == CLEW_OK) {
        show_rest(&hearing);
    }
    sse_release(&sse);
    json_decref(hearing.answer);
    json_decref(body);
    return status;
}

static enum clew_status show_json(struct cli *cli, const json_t *answer,
                                  struct clew_error *err)
{
    (void)cli;
    (void)answer;
    (void)err;
    return CLEW_OK; /* cli_show() has written it */
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    struct str query;
    json_t *body;
    enum clew_status status = cli_text(cli, 0, LIMIT_ASK_BYTES, &query, err);

    if (status != CLEW_OK) {
        return status;
    }
    body = body_of(cli, query);
    if (!body) {
        return clew_fail(err, CLEW_INVALID, "the question must be valid UTF-8");
    }
    return cli->as_json
               ? cli_show(cli, "POST", "/api/v1/ask", body, show_json, err)
               : show_as_it_comes(cli, body, err);
}

const struct command command_ask = {
    .name = "ask",
    .operands = "QUESTION|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "answer a question from what was said",
    .example = "clew ask --user ada \"when is the meeting?\"",
    .options = options,
    .run = run,
};
