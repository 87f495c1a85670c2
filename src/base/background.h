/* SPDX-License-Identifier: Apache-2.0 */
/*
 * background.h - threads whose work nobody waits for.
 *
 * Reading an import can keep every processor busy for minutes. A caller who
 * asks meanwhile must not share the processors evenly with it.
 */
#ifndef BASE_BACKGROUND_H
#define BASE_BACKGROUND_H

#include <stdbool.h>

/* From now on the calling thread gives way to those that serve calls, and is
 * shown as `name` (15 bytes at most, or none is shown). Without leave of the
 * system it stays as it is. */
void background_begin(const char *name);
/* Has the calling thread begun? */
bool background_is_here(void);

#endif
