/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_internal.h - between the files of starting a conversation.
 */
#ifndef ENGINE_START_INTERNAL_H
#define ENGINE_START_INTERNAL_H

#include "engine/ask/start.h"

struct store_tx;

/* Options and text of what was found (start_text.c). False without memory. */
bool start_write(struct arena *arena, struct start *start, int64_t now_ms);
/* Fill in a start from the ids offered; those forgotten meanwhile are left
 * out. */
enum clew_status start_read(struct store_tx *tx, struct arena *arena,
                            const struct uuid *chat_ids, size_t n_chat_ids,
                            const struct uuid *memory_ids, size_t n_memory_ids,
                            struct start *out,
                            struct clew_error *err) CLEW_MUST_CHECK;

/* An answer as it was understood. */
struct start_answer {
    enum start_action action; /* START_ASK: not understood */
    bool picks[START_MAX_MEMORIES];
};
/* "1", "3, include 1,2", "3, exclude 3", "just continue" … */
struct start_answer start_parse(const struct start *start, struct str answer);

#endif
