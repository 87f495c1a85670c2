/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_source.h - a table of documents in memory, to feed an index from.
 *
 * Plays the store: rows have change numbers, a replaced row leaves its old
 * number, a removed one leaves a tombstone. Documents are made from a number,
 * so a test can say what each must hold.
 */
#ifndef SUPPORT_FAKE_SOURCE_H
#define SUPPORT_FAKE_SOURCE_H

#include "index/index.h"

#define FAKE_DIM 64
#define FAKE_MAX_TERMS 24
#define FAKE_MAX_ROWS 4096

struct fake_row {
    struct index_doc doc;
    struct index_term terms[FAKE_MAX_TERMS];
    float vector[FAKE_DIM];
    struct index_range dates[2];
    char user[16];
};

struct fake_source {
    struct fake_row rows[FAKE_MAX_ROWS];
    size_t n_rows;
    int64_t change;  /* the latest */
    int64_t n_loads; /* how often the index read from here */
};

struct index_source fake_source_of(struct fake_source *source);
/* Words "w0".."w39" by hash, vector and dates follow from `seed`. */
struct fake_row *fake_add(struct fake_source *source, enum index_kind kind,
                          const char *user, uint64_t chat, int64_t seq,
                          uint64_t seed);
/* New content for a row under its old id; a new change number. */
void fake_replace(struct fake_source *source, size_t row, uint64_t seed);
/* A tombstone in its place. */
void fake_remove(struct fake_source *source, size_t row);
uint64_t fake_word(unsigned n);

#endif
