/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of a call, and of reading in the background, fails in turn:
 * the answer is "out of memory" or what it would have been, never another
 * error; nothing is half done, and the same call succeeds after.
 *
 * All of them with CLEW_TEST_EVERY_ALLOCATION=yes, on a new store every hundred
 * tries (else lists grow, and there is always one more allocation to fail);
 * else the first sixteen and fewer and fewer of the rest, on a few stores.
 * CLEW_TEST_CALLS=A-B takes the rows A to B of the table.
 */
#include "support/test.h"

#include "api/entry/dispatch.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/capture/read_task.h"
#include "engine/core/engine.h"
#include "engine/open.h"
#include "engine/proof/verify.h"
#include "http/http.h"
#include "support/pg.h"
#include "task/worker.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#define BODY_BYTES 4096

static struct engine *engine;
static struct config *config;
static char folder[64];
static bool is_postgres;
static struct clock now;
/* What the calls below are about. */
static char chat[40];
static char session[40];
static char turn[40];
static char memory[40];
static char thought[40];
static char made[40];    /* by what comes before a try */
static unsigned n_done;  /* tries so far: makes names unlike */
static unsigned n_wrong; /* answers that should not be */

struct answer {
    int status;
    json_t *body; /* NULL if it is no JSON */
    char text[400];
};

/* "{chat}" and the like become what they stand for, "#" the try's number, "~"
 * the same in twelve digits. */
static void fill(const char *form, char *out)
{
    const struct {
        const char *name;
        const char *value;
    } words[] = {{"{chat}", chat},       {"{session}", session},
                 {"{turn}", turn},       {"{memory}", memory},
                 {"{thought}", thought}, {"{made}", made}};
    const size_t n_words = sizeof(words) / sizeof(words[0]);
    char *end = out + BODY_BYTES - 64;

    while (*form && out < end) {
        size_t i = 0;

        while (i < n_words &&
               strncmp(form, words[i].name, strlen(words[i].name)) != 0) {
            i++;
        }
        if (i < n_words) {
            out += snprintf(out, 64, "%s", words[i].value);
            form += strlen(words[i].name);
        } else if (*form == '#' || *form == '~') {
            out += snprintf(out, 64, *form == '#' ? "%u" : "%012u", n_done);
            form++;
        } else {
            *out++ = *form++;
        }
    }
    *out = '\0';
}

/* Reads a stream to its end, or 64 KB of one that has none. */
static void drain(struct http_response *response)
{
    char part[4096];

    for (int i = 0; response->stream.read && i < 16; i++) {
        if (response->stream.read(response->stream.arg, part, sizeof(part)) <=
            0) {
            break;
        }
    }
}

/* One call; the `fail_at`-th allocation fails (0: none). */
static struct answer call(enum http_method method, const char *target,
                          const char *body, uint64_t fail_at, bool *out_fired)
{
    static char path[BODY_BYTES];
    static char text[BODY_BYTES];
    struct http_header header = {STR("content-type"), STR("application/json")};
    struct http_request request;
    struct http_response response;
    struct answer answer = {0};
    struct arena arena;

    fill(target, path);
    fill(body ? body : "", text);
    arena_init(&arena, LIMIT_REQUEST_ARENA_BYTES);
    http_request_init(&request, &arena, method, str_of(path), str_of(text));
    request.headers = &header;
    request.n_headers = 1;
    request.is_loopback = true;
    request.is_trusted = true;
    http_response_init(&response, LIMIT_REQUEST_ARENA_BYTES);
    alloc_fail_at(fail_at);
    api_dispatch(engine, &request, &response);
    drain(&response);
    *out_fired = alloc_fail_fired() != 0;
    alloc_fail_at(0);
    answer.status = response.status;
    (void)snprintf(answer.text, sizeof(answer.text), "%.*s",
                   (int)response.body.len, response.body.data);
    clew_ignore(json_parse((struct str){response.body.data, response.body.len},
                           &answer.body, NULL)); /* NULL if it is none */
    http_response_release(&response);
    arena_release(&arena);
    return answer;
}

/* A call that must succeed; what stands at `where` goes to `out`. */
static void must(enum http_method method, const char *target, const char *body,
                 const char *where, char out[40])
{
    bool has_fired;
    struct answer answer = call(method, target, body, 0, &has_fired);
    const json_t *at = answer.body;
    struct str rest = str_of(where);
    struct str part;

    if (answer.status >= 300) {
        fail_msg("%s: %d %s", target, answer.status, answer.text);
    }
    while (str_split(&rest, '.', &part)) {
        char name[40];

        (void)snprintf(name, sizeof(name), "%.*s", (int)part.len, part.s);
        at = json_is_array(at) ? json_array_get(at, 0)
                               : json_object_get(at, name);
    }
    (void)snprintf(out, 40, "%s",
                   json_string_value(at) ? json_string_value(at) : "");
    json_decref(answer.body);
}

/* --- a store with something in it ------------------------------------------
 */

static int remove_one(const char *path, const struct stat *info, int flag,
                      struct FTW *ftw)
{
    (void)info, (void)flag, (void)ftw;
    return remove(path);
}

static void say(const char *text)
{
    char body[400];
    char id[40];

    (void)snprintf(body, sizeof(body),
                   "{\"user_id\":\"ada\",\"role\":\"user\",\"content\":\"%s\"}",
                   text);
    must(HTTP_POST, "/api/v1/turns", body, "turn.id", id);
    (void)snprintf(turn, sizeof(turn), "%s", id);
}

static int open_store(void **state)
{
    /* two turns together are read in the background */
    struct config_flag flags[] = {{"reader.on", "false"},
                                  {"reader.live_turns", "1"}};
    struct engine_options options = {0};
    struct clew_error err = {0};
    char url[512];

    (void)state;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    /* nobody asks here what a disk keeps */
    (void)snprintf(folder, sizeof(folder), "%s/clew-memory-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(config_load(NULL, flags, 2, &config, &err), CLEW_OK);
    clock_init_fake(&now, clock_now_ms(&clock_system));
    options.config = config;
    options.clock = &now;
    options.data_dir = folder;
    if (is_postgres) {
        pg_new_store(url, sizeof(url));
        options.store_url = url;
    }
    if (engine_open(&options, &engine, &err) != CLEW_OK) {
        fail_msg("%s", err.message);
    }
    must(HTTP_POST, "/api/v1/turns",
         "{\"user_id\":\"ada\",\"role\":\"user\",\"content\":\"hello\"}",
         "turn.chat_id", chat);
    must(HTTP_GET, "/api/v1/sessions?chat_id={chat}", NULL, "items.0.id",
         session);
    say("My sister Greta lives in Bremen.");
    must(HTTP_GET, "/api/v1/memories", NULL, "items.0.id", memory);
    must(HTTP_POST, "/api/v1/memory",
         "{\"prompt\":\"The agent monitor must check both the status and the "
         "role of every agent pane.\",\"agent_id\":\"a\",\"agent_name\":\"A\"}",
         "result.thought_id", thought);
    assert_true(chat[0] && session[0] && turn[0] && memory[0] && thought[0]);
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    engine_close(engine);
    config_free(config);
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* --- the calls -------------------------------------------------------------
 */

#define TASKS "tasks" /* no call: what is due is done */

/* Two turns, of which `id` is the first one's. */
#define TWO_TURNS                                                              \
    "{\"turns\":[{\"user_id\":\"cy\",\"role\":\"user\",\"content\":\"My "      \
    "brother # lives in Kiel.\"},{\"user_id\":\"cy\",\"role\":\"user\","       \
    "\"content\":\"I need to fix printer #.\"}]}"

static const struct {
    enum http_method method;
    const char *target;
    const char *body;
    /* Done before each try; what stands at `id` is {made}. */
    const char *before;
    const char *before_body;
    const char *id;
} calls[] = {
    {.method = HTTP_POST,
     .target = "/api/v1/turns",
     .body =
         "{\"user_id\":\"ada\",\"role\":\"user\",\"external_id\":\"k#\","
         "\"content\":\"We decided to rent office # in Lisbon on Monday.\"}"},
    {.method = HTTP_POST,
     .target = "/api/v1/turns",
     .body =
         "{\"turns\":[{\"user_id\":\"bo#\",\"role\":\"user\",\"content\":[{"
         "\"type\":\"text\",\"text\":\"I need to fix the login "
         "page.\"},{\"type\":"
         "\"tool_use\",\"name\":\"x\",\"input\":{\"n\":1.10}}]},{\"user_id\":"
         "\"bo#\",\"role\":\"assistant\",\"content\":\"Clear the "
         "cookies.\"}]}"},
    {.method = HTTP_GET, .target = "/api/v1/turns?external_id=k1"},
    {.method = HTTP_POST,
     .target = "/api/v1/chats",
     .body = "{\"user_id\":\"ada\",\"title\":\"t#\"}"},
    {.method = HTTP_GET, .target = "/api/v1/chats?user_id=ada"},
    {.method = HTTP_GET, .target = "/api/v1/chats/{chat}"},
    {.method = HTTP_PATCH,
     .target = "/api/v1/chats/{chat}",
     .body = "{\"title\":\"title #\"}"},
    {.method = HTTP_GET, .target = "/api/v1/chats/{chat}/turns"},
    {.method = HTTP_GET, .target = "/api/v1/chats/{chat}/marks"},
    {.method = HTTP_POST,
     .target = "/api/v1/chats/{chat}/fork",
     .body = "{\"at_seq\":1}"},
    {.method = HTTP_GET, .target = "/api/v1/chats/{chat}/tree"},
    {.method = HTTP_POST,
     .target = "/api/v1/chats/{chat}/context",
     .body = "{\"message\":\"Where does Greta live?\",\"budget_tokens\":500}"},
    {.method = HTTP_POST,
     .target = "/api/v1/chats/{chat}/compact",
     .body = "{}"},
    {.method = HTTP_POST,
     .target = "/api/v1/sessions/{session}/end",
     .body = "{}"},
    {.method = HTTP_GET, .target = "/api/v1/sessions?chat_id={chat}"},
    {.method = HTTP_POST,
     .target = "/api/v1/recall",
     .body = "{\"query\":\"Where does Greta live?\",\"user_id\":\"ada\"}"},
    {.method = HTTP_POST,
     .target = "/api/v1/analyse",
     .body = "{\"text\":\"Where does Greta live?\"}"},
    {.method = HTTP_POST,
     .target = "/api/v1/analyse/feedback",
     .body = "{\"text\":\"the boiler # in the cellar\",\"act\":\"commit\"}"},
    {.method = HTTP_POST,
     .target = "/api/v1/memory",
     .body =
         "{\"prompt\":\"The agent monitor # must check the role of every agent "
         "pane.\",\"agent_id\":\"a\",\"agent_name\":\"A\",\"refines\":"
         "\"{thought}\"}"},
    {.method = HTTP_POST,
     .target = "/api/v1/memory",
     .body = "{\"prompt\":\"What must the agent monitor "
             "check?\",\"agent_id\":\"a\","
             "\"agent_name\":\"A\"}"},
    {.method = HTTP_POST,
     .target = "/api/v1/memory",
     .body =
         "{\"prompt\":\"The agent monitor # must check both.\",\"agent_id\":"
         "\"a\",\"agent_name\":\"A\",\"consolidates\":[\"{thought}\","
         "\"{made}\"]}",
     "/api/v1/memory",
     "{\"prompt\":\"The agent monitor # must look at the colour of panes, "
     "too.\",\"agent_id\":\"b\",\"agent_name\":\"B\"}",
     "result.thought_id"},
    {.method = HTTP_POST,
     .target = "/api/v1/forget",
     .body = "{\"turn_ids\":[\"{made}\"]}",
     "/api/v1/turns",
     "{\"user_id\":\"cy\",\"role\":\"user\",\"content\":\"My uncle # lives "
     "in Ulm.\"}",
     "turn.id"},
    {.method = HTTP_POST,
     .target = "/api/v1/import",
     .body =
         "{\"rows\":[{\"type\":\"memory\",\"id\":\"01900000-0000-7000-8000-~\","
         "\"user_id\":\"ada\",\"memory_type\":\"fact\",\"status\":\"active\","
         "\"summary\":\"Memory # speaks of boilers\",\"tags\":\"boilers\","
         "\"origin\":\"person\",\"lineage\":\"original\",\"is_instruction\":0,"
         "\"token_count\":8,\"weight\":1,\"weight_at\":\"2026-01-01T00:00:"
         "00Z\","
         "\"retrieval_count\":0,\"created_at\":\"2026-01-01T00:00:00Z\","
         "\"updated_at\":\"2026-01-01T00:00:00Z\"}]}"},
    {.method = HTTP_POST,
     .target = TASKS,
     .body = NULL,
     "/api/v1/turns",
     TWO_TURNS,
     "items.0.turn.id"},
    {.method = HTTP_GET, .target = "/api/v1/memories"},
    {.method = HTTP_GET, .target = "/api/v1/memories/{memory}"},
    {.method = HTTP_GET, .target = "/api/v1/memories/{thought}/lineage"},
    {.method = HTTP_GET, .target = "/api/v1/memories/{memory}/source"},
    {.method = HTTP_POST,
     .target = "/api/v1/efforts",
     .body = "{\"user_id\":\"ada\",\"goal\":\"Repair printer #\",\"chat_id\":"
             "\"{chat}\"}"},
    {.method = HTTP_GET, .target = "/api/v1/efforts?user_id=ada"},
    {.method = HTTP_GET, .target = "/api/v1/episodes?user_id=ada"},
    {.method = HTTP_GET, .target = "/api/v1/chains?user_id=ada"},
    {.method = HTTP_GET, .target = "/api/v1/conflicts"},
    {.method = HTTP_GET, .target = "/api/v1/links"},
    {.method = HTTP_GET, .target = "/api/v1/tasks"},
    {.method = HTTP_GET, .target = "/api/v1/stats"},
    {.method = HTTP_GET, .target = "/api/v1/users"},
    {.method = HTTP_GET, .target = "/api/v1/export"},
    {.method = HTTP_GET, .target = "/healthz"},
    {.method = HTTP_GET, .target = "/openapi.json"},
};

/* What it would have been, or "out of memory"; of its health a server may say
 * that it is not well. */
static bool is_right(const struct answer *answer, bool has_fired)
{
    const json_t *error = json_object_get(answer->body, "error");
    const char *code = json_string_value(json_object_get(error, "code"));

    return answer->status < 300 ||
           (has_fired && answer->status == 503 &&
            (code ? strcmp(code, "OUT_OF_MEMORY") == 0
                  : json_object_get(answer->body, "status") != NULL));
}

/* What is due is done; true if a failure came of it. */
static bool run_tasks(uint64_t fail_at)
{
    struct clew_error err = {0};
    size_t n = 0;
    bool has_fired;

    alloc_fail_at(fail_at);
    clew_ignore(worker_run_due(engine, 100, &n, &err)); /* it comes again */
    has_fired = alloc_fail_fired() != 0;
    alloc_fail_at(0);
    return has_fired;
}

/* The same with a failure, then until nothing waits: that it comes to be. */
static struct answer try_tasks(uint64_t fail_at, bool *out_fired)
{
    struct read_task_counts counts = {.n_waiting = -1};
    struct answer answer = {.status = 200};

    *out_fired = run_tasks(fail_at);
    for (int i = 0; i < 4 && counts.n_waiting != 0; i++) {
        clock_add_ms(&now, 2 * CLOCK_MINUTE_MS);
        (void)run_tasks(0);
        assert_int_equal(read_task_count(engine, &counts, NULL), CLEW_OK);
    }
    if (counts.n_waiting != 0 || counts.n_given_up != 0) {
        answer.status = 500;
        (void)snprintf(
            answer.text, sizeof(answer.text), "%lld wait, %lld are given up",
            (long long)counts.n_waiting, (long long)counts.n_given_up);
    }
    return answer;
}

static struct answer try_one(size_t at, uint64_t fail_at, bool *out_fired)
{
    return strcmp(calls[at].target, TASKS) == 0
               ? try_tasks(fail_at, out_fired)
               : call(calls[at].method, calls[at].target, calls[at].body,
                      fail_at, out_fired);
}

static void note_wrong(size_t at, uint64_t n, const char *what,
                       const struct answer *answer)
{
    n_wrong++;
    print_message("%s, allocation %llu%s: %d %s\n", calls[at].target,
                  (unsigned long long)n, what, answer->status, answer->text);
}

/* The n-th allocation of a call fails, and the call is made again. True if
 * there was one to fail. */
static bool try_at(size_t at, uint64_t n)
{
    struct answer answer;
    bool has_fired;
    bool is_again;

    n_done++;
    if (calls[at].before) {
        must(HTTP_POST, calls[at].before, calls[at].before_body, calls[at].id,
             made);
    }
    answer = try_one(at, n, &has_fired);
    if (!is_right(&answer, has_fired)) {
        note_wrong(at, n, "", &answer);
    }
    is_again = answer.status >= 300;
    json_decref(answer.body);
    if (is_again) {
        bool ignored;

        answer = try_one(at, 0, &ignored);
        /* memory may end after the commit, as the line may: it is gone then */
        if (!is_right(&answer, false) &&
            !(answer.status == 404 && strstr(calls[at].target, "/forget"))) {
            note_wrong(at, n, ", again", &answer);
        }
        json_decref(answer.body);
    }
    return has_fired;
}

static void check_sound(void)
{
    struct verify_report report = {0};
    struct clew_error err = {0};
    struct arena arena;

    arena_init(&arena, (size_t)1 << 30);
    assert_int_equal(verify_run(engine, &arena, NULL, &report, &err), CLEW_OK);
    for (size_t i = 0; i < report.n_faults; i++) {
        print_message("%s\n", report.faults[i].rule);
    }
    /* what is left of a user who was forgotten differs without a fault */
    for (size_t i = 0; report.n_faults > 0 && i < report.n_shown; i++) {
        print_message("%s %s %s %s\n", report.shown[i].what,
                      report.shown[i].type, report.shown[i].key,
                      report.shown[i].column ? report.shown[i].column : "");
    }
    assert_int_equal(report.n_faults, 0);
    arena_release(&arena);
}

/* How far it is from one failure to the next: those that need something done
 * before take their time. */
static uint64_t step(size_t at, uint64_t n, bool is_every)
{
    if (is_every) {
        return 1;
    }
    return calls[at].before ? 1 + n / 2 : n < 16 ? 1 : 1 + n / 4;
}

/* One failure after another, until none is left to make. */
static unsigned try_all(size_t at, bool is_every)
{
    unsigned n_tries = 0;
    bool has_fired = true;

    for (uint64_t n = 1; has_fired && n < 100000; n += step(at, n, is_every)) {
        if (is_every && n_tries % 100 == 0) {
            check_sound();
            close_store(NULL);
            open_store(NULL);
        }
        has_fired = try_at(at, n);
        n_tries += has_fired;
    }
    return n_tries;
}

static void every_call_bears_every_failure(void **state)
{
    const char *part = getenv("CLEW_TEST_CALLS");
    bool is_every = getenv("CLEW_TEST_EVERY_ALLOCATION") != NULL;
    size_t n_calls = sizeof(calls) / sizeof(calls[0]);
    size_t first = 0;
    size_t last = n_calls - 1;
    unsigned n_tries = 0;

    (void)state;
    if (part) {
        assert_int_equal(sscanf(part, "%zu-%zu", &first, &last), 2);
    }
    n_wrong = 0;
    for (size_t i = first; i <= last && i < n_calls; i++) {
        unsigned n;

        if (i > first && i % 8 == 0) {
            check_sound();
            close_store(NULL);
            open_store(NULL);
        }
        n = try_all(i, is_every);
        n_tries += n;
        if (is_every) {
            print_message("%zu %s: %u\n", i, calls[i].target, n);
        }
    }
    print_message("%zu calls, %u allocations failed\n", last + 1 - first,
                  n_tries);
    assert_int_equal(n_wrong, 0);
    check_sound();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_call_bears_every_failure,
                                        open_store, close_store),
    };
    int failed = cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);

    is_postgres = true;
    return failed + cmocka_run_group_tests_name("postgres", tests, NULL, NULL);
}
