/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_internal.h - the two ways to carry out a call.
 */
#ifndef CLI_CLIENT_INTERNAL_H
#define CLI_CLIENT_INTERNAL_H

#include "base/buf.h"
#include "cli/client/client.h"
#include "engine/key/caller.h"

/* One call under way. */
struct exchange {
    const char *method;
    const char *path;
    struct str body;  /* JSON, s == NULL for none */
    client_sink sink; /* NULL: everything goes to `answer` */
    void *arg;
    int http_status;
    struct buf answer; /* the body, or that of an error when there is a sink */
};

struct client_ops {
    /* Fills http_status and gives the body to exchange_take(). Fails only if
     * there was no answer. */
    enum clew_status (*send)(struct client *client, struct exchange *exchange,
                             struct clew_error *err);
    void (*close)(struct client *client);
};

struct client {
    const struct client_ops *ops;
    char caller[CALLER_NAME_BYTES + 1]; /* "": nobody in particular */
};

/* A piece of the body has come; http_status is known. False: stop. */
static inline bool exchange_take(struct exchange *exchange, const char *bytes,
                                 size_t len)
{
    bool is_error = exchange->http_status >= 400;

    if (exchange->sink && !is_error) {
        return exchange->sink(exchange->arg, bytes, len);
    }
    return buf_append(&exchange->answer, bytes, len) == CLEW_OK;
}

enum clew_status client_local_open(const struct client_options *options,
                                   struct client **out_client,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status client_remote_open(const struct client_options *options,
                                    struct client **out_client,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The engine of a client made by client_local_open(), else NULL. */
struct engine *client_local_engine(const struct client *client);

#endif
