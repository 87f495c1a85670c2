/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - between the store and the search index.
 *
 * Two directions: rows become documents of the index (at commit, or when the
 * index catches up), and what recall ranked becomes rows again.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_SEARCH_H
#define ENGINE_SEARCH_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/recall.h"
#include "engine/turn.h"
#include "store/store.h"
#include "text/analysis.h"

struct engine;
struct batch_work;
struct memory;

/* What is computed from a text alone. */
struct search_text {
    struct analysis analysis;
    const float *vector; /* of the engine's embedder */
};

/* Analyse and embed a text said at `time_ms`; everything in the arena. */
enum clew_status search_text_of(struct engine *engine, struct arena *arena,
                                struct str text, int64_t time_ms,
                                struct search_text *out,
                                struct clew_error *err) CLEW_MUST_CHECK;
/* The same for a turn, with its speaker and zone. */
enum clew_status search_text_of_turn(struct engine *engine, struct arena *arena,
                                     const struct turn *turn,
                                     struct search_text *out,
                                     struct clew_error *err) CLEW_MUST_CHECK;

/* The document of a stored turn; points into the turn and the arena. */
enum clew_status search_doc_of_turn(struct arena *arena,
                                    const struct turn *turn,
                                    const struct search_text *text,
                                    struct index_doc *out,
                                    struct clew_error *err) CLEW_MUST_CHECK;
/* The document of a memory as it is stored; analyses and embeds it. */
enum clew_status search_doc_of_memory(struct engine *engine,
                                      struct arena *arena,
                                      const struct memory *memory,
                                      struct index_doc *out,
                                      struct clew_error *err) CLEW_MUST_CHECK;
/* Tell the index what a transaction just committed. Never fails: what it
 * cannot take, the index reads later. */
void search_offer(struct engine *engine, const struct scope *scope,
                  const struct batch_work *work);

/* Open and close the engine's indexes. */
enum clew_status search_open(struct engine *engine,
                             struct clew_error *err) CLEW_MUST_CHECK;
void search_close(struct engine *engine);

/* One thing found, with what is needed to show it. */
struct search_hit {
    struct recall_item item;
    struct uuid turn_id;    /* the turn, or the best turn of a chat */
    struct str external_id; /* s == NULL if there is none */
    struct str text;
    struct str source_ref; /* "<chat id>:lines-15-15" */
};

struct search_query {
    struct str query;
    struct str user_id;    /* s == NULL: every user of the tenant */
    struct uuid chat_id;   /* nil: every chat; else this chat's line */
    uint32_t kinds;        /* enum recall_kinds; 0 = all but chats */
    size_t limit;
    int64_t since_ms; /* INT64_MIN = open */
    int64_t until_ms; /* INT64_MAX = open */
    int64_t at_ms;    /* as of; the engine's now if the caller gave none */
    struct str timezone;
};

struct search_result {
    struct search_hit *hits;
    size_t count;
    struct recall_result ranking; /* terms and counts, for explain */
};

/* Find. CLEW_NOT_FOUND if `chat_id` is given and unknown. */
enum clew_status search_run(struct engine *engine, const struct scope *scope,
                            struct arena *arena,
                            const struct search_query *query,
                            struct search_result *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

#endif
