/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - the shipped reader: what a turn says, and how two texts stand to
 * each other.
 *
 * A small trained encoder (models/reader.md) in int8. reader_read() looks at
 * the sentences of one turn with a little of what was said before it;
 * reader_compare() looks at two texts together. The file is mapped, used where
 * it lies and shared between processes; it is not trusted: a broken one is
 * CLEW_CORRUPT. Sums of products are whole numbers and every float is computed
 * in one order, rounded at the same places, so that every processor gives the
 * same bits.
 * Thread-safety: immutable once open; runs may go on side by side.
 */
#ifndef MODEL_READER_H
#define MODEL_READER_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>
#include <stdint.h>

struct reader;

/* What a sentence is worth keeping as. */
enum reader_keep {
    READER_KEEP_NONE,
    READER_KEEP_FACT,
    READER_KEEP_PREFERENCE,
    READER_KEEP_EVENT,
    READER_KEEP_DECISION,
    READER_KEEP_INSTRUCTION,
    READER_KEEP_REPORT,
    READER_KEEPS
};

enum reader_flag {
    READER_HEDGED,
    READER_QUOTED,
    READER_SUPPOSED,
    READER_NEGATED,
    READER_FLAGS
};

/* Whom or what a sentence is about. */
enum reader_about {
    READER_ABOUT_SELF,
    READER_ABOUT_YOU,
    READER_ABOUT_OTHER,
    READER_ABOUT_THING,
    READER_ABOUTS
};

/* What a sentence does to something people want done. */
enum reader_act {
    READER_ACT_NONE,
    READER_ACT_OPENS,
    READER_ACT_ON,
    READER_ACT_FAILS,
    READER_ACT_RESOLVES,
    READER_ACT_ABANDONS,
    READER_ACTS
};

/*
 * Probabilities of one sentence; each group but the flags sums to one. That
 * the talk goes on, and is not turned to another matter, is said of the stretch
 * of its turn that the sentence was read in. Of a sentence that was not read
 * (see reader_read()) NONE is 1 in keep and act, THING is 1 in about, no flag
 * is set, and the talk goes on.
 */
struct reader_sentence {
    float keep[READER_KEEPS];
    float flag[READER_FLAGS];
    float about[READER_ABOUTS];
    float act[READER_ACTS];
    float goes_on;
};

/* Something said: by whom ("user", "assistant", a name), and its text. */
struct reader_said {
    struct str speaker;
    struct str text;
};

/* A sentence as bytes of its turn's text: [from, to). */
struct reader_span {
    uint32_t from;
    uint32_t to;
};

/* The most sentences of one turn that are read, and bytes of one sentence or
 * of a text of a pair: a pass sees far fewer. */
#define READER_MAX_SENTENCES 512
#define READER_MAX_SENTENCE_BYTES 16384
/* Passes over one turn: 512 sentences of some 20 tokens take 60. */
#define READER_MAX_PASSES 64
/* Tokens of one pass, of what was said before, of a speaker's name with its
 * colon, of each text of a pair. */
#define READER_MAX_TOKENS 256
#define READER_BEFORE_TOKENS 48
#define READER_SPEAKER_TOKENS 16
#define READER_A_TOKENS 64
#define READER_B_TOKENS 128

/*
 * Pairs that are compared, and what each gives (probabilities; groups sum to
 * one):
 *   ANSWER  a question, a passage      [0] the passage answers
 *   NOTE    an earlier note, a later   see enum reader_note
 *   ENDING  an effort, a turn          see enum reader_ending
 *   MATTER  two stretches of talk      [0] the same matter
 *   NEWER   a question, "later || earlier" of two turns that may both answer
 *                                      [0] the later holds instead
 */
enum reader_pair_kind {
    READER_ANSWER,
    READER_NOTE,
    READER_ENDING,
    READER_MATTER,
    READER_NEWER,
    READER_PAIR_KINDS
};

enum reader_note {
    READER_NOTE_SAME,
    READER_NOTE_UPDATES,
    READER_NOTE_CONTRADICTS,
    READER_NOTE_ADDS,
    READER_NOTE_UNRELATED,
    READER_NOTES
};

enum reader_ending {
    READER_ENDING_RESOLVED,
    READER_ENDING_ABANDONED,
    READER_ENDING_GOES_ON,
    READER_ENDING_FAILED,
    READER_ENDING_UNRELATED,
    READER_ENDINGS
};

#define READER_MAX_OUTCOMES 5

struct reader_pair {
    struct str a;
    struct str b;
};

struct reader_verdict {
    float p[READER_MAX_OUTCOMES]; /* outcomes the kind has not are 0 */
};

/*
 * Open a model file; NULL: the one that is part of the program. CLEW_NOT_FOUND
 * where there is none, CLEW_CORRUPT with
 * what is wrong. Freed by reader_close(). Of the file nothing is copied but
 * where its tokens lie, and nothing stays resident until it is used.
 */
enum clew_status reader_open(const char *path, struct reader **out_reader,
                             struct clew_error *err) CLEW_MUST_CHECK;
void reader_close(struct reader *reader);
/* "clew-reader-1@" and the start of the file's SHA-256. */
const char *reader_id(const struct reader *reader);
/* What its gists are known by: the id of the file that they came with first. A
 * later one in which nothing changed that they are made of has the same. */
const char *reader_gist_id(const struct reader *reader);

/*
 * Read the sentences of `turn`. `before` is what was said before it, oldest
 * first; the last READER_BEFORE_TOKENS tokens of it are seen. A long turn is
 * read in stretches of whole sentences; a sentence too long for a pass is seen
 * by its beginning. out[i] belongs to sentences[i]; those past
 * READER_MAX_SENTENCES or READER_MAX_PASSES, and those without a token, are
 * written as not read. Spans may be in any order; what lies outside the text
 * is left out.
 * Either call takes its working memory from `arena` (some 3 MB for 256 tokens
 * through the shipped model) and leaves it there: clear it between calls.
 * CLEW_NO_MEMORY is all that can fail.
 */
enum clew_status reader_read(const struct reader *reader, struct arena *arena,
                             const struct reader_said *turn,
                             const struct reader_said *before, size_t n_before,
                             const struct reader_span *sentences,
                             size_t n_sentences, struct reader_sentence *out,
                             struct clew_error *err) CLEW_MUST_CHECK;

/*
 * What a turn says in its talk, as a place: turns lie near what may be asked of
 * them. Values are a direction's, in steps of 1/READER_GIST_STEPS; the product
 * of two gists is their cosine.
 */
#define READER_GIST_DIM 64
#define READER_GIST_STEPS 254
struct reader_gist {
    bool is_known; /* false: nothing was read, or the model has no gists */
    int8_t at[READER_GIST_DIM];
};
/* Has the model the means for it? */
bool reader_can_gist(const struct reader *reader);
/* reader_read() that also places the turn; `gist` may be NULL. */
enum clew_status
reader_read_gist(const struct reader *reader, struct arena *arena,
                 const struct reader_said *turn,
                 const struct reader_said *before, size_t n_before,
                 const struct reader_span *sentences, size_t n_sentences,
                 struct reader_sentence *out, struct reader_gist *gist,
                 struct clew_error *err) CLEW_MUST_CHECK;
/* Where a question lies among turns. */
enum clew_status reader_gist_asked(const struct reader *reader,
                                   struct arena *arena, struct str question,
                                   struct reader_gist *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Compare `n` pairs of one kind; verdicts do not depend on what else is in
 * the batch. `out` has room for n. */
enum clew_status reader_compare(const struct reader *reader,
                                struct arena *arena, enum reader_pair_kind kind,
                                const struct reader_pair *pairs, size_t n,
                                struct reader_verdict *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Reading in two steps, of READER_ANSWER: after the first layers a pair has a
 * promise, and only those that promise most need be read on.
 */
struct reader_glance {
    float promise; /* that b answers a, as far as can be told */
    size_t n_rows;
    float *x; /* what reading goes on from, in the arena */
};
/* Has the model the means for it? Files without are read in one step. */
bool reader_can_glance(const struct reader *reader);
/* What reading goes on from stays in `arena`: some 150 KB for 100 tokens. */
enum clew_status reader_glance(const struct reader *reader, struct arena *arena,
                               const struct reader_pair *pair,
                               struct reader_glance *out,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* The verdict that reader_compare() has of the pair, to the bit. */
enum clew_status reader_read_on(const struct reader *reader,
                                const struct reader_glance *glance,
                                struct reader_verdict *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* The pieces that it makes of a text's start, and those that are none. */
struct reader_pieces {
    size_t count;
    size_t n_unknown;
};
struct reader_pieces reader_pieces_of(const struct reader *reader,
                                      struct str text);
/* Has it a piece for at least half of the words, or CJK characters, at a
 * text's start? What it says of others is chance. */
bool reader_knows(const struct reader *reader, struct str text);

#endif
