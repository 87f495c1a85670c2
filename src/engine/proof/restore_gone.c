/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_gone.c - an import and what was forgotten. See restore_internal.h.
 *
 * Tombstones name turns, memories, episodes and chats. That of a chat stays
 * where only some of its turns went: what was made of its words (a profile, an
 * answer) may quote them, and is made anew instead. An
 * answer of another chat that was shown what is gone does not come back either.
 * What came of a chat elsewhere after it went here has no tombstone yet.
 */
#include "engine/core/action.h"
#include "engine/core/engine.h"
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
DB_SQL(DROP_GONE, "DELETE FROM tombstones WHERE tenant = $1 AND id = ANY($2)"
                  " AND created_at < $3" GRAVES);
DB_SQL(DROP_WISHES,
       "DELETE FROM actions WHERE tenant = $1 AND subject ="
       " ANY($2)" ACTION_BY_SUBJECT " AND kind = '" ACTION_MEMORY_FORGET
       "' AND created_at < $3");
/* Chains, and when words of their chats were last forgotten. */
DB_SQL(SELECT_CHAINS,
       "SELECT c.id, 'chain', COALESCE((SELECT MAX(d.created_at) FROM"
       " tombstones d WHERE d.tenant = $1 AND d.id = c.chat_id"
       " AND d.kind = 'chat'), 0), 1 FROM chains c WHERE c.tenant = $1"
       " AND c.id = ANY($2) ORDER BY c.id");
/* Chats that lost words, and when they last did. */
DB_SQL(SELECT_LOSING, "SELECT id, 'chat', MAX(created_at), 1 FROM tombstones"
                      " WHERE tenant = $1 AND id = ANY($2) AND kind = 'chat'"
                      " GROUP BY id ORDER BY id");
DB_SQL(SELECT_SESSIONS, "SELECT id, 'session', 0, 1 FROM sessions"
                        " WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_REQUESTS, "SELECT id, 'request', 0, 1 FROM requests"
                        " WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_TRACED,
       "SELECT id, 'turn', 0, 1 FROM turns WHERE tenant = $1 AND id = ANY($2)"
       " UNION SELECT id, 'request', 0, 1 FROM requests WHERE tenant = $1"
       " AND id = ANY($2)");

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

/* Made of a chat's words, whenever that was: where the turns were not forgotten
 * it may have been made of them since. What else is, restore_blank() blanks. */
static bool is_made_of_words(const char *type)
{
    static const char *const made[] = {"chat_profile", "chat_term",
                                       "llm_answer", "session_summary"};

    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        if (strcmp(made[i], type) == 0) {
            return true;
        }
    }
    return false;
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
        {"trace", "id", &SELECT_TRACED},
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

bool restore_id_at(const struct restore_line *line, size_t column,
                   struct uuid *out)
{
    const struct db_value *value = &line->values[column];

    if (value->type != DB_UUID) {
        return false;
    }
    memcpy(out->b, value->p, sizeof(out->b));
    return true;
}

struct str restore_text_at(const struct restore_line *line, size_t column)
{
    const struct db_value *value = &line->values[column];

    return value->type == DB_TEXT ? (struct str){value->p, value->len}
                                  : (struct str){0};
}

int64_t restore_time_at(const struct restore_line *line, const char *name)
{
    size_t i = restore_column_of(line->kind, name);

    return i < export_kinds[line->kind].n_columns ? line->values[i].i
                                                  : INT64_MAX;
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
             restore_id_at(&work->lines[i], column, &ids[n]);
    }
    return n;
}

static bool is_gone(const struct restore_line *line, const struct mark *mark)
{
    if (!mark || !mark->is_here) {
        return mark != NULL;
    }
    return mark->is_chat && is_made_of_words(export_kinds[line->kind].type);
}

/* A row that hangs on one that went; what a chain's updates say may quote, and
 * its terms are of the same words. */
static bool is_left_over(const struct restore_line *line,
                         const struct mark *mark)
{
    const char *type = export_kinds[line->kind].type;

    return !mark || (mark->at_ms > 0 && (strcmp(type, "chain_update") == 0 ||
                                         strcmp(type, "chain_term") == 0));
}

static void mark_lines(struct restore_work *work, size_t kind, size_t column,
                       const struct rows_list *marks, bool is_hanging)
{
    for (size_t i = 0; i < work->count; i++) {
        struct restore_line *line = &work->lines[i];
        const struct mark *mark;
        struct uuid id;

        if (line->kind != kind || line->is_gone ||
            !restore_id_at(line, column, &id) ||
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

/* What forbids these goes, but for what was forgotten since they were sent. */
static enum clew_status let_back(struct store_tx *tx,
                                 const struct restore_work *work,
                                 const char *type, const struct uuid *ids,
                                 size_t n, struct clew_error *err)
{
    struct db_value until = db_int(work->sent_at_ms);
    enum clew_status status =
        db_exec(tx, &DROP_GONE, DB_ARGS(db_uuids(ids, n), until), err);

    return status == CLEW_OK && strcmp(type, "memory") == 0
               ? db_exec(tx, &DROP_WISHES, DB_ARGS(db_uuids(ids, n), until),
                         err)
               : status;
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
        status = let_back(tx, work, type, ids, n, err);
        if (status != CLEW_OK || hanging) {
            return status;
        }
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
    const struct db_value *value =
        &line->values[restore_column_of(line->kind, "beside")];
    size_t n = value->type == DB_BYTES ? value->len / sizeof(*ids) : 0;

    n = n < MAX_SHOWN ? n : MAX_SHOWN;
    if (n > 0) {
        memcpy(ids, value->p, n * sizeof(*ids));
    }
    return n;
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

/* --- what goes with a chat that was forgotten --- */

/* Chats that were forgotten, whole: of one that others fork from a row stays.
 */
DB_SQL(SELECT_NO_CHAT,
       "SELECT d.id FROM tombstones d WHERE d.tenant = $1 AND d.id = ANY($2)"
       " AND d.kind = 'chat' AND NOT EXISTS (SELECT 1 FROM chats c"
       " WHERE c.tenant = $1 AND c.id = d.id) ORDER BY d.id");
DB_SQL(SELECT_GRAVES, "SELECT id FROM tombstones WHERE tenant = $1"
                      " AND id = ANY($2) AND kind = $3 ORDER BY id");
DB_SQL(BURY, "INSERT INTO tombstones (tenant, change_seq, kind, id, created_at)"
             " VALUES ($1, $2, $3, $4, $5)");

size_t restore_column_of(size_t kind, const char *name)
{
    size_t i = 0;

    while (i < export_kinds[kind].n_columns &&
           strcmp(export_kinds[kind].columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

static int by_uuid(const void *a, const void *b)
{
    return uuid_cmp(a, b);
}

static bool has_id(const struct uuid *ids, size_t n, const struct uuid *id)
{
    return n > 0 && bsearch(id, ids, n, sizeof(*ids), by_uuid) != NULL;
}

/* Forks of what is not here have no place, and go the same way. */
static enum clew_status mark_forks(struct store_tx *tx,
                                   struct restore_work *work, size_t kind,
                                   size_t *out_marked, struct clew_error *err)
{
    size_t parent = restore_column_of(kind, "parent_id");
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    struct uuid *gone = NULL;
    size_t n = 0;
    enum clew_status status;

    *out_marked = 0;
    if (!ids) {
        return clew_no_memory(err);
    }
    n = column_ids(work, kind, parent, ids);
    if (n == 0) {
        return CLEW_OK;
    }
    status = rows_all(tx, &list, &SELECT_NO_CHAT, DB_ARGS(db_uuids(ids, n)),
                      &gone, &n, err);
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct restore_line *line = &work->lines[i];
        struct uuid id;

        if (line->kind == kind && !line->is_gone &&
            restore_id_at(line, parent, &id) && has_id(gone, n, &id)) {
            line->is_gone = true;
            *out_marked += 1;
        }
    }
    work->report.n_forgotten += (int64_t)*out_marked;
    return status;
}

/* Tombstones for lines that have none of their own. */
static enum clew_status bury(struct store_tx *tx, struct restore_work *work,
                             size_t kind, struct clew_error *err)
{
    struct str name = str_of(export_kinds[kind].type);
    int64_t now_ms = clock_now_ms(work->engine->clock);
    size_t column = restore_column_of(kind, "id");
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    struct uuid *held = NULL;
    size_t n = 0;
    size_t n_held = 0;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        n += work->lines[i].kind == kind && work->lines[i].is_gone &&
             restore_id_at(&work->lines[i], column, &ids[n]);
    }
    if (n == 0) {
        return CLEW_OK;
    }
    qsort(ids, n, sizeof(*ids), by_uuid);
    status =
        rows_all(tx, &list, &SELECT_GRAVES,
                 DB_ARGS(db_uuids(ids, n), db_text(name)), &held, &n_held, err);
    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        int64_t change = 0;

        if (has_id(held, n_held, &ids[i]) ||
            (i > 0 && uuid_eq(&ids[i], &ids[i - 1]))) {
            continue;
        }
        status = db_take_changes(tx, 1, &change, err);
        if (status == CLEW_OK) {
            status = db_exec(tx, &BURY,
                             DB_ARGS(db_int(change), db_text(name),
                                     db_uuid(&ids[i]), db_int(now_ms)),
                             err);
        }
    }
    return status;
}

/* Chains have no tombstones. One that is not here, and was last extended before
 * its chat lost words, went with these. */
static enum clew_status mark_chains(struct store_tx *tx,
                                    struct restore_work *work, size_t kind,
                                    struct clew_error *err)
{
    size_t id_at = restore_column_of(kind, "id");
    size_t chat_at = restore_column_of(kind, "chat_id");
    struct rows_list chats = {
        .arena = work->arena, .size = sizeof(struct mark), .fn = read_mark};
    struct rows_list chains = chats;
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    size_t n;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    n = column_ids(work, kind, chat_at, ids);
    status =
        rows_add(tx, &chats, &SELECT_LOSING, DB_ARGS(db_uuids(ids, n)), err);
    if (status == CLEW_OK && chats.count > 0) {
        n = column_ids(work, kind, id_at, ids);
        status = rows_add(tx, &chains, &SELECT_CHAINS,
                          DB_ARGS(db_uuids(ids, n)), err);
    }
    for (size_t i = 0; i < work->count && status == CLEW_OK && chats.count > 0;
         i++) {
        struct restore_line *line = &work->lines[i];
        const struct mark *chat = NULL;
        struct uuid id;

        if (line->kind == kind && !line->is_gone &&
            restore_id_at(line, chat_at, &id)) {
            chat = mark_find(&chats, &id);
        }
        if (chat && restore_time_at(line, "last_extended_at") <= chat->at_ms &&
            restore_id_at(line, id_at, &id) && !mark_find(&chains, &id)) {
            line->is_gone = true;
            work->report.n_forgotten++;
        }
    }
    return status;
}

/* The first with the user of this line, or a new one. */
static struct forgotten_name *name_of(struct forgotten_name *users, size_t *n,
                                      struct str user_id)
{
    for (size_t i = *n; i-- > 0;) {
        if (str_eq(users[i].user_id, user_id)) {
            return &users[i];
        }
    }
    users[*n] = (struct forgotten_name){user_id, FORGOTTEN_USER, 0};
    return &users[(*n)++];
}

/* What is of a user who was forgotten since it was sent. */
static enum clew_status mark_belated(struct store_tx *tx,
                                     struct restore_work *work, size_t kind,
                                     struct clew_error *err)
{
    size_t column = restore_column_of(kind, "user_id");
    struct forgotten_name *users =
        arena_zero(work->arena, work->count + 1, sizeof(*users));
    size_t n = 0;
    enum clew_status status;

    if (!users) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        if (work->lines[i].kind == kind) {
            (void)name_of(users, &n, restore_text_at(&work->lines[i], column));
        }
    }
    status = forgotten_find(tx, work->arena, users, n, err);
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct restore_line *line = &work->lines[i];

        if (line->kind == kind && !line->is_gone &&
            name_of(users, &n, restore_text_at(line, column))->at_ms >=
                work->sent_at_ms) {
            line->is_gone = true;
            work->report.n_forgotten++;
        }
    }
    return status;
}

/* Forks of forks, too. */
static enum clew_status mark_along(struct store_tx *tx,
                                   struct restore_work *work, size_t kind,
                                   struct clew_error *err)
{
    const char *type = export_kinds[kind].type;
    bool is_chat = strcmp(type, "chat") == 0;
    size_t n_marked = 0;
    enum clew_status status = CLEW_OK;

    if (!is_chat && strcmp(type, "turn") != 0 && strcmp(type, "memory") != 0 &&
        strcmp(type, "episode") != 0) {
        return CLEW_OK;
    }
    do {
        n_marked = 0;
        if (is_chat && !work->brings_back) {
            status = mark_forks(tx, work, kind, &n_marked, err);
        }
        if (status == CLEW_OK) {
            status = bury(tx, work, kind, err);
        }
    } while (status == CLEW_OK && n_marked > 0);
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
    if (status == CLEW_OK && !work->brings_back &&
        strcmp(form->type, "llm_answer") == 0) {
        status = mark_answers(tx, work, kind, err);
    }
    if (status == CLEW_OK &&
        restore_column_of(kind, "user_id") < form->n_columns) {
        status = mark_belated(tx, work, kind, err);
    }
    if (status == CLEW_OK && !work->brings_back &&
        strcmp(form->type, "chain") == 0) {
        status = mark_chains(tx, work, kind, err);
    }
    return status == CLEW_OK ? mark_along(tx, work, kind, err) : status;
}
