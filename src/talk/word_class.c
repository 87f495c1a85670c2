/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_class.c - words held against lists. See word_class.h.
 */
#include "talk/word_class.h"

#include <stdint.h>
#include <string.h>

bool word_is(const struct intent_word *word, const char *text)
{
    return strcmp(word->s, text) == 0;
}

/* The bits of all words of a list, as struct intent_word has its own. */
static uint64_t mask_of(const char *list)
{
    uint64_t mask = 0;

    while (*list) {
        size_t len = strcspn(list, " ");

        mask |= intent_mask(list, len);
        list += len;
        list += *list == ' ';
    }
    return mask;
}

#define KNOWN_LISTS 512u

static uint64_t list_mask(const char *list)
{
    static _Thread_local struct {
        const char *list;
        uint64_t mask;
    } known[KNOWN_LISTS];
    size_t at = ((uintptr_t)list >> 3) % KNOWN_LISTS;

    if (known[at].list != list) {
        known[at].list = list;
        known[at].mask = mask_of(list);
    }
    return known[at].mask;
}

static bool is_in(const struct intent_word *word, const char *list)
{
    while (*list) {
        size_t len = 0;

        while (list[len] && list[len] != ' ') {
            len++;
        }
        if (len == word->len && memcmp(list, word->s, len) == 0) {
            return true;
        }
        list += len;
        list += *list == ' ';
    }
    return false;
}

bool word_any(const struct intent_word *word, const char *list)
{
    return (list_mask(list) & word->mask) && is_in(word, list);
}

bool words_have(const struct intent_word *words, size_t first, size_t end,
                const char *list)
{
    uint64_t mask = list_mask(list);

    for (size_t i = first; i < end; i++) {
        if ((mask & words[i].mask) && is_in(&words[i], list)) {
            return true;
        }
    }
    return false;
}

bool word_is_adverb(const struct intent_word *word)
{
    static const char adverbs[] =
        "absolutely actually almost already also always basically "
        "both certainly completely currently definitely especially "
        "even ever finally generally honestly just kinda lately "
        "literally mainly maybe mostly never normally now often once "
        "only personally probably rarely really recently simply "
        "sometimes soon sorta still then totally truly typically "
        "usually";

    return word_any(word, adverbs) ||
           (word->len > 3 && memcmp(word->s + word->len - 2, "ly", 2) == 0 &&
            !word_any(word, "apply reply rely fly supply family only early"));
}
