/* SPDX-License-Identifier: Apache-2.0 */
/* Skills: efforts resolved the same way, in any wording, in any chat. */
#include "support/one_talk.h"
#include "support/test.h"

#include "base/json.h"
#include "engine/core/work.h"
#include "engine/effort/effort_alike.h"
#include "engine/ask/context.h"
#include "engine/memory/lineage.h"
#include "engine/memory/skill_use.h"
#include "engine/proof/forget.h"
#include "engine/thought/memory_view.h"

#include <string.h>

/* The same trouble, told in three ways in three chats, one of them with a list
 * of steps, and one that ended otherwise in between. */
static const char *const sightings[] = {
    "u:The label printer in the warehouse prints nothing but blank stickers"
    "|a:Recalibrate the media sensor and reprint."
    "|u:That fixed it, after calibrating the sensor the labels are fine",
    "u:Zebra at dock 3 is spitting out empty labels again"
    "|a:Try these:\n1. Hold the feed button\n2. Wait for the sensor"
    " calibration\n|u:Great, the sensor calibration fixed it",
    "u:I can't log in to the payroll site"
    "|a:Ask Dora to unlock the account."
    "|u:Thanks, Dora unlocked my account, that fixed it",
    "u:our sticker printer feeds blank ones since we changed the roll"
    "|a:Calibrate the sensor on the new roll."
    "|u:Perfect, the sensor calibration fixed it",
};

static int open_read_talk(void **state)
{
    int rc = open_talk(state);

    world_use_reader(&talk.world);
    return rc;
}

static void in_a_new_chat(const char *script)
{
    talk_leave(&talk);
    talk_script(&talk, script);
}

static void learn(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        in_a_new_chat(sightings[i]);
    }
}

static json_t *fields_of(const struct memory *memory)
{
    json_t *fields = NULL;

    assert_int_equal(json_parse(memory->fields, &fields, NULL), CLEW_OK);
    return fields;
}

static int64_t number_in(const struct memory *memory, const char *name)
{
    json_t *fields = fields_of(memory);
    int64_t value = json_integer_value(json_object_get(fields, name));

    json_decref(fields);
    return value;
}

static const struct memory *last_effort(void)
{
    return talk_memory(&talk, "effort", talk_count(&talk, "effort") - 1);
}

static bool has_outcome(const struct memory *effort, const char *outcome)
{
    json_t *fields = fields_of(effort);
    const char *value =
        json_string_value(json_object_get(fields, "skill_outcome"));
    bool is_it = value && strcmp(value, outcome) == 0;

    json_decref(fields);
    return is_it;
}

static void three_efforts_resolved_alike_make_a_skill_with_steps(void **state)
{
    const struct memory *skill;
    json_t *fields;

    (void)state;
    learn(3);
    assert_int_equal(talk_count(&talk, "skill"), 0);
    in_a_new_chat(sightings[3]);
    assert_int_equal(talk_count(&talk, "skill"), 1);
    skill = talk_memory(&talk, "skill", 0);
    assert_int_equal(number_in(skill, "frequency"), 3);
    fields = fields_of(skill);
    assert_int_equal(json_array_size(json_object_get(fields, "steps")), 2);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(fields, "steps"), 0)),
        "Hold the feed button");
    json_decref(fields);
    assert_string_equal(skill->resolution.s, "1. Hold the feed button 2. Wait "
                                             "for the sensor calibration");
}

static size_t n_resolved(void)
{
    size_t n = 0;

    for (size_t i = 0; i < talk_count(&talk, "effort"); i++) {
        n += str_eq(talk_memory(&talk, "effort", i)->status, STR("resolved"));
    }
    return n;
}

/* However many it ended: it was one way, seen once. */
static void one_turn_that_ends_three_makes_no_skill(void **state)
{
    (void)state;
    in_a_new_chat("u:The label printer in the warehouse prints blank labels");
    in_a_new_chat("u:The label printer at dock 3 prints blank labels again");
    in_a_new_chat("u:Our label printer in the shop prints blank labels too");
    talk_script(&talk, "a:Calibrate the sensor on all of them.|u:Great, "
                       "calibrating the sensor fixed all the label printers, "
                       "no blank labels any more");
    assert_int_equal(n_resolved(), 3);
    assert_int_equal(talk_count(&talk, "skill"), 0);
}

/* What bugs end with is the same for all of them. */
static void ends_alike_do_not_make_problems_alike(void **state)
{
    struct batch_work batch = {.engine = &talk.world.engine,
                               .arena = &talk.world.arena};
    static const char *const told[][2] = {
        {"the invoices table gets slow beyond page 40",
         "all 22 invoice tests pass, the query takes 38 ms now"},
        {"tokio 1.40 is out, try whether the timer bug is fixed",
         "with tokio 1.40 the deadline fires and 191 tests pass"},
        {"csv export has broken umlauts in excel",
         "7 of 7 tests pass, the file starts with a byte order mark now"},
        {"left oven threw the breaker again",
         "mended, the technician replaced the relay on Monday"},
        {"the seal of the steam generator leaks",
         "mended, the technician replaced the seal on Monday"},
        {"The label printer prints nothing but blank stickers",
         "calibrating the sensor fixed it"},
        {"our sticker printer feeds blank ones since we changed the roll",
         "the sensor calibration fixed it"}};
    struct effort_alike of[7];

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(effort_alike_make(&batch, str_of(told[i][0]),
                                           str_of(told[i][1]), &of[i], NULL),
                         CLEW_OK);
    }
    for (size_t i = 0; i < 7; i++) {
        for (size_t k = 0; k < i; k++) {
            bool is_same = false;

            assert_int_equal(
                effort_alike_is(&batch, &of[i], &of[k], 1, &is_same, NULL),
                CLEW_OK);
            assert_int_equal(is_same, i == 6 && k == 5);
        }
    }
}

/* Vectors of German texts are near each other, whatever they are about, and
 * "gestern abend" says when, not what. */
static void other_languages_need_a_word_in_common(void **state)
{
    struct batch_work batch = {.engine = &talk.world.engine,
                               .arena = &talk.world.arena};
    static const char *const goals[] = {
        "der geschirrspüler pumpt nicht ab, steht wasser drin seit gestern "
        "abend",
        "gestern abend kam der brief vom finanzamt, ich finde die "
        "bescheinigung nicht",
        "der geschirrspüler ist undicht und verliert wasser",
        "英会話また始めようかと思っています",
        "倉庫のスキャナが読めなくて困っています"};
    struct effort_alike of[5];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(
            effort_alike_make(&batch, str_of(goals[i]), STR(""), &of[i], NULL),
            CLEW_OK);
    }
    assert_true(effort_alike_goal(&of[0], &of[1], 1) < EFFORT_ALIKE_GOAL);
    assert_true(effort_alike_near(&of[0], &of[1]) < EFFORT_ALIKE_LEAST);
    assert_true(effort_alike_goal(&of[0], &of[2], 1) >= EFFORT_ALIKE_GOAL);
    assert_true(effort_alike_goal(&of[3], &of[4], 1) < EFFORT_ALIKE_GOAL);
}

static void a_like_effort_is_offered_it_and_its_end_is_counted(void **state)
{
    struct context_request request = {.budget_tokens = 1000};
    struct context context;

    (void)state;
    learn(4);
    in_a_new_chat("u:Help, the printer at the packing table gives me empty "
                  "labels");
    assert_non_null(strstr(talk_notices(&talk), "[skill] "));
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "offered"), 1);
    request.chat_id = talk.chat_id;
    assert_int_equal(context_build(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &request, &context, NULL),
                     CLEW_OK);
    assert_non_null(strstr(context.text.s, "- [skill] What worked before"));
    assert_non_null(strstr(context.text.s, "1. Hold the feed button 2. Wait"));
    talk_script(&talk, "a:Calibrate its sensor."
                       "|u:Great, calibrating the sensor fixed it");
    assert_true(has_outcome(last_effort(), "worked"));
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "uses"), 1);
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "successes"), 1);
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "frequency"), 4);
    /* what is over is not offered again */
    assert_int_equal(context_build(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &request, &context, NULL),
                     CLEW_OK);
    assert_null(strstr(context.text.s, "- [skill] What worked before"));
}

static void act(const struct uuid *id, const char *status, const char *said)
{
    struct memory_action action = {.status = status};
    struct str resolution = said ? str_of(said) : STR("");
    struct memory_view view;
    struct clew_error err = {0};

    if (said) {
        action.resolution = &resolution;
    }
    assert_int_equal(memory_view_act(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, id, &action, &view,
                                     &err),
                     CLEW_OK);
}

static void what_did_not_help_counts_against_it(void **state)
{
    struct uuid id;

    (void)state;
    learn(4);
    in_a_new_chat("u:The label printer by the gate prints blank labels");
    id = last_effort()->id;
    act(&id, "abandoned", NULL);
    assert_true(has_outcome(last_effort(), "failed"));
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "uses"), 1);
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "successes"), 0);
    /* taken back when the effort goes on */
    act(&id, "open", NULL);
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "uses"), 0);
    /* something else helped: nothing is said about the skill */
    act(&id, "resolved", "we bought a new one");
    assert_true(has_outcome(last_effort(), "other"));
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "uses"), 0);
    assert_int_equal(number_in(talk_memory(&talk, "skill", 0), "frequency"), 3);
}

static void another_problem_is_offered_nothing(void **state)
{
    (void)state;
    learn(4);
    in_a_new_chat("u:Help me plan a birthday party for my daughter");
    assert_null(strstr(talk_notices(&talk), "[skill]"));
    in_a_new_chat("u:the coffee machine in the kitchen leaks");
    assert_null(strstr(talk_notices(&talk), "[skill]"));
}

static void a_skill_nobody_wants_is_not_made_again(void **state)
{
    struct memory gone;
    struct clew_error err = {0};
    struct uuid id;

    (void)state;
    learn(4);
    id = talk_memory(&talk, "skill", 0)->id;
    assert_int_equal(lineage_retract(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &id, &gone, &err),
                     CLEW_OK);
    in_a_new_chat("u:The label printer by the gate prints blank labels");
    assert_null(strstr(talk_notices(&talk), "[skill]"));
    talk_script(&talk, "a:Calibrate its sensor."
                       "|u:Great, calibrating the sensor fixed it");
    assert_int_equal(talk_count(&talk, "skill"), 0);
}

static double confidence_of(const struct memory_view *view)
{
    json_t *fields = NULL;
    double confidence;

    assert_int_equal(json_parse(view->memory.fields, &fields, NULL), CLEW_OK);
    confidence = json_real_value(json_object_get(fields, "confidence"));
    json_decref(fields);
    return confidence;
}

static double after_outcome(const struct uuid *id, bool has_worked)
{
    struct memory_action action = {.has_worked = &has_worked};
    struct clew_error err = {0};
    struct memory_view view;

    assert_int_equal(memory_view_act(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, id, &action, &view,
                                     &err),
                     CLEW_OK);
    return confidence_of(&view);
}

static double confidence_now(const struct uuid *id)
{
    struct clew_error err = {0};
    struct memory_view view;

    assert_int_equal(memory_view_get(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, id, &view, &err),
                     CLEW_OK);
    return confidence_of(&view);
}

static void assert_near(double got, double wanted)
{
    assert_true(got - wanted < 1e-9 && wanted - got < 1e-9);
}

static void a_skill_follows_its_outcomes_and_fades_when_idle(void **state)
{
    struct clew_error err = {0};
    struct memory_action action = {0};
    struct memory_view view;
    bool has_worked = true;
    double initial;
    double last;
    struct uuid id;

    (void)state;
    learn(4);
    id = talk_memory(&talk, "skill", 0)->id;
    initial = confidence_now(&id);
    assert_true(initial > 0.3);
    /* 0.5 x initial + 0.5 x 1, then + 0.05, at most 1 */
    last = 0.5 * initial + 0.5 + 0.05;
    assert_near(after_outcome(&id, true), last > 1 ? 1 : last);
    /* one of two worked, then - 0.10 */
    assert_near(after_outcome(&id, false), 0.5 * initial + 0.25 - 0.10);
    /* one of three */
    last = 0.5 * initial + 0.5 / 3 - 0.10;
    assert_near(after_outcome(&id, false), last);
    /* x 0.95 for each thirty days, and not before */
    clock_add_ms(&talk.world.clock, 30 * CLOCK_DAY_MS - 1);
    assert_near(confidence_now(&id), last);
    clock_add_ms(&talk.world.clock, 1);
    assert_near(confidence_now(&id), last * 0.95);
    clock_add_ms(&talk.world.clock, 60 * CLOCK_DAY_MS);
    assert_near(confidence_now(&id), last * 0.95 * 0.95 * 0.95);
    /* using it ends the idling */
    assert_near(after_outcome(&id, true), 0.5 * initial + 0.25 + 0.05);
    /* a fact has no outcomes */
    in_a_new_chat("u:I live in Hamburg.");
    id = talk_memory(&talk, "fact", talk_count(&talk, "fact") - 1)->id;
    action.has_worked = &has_worked;
    assert_int_equal(memory_view_act(&talk.world.engine, &talk.world.scope,
                                     &talk.world.arena, &id, &action, &view,
                                     &err),
                     CLEW_INVALID);
}

static void forgetting_a_chat_takes_its_words_out_of_the_skill(void **state)
{
    struct forget_receipt receipt;
    struct clew_error err = {0};
    struct forget_input input = {0};

    (void)state;
    learn(4);
    assert_int_equal(talk_count(&talk, "skill"), 1);
    input.chat_id = talk_memory(&talk, "effort", 1)->chat_id;
    assert_int_equal(forget_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &input, &receipt, &err),
                     CLEW_OK);
    for (size_t i = 0; i < talk_count(&talk, "skill"); i++) {
        const struct memory *skill = talk_memory(&talk, "skill", i);

        assert_true(str_find(skill->fields, STR("Zebra"), 0) == SIZE_MAX);
        assert_true(str_find(skill->fields, STR("feed button"), 0) == SIZE_MAX);
    }
}

static void damaged_fields_are_left_alone(void **state)
{
    struct memory memory = {.type = STR("skill"), .fields = STR("[]")};

    (void)state;
    assert_true(
        str_eq(skill_use_at(&talk.world.arena, &memory, WORLD_NOW), STR("[]")));
    assert_null(skill_use_add(&talk.world.arena, STR("[]"), 1, true, 0).s);
    assert_null(skill_use_take_back(&talk.world.arena, STR("7"), true).s);
    assert_null(skill_use_offered(&talk.world.arena, STR("x"), 0).s);
}

/* As a person writes it, or a note that is made a skill later. */
static void a_skill_without_fields_can_be_used(void **state)
{
    struct str none = {NULL, 0};
    struct str used = skill_use_add(&talk.world.arena, none, 1, true, 0);

    (void)state;
    assert_true(str_find(used, STR("\"uses\":1,\"successes\":1"), 0) !=
                SIZE_MAX);
    assert_true(str_find(used, STR("\"confidence\":0.55"), 0) != SIZE_MAX);
    assert_non_null(skill_use_offered(&talk.world.arena, STR(""), 0).s);
    assert_non_null(skill_use_take_back(&talk.world.arena, none, true).s);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_read_talk, close_talk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(three_efforts_resolved_alike_make_a_skill_with_steps),
        TEST(one_turn_that_ends_three_makes_no_skill),
        TEST(other_languages_need_a_word_in_common),
        TEST(ends_alike_do_not_make_problems_alike),
        TEST(a_like_effort_is_offered_it_and_its_end_is_counted),
        TEST(what_did_not_help_counts_against_it),
        TEST(another_problem_is_offered_nothing),
        TEST(a_skill_nobody_wants_is_not_made_again),
        TEST(a_skill_follows_its_outcomes_and_fades_when_idle),
        TEST(forgetting_a_chat_takes_its_words_out_of_the_skill),
        TEST(damaged_fields_are_left_alone),
        TEST(a_skill_without_fields_can_be_used),
    };

    return WORLD_EACH(tests);
}
