/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - every outcome a clew call can have, in one table.
 *
 * A row gives the enum, the stable code used on the wire, the HTTP status, the
 * exit code of the command line, whether the same call may succeed later, and
 * a text. Rows are only ever added.
 * Thread-safety: everything here is immutable or owned by the caller.
 */
#ifndef CLEW_STATUS_H
#define CLEW_STATUS_H

#include "clew/attr.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*      symbol        wire code            http exit retry  text           */
#define CLEW_STATUS_MAP(X)                                                     \
    X(OK, "OK", 200, 0, false, "ok")                                           \
    X(INVALID, "VALIDATION_ERROR", 400, 2, false, "invalid argument")          \
    X(UNAUTHORIZED, "UNAUTHORIZED", 401, 3, false, "a valid key is required")  \
    X(FORBIDDEN, "FORBIDDEN", 403, 3, false, "not permitted")                  \
    X(NOT_FOUND, "NOT_FOUND", 404, 4, false, "not found")                      \
    X(NO_METHOD, "METHOD_NOT_ALLOWED", 405, 2, false, "method not allowed")    \
    X(CONFLICT, "CONFLICT", 409, 5, false, "conflicts with what is stored")    \
    X(TOO_LARGE, "TOO_LARGE", 413, 6, false, "over a limit")                   \
    X(UNSUPPORTED, "UNSUPPORTED_MEDIA_TYPE", 415, 2, false,                    \
      "unsupported media type")                                                \
    X(RATE_LIMITED, "RATE_LIMITED", 429, 7, true, "too many requests")         \
    X(INTERNAL, "INTERNAL", 500, 8, false, "internal error")                   \
    X(CORRUPT, "CORRUPT", 500, 9, false, "stored data is damaged")             \
    X(UPSTREAM, "UPSTREAM_ERROR", 502, 10, true, "the upstream failed")        \
    X(UNAVAILABLE, "UNAVAILABLE", 503, 11, true, "temporarily unavailable")    \
    X(NO_MEMORY, "OUT_OF_MEMORY", 503, 12, true, "out of memory")              \
    X(BUSY, "BUSY", 503, 13, true, "another write is in the way")              \
    X(TIMEOUT, "TIMEOUT", 504, 14, true, "timed out")                          \
    X(NEWER_SCHEMA, "NEWER_SCHEMA", 500, 15, false,                            \
      "the data was written by a newer clew")

enum clew_status {
#define CLEW_STATUS_ENUM(sym, code, http, exit, retry, text) CLEW_##sym,
    CLEW_STATUS_MAP(CLEW_STATUS_ENUM)
#undef CLEW_STATUS_ENUM
};

/* The stable wire code, e.g. "NOT_FOUND". */
CLEW_API const char *clew_status_code(enum clew_status status);
/* A short lower-case text. */
CLEW_API const char *clew_status_text(enum clew_status status);
CLEW_API int clew_status_http(enum clew_status status);
CLEW_API int clew_status_exit(enum clew_status status);
/* True if the same call may succeed when made again later. */
CLEW_API bool clew_status_retryable(enum clew_status status);

/* Drop a status on purpose; say why beside the call. */
static inline void clew_ignore(enum clew_status status)
{
    (void)status;
}

/*
 * Words for a failure, filled by the layer that knows. Fixed size, owned by
 * the caller, optional everywhere (NULL is allowed). `code` is the status'
 * own unless a caller needs a finer one; `field` names the offending input.
 * The message never holds content or secrets.
 */
struct clew_error {
    enum clew_status status;
    char code[40];
    char field[96];
    char message[320];
};

/* Fill `err` (may be NULL) and return `status`, so a caller can return it. */
CLEW_API enum clew_status clew_fail(struct clew_error *err,
                                    enum clew_status status, const char *fmt,
                                    ...) CLEW_PRINTF(3, 4);
/* The same for bad input: CLEW_INVALID with the name of the field. */
CLEW_API enum clew_status clew_fail_field(struct clew_error *err,
                                          const char *field, const char *fmt,
                                          ...) CLEW_PRINTF(3, 4);
/* The same with a code of its own, for example "THOUGHT_NOT_FOUND". */
CLEW_API enum clew_status clew_fail_code(struct clew_error *err,
                                         enum clew_status status,
                                         const char *code, const char *fmt, ...)
    CLEW_PRINTF(4, 5);
/* The failure every allocation can have: CLEW_NO_MEMORY, "out of memory". */
CLEW_API enum clew_status clew_no_memory(struct clew_error *err);

#ifdef __cplusplus
}
#endif

#endif
