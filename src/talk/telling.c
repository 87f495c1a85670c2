/* SPDX-License-Identifier: Apache-2.0 */
/*
 * telling.c - see telling.h.
 */
#include "talk/telling.h"

#include "text/lexicon.h"

bool telling_is(const struct token *token)
{
    if (token->flags & TOKEN_PART) {
        return false;
    }
    return token->kind == TOKEN_NUMBER || token->kind == TOKEN_CODE ||
           token->kind == TOKEN_BIGRAM ||
           (token->kind == TOKEN_WORD &&
            !(token->flags & (TOKEN_STOP | TOKEN_CHAT)));
}

bool telling_is_noun(const struct token *token)
{
    struct lex_word word;

    if (!telling_is(token) || token->kind == TOKEN_NUMBER) {
        return false;
    }
    return token->kind != TOKEN_WORD ||
           !lexicon_find(token->folded, str_hash(token->folded), &word) ||
           !(word.flags & LEX_TAGGED) || word.noun >= 128;
}

bool telling_is_one(struct str word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str item = str_of(list[i]);

        if (str_starts(word, item) &&
            (word.len == item.len || word.s[item.len] == '\'')) {
            return true;
        }
    }
    return false;
}
