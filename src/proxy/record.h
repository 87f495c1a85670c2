/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what passed through the proxy in one call, until it is linked.
 *
 * The bytes are kept as they passed; reading them (unpacking, putting a stream
 * together, hashing) is left to the recorder's thread, so that a capture costs
 * the call no more than a copy. A record holds no header and so no key.
 * Thread-safety: none; one owner at a time.
 */
#ifndef PROXY_RECORD_H
#define PROXY_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/call.h"
#include "engine/call/canon.h"
#include "engine/key/caller.h"

#include <stdbool.h>
#include <stdint.h>

struct record {
    int64_t tenant;
    struct uuid id;
    enum canon_api api;
    int64_t created_at_ms;
    int64_t duration_ms;
    int64_t first_byte_ms;
    int64_t status; /* of the upstream; 0 if it never answered */
    bool is_stream; /* the reply is a stream of events */
    bool is_packed; /* the reply's bytes are gzip */
    bool is_whole;  /* the upstream ended the reply, and the client took it */
    bool is_cut;    /* the reply was longer than is kept */
    struct uuid chat_id; /* x-clew-chat; nil if not given */
    struct buf user_id;  /* x-clew-user */
    struct buf session;  /* the client's own session id */
    /* the program, by its header or User-Agent; not in the spool: whatever it
     * calls next says it again */
    char client[CALLER_NAME_BYTES + 1];
    struct buf request;  /* body as the client sent it */
    size_t tree_bytes;   /* what it is when parsed, at most */
    struct buf reply;    /* body as the upstream sent it */
    struct record *next; /* of a queue */
};

struct record *record_new(void);
void record_free(struct record *record);
/* Keep the client's body. */
enum clew_status record_take_request(struct record *record,
                                     struct str body) CLEW_MUST_CHECK;
/* Bytes it holds. */
size_t record_size(const struct record *record);

/* To and from one block of bytes, for the spool. */
enum clew_status record_write(const struct record *record,
                              struct buf *out) CLEW_MUST_CHECK;
enum clew_status record_read(struct str bytes, struct record **out_record,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* A record read: what call_link() wants, and the trees behind it. */
struct record_call {
    struct call_input input;
    json_t *body;
    json_t *response;
    struct canon_request request;
    struct canon_reply reply;
    size_t reply_bytes; /* what the reply takes, at most */
};

/* CLEW_INVALID if the request is not what the API says. The caller
 * record_call_release()s it, also after a failure. */
enum clew_status record_parse(const struct record *record, struct arena *arena,
                              struct record_call *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
void record_call_release(struct record_call *call);

#endif
