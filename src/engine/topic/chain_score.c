/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_score.c - signals, points and distances. See chain_score.h.
 */
#include "engine/topic/chain_score.h"

#include "base/clock.h"
#include "text/analysis.h"

#include <math.h>
#include <string.h>

#define WEIGHT_(name, weight, with) weight,
#define WITH_(name, weight, with) with,

const struct chain_weights *chain_weights(bool has_vectors)
{
    static const struct chain_weights without = {
        .current = {CHAIN_CURRENT_SIGNALS(WEIGHT_)},
        .other = {CHAIN_OTHER_SIGNALS(WEIGHT_)},
        .fresh = {CHAIN_NEW_SIGNALS(WEIGHT_)}};
    static const struct chain_weights with = {
        .current = {CHAIN_CURRENT_SIGNALS(WITH_)},
        .other = {CHAIN_OTHER_SIGNALS(WITH_)},
        .fresh = {CHAIN_NEW_SIGNALS(WITH_)}};

    return has_vectors ? &with : &without;
}

/* The cosine of turns that have nothing to do with each other but style. */
#define COSINE_CENTRE 0.1f
/* Added to a turn's rarity before dividing, so that one word is not all. */
#define WORDS_PRIOR 4.0f
/* The rarity from which on a turn's vector can be relied on. */
#define RICH_MASS 15
/* A short turn says little of its own. */
#define SHORT_WORDS 5

/* --- what a chain has of a turn ---------------------------------------------
 */

static float saturate(float x, float scale)
{
    return 1.0f - expf(-x / scale);
}

static bool is_in(const uint32_t *items, size_t count, uint32_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i] == hash) {
            return true;
        }
    }
    return false;
}

static struct chain_match match_of(const struct chain_features *turn,
                                   const struct chain_state *state)
{
    struct chain_match out = {0};

    for (size_t i = 0; i < turn->n_words; i++) {
        uint32_t hash = turn->words[i].hash;
        unsigned bit = 1u << i;

        if (chain_state_word(state, hash)) {
            out.words |= (uint16_t)bit;
        }
        if (is_in(state->last[0], state->n_last[0], hash) ||
            is_in(state->last[1], state->n_last[1], hash)) {
            out.last |= (uint16_t)bit;
        }
        if (is_in(state->tops, state->n_tops, hash)) {
            out.tops |= (uint16_t)bit;
        }
    }
    for (size_t i = 0; i < turn->n_names; i++) {
        if (chain_state_name(state, turn->names[i].hash)) {
            out.names |= (uint16_t)(1u << i);
        }
    }
    for (size_t i = 0; i < turn->n_fresh; i++) {
        if (chain_state_word(state, turn->fresh[i])) {
            out.fresh |= (uint8_t)(1u << i);
        }
    }
    for (size_t i = 0; i < turn->n_definite; i++) {
        if (chain_state_word(state, turn->definite[i])) {
            out.definite |= (uint8_t)(1u << i);
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

/* Does the turn supply what the chain's last turn asked for? */
static bool is_answer(const struct chain_features *turn,
                      const struct chain_state *state)
{
    return is_asked(state) && (turn->supplies & state->last_asks) != 0;
}

/* Kinds of answer that fit few questions. */
#define SLOTS_NARROW (SLOT_TIME | SLOT_DAY | SLOT_NUMBER | SLOT_PLACE)

static bool is_slot(const struct chain_features *turn,
                    const struct chain_state *state)
{
    return is_asked(state) &&
           (turn->supplies & state->last_asks & SLOTS_NARROW) != 0;
}

/* The chain's question asks for one of `slots`, and the turn has none. */
static bool is_evaded(const struct chain_features *turn,
                      const struct chain_state *state, unsigned slots)
{
    unsigned asked = is_asked(state) ? state->last_asks & slots : 0;

    return asked != 0 && (turn->supplies & asked) == 0;
}

/* Above or below what any two turns have. */
static float cosine(const struct chain_question *question,
                    const struct chain_vector *vector)
{
    return chain_vector_cosine(question->vector, vector) - COSINE_CENTRE;
}

static struct chain_near near_of(const struct chain_question *question,
                                 const struct chain_state *state)
{
    struct chain_near out = {0};

    if (question->vector && state->has_vectors) {
        out.last = cosine(question, &state->said[state->is_vector_user]);
        out.role = cosine(question, &state->said[question->turn->is_user]);
        out.sum = cosine(question, &state->sum);
        out.rich = out.sum * saturate(question->turn->mass, RICH_MASS);
    }
    return out;
}

void chain_match(struct chain_question *question)
{
    unsigned definite = 0;
    size_t nearest = 0;

    question->is_answer = false;
    for (size_t i = 0; i < question->n_chains; i++) {
        question->matches[i] = match_of(question->turn, question->chains[i]);
        question->is_answer = question->is_answer ||
                              is_answer(question->turn, question->chains[i]);
        definite |= question->matches[i].definite;
        question->near[i] = near_of(question, question->chains[i]);
        if (i == 0 || question->near[i].sum > question->near[nearest].sum) {
            nearest = i;
        }
    }
    question->nearest = nearest;
    question->is_bridge = question->turn->n_definite > 0 && definite == 0 &&
                          question->turn->n_fresh == 0;
}

/* The rarity of the turn's words in `mask`. */
static float rarity(const struct chain_features *turn, unsigned mask)
{
    float sum = 0;

    for (size_t i = 0; i < turn->n_words; i++) {
        sum += mask >> i & 1 ? turn->words[i].idf : 0;
    }
    return sum;
}

/* ... as a share of the turn's. */
static float share(const struct chain_features *turn, unsigned mask)
{
    return rarity(turn, mask) / (turn->mass + WORDS_PRIOR);
}

static unsigned nouns_of(const struct chain_features *turn)
{
    unsigned mask = 0;

    for (size_t i = 0; i < turn->n_words; i++) {
        mask |= turn->words[i].is_noun ? 1u << i : 0;
    }
    return mask;
}

/* The weight of the names in `mask`, or of the figures among them. */
static float names_of(const struct chain_features *turn, unsigned mask,
                      bool is_figure)
{
    float sum = 0;

    for (size_t i = 0; i < turn->n_names; i++) {
        if (mask >> i & 1 && turn->names[i].is_figure == is_figure) {
            sum += turn->names[i].weight;
        }
    }
    return saturate(sum, 8);
}

static float up_to(uint32_t value, uint32_t most)
{
    return (float)(value < most ? value : most) / (float)most;
}

/* --- signals ----------------------------------------------------------------
 */

void chain_signals_current(const struct chain_question *question,
                           float out[CHAIN_N_CURRENT])
{
    const struct chain_features *turn = question->turn;
    const struct chain_state *state = question->chains[0];
    const struct chain_match *match = &question->matches[0];
    float service = 1.0f - chain_talk_peer(question->talk);
    float reply = turn->is_user ? 0.0f : 1.0f;
    float user = 1.0f - reply;
    const struct chain_near *near = &question->near[0];
    float asked = is_asked(state) ? 1.0f : 0.0f;

    memset(out, 0, CHAIN_N_CURRENT * sizeof(*out));
    out[CHAIN_CURRENT_BASE] = 1;
    out[CHAIN_CURRENT_WORDS] = share(turn, match->words);
    out[CHAIN_CURRENT_WORDS_LAST] = share(turn, match->last);
    out[CHAIN_CURRENT_NAMES] = names_of(turn, match->names, false);
    out[CHAIN_CURRENT_FIGURES] = names_of(turn, match->names, true);
    out[CHAIN_CURRENT_NOUNS] =
        saturate(rarity(turn, match->words & nouns_of(turn)), 8);
    out[CHAIN_CURRENT_TOPS] = saturate(rarity(turn, match->tops), 6);
    out[CHAIN_CURRENT_ANSWERS] = is_answer(turn, state);
    out[CHAIN_CURRENT_ASKED] = asked;
    out[CHAIN_CURRENT_REPLIES] = turn->cues & CUE_ASKS ? 0 : asked;
    out[CHAIN_CURRENT_EVADED] = user * is_evaded(turn, state, UINT8_MAX);
    out[CHAIN_CURRENT_EVADED_SLOT] = is_evaded(turn, state, SLOTS_NARROW);
    out[CHAIN_CURRENT_REPLY_TURN] = reply;
    out[CHAIN_CURRENT_REPLY_SERVICE] = reply * service;
    out[CHAIN_CURRENT_REPLY_ASKED] =
        reply * flag(question->talk->last_cues, CUE_QUESTION);
    out[CHAIN_CURRENT_PRONOUN] = flag(turn->cues, CUE_PRONOUN);
    out[CHAIN_CURRENT_PRONOUN_EARLY] = flag(turn->cues, CUE_PRONOUN_EARLY);
    out[CHAIN_CURRENT_WHAT_ABOUT] = flag(turn->cues, CUE_WHAT_ABOUT);
    out[CHAIN_CURRENT_CONTINUES] = flag(turn->cues, CUE_CONTINUES);
    out[CHAIN_CURRENT_SHORT] = turn->n_said <= SHORT_WORDS;
    out[CHAIN_CURRENT_WORDLESS] = turn->n_words == 0;
    out[CHAIN_CURRENT_CLOSES] =
        turn->cues & CUE_CONCLUDES ? 2 : flag(turn->cues, CUE_CLOSES);
    out[CHAIN_CURRENT_AFTER_CLOSE] =
        user * flag(state->last_cues, CUE_CLOSES | CUE_OFFERS);
    out[CHAIN_CURRENT_SINGLE] = state->n_turns == 1;
    out[CHAIN_CURRENT_LENGTH] = up_to(state->n_turns, 8);
    out[CHAIN_CURRENT_REACTS] = flag(turn->cues, CUE_REACTS);
    out[CHAIN_CURRENT_REACTS_SERVICE] =
        flag(turn->cues, CUE_REACTS) * user * service;
    out[CHAIN_CURRENT_DEFINITE] = match->definite != 0;
    out[CHAIN_CURRENT_BRIDGES] = question->is_bridge;
    out[CHAIN_CURRENT_VECTOR_LAST] = near->last;
    out[CHAIN_CURRENT_VECTOR_ROLE] = near->role;
    out[CHAIN_CURRENT_VECTOR_SUM] = near->sum;
    out[CHAIN_CURRENT_VECTOR_RICH] = near->rich;
}

void chain_signals_other(const struct chain_question *question, size_t at,
                         float out[CHAIN_N_OTHER])
{
    const struct chain_features *turn = question->turn;
    const struct chain_state *state = question->chains[at];
    const struct chain_state *current = question->chains[0];
    const struct chain_match *match = &question->matches[at];
    const struct chain_near *near = &question->near[at];
    float asked = is_asked(state) ? 1.0f : 0.0f;
    bool answers = is_answer(turn, state);

    memset(out, 0, CHAIN_N_OTHER * sizeof(*out));
    out[CHAIN_OTHER_BASE] = 1;
    out[CHAIN_OTHER_WORDS] = share(turn, match->words);
    out[CHAIN_OTHER_WORDS_LAST] = share(turn, match->last);
    out[CHAIN_OTHER_NAMES] = names_of(turn, match->names, false);
    out[CHAIN_OTHER_FIGURES] = names_of(turn, match->names, true);
    out[CHAIN_OTHER_TOPS] = saturate(rarity(turn, match->tops), 6);
    out[CHAIN_OTHER_ANSWERS] = answers;
    out[CHAIN_OTHER_SLOT] = is_slot(turn, state);
    out[CHAIN_OTHER_SLOTS] =
        asked * 0.5f *
        (float)__builtin_popcount(turn->supplies & state->last_asks);
    out[CHAIN_OTHER_ASKED] = asked;
    out[CHAIN_OTHER_REPLIES] = turn->cues & CUE_ASKS ? 0 : asked;
    out[CHAIN_OTHER_EVADED_SLOT] = is_evaded(turn, state, SLOTS_NARROW);
    out[CHAIN_OTHER_EVADED_CURRENT] =
        turn->is_user && is_evaded(turn, current, UINT8_MAX);
    out[CHAIN_OTHER_PRONOUN] = flag(turn->cues, CUE_PRONOUN);
    out[CHAIN_OTHER_PRONOUN_EARLY] = flag(turn->cues, CUE_PRONOUN_EARLY);
    out[CHAIN_OTHER_CONTINUES] = flag(turn->cues, CUE_CONTINUES);
    out[CHAIN_OTHER_SHORT] = turn->n_said <= SHORT_WORDS;
    out[CHAIN_OTHER_REPLY_TURN] = !turn->is_user;
    out[CHAIN_OTHER_CLOSED] = flag(state->last_cues, CUE_CLOSES | CUE_OFFERS);
    out[CHAIN_OTHER_DEFINITE] =
        (match->definite & ~question->matches[0].definite) != 0;
    out[CHAIN_OTHER_NEAREST] = question->vector && question->nearest == at;
    out[CHAIN_OTHER_RETURNS] = flag(turn->cues, CUE_RETURNS);
    out[CHAIN_OTHER_RANK] = (float)(at - 1);
    out[CHAIN_OTHER_LENGTH] = up_to(state->n_turns, 8);
    out[CHAIN_OTHER_BRIDGES] = question->is_bridge;
    out[CHAIN_OTHER_VECTOR_LAST] = near->last;
    out[CHAIN_OTHER_VECTOR_SUM] = near->sum;
    out[CHAIN_OTHER_VECTOR_RICH] = near->rich;
}

void chain_signals_new(const struct chain_question *question,
                       float out[CHAIN_N_NEW])
{
    const struct chain_features *turn = question->turn;
    const struct chain_state *current =
        question->n_chains ? question->chains[0] : NULL;
    float peer = chain_talk_peer(question->talk);
    float service = 1.0f - peer;
    float requests = flag(turn->cues, CUE_REQUESTS);
    float asks = flag(turn->cues, CUE_ASKS);
    unsigned fresh = (1u << turn->n_fresh) - 1;
    unsigned known = current ? question->matches[0].fresh : 0;

    memset(out, 0, CHAIN_N_NEW * sizeof(*out));
    out[CHAIN_NEW_BASE] = 1;
    out[CHAIN_NEW_PEER] = peer;
    out[CHAIN_NEW_GREETS] = flag(turn->cues, CUE_GREETS);
    out[CHAIN_NEW_REQUESTS_SERVICE] = turn->is_user ? requests * service : 0;
    out[CHAIN_NEW_OPENS] = flag(turn->cues, CUE_OPENS);
    out[CHAIN_NEW_ASKS] = asks;
    out[CHAIN_NEW_ASKS_SERVICE] = asks * service;
    out[CHAIN_NEW_YOU_PEER] = asks * flag(turn->cues, CUE_YOU) * peer;
    out[CHAIN_NEW_PERSONAL_PEER] = flag(turn->cues, CUE_PERSONAL) * peer;
    out[CHAIN_NEW_FRESH] = (fresh & ~known) != 0;
    out[CHAIN_NEW_MASS] = fminf(30, turn->mass) / 30;
    out[CHAIN_NEW_KEYWORDS] = up_to(turn->n_words, 4);
    out[CHAIN_NEW_CHAINS] = up_to((uint32_t)question->n_chains, 6);
    out[CHAIN_NEW_ANSWERS] = question->is_answer;
    out[CHAIN_NEW_AFTER_CLOSE] =
        turn->is_user && current
            ? flag(current->last_cues, CUE_CLOSES | CUE_OFFERS)
            : 0;
    out[CHAIN_NEW_NEAREST] =
        current ? question->near[question->nearest].sum : 0;
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

float chain_points(const struct chain_question *question, size_t at,
                   const struct chain_weights *weights)
{
    float current[CHAIN_N_CURRENT];
    float other[CHAIN_N_OTHER];

    if (at == 0) {
        chain_signals_current(question, current);
        return dot(current, weights->current, CHAIN_N_CURRENT);
    }
    chain_signals_other(question, at, other);
    return dot(other, weights->other, CHAIN_N_OTHER);
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

float chain_points_of(double distance)
{
    return (float)((0.55 - distance) * 10);
}

static double odds(double same)
{
    const double most = CHAIN_READ_MOST;

    return fmin(most, fmax(-most, log((same + 1e-6) / (1 - same + 1e-6))));
}

float chain_read_current(double same)
{
    double points = same < 0 ? 0 : odds(same);

    return (float)((points < 0 ? CHAIN_READ_CURRENT : CHAIN_READ_YES) * points);
}

float chain_read_resting(double same)
{
    return same < 0 ? 0 : (float)(CHAIN_READ_RESTING + odds(same));
}

double chain_resting_distance(const struct chain_features *turn,
                              const struct chain_state *state, int64_t age_ms)
{
    /* what a new chain would have: a chain that rests must clearly be meant */
    const float bar = 2.75f;
    struct chain_match match = match_of(turn, state);
    float age = age_ms > 0 ? (float)age_ms / (float)CLOCK_DAY_MS : 0;
    float points = 4.0f * share(turn, match.words) +
                   1.25f * (names_of(turn, match.names, false) +
                            names_of(turn, match.names, true)) +
                   1.75f * saturate(rarity(turn, match.tops), 6) +
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
