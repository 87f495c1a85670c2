/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.h - the memory that the bodies of all requests may take together.
 *
 * A body is counted as it comes in, once more as it is unpacked, and so is the
 * tree that is parsed of it: each step before its memory is asked for. What a
 * request took is given back when it is over, at the latest.
 * Thread-safety: a room is for many threads, a share for its request's.
 */
#ifndef HTTP_ROOM_H
#define HTTP_ROOM_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct room {
    size_t limit_bytes;
    /* End something that holds room without need; false if there is nothing.
     * What it held comes back a moment later. */
    bool (*make_room)(void *arg);
    void *arg;
    atomic_size_t held_bytes;
};

/* What one request holds; zeroed with its room set it holds nothing. */
struct room_share {
    struct room *room;
    size_t held_bytes;
};

/* CLEW_BUSY while others hold too much, CLEW_TOO_LARGE if this share alone
 * would be over the limit. NULL, as in-process callers have it, is always
 * granted. */
enum clew_status room_take(struct room_share *share, size_t n_bytes,
                           struct clew_error *err) CLEW_MUST_CHECK;
/* Never more than is held; NULL is a no-op. */
void room_give(struct room_share *share, size_t n_bytes);

#endif
