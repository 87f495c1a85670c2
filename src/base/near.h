/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.h - the name somebody meant who typed another.
 *
 * Offer every name that there is; the nearest is kept, if it is near at all:
 * a letter more, less or another, or two changed about, in at most one of
 * three letters, or else a beginning: "conv" of "conversation", and but for its
 * last letter "memory" of "memories". The case of ASCII letters does not
 * count, and no word is its own correction.
 * Thread-safety: none; borrows what it is given.
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include "base/str.h"

struct near {
    struct str word;
    struct str name; /* the nearest so far; empty: none is near */
    size_t n_edits;  /* between the two */
};

/* Words longer than this have no near name. */
#define NEAR_MAX_BYTES 64

/* Is the name near, or the word itself? `*out_edits` tells how far. */
bool near_edits(struct str word, struct str name, size_t *out_edits);

void near_init(struct near *near, struct str word);
void near_offer(struct near *near, struct str name);

/* "; did you mean \"NAME\"?" for the end of an error, or "" if none is near;
 * before the name stands `sign`, as "--". */
#define NEAR_TEXT_SIZE (NEAR_MAX_BYTES * 2)
void near_text(const struct near *near, const char *sign,
               char out[NEAR_TEXT_SIZE]);

#endif
