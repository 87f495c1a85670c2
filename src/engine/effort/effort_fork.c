/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_fork.c - efforts that a fork shares. See effort_fork.h.
 */
#include "engine/effort/effort_fork.h"

#include "engine/chat/chat.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* Without a turn of its own for so long (three exchanges) it is not at work. */
#define IDLE_SEQS 6

DB_SQL(ADD_TOKENS, "UPDATE efforts SET raw_tokens = raw_tokens + $3"
                   " WHERE tenant = $1 AND memory_id = $2");

/* The stretch of a reference that lies in the line; false if none does. */
static bool clip(const struct chat_part *parts, size_t n_parts,
                 const struct memory_ref *ref, int64_t *out_first,
                 int64_t *out_last)
{
    for (size_t i = 0; i < n_parts; i++) {
        if (uuid_eq(&parts[i].chat_id, &ref->chat_id) &&
            ref->first_seq <= parts[i].to_seq) {
            *out_first = ref->first_seq;
            *out_last = ref->last_seq < parts[i].to_seq ? ref->last_seq
                                                        : parts[i].to_seq;
            return true;
        }
    }
    return false;
}

/* How the line sees an effort of an ancestor; false if it came after. */
static bool see(struct effort *effort, const struct chat *chat, int64_t now_seq,
                int64_t first_seq, int64_t last_seq)
{
    if (last_seq == 0) {
        return false;
    }
    /* the row's state is the other side's */
    effort->state = effort->is_open && now_seq - last_seq <= IDLE_SEQS
                        ? EFFORT_ACTIVE
                        : EFFORT_COLLAPSED;
    effort->is_shared = true;
    /* a stretch of the parent's does not grow here */
    effort->first_seq = last_seq > chat->fork_seq ? first_seq : 0;
    effort->last_seq = last_seq;
    return true;
}

/* Keep those of `efforts` that the line has, as it sees them. */
static enum clew_status keep_seen(struct store_tx *tx, struct arena *arena,
                                  const struct chat *chat, int64_t now_seq,
                                  struct effort *efforts, size_t *count,
                                  struct clew_error *err)
{
    struct uuid *ids = arena_alloc(arena, (*count + 1) * sizeof(*ids));
    struct chat_part *parts = NULL;
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t n_parts = 0;
    size_t n_refs = 0;
    size_t kept = 0;
    enum clew_status status = ids ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; status == CLEW_OK && i < *count; i++) {
        ids[i] = efforts[i].memory_id;
    }
    if (status == CLEW_OK) {
        status = chat_line(tx, arena, &chat->id, &parts, &n_parts, err);
    }
    if (status == CLEW_OK) {
        status =
            memory_refs(tx, arena, ids, *count, &owners, &refs, &n_refs, err);
    }
    if (n_parts > 0) {
        parts[n_parts - 1].to_seq = now_seq; /* the row may lag behind */
    }
    for (size_t i = 0; status == CLEW_OK && i < *count; i++) {
        int64_t first_seq = 0;
        int64_t last_seq = 0;

        for (size_t k = 0; k < n_refs; k++) {
            int64_t first;
            int64_t last;

            if (uuid_eq(&owners[k], &efforts[i].memory_id) &&
                clip(parts, n_parts, &refs[k], &first, &last) &&
                last > last_seq) {
                first_seq = first;
                last_seq = last;
            }
        }
        if (see(&efforts[i], chat, now_seq, first_seq, last_seq)) {
            efforts[kept++] = efforts[i];
        }
    }
    *count = status == CLEW_OK ? kept : 0;
    return status;
}

/* Efforts of the chats above, as the fork sees them. */
static enum clew_status list_shared(struct store_tx *tx, struct arena *arena,
                                    const struct chat *chat, int64_t now_seq,
                                    bool with_closed, struct effort **out,
                                    size_t *out_count, struct clew_error *err)
{
    struct chat_part *parts = NULL;
    struct uuid *ids;
    size_t n_parts = 0;
    enum clew_status status =
        chat_line(tx, arena, &chat->parent_id, &parts, &n_parts, err);

    ids = arena_alloc(arena, (n_parts + 1) * sizeof(*ids));
    if (status == CLEW_OK && !ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n_parts; i++) {
        ids[i] = parts[i].chat_id;
    }
    if (status == CLEW_OK) {
        status = effort_list_threads(tx, arena, ids, n_parts, with_closed, out,
                                     out_count, err);
    }
    return status == CLEW_OK && *out_count > 0
               ? keep_seen(tx, arena, chat, now_seq, *out, out_count, err)
               : status;
}

enum clew_status effort_list_line(struct store_tx *tx, struct arena *arena,
                                  const struct chat *chat, int64_t now_seq,
                                  bool with_closed, struct effort **out_efforts,
                                  size_t *out_count, struct clew_error *err)
{
    struct effort *own = NULL;
    struct effort *shared = NULL;
    struct effort *all;
    size_t n_own = 0;
    size_t n_shared = 0;
    enum clew_status status =
        effort_list(tx, arena, &chat->id, with_closed, &own, &n_own, err);

    if (status == CLEW_OK && !uuid_is_nil(&chat->parent_id)) {
        status = list_shared(tx, arena, chat, now_seq, with_closed, &shared,
                             &n_shared, err);
    }
    if (status == CLEW_OK && n_shared > 0) {
        all = arena_zero(arena, n_own + n_shared, sizeof(*all));
        if (!all) {
            return clew_no_memory(err);
        }
        if (n_own > 0) {
            memcpy(all, own, n_own * sizeof(*all));
        }
        memcpy(all + n_own, shared, n_shared * sizeof(*all));
        own = all;
        n_own += n_shared;
        effort_sort(own, n_own);
    }
    if (status == CLEW_OK) {
        *out_efforts = own;
        *out_count = n_own;
    }
    return status;
}

enum clew_status effort_own_shared(struct store_tx *tx, struct effort *effort,
                                   const struct uuid *chat_id, int64_t seq,
                                   int64_t tokens, struct clew_error *err)
{
    struct memory_ref ref = {.chat_id = *chat_id};
    enum clew_status status;

    if (seq <= effort->last_seq && effort->first_seq > 0) {
        return CLEW_OK;
    }
    if (seq != effort->last_seq + 1 || effort->first_seq == 0) {
        effort->first_seq = seq; /* a new stretch */
    }
    effort->last_seq = seq;
    effort->raw_tokens += tokens;
    ref.first_seq = effort->first_seq;
    ref.last_seq = seq;
    status = memory_add_ref(tx, &effort->memory_id, &ref, err);
    return status == CLEW_OK
               ? db_exec(tx, &ADD_TOKENS,
                         DB_ARGS(db_uuid(&effort->memory_id), db_int(tokens)),
                         err)
               : status;
}
