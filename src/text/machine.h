/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - text in a person's turn that no person wrote.
 *
 * Clients put reminders, output of commands, environments, wrappers of slash
 * commands and whole prompts of their own (a compaction, a caveat) where the
 * user speaks. It is stored, linked and found as it came; what is made of a
 * turn (memories, efforts, claims, titles, summaries) is made of the rest. Of a
 * slash command only the words of its arguments are the user's, not the prompt
 * it stands for.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_MACHINE_H
#define TEXT_MACHINE_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>

/* The text with blanks in place of what machines wrote, of the same length, so
 * that places in it stay true; the text itself if there is nothing of theirs.
 * CLEW_NO_MEMORY is the only failure. */
enum clew_status machine_blank(struct arena *arena, struct str text,
                               struct str *out) CLEW_MUST_CHECK;
/* A model's answer to a client that asked it to sum the talk up, or one that a
 * client made up where it asked no model. */
bool machine_is_tale(struct str text);

#endif
