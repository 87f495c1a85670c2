/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_tense.c - is what happens on a day past or to come? See
 * dates_internal.h.
 *
 * The verb nearest before the date decides, else the first one behind it in
 * its clause. "was" and "will" are strong; a participle ("shipped Tuesday") or
 * a present ("the release is Tuesday") is weak, because it may belong to
 * something else. An auxiliary waits for its participle, also behind the date
 * ("Mardi le plombier est venu"). The words are data:
 * models/lexicon/LANGUAGE/tense.def, the ends of verbs models/lexicon/
 * endings.def.
 */
#include "text/date/dates_internal.h"

#include "text/lexicon.h"

#include <string.h>

/* Tokens of a sentence that are looked at for its tense. */
#define TENSE_TOKENS 40
/* Words between "be" and its participle: "be all fixed". */
#define NEAR_TOKENS 3
/* Words back to what was made: "the results again from Monday". */
#define MADE_TOKENS 3
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
    TW_YEARLY = 1 << 11,    /* a birthday is every year */
    TW_MOVE = 1 << 12,      /* from one day to another */
    TW_SAY = 1 << 13,       /* "she said Friday": what was said, not when */
    TW_HABIT = 1 << 14,     /* "we always eat fish on Friday" */
    TW_TIMES = 1 << 15,     /* "twice a week" */
    TW_DAY = 1 << 16,       /* "bin day is Friday" */
    TW_TO = 1 << 17,        /* "moved to Friday" */
    TW_WOULD = 1 << 18,     /* "should have called" is past */
    TW_MADE = 1 << 19,      /* "the report from Monday" is there */
    TW_REGULAR = 1 << 20,   /* "the rent is due on the 1st" of each month */
    TW_GRANT = 1 << 21      /* "gave him until Friday": a limit to come */
};

struct tense_word {
    const char *word;
    int class;
};

/* Sorted by bytes: looked up by halving. */
static const struct tense_word english[] = {
#include "lexicon/en/tense.def"
};
static const struct tense_word german[] = {
#include "lexicon/de/tense.def"
};
static const struct tense_word spanish[] = {
#include "lexicon/es/tense.def"
};
static const struct tense_word french[] = {
#include "lexicon/fr/tense.def"
};
static const struct tense_word italian[] = {
#include "lexicon/it/tense.def"
};
static const struct tense_word portuguese[] = {
#include "lexicon/pt/tense.def"
};
static const struct tense_word dutch[] = {
#include "lexicon/nl/tense.def"
};
static const struct tense_word russian[] = {
#include "lexicon/ru/tense.def"
};

struct tense_table {
    enum text_language language;
    const struct tense_word *words;
    size_t count;
};

#define TABLE(language, words)                                                 \
    {                                                                          \
        language, words, sizeof(words) / sizeof((words)[0])                    \
    }
static const struct tense_table tables[] = {
    TABLE(TEXT_ENGLISH, english),       TABLE(TEXT_GERMAN, german),
    TABLE(TEXT_SPANISH, spanish),       TABLE(TEXT_FRENCH, french),
    TABLE(TEXT_ITALIAN, italian),       TABLE(TEXT_DUTCH, dutch),
    TABLE(TEXT_PORTUGUESE, portuguese), TABLE(TEXT_RUSSIAN, russian),
};

/* How verbs end. */
static const struct {
    enum text_language language;
    const char *end;
    int class;
    size_t least;    /* bytes of the word */
    bool wants_have; /* only behind its auxiliary */
} endings[] = {
#include "lexicon/endings.def"
};

/* What is known on the way to the date. */
struct tense_scan {
    const struct tense_table *table;
    struct date_tense_seen seen;
    bool is_english;
    bool is_arranged;
    bool has_have;
    bool has_would;
    bool has_habit;   /* unless it is told of the past */
    bool has_regular; /* the same */
    bool has_grant;
    bool has_ahead;    /* will, need to: this once */
    int before;        /* class of the word before */
    size_t be_at;      /* token after the last "be", "is"; 0: none */
    size_t day_at;     /* token after the last "day"; 0: none */
    size_t heading_at; /* token after the last colon; 0: none */
};

static int class_of(const struct tense_table *table, struct str word)
{
    size_t low = 0;
    size_t high = table->count;

    while (low < high && word.len > 0) {
        size_t mid = low + (high - low) / 2;
        int order = strncmp(word.s, table->words[mid].word, word.len);

        if (order == 0 && !table->words[mid].word[word.len]) {
            return table->words[mid].class;
        }
        if (order <= 0) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return TW_NONE;
}

/* "gemacht"; behind its auxiliary also "gekommen", "angerufen", "verkauft" */
static bool is_ge_form(const struct tense_scan *scan, const struct token *token)
{
    struct str word = token->folded;
    bool has_end = str_ends(word, STR("t")) || str_ends(word, STR("d")) ||
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

/* A verb by its end: shipped, llegó, livrée, gemacht. */
static int class_by_end(const struct tense_scan *scan,
                        const struct token *token)
{
    enum text_language language = scan->table->language;

    if ((language == TEXT_GERMAN || language == TEXT_DUTCH) &&
        is_ge_form(scan, token)) {
        return TW_PARTICIPLE;
    }
    if (language == TEXT_GERMAN && token->flags & TOKEN_CAPITAL) {
        return TW_NONE; /* a noun */
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (endings[i].language == language &&
            token->folded.len >= endings[i].least &&
            (!endings[i].wants_have || scan->has_have) &&
            str_ends(token->folded, str_of(endings[i].end))) {
            return endings[i].class;
        }
    }
    return TW_NONE;
}

/* "the shop shuts", "we move": a present that no list has. */
static bool is_present(const struct tense_scan *scan, const struct token *token)
{
    struct str word = token->folded;
    bool has_s =
        word.len > 3 && str_ends(word, STR("s")) && !str_ends(word, STR("ss"));
    struct lex_word known;

    return scan->is_english && !(token->flags & TOKEN_STOP) &&
           !(scan->before & TW_DETERMINER) &&
           (has_s || scan->before & TW_PRONOUN) &&
           lexicon_find(word, str_hash(word), &known) &&
           known.flags & LEX_TAGGED && known.verb > known.noun;
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

    if (!scan->is_english && scan->has_have) {
        see(scan, TENSE_PAST, false); /* "hat am Freitag angerufen" */
        return;
    }
    if (before & TW_DETERMINER) {
        return; /* "the signed form" */
    }
    if (before & TW_HAVE && scan->has_would) {
        see(scan, TENSE_PAST, true); /* "should have called" */
        return;
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
    /* "were supposed to" is as strong as "were" */
    see(scan, TENSE_PAST,
        scan->seen.tense == TENSE_PAST && scan->seen.is_strong);
}

static bool is_word_at(const struct tokens *tokens, size_t i, const char *word)
{
    return i < tokens->count && str_eq(tokens->items[i].folded, str_of(word));
}

/* "have to", "going to": the verb that follows is to come. */
static bool leads_on(const struct tokens *tokens, size_t i, int class)
{
    return is_word_at(tokens, i + 1, "to") &&
           (class & TW_HAVE || is_word_at(tokens, i, "going"));
}

/* Words that say more than a tense. */
static void note_class(struct tense_scan *scan, const struct tokens *tokens,
                       size_t i, int class)
{
    size_t be_at = scan->be_at;

    if (class & TW_BE) {
        scan->be_at = i + 1;
    }
    if (class & TW_DAY) {
        scan->day_at = i + 1;
    }
    scan->before = class;
    scan->seen.is_yearly |= (class & TW_YEARLY) != 0;
    scan->seen.is_move |= (class & TW_MOVE) != 0;
    scan->is_arranged |= (class & TW_ARRANGED) != 0;
    scan->seen.is_arranged = scan->is_arranged;
    scan->has_have |= (class & TW_HAVE) != 0;
    scan->has_would |= (class & TW_WOULD) != 0;
    scan->has_grant |= (class & TW_GRANT) != 0;
    scan->has_habit |= class & TW_HABIT && !is_word_at(tokens, i + 1, "mind");
    scan->has_ahead |= class & TW_FUTURE && !(class & TW_ARRANGED);
    scan->has_regular |= class & TW_REGULAR || (is_word_at(tokens, i, "paid") &&
                                                be_at == i); /* "get paid" */
    scan->seen.is_habit |=
        (class & TW_TIMES && is_word_at(tokens, i + 1, "a")) ||
        (is_word_at(tokens, i, "used") && is_word_at(tokens, i + 1, "to"));
}

static void see_word(struct tense_scan *scan, const struct tokens *tokens,
                     size_t i)
{
    const struct token *token = &tokens->items[i];
    int class = class_of(scan->table, token->folded);
    int before = scan->before;
    bool is_bound = scan->is_arranged && (is_word_at(tokens, i, "for") ||
                                          is_word_at(tokens, i, "until"));

    if (!(class &
          (TW_PAST | TW_PARTICIPLE | TW_FUTURE | TW_PRESENT | TW_DETERMINER))) {
        class |= class_by_end(scan, token);
    }
    if (is_bound || leads_on(tokens, i, class)) {
        see(scan, TENSE_FUTURE, true);
    } else if (class & TW_FUTURE && !(before & (TW_DETERMINER | TW_PAST))) {
        see(scan, TENSE_FUTURE, true);
    } else if (class & TW_PAST &&
               !(class & TW_PARTICIPLE && scan->be_at == i) &&
               !(scan->has_have && is_word_at(tokens, i, "got"))) {
        see(scan, TENSE_PAST, true);
    } else if (class & TW_PRESENT) {
        see(scan, TENSE_FUTURE, false);
        scan->be_at = i + 1;
    } else if (class & TW_PARTICIPLE) {
        see_participle(scan, tokens, i, before);
        scan->seen.is_done =
            (scan->is_english ? before & TW_PRONOUN : scan->has_have) &&
            (class & TW_MOVE || !(class & TW_ARRANGED));
    } else if (!(class & ~TW_REACH) && is_present(scan, token)) {
        see(scan, TENSE_FUTURE, false);
    }
    note_class(scan, tokens, i, class);
}

/* ---- what stands right before the date ---- */

static int class_back(const struct tense_scan *scan,
                      const struct tokens *tokens, size_t from, size_t at,
                      size_t back)
{
    return at >= from + back
               ? class_of(scan->table, tokens->items[at - back].folded)
               : TW_NONE;
}

/* "she said Monday", "told me Monday is fine": the day is what was said */
static bool is_said(const struct tense_scan *scan, const struct tokens *tokens,
                    const struct date_place *place)
{
    size_t at = place->at;
    size_t from = place->sentence;
    int behind = place->to < tokens->count
                     ? class_of(scan->table, tokens->items[place->to].folded)
                     : TW_NONE;

    return class_back(scan, tokens, from, at, 1) & TW_SAY ||
           (class_back(scan, tokens, from, at, 2) & TW_SAY &&
            (is_word_at(tokens, at - 1, "that") ||
             behind & (TW_PRESENT | TW_FUTURE)));
}

/* "back in October", "goes back to October", "moved to Thursday", "for Monday"
 */
static bool see_lead(struct tense_scan *scan, const struct tokens *tokens,
                     size_t from, size_t at)
{
    int last = class_back(scan, tokens, from, at, 1);

    if (at < from + 2 || !scan->is_english) {
        return false;
    }
    if (is_word_at(tokens, at - 2, "back") &&
        (is_word_at(tokens, at - 1, "in") ||
         (last & TW_TO && class_back(scan, tokens, from, at, 3) & TW_REACH))) {
        scan->seen.bound = TENSE_PAST;
        return true;
    }
    if (last & TW_TO && scan->seen.tense == TENSE_PAST) {
        see(scan, TENSE_FUTURE, true); /* "slipped to Thursday" */
        return true;
    }
    if (scan->seen.tense == TENSE_NONE &&
        str_ends(tokens->items[at - 1].folded, STR("'s"))) {
        see(scan, TENSE_FUTURE, false); /* "the gig's Friday" */
    }
    scan->seen.is_for |=
        is_word_at(tokens, last & TW_DETERMINER ? at - 2 : at - 1, "for");
    scan->seen.is_done &= is_word_at(tokens, at - 1, "in");
    return false;
}

/* Does "from Monday" go on from then, as "from Monday on", "ab Montag"? */
static bool is_onward(const struct tokens *tokens,
                      const struct date_place *place)
{
    static const char *const behind[] = {"on", "onward", "onwards", "an",
                                         "adelante"};

    for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
        if (is_word_at(tokens, place->to, behind[i])) {
            return true;
        }
    }
    return is_word_at(tokens, place->at - 1, "ab") ||
           (place->at > 1 && is_word_at(tokens, place->at - 2, "partir"));
}

/* "the report from Monday" is past, "closed from Monday on" to come */
static void see_from(struct tense_scan *scan, const struct tokens *tokens,
                     size_t from, const struct date_place *place)
{
    if (scan->seen.is_move || (!place->has_from && !place->has_of)) {
        return;
    }
    if (is_onward(tokens, place)) {
        if (scan->seen.tense != TENSE_PAST || !scan->seen.is_strong) {
            scan->seen.bound = TENSE_FUTURE;
        }
        return;
    }
    for (size_t back = 2; back <= MADE_TOKENS; back++) {
        if (class_back(scan, tokens, from, place->at, back) & TW_MADE) {
            scan->seen.bound = TENSE_PAST;
            return;
        }
    }
}

static const struct tense_table *table_of(enum text_language language)
{
    for (size_t i = 1; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (tables[i].language == language) {
            return &tables[i];
        }
    }
    return &tables[0];
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
    if (c == ',' && scan->table->language == TEXT_GERMAN) {
        scan->seen.tense = TENSE_NONE; /* each clause has its own verb */
        scan->has_have = false;
    }
    scan->be_at = 0;
    scan->before = TW_NONE;
}

/*
 * The first verb behind the date in its clause, where none stood before. An
 * auxiliary has its participle further on: "haben wir am Montag besprochen".
 */
static void see_behind(struct tense_scan *scan, const struct tokens *tokens,
                       size_t to)
{
    scan->before = TW_NONE;
    for (size_t i = to; i < tokens->count && i < to + TENSE_TOKENS; i++) {
        const struct token *token = &tokens->items[i];
        bool may_come = !scan->is_english && scan->has_have &&
                        !scan->seen.is_strong && scan->seen.tense != TENSE_PAST;

        if (token->flags & TOKEN_BREAK ||
            (i > to && class_of(scan->table, token->folded) & TW_CLAUSE) ||
            (may_come && str_eq(token->folded, STR(",")))) {
            break;
        }
        if (scan->seen.tense != TENSE_NONE && !may_come) {
            /* "am 25. kommt mein Gehalt" */
            scan->has_regular |=
                (class_of(scan->table, token->folded) & TW_REGULAR) != 0;
            continue;
        }
        if (token->kind == TOKEN_WORD && !(token->flags & TOKEN_PART)) {
            see_word(scan, tokens, i);
        }
    }
}

/* "She wrote: from May the rent goes up": a clause, that no heading rules */
static bool has_verb_behind(const struct tense_scan *scan,
                            const struct tokens *tokens, size_t to)
{
    struct tense_scan behind = *scan;

    see_behind(&behind, tokens, to);
    return behind.seen.tense != TENSE_NONE;
}

/* "in her last year", "Hattie's last week" */
static bool is_owned(const struct tokens *tokens, size_t from, size_t at)
{
    static const char *const owners[] = {"my",  "your",  "his", "her",
                                         "our", "their", "its"};

    if (at <= from) {
        return false;
    }
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        if (is_word_at(tokens, at - 1, owners[i])) {
            return true;
        }
    }
    return str_ends(tokens->items[at - 1].folded, STR("'s")) &&
           tokens->items[at - 1].flags & TOKEN_CAPITAL;
}

/* What is clear once all was seen. */
static void conclude(struct tense_scan *scan, const struct tokens *tokens,
                     size_t from, const struct date_place *place)
{
    size_t at = place->at;

    if (!scan->is_english && scan->seen.is_move &&
        class_back(scan, tokens, from, at, 1) & TW_TO) {
        see(scan, TENSE_FUTURE, true); /* "auf Montag verlegt" */
    }
    if (scan->is_english && scan->has_have && scan->seen.tense == TENSE_NONE) {
        see(scan, TENSE_FUTURE, false); /* "I have an exam on Thursday" */
    }
    if (place->has_until && scan->has_grant) {
        see(scan, TENSE_FUTURE, true);
    }
    scan->seen.is_from = place->has_from;
    scan->seen.begins =
        place->has_from || is_onward(tokens, place) ||
        (place->has_of && at > 1 && is_word_at(tokens, at - 2, "as"));
    scan->seen.is_named = scan->be_at == at && at > from;
    scan->seen.is_owned = scan->is_english && is_owned(tokens, from, at);
    scan->seen.is_regular =
        scan->has_regular && !scan->has_ahead && scan->seen.tense != TENSE_PAST;
    scan->seen.is_habit |=
        (scan->has_habit && scan->seen.tense != TENSE_PAST) ||
        (scan->day_at > 0 && scan->be_at == at &&
         at <= scan->day_at + NEAR_TOKENS);
}

struct date_tense_seen date_tense_at(const struct tokens *tokens,
                                     enum text_language language,
                                     const struct date_place *place)
{
    struct tense_scan scan = {.table = table_of(language)};
    struct date_tense_seen heading = {0};
    size_t at = place->at;
    size_t from = at > place->sentence + TENSE_TOKENS ? at - TENSE_TOKENS
                                                      : place->sentence;

    scan.is_english = scan.table == &tables[0];
    for (size_t i = from; i < at; i++) {
        const struct token *token = &tokens->items[i];

        if (token->flags & TOKEN_PART || i + 1 == place->skip) {
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
        at <= scan.heading_at + HEADING_TOKENS &&
        !has_verb_behind(&scan, tokens, place->to)) {
        scan.seen = heading; /* "Fixed: login, Tuesday" */
    }
    scan.seen.is_mixed =
        scan.seen.tense == TENSE_NONE && heading.tense == TENSE_PAST;
    if (place->is_bare && is_said(&scan, tokens, place)) {
        scan.seen.tense = TENSE_NONE;
    }
    if (!see_lead(&scan, tokens, from, at)) {
        see_behind(&scan, tokens, place->to);
    }
    see_from(&scan, tokens, from, place);
    conclude(&scan, tokens, from, place);
    return scan.seen;
}
