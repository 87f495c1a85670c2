/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_check.h - which upstream addresses may be configured.
 *
 * https to anywhere; plain http only to this machine, because texts and keys
 * would cross the network in the open. No user names, no other schemes.
 * Thread-safety: pure function.
 */
#ifndef MODEL_URL_CHECK_H
#define MODEL_URL_CHECK_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

/* CLEW_INVALID naming `field` if `url` is not allowed. `*out_is_local` says
 * whether the host is localhost, 127.0.0.0/8 or ::1, written out. */
enum clew_status url_check(const char *url, const char *field,
                           bool *out_is_local,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
