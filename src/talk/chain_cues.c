/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_cues.c - phrases that show how a turn stands to the talk so far.
 *
 * General English of conversation, no subject of any kind. Apostrophes are
 * left out ("im", "whats"). Sorted by first word, longer phrases first.
 */
#include "talk/chain_features.h"

/* clang-format off */
const struct phrase chain_phrases[] = {
#include "lexicon/en/chain_cues.def"
};
/* clang-format on */

const size_t chain_n_phrases = sizeof(chain_phrases) / sizeof(chain_phrases[0]);
