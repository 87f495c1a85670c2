/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch_near.c - notes by words and by meaning. See stretch_near.h.
 */
#include "engine/llmread/stretch_near.h"

#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/llmread/stretch.h"
#include "model/embed.h"
#include "store/db.h"
#include "text/analysis.h"
#include "text/token.h"

#include <math.h>
#include <stdlib.h>

/* Sentences of a stretch that are compared; greetings say nothing. */
#define MAX_SENTENCES 120
#define SENTENCE_BYTES 12
/* Different terms of one text that are compared. */
#define MAX_TERMS 256

DB_SQL(SELECT_NEWEST,
       "SELECT m.id, m.summary FROM memories m WHERE m.tenant = $1"
       " AND m.user_id = $2 AND m.created_at < $3 AND m.type <> 'effort'"
       " AND m.type <> 'skill' AND m.retracted_at IS NULL AND NOT EXISTS"
       " (SELECT 1 FROM memory_sources s WHERE s.tenant = $1"
       " AND s.source_id = m.id AND (SELECT 1 FROM memories r"
       " WHERE r.tenant = $1 AND r.id = s.memory_id AND r.created_at < $3"
       " AND r.retracted_at IS NULL) = 1)"
       " ORDER BY m.created_at DESC, m.id DESC LIMIT $4");

/* The terms of a text, each once, as numbers in order. */
struct terms {
    uint64_t *hashes;
    float *weights; /* of a note's: the rarer among the notes, the more */
    size_t count;
    float norm; /* of a note's: how much all of them weigh */
};

struct note {
    struct uuid id;
    struct str text;
    struct terms terms;
    float score; /* by the turn and the measure at hand */
    float best;  /* by meaning, of any turn */
    size_t rank; /* the best of any turn and measure */
    size_t at;   /* how many are newer */
};

/* A sentence of the stretch, and whose. */
struct sentence_of {
    struct str words;
    size_t turn;
};

struct near {
    struct engine *engine;
    struct arena *arena;
    const struct stretch *stretch;
    struct note *notes;
    struct note **order; /* the notes, to be sorted */
    size_t count;
    struct sentence_of *said;
    size_t n_said;
    float *of_said; /* vectors */
    float *of_notes;
};

static bool note_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct note *out = item;

    out->id = db_get_uuid(rows, 0);
    return rows_text(arena, rows, 1, &out->text);
}

/* --- by words --------------------------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static enum clew_status read_terms(struct arena *arena, struct str text,
                                   struct terms *out)
{
    struct tokens tokens = {0};
    struct str *terms = NULL;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status = tokens_of(arena, text, &tokens);

    if (status == CLEW_OK) {
        status = terms_of(arena, &tokens, &terms, &count);
    }
    *out = (struct terms){0};
    if (status != CLEW_OK) {
        return status;
    }
    count = count < MAX_TERMS ? count : MAX_TERMS;
    out->hashes = arena_zero(arena, count + 1, sizeof(*out->hashes));
    out->weights = arena_zero(arena, count + 1, sizeof(*out->weights));
    if (!out->hashes || !out->weights) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        out->hashes[i] = str_hash(terms[i]);
    }
    qsort(out->hashes, count, sizeof(*out->hashes), by_number);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || out->hashes[i] != out->hashes[i - 1]) {
            out->hashes[n++] = out->hashes[i];
        }
    }
    out->count = n;
    return CLEW_OK;
}

/* In how many notes does the term stand? */
static size_t n_with(const struct near *near, uint64_t hash)
{
    size_t n = 0;

    for (size_t i = 0; i < near->count; i++) {
        const struct terms *t = &near->notes[i].terms;

        n += t->count > 0 && bsearch(&hash, t->hashes, t->count, sizeof(hash),
                                     by_number) != NULL;
    }
    return n;
}

static enum clew_status weigh_notes(struct near *near)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < near->count && status == CLEW_OK; i++) {
        status =
            read_terms(near->arena, near->notes[i].text, &near->notes[i].terms);
    }
    for (size_t i = 0; i < near->count && status == CLEW_OK; i++) {
        struct terms *t = &near->notes[i].terms;

        for (size_t k = 0; k < t->count; k++) {
            size_t n = n_with(near, t->hashes[k]);

            t->weights[k] = 1.0f / (float)(n > 0 ? n : 1);
            t->norm += t->weights[k];
        }
    }
    return status;
}

/* What the note shares with the turn, for its length. */
static float shared(const struct terms *note, const struct terms *turn)
{
    float sum = 0;

    for (size_t i = 0, k = 0; i < note->count && k < turn->count;) {
        if (note->hashes[i] == turn->hashes[k]) {
            sum += note->weights[i];
            i++;
            k++;
        } else if (note->hashes[i] < turn->hashes[k]) {
            i++;
        } else {
            k++;
        }
    }
    return sum > 0 ? sum / sqrtf(note->norm) : 0;
}

/* --- by meaning ------------------------------------------------------------
 */

/* What people and models say in the stretch, sentence by sentence. */
static enum clew_status read_sentences(struct near *near,
                                       struct clew_error *err)
{
    const struct stretch *s = near->stretch;
    struct analysis_options options = {.has_no_keywords = true};
    enum clew_status status = CLEW_OK;

    near->said = arena_zero(near->arena, MAX_SENTENCES, sizeof(*near->said));
    if (!near->said) {
        return clew_no_memory(err);
    }
    for (size_t t = 0; t < s->n_turns && status == CLEW_OK; t++) {
        struct analysis a = {0};

        status =
            analysis_run(near->arena, s->turns[t].shown, &options, &a, err);
        for (size_t i = 0; status == CLEW_OK && i < a.n_sentences &&
                           near->n_said < MAX_SENTENCES;
             i++) {
            struct str words = str_sub(a.text, a.sentences[i].span.from,
                                       a.sentences[i].span.to);

            if (!a.sentences[i].is_code && words.len >= SENTENCE_BYTES) {
                near->said[near->n_said++] = (struct sentence_of){words, t};
            }
        }
    }
    return status;
}

static enum clew_status vectors_of(struct near *near, const struct str *texts,
                                   size_t count, float **out,
                                   struct clew_error *err)
{
    struct embedder *embedder = near->engine->embedder;

    *out = arena_zero(near->arena, (count + 1) * embedder->dim, sizeof(**out));
    return *out ? embed_run_centred(embedder, texts, count, *out, err)
                : clew_no_memory(err);
}

static enum clew_status find_vectors(struct near *near, struct clew_error *err)
{
    size_t most = near->count > near->n_said ? near->count : near->n_said;
    struct str *texts = arena_zero(near->arena, most + 1, sizeof(*texts));
    enum clew_status status;

    if (!texts) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < near->n_said; i++) {
        texts[i] = near->said[i].words;
    }
    status = vectors_of(near, texts, near->n_said, &near->of_said, err);
    for (size_t i = 0; i < near->count; i++) {
        texts[i] = near->notes[i].text;
    }
    return status == CLEW_OK
               ? vectors_of(near, texts, near->count, &near->of_notes, err)
               : status;
}

/* How near the note is to the nearest sentence of the turn; 0: it is not. */
static float meant(const struct near *near, size_t note, size_t turn)
{
    size_t dim = near->engine->embedder->dim;
    const float *vector = near->of_notes + note * dim;
    float best = 0;

    for (size_t i = 0; i < near->n_said; i++) {
        float cosine = 0;

        if (near->said[i].turn != turn) {
            continue;
        }
        for (size_t d = 0; d < dim; d++) {
            cosine += vector[d] * near->of_said[i * dim + d];
        }
        best = cosine > best ? cosine : best;
    }
    return best;
}

/* --- both ------------------------------------------------------------------
 */

/* The highest score first; of two the newer. */
static int by_score(const void *a, const void *b)
{
    const struct note *x = *(struct note *const *)a;
    const struct note *y = *(struct note *const *)b;

    if (x->score > y->score || x->score < y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->at < y->at ? -1 : 1;
}

/* The best rank first; of two the one that is nearer in meaning. */
static int by_rank(const void *a, const void *b)
{
    const struct note *x = *(struct note *const *)a;
    const struct note *y = *(struct note *const *)b;

    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->best > y->best || x->best < y->best) {
        return x->best > y->best ? -1 : 1;
    }
    return x->at < y->at ? -1 : 1;
}

/* Keep the ranks that the scores at hand give. */
static void rank(struct near *near)
{
    qsort(near->order, near->count, sizeof(struct note *), by_score);
    for (size_t i = 0; i < near->count && near->order[i]->score > 0; i++) {
        if (i < near->order[i]->rank) {
            near->order[i]->rank = i;
        }
    }
}

static enum clew_status rank_all(struct near *near)
{
    const struct stretch *s = near->stretch;
    enum clew_status status = weigh_notes(near);

    for (size_t t = 0; t < s->n_turns && status == CLEW_OK; t++) {
        struct terms terms;

        status = read_terms(near->arena, s->turns[t].shown, &terms);
        for (size_t i = 0; i < near->count && status == CLEW_OK; i++) {
            near->notes[i].score = shared(&near->notes[i].terms, &terms);
        }
        rank(near);
        for (size_t i = 0; i < near->count && status == CLEW_OK; i++) {
            struct note *note = &near->notes[i];

            note->score = meant(near, i, t);
            note->best = note->score > note->best ? note->score : note->best;
        }
        rank(near);
    }
    qsort(near->order, near->count, sizeof(struct note *), by_rank);
    return status;
}

/* Take the notes as they were read. */
static bool take(struct near *near, const struct rows_list *list)
{
    near->notes = list->items;
    near->count = list->count;
    near->order =
        arena_zero(near->arena, list->count + 1, sizeof(struct note *));
    for (size_t i = 0; near->order && i < near->count; i++) {
        near->order[i] = &near->notes[i];
        near->notes[i].at = i;
        near->notes[i].rank = near->count;
    }
    return near->order != NULL;
}

enum clew_status stretch_near(struct engine *engine, struct store_tx *tx,
                              struct arena *arena,
                              const struct stretch *stretch,
                              struct stretch_nearest *out,
                              struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct note), .fn = note_of};
    struct near near = {.engine = engine, .arena = arena, .stretch = stretch};
    struct uuid *ids = arena_zero(arena, STRETCH_COMPARED, sizeof(*ids));
    enum clew_status status;

    *out = (struct stretch_nearest){.ids = ids};
    if (!ids) {
        return clew_no_memory(err);
    }
    status =
        rows_add(tx, &list, &SELECT_NEWEST,
                 DB_ARGS(db_text(stretch->user_id), db_int(stretch->from_ms),
                         db_int(STRETCH_COMPARED)),
                 err);
    if (status != CLEW_OK || list.count == 0) {
        return status;
    }
    if (!take(&near, &list)) {
        return clew_no_memory(err);
    }
    status = read_sentences(&near, err);
    if (status == CLEW_OK) {
        status = find_vectors(&near, err);
    }
    if (status == CLEW_OK && rank_all(&near) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < near.count && status == CLEW_OK; i++) {
        ids[i] = near.order[i]->id;
    }
    out->count = status == CLEW_OK ? near.count : 0;
    return status;
}
