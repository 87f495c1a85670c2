/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_score.c - points, beliefs, signals, decision. See chatlink_score.h.
 */
#include "engine/chatlink/chatlink_score.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECENCY_MS (3.0 * 24 * 3600 * 1000)
/* A short opener ("oh, and …") leans on the chat just left, as does "as we
 * discussed" where nothing tells what. */
#define OPENER_BELIEF 0.9
#define OPENER_RIVAL 0.6
#define OPENER_MS (120 * CLOCK_MINUTE_MS)
/* Half a belief is lent with so much credit. */
#define CREDIT 0.1
/* Sure of itself this far from the threshold, with no second opinion. */
#define SURE_MARGIN 0.1
/* "Both" reaches for a second chat at least this believed, of the first. */
#define GROUP_SHARE 0.3
#define TOP_TERMS 3

const struct chatlink_weights chatlink_default_weights = {0.3, 0.3, 0.2, 0.2};

/* Fitted on development halves with four and with twenty earlier chats, then
 * rounded to quarters (docs/quality/links.md). */
static const struct {
    double base;
    double candidate[CHATLINK_FEATURES];
    double none[CHATLINK_NONE_FEATURES];
} points = {
    .base = -2.75,
    .candidate = {[CHATLINK_F_KEYWORDS] = 3,
                  [CHATLINK_F_NOUNS] = 0.75,
                  [CHATLINK_F_TOPIC] = 0.5,
                  [CHATLINK_F_NEAR] = 0.5,
                  [CHATLINK_F_FIGURES] = 2.25,
                  [CHATLINK_F_DEFINITE] = 1.25,
                  [CHATLINK_F_ANSWERS] = 1.25,
                  [CHATLINK_F_TWO_QUESTIONS] = -1.25,
                  [CHATLINK_F_DEPENDENT] = 1.75,
                  /* not fitted: the sets have none. As much as the strongest */
                  [CHATLINK_F_REFERRED] = 6.25,
                  [CHATLINK_F_VECTOR] = 6.25,
                  [CHATLINK_F_LAST_VECTOR] = 4.25},
    .none = {[CHATLINK_N_FRESH] = 2.75,
             [CHATLINK_N_GREETS] = 5.25,
             [CHATLINK_N_OPENS] = 3.25,
             [CHATLINK_N_INDEFINITE] = 1.5,
             [CHATLINK_N_MASS] = 1,
             [CHATLINK_N_TURNS] = 1.75},
};

/* Grows from 0 towards 1; two thirds at `scale`. */
static double saturate(double value, double scale)
{
    return 1 - exp(-value / scale);
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

/* A new chat as it is held against the earlier ones. */
struct view {
    const struct chat_profile *chat;
    double *holders; /* earlier chats that have each of its words */
    double *common;  /* what the vectors of all talk have in common */
};

static void count_holders(const struct view *view,
                          const struct chat_profile *earlier, size_t n_earlier)
{
    for (size_t i = 0; i < view->chat->n_terms; i++) {
        uint64_t hash = view->chat->terms[i].hash;

        for (size_t k = 0; k < n_earlier; k++) {
            bool is_counted = !chat_profile_find(&earlier[k], hash);

            for (size_t j = 0; j < k && !is_counted && earlier[k].group; j++) {
                is_counted = earlier[j].group == earlier[k].group &&
                             chat_profile_find(&earlier[j], hash);
            }
            view->holders[i] += is_counted ? 0 : 1;
        }
    }
}

/* The embedder's centre; without one, the mean of the chats at hand. */
static void find_common(const struct view *view,
                        const struct chat_profile *earlier, size_t n_earlier)
{
    const struct chat_profile *chat = view->chat;
    double n = chat->n_turns;

    for (size_t i = 0; chat->centre && i < chat->dim; i++) {
        view->common[i] = chat->centre[i] * 1e-4;
    }
    if (chat->centre) {
        return;
    }
    for (size_t i = 0; i < chat->dim; i++) {
        view->common[i] = (double)chat->sum[i];
    }
    for (size_t k = 0; k < n_earlier; k++) {
        for (size_t i = 0; earlier[k].dim == chat->dim && i < chat->dim; i++) {
            view->common[i] += (double)earlier[k].sum[i];
        }
        n += earlier[k].dim == chat->dim ? earlier[k].n_turns : 0;
    }
    for (size_t i = 0; i < chat->dim; i++) {
        view->common[i] /= n;
    }
}

/* The cosine of the chat with the sum of `n` vectors, both less what all talk
 * has in common: that alone makes strangers look alike. */
static double cosine(const struct view *view, const float *sum, uint32_t n)
{
    const struct chat_profile *chat = view->chat;
    double dot = 0;
    double aa = 0;
    double bb = 0;

    for (size_t i = 0; i < chat->dim; i++) {
        double a = (double)chat->sum[i] - chat->n_turns * view->common[i];
        double b = (double)sum[i] - n * view->common[i];

        dot += a * b;
        aa += a * a;
        bb += b * b;
    }
    return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : 0;
}

/* Sums over the words that two chats share. */
struct overlap {
    double keywords, nouns, near, figures, definite, topic;
};

static void overlap_of(const struct view *view,
                       const struct chat_profile *other, struct overlap *out)
{
    const struct chat_profile *chat = view->chat;
    uint64_t top[TOP_TERMS];
    size_t n_top = top_terms(other, top);

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < chat->n_terms; i++) {
        const struct chatlink_term *mine = &chat->terms[i];
        const struct chatlink_term *theirs =
            chat_profile_find(other, mine->hash);
        double weight;

        if (!theirs) {
            continue;
        }
        weight = (double)mine->idf / view->holders[i];
        if (mine->flags & CHATLINK_FIGURE) {
            out->figures += weight;
            continue;
        }
        out->keywords += weight;
        out->nouns += mine->flags & CHATLINK_NOUN ? weight : 0;
        out->definite += mine->flags & CHATLINK_DEFINITE ? weight : 0;
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

static void fill_features(const struct view *view,
                          const struct chat_profile *other, double *features)
{
    const struct chat_profile *chat = view->chat;
    struct overlap shared;
    bool has_vectors = chat->dim > 0 && chat->dim == other->dim;

    overlap_of(view, other, &shared);
    features[CHATLINK_F_KEYWORDS] = saturate(shared.keywords, 8);
    features[CHATLINK_F_NOUNS] = saturate(shared.nouns, 8);
    features[CHATLINK_F_TOPIC] = saturate(shared.topic, 6);
    features[CHATLINK_F_NEAR] = saturate(shared.near, 8);
    features[CHATLINK_F_FIGURES] = saturate(shared.figures, 8);
    features[CHATLINK_F_DEFINITE] = saturate(shared.definite, 8);
    features[CHATLINK_F_ANSWERS] =
        (other->last_asks & chat->first_answers) != 0;
    features[CHATLINK_F_TWO_QUESTIONS] =
        (other->last_cues & CHATLINK_ENDS_ASKING) &&
        (chat->first_cues & CHATLINK_ASKS);
    features[CHATLINK_F_DEPENDENT] = is_dependent(chat->first_cues);
    features[CHATLINK_F_VECTOR] =
        has_vectors ? cosine(view, other->sum, other->n_turns) : 0;
    features[CHATLINK_F_REFERRED] =
        chat->first_cues & CHATLINK_REFERS
            ? fmax(features[CHATLINK_F_KEYWORDS], features[CHATLINK_F_VECTOR])
            : 0;
    features[CHATLINK_F_LAST_VECTOR] =
        has_vectors ? cosine(view, other->last, 1) : 0;
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

static double weigh(const double *values, const double *weights, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += values[i] * weights[i];
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

/* Chats that are joined are one matter: the best of them stands for all. */
static void believe_groups(struct chatlink_scores *scores)
{
    for (size_t i = 0; i < scores->count; i++) {
        struct chatlink_candidate *best = &scores->items[i];
        size_t group = best->profile->group;
        bool is_best = group > 0;
        double sum = 0;

        for (size_t k = 0; k < scores->count && is_best; k++) {
            const struct chatlink_candidate *item = &scores->items[k];

            if (item->profile->group == group) {
                is_best = by_points(best, item) <= 0;
                sum += item->belief;
            }
        }
        if (is_best) {
            best->believed = sum;
        }
    }
    for (size_t i = 0; i < scores->count; i++) {
        if (scores->items[i].believed > 0) {
            scores->items[i].belief = fmin(1, scores->items[i].believed);
        }
    }
}

/* "Oh, and what is it on Thursday?" leans on the chat just left, unless the
 * words speak for another. */
static void lean(const struct chat_profile *chat,
                 struct chatlink_scores *scores)
{
    struct chatlink_candidate *recent = NULL;

    if (!(chat->first_cues & (CHATLINK_SHORT_OPENER | CHATLINK_REFERS))) {
        return;
    }
    for (size_t i = 0; i < scores->count; i++) {
        if (!recent || scores->items[i].profile->last_at_ms >
                           recent->profile->last_at_ms) {
            recent = &scores->items[i];
        }
    }
    if (!recent ||
        chat->created_at_ms - recent->profile->last_at_ms > OPENER_MS) {
        return;
    }
    for (size_t i = 0; i < scores->count; i++) {
        if (&scores->items[i] != recent &&
            scores->items[i].belief >= OPENER_RIVAL) {
            return;
        }
    }
    recent->belief = fmax(recent->belief, OPENER_BELIEF);
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

/* What a belief fills the signals with: a little more where it is half, never
 * past what is sure, so that the order of beliefs is kept up to the top. */
static double lend(double belief)
{
    return belief + 4 * CREDIT * belief * (1 - belief);
}

/* What is shared by itself: words; names, figures and the things meant by
 * "the …"; what the two are about. */
static void find_evidence(struct chatlink_candidate *item)
{
    const double *f = item->features;

    item->evidence[0] = f[CHATLINK_F_KEYWORDS];
    item->evidence[1] = fmax(fmax(f[CHATLINK_F_NOUNS], f[CHATLINK_F_FIGURES]),
                             f[CHATLINK_F_DEFINITE]);
    item->evidence[2] = fmin(
        1, fmax(0, fmax(f[CHATLINK_F_TOPIC], fmax(f[CHATLINK_F_VECTOR],
                                                  f[CHATLINK_F_LAST_VECTOR]))));
}

/* By the default weights, whatever those in force are: what they change must
 * show. */
static double mean_evidence(const struct chatlink_candidate *item)
{
    const struct chatlink_weights *w = &chatlink_default_weights;

    return (w->keyword * item->evidence[0] + w->entity * item->evidence[1] +
            w->topic * item->evidence[2]) /
           (w->keyword + w->entity + w->topic);
}

static void signal(const struct chat_profile *chat,
                   const struct chatlink_weights *weights,
                   struct chatlink_candidate *item)
{
    double age = (double)(chat->created_at_ms - item->profile->last_at_ms);
    double lent = lend(item->belief);
    double mean = mean_evidence(item);

    /* what is shared, raised or lowered until all of it makes the belief */
    for (int i = 0; i < 3; i++) {
        double e = item->evidence[i];

        item->signals[i] = mean < lent
                               ? e + (1 - e) * (lent - mean) / (1 - mean)
                               : e * (mean > 0 ? lent / mean : 0);
    }
    item->signals[3] = 0.5 + 0.5 * exp(-fmax(0, age) / RECENCY_MS);
    item->score = weights->keyword * item->signals[0] +
                  weights->entity * item->signals[1] +
                  weights->topic * item->signals[2] +
                  weights->recency * item->signals[3];
}

enum clew_status chatlink_score(struct arena *arena,
                                const struct chat_profile *chat,
                                const struct chat_profile *earlier,
                                size_t n_earlier,
                                const struct chatlink_weights *weights,
                                struct chatlink_scores *out)
{
    struct view view = {
        .chat = chat,
        .holders = arena_zero(arena, chat->n_terms + 1, sizeof(double)),
        .common = arena_zero(arena, chat->dim + 1, sizeof(double))};

    memset(out, 0, sizeof(*out));
    out->items = arena_zero(arena, n_earlier + 1, sizeof(*out->items));
    if (!view.holders || !view.common || !out->items) {
        return CLEW_NO_MEMORY;
    }
    out->count = n_earlier;
    count_holders(&view, earlier, n_earlier);
    find_common(&view, earlier, n_earlier);
    for (size_t i = 0; i < n_earlier; i++) {
        struct chatlink_candidate *item = &out->items[i];

        item->profile = &earlier[i];
        fill_features(&view, &earlier[i], item->features);
        item->points = points.base + weigh(item->features, points.candidate,
                                           CHATLINK_FEATURES);
    }
    fill_none(chat, out->none);
    out->none_points = weigh(out->none, points.none, CHATLINK_NONE_FEATURES);
    believe(out);
    believe_groups(out);
    lean(chat, out);
    qsort(out->items, out->count, sizeof(*out->items), by_score);
    group(chat, out);
    for (size_t i = 0; i < out->count; i++) {
        find_evidence(&out->items[i]);
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
