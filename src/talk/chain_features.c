/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_features.c - read a turn for the cues of its topic. See
 * chain_features.h.
 *
 * Each spoken word is looked up once among the first words of the cue phrases.
 */
#include "talk/chain_features.h"

#include "text/lexicon.h"

#include <string.h>

/* Share of verb uses from which a first word is read as an order. */
#define ORDER_VERB_SHARE 102
/* A pronoun among the first words of a turn points back. */
#define EARLY_WORDS 8
/* Name weights are shares of the rarest word's. */
#define NAME_SHARE 0.6f

struct reader {
    const struct analysis *analysis;
    struct chain_features *out;
    struct said said;
    size_t first_sentence;
    size_t end_sentence;
    size_t no_pronoun_until; /* inside an expletive */
};

uint32_t chain_hash(struct str text)
{
    uint64_t hash = str_hash(text);

    return (uint32_t)(hash ^ (hash >> 32));
}

/* --- phrases ----------------------------------------------------------------
 */

/* Where a word stands. */
struct stand {
    bool is_turn_start; /* openers skipped */
    bool is_sentence_start;
    bool is_first;
    bool is_in_question;
};

static bool fits(const struct stand *stand, enum said_place place)
{
    switch (place) {
    case AT_ANY:
        return true;
    case AT_TURN:
        return stand->is_turn_start;
    case AT_SENTENCE:
        return stand->is_sentence_start;
    case AT_FIRST:
        return stand->is_first;
    case IN_QUESTION:
        return stand->is_in_question;
    }
    return false;
}

/* Take in the cues of the phrases at word `at`; the words of a filler or 0. */
static size_t take_cues(struct reader *reader, size_t at,
                        const struct stand *stand)
{
    struct str word = reader->said.words[at].text;
    size_t filler = 0;

    for (size_t i = phrase_find(chain_phrases, chain_n_phrases, word);
         i < chain_n_phrases && phrase_begins(&chain_phrases[i], word); i++) {
        const struct phrase *phrase = &chain_phrases[i];
        uint32_t cues = phrase->bits;
        size_t n = fits(stand, phrase->place)
                       ? phrase_match(phrase, &reader->said, at)
                       : 0;

        if (n == 0) {
            continue;
        }
        if (cues & CUE_EXPLETIVE && at + n > reader->no_pronoun_until) {
            reader->no_pronoun_until = at + n;
        }
        if (cues & CUE_FILLER && n > filler) {
            filler = n;
        }
        if (cues & CUE_PRONOUN) {
            if (at < reader->no_pronoun_until) {
                cues &= ~(uint32_t)CUE_PRONOUN;
            } else if (at < EARLY_WORDS) {
                cues |= CUE_PRONOUN_EARLY;
            }
        }
        reader->out->cues |= cues & ~(uint32_t)CUE_FILLER;
    }
    return filler;
}

/* A first word that is a verb in its base form: an order. */
static bool is_order(const struct reader *reader, size_t at)
{
    const struct token *token =
        &reader->analysis->tokens.items[reader->said.words[at].token];
    struct lex_word word;

    return token->kind == TOKEN_WORD && !(token->flags & TOKEN_STOP) &&
           !str_ends(token->folded, STR("ing")) &&
           !str_ends(token->folded, STR("ed")) &&
           lexicon_find(token->folded, str_hash(token->folded), &word) &&
           word.flags & LEX_TAGGED && word.verb >= ORDER_VERB_SHARE;
}

static void read_cues(struct reader *reader)
{
    const struct analysis *a = reader->analysis;
    uint32_t sentence = UINT32_MAX;
    bool is_at_start = false;
    size_t skip_until = 0;

    for (size_t i = 0; i < reader->said.count; i++) {
        const struct said_word *word = &reader->said.words[i];
        struct stand stand = {.is_first = i == 0};
        size_t filler;

        if (word->sentence != sentence) {
            sentence = word->sentence;
            is_at_start = true;
            skip_until = i;
        }
        stand.is_sentence_start = is_at_start && i >= skip_until;
        stand.is_turn_start = stand.is_sentence_start &&
                              sentence == reader->said.words[0].sentence;
        stand.is_in_question = sentence + 2 >= reader->end_sentence &&
                               a->sentences[sentence].is_question;
        filler = take_cues(reader, i, &stand);
        if (stand.is_sentence_start) {
            if (filler > 0) {
                skip_until = i + filler; /* the next word may be the start */
            } else {
                is_at_start = false;
                if (is_order(reader, i)) {
                    reader->out->cues |= CUE_REQUESTS;
                }
            }
        }
    }
}

/* --- questions and answers --------------------------------------------------
 */

/* What the word, in a question and after `before`, asks for. */
static unsigned asked_by(struct str before, struct str word, bool is_start,
                         bool is_what)
{
    if (str_eq(before, STR("how"))) {
        if (said_is_any(word, "many much")) {
            return SLOT_NUMBER;
        }
        if (said_is_any(word, "long old far often big tall soon early late")) {
            return SLOT_NUMBER | SLOT_TIME;
        }
    }
    if (is_what) {
        if (said_is_any(word, "time times")) {
            return SLOT_TIME;
        }
        if (said_is_any(word, "day days date dates month year")) {
            return SLOT_DAY;
        }
        if (said_is_any(word, "city town country place part area state "
                              "location destination address")) {
            return SLOT_PLACE;
        }
    }
    if (said_is_any(word, "when whens")) {
        return SLOT_DAY | SLOT_TIME;
    }
    if (said_is_any(word, "where wheres")) {
        return SLOT_PLACE;
    }
    if (said_is_any(word, "or which whichever prefer preference either")) {
        return SLOT_CHOICE;
    }
    if (is_start &&
        said_is_any(word,
                    "do does did is are was were would will can could shall "
                    "should have has may any")) {
        return SLOT_YES_NO;
    }
    return 0;
}

/* Does the order of the words ask here, marked or not: "do you", "what is",
 * "let me know where"? */
static bool asks_at(const struct said *said, size_t i)
{
    const struct said_word *word = &said->words[i];
    bool is_start = i == 0 || word[-1].sentence != word->sentence;
    struct str before = is_start ? STR("") : word[-1].text;
    struct str after = i + 1 < said->count ? word[1].text : STR("");

    if (said_is_any(word->text, "do did are have would will can could")) {
        return said_is_any(after, "you u your") &&
               !said_is_any(before, "if when what how as than so that");
    }
    if (said_is_any(word->text, "know tell")) {
        return said_is_any(after, "what where when how which who if your the");
    }
    return (is_start || said_is_any(before, "so and but well ok oh")) &&
           said_is_any(word->text, "what whats where wheres when how who which "
                                   "why whose") &&
           said_is_any(after, "is are was were do does did can could would "
                              "will should have has kind type sort time day "
                              "many much long about else your");
}

static void read_questions(struct reader *reader)
{
    const struct analysis *a = reader->analysis;
    const struct said *said = &reader->said;
    struct chain_features *out = reader->out;
    size_t end = reader->end_sentence;
    bool is_asking[2] = {false,
                         false}; /* the last sentence but one, the last */
    bool is_what = false;        /* after "what" or "which" */

    for (size_t s = reader->first_sentence; s < end; s++) {
        if (a->sentences[s].is_question) {
            out->cues |= CUE_ASKS;
            is_asking[s + 1 == end] |= s + 2 >= end;
        }
    }
    for (size_t i = 0; i < said->count; i++) {
        size_t s = said->words[i].sentence;

        if (asks_at(said, i)) {
            out->cues |= CUE_ASKS;
            is_asking[s + 1 == end] |= s + 2 >= end;
        }
    }
    for (size_t i = 0; i < said->count; i++) {
        size_t s = said->words[i].sentence;
        bool is_start = i == 0 || said->words[i - 1].sentence != s ||
                        said_is_any(said->words[i - 1].text,
                                    "ok okay well great sure and so");
        struct str before = is_start ? STR("") : said->words[i - 1].text;

        is_what = (is_what && i > 0 && said->words[i - 1].sentence == s) ||
                  said_is_any(said->words[i].text, "what which whats");
        if (s + 2 >= end && is_asking[s + 1 == end]) {
            out->asks |= (uint8_t)asked_by(before, said->words[i].text,
                                           is_start, is_what);
        }
    }
    out->cues |= is_asking[1] ? CUE_QUESTION : 0;
}

/* Does a phrase of place stand here: "from the old mill", "in Leeds"? */
static bool is_placed(const struct reader *reader, size_t at)
{
    const struct said_word *words = reader->said.words;
    size_t from = at + 1;

    if (!said_is_any(words[at].text, "from to in at near")) {
        return false;
    }
    if (from < reader->said.count &&
        said_is_any(words[from].text, "the my our his her their")) {
        from++;
    }
    for (size_t i = from; i < reader->said.count && i < from + 3; i++) {
        const struct token *token =
            &reader->analysis->tokens.items[words[i].token];
        struct lex_word word;

        if (words[i].sentence != words[at].sentence ||
            token->kind != TOKEN_WORD ||
            token->flags & (TOKEN_STOP | TOKEN_CHAT) ||
            said_is_any(words[i].text, "morning afternoon evening night noon "
                                       "midnight week weekend month")) {
            return false;
        }
        if (!lexicon_find(token->folded, str_hash(token->folded), &word) ||
            !(word.flags & LEX_TAGGED) || word.noun >= 128) {
            return true;
        }
        if (word.verb >= ORDER_VERB_SHARE) {
            return false;
        }
    }
    return false;
}

static void read_supplies(struct reader *reader)
{
    const struct analysis *a = reader->analysis;
    struct chain_features *out = reader->out;
    unsigned supplies = 0;

    supplies |= out->cues & CUE_YES_NO ? SLOT_YES_NO : 0u;
    supplies |= out->cues & CUE_CHOOSES ? SLOT_CHOICE : 0u;
    supplies |= out->cues & CUE_PLACE_WORD ? SLOT_PLACE : 0u;
    supplies |= out->cues & CUE_NUMBER_WORD ? SLOT_NUMBER : 0u;
    supplies |= out->cues & CUE_DAY_WORD ? SLOT_DAY : 0u;
    supplies |= out->cues & CUE_TIME_WORD ? SLOT_TIME : 0u;
    for (size_t i = 0; i < reader->said.count; i++) {
        const struct token *token =
            &a->tokens.items[reader->said.words[i].token];

        if (token->kind == TOKEN_NUMBER) {
            bool is_time =
                memchr(token->folded.s, ':', token->folded.len) ||
                (i + 1 < reader->said.count &&
                 said_is_any(reader->said.words[i + 1].text, "am pm"));

            supplies |= is_time ? SLOT_TIME : SLOT_NUMBER;
        }
        supplies |= is_placed(reader, i) ? SLOT_PLACE : 0u;
    }
    for (size_t i = 0; i < a->n_entities; i++) {
        enum entity_kind kind = a->entities[i].kind;

        if (kind == ENTITY_PLACE || kind == ENTITY_NAME ||
            kind == ENTITY_ORGANISATION) {
            supplies |= SLOT_PLACE | SLOT_CHOICE;
        }
    }
    for (size_t i = 0; i < a->n_dates; i++) {
        supplies |= a->dates[i].grain == DATE_TIME ? SLOT_TIME : SLOT_DAY;
    }
    out->supplies = (uint8_t)supplies;
}

/* --- words that tell --------------------------------------------------------
 */

static bool is_within(const struct reader *reader, const struct span *span)
{
    const struct sentence *sentences = reader->analysis->sentences;

    return span->from >= sentences[reader->first_sentence].span.from &&
           span->to <= sentences[reader->end_sentence - 1].span.to;
}

/* Is the stem among the tokens of the stretch? True if it is the whole turn. */
static bool has_stem(const struct reader *reader, struct str stem)
{
    const struct analysis *a = reader->analysis;

    if (reader->first_sentence == 0 && reader->end_sentence == a->n_sentences) {
        return true;
    }
    for (size_t i = 0; i < reader->said.count; i++) {
        if (str_eq(a->tokens.items[reader->said.words[i].token].stem, stem)) {
            return true;
        }
    }
    return false;
}

static void read_keywords(struct reader *reader)
{
    const struct analysis *a = reader->analysis;
    struct chain_features *out = reader->out;

    for (size_t i = 0; i < a->n_keywords && out->n_words < CHAIN_TURN_WORDS;
         i++) {
        if (has_stem(reader, a->keywords[i].stem)) {
            out->words[out->n_words++] =
                (struct chain_word){chain_hash(a->keywords[i].stem),
                                    a->keywords[i].idf, a->keywords[i].is_noun};
            out->mass += a->keywords[i].idf;
        }
    }
}

static void read_names(struct reader *reader)
{
    const struct analysis *a = reader->analysis;
    struct chain_features *out = reader->out;
    float weight = NAME_SHARE * lexicon_max_idf();

    for (size_t i = 0; i < a->n_entities && out->n_names < CHAIN_TURN_NAMES;
         i++) {
        uint32_t hash = chain_hash(a->entities[i].key);
        bool is_known = !is_within(reader, &a->entities[i].span);

        for (size_t k = 0; k < out->n_names; k++) {
            is_known = is_known || out->names[k].hash == hash;
        }
        if (!is_known) {
            enum entity_kind kind = a->entities[i].kind;

            out->names[out->n_names++] = (struct chain_name){
                hash, weight,
                kind == ENTITY_NUMBER || kind == ENTITY_AMOUNT ||
                    kind == ENTITY_DATE};
        }
    }
}

/* The noun a determiner at word `at` introduces: the last of a run. */
static bool noun_after(const struct reader *reader, size_t at,
                       uint32_t *out_hash)
{
    const struct analysis *a = reader->analysis;
    bool has_one = false;

    for (size_t i = at + 1; i < reader->said.count && i < at + 4; i++) {
        const struct token *token =
            &a->tokens.items[reader->said.words[i].token];
        struct lex_word word;

        if (reader->said.words[i].sentence != reader->said.words[at].sentence ||
            token->flags & (TOKEN_STOP | TOKEN_CHAT) ||
            token->kind == TOKEN_NUMBER) {
            break;
        }
        if (!lexicon_find(token->folded, str_hash(token->folded), &word) ||
            !(word.flags & LEX_TAGGED) || word.noun >= 128) {
            *out_hash = chain_hash(token->stem);
            has_one = true;
        }
    }
    return has_one;
}

static void read_determiners(struct reader *reader)
{
    struct chain_features *out = reader->out;

    for (size_t i = 0; i < reader->said.count; i++) {
        struct str word = reader->said.words[i].text;
        uint32_t hash;

        if (out->n_fresh < CHAIN_TURN_NOUNS &&
            said_is_any(word, "a an some any another") &&
            noun_after(reader, i, &hash)) {
            out->fresh[out->n_fresh++] = hash;
        } else if (out->n_definite < CHAIN_TURN_NOUNS &&
                   said_is_any(word, "the this that these those your my") &&
                   noun_after(reader, i, &hash)) {
            out->definite[out->n_definite++] = hash;
        }
    }
}

enum clew_status chain_features_of(struct arena *arena,
                                   const struct analysis *analysis,
                                   size_t first, size_t end, bool is_user,
                                   struct chain_features *out)
{
    struct reader reader = {.analysis = analysis,
                            .out = out,
                            .first_sentence = first,
                            .end_sentence = end};

    memset(out, 0, sizeof(*out));
    out->is_user = is_user;
    if (first >= end) {
        return CLEW_OK;
    }
    if (!said_read(arena, analysis, first, end, &reader.said)) {
        return CLEW_NO_MEMORY;
    }
    out->n_said = (uint32_t)reader.said.count;
    read_cues(&reader);
    read_questions(&reader);
    read_supplies(&reader);
    read_keywords(&reader);
    read_names(&reader);
    read_determiners(&reader);
    return CLEW_OK;
}
