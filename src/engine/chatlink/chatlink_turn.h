/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_turn.h - what one turn tells about belonging to an earlier chat.
 *
 * Its telling words as hashes, and cues of form: does it open a talk, lean on
 * something said before, ask, or answer? Cues are general English forms, never
 * topics; in other languages none fire and the words alone decide.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CHATLINK_TURN_H
#define ENGINE_CHATLINK_TURN_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words kept of one turn: the most telling; a long answer must not swallow
 * every topic. */
#define CHATLINK_TURN_WORDS 12

enum chatlink_cues {
    CHATLINK_GREETS = 1 << 0,
    CHATLINK_OPENS = 1 << 1,      /* "I need", "one more thing" */
    CHATLINK_FRESH = 1 << 2,      /* "excuse me", "do you know" */
    CHATLINK_CONTINUES = 1 << 3,  /* starts with and, but, which, on, … */
    CHATLINK_ACKS = 1 << 4,       /* starts with yes, no, thanks, … */
    CHATLINK_PRONOUN = 1 << 5,    /* leans on something: it, they, there */
    CHATLINK_WHATABOUT = 1 << 6,  /* "what about", "how about" */
    CHATLINK_INDEFINITE = 1 << 7, /* brings in "a hotel", "some stamps" */
    CHATLINK_ASKS = 1 << 8,       /* a question anywhere */
    CHATLINK_ENDS_ASKING = 1 << 9,
    CHATLINK_SHORT_OPENER = 1 << 10, /* "oh, and …", "what about …" */
    CHATLINK_BOTH = 1 << 11,         /* speaks of two things at once */
    CHATLINK_ALL = 1 << 12,
    CHATLINK_REJECTS = 1 << 13, /* "that's not what I meant" */
    CHATLINK_RECALLS = 1 << 14, /* "didn't we talk about this?" */
    CHATLINK_SHIFTS = 1 << 15,  /* "something else", "new topic" */
    CHATLINK_REFERS = 1 << 16   /* "as we discussed": to an earlier talk */
};

/* Kinds of questions, and of what answers them. */
enum chatlink_kinds {
    CHATLINK_YES_NO = 1 << 0,
    CHATLINK_TIME = 1 << 1,
    CHATLINK_DAY = 1 << 2,
    CHATLINK_NUMBER = 1 << 3,
    CHATLINK_WHERE = 1 << 4,
    CHATLINK_CHOICE = 1 << 5
};

enum chatlink_term_flags {
    CHATLINK_NOUN = 1 << 0,
    CHATLINK_FIGURE = 1 << 1,   /* a number, time or code */
    CHATLINK_DEFINITE = 1 << 2, /* after the, that, his, … */
    CHATLINK_IN_FIRST = 1 << 4, /* in the chat's first turn */
    CHATLINK_IN_LAST = 1 << 5,  /* in its last turn */
    CHATLINK_IN_LAST_TWO = 1 << 6
};

struct chatlink_term {
    uint64_t hash;
    float idf;
    uint16_t count;
    uint8_t flags;
};

struct chatlink_turn {
    struct chatlink_term *terms;
    size_t n_terms;
    uint32_t cues;    /* enum chatlink_cues */
    uint32_t asks;    /* enum chatlink_kinds its end asks for */
    uint32_t answers; /* … and those it can be the answer to */
    uint32_t n_words;
    uint32_t n_keywords;
    float mass; /* sum of idf */
};

/* Read a turn; CLEW_NO_MEMORY is the only failure. */
enum clew_status chatlink_turn_of(struct arena *arena,
                                  const struct analysis *analysis,
                                  struct chatlink_turn *out) CLEW_MUST_CHECK;

#endif
