/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.c - a growable byte buffer with a hard ceiling. See buf.h.
 */
#include "base/buf.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char empty[1];

void buf_init(struct buf *b, size_t limit)
{
    b->data = empty;
    b->len = 0;
    b->cap = 0;
    b->limit = limit < SIZE_MAX ? limit : SIZE_MAX - 1;
    b->status = CLEW_OK;
}

void buf_release(struct buf *b)
{
    if (b->cap > 0) {
        alloc_free(b->data);
    }
    buf_init(b, b->limit);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->status = CLEW_OK;
    if (b->cap > 0) {
        b->data[0] = '\0';
    }
}

enum clew_status buf_fail(struct buf *b, enum clew_status status)
{
    if (b->status == CLEW_OK) {
        b->status = status;
    }
    return status;
}

enum clew_status buf_reserve(struct buf *b, size_t more)
{
    size_t need;
    size_t cap;
    char *grown;

    /* the ceiling holds, and the terminator has its byte */
    assert(b->len <= b->limit && (b->cap == 0 || b->len < b->cap));
    if (more > b->limit - b->len) {
        return buf_fail(b, CLEW_TOO_LARGE);
    }
    need = b->len + more + 1;
    if (need <= b->cap) {
        return CLEW_OK;
    }
    cap = b->cap ? b->cap : 64;
    while (cap < need) {
        cap = cap > b->limit / 2 ? b->limit + 1 : cap * 2;
    }
    grown = alloc_array(b->cap ? b->data : NULL, cap, 1);
    if (!grown) {
        return buf_fail(b, CLEW_NO_MEMORY);
    }
    b->data = grown;
    b->cap = cap;
    return CLEW_OK;
}

enum clew_status buf_append(struct buf *b, const void *bytes, size_t len)
{
    enum clew_status status = buf_reserve(b, len);

    if (status != CLEW_OK) {
        return status;
    }
    if (len > 0) {
        memcpy(b->data + b->len, bytes, len);
    }
    b->len += len;
    b->data[b->len] = '\0';
    return CLEW_OK;
}

enum clew_status buf_append_str(struct buf *b, struct str text)
{
    return buf_append(b, text.s, text.len);
}

enum clew_status buf_append_cstr(struct buf *b, const char *text)
{
    return buf_append(b, text, strlen(text));
}

enum clew_status buf_append_char(struct buf *b, char c)
{
    if (b->len + 1 < b->cap && b->len < b->limit) {
        b->data[b->len++] = c;
        b->data[b->len] = '\0';
        return CLEW_OK;
    }
    return buf_append(b, &c, 1);
}

enum clew_status buf_printf(struct buf *b, const char *fmt, ...)
{
    enum clew_status status;
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0) {
        return buf_fail(b, CLEW_INTERNAL);
    }
    status = buf_reserve(b, (size_t)len);
    if (status == CLEW_OK) {
        va_start(args, fmt);
        (void)vsnprintf(b->data + b->len, (size_t)len + 1, fmt, args);
        va_end(args);
        b->len += (size_t)len;
    }
    return status;
}

enum clew_status buf_status(const struct buf *b)
{
    return b->status;
}

struct str buf_str(const struct buf *b)
{
    struct str slice = {b->data, b->len};

    return slice;
}

char *buf_take(struct buf *b, size_t *out_len)
{
    char *data = b->cap ? b->data : alloc_copy("", 0);

    if (data) {
        *out_len = b->len;
        buf_init(b, b->limit);
    }
    return data;
}
