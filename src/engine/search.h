/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - what recall ranked becomes rows again: the answer to a question.
 *
 * Ranks over the index (recall.h), reads the rows, marks what is superseded,
 * puts what holds now before it (even if it does not match itself), and leaves
 * out what is retracted or expired at the moment asked about. Thread-safety:
 * safe; see engine.h.
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

struct engine;
struct episode;
struct memory;

/* One thing found, with what is needed to show it. */
struct search_hit {
    struct recall_item item;       /* its score is after lineage */
    const struct turn *turn;       /* the turn, or the best turn of a chat */
    const struct memory *memory;   /* for memories; then `turn` is NULL */
    const struct episode *episode; /* for episodes; then `turn` is NULL */
    struct str text;
    struct str source_ref; /* "<chat id>:lines-15-42"; s == NULL if none */
    bool is_superseded;
    struct uuid refined_by; /* nil unless superseded */
    /* The sum of parts it is ranked by: its own, or that of a memory whose
     * place it took. */
    double match;
    bool is_outrun; /* a newer memory refined the same source */
};

struct search_query {
    struct str query;
    struct str user_id;  /* s == NULL: every user of the tenant */
    struct uuid chat_id; /* nil: every chat; else this chat's line */
    uint32_t kinds;      /* enum recall_kinds; 0 = all but chats */
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
