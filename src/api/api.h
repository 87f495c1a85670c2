/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the REST surface: one table of routes, one handler per row.
 *
 * The table (api/routes.c) is the single source of the router, the OpenAPI
 * document and the role checks. A handler reads its input from a struct
 * api_call, calls the engine, and builds its answer as a JSON tree; it neither
 * knows how the request came nor how the answer leaves.
 * Thread-safety: the table is immutable; a call belongs to one thread.
 */
#ifndef API_API_H
#define API_API_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/status.h"
#include "http/http.h"
#include "store/store.h"

struct engine;

enum api_role { API_ROLE_NONE, API_ROLE_READ, API_ROLE_WRITE, API_ROLE_ADMIN };

#define API_MAX_PARAMS 4

struct api_call {
    struct engine *engine;
    struct arena *arena;
    const struct http_request *request;
    struct http_response *response; /* for headers and streams only */
    struct scope scope;             /* from the key, never from the body */
    enum api_role role;
    const char *key_id;             /* "" without a key */
    struct str params[API_MAX_PARAMS]; /* {name} parts of the path, decoded */
    json_t *body;  /* parsed JSON object, NULL for methods without one */
    json_t *out;   /* the answer: the handler makes it, the caller frees it */
    int http_status; /* 200 unless the handler sets another */
};

typedef enum clew_status (*api_fn)(struct api_call *call,
                                   struct clew_error *err);

struct api_route {
    enum http_method method;
    const char *path; /* "/api/v1/chats/{id}/fork" */
    enum api_role role;
    api_fn fn;
    const char *const *body_fields; /* NULL-terminated; NULL = no body */
    const char *const *query;       /* NULL-terminated; NULL = none */
    const char *summary;            /* one sentence for the OpenAPI document */
    const char *schema; /* JSON schema of request and answer, see openapi.c */
};

/* Every route; ends with a row whose path is NULL. */
extern const struct api_route api_routes[];

/* Path parameter `i` as an id; CLEW_NOT_FOUND if it is none, as for any id that
 * does not exist. */
enum clew_status api_param_id(const struct api_call *call, int i,
                              struct uuid *out_id,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* `limit` and `cursor` of a list. The cursor is opaque, tenant-bound text. */
struct api_page {
    int64_t limit;
    struct str cursor; /* decoded payload; s == NULL for the first page */
};
enum clew_status api_page_of(const struct api_call *call, struct api_page *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* {"items":[…],"next_cursor":…}; takes `items`; `next` NULL at the end. */
enum clew_status api_list(struct api_call *call, json_t *items,
                          const struct str *next,
                          struct clew_error *err) CLEW_MUST_CHECK;

#endif
