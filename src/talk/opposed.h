/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opposed.h - two statements on one matter, of which one takes back what the
 * other says: "expires" and "does not expire", "status and role" and "role
 * only". By form alone: most of the telling words are shared, and one denies or
 * narrows where the other does not.
 * Thread-safety: pure functions.
 */
#ifndef TALK_OPPOSED_H
#define TALK_OPPOSED_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

/* False also without memory. */
bool opposed(struct arena *arena, struct str a, struct str b);
/* Do they share telling words enough to be about one matter, and are no two
 * entries of one list? */
bool opposed_is_one_matter(struct arena *arena, struct str a, struct str b);

#endif
