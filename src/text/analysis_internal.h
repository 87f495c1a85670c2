/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_internal.h - the steps of analysis_run(), one file each.
 *
 * All take a half-filled struct analysis with text and tokens; all return
 * false only when the arena is full.
 */
#ifndef TEXT_ANALYSIS_INTERNAL_H
#define TEXT_ANALYSIS_INTERNAL_H

#include "text/analysis.h"
#include "text/lexicon.h"

/* Look a token's folded form up. */
static inline bool token_lookup(const struct token *token, struct lex_word *out)
{
    return lexicon_find(token->folded, str_hash(token->folded), out);
}

bool keywords_of(struct arena *arena, struct analysis *analysis);
/* Dates must be there already. */
bool entities_of(struct arena *arena, const struct analysis_options *options,
                 struct analysis *analysis);

#endif
