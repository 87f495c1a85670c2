/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random trees of conversations, told the way clients tell them: with edits,
 * retries, lost calls, repeated tool messages, injected blocks, changing forms
 * of content, and out of order. The tree that linking finds must be the true
 * one wherever that can be known.
 *
 * If CLEW_BENCH_DIR names a folder with chats/oasst-trees.jsonl, its trees are
 * replayed as well.
 */
#include "support/test.h"
#include "support/world.h"

#include "base/json.h"
#include "base/rand.h"
#include "engine/call/call.h"
#include "engine/call/call_rebuild.h"
#include "engine/chat/turn.h"

#include <stdio.h>

enum { MAX_NODES = 40 };

/* A call: a user's message after a path of calls, and its reply. */
struct node {
    int parent; /* -1 for the first of a conversation */
    int depth;
    bool is_lost;
    bool is_tool; /* the reply calls a tool; the next message is its result */
    char text[64];
    char reply[64];
    int expected; /* the call it must be linked to; -1 for none */
    struct uuid id;
    struct call_result result;
};

static struct world world;
static struct node nodes[MAX_NODES];
static int n_nodes;

/* --- a random tree --- */

static void grow_tree(uint64_t seed)
{
    rand_seed(seed);
    n_nodes = 10 + (int)rand_below(MAX_NODES - 10);
    for (int i = 0; i < n_nodes; i++) {
        struct node *node = &nodes[i];

        memset(node, 0, sizeof(*node));
        node->parent =
            i == 0 || rand_below(6) == 0 ? -1 : (int)rand_below((uint64_t)i);
        /* mostly go on where we are */
        if (node->parent >= 0 && rand_below(2) == 0) {
            node->parent = i - 1;
        }
        node->depth = node->parent < 0 ? 0 : nodes[node->parent].depth + 1;
        node->is_lost = rand_below(8) == 0;
        node->is_tool = rand_below(4) == 0;
        snprintf(node->text, sizeof(node->text), "question %d of %llu", i,
                 (unsigned long long)seed);
        /* openings may be alike; then the first call must not be lost, since
         * nothing could tell whose continuation is whose */
        if (node->parent < 0 && rand_below(2) == 0) {
            snprintf(node->text, sizeof(node->text), "hi");
            node->is_lost = false;
        }
        snprintf(node->reply, sizeof(node->reply), "answer %d of %llu", i,
                 (unsigned long long)seed);
        node->id = uuid_derive(WORLD_NOW + i, &(struct uuid){{(uint8_t)seed}},
                               "node", (uint64_t)i);
    }
}

/* The nearest call on the path that is stored and can be found: any of the two
 * above, or one of two messages and more. */
static int true_parent(int i)
{
    int steps = 1;

    for (int p = nodes[i].parent; p >= 0; p = nodes[p].parent, steps++) {
        if (!nodes[p].is_lost && (steps <= 2 || nodes[p].depth > 0)) {
            return p;
        }
    }
    return -1;
}

/* --- the way clients write --- */

static json_t *text_block(const char *text)
{
    json_t *block = json_pack("{s:s,s:s}", "type", "text", "text", text);

    if (rand_below(3) == 0) {
        json_object_set_new(block, "cache_control",
                            json_pack("{s:s}", "type", "ephemeral"));
    }
    return block;
}

static json_t *words(const char *text)
{
    char dressed[256];
    json_t *list;

    switch (rand_below(5)) {
    case 0:
        return json_string(text);
    case 1:
        snprintf(dressed, sizeof(dressed), "  %s\r\n", text);
        return json_string(dressed);
    case 2:
        snprintf(dressed, sizeof(dressed),
                 "%s\n\n<clew-context sha256=\"%d\">\nnews\n</clew-context>",
                 text, (int)rand_below(100));
        return json_string(dressed);
    case 3:
        list = json_array();
        json_array_append_new(
            list, text_block("<system-reminder>\nx\n</system-reminder>\n"));
        json_array_append_new(list, text_block(text));
        return list;
    default:
        return json_pack("[o]", text_block(text));
    }
}

static void add(json_t *list, const char *role, json_t *content)
{
    json_array_append_new(
        list, json_pack("{s:s,s:o}", "role", role, "content", content));
    if (rand_below(8) == 0) {
        json_array_append_new(list, json_pack("{s:s,s:s}", "role", "system",
                                              "content", "agents"));
    }
}

static json_t *reply_of(const struct node *node, bool is_streamed)
{
    json_t *list = json_array();

    if (is_streamed && rand_below(2) == 0) {
        json_array_append_new(
            list, json_pack("{s:s,s:s}", "type", "thinking", "thinking", "hm"));
    }
    if (!node->is_tool) {
        json_array_append_new(list, text_block(node->reply));
    } else {
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:{s:i}}", "type",
                                              "tool_use", "id", node->reply,
                                              "name", "Bash", "input", "n", 1));
    }
    return list;
}

static json_t *question_of(int i)
{
    const struct node *node = &nodes[i];
    const struct node *before = node->parent >= 0 ? &nodes[node->parent] : NULL;

    if (before && before->is_tool) {
        return json_pack("[{s:s,s:s,s:s}]", "type", "tool_result",
                         "tool_use_id", before->reply, "content", node->text);
    }
    return words(node->text);
}

/* Two results of one call are told apart by nothing: such a branch would look
 * like a repeated message. Give every tool call one child at most. */
static void keep_tools_honest(void)
{
    for (int i = 0; i < n_nodes; i++) {
        int n_children = 0;

        for (int k = 0; k < n_nodes; k++) {
            n_children += nodes[k].parent == i;
        }
        nodes[i].is_tool = nodes[i].is_tool && n_children <= 1;
    }
}

static void add_path(json_t *list, int i)
{
    if (nodes[i].parent >= 0) {
        const struct node *before = &nodes[nodes[i].parent];
        json_t *reply;

        add_path(list, nodes[i].parent);
        reply = reply_of(before, false);
        if (before->is_tool && rand_below(3) == 0) {
            add(list, "assistant", json_deep_copy(reply)); /* sent twice */
        }
        add(list, "assistant", reply);
    }
    add(list, "user", question_of(i));
}

static void post(int i, int64_t at)
{
    struct node *node = &nodes[i];
    struct call_input input = {.created_at_ms = WORLD_NOW + at};
    struct clew_error err = {0};
    json_t *messages = json_array();
    json_t *reply = json_pack("{s:s,s:o}", "role", "assistant", "content",
                              reply_of(node, true));
    json_t *system = json_string(rand_below(4) ? "be kind" : "be brief");

    add_path(messages, i);
    input.id = node->id;
    input.messages = messages;
    input.system = system;
    input.reply = reply;
    input.call.is_complete = true;
    if (call_link(&world.engine, &world.scope, &world.arena, &input,
                  &node->result, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    json_decref(messages);
    json_decref(reply);
    json_decref(system);
}

/* --- what must be --- */

static bool has_earlier_child(int i)
{
    for (int k = 0; k < i; k++) {
        if (!nodes[k].is_lost && nodes[k].expected == nodes[i].expected) {
            return true;
        }
    }
    return false;
}

static void check_node(int i, uint64_t seed)
{
    const struct node *node = &nodes[i];
    const struct request *r = &node->result.request;

    if (node->expected < 0) {
        if (!uuid_is_nil(&r->parent_id)) {
            fail_msg("seed %d node %d has a parent", (int)seed, i);
        }
        return;
    }
    const struct request *p = &nodes[node->expected].result.request;

    struct request found;

    /* a retry of the true parent is as good: nothing tells them apart */
    if (request_get(&world.engine, &world.scope, &world.arena, &r->parent_id,
                    &found, NULL) != CLEW_OK ||
        !call_digest_eq(&found.current, &p->current) ||
        !uuid_eq(&found.reply_key, &p->reply_key)) {
        fail_msg("seed %d node %d: not node %d but %s", (int)seed, i,
                 node->expected, r->strategy.s);
    }
    assert_true(uuid_eq(&r->conversation_id, &p->conversation_id));
    if (has_earlier_child(i)) {
        assert_true(str_starts(r->branch, STR("branch_")));
    } else {
        assert_true(str_eq(r->branch, p->branch));
    }
}

/* The stored line of a call is its messages, one turn each. */
static void check_line(int i)
{
    const struct request *r = &nodes[i].result.request;
    struct turn *turns;
    size_t count;
    int at = i;

    assert_int_equal(turn_list(&world.engine, &world.scope, &world.arena,
                               &r->chat_id, r->first_seq - 1, 1000, &turns,
                               &count, NULL),
                     CLEW_OK);
    assert_int_equal(r->last_seq - r->first_seq + 1, r->message_count);
    for (int64_t seq = r->last_seq; seq >= r->first_seq; seq -= 2) {
        const struct turn *turn = &turns[seq - r->first_seq];

        assert_int_equal(turn->seq, seq);
        assert_true(str_eq(str_trim(turn->text), str_of(nodes[at].text)));
        at = nodes[at].parent;
    }
    assert_int_equal(at, -1);
}

static void random_trees_are_found_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        world_open(&world);
        grow_tree(seed);
        keep_tools_honest();
        for (int i = 0; i < n_nodes; i++) {
            nodes[i].expected = true_parent(i);
            if (nodes[i].is_lost) {
                continue;
            }
            post(i, i * CLOCK_MINUTE_MS);
            check_node(i, seed);
            check_line(i);
            if (rand_below(5) == 0) { /* a retry changes nothing */
                struct uuid id = nodes[i].id;
                struct call_result first = nodes[i].result;

                nodes[i].id = uuid_new(WORLD_NOW);
                if (nodes[i].depth > 0) {
                    post(i, i * CLOCK_MINUTE_MS + 1);
                    assert_true(nodes[i].result.is_retry);
                    assert_int_equal(nodes[i].result.n_new_turns, 0);
                }
                nodes[i].id = id;
                nodes[i].result = first;
            }
        }
        world_close(&world);
    }
    rand_seed(0);
}

static void refresh(int i)
{
    assert_int_equal(request_get(&world.engine, &world.scope, &world.arena,
                                 &nodes[i].id, &nodes[i].result.request, NULL),
                     CLEW_OK);
}

static void a_rebuild_sets_right_what_came_out_of_order(void **state)
{
    (void)state;
    for (uint64_t seed = 101; seed <= 130; seed++) {
        struct call_rebuild_report report;
        int order[MAX_NODES];
        int count = 0;

        world_open(&world);
        grow_tree(seed);
        keep_tools_honest();
        for (int i = 0; i < n_nodes; i++) {
            nodes[i].expected = true_parent(i);
            if (!nodes[i].is_lost) {
                order[count++] = i;
            }
        }
        for (int i = count - 1; i > 0; i--) {
            int k = (int)rand_below((uint64_t)i + 1);
            int swap = order[i];

            order[i] = order[k];
            order[k] = swap;
        }
        for (int i = 0; i < count; i++) {
            post(order[i], order[i] * CLOCK_MINUTE_MS);
        }
        assert_int_equal(call_rebuild(&world.engine, &world.scope, NULL, NULL,
                                      &report, NULL),
                         CLEW_OK);
        assert_int_equal(report.n_done, count);
        for (int i = 0; i < n_nodes; i++) {
            if (!nodes[i].is_lost) {
                refresh(i);
            }
        }
        for (int i = 0; i < n_nodes; i++) {
            if (!nodes[i].is_lost) {
                check_node(i, seed);
            }
        }
        assert_int_equal(call_rebuild(&world.engine, &world.scope, NULL, NULL,
                                      &report, NULL),
                         CLEW_OK);
        assert_int_equal(report.n_changed, 0);
        world_close(&world);
    }
    rand_seed(0);
}

static bool stop_at_once(void *arg, const struct call_rebuild_report *report)
{
    (void)arg;
    (void)report;
    return false;
}

static void a_rebuild_goes_on_where_it_was_broken_off(void **state)
{
    struct call_rebuild_report report;
    int64_t n = 0;

    (void)state;
    world_open(&world);
    for (uint64_t seed = 200; seed < 210; seed++) {
        grow_tree(seed);
        keep_tools_honest();
        for (int i = 0; i < n_nodes; i++) {
            post(i, (int64_t)seed * CLOCK_HOUR_MS + i);
            n++;
        }
    }
    assert_int_equal(call_rebuild(&world.engine, &world.scope, stop_at_once,
                                  NULL, &report, NULL),
                     CLEW_OK);
    assert_true(report.n_done < n);
    assert_int_equal(
        call_rebuild(&world.engine, &world.scope, NULL, NULL, &report, NULL),
        CLEW_OK);
    assert_true(report.is_resumed);
    assert_int_equal(report.n_done, n);
    assert_int_equal(report.n_total, n);
    assert_int_equal(report.n_changed, 0);
    world_close(&world);
    rand_seed(0);
}

/* --- OASST --- */

struct replay {
    json_t *messages;
    int64_t at;
    size_t n_calls;
    size_t n_wrong;
    size_t n_false_branches;
};

/* Post every assistant reply below `prompt`, whose call continues `parent`. */
static void replay_prompt(struct replay *replay, const json_t *prompt,
                          const struct request *parent, bool is_later_sibling)
{
    const json_t *answer;
    size_t i;

    json_array_append_new(replay->messages,
                          json_pack("{s:s,s:O}", "role", "user", "content",
                                    json_object_get(prompt, "text")));
    json_array_foreach (json_object_get(prompt, "replies"), i, answer) {
        json_t *reply = json_pack("{s:s,s:O}", "role", "assistant", "content",
                                  json_object_get(answer, "text"));
        struct call_input input = {.created_at_ms =
                                       WORLD_NOW + replay->at++ * 1000,
                                   .messages = replay->messages,
                                   .reply = reply};
        struct call_result result;
        const json_t *next;
        bool is_right;
        size_t k;

        assert_int_equal(call_link(&world.engine, &world.scope, &world.arena,
                                   &input, &result, NULL),
                         CLEW_OK);
        is_right = parent ? uuid_eq(&result.request.parent_id, &parent->id)
                          : uuid_is_nil(&result.request.parent_id);
        replay->n_calls++;
        replay->n_wrong += !is_right;
        if (parent) {
            bool is_branch = !str_eq(result.request.branch, parent->branch);

            replay->n_false_branches += is_branch != is_later_sibling;
        }
        json_array_append(replay->messages, reply);
        json_array_foreach (json_object_get(answer, "replies"), k, next) {
            /* an earlier prompt counts only if it was answered: then it was a
             * call */
            bool is_later = false;

            for (size_t e = 0; e < k; e++) {
                is_later =
                    is_later ||
                    json_array_size(json_object_get(
                        json_array_get(json_object_get(answer, "replies"), e),
                        "replies")) > 0;
            }
            replay_prompt(replay, next, &result.request, is_later);
        }
        json_array_remove(replay->messages,
                          json_array_size(replay->messages) - 1);
        json_decref(reply);
    }
    json_array_remove(replay->messages, json_array_size(replay->messages) - 1);
}

static void replay_tree(struct replay *replay, const json_t *prompt)
{
    replay->messages = json_array();
    replay_prompt(replay, prompt, NULL, false);
    json_decref(replay->messages);
}

static void published_trees_are_found_again(void **state)
{
    const char *dir = getenv("CLEW_BENCH_DIR");
    struct replay replay = {NULL, 0, 0, 0, 0};
    char path[1024];
    char *line = NULL;
    size_t cap = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/chats/oasst-trees.jsonl", dir ? dir : "");
    file = dir ? fopen(path, "r") : NULL;
    if (!file) {
        skip();
    }
    world_open(&world);
    while (getline(&line, &cap, file) > 0) {
        json_t *tree = json_loads(line, 0, NULL);

        assert_non_null(tree);
        replay_tree(&replay, json_object_get(tree, "prompt"));
        json_decref(tree);
    }
    free(line);
    (void)fclose(file);
    print_message("%zu calls replayed\n", replay.n_calls);
    assert_true(replay.n_calls > 100);
    assert_int_equal(replay.n_wrong, 0);
    assert_int_equal(replay.n_false_branches, 0);
    world_close(&world);
}

/* The same shape, always there: every message has several answers. */
static json_t *wide_tree(int depth, int *count)
{
    char text[64];
    json_t *answers = json_array();
    json_t *node;

    for (int i = 0; depth > 0 && i < 3; i++) {
        json_t *prompts = json_array();
        json_t *answer;

        for (int k = 0; k < 2; k++) {
            json_array_append_new(prompts, wide_tree(depth - 1, count));
        }
        snprintf(text, sizeof(text), "answer %d", (*count)++);
        answer = json_pack("{s:s,s:o}", "text", text, "replies", prompts);
        json_array_append_new(answers, answer);
    }
    snprintf(text, sizeof(text), "prompt %d", (*count)++);
    node = json_pack("{s:s,s:o}", "text", text, "replies", answers);
    return node;
}

static void trees_of_alternative_answers_are_found_again(void **state)
{
    struct replay replay = {NULL, 0, 0, 0, 0};
    int count = 0;
    json_t *tree = wide_tree(3, &count);

    (void)state;
    world_open(&world);
    replay_tree(&replay, tree);
    assert_int_equal(replay.n_calls, 3 + 18 + 108);
    assert_int_equal(replay.n_wrong, 0);
    assert_int_equal(replay.n_false_branches, 0);
    world_close(&world);
    json_decref(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_are_found_again),
        cmocka_unit_test(a_rebuild_sets_right_what_came_out_of_order),
        cmocka_unit_test(a_rebuild_goes_on_where_it_was_broken_off),
        cmocka_unit_test(trees_of_alternative_answers_are_found_again),
        cmocka_unit_test(published_trees_are_found_again),
    };

    json_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
