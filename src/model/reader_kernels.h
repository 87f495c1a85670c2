/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_kernels.h - the arithmetic of the reader, per processor, to the bit.
 *
 * Every variant gives the same bits as "scalar": sums of int8 products are
 * whole numbers, and floats are computed in one order, with sums in 16 lanes
 * that are folded half onto half. Where a product is added to something the two
 * are rounded once (fused), but for a dense's scale and bias; a processor that
 * cannot is slow, but not different (reader_fma.h). All widths (n_in,
 * n_out, dim, a head's width) are multiples of READER_LANES; numbers of rows
 * are free. Weights are read where they lie, row major.
 * Thread-safety: pure functions.
 */
#ifndef MODEL_READER_KERNELS_H
#define MODEL_READER_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define READER_LANES 16
/* Rows of rounded input are made up to a multiple of this. */
#define READER_ROWS 8
/* The most inputs that a product takes at once. */
#define READER_STEP 64
/* The widest input of a product. */
#define READER_MAX_IN 4096
/* Queries of one head that are scored together. */
#define READER_QUERIES 4

/* A matrix [n_out][n_in] of int8 with a scale and a bias for each row. */
struct reader_dense {
    const int8_t *weights;
    const float *scales;
    const float *bias;
    size_t n_in;
    size_t n_out;
};

struct reader_norm {
    const float *weight;
    const float *bias;
};

/* Attention over the rows of one text; see attend. */
struct reader_heads {
    const float *qkv; /* rows of 3 * dim: query, key, value */
    size_t n_rows;
    size_t dim;
    size_t n_heads;
    size_t from;    /* rows before this one ask nothing */
    float *out;     /* rows of dim; written from row `from` on */
    float *scratch; /* reader_scratch_floats() */
};

struct reader_kernels {
    const char *name;
    /*
     * Round each row to int8 by its own scale, in the order this variant's
     * product wants them: `q` has reader_rounded_bytes(), `scales` n_rows.
     */
    void (*round)(const float *x, size_t n_rows, size_t n_in, int8_t *q,
                  float *scales);
    /* The same after GELU, x[i] = x[i] * Phi(x[i]), which changes x. */
    void (*bend)(float *x, size_t n_rows, size_t n_in, int8_t *q,
                 float *scales);
    /* out[n_rows][n_out] = rounded rows * weights, scaled, plus bias. */
    void (*product)(const struct reader_dense *dense, const int8_t *q,
                    const float *scales, size_t n_rows, float *out);
    /* x = normalise(x + add) * weight + bias, row by row; add may be NULL. */
    void (*add_norm)(float *x, const float *add, size_t n_rows, size_t dim,
                     const struct reader_norm *norm, float epsilon);
    /* softmax(q k' / sqrt(width)) v for each head. */
    void (*attend)(const struct reader_heads *heads);
    /* The sum of a[i] * b[i]. */
    float (*dot)(const float *a, const float *b, size_t dim);
};

/* The kernels of this processor; CLEW_CPU overrides by name. */
const struct reader_kernels *reader_kernels(void);
/* One variant, or NULL if this build or processor has none of that name. */
const struct reader_kernels *reader_kernels_named(const char *name);

/* Bytes of `n_rows` rounded rows, whatever the variant. */
size_t reader_rounded_bytes(size_t n_rows, size_t n_in);
/* Floats of scratch for attention over `n_rows` rows of heads of `width`. */
size_t reader_scratch_floats(size_t n_rows, size_t width);
/* e^x to about 2e-7 for x <= 0, the same everywhere. */
float reader_exp(float x);

/* --- for the files of the variants --- */

/* Each gives its table if this build and this processor have it, else NULL. */
const struct reader_kernels *reader_kernels_scalar(void);
const struct reader_kernels *reader_kernels_dotprod(void);
const struct reader_kernels *reader_kernels_i8mm(void);
const struct reader_kernels *reader_kernels_avx2(void);
const struct reader_kernels *reader_kernels_vnni(void);
const struct reader_kernels *reader_kernels_amx(void);

#endif
