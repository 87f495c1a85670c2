/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.h - what a turn says that is worth keeping.
 *
 * A pure function from a turn, the turns before it and its analysis to
 * candidate artifacts: facts, events, decisions, the opening of an effort,
 * its resolution. Each is one standalone sentence in the third person with
 * the bytes it was taken from. Nothing is stored here, and nothing is read
 * from a store: whether a candidate becomes a memory is decided above.
 * Precision before volume: what cannot stand alone is left out.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef ENGINE_EXTRACT_H
#define ENGINE_EXTRACT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/slots.h"
#include "model/intent.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum extract_type {
    EXTRACT_FACT,
    EXTRACT_EVENT,
    EXTRACT_DECISION,
    EXTRACT_EFFORT
};

enum extract_role {
    EXTRACT_USER,
    EXTRACT_ASSISTANT,
    EXTRACT_OTHER /* system, tool: never mined */
};

/* One turn as extraction sees it. Slices are borrowed. */
struct extract_turn {
    struct str text;
    struct str speaker; /* a person's name; empty if the turn carries none */
    enum extract_role role;
    int64_t time_ms;
    struct str timezone; /* for writing resolved dates; empty = UTC */
    const struct intent *intent;
    const struct analysis *analysis;
    const struct intent_pieces *pieces; /* of `text`; NULL: split when wanted */
};

/* Words of a turn that support a candidate. */
struct extract_cite {
    size_t back; /* 0 = the turn itself, 1 = the one before, ... */
    uint32_t from;
    uint32_t to;
};

#define EXTRACT_MAX_CITES 4
#define EXTRACT_MAX_TAGS 6

struct extract_item {
    enum extract_type type;
    const char *rule;   /* static name of what found it */
    struct str summary; /* one standalone sentence, or an effort's title */
    struct str detail;  /* decision: alternatives not taken; else empty */
    float confidence;
    struct extract_cite cites[EXTRACT_MAX_CITES];
    size_t n_cites;
    struct str tags[EXTRACT_MAX_TAGS];
    size_t n_tags;
    bool has_time; /* from_ms and to_ms are set */
    int64_t from_ms;
    int64_t to_ms;
    bool has_slot;
    struct slot slot; /* for supersession, see slots.h */
};

struct extract {
    struct extract_item *items; /* best first within a type */
    size_t n_items;
};

struct extract_input {
    const struct extract_turn *turn;
    /* The turns before it in the same chat, the most recent first. */
    const struct extract_turn *previous;
    size_t n_previous;
};

/*
 * Candidates of one turn, in the arena. Turns of role EXTRACT_OTHER, commands
 * and greetings give none. Fails only with CLEW_NO_MEMORY.
 */
enum clew_status extract_run(struct arena *arena,
                             const struct extract_input *input,
                             struct extract *out) CLEW_MUST_CHECK;

/*
 * How an accepting turn resolves an effort of the given title: the words for
 * the resolution and how sure it is. `out_confidence` 0 = it does not. The
 * turns must be those of the exchange, `previous[0]` the answer that is
 * accepted. `turns_since` counts the user's turns since the effort was last
 * touched (0 = the one before this).
 */
struct extract_resolution {
    struct str text; /* empty: resolved, but nothing says how */
    float confidence;
    struct extract_cite cite;
};

enum clew_status
extract_resolution(struct arena *arena, const struct extract_input *input,
                   struct str title, size_t turns_since,
                   struct extract_resolution *out) CLEW_MUST_CHECK;

/* When an event stops being of interest: after its end, by its length. */
int64_t extract_expiry_ms(const struct extract_item *event);

const char *extract_type_name(enum extract_type type);

#endif
