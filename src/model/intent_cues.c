/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_cues.c - the cue tables of the intent rules.
 *
 * Within a table the first row that matches decides, so exceptions stand
 * above what they except. See struct cue for the pattern language.
 */
#include "model/intent_internal.h"

#define Q INTENT_QUESTION
#define R INTENT_REQUEST
#define I INTENT_INFORM
#define C INTENT_COMMIT
#define A INTENT_ACCEPT
#define N INTENT_REJECT
#define G INTENT_GREETING
#define END_OF_TABLE                                                           \
    {                                                                          \
        NULL, 0, 0, 0, 0, 0, NULL                                              \
    }

static const struct cue cues_greeting[] = {
#include "lexicon/en/cues_greeting.def"
    END_OF_TABLE,
};

static const struct cue cues_ask[] = {
#include "lexicon/en/cues_ask.def"
    END_OF_TABLE,
};

/* Advice asks the other to act, but opens nothing. */
static const struct cue cues_advice[] = {
#include "lexicon/en/cues_advice.def"
    END_OF_TABLE,
};

static const struct cue cues_question[] = {
#include "lexicon/en/cues_question.def"
    END_OF_TABLE,
};

/* Begin with a base verb, ask nothing. */
static const struct cue cues_soft[] = {
#include "lexicon/en/cues_soft.def"
    END_OF_TABLE,
};

static const struct cue cues_answer[] = {
#include "lexicon/en/cues_answer.def"
    END_OF_TABLE,
};

static const struct cue cues_flag[] = {
#include "lexicon/en/cues_flag.def"
    END_OF_TABLE,
};

const struct cue *const intent_cues[CUE_TABLES] = {
    [CUES_GREETING] = cues_greeting, [CUES_ASK] = cues_ask,
    [CUES_ADVICE] = cues_advice,     [CUES_QUESTION] = cues_question,
    [CUES_SOFT] = cues_soft,         [CUES_ANSWER] = cues_answer,
    [CUES_FLAG] = cues_flag,
};
