/* SPDX-License-Identifier: Apache-2.0 */
/* What the index is fed: the same documents at commit and from the tables. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/feed/feed.h"
#include "engine/feed/feed_kind.h"
#include "index/doc.h"

static size_t load(int64_t after, size_t max, struct index_doc **out_docs,
                   int64_t *out_through)
{
    size_t count = 0;

    assert_int_equal(feed_load(talk.world.engine.feed, talk.world.scope.tenant,
                               after, max, &talk.world.arena, out_docs, &count,
                               out_through, NULL),
                     CLEW_OK);
    return count;
}

static void rows_come_in_the_order_of_their_changes(void **state)
{
    struct index_doc *docs = NULL;
    int64_t through = 0;
    size_t by_kind[INDEX_KINDS] = {0};
    size_t n;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name."
                       "|u:I live in Oslo|a:Nice.");
    n = load(0, 100, &docs, &through);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || docs[i].change_seq > docs[i - 1].change_seq);
        assert_true(docs[i].change_seq <= through);
        assert_non_null(docs[i].vector);
        assert_true(docs[i].kind < INDEX_KINDS);
        by_kind[docs[i].kind]++;
    }
    assert_int_equal(by_kind[INDEX_TURN], 4);
    assert_true(by_kind[INDEX_MEMORY] >= 2);
}

static void pieces_of_it_make_the_whole(void **state)
{
    struct index_doc *all = NULL;
    int64_t end = 0;
    int64_t at = 0;
    size_t seen = 0;
    size_t n;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name."
                       "|u:I live in Oslo|a:Nice.|u:I work at Acme|a:Ok.");
    n = load(0, 1000, &all, &end);
    for (int i = 0; i < 100 && at < end; i++) {
        struct index_doc *docs = NULL;
        int64_t through = 0;
        size_t count = load(at, 2, &docs, &through);

        assert_true(through > at);
        for (size_t k = 0; k < count; k++) {
            assert_true(seen < n);
            assert_true(uuid_eq(&docs[k].id, &all[seen].id));
            assert_int_equal(docs[k].change_seq, all[seen].change_seq);
            seen++;
        }
        at = through;
    }
    assert_int_equal(seen, n);
}

static void the_table_of_kinds_is_whole(void **state)
{
    (void)state;
    for (size_t k = 0; k < INDEX_KINDS; k++) {
        const struct feed_kind *kind = &feed_kinds[k];

        assert_non_null(kind->name);
        assert_true(kind->id_at < kind->size && kind->change_at < kind->size);
        assert_non_null(kind->list_changes);
        assert_non_null(kind->find_many);
        assert_non_null(kind->text);
        assert_non_null(kind->doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_come_in_the_order_of_their_changes,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(pieces_of_it_make_the_whole, open_talk,
                                        close_talk),
        cmocka_unit_test(the_table_of_kinds_is_whole),
    };

    return WORLD_EACH(tests);
}
