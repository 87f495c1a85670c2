/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_score.c - points, beliefs, signals, decision. See chatlink_score.h.
 */
#include "engine/chatlink_score.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECENCY_MS (3.0 * 24 * 3600 * 1000)
/* A short opener ("oh, and …") leans on the chat just left. */
#define OPENER_BELIEF 0.9
#define OPENER_RIVAL 0.6
#define OPENER_MS (120 * CLOCK_MINUTE_MS)
/* Belief is lent with a little credit: what is sure fills the signals. */
#define CREDIT 0.1
/* Sure of itself this far from the threshold, with no second opinion. */
#define SURE_MARGIN 0.1
/* "Both" reaches for a second chat at least this believed, of the first. */
#define GROUP_SHARE 0.3
#define TOP_TERMS 3

const struct chatlink_weights chatlink_default_weights = {0.3, 0.3, 0.2, 0.2};

/* Fitted on development halves with four and with twenty earlier chats, then
 * rounded to quarters. */
const struct chatlink_points chatlink_points = {
    .base = -2,
    .candidate = {[CHATLINK_F_KEYWORDS] = 2.5,
                  [CHATLINK_F_NOUNS] = 1.25,
                  [CHATLINK_F_TOPIC] = 0.75,
                  [CHATLINK_F_NEAR] = 1,
                  [CHATLINK_F_FIGURES] = 1.5,
                  [CHATLINK_F_DEFINITE] = 1,
                  [CHATLINK_F_ANSWERS] = 0.75,
                  [CHATLINK_F_TWO_QUESTIONS] = -0.75,
                  [CHATLINK_F_DEPENDENT] = 1.25,
                  [CHATLINK_F_VECTOR] = 1.5,
                  [CHATLINK_F_LAST_VECTOR] = 1.25},
    .none = {[CHATLINK_N_FRESH] = 1.75,
             [CHATLINK_N_GREETS] = 3,
             [CHATLINK_N_OPENS] = 2,
             [CHATLINK_N_INDEFINITE] = 1,
             [CHATLINK_N_MASS] = 1.25,
             [CHATLINK_N_TURNS] = 1},
};

/* Grows from 0 towards 1; two thirds at `scale`. */
static double saturate(double value, double scale)
{
    return 1 - exp(-value / scale);
}

/* How many of the earlier chats hold a word. */
static double holders(const struct chat_profile *earlier, size_t n_earlier,
                      uint64_t hash)
{
    size_t n = 0;

    for (size_t i = 0; i < n_earlier; i++) {
        n += chat_profile_find(&earlier[i], hash) != NULL;
    }
    return n ? (double)n : 1;
}

/* The hashes of the words that a chat is most about. */
static size_t top_terms(const struct chat_profile *profile,
                        uint64_t out[TOP_TERMS])
{
    double best[TOP_TERMS] = {0};
    size_t n = 0;

    for (size_t i = 0; i < profile->n_terms; i++) {
        const struct chatlink_term *term = &profile->terms[i];
        double weight = term->count * (double)term->idf;
        size_t at = n;

        while (at > 0 && best[at - 1] < weight) {
            at--;
        }
        if (at >= TOP_TERMS) {
            continue;
        }
        n = n < TOP_TERMS ? n + 1 : n;
        for (size_t k = n - 1; k > at; k--) {
            best[k] = best[k - 1];
            out[k] = out[k - 1];
        }
        best[at] = weight;
        out[at] = term->hash;
    }
    return n;
}

static double cosine(const float *a, const float *b, size_t dim)
{
    double dot = 0;
    double aa = 0;
    double bb = 0;

    for (size_t i = 0; i < dim; i++) {
        dot += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : 0;
}

/* Sums over the words that two chats share. */
struct overlap {
    double keywords, nouns, near, figures, definite, names, topic;
};

static void overlap_of(const struct chat_profile *chat,
                       const struct chat_profile *other, const double *shares,
                       struct overlap *out)
{
    uint64_t top[TOP_TERMS];
    size_t n_top = top_terms(other, top);

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < chat->n_terms; i++) {
        const struct chatlink_term *mine = &chat->terms[i];
        const struct chatlink_term *theirs =
            chat_profile_find(other, mine->hash);
        double weight = (double)mine->idf / shares[i];

        if (!theirs) {
            continue;
        }
        if (mine->flags & CHATLINK_FIGURE) {
            out->figures += weight;
            continue;
        }
        out->keywords += weight;
        out->nouns += mine->flags & CHATLINK_NOUN ? weight : 0;
        out->definite += mine->flags & CHATLINK_DEFINITE ? weight : 0;
        out->names += mine->flags & theirs->flags & CHATLINK_NAME ? weight : 0;
        if ((mine->flags & CHATLINK_IN_FIRST) &&
            (theirs->flags & CHATLINK_IN_LAST_TWO)) {
            out->near += (double)mine->idf;
        }
        for (size_t k = 0; k < n_top; k++) {
            out->topic += top[k] == mine->hash ? (double)mine->idf : 0;
        }
    }
}

static bool is_dependent(uint32_t cues)
{
    return (cues & (CHATLINK_ACKS | CHATLINK_CONTINUES | CHATLINK_PRONOUN |
                    CHATLINK_WHATABOUT)) != 0;
}

static void fill_features(const struct chat_profile *chat,
                          const struct chat_profile *other,
                          const double *shares, double *features)
{
    struct overlap shared;
    bool has_vectors = chat->dim > 0 && chat->dim == other->dim;

    overlap_of(chat, other, shares, &shared);
    features[CHATLINK_F_KEYWORDS] = saturate(shared.keywords, 8);
    features[CHATLINK_F_NOUNS] = saturate(shared.nouns, 8);
    features[CHATLINK_F_TOPIC] = saturate(shared.topic, 6);
    features[CHATLINK_F_NEAR] = saturate(shared.near, 8);
    features[CHATLINK_F_FIGURES] = saturate(shared.figures, 8);
    features[CHATLINK_F_DEFINITE] = saturate(shared.definite, 8);
    features[CHATLINK_F_NAMES] = saturate(shared.names, 8);
    features[CHATLINK_F_ANSWERS] =
        (other->last_asks & chat->first_answers) != 0;
    features[CHATLINK_F_TWO_QUESTIONS] =
        (other->last_cues & CHATLINK_ENDS_ASKING) &&
        (chat->first_cues & CHATLINK_ASKS);
    features[CHATLINK_F_DEPENDENT] = is_dependent(chat->first_cues);
    features[CHATLINK_F_VECTOR] =
        has_vectors ? cosine(chat->sum, other->sum, chat->dim) : 0;
    features[CHATLINK_F_LAST_VECTOR] =
        has_vectors ? cosine(chat->sum, other->last, chat->dim) : 0;
}

static void fill_none(const struct chat_profile *chat, double *none)
{
    uint32_t cues = chat->first_cues;

    none[CHATLINK_N_FRESH] = (cues & CHATLINK_FRESH) != 0;
    none[CHATLINK_N_GREETS] = (cues & CHATLINK_GREETS) != 0;
    none[CHATLINK_N_OPENS] = (cues & CHATLINK_OPENS) != 0;
    none[CHATLINK_N_INDEFINITE] = (cues & CHATLINK_INDEFINITE) != 0;
    none[CHATLINK_N_MASS] = fmin(100, (double)chat->mass) / 100;
    none[CHATLINK_N_TURNS] = fmin(5, chat->n_turns - 1.0) / 5;
}

static double weigh(const double *values, const double *points, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += values[i] * points[i];
    }
    return sum;
}

static int by_points(const void *a, const void *b)
{
    const struct chatlink_candidate *left = a;
    const struct chatlink_candidate *right = b;

    if (left->points != right->points) {
        return left->points > right->points ? -1 : 1;
    }
    if (left->profile->last_at_ms != right->profile->last_at_ms) {
        return left->profile->last_at_ms > right->profile->last_at_ms ? -1 : 1;
    }
    return uuid_cmp(&left->profile->chat_id, &right->profile->chat_id);
}

static int by_score(const void *a, const void *b)
{
    const struct chatlink_candidate *left = a;
    const struct chatlink_candidate *right = b;

    if (left->belief != right->belief) {
        return left->belief > right->belief ? -1 : 1;
    }
    return by_points(a, b);
}

/* Keep the finalists, and the most recent chat among them. */
static void cut(struct chatlink_scores *scores, size_t count)
{
    size_t recent = 0;

    scores->count = count;
    if (count <= CHATLINK_FINALISTS) {
        return;
    }
    for (size_t i = 1; i < count; i++) {
        if (scores->items[i].profile->last_at_ms >
            scores->items[recent].profile->last_at_ms) {
            recent = i;
        }
    }
    if (recent >= CHATLINK_FINALISTS) {
        scores->items[CHATLINK_FINALISTS - 1] = scores->items[recent];
    }
    scores->count = CHATLINK_FINALISTS;
}

static void believe(struct chatlink_scores *scores)
{
    double top = scores->none_points;
    double sum;

    for (size_t i = 0; i < scores->count; i++) {
        top = fmax(top, scores->items[i].points);
    }
    sum = exp(scores->none_points - top);
    for (size_t i = 0; i < scores->count; i++) {
        sum += exp(scores->items[i].points - top);
    }
    scores->none_belief = exp(scores->none_points - top) / sum;
    for (size_t i = 0; i < scores->count; i++) {
        scores->items[i].belief = exp(scores->items[i].points - top) / sum;
    }
}

/* "Oh, and what is it on Thursday?" leans on the chat just left, unless the
 * words speak for another. */
static void lean(const struct chat_profile *chat,
                 struct chatlink_scores *scores)
{
    struct chatlink_candidate *recent = NULL;

    if (!(chat->first_cues & CHATLINK_SHORT_OPENER)) {
        return;
    }
    for (size_t i = 0; i < scores->count; i++) {
        struct chatlink_candidate *item = &scores->items[i];

        if (item->belief >= OPENER_RIVAL) {
            return;
        }
        if (!recent ||
            item->profile->last_at_ms > recent->profile->last_at_ms) {
            recent = item;
        }
    }
    if (recent &&
        chat->created_at_ms - recent->profile->last_at_ms <= OPENER_MS) {
        recent->belief = OPENER_BELIEF;
    }
}

/* Two things spoken of at once: beliefs in both add up. */
static void group(const struct chat_profile *chat,
                  struct chatlink_scores *scores)
{
    size_t limit = chat->first_cues & CHATLINK_ALL    ? scores->count
                   : chat->first_cues & CHATLINK_BOTH ? 2
                                                      : 1;
    double sum = scores->count ? scores->items[0].belief : 0;
    size_t n = 1;

    while (n < limit && n < scores->count &&
           scores->items[n].features[CHATLINK_F_KEYWORDS] > 0 &&
           scores->items[n].belief >= GROUP_SHARE * scores->items[0].belief) {
        sum += scores->items[n++].belief;
    }
    scores->n_group = n;
    for (size_t i = 0; n > 1 && i < n; i++) {
        scores->items[i].belief = fmin(1, sum);
    }
}

static void signal(const struct chat_profile *chat,
                   const struct chatlink_weights *weights,
                   struct chatlink_candidate *item)
{
    double age = (double)(chat->created_at_ms - item->profile->last_at_ms);
    double lent = fmin(1, item->belief + CREDIT);

    item->signals[0] = lent;
    item->signals[1] = lent;
    item->signals[2] = lent;
    item->signals[3] = 0.5 + 0.5 * exp(-fmax(0, age) / RECENCY_MS);
    item->score = weights->keyword * lent + weights->entity * lent +
                  weights->topic * lent + weights->recency * item->signals[3];
}

enum clew_status chatlink_score(struct arena *arena,
                                const struct chat_profile *chat,
                                const struct chat_profile *earlier,
                                size_t n_earlier,
                                const struct chatlink_weights *weights,
                                const struct chatlink_points *points,
                                struct chatlink_scores *out)
{
    double *shares = arena_zero(arena, chat->n_terms + 1, sizeof(*shares));

    memset(out, 0, sizeof(*out));
    points = points ? points : &chatlink_points;
    out->items = arena_zero(arena, n_earlier + 1, sizeof(*out->items));
    if (!shares || !out->items) {
        return CLEW_NO_MEMORY;
    }
    for (size_t i = 0; i < chat->n_terms; i++) {
        shares[i] = holders(earlier, n_earlier, chat->terms[i].hash);
    }
    for (size_t i = 0; i < n_earlier; i++) {
        struct chatlink_candidate *item = &out->items[i];

        item->profile = &earlier[i];
        fill_features(chat, &earlier[i], shares, item->features);
        item->points = points->base + weigh(item->features, points->candidate,
                                            CHATLINK_FEATURES);
    }
    fill_none(chat, out->none);
    out->none_points = weigh(out->none, points->none, CHATLINK_NONE_FEATURES);
    qsort(out->items, n_earlier, sizeof(*out->items), by_points);
    cut(out, n_earlier);
    believe(out);
    lean(chat, out);
    qsort(out->items, out->count, sizeof(*out->items), by_score);
    group(chat, out);
    for (size_t i = 0; i < out->count; i++) {
        signal(chat, weights, &out->items[i]);
    }
    return CLEW_OK;
}

/* --- the decision of both paths --------------------------------------------
 */

double chatlink_probability(const struct chatlink_opinion *opinion)
{
    return opinion->is_related ? opinion->confidence : 1 - opinion->confidence;
}

struct chatlink_verdict chatlink_decide(double score, double threshold,
                                        const struct chatlink_opinion *opinion,
                                        double llm_weight)
{
    bool says_link = score > threshold;
    struct chatlink_verdict verdict = {says_link, true, CHATLINK_HIGH};

    if (!opinion || !opinion->is_there) {
        if (fabs(score - threshold) < SURE_MARGIN) {
            verdict.confidence = CHATLINK_UNCERTAIN;
        }
        return verdict;
    }
    if (says_link != opinion->is_related) {
        verdict.is_agreed = false;
        verdict.confidence = CHATLINK_UNCERTAIN;
        if (llm_weight * opinion->confidence > score) {
            verdict.is_link = opinion->is_related;
        }
    }
    return verdict;
}
