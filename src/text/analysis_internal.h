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

/* Is token `i` part of a date? Dates are in order: by halving. */
static inline bool token_in_date(const struct analysis *analysis, size_t i)
{
    size_t low = 0;
    size_t high = analysis->n_dates;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct span *span = &analysis->dates[mid].span;

        if (i < span->first_token) {
            high = mid;
        } else if (i >= span->end_token) {
            low = mid + 1;
        } else {
            return true;
        }
    }
    return false;
}

bool keywords_of(struct arena *arena, struct analysis *analysis);
/* Dates must be there already. */
bool entities_of(struct arena *arena, const struct analysis_options *options,
                 struct analysis *analysis);

#endif
