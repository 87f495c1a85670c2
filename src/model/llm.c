/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm.c - ask a language model. See llm.h.
 */
#include "model/llm.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "model/llm_internal.h"
#include "model/url_check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FAILURES_TO_OPEN 5
#define OPEN_MS 30000
#define MAX_REQUEST_BYTES (4u * 1024 * 1024)
#define MAX_ANSWER_BYTES (4u * 1024 * 1024)
#define DEFAULT_MAX_TOKENS 1024
/* Told of one call: more is no count. */
#define MAX_TOKENS_TOLD 1000000000

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void start_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT); /* easy_init fails later */
}

static enum clew_status bad_answer(struct clew_error *err, const char *why)
{
    return clew_fail(err, CLEW_UPSTREAM, "the language model %s", why);
}

/* --- repair ----------------------------------------------------------------
 */

/* Where the object that starts at `from` ends, or SIZE_MAX. */
static size_t object_end(struct str text, size_t from)
{
    int depth = 0;
    char quote = '\0';

    for (size_t i = from; i < text.len; i++) {
        char c = text.s[i];

        if (quote) {
            if (c == '\\') {
                i++;
            } else if (c == quote) {
                quote = '\0';
            }
        } else if (c == '"') {
            quote = c;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return SIZE_MAX;
}

/* Copy a quoted stretch as a JSON string; gives the place after it. */
static size_t copy_quoted(struct str text, size_t i, struct buf *out)
{
    char quote = text.s[i++];

    buf_append_char(out, '"');
    for (; i < text.len && text.s[i] != quote; i++) {
        if (text.s[i] == '\\' && i + 1 < text.len) {
            if (text.s[i + 1] != '\'') {
                buf_append_char(out, '\\');
            }
            buf_append_char(out, text.s[++i]);
        } else if (text.s[i] == '"') {
            buf_append_cstr(out, "\\\"");
        } else if (text.s[i] == '\n') {
            buf_append_cstr(out, "\\n");
        } else {
            buf_append_char(out, text.s[i]);
        }
    }
    buf_append_char(out, '"');
    return i + 1;
}

static bool is_word(struct str text, size_t i, struct str word)
{
    return str_starts(str_sub(text, i, text.len), word);
}

/* The same text with what models get wrong set right. */
static void straighten(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.len;) {
        char c = text.s[i];

        if (c == '"' || c == '\'') {
            i = copy_quoted(text, i, out);
        } else if (is_word(text, i, STR("True"))) {
            buf_append_cstr(out, "true");
            i += 4;
        } else if (is_word(text, i, STR("False"))) {
            buf_append_cstr(out, "false");
            i += 5;
        } else if (is_word(text, i, STR("None"))) {
            buf_append_cstr(out, "null");
            i += 4;
        } else {
            size_t next = i + 1;

            while (next < text.len && strchr(" \t\r\n", text.s[next])) {
                next++;
            }
            /* a comma before the end of a list or object */
            if (c != ',' || next >= text.len ||
                (text.s[next] != '}' && text.s[next] != ']')) {
                buf_append_char(out, c);
            }
            i++;
        }
    }
}

static json_t *parse_object(struct str text)
{
    json_t *json = NULL;

    if (json_parse(text, &json, NULL) != CLEW_OK) {
        return NULL;
    }
    if (!json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/*
 * Read a JSON object out of what a model wrote: code fences, words around it,
 * trailing commas, single quotes and unquoted True/False/None are forgiven.
 * NULL if there is none.
 */
static json_t *llm_repair(struct arena *arena, struct str text)
{
    size_t from = str_find(text, STR("{"), 0);
    size_t to = from == SIZE_MAX ? SIZE_MAX : object_end(text, from);
    struct buf fixed;
    json_t *json;

    (void)arena;
    if (from == SIZE_MAX) {
        return NULL;
    }
    text = str_sub(text, from, to == SIZE_MAX ? text.len : to);
    json = parse_object(text);
    if (json) {
        return json;
    }
    buf_init(&fixed, MAX_ANSWER_BYTES * 2);
    straighten(text, &fixed);
    json = buf_status(&fixed) == CLEW_OK ? parse_object(buf_str(&fixed)) : NULL;
    buf_release(&fixed);
    return json;
}

/* --- the request -----------------------------------------------------------
 */

static json_t *message_of(const char *role, struct str text)
{
    json_t *out = json_object();

    if (out && json_set_cstr(out, "role", role) &&
        json_set_str(out, "content", text)) {
        return out;
    }
    json_decref(out);
    return NULL;
}

/* {"type":"json_schema",…}: the endpoint holds the model to the schema. */
static json_t *format_of(json_t *schema)
{
    return json_pack("{s:s, s:{s:s, s:b, s:o}}", "type", "json_schema",
                     "json_schema", "name", "answer", "strict", 1, "schema",
                     schema);
}

/* Anthropic's way: a tool that must be called, its input is the answer. */
static bool set_tool(json_t *body, json_t *schema)
{
    json_t *tools =
        json_pack("[{s:s, s:s, s:o}]", "name", "answer", "description",
                  "Give the answer.", "input_schema", schema);
    json_t *choice = json_pack("{s:s, s:s}", "type", "tool", "name", "answer");
    bool has_tools = json_set(body, "tools", tools);

    return json_set(body, "tool_choice", choice) && has_tools;
}

/* What makes the endpoint keep to the schema. */
static bool set_schema(const struct llm *llm, const char *text, json_t *body)
{
    json_t *schema = NULL;

    if (json_parse(str_of(text), &schema, NULL) != CLEW_OK) {
        return false;
    }
    return llm->is_anthropic
               ? set_tool(body, schema)
               : json_set(body, "response_format", format_of(schema));
}

/* What stays the same from call to call is marked, so that it is kept there. */
static bool set_system(json_t *body, const char *system)
{
    return json_set(body, "system",
                    json_pack("[{s:s, s:s, s:{s:s}}]", "type", "text", "text",
                              system, "cache_control", "type", "ephemeral"));
}

static enum clew_status write_request(const struct llm *llm,
                                      struct arena *arena,
                                      const struct llm_request *request,
                                      struct buf *out)
{
    bool is_strict = request->is_strict && !atomic_load(&llm->is_plain);
    const char *system = arena_printf(
        arena,
        "%.*s\nAnswer with one JSON object and nothing else, of this "
        "schema:\n%s",
        (int)request->system.len, request->system.s, request->schema);
    json_t *body = json_object();
    json_t *messages = json_array();
    bool is_ok = system && body && messages;
    enum clew_status status = CLEW_NO_MEMORY;

    if (is_ok && !llm->is_anthropic) {
        is_ok = json_array_append_new(
                    messages, message_of("system", str_of(system))) == 0;
    }
    is_ok = is_ok && json_array_append_new(
                         messages, message_of("user", request->prompt)) == 0;
    is_ok = json_set(body, "messages", messages) && is_ok &&
            json_set_cstr(body, "model", llm->model) &&
            json_set_int(body, "max_tokens",
                         request->max_tokens ? request->max_tokens
                                             : DEFAULT_MAX_TOKENS) &&
            json_set_int(body, "temperature", 0);
    if (is_ok && llm->is_anthropic) {
        is_ok = request->is_strict ? set_system(body, system)
                                   : json_set_cstr(body, "system", system);
    }
    if (is_ok && is_strict) {
        is_ok = set_schema(llm, request->schema, body);
    }
    if (is_ok) {
        status = json_write(out, body);
    }
    json_decref(body);
    return status;
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *arg)
{
    /* a short count makes curl stop: the answer is over its bound */
    return buf_append(arg, bytes, size * count) == CLEW_OK ? size * count : 0;
}

enum clew_status llm_status(struct llm *llm, CURL *curl, CURLcode code,
                            struct clew_error *err)
{
    curl_off_t wait_s = 0;
    long http = 0;

    if (code == CURLE_OPERATION_TIMEDOUT) {
        return clew_fail(err, CLEW_TIMEOUT, "the language model took too long");
    }
    if (code != CURLE_OK) {
        return clew_fail(err, CLEW_UPSTREAM,
                         "could not reach the language model: %s",
                         curl_easy_strerror(code));
    }
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http);
    if (http == 429) {
        (void)curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_s);
        llm_gate_hold(&llm->gate,
                      wait_s < 3600 ? (int64_t)wait_s * 1000 : 3600000);
        return clew_fail(err, CLEW_RATE_LIMITED,
                         "the language model asks to slow down");
    }
    if (http != 200) {
        return clew_fail(err, CLEW_UPSTREAM, "the language model answered %ld",
                         http);
    }
    return CLEW_OK;
}

bool llm_set_options(const struct llm *llm, CURL *curl,
                     struct curl_slist *headers, int64_t timeout_ms,
                     const struct buf *request)
{
    bool ok = curl_easy_setopt(curl, CURLOPT_URL, llm->url) == CURLE_OK;

    ok &=
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms) ==
          CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)LLM_CONNECT_TIMEOUT_MS) == CURLE_OK;
    /* what is for this machine must not leave through a proxy */
    ok &=
        !llm->is_local || curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->data) == CURLE_OK;
    ok &= curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                           (curl_off_t)request->len) == CURLE_OK;
    return ok;
}

/* Append a header line; on failure the list is freed and NULL comes back. */
static struct curl_slist *add_header(struct curl_slist *list, const char *line)
{
    struct curl_slist *longer = list || !line ? list : NULL;

    if (line) {
        longer = curl_slist_append(list, line);
        if (!longer) {
            curl_slist_free_all(list);
        }
    }
    return longer;
}

struct curl_slist *llm_headers(const struct llm *llm)
{
    struct curl_slist *headers =
        add_header(NULL, "Content-Type: application/json");

    if (headers && llm->is_anthropic) {
        headers = add_header(headers, "anthropic-version: 2023-06-01");
    }
    return headers ? add_header(headers, llm->key_header) : NULL;
}

/* `*out_http` is the answer's number, 0 if none came; `answer` over its limit
 * counts as one that came. */
static enum clew_status post(struct llm *llm, int64_t timeout_ms,
                             const struct buf *request, struct buf *answer,
                             long *out_http, struct clew_error *err)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = llm_headers(llm);
    enum clew_status status = CLEW_NO_MEMORY;

    if (curl && headers &&
        llm_set_options(llm, curl, headers, timeout_ms, request) &&
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer) == CURLE_OK) {
        status = llm_status(llm, curl, curl_easy_perform(curl), err);
        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, out_http);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return status;
}

/* --- the answer ------------------------------------------------------------
 */

const char *llm_text_of(const struct llm *llm, const json_t *answer)
{
    const json_t *at;

    if (llm->is_anthropic) {
        at = json_array_get(json_object_get(answer, "content"), 0);
        return json_string_value(json_object_get(at, "text"));
    }
    at = json_array_get(json_object_get(answer, "choices"), 0);
    return json_string_value(
        json_object_get(json_object_get(at, "message"), "content"));
}

/* The input of the tool that Anthropic's API was told to call; NULL: none. */
static json_t *tool_input(const struct llm *llm, const json_t *answer)
{
    const json_t *content = json_object_get(answer, "content");

    for (size_t i = 0; llm->is_anthropic && i < json_array_size(content); i++) {
        json_t *input = json_object_get(json_array_get(content, i), "input");

        if (json_is_object(input)) {
            return json_incref(input);
        }
    }
    return NULL;
}

int64_t llm_told(const json_t *usage, const char *field)
{
    int64_t told = json_integer_value(json_object_get(usage, field));

    return told > 0 && told <= MAX_TOKENS_TOLD ? told : 0;
}

static int64_t count_of(const json_t *answer, const char *field,
                        const char *other)
{
    const json_t *usage = json_object_get(answer, "usage");

    return llm_told(usage, json_object_get(usage, field) ? field : other);
}

static enum clew_status read_answer(const struct llm *llm, struct arena *arena,
                                    struct str body, struct llm_answer *out,
                                    struct clew_error *err)
{
    json_t *answer = parse_object(body);
    const char *text = answer ? llm_text_of(llm, answer) : NULL;
    enum clew_status status = CLEW_OK;

    out->input_tokens = count_of(answer, "input_tokens", "prompt_tokens");
    out->output_tokens = count_of(answer, "output_tokens", "completion_tokens");
    out->json = tool_input(llm, answer);
    if (!out->json) {
        out->json = text ? llm_repair(arena, str_of(text)) : NULL;
    }
    if (!out->json) {
        status = bad_answer(err, "gave no JSON object");
    }
    json_decref(answer);
    return status;
}

enum clew_status llm_enter(struct llm *llm, struct clew_error *err)
{
    enum clew_status status = llm_gate_enter(&llm->gate, llm->timeout_ms, err);

    if (status == CLEW_OK && !breaker_allow(&llm->breaker)) {
        llm_gate_leave(&llm->gate);
        status = clew_fail(err, CLEW_UNAVAILABLE,
                           "the language model keeps failing; waiting");
    }
    return status;
}

static bool is_upstream_failure(enum clew_status status)
{
    return status == CLEW_UPSTREAM || status == CLEW_TIMEOUT ||
           status == CLEW_RATE_LIMITED;
}

void llm_leave(struct llm *llm, enum clew_status status)
{
    llm_gate_leave(&llm->gate);
    breaker_report(&llm->breaker, !is_upstream_failure(status));
}

/* One call, without a word on whether it may be made. */
static enum clew_status ask_once(struct llm *llm, struct arena *arena,
                                 const struct llm_request *request,
                                 struct llm_answer *out, long *out_http,
                                 struct clew_error *err)
{
    int64_t timeout_ms = llm->timeout_ms;
    struct buf sent;
    struct buf got;
    enum clew_status status;

    if (request->timeout_ms > 0 && request->timeout_ms < timeout_ms) {
        timeout_ms = request->timeout_ms;
    }
    *out_http = 0;
    buf_init(&sent, MAX_REQUEST_BYTES);
    buf_init(&got, MAX_ANSWER_BYTES);
    status = write_request(llm, arena, request, &sent);
    if (status == CLEW_OK) {
        status = post(llm, timeout_ms, &sent, &got, out_http, err);
    }
    if (status == CLEW_OK) {
        status = read_answer(llm, arena, buf_str(&got), out, err);
    }
    if (request->out_garbled) {
        *request->out_garbled = *out_http == 200 && status == CLEW_UPSTREAM;
    }
    buf_release(&sent);
    buf_release(&got);
    return status;
}

enum clew_status llm_ask(struct llm *llm, struct arena *arena,
                         const struct llm_request *request,
                         struct llm_answer *out, struct clew_error *err)
{
    long http = 0;
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    status = llm_enter(llm, err);
    if (status != CLEW_OK) {
        return status;
    }
    status = ask_once(llm, arena, request, out, &http, err);
    if (http == 400 && request->is_strict && !atomic_load(&llm->is_plain)) {
        atomic_store(&llm->is_plain, true);
        status = ask_once(llm, arena, request, out, &http, err);
    }
    llm_leave(llm, status);
    return status;
}

/* --- life ------------------------------------------------------------------
 */

/* The address with the API's path, unless it has it. */
static char *address_of(const char *url, bool is_anthropic)
{
    const char *path = is_anthropic ? "/v1/messages" : "/chat/completions";
    struct str base = str_of(url);
    struct buf text;
    char *out = NULL;

    buf_init(&text, 8192);
    while (str_ends(base, STR("/"))) {
        base.len--;
    }
    buf_append_str(&text, base);
    if (!str_ends(base, str_of(path))) {
        buf_append_cstr(&text, path);
    }
    if (buf_status(&text) == CLEW_OK) {
        out = alloc_string(text.data);
    }
    buf_release(&text);
    return out;
}

static char *key_header_of(const char *key, bool is_anthropic)
{
    struct buf text;
    char *out = NULL;

    buf_init(&text, 8192);
    buf_printf(&text, "%s%s",
               is_anthropic ? "x-api-key: " : "Authorization: Bearer ", key);
    if (buf_status(&text) == CLEW_OK) {
        out = alloc_string(text.data);
    }
    explicit_bzero(text.data, text.len);
    buf_release(&text);
    return out;
}

enum clew_status llm_open(const struct llm_options *options,
                          struct llm **out_llm, struct clew_error *err)
{
    struct llm *llm = alloc_zero(1, sizeof(*llm));
    bool has_key = options->key && options->key[0];
    enum clew_status status;

    if (!llm) {
        return clew_no_memory(err);
    }
    (void)pthread_once(&curl_once, start_curl);
    breaker_init(&llm->breaker, options->clock, FAILURES_TO_OPEN, OPEN_MS);
    llm_gate_init(&llm->gate, options->clock, options->concurrency);
    llm->is_anthropic = strcmp(options->kind, "anthropic") == 0;
    llm->timeout_ms = options->timeout_ms;
    status = url_check(options->url, "llm.url", &llm->is_local, err);
    if (status == CLEW_OK) {
        llm->url = address_of(options->url, llm->is_anthropic);
        llm->model = alloc_string(options->model);
        llm->key_header =
            has_key ? key_header_of(options->key, llm->is_anthropic) : NULL;
        if (!llm->url || !llm->model || (has_key && !llm->key_header)) {
            status = clew_no_memory(err);
        }
    }
    if (status != CLEW_OK) {
        llm_close(llm);
        return status;
    }
    *out_llm = llm;
    return CLEW_OK;
}

void llm_close(struct llm *llm)
{
    if (!llm) {
        return;
    }
    breaker_release(&llm->breaker);
    llm_gate_release(&llm->gate);
    alloc_free(llm->url);
    alloc_free(llm->model);
    alloc_free_secret(llm->key_header,
                      llm->key_header ? strlen(llm->key_header) : 0);
    alloc_free(llm);
}

const char *llm_model(const struct llm *llm)
{
    return llm->model;
}
