/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web.h - the page: static files from the program itself.
 *
 * Stands in front of the API: answers `GET /` for browsers and the addresses
 * of the page's parts, and hands everything else on. Nothing comes from
 * elsewhere: the page runs under a Content-Security-Policy without exceptions.
 * Thread-safety: immutable; safe.
 */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "http/http.h"

struct web {
    http_handler next; /* who answers what is not the page's */
    http_admit next_admit;
    void *next_arg; /* of both */
};

/* An http_handler; `arg` is a struct web that outlives the server. */
void web_handle(void *arg, const struct http_request *request,
                struct http_response *response);

/* An http_admit, with the same: the page's own paths need no key. */
bool web_admit(void *arg, const struct http_request *request,
               struct http_response *response);

/* One file as it is served, for tests; false past the end. */
struct web_part {
    const char *name; /* "views/home.js" */
    const unsigned char *packed;
    size_t n_packed;
};
bool web_part_at(size_t i, struct web_part *out);

#endif
