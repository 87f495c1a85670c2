/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stands.h - does a note say by itself what it is about?
 *
 * A note is read long after its talk. One that points at something it has not
 * named ("it broke again", "er wollte nicht") or is the bare answer to a
 * question ("about 40", "the second one") tells nobody anything. Judged by form
 * alone: words that point, and whether anything named before them, in the note
 * or in what stands in brackets before it, can be what they mean. Any noun will
 * do for "it", a person of that sex for "he": a wrong one in brackets is not
 * seen. Where the form leaves it open the note stands; in languages without a
 * list of words (models/lexicon) every note does.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef TALK_STANDS_H
#define TALK_STANDS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

enum stands {
    STANDS,        /* nothing speaks against it */
    STANDS_POINTS, /* at what is not named */
    STANDS_BARE    /* a value or an answer: of what? */
};

/*
 * `before` is what the note quotes in brackets, without who said it, sentences
 * apart by empty lines, or empty; `words` are the speaker's own. Text past
 * STANDS_BYTES is not looked at. Fails only with CLEW_NO_MEMORY.
 */
#define STANDS_BYTES 2000u
enum clew_status stands_of(struct arena *arena, struct str before,
                           struct str words, enum stands *out) CLEW_MUST_CHECK;

#endif
