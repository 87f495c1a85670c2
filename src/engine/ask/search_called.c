/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_called.c - a name in passing: "my sister Kathrin came along" tells
 * what the sister is called. See search_internal.h.
 *
 * The reader takes such a turn for what it tells otherwise. The form is exact:
 * the words that the name is asked of, whose it is before them as in the
 * question, and a name right behind them. Where nothing that was found so much
 * as speaks of them, whatever name it has may be another's.
 */
#include "engine/ask/search_internal.h"

#include "base/utf8.h"
#include "text/question.h"

#include <math.h>
#include <string.h>

/* Of a text so much is looked through. */
#define CALLED_BYTES 4096

/* The beginnings of words that say that it is the speaker's own, and of those
 * that say so of whom one speaks to. */
static const char *const mine[] = {"my",    "our",   "mein", "unser", "mon",
                                   "ma",    "notre", "mi",   "mis",   "nuestr",
                                   "nostr", "mio",   "mia",  "meu",   "minha",
                                   "nosso", "mijn",  "onze", "min",   "vår"};
static const char *const yours[] = {"your", "dein", "euer", "eure",  "ihr",
                                    "ton",  "ta",   "tu",   "votre", "su",
                                    "tuo",  "tua",  "teu",  "jouw",  "din"};
/* An ending of those: "meiner", "unserem". */
#define OWNER_ENDING 2

static bool is_owner(struct str word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(list[i]);

        if (word.len >= len && word.len <= len + OWNER_ENDING &&
            memcmp(word.s, list[i], len) == 0) {
            return true;
        }
    }
    return false;
}
#define IS_OWNER(word, list)                                                   \
    is_owner((word), (list), sizeof(list) / sizeof((list)[0]))

/* Without "'s". */
static struct str bare(struct str word)
{
    return str_ends(word, STR("'s")) ? str_sub(word, 0, word.len - 2) : word;
}

static bool is_same_word(const struct token *a, const struct token *b)
{
    return a->kind == b->kind && (str_eq(a->stem, b->stem) ||
                                  str_eq(bare(a->folded), bare(b->folded)));
}

/* The place of the token before, parts of compounds left out; SIZE_MAX: there
 * is none. */
static size_t before(const struct tokens *tokens, size_t at)
{
    while (at-- > 0) {
        if (!(tokens->items[at].flags & TOKEN_PART)) {
            return at;
        }
    }
    return SIZE_MAX;
}

/* The word before; empty where there is none. */
static struct str word_before(const struct tokens *tokens, size_t at)
{
    size_t place = before(tokens, at);

    return place == SIZE_MAX || tokens->items[place].kind == TOKEN_PUNCT
               ? STR("")
               : tokens->items[place].folded;
}

/* The next after a token and its parts; NULL at the end. */
static const struct token *token_after(const struct tokens *tokens, size_t at)
{
    for (at++; at < tokens->count; at++) {
        if (!(tokens->items[at].flags & TOKEN_PART)) {
            return &tokens->items[at];
        }
    }
    return NULL;
}

/* Where all nouns are written so, a known one is none. */
static bool is_name(const struct tokens *tokens, const struct token *token)
{
    return token->kind == TOKEN_WORD && token->flags & TOKEN_CAPITAL &&
           !(token->flags & (TOKEN_STOP | TOKEN_CHAT | TOKEN_SENTENCE_START)) &&
           !(tokens->language == TEXT_GERMAN && token->flags & TOKEN_KNOWN);
}

/* Whose name is asked for. */
struct called {
    struct tokens question;
    size_t first;
    size_t last;
};

/* Is it the same one's, said by a person or told to one? "Dad's dog" says so
 * itself, and "the dog" is one's own, mostly. */
static bool is_theirs(const struct called *called, struct str said,
                      enum turn_role role)
{
    struct str asked = word_before(&called->question, called->first);

    if (IS_OWNER(asked, mine)) {
        return role == TURN_ASSISTANT ? IS_OWNER(said, yours)
                                      : IS_OWNER(said, mine);
    }
    return called->first != called->last || IS_OWNER(said, mine) ||
           (said.len > 0 && str_eq(asked, said));
}

/* Do the words that end at `at` say the same? Where they begin, or SIZE_MAX. */
static size_t words_at(const struct called *called, const struct tokens *said,
                       size_t at)
{
    size_t asked = called->last;

    while (at != SIZE_MAX &&
           is_same_word(&called->question.items[asked], &said->items[at])) {
        if (asked == called->first) {
            return at;
        }
        asked = before(&called->question, asked);
        at = before(said, at);
    }
    return SIZE_MAX;
}

static bool is_called(const struct called *called, const struct tokens *said,
                      enum turn_role role)
{
    for (size_t i = 0; i < said->count; i++) {
        const struct token *next = token_after(said, i);
        size_t first;

        if (said->items[i].flags & TOKEN_PART || !next ||
            !is_name(said, next)) {
            continue;
        }
        first = words_at(called, said, i);
        if (first != SIZE_MAX &&
            is_theirs(called, word_before(said, first), role)) {
            return true;
        }
    }
    return false;
}

static bool has_word(const struct called *called, const struct tokens *said)
{
    for (size_t i = 0; i < said->count; i++) {
        if (is_same_word(&called->question.items[called->last],
                         &said->items[i])) {
            return true;
        }
    }
    return false;
}

/* One that was read, and the turn before it: is it named there, or at least
 * spoken of? */
static enum clew_status look_at(struct search_work *work,
                                const struct called *called,
                                struct matter *matter, bool *is_spoken_of,
                                struct clew_error *err)
{
    struct str texts[2] = {matter->hit.text,
                           matter->before ? matter->before->text : STR("")};

    for (size_t i = 0; i < 2; i++) {
        struct tokens said;

        texts[i].len = utf8_cut(texts[i], CALLED_BYTES);
        if (tokens_of(work->arena, texts[i], &said) != CLEW_OK) {
            return clew_no_memory(err);
        }
        *is_spoken_of = *is_spoken_of || has_word(called, &said);
        if (i == 0 && matter->hit.turn && (double)matter->read < CALLED_READ &&
            is_called(called, &said, matter->hit.turn->role)) {
            matter->read = (float)CALLED_READ;
            matter->is_glanced = false;
        }
    }
    return CLEW_OK;
}

enum clew_status search_find_called(struct search_work *work, size_t count,
                                    struct clew_error *err)
{
    struct called called;
    bool is_spoken_of = false;
    enum clew_status status = CLEW_OK;

    if (tokens_of(work->arena, work->asked.text, &called.question) != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (!question_names(&called.question, &called.first, &called.last)) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = look_at(work, &called, &work->matters[i], &is_spoken_of, err);
    }
    for (size_t i = 0; i < count && !is_spoken_of; i++) {
        work->matters[i].read =
            fminf(work->matters[i].read, (float)CALLED_UNSPOKEN);
    }
    return status;
}
