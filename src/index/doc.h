/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc.h - from the analysis of a text to a document of the index.
 *
 * The same function serves turns, memories and episodes, at commit and when the
 * index catches up from the tables, so both give the same document.
 * Thread-safety: pure functions.
 */
#ifndef INDEX_DOC_H
#define INDEX_DOC_H

#include "index/index.h"
#include "text/analysis.h"

/* Version of what doc_fill() makes of a text; part of the files' header. */
#define DOC_ANALYSER_VERSION 3u

/*
 * Fill terms, length, dates, speaker and the flags that follow from the text:
 * `out->flags` is added to, the rest of `out` (ids, times, role flags, vector)
 * is the caller's. `speaker` may be empty. Everything is in the arena.
 */
enum clew_status doc_fill(struct arena *arena, const struct analysis *analysis,
                          struct str speaker, struct index_doc *out,
                          struct clew_error *err) CLEW_MUST_CHECK;

/*
 * Where the second half of a longer text begins, which may speak of another
 * thing: with the sentence nearest to the middle, in bytes. 0 if the text is
 * short, a single sentence, or said by someone with a name: where people talk,
 * the turns around one say more than its halves.
 */
size_t doc_middle(const struct analysis *analysis, struct str speaker);

#endif
