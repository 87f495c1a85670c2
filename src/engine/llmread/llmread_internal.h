/* SPDX-License-Identifier: Apache-2.0 */
/*
 * llmread_internal.h - what reading and the doubt before it share.
 */
#ifndef ENGINE_LLMREAD_INTERNAL_H
#define ENGINE_LLMREAD_INTERNAL_H

#include "engine/llmread/llmread.h"

struct stretch;

/*
 * Is the reader sure of everything in the stretch: what each turn does, and of
 * each sentence whether it is worth keeping, opens or ends something? Sure also
 * means English: it learned nothing else.
 */
enum clew_status llmread_is_sure(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct stretch *stretch, bool *out,
                                 struct clew_error *err) CLEW_MUST_CHECK;

#endif
