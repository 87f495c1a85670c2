/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.h - does a sentence ask that something be remembered?
 *
 * Who says "remember that …", "remind me to …" or "my name is …" says
 * himself what is worth keeping: no reader need guess. By form alone: such
 * words at the beginning of a sentence, in the languages of the tables. "I
 * remember that", "remember when we …?" and "do you remember" do not ask.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef TALK_ASKED_H
#define TALK_ASKED_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Where in the sentence begins what is to be remembered, behind the words that
 * ask for it; 0: it does not ask. */
size_t asked_to_keep(struct str sentence);
/* Does it say that something must not be forgotten, anywhere: "… and please
 * don't forget that", "vergiss das nicht"? "Forget it" does not. */
bool asked_not_to_forget(struct str sentence);
/* Does the speaker say what to call him: "my name is …", "call me Jo"? "I'm
 * Nadine" may say what he is as well: it does if `is_likely`, as whoever read
 * it found it worth keeping. */
bool asked_called(struct str sentence, bool is_likely);

#endif
