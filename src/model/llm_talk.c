/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llm_talk.c - a reply of a language model, streamed. See llm_talk.h.
 */
#include "model/llm_talk.h"

#include "base/sse.h"
#include "model/llm_internal.h"

#include <string.h>

/* A reply that takes longer than this has gone wrong. */
#define WHOLE_TIMEOUT_MS (10L * 60 * 1000)
#define MAX_REQUEST_BYTES (64u * 1024 * 1024)
#define MAX_REPLY_BYTES (1024u * 1024)
#define MAX_EVENT_BYTES (1024u * 1024)
/* Of all that comes: a piece of a word travels in some hundred bytes. */
#define MAX_STREAM_BYTES (64u * 1024 * 1024)
/* How often the reader is asked whether it is over. */
#define LOOK_MS 100
/* Anthropic's API wants a number. */
#define DEFAULT_MAX_TOKENS 4096
/* Of what an endpoint says about an error. */
#define MAX_WHY 200

struct stream {
    struct llm *llm;
    const struct llm_talk *talk;
    struct sse events;
    struct buf text;  /* of the reply so far */
    struct buf plain; /* what came, until it shows to be an event stream */
    bool has_events;
    bool is_whole;
    bool is_stopped;   /* by the reader, or at the longest length */
    bool is_too_large; /* more came than a reply can take */
    size_t n_bytes;
    char why[MAX_WHY + 1]; /* an error told in the stream, "" if none */
    int64_t input_tokens;  /* the highest counts told */
    int64_t output_tokens;
};

/* --- what comes ------------------------------------------------------------
 */

static void take_piece(struct stream *s, const json_t *text)
{
    struct str piece = json_text(text);

    if (!piece.s || piece.len == 0 || s->is_stopped) {
        return;
    }
    if (buf_append_str(&s->text, piece) != CLEW_OK ||
        !s->talk->on_piece(s->talk->arg, piece)) {
        s->is_stopped = true;
    }
}

/* {"error": {"message": …}}, or just a string. */
static void take_error(struct stream *s, const json_t *answer)
{
    const json_t *error = json_object_get(answer, "error");
    const char *why = json_string_value(json_object_get(error, "message"));

    why = why ? why : json_string_value(error);
    if (error) {
        struct str words = str_of(why ? why : "error");

        words.len = words.len < MAX_WHY ? words.len : MAX_WHY;
        memcpy(s->why, words.s, words.len);
        s->why[words.len] = '\0';
        for (size_t i = 0; i < words.len; i++) {
            if ((unsigned char)s->why[i] < ' ') {
                s->why[i] = ' ';
            }
        }
    }
}

static void take_count(const json_t *usage, const char *field, int64_t *count)
{
    int64_t told = llm_told(usage, field);

    *count = told > *count ? told : *count;
}

/* {"usage": ...} wherever an API puts it: in an answer, an event, a message. */
static void take_usage(struct stream *s, const json_t *holder)
{
    const json_t *usage = json_object_get(holder, "usage");

    take_count(usage, "prompt_tokens", &s->input_tokens);
    take_count(usage, "completion_tokens", &s->output_tokens);
    take_count(usage, "input_tokens", &s->input_tokens);
    take_count(usage, "output_tokens", &s->output_tokens);
}

static void take_openai(struct stream *s, const json_t *event)
{
    const json_t *choice = json_array_get(json_object_get(event, "choices"), 0);

    take_piece(s, json_object_get(json_object_get(choice, "delta"), "content"));
    if (json_is_string(json_object_get(choice, "finish_reason"))) {
        s->is_whole = true;
    }
}

static void take_anthropic(struct stream *s, const json_t *event)
{
    const char *type = json_string_value(json_object_get(event, "type"));

    if (type && strcmp(type, "content_block_delta") == 0) {
        take_piece(s, json_object_get(json_object_get(event, "delta"), "text"));
    } else if (type && strcmp(type, "message_stop") == 0) {
        s->is_whole = true;
    }
}

static void take_event(void *arg, struct str name, struct str data)
{
    struct stream *s = arg;
    json_t *event = NULL;

    (void)name; /* the data say it too */
    s->has_events = true;
    if (str_eq(data, STR("[DONE]"))) {
        s->is_whole = true;
        return;
    }
    if (json_parse(data, &event, NULL) != CLEW_OK) {
        return; /* a comment or a ping of its own making */
    }
    take_error(s, event);
    take_usage(s, event);
    take_usage(s, json_object_get(event, "message"));
    if (s->llm->is_anthropic) {
        take_anthropic(s, event);
    } else {
        take_openai(s, event);
    }
    json_decref(event);
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *arg)
{
    struct stream *s = arg;

    s->n_bytes += size * count;
    s->is_too_large = s->n_bytes > MAX_STREAM_BYTES;
    if (s->is_too_large) {
        return 0;
    }
    sse_feed(&s->events, bytes, size * count);
    if (!s->has_events) {
        /* kept up to its limit: an error, or a reply in one piece */
        clew_ignore(buf_append(&s->plain, bytes, size * count));
    }
    return s->is_stopped ? 0 : size * count; /* 0 makes curl stop */
}

/* An answer that was no stream. */
static void take_plain(struct stream *s)
{
    json_t *answer = NULL;
    const char *text;

    if (s->has_events ||
        json_parse(buf_str(&s->plain), &answer, NULL) != CLEW_OK) {
        return;
    }
    take_error(s, answer);
    take_usage(s, answer);
    text = llm_text_of(s->llm, answer);
    if (text) {
        json_t *piece = json_string(text);

        take_piece(s, piece);
        json_decref(piece);
        s->is_whole = true;
    }
    json_decref(answer);
}

/* --- the call --------------------------------------------------------------
 */

static bool set_copy(json_t *object, const char *name, const json_t *value)
{
    return json_set(object, name, json_copy_tree(value));
}

static enum clew_status write_request(const struct llm *llm,
                                      const struct llm_talk *talk,
                                      struct buf *out)
{
    json_t *body = json_object();
    enum clew_status status = CLEW_NO_MEMORY;
    bool is_ok = body && set_copy(body, "messages", talk->messages) &&
                 json_set_cstr(body, "model", llm->model) &&
                 json_set_bool(body, "stream", true);

    if (is_ok && talk->system) {
        is_ok = set_copy(body, "system", talk->system);
    }
    if (is_ok && (talk->max_tokens > 0 || llm->is_anthropic)) {
        is_ok = json_set_int(body, "max_tokens",
                             talk->max_tokens > 0 ? talk->max_tokens
                                                  : DEFAULT_MAX_TOKENS);
    }
    if (is_ok) {
        status = json_write(out, body);
    }
    json_decref(body);
    return status;
}

static bool set_stream(struct stream *s, CURL *curl)
{
    long quiet_s = (long)((s->llm->timeout_ms + 999) / 1000);

    return curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, s) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, quiet_s) == CURLE_OK;
}

/* Run the transfer, looking up now and then. */
static CURLcode transfer(struct stream *s, CURLM *multi, CURL *curl)
{
    CURLcode code = CURLE_OK;
    int n_running = 1;

    if (curl_multi_add_handle(multi, curl) != CURLM_OK) {
        return CURLE_OUT_OF_MEMORY;
    }
    while (n_running > 0 && !s->is_stopped) {
        const CURLMsg *msg;
        int n_left;

        if (s->talk->is_over && s->talk->is_over(s->talk->arg)) {
            s->is_stopped = true;
            break;
        }
        if (curl_multi_perform(multi, &n_running) != CURLM_OK ||
            (n_running > 0 &&
             curl_multi_poll(multi, NULL, 0, LOOK_MS, NULL) != CURLM_OK)) {
            code = CURLE_OUT_OF_MEMORY;
            break;
        }
        msg = curl_multi_info_read(multi, &n_left);
        code = msg && msg->msg == CURLMSG_DONE ? msg->data.result : code;
    }
    (void)curl_multi_remove_handle(multi, curl); /* only fails if not added */
    return code;
}

/* What a transfer that came to its end means for the reply. */
static enum clew_status judge(struct stream *s, CURL *curl, CURLcode code,
                              struct clew_error *err)
{
    enum clew_status status;

    if (s->is_stopped) {
        return CLEW_OK;
    }
    if (s->is_too_large || s->events.n_lost > 0) {
        return clew_fail(err, CLEW_UPSTREAM,
                         "the language model sent more than a reply takes");
    }
    take_plain(s);
    status = llm_status(s->llm, curl, code, err);
    if (s->why[0] && (status == CLEW_OK || code == CURLE_OK)) {
        return clew_fail(err, status == CLEW_OK ? CLEW_UPSTREAM : status,
                         "the language model answered: %s", s->why);
    }
    if (status == CLEW_OK && !s->is_whole) {
        return clew_fail(err, CLEW_UPSTREAM, "the language model broke off");
    }
    return status;
}

static enum clew_status run(struct stream *s, const struct buf *request,
                            struct clew_error *err)
{
    CURLM *multi = curl_multi_init();
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = llm_headers(s->llm);
    enum clew_status status;

    if (multi && curl && headers &&
        llm_set_options(s->llm, curl, headers, WHOLE_TIMEOUT_MS, request) &&
        set_stream(s, curl)) {
        status = judge(s, curl, transfer(s, multi, curl), err);
    } else {
        status = clew_no_memory(err);
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    (void)curl_multi_cleanup(multi); /* nothing is left in it */
    return status;
}

enum clew_status llm_talk(struct llm *llm, struct arena *arena,
                          const struct llm_talk *talk, struct llm_reply *out,
                          struct clew_error *err)
{
    struct stream s = {.llm = llm, .talk = talk};
    struct buf request;
    enum clew_status status;

    *out = (struct llm_reply){.text = STR("")};
    status = llm_enter(llm, err);
    if (status != CLEW_OK) {
        return status;
    }
    buf_init(&request, MAX_REQUEST_BYTES);
    buf_init(&s.text, MAX_REPLY_BYTES);
    buf_init(&s.plain, MAX_REPLY_BYTES);
    sse_init(&s.events, MAX_EVENT_BYTES, take_event, &s);
    status = write_request(llm, talk, &request);
    status = status == CLEW_OK ? run(&s, &request, err) : clew_no_memory(err);
    if (s.text.len > 0) {
        out->text = arena_str(arena, buf_str(&s.text));
        if (!out->text.s) {
            out->text = STR("");
            status = clew_no_memory(err);
        }
    }
    out->input_tokens = s.input_tokens;
    out->output_tokens = s.output_tokens;
    out->is_whole = status == CLEW_OK && s.is_whole && !s.is_stopped;
    sse_release(&s.events);
    buf_release(&s.plain);
    buf_release(&s.text);
    buf_release(&request);
    llm_leave(llm, status);
    return status;
}

const char *llm_kind(const struct llm *llm)
{
    return llm->is_anthropic ? "anthropic" : "openai";
}
