/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_asking.c - what only asks the same is no answer. See
 * search_internal.h.
 *
 * Who asks twice finds their own question: it has all its words, and the
 * reader likes it for them. A text is such a question if all its sentences
 * ask, and if it tells nothing that was not asked: either it has no words
 * beside the question's, or it asks for the same (a time, a name, a number)
 * and has neither a number nor a name to offer. "Is the code still 4471?" tells
 * something, and so does a wish ("can you remind me on Friday?"). Without its
 * mark a question begins with a word that asks: "Marta was there" tells.
 */
#include "engine/ask/search_internal.h"

#include "engine/core/engine.h"
#include "model/intent.h"
#include "text/question.h"

#include <string.h>

/* A longer text is more than a question. */
#define ASKING_BYTES PASSAGE_BYTES
#define QUESTION_BYTES 1024u
/* Words in common for each other word, where the kind of thing asked for is
 * not known. */
#define SHARED_FOR_OTHER 2
/* Two words are forms of one: bytes in common, and bytes of an ending. */
#define FORM_BYTES 3
#define FORM_ENDING 2

/* Does it ask, or ask for something? */
static enum clew_status is_asked(struct arena *arena, struct str text,
                                 bool *out, struct clew_error *err)
{
    struct intent intent;

    *out = false;
    if (text.len == 0 || text.len > QUESTION_BYTES) {
        return CLEW_OK;
    }
    if (intent_of(arena, text, (struct str){0}, &intent) != CLEW_OK) {
        return clew_no_memory(err);
    }
    *out = intent.act == INTENT_QUESTION || intent.act == INTENT_REQUEST;
    return CLEW_OK;
}

/* What a text does but greet. */
enum asking {
    ASKING_NOT,  /* it tells something, too */
    ASKING_WISH, /* it asks or wants something: "tell me who has the key" */
    ASKING_ONLY  /* every sentence is a question */
};

static bool is_word(const struct token *token)
{
    return token->kind != TOKEN_PUNCT &&
           !(token->flags & (TOKEN_PART | TOKEN_STOP | TOKEN_CHAT));
}

static bool has_mark(struct str text)
{
    return str_find(text, STR("?"), 0) != SIZE_MAX ||
           str_find(text, STR("？"), 0) != SIZE_MAX;
}

/* Does it begin with what it is about? "Marta was there" has the words of "was
 * Marta there?", and is its answer. */
static enum clew_status tells_first(struct arena *arena, struct str text,
                                    bool *out, struct clew_error *err)
{
    struct tokens tokens;

    if (tokens_of(arena, text, &tokens) != CLEW_OK) {
        return clew_no_memory(err);
    }
    *out = tokens.count > 0 && is_word(&tokens.items[0]);
    return CLEW_OK;
}

static enum clew_status only_asks(struct arena *arena, struct str text,
                                  enum asking *out, struct clew_error *err)
{
    struct intent intent;
    size_t n_questions = 0;
    size_t n_wishes = 0;
    size_t n_others = 0;
    bool is_guess = false;

    *out = ASKING_NOT;
    if (text.len == 0 || text.len > ASKING_BYTES) {
        return CLEW_OK;
    }
    if (intent_of(arena, text, (struct str){0}, &intent) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < intent.n_segments; i++) {
        enum intent_act act = intent.segments[i].act;

        is_guess |= strcmp(intent.segments[i].rule, INTENT_BY_CLASSIFIER) == 0;
        n_questions += act == INTENT_QUESTION;
        n_wishes += act == INTENT_REQUEST;
        n_others += act != INTENT_QUESTION && act != INTENT_REQUEST &&
                    act != INTENT_GREETING;
    }
    if (n_others == 0 && n_questions + n_wishes > 0) {
        *out = n_wishes > 0 ? ASKING_WISH : ASKING_ONLY;
    }
    if ((*out == ASKING_ONLY || is_guess) && !has_mark(text)) {
        bool tells = false;
        enum clew_status status = tells_first(arena, text, &tells, err);

        *out = tells ? ASKING_NOT : *out;
        return status;
    }
    return CLEW_OK;
}

/* "Oma" and "Omas", which a stemmer leaves alone in a name. */
static bool is_form_of(struct str a, struct str b)
{
    struct str less = a.len < b.len ? a : b;
    struct str more = a.len < b.len ? b : a;

    return less.len >= FORM_BYTES && more.len - less.len <= FORM_ENDING &&
           str_starts(more, less);
}

static bool has_word(const struct tokens *question, const struct token *word)
{
    for (size_t i = 0; i < question->count; i++) {
        const struct token *token = &question->items[i];

        if (str_eq(token->stem, word->stem) ||
            (token->kind == TOKEN_WORD && word->kind == TOKEN_WORD &&
             is_form_of(token->folded, word->folded))) {
            return true;
        }
    }
    return false;
}

/* May the word be what was asked for? */
static bool is_telling(const struct token *token)
{
    return token->kind == TOKEN_NUMBER || token->kind == TOKEN_CODE ||
           token->kind == TOKEN_BIGRAM ||
           (token->flags & TOKEN_CAPITAL &&
            !(token->flags & TOKEN_SENTENCE_START));
}

/* Does a text that asks tell nothing beside the question? */
static bool asks_same(struct str query, const struct tokens *question,
                      struct str text, const struct tokens *tokens,
                      enum asking asking)
{
    uint32_t wants = question_wants(query, question);
    size_t n_shared = 0;
    size_t n_others = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->items[i];

        if (!is_word(token)) {
            continue;
        }
        if (has_word(question, token)) {
            n_shared++;
        } else if (is_telling(token)) {
            return false;
        } else {
            n_others++;
        }
    }
    if (n_shared == 0 || n_others == 0) {
        return n_shared > 0;
    }
    return asking == ASKING_ONLY && wants == question_wants(text, tokens) &&
           (wants || n_shared >= SHARED_FOR_OTHER * n_others);
}

enum clew_status search_find_asking(struct search_work *work,
                                    struct clew_error *err)
{
    struct str query = work->asked.text;
    struct tokens question;
    struct tokens tokens;
    enum asking asking;
    bool asks = false;
    enum clew_status status = CLEW_OK;

    if (search_may_read(work)) {
        status = is_asked(work->arena, query, &asks, err);
    }
    if (status != CLEW_OK || !asks) {
        return status;
    }
    if (tokens_of(work->arena, query, &question) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct matter *matter = &work->matters[i];
        struct str text = matter->hit.text;

        status = only_asks(work->arena, text, &asking, err);
        if (status != CLEW_OK || asking == ASKING_NOT) {
            continue;
        }
        if (tokens_of(work->arena, text, &tokens) != CLEW_OK) {
            return clew_no_memory(err);
        }
        matter->hit.is_asking =
            asks_same(query, &question, text, &tokens, asking);
        if (matter->hit.is_asking) {
            matter->n_named = 0;
        }
    }
    return status;
}
