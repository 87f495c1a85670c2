/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.h - numbers in the digits of any script.
 *
 * Decimal digits (Arabic, Devanagari, full-width and the others) are told by
 * their value. Other signs that stand for a number (⑨, Ⅸ, ½) have no place in
 * one; they are what they are.
 * Thread-safety: pure functions.
 */
#ifndef TEXT_DIGITS_H
#define TEXT_DIGITS_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* The text with all decimal digits as ASCII has them, in the arena or itself
 * if it is so already; s == NULL without memory. */
struct str digits_plain(struct arena *arena, struct str text);
/* The next sign from `*at` on that stands for a number and is no decimal digit,
 * nor a small one behind a letter (m², CO₂); false: there is none. */
bool digits_next_sign(struct str text, size_t *at, struct str *out);

#endif
