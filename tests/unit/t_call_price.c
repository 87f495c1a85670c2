/* SPDX-License-Identifier: Apache-2.0 */
/* What a captured call cost: call_price.h. */
#include "support/test.h"

#include "base/json.h"
#include "engine/call/call_price.h"
#include "engine/call/canon.h"
#include "engine/call/request.h"

#define PRICES                                                                 \
    "claude-sonnet-4 3 15 0.3 3.75, gpt-4.1 2 8 .5 , local/free 0 0,gpt-4 30 " \
    "60"

/* The cost of a reply with this usage, in millionths; -1 if it is unknown. */
static int64_t cost(const char *model, const char *usage)
{
    struct request_call call = {.model = str_of(model)};
    struct canon_reply reply;
    json_t *response = json_pack("{s:[], s:o}", "content", "usage",
                                 json_loads(usage, JSON_DECODE_ANY, NULL));
    int64_t micros = -1;

    assert_int_equal(canon_reply_of(response, &reply), CLEW_OK);
    call.input_tokens = reply.input_tokens;
    call.output_tokens = reply.output_tokens;
    call.cache_read_tokens = reply.cache_read_tokens;
    call.cache_write_tokens = reply.cache_write_tokens;
    call.cost_micros = reply.cost_micros;
    if (call_cost(STR(PRICES), &call, &micros) == CALL_COST_UNKNOWN) {
        assert_int_equal(micros, -1);
    }
    canon_reply_release(&reply);
    json_decref(response);
    return micros;
}

#define PLAIN "{\"input_tokens\":1000,\"output_tokens\":100}"

static void tokens_cost_what_the_model_s_price_says(void **state)
{
    (void)state;
    assert_int_equal(cost("claude-sonnet-4", PLAIN), 3000 + 1500);
    assert_int_equal(cost("gpt-4.1", PLAIN), 2000 + 800);
    assert_int_equal(cost("local/free", PLAIN), 0);
    assert_int_equal(
        cost("gpt-4.1", "{\"prompt_tokens\":10,\"completion_tokens\":1}"), 28);
}

static void a_date_at_the_end_is_the_same_model_a_version_is_not(void **state)
{
    (void)state;
    assert_int_equal(cost("claude-sonnet-4-20250514", PLAIN), 4500);
    assert_int_equal(cost("gpt-4.1-2025-04-14", PLAIN), 2800);
    assert_int_equal(cost("gpt-4-0613", PLAIN), 36000);
    assert_int_equal(cost("claude-sonnet-4-5", PLAIN), -1);
    assert_int_equal(cost("claude-sonnet-4-5-20250929", PLAIN), -1);
    assert_int_equal(cost("gpt-4-turbo", PLAIN), -1);
    assert_int_equal(cost("gpt-4.1-mini", PLAIN), -1);
    assert_int_equal(cost("", PLAIN), -1);
}

static void a_cache_is_counted_beside_the_input_or_within(void **state)
{
    (void)state;
    assert_int_equal(cost("claude-sonnet-4",
                          "{\"input_tokens\":10,\"output_tokens\":100,"
                          "\"cache_read_input_tokens\":10000,"
                          "\"cache_creation_input_tokens\":1000}"),
                     30 + 1500 + 3000 + 3750);
    assert_int_equal(cost("gpt-4.1",
                          "{\"prompt_tokens\":1000,\"completion_tokens\":100,"
                          "\"prompt_tokens_details\":{\"cached_tokens\":400}}"),
                     600 * 2 + 800 + 200);
    assert_int_equal(cost("gpt-4.1",
                          "{\"input_tokens\":1000,\"output_tokens\":100,"
                          "\"input_tokens_details\":{\"cached_tokens\":400}}"),
                     600 * 2 + 800 + 200);
    /* no price for a kind that was used: no cost, not a wrong one */
    assert_int_equal(cost("gpt-4",
                          "{\"prompt_tokens\":1000,\"completion_tokens\":100,"
                          "\"prompt_tokens_details\":{\"cached_tokens\":400}}"),
                     -1);
    assert_int_equal(cost("gpt-4",
                          "{\"prompt_tokens\":1000,\"completion_tokens\":100,"
                          "\"prompt_tokens_details\":{\"cached_tokens\":0}}"),
                     36000);
}

static void what_the_provider_says_counts_first(void **state)
{
    (void)state;
    assert_int_equal(cost("gpt-4.1",
                          "{\"prompt_tokens\":1,"
                          "\"completion_tokens\":1,\"cost\":0.0125}"),
                     12500);
    assert_int_equal(cost("unheard-of", "{\"cost\":0}"), 0);
    assert_int_equal(cost("unheard-of", "{\"cost\":\"much\"}"), -1);
    assert_int_equal(cost("unheard-of", "{\"cost\":-1}"), -1);
    assert_int_equal(cost("unheard-of", "{\"cost\":1e300}"), -1);
}

static void without_both_counts_there_is_no_cost(void **state)
{
    (void)state;
    assert_int_equal(cost("gpt-4", "{\"input_tokens\":1000}"), -1);
    assert_int_equal(cost("gpt-4", "{\"input_tokens\":-5,"
                                   "\"output_tokens\":1}"),
                     -1);
    assert_int_equal(cost("gpt-4", "null"), -1);
}

static void a_setting_that_cannot_be_read_is_named(void **state)
{
    static const char *const bad[] = {
        "gpt-4",      "gpt-4 1",     "gpt-4 1 x",  "gpt-4 1 2 3 4 5",
        "gpt-4 -1 2", "gpt-4 nan 2", "gpt-4 0x1 2"};
    struct clew_error err;

    (void)state;
    assert_int_equal(call_prices_check(STR(PRICES), &err), CLEW_OK);
    assert_int_equal(call_prices_check(STR(""), &err), CLEW_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(call_prices_check(str_of(bad[i]), &err), CLEW_INVALID);
        assert_non_null(strstr(err.message, bad[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_cost_what_the_model_s_price_says),
        cmocka_unit_test(a_date_at_the_end_is_the_same_model_a_version_is_not),
        cmocka_unit_test(a_cache_is_counted_beside_the_input_or_within),
        cmocka_unit_test(what_the_provider_says_counts_first),
        cmocka_unit_test(without_both_counts_there_is_no_cost),
        cmocka_unit_test(a_setting_that_cannot_be_read_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
