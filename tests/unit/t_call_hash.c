/* SPDX-License-Identifier: Apache-2.0 */
/* Normal form and digests of messages: spec/linking.md, "Hashes". */
#include "support/test.h"

#include "base/arena.h"
#include "base/json.h"
#include "engine/call/call_hash.h"
#include "engine/call/call_text.h"

#define QUESTION "{\"role\":\"user\",\"content\":\"What is React?\"}"
#define QUESTION_HASH                                                          \
    "44ac36f0536c35d86c45a40c5c88816cc83e40a2049572d64f6d7315a79ef7dd"

/* The digest of a list of messages, as hex; "" if it is refused. */
static const char *hash_of(const char *messages)
{
    static char hex[SHA256_HEX_SIZE];
    struct arena arena;
    struct call_messages list;
    json_t *tree = json_loads(messages, JSON_DECODE_ANY, NULL);

    assert_non_null(tree);
    hex[0] = '\0';
    arena_init(&arena, 1u << 28);
    if (call_hash_messages(&arena, tree, &list, NULL) == CLEW_OK) {
        hex_format(list.prefix[list.count - 1].b, SHA256_SIZE, hex);
    }
    arena_release(&arena);
    json_decref(tree);
    return hex;
}

static void assert_same(const char *a, const char *b)
{
    char first[SHA256_HEX_SIZE];

    memcpy(first, hash_of(a), sizeof(first));
    assert_int_equal(strlen(first), 64);
    assert_string_equal(first, hash_of(b));
}

static void assert_other(const char *a, const char *b)
{
    char first[SHA256_HEX_SIZE];

    memcpy(first, hash_of(a), sizeof(first));
    assert_int_equal(strlen(first), 64);
    assert_string_not_equal(first, hash_of(b));
}

/* The hash of the normal form written out by hand. */
static void assert_form(const char *messages, const char *form)
{
    char hex[SHA256_HEX_SIZE];

    sha256_hex_of(str_of(form), hex);
    assert_string_equal(hash_of(messages), hex);
}

static void the_published_vectors_hold(void **state)
{
    (void)state;
    assert_string_equal(hash_of("[" QUESTION "]"), QUESTION_HASH);
    assert_string_equal(
        hash_of("[{\"role\":\"user\",\"content\":\"Help me write a Python "
                "function to calculate factorial\"}]"),
        "f1017361707131e382feb25bc3b7a99de74dbd87b66d041f9bb2e0c34b943341");
    assert_string_equal(
        hash_of("[" QUESTION ",{\"role\":\"assistant\",\"content\":\"React is "
                "a JavaScript library for building user interfaces, developed "
                "by Facebook.\"},{\"role\":\"user\",\"content\":\"Show me a "
                "simple example\"}]"),
        "6b75587c81a8ae1c972a85996d7726fce66ff2d2a69849b8af5a73ae6b764a5c");
}

static void a_string_hashes_like_a_list_of_one_text(void **state)
{
    (void)state;
    assert_same("[" QUESTION "]",
                "[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                "\"text\":\"What is React?\",\"cache_control\":{}}]}]");
}

static void text_is_trimmed_and_line_ends_are_made_equal(void **state)
{
    (void)state;
    assert_form("[{\"role\":\"user\",\"content\":\"\\r\\n a\\r\\nb\\u00a0 "
                "\\u3000\"}]",
                "user\n[0]text:a\nb\n");
    assert_form("[{\"role\":\"user\",\"content\":\"\"}]", "user\n[0]text:\n");
    assert_form("[{\"role\":\"user\",\"content\":null}]", "user\n\n");
}

static void every_kind_of_item_has_its_form(void **state)
{
    (void)state;
    assert_form("[{\"role\":\"user\",\"content\":["
                "{\"type\":\"text\",\"text\":\"hi\"},"
                "{\"type\":\"image\",\"source\":{\"type\":\"base64\","
                "\"media_type\":\"image/png\",\"data\":\"abc\"}},"
                "{\"type\":\"image\"},"
                "{\"type\":\"document\",\"x\":1},{\"y\":2}]}]",
                "user\n[0]text:hi\n[1]image:image/png:"
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f2001"
                "5ad\n[2]image:no-source\n[3]document:unknown\n"
                "[4]unknown:unknown\n");
    assert_form("[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\","
                "\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"z\": 1.0, \"a\": "
                "[true, null]}}]}]",
                "assistant\n[0]tool_use:Bash:t1:{\"z\":1,\"a\":[true,null]}\n");
    assert_form(
        "[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
        "\"tool_use_id\":\"t1\",\"content\":\" kept \\n<system-reminder>x"
        "</system-reminder>\"},{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"t2\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"t3\"}]}]",
        "user\n[0]tool_result:t1: kept\n[1]tool_result:t2:"
        "[{\"type\":\"text\",\"text\":\"a\"}]\n[2]tool_result:t3:\n");
}

static void reminders_go_with_the_white_space_before_them(void **state)
{
    (void)state;
    assert_form("[{\"role\":\"user\",\"content\":\"a \\n<System-Reminder>x\\n"
                "y</SYSTEM-reminder> b<system-reminder></system-reminder>\"}]",
                "user\n[0]text:a b\n");
    assert_same("[" QUESTION "]",
                "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                "\"<system-reminder>one</system-reminder>\\n\"},{\"type\":"
                "\"text\",\"text\":\"What is React?\"},{\"type\":\"text\","
                "\"text\":\" \"}]}]");
}

static void an_unclosed_reminder_is_text(void **state)
{
    (void)state;
    assert_form("[{\"role\":\"user\",\"content\":\"a <system-reminder> b\"}]",
                "user\n[0]text:a <system-reminder> b\n");
}

static void injected_context_does_not_count(void **state)
{
    (void)state;
    assert_same("[" QUESTION "]",
                "[{\"role\":\"user\",\"content\":\"What is React?\\n\\n"
                "<clew-context sha256=\\\"ab\\\">\\nold news\\n"
                "</clew-context>\"}]");
    assert_form("[{\"role\":\"user\",\"content\":\"<clew-contexts>x"
                "</clew-context>\"}]",
                "user\n[0]text:<clew-contexts>x</clew-context>\n");
}

static void a_message_with_a_tool_id_seen_before_is_dropped(void **state)
{
    (void)state;
#define CALL(id)                                                               \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"" id \
    "\",\"name\":\"B\",\"input\":{}}]}"
#define RESULT(id, text)                                                       \
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","               \
    "\"tool_use_id\":\"" id "\",\"content\":\"" text "\"}]}"
    assert_same("[" QUESTION "," CALL("1") "," RESULT("1", "ok") "]",
                "[" QUESTION "," CALL("1") "," CALL("1") "," RESULT(
                    "1", "ok") "," RESULT("1", "again") "]");
    assert_other("[" QUESTION "," CALL("1") "," RESULT("1", "ok") "]",
                 "[" QUESTION
                 "," CALL("1") "," CALL("2") "," RESULT("1", "ok") "]");
}

static void system_messages_in_the_list_do_not_count(void **state)
{
    (void)state;
    assert_same("[" QUESTION "]",
                "[{\"role\":\"system\",\"content\":\"x\"}," QUESTION
                ",{\"role\":\"developer\",\"content\":\"y\"}]");
}

static void the_role_and_the_order_count(void **state)
{
    (void)state;
    assert_other("[" QUESTION "]",
                 "[{\"role\":\"assistant\",\"content\":\"What is React?\"}]");
    assert_other("[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\","
                 "\"content\":\"b\"}]",
                 "[{\"role\":\"user\",\"content\":\"b\"},{\"role\":\"user\","
                 "\"content\":\"a\"}]");
}

static void openai_tool_messages_become_the_same_items(void **state)
{
    (void)state;
    assert_form("[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":"
                "[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":"
                "\"f\",\"arguments\":\"{\\\"a\\\": 1}\"}}]},{\"role\":\"tool\","
                "\"tool_call_id\":\"c1\",\"content\":\"done\"}]",
                "assistant\n[0]tool_use:f:c1:{\"a\":1}\n"
                "tool\n[0]tool_result:c1:done\n");
}

static void every_prefix_comes_from_one_pass(void **state)
{
    struct arena arena;
    struct call_messages list;
    char hex[SHA256_HEX_SIZE];
    json_t *tree = json_loads(
        "[" QUESTION ",{\"role\":\"assistant\",\"content\":\"x\"}]", 0, NULL);

    (void)state;
    arena_init(&arena, 1u << 20);
    assert_int_equal(call_hash_messages(&arena, tree, &list, NULL), CLEW_OK);
    assert_int_equal(list.count, 2);
    hex_format(list.prefix[0].b, SHA256_SIZE, hex);
    assert_string_equal(hex, QUESTION_HASH);
    arena_release(&arena);
    json_decref(tree);
}

static void broken_messages_are_named(void **state)
{
    static const struct {
        const char *messages;
        const char *field;
    } cases[] = {
        {"[]", "messages"},
        {"[{\"role\":\"system\",\"content\":\"x\"}]", "messages"},
        {"[" QUESTION ",{\"content\":\"x\"}]", "messages[1].role"},
        {"[{\"role\":\"user\",\"content\":3}]", "messages[0].content"},
        {"[3]", "messages[0]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct arena arena;
        struct call_messages list;
        struct clew_error err = {0};
        json_t *tree = json_loads(cases[i].messages, 0, NULL);

        arena_init(&arena, 1u << 20);
        assert_int_equal(call_hash_messages(&arena, tree, &list, &err),
                         CLEW_INVALID);
        assert_string_equal(err.field, cases[i].field);
        arena_release(&arena);
        json_decref(tree);
    }
}

static void ten_thousand_messages_are_hashed(void **state)
{
    json_t *tree = json_array();
    struct arena arena;
    struct call_messages list;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        json_array_append_new(
            tree, json_pack("{s:s,s:s}", "role", "user", "content", "hello"));
    }
    arena_init(&arena, 1u << 24);
    assert_int_equal(call_hash_messages(&arena, tree, &list, NULL), CLEW_OK);
    assert_int_equal(list.count, 10000);
    arena_release(&arena);
    json_decref(tree);
}

static void opening_tags_alone_are_read_once(void **state)
{
    size_t n = 17 * 60000;
    char *text = malloc(n + 1);
    struct buf out;

    (void)state;
    for (size_t i = 0; i < n; i += 17) {
        memcpy(text + i, "<system-reminder>", 17);
    }
    buf_init(&out, 2 * n);
    assert_int_equal(call_strip(&out, (struct str){text, n}), CLEW_OK);
    assert_int_equal(out.len, n);
    buf_release(&out);
    free(text);
}

/* --- system prompts --- */

static const char *system_hash(const char *json)
{
    static char hex[SHA256_HEX_SIZE];
    struct call_digest digest;
    json_t *tree = json_loads(json, JSON_DECODE_ANY, NULL);
    bool has = false;

    assert_non_null(tree);
    assert_int_equal(call_hash_system(tree, &has, &digest), CLEW_OK);
    json_decref(tree);
    hex_format(digest.b, SHA256_SIZE, hex);
    return has ? hex : "";
}

static void assert_system(const char *json, const char *counted)
{
    char hex[SHA256_HEX_SIZE] = "";

    if (*counted) {
        sha256_hex_of(str_of(counted), hex);
    }
    assert_string_equal(system_hash(json), hex);
}

static void the_published_system_vector_holds(void **state)
{
    (void)state;
    assert_string_equal(
        system_hash("\"You are a helpful assistant\""),
        "11ec99cfa6e6f58a352f4aee9cdb6d96e2eca86d437158f18efc6d4fe5909b07");
}

static void nothing_left_of_a_system_prompt_is_null(void **state)
{
    (void)state;
    assert_system("\"  \\n\"", "");
    assert_system("[]", "");
    assert_system("null", "");
    assert_system("\"<system-reminder>x</system-reminder>\"", "");
}

static void a_known_agent_counts_by_its_opening(void **state)
{
    const char *opening = "You are an interactive CLI tool that helps users "
                          "with software engineering tasks";

    (void)state;
    assert_system("\"You are an interactive CLI tool that helps users with "
                  "software engineering tasks. Today is Monday.\"",
                  opening);
    assert_system(
        "[{\"type\":\"text\",\"text\":\"x-anthropic-billing-header: "
        "cc_version=2.1.197\"},{\"type\":\"text\",\"text\":\"You are Claude "
        "Code, Anthropic's official CLI for Claude.\"},{\"type\":\"text\","
        "\"text\":\"\\nYou are an interactive CLI tool that helps users with "
        "software engineering tasks. Be terse.\"}]",
        "[0]text:You are Claude Code, Anthropic's official CLI for Claude."
        "|[1]text:You are an interactive CLI tool that helps users with "
        "software engineering tasks");
}

static void texts_of_a_list_count_each_for_itself(void **state)
{
    (void)state;
    /* numbered and between bars, as in the hashes that clients stored */
    assert_system("[{\"text\":\"a \"},{\"text\":\"\"},{\"text\":\"\\nb\"}]",
                  "[0]text:a|[1]text:b");
    assert_system(
        "[{\"text\":\"a\"},{\"text\":\"b\"},{\"text\":\"Status:\\nx\"}]",
        "[0]text:a|[1]text:b");
    /* one alone is as good as a string */
    assert_system("[{\"type\":\"text\",\"text\":\" Be kind. \"}]", "Be kind.");
    assert_system("[{\"text\":\" \"},{\"text\":\"Be kind.\"}]", "Be kind.");
    assert_system("\"Be kind.\"", "Be kind.");
}

static void what_changes_by_itself_does_not_count(void **state)
{
    (void)state;
    assert_system("\"x-anthropic-billing-header: a=1\\nBe kind.\\n"
                  "<transient_context>now</transient_context>\\n\\n\\n\\n"
                  "gitStatus: a snapshot\\nCurrent branch: main\\n\\n"
                  "Main branch (for PRs): main\\n\\nStatus:\\nM a.c\\n\\n"
                  "Recent commits:\\nabc fix\\n\\nBe brief."
                  "<system-reminder>r</system-reminder>\"",
                  "Be kind.\n\nBe brief.");
}

static void a_summarising_prompt_is_recognised(void **state)
{
    json_t *yes =
        json_pack("[{s:s},{s:s}]", "text", "You are Claude Code", "text",
                  "You are a helpful AI assistant tasked with "
                  "summarizing conversations.");
    json_t *no = json_string("You are a helpful assistant");

    (void)state;
    assert_true(call_is_summarising(yes));
    assert_false(call_is_summarising(no));
    assert_false(call_is_summarising(NULL));
    json_decref(yes);
    json_decref(no);
}

static void thinking_does_not_tell_replies_apart(void **state)
{
    json_t *streamed =
        json_loads("{\"role\":\"assistant\",\"content\":[{\"type\":"
                   "\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\","
                   "\"text\":\"yes\"}]}",
                   0, NULL);
    json_t *sent =
        json_loads("{\"role\":\"assistant\",\"content\":\"yes \"}", 0, NULL);
    struct call_digest a;
    struct call_digest b;

    (void)state;
    assert_int_equal(call_hash_alone(streamed, &a), CLEW_OK);
    assert_int_equal(call_hash_alone(sent, &b), CLEW_OK);
    assert_true(call_digest_eq(&a, &b));
    json_decref(streamed);
    json_decref(sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_vectors_hold),
        cmocka_unit_test(a_string_hashes_like_a_list_of_one_text),
        cmocka_unit_test(text_is_trimmed_and_line_ends_are_made_equal),
        cmocka_unit_test(every_kind_of_item_has_its_form),
        cmocka_unit_test(reminders_go_with_the_white_space_before_them),
        cmocka_unit_test(an_unclosed_reminder_is_text),
        cmocka_unit_test(injected_context_does_not_count),
        cmocka_unit_test(a_message_with_a_tool_id_seen_before_is_dropped),
        cmocka_unit_test(system_messages_in_the_list_do_not_count),
        cmocka_unit_test(the_role_and_the_order_count),
        cmocka_unit_test(openai_tool_messages_become_the_same_items),
        cmocka_unit_test(every_prefix_comes_from_one_pass),
        cmocka_unit_test(broken_messages_are_named),
        cmocka_unit_test(ten_thousand_messages_are_hashed),
        cmocka_unit_test(opening_tags_alone_are_read_once),
        cmocka_unit_test(the_published_system_vector_holds),
        cmocka_unit_test(nothing_left_of_a_system_prompt_is_null),
        cmocka_unit_test(a_known_agent_counts_by_its_opening),
        cmocka_unit_test(texts_of_a_list_count_each_for_itself),
        cmocka_unit_test(what_changes_by_itself_does_not_count),
        cmocka_unit_test(a_summarising_prompt_is_recognised),
        cmocka_unit_test(thinking_does_not_tell_replies_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
