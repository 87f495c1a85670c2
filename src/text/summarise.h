/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summarise.h - say in few words what was said in many turns.
 *
 * Extractive and deterministic: a summary is made of sentences of the turns, in
 * their order, and cites them; the macro summary lists what recurs. None is
 * longer than its source. A text by somebody else (an LLM) is checked by the
 * same measure: how much of what matters does it name?
 * Thread-safety: pure functions.
 */
#ifndef TEXT_SUMMARISE_H
#define TEXT_SUMMARISE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stddef.h>

/* Upper bounds by text_token_bound(), or by twice text_token_estimate() where
 * that is less: in scripts other than Latin. */
#define SUMMARY_MICRO_TOKENS 100
#define SUMMARY_MESO_TOKENS 500
#define SUMMARY_MACRO_TOKENS 1000
#define SUMMARY_MICRO_SENTENCES 3
/* A summary that names less of what matters is not taken. */
#define SUMMARY_MIN_COVERAGE 0.7

struct summary_turn {
    const struct analysis *analysis; /* holds the text */
    bool is_user;
};

/* Bytes [from, to) of turn number `turn`. */
struct summary_cite {
    size_t turn;
    size_t from;
    size_t to;
};

struct summary_text {
    struct str text;
    struct summary_cite *cites;
    size_t n_cites;
};

struct summary {
    struct summary_text micro;
    struct summary_text meso;
    struct summary_text macro;
    double coverage; /* of micro, meso and macro together */
};

/* What a summary should name: people and things, decisions, open questions. */
enum summary_item_kind { SUMMARY_NAME, SUMMARY_DECISION, SUMMARY_QUESTION };
struct summary_item {
    enum summary_item_kind kind;
    struct str text;
    size_t turn;
    size_t n_turns; /* names: turns that hold it */
};

/* CLEW_NO_MEMORY is the only failure. No turns give empty texts. */
enum clew_status summarise(struct arena *arena,
                           const struct summary_turn *turns, size_t count,
                           struct summary *out) CLEW_MUST_CHECK;
enum clew_status summary_items(struct arena *arena,
                               const struct summary_turn *turns, size_t count,
                               struct summary_item **out_items,
                               size_t *out_count) CLEW_MUST_CHECK;
/* The share of the items that `text` names; 1 if there are none. */
double summary_coverage(struct str text, const struct summary_item *items,
                        size_t count);
/* The longest beginning of at most `max_tokens`, cut at a sentence, a word, or
 * a character. */
struct str summary_cut(struct str text, size_t max_tokens);

#endif
