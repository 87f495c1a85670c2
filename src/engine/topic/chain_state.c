/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_state.c - grow, merge and pack a chain's memory. See chain_state.h.
 */
#include "engine/topic/chain_state.h"

#include <math.h>
#include <string.h>

#define STATE_VERSION 2
#define TALK_VERSION 3
/* Had two vectors of any embedder, which are left behind. */
#define STATE_BEFORE 1
/* Had the turns since the chain changed. */
#define TALK_BEFORE 2
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

/* Find the heaviest words by count and rarity. */
static void rank_tops(struct chain_state *state)
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
    rank_tops(state);
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
    rank_tops(to);
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

/* --- bytes ------------------------------------------------------------------
 */

static void put(struct buf *out, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        (void)buf_append_char(out, (char)(value >> (8 * i)));
    }
}

static void put_float(struct buf *out, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put(out, bits, 4);
}

/* Reads past the end give 0 and are remembered. */
struct source {
    struct str rest;
    bool is_short;
};

static uint64_t get(struct source *from, size_t n_bytes)
{
    uint64_t value = 0;

    if (from->rest.len < n_bytes) {
        from->is_short = true;
        return 0;
    }
    for (size_t i = 0; i < n_bytes; i++) {
        value |= (uint64_t)(unsigned char)from->rest.s[i] << (8 * i);
    }
    from->rest = str_sub(from->rest, n_bytes, from->rest.len);
    return value;
}

static float get_float(struct source *from)
{
    uint32_t bits = (uint32_t)get(from, 4);
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void put_counts(struct buf *out, const struct chain_count *items,
                       size_t count)
{
    put(out, count, 1);
    for (size_t i = 0; i < count; i++) {
        put(out, items[i].hash, 4);
        put_float(out, items[i].weight);
        put(out, items[i].count, 2);
        put(out, items[i].is_noun, 1);
    }
}

static uint8_t get_counts(struct source *from, struct chain_count *items,
                          size_t cap)
{
    size_t count = get(from, 1);

    if (count > cap) {
        from->is_short = true;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        items[i].hash = (uint32_t)get(from, 4);
        items[i].weight = get_float(from);
        items[i].count = (uint16_t)get(from, 2);
        items[i].is_noun = get(from, 1) != 0;
    }
    return (uint8_t)count;
}

static void get_vector(struct source *from, struct chain_vector *out)
{
    if (from->rest.len < CHAIN_VECTOR) {
        from->is_short = true;
        return;
    }
    memcpy(out->parts, from->rest.s, CHAIN_VECTOR);
    from->rest = str_sub(from->rest, CHAIN_VECTOR, from->rest.len);
}

static void get_vectors(struct source *from, uint64_t version,
                        struct chain_state *out)
{
    if (!out->has_vectors) {
        return;
    }
    if (version == STATE_BEFORE) {
        out->has_vectors = false;
        get_vector(from, &out->said[0]);
        get_vector(from, &out->said[1]);
        return;
    }
    out->is_vector_user = get(from, 1) != 0;
    get_vector(from, &out->said[0]);
    get_vector(from, &out->said[1]);
    get_vector(from, &out->sum);
}

enum clew_status chain_state_write(const struct chain_state *state,
                                   struct buf *out)
{
    put(out, STATE_VERSION, 1);
    put(out, state->n_turns, 4);
    put(out, state->last_cues, 4);
    put(out, state->last_asks, 1);
    put(out, state->is_last_user, 1);
    for (size_t k = 0; k < 2; k++) {
        put(out, state->n_last[k], 1);
        for (size_t i = 0; i < state->n_last[k]; i++) {
            put(out, state->last[k][i], 4);
        }
    }
    put_counts(out, state->words, state->n_words);
    put_counts(out, state->names, state->n_names);
    /* both are less than 16 */
    put(out, (uint64_t)(state->n_topic | state->topic_weight << 4), 1);
    for (size_t i = 0; i < state->n_topic; i++) {
        put(out, state->topic[i], 4);
    }
    put(out, state->has_vectors, 1);
    if (state->has_vectors) {
        put(out, state->is_vector_user, 1);
        (void)buf_append(out, state->said[0].parts, CHAIN_VECTOR);
        (void)buf_append(out, state->said[1].parts, CHAIN_VECTOR);
        (void)buf_append(out, state->sum.parts, CHAIN_VECTOR);
    }
    return buf_status(out);
}

bool chain_state_read(struct str bytes, struct chain_state *out)
{
    struct source from = {.rest = bytes};
    uint64_t version = get(&from, 1);

    chain_state_init(out);
    if (version != STATE_VERSION && version != STATE_BEFORE) {
        return false;
    }
    out->n_turns = (uint32_t)get(&from, 4);
    out->last_cues = (uint32_t)get(&from, 4);
    out->last_asks = (uint8_t)get(&from, 1);
    out->is_last_user = get(&from, 1) != 0;
    for (size_t k = 0; k < 2; k++) {
        size_t count = get(&from, 1);

        if (count > CHAIN_TURN_WORDS) {
            return false;
        }
        out->n_last[k] = (uint8_t)count;
        for (size_t i = 0; i < count; i++) {
            out->last[k][i] = (uint32_t)get(&from, 4);
        }
    }
    out->n_words = get_counts(&from, out->words, CHAIN_WORDS);
    out->n_names = get_counts(&from, out->names, CHAIN_NAMES);
    out->n_topic = (uint8_t)get(&from, 1);
    out->topic_weight = out->n_topic >> 4;
    out->n_topic &= CHAIN_NAME_STEPS - 1;
    if (out->n_topic > CHAIN_TOPIC_WORDS) {
        return false;
    }
    for (size_t i = 0; i < out->n_topic; i++) {
        out->topic[i] = (uint32_t)get(&from, 4);
    }
    out->has_vectors = get(&from, 1) != 0;
    get_vectors(&from, version, out);
    rank_tops(out);
    return !from.is_short;
}

enum clew_status chain_talk_write(const struct chain_talk *talk,
                                  struct buf *out)
{
    put(out, TALK_VERSION, 1);
    put_float(out, talk->peer_sum);
    put_float(out, talk->peer_n);
    put(out, talk->last_cues, 4);
    put(out, talk->is_last_user, 1);
    return buf_status(out);
}

bool chain_talk_read(struct str bytes, struct chain_talk *out)
{
    struct source from = {.rest = bytes};
    uint64_t version = get(&from, 1);

    chain_talk_init(out);
    if (version != TALK_VERSION && version != TALK_BEFORE) {
        return false;
    }
    out->peer_sum = get_float(&from);
    out->peer_n = get_float(&from);
    out->last_cues = (uint32_t)get(&from, 4);
    out->is_last_user = get(&from, 1) != 0;
    return !from.is_short && out->peer_n > 0;
}
