/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_forgotten.c - the longest list that was forgotten. See
 * call_forgotten.h.
 */
#include "engine/call/call_forgotten.h"

#include "engine/core/forgotten.h"

/* Messages looked up at once, the last first: mostly these are enough. */
#define CHUNK 128

/* Lists of messages that may have been forgotten. */
struct lists {
    struct forgotten_name names[2 * CHUNK];
    size_t ends[2 * CHUNK]; /* how many messages each has */
    size_t count;
};

static enum clew_status add(struct arena *arena, const struct call_plan *plan,
                            struct lists *lists, const struct uuid *key,
                            size_t end, struct clew_error *err)
{
    struct str name = forgotten_call_name(arena, key);

    if (!name.s) {
        return clew_no_memory(err);
    }
    lists->ends[lists->count] = end;
    lists->names[lists->count++] =
        (struct forgotten_name){plan->request.user_id, name, 0};
    return CLEW_OK;
}

/* The messages up to the one at `i`, as they were sent, and with the reply that
 * came to them if that is what follows. */
static enum clew_status add_lists(struct arena *arena,
                                  const struct call_plan *plan, size_t i,
                                  struct lists *lists, struct clew_error *err)
{
    const struct call_messages *messages = &plan->messages;
    struct uuid key = request_key(&messages->prefix[i]);
    struct call_digest alone;
    enum clew_status status = add(arena, plan, lists, &key, i + 1, err);

    if (status != CLEW_OK || i + 1 == messages->count) {
        return status;
    }
    status = call_hash_alone(messages->items[i + 1], &alone);
    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    key = request_reply_key(&messages->prefix[i], &alone);
    return add(arena, plan, lists, &key, i + 2, err);
}

/* The longest of those that end at the messages `from` to `end`. */
static enum clew_status look(struct store_tx *tx, struct arena *arena,
                             const struct call_plan *plan, size_t from,
                             size_t end, size_t *out_count, int64_t *out_at_ms,
                             struct clew_error *err)
{
    struct lists *lists = arena_zero(arena, 1, sizeof(*lists));
    enum clew_status status = CLEW_OK;

    if (!lists) {
        return clew_no_memory(err);
    }
    for (size_t i = from; i < end && status == CLEW_OK; i++) {
        status = add_lists(arena, plan, i, lists, err);
    }
    if (status == CLEW_OK) {
        status = forgotten_find(tx, arena, lists->names, lists->count, err);
    }
    for (size_t i = 0; i < lists->count && status == CLEW_OK; i++) {
        if (lists->names[i].at_ms > 0 && lists->ends[i] > *out_count) {
            *out_count = lists->ends[i];
            *out_at_ms = lists->names[i].at_ms;
        }
    }
    return status;
}

/* Messages that lead to a request need no other name. */
static size_t count_linked(const struct call_plan *plan,
                           const struct call_decision *decision)
{
    size_t count = plan->messages.count;
    size_t linked;

    if (decision->has_twin) {
        return count;
    }
    if (!decision->has_parent || decision->strategy == CALL_COMPACT ||
        decision->strategy == CALL_SUBTASK) {
        return 0;
    }
    linked = (size_t)decision->parent.message_count;
    return linked < count ? linked : 0; /* 0: it sends only what is new */
}

enum clew_status call_forgotten(struct store_tx *tx, struct arena *arena,
                                const struct call_plan *plan,
                                const struct call_decision *decision,
                                size_t *out_count, struct clew_error *err)
{
    struct forgotten_name user = {plan->request.user_id, FORGOTTEN_USER, 0};
    size_t from = count_linked(plan, decision);
    size_t end = plan->messages.count > 1 ? plan->messages.count : 0;
    size_t count = 0;
    int64_t at_ms = 0;
    enum clew_status status = forgotten_find(tx, arena, &user, 1, err);

    while (status == CLEW_OK && end > from && count == 0) {
        size_t begin = end - from > CHUNK ? end - CHUNK : from;

        status = look(tx, arena, plan, begin, end, &count, &at_ms, err);
        end = begin;
    }
    at_ms = user.at_ms > at_ms ? user.at_ms : at_ms;
    if (status == CLEW_OK && at_ms > 0 && plan->sent_at_ms <= at_ms) {
        return clew_fail(err, CLEW_CONFLICT,
                         "what this call belongs to was forgotten after it");
    }
    if (status == CLEW_OK) {
        *out_count = count;
    }
    return status;
}
