/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_state.c - grow and merge a chain's memory. See chain_state.h.
 */
#include "engine/topic/chain_state.h"

#include <math.h>
#include <string.h>

/* Talk style: what is assumed before anybody spoke. */
#define PEER_START 0.4f

void chain_state_init(struct chain_state *state)
{
    memset(state, 0, sizeof(*state));
}

/* --- counting ---------------------------------------------------------------
 */

static const struct chain_count *find(const struct chain_count *items,
                                      size_t count, uint32_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].hash == hash) {
            return &items[i];
        }
    }
    return NULL;
}

const struct chain_count *chain_state_word(const struct chain_state *state,
                                           uint32_t hash)
{
    return find(state->words, state->n_words, hash);
}

const struct chain_count *chain_state_name(const struct chain_state *state,
                                           uint32_t hash)
{
    return find(state->names, state->n_names, hash);
}

/* Count one more; where there is no room, the lightest leaves. */
static void count_in(struct chain_count *items, uint8_t *n_items, size_t cap,
                     const struct chain_count *entry)
{
    struct chain_count *lightest = items;

    for (size_t i = 0; i < *n_items; i++) {
        if (items[i].hash == entry->hash) {
            unsigned sum = (unsigned)items[i].count + entry->count;

            items[i].count = (uint16_t)(sum > UINT16_MAX ? UINT16_MAX : sum);
            return;
        }
        if ((float)items[i].count * items[i].weight <
            (float)lightest->count * lightest->weight) {
            lightest = &items[i];
        }
    }
    if (*n_items < cap) {
        items[(*n_items)++] = *entry;
    } else {
        *lightest = *entry;
    }
}

void chain_state_rank(struct chain_state *state)
{
    float best[CHAIN_TOPS] = {0};

    state->n_tops = 0;
    for (size_t i = 0; i < state->n_words; i++) {
        float weight = (float)state->words[i].count * state->words[i].weight;
        size_t at = state->n_tops;

        while (at > 0 && best[at - 1] < weight) {
            if (at < CHAIN_TOPS) {
                best[at] = best[at - 1];
                state->tops[at] = state->tops[at - 1];
            }
            at--;
        }
        if (at < CHAIN_TOPS) {
            best[at] = weight;
            state->tops[at] = state->words[i].hash;
            if (state->n_tops < CHAIN_TOPS) {
                state->n_tops++;
            }
        }
    }
}

/* --- vectors ----------------------------------------------------------------
 */

static void add_vector(struct chain_state *state, bool is_user,
                       const struct chain_vector *vector)
{
    if (state->has_vectors) {
        chain_vector_fade(&state->sum, vector);
    } else {
        state->sum = *vector;
    }
    state->said[is_user] = *vector;
    state->is_vector_user = is_user;
    state->has_vectors = true;
}

/* --- turns ------------------------------------------------------------------
 */

void chain_state_add(struct chain_state *state,
                     const struct chain_features *turn,
                     const struct chain_vector *vector)
{
    state->n_turns++;
    state->last_cues = turn->cues;
    state->last_asks = turn->asks;
    state->is_last_user = turn->is_user;
    memcpy(state->last[1], state->last[0], sizeof(state->last[0]));
    state->n_last[1] = state->n_last[0];
    state->n_last[0] = turn->n_words;
    for (size_t i = 0; i < turn->n_words; i++) {
        struct chain_count entry = {turn->words[i].hash, turn->words[i].idf, 1,
                                    turn->words[i].is_noun};

        state->last[0][i] = entry.hash;
        count_in(state->words, &state->n_words, CHAIN_WORDS, &entry);
    }
    for (size_t i = 0; i < turn->n_names; i++) {
        struct chain_count entry = {turn->names[i].hash, turn->names[i].weight,
                                    1, true};

        count_in(state->names, &state->n_names, CHAIN_NAMES, &entry);
    }
    chain_state_rank(state);
    if (vector) {
        add_vector(state, turn->is_user, vector);
    }
}

void chain_state_merge(struct chain_state *to, const struct chain_state *from)
{
    to->n_turns += from->n_turns;
    for (size_t i = 0; i < from->n_words; i++) {
        count_in(to->words, &to->n_words, CHAIN_WORDS, &from->words[i]);
    }
    for (size_t i = 0; i < from->n_names; i++) {
        count_in(to->names, &to->n_names, CHAIN_NAMES, &from->names[i]);
    }
    chain_state_rank(to);
}

float chain_state_central(const struct chain_state *state,
                          const uint32_t *words, size_t count)
{
    float sum = 0;

    for (size_t i = 0; i < count; i++) {
        const struct chain_count *word = chain_state_word(state, words[i]);

        /* a word said once may be chance */
        sum += !word             ? 0
               : word->count > 1 ? (float)word->count * word->weight
                                 : 0.5f * word->weight;
    }
    return count ? sum / sqrtf((float)count) : 0;
}

/* --- talk -------------------------------------------------------------------
 */

void chain_talk_init(struct chain_talk *talk)
{
    *talk = (struct chain_talk){.peer_sum = PEER_START, .peer_n = 1};
}

void chain_talk_add(struct chain_talk *talk, const struct chain_features *turn)
{
    talk->last_cues = turn->cues;
    talk->is_last_user = turn->is_user;
    if (turn->is_user) {
        if (turn->cues & CUE_PERSONAL) {
            talk->peer_sum += 1;
            talk->peer_n += 1;
        }
        return;
    }
    if (turn->cues & CUE_SERVICE) {
        talk->peer_n += 1;
    } else if (turn->cues & CUE_SELF) {
        talk->peer_sum += 1;
        talk->peer_n += 1;
    } else {
        talk->peer_sum += 0.1f;
        talk->peer_n += 0.3f;
    }
}

float chain_talk_peer(const struct chain_talk *talk)
{
    float share = (talk->peer_sum / talk->peer_n - 0.15f) / 0.5f;

    return fminf(1, fmaxf(0, share));
}
