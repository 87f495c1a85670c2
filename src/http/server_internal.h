/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_internal.h - what server.c and exchange.c share.
 */
#ifndef HTTP_SERVER_INTERNAL_H
#define HTTP_SERVER_INTERNAL_H

#include "http/acceptor.h"
#include "http/listener.h"
#include "http/room.h"
#include "http/server.h"
#include "http/watch.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

/* One listening socket and the daemon on it. */
struct server_door {
    struct server *server;
    struct listener listener;
    struct MHD_Daemon *daemon;
    struct acceptor *acceptor;
};

struct server {
    struct server_options options; /* defaults filled in */
    struct server_door doors[LISTENER_MAX_INHERITED];
    int n_doors;
    char *url;
    char *tls_cert; /* PEM text */
    char *tls_key;
    struct watch *watch;
    struct http_end end;
    struct room room; /* for all bodies together */
    struct acceptor_count connections;
    pthread_mutex_t lock;   /* guards in_flight */
    pthread_cond_t drained; /* in_flight reached 0 */
    int64_t in_flight;      /* requests begun and not completed */
};

/* What belongs to one connection; MHD's "socket context". */
struct server_socket {
    struct watch_entry *watched; /* NULL without memory: no deadline */
    bool is_over; /* above the limit: only what is public is answered */
    /* A request that has only begun. The library forgets it without a word if
     * it cannot make sense of what follows, so it is kept here as well. */
    void *begun;
};
/* Free a request that never came further; NULL is a no-op. */
void exchange_abandon(void *begun);

/* libmicrohttpd's callbacks for one request; `cls` is a struct server_door. */
void *exchange_begin(void *cls, const char *uri,
                     struct MHD_Connection *connection);
enum MHD_Result exchange_step(void *cls, struct MHD_Connection *connection,
                              const char *url, const char *method,
                              const char *version, const char *upload_data,
                              size_t *upload_data_size, void **con_cls);
void exchange_end(void *cls, struct MHD_Connection *connection, void **con_cls,
                  enum MHD_RequestTerminationCode why);

#endif
