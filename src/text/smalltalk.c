/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smalltalk.c - a table of words. See smalltalk.h.
 *
 * A text is small talk if every word of it is in the table, which holds words
 * that together cannot name a matter: with one other word it is content.
 */
#include "text/smalltalk.h"

#include <ctype.h>
#include <string.h>

/* Longer texts are about something. */
#define MAX_WORDS 14
#define MAX_WORD_BYTES 15

static const char *const words[] = {
    "a",           "abend",     "afternoon", "again",     "ah",
    "aha",         "all",       "alright",   "am",        "and",
    "any",         "anytime",   "are",       "assist",    "awesome",
    "back",        "be",        "bin",       "bitte",     "bonjour",
    "bonsoir",     "brilliant", "buenas",    "buenos",    "but",
    "bye",         "can",       "chat",      "cheers",    "choice",
    "ciao",        "cool",      "could",     "danke",     "day",
    "days",        "dear",      "dias",      "did",       "do",
    "doing",       "done",      "evening",   "everybody", "everyone",
    "exactly",     "excellent", "fine",      "folks",     "for",
    "friend",      "fun",       "genau",     "glad",      "go",
    "going",       "good",      "goodbye",   "goodnight", "got",
    "gotcha",      "gracias",   "grand",     "great",     "greetings",
    "gut",         "guten",     "guys",      "ha",        "haha",
    "hallo",       "happy",     "have",      "he",        "heh",
    "hello",       "help",      "here",      "hey",       "hi",
    "hiya",        "hm",        "hmm",       "hola",      "how",
    "howdy",       "i",         "idea",      "in",        "indeed",
    "interesting", "is",        "it",        "ja",        "job",
    "just",        "k",         "kk",        "later",     "let",
    "lol",         "lot",       "love",      "lovely",    "many",
    "mate",        "may",       "me",        "merci",     "moin",
    "morgen",      "morning",   "much",      "my",        "neat",
    "news",        "nice",      "night",     "no",        "noches",
    "nope",        "not",       "now",       "of",        "oh",
    "ok",          "okay",      "one",       "ooh",       "oops",
    "perfect",     "please",    "point",     "problem",   "question",
    "quick",       "ready",     "really",    "right",     "salut",
    "see",         "she",       "sir",       "so",        "soon",
    "sorry",       "sounds",    "sup",       "super",     "sure",
    "tag",         "tardes",    "team",      "thank",     "thanks",
    "that",        "the",       "then",      "there",     "they",
    "this",        "thx",       "to",        "today",     "tomorrow",
    "too",         "true",      "ty",        "uh",        "um",
    "up",          "ve",        "very",      "vielen",    "was",
    "we",          "welcome",   "well",      "what",      "whats",
    "will",        "wonderful", "works",     "worries",   "would",
    "wow",         "yay",       "yeah",      "yep",       "yes",
    "yo",          "you",       "your",      "yup"};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* What greets or reacts by itself: one of these opens what is skipped. */
static const char *const openers[] = {
    "ah",      "aha",    "alright", "awesome",   "bonjour", "bonsoir",
    "cheers",  "ciao",   "cool",    "danke",     "dear",    "exactly",
    "goodbye", "gotcha", "great",   "greetings", "haha",    "hallo",
    "hello",   "hey",    "hi",      "hiya",      "hm",      "hmm",
    "hola",    "howdy",  "lol",     "merci",     "moin",    "morning",
    "nice",    "oh",     "ok",      "okay",      "oops",    "perfect",
    "right",   "salut",  "sorry",   "sure",      "thank",   "thanks",
    "thx",     "um",     "well",    "wow",       "yeah",    "yep",
    "yes",     "yo",     "yup"};

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Bytes of a pictograph at `at`; 0 if there is none. Those are no words. */
static size_t picture_at(struct str text, size_t at)
{
    unsigned char a = (unsigned char)text.s[at];
    unsigned char b = at + 1 < text.len ? (unsigned char)text.s[at + 1] : 0;

    if (a == 0xF0 && b == 0x9F && at + 4 <= text.len) {
        return 4;
    }
    if (a == 0xE2 && b >= 0x98 && b <= 0x9E && at + 3 <= text.len) {
        return 3;
    }
    /* what makes a pictograph coloured */
    return a == 0xEF && b == 0xB8 && at + 3 <= text.len ? 3 : 0;
}

/* The next word from `*at`, in lower case; false at the end. Digits and words
 * too long for the table come as "#", which is not in it. */
static bool next_word(struct str text, size_t *at, char out[MAX_WORD_BYTES + 1])
{
    size_t len = 0;
    bool is_odd = false;

    while (*at < text.len &&
           (picture_at(text, *at) || (!is_letter(text.s[*at]) &&
                                      !isdigit((unsigned char)text.s[*at])))) {
        *at += picture_at(text, *at) ? picture_at(text, *at) : 1;
    }
    while (*at < text.len && !picture_at(text, *at) &&
           (is_letter(text.s[*at]) || isdigit((unsigned char)text.s[*at]))) {
        is_odd = is_odd || isdigit((unsigned char)text.s[*at]) ||
                 len == MAX_WORD_BYTES;
        if (!is_odd) {
            out[len++] = (char)tolower((unsigned char)text.s[*at]);
        }
        (*at)++;
    }
    if (is_odd) {
        out[0] = '#';
        len = 1;
    }
    out[len] = '\0';
    return len > 0;
}

static bool is_in(const char *const *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* "I'm", "let's", "you're": what follows an apostrophe is no word. */
static bool is_ending(struct str text, size_t start, const char *word)
{
    static const char *const endings[] = {"d", "ll", "m", "re", "s", "t", "ve"};

    return start > 0 && text.s[start - 1] == '\'' &&
           is_in(endings, sizeof(endings) / sizeof(endings[0]), word);
}

bool smalltalk_is(struct str text)
{
    char word[MAX_WORD_BYTES + 1];
    size_t at = 0;
    size_t n = 0;

    while (next_word(text, &at, word)) {
        if (++n > MAX_WORDS) {
            return false;
        }
        if (!is_ending(text, at - strlen(word), word) &&
            !is_in(words, N_WORDS, word)) {
            return false;
        }
    }
    return true;
}

/* Past the stretch that ends at a mark; the whole text if none comes. */
static size_t stretch_end(struct str text, size_t from)
{
    while (from < text.len && !strchr(",.!?;\n", text.s[from])) {
        from++;
    }
    while (from < text.len && (strchr(",.!?;", text.s[from]) ||
                               isspace((unsigned char)text.s[from]))) {
        from++;
    }
    return from;
}

/* "Hi Marta," and "Dear all": a greeting with a name, up to its mark. */
static bool is_address(struct str stretch)
{
    static const char *const greetings[] = {"bonjour", "dear", "hallo", "hello",
                                            "hey",     "hi",   "hola"};
    char word[MAX_WORD_BYTES + 1];
    size_t at = 0;
    size_t n = 0;

    if (!next_word(stretch, &at, word) ||
        !is_in(greetings, sizeof(greetings) / sizeof(greetings[0]), word)) {
        return false;
    }
    while (next_word(stretch, &at, word)) {
        n++;
    }
    return n <= 2 && stretch.len > 0 &&
           memchr(stretch.s, ',', stretch.len) != NULL;
}

size_t smalltalk_skip(struct str text)
{
    size_t from = 0;

    for (;;) {
        char word[MAX_WORD_BYTES + 1];
        size_t at = from;
        size_t end;

        if (!next_word(text, &at, word)) {
            return text.len;
        }
        end = stretch_end(text, from);
        if (is_address(str_sub(text, from, end))) {
            from = end;
            continue;
        }
        if (!smalltalk_is(str_sub(text, from, end))) {
            return from;
        }
        /* "can you" before a comma may belong to what follows */
        if (end < text.len &&
            !is_in(openers, sizeof(openers) / sizeof(openers[0]), word) &&
            strcmp(word, "good") != 0 && strcmp(word, "guten") != 0 &&
            strcmp(word, "how") != 0) {
            return from;
        }
        from = end;
    }
}

bool smalltalk_is_caption(struct str text)
{
    struct str line = str_trim(text);

    if (line.len == 0) {
        return true;
    }
    if (line.s[0] == '#' || line.s[0] == '|' || str_starts(line, STR("---")) ||
        str_starts(line, STR("```"))) {
        return true;
    }
    if (line.len > 4 && str_starts(line, STR("**")) &&
        str_ends(line, STR("**"))) {
        return true;
    }
    return line.s[line.len - 1] == ':';
}
