/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h - beginning a conversation: what there is already, and four ways on.
 *
 * start_begin() looks for chats and memories related to what the user wants and
 * offers: continue a chat, fork one, a new chat with selected memories, a fresh
 * one. start_choose() takes the answer. The offer is stored (ids only), so any
 * process can take the answer.
 * Thread-safety: safe; see engine.h.
 */
#ifndef ENGINE_START_H
#define ENGINE_START_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/chat.h"
#include "engine/memory/memory.h"
#include "store/store.h"

#include <stdbool.h>

struct engine;

#define START_MAX_CHATS 3
#define START_MAX_MEMORIES 8
#define START_MAX_COUNTS 16

enum start_action {
    START_CONTINUE,
    START_FORK,
    START_NEW,
    START_FRESH,
    START_ASK /* not understood: the options again */
};

/* How many memories of a type and status a chat has. */
struct start_count {
    struct str type;
    struct str status;
    int64_t count;
};

struct start_chat {
    struct chat chat;
    struct str summary;
    struct start_count counts[START_MAX_COUNTS];
    size_t n_counts;
    int64_t n_memories;
    bool has_open_effort;
};

struct start_option {
    int n; /* what people answer */
    enum start_action action;
    struct uuid chat_id; /* nil for a new chat */
    struct str label;
};

struct start {
    struct uuid id;
    struct start_chat chats[START_MAX_CHATS];
    size_t n_chats;
    struct memory memories[START_MAX_MEMORIES];
    size_t n_memories;
    struct start_option options[4];
    size_t n_options;
    struct str text; /* all of it, as people read it */
};

struct start_choice {
    enum start_action action;
    struct uuid chat_id; /* nil for START_ASK */
    struct uuid imported[START_MAX_MEMORIES];
    size_t n_imported;
    struct str text;
};

const char *start_action_name(enum start_action action);

enum clew_status start_begin(struct engine *engine, const struct scope *scope,
                             struct arena *arena, struct str user_id,
                             struct str intent, struct start *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* CLEW_NOT_FOUND for an unknown start, and alike for one of another than
 * `user_id`; s == NULL: whoever's it is. */
enum clew_status start_choose(struct engine *engine, const struct scope *scope,
                              struct arena *arena, const struct uuid *id,
                              struct str user_id, struct str answer,
                              struct start_choice *out,
                              struct clew_error *err) CLEW_MUST_CHECK;

#endif
