/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_load.c - find the reader's tensors in its mapped file.
 *
 * Sizes come from the shapes of the first tensors, within limits; all others
 * must have exactly the shape those ask for. Floats must be aligned, finite and
 * of a sane size: then no sum of a run can leave the range of a float, and a
 * run needs no checks. int8 weights may hold anything.
 */
#include "model/reader_internal.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "model/model_file.h"
#include "model/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_FILE (1024ULL * 1024 * 1024)
#define MAX_TOKENS 262144
#define MAX_POSITIONS 8192
#define MAX_HEAD_WIDTH 256
/* The largest float of a file: trained ones are under 100. */
#define MAX_VALUE 1e4f
#define NAME_SIZE 64
#define HASH_DIGITS 12

static const char kind[] = "clew-reader-1";

/* The shipped model is part of the program, page by page as it is used. */
__asm__(".section .rodata\n"
        ".balign 65536\n"
        ".global clew_reader_bytes\n"
        "clew_reader_bytes:\n"
        ".incbin \"" CLEW_READER_FILE "\"\n"
        ".global clew_reader_end\n"
        "clew_reader_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char clew_reader_bytes[] __attribute__((visibility("hidden")));
extern const char clew_reader_end[] __attribute__((visibility("hidden")));

struct load {
    struct reader *reader;
    struct safetensors *tensors;
    struct clew_error *err;
};

static enum clew_status find(const struct load *load, const char *name,
                             enum safetensors_type type,
                             struct safetensors_tensor *out)
{
    struct clew_error why = {0};
    enum clew_status status = safetensors_find(load->tensors, name, out, &why);

    if (status != CLEW_OK) {
        return clew_fail(load->err, CLEW_CORRUPT, "%s", why.message);
    }
    if (out->type != type) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "tensor \"%s\" is of another type", name);
    }
    return CLEW_OK;
}

/* A tensor of exactly rows * cols (cols 0: a vector). */
static enum clew_status find_shape(const struct load *load, const char *name,
                                   enum safetensors_type type, size_t rows,
                                   size_t cols, const char **out)
{
    struct safetensors_tensor tensor;
    enum clew_status status = find(load, name, type, &tensor);

    if (status != CLEW_OK) {
        return status;
    }
    if (tensor.n_dims != (cols ? 2u : 1u) || tensor.dims[0] != rows ||
        (cols && tensor.dims[1] != cols)) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "tensor \"%s\" has another shape", name);
    }
    *out = tensor.bytes;
    return CLEW_OK;
}

static enum clew_status find_floats(const struct load *load, const char *name,
                                    size_t rows, size_t cols, const float **out)
{
    const char *bytes = NULL;
    const float *values;
    enum clew_status status =
        find_shape(load, name, SAFETENSORS_F32, rows, cols, &bytes);

    if (status != CLEW_OK) {
        return status;
    }
    if ((uintptr_t)bytes % sizeof(float) != 0) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "tensor \"%s\" is not aligned", name);
    }
    values = (const float *)(const void *)bytes;
    for (size_t i = 0; i < rows * (cols ? cols : 1); i++) {
        /* false also for what is not a number */
        if (!(values[i] >= -MAX_VALUE && values[i] <= MAX_VALUE)) {
            return clew_fail(load->err, CLEW_CORRUPT,
                             "tensor \"%s\" has a value out of range", name);
        }
    }
    *out = values;
    return CLEW_OK;
}

/* "PREFIX.SUFFIX" as a vector. */
static enum clew_status find_part(const struct load *load, const char *prefix,
                                  const char *suffix, size_t count,
                                  const float **out)
{
    char name[NAME_SIZE + 16];

    (void)snprintf(name, sizeof(name), "%s.%s", prefix, suffix);
    return find_floats(load, name, count, 0, out);
}

static enum clew_status find_norm(const struct load *load, const char *prefix,
                                  struct reader_norm *out)
{
    size_t dim = load->reader->dim;
    enum clew_status status =
        find_part(load, prefix, "weight", dim, &out->weight);

    if (status == CLEW_OK) {
        status = find_part(load, prefix, "bias", dim, &out->bias);
    }
    return status;
}

static enum clew_status find_dense(const struct load *load, const char *name,
                                   size_t n_out, size_t n_in,
                                   struct reader_dense *out)
{
    const char *bytes = NULL;
    enum clew_status status =
        find_shape(load, name, SAFETENSORS_I8, n_out, n_in, &bytes);

    if (status == CLEW_OK) {
        status = find_part(load, name, "scale", n_out, &out->scales);
    }
    if (status == CLEW_OK) {
        status = find_part(load, name, "bias", n_out, &out->bias);
    }
    out->weights = (const int8_t *)bytes;
    out->n_in = n_in;
    out->n_out = n_out;
    return status;
}

/* --- sizes --------------------------------------------------------------- */

/* A whole number of the metadata from 1 to `max`. */
static enum clew_status read_note(const struct load *load, const char *name,
                                  int64_t max, size_t *out)
{
    const char *text = safetensors_note(load->tensors, name);
    int64_t value = 0;

    if (!text || !str_parse_int(str_of(text), &value) || value < 1 ||
        value > max) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "the metadata has no fit \"%s\"", name);
    }
    *out = (size_t)value;
    return CLEW_OK;
}

static enum clew_status read_epsilon(const struct load *load)
{
    const char *text = safetensors_note(load->tensors, "epsilon");
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0.0;

    if (!text || end == text || *end != '\0' ||
        !(value >= 1e-30 && value <= 1.0)) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "the metadata has no fit \"epsilon\"");
    }
    load->reader->epsilon = (float)value;
    return CLEW_OK;
}

static bool is_size(size_t value, size_t max)
{
    return value > 0 && value <= max && value % READER_LANES == 0;
}

/* dim and the number of tokens from the words, inner from the first layer. */
static enum clew_status read_sizes(const struct load *load)
{
    struct reader *reader = load->reader;
    struct safetensors_tensor words;
    struct safetensors_tensor inner;
    enum clew_status status = find(load, "embed.words", SAFETENSORS_I8, &words);

    if (status == CLEW_OK) {
        status = find(load, "layer.0.inner", SAFETENSORS_I8, &inner);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (words.n_dims != 2 || words.dims[0] > MAX_TOKENS ||
        !is_size(words.dims[1], READER_MAX_DIM) || inner.n_dims != 2 ||
        !is_size(inner.dims[0], READER_MAX_INNER)) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "sizes must be multiples of %d within limits",
                         READER_LANES);
    }
    reader->n_tokens = words.dims[0];
    reader->dim = words.dims[1];
    reader->inner = inner.dims[0];
    reader->words = (const int8_t *)words.bytes;
    return CLEW_OK;
}

static enum clew_status read_notes(const struct load *load)
{
    struct reader *reader = load->reader;
    const char *id = safetensors_note(load->tensors, "id");
    enum clew_status status;

    if (!id || strcmp(id, kind) != 0) {
        return clew_fail(load->err, CLEW_CORRUPT, "the model is no \"%s\"",
                         kind);
    }
    status = read_note(load, "heads", READER_MAX_DIM, &reader->n_heads);
    if (status == CLEW_OK) {
        status = read_note(load, "read_layer", READER_MAX_LAYERS,
                           &reader->read_layer);
    }
    if (status == CLEW_OK) {
        status = read_epsilon(load);
    }
    if (status == CLEW_OK &&
        (reader->dim % reader->n_heads != 0 ||
         !is_size(reader->dim / reader->n_heads, MAX_HEAD_WIDTH))) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "a head's width must be a multiple of %d",
                         READER_LANES);
    }
    return status;
}

/* --- tensors ------------------------------------------------------------- */

static enum clew_status find_embeddings(const struct load *load)
{
    struct reader *reader = load->reader;
    struct safetensors_tensor positions;
    enum clew_status status = find_floats(
        load, "embed.words.scale", reader->n_tokens, 0, &reader->word_scales);

    if (status == CLEW_OK) {
        status =
            find_floats(load, "embed.types", 2, reader->dim, &reader->types);
    }
    if (status == CLEW_OK) {
        status = find_norm(load, "embed.norm", &reader->norm);
    }
    if (status == CLEW_OK) {
        status = find(load, "embed.positions", SAFETENSORS_F32, &positions);
    }
    if (status == CLEW_OK && (positions.dims[0] < READER_MAX_TOKENS ||
                              positions.dims[0] > MAX_POSITIONS)) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "the model has %zu positions, not %d to %d",
                         positions.dims[0], READER_MAX_TOKENS, MAX_POSITIONS);
    }
    if (status == CLEW_OK) {
        status = find_floats(load, "embed.positions", positions.dims[0],
                             reader->dim, &reader->positions);
    }
    return status;
}

/* "PREFIX.AT.PART" for all parts of one layer. */
static enum clew_status find_layer(const struct load *load, const char *prefix,
                                   size_t at, struct reader_layer *layer)
{
    size_t dim = load->reader->dim;
    size_t inner = load->reader->inner;
    const struct {
        const char *name;
        size_t n_out;
        size_t n_in;
        struct reader_dense *dense;
        struct reader_norm *norm;
    } parts[] = {
        {"qkv", 3 * dim, dim, &layer->qkv, NULL},
        {"attention", dim, dim, &layer->attention, NULL},
        {"attention_norm", 0, 0, NULL, &layer->attention_norm},
        {"inner", inner, dim, &layer->inner, NULL},
        {"outer", dim, inner, &layer->outer, NULL},
        {"outer_norm", 0, 0, NULL, &layer->outer_norm},
    };
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < sizeof(parts) / sizeof(parts[0]) && status == CLEW_OK; i++) {
        char name[NAME_SIZE];

        (void)snprintf(name, sizeof(name), "%s.%zu.%s", prefix, at,
                       parts[i].name);
        status = parts[i].dense ? find_dense(load, name, parts[i].n_out,
                                             parts[i].n_in, parts[i].dense)
                                : find_norm(load, name, parts[i].norm);
    }
    return status;
}

/* Layers are counted by what is there; a hole ends them, which the layer to
 * read at and a part left over show. */
static enum clew_status find_layers(const struct load *load)
{
    struct reader *reader = load->reader;
    struct safetensors_tensor tensor;
    enum clew_status status = CLEW_OK;
    char name[NAME_SIZE];

    while (status == CLEW_OK && reader->n_layers < READER_MAX_LAYERS) {
        (void)snprintf(name, sizeof(name), "layer.%zu.qkv", reader->n_layers);
        if (safetensors_find(load->tensors, name, &tensor, NULL) ==
            CLEW_NOT_FOUND) {
            break;
        }
        status = find_layer(load, "layer", reader->n_layers,
                            &reader->layers[reader->n_layers]);
        reader->n_layers++;
    }
    (void)snprintf(name, sizeof(name), "layer.%zu.inner", reader->n_layers);
    if (status == CLEW_OK && (reader->n_layers < reader->read_layer ||
                              safetensors_find(load->tensors, name, &tensor,
                                               NULL) != CLEW_NOT_FOUND)) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "the model has %zu whole layers, which do not fit",
                         reader->n_layers);
    }
    return status;
}

/* The kinds of pairs that "top_kinds" names; nothing else may stand there. */
static enum clew_status read_top_kinds(const struct load *load)
{
    static const char *const names[READER_PAIR_KINDS] = {
        [READER_ANSWER] = "answer", [READER_NOTE] = "note",
        [READER_ENDING] = "ending", [READER_MATTER] = "matter",
        [READER_NEWER] = "newer",
    };
    const char *text = safetensors_note(load->tensors, "top_kinds");
    struct str rest = str_of(text ? text : "");
    struct str name;
    size_t at = 0;

    while (at < READER_PAIR_KINDS && str_split(&rest, ' ', &name)) {
        at = 0;
        while (at < READER_PAIR_KINDS && !str_eq(name, str_of(names[at]))) {
            at++;
        }
        if (at < READER_PAIR_KINDS) {
            load->reader->is_second[at] = true;
        }
    }
    return at < READER_PAIR_KINDS
               ? CLEW_OK
               : clew_fail(load->err, CLEW_CORRUPT,
                           "\"top_kinds\" names a kind that is not known");
}

/* The layers from "top_layer" on once more, for some kinds of pairs. Left out
 * by files in which all kinds share one top. */
static enum clew_status find_top(const struct load *load)
{
    struct reader *reader = load->reader;
    size_t at = 0;
    enum clew_status status;

    if (!safetensors_note(load->tensors, "top_layer")) {
        return CLEW_OK;
    }
    status = read_note(load, "top_layer", (int64_t)reader->n_layers - 1, &at);
    memcpy(reader->second, reader->layers, sizeof(reader->second));
    for (; status == CLEW_OK && at < reader->n_layers; at++) {
        status = find_layer(load, "top", at, &reader->second[at]);
    }
    return status == CLEW_OK ? read_top_kinds(load) : status;
}

static enum clew_status find_questions(const struct load *load)
{
    static const struct {
        const char *name;
        size_t n_outcomes;
        bool is_choice;
    } heads[READER_HEADS] = {
        [READER_HEAD_KEEP] = {"head.keep", READER_KEEPS, true},
        [READER_HEAD_FLAG] = {"head.flag", READER_FLAGS, false},
        [READER_HEAD_ABOUT] = {"head.about", READER_ABOUTS, true},
        [READER_HEAD_ACT] = {"head.act", READER_ACTS, true},
        [READER_HEAD_GOES] = {"head.goes", 1, false},
        [READER_HEAD_ANSWER] = {"head.answer", 1, false},
        [READER_HEAD_NOTE] = {"head.note", READER_NOTES, true},
        [READER_HEAD_ENDING] = {"head.ending", READER_ENDINGS, true},
        [READER_HEAD_MATTER] = {"head.matter", 1, false},
        [READER_HEAD_NEWER] = {"head.newer", 1, false},
    };
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < READER_HEADS && status == CLEW_OK; i++) {
        struct reader_question *question = &load->reader->questions[i];

        question->n_outcomes = heads[i].n_outcomes;
        question->is_choice = heads[i].is_choice;
        status = find_floats(load, heads[i].name, heads[i].n_outcomes,
                             load->reader->dim, &question->weights);
        if (status == CLEW_OK) {
            status = find_part(load, heads[i].name, "bias", heads[i].n_outcomes,
                               &question->bias);
        }
    }
    return status;
}

/* Left out by files that were written without one. */
static enum clew_status find_promise(const struct load *load)
{
    struct reader_promise *promise = &load->reader->promise;
    size_t n_in = 4 * load->reader->dim;
    struct safetensors_tensor in;
    enum clew_status status;

    if (!safetensors_note(load->tensors, "glance_layer")) {
        return CLEW_OK;
    }
    status = read_note(load, "glance_layer", (int64_t)load->reader->n_layers,
                       &promise->layer);
    if (status == CLEW_OK) {
        status = find(load, "glance.in", SAFETENSORS_F32, &in);
    }
    if (status == CLEW_OK &&
        (in.n_dims != 2 || in.dims[0] % READER_LANES != 0 ||
         in.dims[0] > READER_MAX_GLANCE)) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "the glance's rows must be a multiple of %d up to %d",
                         READER_LANES, READER_MAX_GLANCE);
    }
    if (status == CLEW_OK) {
        promise->n = in.dims[0];
        status = find_floats(load, "glance.in", promise->n, n_in, &promise->in);
    }
    if (status == CLEW_OK) {
        status =
            find_part(load, "glance.in", "bias", promise->n, &promise->in_bias);
    }
    if (status == CLEW_OK) {
        status = find_floats(load, "glance.out", 1, promise->n, &promise->out);
    }
    return status == CLEW_OK
               ? find_part(load, "glance.out", "bias", 1, &promise->out_bias)
               : status;
}

/* "2 3 4": layers that read turns, each after the one before. */
static enum clew_status read_gist_layers(const struct load *load,
                                         const char *text)
{
    struct reader_gist_head *gist = &load->reader->gist;
    struct str rest = str_of(text);
    struct str word;
    int64_t last = 0;
    int64_t layer = 0;

    while (gist->n_layers < READER_MAX_GIST_LAYERS &&
           str_split(&rest, ' ', &word) && str_parse_int(word, &layer) &&
           layer > last && layer <= (int64_t)load->reader->read_layer) {
        gist->layers[gist->n_layers++] = (size_t)layer;
        last = layer;
    }
    return rest.len == 0 && last == layer && last > 0
               ? CLEW_OK
               : clew_fail(load->err, CLEW_CORRUPT,
                           "\"gist_layers\" names no layers that read");
}

/* Left out by files that place nothing. */
static enum clew_status find_gist(const struct load *load)
{
    struct reader_gist_head *gist = &load->reader->gist;
    const char *layers = safetensors_note(load->tensors, "gist_layers");
    enum clew_status status;
    size_t n_in;

    if (!layers) {
        return CLEW_OK;
    }
    status = read_gist_layers(load, layers);
    n_in = gist->n_layers * load->reader->dim;
    if (status == CLEW_OK) {
        status =
            find_floats(load, "gist.turn", READER_GIST_DIM, n_in, &gist->turn);
    }
    if (status == CLEW_OK) {
        status = find_part(load, "gist.turn", "bias", READER_GIST_DIM,
                           &gist->turn_bias);
    }
    if (status == CLEW_OK) {
        status = find_floats(load, "gist.asked", READER_GIST_DIM, n_in,
                             &gist->asked);
    }
    return status == CLEW_OK ? find_part(load, "gist.asked", "bias",
                                         READER_GIST_DIM, &gist->asked_bias)
                             : status;
}

static enum clew_status read_vocab(const struct load *load)
{
    struct reader *reader = load->reader;
    struct safetensors_tensor tensor;
    struct clew_error why = {0};
    struct str text;
    enum clew_status status = find(load, "vocab", SAFETENSORS_U8, &tensor);

    if (status != CLEW_OK) {
        return status;
    }
    text = (struct str){tensor.bytes, tensor.count};
    if (wordpiece_split(text, NULL, 0) != reader->n_tokens) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "the vocabulary has not a line for each of the %zu "
                         "tokens",
                         reader->n_tokens);
    }
    reader->tokens = alloc_array(NULL, reader->n_tokens, sizeof(struct str));
    if (!reader->tokens) {
        return clew_no_memory(load->err);
    }
    (void)wordpiece_split(text, reader->tokens,
                          reader->n_tokens); /* counted above */
    status = wordpiece_new(reader->tokens, reader->n_tokens, false,
                           &reader->wordpiece, &why);
    if (status == CLEW_NO_MEMORY) {
        return clew_no_memory(load->err);
    }
    if (status != CLEW_OK ||
        !wordpiece_find(reader->wordpiece, STR("[UNK]"), &reader->unknown_id) ||
        !wordpiece_find(reader->wordpiece, STR("[CLS]"), &reader->first_id) ||
        !wordpiece_find(reader->wordpiece, STR("[SEP]"), &reader->last_id)) {
        return clew_fail(load->err, CLEW_CORRUPT,
                         "the vocabulary has no \"[UNK]\", \"[CLS]\" or "
                         "\"[SEP]\"");
    }
    return CLEW_OK;
}

static enum clew_status find_all(const struct load *load)
{
    enum clew_status (*const steps[])(const struct load *) = {
        read_sizes,     read_notes,   find_embeddings, find_layers, find_top,
        find_questions, find_promise, find_gist,       read_vocab};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < sizeof(steps) / sizeof(steps[0]) && status == CLEW_OK; i++) {
        status = steps[i](load);
    }
    return status;
}

/* --- the file ------------------------------------------------------------ */

static enum clew_status map(struct reader *reader, const char *path,
                            struct clew_error *err)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    char folder[MODEL_PATH_SIZE] = ".";
    struct clew_error why = {0};
    enum clew_status status;

    if (len >= sizeof(folder)) {
        return clew_fail(err, CLEW_NOT_FOUND, "the path is too long");
    }
    if (slash) {
        memcpy(folder, path, len);
        folder[len] = '\0';
    }
    status = model_file_map(folder, slash ? slash + 1 : path, MAX_FILE,
                            &reader->file, &why);
    if (status != CLEW_OK && status != CLEW_NOT_FOUND &&
        status != CLEW_NO_MEMORY) {
        status = CLEW_CORRUPT;
    }
    return status == CLEW_OK ? status
                             : clew_fail(err, status, "%s", why.message);
}

/* By the sum that its maker wrote into it, else by one made here, which reads
 * the whole file; its gists by the name of the file they came from. */
static void name_it(struct reader *reader, struct str file,
                    const struct safetensors *tensors)
{
    const char *sum = safetensors_note(tensors, "sum");
    const char *gist_of = safetensors_note(tensors, "gist_of");
    char hash[SHA256_HEX_SIZE];

    if (!sum) {
        sha256_hex_of(file, hash);
        sum = hash;
    }
    (void)snprintf(reader->id, sizeof(reader->id), "%s@%.*s", kind, HASH_DIGITS,
                   sum);
    (void)snprintf(reader->gist_id, sizeof(reader->gist_id), "%s",
                   gist_of ? gist_of : reader->id);
}

enum clew_status reader_parse(struct reader *reader, struct str file,
                              struct clew_error *err)
{
    struct load load = {reader, NULL, err};
    struct clew_error why = {0};
    enum clew_status status = safetensors_new(file, &load.tensors, &why);

    if (status != CLEW_OK) {
        return status == CLEW_NO_MEMORY
                   ? clew_no_memory(err)
                   : clew_fail(err, CLEW_CORRUPT, "not a model file: %s",
                               why.message);
    }
    status = find_all(&load);
    if (status == CLEW_OK) {
        name_it(reader, file, load.tensors);
    }
    safetensors_free(load.tensors);
    return status;
}

/* Give the pages that were looked at back; runs fetch what they use. */
static void let_go(struct str file)
{
    uintptr_t page = 65536;
    uintptr_t from = ((uintptr_t)file.s + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)file.s + file.len) / page * page;

    if (to > from) {
        (void)madvise((void *)from, to - from, MADV_DONTNEED); /* a hint */
    }
}

enum clew_status reader_load(struct reader *reader, const char *path,
                             struct clew_error *err)
{
    struct str shipped = {clew_reader_bytes,
                          (size_t)(clew_reader_end - clew_reader_bytes)};
    enum clew_status status = CLEW_OK;

    if (path) {
        status = map(reader, path, err);
    } else if (shipped.len == 0) {
        status = clew_fail(err, CLEW_NOT_FOUND,
                           "this program was built without the reader's model");
    } else {
        reader->file = shipped;
        reader->is_shipped = true;
    }
    if (status == CLEW_OK) {
        status = reader_parse(reader, reader->file, err);
    }
    if (status == CLEW_OK) {
        let_go(reader->file);
    }
    return status;
}

void reader_unload(struct reader *reader)
{
    wordpiece_free(reader->wordpiece);
    alloc_free(reader->tokens);
    if (!reader->is_shipped) {
        model_file_unmap(reader->file);
    }
}
