/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.c - MCP over streamable HTTP. See door.h.
 */
#include "mcp/door.h"

#include "api/api.h"
#include "api/entry/auth.h"
#include "api/mounts.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/key/caller.h"
#include "http/room.h"
#include "mcp/mcp_internal.h"
#include "mcp/ticket.h"

#include <pthread.h>
#include <string.h>

struct door {
    struct engine *engine;
    struct door_options options;
    struct tickets *tickets;
    pthread_mutex_t lock; /* guards the list and is_cancelled in it */
    struct visit *visits; /* requests under way */
};

/* One HTTP request; in the request's arena. */
struct visit {
    struct door *door;
    const struct http_request *request;
    struct mcp_host host;
    struct mcp_peer peer;
    struct scope scope;
    uint64_t session; /* hash of the session's id */
    json_t *message;
    struct buf *events; /* notifications go here; NULL if there are none */
    struct buf stream;  /* events that were not read yet */
    size_t stream_at;   /* bytes of it that were */
    bool is_done;       /* all events are in `stream` */
    bool is_cancelled;
    struct visit *next;
};

/* --- API calls -------------------------------------------------------------
 */

static enum clew_status status_of(int http_status)
{
    for (int i = CLEW_OK; i <= CLEW_NEWER_SCHEMA; i++) {
        if (clew_status_http((enum clew_status)i) == http_status) {
            return (enum clew_status)i;
        }
    }
    return CLEW_INTERNAL;
}

/* {"error":{"code","message"}} to a status with its words. */
static enum clew_status read_error(int http_status, struct str body,
                                   struct clew_error *err)
{
    enum clew_status status = status_of(http_status);
    const json_t *error;
    json_t *json = NULL;
    const char *code;
    const char *message;

    if (json_parse(body, &json, NULL) != CLEW_OK) {
        return clew_fail(err, status, "the API answered %d", http_status);
    }
    error = json_object_get(json, "error");
    code = json_string_value(json_object_get(error, "code"));
    message = json_string_value(json_object_get(error, "message"));
    (void)clew_fail_code(err, status, code ? code : clew_status_code(status),
                         "%s", message ? message : "");
    json_decref(json);
    return status;
}

static enum clew_status read_answer(struct http_response *response,
                                    json_t **out_json, struct clew_error *err)
{
    while (response->stream.read) {
        char part[4096];
        ptrdiff_t n =
            response->stream.read(response->stream.arg, part, sizeof(part));

        if (n <= 0 || buf_append(&response->body, part, (size_t)n) != CLEW_OK) {
            break; /* looked at below */
        }
    }
    if (buf_status(&response->body) != CLEW_OK) {
        return clew_fail(err, CLEW_TOO_LARGE, "the answer is too large");
    }
    if (response->status >= 400) {
        return read_error(response->status, buf_str(&response->body), err);
    }
    if (response->body.len == 0) {
        *out_json = json_null();
        return CLEW_OK;
    }
    return json_parse(buf_str(&response->body), out_json, err);
}

/* The caller's own headers, and before them the name it gave with
 * "initialize"; without memory just its own. */
static void name_caller(const struct visit *visit, struct http_request *request)
{
    size_t count = request->n_headers;
    struct http_header *headers;

    if (!visit->peer.client[0]) {
        return;
    }
    headers = arena_zero(request->arena, count + 1, sizeof(*headers));
    if (headers) {
        headers[0] = (struct http_header){STR(CALLER_HEADER),
                                          str_of(visit->peer.client)};
        memcpy(headers + 1, request->headers, count * sizeof(*headers));
        request->headers = headers;
        request->n_headers = count + 1;
    }
}

/* The caller's own request, for another address. */
static enum clew_status call_api(void *arg, const char *method,
                                 const char *path, const json_t *body,
                                 json_t **out_json, struct clew_error *err)
{
    struct visit *visit = arg;
    struct http_request request = *visit->request;
    struct http_response response;
    struct str target = str_of(path);
    size_t mark = str_find(target, STR("?"), 0);
    enum clew_status status = CLEW_OK;
    struct buf text;

    buf_init(&text, LIMIT_BODY_BYTES);
    if (body && json_write(&text, body) != CLEW_OK) {
        buf_release(&text);
        return clew_fail(err, CLEW_TOO_LARGE, "the call is too large");
    }
    request.method = http_method_of(method);
    request.is_part = true;
    request.path = str_sub(target, 0, mark);
    request.query =
        str_sub(target, mark == SIZE_MAX ? mark : mark + 1, target.len);
    request.body = buf_str(&text);
    name_caller(visit, &request);
    http_response_init(&response, LIMIT_REQUEST_ARENA_BYTES);
    visit->door->options.next(visit->door->options.next_arg, &request,
                              &response);
    status = read_answer(&response, out_json, err);
    http_response_release(&response);
    buf_release(&text);
    return status;
}

/* --- requests under way ----------------------------------------------------
 */

static void enter(struct visit *visit)
{
    struct door *door = visit->door;

    (void)pthread_mutex_lock(&door->lock);
    visit->next = door->visits;
    door->visits = visit;
    (void)pthread_mutex_unlock(&door->lock);
}

static void leave(struct visit *visit)
{
    struct door *door = visit->door;
    struct visit **at = &door->visits;

    (void)pthread_mutex_lock(&door->lock);
    while (*at && *at != visit) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = visit->next;
    }
    (void)pthread_mutex_unlock(&door->lock);
}

/* Mark the request that `visit` (a notification) says is cancelled. */
static void cancel(const struct visit *visit, const json_t *id)
{
    struct door *door = visit->door;

    (void)pthread_mutex_lock(&door->lock);
    for (struct visit *v = door->visits; v; v = v->next) {
        if (v->session == visit->session &&
            mcp_same_id(json_object_get(v->message, "id"), id)) {
            v->is_cancelled = true;
        }
    }
    (void)pthread_mutex_unlock(&door->lock);
}

static bool is_cancelled(void *arg, const json_t *id)
{
    struct visit *visit = arg;
    bool result;

    (void)id; /* of this very visit */
    (void)pthread_mutex_lock(&visit->door->lock);
    result = visit->is_cancelled;
    (void)pthread_mutex_unlock(&visit->door->lock);
    return result;
}

/* --- answering -------------------------------------------------------------
 */

static void add_header(const struct visit *visit,
                       struct http_response *response, const char *name,
                       const char *value)
{
    /* without memory the answer itself fails too */
    clew_ignore(http_response_header(visit->request, response, name, value));
}

/* A JSON-RPC error as the whole answer. */
static void refuse(const struct visit *visit, struct http_response *response,
                   int http_status, enum mcp_code code, const char *words)
{
    json_t *message =
        mcp_error(json_object_get(visit->message, "id"), code, words);

    response->status = http_status;
    add_header(visit, response, "content-type", "application/json");
    if (message) {
        clew_ignore(json_write(&response->body, message)); /* the status says
                                                              enough */
    }
    json_decref(message);
}

static void free_visit(void *arg)
{
    struct visit *visit = arg;

    leave(visit);
    json_decref(visit->message);
    buf_release(&visit->stream);
}

/* "data: {…}", an empty line. */
static void add_event(struct buf *out, const json_t *message)
{
    /* the buffer remembers a failure */
    (void)buf_append_cstr(out, "event: message\ndata: ");
    clew_ignore(json_write(out, message));
    (void)buf_append_cstr(out, "\n\n");
}

static void notify(void *arg, const json_t *message)
{
    struct visit *visit = arg;

    if (visit->events) {
        add_event(visit->events, message);
    }
}

/* The work is done while the stream is read: first a line that opens it, so
 * that the client has the headers at once. */
static ptrdiff_t read_stream(void *arg, char *out, size_t cap)
{
    struct visit *visit = arg;
    json_t *reply = NULL;
    size_t n;

    if (visit->stream_at == visit->stream.len && !visit->is_done) {
        visit->is_done = true;
        visit->events = &visit->stream;
        mcp_handle(&visit->peer, visit->message, &reply);
        if (reply) {
            add_event(&visit->stream, reply);
        }
        json_decref(reply);
        if (buf_status(&visit->stream) != CLEW_OK) {
            return -1;
        }
    }
    n = visit->stream.len - visit->stream_at;
    n = n < cap ? n : cap;
    memcpy(out, visit->stream.data + visit->stream_at, n);
    visit->stream_at += n;
    return (ptrdiff_t)n;
}

static bool wants_stream(const struct visit *visit)
{
    const json_t *meta =
        json_object_get(json_object_get(visit->message, "params"), "_meta");
    struct str accept = http_header_of(visit->request, "accept");

    return json_object_get(meta, "progressToken") &&
           str_ifind(accept, STR("text/event-stream"), 0) != SIZE_MAX;
}

/* True if the visit goes on as a stream, which then frees it. */
static bool answer_stream(struct visit *visit, struct http_response *response)
{
    if (buf_append_cstr(&visit->stream, ": clew\n\n") != CLEW_OK) {
        return false;
    }
    response->status = 200;
    add_header(visit, response, "content-type", "text/event-stream");
    add_header(visit, response, "cache-control", "no-store");
    response->stream = (struct http_stream){read_stream, free_visit, visit};
    return true;
}

static void answer_json(struct visit *visit, struct http_response *response)
{
    bool is_new = strcmp(mcp_text(visit->message, "method"), "initialize") == 0;
    json_t *reply = NULL;
    struct str id;

    mcp_handle(&visit->peer, visit->message, &reply);
    if (!reply) {
        refuse(visit, response, 200, MCP_CANCELLED, "cancelled");
        return;
    }
    response->status = 200;
    add_header(visit, response, "content-type", "application/json");
    if (is_new && visit->peer.version) {
        id = ticket_make(visit->door->tickets, visit->request->arena,
                         &visit->scope, &visit->peer);
        add_header(visit, response, "mcp-session-id", id.s ? id.s : "");
    }
    if (json_write(&response->body, reply) != CLEW_OK) {
        buf_clear(&response->body);
        refuse(visit, response, 200, MCP_INTERNAL, "the answer is too large");
    }
    json_decref(reply);
}

/* --- a visit ---------------------------------------------------------------
 */

/* Is there anything to answer in it? */
static bool has_request(const json_t *message)
{
    const json_t *item;
    size_t i;

    json_array_foreach (message, i, item) {
        if (json_object_get(item, "id") && json_object_get(item, "method")) {
            return true;
        }
    }
    /* what is no notification and no answer is answered, if with an error */
    return !json_is_array(message) &&
           (json_object_get(message, "id") ||
            !json_object_get(message, "method")) &&
           !json_object_get(message, "result") &&
           !json_object_get(message, "error");
}

/* The session the request is in; false if it was refused. */
static bool find_session(struct visit *visit, struct http_response *response)
{
    struct str id = http_header_of(visit->request, "mcp-session-id");
    struct str version = http_header_of(visit->request, "mcp-protocol-version");
    struct clew_error err = {0};

    if (version.s && !mcp_version_find(version)) {
        refuse(visit, response, 400, MCP_INVALID_REQUEST,
               "this protocol version is not spoken here");
        return false;
    }
    if (!id.s) {
        refuse(visit, response, 400, MCP_INVALID_REQUEST,
               "the header Mcp-Session-Id is missing");
        return false;
    }
    if (ticket_read(visit->door->tickets, visit->request->arena, &visit->scope,
                    id, &visit->peer, &err) != CLEW_OK) {
        refuse(visit, response, clew_status_http(err.status),
               MCP_INVALID_REQUEST, err.message);
        return false;
    }
    visit->session = str_hash(id);
    return true;
}

/* True if the visit goes on as a stream. */
static bool post(struct visit *visit, struct http_response *response)
{
    struct str body = visit->request->body;
    struct str type = http_header_of(visit->request, "content-type");
    struct clew_error err = {0};
    enum clew_status status;

    if (type.s && !str_istarts(str_trim(type), STR("application/json"))) {
        refuse(visit, response, 415, MCP_INVALID_REQUEST,
               "the message must be application/json");
        return false;
    }
    if (body.len > MCP_MAX_MESSAGE_BYTES) {
        refuse(visit, response, 413, MCP_INVALID_REQUEST,
               "the message is too long");
        return false;
    }
    status = room_take(visit->request->share, json_tree_bytes(body), &err);
    if (status != CLEW_OK) {
        refuse(visit, response, clew_status_http(status), MCP_INVALID_REQUEST,
               err.message);
        return false;
    }
    if (json_parse(body, &visit->message, NULL) != CLEW_OK) {
        refuse(visit, response, 400, MCP_PARSE_ERROR, "this is no JSON");
        return false;
    }
    if (strcmp(mcp_text(visit->message, "method"), "initialize") != 0 &&
        !find_session(visit, response)) {
        return false;
    }
    if (!has_request(visit->message)) {
        const json_t *cancelled = mcp_cancelled_id(visit->message);

        if (cancelled) {
            cancel(visit, cancelled);
        }
        response->status = 202;
        return false;
    }
    enter(visit);
    if (wants_stream(visit) && answer_stream(visit, response)) {
        return true;
    }
    answer_json(visit, response);
    return false;
}

static void end_session(struct visit *visit, struct http_response *response)
{
    if (find_session(visit, response)) {
        ticket_end(visit->door->tickets,
                   http_header_of(visit->request, "mcp-session-id"));
        response->status = 204;
    }
}

/* Tenant of the key; false if there is none, and `response` says so. */
static bool authenticate(const struct door *door,
                         const struct http_request *request,
                         struct http_response *response,
                         struct scope *out_scope)
{
    /* what a key must be able to do to get in; each API call is checked again,
     * and every valid key may read */
    const struct api_route *mount = &api_mounts[API_MOUNT_MCP];
    struct clew_error err = {0};
    struct api_call call = {.engine = door->engine,
                            .arena = request->arena,
                            .request = request,
                            .response = response,
                            .route = mount,
                            .key_id = ""};
    enum clew_status status = auth_enter(door->options.gate, &call, &err);

    response->route = mount->path;
    if (status != CLEW_OK) {
        http_response_error(request, response, status, &err);
        return false;
    }
    *out_scope = call.scope;
    return true;
}

/* Whom the session is for, NULL if the client does not say. A user that cannot
 * be read is no reason to do without the wall. */
static bool read_user(const struct http_request *request, const char **out,
                      struct http_response *response)
{
    struct str user = http_header_of(request, "x-clew-user");
    struct clew_error err;

    *out = NULL;
    if (!user.s) {
        return true;
    }
    if (!mcp_user_is_valid(user)) {
        (void)clew_fail_field(&err, "x-clew-user",
                              "x-clew-user is not a user's id");
        http_response_error(request, response, CLEW_INVALID, &err);
        return false;
    }
    *out = arena_copy(request->arena, user.s, user.len);
    if (!*out) {
        http_response_error(request, response, CLEW_NO_MEMORY, NULL);
    }
    return *out != NULL;
}

static bool is_ours(struct str path)
{
    return str_eq(path, STR("/mcp")) || str_eq(path, STR("/mcp/"));
}

void door_handle(void *arg, const struct http_request *request,
                 struct http_response *response)
{
    struct door *door = arg;
    struct visit *visit;

    if (!is_ours(request->path)) {
        door->options.next(door->options.next_arg, request, response);
        return;
    }
    visit = arena_zero(request->arena, 1, sizeof(*visit));
    if (!visit) {
        http_response_error(request, response, CLEW_NO_MEMORY, NULL);
        return;
    }
    visit->door = door;
    visit->request = request;
    visit->host = (struct mcp_host){call_api, notify, is_cancelled, visit};
    visit->peer.host = &visit->host;
    buf_init(&visit->stream, LIMIT_REQUEST_ARENA_BYTES);
    if (authenticate(door, request, response, &visit->scope) &&
        read_user(request, &visit->peer.user_id, response)) {
        if (request->method == HTTP_POST) {
            if (post(visit, response)) {
                return; /* the stream frees it */
            }
        } else if (request->method == HTTP_DELETE) {
            end_session(visit, response);
        } else {
            add_header(visit, response, "allow", "POST, DELETE");
            http_response_error(request, response, CLEW_NO_METHOD, NULL);
        }
    }
    free_visit(visit);
}

bool door_admit(void *arg, const struct http_request *request,
                struct http_response *response)
{
    const struct door *door = arg;
    struct scope scope;

    if (is_ours(request->path)) {
        return authenticate(door, request, response, &scope);
    }
    return !door->options.next_admit ||
           door->options.next_admit(door->options.next_arg, request, response);
}

/* --- open and close --------------------------------------------------------
 */

enum clew_status door_open(struct engine *engine,
                           const struct door_options *options,
                           struct door **out_door, struct clew_error *err)
{
    struct door *door = alloc_zero(1, sizeof(*door));
    enum clew_status status;

    if (!door) {
        return clew_no_memory(err);
    }
    door->engine = engine;
    door->options = *options;
    (void)pthread_mutex_init(&door->lock, NULL);
    status = tickets_new(engine, &door->tickets, err);
    if (status != CLEW_OK) {
        door_close(door);
        return status;
    }
    *out_door = door;
    return CLEW_OK;
}

void door_close(struct door *door)
{
    if (door) {
        tickets_free(door->tickets);
        (void)pthread_mutex_destroy(&door->lock);
        alloc_free(door);
    }
}
