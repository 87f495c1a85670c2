/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spell.h - the words a slip of the hand away from a word.
 *
 * Made one by one rather than looked for in a list, so that whoever knows words
 * only by their hashes (index/) can ask for each. Alphabets: Latin without
 * marks, Greek, Cyrillic; a word in another script has no near ones. The first
 * letter stays, but for the commonest slips: hands and ears err later on.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_SPELL_H
#define TEXT_SPELL_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Letters of a word that has near ones. */
#define SPELL_MIN_LETTERS 3
#define SPELL_MAX_LETTERS 24

/* How far away, the likelier first. */
enum spell_step {
    SPELL_SLIP, /* two letters swapped, one doubled or not, another vowel */
    SPELL_EDIT, /* one letter more, less or another */
    SPELL_TWO   /* two slips, or a letter at the wrong place */
};

typedef void (*spell_fn)(void *arg, struct str word, enum spell_step step);

/* Letters of a folded word; 0 if it is too short, too long, or not of one of
 * the alphabets throughout. */
size_t spell_letters(struct str word);
/* Offer every word one edit away; some more than once. */
void spell_one(struct str word, spell_fn fn, void *arg);
/* … and what is two away. */
void spell_two(struct str word, spell_fn fn, void *arg);

#endif
