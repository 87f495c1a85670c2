/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - make a segment: of new documents, or of several older segments.
 *
 * Both give the same bytes for the same documents. Removed documents are left
 * out, with their terms and vectors.
 * Thread-safety: pure functions; sources may be read meanwhile.
 */
#ifndef INDEX_BUILD_H
#define INDEX_BUILD_H

#include "index/segment.h"

/*
 * A segment in memory of `count` documents; no tombstones, and no id twice.
 * `*out_segment` is NULL if count is 0.
 */
enum clew_status build_docs(const struct segment_kind *kind,
                            const struct index_doc *const *docs, size_t count,
                            struct segment **out_segment,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* A document's halves (it has some) as a segment holds them; `first` gets the
 * dim values of the first. */
void build_half(const struct segment_kind *kind, const struct index_doc *doc,
                struct segment_half *out, int8_t *first);

/*
 * One segment of the live documents of several: in memory (path NULL), or in a
 * new file `path`, synced before this returns. `*out_segment` is NULL, and no
 * file is left, if nothing is live. A kind of dim 0 leaves vectors out; one of
 * another dim takes no segments that are without them.
 */
enum clew_status build_merge(const struct segment_kind *kind,
                             struct segment *const *segments, size_t count,
                             const char *path, struct segment **out_segment,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
