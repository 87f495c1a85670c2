/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_read.c - sentences that say something. See claim_read.h.
 */
#include "engine/read/claim_read.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "engine/chat/turn.h"
#include "text/smalltalk.h"

#include <string.h>

/* Longest statement shown of a byte range, in bytes. */
#define MAX_STATEMENT 400
#define MAX_SUBJECT 120
#define MAX_LIST 8

/* Does the sentence say anything: a telling word, a name, a number? Not a
 * courtesy of a language of which the lexicon knows no word. */
static float weight_of(const struct analysis *a, const struct sentence *s)
{
    float weight = 0;
    bool has_known = false;

    for (size_t i = s->span.first_token; i < s->span.end_token; i++) {
        const struct token *token = &a->tokens.items[i];

        if (token->flags & TOKEN_PART || token->kind == TOKEN_PUNCT) {
            continue;
        }
        if (token->kind == TOKEN_NUMBER || token->kind == TOKEN_CODE ||
            token->kind == TOKEN_BIGRAM ||
            (token->kind == TOKEN_WORD &&
             !(token->flags & (TOKEN_STOP | TOKEN_CHAT)))) {
            weight += 1;
            has_known |= (token->flags & TOKEN_KNOWN) != 0;
        }
    }
    if (!has_known &&
        smalltalk_is(str_sub(a->text, s->span.from, s->span.to))) {
        return 0;
    }
    return s->is_code ? 0 : weight;
}

static struct str cut(struct str text, size_t max)
{
    text = str_trim(text);
    return utf8_head(text, max);
}

struct str claim_statement(struct str text, int64_t first_byte,
                           int64_t end_byte)
{
    size_t end = end_byte < 0 || (size_t)end_byte > text.len ? text.len
                                                             : (size_t)end_byte;
    size_t first =
        first_byte < 0 || (size_t)first_byte > end ? end : (size_t)first_byte;

    /* a text that was masked since may be another: whole characters only */
    while (first < end && ((unsigned char)text.s[first] & 0xc0) == 0x80) {
        first++;
    }
    end = utf8_cut(text, end);
    return cut(str_sub(text, first, end > first ? end : first), MAX_STATEMENT);
}

/* "a,b,c" of what `get` finds inside the sentence. */
static struct str entities_in(struct arena *arena, const struct analysis *a,
                              const struct span *span)
{
    struct buf out;
    size_t count = 0;
    struct str text;

    buf_init(&out, (size_t)1 << 16);
    for (size_t i = 0; i < a->n_entities && count < MAX_LIST; i++) {
        const struct entity *entity = &a->entities[i];

        if (entity->span.from >= span->from && entity->span.to <= span->to &&
            !memchr(entity->text.s, ',', entity->text.len)) {
            (void)buf_printf(&out, "%s%.*s", count ? "," : "",
                             (int)entity->text.len, entity->text.s);
            count++;
        }
    }
    text = arena_str(arena, buf_str(&out));
    if (buf_status(&out) != CLEW_OK) {
        text.s = NULL;
    }
    buf_release(&out);
    return text;
}

/* The first telling words of the sentence, each once. */
static struct str keywords_in(struct arena *arena, const struct analysis *a,
                              const struct span *span)
{
    struct str words[MAX_LIST];
    size_t count = 0;
    size_t len = 0;
    char *out;

    for (size_t i = span->first_token; i < span->end_token && count < MAX_LIST;
         i++) {
        const struct token *token = &a->tokens.items[i];
        bool is_new = token->kind == TOKEN_WORD && token->stem.len >= 3 &&
                      !(token->flags & (TOKEN_STOP | TOKEN_CHAT | TOKEN_PART));

        for (size_t k = 0; k < count && is_new; k++) {
            is_new = !str_eq(words[k], token->stem);
        }
        if (is_new) {
            words[count++] = token->stem;
            len += token->stem.len + 1;
        }
    }
    out = arena_alloc(arena, len + 1);
    if (!out) {
        return (struct str){0};
    }
    len = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            out[len++] = ',';
        }
        memcpy(out + len, words[i].s, words[i].len);
        len += words[i].len;
    }
    return (struct str){out, len};
}

static int64_t valid_from(const struct analysis *a, const struct span *span)
{
    for (size_t i = 0; i < a->n_dates; i++) {
        if (!a->dates[i].is_unsure && a->dates[i].span.from >= span->from &&
            a->dates[i].span.to <= span->to) {
            return a->dates[i].from_ms;
        }
    }
    return 0;
}

bool claim_details(struct arena *arena, const struct analysis *a,
                   size_t sentence, struct claim *out)
{
    const struct span *span = &a->sentences[sentence].span;

    out->sentence = sentence;
    out->subject =
        cut(analysis_subject(a, &a->sentences[sentence]), MAX_SUBJECT);
    if (out->subject.len == 0) {
        out->subject = cut(analysis_topic(a), MAX_SUBJECT);
    }
    if (out->subject.len == 0) {
        out->subject = STR("");
    }
    out->valid_from_ms = valid_from(a, span);
    out->entities = entities_in(arena, a, span);
    out->keywords = keywords_in(arena, a, span);
    return out->entities.s && out->keywords.s;
}

static bool fill(struct arena *arena, const struct analysis *a, size_t index,
                 const struct turn *turn, struct claim *out)
{
    const struct span *span = &a->sentences[index].span;
    bool is_hedged;

    if (!claim_type_of(arena, a, index, &out->type, &is_hedged)) {
        return false;
    }
    out->turn_id = turn->id;
    out->first_byte = span->from;
    out->end_byte = span->to;
    out->created_at_ms = turn->created_at_ms;
    out->statement = claim_statement(a->text, out->first_byte, out->end_byte);
    out->confidence = is_hedged ? CLAIM_HEDGED : CLAIM_SURE;
    return claim_details(arena, a, index, out);
}

/* The lightest of the chosen sentences. */
static size_t lightest(const float *weights, const size_t *chosen, size_t count)
{
    size_t at = 0;

    for (size_t i = 1; i < count; i++) {
        if (weights[chosen[i]] <= weights[chosen[at]]) {
            at = i;
        }
    }
    return at;
}

/* The most telling sentences, in order. */
static size_t choose(const struct analysis *a, float *weights, size_t *chosen)
{
    size_t count = 0;

    for (size_t i = 0; i < a->n_sentences; i++) {
        weights[i] = weight_of(a, &a->sentences[i]);
        if (weights[i] <= 0) {
            continue;
        }
        if (count == CLAIM_MAX_PER_TURN) {
            size_t out = lightest(weights, chosen, count);

            if (weights[chosen[out]] >= weights[i]) {
                continue;
            }
            memmove(chosen + out, chosen + out + 1,
                    (count - out - 1) * sizeof(*chosen));
            count--;
        }
        chosen[count++] = i;
    }
    return count;
}

struct uuid claim_id(int64_t created_at_ms, const struct uuid *turn_id,
                     int64_t position)
{
    return uuid_derive(created_at_ms, turn_id, "claim", (uint64_t)position);
}

enum clew_status claim_read(struct arena *arena, const struct analysis *a,
                            const struct turn *turn, struct claim **out_claims,
                            size_t *out_count, struct clew_error *err)
{
    size_t chosen[CLAIM_MAX_PER_TURN];
    size_t count = 0;
    float *weights = arena_zero(arena, a->n_sentences + 1, sizeof(*weights));
    struct claim *claims =
        arena_zero(arena, CLAIM_MAX_PER_TURN, sizeof(*claims));

    if (!weights || !claims) {
        return clew_no_memory(err);
    }
    count = choose(a, weights, chosen);
    for (size_t i = 0; i < count; i++) {
        claims[i].position = (int64_t)i;
        claims[i].id =
            claim_id(turn->created_at_ms, &turn->id, claims[i].position);
        if (!fill(arena, a, chosen[i], turn, &claims[i])) {
            return clew_no_memory(err);
        }
    }
    *out_claims = claims;
    *out_count = count;
    return CLEW_OK;
}
