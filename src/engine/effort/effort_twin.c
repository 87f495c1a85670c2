/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_twin.c - an effort of the chats above becomes a fork's own. See
 * effort_fork.h.
 */
#include "engine/effort/effort_fork.h"

#include "base/json.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/memory/note.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SELECT_TOKENS, "SELECT COALESCE(SUM(token_count), 0) FROM turns"
                      " WHERE tenant = $1 AND chat_id = $2 AND seq >= $3"
                      " AND seq <= $4");

/* One twin for each effort and fork, the same whenever it is made again. */
static struct uuid twin_id(const struct uuid *chat_id,
                           const struct memory *memory)
{
    uint64_t n = 0;

    memcpy(&n, memory->id.b + sizeof(memory->id.b) - sizeof(n), sizeof(n));
    return uuid_derive(memory->created_at_ms, chat_id, "twin", n);
}

/* The turns that both sides have, and what they cost. */
static enum clew_status
shared_turns(struct batch_work *batch, const struct sight *sight,
             const struct uuid *id, struct memory_ref **out_refs,
             size_t *out_count, int64_t *out_tokens, struct clew_error *err)
{
    struct uuid *owners = NULL;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status = memory_refs(batch->tx, batch->arena, id, 1,
                                          &owners, out_refs, &count, err);

    *out_tokens = 0;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct memory_ref ref = (*out_refs)[i];
        int64_t tokens = 0;

        if (!effort_clip(sight, &ref)) {
            continue;
        }
        (*out_refs)[n++] = ref;
        status = rows_one(batch->tx, batch->arena, &SELECT_TOKENS,
                          DB_ARGS(db_uuid(&ref.chat_id), db_int(ref.first_seq),
                                  db_int(ref.last_seq)),
                          rows_int, &tokens, sizeof(tokens), "turn", err);
        *out_tokens += tokens;
    }
    *out_count = n;
    return status;
}

static enum clew_status name_twin(struct arena *arena, struct memory *memory,
                                  const struct uuid *of, struct clew_error *err)
{
    json_t *fields = NULL;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK) {
        fields = json_object();
    }
    if (!json_set_uuid(fields, "twin_of", of)) {
        json_decref(fields);
        return clew_no_memory(err);
    }
    memory->fields = note_json(arena, fields);
    return memory->fields.s ? CLEW_OK : clew_no_memory(err);
}

static enum clew_status insert_twin(struct batch_work *batch,
                                    const struct sight *sight,
                                    const struct chat *chat,
                                    struct effort *effort,
                                    struct clew_error *err)
{
    struct memory twin;
    struct memory_ref *refs = NULL;
    size_t n_refs = 0;
    enum clew_status status =
        memory_find(batch->tx, batch->arena, &effort->memory_id, &twin, err);

    if (status == CLEW_OK) {
        status =
            effort_as_of(batch->arena, sight, &twin, &effort->outcome, err);
    }
    if (status == CLEW_OK) {
        status = shared_turns(batch, sight, &effort->memory_id, &refs, &n_refs,
                              &effort->raw_tokens, err);
    }
    if (status == CLEW_OK) {
        status = name_twin(batch->arena, &twin, &effort->memory_id, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    effort->twin_of = effort->memory_id;
    effort->memory_id = twin_id(&chat->id, &twin);
    effort->thread_id = chat->id;
    effort->conversation_id = chat->conversation_id;
    effort->is_shared = false;
    twin.id = effort->memory_id;
    twin.chat_id = chat->id;
    twin.lineage = MEMORY_ORIGINAL;
    twin.weight = MEMORY_WEIGHT_START;
    twin.weight_at_ms = twin.created_at_ms;
    twin.updated_at_ms = twin.created_at_ms;
    twin.retrieval_count = 0;
    twin.pinned_at_ms = 0;
    status = memory_insert(batch, &twin, refs, n_refs, NULL, 0, err);
    return status == CLEW_OK ? effort_insert(batch->tx, effort, err) : status;
}

enum clew_status effort_part(struct batch_work *batch, const struct chat *chat,
                             struct effort *effort, struct clew_error *err)
{
    struct sight sight;
    enum clew_status status;

    if (!effort->is_shared) {
        return CLEW_OK;
    }
    status = sight_open(batch->tx, batch->arena, chat, &sight, err);
    return status == CLEW_OK ? insert_twin(batch, &sight, chat, effort, err)
                             : status;
}
