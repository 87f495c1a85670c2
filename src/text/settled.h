/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settled.h - does a sentence say that something is decided, or still open?
 *
 * Decided means decided: "I might", "we haven't decided", "if we go with" and
 * questions are not. For summaries, which name what was settled; what becomes a
 * memory is the reader's word.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_SETTLED_H
#define TEXT_SETTLED_H

#include "base/str.h"

#include <stdbool.h>

bool settled_is(struct str sentence);
/* Something is still to be done, asked or decided. */
bool settled_is_open(struct str sentence);
/* It is only thought of: nothing that was found. */
bool settled_is_doubt(struct str sentence);
/* What was tried did not help: "did that, same problem", "not it". */
bool settled_is_same_trouble(struct str text);

#endif
