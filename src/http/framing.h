/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framing.h - do all readers of a request's headers read the same?
 *
 * A reverse proxy and this server must agree about who asks whom, and where the
 * body ends; what can be read in two ways is refused.
 * Thread-safety: pure functions.
 */
#ifndef HTTP_FRAMING_H
#define HTTP_FRAMING_H

#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stdbool.h>
#include <stddef.h>

/* CLEW_INVALID for a malformed name. What says who asks whom must not be said
 * twice either: two readers might each believe another one. */
enum clew_status framing_check_headers(const struct http_request *request,
                                       struct clew_error *err) CLEW_MUST_CHECK;
/* Two ways to tell the body's length let two readers disagree about it:
 * CLEW_INVALID. CLEW_TOO_LARGE if it has more than `max_bytes`. */
enum clew_status framing_check_length(const struct http_request *request,
                                      size_t max_bytes,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* Is there a body to come? */
bool framing_has_body(const struct http_request *request);

#endif
