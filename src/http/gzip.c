/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.c - bounded inflate over zlib. See gzip.h.
 */
#include "http/gzip.h"

#include "base/alloc.h"
#include "http/room.h"

#include <limits.h>
#include <zlib.h>

#define CHUNK_BYTES 16384
#define GZIP_WINDOW (15 + 16) /* largest window, gzip header only */

static void *take_memory(void *arg, unsigned count, unsigned size)
{
    (void)arg;
    return alloc_zero(count, size);
}

static void give_memory(void *arg, void *ptr)
{
    (void)arg;
    alloc_free(ptr);
}

static enum clew_status run(z_stream *stream, struct room_share *share,
                            struct buf *out, struct clew_error *err)
{
    unsigned char chunk[CHUNK_BYTES];
    int rc;

    do {
        enum clew_status status;
        size_t len;

        stream->next_out = chunk;
        stream->avail_out = sizeof(chunk);
        rc = inflate(stream, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR) {
            return clew_no_memory(err);
        }
        if (rc != Z_OK && rc != Z_STREAM_END) {
            return clew_fail(err, CLEW_INVALID, "the body is not valid gzip");
        }
        len = sizeof(chunk) - stream->avail_out;
        status = room_take(share, len, err);
        if (status != CLEW_OK) {
            return status;
        }
        status = buf_append(out, chunk, len);
        if (status != CLEW_OK) {
            return clew_fail(err, status,
                             "the unpacked body is over the limit");
        }
    } while (rc != Z_STREAM_END);
    if (stream->avail_in > 0) {
        return clew_fail(err, CLEW_INVALID,
                         "the body has bytes after its gzip");
    }
    return CLEW_OK;
}

enum clew_status gzip_unpack(struct str packed, struct room_share *share,
                             struct buf *out, struct clew_error *err)
{
    z_stream stream = {.zalloc = take_memory, .zfree = give_memory};
    enum clew_status status;

    if (packed.len == 0 || packed.len > UINT_MAX) {
        return clew_fail(err, CLEW_INVALID, "the body is not valid gzip");
    }
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        return clew_no_memory(err);
    }
    stream.next_in = (z_const Bytef *)(uintptr_t)packed.s;
    stream.avail_in = (unsigned)packed.len;
    status = run(&stream, share, out, err);
    (void)inflateEnd(&stream); /* frees; its result says nothing new */
    return status;
}
