/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_blank.c - an import into chats that lost turns here. See
 * restore_internal.h.
 *
 * Elsewhere such a chat may have gone on with the turns that were forgotten
 * here: its title, the topics and the summaries that come from there may be
 * their words, however new they are. The rows come in without these; what a
 * rebuild makes anew of the turns that are here fills them.
 */
#include "engine/core/rows.h"
#include "engine/proof/export_kinds.h"
#include "engine/proof/restore_internal.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

DB_SQL(SELECT_LOSING, "SELECT DISTINCT id FROM tombstones WHERE tenant = $1"
                      " AND id = ANY($2) AND kind = 'chat' ORDER BY id");

/* What may be words of turns. */
static const struct blank {
    const char *type;
    const char *chat; /* the column that says of which chat */
    const char *columns[6];
} blanks[] = {
    {"chat", "id", {"title", "summary"}},
    {"chain", "chat_id", {"topic", "memory"}},
    {"episode",
     "chat_id",
     {"micro", "meso_packed", "macro_packed", "packed", "compacted_at",
      "compacted_seq"}},
};
#define N_COLUMNS (sizeof(blanks[0].columns) / sizeof(blanks[0].columns[0]))

static const struct blank *blank_of(const char *type)
{
    for (size_t i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++) {
        if (strcmp(blanks[i].type, type) == 0) {
            return &blanks[i];
        }
    }
    return NULL;
}

/* As forget_cascade.c leaves them. */
static void blank_value(const struct restore_line *line, const char *column,
                        struct db_value *value)
{
    size_t by_user = restore_column_of(line->kind, "is_titled_by_user");

    if (strcmp(column, "title") == 0 && line->values[by_user].i != 0) {
        return; /* a person's words */
    }
    if (strcmp(column, "topic") == 0) {
        *value = db_cstr("");
    } else if (strcmp(column, "compacted_seq") == 0) {
        *value = db_int(0);
    } else if (strcmp(column, "memory") == 0) {
        value->len = value->len > 1 ? 1 : value->len; /* its form's number */
    } else {
        *value = db_null();
    }
}

static int by_uuid(const void *a, const void *b)
{
    return uuid_cmp(a, b);
}

enum clew_status restore_blank(struct store_tx *tx, struct restore_work *work,
                               size_t kind, struct clew_error *err)
{
    const struct blank *blank = blank_of(export_kinds[kind].type);
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    struct uuid *losing = NULL;
    size_t n = 0;
    size_t at;
    enum clew_status status = CLEW_OK;

    if (!ids) {
        return clew_no_memory(err);
    }
    if (!blank || work->brings_back) {
        return CLEW_OK;
    }
    at = restore_column_of(kind, blank->chat);
    for (size_t i = 0; i < work->count; i++) {
        n += work->lines[i].kind == kind &&
             restore_id_at(&work->lines[i], at, &ids[n]);
    }
    if (n > 0) {
        status = rows_all(tx, &list, &SELECT_LOSING, DB_ARGS(db_uuids(ids, n)),
                          &losing, &n, err);
    }
    for (size_t i = 0; i < work->count && status == CLEW_OK && n > 0; i++) {
        struct restore_line *line = &work->lines[i];
        struct uuid id;

        if (line->kind != kind || !restore_id_at(line, at, &id) ||
            !bsearch(&id, losing, n, sizeof(id), by_uuid)) {
            continue;
        }
        for (size_t k = 0; k < N_COLUMNS && blank->columns[k]; k++) {
            size_t column = restore_column_of(kind, blank->columns[k]);

            work->has_nameless |= strcmp(blank->columns[k], "topic") == 0;
            blank_value(line, blank->columns[k], &line->values[column]);
        }
    }
    return status;
}
