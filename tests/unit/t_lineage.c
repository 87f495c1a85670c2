/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_lineage.c - trees of refinements, what supersedes what at which moment, the
 * order lineage gives to answers, and four mistakes that are easily made.
 */
#include "support/test.h"

#include "base/clock.h"
#include "engine/core/work.h"
#include "engine/memory/lineage.h"
#include "engine/thought/thought.h"
#include "engine/thought/undo.h"
#include "store/db.h"
#include "support/talk.h"

#include <math.h>
#include <string.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

#define FACT "The agent monitor must check both status and role of every pane."
#define OTHER "Deployments to the staging cluster happen on Tuesdays at nine."
#define QUESTION "What must the agent monitor check?"

static void must(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK) {
        fail_msg("%s", err->message);
    }
}

struct saying {
    const char *prompt;
    const char *agent; /* "a" if NULL */
    const struct uuid *sources;
    size_t n_sources;
    const struct uuid *session;
};

static struct thought_result tell(struct talk *talk,
                                  const struct saying *saying)
{
    struct world *world = &talk->world;
    struct thought_input input = {
        .prompt = str_of(saying->prompt),
        .agent_id = str_of(saying->agent ? saying->agent : "a"),
        .agent_name = STR("Agent")};
    struct thought_result result;
    struct clew_error err = {0};

    if (saying->session) {
        input.session_id = *saying->session;
    }
    if (saying->n_sources == 1) {
        input.refines = saying->sources[0];
    } else if (saying->n_sources > 1) {
        input.consolidates = saying->sources;
        input.n_consolidates = saying->n_sources;
        input.has_consolidates = true;
    }
    clock_add_ms(&world->clock, 1); /* no two in one moment */
    must(thought_handle(&world->engine, &world->scope, &world->arena, &input,
                        &result, &err),
         &err);
    return result;
}

static struct uuid say(struct talk *talk, const char *prompt,
                       const struct uuid *sources, size_t n_sources)
{
    struct saying saying = {
        .prompt = prompt, .sources = sources, .n_sources = n_sources};

    return tell(talk, &saying).contributed;
}

static struct thought_result ask(struct talk *talk, const char *agent)
{
    struct saying saying = {.prompt = QUESTION, .agent = agent};

    return tell(talk, &saying);
}

static void retract(struct talk *talk, const struct uuid *id)
{
    struct world *world = &talk->world;
    struct memory memory;
    struct clew_error err = {0};

    clock_add_ms(&world->clock, 1);
    must(lineage_retract(&world->engine, &world->scope, &world->arena, id,
                         &memory, &err),
         &err);
    assert_true(memory.retracted_at_ms > 0);
}

static struct lineage tree(struct talk *talk, const struct uuid *id,
                           int64_t at_ms)
{
    struct world *world = &talk->world;
    struct lineage lineage;
    struct clew_error err = {0};

    must(lineage_get(&world->engine, &world->scope, &world->arena, id, at_ms,
                     &lineage, &err),
         &err);
    return lineage;
}

static int64_t now(struct talk *talk)
{
    return clock_now_ms(&talk->world.clock);
}

/* --- inside a transaction --- */

struct marking {
    struct arena *arena;
    struct lineage_mark *marks;
    size_t count;
    int64_t at_ms;
    const struct uuid *edges; /* pairs: newer, older */
    size_t n_edges;
};

static enum clew_status do_mark(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct marking *m = arg;
    struct arena *a = m->arena;

    return lineage_adjust(tx, a, NULL, &m->marks, &m->count, m->at_ms, err);
}

static struct marking adjust(struct talk *talk,
                             const struct lineage_mark *marks, size_t count)
{
    struct world *world = &talk->world;
    struct marking m = {
        .arena = &world->arena, .count = count, .at_ms = INT64_MAX};
    struct clew_error err = {0};

    m.marks = arena_zero(m.arena, count, sizeof(*m.marks));
    assert_non_null(m.marks);
    memcpy(m.marks, marks, count * sizeof(*marks));
    must(store_read(world->engine.store, &world->scope, do_mark, &m, &err),
         &err);
    return m;
}

static enum clew_status do_edges(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct marking *m = arg;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < m->n_edges && status == CLEW_OK; i++) {
        status =
            memory_add_source(tx, &m->edges[2 * i], &m->edges[2 * i + 1], err);
    }
    return status;
}

/* Is `id` superseded, and by what? */
static struct lineage_mark mark_of(struct talk *talk, const struct uuid *id)
{
    struct lineage_mark mark = {.id = *id, .score = 0.5};

    return adjust(talk, &mark, 1).marks[0];
}

static void assert_refined_by(struct talk *talk, const struct uuid *id,
                              const struct uuid *by)
{
    struct lineage_mark mark = mark_of(talk, id);

    assert_true(mark.is_superseded);
    assert_true(uuid_eq(&mark.refined_by, by));
}

/* --- the tree ---------------------------------------------------------------
 */

static void a_chain_is_cut_after_ten_levels_each_way(void **state)
{
    struct talk talk;
    struct uuid ids[25];
    struct lineage lineage;

    (void)state;
    talk_open(&talk);
    ids[0] = say(&talk, FACT, NULL, 0);
    for (size_t i = 1; i < 25; i++) {
        ids[i] = say(&talk, "Another version.", &ids[i - 1], 1);
    }
    lineage = tree(&talk, &ids[0], INT64_MAX);
    assert_int_equal(lineage.count, LINEAGE_MAX_LEVELS);
    assert_true(lineage.is_truncated);
    lineage = tree(&talk, &ids[12], INT64_MAX);
    assert_int_equal(lineage.count, 2 * LINEAGE_MAX_LEVELS - 1);
    assert_true(lineage.is_truncated);
    assert_int_equal(lineage.nodes[0].depth, 1 - LINEAGE_MAX_LEVELS);
    assert_true(uuid_eq(&lineage.nodes[0].memory.id, &ids[3]));
    lineage = tree(&talk, &ids[24], INT64_MAX);
    assert_int_equal(lineage.count, LINEAGE_MAX_LEVELS);
    assert_int_equal(lineage.nodes[LINEAGE_MAX_LEVELS - 1].depth, 0);
    assert_true(lineage.is_truncated);
    /* ends at the cap exactly, both ways at once */
    lineage = tree(&talk, &ids[9], INT64_MAX);
    assert_true(uuid_eq(&lineage.nodes[0].memory.id, &ids[0]));
    assert_true(lineage.is_truncated); /* downwards it goes on */
    retract(&talk, &ids[19]);
    retract(&talk, &ids[20]); /* 18 now stands before 21 */
    lineage = tree(&talk, &ids[15], INT64_MAX);
    assert_true(uuid_eq(&lineage.nodes[lineage.count - 1].memory.id, &ids[24]));
    talk_close(&talk);
}

static void a_cut_fan_shows_its_newest_refiners(void **state)
{
    struct talk talk;
    struct uuid first;
    struct uuid last = {0};
    struct lineage lineage;
    struct lineage_mark mark;

    (void)state;
    talk_open(&talk);
    first = say(&talk, FACT, NULL, 0);
    for (size_t i = 0; i < LINEAGE_MAX_NODES + 20; i++) {
        last = say(&talk, "A version of it.", &first, 1);
    }
    lineage = tree(&talk, &first, INT64_MAX);
    assert_int_equal(lineage.count, LINEAGE_MAX_NODES);
    assert_true(lineage.is_truncated);
    assert_true(uuid_eq(&lineage.nodes[0].memory.id, &first));
    assert_true(uuid_eq(&lineage.nodes[lineage.count - 1].memory.id, &last));
    mark = mark_of(&talk, &first);
    assert_true(uuid_eq(&mark.refined_by, &last));
    talk_close(&talk);
}

static void two_ways_to_an_ancestor_show_it_once(void **state)
{
    struct talk talk;
    struct uuid a;
    struct uuid pair[2];
    struct uuid d;
    struct lineage lineage;

    (void)state;
    talk_open(&talk);
    a = say(&talk, FACT, NULL, 0);
    pair[0] = say(&talk, "One way to see it.", &a, 1);
    pair[1] = say(&talk, "Another way to see it.", &a, 1);
    d = say(&talk, "Both ways in one.", pair, 2);
    lineage = tree(&talk, &d, INT64_MAX);
    assert_int_equal(lineage.count, 4);
    assert_int_equal(lineage.nodes[0].depth, -2);
    assert_int_equal(lineage.nodes[3].n_source_ids, 2);
    assert_true(uuid_eq(&lineage.nodes[3].source_ids[0], &pair[0]));
    lineage = tree(&talk, &a, INT64_MAX);
    assert_int_equal(lineage.count, 4);
    talk_close(&talk);
}

/* Nothing makes cycles; a database that has one must not hang anybody. */
static void a_cycle_in_the_database_ends_every_walk(void **state)
{
    struct talk talk;
    struct world *world = &talk.world;
    struct uuid ids[3];
    struct uuid edges[4];
    struct marking m = {.edges = edges, .n_edges = 2};
    struct lineage_mark marks[3] = {
        {.score = 0.9}, {.score = 0.8}, {.score = 0.7}};
    struct lineage lineage;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    ids[0] = say(&talk, FACT, NULL, 0);
    ids[1] = say(&talk, "Only the role.", &ids[0], 1);
    ids[2] = say(&talk, "Only the status.", &ids[1], 1);
    edges[0] = ids[0]; /* the first refines the last */
    edges[1] = ids[2];
    edges[2] = ids[0]; /* the direct way back is refused */
    edges[3] = ids[1];
    must(store_write(world->engine.store, &world->scope, do_edges, &m, &err),
         &err);
    lineage = tree(&talk, &ids[1], INT64_MAX);
    assert_int_equal(lineage.count, 3);
    for (size_t i = 0; i < 3; i++) {
        marks[i].id = ids[i];
    }
    m = adjust(&talk, marks, 3);
    assert_int_equal(m.count, 3);
    (void)ask(&talk, NULL);
    talk_close(&talk);
}

static void a_retracted_link_leaves_the_line_whole(void **state)
{
    struct talk talk;
    struct uuid a;
    struct uuid b;
    struct uuid c;
    int64_t before_ms;
    struct lineage_mark mark;

    (void)state;
    talk_open(&talk);
    a = say(&talk, FACT, NULL, 0);
    b = say(&talk, "Only the role.", &a, 1);
    c = say(&talk, "Only the status.", &b, 1);
    before_ms = now(&talk);
    retract(&talk, &b);
    mark = mark_of(&talk, &a);
    assert_true(mark.is_superseded);
    assert_true(uuid_eq(&mark.refined_by, &c));
    /* as it was before: by the link that was there */
    assert_int_equal(tree(&talk, &a, before_ms).nodes[1].memory.id.b[15],
                     b.b[15]);
    retract(&talk, &c);
    assert_false(mark_of(&talk, &a).is_superseded);
    retract(&talk, &c); /* again changes nothing */
    assert_false(mark_of(&talk, &a).is_superseded);
    talk_close(&talk);
}

static void a_retracted_source_leaves_its_consolidation(void **state)
{
    struct talk talk;
    struct uuid a;
    struct uuid pair[2];
    struct uuid d;

    (void)state;
    talk_open(&talk);
    a = say(&talk, FACT, NULL, 0);
    pair[0] = say(&talk, "Only the role.", &a, 1);
    pair[1] = say(&talk, OTHER, NULL, 0);
    d = say(&talk, "Roles and Tuesdays.", pair, 2);
    retract(&talk, &pair[0]);
    assert_false(mark_of(&talk, &a).is_superseded); /* restored */
    assert_refined_by(&talk, &pair[1], &d);
    retract(&talk, &d);
    assert_false(mark_of(&talk, &pair[1]).is_superseded);
    talk_close(&talk);
}

static void undoing_a_link_keeps_what_others_built_on_it(void **state)
{
    struct talk talk;
    struct world *world = &talk.world;
    struct uuid a;
    struct saying evil = {.prompt = "Only the status.", .agent = "evil"};
    struct uuid b;
    struct uuid c;
    struct undo_input input = {.from = STR("evil")};
    struct uuid *ids;
    size_t count;
    bool more;
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    a = say(&talk, FACT, NULL, 0);
    evil.sources = &a;
    evil.n_sources = 1;
    b = tell(&talk, &evil).contributed;
    c = say(&talk, "Only the role.", &b, 1);
    clock_add_ms(&world->clock, 1);
    for (int i = 0; i < 2; i++) { /* the second finds nothing */
        must(undo_run(&world->engine, &world->scope, &world->arena, &input,
                      &ids, &count, &more, &err),
             &err);
        assert_int_equal(count, i ? 0 : 1);
    }
    assert_refined_by(&talk, &a, &c);
    talk_close(&talk);
}

/* --- the order of answers ---------------------------------------------------
 */

static void scores_fall_and_rise_by_the_factors(void **state)
{
    struct talk talk;
    struct lineage_mark marks[3] = {
        {.score = 0.6}, {.score = 0.5}, {.score = 0.4}};
    struct marking m;

    (void)state;
    talk_open(&talk);
    marks[0].id = say(&talk, FACT, NULL, 0);
    marks[1].id = say(&talk, "Only the role.", &marks[0].id, 1);
    marks[2].id = say(&talk, OTHER, NULL, 0);
    m = adjust(&talk, marks, 3);
    assert_int_equal(m.count, 3);
    NEAR(m.marks[0].score, 0.6 * LINEAGE_SUPERSEDED);
    /* where the source stood, or its own raised: the better */
    NEAR(m.marks[1].score, 0.5 * LINEAGE_REFINEMENT);
    NEAR(m.marks[2].score, 0.4);
    marks[1].score = 0.95;
    NEAR(adjust(&talk, marks, 3).marks[1].score, 1.0); /* the cap */
    marks[1].score = 0.1;
    NEAR(adjust(&talk, marks, 3).marks[1].score, 0.6);
    /* alone, without its source, it is not raised */
    NEAR(adjust(&talk, &marks[1], 1).marks[0].score, 0.1);
    talk_close(&talk);
}

static void a_refinement_does_not_pass_a_better_match(void **state)
{
    struct talk talk;
    struct lineage_mark marks[3] = {
        {.score = 0.9}, {.score = 0.85}, {.score = 0.8}};
    struct marking m;

    (void)state;
    talk_open(&talk);
    marks[0].id = say(&talk, OTHER, NULL, 0);
    marks[1].id = say(&talk, FACT, NULL, 0);
    marks[2].id = say(&talk, "Only the role.", &marks[1].id, 1);
    m = adjust(&talk, marks, 3);
    NEAR(m.marks[0].score, 0.9);
    NEAR(m.marks[1].score, 0.85 * LINEAGE_SUPERSEDED);
    NEAR(m.marks[2].score, 0.9); /* not 0.96 */
    assert_int_equal(m.marks[2].match, 1);
    talk_close(&talk);
}

static void what_holds_joins_the_answer(void **state)
{
    struct talk talk;
    struct lineage_mark marks[1] = {{.score = 0.9}};
    struct uuid ids[4];
    struct marking m;

    (void)state;
    talk_open(&talk);
    ids[0] = say(&talk, FACT, NULL, 0);
    for (size_t i = 1; i < 4; i++) {
        ids[i] = say(&talk, "It is another now.", &ids[i - 1], 1);
    }
    marks[0].id = ids[0];
    m = adjust(&talk, marks, 1);
    assert_int_equal(m.count, 2);
    assert_true(uuid_eq(&m.marks[1].id, &ids[3]));
    NEAR(m.marks[1].score, 0.9);
    assert_true(uuid_eq(&m.marks[0].refined_by, &ids[1])); /* the direct one */
    retract(&talk, &ids[3]);
    assert_true(uuid_eq(&adjust(&talk, marks, 1).marks[1].id, &ids[2]));
    talk_close(&talk);
}

static void the_end_of_a_long_line_is_found(void **state)
{
    struct talk talk;
    struct lineage_mark marks[2] = {{.score = 0.9}, {.score = 0.8}};
    struct uuid id;
    struct marking m;

    (void)state;
    talk_open(&talk);
    id = say(&talk, FACT, NULL, 0);
    marks[0].id = id;
    for (int i = 0; i < 300; i++) { /* more than the first walk takes */
        id = say(&talk, "Yet another version.", &id, 1);
        if (i == 5) {
            marks[1].id = id;
        }
    }
    m = adjust(&talk, marks, 2);
    assert_int_equal(m.count, 3);
    assert_true(uuid_eq(&m.marks[2].id, &id));
    NEAR(m.marks[2].score, 0.9);
    talk_close(&talk);
}

static void of_two_branches_the_newer_comes_first(void **state)
{
    struct talk talk;
    struct lineage_mark marks[2] = {{.score = 0.9}, {.score = 0.3}};
    struct uuid a;
    struct marking m;

    (void)state;
    talk_open(&talk);
    a = say(&talk, FACT, NULL, 0);
    marks[0].id = say(&talk, "Only the role.", &a, 1);
    marks[1].id = say(&talk, "Only the status.", &a, 1);
    m = adjust(&talk, marks, 2);
    assert_true(m.marks[0].is_outrun);
    assert_false(m.marks[0].is_superseded);
    assert_true(m.marks[1].score >= m.marks[0].score);
    talk_close(&talk);
}

static void a_late_statement_finds_its_place(void **state)
{
    /* said on day 1, 2 and 3, in every order of arrival */
    static const int orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3},
                                     {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    static const char *const texts[] = {
        NULL, "I live in Berlin.", "I moved to Paris.", "I live in Rome now."};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct talk talk;
        size_t n_valid = 0;

        talk_open(&talk);
        for (size_t k = 0; k < 3; k++) {
            int day = orders[i][k];

            talk_leave(&talk);
            talk.at_ms = WORLD_NOW - (4 - day) * 24 * CLOCK_HOUR_MS;
            talk_say(&talk, 'u', texts[day]);
        }
        for (size_t k = 0; k < 3; k++) {
            const struct memory *memory = talk_memory(&talk, "fact", k);

            memory = memory ? memory : talk_memory(&talk, "event", 0);
            if (!mark_of(&talk, &memory->id).is_superseded) {
                n_valid++;
                assert_true(str_find(memory->summary, STR("Rome"), 0) !=
                            SIZE_MAX);
            }
        }
        assert_int_equal(n_valid, 1);
        talk_close(&talk);
    }
}

/* --- four mistakes ----------------------------------------------------------
 */

static void mistake_1_a_new_thought_finds_itself(void **state)
{
    struct talk talk;
    struct saying saying = {.prompt = FACT};
    struct thought_result result;

    (void)state;
    talk_open(&talk);
    result = tell(&talk, &saying);
    assert_int_equal(result.n_sources, 0);
    result = tell(&talk, &saying); /* the same again finds the first only */
    assert_int_equal(result.n_sources, 1);
    assert_false(uuid_eq(&result.sources[0].memory.id, &result.contributed));
    talk_close(&talk);
}

static void mistake_2_a_new_thought_reinforces_itself(void **state)
{
    struct talk talk;
    struct saying saying = {.prompt = FACT};
    struct uuid id;
    struct lineage lineage;

    (void)state;
    talk_open(&talk);
    id = tell(&talk, &saying).contributed;
    lineage = tree(&talk, &id, INT64_MAX);
    NEAR(lineage.nodes[0].memory.weight, 1.0);
    assert_int_equal(lineage.nodes[0].memory.retrieval_count, 0);
    talk_close(&talk);
}

static void mistake_3_feedback_counts_results_of_the_same_call(void **state)
{
    struct talk talk;
    struct uuid session = uuid_new(WORLD_NOW);
    struct saying first = {.prompt = FACT};
    struct saying again = {.prompt = FACT " Always.", .session = &session};
    struct uuid id;
    struct thought_result result;

    (void)state;
    talk_open(&talk);
    id = tell(&talk, &first).contributed;
    /* retrieves it for the first time in this session: no feedback for that */
    result = tell(&talk, &again);
    assert_int_equal(result.n_sources, 1);
    for (size_t i = 0; i < result.n_operations; i++) {
        assert_int_not_equal(result.operations[i], THOUGHT_FEEDBACK);
    }
    NEAR(tree(&talk, &id, INT64_MAX).nodes[0].memory.weight, 1.05);
    /* the next contribution credits what was given before it, once */
    again.prompt = OTHER;
    result = tell(&talk, &again);
    assert_int_equal(result.operations[result.n_operations - 1],
                     THOUGHT_FEEDBACK);
    talk_close(&talk);
}

static void mistake_4_guidance_names_the_thought_itself(void **state)
{
    struct talk talk;
    struct saying saying = {.prompt = FACT};
    struct thought_result first;
    struct thought_result second;
    char id[UUID_TEXT_SIZE];

    (void)state;
    talk_open(&talk);
    first = tell(&talk, &saying);
    assert_null(first.guidance.s);
    second = tell(&talk, &saying);
    uuid_format(&first.contributed, id);
    assert_true(str_find(second.guidance, str_of(id), 0) != SIZE_MAX);
    uuid_format(&second.contributed, id);
    assert_true(str_find(second.guidance, str_of(id), 0) == SIZE_MAX);
    talk_close(&talk);
}

/* --- highways and disambiguation --------------------------------------------
 */

static void a_highway_needs_three_accesses_by_two_agents(void **state)
{
    struct talk talk;

    (void)state;
    talk_open(&talk);
    (void)say(&talk, FACT, NULL, 0);
    assert_int_equal(ask(&talk, "a").n_highways, 0);
    assert_int_equal(ask(&talk, "a").n_highways, 0);
    assert_int_equal(ask(&talk, "a").n_highways, 0); /* three, by one */
    assert_int_equal(ask(&talk, "b").n_highways, 1);
    talk_close(&talk);
    talk_open(&talk);
    (void)say(&talk, FACT, NULL, 0);
    assert_int_equal(ask(&talk, "a").n_highways, 0);
    assert_int_equal(ask(&talk, "b").n_highways, 0); /* two, by two */
    assert_int_equal(ask(&talk, "b").n_highways, 1);
    talk_close(&talk);
}

static void ten_hits_over_three_tags_are_told_apart(void **state)
{
    static const char *const things[] = {
        "lamp",   "printer", "window", "garden", "bridge",
        "ladder", "engine",  "mirror", "barrel", "compass"};
    struct talk talk;
    struct world *world = &talk.world;

    (void)state;
    talk_open(&talk);
    for (size_t i = 0; i < 10; i++) {
        struct thought_result result;

        if (i == 9) {
            assert_int_equal(ask(&talk, NULL).n_clusters, 0); /* nine hits */
        }
        (void)say(&talk,
                  arena_printf(&world->arena,
                               "The agent monitor must check the %s of every "
                               "workshop before noon.",
                               things[i]),
                  NULL, 0);
        if (i == 9) {
            result = ask(&talk, NULL);
            assert_int_equal(result.n_sources, THOUGHT_RETRIEVED);
            assert_true(result.n_clusters >= 3);
            for (size_t k = 0; k < result.n_clusters; k++) {
                assert_true(result.clusters[k].count >= 1);
                assert_true(result.clusters[k].count <= 10);
            }
        }
    }
    talk_close(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_cut_after_ten_levels_each_way),
        cmocka_unit_test(a_cut_fan_shows_its_newest_refiners),
        cmocka_unit_test(two_ways_to_an_ancestor_show_it_once),
        cmocka_unit_test(a_cycle_in_the_database_ends_every_walk),
        cmocka_unit_test(a_retracted_link_leaves_the_line_whole),
        cmocka_unit_test(a_retracted_source_leaves_its_consolidation),
        cmocka_unit_test(undoing_a_link_keeps_what_others_built_on_it),
        cmocka_unit_test(scores_fall_and_rise_by_the_factors),
        cmocka_unit_test(a_refinement_does_not_pass_a_better_match),
        cmocka_unit_test(what_holds_joins_the_answer),
        cmocka_unit_test(the_end_of_a_long_line_is_found),
        cmocka_unit_test(of_two_branches_the_newer_comes_first),
        cmocka_unit_test(a_late_statement_finds_its_place),
        cmocka_unit_test(mistake_1_a_new_thought_finds_itself),
        cmocka_unit_test(mistake_2_a_new_thought_reinforces_itself),
        cmocka_unit_test(mistake_3_feedback_counts_results_of_the_same_call),
        cmocka_unit_test(mistake_4_guidance_names_the_thought_itself),
        cmocka_unit_test(a_highway_needs_three_accesses_by_two_agents),
        cmocka_unit_test(ten_hits_over_three_tags_are_told_apart),
    };

    return WORLD_EACH(tests);
}
