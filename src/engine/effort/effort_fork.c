/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_fork.c - efforts as a fork sees them. See effort_fork.h.
 */
#include "engine/effort/effort_fork.h"

#include "base/json.h"
#include "base/limits.h"
#include "engine/core/rows.h"
#include "engine/memory/note.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* Without a turn of its own for so long (three exchanges) it is not at work. */
#define IDLE_SEQS 6
/* Efforts parted from one another: as deep as forks are. */
#define MAX_TWINS (LIMIT_FORK_DEPTH + 1)

/* Twins of efforts, and where each begins to be one. */
DB_SQL(SELECT_TWINS,
       "SELECT e.twin_of, m.chat_id, (SELECT MIN(r.first_seq) FROM"
       " memory_refs r WHERE r.tenant = $1 AND r.memory_id = m.id"
       " AND r.chat_id = m.chat_id) FROM efforts e CROSS JOIN memories m"
       " WHERE e.tenant = $1 AND e.twin_of = ANY($2) AND m.tenant = $1"
       " AND m.id = e.memory_id AND m.retracted_at IS NULL");

struct twin {
    struct uuid of;
    struct uuid chat_id;
    int64_t first_seq;
};

static bool twin_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct twin *out = item;

    (void)arena;
    out->of = db_get_uuid(rows, 0);
    out->chat_id = db_get_uuid(rows, 1);
    out->first_seq = db_get_int(rows, 2);
    return true;
}

bool effort_clip(const struct sight *sight, struct memory_ref *ref)
{
    for (size_t i = 0; i < sight->n_parts; i++) {
        const struct chat_part *part = &sight->parts[i];

        if (uuid_eq(&part->chat_id, &ref->chat_id)) {
            ref->last_seq =
                ref->last_seq < part->to_seq ? ref->last_seq : part->to_seq;
            return ref->first_seq <= part->to_seq;
        }
    }
    return false;
}

/* --- as it was --------------------------------------------------------------
 */

/* Can the change be seen? By hand it was done at a time, not in a turn. */
static bool is_seen(const struct sight *sight, const json_t *change)
{
    struct uuid chat_id = {{0}};
    int64_t seq = 0;
    int64_t at_ms = 0;
    bool is_by_hand = false;
    bool is_before;

    if (json_get_time(change, "at", JSON_OPTIONAL, &at_ms, NULL) != CLEW_OK ||
        json_get_uuid(change, "chat_id", JSON_OPTIONAL, &chat_id, NULL) !=
            CLEW_OK ||
        json_get_int(change, "seq", JSON_OPTIONAL, 0, INT64_MAX, &seq, NULL) !=
            CLEW_OK ||
        json_get_bool(change, "by_hand", JSON_OPTIONAL, &is_by_hand, NULL) !=
            CLEW_OK) {
        return false;
    }
    is_before = at_ms <= sight->since_ms;
    for (size_t i = 0; i < sight->n_parts; i++) {
        if (uuid_eq(&sight->parts[i].chat_id, &chat_id)) {
            return seq <= sight->parts[i].to_seq &&
                   (is_before || !is_by_hand || i + 1 == sight->n_parts);
        }
    }
    return is_before; /* from another conversation */
}

/* What the last change that is seen left behind. */
static enum clew_status take_change(struct arena *arena, const json_t *change,
                                    json_t *fields, struct memory *memory,
                                    struct str *out_outcome,
                                    struct clew_error *err)
{
    struct str status_then = STR("open");
    struct str resolution = {0};
    struct str outcome = {0};
    double confidence = 0;

    if (change && (json_get_str(change, "status", JSON_OPTIONAL, SIZE_MAX,
                                &status_then, err) != CLEW_OK ||
                   json_get_str(change, "resolution", JSON_OPTIONAL, SIZE_MAX,
                                &resolution, err) != CLEW_OK ||
                   json_get_str(change, "outcome", JSON_OPTIONAL, SIZE_MAX,
                                &outcome, err) != CLEW_OK ||
                   json_get_real(change, "confidence", JSON_OPTIONAL, 0, 1,
                                 &confidence, err) != CLEW_OK)) {
        return CLEW_CORRUPT;
    }
    memory->status = arena_str(arena, status_then);
    memory->resolution =
        resolution.s ? arena_str(arena, resolution) : (struct str){0};
    *out_outcome = outcome.s ? arena_str(arena, outcome) : (struct str){0};
    (void)json_object_del(fields, "log"); /* it tells of what came after */
    (void)json_object_del(fields, "resolution_confidence");
    return memory->status.s && (!resolution.s || memory->resolution.s) &&
                   (!outcome.s || out_outcome->s) &&
                   (confidence <= 0 ||
                    json_set_real(fields, "resolution_confidence", confidence))
               ? CLEW_OK
               : clew_no_memory(err);
}

enum clew_status effort_as_of(struct arena *arena, const struct sight *sight,
                              struct memory *memory, struct str *out_outcome,
                              struct clew_error *err)
{
    json_t *fields = NULL;
    json_t *changes;
    const json_t *last = NULL;
    size_t n_seen = 0;
    size_t count;
    enum clew_status status = CLEW_OK;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK) {
        return CLEW_OK; /* nothing was ever done to it */
    }
    changes = json_object_get(fields, "changes");
    count = json_array_size(changes);
    while (n_seen < count && is_seen(sight, json_array_get(changes, n_seen))) {
        last = json_array_get(changes, n_seen++);
    }
    if (n_seen < count) {
        status = take_change(arena, last, fields, memory, out_outcome, err);
        while (status == CLEW_OK && json_array_size(changes) > n_seen) {
            (void)json_array_remove(changes, n_seen); /* it is there */
        }
        if (n_seen == 0) {
            (void)json_object_del(fields, "changes");
        }
        if (status == CLEW_OK) {
            memory->fields = note_json(arena, fields); /* takes them */
            return memory->fields.s ? CLEW_OK : clew_no_memory(err);
        }
    }
    json_decref(fields);
    return status;
}

/* --- what a fork has --------------------------------------------------------
 */

/* Is it told by a twin that the line has? */
static bool has_twin(const struct rows_list *twins, const struct sight *sight,
                     const struct uuid *id)
{
    const struct twin *items = twins->items;

    for (size_t i = 0; i < twins->count; i++) {
        if (uuid_eq(&items[i].of, id) &&
            sight_has(sight, &items[i].chat_id, items[i].first_seq)) {
            return true;
        }
    }
    return false;
}

/* Where in the line its turns are; false if it has none there. */
static bool find_turns(const struct sight *sight, struct effort *effort,
                       const struct uuid *owners, const struct memory_ref *refs,
                       size_t n_refs)
{
    int64_t last_seq = 0;

    for (size_t i = 0; i < n_refs; i++) {
        struct memory_ref ref = refs[i];

        if (uuid_eq(&owners[i], &effort->memory_id) &&
            effort_clip(sight, &ref) && ref.last_seq > last_seq) {
            last_seq = ref.last_seq;
        }
    }
    effort->first_seq = 0; /* a stretch of the parent's does not grow here */
    effort->last_seq = last_seq;
    return last_seq > 0;
}

static enum clew_status see(struct arena *arena, const struct sight *sight,
                            struct memory *memory, int64_t now_seq,
                            struct effort *effort, struct clew_error *err)
{
    enum clew_status status =
        effort_as_of(arena, sight, memory, &effort->outcome, err);

    effort->status = memory->status;
    effort->resolution = memory->resolution;
    effort->is_open = str_eq(memory->status, STR("open"));
    /* the row's state is the other side's */
    effort->state = effort->is_open && now_seq - effort->last_seq <= IDLE_SEQS
                        ? EFFORT_ACTIVE
                        : EFFORT_COLLAPSED;
    effort->is_shared = true;
    return status;
}

/* A twin is of the fork that made it, from its first turn there on. */
static bool is_of_line(const struct sight *sight, const struct effort *effort,
                       const struct memory *memory, const struct uuid *owners,
                       const struct memory_ref *refs, size_t n_refs)
{
    bool is_seen_there = uuid_is_nil(&effort->twin_of);

    for (size_t i = 0; i < n_refs && !is_seen_there; i++) {
        is_seen_there = uuid_eq(&owners[i], &memory->id) &&
                        uuid_eq(&refs[i].chat_id, &memory->chat_id) &&
                        sight_has(sight, &refs[i].chat_id, refs[i].first_seq);
    }
    return is_seen_there;
}

static struct memory *memory_of(struct memory *memories, size_t count,
                                const struct uuid *id)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&memories[i].id, id)) {
            return &memories[i];
        }
    }
    return NULL;
}

/* Keep those of `efforts` that the fork has, as it sees them. */
static enum clew_status keep_seen(struct store_tx *tx, struct arena *arena,
                                  const struct sight *sight, int64_t now_seq,
                                  struct effort *efforts, size_t *count,
                                  struct clew_error *err)
{
    struct rows_list twins = {
        .arena = arena, .size = sizeof(struct twin), .fn = twin_of};
    struct uuid *ids = arena_alloc(arena, (*count + 1) * sizeof(*ids));
    const struct chat_part *own = &sight->parts[sight->n_parts - 1];
    struct memory *memories = NULL;
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t n_memories = 0;
    size_t n_refs = 0;
    size_t kept = 0;
    enum clew_status status = ids ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; status == CLEW_OK && i < *count; i++) {
        ids[i] = efforts[i].memory_id;
    }
    if (status == CLEW_OK) {
        status = memory_find_many(tx, arena, ids, *count, &memories,
                                  &n_memories, err);
    }
    if (status == CLEW_OK) {
        status =
            memory_refs(tx, arena, ids, *count, &owners, &refs, &n_refs, err);
    }
    if (status == CLEW_OK) {
        status = rows_add(tx, &twins, &SELECT_TWINS,
                          DB_ARGS(db_uuids(ids, *count)), err);
    }
    for (size_t i = 0; status == CLEW_OK && i < *count; i++) {
        struct effort *effort = &efforts[i];
        struct memory *memory = memory_of(memories, n_memories, &ids[i]);

        if (!memory || uuid_eq(&effort->thread_id, &own->chat_id) ||
            uuid_eq(&memory->chat_id, &own->chat_id) ||
            !is_of_line(sight, effort, memory, owners, refs, n_refs) ||
            has_twin(&twins, sight, &ids[i]) ||
            !find_turns(sight, effort, owners, refs, n_refs)) {
            continue;
        }
        status = see(arena, sight, memory, now_seq, effort, err);
        efforts[kept++] = *effort;
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
    struct sight sight;
    struct uuid *ids;
    size_t n = 0;
    enum clew_status status = sight_open(tx, arena, chat, &sight, err);

    ids = arena_alloc(arena, (sight.n_parts + 1) * sizeof(*ids));
    if (status == CLEW_OK && !ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i + 1 < sight.n_parts; i++) {
        ids[n++] = sight.parts[i].chat_id;
    }
    if (status == CLEW_OK) {
        status = effort_list_owners(tx, arena, ids, n, out, out_count, err);
    }
    if (status == CLEW_OK && *out_count > 0) {
        status = keep_seen(tx, arena, &sight, now_seq, *out, out_count, err);
    }
    n = 0;
    for (size_t i = 0; status == CLEW_OK && i < *out_count; i++) {
        if (with_closed || (*out)[i].is_open) {
            (*out)[n++] = (*out)[i];
        }
    }
    *out_count = n;
    return status;
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

/* --- attempts ---------------------------------------------------------------
 */

/* A spawned one works in a chat of its own: it was there, or it was not. */
static bool sees_attempt(const struct sight *sight,
                         const struct effort *attempt)
{
    return attempt->is_spawned
               ? attempt->created_at_ms <= sight->since_ms
               : sight_has(sight, &attempt->thread_id, attempt->first_seq);
}

enum clew_status effort_attempts_line(struct store_tx *tx, struct arena *arena,
                                      const struct sight *sight,
                                      const struct effort *effort,
                                      struct effort **out_efforts,
                                      size_t *out_count, struct clew_error *err)
{
    struct effort *all = arena_zero(arena, EFFORT_MAX_LIST, sizeof(*all));
    struct effort at = *effort;
    size_t n = 0;
    enum clew_status status = all ? CLEW_OK : clew_no_memory(err);

    for (size_t depth = 0; status == CLEW_OK && depth < MAX_TWINS; depth++) {
        struct effort *found = NULL;
        size_t count = 0;
        size_t n_older = 0;
        bool is_other = depth > 0 || effort->is_shared;

        status = effort_attempts(tx, arena, &at.memory_id, &found, &count, err);
        for (size_t i = 0; status == CLEW_OK && i < count; i++) {
            if (!is_other || sees_attempt(sight, &found[i])) {
                found[n_older++] = found[i];
            }
        }
        n_older = n_older < EFFORT_MAX_LIST - n ? n_older : EFFORT_MAX_LIST - n;
        memmove(all + n_older, all, n * sizeof(*all)); /* the older first */
        if (n_older > 0) {
            memcpy(all, found, n_older * sizeof(*all));
        }
        n += n_older;
        if (status != CLEW_OK || uuid_is_nil(&at.twin_of)) {
            break;
        }
        status = effort_find(tx, arena, &at.twin_of, &at, NULL);
        if (status == CLEW_NOT_FOUND) {
            status = CLEW_OK; /* forgotten */
            break;
        }
    }
    *out_efforts = all;
    *out_count = n;
    return status;
}
