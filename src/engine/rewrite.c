/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - what somebody said, told about them in the third person.
 *
 * Word by word: pronouns of the speaker become the name, then "they"; the
 * verb behind a name takes its ending. Everything else is copied as written,
 * so a summary never says more than the turn did.
 */
#include "engine/extract_internal.h"

#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum agreement { AGREE_NONE, AGREE_SINGULAR, AGREE_PLURAL };

struct rewriting {
    const struct extraction *x;
    const struct clause *clause;
    struct buf *out;
    bool is_named;            /* the speaker was named already */
    enum agreement agreement; /* owed by the next verb */
    bool is_present; /* a verb took the ending: those joined to it do too */
};

/* "I", "we" and their contractions: what they become. */
struct person {
    const char *word;
    const char *verb; /* contracted verb in the singular, "" if none */
    const char *plural;
    bool is_group; /* we */
    bool is_other; /* you */
};

static const struct person persons[] = {
    {"i", "", "", false, false},
    {"i'm", " is", " are", false, false},
    {"i've", " has", " have", false, false},
    {"i'll", " will", " will", false, false},
    {"i'd", " would", " would", false, false},
    {"we", "", "", true, false},
    {"we're", " are", " are", true, false},
    {"we've", " have", " have", true, false},
    {"we'll", " will", " will", true, false},
    {"we'd", " would", " would", true, false},
    {"you", "", "", false, true},
    {"you're", " is", " are", false, true},
    {"you've", " has", " have", false, true},
    {"you'll", " will", " will", false, true},
    {"you'd", " would", " would", false, true},
};

struct exchange {
    const char *from;
    const char *to;
};

static const struct exchange singular[] = {
    {"am", "is"},         {"have", "has"},       {"do", "does"},
    {"don't", "doesn't"}, {"haven't", "hasn't"}, {"are", "is"},
    {"were", "was"},      {"aren't", "isn't"},   {"weren't", "wasn't"},
};

static const struct exchange plural[] = {
    {"am", "are"},
    {"was", "were"},
    {"wasn't", "weren't"},
};

static const char *exchanged(const struct intent_word *word,
                             const struct exchange *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (word_is(word, table[i].from)) {
            return table[i].to;
        }
    }
    return NULL;
}

static void put(struct rewriting *r, const char *text)
{
    (void)buf_append_cstr(r->out, text); /* checked once, with buf_status */
}

static void put_name(struct rewriting *r)
{
    (void)buf_append_str(r->out, r->x->self); /* checked with buf_status */
    r->is_named = true;
}

static void put_surface(struct rewriting *r, const struct intent_word *word)
{
    const struct str text = r->x->turn->text;

    (void)buf_append(r->out, text.s + word->from,
                     word->to - word->from); /* checked with buf_status */
}

/* walk -> walks, go -> goes, try -> tries */
static void put_third_person(struct rewriting *r,
                             const struct intent_word *word)
{
    const char *s = word->s;
    size_t len = word->len;
    char last = s[len - 1];
    char before = len > 1 ? s[len - 2] : 'a';

    if (last == 'y' && !strchr("aeiou", before)) {
        (void)buf_append(r->out, s, len - 1); /* checked with buf_status */
        put(r, "ies");
        return;
    }
    put(r, s);
    if (last == 's' || last == 'x' || last == 'z' || last == 'o' ||
        (last == 'h' && (before == 'c' || before == 's'))) {
        put(r, "es");
    } else {
        put(r, "s");
    }
}

static bool keeps_its_form(const struct intent_word *word)
{
    return word_is_past(word) ||
           word_any(word, "can can't could couldn't will won't would wouldn't "
                          "should shouldn't may might must had hadn't did "
                          "didn't was wasn't is isn't has hasn't does doesn't "
                          "put cut set hit let read quit hurt spread cost not "
                          "and or to with who the a my of in been being") ||
           (word->len > 4 && memcmp(word->s + word->len - 3, "ing", 3) == 0) ||
           !isalpha((unsigned char)word->s[0]);
}

/* The verb that owes agreement to the subject just written. */
static bool put_verb(struct rewriting *r, const struct intent_word *word)
{
    const char *other;

    if (r->agreement == AGREE_NONE) {
        r->is_present &= !word_is(word, "to");
        if (!r->is_present || word == r->clause->piece->words ||
            !word_any(word - 1, "and or") || !intent_is_verb(word) ||
            (intent_is_noun_verb(word) &&
             word + 1 != r->clause->piece->words + r->clause->end &&
             word_any(word + 1, "and or for in of"))) {
            return false;
        }
        put_third_person(r, word);
        return true;
    }
    if (word_is_adverb(word)) {
        return false;
    }
    if (r->agreement == AGREE_PLURAL) {
        r->agreement = AGREE_NONE;
        other = exchanged(word, plural, sizeof(plural) / sizeof(plural[0]));
        if (other) {
            put(r, other);
        }
        return other != NULL;
    }
    r->agreement = AGREE_NONE;
    other = exchanged(word, singular, sizeof(singular) / sizeof(singular[0]));
    if (other) {
        put(r, other);
        return true;
    }
    if (keeps_its_form(word)) {
        return false;
    }
    put_third_person(r, word);
    r->is_present = true;
    return true;
}

/* "I'd been" is "had been"; "I'd like" is "would like". */
static bool had_meant(const struct rewriting *r, size_t at)
{
    const struct intent_word *words = r->clause->piece->words;
    size_t i = at + 1;

    if (words[at].len < 3 ||
        memcmp(words[at].s + words[at].len - 2, "'d", 2) != 0) {
        return false;
    }
    while (i < r->clause->end && word_is_adverb(&words[i])) {
        i++;
    }
    return i < r->clause->end &&
           (word_any(&words[i], "been better never gone done seen") ||
            word_is_past(&words[i]));
}

static bool you_is_subject(const struct rewriting *r, size_t at)
{
    const struct intent_word *words = r->clause->piece->words;

    return at + 1 < r->clause->end &&
           (intent_is_aux(&words[at + 1]) || intent_is_verb(&words[at + 1])) &&
           (at == r->clause->first ||
            !word_any(&words[at - 1], "with to for of from about at on by like "
                                      "than thank help let make see tell show "
                                      "give"));
}

/* "since we last talked": the two of them. */
static bool means_both(const struct rewriting *r, size_t at)
{
    const struct intent_word *words = r->clause->piece->words;
    size_t end = at + 4 < r->clause->end ? at + 4 : r->clause->end;

    return r->x->input->n_previous > 0 &&
           words_have(words, at, end, "talked spoke chatted") &&
           (words_have(words, at, end, "last first") ||
            (at > 0 && word_is(&words[at - 1], "since")));
}

/* Who else "we" are. */
static void put_company(struct rewriting *r, size_t at)
{
    put(r, " and ");
    if (means_both(r, at)) {
        (void)buf_append_str(r->out, r->x->other); /* see buf_status */
    } else if (at == r->clause->subject && r->clause->with.s) {
        (void)buf_append_str(r->out, r->clause->with); /* see buf_status */
    } else {
        put(r, "others");
    }
}

static bool put_person(struct rewriting *r, size_t at)
{
    const struct intent_word *word = &r->clause->piece->words[at];
    const struct person *p = NULL;
    bool is_joined =
        at > r->clause->first + 1 && word_is(word, "i") &&
        word_is(word - 1, "and") &&
        ((word[-2].is_capital && at <= r->clause->first + 3) ||
         (at < r->clause->first + 8 &&
          word_any(&r->clause->piece->words[r->clause->first],
                   "some a one two three both")) ||
         (at > r->clause->first + 2 && word_any(word - 3, "my our")));
    bool is_again = r->is_named && !is_joined;

    for (size_t i = 0; i < sizeof(persons) / sizeof(persons[0]); i++) {
        if (word_is(word, persons[i].word)) {
            p = &persons[i];
        }
    }
    if (!p) {
        return false;
    }
    if (p->is_other) {
        (void)buf_append_str(r->out, r->x->other); /* see buf_status */
        put(r, p->verb);
        r->agreement =
            p->verb[0] || !you_is_subject(r, at) ? AGREE_NONE : AGREE_SINGULAR;
        return true;
    }
    if (is_again) {
        put(r, "they");
    } else {
        put_name(r);
        if (p->is_group) {
            put_company(r, at);
        }
    }
    if (p->verb[0]) {
        put(r, had_meant(r, at)          ? " had"
               : is_again || p->is_group ? p->plural
                                         : p->verb);
        r->agreement = AGREE_NONE;
    } else {
        r->agreement = is_again || p->is_group || is_joined ? AGREE_PLURAL
                                                            : AGREE_SINGULAR;
    }
    return true;
}

/* my, me, our, your ...: possessives and objects. */
static bool put_object(struct rewriting *r, const struct intent_word *word)
{
    bool is_own = word_any(word, "my our");
    bool is_object = word_any(word, "me us");

    if (is_own || is_object) {
        if (r->is_named) {
            put(r, is_own ? "their" : "them");
        } else {
            put_name(r);
            put(r, is_own ? "'s" : word_is(word, "us") ? " and others" : "");
        }
        return true;
    }
    if (word_any(word, "mine ours")) {
        if (r->is_named) {
            put(r, "theirs");
        } else {
            put_name(r);
            put(r, "'s");
        }
        return true;
    }
    if (word_any(word, "myself ourselves")) {
        put(r, word_is(word, "myself") ? "themself" : "themselves");
        return true;
    }
    if (word_any(word, "your yours")) {
        (void)buf_append_str(r->out, r->x->other); /* see buf_status */
        put(r, "'s");
        return true;
    }
    if (word_any(word, "yourself")) {
        put(r, "themself");
        return true;
    }
    return false;
}

/* What stands between two words, with runs of blanks as one. */
static void put_gap(struct rewriting *r, const struct intent_word *before,
                    const struct intent_word *word)
{
    struct str text = r->x->turn->text;
    char last = ' ';

    if (before->to > word->from || before->from == word->from) {
        put(r, " ");
        return;
    }
    for (size_t i = before->to; i < word->from; i++) {
        char c = text.s[i] == '\n' || text.s[i] == '\t' ? ' ' : text.s[i];

        if (c == ' ' && last == ' ' && i > before->to) {
            continue;
        }
        (void)buf_append_char(r->out, c); /* checked with buf_status */
        last = c;
    }
}

static void put_word(struct rewriting *r, size_t at)
{
    const struct intent_word *words = r->clause->piece->words;
    const struct intent_word *word = &words[at];
    bool is_split = (at > 0 && words[at - 1].from == word->from) ||
                    (at + 1 < r->clause->piece->n_words &&
                     words[at + 1].from == word->from);

    if (put_person(r, at) || put_object(r, word) || put_verb(r, word)) {
        return;
    }
    if (is_split) {
        put(r, word->s); /* "gonna" came apart: write it in full */
    } else {
        put_surface(r, word);
    }
}

/* "Went to ..." -> "Ann went to ...", "Going ..." -> "Ann is going ..." */
static void put_elided_subject(struct rewriting *r)
{
    const struct intent_word *word =
        &r->clause->piece->words[r->clause->subject];

    put_name(r);
    if (word_is_adverb(word) && r->clause->subject + 1 < r->clause->end &&
        !word_is(&word[1], "been")) {
        word++;
    }
    if (word->len > 4 && memcmp(word->s + word->len - 3, "ing", 3) == 0) {
        put(r, " is");
    } else if (word_is(word, "been") ||
               (word_is_adverb(word) && word_is(&word[1], "been"))) {
        put(r, " has");
    }
    put(r, " ");
}

/* A capital at the start; none behind a semicolon. */
static void fix_case(struct buf *out, size_t from, bool is_start)
{
    if (from >= out->len) {
        return;
    }
    if (is_start) {
        out->data[from] = (char)toupper((unsigned char)out->data[from]);
    } else {
        out->data[from] = (char)tolower((unsigned char)out->data[from]);
    }
}

/* The mark that closes a quotation stands behind the last word: add it. */
static void close_quotes(struct buf *out, size_t from)
{
    size_t n = 0;
    size_t opened = 0;
    size_t closed = 0;

    for (size_t i = from; i < out->len; i++) {
        n += out->data[i] == '"';
        opened += out->data[i] == '(';
        closed += out->data[i] == ')';
    }
    if (n % 2 == 1) {
        (void)buf_append_char(out, '"'); /* checked with buf_status */
    }
    if (opened > closed) {
        (void)buf_append_char(out, ')'); /* checked with buf_status */
    }
}

enum clew_status rewrite_clause(const struct extraction *x,
                                const struct clause *clause, bool is_first,
                                struct buf *out)
{
    struct rewriting r = {
        .x = x, .clause = clause, .out = out, .is_named = !is_first};
    const struct intent_word *words = clause->piece->words;
    size_t start = out->len;

    if (clause->is_elided) {
        put_elided_subject(&r);
    } else if (words[clause->first].from > 0 &&
               x->turn->text.s[words[clause->first].from - 1] == '"') {
        put(&r, "\"");
    }
    for (size_t i = clause->first; i < clause->end; i++) {
        if (i > clause->first) {
            put_gap(&r, &words[i - 1], &words[i]);
        }
        if (i == clause->first && clause->is_elided) {
            if (word_any(&words[i], "love enjoy")) {
                put_third_person(&r, &words[i]);
            } else {
                put(&r, words[i].s);
            }
        } else {
            put_word(&r, i);
        }
    }
    fix_case(out, start, is_first);
    close_quotes(out, start);
    return buf_status(out);
}

const struct date *extract_date_in(const struct extraction *x, uint32_t from,
                                   uint32_t to)
{
    const struct analysis *a = x->turn->analysis;
    const struct date *best = NULL;

    for (size_t i = 0; a && i < a->n_dates; i++) {
        const struct date *d = &a->dates[i];

        if (d->span.from >= from && d->span.to <= to &&
            (!best || d->grain < best->grain)) {
            best = d;
        }
    }
    return best;
}

static void date_text(int64_t ms, int grain, char out[32])
{
    int64_t year;
    int month;
    int day;
    int64_t days = ms / CLOCK_DAY_MS - (ms % CLOCK_DAY_MS < 0);

    clock_civil_from_days(days, &year, &month, &day);
    if (grain == DATE_YEAR) {
        (void)snprintf(out, 32, "%04d", (int)year);
    } else if (grain == DATE_MONTH) {
        (void)snprintf(out, 32, "%04d-%02d", (int)year, month);
    } else {
        (void)snprintf(out, 32, "%04d-%02d-%02d", (int)year, month, day);
    }
}

enum clew_status rewrite_date(const struct extraction *x, uint32_t from,
                              uint32_t to, struct buf *out)
{
    const struct date *d = extract_date_in(x, from, to);
    int64_t offset = 0;
    char first[32];
    char last[32];

    if (!d || !d->is_relative) {
        return buf_status(out);
    }
    (void)text_zone_offset(x->turn->timezone, d->from_ms, &offset); /* UTC */
    date_text(d->from_ms + offset, (int)d->grain, first);
    date_text(d->to_ms + offset - 1, (int)d->grain, last);
    if (d->grain == DATE_WEEK || d->grain == DATE_RANGE) {
        return buf_printf(out, " (%s to %s)", first, last);
    }
    return buf_printf(out, " (%s)", first);
}
