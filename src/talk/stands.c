/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stands.c - see stands.h.
 *
 * One pass from left to right: what has been named so far is remembered, and
 * each word that points is held against it.
 */
#include "talk/stands.h"

#include "base/utf8.h"
#include "talk/telling.h"
#include "text/analysis.h"
#include "text/lexicon.h"

#include <string.h>

/* Words after "it" among which that may come which it announces. */
#define ANNOUNCED 9
/* A verb at least in every other use. */
#define VERB_SHARE 110
/* With fewer a text is English by default rather than by its words. */
#define SURE_TOKENS 7u
/* So many words that tell something are a list, not an answer. */
#define LIST_WORDS 7
/* Names that are looked at: a list of more is no talk about somebody. */
#define MAX_NAMES 64u

/* What a word does in a note. */
enum {
    SW_HE = 1 << 0,
    SW_SHE = 1 << 1,
    SW_ANY = 1 << 2,         /* points at people or things */
    SW_IT = 1 << 3,          /* … at a thing, or at nothing: "it rains" */
    SW_IL = 1 << 4,          /* … at anything, or at nothing */
    SW_THIS = 1 << 5,        /* … at anything said */
    SW_THAT = 1 << 6,        /* … or goes with a noun or a clause */
    SW_THOSE = 1 << 7,       /* … or goes with a noun */
    SW_ONE = 1 << 8,         /* … or counts */
    SW_THERE = 1 << 9,       /* … at a place, or says that there is one */
    SW_BOTH = 1 << 10,       /* … or goes with a noun */
    SW_MAN = 1 << 11,        /* "he" may be one */
    SW_WOMAN = 1 << 12,      /* "she" */
    SW_PERSON = 1 << 13,     /* either */
    SW_ANIMAL = 1 << 14,     /* either, or "it" */
    SW_OWN = 1 << 15,        /* "my": a "-er" or "-ist" after it is somebody */
    SW_BE = 1 << 16,         /* a verb that most often follows a subject */
    SW_SUBJECT = 1 << 17,    /* where it stands a verb does, too */
    SW_PREP = 1 << 18,       /* what begins with it answers "when", "how" */
    SW_IMPERSONAL = 1 << 19, /* after "it": that is nothing */
    SW_LINK = 1 << 20,       /* what "it" announced: "it is odd that" */
    SW_FIND = 1 << 21,       /* "find it hard to" */
    SW_SKIP = 1 << 22,       /* "yes," "well," */
    SW_DET = 1 << 23,        /* a noun follows */
    SW_SOME = 1 << 24,       /* names nothing, though it is a noun */
    SW_DAY = 1 << 25,        /* says when */
    SW_JOIN = 1 << 26,       /* another clause begins */
    SW_COUNT = 1 << 27,      /* "two" */
    SW_OBJECT = 1 << 28      /* "him": not the subject of its clause */
};

struct row {
    const char *text;
    unsigned bits;
};
static const struct row en[] = {
#include "lexicon/en/stands.def"
};
static const struct row de[] = {
#include "lexicon/de/stands.def"
};
static const struct row es[] = {
#include "lexicon/es/stands.def"
};
static const struct row fr[] = {
#include "lexicon/fr/stands.def"
};
static const struct {
    const char *text;
    bool points;
} cjk[] = {
#include "lexicon/cjk/stands.def"
};
static const char *const cjk_answers[] = {
#include "lexicon/cjk/answers.def"
};
#define N(list) (sizeof(list) / sizeof((list)[0]))

static const struct table {
    enum text_language language;
    const struct row *rows;
    size_t count;
} tables[] = {{TEXT_ENGLISH, en, N(en)},
              {TEXT_GERMAN, de, N(de)},
              {TEXT_SPANISH, es, N(es)},
              {TEXT_FRENCH, fr, N(fr)}};

/* --- words -----------------------------------------------------------------
 */

struct reading {
    struct analysis a;
    size_t own;      /* the byte at which the note's own words begin */
    bool is_english; /* or not known, and tried as English */
    bool is_german;
    bool is_unknown;
    const struct table *table; /* NULL: a language without */
};

static unsigned find(const struct table *table, struct str word)
{
    size_t low = 0;
    size_t high = table->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = str_cmp(word, str_of(table->rows[mid].text));

        if (order == 0) {
            return table->rows[mid].bits;
        }
        if (order > 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return 0;
}

/* Too few words to tell the language by: that of the first that knows it. */
static unsigned row_bits(const struct reading *r, struct str word)
{
    unsigned bits = find(r->table, word);

    for (size_t i = 0; !bits && r->is_unknown && i < N(tables); i++) {
        bits = find(&tables[i], word);
    }
    return bits;
}

static bool is_word(const struct token *token)
{
    return !(token->flags & TOKEN_PART) && token->kind != TOKEN_PUNCT &&
           token->kind != TOKEN_SYMBOL;
}

/* What a word does; of "she's" what "she" does, of "Ana's" what "Ana" does. */
static unsigned bits_of(const struct reading *r, const struct token *token)
{
    unsigned bits = row_bits(r, token->folded);
    const char *tie = token->folded.len
                          ? memchr(token->folded.s, '\'', token->folded.len)
                          : NULL;

    if (bits || !tie || !r->is_english) {
        return bits;
    }
    return row_bits(
        r, (struct str){token->folded.s, (size_t)(tie - token->folded.s)});
}

/* "it's", "they'll", "I'm": with its verb; not "Ana's". */
static bool has_verb_tied(const struct reading *r, const struct token *token)
{
    return token->folded.len > 2 &&
           memchr(token->folded.s, '\'', token->folded.len) &&
           (!str_ends(token->folded, STR("'s")) ||
            bits_of(r, token) & (SW_SUBJECT | SW_THAT | SW_THERE));
}

static const struct token *at(const struct reading *r, size_t i)
{
    return &r->a.tokens.items[i];
}

/* The word after token `i` up to a mark or the end of its sentence; or `end`.
 */
static size_t next_word(const struct reading *r, size_t i, size_t end)
{
    for (i++; i < end; i++) {
        const struct token *token = at(r, i);

        if (!(token->flags & TOKEN_PART)) {
            return is_word(token) && !(token->flags & TOKEN_BREAK) ? i : end;
        }
    }
    return end;
}

/* The word before token `i` in the same clause, or NULL. */
static const struct token *word_before(const struct reading *r, size_t first,
                                       size_t i)
{
    while (i-- > first) {
        if (!(at(r, i)->flags & TOKEN_PART)) {
            return is_word(at(r, i)) ? at(r, i) : NULL;
        }
    }
    return NULL;
}

static bool in_date(const struct reading *r, const struct token *token)
{
    for (size_t i = 0; i < r->a.n_dates; i++) {
        if (token->from >= r->a.dates[i].span.from &&
            token->to <= r->a.dates[i].span.to) {
            return true;
        }
    }
    return false;
}

static bool is_verb(const struct reading *r, const struct token *token)
{
    struct lex_word word;

    if (bits_of(r, token) & (SW_BE | SW_SUBJECT) || has_verb_tied(r, token)) {
        return true;
    }
    return token->kind == TOKEN_WORD &&
           lexicon_find(token->folded, str_hash(token->folded), &word) &&
           word.flags & LEX_TAGGED && word.verb >= VERB_SHARE;
}

/* --- what has been named ---------------------------------------------------
 */

struct named {
    bool thing;
    bool many;  /* a noun in the plural */
    bool value; /* a number or a day */
    bool he;
    bool she;
};

/* … where a word is read. */
struct place {
    struct named named;  /* all before it */
    struct named before; /* before its clause */
    size_t first;        /* tokens of its sentence: [first, end) */
    size_t end;
    bool after_det; /* a noun follows */
    bool after_own; /* … and may be somebody */
    bool in_phrase; /* no noun came since "my", "the" */
};

static bool is_name(const struct reading *r, const struct token *token)
{
    for (size_t i = 0; i < r->a.n_entities && i < MAX_NAMES; i++) {
        const struct entity *e = &r->a.entities[i];

        if ((e->kind == ENTITY_PERSON || e->kind == ENTITY_NAME) &&
            token->from >= e->span.from && token->to <= e->span.to) {
            return true;
        }
    }
    return false;
}

/* English nouns the lexicon knows; of others their capitals or articles tell.
 */
static bool is_noun(const struct reading *r, const struct token *token,
                    bool after_det)
{
    bool is_inner = !(token->flags & TOKEN_SENTENCE_START);

    if (r->is_english) {
        return telling_is_noun(token);
    }
    if (!telling_is(token) || token->kind == TOKEN_NUMBER) {
        return false;
    }
    return token->kind == TOKEN_CODE || after_det ||
           (token->flags & TOKEN_CAPITAL && (is_inner || r->is_german));
}

/* A word that the lexicon does not know may be what somebody is called. */
static bool is_unheard(const struct token *token)
{
    return !(token->flags & TOKEN_KNOWN) &&
           !memchr(token->folded.s, '\'', token->folded.len);
}

/* "Electrician", "driver". */
static bool is_by_trade(struct str word)
{
    return str_ends(word, STR("er")) || str_ends(word, STR("or")) ||
           str_ends(word, STR("ist")) || str_ends(word, STR("ian"));
}

/* "My new glaze keeps": what ends a phrase that a noun must end is one, though
 * the lexicon knows it for a verb. */
static bool ends_phrase(const struct reading *r, const struct token *token,
                        size_t next, const struct place *p)
{
    return p->in_phrase && telling_is(token) && token->kind == TOKEN_WORD &&
           (next == p->end || is_verb(r, at(r, next)) ||
            bits_of(r, at(r, next)) & (SW_PREP | SW_JOIN));
}

static void learn(const struct reading *r, size_t i, unsigned bits,
                  struct place *p)
{
    const struct token *token = at(r, i);
    size_t next = next_word(r, i, p->end);
    bool is_plural = str_ends(token->folded, STR("s")) &&
                     !str_ends(token->folded, STR("ss"));
    bool is_man = bits & SW_MAN;
    bool is_woman = bits & SW_WOMAN;
    bool is_noun_here =
        !in_date(r, token) && !(bits & (SW_SOME | SW_DAY)) &&
        (is_noun(r, token, p->after_det) || ends_phrase(r, token, next, p) ||
         /* "rent is" */
         (telling_is(token) && next < p->end &&
          bits_of(r, at(r, next)) & SW_BE));

    if (bits & (SW_PERSON | SW_ANIMAL) || is_name(r, token) ||
        (is_noun_here && !is_man && !is_woman &&
         ((p->after_own && is_by_trade(token->folded)) || is_unheard(token)))) {
        is_man = is_woman = true;
    }
    p->named.he |= is_man;
    p->named.she |= is_woman;
    if (is_noun_here) {
        p->named.thing |= !(bits & (SW_MAN | SW_WOMAN | SW_PERSON));
        p->named.many |= is_plural;
    }
    p->named.value |= token->kind == TOKEN_NUMBER || in_date(r, token);
    p->after_det = bits & SW_DET || (p->after_det && !telling_is(token));
    p->after_own = bits & SW_OWN || (p->after_own && !is_noun_here);
    p->in_phrase =
        r->is_english && (bits & (SW_OWN | SW_DET) ||
                          (p->in_phrase && !is_noun_here && telling_is(token)));
}

/* --- words that point ------------------------------------------------------
 */

/* "It rained", "it's Friday", "it was odd that", "find it hard to". */
static bool is_impersonal(const struct reading *r, size_t first, size_t i,
                          size_t end)
{
    const struct token *before = word_before(r, first, i);
    bool is_subject = !before || !(bits_of(r, before) & SW_FIND);
    bool has_be = has_verb_tied(r, at(r, i)) || r->is_german;
    size_t n = 0;

    for (size_t k = next_word(r, i, end); k < end && n < ANNOUNCED;
         k = next_word(r, k, end), n++) {
        unsigned bits = bits_of(r, at(r, k));
        size_t next = next_word(r, k, end);

        if (n < 3 && (bits & SW_IMPERSONAL ||
                      (has_be && n < 2 && in_date(r, at(r, k))))) {
            return true;
        }
        has_be |= (bits & SW_BE) != 0 || (n == 0 && is_verb(r, at(r, k)));
        if (n > 0 && bits & SW_LINK && (has_be || !is_subject) &&
            (!str_eq(at(r, k)->folded, STR("to")) ||
             (next < end && is_verb(r, at(r, next))))) {
            return true;
        }
    }
    /* "…, dass": after a comma */
    for (; r->is_german && i < end; i++) {
        if (at(r, i)->kind == TOKEN_PUNCT && i + 1 < end &&
            bits_of(r, at(r, i + 1)) & SW_LINK) {
            return true;
        }
    }
    return false;
}

/* "That's odd", "I like that": not "that he came", "that door". */
static bool is_alone(const struct reading *r, const struct place *p, size_t i)
{
    const struct token *before = word_before(r, p->first, i);
    size_t next = next_word(r, i, p->end);

    if (in_date(r, at(r, i)) || (next < p->end && in_date(r, at(r, next)))) {
        return false;
    }
    if (before && bits_of(r, before) & SW_PREP) {
        return false; /* "after that" */
    }
    for (size_t k = next; k < p->end; k = next_word(r, k, p->end)) {
        if (is_noun(r, at(r, k), false) && !in_date(r, at(r, k)) &&
            !(bits_of(r, at(r, k)) & (SW_DAY | SW_SOME))) {
            return false; /* "that's the sleeve" says what it is */
        }
    }
    if (has_verb_tied(r, at(r, i)) || next == p->end) {
        return true;
    }
    return bits_of(r, at(r, next)) & SW_BE
               ? !before || bits_of(r, before) & SW_SKIP
               : r->is_english && bits_of(r, at(r, next)) & SW_PREP;
}

/* "The second one", "ones like that": not "one day", "one of us". */
static bool is_one(const struct reading *r, const struct place *p, size_t i)
{
    const struct token *before = word_before(r, p->first, i);
    size_t next = next_word(r, i, p->end);

    if (str_eq(at(r, i)->folded, STR("ones"))) {
        return !before || !str_eq(before->folded, STR("little"));
    }
    if (in_date(r, at(r, i)) ||
        (next < p->end &&
         !(bits_of(r, at(r, next)) & (SW_BE | SW_SUBJECT | SW_FIND)))) {
        return false;
    }
    return before && !telling_is_noun(before) &&
           !(bits_of(r, before) & (SW_SUBJECT | SW_PREP));
}

/* "Saw him", "of it": not whom or what the same clause speaks of. */
static bool is_object(const struct reading *r, const struct place *p, size_t i)
{
    const struct token *before = word_before(r, p->first, i);
    size_t next = next_word(r, i, p->end);
    unsigned bits = bits_of(r, at(r, i));
    unsigned not_after = SW_JOIN | SW_SKIP;

    if (!(bits & SW_OBJECT) || !before || has_verb_tied(r, at(r, i))) {
        return false;
    }
    if (next < p->end && (bits_of(r, at(r, next)) & SW_BE || /* "it is" */
                          (bits & SW_SHE && telling_is(at(r, next))))) {
        return false; /* "her bag" */
    }
    if (!(bits & (SW_HE | SW_SHE))) {
        not_after |= SW_PREP; /* "the old trades have gold in them" */
    }
    return !(bits_of(r, before) & not_after);
}

/* "It's called", "his name is", "they told us": says what, or does not matter.
 */
static bool is_introduced(const struct reading *r, const struct place *p,
                          size_t i, unsigned bits)
{
    size_t n = 0;

    for (i = next_word(r, i, p->end); i < p->end && n < 3;
         i = next_word(r, i, p->end), n++) {
        struct str word = at(r, i)->folded;

        if (str_eq(word, STR("called")) || str_eq(word, STR("named")) ||
            (n == 0 && str_starts(word, STR("name"))) ||
            (bits & SW_ANY &&
             (str_eq(word, STR("us")) || str_eq(word, STR("me"))))) {
            return true;
        }
    }
    return false;
}

/* Does token `i` point at a person or thing that has not been named? */
static bool is_lost(const struct reading *r, const struct place *p, size_t i,
                    unsigned bits)
{
    const struct named *named = is_object(r, p, i) ? &p->before : &p->named;

    if (r->is_english && is_introduced(r, p, i, bits)) {
        return false;
    }
    if (bits & (SW_HE | SW_SHE)) {
        return bits & SW_HE ? !named->he : !named->she;
    }
    if (bits & SW_IT) {
        return !named->thing && !is_impersonal(r, p->first, i, p->end);
    }
    return !named->thing && !named->he && !named->she;
}

/* … or may, by its form and what stands beside it. */
static bool may_be_lost(const struct reading *r, const struct place *p,
                        size_t i, unsigned bits)
{
    size_t next = next_word(r, i, p->end);
    unsigned follows = next < p->end ? bits_of(r, at(r, next)) : 0;

    if (bits & (SW_THOSE | SW_BOTH)) {
        size_t last = follows & SW_COUNT || (next < p->end &&
                                             at(r, next)->kind == TOKEN_NUMBER)
                          ? next_word(r, next, p->end)
                          : next; /* "those two" */

        return !p->named.many &&
               (last == p->end ||
                bits_of(r, at(r, last)) & (SW_BE | SW_PREP | SW_ONE));
    }
    if (p->named.thing || p->named.he || p->named.she) {
        return bits & SW_ONE && !p->named.thing && !p->named.value &&
               is_one(r, p, i);
    }
    if (bits & SW_IL) {
        return !(follows & SW_IMPERSONAL);
    }
    if (bits & SW_THAT) {
        return is_alone(r, p, i);
    }
    if (bits & SW_ONE) {
        return !p->named.value && is_one(r, p, i);
    }
    return bits & SW_THERE && !has_verb_tied(r, at(r, i)) &&
           word_before(r, p->first, i) && !(follows & SW_BE);
}

/* "Small Things Like These". */
static bool is_title(const struct token *token)
{
    return token->flags & TOKEN_CAPITAL && token->flags & TOKEN_STOP &&
           !(token->flags & (TOKEN_SENTENCE_START | TOKEN_ALL_CAPS));
}

static bool points(const struct reading *r)
{
    struct place p = {0};

    for (size_t s = 0; s < r->a.n_sentences; s++) {
        p.first = r->a.sentences[s].span.first_token;
        p.end = r->a.sentences[s].span.end_token;
        p.before = p.named;
        for (size_t i = p.first; i < p.end; i++) {
            unsigned bits = bits_of(r, at(r, i));

            if (!is_word(at(r, i)) || bits & SW_JOIN ||
                (bits & SW_SUBJECT && !is_object(r, &p, i))) {
                p.before = p.named;
            }
            if (!is_word(at(r, i)) || is_title(at(r, i))) {
                continue;
            }
            if (at(r, i)->from >= r->own &&
                (bits & (SW_HE | SW_SHE | SW_ANY | SW_IT | SW_THIS)
                     ? is_lost(r, &p, i, bits)
                     : may_be_lost(r, &p, i, bits))) {
                return true;
            }
            learn(r, i, bits, &p);
        }
    }
    return false;
}

/* --- bare answers ----------------------------------------------------------
 */

/* "About 40", "on Fridays, in the hall": begins with a value or with what goes
 * with a verb, and has none. Only English verbs are known. */
static bool is_bare(const struct reading *r, size_t first, size_t end)
{
    bool has_word = false;
    bool is_value = false; /* its first word */
    bool has_noun = false;
    bool has_verb = false;
    size_t n_telling = 0;

    for (size_t i = first; i < end; i++) {
        const struct token *token = at(r, i);
        unsigned bits = is_word(token) ? bits_of(r, token) : 0;

        if (!is_word(token) || (!has_word && bits & SW_SKIP)) {
            continue;
        }
        if (!has_word && !in_date(r, token) && token->kind == TOKEN_WORD &&
            token->flags & TOKEN_STOP &&
            !(bits & (SW_PREP | SW_SUBJECT | SW_SOME)) && !is_verb(r, token)) {
            continue; /* "the" */
        }
        if (!has_word) {
            has_word = true;
            is_value = token->kind == TOKEN_NUMBER || in_date(r, token) ||
                       bits & (SW_PREP | SW_SOME | SW_DAY);
        }
        has_noun |=
            !in_date(r, token) && !(bits & (SW_SOME | SW_DAY)) &&
            (r->is_english ? telling_is_noun(token)
                           : telling_is(token) && token->kind != TOKEN_NUMBER);
        has_verb |= is_verb(r, token);
        n_telling += telling_is(token);
    }
    return !has_verb &&
           (!has_noun || (r->is_english && is_value && n_telling < LIST_WORDS));
}

static bool is_all_bare(const struct reading *r)
{
    bool is_any = false;

    for (size_t s = 0; s < r->a.n_sentences; s++) {
        const struct span *span = &r->a.sentences[s].span;

        if (span->to > r->own) {
            is_any = true;
            if (!is_bare(r, span->first_token, span->end_token)) {
                return false;
            }
        }
    }
    return is_any;
}

/* --- scripts without spaces ------------------------------------------------
 */

static bool is_spaceless(const struct reading *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->a.tokens.count; i++) {
        n += at(r, i)->kind == TOKEN_BIGRAM;
    }
    return 2 * n > r->a.tokens.count;
}

/* What a note begins with, an answering word left out. */
static bool begins_pointing(struct str text)
{
    text = str_trim(text);
    for (size_t i = 0; i < N(cjk_answers); i++) {
        struct str answer = str_of(cjk_answers[i]);
        struct str rest = str_sub(text, answer.len, text.len);

        if (str_starts(text, answer) &&
            (str_starts(rest, STR("、")) || str_starts(rest, STR("，")))) {
            text = str_sub(rest, 3, rest.len);
        }
    }
    for (size_t i = 0; i < N(cjk); i++) {
        if (str_starts(text, str_of(cjk[i].text))) {
            return cjk[i].points;
        }
    }
    return false;
}

/* --- the whole -------------------------------------------------------------
 */

static void choose_table(struct reading *r)
{
    enum text_language language = r->a.tokens.language;

    r->is_english = language == TEXT_ENGLISH || language == TEXT_UNKNOWN;
    r->is_unknown = language == TEXT_UNKNOWN ||
                    (r->is_english && r->a.tokens.count < SURE_TOKENS);
    r->is_german = language == TEXT_GERMAN;
    for (size_t i = 0; i < N(tables); i++) {
        if (tables[i].language == language ||
            (tables[i].language == TEXT_ENGLISH && r->is_english)) {
            r->table = &tables[i];
        }
    }
}

enum clew_status stands_of(struct arena *arena, struct str before,
                           struct str words, enum stands *out)
{
    struct analysis_options options = {.has_no_keywords = true};
    struct reading r = {.own = before.len};
    const char *text;

    if (words.len > STANDS_BYTES) {
        words.len = utf8_cut(words, STANDS_BYTES);
    }
    if (before.len > STANDS_BYTES) {
        before.len = utf8_cut(before, STANDS_BYTES);
    }
    text = arena_printf(arena, "%.*s\n\n%.*s", (int)before.len, before.s,
                        (int)words.len, words.s);
    if (!text ||
        analysis_run(arena, str_of(text), &options, &r.a, NULL) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    *out = STANDS;
    if (is_spaceless(&r)) {
        *out =
            before.len == 0 && begins_pointing(words) ? STANDS_POINTS : STANDS;
        return CLEW_OK;
    }
    choose_table(&r);
    if (!r.table) {
        return CLEW_OK;
    }
    if (points(&r)) {
        *out = STANDS_POINTS;
    } else if (before.len == 0 && is_all_bare(&r)) {
        *out = STANDS_BARE;
    }
    return CLEW_OK;
}
