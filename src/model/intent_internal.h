/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_internal.h - what the files of the intent cascade share.
 *
 * intent_words.c cuts a text into segments of normalised words,
 * intent_cues.c holds the cue tables, intent_rules.c applies them to one
 * segment, intent_class.c is the classifier, intent.c decides for the turn.
 */
#ifndef MODEL_INTENT_INTERNAL_H
#define MODEL_INTENT_INTERNAL_H

#include "model/intent.h"
#include "model/intent_words.h"

/* Where a cue must stand in a segment. */
enum cue_where {
    CUE_BODY,  /* at the first word after openers */
    CUE_START, /* at the very first word */
    CUE_HAS,   /* anywhere */
    CUE_EARLY, /* within the first six words of the body */
    CUE_END,   /* as the last words */
    CUE_WHOLE  /* the whole body */
};

/*
 * One row of a cue table. Pattern: words with a space between; "a|b" either;
 * "?a|b" may be missing; "*" any word; "$V" a base verb; "$S" a subject
 * pronoun; "$A" an auxiliary; "$N" a negated auxiliary.
 */
struct cue {
    const char *pattern;
    uint8_t where;     /* enum cue_where */
    uint8_t percent;   /* confidence */
    uint8_t act;       /* enum intent_act */
    uint8_t max_words; /* 0 = any length */
    uint16_t flags;    /* enum intent_flags */
    const char *name;
};

enum cue_table {
    CUES_GREETING,
    CUES_ASK,      /* before the question mark */
    CUES_ADVICE,   /* "you should ..." */
    CUES_QUESTION, /* questions without a mark */
    CUES_SOFT,     /* imperatives that ask nothing */
    CUES_ANSWER,   /* reject, commit, accept */
    CUES_FLAG      /* flags only */
};
#define CUE_TABLES 7

/* Tables end with a row whose pattern is NULL. */
extern const struct cue *const intent_cues[CUE_TABLES];
extern const char *const intent_openers[];    /* sorted */
extern const char *const intent_verbs[];      /* sorted */
extern const char *const intent_noun_verbs[]; /* sorted; also nouns */
extern const size_t intent_n_openers;
extern const size_t intent_n_verbs;
extern const size_t intent_n_noun_verbs;

/* The act of one segment by the rules; always an answer, "default" at worst. */
void intent_rule(const struct intent_piece *piece, bool has_end,
                 struct intent_segment *out);

/* --- classifier ----------------------------------------------------------- */

#define INTENT_BUCKETS (1u << 14)
#define INTENT_MAX_FEATURES 512

/* Probabilities of the acts for one segment, by the shipped weights. */
void intent_classify(const struct intent_piece *piece,
                     float out_share[INTENT_ACTS]);

#endif
