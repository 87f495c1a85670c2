/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_vector.c - pack, fade and compare. See chain_vector.h.
 */
#include "engine/read/chain_vector.h"

#include <math.h>
#include <stddef.h>

#define LARGEST 127.0f
/* Most parts are small: the range is used for a third of the length. */
#define SCALE (3 * LARGEST)
#define CENTRE_UNIT 1e-4f
/* How much of the past is left in the sum after each turn. The kept sum has
 * unit length; the series it stands for is about three turns long. */
#define FADE (0.8f * 3)

static void pack(const float *from, struct chain_vector *out)
{
    float norm = 0;

    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        norm += from[i] * from[i];
    }
    norm = norm > 0 ? sqrtf(norm) : 1;
    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        float part = from[i] / norm * SCALE;

        out->parts[i] = (int8_t)lrintf(fminf(LARGEST, fmaxf(-LARGEST, part)));
    }
}

void chain_vector_pack(const float *vector, const int16_t *centre,
                       struct chain_vector *out)
{
    float left[CHAIN_VECTOR];

    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        left[i] = vector[i] - (centre ? (float)centre[i] * CENTRE_UNIT : 0);
    }
    pack(left, out);
}

void chain_vector_fade(struct chain_vector *sum,
                       const struct chain_vector *turn)
{
    float all[CHAIN_VECTOR];

    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        all[i] = (float)turn->parts[i] + FADE * (float)sum->parts[i];
    }
    pack(all, sum);
}

float chain_vector_cosine(const struct chain_vector *a,
                          const struct chain_vector *b)
{
    int32_t dot = 0;
    int32_t aa = 0;
    int32_t bb = 0;

    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        dot += a->parts[i] * b->parts[i];
        aa += a->parts[i] * a->parts[i];
        bb += b->parts[i] * b->parts[i];
    }
    return aa > 0 && bb > 0 ? (float)dot / sqrtf((float)aa * (float)bb) : 0;
}
