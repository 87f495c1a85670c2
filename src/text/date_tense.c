/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_tense.c - is what happens on a day past or to come? See
 * dates_internal.h.
 *
 * The verb nearest before the date decides, else the first one behind it in
 * its clause. "was" and "will" are strong; a participle ("shipped Tuesday") or
 * a present ("the release is Tuesday") is weak, because it may belong to
 * something else. The words are data: models/lexicon/LANGUAGE/tense.def.
 */
#include "text/dates_internal.h"

/* Tokens of a sentence that are looked at for its tense. */
#define TENSE_TOKENS 40
/* Words between "be" and its participle: "be all fixed". */
#define NEAR_TOKENS 3
/* Words of "Done: the roof, Tuesday" that still belong to the heading. */
#define HEADING_TOKENS 2

enum tense_class {
    TW_NONE,
    TW_PAST = 1 << 0,
    TW_PARTICIPLE = 1 << 1,
    TW_FUTURE = 1 << 2,
    TW_ARRANGED = 1 << 3, /* "booked him for Thursday" is yet to come */
    TW_PRESENT = 1 << 4,
    TW_BE = 1 << 5, /* "will be fixed", "get it done" */
    TW_HAVE = 1 << 6,
    TW_DETERMINER = 1 << 7, /* "the planned outage" */
    TW_PRONOUN = 1 << 8,    /* "what we ordered" */
    TW_CLAUSE = 1 << 9,     /* a clause of its own begins */
    TW_REACH = 1 << 10,     /* "goes back to October" */
    TW_MOVE = 1 << 12,      /* from one day to another */
    TW_YEARLY = 1 << 11     /* a birthday is every year */
};

struct tense_word {
    const char *word;
    int class;
};

static const struct tense_word english[] = {
#include "lexicon/en/tense.def"
    {NULL, 0}};
static const struct tense_word german[] = {
#include "lexicon/de/tense.def"
    {NULL, 0}};
static const struct tense_word spanish[] = {
#include "lexicon/es/tense.def"
    {NULL, 0}};
static const struct tense_word french[] = {
#include "lexicon/fr/tense.def"
    {NULL, 0}};

/* What is known on the way to the date. */
struct tense_scan {
    const struct tense_word *words;
    struct date_tense_seen seen;
    bool is_english;
    bool is_arranged;
    bool has_have;
    int before;        /* class of the word before */
    size_t be_at;      /* token after the last "be", "is"; 0: none */
    size_t heading_at; /* token after the last colon; 0: none */
};

static int class_of(const struct tense_word *words, struct str word)
{
    int class = TW_NONE;
    char second = word.len > 1 ? word.s[1] : '\0';

    for (size_t i = 0; word.len > 0 && words[i].word; i++) {
        if (words[i].word[0] == word.s[0] && words[i].word[1] == second &&
            str_eq(word, str_of(words[i].word))) {
            class |= words[i].class;
        }
    }
    return class;
}

/* "gemacht"; behind its auxiliary also "gekommen", "angerufen", "verkauft" */
static bool is_german_participle(const struct tense_scan *scan,
                                 const struct token *token)
{
    struct str word = token->folded;
    bool has_end = str_ends(word, STR("t")) ||
                   (scan->has_have && str_ends(word, STR("en")));

    if (word.len <= 5 || token->flags & TOKEN_CAPITAL || !has_end) {
        return false;
    }
    return str_starts(word, STR("ge")) || str_ends(word, STR("iert")) ||
           (scan->has_have &&
            (str_starts(word, STR("be")) || str_starts(word, STR("ver")) ||
             str_starts(word, STR("er")) ||
             str_ifind(word, STR("ge"), 1) != SIZE_MAX));
}

/* shipped, ordered; gemacht, besprochen; llegó; livrée */
static bool is_participle(const struct tense_scan *scan,
                          const struct token *token, int class)
{
    struct str word = token->folded;

    if (class & TW_PARTICIPLE) {
        return true;
    }
    if (scan->is_english) {
        return word.len > 4 && str_ends(word, STR("ed")) &&
               !str_ends(word, STR("eed"));
    }
    if (scan->words == spanish || scan->words == french) {
        /* llamó, pagué, llegaron; envoyé, livrée */
        return word.len > 4 &&
               (str_ends(word, STR("é")) || str_ends(word, STR("ée")) ||
                (scan->words == spanish &&
                 (str_ends(word, STR("ó")) || str_ends(word, STR("aron")) ||
                  str_ends(word, STR("ieron")))));
    }
    return scan->words == german && is_german_participle(scan, token);
}

static void see(struct tense_scan *scan, enum date_tense tense, bool is_strong)
{
    scan->seen.tense = tense;
    scan->seen.is_strong = is_strong;
}

/* A participle says past, unless a verb before it takes it along. */
static void see_participle(struct tense_scan *scan, const struct tokens *tokens,
                           size_t i, int before)
{
    bool is_taken = scan->be_at > 0 && i < scan->be_at + NEAR_TOKENS;

    if (scan->words == german && scan->has_have) {
        see(scan, TENSE_PAST, false); /* "hat am Freitag angerufen" */
        return;
    }
    if (before & TW_DETERMINER) {
        return; /* "the signed form" */
    }
    if (is_taken) {
        if (scan->seen.tense == TENSE_NONE) {
            see(scan, TENSE_FUTURE, false);
        }
        return;
    }
    if (scan->seen.tense == TENSE_FUTURE && !(before & TW_PRONOUN) &&
        !(i > 0 && tokens->items[i - 1].flags & TOKEN_CAPITAL)) {
        return; /* "will send signed forms" */
    }
    see(scan, TENSE_PAST, false);
}

/* "have to", "going to": the verb that follows is to come. */
static bool leads_on(const struct tokens *tokens, size_t i, int class)
{
    struct str word = tokens->items[i].folded;

    return i + 1 < tokens->count &&
           str_eq(tokens->items[i + 1].folded, STR("to")) &&
           (class & TW_HAVE || str_eq(word, STR("going")));
}

static void see_word(struct tense_scan *scan, const struct tokens *tokens,
                     size_t i)
{
    const struct token *token = &tokens->items[i];
    int class = class_of(scan->words, token->folded);
    int before = scan->before;
    bool is_bound = scan->is_arranged && (str_eq(token->folded, STR("for")) ||
                                          str_eq(token->folded, STR("until")));

    if (is_bound || leads_on(tokens, i, class)) {
        see(scan, TENSE_FUTURE, true);
    } else if (class & TW_FUTURE && !(before & (TW_DETERMINER | TW_PAST))) {
        see(scan, TENSE_FUTURE, true);
    } else if (class & TW_PAST &&
               !(scan->has_have && str_eq(token->folded, STR("got")))) {
        see(scan, TENSE_PAST, true);
    } else if (class & TW_PRESENT) {
        see(scan, TENSE_FUTURE, false);
        scan->be_at = i + 1;
    } else if (is_participle(scan, token, class)) {
        see_participle(scan, tokens, i, before);
    }
    if (class & TW_BE) {
        scan->be_at = i + 1;
    }
    scan->before = class;
    scan->seen.is_yearly |= (class & TW_YEARLY) != 0;
    scan->seen.is_move |= (class & TW_MOVE) != 0;
    scan->is_arranged |= (class & TW_ARRANGED) != 0;
    scan->seen.is_arranged = scan->is_arranged;
    scan->has_have |= (class & TW_HAVE) != 0;
}

/* ---- what stands right before the date ---- */

static bool is_at(const struct tokens *tokens, size_t at, size_t back,
                  const char *word)
{
    return at >= back && str_eq(tokens->items[at - back].folded, str_of(word));
}

/* "back in October", "goes back to October", "moved to Thursday", "for Monday"
 */
static bool see_lead(struct tense_scan *scan, const struct tokens *tokens,
                     size_t from, size_t at)
{
    size_t room = at - from;

    if (!scan->is_english) {
        return false;
    }
    if (room >= 2 && is_at(tokens, at, 2, "back") &&
        (is_at(tokens, at, 1, "in") ||
         (is_at(tokens, at, 1, "to") && room >= 3 &&
          class_of(scan->words, tokens->items[at - 3].folded) & TW_REACH))) {
        scan->seen.bound = TENSE_PAST;
        return true;
    }
    if (room >= 2 && is_at(tokens, at, 1, "to") && scan->is_arranged) {
        see(scan, TENSE_FUTURE, true);
        return true;
    }
    if (room >= 2 && is_at(tokens, at, 1, "for")) {
        scan->seen.is_for = true;
    }
    return false;
}

static const struct tense_word *words_of(enum text_language language)
{
    return language == TEXT_GERMAN    ? german
           : language == TEXT_SPANISH ? spanish
           : language == TEXT_FRENCH  ? french
                                      : english;
}

/* A colon or "and" before the date begins anew; what was seen is kept only if
 * nothing else comes. */
static void begin_clause(struct tense_scan *scan, const struct token *token,
                         size_t i)
{
    char c = token->folded.len > 0 ? token->folded.s[0] : ' ';

    if (c == ':' || c == ';') {
        scan->heading_at = i + 1;
    }
    if (c == ',' && scan->words == german) {
        scan->seen.tense = TENSE_NONE; /* each clause has its own verb */
        scan->has_have = false;
    }
    scan->be_at = 0;
    scan->before = TW_NONE;
}

/*
 * The first verb behind the date in its clause, where none stood before.
 * German puts the participle last: "haben wir am Montag besprochen".
 */
static void see_behind(struct tense_scan *scan, const struct tokens *tokens,
                       size_t at)
{
    for (size_t i = at; i < tokens->count && i < at + TENSE_TOKENS; i++) {
        const struct token *token = &tokens->items[i];
        bool may_come = scan->words == german && scan->has_have &&
                        !scan->seen.is_strong && scan->seen.tense != TENSE_PAST;

        if ((i > at && (token->flags & TOKEN_BREAK ||
                        class_of(scan->words, token->folded) & TW_CLAUSE)) ||
            (may_come && str_eq(token->folded, STR(","))) ||
            (scan->seen.tense != TENSE_NONE && !may_come)) {
            break;
        }
        if (token->kind == TOKEN_WORD && !(token->flags & TOKEN_PART)) {
            see_word(scan, tokens, i);
        }
    }
}

struct date_tense_seen date_tense_at(const struct tokens *tokens, size_t from,
                                     size_t at)
{
    struct tense_scan scan = {.words = words_of(tokens->language)};
    struct date_tense_seen heading = {0};

    scan.is_english = scan.words == english;
    from = at > from + TENSE_TOKENS ? at - TENSE_TOKENS : from;
    for (size_t i = from; i < at; i++) {
        const struct token *token = &tokens->items[i];

        if (token->flags & TOKEN_PART) {
            continue;
        }
        if (token->kind == TOKEN_WORD) {
            see_word(&scan, tokens, i);
        } else if (token->kind == TOKEN_PUNCT) {
            begin_clause(&scan, token, i);
            if (scan.heading_at == i + 1) {
                heading = scan.seen;
                scan.seen = (struct date_tense_seen){0};
            }
        }
    }
    if (scan.seen.tense == TENSE_NONE && scan.heading_at > 0 &&
        at <= scan.heading_at + HEADING_TOKENS) {
        scan.seen = heading; /* "Fixed: login, Tuesday" */
    }
    scan.seen.is_mixed =
        scan.seen.tense == TENSE_NONE && heading.tense == TENSE_PAST;
    if (see_lead(&scan, tokens, from, at)) {
        return scan.seen;
    }
    see_behind(&scan, tokens, at);
    return scan.seen;
}
