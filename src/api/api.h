/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the REST surface: one table of routes, one handler per row.
 *
 * The table (api/routes.c) is the single source of the router, the OpenAPI
 * document and the role checks. A handler reads its input from a struct
 * api_call, calls the engine, and builds its answer as a JSON tree; it neither
 * knows how the request came nor how the answer leaves.
 *
 * To add an endpoint: write the handler in the file of its resource, declare
 * it in handlers.h, add its row in routes.c. What is new among its fields and
 * answers gets a row in openapi/openapi_fields.c and the table beside it.
 * Thread-safety: the table is immutable; a call belongs to one thread.
 */
#ifndef API_API_H
#define API_API_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"
#include "http/router.h"
#include "store/store.h"

struct engine;
struct api_route;
struct json_out;

enum api_role { API_ROLE_NONE, API_ROLE_READ, API_ROLE_WRITE, API_ROLE_ADMIN };

#define API_MAX_PARAMS ROUTER_MAX_PARAMS

struct api_call {
    struct engine *engine;
    struct arena *arena;
    const struct http_request *request;
    struct http_response *response; /* for headers, streams and raw bodies */
    const struct api_route *routes; /* all there are */
    const struct api_route *route;
    struct scope scope; /* from the key, never from the body */
    enum api_role role;
    const char *key_id;                /* "" without a key */
    struct str params[API_MAX_PARAMS]; /* {name} parts of the path, decoded */
    json_t *body;      /* the JSON object sent ({} if none); NULL for GET */
    size_t body_bytes; /* what of the request's share it takes */
    json_t *out;     /* the answer: the handler makes it, the caller frees it */
    int http_status; /* 200 unless the handler sets another */
};

/*
 * Handle one call. On success either `out` is set, or the handler filled
 * `response->body` or `response->stream` itself. On failure nothing was done
 * and `err` says why; the caller writes it.
 */
typedef enum clew_status (*api_fn)(struct api_call *call,
                                   struct clew_error *err);

enum api_flags {
    /* The body goes to the handler as it came (call->request->body): no media
     * type, JSON or field check. */
    API_RAW_BODY = 1 << 0,
    /* Any query parameter passes. */
    API_ANY_QUERY = 1 << 1,
    /* Authorization and x-api-key belong to a provider: the key is in
     * x-clew-key, or in the path parameter {key} where the pattern has one. */
    API_PROXY_KEY = 1 << 2,
    /* While the store is down, a key it confirmed shortly before will do. */
    API_KNOWN_KEY = 1 << 3,
    /* server.metrics says who needs no key, or that it is not there. */
    API_METRICS = 1 << 4
};

struct api_route {
    enum http_method method;
    const char *path;   /* "/api/v1/chats/{id}/fork" */
    enum api_role role; /* least role; NONE: open to all, call->scope is 0 */
    api_fn fn;
    const char *const *body_fields; /* NULL-terminated; NULL = none allowed */
    const char *const *query;       /* NULL-terminated; NULL = none allowed */
    const char *summary;            /* one sentence for the OpenAPI document */
    /*
     * "operationId: required,fields > STATUS media/type Answer": which body
     * fields or parameters must be there, and what comes back: the name of an
     * object of openapi.h's tables, "[Name]" for a list page of it, or nothing.
     * 200 and JSON need not be said.
     */
    const char *schema;
    unsigned flags; /* enum api_flags */
};

/* Every route; ends with a row whose path is NULL. */
extern const struct api_route api_routes[];

/* Path parameter `i` as an id; CLEW_NOT_FOUND if it is none, as for any id that
 * does not exist. */
enum clew_status api_param_id(const struct api_call *call, int i,
                              struct uuid *out_id,
                              struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Query parameters. One that is missing or empty leaves `*out` as it was; a bad
 * one is CLEW_INVALID with its name.
 */
enum clew_status api_query_str(const struct api_call *call, const char *name,
                               size_t max_bytes, struct str *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status api_query_int(const struct api_call *call, const char *name,
                               int64_t min, int64_t max, int64_t *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status api_query_uuid(const struct api_call *call, const char *name,
                                struct uuid *out,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status api_query_time(const struct api_call *call, const char *name,
                                int64_t *out_ms,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* When the request's headers came, read from the clock then: whether that was
 * before or after a forget is a matter of one millisecond. */
int64_t api_sent_ms(const struct api_call *call);
/*
 * Since when what is sent was on its way, by the engine's clock: the body's
 * "begun_at", but no later than api_sent_ms().
 */
enum clew_status api_body_begun(const struct api_call *call, bool *out_is_given,
                                int64_t *out_ms,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* "since", "until" and "at" of the body; what it does not name stays. */
enum clew_status api_body_times(const struct api_call *call,
                                int64_t *out_since_ms, int64_t *out_until_ms,
                                int64_t *out_at_ms,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Where the body says a fork begins: its `at_seq`, or `subtask`, whose is
 * before the first turn; what it does not name stays. */
struct chat_origin;
enum clew_status api_body_fork(const struct api_call *call,
                               struct chat_origin *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The body's `timezone`, if it has one; CLEW_INVALID where it is none. */
enum clew_status api_body_zone(const json_t *body, struct str *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* A text of the body that people write, its secrets starred (redact.h). */
enum clew_status api_body_text(struct api_call *call, const char *field,
                               enum json_need need, size_t max_bytes,
                               struct str *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The turns as they may be shown: with secrets starred, or as they were sent if
 * the query says secrets=show and the key may (admin; CLEW_FORBIDDEN).
 */
struct turn;
enum clew_status api_show_turns(struct api_call *call, struct turn *turns,
                                size_t count,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* `limit` and `cursor` of a list. The cursor is an opaque, tenant-bound text
 * that fits only the route that gave it. */
struct api_page {
    int64_t limit;
    struct str cursor; /* decoded payload; s == NULL for the first page */
};
enum clew_status api_page_of(const struct api_call *call, struct api_page *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Make the key that cursors are signed with, so that no page has to write
 * later: lists go on answering when the disk is full. */
enum clew_status api_pages_open(struct engine *engine,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* The same for a call whose body has a "cursor": only that is filled. */
enum clew_status api_cursor_of(const struct api_call *call,
                               struct api_page *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The text of a payload (api_mark()), for answers that are not lists. */
enum clew_status api_cursor_make(struct api_call *call, struct str payload,
                                 struct str *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Rows of one type that make a list. */
struct api_rows {
    const void *first;
    size_t count;
    size_t size; /* of one */
    /* One row as it goes out, NULL without memory. */
    json_t *(*form)(const struct api_call *call, const void *row);
    /* Where the page after this row begins: api_mark(). NULL for lists that are
     * never cut. */
    struct str (*mark)(struct api_call *call, const void *row);
};
#define API_ROWS(rows, count, form, mark)                                      \
    (&(const struct api_rows){(rows), (count), sizeof((rows)[0]), (form),      \
                              (mark)})
/*
 * Answer with the first rows of a page. Ask the engine for one row more than
 * `page->limit`: it only tells that there is a next page. `page` is NULL for
 * lists that are never cut.
 */
enum clew_status api_answer_rows(struct api_call *call,
                                 const struct api_page *page,
                                 const struct api_rows *rows,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The same for long lists, without a tree: `write` writes one row, and `form`
 * is NULL. */
enum clew_status
api_write_rows(struct api_call *call, const struct api_page *page,
               const struct api_rows *rows,
               void (*write)(struct json_out *out, const void *row),
               struct clew_error *err) CLEW_MUST_CHECK;
/* {"items":[…],"next_cursor":…}; takes `items`, also on failure; `next` NULL at
 * the end. */
enum clew_status api_list(struct api_call *call, json_t *items,
                          const struct str *next,
                          struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The payload most lists need: a number (time, seq) and an id. api_mark() makes
 * it in the arena, api_mark_parse() reads it back; a payload of another form is
 * CLEW_INVALID, field "cursor". Without a cursor the outputs stay as they were.
 */
struct str api_mark(struct api_call *call, int64_t number,
                    const struct uuid *id);
enum clew_status api_mark_parse(const struct api_page *page,
                                int64_t *out_number, struct uuid *out_id,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* Answer with `out` (taken); NULL: there was no memory to make it. */
enum clew_status api_answer(struct api_call *call, json_t *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Define the handler `name` of a route whose path names a thing by its id: what
 * the engine's find(engine, scope, arena, id, out, err) gives, as `form` (see
 * struct api_rows) writes it. A macro, since each thing has a type of its own.
 */
#define API_BY_ID(name, type, find, form)                                      \
    enum clew_status name(struct api_call *call, struct clew_error *err)       \
    {                                                                          \
        type found;                                                            \
        struct uuid id;                                                        \
        enum clew_status status = api_param_id(call, 0, &id, err);             \
                                                                               \
        if (status == CLEW_OK) {                                               \
            status = find(call->engine, &call->scope, call->arena, &id,        \
                          &found, err);                                        \
        }                                                                      \
        return status == CLEW_OK ? api_answer(call, form(call, &found), err)   \
                                 : status;                                     \
    }

#endif
