/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_passage.c - which stretch of a long text answers. See
 * search_internal.h.
 *
 * A stretch is a run of whole sentences (lines, where there are none) up to
 * PASSAGE_BYTES. The words of the question that it holds, rarer ones more, and
 * its cosine with the question choose among them; of equals the one that has
 * the words in its middle.
 */
#include "engine/ask/search_internal.h"

#include "base/utf8.h"
#include "engine/core/engine.h"
#include "model/embed.h"
#include "text/analysis.h"

#include <math.h>
#include <string.h>

/* Of a longer text the part around most of the question's words. */
#define LOOK_BYTES 65536u
/* Sentences looked at, and stretches that are embedded. */
#define MAX_UNITS 2048
#define MAX_EMBEDDED 12
#define MAX_TERMS 64

/* A sentence: where it begins, and which of the question's words it has. */
struct unit {
    size_t from;
    uint64_t terms;
};

struct stretch {
    size_t from;
    size_t to;
    float weight;
};

struct choice {
    struct search_work *work;
    struct str text; /* that is looked at */
    struct unit *units;
    size_t n_units;
    float weights[MAX_TERMS]; /* of the question's words; they sum to 1 */
    size_t n_terms;
    struct stretch best[MAX_EMBEDDED];
    size_t n_best;
};

static void weigh_terms(struct choice *choice)
{
    const struct recall_result *ranking = &choice->work->rows.ranking;
    float total = 0;

    choice->n_terms =
        ranking->n_terms < MAX_TERMS ? ranking->n_terms : MAX_TERMS;
    for (size_t i = 0; i < choice->n_terms; i++) {
        choice->weights[i] = text_idf(ranking->terms[i]);
        total += choice->weights[i];
    }
    for (size_t i = 0; i < choice->n_terms && total > 0; i++) {
        choice->weights[i] /= total;
    }
}

/* The window of a huge text that holds most different words, as written. */
static size_t look_from(const struct search_work *work, struct str text)
{
    const struct recall_result *ranking = &work->rows.ranking;
    size_t best = 0;
    size_t most = 0;

    for (size_t t = 0; t < ranking->n_terms && t < MAX_TERMS; t++) {
        size_t at = str_ifind(text, ranking->terms[t], 0);
        size_t from =
            at == SIZE_MAX || at < LOOK_BYTES / 2 ? 0 : at - LOOK_BYTES / 2;
        struct str window = str_sub(text, from, from + LOOK_BYTES);
        size_t n = 0;

        for (size_t k = 0; at != SIZE_MAX && k < ranking->n_terms; k++) {
            n += str_ifind(window, ranking->terms[k], 0) != SIZE_MAX;
        }
        if (n > most) {
            most = n;
            best = from;
        }
    }
    while (best < text.len && ((unsigned char)text.s[best] & 0xc0) == 0x80) {
        best++; /* a whole character */
    }
    return best;
}

static uint64_t term_of(const struct choice *choice, struct str stem)
{
    const struct recall_result *ranking = &choice->work->rows.ranking;

    for (size_t i = 0; i < choice->n_terms; i++) {
        if (str_eq(ranking->terms[i], stem)) {
            return (uint64_t)1 << i;
        }
    }
    return 0;
}

static enum clew_status split(struct choice *choice, struct clew_error *err)
{
    struct tokens tokens;
    size_t from = 0;

    if (tokens_of(choice->work->arena, choice->text, &tokens) != CLEW_OK) {
        return clew_no_memory(err);
    }
    choice->units =
        arena_zero(choice->work->arena, MAX_UNITS, sizeof(*choice->units));
    if (!choice->units) {
        return clew_no_memory(err);
    }
    choice->n_units = 1;
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.items[i];
        bool is_new = token->flags & (TOKEN_BREAK | TOKEN_AFTER_LINE) ||
                      token->to - from > PASSAGE_BYTES;

        if (is_new && token->from > from && !(token->flags & TOKEN_PART) &&
            choice->n_units < MAX_UNITS) {
            from = token->from;
            choice->units[choice->n_units++].from = from;
        }
        choice->units[choice->n_units - 1].terms |=
            term_of(choice, token->stem);
    }
    return CLEW_OK;
}

/* Keep the best by words; the earlier of equals. */
static void offer(struct choice *choice, const struct stretch *stretch)
{
    size_t at = choice->n_best;

    while (at > 0 && choice->best[at - 1].weight < stretch->weight) {
        at--;
    }
    if (at == MAX_EMBEDDED) {
        return;
    }
    if (choice->n_best < MAX_EMBEDDED) {
        choice->n_best++;
    }
    memmove(&choice->best[at + 1], &choice->best[at],
            (choice->n_best - 1 - at) * sizeof(*choice->best));
    choice->best[at] = *stretch;
}

static size_t unit_end(const struct choice *choice, size_t unit)
{
    return unit + 1 < choice->n_units ? choice->units[unit + 1].from
                                      : choice->text.len;
}

/* How far the words of the question are from the middle of a run of units,
 * 0 to 1: what matched at its very end has lost what follows it, and the reader
 * may not come so far. */
static float aside(const struct choice *choice, size_t from, size_t to)
{
    size_t begin = choice->units[from].from;
    size_t end = unit_end(choice, to - 1);
    size_t first = to;
    size_t last = from;
    float middle;
    float matched;

    for (size_t i = from; i < to; i++) {
        if (choice->units[i].terms) {
            first = first < i ? first : i;
            last = i;
        }
    }
    if (first == to || end == begin) {
        return 0;
    }
    middle = (float)(begin + end) / 2;
    matched = (float)(choice->units[first].from + unit_end(choice, last)) / 2;
    return fabsf(matched - middle) / (float)(end - begin) * 2;
}

/* Every run of whole sentences that fits. */
static void find_stretches(struct choice *choice)
{
    for (size_t i = 0; i < choice->n_units; i++) {
        struct stretch stretch = {.from = choice->units[i].from};
        uint64_t terms = 0;
        size_t k = i;

        do {
            terms |= choice->units[k].terms;
            stretch.to = unit_end(choice, k);
            k++;
        } while (k < choice->n_units &&
                 unit_end(choice, k) - stretch.from <= PASSAGE_BYTES);
        for (size_t t = 0; t < choice->n_terms; t++) {
            stretch.weight += terms >> t & 1 ? choice->weights[t] : 0;
        }
        stretch.weight -= PASSAGE_ASIDE * aside(choice, i, k);
        offer(choice, &stretch);
        if (k == choice->n_units) {
            return; /* the rest is part of this one */
        }
    }
}

/* The question's vector, made once for all texts of a search. */
static enum clew_status ask_vector(struct search_work *work,
                                   struct clew_error *err)
{
    struct embedder *embedder = work->engine->embedder;
    float *vector;
    enum clew_status status;

    if (work->asked_vector) {
        return CLEW_OK;
    }
    vector = arena_alloc(work->arena, embedder->dim * sizeof(*vector));
    if (!vector) {
        return clew_no_memory(err);
    }
    status = embed_run(embedder, &work->asked.text, 1, vector, err);
    work->asked_vector = status == CLEW_OK ? vector : NULL;
    return status;
}

/* Only those stay that may be the best, in their order. */
static void drop_far(struct choice *choice)
{
    struct embed_stretch stretches[MAX_EMBEDDED];
    float least = -INFINITY; /* of the best */
    size_t n = 0;

    for (size_t i = 0; i < choice->n_best; i++) {
        stretches[i].from = choice->best[i].from;
        stretches[i].to = choice->best[i].to;
    }
    if (!embed_near(choice->work->engine->embedder, choice->text,
                    choice->work->asked_vector, stretches, choice->n_best)) {
        return;
    }
    for (size_t i = 0; i < choice->n_best; i++) {
        least = fmaxf(least, choice->best[i].weight +
                                 PASSAGE_COSINE *
                                     (stretches[i].cosine - stretches[i].off));
    }
    for (size_t i = 0; i < choice->n_best; i++) {
        if (choice->best[i].weight +
                PASSAGE_COSINE * (stretches[i].cosine + stretches[i].off) >=
            least) {
            choice->best[n++] = choice->best[i];
        }
    }
    choice->n_best = n;
}

static enum clew_status embed_best(struct choice *choice, size_t *out_best,
                                   struct clew_error *err)
{
    struct embedder *embedder = choice->work->engine->embedder;
    const float *asked = choice->work->asked_vector;
    struct str texts[MAX_EMBEDDED];
    float *vectors = arena_alloc(
        choice->work->arena, MAX_EMBEDDED * embedder->dim * sizeof(*vectors));
    float most = -2;
    enum clew_status status;

    if (!vectors) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < choice->n_best; i++) {
        texts[i] =
            str_sub(choice->text, choice->best[i].from, choice->best[i].to);
    }
    status = embed_run(embedder, texts, choice->n_best, vectors, err);
    for (size_t i = 0; status == CLEW_OK && i < choice->n_best; i++) {
        const float *vector = vectors + i * embedder->dim;
        float cosine = 0;

        for (size_t d = 0; d < embedder->dim; d++) {
            cosine += asked[d] * vector[d];
        }
        cosine = choice->best[i].weight + PASSAGE_COSINE * cosine;
        if (cosine > most) {
            most = cosine;
            *out_best = i;
        }
    }
    return status;
}

/* The best by words and meaning; most often one is ahead of all others, and
 * none has to be embedded by itself. */
static enum clew_status choose(struct choice *choice, size_t *out_best,
                               struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (choice->n_best > 1) {
        status = ask_vector(choice->work, err);
    }
    if (choice->n_best > 1 && status == CLEW_OK) {
        drop_far(choice);
    }
    return choice->n_best > 1 && status == CLEW_OK
               ? embed_best(choice, out_best, err)
               : status;
}

enum clew_status search_passage(struct search_work *work, struct str text,
                                size_t *from, size_t *to,
                                struct clew_error *err)
{
    struct choice choice = {.work = work};
    size_t base = 0;
    size_t best = 0;
    enum clew_status status;

    *from = 0;
    *to = text.len;
    if (text.len <= PASSAGE_BYTES) {
        return CLEW_OK;
    }
    if (text.len > LOOK_BYTES) {
        base = look_from(work, text);
    }
    choice.text = str_sub(text, base, base + LOOK_BYTES);
    weigh_terms(&choice);
    status = split(&choice, err);
    if (status == CLEW_OK) {
        find_stretches(&choice);
        status = choose(&choice, &best, err);
    }
    if (status == CLEW_OK) {
        struct str stretch = str_trim(
            str_sub(choice.text, choice.best[best].from, choice.best[best].to));

        *from = (size_t)(stretch.s - text.s);
        *to = *from + utf8_cut(stretch, 2 * PASSAGE_BYTES);
    }
    return status;
}
