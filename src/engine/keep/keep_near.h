/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_near.h - what a new note does to those before it: says one again,
 * replaces one, may replace one.
 *
 * Two ways to know: slots (slots.h), where the form is strict and the answer
 * certain, and the reader's comparison, acted upon only where it is very sure.
 * What counts is when a note was said, not when it arrived: one that was said
 * later replaces one that is said earlier and comes now.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_KEEP_NEAR_H
#define ENGINE_KEEP_NEAR_H

#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "talk/select.h"
#include "talk/slots.h"

#include <stdbool.h>

struct observation;

/* Words a note is found by. */
#define KEEP_WORDS 6
/* Notes a new one may replace, told to people. */
#define KEEP_SUSPECTS 4

/* A note on its way, with what it is found by. */
struct keep_note {
    const struct select_note *note;
    struct str words; /* as said, without brackets */
    bool has_slot;
    struct slot slot;
    struct str stems[KEEP_WORDS];
    size_t n_stems;
};

struct keep_near {
    struct uuid same;      /* says it already; nil if none does */
    struct uuid refined;   /* surely replaced by it; nil if none */
    struct uuid successor; /* surely replaces it, said later; nil if none */
    struct uuid suspects[KEEP_SUSPECTS]; /* it may replace these */
    struct str suspect_texts[KEEP_SUSPECTS];
    size_t n_suspects;
};

enum clew_status keep_near_find(struct observation *o,
                                const struct keep_note *note,
                                struct keep_near *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
