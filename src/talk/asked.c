/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.c - tables of words. See asked.h.
 */
#include "talk/asked.h"

#include "text/smalltalk.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
/* Words looked at: who asks does so at once. */
#define MAX_WORDS 48

/* What may stand before: it asks nothing and tells nothing. */
static const char *const fillers[] = {
    "please", "also", "and",   "so",   "oh",    "ok",      "okay",  "but",
    "just",   "then", "yes",   "well", "ah",    "hey",     "btw",   "now",
    "bitte",  "und",  "ach",   "aber", "auch",  "noch",    "ja",    "et",
    "alors",  "donc", "aussi", "oui",  "s'il",  "te",      "vous",  "plaît",
    "plait",  "y",    "pues",  "por",  "favor", "también", "anche", "ook"};
/* A word a place; "a|b" is either, "?a" may be missing. What asks twice ("can
 * you remind me") stands before what is its end. */
static const char *const cues[] = {
    "can|could|would|will you ?please ?also remember|remind|note ?me|us",
    "i|we want|need|'d you to remember",
    "remind me|us",
    "remember",
    "don't|dont|never forget",
    "do not forget",
    "don't|dont let me|us forget",
    "keep|bear in mind",
    "keep|bear this|that|it in mind",
    "make|take a note",
    "note|write|jot down",
    "merk|merke dir",
    "merkt euch",
    "merken sie sich",
    "kannst|könntest du dir ?bitte merken",
    "denk|denke|denkt daran|dran",
    "denken sie daran|dran",
    "vergiss|vergesst ?bitte nicht",
    "vergessen sie ?bitte nicht",
    "erinnere|erinner|erinnert mich|uns",
    "erinnern sie mich|uns",
    "notier|notiere|notiert ?dir ?bitte",
    "notieren sie ?sich",
    "souviens-toi|souvenez-vous",
    "n'oublie|n'oubliez pas",
    "rappelle-moi|rappelez-moi|rappelle-nous|rappelez-nous",
    "retiens|retenez|notez que|bien",
    "note que|bien",
    "recuerda|recuerde|recuérdame|recuérdeme|recuérdanos",
    "no ?te|se olvides|olvide",
    "ten|tenga en cuenta",
    "anota|apunta",
    "ricorda|ricordati|ricordami|ricordaci",
    "non ?ti dimenticare|dimenticarti",
    "tieni presente",
    "lembra-te|lembre-se|lembra-me|lembre-me",
    "não ?te|se esqueças|esqueça",
    "onthoud",
    "vergeet niet",
    "herinner me|mij|ons"};
/* Before a name, and before nothing else. */
static const char *const names[] = {"my name is",
                                    "my name's",
                                    "my friends call me",
                                    "i go by",
                                    "i'm|im called",
                                    "i am called",
                                    "ich heiße|heisse",
                                    "mein name ist",
                                    "nenn|nennt mich",
                                    "nennen sie mich",
                                    "je m'appelle",
                                    "mon nom est",
                                    "moi c'est",
                                    "appelle-moi|appelez-moi",
                                    "me llamo",
                                    "mi nombre es",
                                    "llámame|llamame|llámeme|llámenme",
                                    "me chamo",
                                    "chamo-me",
                                    "?o meu nome é",
                                    "chama-me|chame-me|chamem-me",
                                    "mi chiamo",
                                    "il mio nome è",
                                    "chiamami|chiamatemi",
                                    "ik heet",
                                    "mijn naam is",
                                    "noem me|mij",
                                    "меня зовут",
                                    "?you ?can call me"};
/* … or before what one is. */
static const char *const selves[] = {
    "i'm|im", "i am", "this is", "ich bin",     "soy",   "je suis",
    "sono",   "sou",  "ik ben",  "hier ist|is", "c'est", "aquí|aqui"};
/* "Call me Monday" gives no name. */
static const char *const days[] = {"monday",   "tuesday", "wednesday",
                                   "thursday", "friday",  "saturday",
                                   "sunday"};
/* The same without blanks between words: where they begin the sentence, and
 * where they end what is said of the name. */
static const char *const run_names[] = {
    "我叫", "我的名字", "叫我", "请叫我", "私の名前は", "僕の名前は", "名前は"};
static const char *const run_ends[] = {"と申します",  "といいます",
                                       "と言います",  "と呼んで",
                                       "라고 합니다", "라고 불러"};
/* Behind "remember" and "remind me": a question, or a talk about old days. */
static const char *const recalls[] = {"when", "how",   "what", "where", "who",
                                      "why",  "those", "back", "which"};
/* Beginnings of words. */
static const char *const forgets[] = {"forget", "vergiss", "vergess",
                                      "oubli",  "olvid",   "dimentic",
                                      "esquec", "esqueç",  "vergeet"};
static const char *const negations[] = {
    "don't",   "dont",      "not",     "never", "won't", "can't",
    "mustn't", "nicht",     "nie",     "ne",    "pas",   "no",
    "nunca",   "non",       "mai",     "não",   "nunca", "niet",
    "nooit",   "shouldn't", "niemals", "jamais"};

/* --- words -----------------------------------------------------------------
 */

static bool is_curly(struct str text, size_t at)
{
    return at + 3 <= text.len && memcmp(text.s + at, "\xe2\x80\x99", 3) == 0;
}

static bool is_wordy(struct str text, size_t at)
{
    unsigned char c = (unsigned char)text.s[at];

    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c >= 0x80 || c == '\'' || c == '-';
}

/* Marks of three bytes that part clauses, and are none of a word: – — … */
static bool is_dash(struct str text, size_t at)
{
    return at + 3 <= text.len && text.s[at] == '\xe2' &&
           text.s[at + 1] == '\x80' && !is_curly(text, at);
}

/* The words of a text, up to MAX_WORDS; `stops` also ends at what parts
 * clauses. Returns how many. */
static size_t words_of(struct str text, bool stops, struct str out[MAX_WORDS])
{
    size_t n = 0;
    size_t at = 0;

    while (at < text.len && n < MAX_WORDS) {
        size_t from = at;

        while (at < text.len && is_wordy(text, at) && !is_dash(text, at)) {
            at += is_curly(text, at) ? 3 : 1;
        }
        if (at > from) {
            out[n++] = str_sub(text, from, at);
            continue;
        }
        if (stops && n > 0 && (text.s[at] != ' ')) {
            break;
        }
        at += is_dash(text, at) ? 3 : 1;
    }
    return n;
}

/* Bytes of `word` that read as `as`, a curly apostrophe as a straight one; 0:
 * it does not begin so. */
static size_t reads_as(struct str word, const char *as, size_t len)
{
    size_t at = 0;

    for (size_t i = 0; i < len; i++) {
        char c = at < word.len ? word.s[at] : '\0';

        if (as[i] == '\'' && is_curly(word, at)) {
            at += 3;
            continue;
        }
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        if (c != as[i]) {
            return 0;
        }
        at++;
    }
    return at;
}

/* Is the word one of "a|b|c" (`len` bytes)? */
static bool is_one(struct str word, const char *list, size_t len)
{
    size_t from = 0;

    for (size_t i = 0; i <= len; i++) {
        if (i < len && list[i] != '|') {
            continue;
        }
        if (i > from && reads_as(word, list + from, i - from) == word.len) {
            return true;
        }
        from = i + 1;
    }
    return false;
}

static bool is_any(struct str word, const char *const *list, size_t count,
                   bool is_stem)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = reads_as(word, list[i], strlen(list[i]));

        if (n > 0 && (is_stem || n == word.len)) {
            return true;
        }
    }
    return false;
}

/* Words that a cue takes from `words`; 0: it does not stand there. */
static size_t cue_length(const char *cue, const struct str *words, size_t count)
{
    size_t at = 0;

    while (*cue) {
        size_t len = strcspn(cue, " ");
        bool is_optional = *cue == '?';
        bool is_here = at < count &&
                       is_one(words[at], cue + is_optional, len - is_optional);

        if (!is_here && !is_optional) {
            return 0;
        }
        at += is_here;
        cue += len;
        cue += *cue == ' ';
    }
    return at;
}

/* Does it ask for it as a question: "can you remind me …?" */
static bool is_polite(struct str first)
{
    static const char *const asking[] = {"can",  "could",  "would",
                                         "will", "kannst", "könntest"};

    return is_any(first, asking, COUNT(asking), false);
}

size_t asked_to_keep(struct str sentence)
{
    struct str words[MAX_WORDS];
    size_t count = words_of(sentence, false, words);
    size_t at = 0;
    size_t n = 0;

    while (at < count && is_any(words[at], fillers, COUNT(fillers), false)) {
        at++;
    }
    for (size_t i = 0; i < COUNT(cues) && n == 0; i++) {
        n = cue_length(cues[i], words + at, count - at);
    }
    at += n;
    if (n == 0 || at >= count ||
        is_any(words[at], recalls, COUNT(recalls), false) ||
        (sentence.s[sentence.len - 1] == '?' && !is_polite(words[at - n]))) {
        return 0;
    }
    return (size_t)(words[at].s - sentence.s);
}

/* "forget", "l'oublie". */
static bool is_forgetting(struct str word)
{
    for (size_t at = 0; at < word.len; at++) {
        bool is_start = at == 0 || word.s[at - 1] == '\'' ||
                        (at >= 3 && is_curly(word, at - 3));

        if (is_start && is_any(str_sub(word, at, word.len), forgets,
                               COUNT(forgets), true)) {
            return true;
        }
    }
    return false;
}

bool asked_not_to_forget(struct str sentence)
{
    struct str rest = sentence;

    while (rest.len > 0) {
        struct str words[MAX_WORDS];
        size_t count = words_of(rest, true, words);
        bool forgets_it = false;
        bool is_negated = false;

        if (count == 0) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            forgets_it |= is_forgetting(words[i]);
            is_negated |= is_any(words[i], negations, COUNT(negations), false);
            is_negated |= reads_as(words[i], "n'", 2) > 0;
        }
        if (forgets_it && is_negated) {
            return true;
        }
        rest = str_sub(
            rest, (size_t)(words[count - 1].s - rest.s) + words[count - 1].len,
            rest.len);
    }
    return false;
}

/* Written like a name: "Jo", "Ødegård", not "OK". */
static bool is_capital(struct str word)
{
    unsigned char c = (unsigned char)word.s[0];

    return (c >= 'A' && c <= 'Z' &&
            (word.len == 1 || word.s[1] < 'A' || word.s[1] > 'Z')) ||
           (c >= 0xC3 && word.len > 2);
}

static bool is_called_in_a_run(struct str sentence)
{
    for (size_t i = 0; i < COUNT(run_names); i++) {
        if (str_starts(sentence, str_of(run_names[i])) &&
            sentence.len > strlen(run_names[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(run_ends); i++) {
        size_t at = str_find(sentence, str_of(run_ends[i]), 0);

        if (at != SIZE_MAX && at > 0) {
            return true;
        }
    }
    return false;
}

bool asked_called(struct str sentence, bool is_likely)
{
    struct str said = str_sub(sentence, smalltalk_skip(sentence), sentence.len);
    struct str words[MAX_WORDS];
    size_t count = words_of(said, true, words);
    size_t at = 0;
    size_t n = 0;

    if (said.len == 0 || said.s[said.len - 1] == '?') {
        return false;
    }
    while (at < count && is_any(words[at], fillers, COUNT(fillers), false)) {
        at++;
    }
    for (size_t i = 0; i < COUNT(names) && n == 0; i++) {
        n = cue_length(names[i], words + at, count - at);
    }
    for (size_t i = 0; i < COUNT(selves) && n == 0 && is_likely; i++) {
        n = cue_length(selves[i], words + at, count - at);
    }
    return (n > 0 && at + n < count && is_capital(words[at + n]) &&
            !is_any(words[at + n], days, COUNT(days), false)) ||
           is_called_in_a_run(said);
}
