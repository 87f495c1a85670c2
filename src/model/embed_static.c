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

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "clewvec1"
#define HEADER_BYTES 64
#define ID_AT 32
#define ID_BYTES 32
/* Axes of a model that embed_near() has room for on the stack. */
#define NEAR_DIM 256

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

/* Rows lie anywhere in a table that no near cache holds: each is asked for so
 * many tokens ahead of its use. */
#define AHEAD 6
#define LINE_BYTES 64

static inline void ask_ahead(const struct static_embedder *model,
                             const uint32_t *ids, size_t count, size_t i)
{
    size_t dim = model->base.dim;

    for (size_t d = 0; i + AHEAD < count && d < dim; d += LINE_BYTES) {
        __builtin_prefetch(model->table + ids[i + AHEAD] * dim + d);
    }
}

static void embed_tokens(const struct static_embedder *model,
                         const uint32_t *ids, size_t count, float *out)
{
    const struct static_kernels *kernels = model->kernels;
    size_t dim = model->base.dim;
    float norm;

    memset(out, 0, dim * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        ask_ahead(model, ids, count, i);
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

/* --- stretches of one text ----------------------------------------------- */

/* More than a search ever asks about. */
#define NEAR_STRETCHES 16
/* No row is longer than this many of its scale: the root of its values' most
 * squares. */
#define ROW_BYTE 128.0f

/* A piece between two ends of stretches, and the sum of its tokens' rows. */
struct piece {
    size_t from;
    size_t to;
    size_t n_tokens;
    float most; /* the sum cannot be longer */
    float dot;  /* with what is asked */
    float sum[NEAR_DIM];
};

struct pieces {
    struct piece items[2 * NEAR_STRETCHES];
    size_t count;
};

/* Does a word end at `at` whatever stands there? */
static bool is_apart(struct str text, size_t at)
{
    return at == 0 || at >= text.len || wordpiece_ends_word(text.s[at - 1]);
}

/* Cut a text at every end of a stretch; false where a word may cross one. */
static bool cut(struct str text, const struct embed_stretch *stretches,
                size_t count, struct pieces *out)
{
    size_t ends[2 * NEAR_STRETCHES];
    size_t n = 0;

    for (size_t i = 0; i < 2 * count; i++) {
        size_t end = i % 2 ? stretches[i / 2].to : stretches[i / 2].from;
        size_t at = n;

        while (at > 0 && ends[at - 1] > end) {
            at--;
        }
        if (at > 0 && ends[at - 1] == end) {
            continue;
        }
        memmove(ends + at + 1, ends + at, (n - at) * sizeof(*ends));
        ends[at] = end;
        n++;
        if (!is_apart(text, end)) {
            return false;
        }
    }
    out->count = n > 0 ? n - 1 : 0;
    for (size_t i = 0; i < out->count; i++) {
        out->items[i].from = ends[i];
        out->items[i].to = ends[i + 1];
    }
    return true;
}

/* Is a piece part of any stretch? */
static bool is_wanted(const struct piece *piece,
                      const struct embed_stretch *stretches, size_t count)
{
    size_t i = 0;

    while (i < count &&
           (piece->from < stretches[i].from || piece->to > stretches[i].to)) {
        i++;
    }
    return i < count;
}

static float product(const float *a, const float *b, size_t dim)
{
    float lanes[STATIC_LANES] = {0};
    float sum = 0;

    for (size_t i = 0; i < dim; i += STATIC_LANES) {
        for (size_t k = 0; k < STATIC_LANES; k++) {
            lanes[k] += a[i + k] * b[i + k];
        }
    }
    for (size_t k = 0; k < STATIC_LANES; k++) {
        sum += lanes[k];
    }
    return sum;
}

static void sum_piece(const struct static_embedder *model, struct str text,
                      const float *asked, struct piece *piece)
{
    uint32_t ids[EMBED_STATIC_MAX_TOKENS];
    size_t dim = model->base.dim;

    piece->n_tokens =
        wordpiece_run(model->wordpiece, str_sub(text, piece->from, piece->to),
                      ids, EMBED_STATIC_MAX_TOKENS);
    piece->most = 0;
    memset(piece->sum, 0, dim * sizeof(float));
    for (size_t i = 0; i < piece->n_tokens; i++) {
        float scale = (float)model->scales[ids[i]];

        ask_ahead(model, ids, piece->n_tokens, i);
        model->kernels->add_row(piece->sum, model->table + ids[i] * dim, scale,
                                dim);
        piece->most += scale * ROW_BYTE * sqrtf((float)dim);
    }
    piece->dot = product(asked, piece->sum, dim);
}

/*
 * Adding n numbers in another order moves the sum by at most n steps of a
 * float of what they add up to without their signs. That goes into the product
 * and into the length, of this sum and of the one that embed_run() makes.
 */
static bool near_stretch(const struct static_embedder *model,
                         const struct pieces *pieces,
                         struct embed_stretch *stretch)
{
    float sum[NEAR_DIM] = {0};
    size_t dim = model->base.dim;
    size_t n = 0;
    float most = 0;
    float dot = 0;
    float norm;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->items[i];

        if (piece->from >= stretch->from && piece->to <= stretch->to) {
            for (size_t d = 0; d < dim; d++) {
                sum[d] += piece->sum[d];
            }
            n += piece->n_tokens;
            most += piece->most;
            dot += piece->dot;
        }
    }
    norm = sqrtf(model->kernels->sum_squares(sum, dim));
    if (norm <= 0 || n >= EMBED_STATIC_MAX_TOKENS) {
        return false;
    }
    stretch->cosine = dot / norm;
    stretch->off = 8 * FLT_EPSILON *
                   ((float)(n + pieces->count) * most / norm + (float)dim);
    return true;
}

static bool near(const struct embedder *embedder, struct str text,
                 const float *asked, struct embed_stretch *stretches,
                 size_t count)
{
    const struct static_embedder *model =
        (const struct static_embedder *)embedder;
    struct pieces pieces;
    size_t i = 0;

    if (count > NEAR_STRETCHES || embedder->dim > NEAR_DIM ||
        !cut(text, stretches, count, &pieces)) {
        return false;
    }
    for (size_t k = 0; k < pieces.count; k++) {
        pieces.items[k].n_tokens = 0;
        if (is_wanted(&pieces.items[k], stretches, count)) {
            sum_piece(model, text, asked, &pieces.items[k]);
        }
    }
    while (i < count && near_stretch(model, &pieces, &stretches[i])) {
        i++;
    }
    return i == count;
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

static const struct embedder_ops ops = {"static", run, free_model, near};
/* The one in the binary is never freed. */
static const struct embedder_ops shared_ops = {"static", run, NULL, near};

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
