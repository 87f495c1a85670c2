/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_score.c - the full score of each candidate.
 *
 * score = lexical + neighbour + vector + window + time + prior
 *
 * lexical    BM25 of its own words, as a part of what the query could give
 * neighbour  per term, what the turns around it add to that: a turn is
 *            understood with what was said before and after it. Long texts
 *            speak for themselves and say little of their neighbours.
 * vector     cosine of its own vector, or of the half of it that is nearer,
 *            in deviations from the mean
 * window     the same of the vectors around it
 * time       said when asked about, or speaking of it
 * prior      a turn that holds the kind of answer asked for: time, name,
 * number; for people's talk: a longer turn says more, one that follows a long
 * one less, a question is rarely the answer, what follows a question often is,
 * and who is asked about often says it himself; for memories: the words of the
 * question that it lacks
 *
 * and, once all are scored, how good the other turns of its chat are
 * (recall_chat.c).
 *
 * The weights were fitted to public question sets and checked on others; they
 * hold for any language, as none of them looks at words.
 */
#include "recall/recall_internal.h"

#include "text/question.h"

#include <math.h>
#include <string.h>

/* previous, next, the one before, the one after (population_neighbours) */
static const float neighbour_weight[RECALL_WINDOW] = {0.95f, 0.40f, 0.80f,
                                                      0.50f};
static const float window_weight[RECALL_WINDOW] = {0.60f, 0.30f, 0.03f, 0.10f};
/* Of a term heard in several neighbours the best counts, the others by this. */
#define NEIGHBOUR_SUM 0.07f
/* Content tokens above which a text counts less in and for its surroundings. */
#define GUARD_LENGTH 24.0f
/* A cosine this many deviations above the mean is worth its whole weight. */
#define DEVIATIONS 5.0f
#define VECTOR_WEIGHT 0.50f
#define WINDOW_WEIGHT 0.40f
/* What the whole cosine of two gists is worth. */
#define GIST_WEIGHT 0.40f
/* So much of both if the question is about a time and names next to nothing:
 * its vector means little. */
#define ONLY_TIME 0.4f
#define TIME_SAID 0.73f
#define TIME_SAID_SOON_AFTER 0.40f
#define TIME_MENTIONED 0.22f
#define WEEK_MS (7 * 86400000LL)
#define ANSWER_TIME 0.20f
#define ANSWER_NAME 0.09f
#define ANSWER_NUMBER 0.08f
#define NAMES 0.03f /* whatever is asked */
#define PRIOR_LENGTH 0.08f
#define PRIOR_AFTER_LENGTH 0.09f
#define PRIOR_QUESTION 0.11f
#define PRIOR_ANSWER 0.09f
#define PRIOR_SPEAKER 0.25f
/* Vectors asked for before they are needed. */
#define AHEAD 8
#define COVERAGE 1.0f
/* Memories and episodes are made to be found: whole sentences, no windows. */

static size_t slot_of(const struct population *pop, size_t position)
{
    uint64_t below = ((uint64_t)1 << (position % 64)) - 1;
    uint64_t bits = pop->marks[position / 64] & below;

    return pop->ranks[position / 64] + (size_t)__builtin_popcountll(bits);
}

/* The candidates' positions in order. */
static enum clew_status list_candidates(struct population *pop,
                                        size_t **out_list, size_t *out_count,
                                        struct clew_error *err)
{
    size_t words = (pop->size + 63) / 64;
    size_t position;
    size_t *list;
    size_t n = 0;

    for (size_t w = 0; w < words; w++) {
        n += (size_t)__builtin_popcountll(pop->candidates[w]);
    }
    list = arena_alloc(pop->arena, (n + 1) * sizeof(*list));
    if (!list) {
        return clew_no_memory(err);
    }
    n = 0;
    FOR_EACH_MARK(pop, pop->candidates, position)
    {
        list[n++] = position;
    }
    *out_list = list;
    *out_count = n;
    return CLEW_OK;
}

/* The turns around each candidate; they are marked too. */
static void find_around(struct population *pop, const size_t *list,
                        size_t count)
{
    size_t slice = 0;
    size_t later = 0;

    for (size_t i = 0; i < count; i++) {
        size_t *around = pop->around + i * RECALL_WINDOW;

        if (i + AHEAD < count) { /* which chat it is in is asked first */
            later = slice_from(pop, later, list[i + AHEAD]);
            __builtin_prefetch(&pop->slices[later].segment->docs[doc_at(
                &pop->slices[later], list[i + AHEAD])]);
        }
        slice = slice_from(pop, slice, list[i]);
        population_neighbours(pop, slice, doc_at(&pop->slices[slice], list[i]),
                              around);
        for (int k = 0; k < RECALL_WINDOW; k++) {
            if (around[k] != SIZE_MAX) {
                mark_set(pop->marks, around[k]);
            }
        }
    }
}

/* Candidates and the turns around them get slots, in order of position. */
static enum clew_status make_slots(struct population *pop,
                                   struct clew_error *err)
{
    size_t words = (pop->size + 63) / 64;
    size_t *list = NULL;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status = list_candidates(pop, &list, &count, err);

    if (status != CLEW_OK) {
        return status;
    }
    pop->n_candidates = count;
    pop->around = arena_alloc(pop->arena, (count + 1) * RECALL_WINDOW *
                                              sizeof(*pop->around));
    if (!pop->around) {
        return clew_no_memory(err);
    }
    memcpy(pop->marks, pop->candidates, words * sizeof(*pop->marks));
    if (pop->kind == INDEX_TURN) {
        find_around(pop, list, count);
    } else {
        memset(pop->around, 0xff, count * RECALL_WINDOW * sizeof(*pop->around));
    }
    for (size_t w = 0; w < words; w++) {
        pop->ranks[w] = (uint32_t)n;
        n += (size_t)__builtin_popcountll(pop->marks[w]);
    }
    pop->n_slots = n;
    pop->slots = arena_alloc(pop->arena, (n + 1) * sizeof(*pop->slots));
    pop->tf2 = arena_zero(pop->arena, n + 1, pop->n_terms + 1);
    pop->gives = arena_zero(pop->arena, (n + 1) * (pop->n_terms + 1),
                            sizeof(*pop->gives));
    return pop->slots && pop->tf2 && pop->gives ? CLEW_OK : clew_no_memory(err);
}

static void fill_slots(struct population *pop)
{
    struct slot *slot = pop->slots;
    size_t slice = 0;
    size_t position;

    FOR_EACH_MARK(pop, pop->marks, position)
    {
        const struct segment *s;
        uint32_t doc;

        slice = slice_from(pop, slice, position);
        s = pop->slices[slice].segment;
        doc = doc_at(&pop->slices[slice], position);
        *slot++ =
            (struct slot){.slice = (uint32_t)slice,
                          .doc = doc,
                          .cosine = pop->cosine_mean,
                          .nearest = pop->cosine_mean,
                          .is_candidate = mark_get(pop->candidates, position),
                          .length = s->lengths[doc],
                          .flags = s->flags[doc]};
    }
}

static float nearest_of(const struct recall_query *query,
                        const struct segment *s, uint32_t doc, float cosine)
{
    const int8_t *first = NULL;
    const struct segment_half *half = segment_half_of(s, doc, &first);

    return recall_nearest(query, half, first, cosine);
}

/* The vectors of the slots lie far apart: each is asked for ahead. */
static void fill_cosines(struct population *pop)
{
    const struct recall_query *query = pop->query;

    for (size_t i = 0; i < pop->n_slots && query->dim > 0; i++) {
        struct slot *slot = &pop->slots[i];
        const struct segment *s = pop->slices[slot->slice].segment;

        if (segment_is_bare(s)) {
            if (recall_far_cosine(pop, s, slot->doc, &slot->cosine,
                                  &slot->nearest) &&
                !slot->is_candidate) {
                slot->nearest = slot->cosine;
            }
            continue;
        }
        if (i + AHEAD < pop->n_slots) {
            const struct slot *later = slot + AHEAD;

            recall_prefetch(query, pop->slices[later->slice].segment,
                            later->doc);
            __builtin_prefetch(
                &pop->slices[later->slice].segment->docs[later->doc]);
        }
        if (s->forms[slot->doc].scale > 0) {
            slot->cosine = recall_cosine(query, s, slot->doc);
            slot->nearest = slot->is_candidate
                                ? nearest_of(query, s, slot->doc, slot->cosine)
                                : slot->cosine;
        }
    }
}

/* A slot has a term so often: what it gives is looked up once, and used for
 * the slot and for all around it. */
static void set_term(struct population *pop, size_t slot, size_t term,
                     uint8_t tf2)
{
    size_t at = slot * pop->n_terms + term;

    pop->tf2[at] = tf2;
    pop->gives[at] =
        tf2 ? population_saturation(pop, tf2)[pop->slots[slot].length] : 0;
}

/* Few postings: look each of them up among the slots. */
static void fill_by_postings(struct population *pop, size_t slice, size_t term)
{
    const struct slice *reach = &pop->slices[slice];
    const struct postings *list = &pop->terms[term].lists[slice];
    struct postings_block block;

    for (uint32_t b = postings_seek(list, reach->first);
         b < postings_n_blocks(list); b++) {
        postings_read(list, b, &block);
        if (block.count == 0 || block.docs[0] >= reach->end) {
            break;
        }
        for (uint32_t i = 0; i < block.count; i++) {
            size_t position;

            if (block.docs[i] < reach->first || block.docs[i] >= reach->end) {
                continue;
            }
            position = reach->base + block.docs[i] - reach->first;
            if (mark_get(pop->marks, position)) {
                set_term(pop, slot_of(pop, position), term, block.tf2[i]);
            }
        }
    }
}

/* Few slots: look each of them up among the postings. */
static void fill_by_slots(struct population *pop, size_t slice, size_t term,
                          size_t first, size_t end)
{
    const struct postings *list = &pop->terms[term].lists[slice];
    struct postings_block block = {.count = 0};
    uint32_t i = 0;

    for (size_t k = first; k < end; k++) {
        uint32_t doc = pop->slots[k].doc;

        if (block.count == 0 || block.docs[block.count - 1] < doc) {
            postings_read(list, postings_seek(list, doc), &block);
            i = 0;
            if (block.count == 0) {
                return; /* past the last, or damaged */
            }
        }
        while (block.docs[i] < doc && i + 1 < block.count) {
            i++;
        }
        if (block.docs[i] == doc) {
            set_term(pop, k, term, block.tf2[i]);
        }
    }
}

static void fill_terms(struct population *pop)
{
    size_t first = 0;

    for (size_t s = 0; s < pop->n_slices; s++) {
        size_t end = first;

        while (end < pop->n_slots && pop->slots[end].slice == s) {
            end++;
        }
        for (size_t t = 0; t < pop->n_terms && end > first; t++) {
            const struct postings *list = &pop->terms[t].lists[s];

            if (list->count == 0) {
                continue;
            }
            if (list->count < 2 * (end - first)) {
                fill_by_postings(pop, s, t);
            } else {
                fill_by_slots(pop, s, t, first, end);
            }
        }
        first = end;
    }
}

static float guard_of(const struct population *pop, const struct slot *slot)
{
    float length = pop->lengths[slot->length];

    return length > GUARD_LENGTH ? GUARD_LENGTH / length : 1;
}

static void score_words(const struct population *pop, size_t slot,
                        const size_t around[RECALL_WINDOW],
                        struct recall_parts *out)
{
    float guard = guard_of(pop, &pop->slots[slot]);
    const float *given = pop->gives + slot * pop->n_terms;
    const float *near[RECALL_WINDOW]; /* what those around it give */
    float weights[RECALL_WINDOW];
    size_t n = 0;

    for (int k = 0; k < RECALL_WINDOW; k++) {
        if (around[k] != SIZE_MAX) {
            near[n] = pop->gives + around[k] * pop->n_terms;
            weights[n++] =
                neighbour_weight[k] * guard_of(pop, &pop->slots[around[k]]);
        }
    }
    for (size_t t = 0; t < pop->n_terms; t++) {
        float own = given[t];
        float best = own;
        float sum = 0;

        for (size_t k = 0; k < n; k++) {
            float part = weights[k] * near[k][t];

            sum += part;
            best = part > best ? part : best;
        }
        out->lexical += pop->terms[t].weight * own;
        out->neighbour +=
            pop->terms[t].weight *
            ((1 - NEIGHBOUR_SUM) * (best - own) + NEIGHBOUR_SUM * sum);
    }
    out->neighbour *= guard * guard;
}

static void score_vectors(const struct population *pop, size_t slot,
                          const size_t around[RECALL_WINDOW],
                          struct recall_parts *out)
{
    float mean = pop->cosine_mean;
    float unit = pop->cosine_std * DEVIATIONS;
    float sum = pop->slots[slot].cosine;
    float weights = 1;

    if (pop->query->dim == 0) {
        return;
    }
    for (int k = 0; k < RECALL_WINDOW; k++) {
        if (around[k] != SIZE_MAX) {
            sum += window_weight[k] * pop->slots[around[k]].cosine;
            weights += window_weight[k];
        }
    }
    if (pop->query->n_ranges > 0 && pop->query->n_named <= 1) {
        unit /= ONLY_TIME;
    }
    out->vector = VECTOR_WEIGHT * (pop->slots[slot].nearest - mean) / unit;
    out->window = WINDOW_WEIGHT * (sum / weights - mean) / unit;
}

/* How long after a time it is still told: a week, but of what is asked about
 * after two days not until now. */
static int64_t soon_after(const struct recall_query *query,
                          const struct index_range *range)
{
    int64_t half = query->request->at_ms / 2 - range->to_ms / 2;

    return half < WEEK_MS ? half : WEEK_MS;
}

static float score_time(const struct population *pop, const struct slot *slot)
{
    const struct recall_query *query = pop->query;
    const struct segment *s = pop->slices[slot->slice].segment;
    const struct index_range *dates = NULL;
    size_t n_dates;
    int64_t time = s->times[slot->doc];
    float said = 0;
    float mentioned = 0;

    if (query->n_ranges == 0) {
        return 0;
    }
    n_dates = segment_dates(s, slot->doc, &dates);
    for (size_t i = 0; i < query->n_ranges; i++) {
        const struct index_range *range = &query->ranges[i];

        if (time >= range->from_ms && time < range->to_ms) {
            said = TIME_SAID;
        } else if (time >= range->to_ms &&
                   time < range->to_ms + soon_after(query, range) &&
                   said < TIME_SAID_SOON_AFTER) {
            said = TIME_SAID_SOON_AFTER;
        }
        for (size_t k = 0; k < n_dates; k++) {
            if (dates[k].from_ms < range->to_ms &&
                dates[k].to_ms > range->from_ms) {
                mentioned = TIME_MENTIONED;
            }
        }
    }
    return said + mentioned;
}

/* What holds the kind of answer that is asked for. */
static float score_answer(const struct population *pop, const struct slot *slot)
{
    const struct recall_query *query = pop->query;
    const struct index_range *dates = NULL;
    float answer = 0;

    if (pop->kind != INDEX_TURN) {
        return 0;
    }
    if (slot->flags & INDEX_NAMES) {
        answer += query->wants & QUESTION_NAME ? ANSWER_NAME : NAMES;
    }
    if (slot->flags & INDEX_NUMBERS && query->wants & QUESTION_NUMBER) {
        answer += ANSWER_NUMBER;
    }
    if (query->wants & QUESTION_TIME && query->n_ranges == 0 &&
        segment_dates(pop->slices[slot->slice].segment, slot->doc, &dates)) {
        answer += ANSWER_TIME;
    }
    return answer;
}

/* How much a text of this length says, in logarithms of the usual. */
static float weight_of_length(const struct population *pop,
                              const struct slot *slot)
{
    return logf(0.25f + pop->lengths[slot->length] / pop->avg_length);
}

/* Only where people talk to each other: turns of speakers with names. */
static float score_prior(const struct population *pop, const struct slot *slot,
                         const size_t around[RECALL_WINDOW])
{
    const struct segment *s = pop->slices[slot->slice].segment;
    const struct slot *previous =
        around[0] == SIZE_MAX ? NULL : &pop->slots[around[0]];
    uint64_t speaker;
    float prior;

    if (pop->kind != INDEX_TURN || !(slot->flags & INDEX_NAMED)) {
        return 0;
    }
    prior = PRIOR_LENGTH * weight_of_length(pop, slot);
    if (previous) {
        prior -= PRIOR_AFTER_LENGTH * weight_of_length(pop, previous);
    }
    if (slot->flags & INDEX_QUESTION) {
        prior -= PRIOR_QUESTION;
    }
    if (previous && previous->flags & INDEX_QUESTION) {
        prior += PRIOR_ANSWER;
    }
    speaker = segment_speaker_of(s, slot->doc);
    for (size_t t = 0; speaker && t < pop->n_terms; t++) {
        if (pop->terms[t].hash == speaker) {
            prior += PRIOR_SPEAKER;
            break;
        }
    }
    return prior;
}

/* How many of the question's words a slot holds. */
static size_t held_by(const struct population *pop, size_t slot)
{
    size_t n = 0;

    for (size_t t = 0; t < pop->n_terms; t++) {
        n += pop->tf2[slot * pop->n_terms + t] > 0;
    }
    return n;
}

static void find_most_held(struct population *pop)
{
    for (size_t i = 0; pop->kind == INDEX_MEMORY && i < pop->n_slots; i++) {
        size_t n = pop->slots[i].is_candidate ? held_by(pop, i) : 0;

        pop->most_held = n > pop->most_held ? n : pop->most_held;
    }
}

/* A memory is one statement about one thing: each word of the question that
 * it lacks and another has counts, however common the word. */
static float score_coverage(const struct population *pop, size_t slot)
{
    return pop->kind == INDEX_MEMORY && pop->n_terms > 0
               ? COVERAGE *
                     ((float)held_by(pop, slot) - (float)pop->most_held) /
                     (float)pop->n_terms
               : 0;
}

/* `positions`: of the turns around it, SIZE_MAX where there is none. */
static void score_slot(const struct population *pop, size_t slot,
                       const size_t *positions, struct recall_item *out)
{
    const struct slot *at = &pop->slots[slot];
    const struct segment *s = pop->slices[at->slice].segment;
    const struct segment_chat *chat = segment_chat_of(s, at->doc);
    struct recall_parts *parts = &out->parts;
    size_t around[RECALL_WINDOW];

    *out = (struct recall_item){0};
    for (int k = 0; k < RECALL_WINDOW; k++) {
        around[k] =
            positions[k] == SIZE_MAX ? SIZE_MAX : slot_of(pop, positions[k]);
    }
    score_words(pop, slot, around, parts);
    score_vectors(pop, slot, around, parts);
    parts->gist = GIST_WEIGHT * recall_gist_cosine(pop->query, s, at->doc);
    parts->time = score_time(pop, at);
    parts->prior = score_answer(pop, at) + score_prior(pop, at, around) +
                   score_coverage(pop, slot);
    out->score = (double)parts->lexical + (double)parts->neighbour +
                 (double)parts->vector + (double)parts->window +
                 (double)parts->gist + (double)parts->time +
                 (double)parts->prior;
    out->kind = 1u << pop->kind;
    out->id = s->docs[at->doc].id;
    out->seq = s->docs[at->doc].seq;
    out->created_at_ms = s->times[at->doc];
    if (chat) {
        out->chat = chat->id;
    }
}

enum clew_status recall_score(struct population *pop, struct clew_error *err)
{
    enum clew_status status = make_slots(pop, err);

    if (status != CLEW_OK) {
        return status;
    }
    pop->items =
        arena_alloc(pop->arena, (pop->n_candidates + 1) * sizeof(*pop->items));
    if (!pop->items) {
        return clew_no_memory(err);
    }
    fill_slots(pop);
    status = recall_read_far(pop, err);
    if (status != CLEW_OK) {
        return status;
    }
    fill_cosines(pop);
    fill_terms(pop);
    find_most_held(pop);
    const size_t *around = pop->around;

    for (size_t i = 0; i < pop->n_slots; i++) {
        if (!pop->slots[i].is_candidate) {
            continue;
        }
        /* a neighbour of a match may lie outside the times asked for */
        if (population_allows(pop, &pop->slices[pop->slots[i].slice],
                              pop->slots[i].doc)) {
            score_slot(pop, i, around, &pop->items[pop->n_items++]);
        }
        around += RECALL_WINDOW;
    }
    return CLEW_OK;
}
