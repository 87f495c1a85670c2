/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_recall_cuts.c - the same documents have the same answers, scores to the
 * bit, however they lie in segments: cut anywhere, merged in any order, with
 * what was replaced still lying about. Many of them say the same, at the same
 * time, so that much is equally good.
 */
#include "support/test.h"

#include "base/arena.h"
#include "base/rand.h"
#include "index/build.h"
#include "index/doc.h"
#include "index/view.h"
#include "model/embed.h"
#include "recall/recall.h"

#define N_TURNS 6000u    /* more than are compared one by one */
#define N_MEMORIES 1500u /* more than are all scored */
#define N_ROWS (N_TURNS + N_MEMORIES)
#define N_AGAIN 3000u /* written once more, with a gist or another time */
#define N_LOG (N_ROWS + N_AGAIN)
#define PER_CHAT 40u
#define N_TEXTS 180u
#define N_GISTS 12u
#define OURS 7u
#define MAX_PARTS 64u
#define MINUTE_MS 60000

static struct arena arena; /* of the documents */
static struct arena asked; /* of the answers */
static struct index_doc log_[N_LOG];
static struct index_doc texts[N_TEXTS];
static int8_t gists[N_GISTS][INDEX_GIST_DIM];
static float centre[EMBED_MAX_DIM];
static struct segment_kind kind;

static struct uuid id_of(const char *what, uint64_t n)
{
    struct uuid nil = {{0}};

    return uuid_derive((int64_t)n, &nil, what, n);
}

/* Terms and vector of one of few sentences. */
static void make_text(size_t n)
{
    static const char *const did[] = {"painted", "sold", "lost"};
    static const char *const what[] = {"the boat", "a kettle", "his camera",
                                       "the tent", "a ladder"};
    static const char *const where[] = {"in Lisbon", "by the lake", "near Oslo",
                                        "today"};
    struct analysis_options options = {.time_ms = 0};
    float *vector = arena_zero(&arena, kind.dim, sizeof(*vector));
    const char *text = arena_printf(&arena, "%s %s %s %zu", did[n % 3],
                                    what[n % 5], where[n % 4], n / 60);
    struct str content = str_of(text);
    struct analysis analysis;

    assert_int_equal(analysis_run(&arena, content, &options, &analysis, NULL),
                     CLEW_OK);
    assert_int_equal(
        doc_fill(&arena, &analysis, options.speaker, &texts[n], NULL), CLEW_OK);
    assert_int_equal(embed_run(embed_static(), &content, 1, vector, NULL),
                     CLEW_OK);
    texts[n].vector = vector;
}

static void make_log(void)
{
    for (size_t n = 0; n < N_LOG; n++) {
        size_t row = n < N_ROWS ? n : (size_t)rand_below(N_ROWS);
        struct index_doc *doc = &log_[n];

        *doc = n < N_ROWS ? texts[rand_below(N_TEXTS)] : log_[row];
        if (n < N_ROWS) {
            doc->kind = row < N_TURNS ? INDEX_TURN : INDEX_MEMORY;
            doc->id = id_of("doc", row);
            doc->chat = id_of("chat", row / PER_CHAT);
            doc->user = row % N_TURNS < N_TURNS / 8 ? STR("bob") : STR("ada");
            doc->seq = (int64_t)(row % PER_CHAT);
            doc->created_at_ms = (int64_t)(row / 500) * MINUTE_MS;
            doc->flags |= INDEX_NAMED;
        } else if (doc->kind == INDEX_TURN) {
            doc->gist = gists[rand_below(N_GISTS)];
        } else {
            doc->created_at_ms += MINUTE_MS;
        }
        doc->change_seq = (int64_t)n + 1;
    }
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    arena_init(&asked, (size_t)1 << 28);
    rand_seed(20);
    if (!embed_centre(embed_static(), centre)) {
        return -1;
    }
    kind = (struct segment_kind){.model = 1,
                                 .dim = (uint32_t)embed_static()->dim,
                                 .analyser = 1,
                                 .gists = OURS,
                                 .centre = centre};
    for (size_t n = 0; n < N_TEXTS; n++) {
        make_text(n);
    }
    for (size_t n = 0; n < N_GISTS * INDEX_GIST_DIM; n++) {
        gists[n / INDEX_GIST_DIM][n % INDEX_GIST_DIM] =
            (int8_t)((int)rand_below(61) - 30);
    }
    make_log();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rand_seed(0);
    arena_release(&arena);
    arena_release(&asked);
    return 0;
}

/* A view of documents in parts. */
struct parts {
    struct segment *segments[MAX_PARTS];
    size_t count;
};

static void remove_from(struct parts *parts, const struct uuid *id)
{
    uint32_t doc;

    for (size_t i = 0; i < parts->count; i++) {
        if (segment_find_id(parts->segments[i], id, &doc)) {
            (void)segment_remove(parts->segments[i], doc);
        }
    }
}

static void add_segment(struct parts *parts,
                        const struct index_doc *const *docs, size_t count)
{
    assert_true(parts->count < MAX_PARTS);
    assert_int_equal(
        build_docs(&kind, docs, count, &parts->segments[parts->count++], NULL),
        CLEW_OK);
}

/* The log from `from` to `to` as one more segment; of a document written twice
 * there the later. */
static void add_part(struct parts *parts, size_t from, size_t to)
{
    const struct index_doc **refs =
        arena_zero(&arena, to - from + 1, sizeof(*refs));
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        bool is_last = true;

        for (size_t k = i < N_ROWS ? N_ROWS : i + 1; k < to && is_last; k++) {
            is_last = !uuid_eq(&log_[k].id, &log_[i].id);
        }
        if (is_last) {
            refs[n++] = &log_[i];
        }
        if (i >= N_ROWS) {
            remove_from(parts, &log_[i].id);
        }
    }
    add_segment(parts, refs, n);
}

/* Some of them become one, which may lie anywhere. */
static void merge_some(struct parts *parts)
{
    size_t n = (size_t)rand_below(parts->count) + 1;
    struct segment *merged = NULL;
    struct segment *swap;
    size_t at;

    for (size_t i = 0; i < parts->count; i++) {
        at = (size_t)rand_below(parts->count);
        swap = parts->segments[i];
        parts->segments[i] = parts->segments[at];
        parts->segments[at] = swap;
    }
    assert_int_equal(
        build_merge(&kind, parts->segments, n, NULL, &merged, NULL), CLEW_OK);
    for (size_t i = 0; i < n; i++) {
        segment_unref(parts->segments[i]);
    }
    parts->segments[0] = merged;
    for (size_t i = n; i < parts->count; i++) {
        parts->segments[i - n + 1] = parts->segments[i];
    }
    parts->count -= n - 1;
}

static void cut(struct parts *parts, size_t longest)
{
    size_t step;

    for (size_t at = 0; at < N_LOG; at += step) {
        step = (size_t)rand_below(longest) + 1;
        step = step < N_LOG - at ? step : N_LOG - at;
        add_part(parts, at, at + step);
        if (rand_below(8) == 0 || parts->count == MAX_PARTS) {
            merge_some(parts);
        }
    }
}

static void release(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        segment_unref(parts->segments[i]);
    }
    parts->count = 0;
}

static struct recall_result ask(struct parts *parts,
                                const struct recall_request *request)
{
    struct index_view view = {.segments = parts->segments,
                              .count = parts->count,
                              .dim = kind.dim,
                              .gists = OURS,
                              .centre = centre};
    struct recall_result result;

    assert_int_equal(
        recall_run(&view, embed_static(), &asked, request, &result, NULL),
        CLEW_OK);
    return result;
}

static void assert_same(const struct recall_result *a,
                        const struct recall_result *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->n_scanned, b->n_scanned);
    assert_int_equal(a->n_candidates, b->n_candidates);
    for (size_t i = 0; i < a->count; i++) {
        const struct recall_item *x = &a->items[i];
        const struct recall_item *y = &b->items[i];

        assert_int_equal(x->kind, y->kind);
        assert_memory_equal(&x->id, &y->id, sizeof(x->id));
        assert_memory_equal(&x->best_turn, &y->best_turn, sizeof(x->best_turn));
        assert_memory_equal(&x->score, &y->score, sizeof(x->score));
        assert_memory_equal(&x->parts, &y->parts, sizeof(x->parts));
    }
}

static const char *const questions[] = {
    "boat",     "Who painted the boat in Lisbon?",
    "today",    "the camera that he lost",
    "sailing",  "What was sold on 1 January 1970?",
    "4 ladder", "",
};
#define N_QUESTIONS (sizeof(questions) / sizeof(questions[0]))

/* Question `n` in one of several manners. */
static struct recall_request request_of(size_t n,
                                        const struct recall_line *lines)
{
    struct recall_request request = {.query = str_of(questions[n % 8]),
                                     .limit = 20,
                                     .since_ms = INT64_MIN,
                                     .until_ms = INT64_MAX,
                                     .at_ms = (int64_t)100 * 86400000};

    request.gist = n % 3 ? gists[n % N_GISTS] : NULL;
    request.user = n % 2 ? STR("ada") : (struct str){0};
    request.kinds = n / 8 % 3 == 1 ? RECALL_CHAT | RECALL_TURN : 0;
    if (n / 8 % 3 == 2) {
        request.lines = lines;
        request.n_lines = 3;
        request.user = (struct str){0};
    }
    if (n % 7 == 6) {
        request.until_ms = 9 * MINUTE_MS;
    }
    return request;
}

static void however_it_is_cut_the_answers_are_the_same(void **state)
{
    const struct recall_line lines[] = {{id_of("chat", 3), INT64_MAX},
                                        {id_of("chat", 30), 20},
                                        {id_of("chat", 77), INT64_MAX}};
    struct recall_result whole[3 * N_QUESTIONS];
    struct parts parts = {.count = 0};

    (void)state;
    add_part(&parts, 0, N_LOG); /* nothing in it was replaced */
    for (size_t i = 0; i < 3 * N_QUESTIONS; i++) {
        struct recall_request request = request_of(i, lines);

        whole[i] = ask(&parts, &request);
        assert_true(whole[i].count > 0);
    }
    for (size_t round = 0; round < 6; round++) {
        release(&parts);
        cut(&parts, round % 2 ? 2500 : 300);
        for (size_t i = 0; i < 3 * N_QUESTIONS; i++) {
            struct recall_request request = request_of(i, lines);
            struct recall_result result = ask(&parts, &request);

            assert_same(&whole[i], &result);
        }
    }
    release(&parts);
}

/* A word that very many have weighs what it does among those that are left:
 * half of what was replaced had it, of the others nearly all do. */
static void a_common_word_is_counted_without_what_was_replaced(void **state)
{
    enum { N = 80000, EVERY = 8, N_GONE = N / EVERY };
    struct index_term terms[] = {{index_term_hash(STR("kettl")), 2},
                                 {index_term_hash(STR("boat")), 2}};
    struct index_doc *many = arena_zero(&arena, N + N_GONE, sizeof(*many));
    const struct index_doc **refs =
        arena_zero(&arena, N + N_GONE, sizeof(*refs));
    struct recall_request request = request_of(0, NULL);
    struct parts parts = {.count = 0};
    struct recall_result before;
    struct recall_result after;

    (void)state;
    request.query = STR("boat kettle");
    for (size_t n = 0; n < N + N_GONE; n++) {
        size_t row = n < N ? n : (n - N) * EVERY;

        many[n].kind = INDEX_TURN;
        many[n].id = id_of("doc", row);
        many[n].chat = id_of("chat", row / PER_CHAT);
        many[n].user = STR("ada");
        many[n].seq = (int64_t)row;
        many[n].length = 5;
        many[n].terms = terms + (row % 11 > 0);
        many[n].n_terms = row % (2 * EVERY) == 0 ? 0 : 1 + (row % 11 == 0);
        many[n].change_seq = (int64_t)n + 1;
        refs[n] = &many[n];
    }
    add_segment(&parts, refs, N);
    for (size_t n = N; n < N + N_GONE; n++) {
        remove_from(&parts, &many[n].id);
    }
    add_segment(&parts, refs + N, N_GONE);
    before = ask(&parts, &request);
    while (parts.count > 1) {
        merge_some(&parts);
    }
    after = ask(&parts, &request);
    assert_same(&before, &after);
    release(&parts);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(however_it_is_cut_the_answers_are_the_same),
        TEST(a_common_word_is_counted_without_what_was_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
