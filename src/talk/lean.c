/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lean.c - see lean.h.
 */
#include "talk/lean.h"

#include "talk/telling.h"

/* Words of its own that a question may have and still lean: if it points or
 * joins on; and if it only may point, with a word that goes with nouns too. */
#define OWN_WORDS 3
#define OWN_WORDS_UNSURE 1

static const char *const pointers[] = {
#include "lexicon/de/pointers.def"
#include "lexicon/en/pointers.def"
#include "lexicon/es/pointers.def"
#include "lexicon/fr/pointers.def"
};
static const char *const demonstratives[] = {
#include "lexicon/de/demonstratives.def"
#include "lexicon/en/demonstratives.def"
#include "lexicon/es/demonstratives.def"
#include "lexicon/fr/demonstratives.def"
};
static const char *const joiners[] = {
#include "lexicon/de/joiners.def"
#include "lexicon/en/joiners.def"
#include "lexicon/es/joiners.def"
#include "lexicon/fr/joiners.def"
};
#define N(list) (sizeof(list) / sizeof((list)[0]))

bool lean_is(const struct tokens *question)
{
    size_t n_words = 0;
    size_t n_own = 0;
    bool joins = false;
    bool points = false;
    bool may_point = false;

    for (size_t i = 0; i < question->count; i++) {
        const struct token *token = &question->items[i];
        struct str word = token->folded;
        bool is_pointer = telling_is_one(word, pointers, N(pointers));

        if (token->kind == TOKEN_PUNCT || token->flags & TOKEN_PART) {
            continue;
        }
        joins |= n_words == 0 && telling_is_one(word, joiners, N(joiners));
        points |= is_pointer;
        may_point |= telling_is_one(word, demonstratives, N(demonstratives));
        n_own += !is_pointer && !(token->flags & (TOKEN_STOP | TOKEN_CHAT));
        n_words++;
    }
    return (n_words > 0 && n_own == 0) ||
           (n_own <= OWN_WORDS && (points || joins)) ||
           (n_own <= OWN_WORDS_UNSURE && may_point);
}
