/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_compact.h - recognise a session that goes on after a compaction.
 *
 * A client that runs out of context asks for a summary, then opens a new
 * session with that summary in its first message. The reply that the summary
 * was taken from is found by what it contains, without reading replies: each
 * stored reply leaves anchors (hashes of some of its 32-byte pieces, chosen by
 * content alone), and every long enough piece of text that a reply contains
 * has anchors that are all among that reply's (winnowing). So "contains the
 * first 2,000 characters of the summary" is a lookup of a few anchors, and one
 * comparison to be sure.
 *
 * Limits: in replies over CALL_DENSE_BYTES, a summary shorter than
 * CALL_SPARSE_NEEDLE is found only if it starts before that point; what stands
 * behind CALL_ANCHORED_BYTES is not found at all.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CALL_COMPACT_H
#define ENGINE_CALL_COMPACT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of a summary is compared, and how little is too little: 200
 * characters collided in practice, 2,000 did not. */
#define CALL_SUMMARY_CHARS 2000
#define CALL_SUMMARY_MIN_CHARS 100
/* Replies are covered densely up to here, sparsely beyond. */
#define CALL_DENSE_BYTES 8192
/* No model answers at such length: what is longer is no summary, and its
 * anchors would hold the writer up. */
#define CALL_ANCHORED_BYTES (512u * 1024)
/* From this length on the sparse anchors are enough to find a needle. */
#define CALL_SPARSE_NEEDLE 600
/* How many anchors of a needle are looked up. */
#define CALL_NEEDLE_ANCHORS 8

/*
 * True if a text item of the first message continues a compacted session; its
 * summary as written, without suffix and trailing periods, borrowed from the
 * tree.
 */
bool call_compact_summary(const json_t *message, struct str *out_summary);

/* Append the form in which summaries and replies are compared. */
enum clew_status call_compact_normalise(struct buf *out,
                                        struct str text) CLEW_MUST_CHECK;
/* What is looked for: the first characters of a normalised summary; s == NULL
 * if it is too short to tell. */
struct str call_compact_needle(struct str normalised);

/*
 * The anchors of a normalised reply, in the arena, without repeats. A text too
 * short to be found has none.
 */
enum clew_status call_compact_anchors(struct arena *arena, struct str reply,
                                      int64_t **out_anchors,
                                      size_t *out_count) CLEW_MUST_CHECK;
/* Some anchors of a needle: a reply that contains it has all of them. */
enum clew_status call_compact_lookup(struct arena *arena, struct str needle,
                                     int64_t out_anchors[CALL_NEEDLE_ANCHORS],
                                     size_t *out_count) CLEW_MUST_CHECK;

#endif
