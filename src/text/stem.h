/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stem.h - Snowball stems of folded words.
 *
 * libstemmer's handles are not thread-safe, so each thread has its own; they
 * are freed when the thread ends (for the main thread, at exit).
 * Thread-safety: safe.
 */
#ifndef TEXT_STEM_H
#define TEXT_STEM_H

#include "base/arena.h"
#include "base/str.h"
#include "text/language.h"

#include <stdbool.h>

/*
 * The stem of `word` in `language`, without diacritics, in the arena or the
 * word itself. TEXT_UNKNOWN stems as English; what is longer than any word is
 * left as it is. False when out of memory.
 */
bool stem_word(struct arena *arena, struct str word,
               enum text_language language, struct str *out);

#endif
