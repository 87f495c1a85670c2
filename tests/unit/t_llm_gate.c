/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a language model: schemas, turns, time and secrets. */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/core/advice.h"
#include "model/llm.h"
#include "model/llm_gate.h"

static enum clew_status ask_strictly(struct llm_answer *got, bool *garbled)
{
    struct llm_request request = {.system = STR("be brief"),
                                  .prompt = STR("p"),
                                  .schema = "{\"type\":\"object\"}",
                                  .is_strict = true,
                                  .out_garbled = garbled};
    struct clew_error err = {0};

    return llm_ask(talk.world.engine.llm, &talk.world.arena, &request, got,
                   &err);
}

static void a_schema_goes_the_way_each_api_has(void **state)
{
    struct llm_answer got;

    (void)state;
    answer_text("{\"a\":2}");
    assert_int_equal(ask_strictly(&got, NULL), CLEW_OK);
    json_decref(got.json);
    assert_non_null(strstr(fake_http_seen(fake),
                           "\"response_format\":{\"type\":\"json_schema\""));
    open_model("anthropic");
    fake_http_answer(fake, 200,
                     "{\"content\":[{\"type\":\"tool_use\",\"name\":"
                     "\"answer\",\"input\":{\"a\":3}}]}");
    assert_int_equal(ask_strictly(&got, NULL), CLEW_OK);
    assert_int_equal(json_integer_value(json_object_get(got.json, "a")), 3);
    json_decref(got.json);
    assert_non_null(strstr(fake_http_seen(fake), "\"tool_choice\""));
    assert_non_null(strstr(fake_http_seen(fake), "\"cache_control\""));
}

static void an_endpoint_without_schemas_is_asked_without(void **state)
{
    struct llm_answer got;

    (void)state;
    fake_http_answer(fake, 400, "{}");
    assert_int_equal(ask_strictly(&got, NULL), CLEW_UPSTREAM);
    assert_null(strstr(fake_http_seen(fake), "response_format"));
    answer_text("{\"a\":2}");
    assert_int_equal(ask_strictly(&got, NULL), CLEW_OK);
    json_decref(got.json);
    assert_null(strstr(fake_http_seen(fake), "response_format"));
}

static void no_json_is_told_from_no_answer(void **state)
{
    struct llm_answer got;
    bool garbled = false;

    (void)state;
    answer_text("I would rather not.");
    assert_int_equal(ask_strictly(&got, &garbled), CLEW_UPSTREAM);
    assert_true(garbled);
    fake_http_answer(fake, 500, "");
    assert_int_equal(ask_strictly(&got, &garbled), CLEW_UPSTREAM);
    assert_false(garbled);
    fake_http_answer(fake, 0, "");
    assert_int_equal(ask_strictly(&got, &garbled), CLEW_UPSTREAM);
    assert_false(garbled);
}

static void one_that_asks_for_time_gets_it(void **state)
{
    struct llm_gate gate;

    (void)state;
    llm_gate_init(&gate, &talk.world.clock, 1);
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_OK);
    /* one at once, and nobody leaves */
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_UNAVAILABLE);
    llm_gate_leave(&gate);
    llm_gate_hold(&gate, 5000);
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_RATE_LIMITED);
    clock_add_ms(&talk.world.clock, 4999);
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_RATE_LIMITED);
    clock_add_ms(&talk.world.clock, 1);
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_OK);
    llm_gate_leave(&gate);
    llm_gate_hold(&gate, INT64_MAX / 2); /* however much it asks for */
    clock_add_ms(&talk.world.clock, LLM_GATE_MAX_WAIT_MS);
    assert_int_equal(llm_gate_enter(&gate, 0, NULL), CLEW_OK);
    llm_gate_leave(&gate);
    llm_gate_release(&gate);
}

static void no_secret_leaves(void **state)
{
    struct llm_request request = {.system = STR("s"),
                                  .prompt =
                                      STR("my password: hunter2-Tr0ub4dor"),
                                  .schema = "{}"};
    struct str key = {0};
    json_t *got = NULL;

    (void)state;
    answer_text("{\"a\":2}");
    assert_int_equal(advice_ask(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, "test", NULL, &request, &got,
                                &key, NULL),
                     CLEW_OK);
    json_decref(got);
    assert_null(strstr(fake_http_seen(fake), "hunter2"));
    assert_non_null(strstr(fake_http_seen(fake), "my password: ****"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(a_schema_goes_the_way_each_api_has),
        CASE(an_endpoint_without_schemas_is_asked_without),
        CASE(no_json_is_told_from_no_answer),
        CASE(one_that_asks_for_time_gets_it),
        CASE(no_secret_leaves),
    };

    return WORLD_EACH(tests);
}
