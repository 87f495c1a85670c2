/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_recall.c - find what was said.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "engine/recall.h"

#include <stdio.h>

/* Matches shown in one text. */
#define MAX_SPANS 200
/* Of a long text, so much before its first match. */
#define LEAD_BYTES 80

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "only this user's"},
    {"chat", 'C', "CHAT", NULL, "only this chat's"},
    {"kind", 'K', "KIND", NULL, "turn, memory, episode, chat; repeatable"},
    {"limit", 'l', "N", NULL, "at most this many"},
    {"since", 0, "TIME", NULL, "not before"},
    {"until", 0, "TIME", NULL, "not after"},
    {"at", 0, "TIME", NULL, "as of that moment"},
    {"explain", 'e', NULL, NULL, "say why each line is there"},
    {NULL, 0, NULL, NULL, NULL},
};

static bool set_kinds(const struct cli *cli, json_t *body)
{
    json_t *kinds;
    const char *kind = args_nth(&cli->args, "kind", 0);

    if (!kind) {
        return true;
    }
    kinds = json_array();
    for (size_t i = 0; kind; kind = args_nth(&cli->args, "kind", ++i)) {
        if (json_array_append_new(kinds, json_string(kind)) != 0) {
            json_decref(kinds);
            return false;
        }
    }
    return json_set(body, "kinds", kinds);
}

static json_t *body_of(const struct cli *cli, struct str query, int64_t limit)
{
    json_t *body = json_object();

    if (body && json_set_str(body, "query", query) &&
        cli_set_option(cli, body, "user_id", "user") &&
        cli_set_option(cli, body, "chat_id", "chat") && set_kinds(cli, body) &&
        cli_set_option(cli, body, "since", "since") &&
        cli_set_option(cli, body, "until", "until") &&
        cli_set_option(cli, body, "at", "at") &&
        json_set_int(body, "limit", limit) &&
        (!args_has(&cli->args, "explain") ||
         json_set_bool(body, "explain", true))) {
        return body;
    }
    json_decref(body);
    return NULL;
}

/* What a score is made of, in words; what adds nothing is left out. */
static void show_why(struct cli *cli, const json_t *why)
{
    static const struct {
        const char *name;
        const char *words;
    } parts[] = {{"lexical", "words"},  {"neighbour", "words around"},
                 {"vector", "meaning"}, {"window", "meaning around"},
                 {"time", "time"},      {"prior", "kind of turn"},
                 {"chat", "its chat"}};
    const char *between = "   why: ";
    struct buf text;

    buf_init(&text, 1024);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        double value = json_number_value(json_object_get(why, parts[i].name));

        if (value >= 0.0005 || value <= -0.0005) {
            (void)buf_printf(&text, "%s%s %.3f", between, parts[i].words,
                             value);
            between = ", ";
        }
    }
    output_line(&cli->out, OUTPUT_DIM, buf_str(&text), 0);
    (void)fputc('\n', cli->out.file);
    buf_release(&text);
}

/* From where a long text is shown: a little before its first match. */
static size_t start_of(struct str text, const struct recall_span *spans,
                       size_t n_spans, size_t columns)
{
    size_t visible = output_fit(text, columns).len;
    size_t at;

    if (n_spans == 0 || spans[0].to <= visible) {
        return 0;
    }
    at = spans[0].from > LEAD_BYTES ? spans[0].from - LEAD_BYTES : 0;
    while (at < spans[0].from && text.s[at] != ' ') {
        at++; /* begin with a whole word */
    }
    return at;
}

/* The text, cut to three lines around what was searched by, which is bold. */
static void show_text(struct cli *cli, struct arena *arena,
                      const struct recall_result *found, struct str text)
{
    const struct output *out = &cli->out;
    size_t columns = 3 * out->width;
    struct recall_span *spans = NULL;
    size_t n_spans = 0;
    size_t end;
    size_t at;

    if (recall_highlight(arena, found, text, MAX_SPANS, &spans, &n_spans) !=
        CLEW_OK) {
        n_spans = 0; /* plain, then */
    }
    at = start_of(text, spans, n_spans, columns);
    end = at + output_fit(str_sub(text, at, text.len), columns).len;
    (void)fputs(at > 0 ? "   …" : "   ", out->file);
    for (size_t i = 0; i < n_spans && spans[i].from < end; i++) {
        size_t to = spans[i].to < end ? spans[i].to : end;

        if (spans[i].from >= at) {
            output_line(out, OUTPUT_PLAIN, str_sub(text, at, spans[i].from), 0);
            output_line(out, OUTPUT_BOLD, str_sub(text, spans[i].from, to), 0);
            at = to;
        }
    }
    output_line(out, OUTPUT_PLAIN, str_sub(text, at, end), 0);
    (void)fputs(end < text.len ? "…\n" : "\n", out->file);
}

static void show_item(struct cli *cli, struct arena *arena,
                      const struct recall_result *found, const json_t *item)
{
    const json_t *why = json_object_get(item, "why");
    char score[32];

    (void)snprintf(score, sizeof(score), "%.3f",
                   json_number_value(json_object_get(item, "score")));
    output_text(&cli->out, OUTPUT_BOLD, str_of(score));
    (void)fprintf(cli->out.file, "  %s  %s  ", cli_field(item, "kind"),
                  cli_when(cli, item, "created_at"));
    output_text(&cli->out, OUTPUT_NAME, str_of(cli_field(item, "chat_id")));
    if (json_is_true(json_object_get(item, "superseded"))) {
        output_text(&cli->out, OUTPUT_DIM, STR("  superseded"));
    }
    (void)fputc('\n', cli->out.file);
    show_text(cli, arena, found, str_of(cli_field(item, "text")));
    if (why && !json_is_null(why)) {
        show_why(cli, why);
    }
}

/* The terms the answer says it was searched by. */
static void take_terms(struct arena *arena, const json_t *answer,
                       struct recall_result *out)
{
    const json_t *terms =
        json_object_get(json_object_get(answer, "trace"), "terms");
    const json_t *term;
    size_t i;

    out->terms =
        arena_zero(arena, json_array_size(terms) + 1, sizeof(*out->terms));
    json_array_foreach (terms, i, term) {
        if (out->terms && json_is_string(term)) {
            out->terms[out->n_terms++] = str_of(json_string_value(term));
        }
    }
}

static enum clew_status show(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const json_t *items = json_object_get(answer, "items");
    struct recall_result found = {0};
    struct arena arena;
    const json_t *item;
    size_t i;

    (void)err;
    if (json_array_size(items) == 0) {
        (void)fputs("nothing found\n", stderr);
    }
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    take_terms(&arena, answer, &found);
    json_array_foreach (items, i, item) {
        show_item(cli, &arena, &found, item);
    }
    arena_release(&arena);
    return CLEW_OK;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    enum clew_status status;
    int64_t limit = 10;
    json_t *body;
    struct str query;

    status = args_int(&cli->args, "limit", 1, LIMIT_PAGE_MAX, &limit, err);
    if (status == CLEW_OK) {
        status = cli_text(cli, 0, LIMIT_QUERY_BYTES, &query, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    body = body_of(cli, query, limit);
    if (!body) {
        return clew_fail(err, CLEW_INVALID, "the query must be valid UTF-8");
    }
    return cli_show(cli, "POST", "/api/v1/recall", body, show, err);
}

const struct command command_recall = {
    .name = "recall",
    .operands = "QUERY|-",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "find what was said, best first",
    .example = "clew recall --user ada \"when is the meeting?\"",
    .options = options,
    .run = run,
};
