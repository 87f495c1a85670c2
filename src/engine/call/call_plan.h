/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_plan.h - everything about a call that follows from its bytes alone.
 *
 * Made before the writer is taken: digests, keys, the summary a continued
 * session opens with, and what the reply leaves to be found by.
 * Thread-safety: pure functions.
 */
#ifndef ENGINE_CALL_PLAN_H
#define ENGINE_CALL_PLAN_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/call/call.h"
#include "engine/call/call_decide.h"
#include "engine/call/call_hash.h"
#include "engine/call/request.h"
#include "engine/chat/content.h"

/* Sub-agents one reply can start. */
#define CALL_MAX_TASKS 64

struct call_plan {
    struct arena *arena;    /* all of it lives there */
    struct request request; /* keys and call; linking fills in the rest */
    struct uuid chat_id;    /* where it goes without a parent; nil: new */
    bool is_chat_hint;      /* there need be no such chat */
    struct call_messages messages;
    struct call_digest reply_alone; /* if there is a reply */
    struct content reply;
    bool has_reply;
    struct str needle; /* s == NULL unless it continues a compacted session */
    struct uuid tasks[CALL_MAX_TASKS];
    size_t n_tasks;
    int64_t *anchors;
    size_t n_anchors;
    int64_t sent_at_ms; /* what was forgotten since goes with it */
};

enum clew_status call_plan_make(struct arena *arena,
                                const struct call_input *input,
                                struct call_plan *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

/* What deciding may ask of it. The plan must outlive `out`. */
void call_plan_sources(struct call_plan *plan, struct call_sources *out);

/* What is looked for in replies if this first message continues a compacted
 * session; s == NULL if it does not, or says too little. */
enum clew_status call_plan_needle(struct arena *arena, const json_t *message,
                                  bool *out_is_compact,
                                  struct str *out_needle) CLEW_MUST_CHECK;
/* A message's content as a turn keeps it: own words, and the JSON verbatim. */
enum clew_status call_plan_content(struct arena *arena, const json_t *content,
                                   struct content *out,
                                   struct clew_error *err) CLEW_MUST_CHECK;

#endif
