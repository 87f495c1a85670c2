/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of a call fails in turn: the answer is "out of memory" or
 * what it would have been, never another error; nothing is half done, and the
 * same call succeeds after.
 *
 * All of them with CLEW_TEST_EVERY_ALLOCATION=yes; else the first sixty and
 * fewer and fewer of the rest.
 */
#include "support/test.h"

#include "api/entry/dispatch.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/config.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/core/engine.h"
#include "engine/open.h"
#include "engine/proof/verify.h"
#include "http/http.h"
#include "support/pg.h"

#include <ftw.h>
#include <stdio.h>

#define BODY_BYTES 4096

static struct engine *engine;
static struct config *config;
static char folder[64];
static bool is_postgres;
/* What the calls below are about. */
static char chat[40];
static char session[40];
static char turn[40];
static char memory[40];
static char thought[40];
static unsigned n_done;  /* calls so far: makes names unlike */
static unsigned n_wrong; /* answers that should not be */

struct answer {
    int status;
    json_t *body; /* NULL if it is no JSON */
    char text[400];
};

/* "{chat}" and the like become what they stand for. */
static void fill(const char *form, char *out)
{
    const struct {
        const char *name;
        const char *value;
    } words[] = {{"{chat}", chat},
                 {"{session}", session},
                 {"{turn}", turn},
                 {"{memory}", memory},
                 {"{thought}", thought}};
    char *end = out + BODY_BYTES - 64;

    while (*form && out < end) {
        size_t i = 0;

        while (i < 5 && strncmp(form, words[i].name, strlen(words[i].name))) {
            i++;
        }
        if (i < 5) {
            out += snprintf(out, 64, "%s", words[i].value);
            form += strlen(words[i].name);
        } else if (*form == '#') {
            out += snprintf(out, 64, "%u", n_done);
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
    n_done++;
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
    struct config_flag flags[] = {{"reader.on", "false"}};
    struct engine_options options = {0};
    struct clew_error err = {0};
    char url[512];

    (void)state;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    (void)snprintf(folder, sizeof(folder), "/tmp/clew-memory-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(config_load(NULL, flags, 1, &config, &err), CLEW_OK);
    options.config = config;
    options.data_dir = folder;
    if (is_postgres) {
        pg_start();
        pg_new_database(url, sizeof(url));
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

static const struct {
    enum http_method method;
    const char *target;
    const char *body;
} calls[] = {
    {HTTP_POST, "/api/v1/turns",
     "{\"user_id\":\"ada\",\"role\":\"user\",\"external_id\":\"k#\","
     "\"content\":\"We decided to rent office # in Lisbon on Monday.\"}"},
    {HTTP_POST, "/api/v1/turns",
     "{\"turns\":[{\"user_id\":\"bo#\",\"role\":\"user\",\"content\":[{"
     "\"type\":\"text\",\"text\":\"I need to fix the login page.\"},{\"type\":"
     "\"tool_use\",\"name\":\"x\",\"input\":{\"n\":1.10}}]},{\"user_id\":"
     "\"bo#\",\"role\":\"assistant\",\"content\":\"Clear the cookies.\"}]}"},
    {HTTP_GET, "/api/v1/turns?external_id=k1", NULL},
    {HTTP_POST, "/api/v1/chats", "{\"user_id\":\"ada\",\"title\":\"t#\"}"},
    {HTTP_GET, "/api/v1/chats?user_id=ada", NULL},
    {HTTP_GET, "/api/v1/chats/{chat}", NULL},
    {HTTP_PATCH, "/api/v1/chats/{chat}", "{\"title\":\"title #\"}"},
    {HTTP_GET, "/api/v1/chats/{chat}/turns", NULL},
    {HTTP_GET, "/api/v1/chats/{chat}/marks", NULL},
    {HTTP_POST, "/api/v1/chats/{chat}/fork", "{\"at_seq\":1}"},
    {HTTP_GET, "/api/v1/chats/{chat}/tree", NULL},
    {HTTP_POST, "/api/v1/chats/{chat}/context",
     "{\"message\":\"Where does Greta live?\",\"budget_tokens\":500}"},
    {HTTP_POST, "/api/v1/chats/{chat}/compact", "{}"},
    {HTTP_POST, "/api/v1/sessions/{session}/end", "{}"},
    {HTTP_GET, "/api/v1/sessions?chat_id={chat}", NULL},
    {HTTP_POST, "/api/v1/recall",
     "{\"query\":\"Where does Greta live?\",\"user_id\":\"ada\"}"},
    {HTTP_POST, "/api/v1/analyse", "{\"text\":\"Where does Greta live?\"}"},
    {HTTP_POST, "/api/v1/analyse/feedback",
     "{\"text\":\"the boiler # in the cellar\",\"act\":\"commit\"}"},
    {HTTP_POST, "/api/v1/memory",
     "{\"prompt\":\"The agent monitor # must check the role of every agent "
     "pane.\",\"agent_id\":\"a\",\"agent_name\":\"A\",\"refines\":"
     "\"{thought}\"}"},
    {HTTP_POST, "/api/v1/memory",
     "{\"prompt\":\"What must the agent monitor check?\",\"agent_id\":\"a\","
     "\"agent_name\":\"A\"}"},
    {HTTP_GET, "/api/v1/memories", NULL},
    {HTTP_GET, "/api/v1/memories/{memory}", NULL},
    {HTTP_GET, "/api/v1/memories/{thought}/lineage", NULL},
    {HTTP_GET, "/api/v1/memories/{memory}/source", NULL},
    {HTTP_POST, "/api/v1/efforts",
     "{\"user_id\":\"ada\",\"goal\":\"Repair printer #\",\"chat_id\":"
     "\"{chat}\"}"},
    {HTTP_GET, "/api/v1/efforts?user_id=ada", NULL},
    {HTTP_GET, "/api/v1/episodes?user_id=ada", NULL},
    {HTTP_GET, "/api/v1/chains?user_id=ada", NULL},
    {HTTP_GET, "/api/v1/conflicts", NULL},
    {HTTP_GET, "/api/v1/links", NULL},
    {HTTP_GET, "/api/v1/tasks", NULL},
    {HTTP_GET, "/api/v1/stats", NULL},
    {HTTP_GET, "/api/v1/users", NULL},
    {HTTP_GET, "/api/v1/export", NULL},
    {HTTP_GET, "/healthz", NULL},
    {HTTP_GET, "/openapi.json", NULL},
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

/* The call with one failure after another, until none is left to make. */
static unsigned try_all(size_t at)
{
    bool is_every = getenv("CLEW_TEST_EVERY_ALLOCATION") != NULL;
    unsigned n_tries = 0;
    bool has_fired = true;

    for (uint64_t n = 1; has_fired && n < 100000;
         n += is_every || n < 60 ? 1 : 1 + n / 8) {
        struct answer answer = call(calls[at].method, calls[at].target,
                                    calls[at].body, n, &has_fired);

        n_tries += has_fired;
        if (!is_right(&answer, has_fired)) {
            n_wrong++;
            print_message("%s, allocation %llu: %d %s\n", calls[at].target,
                          (unsigned long long)n, answer.status, answer.text);
        }
        json_decref(answer.body);
    }
    return n_tries;
}

static void every_call_bears_every_failure(void **state)
{
    struct verify_report report = {0};
    struct clew_error err = {0};
    struct arena arena;
    unsigned n_tries = 0;

    (void)state;
    n_wrong = 0;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        n_tries += try_all(i);
    }
    print_message("%zu calls, %u allocations failed\n",
                  sizeof(calls) / sizeof(calls[0]), n_tries);
    assert_int_equal(n_wrong, 0);
    arena_init(&arena, (size_t)1 << 30);
    assert_int_equal(verify_run(engine, &arena, NULL, &report, &err), CLEW_OK);
    for (size_t i = 0; i < report.n_faults; i++) {
        print_message("%s\n", report.faults[i].rule);
    }
    for (size_t i = 0; i < report.n_shown; i++) {
        print_message("%s %s %s %s\n", report.shown[i].what,
                      report.shown[i].type, report.shown[i].key,
                      report.shown[i].column ? report.shown[i].column : "");
    }
    assert_int_equal(report.n_faults, 0);
    arena_release(&arena);
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
