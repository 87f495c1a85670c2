/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lean.h - does a question lean on what was said before it?
 *
 * Judged by its form: how few words of its own it has, and whether it points at
 * something ("it", "her") or begins by joining on ("and"). No phrase is known
 * to it; in languages without such lists only a question that has no words of
 * its own leans.
 * Thread-safety: pure functions.
 */
#ifndef TALK_LEAN_H
#define TALK_LEAN_H

#include "text/token.h"

#include <stdbool.h>

bool lean_is(const struct tokens *question);

#endif
