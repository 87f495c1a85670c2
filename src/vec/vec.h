/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h - arithmetic on quantised vectors, chosen for the processor at run
 * time.
 *
 * A vector is kept twice: as int8 with one scale (x ~ scale * q), and as one
 * sign bit per dimension. The int8 form ranks; the bits find a shortlist when
 * there are too many rows to read: first the rows whose signs differ little
 * from the query's, then, of these, the best by a query that keeps more
 * precision than the bits: its values are cut to 4 bits and compared plane by
 * plane.
 * The scalar kernels are the truth; the others give exactly the same integers,
 * for every dimension (tails are handled inside). CLEW_CPU=scalar|neon|dotprod|
 * avx2|vnni|avx512 overrides the choice.
 * Thread-safety: pure functions; the choice is made once.
 */
#ifndef VEC_VEC_H
#define VEC_VEC_H

#include <stddef.h>
#include <stdint.h>

/* Planes of a query prepared for vec_scan_bits(). */
#define VEC_PLANES 4
/* Largest dimension; a dot of two int8 vectors stays within int32. */
#define VEC_MAX_DIM 4096

/* Bytes of the sign bits of one vector: whole 64-bit words. */
#define VEC_BIT_BYTES(dim) ((((size_t)(dim) + 63) / 64) * 8)

/* What one kind of processor runs. All rows are contiguous, `dim` bytes or
 * VEC_BIT_BYTES(dim) bytes apart. */
struct vec_ops {
    const char *name;
    int32_t (*dot_i8)(const int8_t *a, const int8_t *b, size_t dim);
    /* out[i] = dot(query, row i) */
    void (*scan_i8)(const int8_t *query, const int8_t *rows, size_t n_rows,
                    size_t dim, int32_t *out);
    /* out[i] = c0 + 2 c1 + 4 c2 - 8 c3, cp = popcount(plane p & row i);
     * `planes` are VEC_PLANES rows of `words` words. */
    void (*scan_bits)(const uint64_t *planes, const uint64_t *rows,
                      size_t n_rows, size_t words, int32_t *out);
    /* bit i of `out` = vec_differ(query, row i) <= bound; whole words are
     * written, bits past the last row are 0 */
    void (*scan_signs)(const uint64_t *query, const uint64_t *rows,
                       size_t n_rows, size_t words, uint32_t bound,
                       uint64_t *out);
};

/* The kernels of this processor. */
const struct vec_ops *vec_ops(void);
/* Kernels by name ("scalar", "neon" ...), or NULL if this processor or this
 * build lacks them; for tests and measurements. */
const struct vec_ops *vec_ops_named(const char *name);

/*
 * Turn a vector about the origin so that each axis holds a bit of all: signs
 * and rounded values then say equally much on every axis. Dot products of
 * mixed vectors are those of the vectors. Equal on every machine.
 */
void vec_mix(float *vector, size_t dim);

/* What the quantised forms of a vector x are worth; c = x - centre. */
struct vec_form {
    float scale; /* c ~ scale * int8 values; 0 = no vector */
    float sign;  /* c ~ sign * (+1 or -1 by the sign bits) */
    float bias;  /* c . centre */
};

/*
 * Quantise what is left of a vector after a centre is taken off (NULL: the
 * origin), with finer steps where all vectors lean one way:
 *     x . y = y . centre + bias of x + c . (y - centre)
 * `out` gets dim values, of vec_mix()ed axes. The worths are such that rounding
 * changes nothing along c itself, where the nearest neighbours are told apart;
 * they are 0 for a zero or non-finite vector. Equal on every machine.
 */
void vec_quantise_about(const float *vector, const float *centre, size_t dim,
                        int8_t *out, struct vec_form *out_form);
/*
 * A query, twice as fine: `out` gets 2 * dim values, those of
 * vec_quantise_about() and, in steps worth *out_fine, what they leave.
 */
void vec_quantise_query(const float *vector, const float *centre, size_t dim,
                        int8_t *out, struct vec_form *out_form,
                        float *out_fine);
/* About the origin, of the axes as they are; the scale comes back. */
float vec_quantise(const float *vector, size_t dim, int8_t *out);
/* Sign bits of a quantised vector, VEC_BIT_BYTES(dim) bytes, padding 0. */
void vec_sign_bits(const int8_t *quantised, size_t dim, uint64_t *out);
/* How many sign bits differ. */
static inline uint32_t vec_differ(const uint64_t *a, const uint64_t *b,
                                  size_t words)
{
    uint32_t count = 0;

    for (size_t w = 0; w < words; w++) {
        count += (uint32_t)__builtin_popcountll(a[w] ^ b[w]);
    }
    return count;
}
/*
 * A query for scan_bits(): VEC_PLANES * VEC_BIT_BYTES(dim) bytes. Its values
 * are cut to -7..7 in two's complement, one plane per bit, so that the scan
 * gives the sum of the query's values over the row's set bits. One step of a
 * value is worth what comes back, in steps of `quantised`; `*out_sum` gets the
 * sum over all bits.
 */
float vec_query_planes(const int8_t *quantised, size_t dim, uint64_t *out,
                       int32_t *out_sum);

#endif
