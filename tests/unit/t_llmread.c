/* SPDX-License-Identifier: Apache-2.0 */
/* Reading by a language model: what it says is kept once, and replayed. */
#include "support/fake_http.h"
#include "support/llm_talk.h"
#include "support/one_talk.h"
#include "support/test.h"

#include "engine/core/advice.h"
#include "engine/core/consent.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/llmread/llmread.h"
#include "engine/llmread/stretch.h"
#include "engine/proof/forget.h"
#include "model/llm.h"
#include "store/db.h"

#include <stdio.h>

/* --- reading --------------------------------------------------------------
 */

#define BOILER "The boiler man came. He replaced the pump, 280 euros."

static void a_stretch_is_read_after_a_pause(void **state)
{
    const struct memory_view *kept;

    (void)state;
    answer(NOTE("T1", "He replaced the pump, 280 euros", "fact"), "", "", "");
    talk_say(&talk, 'u', BOILER);
    talk_say(&talk, 'a', "Good to know.");
    run_tasks();
    assert_false(was_asked()); /* somebody may go on */
    pause_talk();
    assert_non_null(strstr(fake_http_seen(fake), "The boiler man came"));
    assert_non_null(strstr(fake_http_seen(fake), "json_schema"));
    kept = find("llm", "He replaced the pump");
    if (!kept) { /* the reader was first: then there is one note, its own */
        kept = find("extracted", "He replaced the pump");
    }
    assert_non_null(kept);
    assert_int_equal(count_origin("llm") + count_origin("extracted"), 1);
    assert_non_null(strstr(trace(), "\"llm_read\""));
    assert_sound();
}

static void nothing_is_read_twice(void **state)
{
    (void)state;
    answer("", "", "", "");
    talk_say(&talk, 'u', BOILER);
    pause_talk();
    assert_true(was_asked());
    answer(NOTE("T1", "He replaced the pump", "fact"), "", "", "");
    pause_talk();
    talk_say(&talk, 'u', "My locker at the pool is number 77.");
    pause_talk();
    /* the old turn is shown to understand by, and cannot be cited */
    assert_non_null(strstr(fake_http_seen(fake), "before"));
    assert_null(find("llm", "He replaced the pump"));
    assert_sound();
}

static void the_two_readers_keep_one_note(void **state)
{
    struct memory_view *views = NULL;

    (void)state;
    talk_say(&talk, 'u', "My favourite colour is green.");
    if (list_of("extracted", &views) == 0) {
        fail_msg("the reader keeps nothing of it");
    }
    answer(NOTE("T1", "My favourite colour is green", "preference"), "", "",
           "");
    pause_talk();
    assert_true(was_asked());
    assert_int_equal(count_origin("llm"), 0);
    assert_int_equal(count_origin("extracted"), 1);
    assert_non_null(strstr(trace(), "\"known\":1"));
    assert_sound();
}

static void what_replaces_a_note_refines_it(void **state)
{
    const struct memory_view *older;
    const char *label;

    (void)state;
    answer(NOTE("T1", "the plot number is 4711", "fact"), "", "", "");
    talk_say(&talk, 'u', "Ah, the plot number is 4711 there.");
    pause_talk();
    answer("", "", "", "");
    talk_say(&talk, 'u', "They changed the plot number, now we are at 5822.");
    pause_talk(); /* shows the label */
    label = label_of("note\\\":", "the plot number is 4711");
    talk_say(&talk, 'u', "Sorry: the plot number became 9933.");
    answer(arena_printf(&talk.world.arena,
                        "{'turn':'T1','quote':'the plot number became 9933',"
                        "'about':'','type':'fact','hedged':false,"
                        "'updates':'%s'}",
                        label),
           "", "", "");
    pause_talk();
    older = find("llm", "4711");
    if (!older) {
        older = find("extracted", "4711");
    }
    assert_non_null(older);
    assert_true(older->is_superseded);
    assert_non_null(find("llm", "9933"));
    assert_false(find("llm", "9933")->is_superseded);
    assert_sound();
}

/* … also where the reader kept the new one, and did not see that it is. */
static void a_known_note_may_replace_another(void **state)
{
    const char *label;

    (void)state;
    answer("", "", "", "");
    talk_say(&talk, 'u', "My favourite colour is green.");
    pause_talk(); /* shows the label */
    label = label_of("note\\\":", "colour is green");
    talk_say(&talk, 'u', "My favourite paint colour is red.");
    assert_non_null(find("extracted", "paint colour is red"));
    assert_false(find("extracted", "green")->is_superseded);
    answer(
        arena_printf(&talk.world.arena,
                     "{'turn':'T1','quote':'My favourite paint colour is red',"
                     "'about':'','type':'preference','hedged':false,"
                     "'updates':'%s'}",
                     label),
        "", "", "");
    pause_talk();
    assert_true(find("extracted", "green")->is_superseded);
    /* it is the model's word then, and still one note */
    assert_int_equal(count_origin("llm"), 1);
    assert_int_equal(count_origin("extracted"), 1);
    assert_sound();
}

/* A model that was shown a guess means what another reading put there. */
static void a_label_holds_when_its_note_is_replaced(void **state)
{
    const char *label;

    (void)state;
    talk_say(&talk, 'u', "My favourite colour is green.");
    assert_int_equal(count_origin("extracted"), 1);
    answer(NOTE("T1", "favourite colour is green", "decision"), "", "", "");
    pause_talk(); /* shows the label, then replaces what has it */
    label = label_of("note\\\":", "My favourite colour is green");
    assert_int_equal(count_origin("extracted"), 0);
    assert_non_null(find("llm", "colour is green"));
    talk_say(&talk, 'u', "Well, that colour, it became violet for me.");
    answer(arena_printf(&talk.world.arena,
                        "{'turn':'T1','quote':'that colour, it became violet',"
                        "'about':'','type':'preference','hedged':false,"
                        "'updates':'%s'}",
                        label),
           "", "", "");
    pause_talk();
    assert_true(find("llm", "colour is green")->is_superseded);
    assert_sound();
}

static void efforts_open_and_end(void **state)
{
    const struct memory *effort;

    (void)state;
    talk_script(&talk, "u:So the washing machine walks across the floor."
                       "|a:Check whether it stands level."
                       "|u:One foot was screwed in too far, it stands now.");
    answer("",
           EFFORT("new", "T1", "the washing machine walks across the floor",
                  "resolved", "T3", "One foot was screwed in too far"),
           "", "");
    pause_talk();
    assert_true(was_asked());
    assert_int_equal(talk_count(&talk, "effort"), 1);
    effort = talk_memory(&talk, "effort", 0);
    assert_string_equal(effort->status.s, "resolved");
    assert_non_null(strstr(effort->resolution.s, "screwed in too far"));
    assert_sound();
}

/* Several things to be done, told in one turn, are several. */
static void one_turn_may_open_two(void **state)
{
    (void)state;
    talk_say(&talk, 'u',
             "Two things: the roof rack has to go back to Lidia, and we still "
             "lack a babysitter for the opera.");
    answer("",
           EFFORT("new", "T1", "the roof rack has to go back to Lidia", "open",
                  "", "") "," EFFORT("new", "T1",
                                     "we still lack a babysitter for the opera",
                                     "open", "", ""),
           "", "");
    pause_talk();
    assert_true(was_asked());
    assert_int_equal(talk_count(&talk, "effort"), 2);
    assert_sound();
}

/* People end a thing in words its beginning did not have. */
static void an_end_needs_no_word_of_its_beginning(void **state)
{
    const struct memory *effort;

    (void)state;
    answer("",
           EFFORT("new", "T1", "who could mind the kids that night", "open", "",
                  ""),
           "", "");
    talk_say(&talk, 'u', "No idea who could mind the kids that night.");
    pause_talk();
    assert_int_equal(talk_count(&talk, "effort"), 1);
    answer("", "", "", "");
    talk_say(&talk, 'u', "Anyway, good morning.");
    pause_talk(); /* shows the label */
    answer("",
           arena_printf(&talk.world.arena,
                        "{'effort':'%s','turn':'','quote':'','status':"
                        "'resolved','end_turn':'T1','end_quote':"
                        "'Grandma said yes'}",
                        label_of("effort\\\":", "mind the kids")),
           "", "");
    talk_say(&talk, 'u', "Grandma said yes, she arrives at six.");
    pause_talk();
    effort = talk_memory(&talk, "effort", 0);
    assert_string_equal(effort->status.s, "resolved");
    assert_non_null(strstr(effort->resolution.s, "Grandma said yes"));
    assert_sound();
}

/* A note that is taken back holds no words: they are told better. */
static void wrong_and_told_again_is_replaced(void **state)
{
    struct memory_view *views = NULL;
    const char *label;

    answer("", "", "", "");
    talk_say(&talk, 'u', "My favourite colour is green.");
    pause_talk(); /* shows the label */
    label = label_of("note\\\":", "My favourite colour is green");
    close_all(state);
    open_all(state);
    talk_say(&talk, 'u', "My favourite colour is green.");
    answer(NOTE("T1", "favourite colour is green", "preference"), "",
           arena_printf(&talk.world.arena, "'%s'", label), "");
    pause_talk();
    assert_int_equal(list_of("extracted", &views), 0);
    assert_int_equal(count_origin("llm"), 1);
    assert_sound();
}

/* The reader's guess at its type gives way; there is one note still. */
static void a_better_type_takes_its_place(void **state)
{
    (void)state;
    talk_say(&talk, 'u', "My favourite colour is green.");
    assert_int_equal(count_origin("extracted"), 1);
    answer(NOTE("T1", "My favourite colour is green", "decision"), "", "", "");
    pause_talk();
    assert_int_equal(count_origin("extracted"), 0);
    assert_int_equal(count_origin("llm"), 1);
    assert_string_equal(find("llm", "green")->memory.type.s, "decision");
    assert_sound();
}

static void what_is_none_is_taken_back(void **state)
{
    struct memory_view *views = NULL;
    const char *label;

    (void)state;
    answer("", "", "", "");
    talk_say(&talk, 'u', "My favourite colour is green.");
    pause_talk(); /* shows the label */
    label = label_of("note\\\":", "My favourite colour is green");
    close_all(state);
    open_all(state);
    talk_say(&talk, 'u', "My favourite colour is green.");
    answer("", "", arena_printf(&talk.world.arena, "'%s'", label), "");
    pause_talk();
    assert_int_equal(list_of("extracted", &views), 0);
    assert_non_null(strstr(trace(), "\"removed\":1"));
    assert_sound();
}

/* Who was mostly wrong takes nothing away. */
static void a_liar_takes_nothing_away(void **state)
{
    const char *label;

    answer("", "", "", "");
    talk_say(&talk, 'u', "My favourite colour is green.");
    pause_talk();
    label = label_of("note\\\":", "My favourite colour is green");
    close_all(state);
    open_all(state);
    talk_say(&talk, 'u', "My favourite colour is green.");
    answer(NOTE("T1", "My favourite colour is black", "fact"), "",
           arena_printf(&talk.world.arena, "'%s'", label), "");
    pause_talk();
    assert_int_equal(count_origin("extracted"), 1);
    assert_non_null(strstr(trace(), "\"trust\":1"));
    assert_sound();
}

/* --- replays --------------------------------------------------------------
 */

static void forgetting_a_turn_takes_what_was_read_of_it(void **state)
{
    struct forget_input input = {0};
    struct forget_receipt receipt;
    struct uuid turn_id;

    (void)state;
    talk_say(&talk, 'u', "Well, Helena took over the sponsoring there.");
    turn_id = talk.last.turn.id;
    talk_say(&talk, 'u', "And so the venue moves to the old town hall.");
    answer(NOTE("T1", "Helena took over the sponsoring", "fact") "," NOTE(
               "T2", "the venue moves to the old town hall", "decision"),
           "", "", "");
    pause_talk();
    input.turn_ids = &turn_id;
    input.n_turn_ids = 1;
    assert_int_equal(forget_run(&talk.world.engine, &talk.world.scope,
                                &talk.world.arena, &input, &receipt, NULL),
                     CLEW_OK);
    assert_null(find("llm", "Helena"));
    assert_null(find("extracted", "Helena"));
    (void)rebuild(false);
    assert_null(find("llm", "Helena"));
    /* what stays is read anew when something is said */
    answer(NOTE("T1", "the venue moves to the old town hall", "decision"), "",
           "", "");
    talk_say(&talk, 'u', "Fine.");
    pause_talk();
    assert_true(find("llm", "old town hall") || find("extracted", "town hall"));
    assert_null(strstr(fake_http_seen(fake), "Helena"));
    assert_int_equal(rebuild(true).n_differences, 0);
}

DB_SQL(COUNT_ANSWERS, "SELECT COUNT(*) FROM llm_answers WHERE tenant = $1"
                      " AND answer LIKE '%Helena%'");

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    return rows_number(tx, &COUNT_ANSWERS, DB_NO_ARGS, arg, err);
}

static struct uuid to_forget;

static void forget_it(void)
{
    struct forget_input input = {.turn_ids = &to_forget, .n_turn_ids = 1};
    struct forget_receipt receipt;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    assert_int_equal(forget_run(&talk.world.engine, &talk.world.scope, &arena,
                                &input, &receipt, NULL),
                     CLEW_OK);
    arena_release(&arena);
}

static void an_answer_that_comes_after_a_forget_is_not_kept(void **state)
{
    int64_t count = -1;

    (void)state;
    talk_say(&talk, 'u', "Well, Helena took over the sponsoring there.");
    to_forget = talk.last.turn.id;
    talk_say(&talk, 'u', "And so the venue moves to the old town hall.");
    answer(NOTE("T1", "Helena took over the sponsoring", "fact"), "", "", "");
    fake_http_meanwhile(fake, forget_it);
    pause_talk();
    assert_int_equal(store_read(talk.world.engine.store, &talk.world.scope,
                                do_count, &count, NULL),
                     CLEW_OK);
    assert_int_equal(count, 0);
    assert_null(find("llm", "Helena"));
    /* what stays is read later */
    answer(NOTE("T1", "the venue moves to the old town hall", "decision"), "",
           "", "");
    clock_add_ms(&talk.world.clock, 10 * CLOCK_MINUTE_MS);
    run_tasks();
    assert_non_null(strstr(trace(), "llm_read"));
    assert_null(strstr(fake_http_seen(fake), "Helena"));
    (void)rebuild(false);
    assert_int_equal(rebuild(true).n_differences, 0);
}

static void an_llm_that_is_gone_leaves_all_as_it_is(void **state)
{
    (void)state;
    answer(NOTE("T1", "Helena took over the sponsoring", "fact"), "", "", "");
    talk_say(&talk, 'u', "Well, Helena took over the sponsoring there.");
    pause_talk();
    llm_close(talk.world.engine.llm);
    talk.world.engine.llm = NULL;
    talk_say(&talk, 'u', "The caretaker keeps a spare key.");
    pause_talk();
    assert_int_equal(rebuild(false).n_differences, 0);
    assert_int_equal(rebuild(true).n_differences, 0);
}

static void the_anthropic_api_reads_too(void **state)
{
    (void)state;
    open_model("anthropic");
    fake_http_answer(
        fake, 200,
        "{\"content\":[{\"type\":\"tool_use\",\"name\":\"answer\",\"input\":"
        "{\"notes\":[{\"turn\":\"T1\",\"quote\":\"the old town hall\","
        "\"about\":\"\",\"type\":\"fact\",\"hedged\":true,\"updates\":"
        "\"\"}],\"efforts\":[],\"wrong\":[],\"not_efforts\":[]}}],"
        "\"usage\":{\"input_tokens\":7,\"output_tokens\":3}}");
    talk_say(&talk, 'u', "Perhaps we meet in the old town hall, who knows.");
    pause_talk();
    assert_non_null(strstr(trace(), "\"llm_read\""));
    assert_non_null(strstr(trace(), "\"dropped\":{}"));
    assert_sound();
}

/* --- when -----------------------------------------------------------------
 */

static void off_asks_nobody_and_history_waits(void **state)
{
    struct capture_input input = {.user_id = STR("ada"),
                                  .role = TURN_USER,
                                  .content = {.text = STR(BOILER)},
                                  .channel = STR("sms"),
                                  .created_at_ms =
                                      WORLD_NOW - 9 * CLOCK_DAY_MS};

    answer("", "", "", "");
    assert_int_equal(capture_turns(&talk.world.engine, &talk.world.scope,
                                   &talk.world.arena, &input, 1, &talk.last,
                                   NULL),
                     CLEW_OK);
    pause_talk();
    assert_false(was_asked());
    close_all(state);
    (void)open_as("off");
    answer("", "", "", "");
    talk_say(&talk, 'u', BOILER);
    pause_talk();
    assert_false(was_asked());
}

static void what_the_reader_is_sure_of_is_not_asked_about(void **state)
{
    close_all(state);
    (void)open_as("unsure");
    answer("", "", "", "");
    talk_say(&talk, 'u', "Hi there!");
    pause_talk();
    assert_false(was_asked());
    talk_say(&talk, 'u', "Der Hausmeister hat den Schlüssel für den Keller.");
    pause_talk();
    assert_true(was_asked());
    assert_sound();
}

/* Tasks of this kind with this status, however old. */
static size_t count_tasks(const char *status)
{
    struct task_filter filter = {.status = str_of(status), .limit = 100};
    struct task *tasks = NULL;
    size_t count = 0;
    size_t n = 0;

    assert_int_equal(task_list(&talk.world.engine, &talk.world.scope,
                               &talk.world.arena, &filter, &tasks, &count,
                               NULL),
                     CLEW_OK);
    for (size_t i = 0; i < count; i++) {
        n += str_eq(tasks[i].kind, STR(LLMREAD_TASK));
    }
    return n;
}

static void forbid(bool is_forbidden)
{
    assert_int_equal(
        consent_set(&talk.world.engine, &talk.world.scope, is_forbidden, NULL),
        CLEW_OK);
}

static void what_waits_is_dropped_where_it_is_forbidden(void **state)
{
    struct llmread_report report;
    struct clew_error err = {0};

    (void)state;
    answer("", "", "", "");
    talk_say(&talk, 'u', BOILER);
    assert_int_equal(count_tasks("pending"), 1);
    forbid(true);
    pause_talk();
    assert_string_equal(fake_http_seen(fake), "");
    assert_int_equal(count_tasks("pending"), 0);
    assert_int_equal(count_tasks("failed"), 0);
    assert_int_equal(llmread_next(&talk.world.engine, &talk.world.scope,
                                  &talk.world.arena, &talk.last.turn.chat_id,
                                  false, &report, &err),
                     CLEW_FORBIDDEN);
    assert_string_equal(err.code, CONSENT_NONE);
    assert_sound();
    /* what was not read is still unread */
    forbid(false);
    talk_say(&talk, 'u', "My locker at the pool is number 77.");
    pause_talk();
    assert_non_null(strstr(fake_http_seen(fake), "The boiler man came"));
    assert_true(was_asked());
    assert_sound();
}

static void a_long_chat_is_read_in_stretches(void **state)
{
    struct advice_usage *usages = NULL;
    size_t count = 0;

    (void)state;
    answer("", "", "", "");
    for (int i = 0; i < 45; i++) {
        talk_say(&talk, 'u',
                 arena_printf(&talk.world.arena, "Shelf %d holds jars.", i));
    }
    pause_talk();
    assert_int_equal(advice_usage_list(&talk.world.engine, &talk.world.scope,
                                       &talk.world.arena, 1, &usages, &count,
                                       NULL),
                     CLEW_OK);
    assert_int_equal(usages[0].calls, 2);
    assert_non_null(strstr(fake_http_seen(fake), "Shelf 44"));
    assert_sound();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    static const struct CMUnitTest tests[] = {
        CASE(a_stretch_is_read_after_a_pause),
        CASE(nothing_is_read_twice),
        CASE(the_two_readers_keep_one_note),
        CASE(what_replaces_a_note_refines_it),
        CASE(a_known_note_may_replace_another),
        CASE(a_label_holds_when_its_note_is_replaced),
        CASE(efforts_open_and_end),
        CASE(one_turn_may_open_two),
        CASE(an_end_needs_no_word_of_its_beginning),
        CASE(wrong_and_told_again_is_replaced),
        CASE(a_better_type_takes_its_place),
        CASE(what_is_none_is_taken_back),
        CASE(a_liar_takes_nothing_away),
        CASE(forgetting_a_turn_takes_what_was_read_of_it),
        CASE(an_answer_that_comes_after_a_forget_is_not_kept),
        CASE(an_llm_that_is_gone_leaves_all_as_it_is),
        CASE(the_anthropic_api_reads_too),
        CASE(off_asks_nobody_and_history_waits),
        CASE(what_the_reader_is_sure_of_is_not_asked_about),
        CASE(what_waits_is_dropped_where_it_is_forbidden),
        CASE(a_long_chat_is_read_in_stretches),
    };

    return WORLD_EACH(tests);
}
