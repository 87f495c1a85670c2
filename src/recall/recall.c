/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - the steps of a recall in order; highlights.
 */
#include "recall/recall.h"

#include "base/clock.h"
#include "model/embed.h"
#include "recall/recall_internal.h"
#include "text/analysis.h"
#include "text/question.h"
#include "vec/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a term weighs beside those of the question as it was written: one of a
 * word that was mended, and one lent by what was said before. */
#define MENDED_WEIGHT 0.7f
#define LENT_WEIGHT 0.4f
/* … and one of a date: what it means is looked for as a time. */
#define DATED_WEIGHT 0.4f
/* What the vector of what was said before weighs beside the question's. */
#define LENT_VECTOR 0.5f
/* Pairs of characters that make a word that tells something, about: others
 * join it to the next, or are what words are asked with. */
#define PAIRS_PER_WORD 3

static bool is_in_date(const struct analysis *analysis,
                       const struct token *token)
{
    for (size_t i = 0; i < analysis->n_dates; i++) {
        const struct span *span = &analysis->dates[i].span;

        if (token->from < span->to && token->to > span->from) {
            return true;
        }
    }
    return false;
}

/* Does a term stand in one of the question's dates, and nowhere else? */
static bool is_dated(const struct analysis *analysis, struct str term)
{
    bool is_dated = false;

    for (size_t i = 0; analysis && i < analysis->tokens.count; i++) {
        const struct token *token = &analysis->tokens.items[i];

        if (str_eq(token->stem, term)) {
            if (!is_in_date(analysis, token)) {
                return false;
            }
            is_dated = true;
        }
    }
    return is_dated;
}

static bool is_mended(const struct recall_request *request,
                      const struct tokens *tokens, struct str term)
{
    for (size_t i = 0; i < tokens->count && request->n_mended > 0; i++) {
        const struct token *token = &tokens->items[i];

        for (size_t k = 0; k < request->n_mended; k++) {
            if (str_eq(token->folded, request->mended[k]) &&
                str_eq(token->stem, term)) {
                return true;
            }
        }
    }
    return false;
}

/* Terms without repeats, at most LIMIT_QUERY_TERMS. */
static enum clew_status add_terms(struct recall_query *query,
                                  struct arena *arena,
                                  const struct tokens *tokens,
                                  const struct analysis *analysis, float weight,
                                  struct clew_error *err)
{
    struct str *terms = NULL;
    size_t count = 0;

    if (terms_of(arena, tokens, &terms, &count) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count && query->n_terms < LIMIT_QUERY_TERMS; i++) {
        uint64_t hash = index_term_hash(terms[i]);
        size_t k = 0;

        while (k < query->n_terms && query->hashes[k] != hash) {
            k++;
        }
        if (k == query->n_terms) {
            query->terms[k] = terms[i];
            query->hashes[k] = hash;
            query->weights[k] = weight;
            if (is_mended(query->request, tokens, terms[i])) {
                query->weights[k] *= MENDED_WEIGHT;
            }
            query->is_dated[k] = is_dated(analysis, terms[i]);
            if (query->is_dated[k]) {
                query->weights[k] *= DATED_WEIGHT;
            }
            query->n_terms++;
        }
    }
    return CLEW_OK;
}

static enum clew_status take_terms(struct recall_query *query,
                                   struct arena *arena,
                                   const struct analysis *analysis,
                                   struct clew_error *err)
{
    size_t n = LIMIT_QUERY_TERMS;
    struct tokens lent;
    enum clew_status status;

    query->terms = arena_zero(arena, n, sizeof(*query->terms));
    query->hashes = arena_zero(arena, n, sizeof(*query->hashes));
    query->weights = arena_zero(arena, n, sizeof(*query->weights));
    query->is_known = arena_zero(arena, n, sizeof(*query->is_known));
    query->is_dated = arena_zero(arena, n, sizeof(*query->is_dated));
    if (!query->terms || !query->hashes || !query->weights ||
        !query->is_known || !query->is_dated) {
        return clew_no_memory(err);
    }
    status = add_terms(query, arena, &analysis->tokens, analysis, 1, err);
    if (status != CLEW_OK || query->request->lent.len == 0) {
        return status;
    }
    if (tokens_of(arena, query->request->lent, &lent) != CLEW_OK) {
        return clew_no_memory(err);
    }
    return add_terms(query, arena, &lent, NULL, LENT_WEIGHT, err);
}

/* Mix the vector of what was said before into the question's. */
static enum clew_status lend(const struct recall_request *request,
                             struct embedder *embedder, float *vector,
                             struct arena *arena, struct clew_error *err)
{
    size_t dim = embedder->dim;
    float *lent = arena_zero(arena, dim, sizeof(*lent));
    double square = 0;
    enum clew_status status;

    if (!lent) {
        return clew_no_memory(err);
    }
    status = embed_run(embedder, &request->lent, 1, lent, err);
    for (size_t i = 0; status == CLEW_OK && i < dim; i++) {
        vector[i] += LENT_VECTOR * lent[i];
        square += (double)vector[i] * (double)vector[i];
    }
    for (size_t i = 0; square > 0 && i < dim; i++) {
        vector[i] /= (float)sqrt(square);
    }
    return status;
}

/* The question's vector, turned towards answers if that is wanted and can be,
 * and what was said before it mixed in: that is no question. */
static enum clew_status embed_question(struct recall_query *query,
                                       struct embedder *embedder, bool *turn,
                                       float *vector, struct arena *arena,
                                       struct clew_error *err)
{
    const struct recall_request *request = query->request;
    size_t dim = embedder->dim;
    enum clew_status status;

    if (!query->own) {
        float *own = arena_zero(arena, dim, sizeof(*own));

        if (!own) {
            return clew_no_memory(err);
        }
        status = embed_run(embedder, &request->query, 1, own, err);
        if (status != CLEW_OK) {
            return status;
        }
        query->own = own;
    }
    if (*turn) {
        *turn = embed_ask(embedder, query->own, vector);
    } else {
        memcpy(vector, query->own, dim * sizeof(*vector));
    }
    return request->lent.len > 0 ? lend(request, embedder, vector, arena, err)
                                 : CLEW_OK;
}

/* The question's vector in all forms it is compared in. */
static enum clew_status take_vector(struct recall_query *query,
                                    struct arena *arena,
                                    const struct index_view *view,
                                    struct embedder *embedder, bool turn,
                                    struct clew_error *err)
{
    size_t dim = view->dim;
    struct vec_form form;
    float *vector;
    double bias = 0;
    enum clew_status status;

    if (!embedder || dim == 0 || embedder->dim != dim) {
        return CLEW_OK;
    }
    vector = arena_zero(arena, dim, sizeof(*vector));
    query->vector = arena_zero(arena, dim, 2);
    query->planes = arena_zero(arena, VEC_PLANES, VEC_BIT_BYTES(dim));
    query->signs = arena_zero(arena, 1, VEC_BIT_BYTES(dim));
    if (!vector || !query->vector || !query->planes || !query->signs) {
        return clew_no_memory(err);
    }
    status = embed_question(query, embedder, &turn, vector, arena, err);
    if (status != CLEW_OK) {
        return status;
    }
    query->floats = vector;
    query->is_turned = turn;
    query->ops = vec_ops();
    vec_quantise_query(vector, view->centre, dim, query->vector, &form,
                       &query->fine);
    for (size_t i = 0; view->centre && i < dim; i++) {
        bias += (double)vector[i] * (double)view->centre[i];
    }
    query->bias = (float)bias;
    query->scale = form.scale;
    if (query->scale > 0) {
        query->dim = dim;
        query->step =
            query->scale * vec_query_planes(query->vector, dim, query->planes,
                                            &query->planes_sum);
        vec_sign_bits(query->vector, dim, query->signs);
    }
    return CLEW_OK;
}

/* The day of the year before. */
static int64_t year_before(int64_t time_ms)
{
    int64_t day = time_ms / CLOCK_DAY_MS - (time_ms % CLOCK_DAY_MS < 0);
    int64_t year;
    int month;
    int dom;

    clock_civil_from_days(day, &year, &month, &dom);
    return time_ms -
           (day - clock_days_from_civil(year - 1, month, dom)) * CLOCK_DAY_MS;
}

/* A time asked about. What was said is behind us: "in March", asked in
 * November, may be the one to come, but is that of this year as likely. */
static void add_range(struct recall_query *query, const struct date *date)
{
    struct index_range range = {date->from_ms, date->to_ms};

    if (query->n_ranges < RECALL_RANGES) {
        query->ranges[query->n_ranges++] = range;
    }
    if (date->again == DATE_ONCE || range.from_ms <= query->request->at_ms ||
        query->n_ranges == RECALL_RANGES) {
        return;
    }
    if (date->again == DATE_WEEKLY) {
        range.from_ms -= 7 * CLOCK_DAY_MS;
        range.to_ms -= 7 * CLOCK_DAY_MS;
    } else {
        range.from_ms = year_before(range.from_ms);
        range.to_ms = year_before(range.to_ms);
    }
    query->ranges[query->n_ranges++] = range;
}

/* Words that tell something and are no date. */
static size_t count_named(const struct analysis *analysis)
{
    size_t n_words = 0;
    size_t n_pairs = 0;

    for (size_t i = 0; i < analysis->tokens.count; i++) {
        const struct token *token = &analysis->tokens.items[i];

        if (token->kind == TOKEN_PUNCT ||
            token->flags & (TOKEN_PART | TOKEN_STOP | TOKEN_CHAT) ||
            is_in_date(analysis, token)) {
            continue;
        }
        n_words += token->kind != TOKEN_BIGRAM;
        n_pairs += token->kind == TOKEN_BIGRAM;
    }
    return n_words + n_pairs / PAIRS_PER_WORD;
}

static enum clew_status analyse(struct recall_query *query, struct arena *arena,
                                const struct index_view *view,
                                struct embedder *embedder,
                                struct clew_error *err)
{
    const struct recall_request *request = query->request;
    struct analysis_options options = {.time_ms = request->at_ms,
                                       .timezone = request->timezone};
    struct analysis analysis;
    enum clew_status status =
        analysis_run(arena, request->query, &options, &analysis, err);

    if (status == CLEW_OK) {
        status = take_terms(query, arena, &analysis, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < analysis.n_dates; i++) {
        add_range(query, &analysis.dates[i]);
    }
    query->n_named = count_named(&analysis);
    query->gist = view->gists ? request->gist : NULL;
    query->gists = view->gists;
    query->wants = question_wants(request->query, &analysis.tokens);
    for (size_t i = 0; i < view->count && view->dim > 0; i++) {
        const struct segment *s = view->segments[i];

        for (int k = 0; k < INDEX_KINDS && segment_is_bare(s); k++) {
            query->n_bare[k] += segment_kind_end(s, (enum index_kind)k) -
                                segment_kind_first(s, (enum index_kind)k);
        }
    }
    return take_vector(query, arena, view, embedder, true, err);
}

static int compare_items(const struct recall_item *x,
                         const struct recall_item *y)
{
    if (x->score < y->score || x->score > y->score) {
        return x->score > y->score ? -1 : 1;
    }
    if (x->created_at_ms != y->created_at_ms) {
        return x->created_at_ms > y->created_at_ms ? -1 : 1;
    }
    if (x->seq != y->seq) { /* ids are drawn by chance */
        return x->seq > y->seq ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    return uuid_cmp(&x->id, &y->id);
}

/* Move the best `want` to the front (quickselect). */
static void select_items(const struct recall_item **a, ptrdiff_t count,
                         ptrdiff_t want)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = count - 1;

    while (low < high) {
        const struct recall_item *pivot = a[low + (high - low) / 2];
        ptrdiff_t i = low;
        ptrdiff_t j = high;

        while (i <= j) {
            while (compare_items(a[i], pivot) < 0) {
                i++;
            }
            while (compare_items(pivot, a[j]) < 0) {
                j--;
            }
            if (i <= j) {
                const struct recall_item *swap = a[i];

                a[i++] = a[j];
                a[j--] = swap;
            }
        }
        if (want <= j) {
            high = j;
        } else if (want >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static int compare_places(const void *a, const void *b)
{
    return compare_items(*(const struct recall_item *const *)a,
                         *(const struct recall_item *const *)b);
}

/*
 * The sum of the parts, without bounds, as a number from 0 to 1 that keeps the
 * order; middle and steepness are for the eye only. The same on every
 * machine, as a square root is.
 */
static double bend(double sum)
{
    double x = 2 * (sum - 0.7);

    return 0.5 + 0.5 * x / sqrt(1 + x * x);
}

/* Items found so far: of the kinds in reach, and of chats. */
struct found {
    size_t n_scanned;
    size_t n_candidates;
    struct {
        const struct recall_item *items;
        size_t count;
    } parts[INDEX_KINDS + 1];
    size_t n_parts;
    size_t count;
};

static void found_add(struct found *found, const struct recall_item *items,
                      size_t count)
{
    found->parts[found->n_parts].items = items;
    found->parts[found->n_parts++].count = count;
    found->count += count;
}

/* The best `limit` of what was found, in order, with their final scores. */
static enum clew_status rank(const struct found *found, struct arena *arena,
                             size_t limit, struct recall_result *out,
                             struct clew_error *err)
{
    size_t count = found->count < limit ? found->count : limit;
    const struct recall_item **order =
        arena_alloc(arena, (found->count + 1) * sizeof(*order));
    struct recall_item *items =
        arena_alloc(arena, (count + 1) * sizeof(*items));
    size_t n = 0;

    if (!order || !items) {
        return clew_no_memory(err);
    }
    for (size_t p = 0; p < found->n_parts; p++) {
        for (size_t i = 0; i < found->parts[p].count; i++) {
            order[n++] = &found->parts[p].items[i];
        }
    }
    if (count < n) {
        select_items(order, (ptrdiff_t)n, (ptrdiff_t)count);
    }
    qsort(order, count, sizeof(*order), compare_places);
    for (size_t i = 0; i < count; i++) {
        items[i] = *order[i];
        items[i].score = bend(items[i].score);
    }
    out->items = items;
    out->count = count;
    return CLEW_OK;
}

/* Turns lean on their chats, which are ranked by what turns say alone. */
static enum clew_status run_chats(struct population *pop, uint32_t wanted,
                                  struct found *found, struct clew_error *err)
{
    struct recall_item *items = NULL;
    size_t count = 0;
    enum clew_status status = recall_gather(pop, err);

    if (status == CLEW_OK && wanted & RECALL_CHAT) {
        status = recall_chats(pop, &items, &count, err);
        if (status == CLEW_OK) {
            found_add(found, items, count);
        }
    }
    if (status == CLEW_OK) {
        recall_lean(pop);
    }
    return status;
}

/* Everything of one kind: reach, find, score, gather. Of turns, their chats
 * too, as `wanted` says. */
static enum clew_status run_kind(const struct index_view *view,
                                 const struct recall_query *query,
                                 struct arena *arena, enum index_kind kind,
                                 uint32_t wanted, struct found *found,
                                 struct clew_error *err)
{
    struct population pop;
    enum clew_status status =
        population_init(&pop, arena, view, query, kind, err);

    if (status != CLEW_OK || pop.size == 0) {
        return status;
    }
    status = recall_find(&pop,
                         query->request->limit +
                             (kind == INDEX_MEMORY ? query->request->spare : 0),
                         err);
    if (status == CLEW_OK) {
        status = recall_score(&pop, err);
    }
    if (status == CLEW_OK && kind == INDEX_TURN) {
        status = run_chats(&pop, wanted, found, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    found->n_scanned += pop.n_live;
    found->n_candidates += pop.n_items;
    if (wanted & (1u << kind)) {
        found_add(found, pop.items, pop.n_items);
    }
    return CLEW_OK;
}

/* Of each kind in `wanted` everything. */
static enum clew_status run_each(const struct index_view *view,
                                 const struct recall_query *query,
                                 struct arena *arena, uint32_t wanted,
                                 struct found *found, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (int kind = 0; kind < INDEX_KINDS && status == CLEW_OK; kind++) {
        if (wanted & (1u << kind) ||
            (kind == INDEX_TURN && wanted & RECALL_CHAT)) {
            status = run_kind(view, query, arena, (enum index_kind)kind, wanted,
                              found, err);
        }
    }
    return status;
}

/* Turns are ranked by the turned vector. Chats are about what is asked,
 * whatever answers it, and memories are short and say one thing: by the plain
 * one. */
static enum clew_status run_kinds(const struct index_view *view,
                                  const struct recall_query *query,
                                  struct embedder *embedder,
                                  struct arena *arena, uint32_t wanted,
                                  struct found *found, struct clew_error *err)
{
    struct recall_query plain = *query;
    enum clew_status status = CLEW_OK;

    if (!query->is_turned) {
        return run_each(view, query, arena, wanted, found, err);
    }
    if (wanted & ~(uint32_t)RECALL_TURN) {
        status = take_vector(&plain, arena, view, embedder, false, err);
    }
    if (status == CLEW_OK && wanted & RECALL_CHAT) {
        status = run_each(view, &plain, arena, RECALL_CHAT, found, err);
        if (wanted & RECALL_TURN) { /* the same documents are counted below */
            found->n_scanned = 0;
            found->n_candidates = 0;
        }
    }
    if (status == CLEW_OK) {
        status = run_each(view, &plain, arena,
                          wanted & ~(uint32_t)(RECALL_CHAT | RECALL_TURN),
                          found, err);
    }
    return status == CLEW_OK
               ? run_each(view, query, arena, wanted & RECALL_TURN, found, err)
               : status;
}

enum clew_status recall_run(struct index_view *view, struct embedder *embedder,
                            struct arena *arena,
                            const struct recall_request *request,
                            struct recall_result *out, struct clew_error *err)
{
    struct recall_query query = {.request = request};
    struct recall_result result = {0};
    struct found found = {0};
    uint32_t wanted = request->kinds
                          ? request->kinds
                          : RECALL_TURN | RECALL_MEMORY | RECALL_EPISODE;
    enum clew_status status;

    if (request->limit == 0 || request->limit > RECALL_MAX_LIMIT) {
        return clew_fail_field(err, "limit", "must be 1 to %d",
                               RECALL_MAX_LIMIT);
    }
    status = analyse(&query, arena, view, embedder, err);
    if (status == CLEW_OK) {
        status = run_kinds(view, &query, embedder, arena, wanted, &found, err);
    }
    if (status == CLEW_OK) {
        status =
            rank(&found, arena, request->limit + request->spare, &result, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    result.n_scanned = found.n_scanned;
    result.n_candidates = found.n_candidates;
    result.terms = query.terms;
    result.is_known = query.is_known;
    result.n_terms = query.n_terms;
    result.n_named = query.n_named;
    *out = result;
    return CLEW_OK;
}

static bool is_term(const struct recall_result *result, struct str stem)
{
    for (size_t i = 0; i < result->n_terms; i++) {
        if (str_eq(result->terms[i], stem)) {
            return true;
        }
    }
    return false;
}

enum clew_status recall_highlight(struct arena *arena,
                                  const struct recall_result *result,
                                  struct str text, size_t max,
                                  struct recall_span **out_spans,
                                  size_t *out_count)
{
    struct recall_span *spans = NULL;
    size_t cap = 0;
    size_t n = 0;
    struct tokens tokens;
    enum clew_status status = tokens_of(arena, text, &tokens);

    for (size_t i = 0; status == CLEW_OK && i < tokens.count && n < max; i++) {
        const struct token *token = &tokens.items[i];

        if (token->kind == TOKEN_PUNCT || !is_term(result, token->stem)) {
            continue;
        }
        if (n > 0 && token->from <= spans[n - 1].to) {
            /* overlapping bigrams and parts become one span */
            spans[n - 1].to =
                token->to > spans[n - 1].to ? token->to : spans[n - 1].to;
            continue;
        }
        spans = arena_grow(arena, spans, n, &cap, sizeof(*spans));
        if (!spans) {
            return CLEW_NO_MEMORY;
        }
        spans[n++] = (struct recall_span){token->from, token->to};
    }
    if (status == CLEW_OK) {
        *out_spans = spans;
        *out_count = n;
    }
    return status;
}
