/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what happened in a tenant since one last looked.
 *
 * Read from the rows themselves, by their change numbers and times: nothing is
 * written for it, every process sees what others did, and a reader that was
 * away goes on where it was. Events name things, they do not hold their text.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_EVENTS_H
#define ENGINE_EVENTS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* Change numbers looked at in one go. */
#define EVENTS_STEP 500
/* Events told in one go: changes, calls, failed tasks. */
#define EVENTS_MOST (3 * EVENTS_STEP)
/* A reader further behind is told so, and goes on from now. */
#define EVENTS_MAX_BEHIND 10000

/* Where a reader stands. */
struct events_mark {
    int64_t change_seq;
    int64_t stored_ms; /* captured calls up to here */
    int64_t failed_ms; /* failed tasks up to here */
};

enum event_kind {
    EVENT_TURN,
    EVENT_MEMORY,
    EVENT_EFFORT,
    EVENT_CALL,
    EVENT_FORGOTTEN,
    EVENT_TASK_FAILED,
    EVENT_MISSED /* there was more than is told */
};
const char *event_kind_name(enum event_kind kind);

struct event {
    enum event_kind kind;
    struct uuid id;
    struct uuid chat_id; /* nil if there is none */
    struct str what;     /* role, type, model or kind */
    struct str status;   /* s == NULL if there is none; so the next */
    struct str user_id;
    int64_t seq;             /* of a turn; 0 else */
    int64_t at_ms;           /* 0 if it is not known */
    struct events_mark mark; /* go on from here after it */
};

/* Now: nothing before is told. */
enum clew_status events_now(struct engine *engine, const struct scope *scope,
                            struct events_mark *out,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* What comes after `*mark`, which moves on. Fewer than EVENTS_STEP changes at a
 * time: ask until nothing comes. */
enum clew_status events_after(struct engine *engine, const struct scope *scope,
                              struct arena *arena, struct events_mark *mark,
                              struct event **out, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
