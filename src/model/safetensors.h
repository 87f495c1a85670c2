/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - read tensors out of a .safetensors file, trusting nothing.
 *
 * The header is JSON of bounded size; every tensor's type, shape and range is
 * checked against each other and the file before it is handed out, so a
 * hostile file gives an error, never a wild read.
 * Thread-safety: immutable after it is made.
 */
#ifndef MODEL_SAFETENSORS_H
#define MODEL_SAFETENSORS_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest header: real ones have some hundred tensors. */
#define SAFETENSORS_MAX_HEADER (8u * 1024 * 1024)
#define SAFETENSORS_MAX_DIMS 4

/* Floats come first: see safetensors_is_float(). */
enum safetensors_type {
    SAFETENSORS_F32,
    SAFETENSORS_F16,
    SAFETENSORS_BF16,
    SAFETENSORS_I8,
    SAFETENSORS_U8
};

struct safetensors_tensor {
    enum safetensors_type type;
    size_t n_dims;
    size_t dims[SAFETENSORS_MAX_DIMS];
    size_t count;      /* product of dims */
    const char *bytes; /* not necessarily aligned */
};

struct safetensors;

/* Over the bytes of a whole file, which are borrowed. */
enum clew_status safetensors_new(struct str file, struct safetensors **out,
                                 struct clew_error *err) CLEW_MUST_CHECK;
void safetensors_free(struct safetensors *tensors);

/* CLEW_NOT_FOUND if there is no such tensor, CLEW_UNSUPPORTED for a type other
 * than the five, CLEW_CORRUPT if its entry does not hold. */
enum clew_status safetensors_find(const struct safetensors *tensors,
                                  const char *name,
                                  struct safetensors_tensor *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;

bool safetensors_is_float(enum safetensors_type type);
/* A text of "__metadata__", borrowed; NULL if there is none of that name. */
const char *safetensors_note(const struct safetensors *tensors,
                             const char *name);

/* `count` values from index `from` on as floats; they must be there. */
void safetensors_read(const struct safetensors_tensor *tensor, size_t from,
                      size_t count, float *out);

#endif
