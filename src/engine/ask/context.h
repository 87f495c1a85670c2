/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - what the next turn of a chat needs to know, within a budget.
 *
 * In this order, so that successive contexts share their beginning:
 *   memory      the stable block: what the chat's line made or imported
 *   continuity  from chats linked to this one
 *   effort      older turns of the effort at work, its checkpoint, attempts
 *   recent      the last turns, from a start that moves in steps
 *   recall      what the message at hand brings back
 * Each line names its source. The budget is a hard bound by the real tokenizer
 * (text_token_bound), whatever is stored. Memories that read like orders to a
 * model are never put in by themselves.
 * Thread-safety: safe; the cache is locked inside.
 */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include "base/arena.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "engine/chat/turn.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

#define CONTEXT_MIN_TOKENS 64
#define CONTEXT_MAX_TOKENS 1000000

enum context_section {
    CONTEXT_MEMORY,
    CONTEXT_CONTINUITY,
    CONTEXT_EFFORT,
    CONTEXT_RECENT,
    CONTEXT_RECALL
};
#define CONTEXT_SECTIONS 5

/* One line: a memory, a turn, a note. */
struct context_line {
    struct str text;   /* as it stands in the text form, without newline */
    struct str source; /* "<chat id>:lines-15-42", or "memory:<id>" */
    struct str body;   /* a turn: what was said, for message forms */
    enum turn_role role;
    bool is_turn;
    size_t tokens; /* upper bound */
};

struct context_part {
    struct str head; /* heading line */
    struct context_line *lines;
    size_t count;
    size_t cap;
    size_t tokens; /* of the section, heading included; 0 if it is empty */
};

/* Why something that was found is not in it. */
enum context_why {
    CONTEXT_FAR,   /* below the floor that recall answers by */
    CONTEXT_HELD,  /* it held before */
    CONTEXT_ORDER, /* it reads like an order */
    CONTEXT_GIVEN, /* another line says it */
    CONTEXT_ROOM,  /* there was no room */
    CONTEXT_ASIDE, /* it is of another matter */
    CONTEXT_UNSAID /* nobody said it: a client's text, or a tool's */
};

/* Of what was left out so much is named. */
#define CONTEXT_MAX_LEFT 24

struct context_left {
    enum context_section section;
    enum context_why why;
    struct str source;
    double score; /* as recall's; < 0: it was not looked for by the message */
};

struct context_request {
    struct uuid chat_id;
    int64_t budget_tokens; /* 0: the configured one (context.budget_tokens) */
    struct str message;    /* the message at hand; empty if there is none */
    bool for_messages;     /* leave room for what message forms cost */
};

struct context {
    struct context_part parts[CONTEXT_SECTIONS];
    struct str text;
    struct context_left left[CONTEXT_MAX_LEFT]; /* the nearest first */
    size_t n_left;
    size_t tokens;              /* upper bound of the text */
    char hash[SHA256_HEX_SIZE]; /* of the stable block */
    bool is_cached;             /* the block came from the cache */
};

const char *context_section_name(enum context_section section);
/* "far", "held_before", "reads_like_order", "given_already", "no_room",
 * "other_matter", "not_said" */
const char *context_why_name(enum context_why why);

/* CLEW_NOT_FOUND for an unknown chat; CLEW_INVALID, field "budget_tokens". */
enum clew_status context_build(struct engine *engine, const struct scope *scope,
                               struct arena *arena,
                               const struct context_request *request,
                               struct context *out,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* --- the cache of stable blocks --- */

struct context_cache;
/* NULL without memory; an engine without a cache builds every time. */
struct context_cache *context_cache_new(void);
void context_cache_free(struct context_cache *cache);

#endif
