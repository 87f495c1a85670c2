/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec_internal.h - the kernel tables of each kind of processor.
 *
 * Each function gives its table if this build and this processor have it,
 * else NULL.
 */
#ifndef VEC_VEC_INTERNAL_H
#define VEC_VEC_INTERNAL_H

#include "vec/vec.h"

const struct vec_ops *vec_ops_scalar(void);
const struct vec_ops *vec_ops_neon(void);
const struct vec_ops *vec_ops_dotprod(void);
const struct vec_ops *vec_ops_avx2(void);
const struct vec_ops *vec_ops_vnni(void);
const struct vec_ops *vec_ops_avx512(void);

#endif
