/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_cache.h - the efforts of a chat as one turn finds them, and the steps
 * that move them.
 *
 * effort_cache.c loads them and compares words, effort_stand.c has the reader
 * hold the turn against them, effort_end.c ends one (effort_which.c: which),
 * effort_return.c comes back to one, effort_open.c begins one, effort_turn.c
 * tries these in order and lets the turn belong to the one at work.
 */
#ifndef ENGINE_EFFORT_CACHE_H
#define ENGINE_EFFORT_CACHE_H

#include "engine/effort/effort.h"
#include "engine/understand/observation.h"
#include "talk/effort_words.h"

/* Texts whose words are remembered. */
#define EFFORT_WORDS_KEPT 64

/* The words of a text, known by its place in memory. */
struct effort_text {
    struct str text;
    struct effort_words words;
};

struct effort_cache {
    struct work_cache chat; /* its id */
    bool is_loaded;
    struct effort *items; /* open or in view, the last touched first */
    size_t count;
    struct effort *active; /* NULL if none is at work */
    struct effort_text words[EFFORT_WORDS_KEPT];
    size_t n_words;
};

/* The efforts in view; changes to the items are seen by the next turn. */
enum clew_status effort_cache_load(struct observation *o,
                                   struct effort_cache **out,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* An effort came or went: read them again. */
void effort_cache_forget(struct observation *o);
/* The words of a text that lives as long as the batch, found once. */
enum clew_status effort_cache_words(struct observation *o, struct str text,
                                    struct effort_words *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Telling words that this turn shares with a text. */
enum clew_status effort_shared_with(struct observation *o, struct str text,
                                    size_t *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/*
 * The next of `titles` from `*at` on that share a telling word with this turn,
 * at most `max`, in their order; `*at` is then the first that was not looked
 * at.
 */
enum clew_status effort_near_titles(struct observation *o,
                                    const struct effort_title *titles,
                                    size_t count, size_t *at, struct uuid *out,
                                    size_t max, size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The user's turns after `seq` and before this one. */
size_t effort_turns_since(const struct observation *o, int64_t seq);
/* Did the turn before this one belong to the effort? */
bool effort_is_at_work(const struct observation *o,
                       const struct effort *effort);
/* One of the chats above becomes this fork's own, see effort_fork.h. */
enum clew_status effort_make_own(struct observation *o, struct effort *effort,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* This turn is the effort's. */
enum clew_status effort_take_turn(struct observation *o, struct effort *effort,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* Put those at work out of view, all but one. */
enum clew_status effort_collapse_active(struct observation *o,
                                        struct effort_cache *cache,
                                        const struct effort *but,
                                        struct clew_error *err) CLEW_MUST_CHECK;

/* How a turn stands to the efforts it may be about, by the reader; none if
 * nothing in it ends anything. The open ones come first; then those
 * that a turn before seemed to end, which this one may tell better. */
#define EFFORT_HELD 10
#define EFFORT_ENDED 4
struct effort_standing {
    struct effort *efforts[EFFORT_HELD + EFFORT_ENDED];
    struct reader_verdict verdicts[EFFORT_HELD + EFFORT_ENDED];
    float sure[EFFORT_HELD + EFFORT_ENDED]; /* how sure that end was */
    size_t n_open;
    size_t n;
};
enum clew_status effort_stand(struct observation *o, struct effort_cache *cache,
                              struct effort_standing *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* … and how a turn that may open one stands to those that are open; the ones of
 * other chats are told with what was said of them last. */
enum clew_status effort_stand_open(struct observation *o,
                                   struct effort_cache *cache,
                                   struct effort_standing *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Does a user take what was done as good, in so many words? */
bool effort_is_accepted(const struct observation *o);
/* May the turn end anything? */
bool effort_may_end(const struct observation *o);
/* Is the turn before the one that opened it? */
bool effort_is_just_opened(const struct observation *o,
                           const struct effort *effort);
/* So sure a resolution also settles the topic; a mere "thanks" ends the effort,
 * but the talk about it often goes on. */
#define EFFORT_SETTLED 0.8f

/* What is made of it, one an effort. */
struct effort_ending {
    bool ends;
    bool is_resolved; /* else given up */
    bool is_reaction; /* the turn takes what was done as good */
    bool is_accepted; /* … and this is the effort last touched */
    float sure;
};
/* Is it an effort of the turn's chat, or of its line? */
bool effort_is_here(const struct observation *o, const struct effort *effort);
/* Clear `ends` of those that the turn is not about, see effort_which.c. */
enum clew_status effort_which(struct observation *o,
                              const struct effort_standing *standing,
                              struct effort_ending *endings,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* --- the steps; `out_done` = the turn has found its place --- */

enum clew_status effort_try_end(struct observation *o,
                                struct effort_cache *cache, bool *out_done,
                                struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_come_back(struct observation *o,
                                  struct effort_cache *cache, bool *out_done,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The turn may answer which effort the turn before meant. */
enum clew_status effort_answer_which(struct observation *o,
                                     struct effort_cache *cache, bool *out_done,
                                     struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_reactivate(struct observation *o,
                                   struct effort_cache *cache,
                                   struct effort *effort,
                                   struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status effort_try_open(struct observation *o,
                                 struct effort_cache *cache, bool *out_done,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* What the turn opens beside that: each in an effort of its own, which is not
 * at work yet. */
enum clew_status effort_open_further(struct observation *o,
                                     struct clew_error *err) CLEW_MUST_CHECK;

/* --- opening --- */

/* The effort's title names the chat, unless a person or an effort did. */
enum clew_status effort_title_chat(struct observation *o, const struct uuid *id,
                                   struct str title,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* Do both titles name the same work? */
bool effort_is_same(const struct effort_words *wanted,
                    const struct effort_words *known);

/* --- attempts --- */

/*
 * What was tried for `effort` last ended: found a way or failed. Adds an
 * attempt if the talk names one. `effort` owns the turn already.
 */
enum clew_status effort_attempt_end(struct observation *o,
                                    struct effort *effort, bool is_found,
                                    struct str resolution,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
