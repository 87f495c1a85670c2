/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.c - see crowd.h.
 */
#include "support/crowd.h"

#include "base/clock.h"
#include "support/figure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_TIMES = 65536, BODY_BYTES = 65536 };

struct client {
    const struct crowd *crowd;
    atomic_bool *must_stop;
    double *times; /* NULL but for the first */
    int number;
    uint64_t n_done;
    pthread_t thread;
};

static void *call_on(void *arg)
{
    struct client *client = arg;
    const struct crowd *crowd = client->crowd;
    struct link link;
    struct buf body;

    buf_init(&body, BODY_BYTES);
    link_open(&link, crowd->child->port);
    while (!atomic_load(client->must_stop)) {
        int64_t start;

        buf_clear(&body);
        crowd->body(crowd->arg, client->number, client->n_done, &body);
        start = clock_mono_ns();
        link_call(&link, "POST", crowd->path, buf_str(&body));
        if (client->times && client->n_done < MAX_TIMES) {
            client->times[client->n_done] =
                (double)(clock_mono_ns() - start) / 1e6;
        }
        client->n_done++;
    }
    link_close(&link);
    buf_release(&body);
    return NULL;
}

struct crowd_result crowd_run(const struct crowd *crowd)
{
    static double times[MAX_TIMES];
    struct client clients[CROWD_MAX];
    atomic_bool must_stop = false;
    struct timespec pause = {.tv_sec = crowd->seconds};
    int64_t start = clock_mono_ns();
    int64_t cpu_us = child_cpu_us(crowd->child);
    uint64_t n_done = 0;
    uint64_t n_times;
    double seconds;

    for (int i = 0; i < crowd->n_clients; i++) {
        clients[i] = (struct client){.crowd = crowd,
                                     .must_stop = &must_stop,
                                     .times = i == 0 ? times : NULL,
                                     .number = i};
        if (pthread_create(&clients[i].thread, NULL, call_on, &clients[i])) {
            bench_die("could not start a client");
        }
    }
    (void)nanosleep(&pause, NULL);
    seconds = (double)(clock_mono_ns() - start) / 1e9;
    atomic_store(&must_stop, true);
    for (int i = 0; i < crowd->n_clients; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        n_done += clients[i].n_done;
    }
    cpu_us = child_cpu_us(crowd->child) - cpu_us;
    n_times = clients[0].n_done < MAX_TIMES ? clients[0].n_done : MAX_TIMES;
    return (struct crowd_result){.rate = (double)n_done / seconds,
                                 .cpu_us = (double)cpu_us / (double)n_done,
                                 .p50_ms = figure_median(times, n_times)};
}
