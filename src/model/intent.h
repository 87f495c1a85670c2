/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.h - what somebody does by saying something: the dialogue act.
 *
 * A cascade: slash command, then rules, then the shipped classifier; the
 * level that decided is part of the answer, so that a later level (an LLM, see
 * engine/capture/intent_ask.h) or a correction can take over. Intent comes from
 * structure, never from topic. Only the first and last INTENT_WINDOW_BYTES of a
 * text are looked at, so the cost is bounded for any input. Thread-safety: pure
 * functions over immutable tables.
 */
#ifndef MODEL_INTENT_H
#define MODEL_INTENT_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes looked at from each end of a long text: acts sit at the ends. */
#define INTENT_WINDOW_BYTES 4096u

enum intent_act {
    INTENT_GREETING,
    INTENT_QUESTION,
    INTENT_REQUEST,
    INTENT_INFORM,
    INTENT_COMMIT,
    INTENT_ACCEPT,
    INTENT_REJECT
};
#define INTENT_ACTS 7

enum intent_level {
    INTENT_LEVEL_COMMAND,
    INTENT_LEVEL_RULE,
    INTENT_LEVEL_CLASSIFIER,
    INTENT_LEVEL_LLM
};

enum intent_flags {
    INTENT_PROBLEM = 1 << 0,  /* states that something does not work */
    INTENT_STRONG = 1 << 1,   /* "that fixed it", "still failing" */
    INTENT_HOLD = 1 << 2,     /* "put it on hold", "later" */
    INTENT_MORE = 1 << 3,     /* "but one more thing" */
    INTENT_THANKS = 1 << 4,   /* thanks somewhere in it */
    INTENT_ADVICE = 1 << 5,   /* "you should ...": asks, opens nothing */
    INTENT_REMINDER = 1 << 6, /* "remind me to ..." */
    INTENT_RETURN = 1 << 7,   /* "back to that bug" */
    INTENT_WEAK = 1 << 8      /* yes, ok, no: an answer after a question */
};

/* One sentence-like piece of the text and what it does. */
/* The `rule` of what no rule decided. */
#define INTENT_BY_CLASSIFIER "classifier"

struct intent_segment {
    uint32_t from; /* byte range in the text */
    uint32_t to;
    enum intent_act act;
    float confidence;
    uint32_t flags;
    const char *rule; /* static name of the rule, or INTENT_BY_CLASSIFIER */
};

struct intent {
    enum intent_act act;
    float confidence;
    enum intent_level level;
    const char *rule; /* static name of what decided */
    uint32_t flags;   /* enum intent_flags, of all segments together */
    struct intent_segment *segments; /* in the arena, in order */
    size_t n_segments;
};

struct intent_pieces;

/* What a text says by itself: read once, decided after any turn. */
struct intent_reading {
    struct intent by_rules;             /* segments and flags by the rules */
    const struct intent_pieces *pieces; /* the words, for the classifier */
    bool is_foreign; /* set by who knows: not of the language it has learned */
};

/* Read a text; everything in the arena. Fails only with CLEW_NO_MEMORY. */
enum clew_status intent_read(struct arena *arena, struct str text,
                             struct intent_reading *out) CLEW_MUST_CHECK;
/* Its act after a turn whose act is `previous` (NULL if there is none). */
enum clew_status intent_decide(struct arena *arena,
                               const struct intent_reading *reading,
                               const struct intent *previous,
                               struct intent *out) CLEW_MUST_CHECK;

/*
 * The act of `text`. `previous` is the turn it answers (empty if none).
 * Fails only with CLEW_NO_MEMORY.
 */
enum clew_status intent_of(struct arena *arena, struct str text,
                           struct str previous,
                           struct intent *out) CLEW_MUST_CHECK;

/* intent_read() and intent_decide() in one. */
enum clew_status intent_after(struct arena *arena, struct str text,
                              const struct intent *previous,
                              struct intent *out) CLEW_MUST_CHECK;

/*
 * Somebody said what the text does: `act` for the turn and for what speaks for
 * it, sure. Other segments that would ask or answer only inform. The segments
 * are copied first; fails only with CLEW_NO_MEMORY.
 */
enum clew_status intent_correct(struct arena *arena, struct intent *intent,
                                enum intent_act act) CLEW_MUST_CHECK;

/* True if neither a rule nor the classifier is sure: a case for an LLM. */
bool intent_is_unsure(const struct intent *intent);
/*
 * The same on the word of an LLM, as sure as it is. What the words show by
 * themselves (put on hold, a reminder, a problem) stays.
 */
enum clew_status intent_take(struct arena *arena, struct intent *intent,
                             enum intent_act act,
                             float confidence) CLEW_MUST_CHECK;

/* "greeting", "question", ... and "command", "rule", ... */
const char *intent_act_name(enum intent_act act);
bool intent_act_parse(struct str name, enum intent_act *out_act);
const char *intent_level_name(enum intent_level level);

#endif
