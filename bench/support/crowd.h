/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - many clients that post at once, each as fast as it is answered.
 *
 * Every client has a thread and a connection of its own.
 * Thread-safety: none; the callback is called by many threads.
 */
#ifndef BENCH_SUPPORT_CROWD_H
#define BENCH_SUPPORT_CROWD_H

#include "base/buf.h"
#include "support/child.h"

#include <stdint.h>

#define CROWD_MAX 64

/* Append the body of call number `n` of a client. */
typedef void crowd_body_fn(const void *arg, int client, uint64_t n,
                           struct buf *out);

struct crowd {
    const struct child *child;
    const char *path;
    crowd_body_fn *body;
    const void *arg;
    int n_clients; /* at most CROWD_MAX */
    int seconds;
};

struct crowd_result {
    double rate;   /* calls a second, of all clients */
    double cpu_us; /* of the server, a call */
    double p50_ms; /* of the first client's calls */
};

struct crowd_result crowd_run(const struct crowd *crowd);

#endif
