/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - texts the program writes about itself, kept small.
 *
 * Decisions are stored as JSON with long names and the ids of rows. Packed,
 * a phrase of the list pack_words.def is one byte, an id its 16 bytes, a
 * decimal two or three; everything else stands as it is. unpack() gives back
 * the text byte for byte, whatever it was. A packed text begins with the
 * number of its form; a list of phrases never changes once stores have been
 * written with it: another list is another form.
 * Thread-safety: safe.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

/* Append the packed form of any bytes. As buf_append() where it fails. */
enum clew_status pack(struct str text, struct buf *out) CLEW_MUST_CHECK;
/* Append the text. CLEW_CORRUPT if `bytes` are not what pack() makes; what was
 * appended then is of no use. CLEW_TOO_LARGE past the ceiling of `out`. */
enum clew_status unpack(struct str bytes, struct buf *out) CLEW_MUST_CHECK;

#endif
