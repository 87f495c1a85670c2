/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - store what passed, after it passed.
 *
 * Calls hand their records over and go on; one thread reads, links and stores
 * them in the order they ended, many in one transaction. What does not fit in
 * memory, or cannot be stored because the store is down, goes to files in the
 * spool folder and is stored later, also after a restart. Both are bounded:
 * what fits nowhere is counted as lost.
 * Thread-safety: internally locked.
 */
#ifndef PROXY_RECORDER_H
#define PROXY_RECORDER_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct engine;
struct record;
struct recorder;

struct recorder_options {
    const char *spool_dir; /* made if missing */
    size_t queue_bytes;    /* records in memory */
    int64_t spool_bytes;   /* files */
    int64_t retry_ms;      /* between attempts while the store is down */
};

/* Counters since the start. */
struct recorder_stats {
    int64_t n_stored;
    int64_t n_refused; /* not what the API says; nothing to link */
    int64_t n_spooled;
    int64_t n_replayed; /* of the stored ones, those that came from files */
    int64_t n_lost;
    int64_t n_linked;    /* of the stored ones, how many have a parent */
    int64_t n_waiting;   /* now, in memory and in files */
    int64_t spool_bytes; /* now, in files */
};

enum clew_status recorder_open(struct engine *engine,
                               const struct recorder_options *options,
                               struct recorder **out_recorder,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Stores what is left, or spools it; then ends. NULL is a no-op. */
void recorder_close(struct recorder *recorder);
/* Takes ownership; never blocks on the store. */
void recorder_take(struct recorder *recorder, struct record *record);
/* A call that passed has no record: it is counted as lost. */
void recorder_miss(struct recorder *recorder);
void recorder_stats(struct recorder *recorder, struct recorder_stats *out);
/* Wait until nothing is waiting; for tests and shutdown. False at timeout. */
int recorder_drain(struct recorder *recorder, int64_t timeout_ms);

#endif
