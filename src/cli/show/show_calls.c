/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_calls.c - captured calls, their tree, and traces in words. See show.h.
 */
#include "cli/core/typed.h"
#include "cli/show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How a call was placed, for people. */
static const char *placed(const char *strategy)
{
    static const struct {
        const char *strategy;
        const char *words;
    } rows[] = {{"none", "new"},
                {"exact", "goes on"},
                {"summarisation", "sums up"},
                {"hash_only", "goes on"},
                {"grandparent", "goes on"},
                {"prefix", "goes on"},
                {"compact", "compacted"},
                {"subtask", "sub-agent"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].strategy, strategy) == 0) {
            return rows[i].words;
        }
    }
    return strategy;
}

static const char *number(struct cli *cli, const json_t *value)
{
    const char *text = json_is_integer(value)
                           ? arena_printf(&cli->arena, "%" JSON_INTEGER_FORMAT,
                                          json_integer_value(value))
                           : "";

    return text ? text : "";
}

/* Names of models can be long; the beginning tells. */
static const char *model_of(struct cli *cli, const json_t *call)
{
    struct str name = output_fit(str_of(cli_field(call, "model")), 18);
    const char *text = arena_copy(&cli->arena, name.s, name.len);

    return text ? text : "";
}

enum clew_status show_calls(struct cli *cli, const json_t *answer,
                            struct clew_error *err)
{
    enum { N = 6 };
    static const struct output_column columns[N] = {
        {"CALL", false},    {"WHEN", false},  {"HOW", false},
        {"MESSAGES", true}, {"MODEL", false}, {"SAID", false}};
    const json_t *items = json_object_get(answer, "items");
    size_t width = show_id_columns(items, "request_id");
    size_t count = json_array_size(items);
    const char **cells = arena_zero(&cli->arena, N * count + 1, sizeof(*cells));
    const json_t *call;
    size_t i;

    if (!cells) {
        return clew_no_memory(err);
    }
    json_array_foreach (items, i, call) {
        const char *error = cli_field(call, "error");
        const char **row = cells + N * i;

        row[0] = show_id(cli, cli_field(call, "request_id"), width);
        row[1] = cli_when(cli, call, "created_at");
        row[2] = placed(cli_field(call, "strategy"));
        row[3] = number(cli, json_object_get(call, "message_count"));
        row[4] = model_of(cli, call);
        row[5] = error[0] ? error : cli_field(call, "preview");
    }
    output_table(&cli->out, columns, N, cells, count);
    if (count == 0) {
        (void)fputs("no calls were captured; \"clew help setup\" says how "
                    "they are\n",
                    stderr);
    }
    show_more(answer);
    return CLEW_OK;
}

/* --- a conversation ------------------------------------------------------- */

/* Deeper trees are drawn flat from here on. */
#define MAX_DRAWN 24

static void show_call(struct cli *cli, const json_t *call, size_t width,
                      int depth, const char *branch)
{
    const char *own = cli_field(call, "branch_id");
    const json_t *in = json_object_get(call, "input_tokens");
    const json_t *out = json_object_get(call, "output_tokens");
    const json_t *cost = json_object_get(call, "cost");

    (void)fprintf(cli->out.file, "%*s", 2 * depth, "");
    output_text(&cli->out, OUTPUT_NAME,
                str_of(show_id(cli, cli_field(call, "request_id"), width)));
    (void)fprintf(
        cli->out.file, "  %s, %s, %s", cli_when(cli, call, "created_at"),
        placed(cli_field(call, "strategy")),
        show_count(cli,
                   json_integer_value(json_object_get(call, "message_count")),
                   "messages"));
    if (json_is_integer(in) || json_is_integer(out)) {
        (void)fprintf(cli->out.file, ", %s+%s tokens", number(cli, in),
                      number(cli, out));
    }
    if (json_is_number(cost)) {
        (void)fprintf(cli->out.file, ", cost %.4f", json_number_value(cost));
    }
    if (strcmp(own, branch) != 0) {
        (void)fprintf(cli->out.file, ", branch %s", own);
    }
    if (cli_field(call, "error")[0]) {
        (void)fputs(", failed", cli->out.file);
    }
    (void)fputc('\n', cli->out.file);
}

/* One call and those that go on from it; a line of single calls stays at its
 * depth, so that only branches move to the right. */
static void show_below(struct cli *cli, const json_t *calls, const json_t *call,
                       size_t width, int depth, const char *branch)
{
    while (call) {
        const json_t *next = NULL;
        const json_t *other;
        size_t i;

        show_call(cli, call, width, depth, branch);
        branch = cli_field(call, "branch_id");
        json_array_foreach (calls, i, other) {
            if (strcmp(cli_field(other, "parent_request_id"),
                       cli_field(call, "request_id")) != 0) {
                continue;
            }
            if (!next && strcmp(cli_field(other, "branch_id"), branch) == 0) {
                next = other;
            } else if (depth < MAX_DRAWN) {
                show_below(cli, calls, other, width, depth + 1, branch);
            }
        }
        call = next;
    }
}

enum clew_status show_conversation(struct cli *cli, const json_t *answer,
                                   struct clew_error *err)
{
    const json_t *calls = json_object_get(answer, "requests");
    const json_t *branches = json_object_get(answer, "branches");
    size_t width = show_id_columns(calls, "request_id");
    const json_t *call;
    const json_t *chat;
    size_t i;

    (void)err;
    output_line(&cli->out, OUTPUT_BOLD,
                str_of(cli_field(json_array_get(branches, 0), "title")),
                cli->out.width);
    (void)fprintf(
        cli->out.file, "\n%s in %s\n\n",
        show_count(cli, (int64_t)json_array_size(calls), "calls"),
        show_count(cli, (int64_t)json_array_size(branches), "branches"));
    json_array_foreach (calls, i, call) {
        if (!cli_field(call, "parent_request_id")[0]) {
            show_below(cli, calls, call, width, 0, "main");
        }
    }
    (void)fputc('\n', cli->out.file);
    json_array_foreach (branches, i, chat) {
        (void)fprintf(cli->out.file, "branch %s is chat ",
                      cli_field(chat, "branch"));
        output_text(&cli->out, OUTPUT_NAME,
                    str_of(show_id(cli, cli_field(chat, "id"), SHOW_ID_LONG)));
        (void)fputc('\n', cli->out.file);
    }
    return CLEW_OK;
}

/* --- why ------------------------------------------------------------------ */

static void say(struct cli *cli, const char *head, const char *text)
{
    output_text(&cli->out, OUTPUT_BOLD, str_of(head));
    (void)fputc('\n', cli->out.file);
    show_paragraph(cli, "  ", str_of(text ? text : ""));
}

static const char *span_of(struct cli *cli, const json_t *value)
{
    json_int_t seconds = json_integer_value(value) / 1000;
    const char *text =
        seconds < 120 ? arena_printf(&cli->arena, "%lld s", (long long)seconds)
        : seconds < 7200
            ? arena_printf(&cli->arena, "%lld min", (long long)(seconds / 60))
            : arena_printf(&cli->arena, "%lld h", (long long)(seconds / 3600));

    return text ? text : "";
}

static void why_place(struct cli *cli, const json_t *part)
{
    const json_t *silence = json_object_get(part, "silence_ms");
    const char *rule = cli_field(part, "rule");

    if (json_is_integer(silence)) {
        say(cli, "Its chat",
            arena_printf(&cli->arena,
                         "%s (%s of silence; %s would begin a new chat)", rule,
                         span_of(cli, silence),
                         span_of(cli, json_object_get(part, "timeout_ms"))));
    } else {
        say(cli, "Its chat", rule);
    }
}

static void why_topic(struct cli *cli, const json_t *part)
{
    const json_t *considered = json_object_get(part, "considered");
    double near = json_number_value(json_object_get(part, "continue"));
    double far = json_number_value(json_object_get(part, "branch"));
    const json_t *chain;
    size_t i;

    if (json_array_size(considered) == 0) {
        say(cli, "Its topic", "there was no topic to compare it with");
        return;
    }
    say(cli, "Its topic",
        arena_printf(&cli->arena,
                     "compared with %zu open topic%s: one goes on up to a "
                     "distance of %.2f, branches up to %.2f",
                     json_array_size(considered),
                     json_array_size(considered) == 1 ? "" : "s", near, far));
    json_array_foreach (considered, i, chain) {
        double far_off = json_number_value(json_object_get(chain, "distance"));
        const char *topic = cli_field(chain, "topic");

        show_paragraph(
            cli, "  - ",
            str_of(arena_printf(&cli->arena, "%s: %.2f, %s",
                                *topic ? topic : "one that is gone", far_off,
                                far_off <= near  ? "near enough to go on"
                                : far_off >= far ? "another matter"
                                                 : "a branch of it")));
    }
}

static void why_act(struct cli *cli, const json_t *part)
{
    const char *rule = cli_field(part, "rule");

    say(cli, "What it does",
        arena_printf(
            &cli->arena, "%s, %.0f %% sure, by %s%s%s", cli_field(part, "act"),
            100 * json_number_value(json_object_get(part, "confidence")),
            cli_field(part, "level"), rule[0] ? " " : "", rule));
}

/* "fact, 93 %; resolves, 71 %; hedged" */
void show_reading(struct cli *cli, const json_t *part)
{
    const json_t *sentence;
    size_t i;

    say(cli, "What the reader sees",
        arena_printf(&cli->arena, "by %s", cli_field(part, "by")));
    json_array_foreach (json_object_get(part, "sentences"), i, sentence) {
        const char *act = cli_field(sentence, "act");
        const char *more = "";
        const json_t *flag;
        size_t k;

        if (strcmp(act, "none") != 0) {
            more = arena_printf(
                &cli->arena, "; %s%s, %.0f %%",
                strcmp(act, "goes_on") == 0 ? "an effort " : "an effort: ",
                strcmp(act, "goes_on") == 0 ? "goes on" : act,
                100 *
                    json_number_value(json_object_get(sentence, "act_score")));
        }
        json_array_foreach (json_object_get(sentence, "flags"), k, flag) {
            more = arena_printf(&cli->arena, "%s; %s", more ? more : "",
                                json_string_value(flag));
        }
        show_paragraph(
            cli, "  - ",
            str_of(arena_printf(
                &cli->arena, "%s (%s, %.0f %%%s)", cli_field(sentence, "text"),
                cli_field(sentence, "keep"),
                100 *
                    json_number_value(json_object_get(sentence, "keep_score")),
                more ? more : "")));
    }
}

static void why_links(struct cli *cli, const json_t *part)
{
    const json_t *items = json_object_get(part, "considered");
    double least = json_number_value(json_object_get(part, "threshold"));
    bool is_link = strcmp(cli_field(part, "decision"), "link") == 0;
    const json_t *item;
    size_t i;

    say(cli, "Other chats",
        arena_printf(&cli->arena, "%s one; %zu considered, %.0f %% needed",
                     is_link ? "joined to" : "joined to no",
                     json_array_size(items), 100 * least));
    json_array_foreach (items, i, item) {
        double score = json_number_value(json_object_get(item, "score"));

        show_paragraph(
            cli, "  - ",
            str_of(arena_printf(
                &cli->arena, "chat %s: %.0f %%",
                show_id(cli, cli_field(item, "chat_id"), TYPED_ID_COLUMNS),
                100 * score)));
    }
}

static void why_call(struct cli *cli, const json_t *part)
{
    const json_t *step;
    size_t i;

    say(cli, "Which call it continues",
        arena_printf(&cli->arena, "%s (%s), on branch %s: %s",
                     placed(cli_field(part, "strategy")),
                     cli_field(part, "strategy"), cli_field(part, "branch_id"),
                     cli_field(part, "branch_why")));
    json_array_foreach (json_object_get(part, "considered"), i, step) {
        show_paragraph(
            cli, "  - ",
            str_of(arena_printf(
                &cli->arena, "%s by %s: %s", cli_field(step, "strategy"),
                cli_field(step, "by"),
                json_is_true(json_object_get(step, "found")) ? "found"
                                                             : "not found")));
    }
}

/* Which language model was shown the turn, for what, and with which others. */
static void why_models(struct cli *cli, const json_t *part)
{
    const json_t *sent;
    size_t i;

    say(cli, "Language models", "it was sent to");
    json_array_foreach (part, i, sent) {
        long long first =
            json_integer_value(json_object_get(sent, "first_seq"));
        long long last = json_integer_value(json_object_get(sent, "last_seq"));

        show_paragraph(
            cli, "  - ",
            str_of(arena_printf(
                &cli->arena,
                "%s, %s (\"%s\"): turns %lld to %lld, %lld tokens sent, "
                "%lld answered",
                cli_field(sent, "model"), cli_when(cli, sent, "at"),
                cli_field(sent, "purpose"), first, last,
                (long long)json_integer_value(
                    json_object_get(sent, "input_tokens")),
                (long long)json_integer_value(
                    json_object_get(sent, "output_tokens")))));
    }
}

enum clew_status show_why(struct cli *cli, const json_t *answer,
                          struct clew_error *err)
{
    static const struct {
        const char *name;
        void (*show)(struct cli *cli, const json_t *part);
    } parts[] = {{"boundary", why_place},  {"chains", why_topic},
                 {"observe", why_act},     {"reading", show_reading},
                 {"links", why_links},     {"link", why_call},
                 {"llm_calls", why_models}};
    const json_t *decisions = json_object_get(answer, "decisions");
    const char *name;
    json_t *part;

    (void)err;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        part = json_object_get(decisions, parts[i].name);
        if (part) {
            parts[i].show(cli, part);
        }
    }
    json_object_foreach ((json_t *)(uintptr_t)decisions, name, part) {
        bool is_told = false;

        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            is_told = is_told || strcmp(parts[i].name, name) == 0;
        }
        if (!is_told) { /* of a newer version: better raw than not at all */
            say(cli, name, "");
            cli_show_tree(cli, part);
        }
    }
    return CLEW_OK;
}
