/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings.h - a term's documents: packed blocks of 128 with a directory.
 *
 * A list of more than one block starts with a directory (last document and
 * offset of each block), so that a reader can skip to where it wants to be. A
 * block is two bit widths, its first document, the packed gaps and the packed
 * frequencies; most lists are one block of a few documents. Reading is safe on
 * any bytes: a block that does not fit or leaves the range of documents reads
 * as empty. Thread-safety: pure functions.
 */
#ifndef INDEX_POSTINGS_H
#define INDEX_POSTINGS_H

#include <stddef.h>
#include <stdint.h>

#define POSTINGS_BLOCK 128u
/* Bytes that must follow the last list, so that packed reads may run over. */
#define POSTINGS_PAD 8u
/* Most bytes one posting can take, block and directory overhead included. */
#define POSTINGS_MAX_BYTES 20u

/* One document of a term; tf2 is at most POSTINGS_MAX_TF. */
struct posting {
    uint32_t doc;
    uint32_t tf2;
};
#define POSTINGS_MAX_TF 255u

struct postings {
    const uint8_t *list;
    size_t size;     /* bytes that may be read from `list` on */
    uint32_t count;  /* documents */
    uint32_t n_docs; /* documents are below this, as when it was written */
};

struct postings_block {
    uint32_t count;
    uint32_t docs[POSTINGS_BLOCK];
    uint8_t tf2[POSTINGS_BLOCK];
};

/* Encode `count` > 0 postings in document order, of documents below `n_docs`
 * (at most 2^31), at `out`, which has room for count * POSTINGS_MAX_BYTES; the
 * bytes written come back. */
size_t postings_write(uint8_t *out, const struct posting *items, size_t count,
                      uint32_t n_docs);

uint32_t postings_n_blocks(const struct postings *list);
/* The first block whose last document is >= doc; n_blocks if there is none. */
uint32_t postings_seek(const struct postings *list, uint32_t doc);
/* Decode a block; count 0 if there is none or it is damaged. */
void postings_read(const struct postings *list, uint32_t block,
                   struct postings_block *out);
/* How many postings have a document below `doc`. */
uint32_t postings_rank(const struct postings *list, uint32_t doc);

#endif
