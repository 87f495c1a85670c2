/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_told.h - links that a language model saw while it read.
 *
 * One that reads the first stretch of a chat (llmread/) is shown the user's
 * earlier chats and says which of them this one goes on with. What it names is
 * linked; a link by words or by the reader that it was shown and did not name
 * is undone. A person's word stands against it. Nobody guesses about the chat
 * afterwards.
 * Thread-safety: none; inside one transaction function.
 */
#ifndef ENGINE_CHATLINK_TOLD_H
#define ENGINE_CHATLINK_TOLD_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_work;
struct engine;
struct turn;

/* Earlier chats that are shown. */
#define CHATLINK_TOLD_CHATS 10

/*
 * Which: those it is linked with, those nearest by words, the latest; earlier
 * ones of its user alone. `out` holds CHATLINK_TOLD_CHATS. None for a fork.
 */
enum clew_status chatlink_told_near(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    const struct uuid *chat_id,
                                    struct uuid *out, size_t *out_count,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* The word on one of them. */
struct chatlink_told {
    struct uuid other_chat_id;
    bool is_link;
    const struct turn *turn; /* that shows it; else the last that was read */
    struct str quote;        /* its words; "" without a link */
};
struct chatlink_telling {
    struct uuid chat_id;
    const struct chatlink_told *items;
    size_t count;
    struct str model;
    float confidence;
    int64_t now_ms;
};
struct chatlink_told_counts {
    size_t linked; /* that were not */
    size_t parted; /* that were linked */
};
/* Write it down and carry it out. What is not another chat of the same user is
 * passed over. */
enum clew_status chatlink_told(struct batch_work *batch,
                               const struct chatlink_telling *telling,
                               struct chatlink_told_counts *out,
                               struct clew_error *err) CLEW_MUST_CHECK;

#endif
