/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_gone.c - an import and what was forgotten. See restore_internal.h.
 *
 * Tombstones name turns, memories, episodes and chats. That of a chat stays
 * where only some of its turns went: what had been made of its words by then
 * (a summary, a topic, an answer) may quote them, and is made anew instead. An
 * answer of another chat that was shown what is gone does not come back either.
 */
#include "engine/core/action.h"
#include "engine/core/forgotten.h"
#include "engine/core/rows.h"
#include "engine/proof/restore_internal.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 4096 /* what one answer was shown beside its turns */

/* Of something forgotten, 1 if it is here nevertheless: derived anew, or a chat
 * that has other turns. */
#define IS_HERE                                                                \
    "CASE WHEN EXISTS (SELECT 1 FROM turns h WHERE h.tenant = $1"              \
    " AND h.id = d.id) OR EXISTS (SELECT 1 FROM turns h WHERE h.tenant = $1"   \
    " AND h.chat_id = d.id) OR EXISTS (SELECT 1 FROM memories h"               \
    " WHERE h.tenant = $1 AND h.id = d.id) OR EXISTS (SELECT 1 FROM episodes"  \
    " h WHERE h.tenant = $1 AND h.id = d.id) THEN 1 ELSE 0 END"
#define GRAVES " AND kind IN ('turn', 'memory', 'episode', 'chat')"
DB_SQL(SELECT_GONE, "SELECT d.id, d.kind, d.created_at, " IS_HERE
                    " FROM tombstones d WHERE d.tenant = $1"
                    " AND d.id = ANY($2)" GRAVES);
DB_SQL(DROP_GONE,
       "DELETE FROM tombstones WHERE tenant = $1 AND id = ANY($2)" GRAVES);
DB_SQL(DROP_WISHES, "DELETE FROM actions WHERE tenant = $1 AND subject ="
                    " ANY($2) AND kind = '" ACTION_MEMORY_FORGET "'");
/* Chains, and when words of their chats were last forgotten. */
DB_SQL(SELECT_CHAINS,
       "SELECT c.id, 'chain', COALESCE((SELECT MAX(d.created_at) FROM"
       " tombstones d WHERE d.tenant = $1 AND d.id = c.chat_id"
       " AND d.kind = 'chat'), 0), 1 FROM chains c WHERE c.tenant = $1"
       " AND c.id = ANY($2)");
DB_SQL(SELECT_SESSIONS, "SELECT id, 'session', 0, 1 FROM sessions"
                        " WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_REQUESTS, "SELECT id, 'request', 0, 1 FROM requests"
                        " WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_BURIED,
       "SELECT id FROM turns WHERE tenant = $1 AND id = ANY($2) ORDER BY id");

/* What a tombstone, or a row that others hang on, says of an id. */
struct mark {
    struct uuid id;
    int64_t at_ms;
    bool is_chat;
    bool is_here;
};

static bool read_mark(struct arena *arena, const struct db_rows *rows,
                      void *out)
{
    struct mark *mark = out;

    (void)arena;
    mark->id = db_get_uuid(rows, 0);
    mark->is_chat = str_eq(db_get_text(rows, 1), STR("chat"));
    mark->at_ms = db_get_int(rows, 2);
    mark->is_here = db_get_int(rows, 3) != 0;
    return true;
}

static int by_id(const void *a, const void *b)
{
    return uuid_cmp(&((const struct mark *)a)->id,
                    &((const struct mark *)b)->id);
}

static const struct mark *mark_find(const struct rows_list *marks,
                                    const struct uuid *id)
{
    struct mark key = {.id = *id};

    return marks->count == 0
               ? NULL
               : bsearch(&key, marks->items, marks->count, sizeof(key), by_id);
}

/* --- which columns of a line speak of what may be gone --- */

/* Columns that say whose a row is. Those that say where it came from (a fork's
 * parent, the turn of a link) forbid nothing. */
static bool is_owner(const char *type, const char *column)
{
    static const char *const owners[] = {
        "id",        "chat_id",   "other_chat_id", "thread_id", "turn_id",
        "memory_id", "source_id", "episode_id",    "subject",   "made"};
    static const struct {
        const char *type;
        const char *column;
    } others[] = {{"memory", "chat_id"}, {"link_decision", "turn_id"}};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(others[i].type, type) == 0 &&
            strcmp(others[i].column, column) == 0) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        if (strcmp(owners[i], column) == 0) {
            return true;
        }
    }
    return false;
}

/* Made of a chat's words; NULL: is not. Else the column that tells when. */
static const char *made_of_words(const char *type)
{
    static const struct {
        const char *type;
        const char *time;
    } made[] = {
        {"chain", "last_extended_at"},     {"chat_profile", "last_at"},
        {"chat_term", "started_at"},       {"llm_answer", "created_at"},
        {"session_summary", "created_at"},
    };

    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        if (strcmp(made[i].type, type) == 0) {
            return made[i].time;
        }
    }
    return NULL;
}

/* What hangs on a row that went with what was forgotten: the column, and the
 * rows that are here. */
static const struct db_sql *hangs_on(const char *type, const char *column)
{
    static const struct {
        const char *type;
        const char *column;
        const struct db_sql *sql;
    } table[] = {
        {"claim", "chain_id", &SELECT_CHAINS},
        {"chain_update", "chain_id", &SELECT_CHAINS},
        {"chain_term", "chain_id", &SELECT_CHAINS},
        {"session_talk", "session_id", &SELECT_SESSIONS},
        {"request_task", "request_id", &SELECT_REQUESTS},
        {"request_anchor", "request_id", &SELECT_REQUESTS},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].type, type) == 0 &&
            strcmp(table[i].column, column) == 0) {
            return table[i].sql;
        }
    }
    return NULL;
}

static bool id_at(const struct restore_line *line, size_t column,
                  struct uuid *out)
{
    const struct db_value *value = &line->values[column];

    if (value->type != DB_UUID) {
        return false;
    }
    memcpy(out->b, value->p, sizeof(out->b));
    return true;
}

/* When a line's row was made, by the column `name`. */
static int64_t time_at(const struct restore_line *line, const char *name)
{
    const struct export_kind *kind = &export_kinds[line->kind];

    for (size_t i = 0; i < kind->n_columns; i++) {
        if (strcmp(kind->columns[i].name, name) == 0) {
            return line->values[i].i;
        }
    }
    return INT64_MAX;
}

/* Forgetting a memory is itself told in the log, and a fork outlives what it
 * was made of. */
static bool speaks_of_gone(const struct restore_line *line, size_t column)
{
    const struct export_kind *kind = &export_kinds[line->kind];
    struct str name = {line->values[2].p, line->values[2].len};

    if (!is_owner(kind->type, kind->columns[column].name)) {
        return false;
    }
    return strcmp(kind->type, "action") != 0 ||
           strcmp(kind->columns[column].name, "subject") != 0 ||
           (!str_eq(name, STR(ACTION_MEMORY_FORGET)) &&
            !str_eq(name, STR(ACTION_CHAT_FORK)));
}

/* --- marking --- */

/* The ids in one column of a kind's lines. */
static size_t column_ids(const struct restore_work *work, size_t kind,
                         size_t column, struct uuid *ids)
{
    size_t n = 0;

    for (size_t i = 0; i < work->count; i++) {
        n += work->lines[i].kind == kind &&
             id_at(&work->lines[i], column, &ids[n]);
    }
    return n;
}

static bool is_gone(const struct restore_line *line, const struct mark *mark)
{
    const char *time = made_of_words(export_kinds[line->kind].type);

    if (!mark || !mark->is_here) {
        return mark != NULL;
    }
    return mark->is_chat && time && time_at(line, time) <= mark->at_ms;
}

/* A row that hangs on one that went; what a chain's updates say may quote. */
static bool is_left_over(const struct restore_line *line,
                         const struct mark *mark)
{
    return !mark ||
           (strcmp(export_kinds[line->kind].type, "chain_update") == 0 &&
            time_at(line, "created_at") <= mark->at_ms);
}

static void mark_lines(struct restore_work *work, size_t kind, size_t column,
                       const struct rows_list *marks, bool is_hanging)
{
    for (size_t i = 0; i < work->count; i++) {
        struct restore_line *line = &work->lines[i];
        const struct mark *mark;
        struct uuid id;

        if (line->kind != kind || line->is_gone || !id_at(line, column, &id) ||
            (!is_hanging && !speaks_of_gone(line, column))) {
            continue;
        }
        mark = mark_find(marks, &id);
        line->is_gone =
            is_hanging ? is_left_over(line, mark) : is_gone(line, mark);
        /* made of a chat's words, it may be here as it was made anew */
        work->report.n_forgotten +=
            line->is_gone && (!mark || !mark->is_here) ? 1 : 0;
    }
}

static enum clew_status mark_column(struct store_tx *tx,
                                    struct restore_work *work, size_t kind,
                                    size_t column, struct clew_error *err)
{
    const char *type = export_kinds[kind].type;
    const char *name = export_kinds[kind].columns[column].name;
    const struct db_sql *hanging = hangs_on(type, name);
    struct rows_list marks = {
        .arena = work->arena, .size = sizeof(struct mark), .fn = read_mark};
    struct uuid *ids;
    size_t n;
    enum clew_status status;

    if (!hanging && !is_owner(type, name)) {
        return CLEW_OK;
    }
    ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    if (!ids) {
        return clew_no_memory(err);
    }
    n = column_ids(work, kind, column, ids);
    if (n == 0) {
        return CLEW_OK;
    }
    if (work->brings_back) {
        status = db_exec(tx, &DROP_GONE, DB_ARGS(db_uuids(ids, n)), err);
        return status == CLEW_OK && strcmp(type, "memory") == 0
                   ? db_exec(tx, &DROP_WISHES, DB_ARGS(db_uuids(ids, n)), err)
                   : status;
    }
    status = rows_add(tx, &marks, hanging ? hanging : &SELECT_GONE,
                      DB_ARGS(db_uuids(ids, n)), err);
    if (status == CLEW_OK && marks.count > 0) {
        qsort(marks.items, marks.count, sizeof(struct mark), by_id);
    }
    if (status == CLEW_OK) {
        mark_lines(work, kind, column, &marks, hanging != NULL);
    }
    return status;
}

/* The ids of what else was shown for an answer (core/advice.h). */
static size_t shown_ids(const struct restore_line *line, struct uuid *ids)
{
    const struct export_kind *kind = &export_kinds[line->kind];

    for (size_t i = 0; i < kind->n_columns; i++) {
        const struct db_value *value = &line->values[i];

        if (strcmp(kind->columns[i].name, "beside") == 0 &&
            value->type == DB_BYTES) {
            size_t n = value->len / sizeof(*ids);

            n = n < MAX_SHOWN ? n : MAX_SHOWN;
            memcpy(ids, value->p, n * sizeof(*ids));
            return n;
        }
    }
    return 0;
}

/* An answer that was shown what was forgotten here since may quote it. */
static enum clew_status mark_answers(struct store_tx *tx,
                                     struct restore_work *work, size_t kind,
                                     struct clew_error *err)
{
    struct uuid *ids = arena_zero(work->arena, MAX_SHOWN, sizeof(*ids));
    enum clew_status status = ids ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct restore_line *line = &work->lines[i];
        struct rows_list marks = {
            .arena = work->arena, .size = sizeof(struct mark), .fn = read_mark};
        const struct mark *found;
        size_t n =
            line->kind == kind && !line->is_gone ? shown_ids(line, ids) : 0;

        if (n > 0) {
            status = rows_add(tx, &marks, &SELECT_GONE,
                              DB_ARGS(db_uuids(ids, n)), err);
        }
        found = marks.items;
        for (size_t k = 0; status == CLEW_OK && k < marks.count; k++) {
            line->is_gone = line->is_gone || is_gone(line, &found[k]);
        }
        work->report.n_forgotten += n > 0 && line->is_gone ? 1 : 0;
    }
    return status;
}

static bool is_grave(const struct export_kind *kind)
{
    return strcmp(kind->type, "tombstone") == 0;
}

enum clew_status restore_mark_gone(struct store_tx *tx,
                                   struct restore_work *work, size_t kind,
                                   struct clew_error *err)
{
    const struct export_kind *form = &export_kinds[kind];
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < form->n_columns && !is_grave(form) && status == CLEW_OK; i++) {
        if (form->columns[i].type == EXPORT_ID) {
            status = mark_column(tx, work, kind, i, err);
        }
    }
    return status == CLEW_OK && !work->brings_back &&
                   strcmp(form->type, "llm_answer") == 0
               ? mark_answers(tx, work, kind, err)
               : status;
}

/* --- tombstones that come in --- */

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

static struct str text_at(const struct restore_line *line, const char *name)
{
    const struct export_kind *kind = &export_kinds[line->kind];

    for (size_t i = 0; i < kind->n_columns; i++) {
        if (strcmp(kind->columns[i].name, name) == 0 &&
            line->values[i].type == DB_TEXT) {
            return (struct str){line->values[i].p, line->values[i].len};
        }
    }
    return (struct str){0};
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
            name = text_at(line, "external_id");
        }
        if (name.s) {
            lines[n] = line;
            names[n++] =
                (struct forgotten_name){text_at(line, "user_id"), name, 0};
        }
    }
    status = forgotten_find(tx, work->arena, names, n, err);
    for (size_t i = 0; status == CLEW_OK && i < n; i++) {
        if (names[i].at_ms > 0 &&
            time_at(lines[i], "stored_at") <= names[i].at_ms) {
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
    return status == CLEW_OK && n > 0
               ? rows_all(tx, &list, &SELECT_BURIED, DB_ARGS(db_uuids(ids, n)),
                          &work->buried, &work->n_buried, err)
               : status;
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
