/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.h - put a streamed reply together again.
 *
 * The proxy hands over the bytes of an upstream's answer as they pass. What
 * comes out is the body that the same call would have got without streaming
 * (as far as the stream told), so that one reader (engine/call/canon.h) serves
 * both.
 * A stream that breaks off gives what had come until then.
 *
 * The wire formats differ only in how events name the parts; each has a file
 * assemble_<api>.c with one function that applies one event.
 * Thread-safety: none; one owner at a time.
 */
#ifndef PROXY_REPLY_H
#define PROXY_REPLY_H

#include "base/buf.h"
#include "base/sse.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/canon.h"

#include <jansson.h>
#include <stdbool.h>

/* Largest reply that is captured; what is longer passes and is cut here. */
#define REPLY_MAX_BYTES (32u << 20)
/* Parts of one reply. */
#define REPLY_MAX_PARTS 10000
/* What is kept of a reply as trees, with the event at hand: a few bytes of text
 * may be a hundred times as many of nodes. The rest is cut. */
#define REPLY_MAX_TREE_BYTES (128u << 20)

/* A content block that grows by deltas. */
struct reply_part {
    long index;        /* the number the stream gave it */
    json_t *block;     /* as it was started */
    const char *field; /* the field that the deltas extend */
    bool is_json;      /* that field is JSON in pieces */
    struct buf text;
    struct buf signature;
};

struct reply {
    enum canon_api api;
    bool is_stream;
    bool is_complete; /* the last event was seen, or the body was whole */
    bool is_cut;      /* over REPLY_MAX_BYTES, or events were lost */
    struct sse sse;
    struct buf body;          /* of an answer that is no stream */
    json_t *head;             /* the envelope: id, model, usage, stop reason */
    json_t *error;            /* an error event, or NULL */
    json_t *whole;            /* a final event that holds everything, or NULL */
    struct reply_part *parts; /* in order of their numbers */
    size_t n_parts;
    size_t cap_parts;
    size_t n_bytes;
    size_t n_kept;      /* bytes of trees and text, at most */
    size_t event_bytes; /* of the tree of the event at hand, at most */
};

void reply_init(struct reply *reply, enum canon_api api, bool is_stream);
void reply_release(struct reply *reply);
/* Bytes of the answer, decoded. Never fails: what cannot be kept is cut. */
void reply_feed(struct reply *reply, const char *bytes, size_t len);
/*
 * The body as a tree, a new reference; NULL if nothing that can be read came.
 * Call once, at the end.
 */
json_t *reply_take(struct reply *reply) CLEW_MUST_CHECK;

/* --- for the assemblers --- */

/* A new reference to a copy of what an event tells; NULL if there is none, or
 * no memory. It counts as kept. */
json_t *reply_keep(struct reply *reply, const json_t *told);
/* The part with this number, made from `block` (a new reference, taken) if it
 * is not there; NULL if that cannot be had. */
struct reply_part *reply_part_at(struct reply *reply, long index,
                                 json_t *block);
struct reply_part *reply_find_part(struct reply *reply, long index);
/* Extend a part's field. */
void reply_extend(struct reply *reply, struct reply_part *part,
                  const char *field, struct str text, bool is_json);
/* The finished parts in order of their numbers, as a new array. */
json_t *reply_blocks(struct reply *reply);

void assemble_anthropic(struct reply *reply, struct str name,
                        const json_t *event);
json_t *assemble_anthropic_end(struct reply *reply);
void assemble_chat(struct reply *reply, struct str name, const json_t *event);
json_t *assemble_chat_end(struct reply *reply);
void assemble_responses(struct reply *reply, struct str name,
                        const json_t *event);
json_t *assemble_responses_end(struct reply *reply);

#endif
