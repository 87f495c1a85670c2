/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed replies put together again, and read in one shape. */
#include "support/test.h"

#include "base/json.h"
#include "engine/call/canon.h"
#include "proxy/reply.h"

struct got {
    char content[2048]; /* compact JSON of the message's content */
    char stop[64];
    char id[64];
    int64_t input;
    int64_t output;
    bool is_complete;
    bool has_error;
};

static void copy(char *out, size_t cap, struct str text)
{
    size_t len = text.len < cap - 1 ? text.len : cap - 1;

    memcpy(out, text.s ? text.s : "", text.s ? len : 0);
    out[text.s ? len : 0] = '\0';
}

static struct got read_reply(enum canon_api api, bool is_stream,
                             const char *bytes)
{
    struct got got = {"", "", "", -1, -1, false, false};
    struct canon_reply canon;
    struct reply reply;
    json_t *body;

    reply_init(&reply, api, is_stream);
    for (size_t i = 0; i < strlen(bytes); i++) {
        reply_feed(&reply, bytes + i, 1);
    }
    body = reply_take(&reply);
    assert_int_equal(canon_reply_of(body, &canon), CLEW_OK);
    if (canon.message) {
        struct buf out;

        buf_init(&out, 4096);
        assert_int_equal(
            json_write(&out, json_object_get(canon.message, "content")),
            CLEW_OK);
        copy(got.content, sizeof(got.content), buf_str(&out));
        buf_release(&out);
    }
    copy(got.stop, sizeof(got.stop), canon.stop_reason);
    copy(got.id, sizeof(got.id), canon.id);
    got.input = canon.input_tokens;
    got.output = canon.output_tokens;
    got.is_complete = reply.is_complete;
    got.has_error = reply.error != NULL;
    canon_reply_release(&canon);
    json_decref(body);
    reply_release(&reply);
    return got;
}

#define EVENT(type, rest)                                                      \
    "event: " type "\ndata: {\"type\":\"" type "\"" rest "}\n\n"
#define START                                                                  \
    EVENT("message_start",                                                     \
          ",\"message\":{\"id\":\"msg_1\",\"role\":\"assistant\",\"model\":"   \
          "\"m\",\"content\":[],\"usage\":{\"input_tokens\":5,"                \
          "\"output_tokens\":1}}")
#define BLOCK(i, block)                                                        \
    EVENT("content_block_start", ",\"index\":" #i ",\"content_block\":" block)
#define DELTA(i, delta)                                                        \
    EVENT("content_block_delta", ",\"index\":" #i ",\"delta\":" delta)
#define TEXT(i, text)                                                          \
    DELTA(i, "{\"type\":\"text_delta\",\"text\":\"" text "\"}")

static void an_anthropic_stream_becomes_its_message(void **state)
{
    struct got got = read_reply(
        CANON_ANTHROPIC, true,
        START BLOCK(0, "{\"type\":\"thinking\",\"thinking\":\"\"}")
            DELTA(0, "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}")
                DELTA(0, "{\"type\":\"signature_delta\",\"signature\":\"s\"}")
                    BLOCK(1, "{\"type\":\"text\",\"text\":\"\"}") TEXT(1, "Hel")
                        TEXT(1, "lo\\n") BLOCK(
                            2, "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
                               "\"Bash\",\"input\":{}}")
                            DELTA(2, "{\"type\":\"input_json_delta\","
                                     "\"partial_json\":\"{\\\"a\\\":\"}")
                                DELTA(2, "{\"type\":\"input_json_delta\","
                                         "\"partial_json\":\" [1]}\"}")
                                    EVENT("ping", "")
                                        EVENT("message_delta",
                                              ",\"delta\":{\"stop_reason\":"
                                              "\"tool_use\"},\"usage\":"
                                              "{\"output_tokens\":9}")
                                            EVENT("message_stop", ""));

    (void)state;
    assert_string_equal(
        got.content,
        "[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"},"
        "{\"type\":\"text\",\"text\":\"Hello\\n\"},{\"type\":\"tool_use\","
        "\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"a\":[1]}}]");
    assert_string_equal(got.stop, "tool_use");
    assert_string_equal(got.id, "msg_1");
    assert_int_equal(got.input, 5);
    assert_int_equal(got.output, 9);
    assert_true(got.is_complete);
}

static void a_broken_stream_keeps_what_had_come(void **state)
{
    struct got got =
        read_reply(CANON_ANTHROPIC, true,
                   START BLOCK(0, "{\"type\":\"text\",\"text\":\"\"}")
                       TEXT(0, "so f") TEXT(0, "ar") "event: content_blo");

    (void)state;
    assert_string_equal(got.content,
                        "[{\"type\":\"text\",\"text\":\"so far\"}]");
    assert_false(got.is_complete);
}

static void an_error_in_mid_stream_is_kept(void **state)
{
    struct got got = read_reply(
        CANON_ANTHROPIC, true,
        START EVENT("error", ",\"error\":{\"type\":\"overloaded_error\","
                             "\"message\":\"x\"}"));

    (void)state;
    assert_true(got.has_error);
    assert_false(got.is_complete);
}

static void a_whole_anthropic_body_is_read(void **state)
{
    struct got got = read_reply(
        CANON_ANTHROPIC, false,
        "{\"id\":\"msg_2\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}],"
        "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":1,"
        "\"output_tokens\":2}}");

    (void)state;
    assert_string_equal(got.content, "[{\"type\":\"text\",\"text\":\"a\"}]");
    assert_string_equal(got.stop, "end_turn");
    assert_int_equal(got.output, 2);
    assert_true(got.is_complete);
}

#define CHUNK(choice)                                                          \
    "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[" choice "]}\n\n"
#define SAID(delta)                                                            \
    CHUNK("{\"index\":0,\"delta\":" delta ",\"finish_reason\":null}")

static void chat_chunks_become_their_message(void **state)
{
    struct got got = read_reply(
        CANON_CHAT, true,
        SAID("{\"role\":\"assistant\",\"content\":\"\"}")
            SAID("{\"content\":\"Hi \"}") SAID("{\"content\":\"you\"}")
                CHUNK("{\"index\":1,\"delta\":{\"content\":\"other\"}}") SAID(
                    "{\"tool_calls\":[{\"index\":0,\"id\":\"k\",\"function\":"
                    "{\"name\":\"f\",\"arguments\":\"\"}}]}")
                    SAID("{\"tool_calls\":[{\"index\":0,\"function\":"
                         "{\"arguments\":\"{\\\"x\\\":1}\"}}]}")
                        CHUNK("{\"index\":0,\"delta\":{},\"finish_reason\":"
                              "\"tool_calls\"}") "data: "
                                                 "{\"id\":\"c1\",\"choices\":[]"
                                                 ",\"usage\":"
                                                 "{\"prompt_tokens\":3,"
                                                 "\"completion_tokens\":4}}\n\n"
                                                 "data: [DONE]\n\n");

    (void)state;
    assert_string_equal(got.content,
                        "[{\"type\":\"text\",\"text\":\"Hi you\"},{\"type\":"
                        "\"tool_use\",\"id\":\"k\",\"name\":\"f\",\"input\":"
                        "{\"x\":1}}]");
    assert_string_equal(got.stop, "tool_calls");
    assert_int_equal(got.input, 3);
    assert_int_equal(got.output, 4);
    assert_true(got.is_complete);
}

static void a_call_out_of_any_count_is_no_text(void **state)
{
    struct got got =
        read_reply(CANON_CHAT, true,
                   SAID("{\"content\":\"Hi\"}") SAID(
                       "{\"tool_calls\":[{\"index\":-10,\"function\":"
                       "{\"name\":\"f\",\"arguments\":\"{}\"}}]}")
                       SAID("{\"tool_calls\":[{\"index\":9223372036854775807,"
                            "\"function\":{\"name\":\"f\"}}]}"));

    (void)state;
    assert_string_equal(got.content, "[{\"type\":\"text\",\"text\":\"Hi\"}]");
}

static void a_whole_chat_body_is_read(void **state)
{
    struct got got = read_reply(
        CANON_CHAT, false,
        "{\"id\":\"c\",\"choices\":[{\"message\":{\"role\":\"assistant\","
        "\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}");

    (void)state;
    assert_string_equal(got.content, "[{\"type\":\"text\",\"text\":\"yes\"}]");
    assert_string_equal(got.stop, "stop");
}

#define OUTPUT                                                                 \
    "[{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\","        \
    "\"text\":\"hm\"}]},{\"type\":\"message\",\"role\":\"assistant\","         \
    "\"content\":[{\"type\":\"output_text\",\"text\":\"ok\"}]},"               \
    "{\"type\":\"function_call\",\"call_id\":\"k\",\"name\":\"f\","            \
    "\"arguments\":\"{}\"}]"
#define OUTPUT_BLOCKS                                                          \
    "[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\","         \
    "\"text\":\"ok\"},{\"type\":\"tool_use\",\"id\":\"k\",\"name\":\"f\","     \
    "\"input\":{}}]"

static void a_responses_stream_ends_with_the_whole(void **state)
{
    struct got got = read_reply(
        CANON_RESPONSES, true,
        EVENT("response.created", ",\"response\":{\"id\":\"r1\"}")
            EVENT("response.completed",
                  ",\"response\":{\"id\":\"r1\",\"status\":\"completed\","
                  "\"output\":" OUTPUT ",\"usage\":{\"input_tokens\":1,"
                  "\"output_tokens\":2}}"));

    (void)state;
    assert_string_equal(got.content, OUTPUT_BLOCKS);
    assert_string_equal(got.stop, "completed");
    assert_int_equal(got.output, 2);
    assert_true(got.is_complete);
}

static void a_broken_responses_stream_keeps_its_deltas(void **state)
{
    struct got got = read_reply(
        CANON_RESPONSES, true,
        EVENT("response.created", ",\"response\":{\"id\":\"r1\"}")
            EVENT("response.output_item.added",
                  ",\"output_index\":0,\"item\":{\"type\":\"message\","
                  "\"role\":\"assistant\",\"content\":[]}")
                EVENT("response.output_text.delta",
                      ",\"output_index\":0,\"delta\":\"so \"")
                    EVENT("response.output_text.delta",
                          ",\"output_index\":0,\"delta\":\"far\""));

    (void)state;
    assert_string_equal(got.content,
                        "[{\"type\":\"text\",\"text\":\"so far\"}]");
    assert_false(got.is_complete);
}

/* --- requests --- */

static void assert_request(enum canon_api api, const char *body,
                           const char *messages, const char *system)
{
    struct canon_request request;
    json_t *tree = json_loads(body, 0, NULL);
    struct buf out;

    assert_non_null(tree);
    assert_int_equal(canon_request_of(api, tree, &request, NULL), CLEW_OK);
    buf_init(&out, 4096);
    assert_int_equal(json_write(&out, request.messages), CLEW_OK);
    assert_string_equal(out.data, messages);
    buf_clear(&out);
    if (request.system) {
        assert_int_equal(json_write(&out, request.system), CLEW_OK);
    }
    assert_string_equal(out.data, system);
    buf_release(&out);
    canon_request_release(&request);
    json_decref(tree);
}

static void chat_requests_get_the_one_shape(void **state)
{
    (void)state;
    assert_request(
        CANON_CHAT,
        "{\"messages\":[{\"role\":\"system\",\"content\":\"be\"},{\"role\":"
        "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]},{\"role\":"
        "\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"k\","
        "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"k\",\"content\":\"r\"}]}",
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":"
        "\"k\",\"name\":\"f\",\"input\":{\"a\":1}}]},{\"role\":\"user\","
        "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"k\","
        "\"content\":\"r\"}]}]",
        "[{\"type\":\"text\",\"text\":\"be\"}]");
}

static void responses_requests_get_the_one_shape(void **state)
{
    (void)state;
    assert_request(CANON_RESPONSES,
                   "{\"instructions\":\"be\",\"input\":\"hello\"}",
                   "[{\"role\":\"user\",\"content\":\"hello\"}]", "\"be\"");
    assert_request(
        CANON_RESPONSES,
        "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
        "\"text\":\"q\"}]},{\"type\":\"reasoning\",\"summary\":[{\"text\":"
        "\"hm\"}]},{\"type\":\"message\",\"role\":\"assistant\",\"content\":"
        "[{\"type\":\"output_text\",\"text\":\"ok\"}]},{\"type\":"
        "\"function_call\",\"call_id\":\"k\",\"name\":\"f\",\"arguments\":"
        "\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"k\","
        "\"output\":\"r\"}]}",
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]},"
        "{\"role\":\"assistant\",\"content\":" OUTPUT_BLOCKS "},{\"role\":"
        "\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"k\",\"content\":\"r\"}]}]",
        "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_anthropic_stream_becomes_its_message),
        cmocka_unit_test(a_broken_stream_keeps_what_had_come),
        cmocka_unit_test(an_error_in_mid_stream_is_kept),
        cmocka_unit_test(a_whole_anthropic_body_is_read),
        cmocka_unit_test(chat_chunks_become_their_message),
        cmocka_unit_test(a_call_out_of_any_count_is_no_text),
        cmocka_unit_test(a_whole_chat_body_is_read),
        cmocka_unit_test(a_responses_stream_ends_with_the_whole),
        cmocka_unit_test(a_broken_responses_stream_keeps_its_deltas),
        cmocka_unit_test(chat_requests_get_the_one_shape),
        cmocka_unit_test(responses_requests_get_the_one_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
