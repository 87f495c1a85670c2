/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_recall_far.c - an index without vectors and somebody who keeps them rank
 * as an index with them does.
 *
 * Whoever adds to what recall reads of a vector must bring it along from there
 * as well (vector_graph.h); this says so without a database.
 */
#include "support/doc_list.h"
#include "support/test.h"

#include "base/arena.h"
#include "index/build.h"
#include "index/doc.h"
#include "model/embed.h"
#include "recall/recall.h"

#include <ftw.h>
#include <stdio.h>

enum { MAX_DOCS = 5000, TOP = 10 };

static struct arena docs_arena;
static struct arena arena;
static struct index_doc docs[MAX_DOCS];
static struct doc_list list = {.docs = docs};
static float centre[EMBED_MAX_DIM];
static char dir[64];
static size_t n_found; /* calls of the two below */
static size_t n_read;

/* --- who keeps the vectors ----------------------------------------------- */

static struct recall_far_vector vector_of(const struct index_doc *doc,
                                          struct arena *into)
{
    struct segment_kind kind = {.dim = (uint32_t)embed_static()->dim,
                                .centre = centre};
    int8_t *values = arena_zero(into, 2, kind.dim);
    struct segment_half *half = arena_zero(into, 1, sizeof(*half));
    struct recall_far_vector out = {.id = doc->id,
                                    .change_seq = doc->change_seq,
                                    .values = values,
                                    .dim = kind.dim};

    vec_quantise_about(doc->vector, centre, kind.dim, values, &out.form);
    if (doc->halves) {
        build_half(&kind, doc, half, values + kind.dim);
        out.half = half;
        out.first = values + kind.dim;
    }
    return out;
}

static enum clew_status far_read(void *arg, struct arena *into,
                                 const struct recall_far_key *keys,
                                 size_t count,
                                 struct recall_far_vector **out_vectors,
                                 size_t *out_count, struct clew_error *err)
{
    (void)arg;
    (void)err;
    n_read++;
    *out_vectors = arena_zero(into, count, sizeof(**out_vectors));
    for (size_t i = 0; i < count; i++) {
        const struct index_doc *doc = &docs[keys[i].change_seq - 1];

        assert_true(uuid_eq(&doc->id, &keys[i].id));
        (*out_vectors)[i] = vector_of(doc, into);
    }
    *out_count = count;
    return CLEW_OK;
}

static float dot_of(const struct recall_far_query *query,
                    const struct index_doc *doc)
{
    float sum = 0;

    for (size_t i = 0; i < query->dim; i++) {
        sum += query->vector[i] * doc->vector[i];
    }
    return sum;
}

/* The nearest of all, one after the other. */
static enum clew_status far_find(void *arg, struct arena *into,
                                 const struct recall_far_query *query,
                                 struct recall_far_vector **out_vectors,
                                 size_t *out_count, struct clew_error *err)
{
    static float dots[MAX_DOCS];

    (void)arg;
    (void)err;
    n_found++;
    *out_vectors = arena_zero(into, query->want, sizeof(**out_vectors));
    *out_count = 0;
    for (size_t i = 0; i < list.count; i++) {
        dots[i] = docs[i].kind == query->kind ? dot_of(query, &docs[i]) : -2;
    }
    while (*out_count < query->want) {
        size_t best = 0;

        for (size_t i = 1; i < list.count; i++) {
            best = dots[i] > dots[best] ? i : best;
        }
        dots[best] = -2;
        (*out_vectors)[(*out_count)++] = vector_of(&docs[best], into);
    }
    return CLEW_OK;
}

static const struct recall_far far = {NULL, far_find, far_read};

/* --- turns --------------------------------------------------------------- */

static const char *const things[] = {
    "the kitchen sink", "a red bicycle",  "the quarterly report",
    "an apple tree",    "a train ticket", "the garden fence",
    "a violin",         "the old laptop", "a box of oranges",
    "the invitation",   "a pair of skis", "the blood test",
    "the museum",       "a fishing boat", "the harbour",
    "an espresso",      "the landlord",   "a birthday cake"};
#define THING(n) things[(n) % (sizeof(things) / sizeof(things[0]))]

static void say(unsigned n)
{
    struct analysis_options options = {.time_ms = n * 60000LL};
    struct index_doc *doc = &docs[list.count];
    size_t dim = embed_static()->dim;
    float *vectors = arena_zero(&docs_arena, 3 * dim, sizeof(*vectors));
    unsigned mix = n * 2654435761u;
    struct uuid nil = {{0}};
    struct analysis analysis;
    struct str halves[2];
    size_t middle;
    char *text = arena_printf(
        &docs_arena, "We spoke of %s and %s, number %u.%s%s%s", THING(mix >> 3),
        THING(mix >> 11), n,
        n % 3 ? "" : " It took the whole afternoon to settle, and then ",
        n % 3 ? "" : THING(mix >> 19),
        n % 3 ? "" : " came up, which everybody had long forgotten about.");

    assert_int_equal(
        analysis_run(&docs_arena, str_of(text), &options, &analysis, NULL),
        CLEW_OK);
    memset(doc, 0, sizeof(*doc));
    doc->kind = INDEX_TURN;
    doc->id = uuid_derive(n, &nil, "turn", n);
    doc->chat = uuid_derive(n / 50, &nil, "chat", n / 50);
    doc->user = n / 50 % 10 == 3 ? STR("ben") : STR("ann");
    doc->seq = n % 50 + 1;
    doc->created_at_ms = options.time_ms;
    doc->change_seq = (int64_t)++list.count;
    doc->flags = INDEX_BY_USER;
    doc->vector = vectors;
    assert_int_equal(
        embed_run(embed_static(), &analysis.text, 1, vectors, NULL), CLEW_OK);
    middle = doc_middle(&analysis, STR(""));
    halves[0] = str_sub(analysis.text, 0, middle);
    halves[1] = str_sub(analysis.text, middle, analysis.text.len);
    if (middle > 0) {
        assert_int_equal(
            embed_run(embed_static(), halves, 2, vectors + dim, NULL), CLEW_OK);
        doc->halves = vectors + dim;
    }
    assert_int_equal(doc_fill(&docs_arena, &analysis, STR(""), doc, NULL),
                     CLEW_OK);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&docs_arena, (size_t)1 << 30);
    arena_init(&arena, (size_t)1 << 30);
    list.count = 0;
    n_found = 0;
    n_read = 0;
    (void)snprintf(dir, sizeof(dir), "/tmp/clew-far-XXXXXX");
    assert_true(embed_centre(embed_static(), centre));
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    arena_release(&docs_arena);
    return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- ranking ------------------------------------------------------------- */

static struct recall_result rank(struct index_set *set, const char *query,
                                 const char *user, int64_t since_ms)
{
    struct recall_request request = {.query = str_of(query),
                                     .user = str_of(user),
                                     .kinds = RECALL_TURN,
                                     .limit = TOP,
                                     .since_ms = since_ms,
                                     .until_ms = INT64_MAX,
                                     .at_ms = INT64_MAX,
                                     .far = &far};
    struct index_view *view = NULL;
    struct recall_result result;

    assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
    assert_int_equal(
        recall_run(view, embed_static(), &arena, &request, &result, NULL),
        CLEW_OK);
    index_view_close(view);
    return result;
}

static void assert_same(const struct recall_result *a,
                        const struct recall_result *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_true(uuid_eq(&a->items[i].id, &b->items[i].id));
        assert_memory_equal(&a->items[i].parts, &b->items[i].parts,
                            sizeof(a->items[i].parts));
    }
}

/* One set in memory with all vectors, one in files without. */
static void open_both(struct index_set *out[2])
{
    struct index_options options = {.model = "m",
                                    .dim = embed_static()->dim,
                                    .centre = centre,
                                    .can_be_bare = true,
                                    .source = doc_list_source(&list)};
    struct index_view *view = NULL;
    struct index_stats stats;

    assert_int_equal(index_set_open(&options, &out[0], NULL), CLEW_OK);
    options.dir = dir;
    assert_int_equal(index_set_open(&options, &out[1], NULL), CLEW_OK);
    assert_int_equal(index_view_open(out[1], 1, &view, NULL), CLEW_OK);
    index_view_close(view);
    index_set_far(out[1], 1, (int64_t)list.count);
    assert_int_equal(index_flush(out[1], 1, NULL), CLEW_OK);
    assert_int_equal(index_stats_get(out[1], 1, &stats), CLEW_OK);
    assert_int_equal(stats.n_bare, list.count);
}

static const char *const questions[] = {
    "who fixed the tap", "something sweet for a party",
    "playing music",     "a journey by rail",
    "the computer",      "fruit",
    "winter sports",     "the doctor"};
#define N_QUESTIONS (sizeof(questions) / sizeof(questions[0]))

static void few_are_ranked_the_same_to_the_bit(void **state)
{
    struct index_set *sets[2];

    (void)state;
    for (unsigned i = 0; i < 1500; i++) {
        say(i);
    }
    open_both(sets);
    for (size_t i = 0; i < N_QUESTIONS; i++) {
        struct recall_result with = rank(sets[0], questions[i], "", INT64_MIN);
        struct recall_result bare = rank(sets[1], questions[i], "", INT64_MIN);

        assert_int_equal(with.count, TOP);
        assert_same(&with, &bare);
    }
    assert_true(n_read > 0);
    assert_int_equal(n_found, 0);
    index_set_close(sets[0]);
    index_set_close(sets[1]);
}

static void
of_many_a_narrow_request_is_exact_and_a_wide_one_nearly(void **state)
{
    struct index_set *sets[2];
    size_t n_shared = 0;

    (void)state;
    for (unsigned i = 0; i < MAX_DOCS; i++) {
        say(i);
    }
    open_both(sets);
    for (size_t i = 0; i < N_QUESTIONS; i++) {
        struct recall_result with =
            rank(sets[0], questions[i], "ben", INT64_MIN);
        struct recall_result bare =
            rank(sets[1], questions[i], "ben", INT64_MIN);

        assert_same(&with, &bare);
        bare = rank(sets[1], questions[i], "", (MAX_DOCS - 50) * 60000LL);
        assert_int_equal(bare.count, TOP);
        assert_int_equal(n_found, i);
        with = rank(sets[0], questions[i], "", INT64_MIN);
        bare = rank(sets[1], questions[i], "", INT64_MIN);
        for (size_t k = 0; k < with.count * bare.count; k++) {
            n_shared += uuid_eq(&with.items[k / bare.count].id,
                                &bare.items[k % bare.count].id);
        }
        arena_clear(&arena);
    }
    assert_int_equal(n_found, N_QUESTIONS);
    assert_true(n_shared * 100 >= N_QUESTIONS * TOP * 95);
    index_set_close(sets[0]);
    index_set_close(sets[1]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(few_are_ranked_the_same_to_the_bit),
        CASE(of_many_a_narrow_request_is_exact_and_a_wide_one_nearly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
