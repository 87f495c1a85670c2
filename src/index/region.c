/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.c - growing bytes on the heap or in a mapped file.
 */
#include "index/region.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 64u
#define FIRST_FILE_BYTES (1u << 20)

enum clew_status region_open(struct region *region, const char *path,
                             struct clew_error *err)
{
    memset(region, 0, sizeof(*region));
    region->fd = -1;
    if (path) {
        /* a name may be used again, by who took over from a writer that knew
         * more: whoever has that file mapped keeps it */
        (void)unlink(path);
        region->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (region->fd < 0) {
            return clew_fail(err, CLEW_UNAVAILABLE,
                             "could not create an index file: %s",
                             strerror(errno));
        }
    }
    return CLEW_OK;
}

static enum clew_status grow_file(struct region *region, size_t cap,
                                  struct clew_error *err)
{
    void *base;

    if (posix_fallocate(region->fd, 0, (off_t)cap) != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not grow an index file: disk full");
    }
    base = region->base ? mremap(region->base, region->cap, cap, MREMAP_MAYMOVE)
                        : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_SHARED,
                               region->fd, 0);
    if (base == MAP_FAILED) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not map an index file");
    }
    region->base = base;
    region->cap = cap;
    return CLEW_OK;
}

static enum clew_status grow_heap(struct region *region, size_t cap,
                                  struct clew_error *err)
{
    uint8_t *base = alloc_array(region->base, cap, 1);

    if (!base) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not grow a segment");
    }
    memset(base + region->cap, 0, cap - region->cap);
    region->base = base;
    region->cap = cap;
    return CLEW_OK;
}

enum clew_status region_reserve(struct region *region, size_t more,
                                struct clew_error *err)
{
    size_t need;
    size_t cap;

    if (__builtin_add_overflow(region->len, more, &need) ||
        need > SIZE_MAX / 4) {
        return clew_fail(err, CLEW_TOO_LARGE, "index segment too large");
    }
    if (need <= region->cap) {
        return CLEW_OK;
    }
    cap = need + need / 4;
    if (region->fd < 0) {
        return grow_heap(region, cap, err);
    }
    return grow_file(region, cap < FIRST_FILE_BYTES ? FIRST_FILE_BYTES : cap,
                     err);
}

enum clew_status region_add(struct region *region, size_t size,
                            size_t *out_offset, struct clew_error *err)
{
    size_t pad = (ALIGNMENT - region->len % ALIGNMENT) % ALIGNMENT;
    enum clew_status status;

    if (size > SIZE_MAX - pad) {
        return clew_fail(err, CLEW_TOO_LARGE, "index segment too large");
    }
    status = region_reserve(region, pad + size, err);
    if (status == CLEW_OK) {
        *out_offset = region->len + pad;
        region->len += pad + size;
    }
    return status;
}

static enum clew_status take_file(struct region *region,
                                  const uint8_t **out_base,
                                  struct clew_error *err)
{
    void *base = mremap(region->base, region->cap, region->len, 0);

    if (base != MAP_FAILED) {
        region->cap = region->len; /* what is behind it may be others' now */
    }
    if (base == MAP_FAILED || ftruncate(region->fd, (off_t)region->len) != 0 ||
        fsync(region->fd) != 0 || mprotect(base, region->len, PROT_READ) != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not write an index file: %s", strerror(errno));
    }
    *out_base = base;
    region->base = NULL;
    return CLEW_OK;
}

enum clew_status region_take(struct region *region, const uint8_t **out_base,
                             struct clew_error *err)
{
    uint8_t *base;

    if (region->fd >= 0) {
        return take_file(region, out_base, err);
    }
    base = alloc_array(region->base, region->len, 1);
    *out_base = base ? base : region->base; /* shrinking may fail: keep it */
    region->base = NULL;
    return CLEW_OK;
}

void region_close(struct region *region)
{
    if (region->base && region->fd >= 0) {
        (void)munmap(region->base, region->cap);
    } else if (region->base) {
        alloc_free(region->base);
    }
    if (region->fd >= 0) {
        (void)close(region->fd); /* synced in region_take() */
    }
    region->base = NULL;
    region->fd = -1;
}
