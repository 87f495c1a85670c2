/* SPDX-License-Identifier: Apache-2.0 */
/* Turns in one call leave what the same turns leave one by one. */
#include "support/talk.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/config.h"
#include "engine/ask/search.h"
#include "engine/capture/read_task.h"
#include "index/index.h"
#include "task/worker.h"

static const struct {
    char role;
    const char *text;
} script[] = {
    {'u', "Help me fix the 401 error from the billing API"},
    {'a', "Sure. Check whether the token has expired."},
    {'u', "I tried refreshing the token but it still fails"},
    {'a', "Then look at the clock of the server, it may be off."},
    {'t', "{\"ntp\": \"unsynchronised\", \"offset_ms\": 94000}"},
    {'a', "The server's clock is 94 seconds late."},
    {'u', "By the way, remind me to call mom on Friday"},
    {'a', "I will remind you to call your mom on Friday."},
    {'u', "Synchronising the clock fixed it, thanks!"},
    {'a', "Great, glad the billing API works again."},
    {'u', "<clew-context hash=\"1\">\nI live in Madrid.\n</clew-context>\n"
          "I live in Berlin and work at Siemens."},
    {'a', "Good to know."},
    {'u', "Can you help me plan a trip to Lisbon in October?"},
    {'a', "Of course. Do you prefer the train or a flight?"},
    {'u', "The train. We decided to stay four nights near the river."},
    {'a', "Four nights near the river, by train. Noted."},
    {'u', "Let's go back to the billing API. The 401 error is there again."},
    {'a', "Is the clock still synchronised?"},
    {'u', "No. Put it on hold, I moved to Hamburg and I need to unpack."},
    {'u', "What was the second hotel in Lisbon again?"},
};
#define N_SCRIPT (sizeof(script) / sizeof(script[0]))

/* What the turns of live calls are told. */
static void tell(struct buf *out, const struct capture_result *result)
{
    const struct updates *updates = &result->updates;

    (void)buf_printf(out, "%lld:\n", (long long)result->turn.seq);
    for (size_t i = 0; i < updates->n_notices; i++) {
        (void)buf_printf(out, " %.*s\n", (int)updates->notices[i].len,
                         updates->notices[i].s);
    }
    for (size_t i = 0; i < updates->n_memories; i++) {
        const struct memory_update *memory = &updates->memories[i];

        (void)buf_printf(out, " %s %.*s %.*s: %.*s\n", memory->change,
                         (int)memory->type.len, memory->type.s,
                         (int)memory->status.len, memory->status.s,
                         (int)memory->summary.len, memory->summary.s);
    }
}

/* Without the chat's id, which is drawn anew in each run. */
static struct str without_ids(struct arena *arena, struct str fields)
{
    char *text = arena_copy(arena, fields.s, fields.len);
    char *at = text;

    assert_non_null(text);
    while ((at = strstr(at, "\"chat_id\":\""))) {
        at += strlen("\"chat_id\":\"");
        memset(at, '-', UUID_TEXT_SIZE - 1);
    }
    return (struct str){text, fields.len};
}

/* What is kept in the end. */
static void tell_kept(struct buf *out, struct talk *talk)
{
    static const char *const types[] = {"effort", "fact",     "preference",
                                        "event",  "decision", "instruction"};

    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        size_t n = talk_count(talk, types[t]);

        for (size_t i = 0; i < n; i++) {
            const struct memory *memory = talk_memory(talk, types[t], i);
            struct str fields = without_ids(&talk->world.arena, memory->fields);

            (void)buf_printf(out, "%s %.*s: %.*s => %.*s %.*s\n", types[t],
                             (int)memory->status.len, memory->status.s,
                             (int)memory->summary.len, memory->summary.s,
                             (int)memory->resolution.len,
                             memory->resolution.s ? memory->resolution.s : "",
                             (int)fields.len, fields.s);
        }
    }
}

static bool is_read_by_model; /* else by rules */

/* What the script leaves, captured `step` turns at a time. */
static void run(size_t step, struct buf *told, struct buf *kept)
{
    static struct talk talk;
    struct capture_input inputs[N_SCRIPT];
    struct capture_result results[N_SCRIPT];
    struct clew_error err = {0};
    struct read_task_counts counts = {.n_waiting = -1};
    size_t n_tasks;

    talk_open(&talk);
    if (is_read_by_model) {
        world_use_reader(&talk.world);
    }
    talk_say(&talk, 'u', "hello"); /* makes the chat */
    for (size_t i = 0; i < N_SCRIPT; i++) {
        inputs[i] = (struct capture_input){
            .user_id = STR("ada"),
            .role = script[i].role == 'u'   ? TURN_USER
                    : script[i].role == 'a' ? TURN_ASSISTANT
                                            : TURN_TOOL,
            .content = {.text = str_of(script[i].text)},
            .chat_id = talk.chat_id,
            .created_at_ms = WORLD_NOW + (int64_t)(i + 2) * CLOCK_MINUTE_MS};
    }
    for (size_t i = 0; i < N_SCRIPT; i += step) {
        size_t count = N_SCRIPT - i < step ? N_SCRIPT - i : step;

        assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, inputs + i, count,
                                       results + i, &err),
                         CLEW_OK);
    }
    for (size_t i = 0; i < N_SCRIPT; i++) {
        tell(told, &results[i]);
    }
    assert_int_equal(worker_run_due(&talk.world.engine, 100, &n_tasks, &err),
                     CLEW_OK);
    assert_int_equal(read_task_count(&talk.world.engine, &counts, &err),
                     CLEW_OK);
    assert_int_equal(counts.n_waiting, 0);
    tell_kept(kept, &talk);
    talk_close(&talk);
}

static void leaves_the_same_at_every_step(void)
{
    static const size_t steps[] = {2, 7, N_SCRIPT};
    struct buf told;
    struct buf kept;

    buf_init(&told, 1 << 20);
    buf_init(&kept, 1 << 20);
    run(1, &told, &kept);
    /* the script does exercise it */
    assert_non_null(strstr(told.data, "[effort:open]"));
    assert_non_null(strstr(kept.data, "Berlin"));
    assert_null(strstr(kept.data, "Madrid")); /* clew said that itself */
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct buf many_told;
        struct buf many_kept;

        buf_init(&many_told, 1 << 20);
        buf_init(&many_kept, 1 << 20);
        run(steps[i], &many_told, &many_kept);
        assert_string_equal(many_kept.data, kept.data);
        if (steps[i] <= 8) { /* reader.live_turns */
            assert_string_equal(many_told.data, told.data);
        } else {
            assert_null(strstr(many_told.data, "[effort:open]"));
        }
        buf_release(&many_told);
        buf_release(&many_kept);
    }
    buf_release(&told);
    buf_release(&kept);
}

static void a_batch_leaves_what_single_turns_leave(void **state)
{
    (void)state;
    is_read_by_model = false;
    leaves_the_same_at_every_step();
}

static void so_it_does_where_the_model_reads(void **state)
{
    (void)state;
    is_read_by_model = true;
    leaves_the_same_at_every_step();
}

/* How many turns a question finds. */
static size_t ask(struct talk *talk, const char *question)
{
    struct search_query query = {.query = str_of(question),
                                 .user_id = STR("ada"),
                                 .kinds = RECALL_TURN,
                                 .limit = 10,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = WORLD_NOW * 2};
    struct search_result found;

    assert_int_equal(search_run(&talk->world.engine, &talk->world.scope,
                                &talk->world.arena, &query, &found, NULL),
                     CLEW_OK);
    return found.count;
}

static void turns_kept_before_anybody_asks_are_found(void **state)
{
    const struct config_flag flag = {"capture.observe", "false"};
    struct config *config = NULL;
    struct talk talk;

    (void)state;
    talk_open(&talk);
    assert_int_equal(config_load(NULL, &flag, 1, &config, NULL), CLEW_OK);
    talk.world.engine.config = config;
    talk_script(&talk, "u:The ferry leaves at nine|a:Noted");
    assert_false(
        index_takes_offers(talk.world.engine.indexes, talk.world.scope.tenant));
    assert_int_equal(ask(&talk, "ferry"), 2);
    /* from now on the index is told */
    assert_true(
        index_takes_offers(talk.world.engine.indexes, talk.world.scope.tenant));
    talk_say(&talk, 'u', "The tram is late");
    assert_int_equal(ask(&talk, "tram"), 3);
    talk.world.engine.config = talk.world.config;
    config_free(config);
    talk_close(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_leaves_what_single_turns_leave),
        cmocka_unit_test(so_it_does_where_the_model_reads),
        cmocka_unit_test(turns_kept_before_anybody_asks_are_found),
    };

    return WORLD_EACH(tests);
}
