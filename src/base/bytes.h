/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - numbers in the bytes of a row, the lowest first.
 *
 * For derived rows that are written in one form and read in several
 * (engine/topic, engine/chatlink). Thread-safety: pure.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What does not fit is remembered by `out` (buf_status()). */
void bytes_put(struct buf *out, uint64_t value, size_t n_bytes);
void bytes_put_float(struct buf *out, float value);
/* Seven bits a byte, the lowest first; the eighth says that more follow. */
void bytes_put_number(struct buf *out, uint32_t value);

/* Reads past the end give 0 and are remembered. */
struct bytes_source {
    struct str rest;
    bool is_short;
};

uint64_t bytes_get(struct bytes_source *from, size_t n_bytes);
float bytes_get_float(struct bytes_source *from);
uint32_t bytes_get_number(struct bytes_source *from);

#endif
