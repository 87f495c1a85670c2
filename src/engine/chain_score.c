/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_score.c - signals, points and distances. See chain_score.h.
 */
#include "engine/chain_score.h"

#include "base/clock.h"
#include "text/analysis.h"

#include <math.h>
#include <string.h>

#define WEIGHT_(name, weight) weight,

const struct chain_weights chain_weights = {
    .current = {CHAIN_CURRENT_SIGNALS(WEIGHT_)},
    .other = {CHAIN_OTHER_SIGNALS(WEIGHT_)},
    .fresh = {CHAIN_NEW_SIGNALS(WEIGHT_)},
    .vector_current = {1.25f, 2.0f},
    .vector_other = {1.75f, 1.0f},
};

/* The cosine of turns that have nothing to do with each other but style. */
#define COSINE_CENTRE 0.4f
/* Added to a turn's rarity before dividing, so that one word is not all. */
#define WORDS_PRIOR 4.0f

/* --- overlap ----------------------------------------------------------------
 */

static float saturate(float x, float scale)
{
    return 1.0f - expf(-x / scale);
}

struct overlap {
    float words; /* idf shared with any turn of the chain */
    float last;  /* with its last two */
    float nouns;
    float tops;
    float names;
    float mass; /* of the turn */
};

static bool is_in(const uint32_t *items, size_t count, uint32_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i] == hash) {
            return true;
        }
    }
    return false;
}

static struct overlap overlap_of(const struct chain_features *turn,
                                 const struct chain_state *state)
{
    struct overlap out = {.mass = turn->mass};

    for (size_t i = 0; i < turn->n_words; i++) {
        const struct chain_word *word = &turn->words[i];

        if (chain_state_word(state, word->hash)) {
            out.words += word->idf;
            out.nouns += word->is_noun ? word->idf : 0;
        }
        if (is_in(state->last[0], state->n_last[0], word->hash) ||
            is_in(state->last[1], state->n_last[1], word->hash)) {
            out.last += word->idf;
        }
        if (is_in(state->tops, state->n_tops, word->hash)) {
            out.tops += word->idf;
        }
    }
    for (size_t i = 0; i < turn->n_names; i++) {
        if (chain_state_name(state, turn->names[i].hash)) {
            out.names += turn->names[i].weight;
        }
    }
    return out;
}

static float flag(uint32_t cues, uint32_t cue)
{
    return cues & cue ? 1.0f : 0.0f;
}

/* Its last turn is a question that is not an offer to help. */
static bool is_asked(const struct chain_state *state)
{
    return state->last_cues & CUE_QUESTION && !(state->last_cues & CUE_OFFERS);
}

bool chain_is_answer(const struct chain_features *turn,
                     const struct chain_state *state)
{
    return is_asked(state) && (turn->supplies & state->last_asks) != 0;
}

/* --- signals ----------------------------------------------------------------
 */

void chain_signals_current(const struct chain_question *question,
                           float out[CHAIN_N_CURRENT])
{
    const struct chain_features *turn = question->turn;
    const struct chain_state *state = question->current->state;
    struct overlap o = overlap_of(turn, state);
    float service = 1.0f - chain_talk_peer(question->talk);
    float asked = is_asked(state) ? 1.0f : 0.0f;
    float reply = turn->is_user ? 0.0f : 1.0f;

    memset(out, 0, CHAIN_N_CURRENT * sizeof(*out));
    out[CHAIN_CURRENT_BASE] = 1;
    out[CHAIN_CURRENT_WORDS] = o.words / (o.mass + WORDS_PRIOR);
    out[CHAIN_CURRENT_WORDS_LAST] = o.last / (o.mass + WORDS_PRIOR);
    out[CHAIN_CURRENT_NAMES] = saturate(o.names, 8);
    out[CHAIN_CURRENT_NOUNS] = saturate(o.nouns, 8);
    out[CHAIN_CURRENT_TOPS] = saturate(o.tops, 6);
    out[CHAIN_CURRENT_ANSWERS] = chain_is_answer(turn, state) ? 1 : 0;
    out[CHAIN_CURRENT_ASKED] = asked;
    out[CHAIN_CURRENT_ASKED_SERVICE] = asked * service;
    out[CHAIN_CURRENT_REPLIES] = turn->cues & CUE_ASKS ? 0 : asked;
    out[CHAIN_CURRENT_REPLY_TURN] = reply;
    out[CHAIN_CURRENT_REPLY_SERVICE] = reply * service;
    out[CHAIN_CURRENT_REPLY_ASKED] =
        reply * flag(question->talk->last_cues, CUE_QUESTION);
    out[CHAIN_CURRENT_PRONOUN] = flag(turn->cues, CUE_PRONOUN);
    out[CHAIN_CURRENT_PRONOUN_EARLY] = flag(turn->cues, CUE_PRONOUN_EARLY);
    out[CHAIN_CURRENT_WHAT_ABOUT] = flag(turn->cues, CUE_WHAT_ABOUT);
    out[CHAIN_CURRENT_CONTINUES] = flag(turn->cues, CUE_CONTINUES);
    out[CHAIN_CURRENT_WORDLESS] = turn->n_words == 0 ? 1 : 0;
    out[CHAIN_CURRENT_CLOSES] =
        turn->cues & CUE_CONCLUDES ? 2 : flag(turn->cues, CUE_CLOSES);
    out[CHAIN_CURRENT_AFTER_CLOSE] =
        turn->is_user ? flag(state->last_cues, CUE_CLOSES | CUE_OFFERS) : 0;
    out[CHAIN_CURRENT_SINGLE] = state->n_turns == 1 ? 1 : 0;
    out[CHAIN_CURRENT_LENGTH] =
        (float)(state->n_turns < 8 ? state->n_turns : 8) / 8;
    out[CHAIN_CURRENT_EVADED] = asked > 0 && turn->is_user &&
                                        state->last_asks != 0 &&
                                        !chain_is_answer(turn, state)
                                    ? 1
                                    : 0;
}

/* "the ..." names something of this chain that the current one lacks. */
static float has_own_definite(const struct chain_features *turn,
                              const struct chain_state *state,
                              const struct chain_state *current)
{
    for (size_t i = 0; i < turn->n_definite; i++) {
        if (chain_state_word(state, turn->definite[i]) &&
            !chain_state_word(current, turn->definite[i])) {
            return 1;
        }
    }
    return 0;
}

/* The rarity of words shared with this chain and not with the current. */
static float own_rarity(const struct chain_features *turn,
                        const struct chain_state *state,
                        const struct chain_state *current)
{
    float sum = 0;

    for (size_t i = 0; i < turn->n_words; i++) {
        if (chain_state_word(state, turn->words[i].hash) &&
            !chain_state_word(current, turn->words[i].hash)) {
            sum += turn->words[i].idf;
        }
    }
    return sum;
}

void chain_signals_other(const struct chain_question *question,
                         const struct chain_view *view,
                         float out[CHAIN_N_OTHER])
{
    const struct chain_features *turn = question->turn;
    const struct chain_state *state = view->state;
    struct overlap o = overlap_of(turn, state);

    memset(out, 0, CHAIN_N_OTHER * sizeof(*out));
    out[CHAIN_OTHER_BASE] = 1;
    out[CHAIN_OTHER_WORDS_LAST] = o.last / (o.mass + WORDS_PRIOR);
    out[CHAIN_OTHER_NAMES] = saturate(o.names, 8);
    out[CHAIN_OTHER_TOPS] = saturate(o.tops, 6);
    out[CHAIN_OTHER_ANSWERS] = chain_is_answer(turn, state) ? 1 : 0;
    out[CHAIN_OTHER_REPLIES] =
        is_asked(state) && !(turn->cues & CUE_ASKS) ? 1 : 0;
    out[CHAIN_OTHER_PRONOUN] = flag(turn->cues, CUE_PRONOUN);
    out[CHAIN_OTHER_PRONOUN_EARLY] = flag(turn->cues, CUE_PRONOUN_EARLY);
    out[CHAIN_OTHER_CONTINUES] = flag(turn->cues, CUE_CONTINUES);
    out[CHAIN_OTHER_REPLY_TURN] = turn->is_user ? 0 : 1;
    out[CHAIN_OTHER_RANK] = (float)view->rank;
    out[CHAIN_OTHER_WORDS] = o.words / (o.mass + WORDS_PRIOR);
    out[CHAIN_OTHER_ASKED] = is_asked(state) ? 1 : 0;
    out[CHAIN_OTHER_CLOSED] = flag(state->last_cues, CUE_CLOSES | CUE_OFFERS);
    out[CHAIN_OTHER_RETURNS] = flag(turn->cues, CUE_RETURNS);
    if (question->current) {
        const struct chain_state *current = question->current->state;

        out[CHAIN_OTHER_DEFINITE] = has_own_definite(turn, state, current);
        out[CHAIN_OTHER_EXCLUSIVE] =
            own_rarity(turn, state, current) / (o.mass + WORDS_PRIOR);
        out[CHAIN_OTHER_ANSWERS_ONLY] =
            chain_is_answer(turn, state) && !chain_is_answer(turn, current) ? 1
                                                                            : 0;
    }
}

/* Does it bring in a noun, as new, that the current chain does not have? */
static bool is_fresh(const struct chain_question *question)
{
    const struct chain_features *turn = question->turn;

    for (size_t i = 0; i < turn->n_fresh; i++) {
        if (!question->current ||
            !chain_state_word(question->current->state, turn->fresh[i])) {
            return true;
        }
    }
    return false;
}

void chain_signals_new(const struct chain_question *question,
                       float out[CHAIN_N_NEW])
{
    const struct chain_features *turn = question->turn;
    float peer = chain_talk_peer(question->talk);
    float service = 1.0f - peer;
    float requests = flag(turn->cues, CUE_REQUESTS);
    float asks = flag(turn->cues, CUE_ASKS);
    size_t n_words = turn->n_words < 4 ? turn->n_words : 4;
    size_t n_chains = question->n_chains < 6 ? question->n_chains : 6;

    memset(out, 0, CHAIN_N_NEW * sizeof(*out));
    out[CHAIN_NEW_BASE] = 1;
    out[CHAIN_NEW_GREETS] = flag(turn->cues, CUE_GREETS);
    out[CHAIN_NEW_REQUESTS] = requests;
    out[CHAIN_NEW_REQUESTS_SERVICE] = turn->is_user ? requests * service : 0;
    out[CHAIN_NEW_OPENS] = flag(turn->cues, CUE_OPENS);
    out[CHAIN_NEW_ASKS] = asks;
    out[CHAIN_NEW_ASKS_SERVICE] = asks * service;
    out[CHAIN_NEW_YOU_PEER] = asks * flag(turn->cues, CUE_YOU) * peer;
    out[CHAIN_NEW_PERSONAL_PEER] = flag(turn->cues, CUE_PERSONAL) * peer;
    out[CHAIN_NEW_FRESH] = is_fresh(question) ? 1 : 0;
    out[CHAIN_NEW_MASS] = fminf(30, turn->mass) / 30;
    out[CHAIN_NEW_KEYWORDS] = (float)n_words / 4;
    out[CHAIN_NEW_CHAINS] = (float)n_chains / 6;
    out[CHAIN_NEW_DEPENDENT] =
        turn->cues & (CUE_PRONOUN_EARLY | CUE_WHAT_ABOUT | CUE_CONTINUES) &&
                turn->n_fresh == 0 && turn->n_words <= 3
            ? 1
            : 0;
    out[CHAIN_NEW_ANSWERS] = question->is_answer ? 1 : 0;
    out[CHAIN_NEW_AFTER_CLOSE] =
        turn->is_user && question->current
            ? flag(question->current->state->last_cues, CUE_CLOSES | CUE_OFFERS)
            : 0;
    out[CHAIN_NEW_SWITCHES] = flag(turn->cues, CUE_SWITCHES);
}

/* --- points -----------------------------------------------------------------
 */

static float dot(const float *a, const float *b, size_t count)
{
    float sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Above or below what any two turns have. */
static float cosine(const float *vector, size_t dim, const int8_t *packed)
{
    float sum = 0;
    float a = 0;
    float b = 0;

    dim = dim > CHAIN_VECTOR ? CHAIN_VECTOR : dim;
    for (size_t i = 0; i < dim; i++) {
        sum += vector[i] * (float)packed[i];
        a += vector[i] * vector[i];
        b += (float)packed[i] * (float)packed[i];
    }
    return a > 0 && b > 0 ? sum / sqrtf(a * b) - COSINE_CENTRE : 0;
}

static float vector_points(const struct chain_question *question,
                           const struct chain_state *state,
                           const float weights[2])
{
    if (!question->vector || !state->has_vectors) {
        return 0;
    }
    return weights[0] *
               cosine(question->vector, question->dim, state->last_vector) +
           weights[1] *
               cosine(question->vector, question->dim, state->sum_vector);
}

float chain_points_current(const struct chain_question *question,
                           const struct chain_weights *weights)
{
    float signals[CHAIN_N_CURRENT];

    chain_signals_current(question, signals);
    return dot(signals, weights->current, CHAIN_N_CURRENT) +
           vector_points(question, question->current->state,
                         weights->vector_current);
}

float chain_points_other(const struct chain_question *question,
                         const struct chain_view *view,
                         const struct chain_weights *weights)
{
    float signals[CHAIN_N_OTHER];

    chain_signals_other(question, view, signals);
    return dot(signals, weights->other, CHAIN_N_OTHER) +
           vector_points(question, view->state, weights->vector_other);
}

float chain_points_new(const struct chain_question *question,
                       const struct chain_weights *weights)
{
    float signals[CHAIN_N_NEW];

    chain_signals_new(question, signals);
    return dot(signals, weights->fresh, CHAIN_N_NEW);
}

double chain_distance(float points, float points_new)
{
    double score = 0.45 + 0.1 * ((double)points - (double)points_new);

    return 1.0 - fmin(1.0, fmax(0.0, score));
}

double chain_resting_distance(const struct chain_features *turn,
                              const struct chain_state *state, int64_t age_ms)
{
    /* what a new chain would have: a chain that rests must clearly be meant */
    const float bar = 2.75f;
    struct overlap o = overlap_of(turn, state);
    float age = age_ms > 0 ? (float)age_ms / (float)CLOCK_DAY_MS : 0;
    float points = 4.0f * o.words / (o.mass + WORDS_PRIOR) +
                   1.25f * saturate(o.names, 8) + 1.75f * saturate(o.tops, 6) +
                   1.5f * flag(turn->cues, CUE_RETURNS) -
                   0.5f * (1.0f - expf(-age));

    return chain_distance(points, bar);
}

/* --- the seed's formula -----------------------------------------------------
 */

double chain_seed_distance(const struct chain_seed_input *input)
{
    double age = input->age_ms > 0 ? (double)input->age_ms : 0;
    double score = 0.3 * (double)input->shared_names +
                   0.3 * text_fuzzy(input->subject, input->topic) +
                   0.2 * input->jaccard +
                   0.2 * exp(-age / (double)CLOCK_DAY_MS);

    return 1.0 - fmin(score, 1.0);
}

size_t chain_shared_names(const struct chain_features *turn,
                          const struct chain_state *state)
{
    size_t count = 0;

    for (size_t i = 0; i < turn->n_names; i++) {
        count += chain_state_name(state, turn->names[i].hash) != NULL;
    }
    return count;
}

double chain_jaccard(const struct chain_features *turn,
                     const struct chain_state *state)
{
    size_t shared = 0;
    size_t all;

    for (size_t i = 0; i < turn->n_words; i++) {
        shared += chain_state_word(state, turn->words[i].hash) != NULL;
    }
    all = (size_t)turn->n_words + state->n_words - shared;
    return all ? (double)shared / (double)all : 0;
}

double chain_pair_distance(const struct chain_state *a, struct str topic_a,
                           const struct chain_state *b, struct str topic_b,
                           int64_t age_ms)
{
    struct chain_seed_input input = {
        .subject = topic_a, .topic = topic_b, .age_ms = age_ms};
    size_t shared = 0;
    size_t all;

    for (size_t i = 0; i < a->n_names; i++) {
        input.shared_names += chain_state_name(b, a->names[i].hash) != NULL;
    }
    for (size_t i = 0; i < a->n_words; i++) {
        shared += chain_state_word(b, a->words[i].hash) != NULL;
    }
    all = (size_t)a->n_words + b->n_words - shared;
    input.jaccard = all ? (double)shared / (double)all : 0;
    return chain_seed_distance(&input);
}
