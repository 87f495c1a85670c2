/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_told.h - keep a note that somebody else read in a turn.
 *
 * A language model that was asked later (llmread/) chose the words; the note
 * is made of them as the reader's own are. What the reader kept of the same
 * words stays, or gives way where the model knows better (what it is about,
 * that it holds two things, that it replaces an earlier one): there is one note
 * of one thing, whoever read it.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_KEEP_TOLD_H
#define ENGINE_KEEP_TOLD_H

#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/reader.h"
#include "talk/select.h"

#include <stdbool.h>

struct observation;

struct keep_told {
    enum reader_keep keep; /* never READER_KEEP_NONE */
    struct select_cite cite;
    struct str aside; /* what the words alone do not say; or empty */
    bool is_hedged;
    float confidence;
    const struct uuid *updates; /* the notes it takes the place of */
    size_t n_updates;
    /* words of the same turn that are notes of their own */
    const struct select_cite *others;
    size_t n_others;
    /* notes that are taken back: they hold nothing */
    const struct uuid *gone;
    size_t n_gone;
};

/* Notes of one turn that are looked at. */
#define KEEP_TOLD_MOST 32
/* Notes that one takes the place of. */
#define KEEP_TOLD_UPDATES 8

/* KEEP_INSTEAD: the reader's own notes said less of it, as another type, with
 * other words beside it, together with something else, or without what it
 * replaces; the caller takes those back. */
enum keep_fate { KEEP_KNOWN, KEEP_NEW, KEEP_REFINED, KEEP_INSTEAD };

struct keep_told_row {
    enum keep_fate fate;
    struct uuid id; /* the note that says it now */
    struct uuid instead[KEEP_TOLD_MOST];
    size_t n_instead;
};

enum clew_status keep_told(struct observation *o, const struct keep_told *told,
                           struct keep_told_row *out,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
