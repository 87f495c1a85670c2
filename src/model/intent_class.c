/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_class.c - the shipped classifier: hashed words, linear, int8.
 *
 * Multinomial logistic regression over hashed features of one segment without
 * its punctuation. models/intent.md says what it was trained on and how; the
 * weights are compiled in, so there is nothing to load and nothing to miss.
 */
#include "model/intent_internal.h"

#include <math.h>
#include <string.h>

/* File: 7 scales and 7 biases (float32, little-endian), then int8 rows. */
__asm__(".section .rodata\n"
        ".balign 16\n"
        "intent_weights_begin:\n"
        ".incbin \"" CLEW_INTENT_FILE "\"\n"
        "intent_weights_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char intent_weights_begin[] __attribute__((visibility("hidden")));
extern const char intent_weights_end[] __attribute__((visibility("hidden")));

#define HEADER_BYTES (2 * INTENT_ACTS * sizeof(float))
#define WEIGHT_BYTES (HEADER_BYTES + (size_t)INTENT_BUCKETS * INTENT_ACTS)

/* Kinds of features; the hash keeps them apart. */
enum feature { F_WORD = 1, F_PAIR, F_FIRST, F_FIRST2, F_FIRST3, F_LAST, F_LEN };

static uint32_t mix(uint32_t hash, const struct intent_word *word)
{
    for (size_t i = 0; i < word->len; i++) {
        hash = (hash ^ (unsigned char)word->s[i]) * 16777619u;
    }
    return (hash ^ 0x20) * 16777619u;
}

static uint16_t bucket_of(uint32_t hash)
{
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6du;
    hash ^= hash >> 12;
    return (uint16_t)(hash & (INTENT_BUCKETS - 1));
}

static uint32_t start_of(enum feature kind)
{
    return (2166136261u ^ (uint32_t)kind) * 16777619u;
}

static uint16_t hash_words(enum feature kind, const struct intent_word *words,
                           size_t n_words)
{
    uint32_t hash = start_of(kind);

    for (size_t i = 0; i < n_words; i++) {
        hash = mix(hash, &words[i]);
    }
    return bucket_of(hash);
}

/* Hashed features of a segment; returns how many were written. */
static size_t intent_features(const struct intent_piece *piece,
                              uint16_t out[INTENT_MAX_FEATURES])
{
    const struct intent_word *words = piece->words;
    const struct intent_word *body = words + piece->body;
    size_t n_body = piece->n_words - piece->body;
    size_t n = 0;
    size_t bucket = piece->n_words;

    bucket = bucket < 4    ? bucket
             : bucket < 7  ? 4
             : bucket < 12 ? 5
             : bucket < 25 ? 6
                           : 7;
    out[n++] = bucket_of(start_of(F_LEN) + (uint32_t)bucket);
    out[n++] = hash_words(F_FIRST, words, 1);
    out[n++] = hash_words(F_LAST, words + piece->n_words - 1, 1);
    for (size_t k = 1; k <= 3 && k <= n_body; k++) {
        out[n++] = hash_words((enum feature)(F_FIRST + (int)k - 1), body, k);
    }
    for (size_t i = 0; i < piece->n_words && n + 2 < INTENT_MAX_FEATURES; i++) {
        out[n++] = hash_words(F_WORD, words + i, 1);
        if (i + 1 < piece->n_words) {
            out[n++] = hash_words(F_PAIR, words + i, 2);
        }
    }
    return n;
}

void intent_classify(const struct intent_piece *piece,
                     float out_share[INTENT_ACTS])
{
    uint16_t features[INTENT_MAX_FEATURES];
    size_t n = intent_features(piece, features);
    const signed char *rows =
        (const signed char *)intent_weights_begin + HEADER_BYTES;
    int32_t sums[INTENT_ACTS] = {0};
    float scale[INTENT_ACTS];
    float bias[INTENT_ACTS];
    float top = -1e30f;
    float total = 0;

    memset(out_share, 0, INTENT_ACTS * sizeof(*out_share));
    if ((size_t)(intent_weights_end - intent_weights_begin) != WEIGHT_BYTES) {
        return; /* built without weights: never sure of anything */
    }
    memcpy(scale, intent_weights_begin, sizeof(scale));
    memcpy(bias, intent_weights_begin + sizeof(scale), sizeof(bias));
    for (size_t i = 0; i < n; i++) {
        const signed char *row = rows + (size_t)features[i] * INTENT_ACTS;

        for (size_t k = 0; k < INTENT_ACTS; k++) {
            sums[k] += row[k];
        }
    }
    for (size_t k = 0; k < INTENT_ACTS; k++) {
        out_share[k] = bias[k] + scale[k] * (float)sums[k];
        top = out_share[k] > top ? out_share[k] : top;
    }
    for (size_t k = 0; k < INTENT_ACTS; k++) {
        out_share[k] = expf(out_share[k] - top);
        total += out_share[k];
    }
    for (size_t k = 0; k < INTENT_ACTS; k++) {
        out_share[k] /= total;
    }
}
