/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_lists.c - word lists of the intent rules, sorted for bsearch.
 *
 * Openers are skipped before the cues of a segment are tried. Verbs are what
 * an instruction may begin with; those that are nouns as well need an object
 * behind them before they count as one.
 */
#include "model/intent_internal.h"

const char *const intent_openers[] = {
#include "lexicon/en/openers.def"
};
const size_t intent_n_openers =
    sizeof(intent_openers) / sizeof(intent_openers[0]);

const char *const intent_verbs[] = {
#include "lexicon/en/verbs.def"
};
const size_t intent_n_verbs = sizeof(intent_verbs) / sizeof(intent_verbs[0]);

const char *const intent_noun_verbs[] = {
#include "lexicon/en/noun_verbs.def"
};
const size_t intent_n_noun_verbs =
    sizeof(intent_noun_verbs) / sizeof(intent_noun_verbs[0]);
