/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - a growable byte buffer with a hard ceiling.
 *
 * The ceiling is chosen when the buffer is made, so no input can grow memory
 * without bound. Contents are always NUL-terminated past `len`.
 * A failed append leaves the buffer as it was, and is remembered: a chain of
 * appends may be checked once with buf_status().
 * Thread-safety: none; one owner at a time.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>

struct buf {
    char *data;              /* "" while empty, never NULL after buf_init() */
    size_t len;              /* bytes used, terminator not counted */
    size_t cap;              /* bytes allocated, 0 while empty */
    size_t limit;            /* largest `len` allowed */
    enum clew_status status; /* first failure, CLEW_OK until then */
};

/* Prepare an empty buffer. Cannot fail and allocates nothing. */
void buf_init(struct buf *b, size_t limit);
/* Free the contents; the buffer is empty and usable again. */
void buf_release(struct buf *b);
/* Empty it but keep the memory; forgets a remembered failure. */
void buf_clear(struct buf *b);

/* Append. CLEW_TOO_LARGE past the ceiling, CLEW_NO_MEMORY on OOM. */
enum clew_status buf_append(struct buf *b, const void *bytes, size_t len);
enum clew_status buf_append_str(struct buf *b, struct str text);
enum clew_status buf_append_cstr(struct buf *b, const char *text);
enum clew_status buf_append_char(struct buf *b, char c);
enum clew_status buf_printf(struct buf *b, const char *fmt, ...)
    CLEW_PRINTF(2, 3);
/* Make sure `more` further bytes fit without another allocation. */
enum clew_status buf_reserve(struct buf *b, size_t more);
/* Remember a failure of whoever fills it as if it were one of the buffer;
 * returns it. */
enum clew_status buf_fail(struct buf *b, enum clew_status status);
/* The first failure of any append since init or clear. */
enum clew_status buf_status(const struct buf *b) CLEW_MUST_CHECK;
struct str buf_str(const struct buf *b);
/* The bytes leave the buffer; the caller frees them with alloc_free(). */
char *buf_take(struct buf *b, size_t *out_len) CLEW_MUST_CHECK;

#endif
