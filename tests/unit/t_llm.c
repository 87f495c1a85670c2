/* SPDX-License-Identifier: Apache-2.0 */
/* The language model: repair, failures, and its word in a link decision. */
#include "support/fake_http.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/chatlink/chatlink_decision.h"
#include "engine/core/advice.h"
#include "engine/episode/compact.h"
#include "engine/episode/episode.h"
#include "model/llm.h"
#include "model/llm_talk.h"
#include "task/worker.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define MINUTE CLOCK_MINUTE_MS
#define HOUR CLOCK_HOUR_MS

static struct fake_http *fake;

static void open_model(const char *kind, int64_t timeout_ms)
{
    struct llm_options options = {.url = fake_http_url(fake),
                                  .kind = kind,
                                  .model = "test",
                                  .timeout_ms = timeout_ms,
                                  .clock = &talk.world.clock};
    struct clew_error err = {0};

    llm_close(talk.world.engine.llm);
    talk.world.engine.llm = NULL;
    assert_int_equal(llm_open(&options, &talk.world.engine.llm, &err), CLEW_OK);
}

static int open_all(void **state)
{
    (void)state;
    fake = fake_http_open(NULL);
    talk_open(&talk);
    open_model("openai", 60 * 1000);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    llm_close(talk.world.engine.llm);
    talk.world.engine.llm = NULL;
    talk_close(&talk);
    fake_http_close(fake);
    return 0;
}

/* An answer of the OpenAI API with this text as its content. */
static void answer(const char *content)
{
    const char *body = arena_printf(
        &talk.world.arena,
        "{\"choices\":[{\"message\":{\"content\":\"%s\"}}],"
        "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20}}",
        content);

    fake_http_answer(fake, 200, body);
}

#define SAYS(related, confidence)                                              \
    "{\\\"related\\\":" related ",\\\"confidence\\\":" confidence              \
    ",\\\"reasoning\\\":\\\"r\\\",\\\"key_signals\\\":[]}"

static void sms(int64_t at_ms, const char *text)
{
    struct world *world = &talk.world;
    struct clew_error err = {0};
    struct capture_input input = {.user_id = STR("ada"),
                                  .role = TURN_USER,
                                  .content = {.text = str_of(text)},
                                  .channel = STR("sms"),
                                  .created_at_ms = WORLD_NOW + at_ms};

    clock_set_ms(&world->clock, WORLD_NOW + at_ms);
    assert_int_equal(capture_turns(&world->engine, &world->scope, &world->arena,
                                   &input, 1, &talk.last, &err),
                     CLEW_OK);
}

/* Talk of the weather, then `text` 40 minutes later; run the tasks. */
static struct chatlink_decision decide(const char *text)
{
    struct chatlink_filter filter = {.limit = 10};
    struct chatlink_decision *links = NULL;
    struct clew_error err = {0};
    size_t count = 0;
    size_t run = 0;

    sms(0, "What's the weather in New York?");
    sms(40 * MINUTE, text);
    /* the turn itself asks nobody */
    assert_string_equal(fake_http_seen(fake), "");
    assert_int_equal(worker_run_due(&talk.world.engine, 100, &run, &err),
                     CLEW_OK);
    filter.chat_id = talk.last.turn.chat_id;
    assert_int_equal(chatlink_decision_list(
                         &talk.world.engine, &talk.world.scope,
                         &talk.world.arena, &filter, &links, &count, &err),
                     CLEW_OK);
    assert_int_equal(count, 1);
    return links[0];
}

static bool is_joined(void)
{
    struct clew_error err = {0};
    struct chat chat;

    assert_int_equal(chat_get(&talk.world.engine, &talk.world.scope,
                              &talk.world.arena, &talk.last.turn.chat_id, &chat,
                              &err),
                     CLEW_OK);
    return chat.cross_episodes.len > 0;
}

static void expect(const struct chatlink_decision *got, const char *decision,
                   const char *agreement, const char *confidence)
{
    assert_true(str_eq(got->decision, str_of(decision)));
    assert_true(str_eq(got->agreement, str_of(agreement)));
    assert_true(str_eq(got->confidence, str_of(confidence)));
    assert_int_equal(is_joined(), strcmp(decision, "link") == 0);
}

#define GOES_ON "Oh, and what is it on Thursday?"
#define FRESH "Can you recommend an Italian restaurant?"

static void both_yes_is_a_link_of_high_confidence(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer(SAYS("true", "0.92"));
    got = decide(GOES_ON);
    expect(&got, "link", "yes", "high");
    assert_true(got.llm > 0.919 && got.llm < 0.921);
}

static void a_long_turn_is_shown_in_whole_characters(void **state)
{
    struct chatlink_decision got;
    char text[1024] = GOES_ON " x"; /* what follows stands at odd places */
    size_t len = strlen(text);

    (void)state;
    assert_int_equal(len % 2, 1);
    for (; len + 2 < sizeof(text); len += 2) {
        memcpy(text + len, "\xC3\xBC", 2);
    }
    text[len] = '\0';
    answer(SAYS("true", "0.92"));
    got = decide(text);
    assert_true(got.llm > 0.919 && got.llm < 0.921);
}

static void both_no_is_no_link_of_high_confidence(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer(SAYS("false", "0.65"));
    got = decide(FRESH);
    expect(&got, "no_link", "yes", "high");
    assert_true(got.llm > 0.349 && got.llm < 0.351);
}

static void a_surer_score_beats_a_no(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer(SAYS("false", "0.65"));
    got = decide(GOES_ON);
    expect(&got, "link", "no", "uncertain");
}

static void a_surer_yes_beats_the_score_and_joins_later(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer(SAYS("true", "0.85"));
    got = decide(FRESH);
    expect(&got, "link", "no", "uncertain");
}

static void a_surer_no_parts_what_was_joined(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer(SAYS("false", "1"));
    got = decide(GOES_ON);
    expect(&got, "no_link", "no", "uncertain");
}

static void near_json_is_repaired(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer("Sure! ```json\\n{'related': True, \\\"confidence\\\": 0.9,}\\n``` "
           "Hope it helps");
    got = decide(GOES_ON);
    expect(&got, "link", "yes", "high");
}

static void an_answer_without_json_is_absent(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer("I think they are related.");
    got = decide(GOES_ON);
    expect(&got, "link", "absent", "high");
    assert_true(got.llm < 0);
}

static void an_answer_out_of_range_is_absent(void **state)
{
    struct chatlink_decision got;

    (void)state;
    answer(SAYS("true", "7"));
    got = decide(FRESH);
    expect(&got, "no_link", "absent", "high");
}

static void a_refusal_is_absent(void **state)
{
    struct chatlink_decision got;

    (void)state;
    fake_http_answer(fake, 403, "{\"error\":\"no\"}");
    got = decide(GOES_ON);
    expect(&got, "link", "absent", "high");
}

static void a_rate_limit_is_absent(void **state)
{
    struct chatlink_decision got;

    (void)state;
    fake_http_answer(fake, 429, "{}");
    got = decide(FRESH);
    expect(&got, "no_link", "absent", "high");
}

static void a_broken_connection_is_absent(void **state)
{
    struct chatlink_decision got;

    (void)state;
    fake_http_answer(fake, 0, "");
    got = decide(GOES_ON);
    expect(&got, "link", "absent", "high");
}

/* A server that accepts and never says a word. */
static int silent_server(char *url, size_t size)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    (void)snprintf(url, size, "http://127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

static void a_late_answer_is_absent(void **state)
{
    char url[64];
    int fd = silent_server(url, sizeof(url));
    struct llm_options options = {.url = url,
                                  .kind = "openai",
                                  .model = "test",
                                  .timeout_ms = 100,
                                  .clock = &talk.world.clock};
    struct clew_error err = {0};
    struct chatlink_decision got;

    (void)state;
    llm_close(talk.world.engine.llm);
    assert_int_equal(llm_open(&options, &talk.world.engine.llm, &err), CLEW_OK);
    got = decide(GOES_ON);
    expect(&got, "link", "absent", "high");
    (void)close(fd);
}

static void the_days_cap_is_kept(void **state)
{
    struct chatlink_decision got;

    (void)state;
    close_all(NULL);
    setenv("CLEW_LLM_DAILY_TOKENS", "10", 1);
    open_all(NULL);
    unsetenv("CLEW_LLM_DAILY_TOKENS");
    answer(SAYS("false", "1"));
    got = decide(GOES_ON);
    expect(&got, "link", "absent", "high");
    assert_string_equal(fake_http_seen(fake), "");
}

static void what_was_answered_is_not_asked_again(void **state)
{
    struct llm_request request = {.system = STR("s"),
                                  .prompt = STR("p"),
                                  .schema = "{}",
                                  .max_tokens = 10};
    struct advice_of chat = {.chat_id = {{1}}};
    struct clew_error err = {0};
    struct str key = {0};
    json_t *json = NULL;

    (void)state;
    answer("{\\\"a\\\":1}");
    assert_int_equal(advice_ask(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, "test", &chat, &request,
                                &json, &key, &err),
                     CLEW_OK);
    json_decref(json);
    fake_http_answer(fake, 500, "");
    assert_int_equal(advice_ask(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, "test", &chat, &request,
                                &json, &key, &err),
                     CLEW_OK);
    assert_int_equal(json_integer_value(json_object_get(json, "a")), 1);
    json_decref(json);
    /* another tenant's answers are its own */
    assert_int_equal(advice_ask(&talk.world.engine, &talk.world.other,
                                &talk.world.arena, "test", &chat, &request,
                                &json, &key, &err),
                     CLEW_UPSTREAM);
}

static struct advice_usage *usage_of_a_day(size_t *out_count)
{
    struct advice_usage *usages = NULL;
    struct clew_error err = {0};

    assert_int_equal(advice_usage_list(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, 1, &usages, out_count,
                                       &err),
                     CLEW_OK);
    return usages;
}

static void the_ledger_knows_what_each_purpose_cost(void **state)
{
    struct advice_usage *usages;
    struct clew_error err = {0};
    size_t count = 0;
    size_t run = 0;

    (void)state;
    close_all(NULL);
    setenv("CLEW_LLM_INPUT_PRICE", "20", 1);
    setenv("CLEW_LLM_OUTPUT_PRICE", "100.5", 1);
    open_all(NULL);
    unsetenv("CLEW_LLM_INPUT_PRICE");
    unsetenv("CLEW_LLM_OUTPUT_PRICE");
    answer(SAYS("true", "0.92"));
    (void)decide(GOES_ON);
    usages = usage_of_a_day(&count);
    assert_int_equal(count, 2); /* the chat that ended was summed up */
    assert_true(str_eq(usages[1].purpose, STR("summary")));
    assert_true(str_eq(usages[0].purpose, STR("link")));
    assert_true(str_eq(usages[0].model, STR("test")));
    assert_int_equal(usages[0].day_ms, WORLD_NOW);
    assert_int_equal(usages[0].calls, 1);
    assert_int_equal(usages[0].failures, 0);
    assert_int_equal(usages[0].input_tokens, 100);
    assert_int_equal(usages[0].output_tokens, 20);
    assert_int_equal(usages[0].cost_micros, 100 * 20 + 2010);
    /* a failure counts, and what was sent is paid for */
    fake_http_answer(fake, 500, "");
    sms(80 * MINUTE, FRESH);
    assert_int_equal(worker_run_due(&talk.world.engine, 100, &run, &err),
                     CLEW_OK);
    usages = usage_of_a_day(&count);
    assert_int_equal(count, 2);
    assert_true(usages[0].failures > 0);
    assert_int_equal(usages[0].calls, usages[0].failures + 1);
    assert_true(usages[0].cost_micros > 4010);
    /* another day, and yesterday is not asked for */
    clock_add_ms(&talk.world.clock, CLOCK_DAY_MS);
    (void)usage_of_a_day(&count);
    assert_int_equal(count, 0);
}

static struct episode_view compacted(void)
{
    struct episode_view *views = NULL;
    struct clew_error err = {0};
    size_t count = 0;

    sms(0, "We decided to fly to Lisbon with Wanda Quill on Monday morning.");
    assert_int_equal(compact_chat(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &talk.last.turn.chat_id,
                                  &views, &count, &err),
                     CLEW_OK);
    assert_int_equal(count, 1);
    return views[0];
}

static void a_summary_that_names_what_matters_is_taken(void **state)
{
    struct episode_view got;

    (void)state;
    answer("{\\\"micro\\\":\\\"Decided: fly to Lisbon, Wanda Quill.\\\","
           "\\\"meso\\\":\\\"They fly to Lisbon with Wanda Quill.\\\","
           "\\\"macro\\\":\\\"Travel on Monday morning.\\\"}");
    got = compacted();
    assert_true(str_eq(got.episode.method, STR("llm")));
    assert_true(str_starts(got.episode.micro, STR("Decided: fly")));
    assert_true(got.episode.coverage >= 0.7);
}

static void a_summary_that_leaves_names_out_is_not(void **state)
{
    struct episode_view got;

    (void)state;
    answer("{\\\"micro\\\":\\\"A trip.\\\",\\\"meso\\\":\\\"A trip.\\\","
           "\\\"macro\\\":\\\"Travel.\\\"}");
    got = compacted();
    assert_true(str_eq(got.episode.method, STR("extractive")));
    assert_true(str_find(got.episode.micro, STR("Lisbon"), 0) != SIZE_MAX);
}

static void the_anthropic_api_is_spoken_too(void **state)
{
    struct llm_request request = {
        .system = STR("be brief"), .prompt = STR("p"), .schema = "{}"};
    struct llm_answer got;
    struct clew_error err = {0};

    (void)state;
    open_model("anthropic", 60 * 1000);
    fake_http_answer(fake, 200,
                     "{\"content\":[{\"type\":\"text\",\"text\":"
                     "\"{\\\"a\\\":2}\"}],\"usage\":{\"input_tokens\":7,"
                     "\"output_tokens\":3}}");
    assert_int_equal(
        llm_ask(talk.world.engine.llm, &talk.world.arena, &request, &got, &err),
        CLEW_OK);
    assert_int_equal(json_integer_value(json_object_get(got.json, "a")), 2);
    assert_int_equal(got.input_tokens, 7);
    assert_int_equal(got.output_tokens, 3);
    json_decref(got.json);
    assert_non_null(strstr(fake_http_seen(fake), "POST /v1/messages"));
    assert_non_null(strstr(fake_http_seen(fake), "\"system\":\"be brief"));
}

static void an_endpoint_that_keeps_failing_is_left_alone(void **state)
{
    struct llm_request request = {
        .system = STR("s"), .prompt = STR("p"), .schema = "{}"};
    struct llm_answer got;
    struct clew_error err = {0};

    (void)state;
    fake_http_answer(fake, 500, "");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(llm_ask(talk.world.engine.llm, &talk.world.arena,
                                 &request, &got, &err),
                         CLEW_UPSTREAM);
    }
    assert_int_equal(
        llm_ask(talk.world.engine.llm, &talk.world.arena, &request, &got, &err),
        CLEW_UNAVAILABLE);
}

static void plain_http_to_another_machine_is_refused(void **state)
{
    struct llm_options options = {.url = "http://example.org/v1",
                                  .kind = "openai",
                                  .model = "m",
                                  .timeout_ms = 100,
                                  .clock = &clock_system};
    struct clew_error err = {0};
    struct llm *llm = NULL;

    (void)state;
    assert_int_equal(llm_open(&options, &llm, &err), CLEW_INVALID);
}

/* --- talking ---------------------------------------------------------------
 */

struct heard {
    char text[256];
    size_t n_pieces;
    size_t stop_after; /* pieces; 0 = never */
    bool is_over;
};

static bool hear(void *arg, struct str piece)
{
    struct heard *heard = arg;

    size_t len = strlen(heard->text);

    (void)snprintf(heard->text + len, sizeof(heard->text) - len, "%.*s",
                   (int)piece.len, piece.s);
    return ++heard->n_pieces != heard->stop_after;
}

static bool is_over(void *arg)
{
    return ((struct heard *)arg)->is_over;
}

static enum clew_status converse(struct heard *heard, struct llm_reply *out,
                                 struct clew_error *err)
{
    json_t *messages =
        json_pack("[{s:s,s:s}]", "role", "user", "content", "hi there");
    struct llm_talk said = {.messages = messages,
                            .on_piece = hear,
                            .is_over = is_over,
                            .arg = heard};
    enum clew_status status =
        llm_talk(talk.world.engine.llm, &talk.world.arena, &said, out, err);

    json_decref(messages);
    return status;
}

#define DELTA(text)                                                            \
    "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define BLOCK(text)                                                            \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","     \
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"" text "\"}}\n\n"

static void a_reply_comes_piece_by_piece(void **state)
{
    static const struct {
        const char *kind;
        const char *body;
        const char *sent;
    } rows[] = {
        {"openai", DELTA("Hel") DELTA("lo") "data: [DONE]\n\n",
         "\"stream\":true"},
        {"openai",
         DELTA("Hel") DELTA("lo") "data: {\"choices\":[{\"delta\":{},"
                                  "\"finish_reason\":\"stop\"}]}\n\n",
         "hi there"},
        {"openai",
         ": ping\n\ndata: no json\n\n" DELTA("Hello") "data: [DONE]\n\n",
         "/chat/completions"},
        {"anthropic",
         BLOCK("Hel") BLOCK("lo") "data: {\"type\":\"message_stop\"}\n\n",
         "\"max_tokens\":4096"},
        {"openai", "{\"choices\":[{\"message\":{\"content\":\"Hello\"}}]}",
         "hi there"},
        {"anthropic", "{\"content\":[{\"text\":\"Hello\"}]}", "/v1/messages"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct heard heard = {.text = ""};
        struct llm_reply reply;
        struct clew_error err = {0};

        open_model(rows[i].kind, 60 * 1000);
        fake_http_answer(fake, 200, rows[i].body);
        assert_int_equal(converse(&heard, &reply, &err), CLEW_OK);
        assert_string_equal(heard.text, "Hello");
        assert_true(str_eq(reply.text, STR("Hello")));
        assert_true(reply.is_whole);
        assert_non_null(strstr(fake_http_seen(fake), rows[i].sent));
    }
    open_model("openai", 60 * 1000);
}

static void a_reply_that_fails_says_why_and_keeps_what_came(void **state)
{
    static const struct {
        int http;
        const char *body;
        enum clew_status status;
        const char *text;
        const char *why;
    } rows[] = {
        {200, DELTA("Hel"), CLEW_UPSTREAM, "Hel", "broke off"},
        {200, DELTA("Hel") "data: {\"error\":{\"message\":\"too\\nbusy\"}}\n\n",
         CLEW_UPSTREAM, "Hel", "too busy"},
        {401, "{\"error\":{\"message\":\"bad key\"}}", CLEW_UPSTREAM, "",
         "bad key"},
        {429, "{\"error\":\"slow down\"}", CLEW_RATE_LIMITED, "", "slow down"},
        {500, "<html>", CLEW_UPSTREAM, "", "answered 500"},
        {200, "", CLEW_UPSTREAM, "", "broke off"},
        {0, "", CLEW_UPSTREAM, "", "could not reach"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct heard heard = {.text = ""};
        struct llm_reply reply;
        struct clew_error err = {0};

        open_model("openai", 60 * 1000); /* a breaker of its own */
        fake_http_answer(fake, rows[i].http, rows[i].body);
        assert_int_equal(converse(&heard, &reply, &err), rows[i].status);
        assert_true(str_eq(reply.text, str_of(rows[i].text)));
        assert_false(reply.is_whole);
        assert_non_null(strstr(err.message, rows[i].why));
    }
    open_model("openai", 60 * 1000);
}

static void the_reader_ends_a_reply(void **state)
{
    struct heard heard = {.stop_after = 1};
    struct heard done = {.is_over = true};
    struct llm_reply reply;
    struct clew_error err = {0};

    (void)state;
    fake_http_answer(fake, 200, DELTA("Hel") DELTA("lo") "data: [DONE]\n\n");
    assert_int_equal(converse(&heard, &reply, &err), CLEW_OK);
    assert_true(str_eq(reply.text, STR("Hel")));
    assert_false(reply.is_whole);
    assert_int_equal(converse(&done, &reply, &err), CLEW_OK);
    assert_int_equal(reply.text.len, 0);
    assert_false(reply.is_whole);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(a_reply_comes_piece_by_piece),
        CASE(a_reply_that_fails_says_why_and_keeps_what_came),
        CASE(the_reader_ends_a_reply),
        CASE(both_yes_is_a_link_of_high_confidence),
        CASE(a_long_turn_is_shown_in_whole_characters),
        CASE(both_no_is_no_link_of_high_confidence),
        CASE(a_surer_score_beats_a_no),
        CASE(a_surer_yes_beats_the_score_and_joins_later),
        CASE(a_surer_no_parts_what_was_joined),
        CASE(near_json_is_repaired),
        CASE(an_answer_without_json_is_absent),
        CASE(an_answer_out_of_range_is_absent),
        CASE(a_refusal_is_absent),
        CASE(a_rate_limit_is_absent),
        CASE(a_broken_connection_is_absent),
        CASE(a_late_answer_is_absent),
        CASE(the_days_cap_is_kept),
        CASE(what_was_answered_is_not_asked_again),
        CASE(the_ledger_knows_what_each_purpose_cost),
        CASE(a_summary_that_names_what_matters_is_taken),
        CASE(a_summary_that_leaves_names_out_is_not),
        CASE(the_anthropic_api_is_spoken_too),
        CASE(an_endpoint_that_keeps_failing_is_left_alone),
        cmocka_unit_test(plain_http_to_another_machine_is_refused),
    };

    return WORLD_EACH(tests);
}
