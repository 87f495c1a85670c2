/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - turns for a bench, and a plain SQLite table to measure against.
 *
 * Texts are made of common words and a tail of rare ones, about 30 words each,
 * the same in every run.
 * Thread-safety: none.
 */
#ifndef BENCH_SUPPORT_ROWS_H
#define BENCH_SUPPORT_ROWS_H

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

/* Append the text of turn number `n`. */
void rows_text(struct buf *out, uint64_t n);

/* A SQLite file with the columns and keys of a turn and an FTS5 index over
 * its text: WAL, every commit synced. */
struct plain;
struct plain *plain_open(const char *path);
void plain_close(struct plain *plain);
/* Insert turns `first` .. `first + count - 1` in one transaction. The texts
 * lie in `texts`, so that making them is not measured. */
void plain_insert(struct plain *plain, uint64_t first, const struct str *texts,
                  int count);

/* Nanoseconds to copy the turns of one chat row by row inside the database:
 * what a fork would cost that copies. */
int64_t copy_in_sqlite(const char *folder);
int64_t copy_in_postgres(const char *url);
/* Rows in the table of turns. */
int64_t count_in_sqlite(const char *folder);
int64_t count_in_postgres(const char *url);

#endif
