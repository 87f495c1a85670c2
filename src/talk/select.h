/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - the words of a turn that are worth keeping, as they were said.
 *
 * A reader (model/reader.h, or the rules of rule_reader.h) has said of each
 * sentence what it is worth. Here sentences become notes: the speaker's own
 * words, and in brackets what those words alone do not say: the matter they
 * belong to, the question they answer, the day a relative date means. Nothing
 * is rewritten, nothing is stored, nothing is read from a store.
 * Thread-safety: pure functions.
 */
#ifndef TALK_SELECT_H
#define TALK_SELECT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/reader.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A turn with what was read in it. Slices are borrowed. */
struct select_turn {
    struct str text; /* blank where clew put something itself */
    bool is_assistant;
    struct str timezone; /* for writing dates; empty = UTC */
    int64_t at_ms;       /* when it was said */
    const struct analysis *analysis;
    const struct reader_sentence *read; /* one a sentence of the analysis */
};

/* Bytes of the turn: [from, to). */
struct select_cite {
    uint32_t from;
    uint32_t to;
};

#define SELECT_MAX_TAGS 6
/* Notes one turn can leave. */
#define SELECT_MAX_NOTES 8

struct select_note {
    enum reader_keep keep; /* never READER_KEEP_NONE */
    struct str summary;
    struct select_cite cite;
    float confidence;
    bool is_hedged;
    bool is_negated;
    bool is_told;      /* a language model says so, not the shipped reader */
    bool is_asked_for; /* its speaker asks that it be kept (asked.h) */
    enum reader_about about;
    struct str tags[SELECT_MAX_TAGS];
    size_t n_tags;
    bool has_time; /* from_ms and to_ms are set */
    bool begins;   /* … and it goes on from then: "from May" */
    int64_t from_ms;
    int64_t to_ms;
};

struct select_input {
    const struct select_turn *turn;
    struct str before;    /* what was said just before it, or empty */
    struct str before_by; /* … by whom */
    bool is_before_own; /* … by the speaker of the turn: no question to it */
    bool is_before_named; /* … who has a name, the only other one */
    struct str earlier;   /* what was said before that, or empty */
    bool is_earlier_own;  /* … by the speaker of the turn */
    struct str matter;    /* title of the effort it belongs to; or empty */
};

/*
 * The notes of a turn in its order, at most SELECT_MAX_NOTES. Code, and what
 * is only supposed, gives none. Fails only with CLEW_NO_MEMORY.
 */
enum clew_status select_notes(struct arena *arena,
                              const struct select_input *input,
                              struct select_note **out_notes,
                              size_t *out_count) CLEW_MUST_CHECK;

/*
 * A note of words of the turn that somebody else chose. `aside` is what they
 * alone do not say, or empty. Type, confidence and flags stay the caller's.
 * Fails only with CLEW_NO_MEMORY.
 */
enum clew_status select_words(struct arena *arena,
                              const struct select_turn *turn,
                              const struct select_cite *cite, struct str aside,
                              struct select_note *out) CLEW_MUST_CHECK;

/*
 * The words that name what a turn sets out to get done, as a title, and how
 * sure it is that it does; confidence 0: it does not.
 */
struct select_opening {
    struct str title;
    struct select_cite cite;
    float confidence;
};
enum clew_status select_opening(struct arena *arena,
                                const struct select_turn *turn,
                                struct select_opening *out) CLEW_MUST_CHECK;
/* Of a turn of several matters ("… and the tap drips, too") the others that
 * surely open, in its order; `first` is what select_opening() found. */
#define SELECT_MAX_FURTHER 3
enum clew_status
select_further(struct arena *arena, const struct select_turn *turn,
               const struct select_opening *first,
               struct select_opening out[SELECT_MAX_FURTHER],
               size_t *out_count) CLEW_MUST_CHECK;

/*
 * The words of a turn that tell how something ended: those that say so, with
 * those worth keeping around them; empty if it has none that tell anything
 * ("thanks!").
 */
enum clew_status select_ending(struct arena *arena,
                               const struct select_turn *turn,
                               struct str *out) CLEW_MUST_CHECK;

/* When an event stops being of interest: after its end, by its length. */
int64_t select_expiry_ms(int64_t from_ms, int64_t to_ms);
/* "fact", "preference", … as a memory's type. */
const char *select_type_name(enum reader_keep keep);
/* The same of a note; what a language model calls a report is a "report", the
 * shipped reader's are facts. */
const char *select_note_type(const struct select_note *note);

#endif
