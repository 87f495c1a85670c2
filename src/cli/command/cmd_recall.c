/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_recall.c - find what was said.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/core/cli.h"
#include "cli/core/typed.h"
#include "recall/recall.h"

#include <stdio.h>
#include <string.h>

/* Matches shown in one text. */
#define MAX_SPANS 200
/* Of a long text, so much before its first match. */
#define LEAD_BYTES 80
/* Of an answer: columns, lines of its passage, of what was kept of it. */
#define MAX_COLUMNS 80
#define MAX_LINES 6
#define MAX_ALSO 3
#define SPEAKER_COLUMNS 24
#define DEFAULT_LIMIT 10
#define INDENT "   "

static const struct arg_option options[] = {
    {"user", 'U', "ID", NULL, "only this user's"},
    {"chat", 'C', "CHAT", NULL, "only this chat's"},
    {"kind", 'K', "KIND", NULL, "turn, memory, episode, chat; repeatable"},
    {"limit", 'l', "N", NULL, "at most this many"},
    {"cursor", 0, "CURSOR", NULL, "go on where the last answer ended"},
    {"since", 0, "TIME", NULL, "not before"},
    {"until", 0, "TIME", NULL, "not after"},
    {"at", 0, "TIME", NULL, "as of that moment"},
    {"min-score", 0, "P", NULL, "only what is at least so sure, 0 to 1"},
    {"fast", 0, NULL, NULL, "do not read candidates with the question"},
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

/* As given: the server says what is wrong with it. */
static bool set_score(const struct cli *cli, json_t *body)
{
    const char *text = args_nth(&cli->args, "min-score", 0);
    double score = 0;

    if (!text) {
        return true;
    }
    return json_set(body, "min_score",
                    str_parse_real(str_of(text), &score) ? json_real(score)
                                                         : json_string(text));
}

static json_t *body_of(struct cli *cli, struct str query, int64_t limit)
{
    json_t *body = json_object();

    if (body && json_set_str(body, "query", query) &&
        cli_set_option(cli, body, "user_id", "user") &&
        cli_set_option(cli, body, "chat_id", "chat") && set_kinds(cli, body) &&
        typed_set_zone(cli, body) &&
        cli_set_option(cli, body, "since", "since") &&
        cli_set_option(cli, body, "until", "until") &&
        cli_set_option(cli, body, "at", "at") &&
        json_set_int(body, "limit", limit) &&
        cli_set_option(cli, body, "cursor", "cursor") && set_score(cli, body) &&
        (!args_has(&cli->args, "fast") || json_set_bool(body, "fast", true)) &&
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
    } parts[] = {{"read", "reading"},
                 {"lexical", "words"},
                 {"neighbour", "words around"},
                 {"vector", "meaning"},
                 {"window", "meaning around"},
                 {"gist", "what it says"},
                 {"time", "time"},
                 {"prior", "kind of turn"},
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

/* Where a line of at most `columns` ends: at a space if there is one. */
static size_t line_end(struct str text, size_t at, size_t columns)
{
    struct str rest = str_sub(text, at, text.len);
    size_t len = output_fit(rest, columns).len;

    if (len == rest.len) {
        return text.len;
    }
    for (size_t i = len; i > 0; i--) {
        if (rest.s[i] == ' ') {
            return at + i;
        }
    }
    return at + (len > 0 ? len : 1);
}

/* [at, end) of the text, with the matches in it in bold. */
static void show_stretch(const struct output *out, struct str text, size_t at,
                         size_t end, const struct recall_span *spans,
                         size_t n_spans)
{
    for (size_t i = 0; i < n_spans && spans[i].from < end; i++) {
        size_t from = spans[i].from > at ? spans[i].from : at;
        size_t to = spans[i].to < end ? spans[i].to : end;

        if (to > from) {
            output_line(out, OUTPUT_PLAIN, str_sub(text, at, from), 0);
            output_line(out, OUTPUT_BOLD, str_sub(text, from, to), 0);
            at = to;
        }
    }
    output_line(out, OUTPUT_PLAIN, str_sub(text, at, end), 0);
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

/* The passage in lines, cut to a few around what was searched by, which is
 * bold. */
static void show_text(struct cli *cli, struct arena *arena,
                      const struct recall_result *found, struct str text)
{
    const struct output *out = &cli->out;
    size_t columns =
        (out->width < MAX_COLUMNS ? out->width : MAX_COLUMNS) - sizeof(INDENT);
    struct recall_span *spans = NULL;
    size_t n_spans = 0;
    size_t at;

    if (recall_highlight(arena, found, text, MAX_SPANS, &spans, &n_spans) !=
        CLEW_OK) {
        n_spans = 0; /* plain, then */
    }
    at = start_of(text, spans, n_spans, MAX_LINES * columns);
    for (size_t line = 0; line < MAX_LINES && at < text.len; line++) {
        size_t end = line_end(text, at, columns - 2);

        (void)fputs(line == 0 && at > 0 ? INDENT "…" : INDENT, out->file);
        show_stretch(out, text, at, end, spans, n_spans);
        at = end;
        while (at < text.len && text.s[at] == ' ') {
            at++;
        }
        (void)fputs(line + 1 == MAX_LINES && at < text.len ? "…\n" : "\n",
                    out->file);
    }
}

/* "user, 3 h ago, chat 9398ac, 83 % sure" */
static void show_head(struct cli *cli, size_t number, const json_t *item)
{
    struct str chat = str_of(cli_field(item, "chat_id"));
    const char *speaker = cli_field(item, "speaker");
    double score = json_number_value(json_object_get(item, "score"));
    char text[32];

    (void)snprintf(text, sizeof(text), "%zu. ", number);
    output_text(&cli->out, OUTPUT_BOLD, str_of(text));
    output_line(&cli->out, OUTPUT_NAME,
                str_of(speaker[0] ? speaker : cli_field(item, "kind")),
                SPEAKER_COLUMNS);
    (void)fprintf(cli->out.file, ", %s", cli_when(cli, item, "created_at"));
    if (chat.len > 0) {
        (void)fprintf(cli->out.file, ", chat %.*s", TYPED_ID_COLUMNS, chat.s);
    }
    (void)fprintf(cli->out.file, ", %.0f %% sure", 100 * score);
    if (json_is_true(json_object_get(item, "superseded"))) {
        output_text(&cli->out, OUTPUT_DIM, STR(", no longer holds"));
    }
    if (json_is_true(json_object_get(item, "is_instruction"))) {
        output_text(&cli->out, OUTPUT_BOLD, STR(", reads like an order"));
    }
    (void)fputc('\n', cli->out.file);
}

/* What was kept of it; words that stand above are not said again. */
static void show_also(struct cli *cli, const json_t *item)
{
    const char *said = cli_field(item, "text");
    const json_t *coat;
    size_t i;
    size_t columns =
        cli->out.width < MAX_COLUMNS ? cli->out.width : MAX_COLUMNS;

    json_array_foreach (json_object_get(item, "also"), i, coat) {
        const char *type = cli_field(coat, "type");
        const char *how = cli_field(coat, "status");
        const char *end = cli_field(coat, "resolution");
        const char *text = cli_field(coat, "text");
        const char *name = type[0] ? type : cli_field(coat, "kind");
        char *line = strcmp(text, said) == 0
                         ? arena_printf(&cli->arena, INDENT "kept as %s%s%s",
                                        name, how[0] ? ", " : "", how)
                         : arena_printf(&cli->arena, INDENT "[%s%s%s] %s", name,
                                        how[0] ? ":" : "", how, text);

        if (line && i < MAX_ALSO) {
            output_line(&cli->out, OUTPUT_DIM, str_of(line), columns);
            (void)fputc('\n', cli->out.file);
        }
        line = end[0] ? arena_printf(&cli->arena, INDENT "  => %s", end) : NULL;
        if (line && i < MAX_ALSO) {
            output_line(&cli->out, OUTPUT_DIM, str_of(line), columns);
            (void)fputc('\n', cli->out.file);
        }
    }
}

static void show_item(struct cli *cli, struct arena *arena,
                      const struct recall_result *found, size_t number,
                      const json_t *item)
{
    const json_t *why = json_object_get(item, "why");

    show_head(cli, number, item);
    show_text(cli, arena, found, str_of(cli_field(item, "text")));
    show_also(cli, item);
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

/* Fewer than were asked for, because they are long: where they go on. */
static void show_rest(const struct cli *cli, const json_t *answer)
{
    const char *next = cli_field(answer, "next_cursor");
    int64_t limit = DEFAULT_LIMIT;

    if (next[0] &&
        args_int(&cli->args, "limit", 1, LIMIT_PAGE_MAX, &limit, NULL) ==
            CLEW_OK &&
        (int64_t)json_array_size(json_object_get(answer, "items")) < limit) {
        output_note("more: --cursor %s", next);
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
    if (json_array_size(items) == 0 ||
        strcmp(cli_field(answer, "answered"), "no") == 0) {
        (void)fputs("nothing fits\n", stderr);
        return CLEW_OK;
    }
    if (cli_field(answer, "did_you_mean")[0]) {
        output_note("looked for: %s", cli_field(answer, "did_you_mean"));
    }
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    take_terms(&arena, answer, &found);
    json_array_foreach (items, i, item) {
        show_item(cli, &arena, &found, i + 1, item);
    }
    arena_release(&arena);
    show_rest(cli, answer);
    return CLEW_OK;
}

static enum clew_status run(struct cli *cli, struct clew_error *err)
{
    enum clew_status status;
    int64_t limit = DEFAULT_LIMIT;
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
