/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_show.c - what extraction makes of chats, to be read by a person.
 *
 * usage: extract_show FILE.jsonl
 * One turn a line: {"chat","role","text","name"?,"created_at"?}. Prints every
 * candidate, and for an accepting turn how it would resolve the last effort.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "engine/extract.h"
#include "text/dates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HISTORY 8
#define MAX_EFFORT_AGE 6

struct chat {
    char id[128];
    struct extract_turn previous[MAX_HISTORY];
    size_t n_previous;
    struct intent *last;
    struct str title; /* of the open effort; len 0 = none */
    size_t turns_since;
};

static const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));

    return text ? text : "";
}

static void prepare(struct arena *arena, const json_t *line, struct chat *chat,
                    struct extract_turn *out)
{
    struct intent *intent = arena_zero(arena, 1, sizeof(*intent));
    struct analysis *analysis = arena_zero(arena, 1, sizeof(*analysis));
    struct analysis_options options = {0};
    const char *role = text_of(line, "role");

    if (!intent || !analysis) {
        exit(1);
    }
    *out = (struct extract_turn){
        .text = arena_str(arena, str_of(text_of(line, "text"))),
        .speaker = arena_str(arena, str_of(text_of(line, "name"))),
        .role = strcmp(role, "user") == 0        ? EXTRACT_USER
                : strcmp(role, "assistant") == 0 ? EXTRACT_ASSISTANT
                                                 : EXTRACT_OTHER};
    (void)clock_parse(str_of(text_of(line, "created_at")),
                      &out->time_ms); /* 1970 if there is none */
    options.time_ms = out->time_ms;
    if (intent_after(arena, out->text, chat->last, intent) != CLEW_OK ||
        tokens_of(arena, out->text, &analysis->tokens) != CLEW_OK ||
        !dates_of(arena, out->text, &analysis->tokens, &options,
                  &analysis->dates, &analysis->n_dates)) {
        exit(1);
    }
    chat->last = intent;
    out->intent = intent;
    out->analysis = analysis;
}

static void show_resolution(struct arena *arena,
                            const struct extract_input *input,
                            struct chat *chat)
{
    struct extract_resolution got;

    if (chat->title.len == 0 || input->turn->role != EXTRACT_USER ||
        chat->turns_since > MAX_EFFORT_AGE) {
        return;
    }
    if (extract_resolution(arena, input, chat->title, chat->turns_since,
                           &got) != CLEW_OK) {
        exit(1);
    }
    if (got.confidence > 0) {
        printf("%s RESOLVED %.2f \"%.*s\" => %.*s\n     <- %.*s\n", chat->id,
               (double)got.confidence, (int)chat->title.len, chat->title.s,
               (int)got.text.len, got.text.s ? got.text.s : "",
               (int)input->turn->text.len, input->turn->text.s);
        chat->title.len = 0;
    }
}

static void show_turn(struct arena *arena, const json_t *line,
                      struct chat *chat)
{
    struct extract_turn turn;
    struct extract_input input = {.turn = &turn};
    struct extract got;

    prepare(arena, line, chat, &turn);
    input.previous = chat->previous;
    input.n_previous = chat->n_previous;
    show_resolution(arena, &input, chat);
    chat->turns_since += turn.role == EXTRACT_USER;
    if (extract_run(arena, &input, &got) != CLEW_OK) {
        exit(1);
    }
    for (size_t i = 0; i < got.n_items; i++) {
        printf("%s [%s] %.*s\n     <- %.*s\n", chat->id, got.items[i].rule,
               (int)got.items[i].summary.len, got.items[i].summary.s,
               turn.text.len > 300 ? 300 : (int)turn.text.len, turn.text.s);
        if (got.items[i].type == EXTRACT_EFFORT) {
            chat->title = got.items[i].summary;
            chat->turns_since = 0;
        }
    }
    memmove(chat->previous + 1, chat->previous,
            (MAX_HISTORY - 1) * sizeof(chat->previous[0]));
    chat->previous[0] = turn;
    chat->n_previous += chat->n_previous < MAX_HISTORY;
}

int main(int argc, char **argv)
{
    FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
    char *line = NULL;
    size_t cap = 0;
    struct chat chat = {0};
    struct arena arena;

    if (!in) {
        fprintf(stderr, "usage: extract_show FILE.jsonl\n");
        return argc > 1 ? 1 : 0;
    }
    arena_init(&arena, 1u << 30);
    while (getline(&line, &cap, in) > 0) {
        json_t *turn = json_loads(line, 0, NULL);

        if (turn && strcmp(chat.id, text_of(turn, "chat")) != 0) {
            arena_clear(&arena);
            memset(&chat, 0, sizeof(chat));
            (void)snprintf(chat.id, sizeof(chat.id), "%s",
                           text_of(turn, "chat"));
        }
        if (turn) {
            show_turn(&arena, turn, &chat);
        }
        json_decref(turn);
    }
    arena_release(&arena);
    free(line);
    (void)fclose(in); /* only read from */
    return 0;
}
