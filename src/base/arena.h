/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is freed all at once.
 *
 * The default home of whatever is parsed or built while one request or task
 * is handled. Blocks grow geometrically; the total is bounded by the limit
 * given at init, so no input can grow memory without end.
 * Thread-safety: none; one owner at a time.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"
#include "clew/attr.h"

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head; /* newest block, NULL while empty */
    size_t used_bytes;        /* sum of all blocks */
    size_t limit_bytes;
};

/* Prepare an empty arena. Cannot fail and allocates nothing. */
void arena_init(struct arena *arena, size_t limit_bytes);
/* Free everything; the arena is empty and usable again. */
void arena_release(struct arena *arena);
/* Forget the contents but keep the largest block for reuse. */
void arena_clear(struct arena *arena);

/* `size` bytes aligned for any type, or NULL past the limit or on OOM. */
void *arena_alloc(struct arena *arena, size_t size) CLEW_MUST_CHECK;
/* The same, zeroed, for count*size bytes; NULL also on overflow. */
void *arena_zero(struct arena *arena, size_t count,
                 size_t size) CLEW_MUST_CHECK;
/* A NUL-terminated copy of `len` bytes. */
char *arena_copy(struct arena *arena, const char *bytes,
                 size_t len) CLEW_MUST_CHECK;
/* A NUL-terminated copy of a C string; NULL stays NULL. */
char *arena_string(struct arena *arena, const char *text) CLEW_MUST_CHECK;
/* A copy of a slice; on failure the slice has s == NULL. */
struct str arena_str(struct arena *arena, struct str text);
/* A formatted string, or NULL. */
char *arena_printf(struct arena *arena, const char *fmt, ...)
    CLEW_PRINTF(2, 3) CLEW_MUST_CHECK;

/*
 * Make room for one more item in a growing array that lives in the arena:
 * `items` has `count` of `*cap` items of `size` bytes used. Returns the array
 * (moved if it had to grow) or NULL. Old copies stay in the arena until its
 * end, at most doubling the space.
 */
void *arena_grow(struct arena *arena, void *items, size_t count, size_t *cap,
                 size_t size) CLEW_MUST_CHECK;

#endif
