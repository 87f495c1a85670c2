/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action.h - what was done on purpose, kept so that it can be done again.
 *
 * Turns and requests say what was said; actions say what people, agents and
 * due tasks did: a fork, a title, a resolution, a verdict on a link, a
 * compaction. Each is written in the transaction that does it, with a place in
 * the log (a change number), and rebuild.h replays turns and actions in that
 * order through the same code.
 *
 * An action holds ids and what its caller gave, never what was derived. Ids it
 * made are kept, so that a replay makes the same.
 * Thread-safety: as store.h.
 */
#ifndef ENGINE_ACTION_H
#define ENGINE_ACTION_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* Every kind; rebuild_action.c knows how to do each again. */
#define ACTION_CHAT_CREATE "chat.create"
#define ACTION_CHAT_LINK "chat.link"
#define ACTION_CHAT_PATCH "chat.patch"
#define ACTION_CHAT_CLOSE "chat.close"
#define ACTION_CHAT_FORK "chat.fork"
#define ACTION_CHAIN_CONCLUDE "chain.conclude"
#define ACTION_CHAIN_REOPEN "chain.reopen"
#define ACTION_COMPACT "episode.compact"
#define ACTION_EFFORT_SPAWN "effort.spawn"
#define ACTION_EFFORT_COLLAPSE "effort.collapse"
#define ACTION_EFFORT_EXPAND "effort.expand"
#define ACTION_INTENT_CORRECT "intent.correct"
#define ACTION_LINK_FEEDBACK "link.feedback"
#define ACTION_LLM_READ "llm.read"
#define ACTION_MEMORY_ACT "memory.act"
#define ACTION_MEMORY_FORGET "memory.forget"
#define ACTION_MEMORY_IMPORT "memory.import"
#define ACTION_MEMORY_RETRACT "memory.retract"
#define ACTION_READ "turn.read" /* kept by read_log.h, one a turn */
/* Belongs into every statement that asks by `subject`: readings of earlier
 * versions are not in that index. Nor are tasks in that of `made`. */
#define ACTION_BY_SUBJECT " AND kind <> '" ACTION_READ "'"
#define ACTION_SESSION_END "session.end"
#define ACTION_TASK "task"
#define ACTION_THOUGHT "thought"
#define ACTION_TUNING_REVERT "tuning.revert"
#define ACTION_UNDO "undo"
#define ACTION_USER_PATCH "user.patch"
/* How many kinds there are, and all of them. */
#define ACTION_KINDS 25
extern const char *const action_kinds[ACTION_KINDS];

struct action {
    int64_t seq; /* its place in the log */
    struct uuid id;
    struct str kind;
    struct uuid subject; /* nil if there is none; so the next */
    struct uuid made;
    struct str detail; /* JSON object */
    int64_t at_ms;
};

struct action_new {
    const char *kind;
    const struct uuid *subject; /* NULL if there is none; so the next */
    const struct uuid *made;
    json_t *detail; /* taken, also on failure; NULL: nothing more to say */
    int64_t at_ms;
};

/* Is there such a kind? */
bool action_is_kind(struct str kind);
/* Write an action down in the transaction that does it. */
enum clew_status action_add(struct store_tx *tx, const struct action_new *input,
                            struct clew_error *err) CLEW_MUST_CHECK;
/* Those after (`after_seq`, `after_id`), in order, readings among them. Fewer
 * than `limit`: there are no more. */
enum clew_status action_list(struct store_tx *tx, struct arena *arena,
                             int64_t after_seq, const struct uuid *after_id,
                             int64_t limit, struct action **out_actions,
                             size_t *out_count,
                             struct clew_error *err) CLEW_MUST_CHECK;

/*
 * What an action found when it was first done and a replay cannot find by
 * itself. engine->replay points to one while a log is replayed; NULL else.
 */
struct replay {
    struct uuid made;    /* the id it made */
    struct uuid other;   /* a second one */
    struct str answer;   /* what the LLM had said; s == NULL: nothing */
    int64_t through_seq; /* how far the chat had been read; 0 = whole */
};

/* A fresh id; in a replay the one that was made then. */
struct uuid action_new_id(const struct engine *engine, int64_t now_ms);

#endif
