/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_redact_tree.c - secrets in JSON: what is starred, and what stays.
 *
 * Keys are put together here so that no scanner takes them for real.
 */
#include "support/test.h"

#include "base/arena.h"
#include "engine/core/redact.h"

#include <string.h>

#define KEY                                                                    \
    "sk-"                                                                      \
    "ant-api03-Zx9fakefake"
#define REST "fakefake0123456789AA"

static const struct {
    const char *json;
    const char *want; /* NULL: as it is */
} rows[] = {
    {"{\"pin\":1234}", "{\"pin\":\"********\"}"},
    {"{\"card\":4111111111111111}", "{\"card\":\"********\"}"},
    {"{\"password\":\"a \\\"b\\\" c\"}", "{\"password\":\"*******\"}"},
    {"{\"password\":\"a\\u0000bc9\"}", "{\"password\":\"*****\"}"},
    {"{\"passwords\":[\"one two\",\"three4\"]}",
     "{\"passwords\":[\"*******\",\"******\"]}"},
    {"{\"password\":{\"value\":\"moon 9\"}}",
     "{\"password\":{\"value\":\"******\"}}"},
    {"[{\"value\":\"moon 9\",\"name\":\"DB_PASS\"}]",
     "[{\"value\":\"******\",\"name\":\"DB_PASS\"}]"},
    {"[{\"name\":\"" KEY REST "\",\"value\":\"x\"}]",
     "[{\"name\":\"********************************************\","
     "\"value\":\"x\"}]"},
    {"{\"" KEY REST "\":1,\"b\":2}",
     "{\"********************************************\":1,\"b\":2}"},
    {"[{\"text\":\"" KEY "\"},{\"text\":\"" REST " ok\"}]",
     "[{\"text\":\"************************\"},"
     "{\"text\":\"******************** ok\"}]"},
    {"[\"" KEY "\",\"" REST "\"]",
     "[\"************************\",\"********************\"]"},
    {"[{\"text\":\"Password:\"},{\"type\":\"image\"},{\"text\":\"Tr0ub4dor\"}]",
     "[{\"text\":\"Password:\"},{\"type\":\"image\"},{\"text\":\"*********\"}"
     "]"},
    {"[\"-----BEGIN PRIVATE KEY-----\",\"MIIEvgIBADAN\",\"BgkqhkiG9w0\","
     "\"-----END PRIVATE KEY-----\"]",
     "[\"-----BEGIN PRIVATE KEY-----\",\"************\",\"***********\","
     "\"-----END PRIVATE KEY-----\"]"},
    {"\"password: hunter2\"", "\"password: *******\""},
    {"{\"arguments\":\"{\\\"pin\\\": 1234}\"}",
     "{\"arguments\":\"{\\\"pin\\\": ****}\"}"},
    /* what stays */
    {"{\"pin\":12,\"port\":5432,\"max_tokens\":4096,\"token\":1}", NULL},
    {"{\"password\":\"required\",\"key\":\"user_2024\"}", NULL},
    {"{\"password_policy\":\"min12chars\"}", NULL},
    {"[\"4111\",\"1111\",\"1111\",\"1111\"]", NULL},
    {"[\"password\",\"hunter2\",\"name\"]", NULL},
    {"[{\"name\":\"bob\",\"content\":\"hello\"}]", NULL},
    {"{\"key\":\"link.read:018bcfe5-6800-7f93-a23a-b62e4b39921e:1\"}", NULL},
    {"{\"key\":\"episode_018bcfe5-6800-7f93-a23a-b62e4b39921e_day\"}", NULL},
    {"[]", NULL},
    {"{\"\":\"\",\"password\":\"\"}", NULL},
    {"null", NULL},
    {"no json", NULL},
};

static void fields_and_pieces_are_read_together(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct str json = str_of(rows[i].json);
        struct str again;
        const char *want = rows[i].want ? rows[i].want : rows[i].json;

        arena_init(&arena, 1 << 20);
        assert_int_equal(redact_json(&arena, &json, NULL), CLEW_OK);
        if (!str_eq(json, str_of(want))) {
            print_message("want %s\n  is %.*s\n", want, (int)json.len, json.s);
            n_wrong++;
        }
        again = json;
        assert_int_equal(redact_json(&arena, &again, NULL), CLEW_OK);
        assert_ptr_equal(again.s, json.s);
        arena_release(&arena);
    }
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_pieces_are_read_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
