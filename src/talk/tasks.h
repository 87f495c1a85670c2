/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.h - the things that a list of things to do names.
 *
 * "Still to do: redirect the mail, cancel the gym, tell the vet" is done when
 * all of them are. By form alone: words that announce such a list, then short
 * parts between commas. A sentence whose parts have a subject or a verb of
 * their own ("fix the page, it is slow and people complain") is no list.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef TALK_TASKS_H
#define TALK_TASKS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

#define TASKS_MAX 12

/* The things, slices of `text`; returns how many, 0 if it lists none. */
size_t tasks_of(struct str text, struct str out[TASKS_MAX]);
/* Does it speak of all of something: "everything is packed", "beides ist da"?
 */
bool tasks_are_all(struct str text);

#endif
