/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what the process has answered, for Prometheus.
 *
 * Counts and durations by route, in a fixed table of atomics: recording never
 * locks, allocates or fails. The numbers belong to the process as a whole (as
 * a scrape does), so they are the one piece of state here that is static.
 * A route is known by the address of its pattern, which must be static text;
 * beyond METRICS_MAX_ROUTES routes the rest share one row.
 * Thread-safety: lock-free; sources are internally locked.
 */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include "base/buf.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "http/http.h"

#include <stdint.h>

#define METRICS_MAX_ROUTES 256

enum metrics_gauge {
    METRICS_CONNECTIONS, /* open now */
    METRICS_IN_FLIGHT,   /* requests being answered now */
    METRICS_BODY_BYTES,  /* of request bodies held now */
    METRICS_N_GAUGES
};

enum metrics_counter {
    METRICS_REFUSED_LIMIT,  /* 413, 429, 431 and connections over the bound */
    METRICS_REFUSED_AUTH,   /* 401 and 403 */
    METRICS_TIMED_OUT,      /* connections cut off for being too slow */
    METRICS_REFUSED_UPLOAD, /* bodies dropped while they came */
    METRICS_N_COUNTERS
};

/* One answered request; `route` NULL counts as "other". */
void metrics_request(const char *route, enum http_method method, int status,
                     int64_t duration_ns);
void metrics_add(enum metrics_gauge gauge, int64_t delta);
void metrics_count(enum metrics_counter counter);
/* Numbers that others keep: `fn` appends them in the same format, from any
 * thread. At most METRICS_MAX_SOURCES; more are not shown. */
typedef void (*metrics_fn)(void *arg, struct buf *out);
#define METRICS_MAX_SOURCES 4
void metrics_add_source(metrics_fn fn, void *arg);
/* No call of it is under way afterwards. */
void metrics_remove_source(metrics_fn fn, void *arg);
/* Append the Prometheus text format, version 0.0.4. */
enum clew_status metrics_write(struct buf *out) CLEW_MUST_CHECK;

#endif
