/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_class.c - what kind of word it is, by lists and endings.
 *
 * Enough English to find who does what: irregular pasts, adverbs that stand
 * between subject and verb, and words that say nothing by themselves.
 */
#include "engine/extract_internal.h"

#include <ctype.h>
#include <string.h>

/* Sorted, for bsearch. */
static const char *const pasts[] = {
    "ate",       "became",  "began",    "bent",   "bit",      "blew",
    "bought",    "bound",   "bred",     "broke",  "brought",  "built",
    "burnt",     "came",    "caught",   "chose",  "dealt",    "did",
    "drank",     "dreamt",  "drew",     "drove",  "dug",      "fell",
    "felt",      "flew",    "forgave",  "forgot", "fought",   "found",
    "froze",     "gave",    "got",      "grew",   "had",      "heard",
    "held",      "hid",     "hit",      "hung",   "kept",     "knelt",
    "knew",      "laid",    "lay",      "leapt",  "learnt",   "led",
    "left",      "lent",    "lit",      "lost",   "made",     "meant",
    "met",       "outgrew", "overcame", "paid",   "ran",      "rebuilt",
    "redid",     "rewrote", "rode",     "said",   "sang",     "sat",
    "saw",       "sent",    "shook",    "shot",   "shut",     "slept",
    "slid",      "sold",    "sought",   "spent",  "spoke",    "stole",
    "stood",     "struck",  "stuck",    "swam",   "swore",    "taught",
    "thought",   "threw",   "told",     "took",   "tore",     "understood",
    "undertook", "was",     "went",     "were",   "withdrew", "woke",
    "won",       "wore",    "wound",    "wrote",
};

static const char *const adverbs[] = {
    "absolutely", "actually",   "almost",     "already",   "also",
    "always",     "basically",  "both",       "certainly", "completely",
    "currently",  "definitely", "especially", "even",      "ever",
    "finally",    "generally",  "honestly",   "just",      "kinda",
    "lately",     "literally",  "mainly",     "maybe",     "mostly",
    "never",      "normally",   "now",        "often",     "once",
    "only",       "personally", "probably",   "rarely",    "really",
    "recently",   "simply",     "sometimes",  "soon",      "sorta",
    "still",      "then",       "totally",    "truly",     "typically",
    "usually",
};

static const char *const generics[] = {
    "a",           "able",       "about",     "absolutely",  "across",
    "actually",    "after",      "again",     "ago",         "agree",
    "ah",          "ahead",      "all",       "almost",      "already",
    "also",        "although",   "always",    "am",          "amazing",
    "amazingly",   "among",      "amount",    "an",          "and",
    "another",     "any",        "anybody",   "anyone",      "anything",
    "anyway",      "appreciate", "are",       "aren't",      "around",
    "as",          "at",         "away",      "awesome",     "aww",
    "back",        "bad",        "be",        "beautiful",   "became",
    "because",     "become",     "been",      "before",      "behind",
    "being",       "best",       "better",    "between",     "big",
    "bit",         "both",       "bring",     "bunch",       "busy",
    "but",         "by",         "bye",       "came",        "can",
    "can't",       "cause",      "chance",    "cool",        "could",
    "couldn't",    "couple",     "crazy",     "day",         "days",
    "definitely",  "did",        "didn't",    "difference",  "different",
    "do",          "does",       "doesn't",   "doing",       "don't",
    "done",        "down",       "dream",     "dreams",      "during",
    "each",        "easy",       "either",    "else",        "end",
    "enough",      "even",       "ever",      "every",       "everyone",
    "everything",  "everywhere", "excited",   "exciting",    "experience",
    "experiences", "far",        "feel",      "feeling",     "feelings",
    "feels",       "felt",       "few",       "find",        "first",
    "for",         "from",       "fun",       "gave",        "get",
    "gets",        "getting",    "give",      "gives",       "giving",
    "glad",        "go",         "goal",      "goals",       "goes",
    "going",       "gone",       "gonna",     "good",        "gorgeous",
    "got",         "gotta",      "gotten",    "grateful",    "great",
    "guess",       "guys",       "had",       "haha",        "happen",
    "happened",    "happening",  "happy",     "hard",        "has",
    "hasn't",      "have",       "haven't",   "having",      "he",
    "he'd",        "he'll",      "he's",      "hear",        "heard",
    "help",        "helped",     "helps",     "her",         "here",
    "here's",      "hers",       "herself",   "hey",         "hi",
    "him",         "himself",    "his",       "hmm",         "hope",
    "hopefully",   "hoping",     "how",       "however",     "huge",
    "i",           "i'd",        "i'll",      "i'm",         "i've",
    "idea",        "if",         "impact",    "important",   "in",
    "incredible",  "inspired",   "inspiring", "into",        "is",
    "isn't",       "it",         "it'd",      "it'll",       "it's",
    "its",         "itself",     "journey",   "just",        "keep",
    "keeps",       "key",        "kind",      "kinda",       "kinds",
    "knew",        "know",       "knows",     "last",        "lately",
    "later",       "learn",      "least",     "less",        "let",
    "let's",       "life",       "like",      "likes",       "little",
    "lol",         "long",       "look",      "looking",     "looks",
    "lot",         "lots",       "love",      "loved",       "lovely",
    "loves",       "made",       "make",      "makes",       "making",
    "man",         "many",       "matter",    "may",         "maybe",
    "me",          "mean",       "means",     "memories",    "memory",
    "might",       "mind",       "mine",      "moment",      "moments",
    "month",       "more",       "most",      "motivated",   "motivation",
    "much",        "must",       "my",        "myself",      "need",
    "needed",      "needs",      "never",     "new",         "news",
    "next",        "nice",       "no",        "nope",        "not",
    "nothing",     "now",        "of",        "off",         "oh",
    "okay",        "old",        "on",        "once",        "one",
    "ones",        "only",       "oops",      "opportunity", "or",
    "other",       "others",     "our",       "ours",        "out",
    "over",        "own",        "part",      "passion",     "passions",
    "people",      "perfect",    "person",    "photo",       "pic",
    "picture",     "place",      "pleasure",  "point",       "positive",
    "possible",    "powerful",   "pretty",    "probably",    "progress",
    "proud",       "put",        "quite",     "rather",      "real",
    "reality",     "really",     "recently",  "remember",    "reminder",
    "rest",        "rewarding",  "right",     "said",        "same",
    "saw",         "say",        "saying",    "says",        "see",
    "seeing",      "seem",       "seems",     "seen",        "sense",
    "she",         "she'll",     "she's",     "should",      "shouldn't",
    "side",        "so",         "some",      "somebody",    "someone",
    "something",   "sometimes",  "somewhat",  "soon",        "sort",
    "sounded",     "sounds",     "special",   "start",       "started",
    "still",       "stuff",      "such",      "super",       "support",
    "supposed",    "sure",       "take",      "takes",       "taking",
    "talk",        "talking",    "tell",      "than",        "thank",
    "thankful",    "thanks",     "that",      "that's",      "the",
    "their",       "theirs",     "them",      "themselves",  "then",
    "there",       "there's",    "these",     "they",        "they'd",
    "they'll",     "they're",    "they've",   "thing",       "things",
    "think",       "thinking",   "this",      "those",       "though",
    "thought",     "through",    "till",      "time",        "times",
    "to",          "today",      "together",  "told",        "tons",
    "too",         "took",       "totally",   "tough",       "tried",
    "true",        "truly",      "try",       "trying",      "two",
    "type",        "under",      "unique",    "unreal",      "until",
    "up",          "upon",       "us",        "use",         "used",
    "useful",      "usually",    "very",      "via",         "vibes",
    "wait",        "wanna",      "want",      "wanted",      "wants",
    "was",         "wasn't",     "way",       "ways",        "we",
    "we'd",        "we'll",      "we're",     "we've",       "week",
    "well",        "went",       "were",      "weren't",     "what",
    "what's",      "whatever",   "when",      "where",       "where's",
    "whether",     "which",      "while",     "who",         "who's",
    "whole",       "why",        "will",      "wish",        "with",
    "without",     "won't",      "wonder",    "wonderful",   "word",
    "words",       "work",       "world",     "worth",       "would",
    "wouldn't",    "wow",        "yeah",      "year",        "years",
    "yep",         "yes",        "yesterday", "yet",         "you",
    "you'd",       "you'll",     "you're",    "you've",      "your",
    "yours",       "yourself",
};

#define IN(word, list) in_list(word, list, sizeof(list) / sizeof((list)[0]))

static bool in_list(const struct intent_word *word, const char *const *list,
                    size_t count)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(word->s, list[mid]);

        if (order == 0) {
            return true;
        }
        if (order < 0) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return false;
}

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

/*
 * Lists are constants, asked for again and again: what their words have in
 * common is worked out once per thread and known by the list's address.
 */
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

static bool ends(const struct intent_word *word, const char *tail)
{
    size_t len = strlen(tail);

    return word->len > len + 1 &&
           memcmp(word->s + word->len - len, tail, len) == 0;
}

bool word_is_past(const struct intent_word *word)
{
    struct intent_word rest = *word;

    if (word->len > 5 && memcmp(word->s, "re", 2) == 0) {
        rest.s += 2; /* "retook" */
        rest.len = (uint16_t)(word->len - 2);
    }
    return IN(word, pasts) || IN(&rest, pasts) ||
           (ends(word, "ed") && !word_any(word, "need feed"));
}

bool word_is_adverb(const struct intent_word *word)
{
    return IN(word, adverbs) ||
           (ends(word, "ly") &&
            !word_any(word, "apply reply rely fly supply family only early"));
}

/* A capital that stands for something: "X", "C", but not "A" or "I". */
static bool is_symbol(const struct intent_word *word)
{
    return word->len == 1 && word->is_capital && !strchr("aio", word->s[0]);
}

bool word_is_generic(const struct intent_word *word)
{
    return (word->len < 2 && !is_symbol(word)) || IN(word, generics) ||
           IN(word, adverbs);
}

size_t words_content(const struct intent_word *words, size_t first, size_t end)
{
    size_t n = 0;

    for (size_t i = first; i < end; i++) {
        bool is_repeat = false;

        if (word_is_generic(&words[i])) {
            continue;
        }
        for (size_t k = first; k < i && !is_repeat; k++) {
            is_repeat = strcmp(words[k].s, words[i].s) == 0;
        }
        n += !is_repeat;
    }
    return n;
}

size_t words_names(const struct intent_word *words, size_t first, size_t end)
{
    size_t n = 0;

    for (size_t i = first; i < end; i++) {
        n += words[i].is_capital && i > first && words[i].len > 1 &&
             strncmp(words[i].s, "i'", 2) != 0;
    }
    return n;
}

size_t words_numbers(const struct intent_word *words, size_t first, size_t end)
{
    size_t n = 0;

    for (size_t i = first; i < end; i++) {
        n += isdigit((unsigned char)words[i].s[0]) != 0 ||
             word_any(&words[i], "two three four five six seven eight nine ten "
                                 "twelve dozen twice");
    }
    return n;
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
