/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlink_near.c - earlier chats by their words. See chatlink_near.h.
 */
#include "engine/chatlink/chatlink_near.h"

#include "engine/chat/chat.h"
#include "engine/chat/turn.h"
#include "engine/chatlink/chatlink.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/core/engine.h"
#include "engine/read/reading.h"
#include "model/embed.h"
#include "store/db.h"

/* A user's last chats before one, of either kind: the index has them apart. */
#define CHATS_BEFORE(kind, name)                                               \
    "SELECT * FROM (SELECT id, created_at FROM chats WHERE tenant = $1"        \
    " AND user_id = $2 AND is_explicit = " kind                                \
    " AND created_at < $3 AND parent_id IS NULL AND last_seq > 0"              \
    " ORDER BY created_at DESC, id DESC LIMIT $4) AS " name
/* clang-format off */
DB_SQL(SELECT_CHATS_BEFORE,
       CHATS_BEFORE("0", "a")
       " UNION ALL "
       CHATS_BEFORE("1", "b")
       " ORDER BY created_at DESC, id DESC LIMIT $4");
/* clang-format on */

/* Of a beginning with more turns, most of them of tools, the rest is left. */
#define MAX_TURNS 64

/* The profile as it was with the turn `to_seq`; its state stays. */
static enum clew_status go_back(struct engine *engine, struct store_tx *tx,
                                struct arena *arena, int64_t to_seq,
                                struct chat_profile *profile,
                                struct clew_error *err)
{
    struct chat_profile then = {0};
    struct turn *turns = NULL;
    struct chat chat;
    size_t count = 0;
    enum clew_status status =
        chat_find(tx, arena, &profile->chat_id, &chat, err);

    if (status == CLEW_OK) {
        status = turn_list_line(tx, arena, &chat.id, chat.fork_seq, MAX_TURNS,
                                &turns, &count, err);
    }
    if (status == CLEW_OK &&
        chat_profile_init(&then, arena, &chat.id, profile->user_id,
                          profile->created_at_ms,
                          engine->embedder->dim) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    for (size_t i = 0; i < count && turns[i].seq <= to_seq && status == CLEW_OK;
         i++) {
        struct chatlink_turn seen;
        struct reading reading = {0};

        if (!chatlink_is_looked_at(&chat, &turns[i])) {
            continue;
        }
        status = reading_to_store(engine, arena, &turns[i], &reading, err);
        if (status == CLEW_OK) {
            status = chatlink_grow(engine, arena, &turns[i], &reading, &then,
                                   &seen, err);
        }
    }
    then.state = profile->state;
    *profile = then;
    return status;
}

static enum clew_status list_before(struct store_tx *tx, struct arena *arena,
                                    struct chatlink_near *near,
                                    struct clew_error *err)
{
    struct chat chat;
    struct db_rows rows;
    enum clew_status status =
        chat_find(tx, arena, &near->profile.chat_id, &chat, err);

    if (status == CLEW_OK) {
        status =
            db_query(tx, &SELECT_CHATS_BEFORE,
                     DB_ARGS(db_text(chat.user_id), db_int(chat.created_at_ms),
                             db_int(CHATLINK_MOST_BEFORE)),
                     &rows, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    while (near->n_before < CHATLINK_MOST_BEFORE && db_next(&rows)) {
        near->before[near->n_before++] = db_get_uuid(&rows, 0);
    }
    return db_end(&rows, err);
}

size_t chatlink_near_place(const struct chatlink_near *near, size_t i)
{
    size_t n = 0;

    while (
        n < near->n_before &&
        !uuid_eq(&near->before[n], &near->scores.items[i].profile->chat_id)) {
        n++;
    }
    return n + 1 < CHATLINK_MOST_BEFORE ? n + 1 : CHATLINK_MOST_BEFORE;
}

enum clew_status chatlink_near_load(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    const struct uuid *chat_id, int64_t to_seq,
                                    struct chatlink_near *out,
                                    struct clew_error *err)
{
    struct chat_profile *earlier = NULL;
    size_t count = 0;
    enum clew_status status;

    *out = (struct chatlink_near){0};
    status = chat_profile_load(tx, arena, chat_id, &out->profile, err);
    if (status == CLEW_OK && to_seq < INT64_MAX) {
        status = go_back(engine, tx, arena, to_seq, &out->profile, err);
    }
    if (status == CLEW_OK) {
        out->profile.centre = engine->embedder->centre;
        status = chat_profile_candidates(tx, arena, &out->profile, &earlier,
                                         &count, err);
    }
    if (status == CLEW_OK) {
        status = chatlink_decision_group(tx, arena, earlier, count, err);
    }
    if (status == CLEW_OK) {
        status = chatlink_tuning_current(tx, engine, arena, &out->tuning, err);
    }
    if (status == CLEW_OK && count > 0) {
        status = list_before(tx, arena, out, err);
    }
    if (status != CLEW_OK || count == 0) {
        return status;
    }
    return chatlink_score(arena, &out->profile, earlier, count,
                          &out->tuning.weights, &out->scores) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}
