/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_name.h - what a chat is called once its turns are read: not after a
 * turn that says nothing, if there is one that says something.
 *
 * A chat is called after the first words of a person that may name something
 * (chat/place.c, text/title.h), before they are read and by lists of words that
 * know few languages. The reader sees in any of them that "Hoi" or "quick
 * question" says nothing; the next turn that says something names the chat.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHAT_NAME_H
#define ENGINE_CHAT_NAME_H

#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>

struct observation;
struct turn_work;

/* Is nothing said in sentences [first, end) that anybody could come back to: a
 * greeting, thanks, "one moment"? A question is taken for one unless it is as
 * short as "how are you?". `is_start`: nothing was talked about yet, so that
 * less sure a word is enough. Never without a reader. */
bool chat_name_is_empty(const struct observation *o, size_t first, size_t end,
                        bool is_start);

/* The observer. */
enum clew_status chat_name_observe(struct turn_work *work,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
