/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_static.c - one int8 vector a token, summed and scaled to length one.
 *
 * The product of a row's value and its scale is exact in a float; the sums run
 * in the order of the tokens, axis by axis (see static_kernels.h), so a text
 * has the same vector on every machine. A row's length is its token's weight.
 */
#include "model/embed_static.h"

#include "base/alloc.h"
#include "model/embed.h"
#include "model/static_kernels.h"
#include "model/wordpiece.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "clewvec1"
#define HEADER_BYTES 64
#define ID_AT 32
#define ID_BYTES 32

__asm__(".section .rodata\n"
        ".balign 64\n"
        ".global clew_static_bytes\n"
        "clew_static_bytes:\n"
        ".incbin \"" CLEW_STATIC_FILE "\"\n"
        ".global clew_static_end\n"
        "clew_static_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char clew_static_bytes[] __attribute__((visibility("hidden")));
extern const char clew_static_end[] __attribute__((visibility("hidden")));

struct static_embedder {
    struct embedder base;
    const struct static_kernels *kernels;
    const int8_t *table;
    const uint16_t *scales;
    struct str *tokens;
    struct wordpiece *wordpiece;
};

static uint32_t u32_at(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* --- arithmetic ---------------------------------------------------------- */

static void embed_tokens(const struct static_embedder *model,
                         const uint32_t *ids, size_t count, float *out)
{
    const struct static_kernels *kernels = model->kernels;
    size_t dim = model->base.dim;
    float norm;

    memset(out, 0, dim * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        kernels->add_row(out, model->table + ids[i] * dim,
                         (float)model->scales[ids[i]], dim);
    }
    norm = sqrtf(kernels->sum_squares(out, dim));
    for (size_t i = 0; i < dim && norm > 0.0f; i++) {
        out[i] /= norm;
    }
}

static enum clew_status run(struct embedder *embedder, const struct str *texts,
                            size_t count, float *out, struct clew_error *err)
{
    const struct static_embedder *model =
        (const struct static_embedder *)embedder;
    uint32_t ids[EMBED_STATIC_MAX_TOKENS];

    (void)err; /* nothing can fail */
    for (size_t i = 0; i < count; i++) {
        size_t n = wordpiece_run(model->wordpiece, texts[i], ids,
                                 EMBED_STATIC_MAX_TOKENS);

        embed_tokens(model, ids, n, out + i * embedder->dim);
    }
    return CLEW_OK;
}

/* --- the file ------------------------------------------------------------ */

/* `len` bytes at `at`, aligned; NULL if they are not all there. */
static const void *part_of(struct str file, uint32_t at, uint64_t len)
{
    if (at % 64 != 0 || at > file.len || len > file.len - at) {
        return NULL;
    }
    return file.s + at;
}

static bool read_parts(struct static_embedder *model, struct str file,
                       uint32_t n_tokens)
{
    uint64_t dim = model->base.dim;

    model->table = part_of(file, u32_at(file.s + 16), n_tokens * dim);
    model->scales =
        part_of(file, u32_at(file.s + 20), n_tokens * sizeof(uint16_t));
    return model->table && model->scales;
}

static enum clew_status read_words(struct static_embedder *model,
                                   struct str file, uint32_t n_tokens,
                                   struct clew_error *err)
{
    uint32_t len = u32_at(file.s + 28);
    struct str words = {part_of(file, u32_at(file.s + 24), len), len};

    if (!words.s || wordpiece_split(words, NULL, 0) != n_tokens) {
        return clew_fail(err, CLEW_CORRUPT,
                         "the embedder's vocabulary does not fit its table");
    }
    model->tokens = alloc_array(NULL, n_tokens, sizeof(*model->tokens));
    if (!model->tokens) {
        return CLEW_NO_MEMORY;
    }
    (void)wordpiece_split(words, model->tokens, n_tokens); /* counted above */
    return wordpiece_new(model->tokens, n_tokens, false, &model->wordpiece,
                         err);
}

static bool read_header(struct static_embedder *model, struct str file)
{
    if (file.len < HEADER_BYTES || (uintptr_t)file.s % sizeof(float) != 0 ||
        memcmp(file.s, MAGIC, sizeof(MAGIC) - 1) != 0) {
        return false;
    }
    model->base.dim = u32_at(file.s + 12);
    if (model->base.dim == 0 || model->base.dim > EMBED_MAX_DIM ||
        model->base.dim % STATIC_LANES != 0) {
        return false;
    }
    (void)snprintf(model->base.id, sizeof(model->base.id), "%.*s", ID_BYTES,
                   file.s + ID_AT);
    return true;
}

static void free_model(struct embedder *embedder)
{
    struct static_embedder *model = (struct static_embedder *)embedder;

    wordpiece_free(model->wordpiece);
    alloc_free(model->tokens);
    alloc_free(model);
}

static const struct embedder_ops ops = {"static", run, free_model};
/* The one in the binary is never freed. */
static const struct embedder_ops shared_ops = {"static", run, NULL};

enum clew_status embed_static_new(struct str file,
                                  const struct static_kernels *kernels,
                                  struct embedder **out_embedder,
                                  struct clew_error *err)
{
    struct static_embedder *model = alloc_zero(1, sizeof(*model));
    enum clew_status status = CLEW_OK;
    uint32_t n_tokens = 0;

    if (!model) {
        return CLEW_NO_MEMORY;
    }
    model->base.ops = &ops;
    model->kernels = kernels;
    if (read_header(model, file)) {
        n_tokens = u32_at(file.s + 8);
    }
    if (n_tokens == 0 || n_tokens > WORDPIECE_MAX_TOKENS ||
        !read_parts(model, file, n_tokens)) {
        status = clew_fail(err, CLEW_CORRUPT, "not a static embedder's file");
    }
    if (status == CLEW_OK) {
        status = read_words(model, file, n_tokens, err);
    }
    if (status == CLEW_OK) {
        *out_embedder = &model->base;
        return CLEW_OK;
    }
    free_model(&model->base);
    return status;
}

struct str embed_static_file(void)
{
    return (struct str){clew_static_bytes,
                        (size_t)(clew_static_end - clew_static_bytes)};
}

/* --- the shared one ------------------------------------------------------ */

/* Made by models/train/centre.py for this table. */
static const int16_t centre[] = {
#include "static_centre.inc"
};

static struct embedder *shared;
static pthread_once_t shared_once = PTHREAD_ONCE_INIT;

static void make_shared(void)
{
    if (embed_static_new(embed_static_file(), static_kernels(), &shared,
                         NULL) == CLEW_OK) {
        shared->ops = &shared_ops;
        if (shared->dim == sizeof(centre) / sizeof(centre[0])) {
            shared->centre = centre;
        }
    }
}

struct embedder *embed_static(void)
{
    (void)pthread_once(&shared_once, make_shared); /* cannot fail */
    return shared;
}
