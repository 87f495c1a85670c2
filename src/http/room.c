/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.c - see room.h.
 */
#include "http/room.h"

#include "http/metrics.h"

#include <time.h>

/* So often, five milliseconds apart, it is looked whether room was made. */
#define LOOKS 40

static bool take(struct room_share *share, size_t n_bytes)
{
    struct room *room = share->room;

    if (atomic_fetch_add(&room->held_bytes, n_bytes) + n_bytes >
        room->limit_bytes) {
        atomic_fetch_sub(&room->held_bytes, n_bytes);
        return false;
    }
    share->held_bytes += n_bytes;
    metrics_add(METRICS_BODY_BYTES, (int64_t)n_bytes);
    return true;
}

enum clew_status room_take(struct room_share *share, size_t n_bytes,
                           struct clew_error *err)
{
    const struct timespec moment = {.tv_nsec = 5 * 1000000};
    struct room *room = share ? share->room : NULL;

    if (!room) {
        return CLEW_OK;
    }
    if (n_bytes > room->limit_bytes ||
        share->held_bytes > room->limit_bytes - n_bytes) {
        return clew_fail(err, CLEW_TOO_LARGE,
                         "the body takes more memory than all may together");
    }
    if (take(share, n_bytes)) {
        return CLEW_OK;
    }
    while (room->make_room && room->make_room(room->arg)) {
        for (int i = 0; i < LOOKS; i++) {
            (void)nanosleep(&moment, NULL);
            if (take(share, n_bytes)) {
                return CLEW_OK;
            }
        }
    }
    return clew_fail(err, CLEW_BUSY, "too many large requests at once");
}

void room_give(struct room_share *share, size_t n_bytes)
{
    if (!share || !share->room) {
        return;
    }
    n_bytes = n_bytes < share->held_bytes ? n_bytes : share->held_bytes;
    share->held_bytes -= n_bytes;
    atomic_fetch_sub(&share->room->held_bytes, n_bytes);
    metrics_add(METRICS_BODY_BYTES, -(int64_t)n_bytes);
}
