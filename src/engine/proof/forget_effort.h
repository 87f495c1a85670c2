/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_effort.h - efforts that stay though some of their turns go.
 *
 * An effort is its opening turn's: its title is words of it. Where that turn
 * stays, what later ones brought is taken out of the effort (an end, the ends
 * before it, the lines it comes from) and the rest stays. One whose words
 * cannot be found in turns that stay goes whole, as other memories do; a
 * rebuild makes anew what is left of it. Thread-safety: none; inside one
 * transaction.
 */
#ifndef ENGINE_FORGET_EFFORT_H
#define ENGINE_FORGET_EFFORT_H

#include "engine/proof/forget_internal.h"

/* Take out of the scratch table the efforts that stay, and remember them. */
enum clew_status forget_effort_spare(struct forget_work *work,
                                     struct store_tx *tx,
                                     struct clew_error *err) CLEW_MUST_CHECK;
/* Take out of these what later turns brought; before the turns go. */
enum clew_status forget_effort_trim(struct forget_work *work,
                                    struct store_tx *tx,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
