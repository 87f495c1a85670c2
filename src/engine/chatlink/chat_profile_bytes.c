/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chat_profile_bytes.c - a profile empty, and as the store has it. See
 * chat_profile.h.
 *
 * Numbers of seven bits a byte, the words, the sum of the vectors and the last
 * of them in steps (base/small_ints.h). An earlier form had all numbers in full
 * and the sum as floats: it is read, and never written. A form that does not
 * read is treated as absent: it is derived data.
 */
#include "engine/chatlink/chat_profile.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/small_ints.h"

#include <math.h>
#include <string.h>

#define VERSION 2
/* The largest number of axes that is believed. */
#define MAX_DIM 65536
/* Steps of a word's weight, which is at most 20 or so. */
#define IDF_STEPS 2048.0f
/* The earlier form: so many words of 32 bits at its beginning. */
#define FULL_VERSION 1u
#define FULL_WORDS 13
#define FULL_STEPS 127.0f

/* --- steps ------------------------------------------------------------------
 */

float chat_profile_steps(size_t dim)
{
    /* parts of a vector of unit length are the smaller the more there are */
    return dim <= 256 ? 127.0f : 8 * sqrtf((float)dim);
}

float chat_profile_round_idf(float idf)
{
    return fminf(rintf(idf * IDF_STEPS), 65535) / IDF_STEPS;
}

/* --- an empty one ----------------------------------------------------------
 */

enum clew_status chat_profile_init(struct chat_profile *profile,
                                   struct arena *arena,
                                   const struct uuid *chat_id,
                                   struct str user_id, int64_t created_at_ms,
                                   size_t dim)
{
    struct uuid id = *chat_id; /* may point into the profile */

    memset(profile, 0, sizeof(*profile));
    profile->chat_id = id;
    profile->user_id = user_id;
    profile->created_at_ms = created_at_ms;
    profile->last_at_ms = created_at_ms;
    profile->dim = dim;
    profile->terms =
        arena_zero(arena, CHAT_PROFILE_TERMS, sizeof(*profile->terms));
    profile->sum = arena_zero(arena, dim + 1, sizeof(float));
    profile->last = arena_zero(arena, dim + 1, sizeof(float));
    return profile->terms && profile->sum && profile->last ? CLEW_OK
                                                           : CLEW_NO_MEMORY;
}

/* --- writing ----------------------------------------------------------------
 */

static enum clew_status put_vector(struct buf *out, const float *vector,
                                   size_t dim)
{
    float steps = chat_profile_steps(dim);
    int32_t *parts = alloc_array(NULL, dim + 1, sizeof(*parts));
    enum clew_status status = CLEW_NO_MEMORY;

    if (parts) {
        for (size_t i = 0; i < dim; i++) {
            float part = rintf(vector[i] * steps);

            part = fminf(fmaxf(part, -SMALL_INTS_MAX), SMALL_INTS_MAX);
            parts[i] = isnan(part) ? 0 : (int32_t)part;
        }
        status = small_ints_write(parts, dim, out);
    }
    alloc_free(parts);
    return status;
}

enum clew_status chat_profile_write(const struct chat_profile *profile,
                                    struct buf *out)
{
    const uint32_t numbers[] = {
        profile->n_turns,     profile->state,      profile->decided_turns,
        profile->n_keys,      profile->first_cues, profile->first_answers,
        profile->first_words, profile->last_cues,  profile->last_asks};
    uint32_t mass;
    enum clew_status status;

    memcpy(&mass, &profile->mass, sizeof(mass));
    bytes_put(out, VERSION, 1);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        bytes_put_number(out, numbers[i]);
    }
    bytes_put(out, mass, 4);
    bytes_put_number(out, (uint32_t)profile->n_terms);
    bytes_put_number(out, (uint32_t)profile->dim);
    for (size_t i = 0; i < profile->n_terms; i++) {
        const struct chatlink_term *term = &profile->terms[i];

        bytes_put(out, term->hash, 8);
        bytes_put(out, (uint64_t)lrintf(term->idf * IDF_STEPS), 2);
        bytes_put_number(out, term->count);
        bytes_put(out, term->flags, 1);
    }
    status = put_vector(out, profile->sum, profile->dim);
    /* the sum of one turn is its last */
    return status == CLEW_OK && profile->n_turns > 1
               ? put_vector(out, profile->last, profile->dim)
               : status;
}

/* --- reading ----------------------------------------------------------------
 */

/* `parts` has room for as many numbers. */
static void get_vector(struct bytes_source *from, int32_t *parts, float *out,
                       size_t dim)
{
    float steps = chat_profile_steps(dim);

    from->is_short =
        !small_ints_read(&from->rest, parts, dim) || from->is_short;
    for (size_t i = 0; !from->is_short && i < dim; i++) {
        out[i] = (float)parts[i] / steps;
    }
}

static bool get_vectors(struct arena *arena, struct bytes_source *from,
                        struct chat_profile *out)
{
    int32_t *parts = arena_alloc(arena, (out->dim + 1) * sizeof(*parts));

    if (!parts) {
        return false;
    }
    get_vector(from, parts, out->sum, out->dim);
    if (out->n_turns > 1) {
        get_vector(from, parts, out->last, out->dim);
    } else {
        memcpy(out->last, out->sum, out->dim * sizeof(*out->last));
    }
    return true;
}

/* The numbers before the words, and how many words and axes there are. */
static void get_head(struct bytes_source *from, bool is_full,
                     struct chat_profile *out)
{
    uint32_t *const numbers[] = {
        &out->n_turns,     &out->state,      &out->decided_turns,
        &out->n_keys,      &out->first_cues, &out->first_answers,
        &out->first_words, &out->last_cues,  &out->last_asks};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        *numbers[i] =
            is_full ? (uint32_t)bytes_get(from, 4) : bytes_get_number(from);
    }
    out->mass = bytes_get_float(from);
    out->n_terms = is_full ? bytes_get(from, 4) : bytes_get_number(from);
    out->dim = is_full ? bytes_get(from, 4) : bytes_get_number(from);
}

static void get_terms(struct bytes_source *from, bool is_full,
                      struct chat_profile *out)
{
    for (size_t i = 0; i < out->n_terms; i++) {
        struct chatlink_term *term = &out->terms[i];

        term->hash = bytes_get(from, 8);
        term->idf = is_full ? chat_profile_round_idf(bytes_get_float(from))
                            : (float)bytes_get(from, 2) / IDF_STEPS;
        term->count =
            (uint16_t)(is_full ? bytes_get(from, 2) : bytes_get_number(from));
        term->flags = (uint8_t)bytes_get(from, 1);
    }
}

static void get_full_vectors(struct bytes_source *from,
                             struct chat_profile *out)
{
    float steps = chat_profile_steps(out->dim);

    for (size_t i = 0; i < out->dim; i++) {
        out->sum[i] = rintf(bytes_get_float(from) * steps) / steps;
    }
    for (size_t i = 0; i < out->dim; i++) {
        float part = (float)(int8_t)bytes_get(from, 1) / FULL_STEPS;

        out->last[i] = rintf(part * steps) / steps;
    }
}

bool chat_profile_read(struct arena *arena, struct str data,
                       struct chat_profile *out)
{
    struct chat_profile head = {0};
    struct bytes_source from = {.rest = data};
    /* the earlier form began with a word of four bytes */
    bool is_full = data.len >= (size_t)FULL_WORDS * 4 && data.s[0] == 1;
    uint64_t version = bytes_get(&from, is_full ? 4 : 1);

    get_head(&from, is_full, &head);
    from.is_short = from.is_short || head.n_terms > CHAT_PROFILE_TERMS ||
                    head.dim > MAX_DIM ||
                    version != (is_full ? FULL_VERSION : VERSION);
    if (chat_profile_init(out, arena, &out->chat_id, out->user_id,
                          out->created_at_ms,
                          from.is_short ? 0 : head.dim) != CLEW_OK) {
        return false;
    }
    if (from.is_short) {
        return true;
    }
    head.chat_id = out->chat_id;
    head.user_id = out->user_id;
    head.created_at_ms = out->created_at_ms;
    head.last_at_ms = out->last_at_ms;
    head.terms = out->terms;
    head.sum = out->sum;
    head.last = out->last;
    *out = head;
    get_terms(&from, is_full, out);
    if (is_full) {
        get_full_vectors(&from, out);
    } else if (!get_vectors(arena, &from, out)) {
        return false;
    }
    /* half of one is none */
    return !from.is_short ||
           chat_profile_init(out, arena, &out->chat_id, out->user_id,
                             out->created_at_ms, 0) == CLEW_OK;
}
