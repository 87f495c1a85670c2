/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_internal.h - what the files of extraction share.
 *
 * clause.c finds the stretches of a turn that say something about somebody,
 * rewrite.c puts them into the third person, extract_<type>.c decide what
 * they are, extract.c runs them in order.
 */
#ifndef ENGINE_EXTRACT_INTERNAL_H
#define ENGINE_EXTRACT_INTERNAL_H

#include "base/buf.h"
#include "engine/extract.h"
#include "model/intent_words.h"

/* Longest summary in words; longer sentences are not one piece of knowledge. */
#define EXTRACT_MAX_WORDS 45

/* Everything the steps for one turn need. */
struct extraction {
    struct arena *arena;
    const struct extract_input *input;
    const struct extract_turn *turn;
    struct intent_pieces pieces;
    bool *is_foreign; /* for each piece: somebody else's words */
    struct str self;  /* who speaks, as written in summaries */
    struct str other; /* who is spoken to */
    struct extract *out;
    size_t cap_items;
};

/* Words [first, end) of a piece that make one statement. */
struct clause {
    const struct intent_piece *piece;
    size_t first;   /* first word kept: after openers */
    size_t subject; /* index of the subject's first word */
    size_t end;
    bool is_elided; /* "Went to ...": the subject is the speaker, unsaid */
    /* who "we" are besides the speaker, "their teammates"; s == NULL: others */
    struct str with;
    size_t with_back; /* the turn that says so, and where */
    uint32_t with_from;
    uint32_t with_to;
};

/* --- word classes (word_class.c) -------------------------------------------
 */

bool word_is(const struct intent_word *word, const char *text);
/* Any of a space-separated list, which must be a constant. */
bool word_any(const struct intent_word *word, const char *list);
bool word_is_past(const struct intent_word *word);
bool word_is_adverb(const struct intent_word *word);
/* Says nothing by itself: function words, fillers, vague nouns. */
bool word_is_generic(const struct intent_word *word);
/* Content words in [first, end): each counted once. */
size_t words_content(const struct intent_word *words, size_t first, size_t end);
/* Names (capitals inside a sentence) and numbers in [first, end). */
size_t words_names(const struct intent_word *words, size_t first, size_t end);
size_t words_numbers(const struct intent_word *words, size_t first, size_t end);
bool words_have(const struct intent_word *words, size_t first, size_t end,
                const char *list);

/* --- steps ------------------------------------------------------------------
 */

/* The words of a turn, split unless it brings them. */
enum clew_status extract_pieces(struct arena *arena,
                                const struct extract_turn *turn,
                                struct intent_pieces *out) CLEW_MUST_CHECK;
/* "[image: a photo of ...]" */
bool piece_is_bracketed(const struct extraction *x,
                        const struct intent_piece *piece);
/* Find the pieces in brackets, a fence or a quoted line. */
enum clew_status clause_find_foreign(struct extraction *x) CLEW_MUST_CHECK;
/* One of x->pieces is in brackets, a fence or a quoted line. */
bool piece_is_foreign(const struct extraction *x,
                      const struct intent_piece *piece);
/* First-person statement at the head of a piece; false if it is none. */
bool clause_of(const struct extraction *x, const struct intent_piece *piece,
               struct clause *out);
/* The next one that begins behind a comma or dash past word `after`. */
bool clause_after(const struct extraction *x, const struct intent_piece *piece,
                  size_t after, struct clause *out);
/* "my wife", "friends": somebody besides the speaker is in it. */
bool clause_names_people(const struct clause *clause);
/* Find out who "we" are, if that is its subject. Fails only with
 * CLEW_NO_MEMORY. */
enum clew_status clause_find_with(const struct extraction *x,
                                  struct clause *clause) CLEW_MUST_CHECK;
/* True if nothing in the clause needs another sentence to be understood. */
bool clause_stands_alone(const struct clause *clause);

/* The clause in the third person, appended; `is_first` = subject unnamed yet.
 */
enum clew_status rewrite_clause(const struct extraction *x,
                                const struct clause *clause, bool is_first,
                                struct buf *out) CLEW_MUST_CHECK;
/* " (on 2023-05-07)" if a date expression lies in the bytes [from, to). */
enum clew_status rewrite_date(const struct extraction *x, uint32_t from,
                              uint32_t to, struct buf *out) CLEW_MUST_CHECK;
/* The date expression in [from, to) with the finest grain, or NULL. */
const struct date *extract_date_in(const struct extraction *x, uint32_t from,
                                   uint32_t to);

struct extract_item *extract_add(struct extraction *x, enum extract_type type,
                                 const char *rule, float confidence);
void extract_cite_add(struct extract_item *item, size_t back, uint32_t from,
                      uint32_t to);
/* Byte range of words [first, end). */
void clause_bytes(const struct clause *clause, uint32_t *out_from,
                  uint32_t *out_to);

/* --- what was on offer (extract_options.c) ----------------------------------
 */

#define EXTRACT_MAX_OPTIONS 8

struct extract_option {
    char label; /* 'a', '1' ... or 0 */
    struct str text;
    uint32_t from; /* in the turn that offers it */
    uint32_t to;
};

struct extract_options {
    struct extract_option items[EXTRACT_MAX_OPTIONS];
    size_t n;
    size_t back; /* the turn that offers them; 1 = the one before */
};

/* What the turn `back` turns before this one has on offer. */
void extract_options_of(const struct extraction *x, size_t back,
                        struct extract_options *out);
/* Which one the words [first, end) mean; EXTRACT_MAX_OPTIONS if none. */
size_t extract_option_meant(const struct extract_options *o,
                            const struct intent_word *words, size_t first,
                            size_t end);
/* The one whose own name is in what was said; the same if none. */
size_t extract_option_named(const struct extract_options *o, struct str said);
/* The others, with commas between them; s == NULL if there are none. */
struct str extract_options_but(struct arena *arena,
                               const struct extract_options *o, size_t chosen);

/* --- what an effort is called (extract_title.c) -----------------------------
 */

/* Words of `phrase` that stand at `at`; 0 if they do not. */
size_t words_phrase_at(const struct intent_piece *piece, size_t at,
                       const char *phrase);
/* The word behind "can you please", "I want to" and the like. */
size_t title_strip(const struct intent_piece *piece, size_t at);
/* "That's fine, can you please tell me ...": where it asks. */
size_t title_asks_at(const struct intent_piece *piece);
/* Wishes and chat that ask nobody for work. */
bool title_is_idle(const struct intent_piece *piece, size_t at);
/* Where a title ends: at a clause that explains, or at its longest. */
size_t title_end(const struct intent_piece *piece, size_t at);
/* Words [at, end); a buffer that is full shows in its status. */
void title_put(const struct extraction *x, const struct intent_piece *piece,
               size_t at, size_t end, struct buf *out);
/* The same for what is wanted: "Help with the parser". */
void title_put_goal(const struct extraction *x,
                    const struct intent_piece *piece, size_t at, size_t end,
                    struct buf *out);
/* What somebody says from `at` on, behind `front`: "Help with: ...". */
void title_put_said(const struct extraction *x,
                    const struct intent_piece *piece, const char *front,
                    size_t at, struct buf *out);
/* The same for what does not work: "Fix 401 error". */
void title_put_problem(const struct extraction *x,
                       const struct intent_piece *piece, struct buf *out);

/* --- pleas (extract_plea.c) -------------------------------------------------
 */

/*
 * Does the piece ask for help in so many words ("can you help?")? The core is
 * what is left of it without them: no words if that is all it does.
 */
bool plea_split(const struct intent_piece *piece,
                struct intent_piece *out_core);

enum clew_status extract_facts(struct extraction *x) CLEW_MUST_CHECK;
enum clew_status extract_answer(struct extraction *x) CLEW_MUST_CHECK;
enum clew_status extract_decisions(struct extraction *x) CLEW_MUST_CHECK;
enum clew_status extract_efforts(struct extraction *x) CLEW_MUST_CHECK;
/* A date and an action, done or planned. */
bool extract_is_event(const struct extraction *x, const struct clause *clause);
/* Make a fact an event if it has a date and a past or planned action. */
void extract_settle_event(const struct extraction *x, struct extract_item *item,
                          const struct clause *clause);
enum clew_status extract_reminders(struct extraction *x) CLEW_MUST_CHECK;

#endif
