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
static const char *const time_marks[] = {"什么时候", "什麼時候", "何时",
                                         "何時",     "いつ",     "เมื่อไ"};
static const char *const name_marks[] = {"谁",   "誰",   "哪里", "哪裡",
                                         "哪儿", "哪个", "どこ", "だれ",
                                         "どの", "ใคร",  "ที่ไหน"};
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

static uint32_t wants_of(struct str word)
{
    if (is_one_of(word, time_words, COUNT(time_words))) {
        return QUESTION_TIME;
    }
    return is_one_of(word, name_words, COUNT(name_words)) ? QUESTION_NAME : 0;
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
        uint32_t own = wants_of(first->folded);

        if (!own && first->flags & TOKEN_STOP && i + 1 < tokens->count) {
            own = wants_of(first[1].folded);
        }
        wants |= own;
    }
    if (text.len > 0 && holds_one_of(text, time_marks, COUNT(time_marks))) {
        wants |= QUESTION_TIME;
    }
    if (text.len > 0 && holds_one_of(text, name_marks, COUNT(name_marks))) {
        wants |= QUESTION_NAME;
    }
    return wants;
}
