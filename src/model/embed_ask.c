/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_ask.c - turn a question's vector. See embed_ask.h.
 *
 * The file holds what the matrix adds to the identity, in int8 with a scale a
 * row: the part that keeps a vector as it is needs no bits. The vector is
 * rounded to 16 bits, the products with a row are summed as whole numbers.
 */
#include "model/embed_ask.h"

#include "base/sha256.h"
#include "model/embed.h"
#include "model/static_kernels.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "clewask1"
#define VERSION 1u
#define ID_AT 32
#define ID_BYTES 32
#define HASH_AT 64
#define HEADER_BYTES 128
/* A value of 1 in 16 bits: with int8 weights and EMBED_ASK_MAX_DIM axes a sum
 * stays below 2^31. */
#define ONE 32767.0f
/* The largest scale of a row: trained ones are under .01. */
#define MAX_SCALE 1.0f

__asm__(".section .rodata\n"
        ".balign 64\n"
        ".global clew_ask_bytes\n"
        "clew_ask_bytes:\n"
        ".incbin \"" CLEW_ASK_FILE "\"\n"
        ".global clew_ask_end\n"
        "clew_ask_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char clew_ask_bytes[] __attribute__((visibility("hidden")));
extern const char clew_ask_end[] __attribute__((visibility("hidden")));

static uint32_t u32_at(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static bool has_hash(struct str file)
{
    unsigned char hash[SHA256_SIZE];

    sha256_of(str_sub(file, HEADER_BYTES, file.len), hash);
    return memcmp(hash, file.s + HASH_AT, sizeof(hash)) == 0;
}

static bool are_scales(const float *scales, size_t dim)
{
    for (size_t i = 0; i < dim; i++) {
        /* false also for what is not a number */
        if (!(scales[i] >= 0 && scales[i] <= MAX_SCALE)) {
            return false;
        }
    }
    return true;
}

enum clew_status embed_ask_read(struct str file,
                                const struct embedder *embedder,
                                struct embed_ask *out, struct clew_error *err)
{
    char id[ID_BYTES + 1];
    size_t dim;
    const float *scales;

    if (file.len == 0) {
        return clew_fail(err, CLEW_CORRUPT, "the matrix is absent");
    }
    if (file.len < HEADER_BYTES || (uintptr_t)file.s % sizeof(float) != 0 ||
        memcmp(file.s, MAGIC, sizeof(MAGIC) - 1) != 0 ||
        u32_at(file.s + 8) != VERSION) {
        return clew_fail(err, CLEW_CORRUPT, "not a file of a matrix");
    }
    dim = u32_at(file.s + 12);
    (void)snprintf(id, sizeof(id), "%.*s", ID_BYTES, file.s + ID_AT);
    if (dim != embedder->dim || strcmp(id, embedder->id) != 0) {
        return clew_fail(err, CLEW_CORRUPT,
                         "the matrix was made for another model");
    }
    if (dim > EMBED_ASK_MAX_DIM || dim % STATIC_LANES != 0 ||
        file.len != HEADER_BYTES + dim * (sizeof(float) + dim) ||
        !has_hash(file)) {
        return clew_fail(err, CLEW_CORRUPT, "the matrix is broken");
    }
    scales = (const float *)(const void *)(file.s + HEADER_BYTES);
    if (!are_scales(scales, dim)) {
        return clew_fail(err, CLEW_CORRUPT, "the matrix is out of range");
    }
    out->dim = dim;
    out->scales = scales;
    out->weights = (const int8_t *)(scales + dim);
    return CLEW_OK;
}

static int32_t dot(const int8_t *row, const int16_t *values, size_t dim)
{
    int32_t sum = 0;

    for (size_t i = 0; i < dim; i++) {
        sum += (int32_t)row[i] * values[i];
    }
    return sum;
}

/* To 16 bits; the nearest even of halves. */
static int16_t round_value(float value)
{
    float scaled = value * ONE;

    scaled = scaled > ONE ? ONE : scaled;
    scaled = scaled < -ONE ? -ONE : scaled;
    return (int16_t)lrintf(scaled);
}

void embed_ask_turn(const struct embed_ask *ask, const float *vector,
                    float *out)
{
    int16_t values[EMBED_ASK_MAX_DIM];
    size_t dim = ask->dim;
    float norm;

    for (size_t i = 0; i < dim; i++) {
        values[i] = round_value(vector[i]);
    }
    for (size_t i = 0; i < dim; i++) {
        float moved = (float)dot(ask->weights + i * dim, values, dim) *
                      (ask->scales[i] / ONE);

        out[i] = vector[i] + moved;
    }
    /* the same bits by all kernels */
    norm = sqrtf(static_kernels()->sum_squares(out, dim));
    for (size_t i = 0; i < dim && norm > 0.0f; i++) {
        out[i] /= norm;
    }
}

/* --- the shipped one ----------------------------------------------------- */

static struct embed_ask shipped;
static struct clew_error trouble;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_shipped(void)
{
    struct str file = {clew_ask_bytes, (size_t)(clew_ask_end - clew_ask_bytes)};

    const struct embedder *embedder = embed_static();

    if (!embedder ||
        embed_ask_read(file, embedder, &shipped, &trouble) != CLEW_OK) {
        shipped.dim = 0;
    }
}

const struct embed_ask *embed_ask_shipped(const char **out_trouble)
{
    (void)pthread_once(&once, read_shipped); /* cannot fail */
    if (out_trouble) {
        *out_trouble = shipped.dim ? NULL : trouble.message;
    }
    return shipped.dim ? &shipped : NULL;
}

bool embed_ask(const struct embedder *embedder, const float *vector, float *out)
{
    const struct embed_ask *ask =
        embedder == embed_static() ? embed_ask_shipped(NULL) : NULL;

    if (ask) {
        embed_ask_turn(ask, vector, out);
    } else {
        memcpy(out, vector, embedder->dim * sizeof(*out));
    }
    return ask != NULL;
}
