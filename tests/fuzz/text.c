/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - fuzz: any bytes are analysed; every offset lies in the text, dates
 * are ranges, a bound is not below what its words can be.
 *
 * The first byte chooses the zone and the time, the rest is the text.
 */
#include "base/limits.h"
#include "text/analysis.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void check_slice(const struct analysis *a, struct str part)
{
    require(part.len == 0 || (part.s >= a->text.s &&
                              part.s + part.len <= a->text.s + a->text.len));
}

static void check_tokens(const struct analysis *a)
{
    struct arena arena;
    struct str *terms;
    size_t n_terms;

    require(a->tokens.count <= LIMIT_TEXT_TOKENS);
    for (size_t i = 0; i < a->tokens.count; i++) {
        const struct token *token = &a->tokens.items[i];

        require(token->from < token->to && token->to <= a->text.len);
        require(token->to - token->from <= LIMIT_TOKEN_BYTES);
        require(token->folded.s && token->stem.s);
    }
    arena_init(&arena, 1 << 26);
    require(terms_of(&arena, &a->tokens, &terms, &n_terms) == CLEW_OK);
    arena_release(&arena);
}

static void check_rest(const struct analysis *a)
{
    size_t at = 0;

    for (size_t i = 0; i < a->n_sentences; i++) {
        require(a->sentences[i].span.first_token == at);
        at = a->sentences[i].span.end_token;
        check_slice(a, analysis_subject(a, &a->sentences[i]));
    }
    require(at == a->tokens.count);
    check_slice(a, analysis_topic(a));
    for (size_t i = 0; i < a->n_entities; i++) {
        check_slice(a, a->entities[i].text);
        require(a->entities[i].key.len > 0);
    }
    for (size_t i = 0; i < a->n_dates; i++) {
        check_slice(a, a->dates[i].text);
        require(a->dates[i].from_ms < a->dates[i].to_ms);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const zones[] = {"", "Europe/Berlin", "+05:30",
                                        "America/New_York"};
    struct analysis_options options = {0};
    struct analysis analysis;
    struct arena arena;
    struct str text;

    if (len == 0) {
        return 0;
    }
    options.timezone = str_of(zones[data[0] & 3]);
    options.time_ms = (int64_t)data[0] * 12345678901LL;
    text = (struct str){(const char *)data + 1, len - 1};
    arena_init(&arena, 1 << 28);
    require(analysis_run(&arena, text, &options, &analysis, NULL) == CLEW_OK);
    check_tokens(&analysis);
    check_rest(&analysis);
    require(text_token_bound(text) <= 3 * text.len);
    require(text_token_estimate(text) <= 3 * text.len + 1);
    (void)text_fuzzy(text, str_sub(text, 0, text.len / 2));
    require(text_fuzzy(text, text) <= 1.0001);
    arena_release(&arena);
    return 0;
}
