/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.c - heap access with a counter and a fault hook. See alloc.h.
 */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* 0 while no fault is armed; otherwise allocations left until it fires. */
static atomic_uint_fast64_t fault_countdown;
static atomic_int fault_fired;
static atomic_int_fast64_t live;

static bool must_fail(void)
{
    if (atomic_load_explicit(&fault_countdown, memory_order_relaxed) == 0) {
        return false;
    }
    if (atomic_fetch_sub(&fault_countdown, 1) == 1) {
        atomic_store(&fault_fired, 1);
        return true;
    }
    return false;
}

static void *counted(void *ptr)
{
    if (ptr) {
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    }
    return ptr;
}

void *alloc_bytes(size_t size)
{
    if (must_fail()) {
        return NULL;
    }
    return counted(malloc(size ? size : 1));
}

void *alloc_zero(size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total) || must_fail()) {
        return NULL;
    }
    return counted(calloc(1, total ? total : 1));
}

void *alloc_array(void *ptr, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total) || must_fail()) {
        return NULL;
    }
    if (!ptr) {
        return counted(malloc(total ? total : 1));
    }
    return realloc(ptr, total ? total : 1);
}

char *alloc_copy(const char *bytes, size_t len)
{
    char *copy;

    if (len == SIZE_MAX) {
        return NULL;
    }
    copy = alloc_bytes(len + 1);
    if (copy) {
        if (len > 0) {
            memcpy(copy, bytes, len);
        }
        copy[len] = '\0';
    }
    return copy;
}

char *alloc_string(const char *text)
{
    return text ? alloc_copy(text, strlen(text)) : NULL;
}

void alloc_free(void *ptr)
{
    if (ptr) {
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
        free(ptr);
    }
}

void alloc_free_secret(void *ptr, size_t len)
{
    if (ptr) {
        explicit_bzero(ptr, len);
        alloc_free(ptr);
    }
}

void alloc_fail_at(uint64_t n)
{
    atomic_store(&fault_fired, 0);
    atomic_store(&fault_countdown, n);
}

int alloc_fail_fired(void)
{
    return atomic_load(&fault_fired);
}

int64_t alloc_live_count(void)
{
    return atomic_load(&live);
}
