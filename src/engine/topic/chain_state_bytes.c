/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_state_bytes.c - a chain's memory as the store has it. See
 * chain_state.h.
 *
 * Written in the last form only, read in all. Whatever was written gives the
 * same memory again, so the forms differ in their bytes alone.
 */
#include "engine/topic/chain_state.h"

#include "base/bytes.h"
#include "base/small_ints.h"

#include <string.h>

#define STATE_VERSION 4
#define TALK_VERSION 3
/* Had every weight in full, and the sum of vectors. */
#define STATE_WEIGHTS 3
/* Had every number in full, and all three vectors. */
#define STATE_FULL 2
/* Had two vectors of any embedder, which are left behind. */
#define STATE_BEFORE 1
/* Had the turns since the chain changed. */
#define TALK_BEFORE 2

/* --- words and names with their counts. Weights are the lexicon's, which are
 * whole steps, or one of its largest --- */

#define WEIGHT_STEPS 4096
/* In place of the steps: a weight in full follows, or the last such again. */
#define IN_FULL 0xffffu
#define AS_BEFORE 0xfffeu

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void put_weight(struct buf *out, float weight, float *full)
{
    float steps = weight * WEIGHT_STEPS;
    uint32_t whole =
        steps >= 0 && steps < (float)AS_BEFORE ? (uint32_t)steps : AS_BEFORE;

    if (whole < AS_BEFORE && (float)whole == steps) {
        bytes_put(out, whole, 2);
    } else if (bits_of(weight) == bits_of(*full)) {
        bytes_put(out, AS_BEFORE, 2);
    } else {
        bytes_put(out, IN_FULL, 2);
        bytes_put_float(out, weight);
        *full = weight;
    }
}

static float get_weight(struct bytes_source *from, uint64_t version,
                        float *full)
{
    uint64_t steps = version == STATE_VERSION ? bytes_get(from, 2) : IN_FULL;

    if (steps < AS_BEFORE) {
        return (float)steps / WEIGHT_STEPS;
    }
    if (steps == IN_FULL) {
        *full = bytes_get_float(from);
    }
    return *full;
}

static void put_counts(struct buf *out, const struct chain_count *items,
                       size_t count)
{
    float full = 0;

    bytes_put(out, count, 1);
    for (size_t i = 0; i < count; i++) {
        bytes_put(out, items[i].hash, 4);
        put_weight(out, items[i].weight, &full);
        bytes_put_number(out, (uint32_t)items[i].count << 1 | items[i].is_noun);
    }
}

static uint8_t get_counts(struct bytes_source *from, uint64_t version,
                          struct chain_count *items, size_t cap)
{
    size_t count = bytes_get(from, 1);
    float full = 0;

    if (count > cap) {
        from->is_short = true;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        items[i].hash = (uint32_t)bytes_get(from, 4);
        items[i].weight = get_weight(from, version, &full);
        if (version >= STATE_WEIGHTS) {
            uint32_t number = bytes_get_number(from);

            items[i].count = (uint16_t)(number >> 1);
            items[i].is_noun = number & 1;
        } else {
            items[i].count = (uint16_t)bytes_get(from, 2);
            items[i].is_noun = bytes_get(from, 1) != 0;
        }
    }
    return (uint8_t)count;
}

/* --- words of the last turns: most are among those that are counted, whose
 * place is enough ---
 */

#define NOT_COUNTED CHAIN_WORDS
_Static_assert(NOT_COUNTED < 256, "a place fits into a byte");

static void put_last(struct buf *out, const struct chain_state *state)
{
    for (size_t k = 0; k < 2; k++) {
        bytes_put(out, state->n_last[k], 1);
        for (size_t i = 0; i < state->n_last[k]; i++) {
            const struct chain_count *word =
                chain_state_word(state, state->last[k][i]);

            bytes_put(out, word ? (uint64_t)(word - state->words) : NOT_COUNTED,
                      1);
            if (!word) {
                bytes_put(out, state->last[k][i], 4);
            }
        }
    }
}

static uint32_t get_last_word(struct bytes_source *from, uint64_t version,
                              const struct chain_state *state)
{
    size_t at = version >= STATE_WEIGHTS ? bytes_get(from, 1) : NOT_COUNTED;

    if (at == NOT_COUNTED) {
        return (uint32_t)bytes_get(from, 4);
    }
    if (at >= state->n_words) {
        from->is_short = true;
        return 0;
    }
    return state->words[at].hash;
}

static void get_last(struct bytes_source *from, uint64_t version,
                     struct chain_state *out)
{
    for (size_t k = 0; k < 2; k++) {
        size_t count = bytes_get(from, 1);

        if (count > CHAIN_TURN_WORDS) {
            from->is_short = true;
            return;
        }
        out->n_last[k] = (uint8_t)count;
        for (size_t i = 0; i < count; i++) {
            out->last[k][i] = get_last_word(from, version, out);
        }
    }
}

/* --- vectors: one that nobody has is left out, as is a sum of one turn --- */

enum vector_flags {
    HAS_VECTORS = 1 << 0,
    IS_USERS = 1 << 1,
    HAS_SAID = 1 << 2, /* the assistant's, then the user's */
    IS_SUM = 1 << 4    /* … is the sum */
};

static bool is_zero(const struct chain_vector *vector)
{
    static const struct chain_vector none;

    return memcmp(vector, &none, sizeof(none)) == 0;
}

static void put_vector(struct buf *out, const struct chain_vector *vector)
{
    int32_t parts[CHAIN_VECTOR];

    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        parts[i] = vector->parts[i]; /* NOLINT: a number */
    }
    clew_ignore(small_ints_write(parts, CHAIN_VECTOR, out)); /* buf_status() */
}

/* The sum is near a mix of the last two, of so many eighths of each: what it is
 * away from that takes fewer bits. Whole numbers, so that every machine writes
 * the same. */
#define EIGHTHS 8

struct mix {
    int eighths[2];
};

static int mixed(const struct chain_state *state, const struct mix *mix,
                 size_t at)
{
    int sum = mix->eighths[0] * state->said[0].parts[at] +
              mix->eighths[1] * state->said[1].parts[at];

    return (sum >= 0 ? sum + EIGHTHS / 2 : sum - EIGHTHS / 2) / EIGHTHS;
}

static int64_t product(const struct chain_vector *a,
                       const struct chain_vector *b)
{
    int64_t sum = 0;

    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        sum += a->parts[i] * b->parts[i];
    }
    return sum;
}

static int eighths_of(int64_t part, int64_t whole)
{
    int64_t eighths = whole > 0 ? EIGHTHS * part / whole : 0;

    return eighths < 0 ? 0 : eighths > EIGHTHS ? EIGHTHS : (int)eighths;
}

/* The mix that is nearest to the sum: least squares. */
static struct mix mix_of(const struct chain_state *state)
{
    const struct chain_vector *a = &state->said[0];
    const struct chain_vector *b = &state->said[1];
    int64_t aa = product(a, a);
    int64_t bb = product(b, b);
    int64_t ab = product(a, b);
    int64_t as = product(a, &state->sum);
    int64_t bs = product(b, &state->sum);
    int64_t whole = aa * bb - ab * ab;

    if (whole <= 0) { /* one is missing, or they are the same */
        return (struct mix){
            {eighths_of(as, aa), aa > 0 ? 0 : eighths_of(bs, bb)}};
    }
    return (struct mix){{eighths_of(as * bb - bs * ab, whole),
                         eighths_of(bs * aa - as * ab, whole)}};
}

static void put_sum(struct buf *out, const struct chain_state *state)
{
    struct mix mix = mix_of(state);
    int32_t parts[CHAIN_VECTOR];

    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        parts[i] = state->sum.parts[i] - mixed(state, &mix, i);
    }
    bytes_put(out, (uint64_t)(mix.eighths[0] | mix.eighths[1] << 4), 1);
    clew_ignore(small_ints_write(parts, CHAIN_VECTOR, out)); /* buf_status() */
}

static void put_vectors(struct buf *out, const struct chain_state *state)
{
    unsigned flags = state->has_vectors ? HAS_VECTORS : 0;
    bool has_sum = false;

    for (unsigned k = 0; state->has_vectors && k < 2; k++) {
        bool is_sum = !has_sum && memcmp(&state->said[k], &state->sum,
                                         sizeof(state->sum)) == 0;

        flags |= !is_zero(&state->said[k]) ? (unsigned)HAS_SAID << k : 0;
        flags |= is_sum ? (unsigned)IS_SUM << k : 0;
        has_sum = has_sum || is_sum;
    }
    if (state->has_vectors && state->is_vector_user) {
        flags |= IS_USERS;
    }
    bytes_put(out, flags, 1);
    for (unsigned k = 0; k < 2; k++) {
        if (flags & (unsigned)HAS_SAID << k) {
            put_vector(out, &state->said[k]);
        }
    }
    if (state->has_vectors && !has_sum) {
        put_sum(out, state);
    }
}

static void get_vector(struct bytes_source *from, uint64_t version,
                       struct chain_vector *out)
{
    int32_t parts[CHAIN_VECTOR];

    if (version >= STATE_WEIGHTS) {
        if (!small_ints_read(&from->rest, parts, CHAIN_VECTOR)) {
            from->is_short = true;
            return;
        }
        for (size_t i = 0; i < CHAIN_VECTOR; i++) {
            out->parts[i] = (int8_t)parts[i];
        }
        return;
    }
    if (from->rest.len < CHAIN_VECTOR) {
        from->is_short = true;
        return;
    }
    memcpy(out->parts, from->rest.s, CHAIN_VECTOR);
    from->rest = str_sub(from->rest, CHAIN_VECTOR, from->rest.len);
}

static void get_sum(struct bytes_source *from, uint64_t version,
                    struct chain_state *out)
{
    unsigned eighths;
    struct mix mix;
    int32_t parts[CHAIN_VECTOR];

    if (version == STATE_WEIGHTS) {
        get_vector(from, version, &out->sum);
        return;
    }
    eighths = (unsigned)bytes_get(from, 1);
    mix = (struct mix){{(int)(eighths & 15), (int)(eighths >> 4)}};
    if (!small_ints_read(&from->rest, parts, CHAIN_VECTOR)) {
        from->is_short = true;
        return;
    }
    for (size_t i = 0; i < CHAIN_VECTOR; i++) {
        out->sum.parts[i] = (int8_t)(parts[i] + mixed(out, &mix, i));
    }
}

static void get_vectors(struct bytes_source *from, uint64_t version,
                        struct chain_state *out)
{
    unsigned flags = (unsigned)bytes_get(from, 1);
    bool has_sum = false;

    out->has_vectors = flags & HAS_VECTORS;
    out->is_vector_user = flags & IS_USERS;
    for (unsigned k = 0; k < 2; k++) {
        if (flags & (unsigned)HAS_SAID << k) {
            get_vector(from, version, &out->said[k]);
        }
        if (flags & (unsigned)IS_SUM << k) {
            out->sum = out->said[k];
            has_sum = true;
        }
    }
    if (out->has_vectors && !has_sum) {
        get_sum(from, version, out);
    }
}

/* … of an earlier form. */
static void get_full_vectors(struct bytes_source *from, uint64_t version,
                             struct chain_state *out)
{
    out->has_vectors = bytes_get(from, 1) != 0;
    if (!out->has_vectors) {
        return;
    }
    if (version == STATE_BEFORE) {
        out->has_vectors = false;
        get_vector(from, version, &out->said[0]);
        get_vector(from, version, &out->said[1]);
        memset(out->said, 0, sizeof(out->said));
        return;
    }
    out->is_vector_user = bytes_get(from, 1) != 0;
    get_vector(from, version, &out->said[0]);
    get_vector(from, version, &out->said[1]);
    get_vector(from, version, &out->sum);
}

/* --- the whole ---
 */

enum clew_status chain_state_write(const struct chain_state *state,
                                   struct buf *out)
{
    bytes_put(out, STATE_VERSION, 1);
    bytes_put_number(out, state->n_turns);
    bytes_put_number(out, state->last_cues);
    bytes_put(out, (uint64_t)(state->last_asks << 1 | state->is_last_user), 1);
    put_counts(out, state->words, state->n_words);
    put_last(out, state);
    put_counts(out, state->names, state->n_names);
    /* both are less than 16 */
    bytes_put(out, (uint64_t)(state->n_topic | state->topic_weight << 4), 1);
    for (size_t i = 0; i < state->n_topic; i++) {
        bytes_put(out, state->topic[i], 4);
    }
    put_vectors(out, state);
    return buf_status(out);
}

/* What comes before names and topic. */
static void get_begin(struct bytes_source *from, uint64_t version,
                      struct chain_state *out)
{
    if (version >= STATE_WEIGHTS) {
        uint8_t asks;

        out->n_turns = bytes_get_number(from);
        out->last_cues = bytes_get_number(from);
        asks = (uint8_t)bytes_get(from, 1);
        out->last_asks = asks >> 1;
        out->is_last_user = asks & 1;
        out->n_words = get_counts(from, version, out->words, CHAIN_WORDS);
        get_last(from, version, out);
        return;
    }
    out->n_turns = (uint32_t)bytes_get(from, 4);
    out->last_cues = (uint32_t)bytes_get(from, 4);
    out->last_asks = (uint8_t)bytes_get(from, 1);
    out->is_last_user = bytes_get(from, 1) != 0;
    get_last(from, version, out);
    out->n_words = get_counts(from, version, out->words, CHAIN_WORDS);
}

bool chain_state_read(struct str bytes, struct chain_state *out)
{
    struct bytes_source from = {.rest = bytes};
    uint64_t version = bytes_get(&from, 1);

    chain_state_init(out);
    if (version < STATE_BEFORE || version > STATE_VERSION) {
        return false;
    }
    get_begin(&from, version, out);
    out->n_names = get_counts(&from, version, out->names, CHAIN_NAMES);
    out->n_topic = (uint8_t)bytes_get(&from, 1);
    out->topic_weight = out->n_topic >> 4;
    out->n_topic &= CHAIN_NAME_STEPS - 1;
    if (out->n_topic > CHAIN_TOPIC_WORDS) {
        return false;
    }
    for (size_t i = 0; i < out->n_topic; i++) {
        out->topic[i] = (uint32_t)bytes_get(&from, 4);
    }
    if (version >= STATE_WEIGHTS) {
        get_vectors(&from, version, out);
    } else {
        get_full_vectors(&from, version, out);
    }
    chain_state_rank(out);
    return !from.is_short;
}

enum clew_status chain_talk_write(const struct chain_talk *talk,
                                  struct buf *out)
{
    bytes_put(out, TALK_VERSION, 1);
    bytes_put_float(out, talk->peer_sum);
    bytes_put_float(out, talk->peer_n);
    bytes_put(out, talk->last_cues, 4);
    bytes_put(out, talk->is_last_user, 1);
    return buf_status(out);
}

bool chain_talk_read(struct str bytes, struct chain_talk *out)
{
    struct bytes_source from = {.rest = bytes};
    uint64_t version = bytes_get(&from, 1);

    chain_talk_init(out);
    if (version != TALK_VERSION && version != TALK_BEFORE) {
        return false;
    }
    out->peer_sum = bytes_get_float(&from);
    out->peer_n = bytes_get_float(&from);
    out->last_cues = (uint32_t)bytes_get(&from, 4);
    out->is_last_user = bytes_get(&from, 1) != 0;
    return !from.is_short && out->peer_n > 0;
}
