/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc.h - a text, and a turn, as the search index sees them.
 *
 * At commit (what a transaction wrote is offered to the index, commit.h) and
 * whenever the index catches up from the tables (feed.h) the same functions
 * make the documents. Each noun makes its own: a turn here, memory_doc() and
 * episode_doc() with theirs.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_DOC_H
#define ENGINE_DOC_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "index/index.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct turn;

/* What is computed from a text alone. */
struct doc_text {
    struct analysis analysis;
    const float *vector; /* of the engine's embedder */
    const float *halves; /* of a longer turn, or NULL; see index_doc */
    /* Of a turn whose tools were given something: the same with that, as the
     * index has it; NULL of others. */
    const struct doc_text *searched;
};

/* Analyse and embed a turn's text, with its speaker and zone, and with keywords
 * where more than the index wants to know it; everything in the arena. */
enum clew_status doc_text_of_turn(struct engine *engine, struct arena *arena,
                                  const struct turn *turn, bool has_keywords,
                                  struct doc_text *out,
                                  struct clew_error *err) CLEW_MUST_CHECK;
/* The same without halves and inputs, which only the index wants. */
enum clew_status doc_words_of_turn(struct engine *engine, struct arena *arena,
                                   const struct turn *turn, bool has_keywords,
                                   struct doc_text *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* What a turn is found by: its text, and behind it what its tools were given,
 * with the secrets starred as in its text. The text itself if that is all. */
enum clew_status doc_searched(const struct engine *engine, struct arena *arena,
                              const struct turn *turn, struct str *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

/* The document of a stored turn; points into the turn and the arena. */
enum clew_status doc_of_turn(struct arena *arena, const struct turn *turn,
                             const struct doc_text *text, struct index_doc *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* Analyse and embed `words` (s == NULL: the caller had no memory) into a
 * document that is set but for what follows from its text. */
enum clew_status doc_of_text(struct engine *engine, struct arena *arena,
                             struct str words, struct index_doc *doc,
                             struct clew_error *err) CLEW_MUST_CHECK;

#endif
