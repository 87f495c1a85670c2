/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_dates.h - the days of what is kept: how they are told in its words,
 * and when it is. A part of select.h.
 * Thread-safety: pure functions.
 */
#ifndef TALK_SELECT_DATES_H
#define TALK_SELECT_DATES_H

#include "base/buf.h"
#include "talk/select.h"

/* " [2026-03-05]" for each date of the cited words that depends on the turn's
 * time; what does not fit is found by buf_status(). */
void select_add_dates(struct buf *out, const struct select_turn *turn,
                      const struct select_cite *cite);
/* The most exact day that the cited words name, if they name one. */
void select_set_time(struct select_note *note, const struct analysis *a);

#endif
