/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - bump allocation in a list of blocks. See arena.h.
 */
#include "base/arena.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_BLOCK_BYTES 4096
#define LARGEST_STEP_BYTES (1024 * 1024)
#define ALIGNMENT alignof(max_align_t)
#define SMALL_TEXT 256

struct arena_block {
    struct arena_block *next;
    size_t cap;
    size_t used;
    alignas(max_align_t) unsigned char data[];
};

void arena_init(struct arena *arena, size_t limit_bytes)
{
    arena->head = NULL;
    arena->used_bytes = 0;
    arena->limit_bytes = limit_bytes;
}

static void free_from(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;

        alloc_free(block);
        block = next;
    }
}

void arena_release(struct arena *arena)
{
    free_from(arena->head);
    arena->head = NULL;
    arena->used_bytes = 0;
}

void arena_clear(struct arena *arena)
{
    if (arena->head) {
        free_from(arena->head->next);
        arena->head->next = NULL;
        arena->head->used = 0;
        arena->used_bytes = arena->head->cap;
    }
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    size_t cap = arena->head ? arena->head->cap * 2 : FIRST_BLOCK_BYTES;
    struct arena_block *block;

    if (cap > LARGEST_STEP_BYTES) {
        cap = LARGEST_STEP_BYTES;
    }
    if (cap < size) {
        cap = size;
    }
    if (cap > arena->limit_bytes - arena->used_bytes) {
        cap = size; /* near the ceiling take just what is asked for */
    }
    if (cap > arena->limit_bytes - arena->used_bytes) {
        return NULL;
    }
    block = alloc_bytes(sizeof(*block) + cap);
    if (!block) {
        return NULL;
    }
    block->next = arena->head;
    block->cap = cap;
    block->used = 0;
    arena->head = block;
    arena->used_bytes += cap;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->head;
    void *ptr;

    if (size > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size == 0) {
        size = ALIGNMENT;
    }
    if (!block || block->cap - block->used < size) {
        block = add_block(arena, size);
        if (!block) {
            return NULL;
        }
    }
    ptr = block->data + block->used;
    block->used += size;
    return ptr;
}

void *arena_zero(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    void *ptr;

    if (__builtin_mul_overflow(count, size, &total)) {
        return NULL;
    }
    ptr = arena_alloc(arena, total);
    if (ptr) {
        memset(ptr, 0, total);
    }
    return ptr;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t len)
{
    char *copy;

    if (len == SIZE_MAX) {
        return NULL;
    }
    copy = arena_alloc(arena, len + 1);
    if (copy) {
        if (len > 0) {
            memcpy(copy, bytes, len);
        }
        copy[len] = '\0';
    }
    return copy;
}

char *arena_string(struct arena *arena, const char *text)
{
    return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

struct str arena_str(struct arena *arena, struct str text)
{
    struct str copy = {arena_copy(arena, text.s, text.len), text.len};

    if (!copy.s) {
        copy.len = 0;
    }
    return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    char small[SMALL_TEXT]; /* most texts fit: they are formatted once */
    va_list args;
    char *text;
    int len;

    va_start(args, fmt);
    len = vsnprintf(small, sizeof(small), fmt, args);
    va_end(args);
    if (len < 0) {
        return NULL;
    }
    text = arena_alloc(arena, (size_t)len + 1);
    if (text && (size_t)len < sizeof(small)) {
        memcpy(text, small, (size_t)len + 1);
    } else if (text) {
        va_start(args, fmt);
        (void)vsnprintf(text, (size_t)len + 1, fmt, args);
        va_end(args);
    }
    return text;
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t *cap,
                 size_t size)
{
    size_t new_cap;
    size_t total;
    void *grown;

    assert(count <= *cap && size > 0);
    if (count < *cap) {
        return items;
    }
    new_cap = *cap ? *cap * 2 : 8;
    if (__builtin_mul_overflow(new_cap, size, &total)) {
        return NULL;
    }
    grown = arena_alloc(arena, total);
    if (!grown) {
        return NULL;
    }
    if (count > 0) {
        memcpy(grown, items, count * size);
    }
    *cap = new_cap;
    return grown;
}
