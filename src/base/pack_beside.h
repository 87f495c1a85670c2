/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_beside.h - texts that repeat another text of their row, kept small.
 *
 * What a memory states stands in its summary and again in its fields; a longer
 * summary repeats a shorter one. Packed beside that other text, what repeats
 * it is a few bits: deflate, with a list of common phrases and the other text
 * as its dictionary. The other must be the same, byte by byte, when it is
 * unpacked: whoever changes it packs anew. A packed text begins with the
 * number of its form, which is none of pack.h, and a check.
 * Thread-safety: safe.
 */
#ifndef BASE_PACK_BESIDE_H
#define BASE_PACK_BESIDE_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

/* Append the packed form of any bytes; `beside` may be empty.
 * CLEW_NO_MEMORY, or as buf_append() where it fails. */
enum clew_status pack_beside(struct str text, struct str beside,
                             struct buf *out) CLEW_MUST_CHECK;
/* Append the text, also of what pack() made. CLEW_CORRUPT if `bytes` are
 * neither, or were packed beside another text; what was appended then is of no
 * use. CLEW_TOO_LARGE past the ceiling of `out`. */
enum clew_status unpack_beside(struct str bytes, struct str beside,
                               struct buf *out) CLEW_MUST_CHECK;

#endif
