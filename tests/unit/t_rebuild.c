/* SPDX-License-Identifier: Apache-2.0 */
/* The log replayed reaches the same state; what differs is found and mended. */
#include "support/fake_http.h"
#include "support/pg.h"
#include "support/one_talk.h"
#include "support/assert_ok.h"
#include "support/test.h"

#include "base/json.h"
#include "base/sha256.h"
#include "engine/ask/start.h"
#include "engine/call/call.h"
#include "engine/capture/close.h"
#include "engine/chat/chat.h"
#include "engine/chat/session.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_feedback.h"
#include "engine/chatlink/chatlink_tuning.h"
#include "engine/core/task.h"
#include "engine/effort/effort_thread.h"
#include "engine/episode/compact.h"
#include "engine/episode/episode.h"
#include "engine/memory/lineage.h"
#include "engine/proof/export.h"
#include "engine/proof/forget.h"
#include "engine/proof/rebuild.h"
#include "engine/proof/restore.h"
#include "engine/proof/verify.h"
#include "engine/thought/memory_view.h"
#include "engine/thought/thought.h"
#include "engine/thought/undo.h"
#include "engine/topic/chain.h"
#include "model/llm.h"
#include "store/db.h"
#include "task/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MINUTE CLOCK_MINUTE_MS
#define HOUR CLOCK_HOUR_MS
#define DAY CLOCK_DAY_MS

#define ENGINE (&talk.world.engine)
#define SCOPE (&talk.world.scope)
#define ARENA (&talk.world.arena)

static struct rebuild_report rebuild(bool is_dry_run)
{
    struct rebuild_options options = {.is_dry_run = is_dry_run};
    struct rebuild_report report = {0};
    struct clew_error err = {0};

    assert_ok(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err));
    return report;
}

static void expect_same(const struct rebuild_report *report)
{
    for (size_t i = 0; i < report->n_shown; i++) {
        print_message("%s %s: %s %s\n", report->shown[i].what,
                      report->shown[i].type, report->shown[i].key,
                      report->shown[i].column ? report->shown[i].column : "");
    }
    assert_int_equal(report->n_tasks, 0);
    assert_int_equal(report->n_differences, 0);
}

/* All rows of the tenant, as an export has them. */
static char *dump(void)
{
    char path[] = "/tmp/clew-dump-XXXXXX";
    int fd = mkstemp(path);
    struct clew_error err = {0};
    off_t size;
    char *text;

    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_ok(export_write(ENGINE, SCOPE, ARENA, fd, &err));
    size = lseek(fd, 0, SEEK_END);
    assert_true(size > 0);
    text = arena_zero(ARENA, (size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    assert_int_equal(close(fd), 0);
    return text;
}

/* The lines of a dump but its head, which says when it was made. */
static void expect_same_dump(const char *before, const char *after)
{
    size_t line = 0;

    while (*before || *after) {
        size_t a = strcspn(before, "\n");
        size_t b = strcspn(after, "\n");

        if (line++ > 0 && (a != b || memcmp(before, after, a) != 0)) {
            fail_msg("before: %.*s\nafter:  %.*s", (int)a, before, (int)b,
                     after);
        }
        before += a + (before[a] == '\n');
        after += b + (after[b] == '\n');
    }
}

static void run_tasks(void)
{
    struct clew_error err = {0};
    size_t run;

    assert_ok(worker_run_due(ENGINE, 10000, &run, &err));
}

/* --- a varied history ------------------------------------------------------
 */

static const char *const said[] = {
    "What's the weather in New York?",
    "Oh, and what is it on Thursday?",
    "I live in Hamburg and work for the harbour museum.",
    "Actually I moved to Bremen last month.",
    "We decided to use PostgreSQL instead of MySQL for the museum's archive.",
    "My sister Greta is allergic to peanuts.",
    "I need to fix the login page of the archive.",
    "I tried clearing the cookies but the login page still fails.",
    "That worked, the login page is fixed now.",
    "Back to the weather: what about Boston?",
    "By the way, who painted The Night Watch?",
    "Let's close this topic.",
    "I prefer tea to coffee in the morning.",
    "The meeting with Wanda Quill is on Monday at ten.",
    "Can you recommend an Italian restaurant near the museum?",
    "That's not what I meant.",
    "Didn't we talk about the restaurant already?",
    "My favourite colour is green.",
    "No, my favourite colour is blue now.",
    "The printer is jammed again. How do I get the paper out?",
    "Open the back cover, pull the paper out slowly, then restart it.",
    "Great, that solved it!",
    "Tell me about thought chains and how topics branch.",
    "It depends on the pressure; a low brings rain to the coast.",
    "I think the budget for the new hall is too small.",
    "We should plan the trip to Lisbon with Omar.",
    "Omar wants to fly on Friday, the hotel is booked.",
    "Remember that the archive's backup runs at night.",
    "How long does the backup take?",
    "About two hours, if the disks are idle.",
};
#define N_SAID (sizeof(said) / sizeof(said[0]))

struct history {
    uint64_t seed;
    int64_t now_ms;
    struct uuid chats[4000];
    size_t n_chats;
    struct uuid thoughts[500];
    size_t n_thoughts;
    size_t n_forgets;
};

static unsigned pick(struct history *h, unsigned n)
{
    h->seed = h->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((h->seed >> 33) % n);
}

static void pass_time(struct history *h)
{
    static const int64_t steps[] = {1000,        20000,    MINUTE,   5 * MINUTE,
                                    45 * MINUTE, 3 * HOUR, 30 * HOUR};

    h->now_ms += steps[pick(h, 7)] + pick(h, 997);
    clock_set_ms(&talk.world.clock, h->now_ms);
}

static void note_chat(struct history *h, const struct uuid *id)
{
    for (size_t i = 0; i < h->n_chats; i++) {
        if (uuid_eq(&h->chats[i], id)) {
            return;
        }
    }
    assert_true(h->n_chats < sizeof(h->chats) / sizeof(h->chats[0]));
    h->chats[h->n_chats++] = *id;
}

static struct str user_of(struct history *h)
{
    static const char *const users[] = {"ada", "bob", "eve"};

    return str_of(users[pick(h, 3)]);
}

static void talk_some(struct history *h)
{
    static const char *const channels[] = {"sms", "whatsapp", "web", "email"};
    struct capture_input inputs[4];
    struct capture_result results[4];
    struct clew_error err = {0};
    struct str user = user_of(h);
    size_t count = pick(h, 3) ? 1 : 1 + pick(h, 4);
    enum clew_status status;

    memset(inputs, 0, sizeof(inputs));
    for (size_t i = 0; i < count; i++) {
        struct capture_input *in = &inputs[i];

        in->user_id = user;
        in->role = pick(h, 3) == 0 ? TURN_ASSISTANT : TURN_USER;
        in->content.text = str_of(said[pick(h, N_SAID)]);
        in->created_at_ms = h->now_ms + (int64_t)i * 1500;
        if (pick(h, 40) == 0) { /* imported, or a clock set back */
            in->created_at_ms -= 9 * DAY;
        }
        if (h->n_chats > 0 && pick(h, 4) == 0) {
            in->chat_id = h->chats[pick(h, (unsigned)h->n_chats)];
        } else if (pick(h, 6) != 0) {
            in->channel = str_of(channels[pick(h, 4)]);
        }
    }
    status = capture_turns(ENGINE, SCOPE, ARENA, inputs, count, results, &err);
    if (status == CLEW_NOT_FOUND) {
        return; /* the chat was forgotten */
    }
    assert_ok(status);
    for (size_t i = 0; i < count; i++) {
        note_chat(h, &results[i].turn.chat_id);
    }
}

/* An action may meet what is forgotten or closed; all else is a failure. */
static void expect_done(enum clew_status status, const struct clew_error *err)
{
    if (status != CLEW_OK && status != CLEW_NOT_FOUND &&
        status != CLEW_CONFLICT && status != CLEW_INVALID) {
        fail_msg("%s", err->message);
    }
}

static void do_chats(struct history *h)
{
    struct clew_error err = {0};
    struct uuid id = h->chats[pick(h, (unsigned)h->n_chats)];
    struct chat_new input = {.user_id = user_of(h), .title = STR("By hand")};
    struct str title = STR("A better title");
    int64_t minutes = 10 + pick(h, 100);
    struct chat_change change = {.title = &title};
    struct chat chat;

    switch (pick(h, 5)) {
    case 0:
        assert_ok(chat_create(ENGINE, SCOPE, ARENA, &input, &chat, &err));
        note_chat(h, &chat.id);
        break;
    case 1:
        if (pick(h, 2)) {
            change.inactivity_minutes = &minutes;
        }
        expect_done(chat_patch(ENGINE, SCOPE, ARENA, &id, &change, &chat, &err),
                    &err);
        break;
    case 2:
        expect_done(chat_close(ENGINE, SCOPE, ARENA, &id, &chat, &err), &err);
        break;
    default:
        if (chat_fork_at(ENGINE, SCOPE, ARENA, &id, pick(h, 2) ? -1 : 1,
                         (struct str){0}, &chat, &err) == CLEW_OK) {
            note_chat(h, &chat.id);
        }
    }
}

static void do_chains(struct history *h)
{
    struct chain_filter filter = {.limit = 20};
    struct clew_error err = {0};
    struct chain *chains = NULL;
    struct chain chain;
    size_t count = 0;

    assert_ok(chain_list(ENGINE, SCOPE, ARENA, &filter, &chains, &count, &err));
    if (count > 0) {
        struct uuid id = chains[pick(h, (unsigned)count)].id;

        expect_done(
            pick(h, 2) ? chain_conclude(ENGINE, SCOPE, ARENA, &id, &chain, &err)
                       : chain_reopen(ENGINE, SCOPE, ARENA, &id, &chain, &err),
            &err);
    }
}

static void do_links(struct history *h)
{
    struct chatlink_filter filter = {.limit = 20};
    struct clew_error err = {0};
    struct chatlink_decision *links = NULL;
    struct chatlink_decision link;
    size_t count = 0;

    assert_ok(chatlink_decision_list(ENGINE, SCOPE, ARENA, &filter, &links,
                                     &count, &err));
    if (count > 0) {
        assert_ok(chatlink_feedback(ENGINE, SCOPE, ARENA,
                                    &links[pick(h, (unsigned)count)].id,
                                    pick(h, 2) == 0, &link, &err));
    }
}

static void do_memories(struct history *h)
{
    struct memory_filter filter = {.limit = 30};
    struct clew_error err = {0};
    struct memory_view *views = NULL;
    struct memory_view view;
    struct memory memory;
    struct effort effort;
    struct str tags = STR("kept,by-hand");
    struct str resolution = STR("It was the cable.");
    struct memory_action action = {0};
    struct uuid id;
    size_t count = 0;

    assert_ok(
        memory_view_list(ENGINE, SCOPE, ARENA, &filter, &views, &count, &err));
    if (count == 0) {
        return;
    }
    id = views[pick(h, (unsigned)count)].memory.id;
    switch (pick(h, 6)) {
    case 0:
        action.tags = &tags;
        break;
    case 1:
        action.status = "resolved";
        action.resolution = &resolution;
        break;
    case 2:
        expect_done(lineage_retract(ENGINE, SCOPE, ARENA, &id, &memory, &err),
                    &err);
        return;
    case 3:
        expect_done(effort_expand(ENGINE, SCOPE, ARENA, &id, &effort, &err),
                    &err);
        return;
    case 4:
        expect_done(effort_collapse(ENGINE, SCOPE, ARENA, &id,
                                    &(struct effort_ending){resolution, {0}},
                                    &effort, &err),
                    &err);
        return;
    default:
        action.status = "open";
    }
    expect_done(
        memory_view_act(ENGINE, SCOPE, ARENA, &id, &action, &view, &err), &err);
}

static void do_spawn(struct history *h)
{
    struct effort_spawn spawn = {.user_id = user_of(h),
                                 .goal = STR("Sort the museum's letters")};
    struct clew_error err = {0};
    struct effort effort;

    if (pick(h, 2)) {
        spawn.chat_id = h->chats[pick(h, (unsigned)h->n_chats)];
    }
    if (effort_spawn(ENGINE, SCOPE, ARENA, &spawn, &effort, &err) == CLEW_OK) {
        note_chat(h, &effort.thread_id);
    }
}

static void do_thought(struct history *h)
{
    struct thought_input input = {.agent_id = STR("agent-1"),
                                  .agent_name = STR("Agent"),
                                  .key_id = STR("k1"),
                                  .context = STR("the museum")};
    struct clew_error err = {0};
    struct thought_result result;
    enum clew_status status;

    input.prompt = str_of(arena_printf(
        ARENA, "The archive's index number %u must be rebuilt after a move.",
        pick(h, 1000)));
    if (h->n_thoughts > 0 && pick(h, 2)) {
        input.refines = h->thoughts[pick(h, (unsigned)h->n_thoughts)];
    }
    status = thought_handle(ENGINE, SCOPE, ARENA, &input, &result, &err);
    expect_done(status, &err);
    if (status == CLEW_OK && !uuid_is_nil(&result.contributed) &&
        h->n_thoughts < 500) {
        h->thoughts[h->n_thoughts++] = result.contributed;
    }
}

static void do_session(struct history *h)
{
    struct clew_error err = {0};
    struct session session;

    (void)h;
    if (!uuid_is_nil(&talk.last.turn.session_id)) {
        expect_done(session_end(ENGINE, SCOPE, ARENA,
                                &talk.last.turn.session_id, &session, &err),
                    &err);
    }
}

static void do_call(struct history *h)
{
    struct clew_error err = {0};
    struct call_result result;
    json_t *messages = json_array();
    json_t *reply = json_pack("{s:s,s:s}", "role", "assistant", "content",
                              said[pick(h, N_SAID)]);
    struct call_input input = {.user_id = user_of(h),
                               .created_at_ms = h->now_ms,
                               .messages = messages,
                               .reply = reply};
    unsigned length = 1 + pick(h, 3);

    for (unsigned i = 0; i < length; i++) {
        json_array_append_new(messages,
                              json_pack("{s:s,s:s}", "role",
                                        i % 2 ? "assistant" : "user", "content",
                                        said[i * 3 + pick(h, 2)]));
    }
    assert_ok(call_link(ENGINE, SCOPE, ARENA, &input, &result, &err));
    note_chat(h, &result.request.chat_id);
    json_decref(messages);
    json_decref(reply);
}

static void do_compact(struct history *h)
{
    struct clew_error err = {0};
    struct episode_view *views;
    struct uuid id = h->chats[pick(h, (unsigned)h->n_chats)];
    size_t count;

    expect_done(compact_chat(ENGINE, SCOPE, ARENA, &id, &views, &count, &err),
                &err);
}

static void do_start(struct history *h)
{
    struct clew_error err = {0};
    struct start_choice choice;
    struct start start;

    assert_ok(start_begin(ENGINE, SCOPE, ARENA, user_of(h),
                          STR("the museum's archive"), &start, &err));
    expect_done(start_choose(ENGINE, SCOPE, ARENA, &start.id, (struct str){0},
                             pick(h, 2) ? STR("new") : STR("fork"), &choice,
                             &err),
                &err);
}

static void do_forget(struct history *h)
{
    struct clew_error err = {0};
    struct forget_input input = {0};
    struct forget_receipt receipt;
    struct turn *turns = NULL;
    struct memory_filter filter = {.limit = 10};
    struct memory_view *views = NULL;
    struct uuid id = h->chats[pick(h, (unsigned)h->n_chats)];
    size_t count = 0;

    switch (pick(h, 5)) {
    case 0:
        input.chat_id = id;
        break;
    case 1:
        assert_ok(memory_view_list(ENGINE, SCOPE, ARENA, &filter, &views,
                                   &count, &err));
        if (count == 0) {
            return;
        }
        id = views[pick(h, (unsigned)count)].memory.id;
        input.memory_ids = &id;
        input.n_memory_ids = 1;
        break;
    default:
        if (turn_list(ENGINE, SCOPE, ARENA, &id, 0, 100, &turns, &count,
                      &err) != CLEW_OK ||
            count == 0) {
            return;
        }
        id = turns[pick(h, 2) ? 0 : pick(h, (unsigned)count)].id;
        input.turn_ids = &id;
        input.n_turn_ids = 1;
    }
    expect_done(forget_run(ENGINE, SCOPE, ARENA, &input, &receipt, &err), &err);
    h->n_forgets++;
}

/* What may happen beside talk; the last one forgets. */
static void (*const doings[])(struct history *) = {
    do_chats,   do_chains,  do_links, do_memories, do_spawn, do_thought,
    do_session, do_compact, do_call,  do_start,    do_forget};
#define N_DOINGS (sizeof(doings) / sizeof(doings[0]))

static void live(struct history *h, int steps, bool can_forget)
{
    for (int i = 0; i < steps; i++) {
        pass_time(h);
        if (h->n_chats == 0 || pick(h, 3) != 0) {
            talk_some(h);
        } else {
            doings[pick(h, N_DOINGS - (can_forget ? 0 : 1))](h);
        }
        if (pick(h, 5) == 0) {
            run_tasks();
        }
    }
}

static void settle(struct history *h)
{
    h->now_ms += 2 * DAY;
    clock_set_ms(&talk.world.clock, h->now_ms);
    run_tasks();
}

/* The scratch store is the same for both; what differs is read and written. */
static uint64_t n_rounds(void)
{
    return strcmp(world_backend, "sqlite") == 0 ? 2 : 1;
}

static int n_steps(int n)
{
    return strcmp(world_backend, "sqlite") == 0 ? n : n / 2;
}

static void a_replay_of_plain_talk_changes_nothing(void **state)
{
    struct rebuild_report report;
    const char *before;

    (void)state;
    talk_script(&talk, "u:I live in Hamburg.|a:Nice.|u:I need to fix the login"
                       " page.|a:Clear the cookies.|u:That worked, thanks!");
    before = dump();
    report = rebuild(true);
    expect_same(&report);
    assert_int_equal(report.n_turns, 5);
    report = rebuild(false);
    expect_same(&report);
    expect_same_dump(before, dump());
}

static void a_varied_history_replays_to_the_same_state(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= n_rounds(); seed++) {
        struct history h = {.seed = seed * 77, .now_ms = WORLD_NOW};
        struct rebuild_report report;
        const char *before;

        close_talk(NULL);
        open_talk(NULL);
        live(&h, n_steps(200), false);
        before = dump();
        report = rebuild(true);
        expect_same(&report);
        assert_true(report.n_turns > 50 && report.n_actions > 20);
        assert_int_equal(report.n_skipped, 0);
        report = rebuild(false);
        expect_same(&report);
        expect_same_dump(before, dump());
    }
}

static void what_was_forgotten_leaves_no_trace_after_a_rebuild(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= n_rounds(); seed++) {
        struct history h = {.seed = seed * 991, .now_ms = WORLD_NOW};
        struct rebuild_report report;
        const char *before;

        close_talk(NULL);
        open_talk(NULL);
        live(&h, n_steps(200), true);
        assert_true(h.n_forgets > 0);
        settle(&h); /* the rebuild that the forgetting asked for */
        before = dump();
        report = rebuild(true);
        expect_same(&report);
        report = rebuild(false);
        expect_same(&report);
        expect_same_dump(before, dump());
    }
}

/* --- what differs ----------------------------------------------------------
 */

DB_SQL(LOSE_CHAIN, "DELETE FROM chains WHERE tenant = $1");
DB_SQL(ALTER_MEMORY, "UPDATE memories SET summary = 'something else'"
                     " WHERE tenant = $1 AND type = 'fact'");
DB_SQL(ADD_CLAIM,
       "INSERT INTO chain_steps (tenant, chat_id, seq, position, chain_id,"
       " kind, claims, said) SELECT tenant, chat_id, seq, 99, chain_id, kind,"
       " '99:0+1a', 'never said' FROM chain_steps WHERE tenant = $1 LIMIT 1");
DB_SQL(LOSE_TASKS, "DELETE FROM tasks WHERE tenant = $1");
DB_SQL(LOSE_MEMORY, "DELETE FROM memories WHERE tenant = $1"
                    " AND type = 'fact'");
DB_SQL(AS_IMPORTED, "UPDATE turns SET log_seq = change_seq WHERE tenant = $1");
DB_SQL(UNFLAG, "UPDATE turns SET log_flags = NULL WHERE tenant = $1");

struct sql_work {
    const struct db_sql *sql;
    const struct uuid *id;
};

static enum clew_status do_sql(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    const struct sql_work *work = arg;

    return work->id ? db_exec(tx, work->sql, DB_ARGS(db_uuid(work->id)), err)
                    : db_exec(tx, work->sql, DB_NO_ARGS, err);
}

static void damage(const struct db_sql *sql, const struct uuid *id)
{
    struct sql_work work = {sql, id};
    struct clew_error err = {0};

    assert_ok(store_write(ENGINE->store, SCOPE, do_sql, &work, &err));
}

static const struct rebuild_kind_report *
kind_of(const struct rebuild_report *report, const char *type)
{
    for (size_t i = 0; i < report->n_kinds; i++) {
        if (strcmp(report->kinds[i].type, type) == 0) {
            return &report->kinds[i];
        }
    }
    fail_msg("no %s in the report", type); /* does not return */
    return &report->kinds[0];
}

static void say_some(void)
{
    talk_script(&talk, "u:I live in Hamburg.|a:Nice.|u:What's the weather in"
                       " New York?|a:Rain.|u:My favourite colour is green.");
}

/* Damage is found and named, mended, and all is as it was. */
static void expect_mended(const char *before, const char *type,
                          const char *what)
{
    struct rebuild_report report = rebuild(true);

    assert_true(report.n_differences > 0);
    assert_true(report.n_shown > 0);
    assert_string_equal(report.shown[0].what, what);
    assert_string_equal(report.shown[0].type, type);
    report = rebuild(false);
    assert_true(report.n_differences > 0);
    expect_same_dump(before, dump());
    report = rebuild(true);
    expect_same(&report);
}

static void a_lost_chain_is_found_and_made_again(void **state)
{
    const char *before;

    (void)state;
    say_some();
    before = dump();
    damage(&LOSE_CHAIN, NULL);
    expect_mended(before, "chain", "missing");
}

static void an_altered_memory_is_found_and_set_right(void **state)
{
    struct rebuild_report report;
    const char *before;

    (void)state;
    say_some();
    before = dump();
    damage(&ALTER_MEMORY, NULL);
    report = rebuild(true);
    assert_true(kind_of(&report, "memory")->n_changed > 0);
    assert_string_equal(report.shown[0].column, "summary");
    expect_mended(before, "memory", "changed");
}

static void an_invented_claim_is_found_and_removed(void **state)
{
    const char *before;

    (void)state;
    say_some();
    before = dump();
    damage(&ADD_CLAIM, NULL);
    expect_mended(before, "chain_step", "extra");
}

/* What indexes hold is found again after it was mended. */
static void a_memory_made_again_is_found_by_search(void **state)
{
    struct verify_report report = {0};
    struct clew_error err = {0};

    (void)state;
    say_some();
    assert_ok(verify_run(ENGINE, ARENA, NULL, &report, &err));
    assert_int_equal(report.n_faults, 0);
    damage(&LOSE_MEMORY, NULL);
    assert_ok(verify_run(ENGINE, ARENA, NULL, &report, &err));
    assert_true(report.n_faults > 0);
    (void)rebuild(false);
    assert_ok(verify_run(ENGINE, ARENA, NULL, &report, &err));
    for (size_t i = 0; i < report.n_faults; i++) {
        print_message("%s\n", report.faults[i].rule);
    }
    assert_int_equal(report.n_faults, 0);
}

static void a_lost_task_is_added_again(void **state)
{
    struct task_filter filter = {.limit = 100};
    struct clew_error err = {0};
    struct task *tasks;
    struct rebuild_report report;
    size_t before = 0;
    size_t after = 0;

    (void)state;
    say_some();
    assert_ok(task_list(ENGINE, SCOPE, ARENA, &filter, &tasks, &before, &err));
    assert_true(before > 0);
    damage(&LOSE_TASKS, NULL);
    report = rebuild(false);
    assert_int_equal(report.n_tasks, (int64_t)before);
    assert_ok(task_list(ENGINE, SCOPE, ARENA, &filter, &tasks, &after, &err));
    assert_int_equal(before, after);
    report = rebuild(true);
    expect_same(&report);
}

static void turns_from_before_actions_were_kept_are_left_alone(void **state)
{
    struct rebuild_options options = {0};
    struct rebuild_report report;
    struct clew_error err = {0};
    const char *before;

    (void)state;
    say_some();
    damage(&UNFLAG, NULL);
    before = dump();
    assert_int_equal(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err),
                     CLEW_UNSUPPORTED);
    expect_same_dump(before, dump());
}

/* --- while others write ----------------------------------------------------
 */

struct onlooker {
    int left; /* turns still to be told while it runs */
    bool is_breaking;
    bool is_forgetting;
};

static bool look_on(void *arg, const struct rebuild_report *report)
{
    struct onlooker *o = arg;

    (void)report;
    if (o->is_forgetting) {
        struct forget_input input = {.turn_ids = &talk.last.turn.id,
                                     .n_turn_ids = 1};
        struct forget_receipt receipt;
        struct clew_error err = {0};

        o->is_forgetting = false;
        assert_ok(forget_run(ENGINE, SCOPE, ARENA, &input, &receipt, &err));
    }
    if (o->left > 0) {
        o->left--;
        talk_say(&talk, 'u', "My brother works in Lisbon.");
    }
    return !o->is_breaking;
}

static void what_is_told_meanwhile_is_replayed_too(void **state)
{
    struct onlooker onlooker = {.left = 3};
    struct rebuild_options options = {.progress = look_on, .arg = &onlooker};
    struct rebuild_report report;
    struct clew_error err = {0};

    (void)state;
    say_some();
    assert_ok(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err));
    expect_same(&report);
    assert_int_equal(report.n_turns, 8);
}

static void forget_meanwhile(bool is_imported)
{
    struct onlooker onlooker = {.is_forgetting = true};
    struct rebuild_options options = {.progress = look_on, .arg = &onlooker};
    struct rebuild_report report;
    struct clew_error err = {0};

    say_some();
    talk_say(&talk, 'u', "My secret password is swordfish, of course.");
    if (is_imported) {
        damage(&AS_IMPORTED, NULL);
    }
    assert_ok(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err));
    assert_int_equal(report.n_turns, 5);
    assert_null(strstr(dump(), "swordfish"));
    report = rebuild(true);
    expect_same(&report);
}

static void what_is_forgotten_meanwhile_does_not_come_back(void **state)
{
    (void)state;
    forget_meanwhile(false);
}

/* One that goes is one imported less and one forgotten more. */
static void nor_does_what_was_imported(void **state)
{
    (void)state;
    forget_meanwhile(true);
}

static void an_interruption_leaves_all_as_it_was(void **state)
{
    struct onlooker onlooker = {.is_breaking = true};
    struct rebuild_options options = {.progress = look_on, .arg = &onlooker};
    struct rebuild_report report;
    struct clew_error err = {0};
    const char *before;

    (void)state;
    say_some();
    damage(&LOSE_CHAIN, NULL);
    before = dump();
    assert_int_equal(rebuild_run(ENGINE, SCOPE, ARENA, &options, &report, &err),
                     CLEW_UNAVAILABLE);
    expect_same_dump(before, dump());
    /* nothing is left behind: the folder can be removed by close_talk() */
    (void)rebuild(false);
    report = rebuild(true);
    expect_same(&report);
}

/* --- what others say -------------------------------------------------------
 */

#define LINK_ANSWER                                                            \
    "{\"choices\":[{\"message\":{\"content\":\"{\\\"related\\\":true,"         \
    "\\\"confidence\\\":0.85,\\\"micro\\\":\\\"Weather in New York.\\\","      \
    "\\\"meso\\\":\\\"The weather in New York, and Thursday.\\\","             \
    "\\\"macro\\\":\\\"Weather in New York.\\\"}\"}}],\"usage\":"              \
    "{\"prompt_tokens\":10,\"completion_tokens\":5}}"

static void sms_of(struct str user, int64_t at_ms, const char *text)
{
    struct clew_error err = {0};
    struct capture_input input = {.user_id = user,
                                  .role = TURN_USER,
                                  .content = {.text = str_of(text)},
                                  .channel = STR("sms"),
                                  .created_at_ms = WORLD_NOW + at_ms};

    clock_set_ms(&talk.world.clock, WORLD_NOW + at_ms);
    assert_ok(capture_turns(ENGINE, SCOPE, ARENA, &input, 1, &talk.last, &err));
}

static void sms(int64_t at_ms, const char *text)
{
    sms_of(STR("ada"), at_ms, text);
}

static void recorded_answers_are_replayed_and_nobody_is_asked(void **state)
{
    struct fake_http *fake = fake_http_open(NULL);
    struct llm_options options = {.url = fake_http_url(fake),
                                  .kind = "openai",
                                  .model = "test",
                                  .timeout_ms = 60 * 1000,
                                  .clock = &talk.world.clock};
    struct chatlink_filter filter = {.limit = 10};
    struct chatlink_decision *links = NULL;
    struct clew_error err = {0};
    struct rebuild_report report;
    const char *before;
    size_t count = 0;

    (void)state;
    assert_ok(llm_open(&options, &ENGINE->llm, &err));
    fake_http_answer(fake, 200, LINK_ANSWER);
    sms(0, "What's the weather in New York?");
    sms(40 * MINUTE, "Can you recommend an Italian restaurant?");
    run_tasks();
    fake_http_answer(fake, 500, ""); /* and once nobody answers */
    sms(100 * MINUTE, "Who painted The Night Watch?");
    run_tasks();
    fake_http_answer(fake, 200, LINK_ANSWER);
    sms(200 * MINUTE, "Oh, and what is it on Thursday?");
    run_tasks();
    clock_add_ms(&talk.world.clock, 2 * DAY);
    run_tasks();
    assert_ok(chatlink_decision_list(ENGINE, SCOPE, ARENA, &filter, &links,
                                     &count, &err));
    assert_true(count >= 3);
    llm_close(ENGINE->llm); /* gone for good */
    ENGINE->llm = NULL;
    fake_http_close(fake);
    before = dump();
    assert_non_null(strstr(before, "\"llm\":0.85"));
    report = rebuild(true);
    expect_same(&report);
    damage(&LOSE_CHAIN, NULL);
    report = rebuild(false);
    expect_same_dump(before, dump());
}

static void tunings_and_reverts_are_replayed(void **state)
{
    struct clew_error err = {0};
    struct chatlink_tuning tuning;
    struct rebuild_report report;
    const char *before;
    size_t n_judged = 0;

    (void)state;
    /* a hundred verdicts tune: here on what was joined only just */
    for (int i = 0; n_judged < 100 && i < 200; i++) {
        struct str user = str_of(arena_printf(ARENA, "u%d", i));
        struct chatlink_filter filter = {.limit = 5};
        struct chatlink_decision *links = NULL;
        struct chatlink_decision judged;
        size_t count = 0;

        sms_of(user, i * 6 * DAY, "Remind me to buy milk");
        sms_of(user, (i * 6 + 5) * DAY, "Also eggs, please");
        filter.chat_id = talk.last.turn.chat_id;
        assert_ok(chatlink_decision_list(ENGINE, SCOPE, ARENA, &filter, &links,
                                         &count, &err));
        for (size_t k = 0; k < count; k++) {
            assert_ok(chatlink_feedback(ENGINE, SCOPE, ARENA, &links[k].id,
                                        false, &judged, &err));
        }
        n_judged += count;
        run_tasks();
    }
    assert_ok(chatlink_tuning_revert(ENGINE, SCOPE, ARENA, &tuning, &err));
    before = dump();
    assert_non_null(strstr(before, "reverted by hand"));
    report = rebuild(true);
    expect_same(&report);
    assert_true(kind_of(&report, "link_tuning")->n_rows >= 2);
    report = rebuild(false);
    expect_same_dump(before, dump());
}

/* --- in another store --- */

/* Every row of a dump, but its first and last line, into the store at hand. */
static void restore(const char *text)
{
    json_t *lines = json_array();
    struct restore_input input = {.lines = lines};
    struct restore_report report;
    struct clew_error err = {0};

    while (*text) {
        size_t len = strcspn(text, "\n");
        json_t *line = NULL;
        const char *type;

        assert_ok(json_parse((struct str){text, len}, &line, &err));
        type = json_string_value(json_object_get(line, "type"));
        if (type && strcmp(type, "export") != 0 && strcmp(type, "end") != 0) {
            assert_int_equal(json_array_append_new(lines, line), 0);
        } else {
            json_decref(line);
        }
        text += len + (text[len] == '\n');
        if (json_array_size(lines) == RESTORE_MAX_ROWS || !*text) {
            assert_ok(
                restore_rows(ENGINE, SCOPE, ARENA, &input, &report, &err));
            json_array_clear(lines);
        }
    }
    json_decref(lines);
}

static void an_import_replays_as_where_it_came_from(void **state)
{
    struct history h = {.seed = 4711, .now_ms = WORLD_NOW};
    struct rebuild_report report;
    char *copy;

    (void)state;
    live(&h, n_steps(120), false);
    settle(&h);
    copy = strdup(dump());
    assert_non_null(copy);
    close_talk(NULL);
    open_talk(NULL);
    restore(copy);
    clock_set_ms(&talk.world.clock, h.now_ms);
    report = rebuild(true);
    report.n_differences -= report.n_tasks; /* tasks are not exported */
    report.n_tasks = 0;
    expect_same(&report);
    live(&h, n_steps(60), false); /* and goes on from there */
    settle(&h);
    report = rebuild(false);
    report.n_differences -= report.n_tasks;
    report.n_tasks = 0;
    expect_same(&report);
    free(copy);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
    static const struct CMUnitTest cases[] = {
        CASE(a_replay_of_plain_talk_changes_nothing),
        CASE(a_varied_history_replays_to_the_same_state),
        CASE(what_was_forgotten_leaves_no_trace_after_a_rebuild),
        CASE(a_lost_chain_is_found_and_made_again),
        CASE(an_altered_memory_is_found_and_set_right),
        CASE(an_invented_claim_is_found_and_removed),
        CASE(a_memory_made_again_is_found_by_search),
        CASE(a_lost_task_is_added_again),
        CASE(turns_from_before_actions_were_kept_are_left_alone),
        CASE(what_is_told_meanwhile_is_replayed_too),
        CASE(what_is_forgotten_meanwhile_does_not_come_back),
        CASE(nor_does_what_was_imported),
        CASE(an_interruption_leaves_all_as_it_was),
        CASE(recorded_answers_are_replayed_and_nobody_is_asked),
        CASE(tunings_and_reverts_are_replayed),
        CASE(an_import_replays_as_where_it_came_from),
    };

    return WORLD_EACH(cases);
}
