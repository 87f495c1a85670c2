/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_eval.c - quality of recall on a question set, in-process.
 *
 *     bench_recall_eval SET.json...
 *
 * Reads the turns of each store of the set into an index in memory and ranks
 * each question's turns and chats: the figures of the HTTP evaluation without
 * a server, in seconds. For tuning; nothing of a set is kept.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "index/doc.h"
#include "model/embed.h"
#include "recall/recall.h"

#include <stdio.h>
#include <string.h>

#define N_TURNS_BACK 50
#define N_CHATS_BACK 10
enum { T5, T10, T50, C1, C5, C10, H1, H5, MRR, ALL10, N_FIGURES };
static const char *const names[N_FIGURES] = {
    "turn@5",  "turn@10", "turn@50", "chat@1", "chat@5",
    "chat@10", "hit@1",   "hit@5",   "mrr",    "all@10"};

struct figures {
    char category[40];
    int n;
    double sums[N_FIGURES];
};

struct store_docs {
    struct index_doc *docs;
    size_t count;
};

static struct str field(const json_t *object, const char *name)
{
    return str_of(json_string_value(json_object_get(object, name)));
}

static int64_t time_of(const json_t *object, const char *name)
{
    int64_t time = 0;

    if (!clock_parse(field(object, name), &time)) {
        (void)fprintf(stderr, "bad time\n");
        exit(2);
    }
    return time;
}

static struct uuid id_of(struct str text, const char *kind)
{
    struct uuid nil = {{0}};

    return uuid_derive(0, &nil, kind, str_hash(text));
}

static enum clew_status latest(void *arg, int64_t tenant, int64_t *out,
                               struct clew_error *err)
{
    (void)tenant;
    (void)err;
    *out = (int64_t)((struct store_docs *)arg)->count;
    return CLEW_OK;
}

static enum clew_status load(void *arg, int64_t tenant, int64_t after,
                             size_t max, struct arena *arena,
                             struct index_doc **out_docs, size_t *out_count,
                             int64_t *out_through, struct clew_error *err)
{
    struct store_docs *all = arg;
    size_t left = all->count - (size_t)after;

    (void)tenant;
    (void)arena;
    (void)err;
    *out_docs = all->docs + after;
    *out_count = left < max ? left : max;
    *out_through = after + (int64_t)*out_count;
    return CLEW_OK;
}

static void must(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(2);
    }
}

static void add_halves(struct arena *arena, const struct analysis *analysis,
                       struct str speaker, struct index_doc *out)
{
    struct embedder *embedder = embed_static();
    size_t middle = doc_middle(analysis, speaker);
    struct str halves[2] = {
        str_sub(analysis->text, 0, middle),
        str_sub(analysis->text, middle, analysis->text.len)};
    float *vectors = arena_zero(arena, 2 * embedder->dim, sizeof(*vectors));
    struct clew_error err;

    if (middle > 0) {
        must(embed_run(embedder, halves, 2, vectors, &err), &err);
        out->halves = vectors;
    }
}

static void make_doc(struct arena *arena, const json_t *turn, size_t n,
                     struct str user, struct index_doc *out)
{
    struct embedder *embedder = embed_static();
    struct analysis_options options = {.time_ms = time_of(turn, "created_at"),
                                       .speaker = field(turn, "name")};
    struct str text = field(turn, "text");
    float *vector = arena_zero(arena, embedder->dim, sizeof(*vector));
    struct analysis analysis;
    struct clew_error err;

    memset(out, 0, sizeof(*out));
    must(analysis_run(arena, text, &options, &analysis, &err), &err);
    must(doc_fill(arena, &analysis, options.speaker, out, &err), &err);
    must(embed_run(embedder, &text, 1, vector, &err), &err);
    add_halves(arena, &analysis, options.speaker, out);
    out->kind = INDEX_TURN;
    out->id = id_of(field(turn, "external_id"), "turn");
    out->chat = id_of(field(turn, "chat"), "chat");
    out->user = user;
    out->seq = (int64_t)n;
    out->created_at_ms = options.time_ms;
    out->change_seq = (int64_t)n + 1;
    out->vector = vector;
}

static bool has(const struct uuid *list, size_t n, const struct uuid *id)
{
    for (size_t i = 0; i < n; i++) {
        if (uuid_eq(&list[i], id)) {
            return true;
        }
    }
    return false;
}

static void score_turns(const struct recall_result *result,
                        const struct uuid *gold, size_t n_gold, double *out)
{
    size_t found = 0;

    for (size_t i = 0; i < result->count; i++) {
        found += has(gold, n_gold, &result->items[i].id);
        out[T5] = i < 5 ? (double)found / (double)n_gold : out[T5];
        out[T10] = i < 10 ? (double)found / (double)n_gold : out[T10];
        out[T50] = (double)found / (double)n_gold;
        out[ALL10] = i < 10 ? found == n_gold : out[ALL10];
    }
}

static void score_chats(const struct recall_result *result,
                        const struct uuid *gold, size_t n_gold, double *out)
{
    size_t found = 0;

    for (size_t i = 0; i < result->count; i++) {
        bool is_gold = has(gold, n_gold, &result->items[i].id);

        found += is_gold;
        if (is_gold && out[MRR] <= 0) {
            out[MRR] = 1.0 / (double)(i + 1);
        }
        out[C1] = i < 1 ? (double)found / (double)n_gold : out[C1];
        out[C5] = i < 5 ? (double)found / (double)n_gold : out[C5];
        out[C10] = (double)found / (double)n_gold;
        out[H1] = i < 1 ? found > 0 : out[H1];
        out[H5] = i < 5 ? found > 0 : out[H5];
    }
}

static struct figures *category_of(struct figures *all, size_t cap,
                                   const json_t *question)
{
    const json_t *category = json_object_get(question, "category");
    char name[40];

    if (json_is_integer(category)) {
        (void)snprintf(name, sizeof(name), "%d",
                       (int)json_integer_value(category));
    } else {
        (void)snprintf(name, sizeof(name), "%s", json_string_value(category));
    }
    for (size_t i = 0; i < cap; i++) {
        if (all[i].n == 0 || strcmp(all[i].category, name) == 0) {
            (void)snprintf(all[i].category, sizeof(all[i].category), "%s",
                           name);
            return &all[i];
        }
    }
    return &all[cap - 1];
}

static void ask(struct index_set *set, struct arena *arena, struct str user,
                const json_t *question, const json_t *turns,
                struct figures *all, size_t cap)
{
    const json_t *evidence = json_object_get(question, "evidence");
    struct recall_request request = {.query = field(question, "query"),
                                     .user = user,
                                     .kinds = RECALL_TURN,
                                     .limit = N_TURNS_BACK,
                                     .since_ms = INT64_MIN,
                                     .until_ms = INT64_MAX,
                                     .at_ms = time_of(question, "at")};
    struct uuid gold[64];
    struct uuid chats[64];
    size_t n_gold = 0;
    size_t n_chats = 0;
    double sums[N_FIGURES] = {0};
    struct figures *category = category_of(all, cap, question);
    struct recall_result result;
    struct index_view *view;
    struct clew_error err;
    const json_t *item;
    size_t i;

    json_array_foreach (evidence, i, item) {
        struct uuid id = id_of(str_of(json_string_value(item)), "turn");

        if (n_gold < 64 && !has(gold, n_gold, &id)) {
            gold[n_gold++] = id;
        }
    }
    json_array_foreach (turns, i, item) {
        struct uuid id = id_of(field(item, "external_id"), "turn");
        struct uuid chat = id_of(field(item, "chat"), "chat");

        if (has(gold, n_gold, &id) && n_chats < 64 &&
            !has(chats, n_chats, &chat)) {
            chats[n_chats++] = chat;
        }
    }
    must(index_view_open(set, 1, &view, &err), &err);
    must(recall_run(view, embed_static(), arena, &request, &result, &err),
         &err);
    score_turns(&result, gold, n_gold, sums);
    request.kinds = RECALL_CHAT;
    request.limit = N_CHATS_BACK;
    must(recall_run(view, embed_static(), arena, &request, &result, &err),
         &err);
    score_chats(&result, chats, n_chats, sums);
    index_view_close(view);
    category->n++;
    for (i = 0; i < N_FIGURES; i++) {
        category->sums[i] += sums[i];
    }
}

static void run_store(const json_t *store, struct figures *all, size_t cap)
{
    const json_t *turns = json_object_get(store, "turns");
    const json_t *questions = json_object_get(store, "questions");
    struct store_docs docs = {NULL, json_array_size(turns)};
    static float centre[EMBED_MAX_DIM];
    struct index_options options = {.model = "eval",
                                    .dim = embed_static()->dim,
                                    .centre = centre,
                                    .analyser = DOC_ANALYSER_VERSION,
                                    .source = {&docs, latest, load, NULL}};
    struct str user = field(store, "user_id");
    struct index_set *set;
    struct clew_error err;
    struct arena arena;
    struct arena scratch;
    const json_t *item;
    size_t i;

    arena_init(&arena, (size_t)2 << 30);
    arena_init(&scratch, (size_t)1 << 30);
    docs.docs = arena_zero(&arena, docs.count, sizeof(*docs.docs));
    json_array_foreach (turns, i, item) {
        make_doc(&arena, item, i, user, &docs.docs[i]);
    }
    (void)embed_centre(embed_static(), centre); /* it has one */
    must(index_set_open(&options, &set, &err), &err);
    json_array_foreach (questions, i, item) {
        arena_clear(&scratch);
        ask(set, &scratch, user, item, turns, all, cap);
    }
    index_set_close(set);
    arena_release(&scratch);
    arena_release(&arena);
}

static void show(const struct figures *f)
{
    printf("%-26s %4d", f->category, f->n);
    for (int i = 0; i < N_FIGURES; i++) {
        printf("  %s %.4f", names[i], f->sums[i] / f->n);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc; a++) {
        json_t *set = json_load_file(argv[a], 0, NULL);
        const json_t *stores = json_object_get(set, "stores");
        struct figures all[32];
        struct figures total = {.category = "all"};
        const json_t *store;
        size_t i;

        memset(all, 0, sizeof(all));
        json_array_foreach (stores, i, store) {
            run_store(store, all, 32);
        }
        for (i = 0; i < 32 && all[i].n; i++) {
            show(&all[i]);
            total.n += all[i].n;
            for (int k = 0; k < N_FIGURES; k++) {
                total.sums[k] += all[i].sums[k];
            }
        }
        if (total.n) {
            show(&total);
        }
        json_decref(set);
    }
    return 0;
}
