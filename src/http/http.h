/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - a request and a response, whatever carries them.
 *
 * The same handlers serve sockets (http/server.h), the command line working
 * on a data folder, MCP and tests: they see only these two structs. Nothing
 * here knows of the engine.
 * Thread-safety: a request and its response belong to one thread at a time.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum http_method {
    HTTP_GET,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_HEAD,
    HTTP_OPTIONS,
    HTTP_OTHER
};

#define HTTP_ID_SIZE 40
#define HTTP_PEER_SIZE 64

struct presence;
struct room_share;

struct http_header {
    struct str name; /* as received; compare without case */
    struct str value;
};

/* How far a server has come with ending. */
struct http_end {
    atomic_bool is_stopping; /* long streams end themselves */
    atomic_bool is_over;     /* whoever waits for others breaks off */
};

struct http_request {
    struct arena *arena; /* for whatever is made while handling it */
    enum http_method method;
    struct str path;  /* still percent-encoded, without the query */
    struct str query; /* raw, without '?' */
    const struct http_header *headers;
    size_t n_headers;
    struct str body;
    bool is_loopback; /* listener and peer are on this machine */
    bool is_trusted;  /* in-process caller: the operator at the command line */
    bool is_part;     /* made to answer another, which came as a POST */
    int64_t began_ms; /* by the system's clock, when its headers were here; 0
                       * for in-process callers: now */
    char id[HTTP_ID_SIZE];     /* request id, also the answer's x-request-id */
    char peer[HTTP_PEER_SIZE]; /* address without port; "unix"; "" in-process */
    /* NULL for in-process callers; ask with the functions below. */
    const struct http_end *end;
    /* Whether the client is still there (presence.h); NULL for in-process
     * callers. */
    struct presence *presence;
    /* What it holds of the memory for bodies (room.h); NULL for in-process
     * callers. */
    struct room_share *share;
};

/*
 * A streamed body. `read` fills up to `cap` bytes and returns how many; 0 ends
 * the stream, -1 breaks the connection off. It may block. `free` is called
 * once, always.
 */
struct http_stream {
    ptrdiff_t (*read)(void *arg, char *out, size_t cap);
    void (*free)(void *arg);
    void *arg;
};

struct http_response {
    int status;
    struct buf body;             /* used unless `stream.read` is set */
    struct http_stream stream;   /* zero if unused */
    struct http_header *headers; /* in the request's arena */
    size_t n_headers;
    size_t cap_headers;
    const char *route; /* static pattern for log and metrics; NULL = none */
};

/* "GET"; HTTP_OTHER gives "OTHER". */
const char *http_method_name(enum http_method method);
/* Exact, upper case; anything else is HTTP_OTHER. */
enum http_method http_method_of(const char *name);

/*
 * Make a request of your own, for in-process callers: zeroed, with a fresh id.
 * `target` is "/path?query"; it and `body` are borrowed.
 */
void http_request_init(struct http_request *request, struct arena *arena,
                       enum http_method method, struct str target,
                       struct str body);
/* A fresh id, or `wanted` if it is 1-39 of [A-Za-z0-9._-]. */
void http_request_id(struct str wanted, char out[HTTP_ID_SIZE]);
bool http_is_stopping(const struct http_request *request);
/* The time that requests under way are given is over. A handler that may wait
 * for long for somebody else asks once a second. */
bool http_is_over(const struct http_request *request);

/* The value of the first such header, or the empty slice with s == NULL. */
struct str http_header_of(const struct http_request *request, const char *name);
/* A query parameter, percent-decoded into the arena; s == NULL if not there.
 * CLEW_INVALID for a broken encoding. */
enum clew_status http_query_of(const struct http_request *request,
                               const char *name, struct str *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_INVALID naming the first query parameter not in the NULL-terminated
 * list. */
enum clew_status http_check_query(const struct http_request *request,
                                  const char *const *known,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Percent-decode into the arena. CLEW_INVALID for a broken escape, for NUL and
 * for what is not UTF-8. */
enum clew_status http_decode(struct arena *arena, struct str text,
                             bool plus_is_space, struct str *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

void http_response_init(struct http_response *response, size_t limit_bytes);
void http_response_release(struct http_response *response);
/* Add a header; both strings are copied into the request's arena. */
enum clew_status http_response_header(const struct http_request *request,
                                      struct http_response *response,
                                      const char *name,
                                      const char *value) CLEW_MUST_CHECK;
/*
 * Replace whatever the response holds by the one error form:
 * {"error":{"code","type","message","field"?,"request_id"}}. `err` may be NULL.
 * Cannot fail: without memory the body is a fixed text.
 */
void http_response_error(const struct http_request *request,
                         struct http_response *response,
                         enum clew_status status, const struct clew_error *err);

/* Answers one request. Never fails: what goes wrong becomes an answer. */
typedef void (*http_handler)(void *arg, const struct http_request *request,
                             struct http_response *response);

/*
 * May the body of this request be read? Asked when its headers are there. False
 * if not, and `response` says why. The handler must not rely on it: it is asked
 * only where there is a body, and things may change until that has come.
 */
typedef bool (*http_admit)(void *arg, const struct http_request *request,
                           struct http_response *response);

#endif
