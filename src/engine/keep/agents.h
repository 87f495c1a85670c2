/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents.h - who makes artifacts: packages that watch every turn.
 *
 * A package has a name, a schema, triggers, rules for opening, extending and
 * concluding an artifact, and what to take into its fields. effort, fact,
 * event and decision are built in and kept by keep.h; others
 * are YAML files. docs/formats/agents.md describes the file.
 * Thread-safety: a set is immutable after agents_load() and shared by reference
 * (agents_live.h has the one in use). Matching is a pure function.
 */
#ifndef ENGINE_AGENTS_H
#define ENGINE_AGENTS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "model/intent.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_MAX_FIELDS 16
/* A package is a page of text, not a program. */
#define AGENT_MAX_BYTES (64u * 1024)
#define AGENT_MAX_PACKAGES 64

/* When a rule holds: each kind given must hold, any one of a kind will do. */
struct agent_rule {
    uint32_t acts;           /* bit per enum intent_act; 0 = any */
    uint32_t flags;          /* enum intent_flags; 0 = any */
    const struct str *words; /* words or phrases */
    size_t n_words;
    bool is_set; /* the package has this rule */
};

enum agent_step { AGENT_NONE, AGENT_OPENS, AGENT_EXTENDS, AGENT_CONCLUDES };
enum agent_take { AGENT_SENTENCE, AGENT_LINE, AGENT_TURN };
/* Whose turns give a field its value. */
enum agent_by { AGENT_BY_EITHER, AGENT_BY_USER, AGENT_BY_ASSISTANT };

struct agent_field {
    struct str name;
    bool is_required;
    bool is_many; /* one value a line, added as they come */
    /* where its value is found; AGENT_NONE = at any step */
    enum agent_step from;
    enum agent_take take;
    enum agent_by by;
    struct agent_rule rule;
    bool has_extraction;
};

struct agent {
    struct str name; /* also the type of the memories it makes */
    struct str description;
    struct str file;   /* empty for a built-in one */
    struct str source; /* what the file said */
    bool is_builtin;
    bool is_kept; /* the file is broken by now; this is what it was */
    struct agent_rule triggers;
    struct agent_rule opens;
    struct agent_rule extends;
    struct agent_rule concludes;
    struct agent_field fields[AGENT_MAX_FIELDS];
    size_t n_fields;
};

/* A package that was left out, and why: "file:line: reason". */
struct agent_problem {
    struct str file;
    int line;
    struct str message;
};

struct agents {
    atomic_int n_refs;
    struct arena arena;
    struct agent *items; /* built-in ones first */
    size_t n_items;
    struct agent_problem *problems;
    size_t n_problems;
};

/*
 * The built-in packages and those in `folder` (NULL or missing: none), in the
 * order of their file names. A broken one is told in `problems`, which is no
 * failure; if `before` (may be NULL) had a package from that file, it stays as
 * it was there. The caller agents_unref()s the set.
 */
enum clew_status agents_load(const char *folder, const struct agents *before,
                             struct agents **out_agents,
                             struct clew_error *err) CLEW_MUST_CHECK;
struct agents *agents_ref(struct agents *agents);
/* NULL is a no-op. */
void agents_unref(struct agents *agents);
const struct agent *agents_find(const struct agents *agents, struct str name);

/*
 * Read one package. CLEW_INVALID with "file:line: reason" in `err` and the line
 * in `*out_line`; everything is in the arena.
 */
enum clew_status agent_parse(struct arena *arena, const char *file,
                             struct str yaml, struct agent *out_agent,
                             int *out_line,
                             struct clew_error *err) CLEW_MUST_CHECK;

/* The same from a file; CLEW_NOT_FOUND if it cannot be read. */
enum clew_status agent_read(struct arena *arena, const char *path,
                            struct agent *out_agent, int *out_line,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* "none", "opens", "extends", "concludes". */
const char *agent_step_name(enum agent_step step);

/* What a turn means to a package that has (`is_open`) or has no artifact open.
 */
enum agent_step agent_match(const struct agent *agent, struct str text,
                            const struct intent *intent, bool is_open);

/* The text a turn gives to a field at a step; empty if none. A question gives
 * none, unless the field's rule is about questions. */
struct str agent_value(const struct agent_field *field, enum agent_step step,
                       struct str text, const struct intent *intent);

#endif
