/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opposed.c - statements that deny or narrow each other. See opposed.h.
 */
#include "talk/opposed.h"

#include "talk/effort_words.h"
#include "text/token.h"

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

/* How many telling words two statements share; `*out_fewer`: of how many. */
static size_t shared_words(struct arena *arena, struct str a, struct str b,
                           size_t *out_fewer)
{
    struct effort_words left;
    struct effort_words right;

    *out_fewer = 0;
    if (effort_words_of(arena, a, &left) != CLEW_OK ||
        effort_words_of(arena, b, &right) != CLEW_OK) {
        return 0;
    }
    *out_fewer = left.count < right.count ? left.count : right.count;
    return effort_words_shared(&left, &right);
}

/* "Room 4 is painted in shade 28", "room 28 is painted in shade 196": the same
 * words with two numbers that differ are entries of one list. */
static bool are_entries(struct arena *arena, struct str a, struct str b)
{
    struct tokens left;
    struct tokens right;
    size_t n_numbers = 0;

    if (tokens_of(arena, a, &left) != CLEW_OK ||
        tokens_of(arena, b, &right) != CLEW_OK || left.count != right.count) {
        return false;
    }
    for (size_t i = 0; i < left.count; i++) {
        const struct token *one = &left.items[i];
        const struct token *other = &right.items[i];

        if (str_eq(one->folded, other->folded)) {
            continue;
        }
        if (one->kind != TOKEN_NUMBER || other->kind != TOKEN_NUMBER) {
            return false;
        }
        n_numbers++;
    }
    return n_numbers >= 2;
}

bool opposed_is_one_matter(struct arena *arena, struct str a, struct str b)
{
    size_t fewer;

    return shared_words(arena, a, b, &fewer) >= MIN_SHARED &&
           !are_entries(arena, a, b);
}

bool opposed(struct arena *arena, struct str a, struct str b)
{
    size_t shared;
    size_t fewer;

    if (denies(a) == denies(b) && narrows(a) == narrows(b)) {
        return false;
    }
    shared = shared_words(arena, a, b, &fewer);
    return shared >= MIN_SHARED && 2 * shared > fewer;
}
