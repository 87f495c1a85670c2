/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_odds.h - how likely one chat goes on with another, by all that is
 * known of the two.
 *
 * That the reader takes stretches of both for one matter is one sign, and a
 * weak one alone: of what it is sure of (.97) seven in ten go on. How many
 * chats lie between, and how many telling words are shared, say as much.
 * Weights: logistic regression over 1,121 pairs of chats in 63 worlds that the
 * reader was not trained on; that of the chats between is six tenths of what it
 * gave, for who works on several things at once comes back later than those
 * worlds do (docs/decisions/0026).
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CHATLINK_ODDS_H
#define ENGINE_CHATLINK_ODDS_H

#include <stddef.h>

/* More chats between them than this say nothing more. */
#define CHATLINK_MOST_BEFORE 4

struct chatlink_signs {
    double matter;       /* the reader's word that it is one matter */
    double shared;       /* weight of the words one stretch shares */
    size_t n_words;      /* telling words of the new chat's beginning */
    size_t n_candidates; /* earlier chats that were looked at */
    size_t n_before;     /* 1: the chat before this one; … at most as above */
};

/* The probability that they belong together. */
double chatlink_odds(const struct chatlink_signs *signs);

#endif
