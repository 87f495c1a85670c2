/* SPDX-License-Identifier: Apache-2.0 */
/* Why a call was linked so: its trace, its numbers, and what a rebuild makes
 * again. On both backends. */
#include "support/test.h"
#include "support/world.h"

#include "base/json.h"
#include "engine/call/call.h"
#include "engine/call/call_rebuild.h"
#include "engine/call/call_stats.h"
#include "engine/core/trace.h"
#include "store/db.h"

#include <stdio.h>

static struct world world;
static int64_t last_at_ms;

static int open_world(void **state)
{
    (void)state;
    last_at_ms = WORLD_NOW;
    world_open(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

/* Link a call of texts, the user's first, answered by `reply`. */
static struct call_result link_texts(const char *const *texts, size_t count,
                                     const char *reply)
{
    struct call_input input = {.created_at_ms = last_at_ms += 1000};
    struct call_result result;
    struct clew_error err = {0};
    json_t *messages = json_array();
    json_t *answer = NULL;

    for (size_t i = 0; i < count; i++) {
        json_array_append_new(messages, json_pack("{s:s,s:s}", "role",
                                                  i % 2 ? "assistant" : "user",
                                                  "content", texts[i]));
    }
    if (reply) {
        answer = json_pack("{s:s,s:s}", "role", "assistant", "content", reply);
    }
    input.messages = messages;
    input.reply = answer;
    if (call_link(&world.engine, &world.scope, &world.arena, &input, &result,
                  &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    json_decref(messages);
    json_decref(answer);
    return result;
}
#define LINK(reply, ...)                                                       \
    link_texts((const char *const[]){__VA_ARGS__},                             \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),    \
               reply)

/* The "link" part of a call's trace; the caller frees it. */
static json_t *trace_of(const struct uuid *id)
{
    struct trace trace;
    json_t *data = NULL;
    json_t *link;

    assert_int_equal(
        trace_get(&world.engine, &world.scope, &world.arena, id, &trace, NULL),
        CLEW_OK);
    assert_int_equal(json_parse(trace.data, &data, NULL), CLEW_OK);
    link = json_incref(json_object_get(data, "link"));
    assert_non_null(link);
    json_decref(data);
    return link;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static void a_trace_says_what_was_considered(void **state)
{
    struct call_result a = LINK("hello", "hi");
    struct call_result b = LINK("good", "hi", "other", "how are you?");
    char id[UUID_TEXT_SIZE];
    json_t *link;
    const json_t *steps;

    (void)state;
    link = trace_of(&a.request.id);
    assert_string_equal(text_of(link, "strategy"), "none");
    assert_string_equal(text_of(link, "branch_why"), "a new conversation");
    steps = json_object_get(link, "considered");
    assert_int_equal(json_array_size(steps), 1);
    assert_string_equal(text_of(json_array_get(steps, 0), "by"),
                        "prompt of a sub-agent");
    assert_true(
        json_is_false(json_object_get(json_array_get(steps, 0), "found")));
    json_decref(link);

    /* another reply came back than was captured: its messages decide */
    link = trace_of(&b.request.id);
    uuid_format(&a.request.id, id);
    assert_string_equal(text_of(link, "parent_request_id"), id);
    assert_string_equal(text_of(link, "strategy"), "exact");
    assert_string_equal(text_of(link, "branch_why"), "the parent's branch");
    steps = json_object_get(link, "considered");
    assert_int_equal(json_array_size(steps), 2);
    assert_string_equal(text_of(json_array_get(steps, 0), "by"),
                        "messages and reply");
    assert_string_equal(text_of(json_array_get(steps, 1), "by"), "messages");
    assert_true(
        json_is_true(json_object_get(json_array_get(steps, 1), "found")));
    json_decref(link);
}

static void a_branch_and_a_retry_say_why(void **state)
{
    struct call_result a = LINK("hello", "hi");
    struct call_result b = LINK("fine", "hi", "hello", "how are you?");
    struct call_result c = LINK("red", "hi", "hello", "which colour?");
    struct call_result d = LINK("fine", "hi", "hello", "how are you?");
    char id[UUID_TEXT_SIZE];
    json_t *link;

    (void)state;
    (void)a;
    link = trace_of(&c.request.id);
    assert_string_equal(text_of(link, "branch_why"),
                        "the parent has another child");
    json_decref(link);
    assert_true(d.is_retry);
    link = trace_of(&d.request.id);
    uuid_format(&b.request.id, id);
    assert_string_equal(text_of(link, "retry_of"), id);
    assert_string_equal(text_of(link, "branch_why"), "the same messages again");
    json_decref(link);
}

static void links_are_counted_by_strategy_once(void **state)
{
    struct call_stats before;
    struct call_stats after;

    (void)state;
    call_stats_get(&before);
    (void)LINK("hello", "hi");
    (void)LINK("fine", "hi", "hello", "how are you?");
    (void)LINK("fine", "hi", "hello", "how are you?");
    call_stats_get(&after);
    assert_int_equal(after.n_by[CALL_NONE] - before.n_by[CALL_NONE], 1);
    assert_int_equal(after.n_by[CALL_EXACT] - before.n_by[CALL_EXACT], 2);
    assert_int_equal(after.n_retries - before.n_retries, 1);
    assert_true(after.link_ns > before.link_ns);
}

DB_SQL(DROP_ANCHORS, "DELETE FROM request_anchors WHERE tenant = $1");
DB_SQL(UNLINK, "UPDATE requests SET strategy = 'none', parent_id = NULL"
               " WHERE tenant = $1 AND id = $2");

struct damage {
    const struct uuid *id;
};

static enum clew_status do_damage(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    const struct damage *damage = arg;
    enum clew_status status = db_exec(tx, &DROP_ANCHORS, DB_NO_ARGS, err);

    return status == CLEW_OK
               ? db_exec(tx, &UNLINK, DB_ARGS(db_uuid(damage->id)), err)
               : status;
}

#define SUMMARY                                                                \
    "The user builds a boat. The hull is done, the mast is ordered, and the "  \
    "sails are to be cut from the old tent before the end of the month."

static void a_rebuild_makes_anchors_and_traces_again(void **state)
{
    struct call_result a = LINK(SUMMARY, "sum it up");
    struct call_result b = LINK(
        "yes", "This session is being continued from a previous conversation "
               "that ran out of context. The conversation is summarized "
               "below:\n" SUMMARY "\nPlease continue the conversation");
    struct call_rebuild_report report;
    json_t *link;

    (void)state;
    assert_true(uuid_eq(&b.request.parent_id, &a.request.id));
    assert_int_equal(store_write(world.engine.store, &world.scope, do_damage,
                                 &(struct damage){&b.request.id}, NULL),
                     CLEW_OK);
    assert_int_equal(
        call_rebuild(&world.engine, &world.scope, NULL, NULL, &report, NULL),
        CLEW_OK);
    assert_int_equal(report.n_by[CALL_COMPACT], 1);
    assert_int_equal(report.n_changed, 1);
    link = trace_of(&b.request.id);
    assert_string_equal(text_of(link, "strategy"), "compact");
    json_decref(link);
    assert_int_equal(
        call_rebuild(&world.engine, &world.scope, NULL, NULL, &report, NULL),
        CLEW_OK);
    assert_int_equal(report.n_changed, 0);
}

#define CASE(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_trace_says_what_was_considered),
        CASE(a_branch_and_a_retry_say_why),
        CASE(links_are_counted_by_strategy_once),
        CASE(a_rebuild_makes_anchors_and_traces_again),
    };
    int failed;

    json_setup();
    failed = cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
    world_backend = "postgres";
    return failed + cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
}
