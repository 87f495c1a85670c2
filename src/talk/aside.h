/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside.h - what a note leaves out: words said before it that it leans on.
 *
 * A sentence taken out of its talk may point at something ("it", "her", "the
 * new ones"), answer a question, or tell a part of what its turn is about. Here
 * the words that name it are found, nearest first: in the same turn, in the
 * question answered, in the matter worked on, in what was said before. They are
 * quoted, never made up: no name is guessed, nobody's words change.
 * Thread-safety: pure functions.
 */
#ifndef TALK_ASIDE_H
#define TALK_ASIDE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stddef.h>

struct select_input;

/* A question may need what it asks about, and so may a sentence. */
#define ASIDE_MAX 2

struct aside {
    struct str text;
    struct str by; /* who said it, if not the speaker; or empty */
};

struct asides {
    struct aside items[ASIDE_MAX]; /* as they were said, the oldest first */
    size_t count;
    struct str to; /* "you" is this person; or empty */
};

/*
 * What sentences [first, end) of a turn lean on. `lead` is the sentence that
 * says what the turn is about, or SIZE_MAX. Fails only with CLEW_NO_MEMORY.
 */
enum clew_status aside_find(struct arena *arena,
                            const struct select_input *input, size_t first,
                            size_t end, size_t lead,
                            struct asides *out) CLEW_MUST_CHECK;

#endif
