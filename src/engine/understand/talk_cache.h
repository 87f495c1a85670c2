/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk_cache.h - the turns before the one observed, kept through a batch.
 *
 * Read from the store once for each chat, then kept up to date by the turns
 * that pass (work_cache in work.h). All of it is as the store would give it.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_TALK_CACHE_H
#define ENGINE_TALK_CACHE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "talk/line.h"
#include "engine/core/work.h"
#include "model/intent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far back a turn can refer: an accepted answer, its question. */
#define TALK_PREVIOUS 13

/* A turn that stands before the one observed. */
struct talk_turn {
    int64_t seq;
    struct str text; /* its head, without what clew injected */
    struct str speaker;
    enum talk_role role; /* TALK_OTHER: not part of the talk */
    int64_t time_ms;
    struct str timezone;
    bool has_corrections; /* when it was read, the tenant had some */
    bool is_read;         /* `intent` is made */
    struct intent_reading intent;
};

struct talk_cache {
    struct work_cache chat; /* its id */
    bool is_fork;           /* reads its parents too: never kept */
    bool has_turns;
    bool may_be_corrected;                 /* the tenant has corrections */
    bool has_asked;                        /* … which the turns before told */
    struct talk_turn turns[TALK_PREVIOUS]; /* most recent first */
    size_t n_turns;
};

/* The chat of a turn, its turns before loaded. */
enum clew_status talk_cache_enter(struct turn_work *work,
                                  struct talk_cache **out_cache,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* The reading of a turn before, made when it is first asked for. */
enum clew_status talk_cache_intent(struct arena *arena, struct talk_turn *turn,
                                   const struct intent_reading **out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
