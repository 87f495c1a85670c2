/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_source.c - a table of documents in memory.
 */
#include "support/fake_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t fake_word(unsigned n)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "w%u", n);
    return index_term_hash(str_of(text));
}

static uint64_t step(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static void fill(struct fake_row *row, uint64_t seed)
{
    uint64_t state = seed * 7919 + 17;
    size_t n_words = 1 + step(&state) % 12;
    struct index_doc *doc = &row->doc;
    float norm = 0;

    doc->n_terms = 0;
    doc->length = 0;
    for (size_t i = 0; i < n_words; i++) {
        /* low words are common */
        unsigned pick = (unsigned)(step(&state) % 40);
        unsigned word = (unsigned)(step(&state) % (pick + 1));
        uint64_t hash = fake_word(word);
        size_t k = 0;

        while (k < doc->n_terms && row->terms[k].hash != hash) {
            k++;
        }
        row->terms[k].tf2 = k < doc->n_terms ? row->terms[k].tf2 + 2 : 2;
        row->terms[k].hash = hash;
        doc->n_terms += k == doc->n_terms;
        doc->length++;
    }
    for (int i = 0; i < FAKE_DIM; i++) {
        row->vector[i] = (float)(step(&state) % 2001) / 1000.0f - 1.0f;
        norm += row->vector[i] * row->vector[i];
    }
    for (int i = 0; i < FAKE_DIM; i++) {
        row->vector[i] /= sqrtf(norm);
    }
    row->dates[0].from_ms = (int64_t)(step(&state) % 1000) * 1000;
    row->dates[0].to_ms = row->dates[0].from_ms + 5000;
    doc->n_dates = step(&state) % 2;
    doc->flags = (uint32_t)(step(&state) % 2 ? INDEX_QUESTION : 0) |
                 (uint32_t)(step(&state) % 2 ? INDEX_NAMED : 0);
    doc->speaker = step(&state) % 3 ? fake_word((unsigned)(state % 3)) : 0;
    doc->terms = row->terms;
    doc->vector = row->vector;
    doc->dates = row->dates;
}

struct fake_row *fake_add(struct fake_source *source, enum index_kind kind,
                          const char *user, uint64_t chat, int64_t seq,
                          uint64_t seed)
{
    struct fake_row *row = &source->rows[source->n_rows++];
    struct uuid nil = {{0}};

    memset(row, 0, sizeof(*row));
    (void)snprintf(row->user, sizeof(row->user), "%s", user);
    row->doc.kind = kind;
    row->doc.user = str_of(row->user);
    row->doc.id =
        uuid_derive((int64_t)source->n_rows, &nil, "doc", source->n_rows);
    row->doc.chat = uuid_derive((int64_t)chat, &nil, "chat", chat);
    row->doc.seq = seq;
    row->doc.created_at_ms = (int64_t)source->n_rows * 100;
    row->doc.change_seq = ++source->change;
    fill(row, seed);
    return row;
}

void fake_replace(struct fake_source *source, size_t row, uint64_t seed)
{
    fill(&source->rows[row], seed);
    source->rows[row].doc.change_seq = ++source->change;
}

void fake_remove(struct fake_source *source, size_t row)
{
    source->rows[row].doc.is_removed = true;
    source->rows[row].doc.change_seq = ++source->change;
}

static enum clew_status latest(void *arg, int64_t tenant, int64_t *out,
                               struct clew_error *err)
{
    (void)tenant;
    (void)err;
    *out = ((struct fake_source *)arg)->change;
    return CLEW_OK;
}

static int compare_changes(const void *a, const void *b)
{
    const struct index_doc *x = a;
    const struct index_doc *y = b;

    return x->change_seq < y->change_seq ? -1 : x->change_seq > y->change_seq;
}

static enum clew_status load(void *arg, int64_t tenant, int64_t after,
                             size_t max, struct arena *arena,
                             struct index_doc **out_docs, size_t *out_count,
                             int64_t *out_through, struct clew_error *err)
{
    struct fake_source *source = arg;
    struct index_doc *docs =
        arena_zero(arena, source->n_rows + 1, sizeof(*docs));
    size_t n = 0;

    (void)tenant;
    source->n_loads++;
    if (!docs) {
        return clew_fail(err, CLEW_NO_MEMORY, "no memory");
    }
    for (size_t i = 0; i < source->n_rows; i++) {
        if (source->rows[i].doc.change_seq > after) {
            docs[n++] = source->rows[i].doc;
        }
    }
    qsort(docs, n, sizeof(*docs), compare_changes);
    *out_docs = docs;
    *out_count = n < max ? n : max;
    *out_through = n <= max ? source->change : docs[max - 1].change_seq;
    return CLEW_OK;
}

struct index_source fake_source_of(struct fake_source *source)
{
    return (struct index_source){source, latest, load, NULL};
}
