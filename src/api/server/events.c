/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - GET /api/v1/events: what happens, as server-sent events.
 *
 * The stream looks at the store a few times a second and sleeps in between; a
 * comment now and then finds out whether anyone still listens. The key is
 * looked at again and again: a revoked one hears nothing more. An event's id
 * says where to go on.
 */
#include "api/handlers.h"

#include "api/entry/auth.h"
#include "api/server/seats.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "engine/core/engine.h"
#include "engine/view/events.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS 400
#define QUIET_MS 15000
/* Of one look: at most EVENTS_MOST events, whose names are short; each of their
 * bytes may take six to write. A look that did not fit would be tried for
 * ever. */
#define EVENT_BYTES (2 * LIMIT_NAME_BYTES + 512)
#define MAX_LOOK_BYTES ((size_t)EVENTS_MOST * EVENT_BYTES * 2)
#define MAX_TEXT_BYTES ((size_t)EVENTS_MOST * EVENT_BYTES * 6)

static struct seats seats = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct stream {
    struct api_call call; /* to ask again who is calling */
    struct events_mark mark;
    struct buf text; /* written, not yet read */
    size_t at;
    int64_t last_ms; /* when something was last sent */
};

/* "seq-stored-failed" */
static bool mark_parse(struct str text, struct events_mark *out)
{
    struct str part;
    int64_t values[3];
    size_t n = 0;

    while (n < 3 && str_split(&text, '-', &part)) {
        if (!str_parse_int(part, &values[n]) || values[n] < 0) {
            return false;
        }
        n++;
    }
    if (n != 3 || text.len != 0) {
        return false;
    }
    *out = (struct events_mark){values[0], values[1], values[2]};
    return true;
}

static enum clew_status write_mark(struct buf *text,
                                   const struct events_mark *mark)
{
    return buf_printf(text, "id: %" PRId64 "-%" PRId64 "-%" PRId64 "\n",
                      mark->change_seq, mark->stored_ms, mark->failed_ms);
}

static void write_event(struct buf *text, const struct event *event)
{
    struct json_out out;

    /* the buffer remembers a failure */
    (void)write_mark(text, &event->mark);
    (void)buf_printf(text, "event: %s\ndata: ", event_kind_name(event->kind));
    json_out_init(&out, text);
    json_out_object(&out, NULL);
    json_out_uuid(&out, "id", uuid_or_null(&event->id));
    json_out_uuid(&out, "chat_id", uuid_or_null(&event->chat_id));
    json_out_str(&out, "what", event->what);
    json_out_str(&out, "status", event->status);
    json_out_str(&out, "user_id", event->user_id);
    if (event->seq) {
        json_out_int(&out, "seq", event->seq);
    }
    json_out_time(&out, "at", event->at_ms ? &event->at_ms : NULL);
    json_out_end_object(&out);
    (void)buf_append_cstr(text, "\n\n");
}

/* May they still hear it? */
static bool is_allowed(const struct stream *stream, struct arena *arena)
{
    struct api_call again = stream->call;
    struct clew_error err = {0};

    again.arena = arena; /* the request's own would grow with every look */
    return auth_call(&again, &err) == CLEW_OK &&
           again.scope.tenant == stream->call.scope.tenant &&
           again.role >= API_ROLE_READ;
}

/* Write what has happened; false ends the stream. */
static bool look(struct stream *stream)
{
    struct clew_error err = {0};
    struct event *events = NULL;
    struct arena arena;
    size_t count = 0;
    bool is_ok;

    arena_init(&arena, MAX_LOOK_BYTES);
    is_ok = is_allowed(stream, &arena) &&
            events_after(stream->call.engine, &stream->call.scope, &arena,
                         &stream->mark, &events, &count, &err) == CLEW_OK;
    for (size_t i = 0; is_ok && i < count; i++) {
        write_event(&stream->text, &events[i]);
    }
    arena_release(&arena);
    return is_ok && buf_status(&stream->text) == CLEW_OK;
}

static ptrdiff_t read_stream(void *arg, char *out, size_t cap)
{
    struct stream *stream = arg;
    size_t n;

    while (stream->at == stream->text.len) {
        int64_t now_ms = clock_mono_ns() / 1000000;

        buf_clear(&stream->text);
        stream->at = 0;
        if (http_is_stopping(stream->call.request) || !look(stream)) {
            return 0;
        }
        if (stream->text.len == 0 && now_ms - stream->last_ms > QUIET_MS) {
            (void)buf_append_cstr(&stream->text, ": still here\n\n");
        }
        if (stream->text.len > 0) {
            stream->last_ms = now_ms;
        } else {
            (void)poll(NULL, 0, LOOK_MS); /* nothing: a pause */
        }
    }
    n = stream->text.len - stream->at;
    n = n < cap ? n : cap;
    memcpy(out, stream->text.data + stream->at, n);
    stream->at += n;
    return (ptrdiff_t)n;
}

static void free_stream(void *arg)
{
    struct stream *stream = arg;

    seats_give(&seats, stream->call.scope.tenant);
    buf_release(&stream->text);
    alloc_free(stream);
}

/* Where it goes on: behind the header's event, behind `after`'s, or from now.
 * The header is a browser's and newer than the address it keeps asking, but it
 * may be of another server; `after` is the caller's word and must be right. */
static enum clew_status find_mark(struct api_call *call,
                                  struct events_mark *out,
                                  struct clew_error *err)
{
    struct str last = http_header_of(call->request, "last-event-id");
    struct str after = {0};
    enum clew_status status =
        api_query_str(call, "after", LIMIT_NAME_BYTES, &after, err);

    if (status != CLEW_OK || (last.s && mark_parse(str_trim(last), out))) {
        return status;
    }
    if (!after.s) {
        return events_now(call->engine, &call->scope, out, err);
    }
    return mark_parse(after, out)
               ? CLEW_OK
               : clew_fail_field(err, "after",
                                 "\"after\" must be the id of an event");
}

static enum clew_status begin(struct api_call *call, struct stream *stream,
                              struct clew_error *err)
{
    enum clew_status status;

    stream->call = *call;
    stream->call.out = NULL;
    buf_init(&stream->text, MAX_TEXT_BYTES);
    status = find_mark(call, &stream->mark, err);
    if (status != CLEW_OK) {
        return status;
    }
    /* so that the headers go out at once, and that who is cut off before the
     * first event misses none */
    (void)buf_append_cstr(&stream->text, ": clew\n"); /* checked below */
    status = write_mark(&stream->text, &stream->mark);
    if (status == CLEW_OK) {
        status = buf_append_char(&stream->text, '\n');
    }
    return status == CLEW_OK
               ? http_response_header(call->request, call->response,
                                      "content-type", "text/event-stream")
               : status;
}

/* Streams leave places to those who only ask. */
static size_t seat_count(const struct api_call *call)
{
    int64_t half =
        config_int(call->engine->config, "server.max_connections") / 2;

    if (half < 1) {
        return 1;
    }
    return half < LIMIT_EVENT_STREAMS ? (size_t)half : LIMIT_EVENT_STREAMS;
}

enum clew_status events_get(struct api_call *call, struct clew_error *err)
{
    struct stream *stream;
    enum clew_status status;

    if (!seats_take(&seats, seat_count(call), call->scope.tenant)) {
        return clew_fail_code(err, CLEW_BUSY, "TOO_MANY_STREAMS",
                              "too many listen already, or too many of this "
                              "tenant; close a stream or try again later");
    }
    stream = alloc_zero(1, sizeof(*stream));
    if (!stream) {
        seats_give(&seats, call->scope.tenant);
        return clew_no_memory(err);
    }
    status = begin(call, stream, err);
    if (status != CLEW_OK) {
        free_stream(stream);
        return status;
    }
    call->response->stream =
        (struct http_stream){read_stream, free_stream, stream};
    return CLEW_OK;
}
