/* SPDX-License-Identifier: Apache-2.0 */
/* Linking: every case of spec/linking.md, on both backends. */
#include "support/test.h"
#include "support/world.h"

#include "base/json.h"
#include "engine/call/call.h"
#include "engine/call/canon.h"
#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "store/db.h"

#include <stdio.h>

static struct world world;
static int64_t last_at; /* time of the last call, ms after WORLD_NOW */

static int open_world(void **state)
{
    (void)state;
    last_at = 0;
    world_open(&world);
    return 0;
}

static int close_world(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

#define MINUTE CLOCK_MINUTE_MS
#define DAY CLOCK_DAY_MS

/* A call to be linked; what is not set has a default. */
struct call {
    const char *talk;   /* "u:hi|a:hello|u:bye", or JSON if it starts '[' */
    const char *system; /* plain text */
    const char *reply;  /* plain text, or JSON content if it starts '[' */
    int64_t at;         /* ms after WORLD_NOW; 0: a minute after the last */
    const char *id;
    const char *chat_id;
    const char *previous_id;
    const char *response_id;
    const char *user;
    int64_t status;
    bool is_broken;
    bool is_other_tenant;
};

static json_t *messages_of(const char *talk)
{
    json_t *list = json_array();
    struct str rest = str_of(talk);
    struct str part;

    if (talk[0] == '[') {
        json_decref(list);
        list = json_loads(talk, 0, NULL);
        assert_non_null(list);
        return list;
    }
    while (str_split(&rest, '|', &part)) {
        json_array_append_new(list,
                              json_pack("{s:s,s:s%}", "role",
                                        part.s[0] == 'u' ? "user" : "assistant",
                                        "content", part.s + 2, part.len - 2));
    }
    return list;
}

/* Append to a text that has room for it. */
static void add(char *text, const char *more)
{
    memcpy(text + strlen(text), more, strlen(more) + 1);
}

static struct uuid id_of(const char *text)
{
    struct uuid id = {{0}};

    if (text) {
        assert_true(uuid_parse(str_of(text), &id));
    }
    return id;
}

static enum clew_status try_link(struct call call, struct call_result *out,
                                 struct clew_error *err)
{
    struct call_input input = {.id = id_of(call.id),
                               .chat_id = id_of(call.chat_id)};
    json_t *messages = messages_of(call.talk);
    json_t *system = call.system ? json_string(call.system) : NULL;
    json_t *reply = NULL;
    enum clew_status status;

    if (call.reply) {
        reply = json_pack("{s:s,s:o}", "role", "assistant", "content",
                          call.reply[0] == '[' ? json_loads(call.reply, 0, NULL)
                                               : json_string(call.reply));
        assert_non_null(reply);
    }
    last_at = call.at ? call.at : last_at + MINUTE;
    input.created_at_ms = WORLD_NOW + last_at;
    input.messages = messages;
    input.system = system;
    input.reply = reply;
    input.user_id = str_of(call.user);
    input.call.previous_id = str_of(call.previous_id);
    input.call.api = STR("link");
    input.call.response_id = str_of(call.response_id);
    input.call.status = call.status;
    input.call.is_complete = !call.is_broken;
    status = call_link(&world.engine,
                       call.is_other_tenant ? &world.other : &world.scope,
                       &world.arena, &input, out, err);
    json_decref(messages);
    json_decref(system);
    json_decref(reply);
    return status;
}

static struct request post_result(struct call call, struct call_result *out)
{
    struct clew_error err = {0};

    if (try_link(call, out, &err) != CLEW_OK) {
        fail_msg("%s (%s)", err.message, err.field);
    }
    return out->request;
}

static struct request post_call(struct call call)
{
    struct call_result result;

    return post_result(call, &result);
}

#define POST(...) post_call((struct call){__VA_ARGS__})
#define TALK(text) .talk = (text)
#define REPLY(text) .reply = (text)

static void assert_str(struct str text, const char *expected)
{
    char copy[256];

    snprintf(copy, sizeof(copy), "%.*s", (int)text.len, text.s);
    assert_string_equal(copy, expected);
}

static void assert_root(struct request r)
{
    assert_str(r.strategy, "none");
    assert_true(uuid_is_nil(&r.parent_id));
}

static void assert_child(struct request r, struct request parent,
                         const char *strategy, const char *branch)
{
    assert_str(r.strategy, strategy);
    assert_true(uuid_eq(&r.parent_id, &parent.id));
    assert_true(uuid_eq(&r.conversation_id, &parent.conversation_id));
    assert_str(r.branch, branch);
}

static bool is_branch(struct request r, const char *prefix, size_t len)
{
    return str_starts(r.branch, str_of(prefix)) && r.branch.len == len;
}

/* The texts of a request's line, up to its reply: "hi|hello|". */
static char *line_of(struct request r)
{
    static char out[8192];
    struct turn *turns;
    size_t count;
    size_t len = 0;
    int64_t end = r.reply_seq ? r.reply_seq : r.last_seq;

    out[0] = '\0';
    assert_int_equal(turn_list(&world.engine, &world.scope, &world.arena,
                               &r.chat_id, 0, 500, &turns, &count, NULL),
                     CLEW_OK);
    for (size_t i = 0; i < count && turns[i].seq <= end; i++) {
        len += (size_t)snprintf(out + len, sizeof(out) - len, "%.*s|",
                                (int)turns[i].text.len, turns[i].text.s);
    }
    return out;
}

DB_SQL(COUNT_TURNS, "SELECT COUNT(*) FROM turns WHERE tenant = $1");
DB_SQL(COUNT_CHATS, "SELECT COUNT(*) FROM chats WHERE tenant = $1");

struct counting {
    const struct db_sql *sql;
    int64_t count;
};

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct counting *counting = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, counting->sql, DB_NO_ARGS, &rows, err);

    if (status == CLEW_OK && db_next(&rows)) {
        counting->count = db_get_int(&rows, 0);
    }
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

static int64_t count_of(const struct db_sql *sql)
{
    struct counting counting = {sql, 0};

    assert_int_equal(
        store_read(world.engine.store, &world.scope, do_count, &counting, NULL),
        CLEW_OK);
    return counting.count;
}

/* --- the order of strategies --- */

static void one_message_opens_a_conversation(void **state)
{
    struct request r = POST(TALK("u:hi"));

    (void)state;
    assert_root(r);
    assert_str(r.branch, "main");
    assert_int_equal(r.message_count, 1);
    assert_false(r.has_parent_hash);
}

static void the_next_call_is_an_exact_child(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"), .system = "be kind");
    struct request b = POST(TALK("u:hi|a:hello|u:bye"), .system = "be kind");

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_true(call_digest_eq(&b.parent, &a.current));
    assert_true(uuid_eq(&b.chat_id, &a.chat_id));
    assert_string_equal(line_of(b), "hi|hello|bye|");
}

static void without_a_system_prompt_none_is_asked_for(void **state)
{
    struct request a = POST(TALK("u:hi"), .system = "be kind");
    struct request b = POST(TALK("u:hi|a:hello|u:bye"));

    (void)state;
    assert_child(b, a, "exact", "main");
}

static void another_system_prompt_links_by_hash_only(void **state)
{
    struct request a = POST(TALK("u:hi"), .system = "be kind");
    struct request b = POST(TALK("u:hi|a:hello|u:bye"), .system = "be rude");

    (void)state;
    assert_child(b, a, "hash_only", "main");
}

static void an_equal_system_prompt_goes_before_a_newer_request(void **state)
{
    struct request a = POST(TALK("u:hi"), .system = "be kind");
    struct request b = POST(TALK("u:hi"), .system = "be rude");
    struct request c = POST(TALK("u:hi|a:hello|u:bye"), .system = "be kind");

    (void)state;
    assert_root(b);
    assert_child(c, a, "exact", "main");
}

static void a_summarising_call_is_known_as_one(void **state)
{
    struct request a = POST(TALK("u:hi"), .system = "be kind");
    struct request b =
        POST(TALK("u:hi|a:hello|u:sum up"),
             .system = "You are a helpful AI assistant tasked with "
                       "summarizing conversations.");

    (void)state;
    assert_child(b, a, "summarisation", "main");
}

static void a_lost_call_is_bridged_by_the_grandparent(void **state)
{
    struct request a = POST(TALK("u:1"), REPLY("2"));
    struct request c = POST(TALK("u:1|a:2|u:3|a:4|u:5"));

    (void)state;
    assert_child(c, a, "grandparent", "main");
    assert_string_equal(line_of(c), "1|2|3|4|5|");
}

static void the_longest_stored_prefix_is_the_last_resort(void **state)
{
    struct request a = POST(TALK("u:1"), REPLY("2"));
    struct request b = POST(TALK("u:1|a:2|u:3"), REPLY("4"));
    struct request c = POST(TALK("u:1|a:2|u:3|a:4|u:note|u:5"));

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_child(c, b, "prefix", "main");
    assert_string_equal(line_of(c), "1|2|3|4|note|5|");
}

static void a_prefix_of_one_message_is_not_enough(void **state)
{
    struct request b;

    (void)state;
    POST(TALK("u:1"));
    b = POST(TALK("u:1|a:2|u:x|u:3"));
    assert_root(b);
}

static void a_long_list_finds_a_far_prefix(void **state)
{
    struct request a = POST(TALK("u:1|a:2"));
    struct request b;
    char talk[9000] = "u:1|a:2";

    (void)state;
    for (int i = 0; i < 1000; i++) {
        add(talk, i % 2 ? "|a:x" : "|u:y");
    }
    b = POST(TALK(talk));
    assert_child(b, a, "prefix", "main");
    assert_int_equal(b.message_count, 1002);
}

static void nothing_known_opens_a_conversation(void **state)
{
    struct request b;

    (void)state;
    POST(TALK("u:hi"));
    b = POST(TALK("u:yo|a:hello|u:bye"));
    assert_root(b);
    assert_string_equal(line_of(b), "yo|hello|bye|");
}

/* --- candidates --- */

static void the_newest_candidate_wins(void **state)
{
    struct request b;
    struct request c;

    (void)state;
    POST(TALK("u:hi"));
    b = POST(TALK("u:hi"));
    c = POST(TALK("u:hi|a:hello|u:bye"));
    assert_child(c, b, "exact", "main");
}

static void the_reply_tells_equal_requests_apart(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    struct request b = POST(TALK("u:hi"), REPLY("good day"));
    struct request c = POST(TALK("u:hi|a:hello|u:bye"));
    struct request d = POST(TALK("u:hi|a:good day|u:bye"));

    (void)state;
    assert_child(c, a, "exact", "main");
    assert_child(d, b, "exact", "main");
}

static void only_strictly_earlier_requests_count(void **state)
{
    struct request later = POST(TALK("u:hi"), .at = 10 * MINUTE);
    struct request same = POST(TALK("u:hi|a:hello|u:bye"), .at = 5 * MINUTE);

    (void)state;
    assert_root(later);
    assert_root(same);
}

static void another_tenant_is_never_a_parent(void **state)
{
    struct request a = POST(TALK("u:hi"), .is_other_tenant = true);
    struct request b = POST(TALK("u:hi|a:hello|u:bye"));

    (void)state;
    assert_root(a);
    assert_root(b);
}

/* --- branches --- */

static void a_second_child_branches_off(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    struct request b = POST(TALK("u:hi|a:hello|u:left"), REPLY("ok"));
    struct request c = POST(TALK("u:hi|a:hello|u:right"), .at = 3723000);

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_child(c, a, "exact", "branch_20260216010203");
    assert_false(uuid_eq(&c.chat_id, &a.chat_id));
    assert_string_equal(line_of(b), "hi|hello|left|ok|");
    assert_string_equal(line_of(c), "hi|hello|right|");
}

static void a_branch_goes_on_as_itself(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    struct request c;
    struct request d;

    (void)state;
    POST(TALK("u:hi|a:hello|u:left"));
    c = POST(TALK("u:hi|a:hello|u:right"), REPLY("fine"));
    d = POST(TALK("u:hi|a:hello|u:right|a:fine|u:on"));
    assert_true(is_branch(c, "branch_", 21));
    assert_str(d.branch, c.branch.s);
    assert_true(uuid_eq(&d.chat_id, &c.chat_id));
    assert_true(uuid_eq(&d.conversation_id, &a.conversation_id));
    assert_string_equal(line_of(d), "hi|hello|right|fine|on|");
}

static void equal_openings_make_no_branches(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    struct request b = POST(TALK("u:hi|a:hello|u:left"));
    struct request c = POST(TALK("u:hi"), REPLY("hello"));
    struct request d = POST(TALK("u:hi|a:hello|u:right"));

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_root(c);
    assert_false(uuid_eq(&a.conversation_id, &c.conversation_id));
    assert_child(d, c, "exact", "main");
}

static void an_edited_reply_keeps_its_own_line(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    struct request b = POST(TALK("u:hi|a:edited|u:bye"));

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_string_equal(line_of(a), "hi|hello|");
    assert_string_equal(line_of(b), "hi|edited|bye|");
}

/* --- retries and repeats --- */

static void the_same_id_again_changes_nothing(void **state)
{
    const char *id = "01900000-0000-7000-8000-000000000001";
    struct request a = POST(TALK("u:hi"), REPLY("hello"), .id = id);
    struct call_result again;
    struct clew_error err;

    (void)state;
    post_result((struct call){TALK("u:hi"), REPLY("hello"), .id = id}, &again);
    assert_true(again.is_repeat);
    assert_true(uuid_eq(&again.request.conversation_id, &a.conversation_id));
    assert_int_equal(count_of(&COUNT_TURNS), 2);
    assert_int_equal(
        try_link((struct call){TALK("u:ho"), .id = id}, &again, &err),
        CLEW_CONFLICT);
}

static void a_retry_stays_on_its_branch(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    struct request b = POST(TALK("u:hi|a:hello|u:bye"), .status = 529);
    struct call_result again;
    struct request c = post_result(
        (struct call){TALK("u:hi|a:hello|u:bye"), REPLY("ciao")}, &again);

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_child(c, a, "exact", "main");
    assert_true(again.is_retry);
    assert_int_equal(again.n_new_turns, 1);
    assert_true(uuid_eq(&c.chat_id, &b.chat_id));
    assert_string_equal(line_of(c), "hi|hello|bye|ciao|");
}

static void another_answer_to_the_same_call_has_its_own_line(void **state)
{
    struct request b;
    struct request c;
    struct request d;
    struct request e;

    (void)state;
    POST(TALK("u:hi"), REPLY("hello"));
    b = POST(TALK("u:hi|a:hello|u:joke"), REPLY("one"));
    c = POST(TALK("u:hi|a:hello|u:joke"), REPLY("two"));
    assert_true(uuid_eq(&c.parent_id, &b.parent_id));
    assert_string_equal(line_of(b), "hi|hello|joke|one|");
    assert_string_equal(line_of(c), "hi|hello|joke|two|");
    d = POST(TALK("u:hi|a:hello|u:joke|a:one|u:ha"));
    e = POST(TALK("u:hi|a:hello|u:joke|a:two|u:hm"));
    assert_true(uuid_eq(&d.parent_id, &b.id));
    assert_true(uuid_eq(&e.parent_id, &c.id));
    assert_string_equal(line_of(d), "hi|hello|joke|one|ha|");
    assert_string_equal(line_of(e), "hi|hello|joke|two|hm|");
}

static void a_failed_opening_that_comes_again_is_one_conversation(void **state)
{
    struct request a = POST(TALK("u:hi"), .status = 500);
    struct request b = POST(TALK("u:hi"), REPLY("hello"), .status = 200);
    struct request c = POST(TALK("u:hi"), REPLY("hello"), .status = 200);

    (void)state;
    assert_true(uuid_eq(&a.conversation_id, &b.conversation_id));
    assert_false(uuid_eq(&b.conversation_id, &c.conversation_id));
    assert_string_equal(line_of(b), "hi|hello|");
}

/* --- compaction --- */

#define OPENING                                                                \
    "This session is being continued from a previous conversation that ran "   \
    "out of context. "
#define FACTS                                                                  \
    "1. The user asked for a parser of the event stream format, which we "     \
    "wrote in C and tested with pieces of every size; then for a fuzzer."

/* FACTS n times, each numbered; at least 120 characters each. */
static const char *summary(int n, const char *tail)
{
    static char text[4][40000];
    static int slot;
    char *out = text[slot++ % 4];
    size_t len = 0;

    for (int i = 0; i < n; i++) {
        len +=
            (size_t)snprintf(out + len, 40000 - len, "%s (%d)\\n\\n", FACTS, i);
    }
    snprintf(out + len, 40000 - len, "%s", tail);
    return out;
}

static char *text_json(const char *before, const char *text, const char *after)
{
    static char out[4][60000];
    static int slot;
    char *to = out[slot++ % 4];

    snprintf(to, 60000, "[{\"type\":\"text\",\"text\":\"%s%s%s\"}]", before,
             text, after);
    return to;
}

static char *user_json(const char *content)
{
    static char out[60000];

    snprintf(out, sizeof(out), "[{\"role\":\"user\",\"content\":%s}]", content);
    return out;
}

static void a_compacted_session_goes_on(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    struct request b =
        POST(TALK("u:hi|a:hello|u:sum up"),
             REPLY(text_json("<analysis>\\nLet me see: ", summary(8, "done."),
                             "</analysis>\\n\\n<summary>\\n1. all\\n"
                             "</summary>")));
    struct request c = POST(
        TALK(user_json(text_json(
            OPENING "The conversation is summarized below:\\nAnalysis:\\nLet "
                    "me see: ",
            summary(8, "done."),
            "\\n\\nSummary:\\n1. all.. Please continue the conversation from "
            "where we left it off."))),
        .at = 3723000);

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_child(c, b, "compact", "compact_010203");
    assert_false(uuid_eq(&c.chat_id, &b.chat_id));
    assert_int_equal(c.first_seq, b.reply_seq + 1);
}

static void a_newer_client_sends_only_the_summary(void **state)
{
    struct request b =
        POST(TALK("u:sum up"),
             REPLY(text_json("<analysis>thinking</analysis><summary>",
                             summary(8, "done"), "</summary>")));
    struct request c = POST(TALK(user_json(text_json(
        OPENING "The summary below covers the earlier portion.\\n\\nSummary:"
                "\\n",
        summary(8, "done"),
        "\\n\\nIf you need specific details from before compaction, read "
        "it."))));

    (void)state;
    assert_str(c.strategy, "compact");
    assert_true(uuid_eq(&c.parent_id, &b.id));
}

static void a_short_summary_is_found_from_100_characters_on(void **state)
{
    struct request b =
        POST(TALK("u:sum up"), REPLY(text_json("So: ", FACTS, "")));
    struct request c = POST(TALK(user_json(text_json(
        OPENING "The conversation is summarized below:\\n", FACTS, ""))));
    struct request d;

    (void)state;
    assert_str(c.strategy, "compact");
    assert_true(uuid_eq(&c.parent_id, &b.id));
    POST(TALK("u:sum up"), REPLY("we wrote a parser"));
    d = POST(TALK(
        user_json(text_json(OPENING "The conversation is summarized below:\\n",
                            "we wrote a parser", ""))));
    assert_root(d);
}

static void summaries_that_start_alike_are_told_apart(void **state)
{
    struct request a =
        POST(TALK("u:sum"), REPLY(text_json("", summary(4, "then cats"), "")));
    struct request b =
        POST(TALK("u:sum"), REPLY(text_json("", summary(4, "then dogs"), "")));
    struct request c = POST(TALK(
        user_json(text_json(OPENING "The conversation is summarized below:\\n",
                            summary(4, "then cats"), ""))));

    (void)state;
    assert_root(b);
    assert_true(uuid_eq(&c.parent_id, &a.id));
}

static void the_newest_of_equal_summaries_wins(void **state)
{
    struct request b;
    struct request c;

    (void)state;
    POST(TALK("u:sum"), REPLY(text_json("", FACTS, "")));
    b = POST(TALK("u:sum 2"), REPLY(text_json("", FACTS, "")));
    c = POST(TALK(user_json(text_json(OPENING "Summary:\\n", FACTS, ""))));
    assert_true(uuid_eq(&c.parent_id, &b.id));
}

static void a_summary_is_looked_for_in_seven_days(void **state)
{
    struct request a =
        POST(TALK("u:sum"), REPLY(text_json("", FACTS, "")), .at = DAY);
    struct request b =
        POST(TALK(user_json(text_json(OPENING "Summary:\\n", FACTS, ""))),
             .at = 8 * DAY);
    struct request c =
        POST(TALK(user_json(text_json(OPENING "Summary:\\n", FACTS, ""))),
             .at = 8 * DAY + 1);

    (void)state;
    assert_true(uuid_eq(&b.parent_id, &a.id));
    assert_root(c);
}

static void a_compact_branch_is_passed_on(void **state)
{
    struct request c;
    struct request d;
    struct request e;
    char talk[8000];
    const char *first = text_json(OPENING "Summary:\\n", FACTS, "");

    (void)state;
    POST(TALK("u:sum"), REPLY(text_json("", FACTS, "")));
    c = POST(TALK(user_json(first)), REPLY("on"));
    for (int i = 0; i < 2; i++) {
        snprintf(talk, sizeof(talk),
                 "[{\"role\":\"user\",\"content\":%s},{\"role\":\"assistant\","
                 "\"content\":\"on\"},{\"role\":\"user\",\"content\":\"%d\"}]",
                 first, i);
        if (i == 0) {
            d = POST(TALK(talk));
        } else {
            e = POST(TALK(talk));
        }
    }
    assert_child(d, c, "exact", c.branch.s);
    assert_child(e, c, "exact", c.branch.s);
    assert_false(uuid_eq(&d.chat_id, &e.chat_id));
}

static void a_continuation_may_have_several_messages(void **state)
{
    struct request b = POST(TALK("u:sum"), REPLY(text_json("", FACTS, "")));
    struct request c;
    char talk[8000];

    (void)state;
    snprintf(talk, sizeof(talk),
             "[{\"role\":\"user\",\"content\":%s},{\"role\":\"assistant\","
             "\"content\":\"kept\"},{\"role\":\"user\",\"content\":\"tail\"}]",
             text_json(OPENING "Summary:\\n", FACTS, ""));
    c = POST(TALK(talk));
    assert_str(c.strategy, "compact");
    assert_true(uuid_eq(&c.parent_id, &b.id));
}

/* --- subtasks --- */

#define TASK(name, id, prompt)                                                 \
    "{\"type\":\"tool_use\",\"name\":\"" name "\",\"id\":\"" id                \
    "\",\"input\":{\"description\":\"d\",\"prompt\":\"" prompt "\"}}"

static void a_task_call_starts_a_subtask(void **state)
{
    struct request a =
        POST(TALK("u:go"), REPLY("[" TASK("Task", "t1", "look for keys") "]"));
    struct request s = POST(TALK("u:look for keys"), REPLY("none"));
    struct request s2 = POST(TALK("u:look for keys|a:none|u:sure?"));
    struct request c = POST(TALK(
        "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":"
        "\"assistant\",\"content\":[" TASK(
            "Task", "t1", "look for keys") "]},{\"role\":\"user\","
                                           "\"content\":[{\"type\":\"tool_"
                                           "result\",\"tool_use_id\":"
                                           "\"t1\",\"content\":\"none\"}]}]"));

    (void)state;
    assert_child(s, a, "subtask", "subtask_1");
    assert_int_equal(s.subtask_number, 1);
    assert_string_equal(line_of(s), "look for keys|none|");
    assert_child(s2, s, "exact", "subtask_1");
    assert_child(c, a, "exact", "main");
    assert_true(uuid_eq(&c.chat_id, &a.chat_id));
}

static void subtasks_are_numbered_in_their_conversation(void **state)
{
    struct request a =
        POST(TALK("u:go"), REPLY("[" TASK("Task", "1", "p one") "," TASK(
                               "Agent", "2", "p two") "]"));
    struct request b =
        POST(TALK("u:go 2"), REPLY("[" TASK("Agent", "3", "p three") "]"));
    struct request s1 = POST(TALK("u:p one"));
    struct request s2 =
        POST(TALK("[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                  "\"text\":\"<system-reminder>x</system-reminder>\"},"
                  "{\"type\":\"text\",\"text\":\"p two\"}]}]"));
    struct request s3 = POST(TALK("u:p three"));

    (void)state;
    assert_child(s1, a, "subtask", "subtask_1");
    assert_child(s2, a, "subtask", "subtask_2");
    assert_child(s3, b, "subtask", "subtask_1");
}

static void a_task_is_looked_for_in_a_day(void **state)
{
    struct request a = POST(
        TALK("u:go"), REPLY("[" TASK("Task", "1", "p one") "]"), .at = MINUTE);
    struct request b = POST(TALK("u:p one"), .at = DAY + MINUTE);
    struct request c = POST(TALK("u:p one"), .at = DAY + MINUTE + 1);

    (void)state;
    assert_child(b, a, "subtask", "subtask_1");
    assert_root(c);
}

static void other_tools_start_no_subtask(void **state)
{
    struct request b;

    (void)state;
    POST(TALK("u:go"), REPLY("[" TASK("Bash", "1", "p one") "]"));
    b = POST(TALK("u:p one"));
    assert_root(b);
}

/* --- what is stored --- */

static void a_resent_conversation_costs_one_copy(void **state)
{
    enum { CALLS = 250 };
    char *talk = calloc(1, 20000);
    struct request last = {0};

    (void)state;
    for (int i = 0; i < CALLS; i++) {
        char part[64];
        char reply[32];

        snprintf(part, sizeof(part), "%su:q%d", i ? "|" : "", i);
        add(talk, part);
        snprintf(reply, sizeof(reply), "r%d", i);
        last = POST(TALK(talk), REPLY(reply));
        snprintf(part, sizeof(part), "|a:r%d", i);
        add(talk, part);
    }
    assert_int_equal(last.message_count, 2 * CALLS - 1);
    assert_int_equal(count_of(&COUNT_TURNS), 2 * CALLS);
    assert_int_equal(count_of(&COUNT_CHATS), 1);
    free(talk);
}

static void claude_code_sessions_are_one_line(void **state)
{
#define REMINDED(text)                                                         \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"             \
    "\"<system-reminder>\\nctx\\n</system-reminder>\"},{\"type\":\"text\","    \
    "\"text\":\"" text "\",\"cache_control\":{\"type\":\"ephemeral\"}}]}"
#define AGENTS "{\"role\":\"system\",\"content\":\"agents\"}"
    struct request a = POST(TALK("[" REMINDED("hi") "," AGENTS "]"),
                            REPLY("[{\"type\":\"thinking\",\"thinking\":"
                                  "\"hm\"},{\"type\":\"text\",\"text\":"
                                  "\"hello\"}]"),
                            .system = "x-anthropic-billing-header: v=1\nA");
    struct request b = POST(
        TALK("[" REMINDED(
            "hi") "," AGENTS
                  ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
                  "\"text\":\"hello\"}]},{\"role\":\"user\",\"content\":"
                  "\"two\"}]"),
        REPLY("ok"), .system = "x-anthropic-billing-header: v=2\nA");
    struct request c =
        POST(TALK("[{\"role\":\"user\",\"content\":\"hi\"}," AGENTS
                  ",{\"role\":\"assistant\",\"content\":\"hello\"},{\"role\":"
                  "\"user\",\"content\":\"two\"},{\"role\":\"assistant\","
                  "\"content\":\"ok\"},{\"role\":\"user\",\"content\":"
                  "\"three\"}]"),
             .system = "x-anthropic-billing-header: v=3\nA");

    (void)state;
    assert_int_equal(a.message_count, 1);
    assert_int_equal(b.message_count, 3);
    assert_int_equal(c.message_count, 5);
    assert_child(b, a, "exact", "main");
    assert_child(c, b, "exact", "main");
    assert_true(uuid_eq(&c.chat_id, &a.chat_id));
    assert_int_equal(count_of(&COUNT_TURNS), 5);
}

static void reminders_and_fences_are_no_words_of_the_user(void **state)
{
    struct request a =
        POST(TALK("[{\"role\":\"user\",\"content\":\"hi<system-reminder>x"
                  "</system-reminder>\\n\\n<clew-context a=\\\"1\\\">old"
                  "</clew-context>\"}]"));
    struct turn *turns;
    size_t count;

    (void)state;
    assert_string_equal(line_of(a), "hi|");
    assert_int_equal(turn_list(&world.engine, &world.scope, &world.arena,
                               &a.chat_id, 0, 10, &turns, &count, NULL),
                     CLEW_OK);
    assert_true(str_find(turns[0].content, STR("system-reminder"), 0) !=
                SIZE_MAX);
}

static void tool_results_are_turns_of_the_tool(void **state)
{
    struct request a =
        POST(TALK("[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                  "\"tool_use_id\":\"t\",\"content\":\"42\"}]}]"));
    struct turn *turns;
    size_t count;

    (void)state;
    assert_int_equal(turn_list(&world.engine, &world.scope, &world.arena,
                               &a.chat_id, 0, 10, &turns, &count, NULL),
                     CLEW_OK);
    assert_int_equal(turns[0].role, TURN_TOOL);
}

static void a_previous_response_id_is_believed(void **state)
{
    struct request a =
        POST(TALK("u:hi"), REPLY("hello"), .response_id = "resp_1");
    struct request b = POST(TALK("u:bye"), .previous_id = "resp_1");

    (void)state;
    assert_child(b, a, "exact", "main");
    assert_string_equal(line_of(b), "hi|hello|bye|");
}

static void the_user_is_the_callers_or_the_default_one(void **state)
{
    struct request a = POST(TALK("u:hi"));
    struct request b = POST(TALK("u:hi"), .user = "ann");

    (void)state;
    assert_str(a.user_id, "default");
    assert_str(b.user_id, "ann");
}

static void a_named_chat_takes_a_call_without_parent(void **state)
{
    struct request a = POST(TALK("u:hi"), REPLY("hello"));
    char id[UUID_TEXT_SIZE];
    struct request b;
    struct call_result result;

    (void)state;
    uuid_format(&a.chat_id, id);
    b = POST(TALK("u:other"), .chat_id = id);
    assert_root(b);
    assert_true(uuid_eq(&b.chat_id, &a.chat_id));
    assert_true(uuid_eq(&b.conversation_id, &a.conversation_id));
    assert_int_equal(
        try_link((struct call){TALK("u:x"), .chat_id =
                                                "01900000-0000-7000-8000-"
                                                "00000000ffff"},
                 &result, NULL),
        CLEW_NOT_FOUND);
}

static void an_empty_list_is_refused(void **state)
{
    struct call_result result;
    struct clew_error err;

    (void)state;
    assert_int_equal(try_link((struct call){TALK("[]")}, &result, &err),
                     CLEW_INVALID);
    assert_string_equal(err.field, "messages");
    assert_int_equal(
        try_link((struct call){TALK("[{\"content\":\"x\"}]")}, &result, &err),
        CLEW_INVALID);
    assert_string_equal(err.field, "messages[0].role");
    assert_int_equal(count_of(&COUNT_TURNS), 0);
}

static void unknown_content_is_stored_verbatim(void **state)
{
    struct request a = POST(TALK(
        "[{\"role\":\"user\",\"content\":[{\"type\":\"hologram\",\"x\":[1]},"
        "7]}]"));
    struct turn *turns;
    size_t count;

    (void)state;
    assert_int_equal(turn_list(&world.engine, &world.scope, &world.arena,
                               &a.chat_id, 0, 10, &turns, &count, NULL),
                     CLEW_OK);
    assert_int_equal(count, 1);
    assert_str(turns[0].content, "[{\"type\":\"hologram\",\"x\":[1]},7]");
}

#define CASE(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_message_opens_a_conversation),
        CASE(the_next_call_is_an_exact_child),
        CASE(without_a_system_prompt_none_is_asked_for),
        CASE(another_system_prompt_links_by_hash_only),
        CASE(an_equal_system_prompt_goes_before_a_newer_request),
        CASE(a_summarising_call_is_known_as_one),
        CASE(a_lost_call_is_bridged_by_the_grandparent),
        CASE(the_longest_stored_prefix_is_the_last_resort),
        CASE(a_prefix_of_one_message_is_not_enough),
        CASE(a_long_list_finds_a_far_prefix),
        CASE(nothing_known_opens_a_conversation),
        CASE(the_newest_candidate_wins),
        CASE(the_reply_tells_equal_requests_apart),
        CASE(only_strictly_earlier_requests_count),
        CASE(another_tenant_is_never_a_parent),
        CASE(a_second_child_branches_off),
        CASE(a_branch_goes_on_as_itself),
        CASE(equal_openings_make_no_branches),
        CASE(an_edited_reply_keeps_its_own_line),
        CASE(the_same_id_again_changes_nothing),
        CASE(a_retry_stays_on_its_branch),
        CASE(another_answer_to_the_same_call_has_its_own_line),
        CASE(a_failed_opening_that_comes_again_is_one_conversation),
        CASE(a_compacted_session_goes_on),
        CASE(a_newer_client_sends_only_the_summary),
        CASE(a_short_summary_is_found_from_100_characters_on),
        CASE(summaries_that_start_alike_are_told_apart),
        CASE(the_newest_of_equal_summaries_wins),
        CASE(a_summary_is_looked_for_in_seven_days),
        CASE(a_compact_branch_is_passed_on),
        CASE(a_continuation_may_have_several_messages),
        CASE(a_task_call_starts_a_subtask),
        CASE(subtasks_are_numbered_in_their_conversation),
        CASE(a_task_is_looked_for_in_a_day),
        CASE(other_tools_start_no_subtask),
        CASE(a_resent_conversation_costs_one_copy),
        CASE(claude_code_sessions_are_one_line),
        CASE(reminders_and_fences_are_no_words_of_the_user),
        CASE(tool_results_are_turns_of_the_tool),
        CASE(a_previous_response_id_is_believed),
        CASE(the_user_is_the_callers_or_the_default_one),
        CASE(a_named_chat_takes_a_call_without_parent),
        CASE(an_empty_list_is_refused),
        CASE(unknown_content_is_stored_verbatim),
    };
    int failed;

    json_setup();
    failed = cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
    world_backend = "postgres";
    return failed + cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
}
