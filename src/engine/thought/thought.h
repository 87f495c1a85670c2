/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thought.h - the memory endpoint: an agent says something, and is told what
 * others said (spec/lineage.md).
 *
 * One call contributes (if the text is worth it, or explicitly refines or
 * consolidates), retrieves, and reinforces what it retrieved. A new thought is
 * never its own result and never reinforces itself.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_THOUGHT_H
#define ENGINE_THOUGHT_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"
#include "store/store.h"

#include <stdbool.h>

struct engine;

#define THOUGHT_MAX_PROMPT_CHARS 10000
#define THOUGHT_MAX_AGENT_ID_CHARS 100
#define THOUGHT_MAX_AGENT_NAME_CHARS 200
#define THOUGHT_MAX_CONTEXT_CHARS 2000
#define THOUGHT_MAX_SOURCES 100 /* of one consolidation */
#define THOUGHT_RETRIEVED 10
#define THOUGHT_SHOWN 5
#define THOUGHT_PREVIEW_CHARS 80

struct thought_input {
    struct str prompt;
    struct str agent_id;
    struct str agent_name;
    struct str context;     /* s == NULL if not given */
    struct str key_id;      /* of the key that was used; may be empty */
    struct uuid session_id; /* nil: a new one */
    struct uuid refines;    /* nil: none, unless has_refines */
    const struct uuid *consolidates;
    size_t n_consolidates;
    bool has_refines;      /* the field was given, even if nil */
    bool has_consolidates; /* the field was given, even if empty */
    bool is_read_only;
};

/* Operations, in the order of a struct thought_result's list. */
enum thought_operation {
    THOUGHT_CONTRIBUTE,
    THOUGHT_RETRIEVE,
    THOUGHT_REINFORCE,
    THOUGHT_DISAMBIGUATE,
    THOUGHT_ONBOARD,
    THOUGHT_FEEDBACK
};
const char *thought_operation_name(enum thought_operation operation);

struct thought_source {
    struct memory memory; /* its weight as of now */
    double score;
    double match; /* what it is ranked by, without bounds */
    bool is_superseded;
    bool is_outrun;         /* a newer one refined the same source */
    struct uuid refined_by; /* nil if there is none */
};

/* Retrieved thoughts that share a tag. */
struct thought_cluster {
    struct str tag;
    size_t count;
};

struct thought_highway {
    struct uuid id;
    int64_t access_count;
    int64_t agent_count;
    struct str preview;
};

struct thought_result {
    struct uuid session_id;
    struct uuid contributed;        /* nil if nothing was stored */
    struct thought_source *sources; /* best first, at most THOUGHT_RETRIEVED */
    size_t n_sources;
    struct thought_highway *highways;
    size_t n_highways;
    struct thought_cluster *clusters; /* if the hits need telling apart */
    size_t n_clusters;
    struct str guidance;   /* s == NULL if there is none */
    struct str onboarding; /* s == NULL unless the agent is new */
    enum thought_operation operations[6];
    size_t n_operations;
    bool is_over_threshold; /* the text alone was worth storing */
    bool is_context_used;
    bool has_lineage;
    struct lineage lineage; /* of the contributed or the best retrieved */
};

/* Would this text be stored by itself? */
bool thought_is_worth_storing(struct str prompt);

/*
 * Errors in this order: fields (VALIDATION_ERROR), MUTUAL_EXCLUSION,
 * MIN_CONSOLIDATION, THOUGHT_NOT_FOUND. Nothing is stored on an error.
 */
enum clew_status thought_handle(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct thought_input *input,
                                struct thought_result *out,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
