/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phrase.c - noun phrases: the subject of a sentence, the topic of a text.
 *
 * A phrase is a slice of the source: words that describe, then a noun, perhaps
 * "of", "to" or "with" and another. Which words are nouns the lexicon says.
 * The subject is the phrase before the first verb; where that is a pronoun or
 * missing, the most telling phrase of the sentence.
 */
#include "text/analysis_internal.h"

#include <math.h>
#include <string.h>

/* Words of a phrase that count; more are no name for a topic. */
#define PHRASE_WORDS 7
/* A topic is found in the first phrases, among the best keywords, or not. */
#define TOPIC_PHRASES 200
#define REPEAT_KEYWORDS 64
/* Who is spoken to is a topic only if there is no other. */
#define VOCATIVE_WEIGHT 0.1f
/* Share of verb uses from which a word is taken as a verb. */
#define VERB_SHARE 150

enum role {
    ROLE_END,
    ROLE_DET,
    ROLE_MODIFIER,
    ROLE_NOUN,
    ROLE_LINK,
    ROLE_VERB
};

struct phrase {
    size_t first; /* tokens; determiner left out */
    size_t end;
    size_t det; /* first token with the determiner */
    float score;
};

static bool is_in(struct str word, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (str_eq(word, str_of(list[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_determiner(struct str word)
{
    static const char *const list[] = {
        "the", "a",     "an",  "my",   "your",  "his",   "her",
        "our", "their", "its", "this", "these", "those", NULL};

    return is_in(word, list);
}

static bool is_link(struct str word)
{
    static const char *const list[] = {"of", "to", "with", "for",
                                       "in", "at", "from", NULL};

    return is_in(word, list);
}

/* Verbs without meaning of their own; chat words and stop words are others. */
static enum role role_of(const struct analysis *a, size_t i)
{
    const struct token *token = &a->tokens.items[i];
    struct lex_word word;

    if (a->n_dates && token_in_date(a, i)) {
        return ROLE_END; /* when is not what */
    }
    if (token->kind == TOKEN_CODE) {
        return ROLE_NOUN;
    }
    if (token->kind == TOKEN_NUMBER) {
        return ROLE_MODIFIER;
    }
    if (token->kind != TOKEN_WORD) {
        return ROLE_END;
    }
    if (is_determiner(token->folded)) {
        return ROLE_DET;
    }
    if (is_link(token->folded)) {
        return ROLE_LINK;
    }
    if (token->flags & TOKEN_STOP) {
        return ROLE_VERB; /* auxiliaries, pronouns, conjunctions: a border */
    }
    if (token->flags & TOKEN_CHAT) {
        return ROLE_VERB;
    }
    if (!token_lookup(token, &word) || !(word.flags & LEX_TAGGED)) {
        return str_ends(token->folded, STR("ly")) ? ROLE_VERB : ROLE_NOUN;
    }
    if (word.kind != LEX_NO_NAME && token->flags & TOKEN_CAPITAL) {
        return ROLE_NOUN;
    }
    if (word.verb >= VERB_SHARE && word.noun < 100) {
        return ROLE_VERB;
    }
    if (word.noun >= 90) {
        return ROLE_NOUN;
    }
    return str_ends(token->folded, STR("ly")) ? ROLE_VERB : ROLE_MODIFIER;
}

static size_t next_token(const struct analysis *a, size_t i)
{
    i++;
    while (i < a->tokens.count && a->tokens.items[i].flags & TOKEN_PART) {
        i++;
    }
    return i;
}

static float word_score(const struct token *token)
{
    struct lex_word word;
    float idf = lexicon_max_idf() * 0.75f; /* unknown: often a name */

    if (token->kind == TOKEN_NUMBER) {
        return 0;
    }
    if (token->kind == TOKEN_WORD && token_lookup(token, &word)) {
        idf = word.idf;
        /* an adjective tells less than the noun it stands by */
        if (word.flags & LEX_TAGGED && word.noun < 90) {
            idf *= 0.5f;
        }
    }
    if (token->flags & TOKEN_CAPITAL &&
        !(token->flags & TOKEN_SENTENCE_START)) {
        idf *= 1.2f;
    }
    return idf;
}

/* "identity check", "the run": a verb's form that is also a noun's. */
static bool is_verb_as_noun(const struct token *token)
{
    struct lex_word word;

    return !(token->flags & (TOKEN_STOP | TOKEN_CHAT)) &&
           !str_ends(token->folded, STR("s")) &&
           !str_ends(token->folded, STR("ed")) &&
           !str_ends(token->folded, STR("ing")) && token_lookup(token, &word) &&
           word.noun >= 60;
}

/* Read words from `i`; false if no noun is among them. Ends after the noun. */
static bool read_core(const struct analysis *a, size_t i, size_t end,
                      bool has_det, struct phrase *out)
{
    size_t after_noun = 0;
    size_t n_words = 0;
    float score = 0;

    out->first = i;
    while (i < end && n_words < PHRASE_WORDS) {
        const struct token *token = &a->tokens.items[i];
        enum role role = role_of(a, i);

        if (role == ROLE_VERB && (n_words > 0 || has_det) &&
            is_verb_as_noun(token)) {
            role = ROLE_NOUN;
        }
        if (role != ROLE_NOUN && role != ROLE_MODIFIER) {
            break;
        }
        if (n_words > 0 && token->flags & TOKEN_AFTER_LINE) {
            break;
        }
        n_words++;
        score += word_score(token) / (float)n_words;
        i = next_token(a, i);
        if (role == ROLE_NOUN) {
            after_noun = i;
        }
    }
    if (after_noun == 0) {
        return false;
    }
    out->end = after_noun;
    out->score = score;
    return true;
}

/* "history of Rome", "trip to Lisbon": a link and a phrase with a name. */
static void extend(const struct analysis *a, size_t end, struct phrase *phrase)
{
    size_t link = phrase->end;
    size_t from;
    struct phrase tail;
    bool is_of;

    if (link >= end || role_of(a, link) != ROLE_LINK) {
        return;
    }
    is_of = str_eq(a->tokens.items[link].folded, STR("of"));
    from = next_token(a, link);
    if (from < end && role_of(a, from) == ROLE_DET) {
        from = next_token(a, from);
        if (!is_of) {
            return;
        }
    }
    if (from >= end || !read_core(a, from, end, false, &tail) ||
        tail.first != from ||
        (!is_of && !(a->tokens.items[from].flags & TOKEN_CAPITAL))) {
        return;
    }
    phrase->end = tail.end;
    phrase->score += 0.5f * tail.score;
}

/* "Thanks, Maria!", "Hey Mel": the person spoken to is no topic. */
static bool is_vocative(const struct analysis *a, size_t sentence, size_t end,
                        const struct phrase *phrase)
{
    const struct token *before =
        phrase->det > sentence ? &a->tokens.items[phrase->det - 1] : NULL;

    for (size_t i = phrase->det; i < phrase->end; i++) {
        if (!(a->tokens.items[i].flags & TOKEN_CAPITAL)) {
            return false;
        }
    }
    if (before && before->kind != TOKEN_PUNCT &&
        !(before->flags & TOKEN_CHAT)) {
        return false;
    }
    return phrase->end >= end ||
           a->tokens.items[phrase->end].kind == TOKEN_PUNCT;
}

/* The next phrase of tokens [*at, end); `*at` moves past it. */
static bool next_phrase(const struct analysis *a, size_t *at, size_t end,
                        struct phrase *out)
{
    while (*at < end) {
        size_t i = *at;
        size_t det = i;

        if (a->tokens.items[i].flags & (TOKEN_PART | TOKEN_IN_FENCE)) {
            *at = i + 1;
            continue;
        }
        if (role_of(a, i) == ROLE_DET) {
            i = next_token(a, i);
        }
        if (i < end && read_core(a, i, end, i != det, out)) {
            out->det = det;
            extend(a, end, out);
            *at = out->end;
            return true;
        }
        *at = i > *at ? i : i + 1;
    }
    return false;
}

static struct str slice(const struct analysis *a, size_t first, size_t end)
{
    uint32_t to = 0;

    for (size_t i = first; i < end; i++) {
        const struct token *token = &a->tokens.items[i];

        if (!(token->flags & TOKEN_PART)) {
            to = token->to;
        }
    }
    return str_sub(a->text, a->tokens.items[first].from, to);
}

/* Is there a verb or pronoun before the phrase, so that it is no subject? */
static bool comes_first(const struct analysis *a, size_t first, size_t det)
{
    for (size_t i = first; i < det; i++) {
        const struct token *token = &a->tokens.items[i];

        if (token->kind == TOKEN_WORD && role_of(a, i) == ROLE_VERB &&
            !(token->flags & TOKEN_CHAT)) {
            return false;
        }
    }
    return true;
}

struct str analysis_subject(const struct analysis *analysis,
                            const struct sentence *sentence)
{
    size_t at = sentence->span.first_token;
    size_t end = sentence->span.end_token;
    struct phrase phrase;
    struct phrase best = {0};
    bool has_best = false;

    if (sentence->is_code) {
        return (struct str){"", 0};
    }
    while (next_phrase(analysis, &at, end, &phrase)) {
        if (!has_best && !sentence->is_question &&
            comes_first(analysis, sentence->span.first_token, phrase.det) &&
            at < end && role_of(analysis, at) == ROLE_VERB) {
            return slice(analysis, phrase.det, phrase.end);
        }
        if (is_vocative(analysis, sentence->span.first_token, end, &phrase)) {
            phrase.score *= VOCATIVE_WEIGHT;
        }
        if (!has_best || phrase.score > best.score) {
            best = phrase;
            has_best = true;
        }
    }
    return has_best ? slice(analysis, best.det, best.end) : (struct str){"", 0};
}

/* How often the last word of the phrase is said in the text. */
static float repeats(const struct analysis *a, const struct phrase *phrase)
{
    size_t head = phrase->end - 1;

    while (head > phrase->first && a->tokens.items[head].flags & TOKEN_PART) {
        head--;
    }
    for (size_t i = 0; i < a->n_keywords && i < REPEAT_KEYWORDS; i++) {
        if (str_eq(a->keywords[i].stem, a->tokens.items[head].stem)) {
            return 1.0f + 0.5f * logf((float)a->keywords[i].count);
        }
    }
    return 1.0f;
}

struct str analysis_topic(const struct analysis *analysis)
{
    struct phrase best = {0};
    bool has_best = false;
    size_t n_phrases = 0;

    for (size_t s = 0; s < analysis->n_sentences; s++) {
        const struct sentence *sentence = &analysis->sentences[s];
        size_t at = sentence->span.first_token;
        struct phrase phrase;

        while (!sentence->is_code && n_phrases++ < TOPIC_PHRASES &&
               next_phrase(analysis, &at, sentence->span.end_token, &phrase)) {
            phrase.score *= repeats(analysis, &phrase);
            if (is_vocative(analysis, sentence->span.first_token,
                            sentence->span.end_token, &phrase)) {
                phrase.score *= VOCATIVE_WEIGHT;
            }
            if (!has_best || phrase.score > best.score) {
                best = phrase;
                has_best = true;
            }
        }
    }
    return has_best ? slice(analysis, best.first, best.end)
                    : (struct str){"", 0};
}
