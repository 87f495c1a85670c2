/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_internal.h - what the steps of a recall hand to each other.
 *
 * recall.c       the steps in order
 * recall_pop.c   which documents are in reach, and their statistics
 * recall_find.c  candidates: all together
 * recall_vector.c candidates by vectors
 * recall_gist.c  … by what the reader made of turns
 * recall_far.c   the same where vectors are not in the index
 * recall_terms.c candidates by terms and time
 * recall_mend.c  words that nobody knows, as ones that somebody does
 * recall_best.h  the best of many
 * recall_score.c the full score of each candidate
 * recall_chat.c  chats from their turns, and turns by their chats
 * Thread-safety: none; everything belongs to one recall.
 */
#ifndef ENGINE_RECALL_INTERNAL_H
#define ENGINE_RECALL_INTERNAL_H

#include "base/limits.h"
#include "index/view.h"
#include "recall/recall.h"

struct best;
struct far_table;

/* Above this many documents the sign bits find a shortlist first. */
#define RECALL_FULL_SCAN 4096u
/* Documents whose cosines give mean and deviation, about. */
#define RECALL_SAMPLE 512u
/* Terms that are scored; of a longer query the rarest ones. */
#define RECALL_TERMS 48
#define RECALL_RANGES 8
/* tf2 above this counts as this. */
#define RECALL_MAX_TF 31
/* Turns around a turn that speak for it, see `offsets`. */
#define RECALL_WINDOW 4

/* The question, analysed. */
struct recall_query {
    const struct recall_request *request;
    struct str *terms; /* without repeats */
    uint64_t *hashes;
    float *weights; /* of each beside the others */
    bool *is_known; /* of each: set by population_init() */
    bool *is_dated; /* of each: it is part of a date */
    size_t n_terms;
    size_t dim;          /* 0 = no vector */
    const float *own;    /* as the embedder made it; NULL: not yet */
    const float *floats; /* that, or turned */
    bool is_turned;      /* towards answers (embed_ask()) */
    int8_t *vector; /* without the index's centre, and what rounding left */
    float scale;    /* of the first dim values */
    float fine;     /* of the second */
    float bias;     /* what the centre adds to every cosine */
    float step;     /* what one step of the planes is worth */
    int32_t planes_sum;
    uint64_t *planes;
    uint64_t *signs;
    const struct vec_ops *ops;
    struct index_range ranges[RECALL_RANGES]; /* dates asked about */
    size_t n_ranges;
    size_t n_named;     /* as in struct recall_result */
    uint32_t wants;     /* enum question_wants: the kind of answer */
    const int8_t *gist; /* NULL: nothing in the view can be compared with it */
    uint64_t gists;     /* what made it */
    size_t n_bare[INDEX_KINDS]; /* documents whose vectors are elsewhere */
};

/* A stretch of one segment that is in reach. */
struct slice {
    const struct segment *segment;
    uint32_t first;
    uint32_t end;
    size_t base;        /* position of `first` among all in reach */
    uint32_t n_removed; /* documents of it that are gone */
};

struct recall_term {
    uint64_t hash;
    uint64_t count;         /* live documents in reach that have it */
    float weight;           /* its rarity, as a part of the whole query's */
    struct postings *lists; /* per slice; count 0 where it has none */
};

/* A document that is scored, or speaks for one that is. */
struct slot {
    uint32_t slice;
    uint32_t doc;
    float cosine;
    float nearest; /* the text's cosine, or that of a half that is nearer */
    bool is_candidate;
    uint8_t length; /* code */
    uint8_t flags;
};

/* A chat's stretch in one slice. */
struct run {
    size_t slice;
    uint32_t first;
    uint32_t end;
};
#define RECALL_RUNS 64 /* more than there are segments */

/* Everything of one kind that is in reach, and what is found in it. */
struct population {
    struct arena *arena;
    const struct recall_query *query;
    enum index_kind kind;
    struct slice *slices;
    size_t n_slices;
    size_t size;   /* documents in the slices, removed ones too */
    size_t n_live; /* without the removed */
    float avg_length;
    struct recall_term *terms; /* rarest first */
    size_t n_terms;
    const float *lengths; /* by code */
    /* saturation[tf2][length code]: what a term gives, 0 to 1 + k1; a row is
     * there once it was asked for (population_saturation) */
    float (*saturation)[256];
    uint32_t saturated; /* one bit per row */
    float *length_norm; /* by code: what a length adds to a count of words */
    bool has_times;     /* the request bounds when documents were made */
    float cosine_mean;  /* of the query with the documents in reach */
    float cosine_std;
    struct far_table *far; /* vectors read so far, of recall_far.c; or NULL */
    uint64_t *marks;       /* one bit per position: has a slot */
    uint64_t *candidates;  /* one bit per position: is scored */
    uint32_t *ranks;       /* slots before each word of marks */
    size_t n_candidates;   /* once they are found */
    size_t *around;        /* RECALL_WINDOW positions per candidate */
    struct slot *slots;    /* in order of position */
    size_t n_slots;
    uint8_t *tf2;                 /* n_slots rows of n_terms */
    float *gives;                 /* what each of them gives (saturation) */
    size_t most_held;             /* of memories: terms in the candidate that
                                   * has most */
    struct run runs[RECALL_RUNS]; /* of the chat last asked about; first the
                                   * one in the slice asked about */
    size_t n_runs;
    struct recall_item *items;
    size_t n_items;
    struct chat_sum *chats; /* of recall_chat.c */
    uint32_t n_chats;
    uint32_t *places; /* a hash table by id: which of them, from 1 on */
    size_t cap_places;
};

/* recall_pop.c */
enum clew_status population_init(struct population *pop, struct arena *arena,
                                 const struct index_view *view,
                                 const struct recall_query *query,
                                 enum index_kind kind,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Live documents in reach that have a term. */
uint64_t population_count(const struct population *pop, uint64_t hash);
/* Make a row of the table of saturation. */
void population_saturate(struct population *pop, unsigned tf2);
/* The slice that holds a position. */
size_t population_slice_of(const struct population *pop, size_t position);
/*
 * Positions of the turns around one: previous, next, before that, after that;
 * SIZE_MAX where there is none. Only what the request may see.
 */
void population_neighbours(struct population *pop, size_t slice, uint32_t doc,
                           size_t out[RECALL_WINDOW]);

/* recall_find.c: mark candidates. */
enum clew_status recall_find(struct population *pop, size_t limit,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* recall_vector.c: the best by vectors, all in the index, and the cosines'
 * moments. */
enum clew_status recall_find_near(struct population *pop, struct best *best,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* recall_gist.c: the best by gists; the cosine of a document's, 0 without. */
void recall_find_gists(const struct population *pop, struct best *best);
float recall_gist_cosine(const struct recall_query *query,
                         const struct segment *s, uint32_t doc);
/* recall_cosine.c: mean and deviation of the cosines, from sums over live
 * documents: of whole units, as sums of fractions hang on the order they are
 * added in. */
struct moments {
    int64_t sum;
    int64_t squares;
    size_t count;
};
#define MOMENTS_UNIT 0x1p-40
static inline void moments_add(struct moments *m, float cosine)
{
    double value = (double)cosine;

    if (value > -2 && value < 2) { /* else the file is damaged */
        m->sum += (int64_t)(value / MOMENTS_UNIT);
        m->squares += (int64_t)(value * value / MOMENTS_UNIT);
        m->count++;
    }
}
void recall_set_moments(struct population *pop, const struct moments *m);
/* The cosine by a document's vector in its quantised form. */
static inline float recall_cosine_by(const struct recall_query *query,
                                     const int8_t *values,
                                     const struct vec_form *form)
{
    int32_t dots[2]; /* with the query's values, and with what they leave */

    query->ops->scan_i8(values, query->vector, 2, query->dim, dots);
    return query->bias + form->bias +
           ((float)dots[0] * query->scale + (float)dots[1] * query->fine) *
               form->scale;
}
/* The cosine of the query with a document that has a vector. */
static inline float recall_cosine(const struct recall_query *query,
                                  const struct segment *s, size_t doc)
{
    return recall_cosine_by(query, s->vectors + doc * query->dim,
                            &s->forms[doc]);
}
/* The nearest of a text, whose cosine is known, and of its halves (NULL if it
 * has none). */
float recall_nearest(const struct recall_query *query,
                     const struct segment_half *half, const int8_t *first,
                     float cosine);
/* Compare all of a slice whose vectors are in the index. */
void recall_scan_full(const struct population *pop, const struct slice *slice,
                      struct best *best, struct moments *m);
/* Documents drawn for a sample have hashes up to this. */
uint32_t recall_sample_bound(const struct population *pop);
/* Have the vector brought near. Not inline: gcc drops a loop of nothing but
 * prefetches where it sees one. */
void recall_prefetch(const struct recall_query *query, const struct segment *s,
                     size_t doc);
/* recall_far.c: are there documents in reach whose vectors are elsewhere? */
bool recall_is_far(const struct population *pop);
/* The best by vectors where some are elsewhere, and the cosines' moments. */
enum clew_status recall_find_far(struct population *pop, struct best *best,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* Read the vectors that the slots still lack. */
enum clew_status recall_read_far(struct population *pop,
                                 struct clew_error *err) CLEW_MUST_CHECK;
/* The cosine of a document whose vector was read, and the nearest of it and its
 * halves (may be NULL); false if it has no vector. */
bool recall_far_cosine(const struct population *pop, const struct segment *s,
                       uint32_t doc, float *out_cosine, float *out_nearest);
/* recall_terms.c: mark `want` by terms, and what is around `n_spread`. */
enum clew_status recall_find_by_terms(struct population *pop, size_t want,
                                      size_t n_spread,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* recall_score.c: slots, then items with their scores, unsorted. */
enum clew_status recall_score(struct population *pop,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* recall_chat.c: which chats the items are in. */
enum clew_status recall_gather(struct population *pop,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Items of the chats, by the scores the turns have now. */
enum clew_status recall_chats(struct population *pop,
                              struct recall_item **out_items, size_t *out_count,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* Let the gathered chats speak for their turns. */
void recall_lean(struct population *pop);

/* What was said later is not seen. */
static inline int64_t recall_sight_ms(const struct recall_request *request)
{
    return request->at_ms + request->ahead_ms;
}

/* True if the request's times and the tombstones let it be seen. */
static inline bool population_allows(const struct population *pop,
                                     const struct slice *slice, uint32_t doc)
{
    const struct recall_request *request = pop->query->request;
    const struct segment *s = slice->segment;

    if (segment_is_removed(s, doc)) {
        return false;
    }
    return !pop->has_times || (s->times[doc] <= recall_sight_ms(request) &&
                               s->times[doc] >= request->since_ms &&
                               s->times[doc] < request->until_ms);
}

/* What a term gives that occurs tf2 halves of a time, by length code. */
static inline const float *population_saturation(struct population *pop,
                                                 unsigned tf2)
{
    tf2 = tf2 < RECALL_MAX_TF ? tf2 : RECALL_MAX_TF;
    if (!(pop->saturated >> tf2 & 1)) {
        population_saturate(pop, tf2);
    }
    return pop->saturation[tf2];
}

static inline void mark_set(uint64_t *bits, size_t position)
{
    bits[position / 64] |= (uint64_t)1 << (position % 64);
}

static inline bool mark_get(const uint64_t *bits, size_t position)
{
    return bits[position / 64] >> (position % 64) & 1;
}

static inline uint32_t doc_at(const struct slice *slice, size_t position)
{
    return slice->first + (uint32_t)(position - slice->base);
}

/* The slice of a position, known to be `slice` or a later one. */
static inline size_t slice_from(const struct population *pop, size_t slice,
                                size_t position)
{
    while (slice + 1 < pop->n_slices &&
           pop->slices[slice + 1].base <= position) {
        slice++;
    }
    return slice;
}

/* Call for each set bit of a bitmap over all positions. */
#define FOR_EACH_MARK(pop, bits, position)                                     \
    for (size_t word_ = 0; word_ < ((pop)->size + 63) / 64; word_++)           \
        for (uint64_t left_ = (bits)[word_];                                   \
             left_ &&                                                          \
             ((position) = word_ * 64 + (size_t)__builtin_ctzll(left_), true); \
             left_ &= left_ - 1)

#endif
