/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_model.c - write a reader's file with random weights. See
 * reader_model.h.
 */
#include "support/reader_model.h"

#include "model/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POSITIONS 256
#define FILE_BYTES (256u * 1024 * 1024)

static const char *const known[] = {
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", ":",    ".",    ",",      "?",
    "user",  "the",   "cat",   "we",    "will", "ship", "it",     "on",
    "a",     "##a",   "b",     "##b",   "s",    "##s",  "monday", "not",
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

struct writer {
    struct buf header;
    struct buf data;
    uint32_t seed;
};

static uint32_t next(struct writer *w)
{
    w->seed = w->seed * 1664525u + 1013904223u;
    return w->seed >> 8;
}

/* Around `base`, at most `spread` away. */
static float next_float(struct writer *w, float base, float spread)
{
    return base + ((float)next(w) / (float)(1 << 23) - 1.0f) * spread;
}

static void name_tensor(struct writer *w, const char *name, const char *type,
                        size_t rows, size_t cols, size_t from)
{
    (void)buf_printf(&w->header, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%zu",
                     name, type, rows);
    if (cols) {
        (void)buf_printf(&w->header, ",%zu", cols);
    }
    (void)buf_printf(&w->header, "],\"data_offsets\":[%zu,%zu]}", from,
                     w->data.len);
}

static void add_floats(struct writer *w, const char *name, size_t rows,
                       size_t cols, float base, float spread)
{
    size_t from = w->data.len;

    for (size_t i = 0; i < rows * (cols ? cols : 1); i++) {
        float value = next_float(w, base, spread);

        (void)buf_append(&w->data, &value, sizeof(value));
    }
    name_tensor(w, name, "F32", rows, cols, from);
}

static void add_bytes(struct writer *w, const char *name, size_t rows,
                      size_t cols)
{
    size_t from = w->data.len;

    for (size_t i = 0; i < rows * cols; i++) {
        (void)buf_append_char(&w->data, (char)(next(w) & 255));
    }
    name_tensor(w, name, "I8", rows, cols, from);
}

/* Scaled so that an input around 1 gives an output around 1. */
static void add_dense(struct writer *w, const char *prefix, size_t rows,
                      size_t cols)
{
    float scale = 1.0f / (73.0f * sqrtf((float)cols));
    char name[128];

    add_bytes(w, prefix, rows, cols);
    (void)snprintf(name, sizeof(name), "%s.scale", prefix);
    add_floats(w, name, rows, 0, scale, scale * 0.3f);
    (void)snprintf(name, sizeof(name), "%s.bias", prefix);
    add_floats(w, name, rows, 0, 0.0f, 0.1f);
}

static void add_norm(struct writer *w, const char *prefix, size_t dim)
{
    char name[128];

    (void)snprintf(name, sizeof(name), "%s.weight", prefix);
    add_floats(w, name, dim, 0, 1.0f, 0.3f);
    (void)snprintf(name, sizeof(name), "%s.bias", prefix);
    add_floats(w, name, dim, 0, 0.0f, 0.3f);
}

static void add_layer(struct writer *w, const struct reader_model *m,
                      const char *prefix, size_t at)
{
    const struct {
        const char *name;
        size_t rows;
        size_t cols;
    } dense[] = {{"qkv", 3 * m->dim, m->dim},
                 {"attention", m->dim, m->dim},
                 {"inner", m->inner, m->dim},
                 {"outer", m->dim, m->inner}};
    char name[64];

    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof(name), "%s.%zu.%s", prefix, at,
                       dense[i].name);
        add_dense(w, name, dense[i].rows, dense[i].cols);
    }
    (void)snprintf(name, sizeof(name), "%s.%zu.attention_norm", prefix, at);
    add_norm(w, name, m->dim);
    (void)snprintf(name, sizeof(name), "%s.%zu.outer_norm", prefix, at);
    add_norm(w, name, m->dim);
}

static void add_heads(struct writer *w, size_t dim)
{
    static const struct {
        const char *name;
        size_t outcomes;
    } heads[] = {{"keep", 7},   {"flag", 4},   {"about", 4}, {"act", 6},
                 {"goes", 1},   {"answer", 1}, {"note", 5},  {"ending", 5},
                 {"matter", 1}, {"newer", 1}};
    char name[64];

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        (void)snprintf(name, sizeof(name), "head.%s", heads[i].name);
        add_floats(w, name, heads[i].outcomes, dim, 0.0f, 0.5f);
        (void)snprintf(name, sizeof(name), "head.%s.bias", heads[i].name);
        add_floats(w, name, heads[i].outcomes, 0, 0.0f, 0.5f);
    }
}

static void add_glance(struct writer *w, const struct reader_model *m)
{
    add_floats(w, "glance.in", m->glance, 4 * m->dim, 0.0f, 0.3f);
    add_floats(w, "glance.in.bias", m->glance, 0, 0.0f, 0.5f);
    add_floats(w, "glance.out", 1, m->glance, 0.0f, 0.5f);
    add_floats(w, "glance.out.bias", 1, 0, 0.0f, 0.5f);
}

/* Of so many layers as the text has words. */
static void add_gist(struct writer *w, const struct reader_model *m)
{
    size_t n = 1;

    for (const char *at = m->gist_layers; *at; at++) {
        n += *at == ' ';
    }
    add_floats(w, "gist.turn", READER_GIST_DIM, n * m->dim, 0.0f, 0.3f);
    add_floats(w, "gist.turn.bias", READER_GIST_DIM, 0, 0.0f, 0.1f);
    add_floats(w, "gist.asked", READER_GIST_DIM, n * m->dim, 0.0f, 0.3f);
    add_floats(w, "gist.asked.bias", READER_GIST_DIM, 0, 0.0f, 0.1f);
}

static void add_vocab(struct writer *w, size_t n_tokens)
{
    size_t from = w->data.len;

    for (size_t i = 0; i < n_tokens; i++) {
        if (i < N_KNOWN) {
            (void)buf_printf(&w->data, "%s\n", known[i]);
        } else {
            (void)buf_printf(&w->data, "w%zu\n", i);
        }
    }
    name_tensor(w, "vocab", "U8", w->data.len - from, 0, from);
}

static void add_all(struct writer *w, const struct reader_model *m)
{
    (void)buf_printf(&w->header,
                     "{\"__metadata__\":{\"id\":\"clew-reader-1\","
                     "\"heads\":\"%zu\",\"read_layer\":\"%zu\","
                     "\"epsilon\":\"1e-12\"",
                     m->heads, m->read_layer);
    if (m->glance > 0) {
        (void)buf_printf(&w->header, ",\"glance_layer\":\"%zu\"",
                         m->glance_layer);
    }
    if (m->top_kinds) {
        (void)buf_printf(&w->header,
                         ",\"top_layer\":\"%zu\",\"top_kinds\":\"%s\"",
                         m->top_layer, m->top_kinds);
    }
    if (m->gist_layers) {
        (void)buf_printf(&w->header, ",\"gist_layers\":\"%s\"", m->gist_layers);
    }
    if (m->gist_of) {
        (void)buf_printf(&w->header, ",\"gist_of\":\"%s\"", m->gist_of);
    }
    (void)buf_append_char(&w->header, '}');
    add_bytes(w, "embed.words", m->n_tokens, m->dim);
    add_floats(w, "embed.words.scale", m->n_tokens, 0, 0.01f, 0.005f);
    add_floats(w, "embed.positions", POSITIONS, m->dim, 0.0f, 0.3f);
    add_floats(w, "embed.types", 2, m->dim, 0.0f, 0.3f);
    add_norm(w, "embed.norm", m->dim);
    for (size_t i = 0; i < m->layers; i++) {
        add_layer(w, m, "layer", i);
    }
    add_heads(w, m->dim);
    if (m->glance > 0) {
        add_glance(w, m);
    }
    if (m->gist_layers) {
        add_gist(w, m);
    }
    for (size_t i = m->top_layer; m->top_kinds && i < m->layers; i++) {
        add_layer(w, m, "top", i);
    }
    add_vocab(w, m->n_tokens);
    (void)buf_append_char(&w->header, '}');
    while (w->header.len % 16 != 8) {
        (void)buf_append_char(&w->header, ' ');
    }
}

bool reader_model_write(const struct reader_model *model, struct buf *out)
{
    struct writer w = {.seed = model->seed};
    uint64_t len;
    bool is_whole;

    buf_init(&w.header, 1 << 20);
    buf_init(&w.data, FILE_BYTES);
    add_all(&w, model);
    len = w.header.len;
    (void)buf_append(out, &len, sizeof(len));
    (void)buf_append_str(out, buf_str(&w.header));
    (void)buf_append_str(out, buf_str(&w.data));
    is_whole = buf_status(&w.header) == CLEW_OK &&
               buf_status(&w.data) == CLEW_OK && buf_status(out) == CLEW_OK;
    buf_release(&w.header);
    buf_release(&w.data);
    return is_whole;
}
