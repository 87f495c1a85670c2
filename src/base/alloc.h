/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - the one door to the heap.
 *
 * Everything clew allocates goes through here, so that a test can fail the
 * N-th allocation and count what is still live. Sizes are checked for
 * overflow. A request for zero bytes returns a unique pointer.
 * Thread-safety: internally safe; alloc_fail_at() is for single-thread tests.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include "clew/attr.h"

#include <stddef.h>
#include <stdint.h>

/* Uninitialised memory, or NULL. */
void *alloc_bytes(size_t size) CLEW_MUST_CHECK;
/* Zeroed memory for `count` items of `size` bytes, or NULL (also: overflow). */
void *alloc_zero(size_t count, size_t size) CLEW_MUST_CHECK;
/* Resize `ptr` (may be NULL) to count*size bytes; on NULL, `ptr` lives on. */
void *alloc_array(void *ptr, size_t count, size_t size) CLEW_MUST_CHECK;
/* A NUL-terminated copy of `len` bytes, or NULL. */
char *alloc_copy(const char *bytes, size_t len) CLEW_MUST_CHECK;
/* A copy of a C string, or NULL (also if `text` is NULL). */
char *alloc_string(const char *text) CLEW_MUST_CHECK;
/* Free; NULL is a no-op. */
void alloc_free(void *ptr);
/* Overwrite `len` bytes, then free: for secrets. NULL is a no-op. */
void alloc_free_secret(void *ptr, size_t len);

/* Test hooks: the n-th allocation from now fails (0 = never), counted once. */
void alloc_fail_at(uint64_t n);
/* True if the failure armed by alloc_fail_at() has happened. */
int alloc_fail_fired(void);
/* Allocations not yet freed by this process. */
int64_t alloc_live_count(void);

#endif
