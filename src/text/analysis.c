/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.c - the steps of an analysis, in order. See analysis.h.
 */
#include "text/analysis.h"

#include "text/analysis_internal.h"
#include "text/chars.h"
#include "text/date/dates.h"

static bool is_one_of(uint32_t c, const uint32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c == list[i]) {
            return true;
        }
    }
    return false;
}

static void note_end(struct str text, const struct token *token,
                     struct sentence *sentence)
{
    static const uint32_t questions[] = {'?',    0x061f, 0xff1f, 0x2047,
                                         0x2048, 0x2049, 0x037e};
    static const uint32_t shouts[] = {'!', 0xff01, 0x203c};
    uint32_t len;
    uint32_t c = char_decode(text, token->from, &len);

    if (is_one_of(c, questions, sizeof(questions) / sizeof(questions[0]))) {
        sentence->is_question = true;
    } else if (is_one_of(c, shouts, sizeof(shouts) / sizeof(shouts[0]))) {
        sentence->is_exclaimed = true;
    }
}

/* Question and exclamation marks count at the end, before closing quotes. */
static void read_end(const struct analysis *analysis, struct sentence *sentence)
{
    for (uint32_t i = sentence->span.end_token; i > sentence->span.first_token;
         i--) {
        const struct token *token = &analysis->tokens.items[i - 1];

        if (token->kind == TOKEN_SYMBOL) {
            continue; /* an emoji after the question mark */
        }
        if (token->kind != TOKEN_PUNCT) {
            break;
        }
        note_end(analysis->text, token, sentence);
    }
}

static void add_sentence(struct analysis *analysis, size_t first, size_t end)
{
    const struct token *items = analysis->tokens.items;
    struct sentence *sentence = &analysis->sentences[analysis->n_sentences++];

    *sentence = (struct sentence){
        .span = {items[first].from, items[end - 1].to, (uint32_t)first,
                 (uint32_t)end},
        .is_code = items[first].flags & TOKEN_IN_FENCE,
    };
    /* parts end before their whole does */
    for (size_t i = end; i > first && sentence->span.to < items[i - 1].to;
         i--) {
        sentence->span.to = items[i - 1].to;
    }
    for (size_t i = end; i > first; i--) {
        if (!(items[i - 1].flags & TOKEN_PART)) {
            sentence->span.to = items[i - 1].to;
            break;
        }
    }
    if (!sentence->is_code) {
        read_end(analysis, sentence);
    }
}

static bool sentences_of(struct arena *arena, struct analysis *analysis)
{
    const struct tokens *tokens = &analysis->tokens;
    size_t n = 0;
    size_t first = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        n += tokens->items[i].flags & TOKEN_BREAK ? 1 : 0;
    }
    analysis->sentences =
        arena_zero(arena, n + 1, sizeof(*analysis->sentences));
    if (!analysis->sentences) {
        return false;
    }
    for (size_t i = 1; i <= tokens->count; i++) {
        if (i == tokens->count || tokens->items[i].flags & TOKEN_BREAK) {
            add_sentence(analysis, first, i);
            first = i;
        }
    }
    return true;
}

enum clew_status analysis_run(struct arena *arena, struct str text,
                              const struct analysis_options *options,
                              struct analysis *out, struct clew_error *err)
{
    struct analysis analysis = {.text = text};
    enum clew_status status = tokens_of(arena, text, &analysis.tokens);

    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not read the text");
    }
    if (!sentences_of(arena, &analysis) ||
        (!options->has_no_keywords && !keywords_of(arena, &analysis)) ||
        !dates_of(arena, text, &analysis.tokens, options, &analysis.dates,
                  &analysis.n_dates) ||
        !entities_of(arena, options, &analysis)) {
        return clew_fail(err, CLEW_NO_MEMORY, "could not analyse the text");
    }
    *out = analysis;
    return CLEW_OK;
}
