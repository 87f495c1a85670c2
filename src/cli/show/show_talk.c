/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_talk.c - a topic with its claims, what a sentence does, and how links
 * between chats are weighed, as people read them. See show.h.
 */
#include "cli/show/show.h"

#include "base/arena.h"
#include "base/json.h"
#include "cli/core/typed.h"

#include <stdio.h>
#include <string.h>

static double number_of(const json_t *object, const char *field)
{
    return json_number_value(json_object_get(object, field));
}

/* "label       value", nothing without a value. */
static void pair(struct cli *cli, const char *label, const char *value)
{
    if (value && value[0]) {
        char name[24];

        (void)snprintf(name, sizeof(name), "%-12s", label);
        output_text(&cli->out, OUTPUT_DIM, str_of(name));
        output_line(&cli->out, OUTPUT_PLAIN, str_of(value), 0);
        (void)fputc('\n', cli->out.file);
    }
}

void show_heading(struct cli *cli, const char *text)
{
    (void)fputc('\n', cli->out.file);
    output_text(&cli->out, OUTPUT_BOLD, str_of(text));
    (void)fputc('\n', cli->out.file);
}

static void item(struct cli *cli, const char *text)
{
    show_paragraph(cli, "  - ", str_of(text ? text : ""));
}

/* --- clew chains show ------------------------------------------------------
 */

static void show_claims(struct cli *cli, const json_t *claims)
{
    const json_t *claim;
    size_t i;

    if (json_array_size(claims) > 0) {
        show_heading(cli, "What was said of it");
    }
    json_array_foreach (claims, i, claim) {
        item(cli, arena_printf(&cli->arena, "%s (turn %s, %s)",
                               cli_field(claim, "statement"),
                               show_number(cli, claim, "seq"),
                               cli_field(claim, "type")));
    }
}

static void show_updates(struct cli *cli, const json_t *updates)
{
    const json_t *update;
    size_t i;

    if (json_array_size(updates) > 0) {
        show_heading(cli, "How it went");
    }
    json_array_foreach (updates, i, update) {
        item(cli, arena_printf(&cli->arena, "%s: %s",
                               cli_when(cli, update, "created_at"),
                               cli_field(update, "reasoning")));
    }
}

enum clew_status show_chain(struct cli *cli, const json_t *answer,
                            struct clew_error *err)
{
    static const struct {
        const char *label;
        const char *field;
    } others[] = {{"branch of", "branches_from"},
                  {"went into", "merged_into"},
                  {"parted from", "twin_of"}};

    (void)err;
    show_paragraph(cli, "", str_of(cli_field(answer, "topic")));
    (void)fputc('\n', cli->out.file);
    pair(cli, "topic", cli_field(answer, "id"));
    pair(cli, "state", cli_field(answer, "state"));
    pair(cli, "whose", cli_field(answer, "user_id"));
    pair(cli, "began", cli_when(cli, answer, "started_at"));
    pair(cli, "last", cli_when(cli, answer, "last_extended"));
    pair(cli, "chat",
         show_id(cli, cli_field(answer, "chat_id"), TYPED_ID_COLUMNS));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        const char *id = cli_field(answer, others[i].field);

        if (id[0]) {
            pair(cli, others[i].label, show_id(cli, id, SHOW_ID_LONG));
        }
    }
    show_claims(cli, json_object_get(answer, "claims"));
    show_updates(cli, json_object_get(answer, "updates"));
    return CLEW_OK;
}

/* --- clew analyse ----------------------------------------------------------
 */

/* "a, b (kind)": the members of a list, `more` in brackets if it has it. */
static void show_list(struct cli *cli, const json_t *list, const char *label,
                      const char *field, const char *more)
{
    const json_t *one;
    char *text = NULL;
    size_t i;

    json_array_foreach (list, i, one) {
        const char *extra = more ? cli_field(one, more) : "";

        text = arena_printf(&cli->arena, "%s%s%s%s%s%s", text ? text : "",
                            text ? ", " : "", cli_field(one, field),
                            extra[0] ? " (" : "", extra, extra[0] ? ")" : "");
    }
    if (text) {
        show_heading(cli, label);
        show_paragraph(cli, "  ", str_of(text));
    }
}

static void show_dates(struct cli *cli, const json_t *dates)
{
    const json_t *date;
    size_t i;

    if (json_array_size(dates) > 0) {
        show_heading(cli, "When it speaks of");
    }
    json_array_foreach (dates, i, date) {
        bool has_clock = strcmp(cli_field(date, "grain"), "time") == 0;

        item(cli, arena_printf(&cli->arena, "%s: %s until %s",
                               cli_field(date, "text"),
                               cli_date(cli, date, "since", has_clock),
                               cli_date(cli, date, "until", has_clock)));
    }
}

enum clew_status show_analysis(struct cli *cli, const json_t *answer,
                               struct clew_error *err)
{
    const json_t *segments = json_object_get(answer, "segments");
    const json_t *segment;
    size_t i;

    (void)err;
    output_text(&cli->out, OUTPUT_BOLD, str_of(cli_field(answer, "act")));
    (void)fprintf(cli->out.file, ", %.0f %% sure, by %s",
                  100 * number_of(answer, "confidence"),
                  cli_field(answer, "level"));
    if (strcmp(cli_field(answer, "level"), cli_field(answer, "rule")) != 0) {
        (void)fprintf(cli->out.file, " %s", cli_field(answer, "rule"));
    }
    (void)fputc('\n', cli->out.file);
    if (json_array_size(segments) > 1) {
        show_heading(cli, "Part by part");
        json_array_foreach (segments, i, segment) {
            item(cli, arena_printf(&cli->arena, "%s (%s, %.0f %%)",
                                   cli_field(segment, "text"),
                                   cli_field(segment, "act"),
                                   100 * number_of(segment, "confidence")));
        }
    }
    show_list(cli, json_object_get(answer, "entities"), "Who and what", "text",
              "kind");
    show_dates(cli, json_object_get(answer, "dates"));
    show_list(cli, json_object_get(answer, "keywords"), "Words that count",
              "word", NULL);
    return CLEW_OK;
}

/* --- clew tuning -----------------------------------------------------------
 */

static void show_weights(struct cli *cli, const json_t *weights)
{
    const char *name;
    json_t *weight;

    json_object_foreach ((json_t *)(uintptr_t)weights, name, weight) {
        pair(cli, name,
             arena_printf(&cli->arena, "%.2f", json_number_value(weight)));
    }
}

enum clew_status show_tuning(struct cli *cli, const json_t *answer,
                             struct clew_error *err)
{
    const json_t *current = json_object_get(answer, "current");
    const json_t *now = current ? current : answer; /* of a revert */
    const json_t *history = json_object_get(answer, "history");
    const json_t *one;
    size_t i;

    (void)err;
    (void)fprintf(cli->out.file, "Two chats are joined from %.0f %% on",
                  100 * number_of(now, "threshold"));
    if (cli_field(now, "created_at")[0]) {
        (void)fprintf(cli->out.file, ", since %s",
                      cli_when(cli, now, "created_at"));
    }
    (void)fputs(":\n", cli->out.file);
    show_paragraph(cli, "  ", str_of(cli_field(now, "reason")));
    show_heading(cli, "What counts how much");
    show_weights(cli, json_object_get(now, "weights"));
    if (json_array_size(history) > 0) {
        show_heading(cli, "Before");
    }
    json_array_foreach (history, i, one) {
        item(cli, arena_printf(&cli->arena, "%s: from %.0f %% on, %s",
                               cli_when(cli, one, "created_at"),
                               100 * number_of(one, "threshold"),
                               cli_field(one, "reason")));
    }
    return CLEW_OK;
}
