/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_openapi.c - types in one word; the document also when memory runs out.
 */
#include "support/test.h"

#include "api/api.h"
#include "api/openapi/openapi.h"
#include "api/openapi/openapi_type.h"
#include "base/alloc.h"
#include "base/json.h"

static void is_type(const char *text, const char *json)
{
    json_t *want = json_loads(json, 0, NULL);
    json_t *got = openapi_type(str_of(text));

    assert_non_null(want);
    assert_non_null(got);
    if (!json_equal(want, got)) {
        char *shown = json_dumps(got, JSON_COMPACT);

        fail_msg("%s is %s", text, shown);
    }
    json_decref(want);
    json_decref(got);
}

static void types_are_one_word(void **state)
{
    (void)state;
    is_type("text", "{\"type\":\"string\"}");
    is_type("text?", "{\"type\":[\"string\",\"null\"]}");
    is_type("int 1..500 =50", "{\"type\":\"integer\",\"minimum\":1,"
                              "\"maximum\":500,\"default\":50}");
    is_type("int -840..840",
            "{\"type\":\"integer\",\"minimum\":-840,\"maximum\":840}");
    is_type("number 0..0.5",
            "{\"type\":\"number\",\"minimum\":0,\"maximum\":0.5}");
    is_type("a|b?", "{\"type\":[\"string\",\"null\"],"
                    "\"enum\":[\"a\",\"b\",null]}");
    is_type("[a|b]", "{\"type\":\"array\",\"items\":"
                     "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}");
    is_type("{count}", "{\"type\":\"object\",\"additionalProperties\":"
                       "{\"type\":\"integer\",\"minimum\":0}}");
    is_type("Turn?", "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Turn\"},"
                     "{\"type\":\"null\"}]}");
    is_type("text/[text/Turn]",
            "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":"
            "{\"oneOf\":[{\"type\":\"string\"},"
            "{\"$ref\":\"#/components/schemas/Turn\"}]}}]}");
}

static void what_is_no_type_is_refused(void **state)
{
    static const char *const bad[] = {"", "txet", "[txet]", "{}", "text/txet"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_null(openapi_type(str_of(bad[i])));
    }
}

static void every_row_is_a_type(void **state)
{
    static const struct openapi_object *const tables[] = {
        openapi_talk, openapi_keep, openapi_server};

    (void)state;
    for (size_t i = 0; openapi_fields[i].name; i++) {
        json_t *type = openapi_type(str_of(openapi_fields[i].type));

        assert_non_null(type);
        json_decref(type);
    }
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (size_t k = 0; tables[i][k].name; k++) {
            const struct openapi_field *field = tables[i][k].fields;

            for (; field->name; field++) {
                json_t *type = openapi_type(str_of(field->type));

                assert_non_null(type);
                json_decref(type);
            }
        }
    }
}

/* Every 199th allocation fails once; leaks are the sanitiser's to find. */
static void without_memory_there_is_no_document(void **state)
{
    json_t *document = openapi_document(api_routes);
    uint64_t n = 1;

    (void)state;
    assert_non_null(document);
    json_decref(document);
    for (;; n += 199) {
        alloc_fail_at(n);
        document = openapi_document(api_routes);
        if (!alloc_fail_fired()) {
            break;
        }
        assert_null(document);
    }
    alloc_fail_at(0);
    assert_non_null(document);
    json_decref(document);
    assert_true(n > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_one_word),
        cmocka_unit_test(what_is_no_type_is_refused),
        cmocka_unit_test(every_row_is_a_type),
        cmocka_unit_test(without_memory_there_is_no_document),
    };

    json_setup(); /* so that its allocations can be made to fail */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
