/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links_eval.c - score links between chats on a set, in memory, in seconds.
 *
 * usage: links_eval SET.json [--among N] [--turns N] [--dump FILE] [--errors]
 * Each item has earlier chats and a new one that continues one of them or
 * none. --among adds earlier chats of other items until there are N. --dump
 * writes the features of every decision for fitting.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "engine/chatlink/chatlink_score.h"
#include "model/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_MS 1711875600000LL
#define THRESHOLD 0.7
#define MAX_EARLIER 64

struct options {
    size_t among;
    size_t turns;
    FILE *dump;
    bool show_errors;
};

struct tally {
    int n, ok, tp, fp, fn;
};

static void add_turn(struct arena *arena, struct chat_profile *profile,
                     const char *text, int64_t time_ms)
{
    struct embedder *embedder = embed_static();
    struct analysis_options options = {.time_ms = time_ms};
    float *vector = arena_zero(arena, embedder->dim, sizeof(float));
    struct chatlink_turn turn;
    struct analysis analysis;
    struct clew_error err;
    struct str slice = str_of(text);

    if (!vector ||
        analysis_run(arena, slice, &options, &analysis, &err) != CLEW_OK ||
        embed_run(embedder, &slice, 1, vector, &err) != CLEW_OK ||
        chatlink_turn_of(arena, &analysis, &turn) != CLEW_OK) {
        fprintf(stderr, "could not analyse\n");
        exit(1);
    }
    chat_profile_add(profile, &turn, vector, time_ms);
}

static void profile_of(struct arena *arena, const json_t *turns,
                       int64_t start_ms, uint8_t id, struct chat_profile *out)
{
    struct uuid chat = {{id, 1}};
    const json_t *text;
    size_t i;

    if (chat_profile_init(out, arena, &chat, STR("u"), start_ms,
                          embed_static()->dim) != CLEW_OK) {
        exit(1);
    }
    json_array_foreach (turns, i, text) {
        add_turn(arena, out, json_string_value(text),
                 start_ms + (int64_t)i * 10000);
    }
}

/* The item's own earlier chats, then those of the items after it. */
static size_t earlier_of(struct arena *arena, const json_t *items, size_t at,
                         size_t among, struct chat_profile *out)
{
    size_t n = 0;

    for (size_t k = 0; k < json_array_size(items); k++) {
        const json_t *item =
            json_array_get(items, (at + k) % json_array_size(items));
        const json_t *chat;
        size_t i;

        json_array_foreach (json_object_get(item, "earlier"), i, chat) {
            int64_t minutes =
                json_integer_value(json_object_get(chat, "minutes_ago"));

            if (n == MAX_EARLIER || (k > 0 && n >= among)) {
                return n;
            }
            profile_of(arena, json_object_get(chat, "turns"),
                       NOW_MS - minutes * CLOCK_MINUTE_MS, (uint8_t)n, &out[n]);
            n++;
        }
    }
    return n;
}

static void dump(FILE *file, size_t item, uint32_t n, int64_t expect,
                 const struct chatlink_scores *scores)
{
    fprintf(file, "{\"item\":%zu,\"n\":%u,\"expect\":%lld,\"none\":[", item, n,
            (long long)expect);
    for (int i = 0; i < CHATLINK_NONE_FEATURES; i++) {
        fprintf(file, "%s%.4f", i ? "," : "", scores->none[i]);
    }
    fprintf(file, "],\"c\":[");
    for (size_t i = 0; i < scores->count; i++) {
        fprintf(file, "%s[%d,%.4f", i ? "," : "",
                scores->items[i].profile->chat_id.b[0],
                scores->items[i].signals[3]);
        for (int k = 0; k < CHATLINK_FEATURES; k++) {
            fprintf(file, ",%.4f", scores->items[i].features[k]);
        }
        fprintf(file, "]");
    }
    fprintf(file, "]}\n");
}

static void run_item(const struct options *options, const json_t *items,
                     size_t at, struct tally *tally)
{
    struct chat_profile earlier[MAX_EARLIER];
    const json_t *item = json_array_get(items, at);
    const json_t *expect = json_object_get(item, "expect");
    int64_t want = json_is_null(expect) ? -1 : json_integer_value(expect);
    int64_t got = -1;
    struct chat_profile chat;
    struct arena arena;
    struct uuid id = {{0xff}};
    const json_t *text;
    size_t n;
    size_t i;

    arena_init(&arena, (size_t)1 << 30);
    n = earlier_of(&arena, items, at, options->among, earlier);
    if (chat_profile_init(&chat, &arena, &id, STR("u"), NOW_MS,
                          embed_static()->dim) != CLEW_OK) {
        exit(1);
    }
    chat.centre = embed_static()->centre;
    json_array_foreach (json_object_get(item, "new"), i, text) {
        struct chatlink_scores scores;

        if (i >= options->turns || (got >= 0 && !options->dump)) {
            break;
        }
        add_turn(&arena, &chat, json_string_value(text),
                 NOW_MS + (int64_t)i * 10000);
        if (chatlink_score(&arena, &chat, earlier, n, &chatlink_default_weights,
                           &scores) != CLEW_OK) {
            exit(1);
        }
        if (options->dump) {
            dump(options->dump, at, chat.n_turns, want, &scores);
        }
        if (got < 0 && scores.count && scores.items[0].score > THRESHOLD) {
            got = scores.items[0].profile->chat_id.b[0];
        }
    }
    tally->n++;
    tally->ok += got == want;
    tally->tp += got >= 0 && got == want;
    tally->fp += got >= 0 && got != want;
    tally->fn += want >= 0 && got != want;
    if (options->show_errors && got != want) {
        printf("%zu: wanted %lld, got %lld\n", at, (long long)want,
               (long long)got);
    }
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    struct options options = {.turns = 6};
    struct tally tally = {0};
    json_error_t error;
    json_t *set = argc > 1 ? json_load_file(argv[1], 0, &error) : NULL;
    const json_t *items = json_object_get(set, "items");
    int64_t start_ns = clock_mono_ns();

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--errors") == 0) {
            options.show_errors = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--among") == 0) {
            options.among = (size_t)strtoul(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--turns") == 0) {
            options.turns = (size_t)strtoul(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--dump") == 0) {
            options.dump = fopen(argv[++i], "w");
        }
    }
    if (!set) {
        fprintf(stderr, "usage: links_eval SET.json\n");
        return 2;
    }
    for (size_t i = 0; i < json_array_size(items); i++) {
        run_item(&options, items, i, &tally);
    }
    printf("{\"accuracy\":%.4f,\"precision\":%.4f,\"recall\":%.4f,"
           "\"f1\":%.4f,\"n\":%d,\"seconds\":%.2f}\n",
           (double)tally.ok / tally.n,
           (double)tally.tp / (tally.tp + tally.fp ? tally.tp + tally.fp : 1),
           (double)tally.tp / (tally.tp + tally.fn ? tally.tp + tally.fn : 1),
           2.0 * tally.tp /
               (2 * tally.tp + tally.fp + tally.fn
                    ? 2 * tally.tp + tally.fp + tally.fn
                    : 1),
           tally.n, (double)(clock_mono_ns() - start_ns) / 1e9);
    if (options.dump) {
        (void)fclose(options.dump);
    }
    json_decref(set);
    return 0;
}
