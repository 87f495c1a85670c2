/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - the LLM proxy: pass calls on, keep what passed.
 *
 * Answers /v1/… and /key/<clew key>/v1/…; what else comes under /key goes to
 * the next handler. Calls of POST /v1/messages, /v1/chat/completions and
 * /v1/responses are captured; the rest passes. The client's provider key is
 * forwarded and kept nowhere. A failing store or a full spool never fails a
 * call.
 *
 * Headers of its own: x-clew-key, x-clew-user, x-clew-chat, x-clew-inject
 * (on/off), x-clew-upstream (a configured name).
 * Thread-safety: safe after proxy_open().
 */
#ifndef PROXY_PROXY_H
#define PROXY_PROXY_H

#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"
#include "proxy/inject.h"
#include "proxy/recorder.h"

#include <stdbool.h>

struct auth_gate;
struct engine;
struct proxy;

struct proxy_options {
    http_handler next; /* the API */
    http_admit next_admit;
    void *next_arg;         /* of both */
    struct auth_gate *gate; /* counts wrong keys; may be NULL */
    inject_fn inject;       /* NULL: nothing is ever injected */
    void *inject_arg;
};

/* Reads proxy.* of the engine's configuration. The caller proxy_close()s it
 * after the server. */
enum clew_status proxy_open(struct engine *engine,
                            const struct proxy_options *options,
                            struct proxy **out_proxy,
                            struct clew_error *err) CLEW_MUST_CHECK;
void proxy_close(struct proxy *proxy);
/* An http_handler; `arg` is the struct proxy. */
void proxy_handle(void *arg, const struct http_request *request,
                  struct http_response *response);
/* An http_admit: the key, before the body is read. */
bool proxy_admit(void *arg, const struct http_request *request,
                 struct http_response *response);

#endif
