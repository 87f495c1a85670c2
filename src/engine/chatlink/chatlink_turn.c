/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_turn.c - words and cues of one turn. See chatlink_turn.h.
 */
#include "engine/chatlink/chatlink_turn.h"

#include "text/lexicon.h"

#include <string.h>

/* A figure weighs like a fairly rare word. */
#define FIGURE_SHARE 0.6f
/* A short opener has at most this many words and telling words. */
#define OPENER_WORDS 12
#define OPENER_KEYWORDS 2

/* The words of a turn, folded, without punctuation and parts. */
struct words {
    const struct token **items;
    size_t count;
};

static bool is_word(const struct words *words, size_t i, const char *text)
{
    return i < words->count && str_eq(words->items[i]->folded, str_of(text));
}

/* Does the space-separated `phrase` stand at word `i`? */
static bool at(const struct words *words, size_t i, const char *phrase)
{
    struct str rest = str_of(phrase);
    struct str word;

    for (; str_split(&rest, ' ', &word); i++) {
        if (i >= words->count || !str_eq(words->items[i]->folded, word)) {
            return false;
        }
    }
    return true;
}

static bool starts_any(const struct words *words, size_t i,
                       const char *const *phrases)
{
    struct str word = i < words->count ? words->items[i]->folded : STR("");

    /* most lists have few phrases that begin with this letter */
    for (; word.len > 0 && *phrases; phrases++) {
        if (**phrases == word.s[0] && at(words, i, *phrases)) {
            return true;
        }
    }
    return false;
}

/* Anywhere in the first `limit` words. */
static bool has_any(const struct words *words, size_t limit,
                    const char *const *phrases)
{
    for (size_t i = 0; i < words->count && i < limit; i++) {
        if (starts_any(words, i, phrases)) {
            return true;
        }
    }
    return false;
}

/* clang-format off */
static const char *const greetings[] = {
    "hello", "hi", "hey", "hiya", "greetings", "good morning",
    "good afternoon", "good evening", "how are you", "how do you do",
    "how's it going", "nice to meet", "pleased to meet", "welcome to", NULL};
static const char *const openings[] = {
    "by the way", "another thing", "one more thing", "i also", "can you help",
    "could you help", "please help", "help me", "i need", "i want", "i'd like",
    "i would like", "i'm looking for", "i am looking for", "looking for",
    "i was wondering", "i wonder", "i wanted to", "i have a question", NULL};
static const char *const fresh_forms[] = {
    "excuse me", "pardon me", "can i help", "may i help", "could i help",
    "how can i help", "how may i help", "what can i do for you", "do you know",
    "did you see", "did you hear", "did you know", "did you have",
    "have you seen", "have you heard", "have you ever", "have you got",
    "have you been", "i'm looking for", "i am looking for", "could you",
    "would you", "can you", "can i", "may i", "let's", "let us", "guess what",
    "what's up", "what are you doing", "what's wrong", "what's the matter",
    "i need", "i want", "i'd like", "i would like", "please help", "are you",
    "do you like", "do you want", "is there", "are there", "this is",
    "my name is", "i have a", "how do i", "how do you like",
    "what do you think of", NULL};
static const char *const continuers[] = {
    "and", "but", "or", "so", "then", "what about", "how about", "which",
    "why", "just", "because", "also", "in", "on", "at", "from", "to", "by",
    "with", "for", "after", "before", "about", "either", "then", "instead",
    "maybe", "perhaps", "only", "same", "as for", "back to", "well", NULL};
static const char *const acks[] = {
    "yes", "no", "ok", "okay", "sure", "yeah", "yep", "nope", "thanks",
    "thank", "right", "alright", "all right", "great", "fine", "good",
    "really", "oh", "i see", "of course", "exactly", "sounds", "that", "not",
    "nothing", "none", "true", "wow", "correct", "absolutely", "certainly",
    "perfect", "never mind", "nevermind", "it's", "it is", "they", "he", "she",
    "those", "these", "i don't", "i do", "i did", "i think so", "me too",
    "neither", "cool", "nice", "it", "we", "her", "his", "my", NULL};
static const char *const pronouns[] = {
    "it", "its", "that", "they", "them", "their", "those", "these", "one",
    "ones", "there", "he", "she", "him", "his", "her", "both", "instead",
    "too", "as well", "it's", "that's", "they're", "he's", "she's", NULL};
/* "there is", "it is raining": nothing is meant by the pronoun */
static const char *const expletives[] = {
    "there is", "there are", "there was", "there were", "there's", "there're",
    "is there", "are there", "it is raining", "it's raining", "will it be",
    "it takes", "hi there", "hello there", "hey there", "over there",
    "one of", "one more", "that is why", NULL};
static const char *const determiners[] = {
    "the", "that", "this", "these", "those", "his", "her", "their", "my",
    "your", "our", "its", NULL};
static const char *const articles[] = {
    "a", "an", "some", "any", "another", NULL};
static const char *const openers[] = {
    "oh and", "and", "also", "what about", "how about", "back to", "as for",
    "same for", "then", "or", NULL};
static const char *const rejections[] = {
    "not what i meant", "not what i mean", "that's not it",
    "didn't mean that", "did not mean that", "i meant something else",
    "not talking about that", "not about that", "i mean something else",
    "wrong topic", "wrong conversation", NULL};
static const char *const recollections[] = {
    "didn't we", "did we not", "haven't we", "we talked about this",
    "we already talked", "we discussed", "we already discussed",
    "we spoke about", "i told you", "i already told", "as i said before",
    "you don't remember", "don't you remember", "remember when we", NULL};
/* … and those that only point at a talk, without a complaint */
static const char *const references[] = {
    "as discussed", "as agreed", "we agreed", "we talked about",
    "we were talking", "we have talked", "we've talked", "we had talked",
    "you remember", "remember the", "remember that", "remember our",
    "remember my", "do you recall", "as i mentioned", "as mentioned",
    "i mentioned", "as i told", "as i said", "like i said", "as you said",
    "you said", "you suggested", "you recommended", "you told me",
    "last time", "the other day", "left off", "our last", "our previous",
    "our conversation", "our chat", "our discussion", "earlier conversation",
    "previous conversation", NULL};
static const char *const shifts[] = {
    "something else", "new topic", "different topic", "another topic",
    "change of topic", "change the subject", "unrelated", "different question",
    "another question", NULL};
static const char *const time_words[] = {
    "am", "pm", "o'clock", "noon", "midnight", "morning", "afternoon",
    "evening", "anytime", NULL};
static const char *const day_words[] = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    "sunday", "january", "february", "march", "april", "june", "july",
    "august", "september", "october", "november", "december", "today",
    "tomorrow", "tonight", "weekend", "next week", NULL};
static const char *const number_words[] = {
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "twelve", "twenty", "thirty", "fifty", "hundred", "several",
    "couple", "dozen", "just me", NULL};
static const char *const place_words[] = {
    "north", "south", "east", "west", "centre", "center", "here", "downtown",
    "home", "nearby", "from", "near", NULL};
static const char *const choice_words[] = {
    "either", "don't mind", "don't care", "doesn't matter", "the first",
    "the second", "the last", "the former", "the latter", "any",
    "no preference",
    "not in particular", NULL};
static const char *const yes_no_words[] = {
    "yes", "no", "yeah", "yep", "nope", "sure", "of course", "not", "i do",
    "i don't", "i am", "i'm not", "ok", "okay", "please", "certainly",
    "absolutely", "i have", "i haven't", "maybe", "alright", "all right", NULL};
static const char *const auxiliaries[] = {
    "do", "does", "did", "is", "are", "was", "were", "will", "would", "can",
    "could", "shall", "should", "may", "might", "have", "has", "had", "any",
    "isn't", "aren't", "don't", "didn't", "won't", "wouldn't", NULL};
/* clang-format on */

static enum clew_status words_of(struct arena *arena,
                                 const struct analysis *analysis,
                                 struct words *out)
{
    const struct tokens *tokens = &analysis->tokens;

    out->items = arena_zero(arena, tokens->count + 1, sizeof(*out->items));
    out->count = 0;
    if (!out->items) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];

        if (token->kind != TOKEN_PUNCT && !(token->flags & TOKEN_PART)) {
            out->items[out->count++] = token;
        }
    }
    return CLEW_OK;
}

/* --- terms -----------------------------------------------------------------
 */

static bool is_definite(const struct words *words, struct str stem)
{
    for (size_t i = 1; i < words->count; i++) {
        if (str_eq(words->items[i]->stem, stem) &&
            (starts_any(words, i - 1, determiners) ||
             (i > 1 && starts_any(words, i - 2, determiners)))) {
            return true;
        }
    }
    return false;
}

static void add_term(struct chatlink_turn *out, struct str stem, float idf,
                     uint16_t count, uint8_t flags)
{
    uint64_t hash = str_hash(stem);

    for (size_t i = 0; i < out->n_terms; i++) {
        if (out->terms[i].hash == hash) {
            out->terms[i].flags |= flags;
            return;
        }
    }
    out->terms[out->n_terms++] =
        (struct chatlink_term){hash, idf, count, flags};
    out->mass += idf;
}

static void add_keywords(const struct analysis *analysis,
                         const struct words *words, struct chatlink_turn *out)
{
    for (size_t i = 0;
         i < analysis->n_keywords && out->n_keywords < CHATLINK_TURN_WORDS;
         i++) {
        const struct keyword *keyword = &analysis->keywords[i];
        uint8_t flags = 0;

        if (keyword->stem.len < 3 ||
            (keyword->word.s[0] >= '0' && keyword->word.s[0] <= '9')) {
            continue;
        }
        flags |= keyword->is_noun ? CHATLINK_NOUN : 0;
        flags |= is_definite(words, keyword->stem) ? CHATLINK_DEFINITE : 0;
        add_term(out, keyword->stem, keyword->idf, keyword->count, flags);
        out->n_keywords++;
    }
}

static void add_figures(const struct words *words, struct chatlink_turn *out)
{
    for (size_t i = 0, n = 0; i < words->count && n < CHATLINK_TURN_WORDS;
         i++) {
        if (words->items[i]->kind == TOKEN_NUMBER) {
            add_term(out, words->items[i]->folded,
                     FIGURE_SHARE * lexicon_max_idf(), 1, CHATLINK_FIGURE);
            n++;
        }
    }
}

/* --- cues ------------------------------------------------------------------
 */

static bool has_pronoun(const struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        if (starts_any(words, i, expletives) ||
            (i > 0 && starts_any(words, i - 1, expletives)) ||
            is_word(words, i + 1, "of")) {
            continue;
        }
        if (starts_any(words, i, pronouns)) {
            return true;
        }
    }
    return false;
}

static bool has_indefinite(const struct analysis *analysis,
                           const struct words *words)
{
    for (size_t i = 0; i + 1 < words->count; i++) {
        if (!starts_any(words, i, articles)) {
            continue;
        }
        for (size_t k = i + 1; k < words->count && k < i + 4; k++) {
            for (size_t w = 0; w < analysis->n_keywords; w++) {
                if (analysis->keywords[w].is_noun &&
                    str_eq(analysis->keywords[w].stem, words->items[k]->stem)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Called by name: "Sandy, can you …". */
static bool has_vocative(const struct analysis *analysis)
{
    const struct tokens *tokens = &analysis->tokens;
    const struct entity *first = analysis->entities;

    return analysis->n_entities > 0 && first->span.first_token == 0 &&
           (first->kind == ENTITY_PERSON || first->kind == ENTITY_NAME) &&
           first->span.end_token < tokens->count &&
           str_eq(tokens->items[first->span.end_token].folded, STR(","));
}

static uint32_t cues_of(const struct analysis *analysis,
                        const struct words *words, uint32_t n_keywords)
{
    uint32_t cues = 0;
    size_t n = analysis->n_sentences;

    cues |= has_any(words, 3, greetings) ? CHATLINK_GREETS : 0;
    cues |= has_any(words, 4, openings) ? CHATLINK_OPENS : 0;
    cues |= has_any(words, 3, fresh_forms) || has_vocative(analysis)
                ? CHATLINK_FRESH
                : 0;
    cues |= starts_any(words, 0, continuers) ? CHATLINK_CONTINUES : 0;
    cues |= starts_any(words, 0, acks) ? CHATLINK_ACKS : 0;
    cues |= has_pronoun(words) ? CHATLINK_PRONOUN : 0;
    cues |= has_any(words, 4,
                    (const char *const[]){"what about", "how about", NULL})
                ? CHATLINK_WHATABOUT
                : 0;
    cues |= has_indefinite(analysis, words) ? CHATLINK_INDEFINITE : 0;
    for (size_t i = 0; i < n; i++) {
        cues |= analysis->sentences[i].is_question ? CHATLINK_ASKS : 0;
    }
    cues |= n > 0 && analysis->sentences[n - 1].is_question
                ? CHATLINK_ENDS_ASKING
                : 0;
    cues |= has_any(words, SIZE_MAX, (const char *const[]){"both", NULL})
                ? CHATLINK_BOTH
                : 0;
    cues |= has_any(words, SIZE_MAX,
                    (const char *const[]){"all of them", "all three",
                                          "all four", "each of them", NULL})
                ? CHATLINK_ALL
                : 0;
    cues |= has_any(words, SIZE_MAX, rejections) ? CHATLINK_REJECTS : 0;
    cues |= has_any(words, SIZE_MAX, recollections) ? CHATLINK_RECALLS : 0;
    cues |= (cues & CHATLINK_RECALLS) || has_any(words, SIZE_MAX, references)
                ? CHATLINK_REFERS
                : 0;
    cues |= has_any(words, SIZE_MAX, shifts) ? CHATLINK_SHIFTS : 0;
    if (words->count <= OPENER_WORDS && starts_any(words, 0, openers) &&
        !(cues & (CHATLINK_GREETS | CHATLINK_OPENS)) &&
        ((cues & CHATLINK_PRONOUN) || n_keywords <= OPENER_KEYWORDS)) {
        cues |= CHATLINK_SHORT_OPENER;
    }
    return cues;
}

/* Words of the tokens [from, to) of the text. */
static struct words words_between(const struct words *words, uint32_t from,
                                  uint32_t to)
{
    struct words out = {words->items, 0};

    for (size_t i = 0; i < words->count; i++) {
        if (words->items[i]->from < from) {
            out.items = words->items + i + 1;
        } else if (words->items[i]->from < to) {
            out.count++;
        }
    }
    return out;
}

/* What the last two sentences ask for. */
static uint32_t asks_of(const struct analysis *analysis,
                        const struct words *words)
{
    uint32_t kinds = 0;
    size_t n = analysis->n_sentences;

    for (size_t i = n > 2 ? n - 2 : 0; i < n; i++) {
        const struct sentence *sentence = &analysis->sentences[i];
        struct words in =
            words_between(words, sentence->span.from, sentence->span.to);

        if (!sentence->is_question) {
            continue;
        }
        kinds |= starts_any(&in, 0, auxiliaries) ? CHATLINK_YES_NO : 0;
        kinds |= has_any(&in, SIZE_MAX,
                         (const char *const[]){"what time", "when", NULL})
                     ? CHATLINK_TIME | CHATLINK_DAY
                     : 0;
        kinds |= has_any(&in, SIZE_MAX,
                         (const char *const[]){"what day", "which day",
                                               "what date", NULL})
                     ? CHATLINK_DAY
                     : 0;
        kinds |= has_any(&in, SIZE_MAX,
                         (const char *const[]){"how many", "how much", "number",
                                               "how old", "how long", NULL})
                     ? CHATLINK_NUMBER
                     : 0;
        kinds |= has_any(&in, SIZE_MAX,
                         (const char *const[]){"where", "which place",
                                               "what area", NULL})
                     ? CHATLINK_WHERE
                     : 0;
        kinds |= has_any(&in, SIZE_MAX,
                         (const char *const[]){"or", "which", "preference",
                                               "prefer", NULL})
                     ? CHATLINK_CHOICE
                     : 0;
    }
    return kinds;
}

static uint32_t answers_of(const struct analysis *analysis,
                           const struct words *words)
{
    uint32_t kinds = 0;
    bool has_figure = false;
    bool has_name = false;

    for (size_t i = 0; i < words->count; i++) {
        has_figure = has_figure || words->items[i]->kind == TOKEN_NUMBER;
    }
    for (size_t i = 0; i < analysis->n_entities; i++) {
        has_name = has_name || analysis->entities[i].kind == ENTITY_PLACE ||
                   analysis->entities[i].kind == ENTITY_NAME;
    }
    kinds |= starts_any(words, 0, yes_no_words) ? CHATLINK_YES_NO : 0;
    kinds |= has_any(words, SIZE_MAX, time_words) ||
                     (has_figure &&
                      str_find(analysis->text, STR(":"), 0) != SIZE_MAX)
                 ? CHATLINK_TIME
                 : 0;
    kinds |= has_any(words, SIZE_MAX, day_words) ? CHATLINK_DAY : 0;
    kinds |= has_figure || has_any(words, SIZE_MAX, number_words)
                 ? CHATLINK_NUMBER
                 : 0;
    kinds |=
        has_name || has_any(words, SIZE_MAX, place_words) ? CHATLINK_WHERE : 0;
    kinds |= has_any(words, SIZE_MAX, choice_words) ? CHATLINK_CHOICE : 0;
    return kinds;
}

enum clew_status chatlink_turn_of(struct arena *arena,
                                  const struct analysis *analysis,
                                  struct chatlink_turn *out)
{
    struct words words;

    memset(out, 0, sizeof(*out));
    out->terms =
        arena_zero(arena, (size_t)2 * CHATLINK_TURN_WORDS, sizeof(*out->terms));
    if (!out->terms || words_of(arena, analysis, &words) != CLEW_OK) {
        return CLEW_NO_MEMORY;
    }
    add_keywords(analysis, &words, out);
    add_figures(&words, out);
    out->n_words = (uint32_t)words.count;
    out->cues = cues_of(analysis, &words, out->n_keywords);
    out->asks = asks_of(analysis, &words);
    out->answers = answers_of(analysis, &words);
    return CLEW_OK;
}
