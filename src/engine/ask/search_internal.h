/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_internal.h - what the steps from a question to its answers share.
 *
 * search_talk.c    what the talk lends a question that leans on it
 * search_rows.c    ranked by the index, as rows, with lineage
 * search_seen.c    … as seen from a chat with branches
 * search_group.c   the coats of one matter together
 * search_passage.c which stretch of a long text
 * search_named.c   what the question names to the letter
 * search_asking.c  what only asks the same
 * search_outcome.c what came of the matters that were found
 * search_read.c    the first of them read with the question
 * search_called.c  a name asked for and told in passing
 * search_score.c   one score, and the order
 * search_told.c    what a model read that replaces what was found
 * search_matter.c  only what belongs to the matter asked about
 * search.c         the steps in order
 * Thread-safety: none; everything belongs to one search.
 */
#ifndef ENGINE_SEARCH_INTERNAL_H
#define ENGINE_SEARCH_INTERNAL_H

#include "engine/ask/search.h"
#include "engine/ask/search_tuning.h"
#include "engine/chat/chat.h"
#include "engine/chat/sight.h"
#include "engine/core/engine.h"
#include "model/reader.h"
#include "text/token.h"

/* The question as it is looked for. */
struct search_asked {
    struct str text; /* as it was put, or mended */
    struct str lent; /* telling words of the talk that it leans on; or empty */
    const struct turn *lenders; /* the turns that lent them */
    size_t n_lenders;
    struct recall_mended mended;
    bool is_literal;         /* every word means itself */
    struct reader_gist gist; /* where it lies among turns */
};

/* What the index ranked, as rows. */
struct search_rows {
    struct search_hit *hits; /* best first */
    size_t count;
    struct recall_line *lines; /* of the chat asked about */
    size_t n_lines;
    struct recall_result ranking;
};

/* Rank, no rows yet. Slips in the question are mended. */
enum clew_status search_rank(struct engine *engine, const struct scope *scope,
                             struct arena *arena,
                             const struct search_query *query, size_t pool,
                             struct search_asked *asked,
                             struct search_rows *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* At most `pool` hits of what was ranked, each with its row. */
enum clew_status search_fetch(struct store_tx *tx, struct arena *arena,
                              const struct search_query *query, size_t pool,
                              struct search_rows *rows,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* "<chat id>:lines-15-42"; s == NULL without memory. */
struct str search_ref(struct arena *arena, const struct memory_ref *ref);

/* Where a question is asked, if its conversation has other branches. */
struct search_sight {
    bool is_parted;
    struct chat chat;
    struct sight sight;
};
enum clew_status search_look(struct store_tx *tx, struct arena *arena,
                             const struct search_query *query,
                             struct search_sight *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Keep the hits that are seen from there, as they are seen. */
enum clew_status search_drop_unseen(struct store_tx *tx, struct arena *arena,
                                    const struct search_sight *from,
                                    struct search_hit *hits, size_t *count,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* A turn, or what stands for none, with all that was found of it. */
struct matter {
    struct search_hit hit; /* what is shown; its turn is set if it has one */
    struct str searched;   /* of a turn: its text, with tools' inputs */
    bool is_spoken;        /* … or, with a floor, what somebody said of it */
    const struct turn *before; /* the turn before; NULL if there is none */
    const struct turn *opened; /* read instead: what this is the end of */
    double lent;               /* match borrowed from that effort's turns */
    double time;               /* how well it meets the times asked about */
    double turn;     /* match of the turn itself, or SEARCH_NO_MATCH */
    double memory;   /* of the best memory that cites it, or the same */
    double episode;  /* of the episode around it, or the same */
    float read;      /* that it answers, by the reader; < 0: not read */
    bool is_glanced; /* … by its first layers only */
    double sum;      /* what it is ordered by */
    double evidence; /* what its score is made from */
    size_t newer;    /* of the first ones, how many are newer */
    size_t n_named;  /* of what the question names to the letter */
    bool is_lender;  /* it was just said, and lent the question its words */
};
#define SEARCH_NO_MATCH (-1.0)

struct search_work {
    struct engine *engine;
    const struct scope *scope;
    struct arena *arena;
    const struct search_query *query;
    size_t pool;         /* hits that are fetched */
    struct store_tx *tx; /* while rows are read in one; else NULL */
    struct search_asked asked;
    const float *asked_vector; /* of its text, once it was needed; or NULL */
    struct search_rows rows;
    struct matter *matters;
    size_t count;
    size_t cap;
    double best_match;  /* of them; 0 as long as they are not put in order */
    struct turn *cited; /* turns looked up for memories */
    size_t n_cited;
    struct turn *before;
    size_t n_before;
};

/* Read rows: in the transaction that is open, or in one of its own. */
CLEW_MUST_CHECK static inline enum clew_status
search_tx(struct search_work *work, store_fn fn, void *arg,
          struct clew_error *err)
{
    return work->tx
               ? fn(work->tx, arg, err)
               : store_read(work->engine->store, work->scope, fn, arg, err);
}
/* If the question leans on the talk it is put in: words of that. */
enum clew_status search_borrow(struct search_work *work,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Where the question lies among turns, by the reader; only where it reads. */
enum clew_status search_place(struct search_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Which matters are what was just said: they were found by their own words. */
void search_mark_lenders(struct search_work *work);
/* Make matters of the hits. */
enum clew_status search_group(struct search_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* The stretch of `text` that answers best: [*from, *to) of its bytes. */
enum clew_status search_passage(struct search_work *work, struct str text,
                                size_t *from, size_t *to,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* Does a memory or an episode that was found belong to this matter? */
bool search_belongs(const struct search_hit *hit, const struct matter *matter);
/* Make a matter of a turn that was not ranked, at the end of the list, unless
 * it has one or the question may not see it. */
enum clew_status search_add_turn(struct search_work *work,
                                 const struct turn *turn,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Where the matter that shows `id` stands. */
size_t search_find(const struct search_work *work, const struct uuid *id);
/* Is there a reader, and time for it? */
bool search_may_read(const struct search_work *work);
/* Is this question read with its candidates? */
bool search_reads(const struct search_work *work);
/* … and how long, about. */
int64_t search_read_ms(const struct search_work *work);
/* How likely it is to answer, by what is known before any is read. */
double search_promise(const struct matter *matter);
/* The most promising first. */
void search_sort_by_promise(struct search_work *work);
/* Which of two that are equal otherwise comes first: by what they say, then by
 * what they are. Ids are drawn by chance, and so are the last. */
int search_tell_apart(const struct search_hit *left,
                      const struct search_hit *right);
/* What it is ordered by as long as nothing is known of the others. */
double search_standing(const struct search_work *work,
                       const struct matter *matter);
/* … and what it stands for among others: by its match more than that. */
double search_nearness(const struct search_work *work,
                       const struct matter *matter);
/* For those who did not ask: of what nobody said only what answers stays. */
enum clew_status search_keep_spoken(struct search_work *work,
                                    struct search_result *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Only what is of the matter asked about stays. */
enum clew_status search_keep_matter(struct search_work *work,
                                    struct search_result *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Name it among what was kept out, as long as there is room to. */
enum clew_status search_leave_below(const struct search_work *work,
                                    const struct search_hit *hit,
                                    struct search_result *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The passage of a matter instead of its whole turn. */
enum clew_status search_set_passage(struct search_work *work,
                                    struct matter *matter,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* How much of what the question names to the letter each matter holds. */
enum clew_status search_find_named(struct search_work *work,
                                   struct clew_error *err) CLEW_MUST_CHECK;
/* The few that hold most of it before all others. */
void search_put_named_first(struct search_work *work);
/* Of the first `count`, which were read, those that name in passing what the
 * name is asked of: they answer. None does for sure if none speaks of it. */
enum clew_status search_find_called(struct search_work *work, size_t count,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* What only asks the question again; only where candidates are read. */
enum clew_status search_find_asking(struct search_work *work,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The last turns of the efforts that the first turns belong to. */
enum clew_status search_find_outcomes(struct search_work *work,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* Choose passages, and read the first with the question. */
enum clew_status search_read(struct search_work *work,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The question and a note of that time, as the reader is asked whether the one
 * answers the other; b.s == NULL without memory. */
struct reader_pair search_note_pair(struct search_work *work, struct str note,
                                    int64_t at_ms);
/* Put matter `later`, which holds, right before `earlier`, which held. */
void search_overtake(struct search_work *work, size_t earlier, size_t later,
                     bool is_sure);
/* What meets the times asked about is not outdated by what does not. */
bool search_is_outside(const struct matter *later,
                       const struct matter *earlier);
/* Where the note of a turn that answers was replaced by one that a language
 * model read, what holds before it; brought in if it was not found. */
enum clew_status search_settle_told(struct search_work *work,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* Order; what is superseded after what holds. */
enum clew_status search_order(struct search_work *work,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* … and give each its score, in that order. */
void search_set_scores(struct search_work *work);

#endif
