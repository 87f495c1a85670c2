/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_fit.c - rules for rows that were imported. See restore_fit.h.
 */
#include "engine/proof/restore_fit.h"

#include "base/uuid.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

/* The first of the rows named by $2 for which `bad` holds; a row is named by
 * the column `key`, and one of several by the column `at`, too. */
#define RULE(name, table, key, at, bad)                                        \
    DB_SQL(name, "SELECT r." key ", r." at " FROM " table                      \
                 " r WHERE r.tenant = $1 AND r." key " = ANY($2) AND " bad     \
                 " LIMIT 1")
#define NONE(table, where)                                                     \
    "NOT EXISTS (SELECT 1 FROM " table " x WHERE x.tenant = $1 AND " where ")"

RULE(CHAT_ROOT, "chats", "id", "id",
     "r.parent_id IS NULL AND r.conversation_id <> r.id");
RULE(CHAT_DEPTH, "chats", "id", "id",
     "(r.depth < 0 OR (r.parent_id IS NULL AND r.depth <> 0))");
RULE(CHAT_FORK, "chats", "id", "id",
     "(r.fork_seq < 0 OR (r.parent_id IS NULL AND r.fork_seq <> 0))");
RULE(CHAT_LAST, "chats", "id", "id", "r.last_seq < r.fork_seq");
RULE(SESSION_CHAT, "sessions", "id", "id", NONE("chats", "x.id = r.chat_id"));
RULE(TURN_CHAT, "turns", "id", "id", NONE("chats", "x.id = r.chat_id"));
RULE(TURN_SESSION, "turns", "id", "id",
     NONE("sessions", "x.id = r.session_id AND x.chat_id = r.chat_id"));
RULE(TURN_SEQ, "turns", "id", "id",
     NONE("chats",
          "x.id = r.chat_id AND r.seq > x.fork_seq AND r.seq <= x.last_seq"));
RULE(SOURCE_OF, "memory_sources", "memory_id", "source_id",
     NONE("memories", "x.id = r.memory_id"));
RULE(SOURCE, "memory_sources", "memory_id", "source_id",
     NONE("memories", "x.id = r.source_id"));
RULE(REF_OF, "memory_refs", "memory_id", "chat_id",
     NONE("memories", "x.id = r.memory_id"));
RULE(REF_CHAT, "memory_refs", "memory_id", "chat_id",
     NONE("chats", "x.id = r.chat_id"));
/* As verify.c has it. */
RULE(REF_TURN, "memory_refs", "memory_id", "chat_id",
     "EXISTS (SELECT 1 FROM memories m WHERE m.tenant = $1 AND m.id ="
     " r.memory_id AND m.origin IN ('extracted', 'llm')) AND EXISTS (SELECT 1"
     " FROM chats c WHERE c.tenant = $1 AND c.id = r.chat_id AND r.first_seq >"
     " c.fork_seq) AND " NONE("turns", "x.chat_id = r.chat_id AND x.seq BETWEEN"
                                       " r.first_seq AND r.last_seq"));
/* What was drawn from a chat may be of another of those who speak in it. */
#define IS_FOREIGN(child, parent)                                              \
    child ".origin NOT IN ('extracted', 'llm') AND (" child                    \
          ".user_id <> " parent ".user_id OR " parent ".type <> 'effort')"
RULE(PART_OF, "memories", "id", "id",
     "EXISTS (SELECT 1 FROM memories x WHERE x.tenant = $1 AND x.id ="
     " r.parent_id AND " IS_FOREIGN("r", "x") ")");
RULE(PARTS, "memories", "id", "id",
     "EXISTS (SELECT 1 FROM memories x WHERE x.tenant = $1 AND x.parent_id ="
     " r.id AND " IS_FOREIGN("x", "r") ")");
RULE(EFFORT_OF, "efforts", "memory_id", "thread_id",
     NONE("memories", "x.id = r.memory_id"));
RULE(EFFORT_CHAT, "efforts", "memory_id", "thread_id",
     NONE("chats", "x.id = r.thread_id"));

/* What is above itself: whoever goes up from there comes to no end. */
#define CIRCLE(name, table)                                                    \
    DB_SQL(name,                                                               \
           "WITH RECURSIVE up (first, above) AS (SELECT id, parent_id FROM"    \
           " " table " WHERE tenant = $1 AND id = ANY($2) AND parent_id IS"    \
           " NOT NULL UNION SELECT up.first, p.parent_id FROM up JOIN " table  \
           " p ON p.tenant = $1 AND p.id = up.above WHERE p.parent_id IS NOT"  \
           " NULL) SELECT first, first FROM up WHERE above = first LIMIT 1")
CIRCLE(CHAT_CIRCLE, "chats");
CIRCLE(PART_CIRCLE, "memories");

DB_SQL(HAS_TURN, "SELECT COUNT(*) FROM turns WHERE tenant = $1"
                 " AND chat_id = $2 AND seq = $3");
DB_SQL(HAS_GRAVES, "SELECT 1 FROM tombstones WHERE tenant = $1"
                   " AND kind = 'turn' LIMIT 1");

static const struct rule {
    const char *type;
    const char *key;
    const char *at;
    const char *field;
    const struct db_sql *sql;
    const char *words;
} rules[] = {
    {"chat", "id", "id", "conversation_id", &CHAT_ROOT,
     "a chat without a parent is its own conversation"},
    {"chat", "id", "id", "depth", &CHAT_DEPTH,
     "\"depth\" does not fit the parent"},
    {"chat", "id", "id", "fork_seq", &CHAT_FORK,
     "\"fork_seq\" does not fit the parent"},
    {"chat", "id", "id", "last_seq", &CHAT_LAST,
     "\"last_seq\" is before the fork"},
    {"chat", "id", "id", "parent_id", &CHAT_CIRCLE, "a chat is its own parent"},
    {"session", "id", "id", "chat_id", &SESSION_CHAT,
     "\"chat_id\" names no chat"},
    {"turn", "id", "id", "chat_id", &TURN_CHAT, "\"chat_id\" names no chat"},
    {"turn", "id", "id", "session_id", &TURN_SESSION,
     "\"session_id\" names no session of its chat"},
    {"turn", "id", "id", "seq", &TURN_SEQ,
     "\"seq\" is out of its chat's range"},
    {"memory_source", "memory_id", "source_id", "memory_id", &SOURCE_OF,
     "\"memory_id\" names no memory"},
    {"memory_source", "memory_id", "source_id", "source_id", &SOURCE,
     "\"source_id\" names no memory"},
    {"memory_ref", "memory_id", "chat_id", "memory_id", &REF_OF,
     "\"memory_id\" names no memory"},
    {"memory_ref", "memory_id", "chat_id", "chat_id", &REF_CHAT,
     "\"chat_id\" names no chat"},
    {"memory_ref", "memory_id", "chat_id", "first_seq", &REF_TURN,
     "\"first_seq\" to \"last_seq\" has no turn of its chat"},
    {"memory", "id", "id", "parent_id", &PART_OF,
     "\"parent_id\" must be an effort of the same user"},
    {"memory", "id", "id", "user_id", &PARTS,
     "what is a part of it is of another user"},
    {"memory", "id", "id", "parent_id", &PART_CIRCLE,
     "an effort is a part of itself"},
    {"effort", "memory_id", "thread_id", "memory_id", &EFFORT_OF,
     "\"memory_id\" names no memory"},
    {"effort", "memory_id", "thread_id", "thread_id", &EFFORT_CHAT,
     "\"thread_id\" names no chat"},
};

/* What names a row. */
struct name {
    struct uuid key;
    struct uuid at;
};

static struct uuid id_in(const struct restore_line *line, const char *column)
{
    struct uuid id = {{0}};

    (void)restore_id_at(line, restore_column_of(line->kind, column), &id);
    return id;
}

/* False if the rule is not about it. */
static bool name_of(const struct rule *rule, const struct restore_line *line,
                    struct name *out)
{
    if (line->is_gone ||
        strcmp(export_kinds[line->kind].type, rule->type) != 0) {
        return false;
    }
    out->key = id_in(line, rule->key);
    out->at = id_in(line, rule->at);
    return true;
}

static enum clew_status fail(const struct rule *rule,
                             const struct restore_work *work,
                             const struct name *bad, struct clew_error *err)
{
    char field[64];
    size_t at = work->count;

    for (size_t i = 0; i < work->count; i++) {
        struct name name;

        if (name_of(rule, &work->lines[i], &name) &&
            uuid_eq(&name.key, &bad->key) &&
            (at == work->count || uuid_eq(&name.at, &bad->at))) {
            at = i;
            if (uuid_eq(&name.at, &bad->at)) {
                break;
            }
        }
    }
    (void)snprintf(field, sizeof(field), "rows[%zu].%s", at, rule->field);
    return clew_fail_field(err, field, "%s", rule->words);
}

static enum clew_status ask(struct store_tx *tx, const struct rule *rule,
                            const struct uuid *ids, size_t n_ids,
                            struct name *out_bad, bool *out_is_bad,
                            struct clew_error *err)
{
    struct db_rows found;
    enum clew_status status =
        db_query(tx, rule->sql, DB_ARGS(db_uuids(ids, n_ids)), &found, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out_is_bad = db_next(&found);
    if (*out_is_bad) {
        out_bad->key = db_get_uuid(&found, 0);
        out_bad->at = db_get_uuid(&found, 1);
    }
    return db_end(&found, err);
}

enum clew_status restore_fit(struct store_tx *tx,
                             const struct restore_work *work,
                             struct clew_error *err)
{
    struct uuid *ids = arena_zero(work->arena, work->count + 1, sizeof(*ids));
    enum clew_status status = CLEW_OK;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t k = 0;
         k < sizeof(rules) / sizeof(rules[0]) && status == CLEW_OK; k++) {
        struct name name;
        bool is_bad = false;
        size_t n_ids = 0;

        for (size_t i = 0; i < work->count; i++) {
            if (name_of(&rules[k], &work->lines[i], &name)) {
                ids[n_ids++] = name.key;
            }
        }
        if (n_ids > 0) {
            status = ask(tx, &rules[k], ids, n_ids, &name, &is_bad, err);
        }
        if (status == CLEW_OK && is_bad) {
            status = fail(&rules[k], work, &name, err);
        }
    }
    return status;
}

enum clew_status restore_fit_claim(struct store_tx *tx,
                                   const struct uuid *chat_id, int64_t seq,
                                   bool *out_is_gone, struct clew_error *err)
{
    int64_t n_turns = 0;
    int64_t has_graves = 0;
    enum clew_status status = rows_number(
        tx, &HAS_TURN, DB_ARGS(db_uuid(chat_id), db_int(seq)), &n_turns, err);

    if (status == CLEW_OK && n_turns == 0) {
        status = rows_number(tx, &HAS_GRAVES, DB_NO_ARGS, &has_graves, err);
    }
    if (status == CLEW_OK && n_turns == 0 && has_graves == 0) {
        return clew_fail_field(err, "seq", "\"seq\" names no turn of its chat");
    }
    *out_is_gone = status == CLEW_OK && n_turns == 0;
    return status;
}
