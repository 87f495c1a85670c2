/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers.h - which headers pass through the proxy, in both directions.
 *
 * Hop-by-hop headers end here, as do those of clew itself (x-clew-*), those
 * that the client library writes anew, those that the server cannot send, those
 * by which an upstream would speak for clew's origin to a browser, and the
 * encodings that a capture could not read. Everything else passes as it is, the
 * provider's key and cookies included.
 * Thread-safety: pure functions.
 */
#ifndef PROXY_HEADERS_H
#define PROXY_HEADERS_H

#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

/* What goes to the upstream; the array is in the request's arena. */
enum clew_status headers_up(const struct http_request *request,
                            struct http_header **out, size_t *out_count,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Add what goes back to the client. */
enum clew_status headers_down(const struct http_request *request,
                              const struct http_header *headers, size_t count,
                              struct http_response *response,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The value of the first such header, s == NULL if there is none. */
struct str headers_find(const struct http_header *headers, size_t count,
                        const char *name);

#endif
