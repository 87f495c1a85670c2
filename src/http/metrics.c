/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - lock-free counters by route. See metrics.h.
 */
#include "http/metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

/* Upper bounds of the duration buckets: a lookup to a slow upstream. */
static const double bounds_s[] = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                  0.025,  0.05,  0.1,    0.25,  0.5,
                                  1,      2.5,   5,      10,    30};
#define N_BOUNDS (sizeof(bounds_s) / sizeof(bounds_s[0]))
#define N_CLASSES 5 /* 1xx to 5xx */

struct row {
    _Atomic(const char *) route; /* NULL = free */
    atomic_int method;
    _Atomic uint64_t by_class[N_CLASSES];
    _Atomic uint64_t buckets[N_BOUNDS + 1]; /* not cumulative; last = +Inf */
    _Atomic uint64_t sum_ns;
};

static const char other_route[] = "other";
static struct row rows[METRICS_MAX_ROUTES];
static struct row other = {.route = other_route, .method = HTTP_OTHER};
static _Atomic int64_t gauges[METRICS_N_GAUGES];
static _Atomic uint64_t counters[METRICS_N_COUNTERS];

static pthread_mutex_t sources_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    metrics_fn fn; /* NULL = free */
    void *arg;
} sources[METRICS_MAX_SOURCES]; /* guarded by sources_lock */

/* The route's row, claimed by the first who asks. */
static struct row *row_of(const char *route, enum http_method method)
{
    uint64_t hash = ((uint64_t)(uintptr_t)route >> 3) * 0x9e3779b97f4a7c15u +
                    (uint64_t)method * 0x85ebca6bu;
    size_t at = (size_t)(hash >> 32);

    for (size_t i = 0; i < METRICS_MAX_ROUTES; i++) {
        struct row *row = &rows[(at + i) % METRICS_MAX_ROUTES];
        const char *have =
            atomic_load_explicit(&row->route, memory_order_acquire);

        if (!have) {
            int expected = 0;

            /* The method is claimed first, so that whoever sees the route
             * sees its method. It is stored plus one: 0 means free. */
            if (!atomic_compare_exchange_strong(&row->method, &expected,
                                                (int)method + 1)) {
                i--; /* someone is filling this row: look at it again */
                continue;
            }
            atomic_store_explicit(&row->route, route, memory_order_release);
            return row;
        }
        if (have == route && atomic_load(&row->method) == (int)method + 1) {
            return row;
        }
    }
    return &other;
}

void metrics_request(const char *route, enum http_method method, int status,
                     int64_t duration_ns)
{
    struct row *row = route ? row_of(route, method) : &other;
    double seconds = (double)duration_ns / 1e9;
    int class = status / 100 - 1;
    size_t i = 0;

    if (class < 0 || class >= N_CLASSES) {
        class = N_CLASSES - 1;
    }
    while (i < N_BOUNDS && seconds > bounds_s[i]) {
        i++;
    }
    atomic_fetch_add_explicit(&row->by_class[class], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&row->buckets[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&row->sum_ns, (uint64_t)duration_ns,
                              memory_order_relaxed);
    if (status == 401 || status == 403) {
        metrics_count(METRICS_REFUSED_AUTH);
    } else if (status == 413 || status == 429 || status == 431) {
        metrics_count(METRICS_REFUSED_LIMIT);
    }
}

void metrics_add(enum metrics_gauge gauge, int64_t delta)
{
    atomic_fetch_add_explicit(&gauges[gauge], delta, memory_order_relaxed);
}

void metrics_count(enum metrics_counter counter)
{
    atomic_fetch_add_explicit(&counters[counter], 1, memory_order_relaxed);
}

static const char *method_of(struct row *row)
{
    int method = row == &other ? HTTP_OTHER : atomic_load(&row->method) - 1;

    return http_method_name((enum http_method)method);
}

static void write_requests(struct row *row, const char *route, struct buf *out)
{
    for (int i = 0; i < N_CLASSES; i++) {
        uint64_t count = atomic_load(&row->by_class[i]);

        if (count > 0) {
            (void)buf_printf(out,
                             "clew_http_requests_total{method=\"%s\",route="
                             "\"%s\",status=\"%dxx\"} %" PRIu64 "\n",
                             method_of(row), route, i + 1, count);
        }
    }
}

static void write_durations(struct row *row, const char *route, struct buf *out)
{
    uint64_t total = 0;

    for (size_t i = 0; i <= N_BOUNDS; i++) {
        total += atomic_load(&row->buckets[i]);
        (void)buf_printf(out,
                         "clew_http_request_seconds_bucket{method=\"%s\","
                         "route=\"%s\",le=\"",
                         method_of(row), route);
        if (i < N_BOUNDS) {
            (void)buf_printf(out, "%g\"} %" PRIu64 "\n", bounds_s[i], total);
        } else {
            (void)buf_printf(out, "+Inf\"} %" PRIu64 "\n", total);
        }
    }
    (void)buf_printf(out,
                     "clew_http_request_seconds_sum{method=\"%s\",route=\"%s\"}"
                     " %.9f\n"
                     "clew_http_request_seconds_count{method=\"%s\",route="
                     "\"%s\"} %" PRIu64 "\n",
                     method_of(row), route,
                     (double)atomic_load(&row->sum_ns) / 1e9, method_of(row),
                     route, total);
}

static void each_row(void (*write)(struct row *, const char *, struct buf *),
                     struct buf *out)
{
    for (size_t i = 0; i < METRICS_MAX_ROUTES; i++) {
        const char *route = atomic_load(&rows[i].route);

        if (route) {
            write(&rows[i], route, out);
        }
    }
    write(&other, other_route, out);
}

static void write_totals(struct buf *out)
{
    static const struct {
        const char *name;
        const char *help;
    } gauge_rows[METRICS_N_GAUGES] =
        {
            {"clew_http_connections", "Connections that are open."},
            {"clew_http_in_flight", "Requests that are being answered."},
            {"clew_http_body_bytes", "Request bodies held in memory."},
        },
      counter_rows[METRICS_N_COUNTERS] = {
          {"clew_http_refused_limit_total",
           "Requests over a limit of size or rate."},
          {"clew_http_refused_auth_total",
           "Requests without a key that may do it."},
          {"clew_http_timed_out_total",
           "Requests that did not arrive in time."},
          {"clew_http_refused_uploads_total",
           "Bodies refused because too many were in memory."},
      };

    for (int i = 0; i < METRICS_N_GAUGES; i++) {
        const char *name = gauge_rows[i].name;

        (void)buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %" PRId64 "\n",
                         name, gauge_rows[i].help, name, name,
                         atomic_load(&gauges[i]));
    }
    for (int i = 0; i < METRICS_N_COUNTERS; i++) {
        const char *name = counter_rows[i].name;

        (void)buf_printf(
            out, "# HELP %s %s\n# TYPE %s counter\n%s %" PRIu64 "\n", name,
            counter_rows[i].help, name, name, atomic_load(&counters[i]));
    }
}

static void replace_source(metrics_fn old_fn, void *old_arg, metrics_fn fn,
                           void *arg)
{
    (void)pthread_mutex_lock(&sources_lock);
    for (size_t i = 0; i < METRICS_MAX_SOURCES; i++) {
        if (sources[i].fn == old_fn && sources[i].arg == old_arg) {
            sources[i].fn = fn;
            sources[i].arg = arg;
            break;
        }
    }
    (void)pthread_mutex_unlock(&sources_lock);
}

void metrics_add_source(metrics_fn fn, void *arg)
{
    replace_source(NULL, NULL, fn, arg);
}

void metrics_remove_source(metrics_fn fn, void *arg)
{
    replace_source(fn, arg, NULL, NULL);
}

static void write_sources(struct buf *out)
{
    (void)pthread_mutex_lock(&sources_lock);
    for (size_t i = 0; i < METRICS_MAX_SOURCES; i++) {
        if (sources[i].fn) {
            sources[i].fn(sources[i].arg, out);
        }
    }
    (void)pthread_mutex_unlock(&sources_lock);
}

enum clew_status metrics_write(struct buf *out)
{
    /* A failed append is remembered by the buffer and reported at the end. */
    (void)buf_append_cstr(out, "# HELP clew_http_requests_total Requests "
                               "answered.\n"
                               "# TYPE clew_http_requests_total counter\n");
    each_row(write_requests, out);
    (void)buf_append_cstr(out, "# HELP clew_http_request_seconds From the "
                               "first byte of a request to the last of its "
                               "answer.\n"
                               "# TYPE clew_http_request_seconds histogram\n");
    each_row(write_durations, out);
    write_totals(out);
    write_sources(out);
    return buf_status(out);
}
