/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - make an API call, here or there.
 *
 * A command is written once, against the HTTP contract. The client carries
 * the call out on the data folder in this process (client_local.c: the same
 * route table the server uses, as the operator) or on a server
 * (client_remote.c: http, https or a unix socket).
 * Thread-safety: none; one call at a time.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>

struct client;
struct config;
struct engine;

struct client_options {
    const struct config *config; /* outlives the client */
    const char *url; /* "http://…", "https://…", "unix:PATH"; NULL = here */
    const char *key; /* for a server; may be NULL */
    const char *ca_file; /* to trust a server by; NULL: SSL_CERT_FILE, else
                            the system's */
    long timeout_ms;     /* longest wait for an answer; 0: any */
    const char *tenant;  /* on the data folder; NULL = "default" */
    bool must_exist;     /* CLEW_NOT_FOUND where there is no store yet */
};

/* The caller client_close()s it. */
enum clew_status client_open(const struct client_options *options,
                             struct client **out_client,
                             struct clew_error *err) CLEW_MUST_CHECK;
void client_close(struct client *client);

/*
 * Call `method` on `path` (with its query, already encoded) and a body, which
 * may be NULL and stays the caller's. The caller json_decref()s the answer;
 * an empty one is JSON null. An error the API answers comes back as the status
 * and the words it was given there.
 */
enum clew_status client_call(struct client *client, const char *method,
                             const char *path, const json_t *body,
                             json_t **out_json,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* Gets the answer piece by piece; false breaks it off (CLEW_UNAVAILABLE). */
typedef bool (*client_sink)(void *arg, const char *bytes, size_t len);
/* The same for answers too long to hold, such as an export. */
enum clew_status client_stream(struct client *client, const char *method,
                               const char *path, const json_t *body,
                               client_sink sink, void *arg,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* Calls are those of this program from now on (engine/key/caller.h). Copied and
 * cut; the first name stays, and one that is no clean text is none. */
void client_set_caller(struct client *client, const char *name);

/* The engine of a client that works here; NULL for one that talks to a
 * server. For the few things that are not in the API. */
struct engine *client_engine(const struct client *client);

#endif
