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

bool settled_is_same_trouble(struct str text)
{
    static const char *const same[] = {
        "same problem",    "same error",     "same issue",     "same result",
        "same thing",      "same as before", "still the same", "no luck",
        "no change",       "no difference",  "didn't help",    "did not help",
        "doesn't help",    "didn't work",    "did not work",   "that's not it",
        "wasn't it",       "not it",         "no joy",         "still not",
        "still no",        "still fails",    "still failing",  "still broken",
        "still happening", "still getting",  "still get",      "still 4",
        "still 5",         "to no avail"};
    static const char *const over[] = {
        "gone",      "fixed",        "solved",   "no longer",
        "works now", "now works",    "it works", "anymore",
        "any more",  "not the same", "resolved", "went away"};

    return has_any(text, same, COUNT(same)) &&
           !has_any(text, over, COUNT(over)) && text.s[text.len - 1] != '?';
}
