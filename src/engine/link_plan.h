/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_plan.h - everything about a call that follows from its bytes alone.
 *
 * Made before the writer is taken: digests, keys, the summary a continued
 * session opens with, and what the reply leaves to be found by.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_LINK_PLAN_H
#define ENGINE_LINK_PLAN_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/content.h"
#include "engine/link.h"
#include "engine/link_decide.h"
#include "engine/link_hash.h"
#include "engine/request.h"

/* Sub-agents one reply can start. */
#define LINK_MAX_TASKS 64

struct link_plan {
    struct arena *arena;    /* all of it lives there */
    struct request request; /* keys and call; linking fills in the rest */
    struct uuid chat_id;    /* where it goes without a parent; nil: new */
    bool is_chat_hint;      /* there need be no such chat */
    struct link_messages messages;
    struct link_digest reply_alone; /* if there is a reply */
    struct content reply;
    bool has_reply;
    struct str needle; /* s == NULL unless it continues a compacted session */
    struct uuid tasks[LINK_MAX_TASKS];
    size_t n_tasks;
    int64_t *anchors;
    size_t n_anchors;
};

enum clew_status link_plan_make(struct arena *arena,
                                const struct link_input *input,
                                struct link_plan *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* What deciding may ask of it. The plan must outlive `out`. */
void link_plan_sources(struct link_plan *plan, struct link_sources *out);

/* What is looked for in replies if this first message continues a compacted
 * session; s == NULL if it does not, or says too little. */
enum clew_status link_plan_needle(struct arena *arena, const json_t *message,
                                  bool *out_is_compact,
                                  struct str *out_needle) CLEW_MUST_CHECK;
/* A message's content as a turn keeps it: own words, and the JSON verbatim. */
enum clew_status link_plan_content(struct arena *arena, const json_t *content,
                                   struct content *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
