/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings.c - encode and decode packed blocks of postings.
 */
#include "index/postings.h"

#include <stdbool.h>
#include <string.h>

#define DIR_ENTRY 8u /* u32 last document, u32 offset in the list */

static uint32_t get_u32(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof(value));
    return value;
}

static void put_u32(uint8_t *p, uint32_t value)
{
    memcpy(p, &value, sizeof(value));
}

static uint32_t width_of(uint32_t value)
{
    return value ? 32u - (uint32_t)__builtin_clz(value) : 0;
}

/* A byte with the widths of gaps and frequencies (0 to 31, 1 to 8), and the
 * first document in as many bytes as the last one that there is takes. */
static size_t head_bytes(uint32_t n_docs)
{
    return 1 + (width_of(n_docs) + 7) / 8;
}

static uint32_t blocks_of(uint32_t count)
{
    return (count + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
}

static size_t packed_bytes(size_t count, uint32_t width)
{
    return (count * width + 7) / 8;
}

/* Append `value` of `width` bits at bit `at` of zeroed bytes. */
static void put_bits(uint8_t *out, size_t at, uint32_t width, uint32_t value)
{
    uint64_t shifted = (uint64_t)value << (at % 8);

    for (size_t i = at / 8; width > 0 && shifted; i++, shifted >>= 8) {
        out[i] = (uint8_t)(out[i] | (shifted & 0xff));
    }
}

static size_t write_block(uint8_t *out, const struct posting *items,
                          size_t count, size_t head)
{
    uint32_t gaps = 0;
    uint32_t tfs = 1;

    for (size_t i = 0; i < count; i++) {
        gaps |= i ? items[i].doc - items[i - 1].doc - 1 : 0;
        tfs |= items[i].tf2;
    }
    uint32_t gap_width = width_of(gaps);
    uint32_t tf_width = width_of(tfs);
    uint8_t *gap_bytes = out + head;
    uint8_t *tf_bytes = gap_bytes + packed_bytes(count - 1, gap_width);
    size_t size = head + packed_bytes(count - 1, gap_width) +
                  packed_bytes(count, tf_width);

    memset(out, 0, size);
    out[0] = (uint8_t)(gap_width << 3 | (tf_width - 1));
    memcpy(out + 1, &items[0].doc, head - 1);
    for (size_t i = 0; i < count; i++) {
        if (i) {
            put_bits(gap_bytes, (i - 1) * gap_width, gap_width,
                     items[i].doc - items[i - 1].doc - 1);
        }
        put_bits(tf_bytes, i * tf_width, tf_width, items[i].tf2);
    }
    return size;
}

size_t postings_write(uint8_t *out, const struct posting *items, size_t count,
                      uint32_t n_docs)
{
    uint32_t n_blocks = blocks_of((uint32_t)count);
    size_t at = n_blocks > 1 ? n_blocks * DIR_ENTRY : 0;

    for (uint32_t b = 0; b < n_blocks; b++) {
        size_t first = (size_t)b * POSTINGS_BLOCK;
        size_t n =
            count - first < POSTINGS_BLOCK ? count - first : POSTINGS_BLOCK;

        if (n_blocks > 1) {
            put_u32(out + b * DIR_ENTRY, items[first + n - 1].doc);
            put_u32(out + b * DIR_ENTRY + 4, (uint32_t)at);
        }
        at += write_block(out + at, items + first, n, head_bytes(n_docs));
    }
    return at;
}

uint32_t postings_n_blocks(const struct postings *list)
{
    return blocks_of(list->count);
}

uint32_t postings_seek(const struct postings *list, uint32_t doc)
{
    uint32_t n_blocks = blocks_of(list->count);
    uint32_t low = 0;
    uint32_t high = n_blocks;

    if (n_blocks <= 1 || list->size < (size_t)n_blocks * DIR_ENTRY) {
        return 0;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (get_u32(list->list + (size_t)middle * DIR_ENTRY) < doc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void unpack_docs(const uint8_t *bytes, uint32_t width, uint32_t first,
                        uint32_t count, uint32_t *out)
{
    uint64_t mask = ((uint64_t)1 << width) - 1;
    uint32_t doc = first;

    out[0] = doc;
    for (uint32_t i = 1, at = 0; i < count; i++, at += width) {
        uint64_t window;

        memcpy(&window, bytes + at / 8, sizeof(window));
        doc += (uint32_t)(window >> (at % 8) & mask) + 1;
        out[i] = doc;
    }
}

static void unpack_tfs(const uint8_t *bytes, uint32_t width, uint32_t count,
                       uint8_t *out)
{
    uint32_t mask = (1u << width) - 1;

    for (uint32_t i = 0, at = 0; i < count; i++, at += width) {
        uint16_t window;

        memcpy(&window, bytes + at / 8, sizeof(window));
        out[i] = (uint8_t)((uint32_t)window >> (at % 8) & mask);
    }
}

/* Where a block starts; false if the list is too short for it. */
static bool locate(const struct postings *list, uint32_t block, size_t *out_at)
{
    uint32_t n_blocks = blocks_of(list->count);

    *out_at = 0;
    if (block >= n_blocks) {
        return false;
    }
    if (n_blocks > 1) {
        if (list->size < (size_t)n_blocks * DIR_ENTRY) {
            return false;
        }
        *out_at = get_u32(list->list + (size_t)block * DIR_ENTRY + 4);
    }
    return *out_at < list->size &&
           list->size - *out_at >= head_bytes(list->n_docs);
}

/* True if gaps stay in order and inside the documents. */
static bool in_order(const struct postings_block *block, uint32_t n_docs)
{
    for (uint32_t i = 1; i < block->count; i++) {
        if (block->docs[i] <= block->docs[i - 1]) {
            return false;
        }
    }
    return block->docs[block->count - 1] < n_docs;
}

void postings_read(const struct postings *list, uint32_t block,
                   struct postings_block *out)
{
    size_t at;

    out->count = 0;
    if (!locate(list, block, &at)) {
        return;
    }
    const uint8_t *p = list->list + at;
    uint32_t left = list->count - block * POSTINGS_BLOCK;
    uint32_t count = left < POSTINGS_BLOCK ? left : POSTINGS_BLOCK;
    size_t head = head_bytes(list->n_docs);
    uint32_t gap_width = p[0] >> 3;
    uint32_t tf_width = (p[0] & 7) + 1u;
    size_t gap_bytes = packed_bytes(count - 1, gap_width);
    uint32_t first = 0;

    if (list->size - at < head + gap_bytes + packed_bytes(count, tf_width)) {
        return;
    }
    memcpy(&first, p + 1, head - 1);
    unpack_docs(p + head, gap_width, first, count, out->docs);
    unpack_tfs(p + head + gap_bytes, tf_width, count, out->tf2);
    out->count = count;
    if (!in_order(out, list->n_docs)) {
        out->count = 0;
    }
}

uint32_t postings_rank(const struct postings *list, uint32_t doc)
{
    uint32_t block = postings_seek(list, doc);
    struct postings_block items;
    uint32_t below = 0;

    if (block >= blocks_of(list->count)) {
        return list->count;
    }
    postings_read(list, block, &items);
    while (below < items.count && items.docs[below] < doc) {
        below++;
    }
    return block * POSTINGS_BLOCK + below;
}
