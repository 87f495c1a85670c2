/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_internal.h - what the files of the context builder share.
 *
 * context_block.c makes the stable block and keeps it, context_continuity.c
 * tells of linked chats, context_turns.c has the turns (effort and recent),
 * context_pack.c counts and cuts, context.c runs them in order.
 */
#ifndef ENGINE_CONTEXT_INTERNAL_H
#define ENGINE_CONTEXT_INTERNAL_H

#include "engine/ask/context.h"
#include "engine/chat/chat.h"
#include "engine/chat/sight.h"
#include "engine/memory/memory.h"

struct builder {
    struct engine *engine;
    const struct scope *scope;
    struct arena *arena;
    const struct context_request *request;
    struct context *out;
    struct chat chat;
    struct chat_part *line; /* root first */
    size_t n_line;
    struct sight sight; /* what is seen from the chat */
    bool is_parted;     /* its conversation has other branches */
    int64_t now_ms;
    int64_t recent_from; /* first seq of the recent turns */
    /* tokens each section may use */
    size_t shares[CONTEXT_SECTIONS];
};

/* --- counting and cutting (context_pack.c) --- */

/* Tokens of a line with its newline, at most. */
size_t context_tokens(struct str text);
/*
 * What others wrote must not pass for a line of ours: `context_flat` puts it on
 * one line, `context_inset` moves all lines but the first in. The text itself
 * if nothing is to be done; s == NULL without memory.
 */
struct str context_flat(struct arena *arena, struct str text);
struct str context_inset(struct arena *arena, struct str text);
/* As budget_fit(), but empty where it would leave a few words that say nothing:
 * a text is worth its place whole, or by so many tokens. */
#define CONTEXT_CLIP_TOKENS 32
struct str context_clip(struct arena *arena, struct str text,
                        size_t max_tokens);
/* Append a line; false without memory. `tokens` is set here; where it is set
 * already, it is what context_tokens() said of the text. */
bool context_add(struct builder *b, enum context_section section,
                 const struct context_line *line);
/* Remember that it was left out, as long as there is room to. */
void context_leave(struct context *context, const struct context_left *left);
/* Sum of the section, heading included. */
void context_sum(struct context_part *part);
/* "#15-42" for the chat's own line, "a1b2c3#15" for another chat's. */
const char *context_mark(struct builder *b, const struct uuid *chat_id,
                         int64_t first_seq, int64_t last_seq);
struct str context_source(struct arena *arena, const struct uuid *chat_id,
                          int64_t first_seq, int64_t last_seq);
/* Put the parts together, dropping lines from the end of the least needed
 * sections until the whole fits. */
enum clew_status context_assemble(struct builder *b,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* --- the sections --- */

enum clew_status context_block(struct store_tx *tx, struct builder *b,
                               struct clew_error *err) CLEW_MUST_CHECK;
enum clew_status context_turns(struct store_tx *tx, struct builder *b,
                               struct clew_error *err) CLEW_MUST_CHECK;
/* Lines from chats linked to this one; see context_continuity.c. */
enum clew_status context_continuity(struct store_tx *tx, struct builder *b,
                                    struct clew_error *err) CLEW_MUST_CHECK;

#endif
