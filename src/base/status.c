/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - the status table and the error object. See clew/status.h.
 */
#include "clew/status.h"

#include "base/str.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct row {
    const char *code;
    int http;
    int exit;
    bool is_retryable;
    const char *text;
};

static const struct row rows[] = {
#define ROW(sym, code, http, exit, retry, text) {code, http, exit, retry, text},
    CLEW_STATUS_MAP(ROW)
#undef ROW
};

static const struct row *row_of(enum clew_status status)
{
    size_t i = (size_t)status;

    if (i >= sizeof(rows) / sizeof(rows[0])) {
        i = CLEW_INTERNAL;
    }
    return &rows[i];
}

const char *clew_status_code(enum clew_status status)
{
    return row_of(status)->code;
}

const char *clew_status_text(enum clew_status status)
{
    return row_of(status)->text;
}

int clew_status_http(enum clew_status status)
{
    return row_of(status)->http;
}

int clew_status_exit(enum clew_status status)
{
    return row_of(status)->exit;
}

bool clew_status_retryable(enum clew_status status)
{
    return row_of(status)->is_retryable;
}

static void fill(struct clew_error *err, enum clew_status status,
                 const char *code, const char *field, const char *fmt,
                 va_list args) CLEW_PRINTF(5, 0);

/* Words from elsewhere may have been cut inside a character; what is left of
 * it goes, for JSON takes only whole ones. */
static void drop_broken(char *text)
{
    struct str all = str_of(text);
    size_t len = 0;

    for (size_t at = 0; at < all.len;) {
        size_t whole = utf8_valid_len(str_sub(all, at, all.len));

        memmove(text + len, text + at, whole);
        len += whole;
        at += whole + 1;
    }
    text[len] = '\0';
}

static void fill(struct clew_error *err, enum clew_status status,
                 const char *code, const char *field, const char *fmt,
                 va_list args)
{
    if (!err) {
        return;
    }
    err->status = status;
    (void)snprintf(err->code, sizeof(err->code), "%s", code);
    (void)snprintf(err->field, sizeof(err->field), "%s", field);
    (void)vsnprintf(err->message, sizeof(err->message), fmt, args);
    drop_broken(err->field);
    drop_broken(err->message);
}

enum clew_status clew_fail(struct clew_error *err, enum clew_status status,
                           const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fill(err, status, clew_status_code(status), "", fmt, args);
    va_end(args);
    return status;
}

enum clew_status clew_fail_field(struct clew_error *err, const char *field,
                                 const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fill(err, CLEW_INVALID, clew_status_code(CLEW_INVALID), field, fmt, args);
    va_end(args);
    return CLEW_INVALID;
}

enum clew_status clew_fail_code(struct clew_error *err, enum clew_status status,
                                const char *code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fill(err, status, code, "", fmt, args);
    va_end(args);
    return status;
}

enum clew_status clew_no_memory(struct clew_error *err)
{
    return clew_fail(err, CLEW_NO_MEMORY, "out of memory");
}
