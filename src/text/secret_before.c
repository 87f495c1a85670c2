/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_before.c - passwords that are told before what they are:
 * "hunter2hunter2 is my wifi password", "Yu73feng9 是路由器的密码".
 *
 * From the label it goes back over the words that belong to it, which begin
 * with whose it is, to a word for "is" and what stands before that. Most
 * sentences of that form tell of something else ("Python3 is our password
 * checker"): nothing may be added to the label, and the value must look like
 * one.
 */
#include "text/secret_internal.h"

#include <string.h>

#define MAX_BACK 96 /* bytes before the label */
#define MAX_WORDS 5 /* from whose it is to the label */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Is the word, whatever its case, one of a list that ends with NULL? */
static bool is_one_of(struct str word, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (word.len == strlen(list[i]) && secret_starts(word, 0, list[i])) {
            return true;
        }
    }
    return false;
}

/* What begins at `at`, out of a list; bytes, or 0. */
static size_t one_at(struct str text, size_t at, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (secret_starts(text, at, list[i])) {
            return strlen(list[i]);
        }
    }
    return 0;
}

/* The word that ends before `*at`, on its line; `*at` goes to its begin. */
static struct str word_before(struct str text, size_t floor, size_t *at)
{
    size_t end = *at;
    size_t from;

    while (end > floor && is_blank(text.s[end - 1])) {
        end--;
    }
    from = end;
    while (from > floor && (unsigned char)text.s[from - 1] > ' ') {
        from--;
    }
    *at = from;
    return str_sub(text, from, end);
}

/* Whose it is, or which. */
static bool is_owner(struct str word)
{
    static const char *const owners[] = {
        "my",     "our",    "the",     "your",  "his",   "her",  "their",
        "mein",   "unser",  "das",     "dein",  "euer",  "ihr",  "sein",
        "die",    "mi",     "nuestra", "la",    "el",    "tu",   "su",
        "mon",    "ma",     "notre",   "le",    "votre", "ton",  "son",
        "mia",    "nostra", "minha",   "nossa", "het",   "mijn", "ons",
        "moje",   "nasze",  "мой",     "наш",   "твой",  "ваш",  "meine",
        "unsere", NULL};

    return is_one_of(word, owners);
}

/* What makes another thing of the words up to the label: "the owner of …". */
static bool is_breaking(struct str word)
{
    static const char *const words[] = {
        "of",     "for",  "to",   "in",       "on",      "at",    "with",
        "from",   "by",   "who",  "that",     "which",   "whose", "where",
        "when",   "and",  "or",   "not",      "no",      "than",  "mit",
        "von",    "vom",  "für",  "und",      "oder",    "nicht", "con",
        "sin",    "del",  "que",  "avec",     "sans",    "qui",   "où",
        "pas",    "et",   "de",   "most",     "worst",   "bad",   "weak",
        "common", "best", "good", "terrible", "typical", "du",    "des",
        "wo",     "dem",  "den",  NULL};

    return word.len == 0 || strchr(".,:;!?", word.s[word.len - 1]) ||
           is_one_of(word, words);
}

static bool is_is(struct str word)
{
    for (size_t i = 0; secret_is[i].text; i++) {
        if (word.len == strlen(secret_is[i].text) &&
            secret_starts(word, 0, secret_is[i].text)) {
            return true;
        }
    }
    return false;
}

/* Is nothing added to the label that ends at `at`? "password for …" may be. */
static bool is_alone(struct str text, size_t at)
{
    static const char *const words[] = {
        "for", "to",  "of",     "on",   "at",  "in",  "from", "here", "now",
        "and", "so",  "keep",   "für",  "von", "vom", "zum",  "zur",  "im",
        "am",  "bei", "und",    "para", "del", "de",  "en",   "y",    "pour",
        "du",  "des", "sur",    "et",   "от",  "для", "к",    "на",   "и",
        "per", "di",  "voor",   "van",  "do",  "da",  "e",    "but",  "aber",
        "if",  "btw", "please", "is",   NULL};
    size_t next = secret_skip_blanks(text, at);

    if (next >= text.len || text.s[next] == '\n' || text.s[next] == '\r') {
        return true;
    }
    return strchr(".,;!?)\"'*", text.s[next]) ||
           (next > at && (is_one_of(secret_word_at(text, next), words) ||
                          strchr("-(", text.s[next]) ||
                          secret_starts(text, next, "\xE2\x80")));
}

/* The value that ends before `at`: in quotes, or a word. */
static bool read_before(struct saying *s, size_t floor, size_t at)
{
    struct str text = s->text;
    struct str word;

    while (at > floor && strchr(" \t-,", text.s[at - 1])) {
        at--;
    }
    while (at >= floor + 3 && secret_starts(text, at - 3, "\xE2\x80") &&
           strchr("\x93\x94", text.s[at - 1])) { /* a dash */
        for (at -= 3; at > floor && is_blank(text.s[at - 1]);) {
            at--;
        }
    }
    s->is_quoted = at > floor && strchr("\"'`", text.s[at - 1]);
    if (s->is_quoted) {
        s->to = at - 1;
        s->from = s->to;
        while (s->from > floor && text.s[s->from - 1] != text.s[at - 1] &&
               text.s[s->from - 1] != '\n') {
            s->from--;
        }
        return s->from > floor && text.s[s->from - 1] == text.s[at - 1];
    }
    word = word_before(text, floor, &at);
    s->from = at;
    s->to = at + word.len;
    for (size_t i = s->from; i < s->to; i++) { /* in JSON, in brackets */
        s->from = strchr("(\"'*", text.s[i]) ? i + 1 : s->from;
    }
    /* "ada42: that is …" speaks to somebody; what was cut off is not known to
     * its begin */
    return s->to > s->from && text.s[s->to - 1] != ':' &&
           (at > floor || floor == 0);
}

/* "…, that is my password" */
static size_t before_that(struct str text, size_t floor, size_t at)
{
    static const char *const pronouns[] = {"that", "this", "das",  "dies",
                                           "so",   "esa",  "esta", "it",
                                           "to",   "это",  "c",    NULL};
    size_t from = at;
    struct str word = word_before(text, floor, &from);

    return is_one_of(word, pronouns) ? from : at;
}

static bool is_told(struct saying *s, size_t floor, size_t label)
{
    static const char *const spoken[] = {"that's", "it's", "this's", "c'est",
                                         NULL};
    struct str text = s->text;
    struct str owner = {NULL, 0};
    size_t at = label;

    for (size_t i = 0; i <= MAX_WORDS; i++) {
        struct str word = word_before(text, floor, &at);
        bool is_this = is_one_of(word, spoken);

        if (is_this || is_is(word)) {
            /* Russian has no article */
            return (is_owner(owner) || secret_starts(word, 0, "это")) &&
                   read_before(s, floor,
                               is_this ? at : before_that(text, floor, at));
        }
        if (is_breaking(word)) {
            return false;
        }
        owner = word;
    }
    return false;
}

/* --- where no blanks are written --- */

static bool is_alone_spaceless(struct str text, size_t at)
{
    static const char *const after[] = {
        "。", "，", "、",     "！",   "です",   "だ",   "でした", "なの",
        "哦", "啦", "입니다", "이다", "이에요", "예요", "）",     NULL};

    return at >= text.len || (unsigned char)text.s[at] <= ' ' ||
           strchr(".,!;)", text.s[at]) || one_at(text, at, after) > 0;
}

static bool is_told_spaceless(struct saying *s, size_t floor, size_t label)
{
    static const char *const particles[] = {"是", "が", "は", "가",
                                            "이", "는", "은", NULL};
    struct str text = s->text;

    for (size_t i = label; i > floor; i--) {
        size_t end = i - 1;

        if (text.s[end] == '\n' || secret_starts(text, end, "。")) {
            return false;
        }
        if (one_at(text, end, particles) == 0) {
            continue;
        }
        while (end > floor && is_blank(text.s[end - 1])) {
            end--;
        }
        s->to = end;
        while (end > floor && text.s[end - 1] > ' ' && text.s[end - 1] < 0x7f) {
            end--;
        }
        s->from = end;
        if (s->to > s->from) {
            return true;
        }
    }
    return false;
}

bool secret_before(struct saying *s, size_t label, size_t end)
{
    size_t floor = label > MAX_BACK ? label - MAX_BACK : 0;
    bool is_there = false;

    s->is_tight = false;
    s->is_below = false;
    switch (s->say) {
    case SAY_PASSWORD:
    case SAY_PHRASE:
    case SAY_PIN:
    case SAY_KEY:
        s->join = JOIN_GAP;
        is_there = is_alone(s->text, end) && is_told(s, floor, label);
        break;
    case SAY_SPACELESS:
        s->join = JOIN_IS;
        is_there = is_alone_spaceless(s->text, end) &&
                   is_told_spaceless(s, floor, label);
        break;
    case SAY_WEAK:
    case SAY_CVV:
    case SAY_AUTH:
    case SAY_BARE:
    case SAY_PAIR:
    case SAY_LOCK:
    case SAY_ARGS:
        break;
    }
    return is_there && secret_is_value(s);
}
