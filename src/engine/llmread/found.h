/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.h - what a model says of a stretch, held against its words.
 *
 * Nothing is believed: a quote must stand in the turn that is cited, a label
 * must be one that was shown, every word beside a quote must have been said. An
 * item that fails is dropped, or loses the part that fails, and is counted by
 * what was wrong with it. What takes away from what is known is believed only
 * of a model that was right more often than wrong in the same answer.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_LLMREAD_FOUND_H
#define ENGINE_LLMREAD_FOUND_H

#include "base/arena.h"
#include "base/json.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/reader.h"
#include "talk/select.h"

#include <stdbool.h>
#include <stddef.h>

struct stretch;
struct stretch_chat;
struct stretch_known;
struct stretch_turn;

/* Items of one answer that are looked at; more is no reading. */
#define FOUND_NOTES 120
#define FOUND_EFFORTS 40
#define FOUND_CHATS 16
/* Notes that one takes the place of. */
#define FOUND_UPDATES 4
/* The longest quote of a note. */
#define FOUND_QUOTE_BYTES 700u

/* What can be wrong with an item. */
enum found_fault {
    FOUND_NO_TURN,   /* no such turn */
    FOUND_NO_QUOTE,  /* the words are not in it */
    FOUND_NO_WORDS,  /* they say nothing, or too much */
    FOUND_MACHINE,   /* a program's words, or a masked secret */
    FOUND_NO_TYPE,   /* an unknown type or status */
    FOUND_NO_LABEL,  /* an effort, note or chat that was not shown */
    FOUND_NOT_SAID,  /* words nobody said beside a quote: they are left out */
    FOUND_NO_UPDATE, /* shares nothing with what it replaces: it adds */
    FOUND_NO_TRUST,  /* would take away, and the rest was mostly wrong */
    FOUND_NO_WORTH,  /* worthless to the reader, and nothing rests on it */
    FOUND_FAULTS
};

struct found_note {
    size_t item; /* its place in the answer's list, from 1 on */
    const struct stretch_turn *turn;
    struct select_cite cite;
    enum reader_keep keep;
    struct str about;
    bool is_hedged;
    /* what it replaces: notes that were shown, or an earlier one of the same
     * answer (from 1 on; 0: none) */
    const struct stretch_known *updates[FOUND_UPDATES];
    size_t n_updates;
    size_t updates_own;
};

struct found_effort {
    const struct stretch_known *known; /* NULL: a new one */
    const struct stretch_turn *turn;   /* of a new one */
    struct select_cite cite;
    struct str title; /* a better name, in words that were said; or empty */
    const char *status;
    const struct stretch_turn *end; /* NULL: open */
    struct select_cite end_cite;
};

/* An earlier chat that this one goes on with. */
struct found_chat {
    const struct stretch_chat *chat;
    const struct stretch_turn *turn;
    struct select_cite cite;
};

struct found {
    struct found_note *notes;
    size_t n_notes;
    struct found_effort *efforts;
    size_t n_efforts;
    const struct stretch_known **removed; /* notes and efforts that are none */
    size_t n_removed;
    struct found_chat *chats;
    size_t n_chats;
    bool is_every_chat; /* what was shown and not named is not gone on with */
    size_t faults[FOUND_FAULTS];
};

/* "quote", "turn", …: what the fault is called in a trace. */
const char *found_fault_name(enum found_fault fault);
/*
 * Read an answer. CLEW_INVALID with what is wrong if it is not of the schema at
 * all; what points into the stretch and the answer lives as long as they do.
 */
enum clew_status found_read(struct arena *arena, const struct stretch *stretch,
                            const json_t *answer, struct found *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
