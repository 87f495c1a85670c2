/* SPDX-License-Identifier: Apache-2.0 */
/* Search: rows for what recall ranks, lineage, and the walls around it. */
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/ask/search.h"
#include "engine/memory/memory.h"

static struct search_result find(const struct scope *scope,
                                 struct search_query query,
                                 enum clew_status expected)
{
    struct search_result result = {0};

    query.limit = query.limit ? query.limit : 10;
    query.since_ms = INT64_MIN;
    query.until_ms = INT64_MAX;
    query.at_ms = INT64_MAX;
    assert_int_equal(search_run(&talk.world.engine, scope, &talk.world.arena,
                                &query, &result, NULL),
                     expected);
    return result;
}

static void a_hit_has_its_row_and_its_lines(void **state)
{
    struct search_result found;

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    found = find(
        &talk.world.scope,
        (struct search_query){.query = STR("Zebulon"), .kinds = RECALL_TURN},
        CLEW_OK);
    assert_true(found.count > 0);
    assert_non_null(found.hits[0].turn);
    assert_null(found.hits[0].memory);
    assert_true(str_eq(found.hits[0].text, STR("My dog is called Zebulon")));
    assert_non_null(found.hits[0].source_ref.s);
    assert_non_null(strstr(found.hits[0].source_ref.s, ":lines-1"));
}

static void a_newer_statement_stands_for_the_older(void **state)
{
    struct search_result found;
    bool is_seen = false;

    (void)state;
    talk_script(&talk, "u:I live in Berlin|a:nice"
                       "|u:I live in Hamburg now|a:noted");
    found = find(&talk.world.scope,
                 (struct search_query){.query = STR("where do I live"),
                                       .kinds = RECALL_MEMORY},
                 CLEW_OK);
    for (size_t i = 0; i < found.count; i++) {
        const struct search_hit *hit = &found.hits[i];

        assert_non_null(hit->memory);
        if (strstr(hit->text.s, "Berlin")) {
            assert_true(hit->is_superseded);
            assert_false(uuid_is_nil(&hit->refined_by));
        } else {
            is_seen = true;
            assert_false(hit->is_superseded);
        }
    }
    assert_true(is_seen);
}

static void nothing_crosses_the_walls(void **state)
{
    struct uuid unknown = {{7}};

    (void)state;
    talk_script(&talk, "u:My dog is called Zebulon|a:A fine name.");
    assert_int_equal(find(&talk.world.other,
                          (struct search_query){.query = STR("Zebulon")},
                          CLEW_OK)
                         .count,
                     0);
    assert_int_equal(find(&talk.world.scope,
                          (struct search_query){.query = STR("Zebulon"),
                                                .user_id = STR("bob")},
                          CLEW_OK)
                         .count,
                     0);
    (void)find(
        &talk.world.scope,
        (struct search_query){.query = STR("Zebulon"), .chat_id = unknown},
        CLEW_NOT_FOUND);
    (void)find(
        &talk.world.other,
        (struct search_query){.query = STR("Zebulon"), .chat_id = talk.chat_id},
        CLEW_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_hit_has_its_row_and_its_lines,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(a_newer_statement_stands_for_the_older,
                                        open_talk, close_talk),
        cmocka_unit_test_setup_teardown(nothing_crosses_the_walls, open_talk,
                                        close_talk),
    };

    return WORLD_EACH(tests);
}
