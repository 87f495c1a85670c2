/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_recall_gist.c - turns are found by what the reader made of them, in reach
 * only, however the index is cut; gists of another reader say nothing.
 */
#include "support/doc_list.h"
#include "support/test.h"

#include "base/arena.h"
#include "index/build.h"
#include "index/view.h"
#include "model/reader.h"
#include "recall/recall.h"

#define N_DOCS 3000 /* more than are all scored */
#define PER_CHAT 10
#define WANTED 1234
#define OURS 7

static struct arena arena;
static struct index_doc docs[N_DOCS];
static int8_t gists[N_DOCS][INDEX_GIST_DIM];
static struct doc_list list = {.docs = docs, .count = N_DOCS};

/* A direction of its own for each. */
static void place(size_t n)
{
    uint32_t state = (uint32_t)n * 2654435761u + 1;

    for (size_t i = 0; i < INDEX_GIST_DIM; i++) {
        state = state * 1664525u + 1013904223u;
        gists[n][i] = (int8_t)((int)(state >> 24) % 61 - 30);
    }
}

static int set_up(void **state)
{
    struct uuid nil = {{0}};

    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    list.step = 0;
    memset(docs, 0, sizeof(docs));
    for (size_t n = 0; n < N_DOCS; n++) {
        place(n);
        docs[n].kind = INDEX_TURN;
        docs[n].id = uuid_derive((int64_t)n, &nil, "turn", n);
        docs[n].chat = uuid_derive(0, &nil, "chat", n / PER_CHAT);
        docs[n].user = n < N_DOCS / 2 ? STR("ada") : STR("bob");
        docs[n].seq = (int64_t)n;
        docs[n].length = 5;
        docs[n].created_at_ms = (int64_t)n * 60000;
        docs[n].change_seq = (int64_t)n + 1;
        docs[n].gist = n % 3 == 2 ? NULL : gists[n]; /* some are not read */
    }
    assert_non_null(docs[WANTED].gist);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct index_set *open_set(void)
{
    struct index_options options = {
        .model = "m", .gists = OURS, .source = doc_list_source(&list)};
    struct index_set *set = NULL;

    assert_int_equal(index_set_open(&options, &set, NULL), CLEW_OK);
    return set;
}

/* As near as can be to what is wanted, in words that nothing has. */
static struct recall_request request_for(const int8_t *gist)
{
    return (struct recall_request){.query = STR("zyzzyva"),
                                   .user = STR("ada"),
                                   .kinds = RECALL_TURN,
                                   .limit = 20,
                                   .since_ms = INT64_MIN,
                                   .until_ms = INT64_MAX,
                                   .at_ms = INT64_MAX,
                                   .gist = gist};
}

static struct recall_result ask(const struct recall_request *request)
{
    struct index_set *set = open_set();
    struct index_view *view = NULL;
    struct recall_result result;

    assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
    assert_int_equal(recall_run(view, NULL, &arena, request, &result, NULL),
                     CLEW_OK);
    index_view_close(view);
    index_set_close(set);
    return result;
}

static bool has_wanted(const struct recall_result *result)
{
    for (size_t i = 0; i < result->count; i++) {
        if (uuid_eq(&result->items[i].id, &docs[WANTED].id)) {
            return true;
        }
    }
    return false;
}

static void a_turn_is_found_by_its_gist_alone(void **state)
{
    struct recall_request request = request_for(gists[WANTED]);
    struct recall_result result = ask(&request);

    (void)state;
    assert_true(result.count > 1);
    assert_true(uuid_eq(&result.items[0].id, &docs[WANTED].id));
    assert_true(result.items[0].parts.gist > result.items[1].parts.gist);
    assert_true(result.items[0].score > result.items[1].score);
    request.gist = NULL;
    result = ask(&request);
    assert_false(has_wanted(&result));
}

static void only_what_is_in_reach_is_found(void **state)
{
    struct recall_line line = {docs[0].chat, INT64_MAX};
    struct recall_request request = request_for(gists[WANTED]);
    struct recall_result result;

    (void)state;
    request.user = STR("bob");
    result = ask(&request);
    assert_false(has_wanted(&result));
    request = request_for(gists[WANTED]);
    request.until_ms = docs[WANTED].created_at_ms;
    result = ask(&request);
    assert_false(has_wanted(&result));
    request = request_for(gists[WANTED]);
    request.at_ms = docs[WANTED].created_at_ms - 1;
    result = ask(&request);
    assert_false(has_wanted(&result));
    request = request_for(gists[WANTED]);
    request.lines = &line;
    request.n_lines = 1;
    result = ask(&request);
    assert_false(has_wanted(&result));
    request = request_for(gists[WANTED]);
    request.since_ms = docs[WANTED].created_at_ms;
    result = ask(&request);
    assert_true(has_wanted(&result));
}

static void however_it_is_cut_the_answer_is_the_same(void **state)
{
    struct recall_request request = request_for(gists[WANTED]);
    struct recall_result whole = ask(&request);
    struct recall_result cut;

    (void)state;
    list.step = 37;
    cut = ask(&request);
    assert_int_equal(whole.count, cut.count);
    for (size_t i = 0; i < whole.count; i++) {
        assert_true(uuid_eq(&whole.items[i].id, &cut.items[i].id));
        assert_memory_equal(&whole.items[i].score, &cut.items[i].score,
                            sizeof(cut.items[i].score));
    }
}

static struct segment *made_by(uint64_t who, size_t from, size_t count)
{
    struct segment_kind kind = {.model = 1, .analyser = 1, .gists = who};
    const struct index_doc *refs[N_DOCS];
    struct segment *out = NULL;

    for (size_t i = 0; i < count; i++) {
        refs[i] = &docs[from + i];
    }
    assert_int_equal(build_docs(&kind, refs, count, &out, NULL), CLEW_OK);
    return out;
}

/* Of two segments, the first by another reader, as `who` merges them. */
static uint32_t n_left(uint64_t who, uint64_t *out_by)
{
    struct segment_kind kind = {.model = 1, .analyser = 1, .gists = who};
    struct segment *parts[] = {made_by(5, 0, 30), made_by(OURS, 30, 60)};
    struct segment *merged = NULL;
    uint32_t n;

    assert_int_equal(parts[0]->head->n_gists, 20);
    assert_int_equal(parts[1]->head->n_gists, 40);
    assert_int_equal(build_merge(&kind, parts, 2, NULL, &merged, NULL),
                     CLEW_OK);
    n = merged->head->n_gists;
    *out_by = merged->head->gists;
    for (uint32_t i = 0; i < merged->head->n_docs; i++) {
        const int8_t *gist = segment_gist_of(merged, i);
        size_t at = (size_t)merged->docs[i].seq;

        assert_true(!gist || docs[at].gist);
        if (gist) {
            assert_memory_equal(gist, gists[at], INDEX_GIST_DIM);
        }
    }
    segment_unref(merged);
    segment_unref(parts[0]);
    segment_unref(parts[1]);
    return n;
}

static void merging_keeps_the_gists_of_one_reader(void **state)
{
    uint64_t by;

    (void)state;
    assert_int_equal(n_left(OURS, &by), 40);
    assert_int_equal(by, OURS);
    assert_int_equal(n_left(9, &by), 0);
    assert_int_equal(by, 0);
    /* where nobody reads, what is there stays */
    assert_int_equal(n_left(0, &by), 20);
    assert_int_equal(by, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_turn_is_found_by_its_gist_alone),
        TEST(only_what_is_in_reach_is_found),
        TEST(however_it_is_cut_the_answer_is_the_same),
        TEST(merging_keeps_the_gists_of_one_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
