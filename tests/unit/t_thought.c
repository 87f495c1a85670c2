/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_thought.c - what is stored, and how weight grows and decays, with a clock
 * that the test moves.
 */
#include "support/test.h"

#include "engine/memory/memory.h"
#include "engine/thought/thought.h"
#include "support/talk.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* --- the threshold ---------------------------------------------------------
 */

static void texts_over_the_threshold_are_stored(void **state)
{
    static const struct {
        const char *text;
        bool is_worth;
    } rows[] = {
        /* 50 and 51 characters, with and without space around */
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true},
        {"  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  ", false},
        /* 51 characters of two bytes each, then 50 */
        {"ééééééééééééééééééééééééééééééééééééééééééééééééééé", true},
        {"éééééééééééééééééééééééééééééééééééééééééééééééééé", false},
        {"What does the agent monitor check in every single pane?", false},
        {"It checks roles. What does it check in every single pane?", true},
        {"It checks roles! What does it check in every single pane?", true},
        {"Based on what was said I think that panes are checked.", false},
        {"You said that panes are checked for their role and status.", false},
        {"YOU TOLD ME that panes are checked for role and status.", false},
        {"Regarding your answer, panes are checked for their role.", false},
        {"About your response: panes are checked for their roles.", false},
        {"Baseline: panes are checked for their role and status now.", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(thought_is_worth_storing(str_of(rows[i].text)),
                         rows[i].is_worth);
    }
}

/* --- weight ----------------------------------------------------------------
 */

static void weight_decays_only_after_an_idle_hour_and_a_retrieval(void **state)
{
    struct memory memory = {
        .weight = 2.0, .weight_at_ms = WORLD_NOW, .retrieval_count = 1};

    (void)state;
    NEAR(memory_weight_at(&memory, WORLD_NOW), 2.0);
    NEAR(memory_weight_at(&memory, WORLD_NOW + CLOCK_HOUR_MS), 2.0);
    NEAR(memory_weight_at(&memory, WORLD_NOW + 2 * CLOCK_HOUR_MS),
         2.0 * 0.995 * 0.995);
    NEAR(memory_weight_at(&memory, WORLD_NOW + 100 * CLOCK_HOUR_MS),
         2.0 * pow(0.995, 100));
    memory.retrieval_count = 0;
    NEAR(memory_weight_at(&memory, WORLD_NOW + 100 * CLOCK_HOUR_MS), 2.0);
}

static void weight_stays_between_its_bounds(void **state)
{
    struct memory memory = {
        .weight = 1.0, .weight_at_ms = WORLD_NOW, .retrieval_count = 1};

    (void)state;
    NEAR(memory_weight_at(&memory, WORLD_NOW + 10000 * CLOCK_HOUR_MS), 0.1);
    memory.weight = 12;
    NEAR(memory_weight_at(&memory, WORLD_NOW), 10);
}

static struct thought_result say(struct world *world, const char *prompt,
                                 const struct uuid *refines)
{
    struct thought_input input = {
        .prompt = str_of(prompt), .agent_id = STR("a"), .agent_name = STR("A")};
    struct thought_result result;
    struct clew_error err = {0};

    if (refines) {
        input.refines = *refines;
    }
    if (thought_handle(&world->engine, &world->scope, &world->arena, &input,
                       &result, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    return result;
}

#define FACT "The agent monitor must check both status and role of every pane."
#define QUESTION "What must the agent monitor check?"

/* Each retrieval adds to what decay has left. */
static void a_retrieval_adds_to_the_decayed_weight(void **state)
{
    struct talk talk; /* a world with an index */
    struct world *world = &talk.world;
    struct thought_result result;

    (void)state;
    talk_open(&talk);
    (void)say(world, FACT, NULL);
    result = say(world, QUESTION, NULL);
    assert_int_equal(result.n_sources, 1);
    clock_add_ms(&world->clock, 10 * CLOCK_HOUR_MS);
    result = say(world, QUESTION, NULL);
    NEAR(result.sources[0].memory.weight, 1.05 * pow(0.995, 10));
    result = say(world, QUESTION, NULL);
    NEAR(result.sources[0].memory.weight, 1.05 * pow(0.995, 10) + 0.05);
    talk_close(&talk);
}

static void a_refinement_starts_at_half_of_what_is_left(void **state)
{
    struct talk talk; /* a world with an index */
    struct world *world = &talk.world;
    struct thought_result first;
    struct thought_result result;
    double weight = 1;

    (void)state;
    talk_open(&talk);
    first = say(world, FACT, NULL);
    for (int i = 0; i < 60; i++) { /* to 4.0 */
        (void)say(world, QUESTION, NULL);
        weight += 0.05;
    }
    clock_add_ms(&world->clock, 20 * CLOCK_HOUR_MS);
    weight *= pow(0.995, 20);
    result = say(world, "Only the role.", &first.contributed);
    assert_false(uuid_is_nil(&result.contributed));
    result = say(world, QUESTION, NULL);
    for (size_t i = 0; i < result.n_sources; i++) {
        if (result.sources[i].memory.lineage == MEMORY_REFINEMENT) {
            NEAR(result.sources[i].memory.weight, weight / 2);
            talk_close(&talk);
            return;
        }
    }
    fail_msg("the refinement was not found");
}

int main(void)
{
    const struct CMUnitTest pure[] = {
        cmocka_unit_test(texts_over_the_threshold_are_stored),
        cmocka_unit_test(weight_decays_only_after_an_idle_hour_and_a_retrieval),
        cmocka_unit_test(weight_stays_between_its_bounds),
    };
    const struct CMUnitTest stored[] = {
        cmocka_unit_test(a_retrieval_adds_to_the_decayed_weight),
        cmocka_unit_test(a_refinement_starts_at_half_of_what_is_left),
    };
    int failed = cmocka_run_group_tests(pure, NULL, NULL);

    return failed + WORLD_EACH(stored);
}
