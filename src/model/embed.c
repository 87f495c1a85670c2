/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c - what all embedders share. See embed.h.
 */
#include "model/embed.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"

/* One line in: the largest text a turn may have. */
#define LINE_MAX_BYTES (16u * 1024 * 1024)
/* Lines embedded together: enough for a batch of a slow model. */
#define LINES_AT_ONCE 32

enum clew_status embed_run(struct embedder *embedder, const struct str *texts,
                           size_t count, float *out, struct clew_error *err)
{
    if (count == 0) {
        return CLEW_OK;
    }
    return embedder->ops->run(embedder, texts, count, out, err);
}

bool embed_near(const struct embedder *embedder, struct str text,
                const float *asked, struct embed_stretch *stretches,
                size_t count)
{
    return embedder->ops->near &&
           embedder->ops->near(embedder, text, asked, stretches, count);
}

void embed_free(struct embedder *embedder)
{
    if (embedder && embedder->ops->free) {
        embedder->ops->free(embedder);
    }
}

/* Append a vector as a JSON array whose numbers read back as the same floats.
 */
static enum clew_status embed_write_json(const float *vector, size_t dim,
                                         struct buf *out)
{
    (void)buf_append_char(out, '[');
    for (size_t i = 0; i < dim; i++) {
        /* nine digits read back as the same float */
        (void)buf_printf(out, i ? ",%.9g" : "%.9g", (double)vector[i]);
    }
    (void)buf_append_char(out, ']');
    return buf_status(out);
}

/* Embed and print what was gathered; the texts are freed either way. */
static enum clew_status flush_lines(struct embedder *embedder,
                                    struct str *lines, size_t count, FILE *out,
                                    struct clew_error *err)
{
    float *vectors = alloc_array(NULL, count * embedder->dim, sizeof(float));
    enum clew_status status = vectors ? CLEW_OK : CLEW_NO_MEMORY;
    struct buf text;

    buf_init(&text, EMBED_MAX_DIM * 32);
    if (status == CLEW_OK) {
        status = embed_run(embedder, lines, count, vectors, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        buf_clear(&text);
        status =
            embed_write_json(vectors + i * embedder->dim, embedder->dim, &text);
        (void)buf_append_char(&text, '\n');
        if (status == CLEW_OK &&
            fwrite(text.data, 1, text.len, out) < text.len) {
            status = clew_fail(err, CLEW_INTERNAL, "could not write a vector");
        }
    }
    for (size_t i = 0; i < count; i++) {
        alloc_free((void *)(uintptr_t)lines[i].s);
    }
    buf_release(&text);
    alloc_free(vectors);
    return status;
}

/* One line without its end; false at the end of the file. */
static bool read_line(FILE *in, struct buf *line)
{
    int c = getc_unlocked(in);

    buf_clear(line);
    if (c == EOF) {
        return false;
    }
    while (c != EOF && c != '\n') {
        (void)buf_append_char(line, (char)c);
        c = getc_unlocked(in);
    }
    return true;
}

enum clew_status embed_lines(struct embedder *embedder, FILE *in, FILE *out,
                             struct clew_error *err)
{
    struct str lines[LINES_AT_ONCE];
    enum clew_status status = CLEW_OK;
    struct buf line;
    size_t count = 0;

    buf_init(&line, LINE_MAX_BYTES);
    while (status == CLEW_OK && read_line(in, &line)) {
        char *copy = NULL;

        status = buf_status(&line);
        if (status == CLEW_OK) {
            copy = alloc_copy(line.data, line.len);
            status = copy ? CLEW_OK : CLEW_NO_MEMORY;
        }
        if (copy) {
            lines[count].s = copy;
            lines[count].len = line.len;
            count++;
        }
        if (count == LINES_AT_ONCE) {
            status = flush_lines(embedder, lines, count, out, err);
            count = 0;
        }
    }
    if (count > 0) {
        enum clew_status last = flush_lines(embedder, lines, count, out, err);

        status = status == CLEW_OK ? last : status;
    }
    buf_release(&line);
    return status;
}
