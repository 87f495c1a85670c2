/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - rows of the memories table and what hangs on them. See memory.h.
 */
#include "engine/memory/memory.h"

#include "base/buf.h"
#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/core/redact.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/read/doc.h"
#include "store/db.h"
#include "text/analysis.h"

#include <math.h>
#include <string.h>

#define COLUMNS                                                                \
    "id, user_id, type, status, summary, resolution, tags, packed, origin,"    \
    " lineage, chat_id, parent_id, agent_id, agent_name, agent_session,"       \
    " key_id, context, is_instruction, token_count, weight, weight_at,"        \
    " retrieval_count, created_at, updated_at, expires_at, retracted_at,"      \
    " change_seq, pinned_at, fields"

DB_SQL(INSERT,
       "INSERT INTO memories (tenant, " COLUMNS ") VALUES ($1, $2, $3, $4, $5,"
       " $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,"
       " $21, $22, $23, $24, $25, $26, $27, $28, $29, NULL)");
DB_SQL(UPDATE, "UPDATE memories SET status = $3, summary = $4, resolution = $5,"
               " tags = $6, packed = $7, parent_id = $8, token_count = $9,"
               " updated_at = $10, expires_at = $11, retracted_at = $12,"
               " change_seq = $13, type = $14, pinned_at = $15, fields = NULL"
               " WHERE tenant = $1 AND id = $2");
DB_SQL(INSERT_SOURCE,
       "INSERT INTO memory_sources (tenant, memory_id, source_id, ordinal,"
       " created_at) VALUES ($1, $2, $3, $4, $5)");
DB_SQL(ADD_SOURCE,
       "INSERT INTO memory_sources (tenant, memory_id, source_id, ordinal,"
       " created_at) SELECT m.tenant, m.id, $3, (SELECT COUNT(*) FROM"
       " memory_sources s WHERE s.tenant = $1 AND s.memory_id = m.id),"
       " m.created_at FROM memories m WHERE m.tenant = $1 AND m.id = $2"
       " AND NOT EXISTS (SELECT 1 FROM memory_sources b WHERE b.tenant = $1"
       " AND b.memory_id = $3 AND b.source_id = $2) ON CONFLICT DO NOTHING");
DB_SQL(MARK_REFINEMENT, "UPDATE memories SET lineage = 'refinement'"
                        " WHERE tenant = $1 AND id = $2"
                        " AND lineage = 'original'");
/* The plus keeps SQLite from walking all turns by time. */
DB_SQL(SELECT_LAST_SAID,
       "SELECT MAX(+t.created_at) FROM memory_refs r JOIN turns t"
       " ON t.tenant = r.tenant AND t.chat_id = r.chat_id"
       " AND t.seq BETWEEN r.first_seq AND r.last_seq"
       " WHERE r.tenant = $1 AND r.memory_id = $2");
DB_SQL(INSERT_REF,
       "INSERT INTO memory_refs (tenant, memory_id, chat_id, first_seq,"
       " last_seq) VALUES ($1, $2, $3, $4, $5)"
       " ON CONFLICT (tenant, memory_id, chat_id, first_seq)"
       " DO UPDATE SET last_seq = excluded.last_seq");
DB_SQL(SELECT_ONE,
       "SELECT " COLUMNS " FROM memories WHERE tenant = $1 AND id = $2");
DB_SQL(SELECT_MANY,
       "SELECT " COLUMNS " FROM memories WHERE tenant = $1 AND id = ANY($2)");
DB_SQL(SELECT_CHANGES,
       "SELECT " COLUMNS " FROM memories WHERE tenant = $1 AND change_seq > $2"
       " ORDER BY change_seq LIMIT $3");
DB_SQL(SELECT_REFS,
       "SELECT memory_id, chat_id, first_seq, last_seq FROM memory_refs"
       " WHERE tenant = $1 AND memory_id = ANY($2)"
       " ORDER BY memory_id, chat_id, first_seq LIMIT 10000");
/* One statement for every filter; the empty ones are switched off by NULL. A
 * chat shows what was made in it and what was imported into it. */
#define FILTERS(at)                                                            \
    " AND ($2 = '' OR type = $2) AND ($3 = '' OR status = $3)"                 \
    " AND ($4 = '' OR ',' || tags || ',' LIKE $4 ESCAPE '\\')"                 \
    " AND ($5 = 1 OR ($5 = 2) = (retracted_at IS NOT NULL))"                   \
    " AND (" at " < $6 OR (" at " = $6 AND id < $7))"                          \
    " AND ($9 = '' OR LOWER(summary) LIKE $9 ESCAPE '\\'"                      \
    " OR LOWER(COALESCE(resolution, '')) LIKE $9 ESCAPE '\\')"                 \
    " AND ($10 = '' OR origin = $10) AND ($11 = '' OR agent_id = $11)"         \
    " AND ($12 = 0 OR pinned_at IS NOT NULL)"                                  \
    " ORDER BY " at " DESC, id DESC LIMIT $8"
/* A chat's are few: found by its index (the plus keeps SQLite from walking all
 * by time) and sorted. */
#define BY_TIME FILTERS("created_at")
#define SORTED FILTERS("+created_at")
#define IN_CHAT                                                                \
    " AND id IN (SELECT id FROM memories WHERE tenant = $1 AND chat_id = $13"  \
    " UNION ALL SELECT memory_id FROM chat_memories WHERE tenant = $1"         \
    " AND chat_id = $13)"
DB_SQL(LIST_ALL, "SELECT " COLUMNS " FROM memories WHERE tenant = $1" BY_TIME);
DB_SQL(LIST_USER, "SELECT " COLUMNS
                  " FROM memories WHERE tenant = $1 AND user_id = $13" BY_TIME);
DB_SQL(LIST_CHAT,
       "SELECT " COLUMNS " FROM memories WHERE tenant = $1" IN_CHAT SORTED);
DB_SQL(LIST_CHAT_USER,
       "SELECT " COLUMNS
       " FROM memories WHERE tenant = $1 AND user_id = $14" IN_CHAT SORTED);
DB_SQL(IMPORT,
       "INSERT INTO chat_memories (tenant, chat_id, memory_id, created_at)"
       " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING");

static const char *const lineage_names[] = {"original", "refinement",
                                            "consolidation"};

const char *memory_lineage_name(enum memory_lineage lineage)
{
    return lineage_names[lineage];
}

static enum memory_lineage lineage_parse(struct str text)
{
    if (str_eq(text, STR("refinement"))) {
        return MEMORY_REFINEMENT;
    }
    return str_eq(text, STR("consolidation")) ? MEMORY_CONSOLIDATION
                                              : MEMORY_ORIGINAL;
}

double memory_weight_at(const struct memory *memory, int64_t now_ms)
{
    int64_t idle_ms = now_ms - memory->weight_at_ms;
    double weight = memory->weight;

    /* what was never retrieved does not decay; the first hour is free */
    if (memory->retrieval_count > 0 && idle_ms > CLOCK_HOUR_MS) {
        double hours = (double)idle_ms / (double)CLOCK_HOUR_MS;

        weight *= pow(MEMORY_WEIGHT_HOURLY, hours);
    }
    return fmin(MEMORY_WEIGHT_MAX, fmax(MEMORY_WEIGHT_MIN, weight));
}

struct str memory_search_text(struct arena *arena, const struct memory *memory)
{
    return str_of(arena_printf(
        arena, "%.*s%s%.*s%s%.*s", (int)memory->summary.len, memory->summary.s,
        memory->resolution.len ? ". " : "", (int)memory->resolution.len,
        memory->resolution.s ? memory->resolution.s : "",
        memory->tags.len ? ". Tags: " : "", (int)memory->tags.len,
        memory->tags.s));
}

enum clew_status memory_doc(struct engine *engine, struct arena *arena,
                            const struct memory *memory, struct index_doc *out,
                            struct clew_error *err)
{
    *out = (struct index_doc){.kind = INDEX_MEMORY,
                              .id = memory->id,
                              .chat = memory->chat_id,
                              .user = memory->user_id,
                              .created_at_ms = memory->created_at_ms,
                              .change_seq = memory->change_seq};
    return doc_of_text(engine, arena, memory_search_text(arena, memory), out,
                       err);
}

static bool row_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct memory *out = item;

    out->id = db_get_uuid(rows, 0);
    out->lineage = lineage_parse(db_get_text(rows, 9));
    out->chat_id = db_get_uuid(rows, 10);
    out->parent_id = db_get_uuid(rows, 11);
    out->agent_session = db_get_uuid(rows, 14);
    out->is_instruction = db_get_int(rows, 17) != 0;
    out->token_count = db_get_int(rows, 18);
    out->weight = db_get_real(rows, 19);
    out->weight_at_ms = db_get_int(rows, 20);
    out->retrieval_count = db_get_int(rows, 21);
    out->created_at_ms = db_get_int(rows, 22);
    out->updated_at_ms = db_get_int(rows, 23);
    out->expires_at_ms = db_get_int(rows, 24);
    out->retracted_at_ms = db_get_int(rows, 25);
    out->change_seq = db_get_int(rows, 26);
    out->pinned_at_ms = db_get_int(rows, 27);
    return rows_text(arena, rows, 1, &out->user_id) &&
           rows_text(arena, rows, 2, &out->type) &&
           rows_text(arena, rows, 3, &out->status) &&
           rows_text(arena, rows, 4, &out->summary) &&
           rows_text(arena, rows, 5, &out->resolution) &&
           rows_text(arena, rows, 6, &out->tags) &&
           rows_packed_beside(arena, rows, 7, 28, out->summary, &out->fields) &&
           rows_text(arena, rows, 8, &out->origin) &&
           rows_text(arena, rows, 12, &out->agent_id) &&
           rows_text(arena, rows, 13, &out->agent_name) &&
           rows_text(arena, rows, 15, &out->key_id) &&
           rows_text(arena, rows, 16, &out->context);
}

/* Count its tokens, and let the index know of the memory as it is now. */
static enum clew_status index_memory(struct batch_work *batch,
                                     struct memory *memory,
                                     struct clew_error *err)
{
    struct index_doc doc;
    enum clew_status status = work_take_change(batch, &memory->change_seq, err);

    if (status == CLEW_OK) {
        status = memory_doc(batch->engine, batch->arena, memory, &doc, err);
    }
    memory->token_count = (int64_t)(text_token_estimate(memory->summary) +
                                    text_token_estimate(memory->resolution));
    return status == CLEW_OK ? work_add_doc(batch, &doc, err) : status;
}

static enum clew_status insert_row(const struct batch_work *batch,
                                   const struct memory *memory,
                                   struct clew_error *err)
{
    struct db_value fields;

    if (!rows_pack_beside(batch->arena, memory->fields, memory->summary,
                          &fields)) {
        return clew_no_memory(err);
    }
    return db_exec(
        batch->tx, &INSERT,
        DB_ARGS(db_uuid(&memory->id), db_text(memory->user_id),
                db_text(memory->type), db_text(memory->status),
                db_text(memory->summary), db_text(memory->resolution),
                db_text(memory->tags), fields, db_text(memory->origin),
                db_cstr(memory_lineage_name(memory->lineage)),
                db_uuid(&memory->chat_id), db_uuid(&memory->parent_id),
                db_text(memory->agent_id), db_text(memory->agent_name),
                db_uuid(&memory->agent_session), db_text(memory->key_id),
                db_text(memory->context), db_int(memory->is_instruction),
                db_int(memory->token_count), db_real(memory->weight),
                db_int(memory->weight_at_ms), db_int(memory->retrieval_count),
                db_int(memory->created_at_ms), db_int(memory->updated_at_ms),
                rows_int_or_null(memory->expires_at_ms),
                rows_int_or_null(memory->retracted_at_ms),
                db_int(memory->change_seq),
                rows_int_or_null(memory->pinned_at_ms)),
        err);
}

enum clew_status memory_add_ref(struct store_tx *tx, const struct uuid *id,
                                const struct memory_ref *ref,
                                struct clew_error *err)
{
    return db_exec(tx, &INSERT_REF,
                   DB_ARGS(db_uuid(id), db_uuid(&ref->chat_id),
                           db_int(ref->first_seq), db_int(ref->last_seq)),
                   err);
}

enum clew_status memory_add_source(struct store_tx *tx,
                                   const struct uuid *newer,
                                   const struct uuid *older,
                                   struct clew_error *err)
{
    enum clew_status status =
        db_exec(tx, &ADD_SOURCE, DB_ARGS(db_uuid(newer), db_uuid(older)), err);

    return status == CLEW_OK
               ? db_exec(tx, &MARK_REFINEMENT, DB_ARGS(db_uuid(newer)), err)
               : status;
}

enum clew_status memory_last_said(struct store_tx *tx, const struct uuid *id,
                                  int64_t *out_ms, struct clew_error *err)
{
    struct db_rows rows;
    int64_t time_ms = 0;
    enum clew_status status =
        db_query(tx, &SELECT_LAST_SAID, DB_ARGS(db_uuid(id)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        time_ms = db_get_int(&rows, 0);
    }
    status = db_end(&rows, err);
    if (status == CLEW_OK) {
        *out_ms = time_ms;
    }
    return status;
}

/* No memory holds a secret, whoever made it. */
static enum clew_status redact(const struct batch_work *batch,
                               struct memory *memory, struct clew_error *err)
{
    struct str *const texts[] = {&memory->summary, &memory->resolution,
                                 &memory->context, &memory->tags};
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (status == CLEW_OK) {
            status = redact_text(batch->engine, batch->arena, texts[i], err);
        }
    }
    return status == CLEW_OK && redact_mode(batch->engine) != REDACT_OFF
               ? redact_json(batch->arena, &memory->fields, err)
               : status;
}

enum clew_status memory_insert(struct batch_work *batch, struct memory *memory,
                               const struct memory_ref *refs, size_t n_refs,
                               const struct uuid *sources, size_t n_sources,
                               struct clew_error *err)
{
    enum clew_status status = redact(batch, memory, err);

    if (status == CLEW_OK) {
        status = index_memory(batch, memory, err);
    }
    if (status == CLEW_OK) {
        status = insert_row(batch, memory, err);
    }
    for (size_t i = 0; i < n_refs && status == CLEW_OK; i++) {
        status = memory_add_ref(batch->tx, &memory->id, &refs[i], err);
    }
    for (size_t i = 0; i < n_sources && status == CLEW_OK; i++) {
        status =
            db_exec(batch->tx, &INSERT_SOURCE,
                    DB_ARGS(db_uuid(&memory->id), db_uuid(&sources[i]),
                            db_int((int64_t)i), db_int(memory->created_at_ms)),
                    err);
    }
    return status;
}

enum clew_status memory_update(struct batch_work *batch, struct memory *memory,
                               struct clew_error *err)
{
    struct db_value fields;
    enum clew_status status = redact(batch, memory, err);

    if (status == CLEW_OK) {
        status = index_memory(batch, memory, err);
    }
    if (status == CLEW_OK && !rows_pack_beside(batch->arena, memory->fields,
                                               memory->summary, &fields)) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    return db_exec(
        batch->tx, &UPDATE,
        DB_ARGS(db_uuid(&memory->id), db_text(memory->status),
                db_text(memory->summary), db_text(memory->resolution),
                db_text(memory->tags), fields, db_uuid(&memory->parent_id),
                db_int(memory->token_count), db_int(memory->updated_at_ms),
                rows_int_or_null(memory->expires_at_ms),
                rows_int_or_null(memory->retracted_at_ms),
                db_int(memory->change_seq), db_text(memory->type),
                rows_int_or_null(memory->pinned_at_ms)),
        err);
}

enum clew_status memory_find(struct store_tx *tx, struct arena *arena,
                             const struct uuid *id, struct memory *out_memory,
                             struct clew_error *err)
{
    return rows_one(tx, arena, &SELECT_ONE, DB_ARGS(db_uuid(id)), row_of,
                    out_memory, sizeof(*out_memory), "memory", err);
}

static enum clew_status
select_memories(struct store_tx *tx, struct arena *arena,
                const struct db_sql *sql, const struct db_value *args,
                size_t n_args, struct memory **out_memories, size_t *out_count,
                struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct memory), .fn = row_of};

    return rows_all(tx, &list, sql, args, n_args, out_memories, out_count, err);
}

enum clew_status memory_find_many(struct store_tx *tx, struct arena *arena,
                                  const struct uuid *ids, size_t count,
                                  struct memory **out_memories,
                                  size_t *out_count, struct clew_error *err)
{
    return select_memories(tx, arena, &SELECT_MANY,
                           DB_ARGS(db_uuids(ids, count)), out_memories,
                           out_count, err);
}

enum clew_status memory_list_changes(struct store_tx *tx, struct arena *arena,
                                     int64_t after, int64_t limit,
                                     struct memory **out_memories,
                                     size_t *out_count, struct clew_error *err)
{
    return select_memories(tx, arena, &SELECT_CHANGES,
                           DB_ARGS(db_int(after), db_int(limit)), out_memories,
                           out_count, err);
}

struct owned_ref {
    struct uuid owner;
    struct memory_ref ref;
};

static bool ref_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    struct owned_ref *out = item;

    (void)arena;
    out->owner = db_get_uuid(rows, 0);
    out->ref.chat_id = db_get_uuid(rows, 1);
    out->ref.first_seq = db_get_int(rows, 2);
    out->ref.last_seq = db_get_int(rows, 3);
    return true;
}

enum clew_status memory_refs(struct store_tx *tx, struct arena *arena,
                             const struct uuid *ids, size_t count,
                             struct uuid **out_owners,
                             struct memory_ref **out_refs, size_t *out_count,
                             struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct owned_ref), .fn = ref_of};
    const struct owned_ref *found;
    struct uuid *owners;
    struct memory_ref *refs;
    enum clew_status status =
        rows_add(tx, &list, &SELECT_REFS, DB_ARGS(db_uuids(ids, count)), err);

    if (status != CLEW_OK) {
        return status;
    }
    owners = arena_zero(arena, list.count, sizeof(*owners));
    refs = arena_zero(arena, list.count, sizeof(*refs));
    if (!owners || !refs) {
        return clew_no_memory(err);
    }
    found = list.items;
    for (size_t i = 0; i < list.count; i++) {
        owners[i] = found[i].owner;
        refs[i] = found[i].ref;
    }
    *out_owners = owners;
    *out_refs = refs;
    *out_count = list.count;
    return CLEW_OK;
}

/* "%" edge text edge "%" with the wildcards of LIKE escaped and ASCII lower, as
 * LOWER() has it, if asked for; "" switches the filter off. */
static struct str pattern_of(struct arena *arena, struct str text,
                             const char *edge, bool is_lower)
{
    size_t n_edge = strlen(edge);
    char *out;
    size_t n = 0;

    if (text.len == 0) {
        return STR("");
    }
    out = arena_alloc(arena, text.len * 2 + 2 * n_edge + 2);
    if (!out) {
        return (struct str){NULL, 0};
    }
    out[n++] = '%';
    memcpy(out + n, edge, n_edge);
    n += n_edge;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.s[i];

        if (c == '%' || c == '_' || c == '\\') {
            out[n++] = '\\';
        }
        out[n++] =
            (char)(is_lower && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    memcpy(out + n, edge, n_edge);
    n += n_edge;
    out[n++] = '%';
    return (struct str){out, n};
}

struct str memory_end(const struct memory *memory)
{
    return str_eq(memory->status, STR("open")) ? (struct str){0}
                                               : memory->resolution;
}

enum clew_status memory_list(struct store_tx *tx, struct arena *arena,
                             const struct memory_filter *filter,
                             struct memory **out_memories, size_t *out_count,
                             struct clew_error *err)
{
    bool is_first = uuid_is_nil(&filter->before_id);
    bool has_chat = !uuid_is_nil(&filter->chat_id);
    bool has_user = filter->user_id.s != NULL;
    struct str tag = pattern_of(arena, filter->tag, ",", false);
    struct str query = pattern_of(arena, filter->query, "", true);
    struct db_value before = db_bytes(filter->before_id.b, 16);
    const struct db_sql *sql = has_chat
                                   ? (has_user ? &LIST_CHAT_USER : &LIST_CHAT)
                                   : (has_user ? &LIST_USER : &LIST_ALL);
    struct db_value args[13];
    size_t n = 0;

    if (!tag.s || !query.s) {
        return clew_no_memory(err);
    }
    before.type = DB_UUID; /* the nil id is a value here, not NULL */
    args[n++] = db_text(filter->type.s ? filter->type : STR(""));
    args[n++] = db_text(filter->status.s ? filter->status : STR(""));
    args[n++] = db_text(tag);
    args[n++] = db_int(filter->is_retracted     ? 2
                       : filter->with_retracted ? 1
                                                : 0);
    args[n++] = db_int(is_first ? INT64_MAX : filter->before_time_ms);
    args[n++] = before;
    args[n++] = db_int(filter->limit);
    args[n++] = db_text(query);
    args[n++] = db_text(filter->origin.s ? filter->origin : STR(""));
    args[n++] = db_text(filter->agent_id.s ? filter->agent_id : STR(""));
    args[n++] = db_int(filter->is_pinned);
    if (has_chat) {
        args[n++] = db_uuid(&filter->chat_id);
    }
    if (has_user) {
        args[n++] = db_text(filter->user_id);
    }
    return select_memories(tx, arena, sql, args, n, out_memories, out_count,
                           err);
}

enum clew_status memory_import(struct store_tx *tx, const struct uuid *chat_id,
                               const struct uuid *memory_id, int64_t now_ms,
                               struct clew_error *err)
{
    return db_exec(
        tx, &IMPORT,
        DB_ARGS(db_uuid(chat_id), db_uuid(memory_id), db_int(now_ms)), err);
}
