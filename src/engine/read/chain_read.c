/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_read.c - a turn cut into parts with claims and a topic. See
 * chain_read.h.
 */
#include "engine/read/chain_read.h"

#include "base/utf8.h"
#include "engine/chat/turn.h"
#include "model/embed.h"

#define TOPIC_BYTES 80
#define FALLBACK_BYTES 48

struct reader {
    struct arena *arena;
    const struct analysis *analysis;
    bool is_user;
    struct claim *claims; /* of the whole turn */
    size_t n_claims;
};

/* --- topics -----------------------------------------------------------------
 */

size_t chain_read_words(const struct analysis *a, struct str phrase,
                        uint32_t out[CHAIN_TOPIC_WORDS])
{
    size_t from = (size_t)(phrase.s - a->text.s);
    size_t count = 0;

    for (size_t i = 0; i < a->tokens.count && count < CHAIN_TOPIC_WORDS; i++) {
        const struct token *token = &a->tokens.items[i];

        if (token->from >= from && token->to <= from + phrase.len &&
            token->kind != TOKEN_PUNCT &&
            !(token->flags & (TOKEN_STOP | TOKEN_PART))) {
            out[count++] = chain_hash(token->stem);
        }
    }
    return count;
}

static struct str cut(struct str text, size_t max)
{
    size_t end = utf8_cut(text, max);

    while (end < text.len && end > 0 && text.s[end] != ' ') {
        end--;
    }
    return str_trim(str_sub(text, 0, end > 0 ? end : utf8_cut(text, max)));
}

/* A phrase for what the part is about: the turn's, or its claims'. */
static void find_topic(const struct analysis *a, struct chain_part *part,
                       bool is_whole)
{
    struct str topic = is_whole ? analysis_topic(a) : (struct str){0};

    for (size_t i = 0; topic.len == 0 && i < part->n_claims; i++) {
        topic = part->claims[i].subject;
    }
    part->is_phrase = topic.len > 0;
    if (topic.len == 0) {
        topic = cut(part->claims[0].statement, FALLBACK_BYTES);
    }
    part->topic = cut(topic, TOPIC_BYTES);
    if (part->topic.len > 0 && part->topic.s >= a->text.s &&
        part->topic.s < a->text.s + a->text.len) {
        part->n_topic_words =
            chain_read_words(a, part->topic, part->topic_words);
    }
}

/* --- parts ------------------------------------------------------------------
 */

static enum clew_status features_of(const struct reader *reader, size_t first,
                                    size_t end, struct chain_features *out,
                                    struct clew_error *err)
{
    return chain_features_of(reader->arena, reader->analysis, first, end,
                             reader->is_user, out) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

/* The sentence, after the first, that says the topic changes; or the end. */
static enum clew_status find_switch(const struct reader *reader, uint32_t cues,
                                    size_t *out_at, struct clew_error *err)
{
    size_t end = reader->analysis->n_sentences;

    for (size_t i = 1; i < end && cues & CUE_SWITCHES; i++) {
        struct chain_features features;
        enum clew_status status = features_of(reader, i, i + 1, &features, err);

        if (status != CLEW_OK) {
            return status;
        }
        if (features.cues & CUE_SWITCHES) {
            *out_at = i;
            return CLEW_OK;
        }
    }
    *out_at = end;
    return CLEW_OK;
}

/* Fill the claims and the topic of sentences [part->first, end). */
static void fill(const struct reader *reader, size_t end,
                 struct chain_part *part)
{
    size_t left = reader->n_claims;

    part->claims = reader->claims;
    while (left > 0 && part->claims[0].sentence < part->first) {
        part->claims++;
        left--;
    }
    while (part->n_claims < left &&
           part->claims[part->n_claims].sentence < end) {
        part->n_claims++;
    }
    if (part->n_claims > 0) {
        find_topic(reader->analysis, part,
                   part->first == 0 && end == reader->analysis->n_sentences);
    }
}

enum clew_status chain_read(struct arena *arena,
                            const struct analysis *analysis,
                            const struct turn *turn, struct chain_reading *out,
                            struct clew_error *err)
{
    struct reader reader = {.arena = arena,
                            .analysis = analysis,
                            .is_user = turn->role == TURN_USER};
    size_t end = analysis->n_sentences;
    size_t middle = end;
    enum clew_status status;

    *out = (struct chain_reading){
        .parts = arena_zero(arena, CHAIN_MAX_PARTS, sizeof(*out->parts))};
    if (!out->parts) {
        return clew_no_memory(err);
    }
    if (end == 0) {
        return CLEW_OK;
    }
    status = claim_read(arena, analysis, turn, &reader.claims, &reader.n_claims,
                        err);
    if (status == CLEW_OK) {
        status = features_of(&reader, 0, end, &out->parts[0].features, err);
    }
    if (status == CLEW_OK) {
        status =
            find_switch(&reader, out->parts[0].features.cues, &middle, err);
    }
    if (status == CLEW_OK && middle < end) {
        out->parts[1].first = middle;
        status = features_of(&reader, 0, middle, &out->parts[0].features, err);
        if (status == CLEW_OK) {
            status =
                features_of(&reader, middle, end, &out->parts[1].features, err);
        }
    }
    out->n_parts = middle < end ? 2 : 1;
    fill(&reader, middle, &out->parts[0]);
    if (middle < end) {
        fill(&reader, end, &out->parts[1]);
    }
    return status;
}

enum clew_status chain_read_vector(const float *vector, struct str text,
                                   struct chain_reading *out,
                                   struct clew_error *err)
{
    struct embedder *shipped = embed_static();
    float own[CHAIN_VECTOR];
    enum clew_status status = CLEW_OK;

    if (out->n_parts == 0 || !shipped || shipped->dim != CHAIN_VECTOR) {
        return CLEW_OK;
    }
    if (!vector) {
        status = embed_run(shipped, &text, 1, own, err);
        vector = own;
    }
    if (status == CLEW_OK) {
        chain_vector_pack(vector, shipped->centre, &out->vector);
        out->has_vector = true;
    }
    return status;
}
