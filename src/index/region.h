/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - growing bytes that become a segment: on the heap or in a file.
 *
 * A file is mapped while it grows, so that a large merge does not need its size
 * in memory.
 * Thread-safety: none.
 */
#ifndef INDEX_REGION_H
#define INDEX_REGION_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct region {
    uint8_t *base; /* moves when it grows */
    size_t len;    /* bytes used */
    size_t cap;
    int fd; /* -1 = heap */
};

/* `path` NULL = heap; else a new file, mode 0600. */
enum clew_status region_open(struct region *region, const char *path,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* `size` more zeroed bytes, aligned to 64; their offset comes back. */
enum clew_status region_add(struct region *region, size_t size,
                            size_t *out_offset,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Make sure `more` bytes beyond `len` are there, zeroed. */
enum clew_status region_reserve(struct region *region, size_t more,
                                struct clew_error *err) CLEW_MUST_CHECK;
/*
 * Cut to `len`, sync a file, and hand the bytes over: heap memory for
 * alloc_free(), or a read-only mapping of exactly `len` bytes.
 */
enum clew_status region_take(struct region *region, const uint8_t **out_base,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Free what is left; works after region_take() and on a zeroed region. */
void region_close(struct region *region);

#endif
