/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settled.c - tables of words. See settled.h.
 */
#include "text/settled.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *const decided_marks[] = {
    "decided",      "we'll go with",   "let's go with",  "i'll go with",
    "agreed",       "we will use",     "we'll use",      "i'll take",
    "i will take",  "going with",      "settled on",     "chose",
    "let's use",    "the plan is",     "book it",        "let's take",
    "we'll take",   "we picked",       "i picked",       "i've chosen",
    "it's settled", "we will go with", "i will go with", "i'm taking",
    "let's do",     "we're taking",    "signed off on",  "final decision"};
/* With one of these it is not decided, or not yet, or not by them. */
static const char *const hedges[] = {
    "haven't",       "have not",      "hasn't",   "has not",   "not decided",
    "undecided",     "not yet",       "didn't",   "did not",   "never",
    "might",         "maybe",         "perhaps",  "thinking",  "whether",
    "not sure",      "unsure",        "probably", "would",     "could",
    "should",        "until",         "unless",   "before we", "before i",
    "if ",           "consider",      "leaning",  "tempted",   "can't decide",
    "cannot decide", "to be decided", "yet to",   "once we",   "when we"};
static const char *const open_marks[] = {
    "haven't decided", "not decided",    "undecided",     "to be decided",
    "still need",      "still have to",  "still has to",  "still open",
    "not sure yet",    "don't know yet", "open question", "yet to be",
    "remains to be",   "left to do",     "to do later",   "have to check",
    "need to check",   "will check",     "waiting for",   "waiting on",
    "haven't heard",   "not done yet",   "come back to"};
static bool has_any(struct str text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = str_ifind(text, str_of(list[i]), 0);

        if (at != SIZE_MAX &&
            (at == 0 || !isalpha((unsigned char)text.s[at - 1]))) {
            return true;
        }
    }
    return false;
}

bool settled_is(struct str sentence)
{
    return has_any(sentence, decided_marks, COUNT(decided_marks)) &&
           !has_any(sentence, hedges, COUNT(hedges)) && sentence.len > 0 &&
           sentence.s[sentence.len - 1] != '?';
}

bool settled_is_open(struct str sentence)
{
    return has_any(sentence, open_marks, COUNT(open_marks));
}

bool settled_is_doubt(struct str sentence)
{
    static const char *const doubts[] = {"might",    "maybe",  "perhaps",
                                         "not sure", "unsure", "i guess"};

    return has_any(sentence, doubts, COUNT(doubts));
}

/* What was tried did not help; and what says that it did. */
static const char *const same_trouble[] = {
#include "lexicon/de/same_trouble.def"
#include "lexicon/en/same_trouble.def"
#include "lexicon/es/same_trouble.def"
#include "lexicon/fr/same_trouble.def"
};
static const char *const trouble_over[] = {
#include "lexicon/de/trouble_over.def"
#include "lexicon/en/trouble_over.def"
#include "lexicon/es/trouble_over.def"
#include "lexicon/fr/trouble_over.def"
};

bool settled_is_same_trouble(struct str text)
{
    return has_any(text, same_trouble, COUNT(same_trouble)) &&
           !has_any(text, trouble_over, COUNT(trouble_over)) &&
           text.s[text.len - 1] != '?';
}
