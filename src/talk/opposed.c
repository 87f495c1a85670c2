/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opposed.c - statements that deny or narrow each other. See opposed.h.
 */
#include "talk/opposed.h"

#include "talk/effort_words.h"

#include <ctype.h>
#include <string.h>

/* Fewer shared words say nothing about one matter. */
#define MIN_SHARED 2

static const char *const denials[] = {"not",    "never",   "no",  "none",
                                      "cannot", "neither", "nor", "without",
                                      "nobody", "nothing"};
static const char *const limits[] = {"only", "solely", "exclusively", "merely",
                                     "nothing but"};

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) != 0;
}

/* Does the text have the word, by itself? */
static bool has_word(struct str text, struct str word)
{
    size_t at = str_ifind(text, word, 0);

    while (at != SIZE_MAX) {
        size_t end = at + word.len;

        if ((at == 0 || !is_letter(text.s[at - 1])) &&
            (end == text.len || !is_letter(text.s[end]))) {
            return true;
        }
        at = str_ifind(text, word, end);
    }
    return false;
}

static bool has_any(struct str text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (has_word(text, str_of(words[i]))) {
            return true;
        }
    }
    return false;
}

static bool denies(struct str text)
{
    return str_ifind(text, STR("n't"), 0) != SIZE_MAX ||
           str_ifind(text, STR("n\xe2\x80\x99t"), 0) != SIZE_MAX ||
           has_any(text, denials, sizeof(denials) / sizeof(denials[0]));
}

static bool narrows(struct str text)
{
    return has_any(text, limits, sizeof(limits) / sizeof(limits[0]));
}

bool opposed(struct arena *arena, struct str a, struct str b)
{
    struct effort_words left;
    struct effort_words right;
    size_t shared;
    size_t fewer;

    if (denies(a) == denies(b) && narrows(a) == narrows(b)) {
        return false;
    }
    if (effort_words_of(arena, a, &left) != CLEW_OK ||
        effort_words_of(arena, b, &right) != CLEW_OK) {
        return false;
    }
    shared = effort_words_shared(&left, &right);
    fewer = left.count < right.count ? left.count : right.count;
    return shared >= MIN_SHARED && 2 * shared > fewer;
}
