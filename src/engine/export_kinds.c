/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_kinds.c - the table of what is exported. See export_kinds.h.
 */
#include "engine/export_kinds.h"

#include "base/buf.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS(array) array, sizeof(array) / sizeof((array)[0])

static const struct export_column user_columns[] = {
    {"user_id", EXPORT_TEXT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"inactivity_minutes", EXPORT_INT, true, NULL},
};
static const struct export_column chat_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"conversation_id", EXPORT_ID, false, NULL},
    {"parent_id", EXPORT_ID, true, NULL},
    {"fork_seq", EXPORT_INT, false, NULL},
    {"depth", EXPORT_INT, false, NULL},
    {"branch", EXPORT_TEXT, false, NULL},
    {"title", EXPORT_TEXT, true, NULL},
    {"is_titled_by_user", EXPORT_INT, false, NULL},
    {"summary", EXPORT_TEXT, true, NULL},
    {"is_explicit", EXPORT_INT, false, NULL},
    {"channels", EXPORT_TEXT, false, NULL},
    {"inactivity_minutes", EXPORT_INT, true, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"last_activity_at", EXPORT_TIME, false, NULL},
    {"closed_at", EXPORT_TIME, true, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
};
static const struct export_column session_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"started_at", EXPORT_TIME, false, NULL},
    {"last_activity_at", EXPORT_TIME, false, NULL},
    {"ended_at", EXPORT_TIME, true, NULL},
};
static const struct export_column turn_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"seq", EXPORT_INT, false, NULL},
    {"id", EXPORT_ID, false, NULL},
    {"session_id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"role", EXPORT_TEXT, false, NULL},
    {"name", EXPORT_TEXT, true, NULL},
    {"channel", EXPORT_TEXT, true, NULL},
    {"content", EXPORT_TEXT, true, NULL},
    {"text", EXPORT_TEXT, false, NULL},
    {"token_count", EXPORT_INT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"stored_at", EXPORT_TIME, false, NULL},
    {"timezone", EXPORT_TEXT, true, NULL},
    {"external_id", EXPORT_TEXT, true, NULL},
};
static const struct export_column request_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"conversation_id", EXPORT_ID, false, NULL},
    {"parent_id", EXPORT_ID, true, NULL},
    {"origin_id", EXPORT_ID, false, NULL},
    {"parent_origin_id", EXPORT_ID, true, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"branch", EXPORT_TEXT, false, NULL},
    {"strategy", EXPORT_TEXT, false, NULL},
    {"message_count", EXPORT_INT, false, NULL},
    {"first_seq", EXPORT_INT, false, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
    {"reply_seq", EXPORT_INT, true, NULL},
    {"subtask_number", EXPORT_INT, true, NULL},
    {"hash_key", EXPORT_ID, false, NULL},
    {"reply_key", EXPORT_ID, true, NULL},
    {"response_id", EXPORT_TEXT, true, NULL},
    {"current_hash", EXPORT_BYTES, false, NULL},
    {"parent_hash", EXPORT_BYTES, true, NULL},
    {"system_hash", EXPORT_BYTES, true, NULL},
    {"parent_reply_key", EXPORT_ID, true, NULL},
    {"grandparent_key", EXPORT_ID, true, NULL},
    {"grandparent_reply_key", EXPORT_ID, true, NULL},
    {"prompt_key", EXPORT_ID, true, NULL},
    {"previous_id", EXPORT_TEXT, true, NULL},
    {"is_summarising", EXPORT_INT, false, NULL},
    {"is_compact", EXPORT_INT, false, NULL},
    {"api", EXPORT_TEXT, true, NULL},
    {"model", EXPORT_TEXT, true, NULL},
    {"status", EXPORT_INT, true, NULL},
    {"stop_reason", EXPORT_TEXT, true, NULL},
    {"error", EXPORT_TEXT, true, NULL},
    {"is_complete", EXPORT_INT, false, NULL},
    {"input_tokens", EXPORT_INT, true, NULL},
    {"output_tokens", EXPORT_INT, true, NULL},
    {"duration_ms", EXPORT_INT, true, NULL},
    {"first_byte_ms", EXPORT_INT, true, NULL},
    {"session_hint", EXPORT_TEXT, true, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"stored_at", EXPORT_TIME, false, NULL},
};
static const struct export_column request_prefix_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"seq", EXPORT_INT, false, NULL},
    {"prefix_key", EXPORT_ID, false, NULL},
};
static const struct export_column request_task_columns[] = {
    {"prompt_key", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"request_id", EXPORT_ID, false, NULL},
};
static const struct export_column request_anchor_columns[] = {
    {"day", EXPORT_INT, false, NULL},
    {"anchor", EXPORT_INT, false, NULL},
    {"request_id", EXPORT_ID, false, NULL},
};
static const struct export_column memory_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"user_id", EXPORT_TEXT, false, NULL},
    {"type", EXPORT_TEXT, false, "memory_type"},
    {"status", EXPORT_TEXT, false, NULL},
    {"summary", EXPORT_TEXT, false, NULL},
    {"resolution", EXPORT_TEXT, true, NULL},
    {"tags", EXPORT_TEXT, false, NULL},
    {"fields", EXPORT_TEXT, true, NULL},
    {"origin", EXPORT_TEXT, false, NULL},
    {"lineage", EXPORT_TEXT, false, NULL},
    {"chat_id", EXPORT_ID, true, NULL},
    {"parent_id", EXPORT_ID, true, NULL},
    {"agent_id", EXPORT_TEXT, true, NULL},
    {"agent_name", EXPORT_TEXT, true, NULL},
    {"agent_session", EXPORT_ID, true, NULL},
    {"key_id", EXPORT_TEXT, true, NULL},
    {"context", EXPORT_TEXT, true, NULL},
    {"is_instruction", EXPORT_INT, false, NULL},
    {"token_count", EXPORT_INT, false, NULL},
    {"weight", EXPORT_REAL, false, NULL},
    {"weight_at", EXPORT_TIME, false, NULL},
    {"retrieval_count", EXPORT_INT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"updated_at", EXPORT_TIME, false, NULL},
    {"expires_at", EXPORT_TIME, true, NULL},
    {"retracted_at", EXPORT_TIME, true, NULL},
};
static const struct export_column memory_source_columns[] = {
    {"memory_id", EXPORT_ID, false, NULL},
    {"source_id", EXPORT_ID, false, NULL},
    {"ordinal", EXPORT_INT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column memory_ref_columns[] = {
    {"memory_id", EXPORT_ID, false, NULL},
    {"chat_id", EXPORT_ID, false, NULL},
    {"first_seq", EXPORT_INT, false, NULL},
    {"last_seq", EXPORT_INT, false, NULL},
};
static const struct export_column chat_memory_columns[] = {
    {"chat_id", EXPORT_ID, false, NULL},
    {"memory_id", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column memory_access_columns[] = {
    {"memory_id", EXPORT_ID, false, NULL},
    {"agent_id", EXPORT_TEXT, false, NULL},
    {"access_count", EXPORT_INT, false, NULL},
};
static const struct export_column agent_columns[] = {
    {"agent_id", EXPORT_TEXT, false, NULL},
    {"agent_name", EXPORT_TEXT, false, NULL},
    {"first_seen_at", EXPORT_TIME, false, NULL},
};
static const struct export_column agent_result_columns[] = {
    {"agent_session", EXPORT_ID, false, NULL},
    {"memory_id", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
    {"is_credited", EXPORT_INT, false, NULL},
};
static const struct export_column correction_columns[] = {
    {"key", EXPORT_BYTES, false, NULL},
    {"act", EXPORT_TEXT, false, NULL},
    {"was", EXPORT_TEXT, false, NULL},
    {"level", EXPORT_TEXT, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column tombstone_columns[] = {
    {"kind", EXPORT_TEXT, false, NULL},
    {"id", EXPORT_ID, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};
static const struct export_column forget_receipt_columns[] = {
    {"id", EXPORT_ID, false, NULL},
    {"selector", EXPORT_TEXT, false, NULL},
    {"counts", EXPORT_TEXT, false, NULL},
    {"digest", EXPORT_BYTES, false, NULL},
    {"created_at", EXPORT_TIME, false, NULL},
};

/* A later state of the same row wins: exports of one store may follow each
 * other. */
static const char merge_chat[] =
    " ON CONFLICT (tenant, id) DO UPDATE SET title = excluded.title,"
    " is_titled_by_user = excluded.is_titled_by_user,"
    " summary = excluded.summary, channels = excluded.channels,"
    " last_activity_at = excluded.last_activity_at,"
    " closed_at = excluded.closed_at, last_seq = excluded.last_seq"
    " WHERE excluded.last_seq > chats.last_seq";
static const char merge_session[] =
    " ON CONFLICT (tenant, id) DO UPDATE SET"
    " last_activity_at = excluded.last_activity_at,"
    " ended_at = excluded.ended_at"
    " WHERE excluded.last_activity_at > sessions.last_activity_at";

const struct export_kind export_kinds[] = {
    {"user", "users", COLUMNS(user_columns), 1, false, NULL},
    {"chat", "chats", COLUMNS(chat_columns), 1, false, merge_chat},
    {"session", "sessions", COLUMNS(session_columns), 1, false, merge_session},
    {"turn", "turns", COLUMNS(turn_columns), 2, true, NULL},
    {"request", "requests", COLUMNS(request_columns), 1, false, NULL},
    {"request_prefix", "request_prefixes", COLUMNS(request_prefix_columns), 2,
     false, NULL},
    {"request_task", "request_tasks", COLUMNS(request_task_columns), 3, false,
     NULL},
    {"request_anchor", "request_anchors", COLUMNS(request_anchor_columns), 3,
     false, NULL},
    {"memory", "memories", COLUMNS(memory_columns), 1, true, NULL},
    {"memory_source", "memory_sources", COLUMNS(memory_source_columns), 2,
     false, NULL},
    {"memory_ref", "memory_refs", COLUMNS(memory_ref_columns), 3, false, NULL},
    {"chat_memory", "chat_memories", COLUMNS(chat_memory_columns), 2, false,
     NULL},
    {"memory_access", "memory_access", COLUMNS(memory_access_columns), 2, false,
     NULL},
    {"agent", "agents", COLUMNS(agent_columns), 1, false, NULL},
    {"agent_result", "agent_results", COLUMNS(agent_result_columns), 2, false,
     NULL},
    {"correction", "corrections", COLUMNS(correction_columns), 1, false, NULL},
    {"tombstone", "tombstones", COLUMNS(tombstone_columns), 3, true, NULL},
    {"forget_receipt", "forget_receipts", COLUMNS(forget_receipt_columns), 1,
     false, NULL},
};
#define N_KINDS (sizeof(export_kinds) / sizeof(export_kinds[0]))
const size_t export_n_kinds = N_KINDS;

/* --- SQL --- */

#define TEXT_BYTES 2048

static struct export_sql statements[N_KINDS];
static char texts[N_KINDS][4][TEXT_BYTES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_columns(struct buf *out, const struct export_kind *kind,
                        size_t n_columns)
{
    for (size_t i = 0; i < n_columns; i++) {
        (void)buf_printf(out, "%s%s", i ? ", " : "", kind->columns[i].name);
    }
}

static void add_params(struct buf *out, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)buf_printf(out, "%s$%zu", i ? ", " : "", first + i);
    }
}

static void add_select(struct buf *out, const struct export_kind *kind,
                       bool is_first)
{
    (void)buf_append_cstr(out, "SELECT ");
    add_columns(out, kind, kind->n_columns);
    (void)buf_printf(out, " FROM %s WHERE tenant = $1", kind->table);
    if (!is_first) {
        (void)buf_append_cstr(out, " AND (");
        add_columns(out, kind, kind->n_keys);
        (void)buf_append_cstr(out, ") > (");
        add_params(out, 3, kind->n_keys);
        (void)buf_append_char(out, ')');
    }
    (void)buf_append_cstr(out, " ORDER BY ");
    add_columns(out, kind, kind->n_keys);
    (void)buf_append_cstr(out, " LIMIT $2");
}

static void add_insert(struct buf *out, const struct export_kind *kind)
{
    size_t n_params = kind->n_columns + (kind->has_change ? 1 : 0);

    (void)buf_printf(out, "INSERT INTO %s (tenant, ", kind->table);
    add_columns(out, kind, kind->n_columns);
    (void)buf_printf(out, "%s) VALUES ($1, ",
                     kind->has_change ? ", change_seq" : "");
    add_params(out, 2, n_params);
    (void)buf_append_char(out, ')');
    if (kind->merge) {
        (void)buf_append_cstr(out, kind->merge);
    } else if (!kind->has_change) {
        (void)buf_append_cstr(out, " ON CONFLICT DO NOTHING");
    }
}

/* Keep what `out` holds as the text of a statement; empties it. */
static struct db_sql keep(struct buf *out, char text[TEXT_BYTES])
{
    (void)snprintf(text, TEXT_BYTES, "%s", out->data);
    buf_clear(out);
    return (struct db_sql){text, DB_TENANT};
}

static void make_statements(void)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES - 1);
    for (size_t i = 0; i < N_KINDS; i++) {
        const struct export_kind *kind = &export_kinds[i];
        struct export_sql *sql = &statements[i];

        add_select(&out, kind, true);
        sql->first = keep(&out, texts[i][0]);
        add_select(&out, kind, false);
        sql->next = keep(&out, texts[i][1]);
        add_insert(&out, kind);
        sql->insert = keep(&out, texts[i][2]);
        (void)buf_printf(&out,
                         "SELECT id FROM %s WHERE tenant = $1"
                         " AND id = ANY($2)",
                         kind->table);
        sql->known = keep(&out, texts[i][3]);
    }
    buf_release(&out);
}

const struct export_sql *export_sql_of(size_t kind)
{
    (void)pthread_once(&once, make_statements);
    return &statements[kind];
}

bool export_kind_find(struct str type, size_t *out_kind)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (str_eq(type, str_of(export_kinds[i].type))) {
            *out_kind = i;
            return true;
        }
    }
    return false;
}

const char *export_field(const struct export_column *column)
{
    return column->field ? column->field : column->name;
}

size_t export_id_column(const struct export_kind *kind)
{
    size_t i = 0;

    while (i < kind->n_columns && strcmp(kind->columns[i].name, "id") != 0) {
        i++;
    }
    return i;
}
