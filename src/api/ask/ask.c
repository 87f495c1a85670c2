/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - POST /api/v1/ask: a question answered in sentences that cite.
 *
 * As one object, or as server-sent events while it comes: `sources`, then each
 * `sentence` as soon as it is checked, then `answer`, the whole of it, which is
 * what counts. A model's words arrive in a thread of their own, so that what is
 * checked goes out while the rest is still on its way.
 */
#include "api/handlers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "engine/answer/answer.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "http/presence.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* How often a waiting stream looks up, and says that it is there. */
#define LOOK_MS 200
#define QUIET_MS 15000
/* As they are written, so that with all sources an answer stays within
 * LIMIT_ANSWER_BYTES: all sentences, one of them, a name. */
#define TEXT_BYTES 20000u
#define SENTENCE_BYTES 4096u
#define NAME_BYTES 512u
#define MAX_STREAM_BYTES ((size_t)4 << 20)

struct asked {
    struct answer_query query;
    bool is_streamed;
};

/* An answer on its way to a listener. */
struct stream {
    struct engine *engine;
    const struct http_request *request;
    struct scope scope;
    struct arena arena; /* the thread's */
    struct asked asked;
    struct answer answer;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t came;
    struct buf text; /* written, not yet sent */
    size_t at;
    bool is_done;
    bool is_left;
};

/* --- what is asked ---------------------------------------------------------
 */

static enum clew_status read_asked(struct api_call *call, struct asked *out,
                                   struct clew_error *err)
{
    const json_t *body = call->body;
    struct search_query *search = &out->query.search;
    enum clew_status status = json_get_str(
        body, "query", JSON_REQUIRED, LIMIT_ASK_BYTES, &search->query, err);

    if (status == CLEW_OK) {
        status = json_get_str(body, "user_id", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                              &search->user_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(body, "chat_id", JSON_OPTIONAL, &search->chat_id,
                               err);
        search->asked_in = search->chat_id;
    }
    if (status == CLEW_OK) {
        status = api_body_zone(body, &search->timezone, err);
    }
    if (status == CLEW_OK) {
        status = api_body_times(call, &search->since_ms, &search->until_ms,
                                &search->at_ms, err);
        search->ahead_ms =
            json_is_string(json_object_get(body, "at")) ? 0 : search->ahead_ms;
    }
    if (status == CLEW_OK) {
        status = json_get_bool(body, "deep", JSON_OPTIONAL, &out->query.is_deep,
                               err);
    }
    if (status == CLEW_OK) {
        status = json_get_bool(body, "stream", JSON_OPTIONAL, &out->is_streamed,
                               err);
    }
    return status;
}

/* --- what is answered ------------------------------------------------------
 */

static const char *answered_name(enum search_answered answered)
{
    static const char *const names[] = {"no", "maybe", "yes"};

    return names[answered];
}

/* What a passage is, without its words. */
static void write_which(struct json_out *out, const struct answer *answer,
                        size_t i)
{
    const struct search_hit *hit = answer->sources[i].hit;

    json_out_int(out, "number", (int64_t)i + 1);
    json_out_str(out, "kind",
                 hit->item.kind == RECALL_MEMORY ? STR("memory") : STR("turn"));
    json_out_uuid(out, "id", &hit->item.id);
    json_out_uuid(out, "turn_id", hit->turn ? &hit->turn->id : NULL);
    json_out_uuid(out, "chat_id", uuid_or_null(&hit->item.chat));
}

static void write_source(struct json_out *out, const struct answer *answer,
                         size_t i)
{
    const struct search_hit *hit = answer->sources[i].hit;

    json_out_object(out, NULL);
    write_which(out, answer, i);
    json_out_str(out, "external_id",
                 hit->turn ? hit->turn->external_id : (struct str){0});
    json_out_cut_str(out, "speaker", search_speaker(hit), NAME_BYTES);
    json_out_time(out, "created_at", &hit->item.created_at_ms);
    json_out_bool(out, "superseded", hit->is_superseded);
    json_out_bool(out, "is_instruction", search_is_order(hit));
    json_out_real(out, "score", hit->item.score);
    json_out_cut_str(out, "text", answer->sources[i].text,
                     LIMIT_ANSWER_TEXT_BYTES);
    json_out_end_object(out);
}

static void write_sentence(struct json_out *out, const struct answer *answer,
                           size_t i)
{
    const struct answer_sentence *sentence = &answer->sentences[i];
    const char *fault = answer_fault_name(sentence->fault);

    json_out_object(out, NULL);
    json_out_cut_str(out, "text", sentence->text, SENTENCE_BYTES);
    json_out_bool(out, "supported", sentence->fault == ANSWER_SUPPORTED);
    json_out_str(out, "fault", fault ? str_of(fault) : (struct str){0});
    json_out_array(out, "cites");
    for (size_t k = 0; k < sentence->n_cites; k++) {
        json_out_object(out, NULL);
        write_which(out, answer, sentence->cites[k]);
        json_out_end_object(out);
    }
    json_out_end_array(out);
    json_out_end_object(out);
}

static void write_sources(struct json_out *out, const struct answer *answer)
{
    json_out_array(out, "sources");
    for (size_t i = 0; i < answer->n_sources; i++) {
        write_source(out, answer, i);
    }
    json_out_end_array(out);
    json_out_array(out, "questions");
    for (size_t i = 0; i < answer->n_questions; i++) {
        json_out_str(out, NULL, answer->questions[i]);
    }
    json_out_end_array(out);
}

static void write_answer(struct buf *body, const struct answer *answer)
{
    struct json_out out;

    json_out_init(&out, body);
    json_out_object(&out, NULL);
    json_out_cut_str(&out, "text", answer->text, TEXT_BYTES);
    json_out_str(&out, "answered", str_of(answered_name(answer->answered)));
    json_out_str(&out, "by", str_of(answer_by_name(answer->by)));
    json_out_str(&out, "reason",
                 answer->reason[0] ? str_of(answer->reason) : (struct str){0});
    json_out_array(&out, "sentences");
    for (size_t i = 0; i < answer->n_sentences; i++) {
        write_sentence(&out, answer, i);
    }
    json_out_end_array(&out);
    write_sources(&out, answer);
    json_out_end_object(&out);
}

/* --- as it comes -----------------------------------------------------------
 */

/* The buffer remembers a failure; the reader of the stream looks at it. */
static void tell_sources(void *arg, const struct answer *answer)
{
    struct stream *stream = arg;
    struct json_out out;

    (void)pthread_mutex_lock(&stream->lock);
    (void)buf_append_cstr(&stream->text, "event: sources\ndata: ");
    json_out_init(&out, &stream->text);
    json_out_object(&out, NULL);
    write_sources(&out, answer);
    json_out_end_object(&out);
    (void)buf_append_cstr(&stream->text, "\n\n");
    (void)pthread_cond_signal(&stream->came);
    (void)pthread_mutex_unlock(&stream->lock);
}

static void tell_sentence(void *arg, const struct answer *answer, size_t i)
{
    struct stream *stream = arg;
    struct json_out out;

    (void)pthread_mutex_lock(&stream->lock);
    (void)buf_append_cstr(&stream->text, "event: sentence\ndata: ");
    json_out_init(&out, &stream->text);
    write_sentence(&out, answer, i);
    (void)buf_append_cstr(&stream->text, "\n\n");
    (void)pthread_cond_signal(&stream->came);
    (void)pthread_mutex_unlock(&stream->lock);
}

static bool is_over(void *arg)
{
    struct stream *stream = arg;
    bool is_left;

    (void)pthread_mutex_lock(&stream->lock);
    is_left = stream->is_left;
    (void)pthread_mutex_unlock(&stream->lock);
    return is_left || http_is_stopping(stream->request);
}

/* A store that fails in mid-stream is an event too: the status went out. */
static void tell_end(struct stream *stream, enum clew_status status,
                     const struct clew_error *err)
{
    struct json_out out;

    (void)pthread_mutex_lock(&stream->lock);
    if (status == CLEW_OK) {
        (void)buf_append_cstr(&stream->text, "event: answer\ndata: ");
        write_answer(&stream->text, &stream->answer);
    } else {
        (void)buf_append_cstr(&stream->text, "event: error\ndata: ");
        json_out_init(&out, &stream->text);
        json_out_object(&out, NULL);
        json_out_str(
            &out, "code",
            str_of(err->code[0] ? err->code : clew_status_code(status)));
        json_out_str(&out, "message", str_of(err->message));
        json_out_end_object(&out);
    }
    (void)buf_append_cstr(&stream->text, "\n\n");
    stream->is_done = true;
    (void)pthread_cond_signal(&stream->came);
    (void)pthread_mutex_unlock(&stream->lock);
}

static void *answer_thread(void *arg)
{
    struct stream *stream = arg;
    struct clew_error err = {0};
    enum clew_status status =
        answer_run(stream->engine, &stream->scope, &stream->arena,
                   &stream->asked.query, &stream->answer, &err);

    tell_end(stream, status, &err);
    return NULL;
}

static void wait_a_little(struct stream *stream)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* cannot fail so */
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&stream->came, &stream->lock, &until);
}

static ptrdiff_t read_stream(void *arg, char *out, size_t cap)
{
    struct stream *stream = arg;
    int64_t since_ms = clock_mono_ns() / 1000000;
    size_t n = 0;

    (void)pthread_mutex_lock(&stream->lock);
    while (stream->at == stream->text.len && !stream->is_done &&
           !http_is_stopping(stream->request)) {
        if (presence_is_lost(stream->request, since_ms * 1000000)) {
            (void)pthread_mutex_unlock(&stream->lock);
            return -1; /* who asked has gone: free_stream() ends the asking */
        }
        wait_a_little(stream);
        if (stream->at == stream->text.len &&
            clock_mono_ns() / 1000000 - since_ms > QUIET_MS) {
            (void)buf_append_cstr(&stream->text, ": still here\n\n");
        }
    }
    if (buf_status(&stream->text) == CLEW_OK) {
        n = stream->text.len - stream->at;
        n = n < cap ? n : cap;
        memcpy(out, stream->text.data + stream->at, n);
        stream->at += n;
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return (ptrdiff_t)n;
}

static void drop_stream(struct stream *stream)
{
    buf_release(&stream->text);
    arena_release(&stream->arena);
    (void)pthread_cond_destroy(&stream->came);
    (void)pthread_mutex_destroy(&stream->lock);
    alloc_free(stream);
}

static void free_stream(void *arg)
{
    struct stream *stream = arg;

    (void)pthread_mutex_lock(&stream->lock);
    stream->is_left = true;
    (void)pthread_mutex_unlock(&stream->lock);
    (void)pthread_join(stream->thread, NULL);
    drop_stream(stream);
}

/* False without memory: a filter must never be lost. */
static bool own_str(struct arena *arena, struct str *text)
{
    if (text->s) {
        *text = arena_str(arena, *text);
        return text->s != NULL;
    }
    return true;
}

/* The words are the request's, which is gone before the thread is. */
static bool own_words(struct stream *stream)
{
    struct search_query *search = &stream->asked.query.search;

    return own_str(&stream->arena, &search->query) &&
           own_str(&stream->arena, &search->user_id) &&
           own_str(&stream->arena, &search->timezone);
}

static struct stream *stream_new(struct api_call *call,
                                 const struct asked *asked)
{
    struct stream *stream = alloc_zero(1, sizeof(*stream));
    pthread_condattr_t attr;

    if (!stream) {
        return NULL;
    }
    stream->engine = call->engine;
    stream->request = call->request;
    stream->scope = call->scope;
    stream->asked = *asked;
    stream->asked.query.on_sources = tell_sources;
    stream->asked.query.on_sentence = tell_sentence;
    stream->asked.query.is_over = is_over;
    stream->asked.query.arg = stream;
    arena_init(&stream->arena, LIMIT_REQUEST_ARENA_BYTES);
    buf_init(&stream->text, MAX_STREAM_BYTES);
    (void)pthread_mutex_init(&stream->lock, NULL); /* never fails on Linux */
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&stream->came, &attr);
    (void)pthread_condattr_destroy(&attr);
    /* so that the headers go out at once */
    (void)buf_append_cstr(&stream->text, ": clew\n\n");
    if (!own_words(stream) || buf_status(&stream->text) != CLEW_OK) {
        drop_stream(stream);
        return NULL;
    }
    return stream;
}

static enum clew_status begin_stream(struct api_call *call,
                                     const struct asked *asked,
                                     struct clew_error *err)
{
    struct stream *stream;
    enum clew_status status = http_response_header(
        call->request, call->response, "content-type", "text/event-stream");

    if (status != CLEW_OK) {
        return status;
    }
    stream = stream_new(call, asked);
    if (!stream) {
        return clew_no_memory(err);
    }
    if (pthread_create(&stream->thread, NULL, answer_thread, stream) != 0) {
        drop_stream(stream);
        return clew_fail(err, CLEW_BUSY, "no thread is left to answer");
    }
    call->response->stream =
        (struct http_stream){read_stream, free_stream, stream};
    return CLEW_OK;
}

/* Somebody who waits for the whole of it. */
struct listener {
    const struct http_request *request;
    int64_t since_ns;
};

static bool is_gone(void *arg)
{
    const struct listener *listener = arg;

    return http_is_stopping(listener->request) ||
           presence_is_lost(listener->request, listener->since_ns);
}

enum clew_status ask_post(struct api_call *call, struct clew_error *err)
{
    struct asked asked = {
        .query = {.search = {.since_ms = INT64_MIN,
                             .until_ms = INT64_MAX,
                             .at_ms = clock_now_ms(call->engine->clock),
                             .ahead_ms = SEARCH_AHEAD_MS}}};
    struct listener listener = {call->request, clock_mono_ns()};
    struct answer *answer;
    enum clew_status status = read_asked(call, &asked, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (asked.is_streamed) {
        return begin_stream(call, &asked, err);
    }
    answer = arena_zero(call->arena, 1, sizeof(*answer));
    if (!answer) {
        return clew_no_memory(err);
    }
    asked.query.is_over = is_gone;
    asked.query.arg = &listener;
    status = answer_run(call->engine, &call->scope, call->arena, &asked.query,
                        answer, err);
    if (status == CLEW_OK) {
        write_answer(&call->response->body, answer);
    }
    return status; /* a full buffer is found by whoever sends it */
}
