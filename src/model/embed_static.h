/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_static.h - the shipped embedder over any weights and kernels.
 *
 * embed_static() of embed.h is the one with the weights in the binary and
 * this processor's kernels; tests make others. models/static.md describes the
 * file and the arithmetic.
 */
#ifndef MODEL_EMBED_STATIC_H
#define MODEL_EMBED_STATIC_H

#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

struct embedder;
struct static_kernels;

/* Tokens of a text that are looked at: about ten pages. */
#define EMBED_STATIC_MAX_TOKENS 4096

/*
 * An embedder over the bytes of a static.bin, which are borrowed. Every offset
 * is checked: CLEW_CORRUPT for a file that is not one. Freed by embed_free().
 */
enum clew_status embed_static_new(struct str file,
                                  const struct static_kernels *kernels,
                                  struct embedder **out_embedder,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The weights in the binary. */
struct str embed_static_file(void);

#endif
