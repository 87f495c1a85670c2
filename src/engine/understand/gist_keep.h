/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gist_keep.h - where a turn that was understood lies among turns.
 *
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_GIST_KEEP_H
#define ENGINE_GIST_KEEP_H

#include "clew/attr.h"
#include "clew/status.h"

struct turn_work;

/* The observer: keep the gist (read/gist.h) of a turn that is being read, and
 * tell the index. */
enum clew_status gist_keep(struct turn_work *work,
                           struct clew_error *err) CLEW_MUST_CHECK;

#endif
