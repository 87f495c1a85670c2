/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - from a request to its handler and back.
 *
 * find the route, authenticate, check the role and the rate, read query and
 * body, call the handler, write JSON. Every failure on the way becomes the one
 * error form.
 * Thread-safety: safe; each call belongs to its thread.
 */
#ifndef API_DISPATCH_H
#define API_DISPATCH_H

#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stdbool.h>

struct engine;
struct api_front;
struct auth_gate;

/*
 * Answer one request. For in-process callers: with request->is_trusted they act
 * as the operator, in the tenant that the header "x-clew-tenant" names
 * ("default" without one). No rate limit.
 */
void api_dispatch(struct engine *engine, const struct http_request *request,
                  struct http_response *response);

/* The same for requests from the network, with rates limited as configured.
 * The caller api_front_free()s it; the engine must outlive it. */
enum clew_status api_front_new(struct engine *engine,
                               struct api_front **out_front,
                               struct clew_error *err) CLEW_MUST_CHECK;
void api_front_free(struct api_front *front);
/* An http_handler; `arg` is the struct api_front. */
void api_front_handle(void *arg, const struct http_request *request,
                      struct http_response *response);

/* An http_admit: the route, the key and its role, before the body is read. */
bool api_front_admit(void *arg, const struct http_request *request,
                     struct http_response *response);
/* The gate that other doors share, so that wrong keys count together. */
struct auth_gate *api_front_gate(struct api_front *front);
/* Is this address open to all by the table, keys or not? */
bool api_is_public(const struct http_request *request);

#endif
