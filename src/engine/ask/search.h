/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - what recall ranked becomes rows again: the answer to a question.
 *
 * Ranks over the index (recall.h), reads the rows, and puts the coats of one
 * matter together: the turn that says it is shown, what was drawn from it
 * stands behind it, and no kind comes before another for what it is. The first
 * are read together with the question (model/reader.h) unless it must be fast;
 * a score is the probability that a passage answers, the same for every
 * question and store. What is superseded is marked and comes after what holds
 * (even if that does not match itself); what is retracted or expired at the
 * moment asked about is left out. The same question on the same turns has the
 * same answers: nothing hangs on the clock, the store or ids.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_SEARCH_H
#define ENGINE_SEARCH_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/turn.h"
#include "recall/recall.h"
#include "store/store.h"

struct engine;
struct episode;
struct memory;
struct memory_ref;

/* Another coat of the same answer: the memory drawn from a turn, the effort
 * it belongs to, the episode around it. */
/* How an effort stands, and how it ended; s == NULL where there is nothing to
 * tell, or was not yet when it is asked about. */
struct search_end {
    struct str status;
    struct str resolution;
};

struct search_coat {
    uint32_t kind; /* enum recall_kinds */
    struct uuid id;
    struct str text;
    struct str type; /* of a memory; s == NULL of others */
    struct search_end end;
    bool is_superseded;
};
#define SEARCH_MAX_COATS 8

/* One thing found, with what is needed to show it. */
struct search_hit {
    struct recall_item item;       /* its score is after lineage */
    const struct turn *turn;       /* the turn, or the best turn of a chat */
    const struct memory *memory;   /* for memories; then `turn` is NULL */
    const struct episode *episode; /* for episodes; then `turn` is NULL */
    struct str text;
    struct str source_ref; /* "<chat id>:lines-15-42"; s == NULL if none */
    struct str speaker;    /* of a turn, as a reader knows them: "assistant", a
                              name, or "user"; see search_speaker() */
    /* Where `text` stands in the turn's text; the whole of a short one. */
    size_t passage_from;
    size_t passage_to;
    bool has_input; /* … but for what a tool was given, which is behind it */
    struct search_end end; /* of a memory */
    struct search_coat *also;
    size_t n_also;
    float read; /* the reader's word that it answers; below 0: not read */
    const struct memory_ref *refs; /* lines a memory cites */
    size_t n_refs;
    bool is_superseded;
    struct uuid refined_by; /* nil unless superseded */
    /* The sum of parts it is ranked by: its own, or that of a memory whose
     * place it took. */
    double match;
    bool is_asking; /* it only asks the question again */
    bool is_outrun; /* a newer memory refined the same source */
    bool is_aside;  /* kept out because it is of another matter */
    bool is_unsaid; /* … because nobody said it, see is_floored */
    bool is_partly; /* some of its turn nobody said: `text` is without that */
};

/* Where nobody named a time, what is stored is seen though a clock was ahead
 * when it was said: another machine's, or this one's before it was set. */
#define SEARCH_AHEAD_MS CLOCK_DAY_MS

struct search_query {
    struct str query;
    struct str user_id;    /* s == NULL: every user of the tenant */
    struct uuid chat_id;   /* nil: every chat; else this chat's line */
    struct uuid seen_from; /* nil: nowhere; else without what is of this chat's
                              conversation and not of its line */
    struct uuid asked_in;  /* nil: nowhere; else the chat that completes a
                              question which leans on what was said */
    uint32_t kinds;        /* enum recall_kinds; 0 = all but chats */
    size_t limit;
    bool is_last_unshown; /* hit number `limit` only tells that there is more:
                             it gets no passage */
    int64_t since_ms;     /* INT64_MIN = open */
    int64_t until_ms;     /* INT64_MAX = open */
    int64_t at_ms;        /* as of; the engine's now if the caller gave none */
    int64_t ahead_ms;     /* … and then SEARCH_AHEAD_MS: see there */
    struct str timezone;
    bool is_fast;     /* read nothing */
    int64_t read_ms;  /* … or so long; 0: recall.read_ms */
    double min_score; /* leave out what is below */
    /* For those who are told without asking (context, injection): nothing if
     * nothing answers, and else nothing that surely does not. What clients
     * wrote in somebody's name is not told, tools' calls and output only where
     * they answer. */
    bool is_floored;
    /* … but what was not read stays, behind, if its words and meaning promise
     * nearly as much as the best's: a context has room for it */
    bool has_unread;
    /* … and nothing of another matter than the one the best are of */
    bool is_one_matter;
};

/* What was said, or changed, later is not seen. */
static inline int64_t search_sight_ms(const struct search_query *query)
{
    return query->at_ms + query->ahead_ms;
}

/* Of what the floor kept out so many are named. */
#define SEARCH_BELOW 8

enum search_answered { SEARCH_NO, SEARCH_MAYBE, SEARCH_YES };

struct search_result {
    struct search_hit *hits; /* each matter once, best first */
    size_t count;
    /* With a floor: what it kept out, best first. */
    const struct search_hit *below[SEARCH_BELOW];
    size_t n_below;
    enum search_answered answered;
    bool was_asked; /* somebody asked the same: hits that say is_asking */
    /* The question with its slips of the hand put right, as it was looked for;
     * s == NULL if it had none. */
    struct str did_you_mean;
    /* Words of the chat it was asked in that it was completed with; s == NULL:
     * it stood by itself. */
    struct str lent;
    struct recall_result ranking; /* terms and counts, for explain */
};

/* Who is shown to have said it: a tool and a system are no user. */
struct str search_speaker(const struct search_hit *hit);
/* Does it read like an order to a model (memory.h)? Whatever kind it is, and
 * all of its text, not the passage alone. */
bool search_is_order(const struct search_hit *hit);

/* Find. CLEW_NOT_FOUND if `chat_id` is given and unknown. */
enum clew_status search_run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct search_query *query,
                            struct search_result *out,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* What the index ranks, kind by kind, neither grouped nor read; scores only
 * order. For those who look for what is near rather than for an answer. */
enum clew_status search_plain(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct search_query *query,
                              struct search_result *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
