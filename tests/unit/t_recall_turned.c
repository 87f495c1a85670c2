/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_recall_turned.c - turns are found by the question's turned vector, chats by
 * the plain one, whatever else is asked for.
 */
#include "support/doc_list.h"
#include "support/test.h"

#include "base/arena.h"
#include "index/doc.h"
#include "model/embed.h"
#include "model/embed_static.h"
#include "model/static_kernels.h"
#include "recall/recall.h"

#define N_DOCS 48
#define PER_CHAT 6

static struct arena arena;
static struct index_doc docs[N_DOCS];
static struct doc_list list = {.docs = docs, .count = N_DOCS};
static struct index_set *set;
/* Over the same weights, but not the shipped one: nothing turns its vectors. */
static struct embedder *plain;

static void say(size_t n)
{
    static const char *const what[] = {"the keys",   "a bicycle", "her guitar",
                                       "the ladder", "a kettle",  "the tent"};
    static const char *const where[] = {
        "under the pot by the door", "in the garage", "at the market in Lisbon",
        "with the neighbours", "near the lake"};
    static const char *const did[] = {"left", "sold", "mended", "lost"};
    struct uuid nil = {{0}};
    struct analysis_options options = {.time_ms = (int64_t)n * 60000};
    struct analysis analysis;
    struct str text = str_of(arena_printf(&arena, "%s %s %s", did[n % 4],
                                          what[n % 6], where[n % 5]));
    float *vector = arena_zero(&arena, embed_static()->dim, sizeof(*vector));

    memset(&docs[n], 0, sizeof(docs[n]));
    assert_int_equal(analysis_run(&arena, text, &options, &analysis, NULL),
                     CLEW_OK);
    assert_int_equal(doc_fill(&arena, &analysis, STR(""), &docs[n], NULL),
                     CLEW_OK);
    assert_int_equal(embed_run(embed_static(), &text, 1, vector, NULL),
                     CLEW_OK);
    docs[n].kind = INDEX_TURN;
    docs[n].id = uuid_derive((int64_t)n, &nil, "turn", n);
    docs[n].chat = uuid_derive(0, &nil, "chat", n / PER_CHAT);
    docs[n].user = STR("u");
    docs[n].seq = (int64_t)n;
    docs[n].created_at_ms = options.time_ms;
    docs[n].change_seq = (int64_t)n + 1;
    docs[n].vector = vector;
}

static int set_up(void **state)
{
    static float centre[EMBED_MAX_DIM];
    struct index_options options = {.model = "m",
                                    .dim = embed_static()->dim,
                                    .centre = centre,
                                    .source = doc_list_source(&list)};

    (void)state;
    arena_init(&arena, (size_t)1 << 28);
    for (size_t n = 0; n < N_DOCS; n++) {
        say(n);
    }
    if (!embed_centre(embed_static(), centre) ||
        embed_static_new(embed_static_file(), static_kernels(), &plain, NULL) !=
            CLEW_OK) {
        return -1;
    }
    return index_set_open(&options, &set, NULL) == CLEW_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    index_set_close(set);
    embed_free(plain);
    arena_release(&arena);
    return 0;
}

static struct recall_result ask(struct embedder *embedder, uint32_t kinds,
                                struct str lent)
{
    struct recall_request request = {.query = STR("where did she put her keys"),
                                     .user = STR("u"),
                                     .kinds = kinds,
                                     .limit = 100,
                                     .since_ms = INT64_MIN,
                                     .until_ms = INT64_MAX,
                                     .at_ms = INT64_MAX,
                                     .lent = lent};
    struct recall_result result;
    struct index_view *view = NULL;

    assert_int_equal(index_view_open(set, 1, &view, NULL), CLEW_OK);
    assert_int_equal(
        recall_run(view, embedder, &arena, &request, &result, NULL), CLEW_OK);
    index_view_close(view);
    return result;
}

static void assert_same(const struct recall_item *a,
                        const struct recall_item *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].kind, b[i].kind);
        assert_true(uuid_eq(&a[i].id, &b[i].id));
        assert_memory_equal(&a[i].score, &b[i].score, sizeof(a[i].score));
    }
}

static void chats_are_ranked_by_the_plain_vector(void **state)
{
    static const struct str lent[] = {{"", 0}, {"the old door", 12}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct recall_result a = ask(embed_static(), RECALL_CHAT, lent[i]);
        struct recall_result b = ask(plain, RECALL_CHAT, lent[i]);

        assert_int_equal(a.count, N_DOCS / PER_CHAT);
        assert_int_equal(b.count, a.count);
        assert_int_equal(a.n_scanned, N_DOCS);
        assert_same(a.items, b.items, a.count);
    }
}

static void turns_are_ranked_by_the_turned_one(void **state)
{
    struct recall_result a = ask(embed_static(), RECALL_TURN, STR(""));
    struct recall_result b = ask(plain, RECALL_TURN, STR(""));
    size_t n_other = 0;

    (void)state;
    assert_int_equal(a.count, N_DOCS);
    assert_int_equal(b.count, N_DOCS);
    for (size_t i = 0; i < a.count; i++) {
        for (size_t k = 0; k < b.count; k++) {
            n_other += uuid_eq(&a.items[i].id, &b.items[k].id) &&
                       (a.items[i].parts.vector < b.items[k].parts.vector ||
                        a.items[i].parts.vector > b.items[k].parts.vector);
        }
    }
    assert_true(n_other > N_DOCS / 2);
}

static void asked_for_together_each_is_as_it_is_alone(void **state)
{
    struct recall_result turns = ask(embed_static(), RECALL_TURN, STR(""));
    struct recall_result chats = ask(embed_static(), RECALL_CHAT, STR(""));
    struct recall_result both =
        ask(embed_static(), RECALL_TURN | RECALL_CHAT, STR(""));
    size_t t = 0;
    size_t c = 0;

    (void)state;
    assert_int_equal(both.count, turns.count + chats.count);
    assert_int_equal(both.n_scanned, turns.n_scanned);
    assert_int_equal(both.n_candidates, turns.n_candidates);
    for (size_t i = 0; i < both.count; i++) {
        const struct recall_item *alone = both.items[i].kind == RECALL_CHAT
                                              ? &chats.items[c++]
                                              : &turns.items[t++];

        assert_same(&both.items[i], alone, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chats_are_ranked_by_the_plain_vector),
        cmocka_unit_test(turns_are_ranked_by_the_turned_one),
        cmocka_unit_test(asked_for_together_each_is_as_it_is_alone),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
