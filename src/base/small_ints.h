/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_ints.h - a list of numbers around zero in few bits each.
 *
 * For vectors that were rounded: most parts are small, few are large. Rice's
 * code: the low bits of a number as they are, the rest counted in ones; how
 * many are low is chosen for the list and stands before it. The same numbers
 * always give the same bytes.
 * Thread-safety: pure functions.
 */
#ifndef BASE_SMALL_INTS_H
#define BASE_SMALL_INTS_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The largest and, negative, the smallest number; others are cut to them. */
#define SMALL_INTS_MAX ((int32_t)1 << 28)

enum clew_status small_ints_write(const int32_t *values, size_t count,
                                  struct buf *out) CLEW_MUST_CHECK;
/* Read `count` numbers from the beginning of `*bytes`, which then begins after
 * them; false if they are not there. */
bool small_ints_read(struct str *bytes, int32_t *out_values, size_t count);

#endif
