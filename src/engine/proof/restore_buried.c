/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_buried.c - what an import brings in and is forgotten, here or where
 * it comes from: it is found when the lines are written, and goes after.
 */
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "engine/proof/restore_internal.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

DB_SQL(SELECT_BURIED,
       "SELECT id FROM turns WHERE tenant = $1 AND id = ANY($2) ORDER BY id");

static int by_uuid(const void *a, const void *b)
{
    return uuid_cmp(a, b);
}

static bool is_grave(const struct export_kind *kind)
{
    return strcmp(kind->type, "tombstone") == 0;
}

/* The ids that lines bury as a kind, or those that this call buries. */
static enum clew_status buried_ids(const struct restore_work *work,
                                   const char *kind, bool is_added,
                                   struct uuid **out_ids, size_t *out_count,
                                   struct clew_error *err)
{
    struct uuid *ids =
        arena_zero(work->arena, work->count + 1, sizeof(struct uuid));
    size_t n = 0;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        const struct restore_line *line = &work->lines[i];
        struct str name = {line->values[0].p, line->values[0].len};

        if (is_grave(&export_kinds[line->kind]) && str_eq(name, str_of(kind)) &&
            (line->is_added || !is_added)) {
            ids[n++] = line->id;
        }
    }
    *out_ids = ids;
    *out_count = n;
    return CLEW_OK;
}

/* Memories that were made elsewhere of what had been forgotten here. */
DB_SQL(DROP_REFS,
       "DELETE FROM memory_refs WHERE tenant = $1 AND memory_id = ANY($2)"
       " AND EXISTS (SELECT 1 FROM tombstones d WHERE d.tenant = $1"
       " AND d.kind = 'turn') AND EXISTS (SELECT 1 FROM memories m"
       " WHERE m.tenant = $1 AND m.id = memory_refs.memory_id AND m.origin"
       " IN ('extracted', 'llm')) AND EXISTS (SELECT 1 FROM chats c"
       " WHERE c.tenant = $1 AND c.id = memory_refs.chat_id"
       " AND memory_refs.first_seq > c.fork_seq) AND NOT EXISTS (SELECT 1"
       " FROM turns t WHERE t.tenant = $1 AND t.chat_id = memory_refs.chat_id"
       " AND t.seq BETWEEN memory_refs.first_seq AND memory_refs.last_seq)");
DB_SQL(SELECT_CITELESS,
       "SELECT m.id FROM memories m WHERE m.tenant = $1 AND m.id = ANY($2)"
       " AND m.origin IN ('extracted', 'llm') AND NOT EXISTS (SELECT 1 FROM"
       " memory_refs r WHERE r.tenant = $1 AND r.memory_id = m.id)"
       " ORDER BY m.id");
DB_SQL(SELECT_NO_EFFORTS,
       "SELECT m.id FROM memories m WHERE m.tenant = $1 AND m.id = ANY($2)"
       " AND m.type = 'effort' AND NOT EXISTS (SELECT 1 FROM efforts e"
       " WHERE e.tenant = $1 AND e.memory_id = m.id) ORDER BY m.id");

/* What was written elsewhere about a memory that had been forgotten here: a
 * correction, a merge. Where an earlier call brought it, it tells itself from
 * what stayed when the memory went, and may have been changed since, by its
 * time or its change number. With it goes what was made of it. */
DB_SQL(IS_NEWER, "SELECT COUNT(*) FROM memories m JOIN tombstones d"
                 " ON d.tenant = m.tenant WHERE m.tenant = $1 AND m.id = $2"
                 " AND d.tenant = $1 AND d.kind = 'memory' AND d.id = $3"
                 " AND (m.created_at > d.created_at OR (m.updated_at ="
                 " m.created_at AND m.change_seq > d.change_seq))");
DB_SQL(SELECT_MADE_OF,
       "WITH RECURSIVE made (id) AS (SELECT m.id FROM memories m"
       " WHERE m.tenant = $1 AND m.id = ANY($2) UNION SELECT s.memory_id"
       " FROM made o JOIN memory_sources s ON s.tenant = $1"
       " AND s.source_id = o.id) SELECT id FROM made ORDER BY id");

DB_SQL(SELECT_SINCE, "SELECT COALESCE(MIN(created_at), 0) FROM memories"
                     " WHERE tenant = $1 AND id = ANY($2)");

/* The memories that lines of a kind are of, or those lines that are gone. */
static enum clew_status memories_of(const struct restore_work *work,
                                    const char *type, bool is_gone,
                                    struct uuid **out_ids, size_t *out_count,
                                    struct clew_error *err)
{
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    size_t n = 0;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        const struct restore_line *line = &work->lines[i];

        if (strcmp(export_kinds[line->kind].type, type) == 0 &&
            (line->is_gone || !is_gone)) {
            n += restore_id_at(line, restore_column_of(line->kind, "memory_id"),
                               &ids[n]);
        }
    }
    *out_ids = ids;
    *out_count = n;
    return CLEW_OK;
}

static bool came_now(const struct restore_work *work, const struct uuid *id)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct restore_line *line = &work->lines[i];

        if (line->is_added && line->is_fresh &&
            strcmp(export_kinds[line->kind].type, "memory") == 0 &&
            uuid_eq(&line->id, id)) {
            return true;
        }
    }
    return false;
}

/* Does this line say that its memory was made of one that is forgotten? */
static enum clew_status is_about_gone(struct store_tx *tx,
                                      const struct restore_work *work,
                                      const struct restore_line *line,
                                      struct uuid *out_id, bool *out_is,
                                      struct clew_error *err)
{
    struct uuid source;
    int64_t count = 0;
    enum clew_status status = CLEW_OK;

    *out_is = false;
    if (!line->is_gone ||
        strcmp(export_kinds[line->kind].type, "memory_source") != 0 ||
        !restore_id_at(line, restore_column_of(line->kind, "memory_id"),
                       out_id) ||
        !restore_id_at(line, restore_column_of(line->kind, "source_id"),
                       &source)) {
        return CLEW_OK;
    }
    *out_is = came_now(work, out_id);
    if (!*out_is) {
        status = rows_number(tx, &IS_NEWER,
                             DB_ARGS(db_uuid(out_id), db_uuid(&source)), &count,
                             err);
    }
    *out_is = *out_is || count > 0;
    return status;
}

static enum clew_status find_made_of(struct store_tx *tx,
                                     const struct restore_work *work,
                                     struct rows_list *list,
                                     struct clew_error *err)
{
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    size_t n = 0;
    enum clew_status status = ids ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        bool is_about = false;

        status =
            is_about_gone(tx, work, &work->lines[i], &ids[n], &is_about, err);
        n += is_about ? 1 : 0;
    }
    return status == CLEW_OK && n > 0 ? rows_add(tx, list, &SELECT_MADE_OF,
                                                 DB_ARGS(db_uuids(ids, n)), err)
                                      : status;
}

/* Each once: what is forgotten is named once. */
static size_t uniq(struct uuid *ids, size_t count)
{
    size_t n = 0;

    if (count > 0) {
        qsort(ids, count, sizeof(*ids), by_uuid);
    }
    for (size_t i = 0; i < count; i++) {
        if (n == 0 || !uuid_eq(&ids[n - 1], &ids[i])) {
            ids[n++] = ids[i];
        }
    }
    return n;
}

static enum clew_status find_orphans(struct store_tx *tx,
                                     struct restore_work *work,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = NULL;
    size_t n = 0;
    enum clew_status status =
        memories_of(work, "memory_ref", false, &ids, &n, err);

    if (status == CLEW_OK && n > 0) {
        status = db_exec(tx, &DROP_REFS, DB_ARGS(db_uuids(ids, n)), err);
    }
    if (status == CLEW_OK && n > 0) {
        status = rows_add(tx, &list, &SELECT_CITELESS,
                          DB_ARGS(db_uuids(ids, n)), err);
    }
    if (status == CLEW_OK) {
        status = memories_of(work, "effort", true, &ids, &n, err);
    }
    if (status == CLEW_OK && n > 0) {
        status = rows_add(tx, &list, &SELECT_NO_EFFORTS,
                          DB_ARGS(db_uuids(ids, n)), err);
    }
    if (status == CLEW_OK && !work->brings_back) {
        status = find_made_of(tx, work, &list, err);
    }
    work->orphans = list.items;
    work->n_orphans = uniq(list.items, list.count);
    return status == CLEW_OK && work->n_orphans > 0
               ? rows_number(tx, &SELECT_SINCE,
                             DB_ARGS(db_uuids(work->orphans, work->n_orphans)),
                             &work->orphans_since_ms, err)
               : status;
}

/* Of another import of the same export: turns that came in by this call and
 * were stored before their names were forgotten here. */
static enum clew_status add_named(struct store_tx *tx,
                                  const struct restore_work *work,
                                  struct uuid *ids, size_t *count,
                                  struct clew_error *err)
{
    struct forgotten_name *names =
        arena_zero(work->arena, work->count + 1, sizeof(*names));
    const struct restore_line **lines =
        arena_zero(work->arena, work->count + 1, sizeof(*lines));
    size_t n = 0;
    enum clew_status status;

    if (!names || !lines) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        const struct restore_line *line = &work->lines[i];
        struct str name = {0};

        if (line->is_added &&
            strcmp(export_kinds[line->kind].type, "turn") == 0) {
            name = restore_text_at(
                line, restore_column_of(line->kind, "external_id"));
        }
        if (name.s) {
            lines[n] = line;
            names[n++] = (struct forgotten_name){
                restore_text_at(line, restore_column_of(line->kind, "user_id")),
                name, 0};
        }
    }
    status = forgotten_find(tx, work->arena, names, n, err);
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        if (names[i].at_ms > 0 &&
            restore_time_at(lines[i], "stored_at") <= names[i].at_ms) {
            ids[(*count)++] = lines[i]->id;
        }
    }
    return status;
}

enum clew_status restore_find_buried(struct store_tx *tx,
                                     struct restore_work *work,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = NULL;
    size_t n = 0;
    enum clew_status status = buried_ids(work, "turn", false, &ids, &n, err);

    if (status == CLEW_OK && !work->brings_back) {
        status = add_named(tx, work, ids, &n, err);
    }
    work->n_buried = 0;
    if (status == CLEW_OK && n > 0) {
        status = rows_all(tx, &list, &SELECT_BURIED, DB_ARGS(db_uuids(ids, n)),
                          &work->buried, &work->n_buried, err);
    }
    return status == CLEW_OK ? find_orphans(tx, work, err) : status;
}

#define ANEW(table)                                                            \
    "UPDATE " table " SET change_seq = $3 + (SELECT COUNT(*) FROM " table      \
    " o WHERE o.tenant = $1 AND o.id = ANY($2) AND o.id < " table              \
    ".id) WHERE tenant = $1 AND id = ANY($2)"
DB_SQL(MEMORIES_ANEW, ANEW("memories"));
DB_SQL(EPISODES_ANEW, ANEW("episodes"));

static enum clew_status renumber(struct store_tx *tx,
                                 const struct restore_work *work,
                                 const char *kind, const struct db_sql *sql,
                                 struct clew_error *err)
{
    struct uuid *ids = NULL;
    size_t n = 0;
    int64_t first = 0;
    enum clew_status status = buried_ids(work, kind, true, &ids, &n, err);

    if (status != CLEW_OK || n == 0) {
        return status;
    }
    status = db_take_changes(tx, (int64_t)n, &first, err);
    return status == CLEW_OK
               ? db_exec(tx, sql, DB_ARGS(db_uuids(ids, n), db_int(first)), err)
               : status;
}

enum clew_status restore_unbury(struct store_tx *tx,
                                const struct restore_work *work,
                                struct clew_error *err)
{
    enum clew_status status = renumber(tx, work, "memory", &MEMORIES_ANEW, err);

    return status == CLEW_OK
               ? renumber(tx, work, "episode", &EPISODES_ANEW, err)
               : status;
}
