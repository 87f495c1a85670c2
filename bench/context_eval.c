/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_eval.c - how much of the evidence a small context holds.
 *
 *     bench_context_eval SET.json...
 *
 * Stores the turns of each store of the set in chats, asks for a context of
 * 2,000 and of 20,000 tokens in a new chat for each question, and counts the
 * evidence turns that it quotes or cites. Nothing of a set is kept.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "engine/ask/context.h"
#include "engine/capture/capture.h"
#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/key/tenant.h"
#include "engine/open.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 200
#define MAX_CHATS 256

static const int64_t budgets[] = {2000, 20000};

struct place {
    struct str external_id;
    struct uuid chat_id;
    int64_t seq;
};

struct known_chat {
    struct str name;
    struct uuid id;
};

struct bench {
    struct engine *engine;
    struct scope scope;
    struct arena arena; /* of a store */
    struct place *places;
    size_t n_places;
    struct known_chat chats[MAX_CHATS];
    size_t n_chats;
};

static void check(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

static struct str field(const json_t *object, const char *name)
{
    return str_of(json_string_value(json_object_get(object, name)));
}

static struct uuid chat_of(struct bench *bench, struct str user,
                           struct str name)
{
    struct chat_new input = {.user_id = user};
    struct clew_error err = {0};
    struct chat chat;

    for (size_t i = 0; i < bench->n_chats; i++) {
        if (str_eq(bench->chats[i].name, name)) {
            return bench->chats[i].id;
        }
    }
    if (bench->n_chats == MAX_CHATS) {
        (void)fprintf(stderr, "too many chats\n");
        exit(1);
    }
    check(chat_create(bench->engine, &bench->scope, &bench->arena, &input,
                      &chat, &err),
          &err);
    bench->chats[bench->n_chats++] = (struct known_chat){name, chat.id};
    return chat.id;
}

static void store_turns(struct bench *bench, struct str user,
                        const json_t *turns)
{
    struct capture_input inputs[BATCH];
    static struct capture_result results[BATCH];
    size_t total = json_array_size(turns);

    bench->places = arena_zero(&bench->arena, total, sizeof(*bench->places));
    bench->n_places = 0;
    bench->n_chats = 0;
    for (size_t from = 0; from < total; from += BATCH) {
        size_t n = total - from < BATCH ? total - from : BATCH;
        struct clew_error err = {0};

        for (size_t i = 0; i < n; i++) {
            const json_t *turn = json_array_get(turns, from + i);
            bool is_user = str_eq(field(turn, "role"), STR("user"));

            inputs[i] = (struct capture_input){
                .user_id = user,
                .role = is_user ? TURN_USER : TURN_ASSISTANT,
                .content = {.text = field(turn, "text")},
                .name = field(turn, "name"),
                .chat_id = chat_of(bench, user, field(turn, "chat"))};
            (void)clock_parse(field(turn, "created_at"),
                              &inputs[i].created_at_ms);
        }
        check(capture_turns(bench->engine, &bench->scope, &bench->arena, inputs,
                            n, results, &err),
              &err);
        for (size_t i = 0; i < n; i++) {
            bench->places[bench->n_places++] = (struct place){
                field(json_array_get(turns, from + i), "external_id"),
                results[i].turn.chat_id, results[i].turn.seq};
        }
    }
}

/* Does a source "<chat>:lines-a-b" hold the turn? */
static bool covers(struct str source, const struct place *place)
{
    size_t colon = str_find(source, STR(":lines-"), 0);
    struct uuid chat;
    struct str lines;
    struct str part;
    int64_t first = 0;
    int64_t last = 0;

    if (colon == SIZE_MAX || !uuid_parse(str_sub(source, 0, colon), &chat) ||
        !uuid_eq(&chat, &place->chat_id)) {
        return false;
    }
    lines = str_sub(source, colon + 7, source.len);
    return str_split(&lines, '-', &part) && str_parse_int(part, &first) &&
           str_split(&lines, '-', &part) && str_parse_int(part, &last) &&
           place->seq >= first && place->seq <= last;
}

static bool holds(const struct context *context, const struct place *place)
{
    for (int s = 0; s < CONTEXT_SECTIONS; s++) {
        for (size_t i = 0; i < context->parts[s].count; i++) {
            if (covers(context->parts[s].lines[i].source, place)) {
                return true;
            }
        }
    }
    return false;
}

static const struct place *place_of(const struct bench *bench, struct str id)
{
    for (size_t i = 0; i < bench->n_places; i++) {
        if (str_eq(bench->places[i].external_id, id)) {
            return &bench->places[i];
        }
    }
    return NULL;
}

static void ask(struct bench *bench, const struct uuid *chat_id,
                const json_t *question, size_t hits[2], size_t *total)
{
    const json_t *evidence = json_object_get(question, "evidence");
    const json_t *id;
    size_t k;
    struct arena arena;

    arena_init(&arena, (size_t)1 << 30);
    for (size_t i = 0; i < 2; i++) {
        struct context_request request = {.chat_id = *chat_id,
                                          .budget_tokens = budgets[i],
                                          .message = field(question, "query")};
        struct clew_error err = {0};
        struct context context;

        check(context_build(bench->engine, &bench->scope, &arena, &request,
                            &context, &err),
              &err);
        json_array_foreach (evidence, k, id) {
            const struct place *place =
                place_of(bench, str_of(json_string_value(id)));

            if (place) {
                hits[i] += holds(&context, place);
                *total += i == 0;
            }
        }
    }
    arena_release(&arena);
}

static int drop(const char *path, const struct stat *info, int type,
                struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static void run_set(const json_t *set)
{
    size_t hits[2] = {0};
    size_t total = 0;
    size_t s;
    const json_t *store;

    json_array_foreach (json_object_get(set, "stores"), s, store) {
        char folder[] = "/tmp/clew-context-XXXXXX";
        struct config *config = NULL;
        struct engine_options options = {.data_dir = mkdtemp(folder)};
        struct clew_error err = {0};
        struct bench bench = {0};
        struct uuid chat_id;
        size_t q;
        const json_t *question;

        check(config_load(NULL, NULL, 0, &config, &err), &err);
        options.config = config;
        check(engine_open(&options, &bench.engine, &err), &err);
        check(engine_tenant(bench.engine, "default", &bench.scope, &err), &err);
        arena_init(&bench.arena, (size_t)4 << 30);
        store_turns(&bench, field(store, "user_id"),
                    json_object_get(store, "turns"));
        chat_id = chat_of(&bench, field(store, "user_id"), STR("questions"));
        json_array_foreach (json_object_get(store, "questions"), q, question) {
            ask(&bench, &chat_id, question, hits, &total);
        }
        arena_release(&bench.arena);
        engine_close(bench.engine);
        config_free(config);
        (void)nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
    }
    (void)printf("evidence turns %zu: in 2,000 tokens %.3f, in 20,000 %.3f, "
                 "ratio %.3f\n",
                 total, (double)hits[0] / (double)total,
                 (double)hits[1] / (double)total,
                 (double)hits[0] / (double)hits[1]);
}

int main(int argc, char **argv)
{
    json_setup();
    if (argc < 2) {
        (void)fprintf(stderr, "usage: bench_context_eval SET.json...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        json_error_t error;
        json_t *set = json_load_file(argv[i], 0, &error);

        if (!set) {
            (void)fprintf(stderr, "%s: %s\n", argv[i], error.text);
            return 2;
        }
        run_set(set);
        json_decref(set);
    }
    return 0;
}
