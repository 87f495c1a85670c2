/* SPDX-License-Identifier: Apache-2.0 */
/* The intent cascade's last level: what an LLM says of turns that nothing else
 * is sure of. */
#include "support/fake_http.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/capture/intent_ask.h"
#include "engine/core/advice.h"
#include "engine/core/task.h"
#include "engine/core/trace.h"
#include "engine/effort/effort_thread.h"
#include "engine/proof/rebuild.h"
#include "model/llm.h"
#include "task/worker.h"

#include <stdio.h>

static struct fake_http *fake;

/* Nothing in it shows by form that something is wanted. */
#define WISH "The login page with a spinner while it loads."
/* Nor that a thing is taken as good. */
#define RELIEF "Now the invoices show up again in the list."

#define SAYS(act, confidence)                                                  \
    "{\\\"act\\\":\\\"" act "\\\",\\\"confidence\\\":" confidence "}"

static void open_model(int64_t timeout_ms)
{
    struct llm_options options = {.url = fake_http_url(fake),
                                  .kind = "openai",
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
    open_model(60 * 1000);
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

static void answer(const char *content)
{
    fake_http_answer(
        fake, 200,
        arena_printf(&talk.world.arena,
                     "{\"choices\":[{\"message\":{\"content\":\"%s\"}}],"
                     "\"usage\":{\"prompt_tokens\":100,"
                     "\"completion_tokens\":20}}",
                     content));
}

static void run_tasks(void)
{
    struct clew_error err = {0};
    size_t run = 0;

    assert_int_equal(worker_run_due(&talk.world.engine, 100, &run, &err),
                     CLEW_OK);
}

static size_t count_tasks(const char *status)
{
    struct task_filter filter = {.status = str_of(status), .limit = 100};
    struct clew_error err = {0};
    struct task *tasks = NULL;
    size_t count = 0;
    size_t n = 0;

    assert_int_equal(task_list(&talk.world.engine, &talk.world.scope,
                               &talk.world.arena, &filter, &tasks, &count,
                               &err),
                     CLEW_OK);
    for (size_t i = 0; i < count; i++) {
        n += str_eq(tasks[i].kind, STR(INTENT_ASK_TASK));
    }
    return n;
}

static bool was_asked(void)
{
    return fake_http_seen(fake)[0] != '\0';
}

static const char *trace(void)
{
    struct clew_error err = {0};
    struct trace trace;

    assert_int_equal(trace_get(&talk.world.engine, &talk.world.scope,
                               &talk.world.arena, &talk.last.turn.id, &trace,
                               &err),
                     CLEW_OK);
    return trace.data.s;
}

static struct rebuild_report rebuild(bool is_dry_run)
{
    struct rebuild_options options = {.is_dry_run = is_dry_run};
    struct rebuild_report report = {0};
    struct clew_error err = {0};

    assert_int_equal(rebuild_run(&talk.world.engine, &talk.world.scope,
                                 &talk.world.arena, &options, &report, &err),
                     CLEW_OK);
    return report;
}

static void a_request_that_shows_by_nothing_opens_an_effort(void **state)
{
    struct effort effort;

    (void)state;
    answer(SAYS("request", "0.9"));
    talk_say(&talk, 'u', WISH);
    assert_false(was_asked()); /* the turn waits for nobody */
    assert_int_equal(talk_count(&talk, "effort"), 0);
    talk_say(&talk, 'a', "I can add one. Which framework is it?");
    run_tasks();
    assert_non_null(strstr(fake_http_seen(fake), "spinner while it loads"));
    assert_int_equal(talk_count(&talk, "effort"), 1);
    assert_int_equal(
        effort_get(&talk.world.engine, &talk.world.scope, &talk.world.arena,
                   &talk_memory(&talk, "effort", 0)->id, &effort, NULL),
        CLEW_OK);
    /* the reply that came meanwhile is the effort's */
    assert_int_equal(effort.state, EFFORT_ACTIVE);
    assert_int_equal(effort.first_seq, 1);
    assert_int_equal(effort.last_seq, 2);
    talk_say(&talk, 'u', "React. That fixed it, thanks!");
    assert_string_equal(talk_memory(&talk, "effort", 0)->status.s, "resolved");
}

/* Cut in the middle of a character it would be no text to send. */
static void what_stood_before_is_shown_in_whole_characters(void **state)
{
    char before[1202] = "x"; /* so that even offsets lie inside of one */

    (void)state;
    answer(SAYS("request", "0.9"));
    for (size_t i = 1; i + 2 < sizeof(before); i += 2) {
        memcpy(before + i, "\xc3\xa9", 3);
    }
    talk_say(&talk, 'a', before);
    talk_say(&talk, 'u', WISH);
    run_tasks();
    assert_non_null(strstr(fake_http_seen(fake), "spinner while it loads"));
}

static void an_acceptance_resolves_the_effort(void **state)
{
    (void)state;
    talk_script(&talk, "u:I'm getting a 401 error from the billing API"
                       "|a:The token may have expired; refresh it.");
    answer(SAYS("accept", "0.95"));
    talk_say(&talk, 'u', RELIEF);
    assert_string_equal(talk_memory(&talk, "effort", 0)->status.s, "open");
    run_tasks();
    assert_string_equal(talk_memory(&talk, "effort", 0)->status.s, "resolved");
    assert_non_null(strstr(trace(), "\"level\":\"llm\""));
    assert_non_null(strstr(trace(), "\"moved_efforts\":true"));
}

static void a_replay_gives_the_same_and_asks_nobody(void **state)
{
    struct rebuild_report report;

    (void)state;
    answer(SAYS("request", "0.9"));
    talk_say(&talk, 'u', WISH);
    talk_say(&talk, 'a', "I can add one.");
    run_tasks();
    answer(SAYS("accept", "0.9"));
    talk_say(&talk, 'u', RELIEF);
    run_tasks();
    assert_string_equal(talk_memory(&talk, "effort", 0)->status.s, "resolved");
    llm_close(talk.world.engine.llm); /* gone for good */
    talk.world.engine.llm = NULL;
    report = rebuild(true);
    assert_int_equal(report.n_differences, 0);
    assert_int_equal(report.n_skipped, 0);
}

static void what_came_too_late_is_only_written_down(void **state)
{
    (void)state;
    answer(SAYS("request", "0.9"));
    talk_say(&talk, 'u', WISH);
    talk_say(&talk, 'u', "What is the capital of France?");
    run_tasks(); /* the last turn is no case for a model */
    assert_false(was_asked());
    assert_int_equal(talk_count(&talk, "effort"), 0);
    assert_int_equal(count_tasks("done"), 1);
}

static void one_question_a_chat_waits(void **state)
{
    (void)state;
    talk_say(&talk, 'u', WISH);
    talk_say(&talk, 'u', "A green button beside the logo.");
    assert_int_equal(count_tasks("pending"), 1);
    answer(SAYS("request", "0.9"));
    run_tasks();
    assert_non_null(strstr(fake_http_seen(fake), "green button"));
    assert_int_equal(talk_count(&talk, "effort"), 1);
    assert_non_null(strstr(talk_memory(&talk, "effort", 0)->summary.s, "reen"));
}

static void what_is_sure_is_not_asked_about(void **state)
{
    static const char *const sure[] = {
        "What is the capital of France?", "Please fix the login page.",
        "Hi there!", "That fixed it, thanks!", "Put it on hold for now."};

    (void)state;
    for (size_t i = 0; i < sizeof(sure) / sizeof(sure[0]); i++) {
        talk_say(&talk, 'u', sure[i]);
    }
    talk_say(&talk, 'a', WISH); /* nor what a model said itself */
    assert_int_equal(count_tasks("pending"), 0);
}

static void a_history_that_is_brought_in_asks_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct capture_input input = {.user_id = STR("ada"),
                                      .role = TURN_USER,
                                      .content = {.text = STR(WISH)},
                                      .channel = STR("sms"),
                                      .created_at_ms =
                                          WORLD_NOW - 9 * i * CLOCK_DAY_MS};

        assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, &input, 1, &talk.last,
                                       NULL),
                         CLEW_OK);
        assert_int_equal(count_tasks("pending"), 1);
    }
}

static void bad_answers_leave_it_to_the_classifier(void **state)
{
    static const char *const bodies[] = {
        "I am sorry, I cannot help with that.",
        "{\\\"act\\\":\\\"sing\\\",\\\"confidence\\\":0.9}",
        "{\\\"act\\\":\\\"request\\\"}",
        "{\\\"act\\\":\\\"request\\\",\\\"confidence\\\":7}",
        SAYS("request", "0.3"),
        "[1,2"};

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        open_model(60 * 1000); /* a breaker of its own */
        talk_leave(&talk);
        answer(bodies[i]);
        /* not the same again: that would be answered by the record */
        talk_say(&talk, 'u',
                 arena_printf(&talk.world.arena, "%s A form %zu.", WISH, i));
        run_tasks();
        assert_true(was_asked());
        assert_int_equal(talk_count(&talk, "effort"), 0);
    }
    assert_int_equal(count_tasks("pending"), 0);
    assert_int_equal(rebuild(true).n_differences, 0);
}

static void no_answer_leaves_it_to_the_classifier(void **state)
{
    (void)state;
    fake_http_answer(fake, 500, "");
    talk_say(&talk, 'u', WISH);
    run_tasks();
    assert_true(was_asked());
    assert_int_equal(talk_count(&talk, "effort"), 0);
    assert_int_equal(count_tasks("done"), 1);
    fake_http_answer(fake, 0, "");
    talk_say(&talk, 'u', "A green button beside the logo.");
    run_tasks();
    assert_int_equal(talk_count(&talk, "effort"), 0);
    assert_int_equal(rebuild(true).n_differences, 0);
}

static struct intent analyse(const char *text)
{
    struct world *world = &talk.world;
    struct intent intent;

    assert_int_equal(intent_of(&world->arena, str_of(text), STR(""), &intent),
                     CLEW_OK);
    assert_int_equal(intent_ask_now(&world->engine, &world->scope,
                                    &world->arena, str_of(text), STR(""),
                                    &intent),
                     CLEW_OK);
    return intent;
}

static void analysing_asks_at_once_and_falls_back(void **state)
{
    struct advice_usage *usages = NULL;
    struct clew_error err = {0};
    struct intent intent;
    size_t count = 0;

    (void)state;
    answer(SAYS("request", "0.8"));
    intent = analyse("Please fix the login page.");
    assert_int_equal(intent.level, INTENT_LEVEL_RULE);
    assert_false(was_asked());
    intent = analyse(WISH);
    assert_int_equal(intent.level, INTENT_LEVEL_LLM);
    assert_int_equal(intent.act, INTENT_REQUEST);
    assert_float_equal(intent.confidence, 0.8, 1e-6);
    answer("no idea");
    intent = analyse(WISH);
    assert_int_equal(intent.level, INTENT_LEVEL_RULE);
    assert_int_equal(intent.act, INTENT_INFORM);
    assert_int_equal(advice_usage_list(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, 1, &usages, &count,
                                       &err),
                     CLEW_OK);
    assert_int_equal(count, 1);
    assert_string_equal(usages[0].purpose.s, "intent");
    assert_int_equal(usages[0].calls, 2);
    assert_int_equal(usages[0].failures, 1);
}

static void the_days_cap_and_the_setting_hold(void **state)
{
    static const char *const vars[] = {"CLEW_LLM_DAILY_TOKENS",
                                       "CLEW_LLM_INTENT"};
    static const char *const values[] = {"50", "false"};

    for (size_t i = 0; i < 2; i++) {
        close_all(state);
        setenv(vars[i], values[i], 1);
        open_all(state);
        unsetenv(vars[i]);
        answer(SAYS("request", "0.9"));
        talk_say(&talk, 'u', WISH);
        run_tasks();
        assert_int_equal(analyse(WISH).level, INTENT_LEVEL_RULE);
        assert_false(was_asked());
        assert_int_equal(talk_count(&talk, "effort"), 0);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(a_request_that_shows_by_nothing_opens_an_effort),
        CASE(what_stood_before_is_shown_in_whole_characters),
        CASE(an_acceptance_resolves_the_effort),
        CASE(a_replay_gives_the_same_and_asks_nobody),
        CASE(what_came_too_late_is_only_written_down),
        CASE(one_question_a_chat_waits),
        CASE(what_is_sure_is_not_asked_about),
        CASE(a_history_that_is_brought_in_asks_nothing),
        CASE(bad_answers_leave_it_to_the_classifier),
        CASE(no_answer_leaves_it_to_the_classifier),
        CASE(analysing_asks_at_once_and_falls_back),
        CASE(the_days_cap_and_the_setting_hold),
    };

    return WORLD_EACH(tests);
}
