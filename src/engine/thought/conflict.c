/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict.c - find memories that disagree. See conflict.h.
 */
#include "engine/thought/conflict.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/ask/search.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/read/sense.h"
#include "engine/thought/memory_view.h"
#include "store/db.h"
#include "talk/opposed.h"
#include "talk/statement.h"

#include <stdlib.h>
#include <string.h>

/* Memories looked at in one call. */
#define MAX_ROWS 10000
/* Older ones of the same slot that each is compared with. */
#define MAX_BACK 50
/* What the index is asked for near a statement. */
#define N_NEAR 8
/* … and how many of those the reader compares, so sure it must be. It is surer
 * of entries of one list than of what people say in passing (keep_near.c). */
#define N_READ 2
#define SUSPECT 0.80f

/* Valid and current memories whose slot others set as well. */
DB_SQL(SELECT_SHARED,
       "SELECT k.digest, m.id FROM memory_keys k JOIN memories m"
       " ON m.tenant = k.tenant AND m.id = k.memory_id"
       " WHERE k.tenant = $1 AND k.kind = 'slot' AND m.retracted_at IS NULL"
       " AND ($2 = '' OR m.user_id = $2) AND k.digest IN"
       " (SELECT digest FROM memory_keys WHERE tenant = $1 AND kind = 'slot'"
       "  GROUP BY digest HAVING COUNT(*) > 1)"
       " AND NOT EXISTS (SELECT 1 FROM memory_sources s JOIN memories r"
       "  ON r.tenant = s.tenant AND r.id = s.memory_id"
       "  WHERE s.tenant = k.tenant AND s.source_id = m.id"
       "  AND r.retracted_at IS NULL)"
       " ORDER BY k.digest, m.created_at, m.id LIMIT $3");

/* Pairs of which the reader said, when the newer was kept, that it may replace
 * the older (keep_key.h), both still valid and current. */
#define IS_CURRENT(m)                                                          \
    " AND " m ".retracted_at IS NULL AND NOT EXISTS (SELECT 1 FROM"            \
    " memory_sources s JOIN memories r ON r.tenant = s.tenant AND r.id ="      \
    " s.memory_id WHERE s.tenant = k.tenant AND s.source_id = " m ".id"        \
    " AND r.retracted_at IS NULL)"
DB_SQL(SELECT_SUSPECTS,
       "SELECT o.id, n.id FROM memory_keys k JOIN memories n"
       " ON n.tenant = k.tenant AND n.id = k.memory_id JOIN memories o"
       " ON o.tenant = k.tenant AND o.id = k.digest WHERE k.tenant = $1"
       " AND k.kind = 'suspect' AND ($2 = '' OR n.user_id = $2)" IS_CURRENT("n")
           IS_CURRENT("o") " ORDER BY n.created_at DESC, n.id, o.id LIMIT $3");

struct row {
    struct uuid digest;
    struct uuid id;
};

struct listing {
    struct arena *arena;
    struct str user_id;
    size_t limit;
    struct row *rows;
    size_t n_rows;
    struct memory *memories; /* sorted by id */
    size_t n_memories;
    struct conflict *conflicts;
    size_t count;
};

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct row *out = item;

    (void)arena; /* nothing to copy */
    out->digest = db_get_uuid(rows, 0);
    out->id = db_get_uuid(rows, 1);
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct memory *left = a;
    const struct memory *right = b;

    return uuid_cmp(&left->id, &right->id);
}

static const struct memory *memory_at(const struct listing *list, size_t row)
{
    struct memory key = {.id = list->rows[row].id};

    return bsearch(&key, list->memories, list->n_memories, sizeof(key), by_id);
}

static struct str text_of(struct arena *arena, const json_t *object,
                          const char *field)
{
    return arena_str(arena,
                     str_of(json_string_value(json_object_get(object, field))));
}

/* The slot that was kept with the memory. */
static bool slot_at(struct arena *arena, const struct memory *memory,
                    struct slot *out)
{
    json_t *fields = NULL;
    const json_t *slot;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK) {
        return false;
    }
    slot = json_object_get(fields, "slot");
    *out = (struct slot){
        .subject = text_of(arena, slot, "subject"),
        .attribute = text_of(arena, slot, "attribute"),
        .qualifier = text_of(arena, slot, "qualifier"),
        .value = text_of(arena, slot, "value"),
        .flags = (unsigned)json_integer_value(json_object_get(slot, "flags")),
    };
    json_decref(fields);
    return out->value.s != NULL;
}

/* Rows `i` and `k`, the older first: do they disagree? */
static bool compare(struct listing *list, size_t i, size_t k)
{
    const struct memory *older = memory_at(list, i);
    const struct memory *newer = memory_at(list, k);
    struct conflict pair;

    if (!older || !newer || !slot_at(list->arena, older, &pair.older_slot) ||
        !slot_at(list->arena, newer, &pair.newer_slot) ||
        slot_compare(&pair.older_slot, &pair.newer_slot) == SLOT_UNRELATED) {
        return false;
    }
    pair.older = *older;
    pair.newer = *newer;
    list->conflicts[list->count++] = pair;
    return true;
}

/* Each with the nearest before it that it disagrees with: values over time. */
static enum clew_status find_pairs(struct listing *list, struct clew_error *err)
{
    list->conflicts =
        arena_zero(list->arena, list->limit, sizeof(*list->conflicts));
    if (!list->conflicts) {
        return clew_no_memory(err);
    }
    list->count = 0;
    for (size_t k = 1; k < list->n_rows && list->count < list->limit; k++) {
        for (size_t back = 1; back <= k && back <= MAX_BACK; back++) {
            if (!uuid_eq(&list->rows[k - back].digest, &list->rows[k].digest) ||
                compare(list, k - back, k)) {
                break;
            }
        }
    }
    return CLEW_OK;
}

static bool is_listed(const struct listing *list, const struct row *pair)
{
    for (size_t i = 0; i < list->count; i++) {
        if (uuid_eq(&list->conflicts[i].older.id, &pair->digest) &&
            uuid_eq(&list->conflicts[i].newer.id, &pair->id)) {
            return true;
        }
    }
    return false;
}

/* What the reader was not sure of when it was kept. */
static enum clew_status add_suspects(struct store_tx *tx, struct listing *list,
                                     struct clew_error *err)
{
    struct rows_list rows = {
        .arena = list->arena, .size = sizeof(struct row), .fn = row_of};
    enum clew_status status = rows_add(
        tx, &rows, &SELECT_SUSPECTS,
        DB_ARGS(db_text(list->user_id), db_int((int64_t)list->limit)), err);

    for (size_t i = 0;
         status == CLEW_OK && i < rows.count && list->count < list->limit;
         i++) {
        const struct row *pair = (const struct row *)rows.items + i;
        struct conflict found = {.older_slot = {.value = STR("")}};

        if (is_listed(list, pair)) {
            continue;
        }
        status = memory_find(tx, list->arena, &pair->digest, &found.older, err);
        if (status == CLEW_OK) {
            status = memory_find(tx, list->arena, &pair->id, &found.newer, err);
        }
        found.older_slot = (struct slot){.subject = STR(""),
                                         .attribute = STR(""),
                                         .qualifier = STR(""),
                                         .value = found.older.summary};
        found.newer_slot = found.older_slot;
        found.newer_slot.value = found.newer.summary;
        if (status == CLEW_OK) {
            list->conflicts[list->count++] = found;
        }
    }
    return status;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct listing *list = arg;
    struct rows_list rows = {
        .arena = list->arena, .size = sizeof(struct row), .fn = row_of};
    struct uuid *ids;
    enum clew_status status =
        rows_add(tx, &rows, &SELECT_SHARED,
                 DB_ARGS(db_text(list->user_id), db_int(MAX_ROWS)), err);

    if (status != CLEW_OK) {
        return status;
    }
    list->rows = rows.items;
    list->n_rows = rows.count;
    ids = arena_zero(list->arena, rows.count + 1, sizeof(*ids));
    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < rows.count; i++) {
        ids[i] = list->rows[i].id;
    }
    status = memory_find_many(tx, list->arena, ids, rows.count, &list->memories,
                              &list->n_memories, err);
    if (status == CLEW_OK && list->n_memories > 0) {
        qsort(list->memories, list->n_memories, sizeof(*list->memories), by_id);
    }
    if (status == CLEW_OK) {
        status = find_pairs(list, err);
    }
    return status == CLEW_OK ? add_suspects(tx, list, err) : status;
}

/* --- statements ------------------------------------------------------------
 */

static bool has_slot(struct arena *arena, const struct memory *memory)
{
    struct slot slot;

    return slot_at(arena, memory, &slot);
}

static struct slot slot_of_statement(const struct statement *statement)
{
    return (struct slot){.subject = statement->subject,
                         .attribute = statement->attribute,
                         .qualifier = STR(""),
                         .value = statement->value};
}

/* Does a memory near `newer` say something else of the same? */
static bool disagrees(struct listing *list, const struct memory *newer,
                      const struct statement *said,
                      const struct search_hit *hit, struct conflict *out)
{
    const struct memory *older = hit->memory;
    struct statement other;

    if (hit->is_superseded || hit->is_outrun ||
        uuid_cmp(&older->id, &newer->id) >= 0 ||
        !str_eq(older->user_id, newer->user_id) ||
        (has_slot(list->arena, older) && has_slot(list->arena, newer)) ||
        !statement_of(list->arena, older->summary, &other) ||
        !statement_disagrees(&other, said)) {
        return false;
    }
    *out = (struct conflict){.older = *older,
                             .newer = *newer,
                             .older_slot = slot_of_statement(&other),
                             .newer_slot = slot_of_statement(said)};
    return true;
}

/* Statements of people are read when they are kept (keep_near.h); those that
 * agents contribute are not. */
static bool is_thought(const struct memory *memory)
{
    return str_eq(memory->origin, STR("contributed"));
}

/* Does one take back what the other says? By form, or by the reader's word
 * where they share more than a word. */
static bool takes_back(struct arena *arena, struct str older, struct str newer,
                       const float *p)
{
    return opposed(arena, older, newer) ||
           (p[READER_NOTE_UPDATES] + p[READER_NOTE_CONTRADICTS] >= SUSPECT &&
            opposed_is_one_matter(arena, older, newer));
}

/* A thought and those nearest to it that hold. */
static enum clew_status read_thoughts(struct engine *engine,
                                      struct listing *list,
                                      const struct memory *newer,
                                      const struct search_result *found,
                                      struct clew_error *err)
{
    struct batch_work batch = {.engine = engine, .arena = list->arena};
    const struct memory *held[N_READ];
    struct reader_pair pairs[N_READ];
    struct reader_verdict verdicts[N_READ] = {0};
    size_t n = 0;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < found->count && n < N_READ; i++) {
        const struct search_hit *hit = &found->hits[i];
        struct reader_said then = {STR("user"), hit->memory->summary};
        struct reader_said now = {STR("user"), newer->summary};

        if (!hit->is_superseded && !hit->is_outrun && is_thought(hit->memory) &&
            hit->item.parts.lexical > 0 &&
            uuid_cmp(&hit->memory->id, &newer->id) < 0) {
            pairs[n] = (struct reader_pair){sense_said(list->arena, &then),
                                            sense_said(list->arena, &now)};
            if (!pairs[n].a.s || !pairs[n].b.s) {
                return clew_no_memory(err);
            }
            held[n++] = hit->memory;
        }
    }
    if (n > 0 && engine->reader) {
        status = sense_compare(&batch, READER_NOTE, pairs, n, verdicts, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        if (takes_back(list->arena, held[i]->summary, newer->summary,
                       verdicts[i].p)) {
            list->conflicts[list->count++] =
                (struct conflict){.older = *held[i],
                                  .newer = *newer,
                                  .older_slot = {.subject = STR(""),
                                                 .attribute = STR(""),
                                                 .qualifier = STR(""),
                                                 .value = held[i]->summary},
                                  .newer_slot = {.subject = STR(""),
                                                 .attribute = STR(""),
                                                 .qualifier = STR(""),
                                                 .value = newer->summary}};
            break;
        }
    }
    return status;
}

/* Ask the index for what is near one memory; keep the best that disagrees. */
static enum clew_status probe(struct engine *engine, const struct scope *scope,
                              struct listing *list, const struct memory *newer,
                              struct clew_error *err)
{
    struct search_query query = {.user_id = newer->user_id,
                                 .kinds = RECALL_MEMORY,
                                 .limit = N_NEAR,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = clock_now_ms(engine->clock)};
    struct search_result found;
    struct statement said;
    enum clew_status status;

    if (statement_of(list->arena, newer->summary, &said)) {
        query.query = said.about;
    } else if (is_thought(newer)) {
        said = (struct statement){.subject = STR("")};
        query.query = newer->summary;
    } else {
        return CLEW_OK;
    }
    status = search_plain(engine, scope, list->arena, &query, &found, err);
    for (size_t i = 0; status == CLEW_OK && i < found.count; i++) {
        if (disagrees(list, newer, &said, &found.hits[i],
                      &list->conflicts[list->count])) {
            list->count++;
            return CLEW_OK;
        }
    }
    return status == CLEW_OK && is_thought(newer)
               ? read_thoughts(engine, list, newer, &found, err)
               : status;
}

/* The newest memories, each against what the index has near it. */
static enum clew_status add_statements(struct engine *engine,
                                       const struct scope *scope,
                                       struct listing *list,
                                       struct clew_error *err)
{
    struct memory_filter filter = {.user_id = list->user_id,
                                   .limit = CONFLICT_PROBES};
    struct memory_view *views = NULL;
    size_t count = 0;
    enum clew_status status = memory_view_list(engine, scope, list->arena,
                                               &filter, &views, &count, err);

    for (size_t i = 0;
         status == CLEW_OK && i < count && list->count < list->limit; i++) {
        if (!views[i].is_superseded) {
            status = probe(engine, scope, list, &views[i].memory, err);
        }
    }
    return status;
}

enum clew_status conflict_list(struct engine *engine, const struct scope *scope,
                               struct arena *arena, struct str user_id,
                               size_t limit, struct conflict **out_conflicts,
                               size_t *out_count, struct clew_error *err)
{
    struct listing list = {.arena = arena,
                           .user_id = user_id.s ? user_id : STR(""),
                           .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &list, err);

    if (status == CLEW_OK) {
        status = add_statements(engine, scope, &list, err);
    }
    if (status == CLEW_OK) {
        *out_conflicts = list.conflicts;
        *out_count = list.count;
    }
    return status;
}
