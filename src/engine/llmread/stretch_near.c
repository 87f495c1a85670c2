/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch_near.c - notes by meaning. See stretch_near.h.
 */
#include "engine/llmread/stretch_near.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/llmread/stretch.h"
#include "model/embed.h"
#include "store/db.h"
#include "text/analysis.h"

#include <stdlib.h>

/* Sentences of a stretch that are compared; greetings say nothing. */
#define MAX_SENTENCES 80
#define SENTENCE_BYTES 12

DB_SQL(SELECT_NEWEST,
       "SELECT id, summary FROM memories WHERE tenant = $1 AND user_id = $2"
       " AND created_at < $3 AND type <> 'effort' AND type <> 'skill'"
       " AND retracted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $4");

struct note {
    struct uuid id;
    struct str text;
    float score;
    size_t at; /* how many are newer */
};

static bool note_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct note *out = item;

    out->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &out->text);
}

/* The nearest first; of two the newer. */
static int by_score(const void *a, const void *b)
{
    const struct note *x = a;
    const struct note *y = b;

    if (x->score > y->score || x->score < y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->at < y->at ? -1 : 1;
}

/* What people and models say in the stretch, sentence by sentence. */
static enum clew_status sentences_of(struct arena *arena,
                                     const struct stretch *s, struct str *out,
                                     size_t *out_count, struct clew_error *err)
{
    struct analysis_options options = {.has_no_keywords = true};
    enum clew_status status = CLEW_OK;
    size_t n = 0;

    for (size_t t = 0; t < s->n_turns && status == CLEW_OK; t++) {
        struct analysis a = {0};

        if (!s->turns[t].is_own) {
            continue;
        }
        status = analysis_run(arena, s->turns[t].shown, &options, &a, err);
        for (size_t i = 0;
             status == CLEW_OK && i < a.n_sentences && n < MAX_SENTENCES; i++) {
            struct str words = str_sub(a.text, a.sentences[i].span.from,
                                       a.sentences[i].span.to);

            if (!a.sentences[i].is_code && words.len >= SENTENCE_BYTES) {
                out[n++] = words;
            }
        }
    }
    *out_count = n;
    return status;
}

static enum clew_status vectors_of(struct engine *engine, struct arena *arena,
                                   const struct str *texts, size_t count,
                                   float **out, struct clew_error *err)
{
    *out =
        arena_zero(arena, (count + 1) * engine->embedder->dim, sizeof(**out));
    return *out ? embed_run_centred(engine->embedder, texts, count, *out, err)
                : clew_no_memory(err);
}

static float nearest(const float *note, const float *said, size_t n, size_t dim)
{
    float best = -1;

    for (size_t i = 0; i < n; i++) {
        float cosine = 0;

        for (size_t d = 0; d < dim; d++) {
            cosine += note[d] * said[i * dim + d];
        }
        best = cosine > best ? cosine : best;
    }
    return best;
}

/* Give each note its score. */
static enum clew_status compare(struct engine *engine, struct arena *arena,
                                const struct str *said, size_t n_said,
                                struct note *notes, size_t count,
                                struct clew_error *err)
{
    struct str *texts = arena_zero(arena, count + 1, sizeof(*texts));
    size_t dim = engine->embedder->dim;
    float *of_said = NULL;
    float *of_notes = NULL;
    enum clew_status status;

    if (!texts) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        texts[i] = notes[i].text;
    }
    status = vectors_of(engine, arena, said, n_said, &of_said, err);
    if (status == CLEW_OK) {
        status = vectors_of(engine, arena, texts, count, &of_notes, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        notes[i].at = i;
        notes[i].score = nearest(of_notes + i * dim, of_said, n_said, dim);
    }
    return status;
}

enum clew_status stretch_near(struct engine *engine, struct store_tx *tx,
                              struct arena *arena,
                              const struct stretch *stretch,
                              const struct uuid **out, size_t *out_count,
                              struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct note), .fn = note_of};
    struct str *said = arena_zero(arena, MAX_SENTENCES, sizeof(*said));
    struct uuid *ids = arena_zero(arena, STRETCH_COMPARED, sizeof(*ids));
    size_t n_said = 0;
    struct note *notes;
    enum clew_status status;

    *out = ids;
    *out_count = 0;
    if (!said || !ids) {
        return clew_no_memory(err);
    }
    status = sentences_of(arena, stretch, said, &n_said, err);
    if (status == CLEW_OK && n_said > 0) {
        status = rows_add(tx, &list, &SELECT_NEWEST,
                          DB_ARGS(db_text(stretch->user_id),
                                  db_int(stretch->from_ms),
                                  db_int(STRETCH_COMPARED)),
                          err);
    }
    notes = list.items;
    if (status != CLEW_OK || list.count == 0) {
        return status;
    }
    status = compare(engine, arena, said, n_said, notes, list.count, err);
    if (status == CLEW_OK) {
        qsort(notes, list.count, sizeof(*notes), by_score);
        for (size_t i = 0; i < list.count; i++) {
            ids[i] = notes[i].id;
        }
        *out_count = list.count;
    }
    return status;
}
