/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - records waiting in files, oldest first.
 *
 * One file per record, named by a growing number, written beside and renamed,
 * so that a crash leaves whole files only. The total is bounded. Servers that
 * share the folder write over none of each other's; which of them stores a file
 * makes no difference.
 * Thread-safety: none; the recorder's lock guards it.
 */
#ifndef PROXY_SPOOL_H
#define PROXY_SPOOL_H

#include "base/buf.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdint.h>

struct spool {
    char *dir;
    int64_t limit_bytes;
    int64_t n_bytes;
    int64_t n_files;
    int64_t first; /* lowest number there may be */
    int64_t next;  /* number of the next file */
};

/* Make the folder and look at what it holds. */
enum clew_status spool_open(struct spool *spool, const char *dir,
                            int64_t limit_bytes,
                            struct clew_error *err) CLEW_MUST_CHECK;
void spool_close(struct spool *spool);
/* Behind all others. CLEW_TOO_LARGE if it is full, CLEW_UNAVAILABLE if the disk
 * does not take it. */
enum clew_status spool_add(struct spool *spool, struct str bytes,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* The same, before all others: a record that is older than they. */
enum clew_status spool_add_before(struct spool *spool, struct str bytes,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The bytes of the oldest record with a number over `after`; it stays until
 * spool_drop(number). CLEW_NOT_FOUND if there is none; CLEW_TOO_LARGE (with its
 * number) for a file that no record fits; CLEW_CORRUPT (with its number) for
 * one that cannot be read; CLEW_UNAVAILABLE if nothing can be just now.
 */
enum clew_status spool_next(struct spool *spool, int64_t after, struct buf *out,
                            int64_t *out_number,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* The oldest is done with. Where the disk does not let go of its file, this
 * spool passes it over from now on; one opened later finds it again. */
void spool_drop(struct spool *spool, int64_t number);
/* The oldest cannot be read: its file is kept under another ending (".unread"),
 * where it is in nobody's way. */
void spool_set_aside(struct spool *spool, int64_t number);

#endif
