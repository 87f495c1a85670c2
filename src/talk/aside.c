/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside.c - see aside.h.
 *
 * A pointer is taken to be resolved when its own note has named something
 * before it that it can mean. That is crude, and errs by quoting less; what is
 * quoted then must name something that the note does not.
 */
#include "talk/aside.h"

#include "talk/chain_features.h"
#include "talk/select.h"
#include "talk/stands.h"
#include "talk/telling.h"
#include "text/smalltalk.h"

#include <string.h>

/* With fewer telling words a sentence does not say what it is about. */
#define THIN_WORDS 4
/* … or hardly anything. */
#define BARE_WORDS 2
/* With so many words of any kind it is a clause, not the rest of one. */
#define CLAUSE_WORDS 4
/* What is shorter ("ok", "Nice.") explains nothing. */
#define LEAST_BYTES 12u
/* Sentences looked back at: what is farther is another matter. */
#define BACK 6
/* A question farther from the end of its turn is not the one answered. */
#define AFTER_QUESTION 120u
/* Of what was said before, its end is looked at. */
#define BEFORE_BYTES 1200u
/* Words at the beginning of a sentence that may point outside, in languages
 * whose nouns are not known. */
#define LEANING_WORDS 9

/* No sentence of a person has more; a text without full stops does. */
#define MAX_TOKENS 400u
/* Tokens of a turn that may name its matter: what is longer is a document. */
#define MAX_TURN 4096u
/* Names that are looked at: a list of more is no talk about somebody. */
#define MAX_NAMES 64u

static const char *const pointers[] = {
#include "lexicon/en/pointers.def"
};
static const char *const persons[] = {
#include "lexicon/en/persons.def"
};
static const char *const owners[] = {
#include "lexicon/en/own.def"
};
static const char *const others[] = {
#include "lexicon/de/pointers.def"
#include "lexicon/es/pointers.def"
#include "lexicon/fr/pointers.def"
};
static const char *const addressed[] = {
#include "lexicon/de/addressed.def"
#include "lexicon/en/addressed.def"
};
#define IN(word, list)                                                         \
    telling_is_one(word, list, sizeof(list) / sizeof((list)[0]))

/* --- words -----------------------------------------------------------------
 */

/* Tokens [first, end) of a text. */
struct stretch {
    const struct analysis *a;
    size_t first;
    size_t end;
};

static struct stretch sentences(const struct analysis *a, size_t first,
                                size_t end)
{
    size_t from = a->sentences[first].span.first_token;
    size_t to = a->sentences[end - 1].span.end_token;

    return (struct stretch){a, from,
                            to - from > MAX_TOKENS ? from + MAX_TOKENS : to};
}

static size_t telling_words(struct stretch s)
{
    size_t n = 0;

    for (size_t i = s.first; i < s.end; i++) {
        n += telling_is(&s.a->tokens.items[i]);
    }
    return n;
}

static bool in_date(const struct analysis *a, const struct token *token)
{
    for (size_t i = 0; i < a->n_dates; i++) {
        if (token->from >= a->dates[i].span.from &&
            token->to <= a->dates[i].span.to) {
            return true;
        }
    }
    return false;
}

/* Is `word` one of the words of `name`? */
static bool is_word_of(struct str name, struct str word)
{
    size_t at = str_ifind(name, word, 0);

    return at != SIZE_MAX && (at == 0 || name.s[at - 1] == ' ') &&
           (at + word.len == name.len || name.s[at + word.len] == ' ' ||
            name.s[at + word.len] == '\'');
}

/* Entities have the place of their first mention only. */
static bool is_name(const struct analysis *a, const struct token *token)
{
    for (size_t i = 0; i < a->n_entities && i < MAX_NAMES; i++) {
        const struct entity *e = &a->entities[i];

        if ((e->kind == ENTITY_PERSON || e->kind == ENTITY_NAME) &&
            is_word_of(e->key, token->folded)) {
            return true;
        }
    }
    return false;
}

/* --- what a stretch points at ----------------------------------------------
 */

struct needs {
    bool thing;
    bool person;
    bool any; /* "they": things or people */
};

static bool leans(struct needs needs)
{
    return needs.thing || needs.person || needs.any;
}

/* POINTS_AWAY: in a language whose nouns are not known here. */
enum points {
    POINTS_NOT,
    POINTS_THING,
    POINTS_PERSON,
    POINTS_ANY,
    POINTS_MANY, /* "ones": some noun in the plural */
    POINTS_AWAY
};

/* The word after token `i` of the same sentence, or NULL. */
static const struct token *next_word(struct stretch s, size_t i)
{
    for (i++; i < s.end; i++) {
        const struct token *token = &s.a->tokens.items[i];

        if (!(token->flags & TOKEN_PART)) {
            return token->kind == TOKEN_PUNCT || token->flags & TOKEN_BREAK
                       ? NULL
                       : token;
        }
    }
    return NULL;
}

/* "this", "that" and "there" go with nouns, verbs and clauses, too. */
static enum points may_point(struct stretch s, size_t i)
{
    const struct token *token = &s.a->tokens.items[i];
    const struct token *next = next_word(s, i);
    bool is_start = token->flags & TOKEN_SENTENCE_START;
    bool is_pointer = false;

    if (str_eq(token->folded, STR("this"))) {
        is_pointer = !next || !in_date(s.a, next);
    } else if (str_eq(token->folded, STR("that"))) {
        is_pointer = !next || is_start;
    } else if (str_eq(token->folded, STR("that's"))) {
        is_pointer = is_start;
    } else if (str_eq(token->folded, STR("there"))) {
        is_pointer = !next && !is_start;
    }
    return is_pointer && !in_date(s.a, token) ? POINTS_THING : POINTS_NOT;
}

static enum points points_at(struct stretch s, size_t i, size_t n_words)
{
    struct str word = s.a->tokens.items[i].folded;

    if (IN(word, persons)) {
        return POINTS_PERSON;
    }
    if (IN(word, pointers)) {
        return str_starts(word, STR("it")) ? POINTS_THING : POINTS_ANY;
    }
    if (n_words < LEANING_WORDS && IN(word, others)) {
        return POINTS_AWAY;
    }
    if (str_eq(word, STR("ones"))) {
        return POINTS_MANY;
    }
    return may_point(s, i);
}

/* What it points at without having named it. */
static struct needs needs_of(struct stretch s)
{
    struct needs out = {false, false, false};
    bool has_many = false;
    bool has_thing = false;
    bool has_person = false;
    bool is_owned = false;
    size_t n_words = 0;

    for (size_t i = s.first; i < s.end; i++) {
        const struct token *token = &s.a->tokens.items[i];
        enum points points;

        if (token->kind == TOKEN_PUNCT || token->flags & TOKEN_PART) {
            continue;
        }
        points = points_at(s, i, n_words++);
        out.any |= points == POINTS_AWAY;
        out.any |= points == POINTS_ANY && !has_thing && !has_person;
        out.thing |= points == POINTS_THING && !has_thing;
        out.thing |= points == POINTS_MANY && !has_many;
        out.person |= points == POINTS_PERSON && !has_person;
        if (points == POINTS_NOT && telling_is_noun(token)) {
            bool is_somebody = is_name(s.a, token);

            has_person |= is_somebody || is_owned;
            has_thing |= !is_somebody;
            has_many |= str_ends(token->folded, STR("s"));
            is_owned = false;
        } else if (IN(token->folded, owners)) {
            is_owned = true;
        }
    }
    return out;
}

/* Is the word in the stretch, in any of its forms? */
static bool has_stem(struct stretch s, struct str stem)
{
    for (size_t i = s.first; i < s.end; i++) {
        if (str_eq(s.a->tokens.items[i].stem, stem)) {
            return true;
        }
    }
    return false;
}

/* Does `s` name something that `note` does not, and of the kind it needs? */
static bool supplies(struct stretch s, struct stretch note, struct needs needs)
{
    bool has_thing = false;
    bool has_person = false;
    bool is_owned = false;

    for (size_t i = s.first; i < s.end; i++) {
        const struct token *token = &s.a->tokens.items[i];

        if (IN(token->folded, owners)) {
            is_owned = true;
        } else if (telling_is_noun(token)) {
            bool is_somebody = is_name(s.a, token);
            bool is_new = !has_stem(note, token->stem);

            has_person |= is_new && (is_somebody || is_owned);
            has_thing |= is_new && !is_somebody;
            is_owned = false;
        }
    }
    return needs.person ? has_person : has_thing || (needs.any && has_person);
}

/* --- where it is said ------------------------------------------------------
 */

static struct str words_of(const struct analysis *a, size_t i)
{
    return str_sub(a->text, a->sentences[i].span.from, a->sentences[i].span.to);
}

/* The nearest sentence before `at` that supplies what the note needs, or
 * SIZE_MAX. If it is to stand alone, one that leans itself is the last choice.
 */
static size_t look_back(const struct analysis *a, size_t at,
                        struct stretch note, struct needs needs, bool is_alone)
{
    size_t found = SIZE_MAX;

    for (size_t n = 0; at > 0 && n < BACK; n++) {
        struct stretch s;
        struct needs own;

        at--;
        s = sentences(a, at, at + 1);
        if (a->sentences[at].is_code || !supplies(s, note, needs) ||
            telling_words(s) < BARE_WORDS) {
            continue;
        }
        own = needs_of(s);
        if (!is_alone || !leans(own)) {
            return at;
        }
        found = found == SIZE_MAX ? at : found;
    }
    return found;
}

/* "How nice!" explains nothing; "how many?" does. */
static bool is_courtesy(struct str text)
{
    return smalltalk_is(text) && str_find(text, STR("?"), 0) == SIZE_MAX &&
           str_find(text, STR("\xEF\xBC\x9F"), 0) == SIZE_MAX;
}

static void add(struct asides *out, struct str text, struct str by)
{
    if (out->count < ASIDE_MAX && text.len > 0 && !is_courtesy(text)) {
        out->items[out->count++] = (struct aside){str_trim(text), by};
    }
}

/* Sentence `at` of the own turn, and before it what it leans on itself. */
static void add_own(struct asides *out, const struct analysis *a, size_t at)
{
    struct stretch s = sentences(a, at, at + 1);
    struct needs needs = needs_of(s);
    size_t earlier = leans(needs) ? look_back(a, at, s, needs, true) : SIZE_MAX;

    if (earlier != SIZE_MAX) {
        add(out, words_of(a, earlier), (struct str){NULL, 0});
    }
    add(out, words_of(a, at), (struct str){NULL, 0});
}

/* The end of a turn said before, taken apart; its text may be empty. */
static enum clew_status take_apart(struct arena *arena, struct str text,
                                   struct analysis *out)
{
    struct analysis_options options = {.has_no_keywords = true};
    size_t from = 0;

    if (text.len > BEFORE_BYTES) {
        from = text.len - BEFORE_BYTES;
        while (from < text.len && text.s[from] != ' ') {
            from++;
        }
    }
    return analysis_run(arena, str_sub(text, from, text.len), &options, out,
                        NULL);
}

/* The question that ends a turn, or SIZE_MAX. */
static size_t question_of(const struct analysis *a)
{
    for (size_t i = a->n_sentences; i > 0; i--) {
        const struct sentence *s = &a->sentences[i - 1];

        if (s->is_question) {
            return a->text.len - s->span.to <= AFTER_QUESTION ? i - 1
                                                              : SIZE_MAX;
        }
    }
    return SIZE_MAX;
}

/* A question, and what it asks about where it does not say so. */
static enum clew_status add_question(struct arena *arena, struct asides *out,
                                     const struct select_input *input,
                                     const struct analysis *before, size_t at)
{
    struct stretch s = sentences(before, at, at + 1);
    struct needs needs = needs_of(s);
    size_t about = SIZE_MAX;
    struct analysis earlier;

    if (leans(needs)) {
        about = look_back(before, at, s, needs, true);
    }
    if (about != SIZE_MAX) {
        add(out, words_of(before, about), input->before_by);
    } else if (leans(needs) && input->is_earlier_own &&
               input->earlier.len >= LEAST_BYTES) {
        if (take_apart(arena, input->earlier, &earlier) != CLEW_OK) {
            return CLEW_NO_MEMORY;
        }
        about = look_back(&earlier, earlier.n_sentences, s, needs, true);
        if (about != SIZE_MAX) {
            add(out, words_of(&earlier, about), (struct str){NULL, 0});
        }
    }
    add(out, words_of(before, at), (struct str){NULL, 0});
    return CLEW_OK;
}

static bool shares_word(const struct analysis *a, const struct analysis *matter)
{
    struct stretch turn = {
        a, 0, a->tokens.count > MAX_TURN ? MAX_TURN : a->tokens.count};

    for (size_t i = 0; i < matter->tokens.count; i++) {
        const struct token *token = &matter->tokens.items[i];

        if (telling_is_noun(token) && has_stem(turn, token->stem)) {
            return true;
        }
    }
    return false;
}

/* --- the whole -------------------------------------------------------------
 */

/* A note being explained. */
struct leaning {
    const struct select_input *input;
    struct stretch note;
    struct needs needs;
    size_t n_telling;
    bool is_clear; /* a clause that names something and points at nothing */
};

static bool is_clear(struct stretch s, struct needs needs)
{
    size_t n_words = 0;
    bool has_noun = false;

    for (size_t i = s.first; i < s.end; i++) {
        const struct token *token = &s.a->tokens.items[i];

        n_words += token->kind == TOKEN_WORD && !(token->flags & TOKEN_PART);
        has_noun |= telling_is_noun(token);
    }
    return has_noun && n_words >= CLAUSE_WORDS && !leans(needs);
}

/* What was said just before it, in another turn. */
static enum clew_status from_before(struct arena *arena,
                                    const struct leaning *l, struct asides *out)
{
    const struct select_input *input = l->input;
    struct str by =
        input->is_before_own ? (struct str){NULL, 0} : input->before_by;
    struct analysis before;
    struct analysis matter;
    size_t at;

    if (take_apart(arena, input->before, &before) != CLEW_OK ||
        take_apart(arena, input->matter, &matter) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    at = input->is_before_own ? SIZE_MAX : question_of(&before);
    if (at != SIZE_MAX) {
        return add_question(arena, out, input, &before, at);
    }
    if (input->matter.len > 0 && !shares_word(l->note.a, &matter)) {
        add(out, input->matter, (struct str){NULL, 0});
        return CLEW_OK;
    }
    /* who goes on speaking may have begun something else */
    if (l->is_clear || (input->is_before_own && !leans(l->needs) &&
                        l->n_telling >= BARE_WORDS)) {
        return CLEW_OK;
    }
    at = look_back(&before, before.n_sentences, l->note, l->needs, true);
    if (at != SIZE_MAX) {
        add(out, words_of(&before, at), by);
    } else if (!leans(l->needs) && input->before.len >= LEAST_BYTES) {
        add(out, input->before, by); /* a rest of something: of that */
    }
    return CLEW_OK;
}

/* The only other person in the talk, if the note speaks to one. */
static struct str spoken_to(const struct leaning *l)
{
    const struct select_input *input = l->input;
    bool is_addressed = false;

    for (size_t i = l->note.first; i < l->note.end; i++) {
        is_addressed |= IN(l->note.a->tokens.items[i].folded, addressed);
    }
    return is_addressed && !input->is_before_own && input->is_before_named
               ? input->before_by
               : (struct str){NULL, 0};
}

/* Does one of sentences [from, to] say that it is about something else ("by
 * the way")? */
static enum clew_status is_switch(struct arena *arena, const struct analysis *a,
                                  size_t from, size_t to, bool *out)
{
    struct chain_features features;
    enum clew_status status = CLEW_OK;

    *out = false;
    for (size_t i = from; i <= to && !*out && status == CLEW_OK; i++) {
        status = chain_features_of(arena, a, i, i + 1, true, &features);
        *out = status == CLEW_OK && features.cues & CUE_SWITCHES;
    }
    return status;
}

/* The sentence of the own turn that a note needs, or SIZE_MAX. */
static enum clew_status own_words(struct arena *arena, const struct leaning *l,
                                  size_t first, size_t lead, size_t *out)
{
    const struct analysis *a = l->note.a;
    bool is_other = false;
    enum clew_status status = CLEW_OK;

    *out = SIZE_MAX;
    if (leans(l->needs)) {
        *out = look_back(a, first, l->note, l->needs, false);
        for (size_t i = first; *out == SIZE_MAX && i > 0; i--) {
            struct stretch s = sentences(a, i - 1, i);

            /* it names nothing we know, and is nearer than what others said */
            if (telling_words(s) >= BARE_WORDS) {
                *out = i - 1;
            }
            if (first - i >= BACK) {
                break;
            }
        }
    } else if (lead < first &&
               supplies(sentences(a, lead, lead + 1), l->note, l->needs) &&
               /* "he" there may be taken for somebody here */
               !needs_of(sentences(a, lead, lead + 1)).person) {
        status = is_switch(arena, a, lead + 1, first, &is_other);
        *out = is_other ? SIZE_MAX : lead;
    }
    return status;
}

enum clew_status aside_find(struct arena *arena,
                            const struct select_input *input, size_t first,
                            size_t end, size_t lead, struct asides *out)
{
    const struct analysis *a = input->turn->analysis;
    struct leaning l = {.input = input, .note = sentences(a, first, end)};
    size_t at = SIZE_MAX;
    enum stands alone;

    memset(out, 0, sizeof(*out));
    l.needs = needs_of(l.note);
    l.n_telling = telling_words(l.note);
    l.is_clear = is_clear(l.note, l.needs);
    out->to = spoken_to(&l);
    if (own_words(arena, &l, first, lead, &at) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    if (at != SIZE_MAX) {
        add_own(out, a, at);
        return CLEW_OK;
    }
    if (leans(l.needs) || l.n_telling < THIN_WORDS) {
        return from_before(arena, &l, out);
    }
    if (stands_of(arena, (struct str){NULL, 0},
                  str_sub(a->text, a->sentences[first].span.from,
                          a->sentences[end - 1].span.to),
                  &alone) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    l.is_clear = true; /* an answer wants its question, and nothing else */
    return alone == STANDS_BARE ? from_before(arena, &l, out) : CLEW_OK;
}
