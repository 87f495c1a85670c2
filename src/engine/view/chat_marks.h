/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_marks.h - what was worked out about a stretch of a chat, turn by turn:
 * topics, efforts, what was kept, where others left, what was summed up.
 *
 * For drawing beside a transcript. Reads along the chat's line, through forks.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_CHAT_MARKS_H
#define ENGINE_CHAT_MARKS_H

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

/* Turns of one answer. */
#define CHAT_MARKS_MAX_TURNS 1000

/* A turn speaks of a topic. */
struct chat_mark_topic {
    int64_t seq;
    struct uuid chain_id;
    struct str topic;
    struct str state;
};

/* A memory and the lines it was drawn from; of an effort all of them, from
 * where it opened to where it was last touched. */
struct chat_mark_memory {
    struct uuid id;
    struct str type;
    struct str status;
    struct str summary;
    struct str resolution; /* s == NULL if there is none */
    int64_t first_seq;
    int64_t last_seq;
    bool is_retracted;
    bool is_superseded;
};

/* Another chat leaves here. */
struct chat_mark_fork {
    struct uuid chat_id;
    int64_t seq;
    struct str branch;
    struct str title; /* s == NULL if there is none */
    int64_t n_turns;
};

/* Turns that were summed up. */
struct chat_mark_episode {
    struct uuid id;
    int64_t first_seq;
    int64_t last_seq;
    bool is_compacted;
};

struct chat_marks {
    struct chat_mark_topic *topics;
    size_t n_topics;
    struct chat_mark_memory *memories;
    size_t n_memories;
    struct chat_mark_memory *efforts;
    size_t n_efforts;
    struct chat_mark_fork *forks;
    size_t n_forks;
    struct chat_mark_episode *episodes;
    size_t n_episodes;
};

/* Of the turns (after_seq, to_seq]. CLEW_NOT_FOUND for an unknown chat. */
enum clew_status chat_marks_read(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *chat_id, int64_t after_seq,
                                 int64_t to_seq, struct chat_marks *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
