/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question.c - question words. See question.h.
 *
 * In scripts with spaces the word is the first of its sentence, or the second
 * after a word that only leads to it ("since when", "in which", "de quién"):
 * further in, most of them join clauses instead. Where words are not set
 * apart they may stand anywhere.
 */
#include "text/question.h"

#include <string.h>

/* Folded; the diacritics stay. */
static const char *const time_words[] = {
    "when",   "when's", "wann",    "quand", "cuándo", "cuando",
    "quando", "när",    "hvornår", "kiedy", "kdy",    "когда",
    "коли",   "πότε",   "متى",     "언제",  "wanneer"};
static const char *const name_words[] = {
    "who",    "who's",   "whom",    "whose",   "where",   "where's", "which",
    "wer",    "wem",     "wen",     "wessen",  "wo",      "woher",   "wohin",
    "welche", "welcher", "welches", "welchen", "welchem", "qui",     "où",
    "quel",   "quelle",  "quels",   "quelles", "quién",   "quiénes", "dónde",
    "adónde", "cuál",    "cuáles",  "chi",     "dove",    "quale",   "quali",
    "quem",   "onde",    "qual",    "quais",   "waar",    "welke",   "vem",
    "vilken", "vilka",   "kto",     "gdzie",   "кто",     "где",     "куда",
    "какой",  "какая",   "ποιος",   "πού",     "أين",     "누가",    "누구",
    "어디"};
static const char *const number_words[] = {
    "combien", "cuánto", "cuánta",  "cuántos", "cuántas", "quanto",  "quanta",
    "quanti",  "quante", "quantos", "quantas", "hoeveel", "wieviel", "wieviele",
    "сколько", "ile",    "kolik",   "πόσο",    "كم",      "얼마나"};
/* "how" with one of these asks for a number, alone for anything. */
static const char *const how_words[] = {"how", "wie", "hur", "hvor", "hoe"};
static const char *const size_words[] = {
    "many",   "much",  "long",  "old",  "often", "far",  "tall",  "big",
    "viel",   "viele", "lange", "alt",  "oft",   "weit", "gross", "många",
    "mycket", "mange", "meget", "lang", "vaak",  "oud"};
static const char *const time_marks[] = {"什么时候", "什麼時候", "何时",
                                         "何時",     "いつ",     "เมื่อไ"};
static const char *const name_marks[] = {"谁",   "誰",   "哪里", "哪裡",
                                         "哪儿", "哪个", "どこ", "だれ",
                                         "どの", "ใคร",  "ที่ไหน"};
static const char *const number_marks[] = {"多少",   "几个", "幾個", "几次",
                                           "いくつ", "何人", "何回", "いくら",
                                           "กี่",      "เท่าไ"};
/* What asks for a name, beside a question word. */
static const char *const naming_words[] = {
    "name",    "names",    "called", "heißt",    "heisst", "heißen",
    "heissen", "heiss",    "hieß",   "appelle",  "llama",  "llaman",
    "nombre",  "nom",      "chiama", "chiamano", "nome",   "chama",
    "chamam",  "heet",     "heten",  "heter",    "hedder", "appellent",
    "namens",  "s'appelle"};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is_one_of(struct str word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(word, str_of(list[i]))) {
            return true;
        }
    }
    return false;
}

/* Of the question word, with the word after it. */
static uint32_t wants_of(struct str word, struct str next)
{
    if (is_one_of(word, time_words, COUNT(time_words))) {
        return QUESTION_TIME;
    }
    if (is_one_of(word, number_words, COUNT(number_words)) ||
        (is_one_of(word, how_words, COUNT(how_words)) &&
         is_one_of(next, size_words, COUNT(size_words)))) {
        return QUESTION_NUMBER;
    }
    return is_one_of(word, name_words, COUNT(name_words)) ? QUESTION_NAME : 0;
}

/* The word of a token; empty after the last. */
static struct str word_at(const struct tokens *tokens, size_t at)
{
    return at < tokens->count ? tokens->items[at].folded
                              : (struct str){NULL, 0};
}

static bool holds_one_of(struct str text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (memmem(text.s, text.len, list[i], strlen(list[i]))) {
            return true;
        }
    }
    return false;
}

uint32_t question_wants(struct str text, const struct tokens *tokens)
{
    uint32_t wants = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *first = &tokens->items[i];

        if (!(first->flags & TOKEN_SENTENCE_START)) {
            continue;
        }
        struct str next = word_at(tokens, i + 1);
        uint32_t own = wants_of(first->folded, next);

        if (!own && first->flags & TOKEN_STOP) {
            own = wants_of(next, word_at(tokens, i + 2));
        }
        wants |= own;
    }
    if (text.len == 0) {
        return 0;
    }
    wants |=
        holds_one_of(text, time_marks, COUNT(time_marks)) ? QUESTION_TIME : 0;
    wants |=
        holds_one_of(text, name_marks, COUNT(name_marks)) ? QUESTION_NAME : 0;
    wants |= holds_one_of(text, number_marks, COUNT(number_marks))
                 ? QUESTION_NUMBER
                 : 0;
    return wants;
}

bool question_names(const struct tokens *tokens, size_t *out_first,
                    size_t *out_last)
{
    bool is_asked = false;
    bool is_next = false; /* nothing stands between it and the last */
    bool is_one = true;   /* one thing, in so many words */
    size_t n_words = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];

        if (token->flags & TOKEN_PART) {
            continue;
        }
        if (token->kind == TOKEN_PUNCT ||
            token->flags & (TOKEN_STOP | TOKEN_CHAT)) {
            is_next = false;
        } else if (is_one_of(token->folded, naming_words,
                             COUNT(naming_words))) {
            is_asked = true;
            is_next = false;
        } else {
            *out_first = n_words == 0 ? i : *out_first;
            *out_last = i;
            is_one = is_one && (n_words == 0 || is_next);
            n_words++;
            is_next = true;
        }
    }
    return is_asked && is_one && n_words > 0;
}
