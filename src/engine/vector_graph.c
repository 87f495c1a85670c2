/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_graph.c - find the extension, its vectors, and what is near. See
 * vector_graph.h.
 *
 * Statements here are for PostgreSQL alone. Those on graph_vectors run only
 * where vector_graphs has a row of the tenant: then the table is there.
 */
#include "engine/vector_graph.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/config.h"
#include "engine/engine.h"
#include "engine/model_use.h"
#include "engine/rows.h"
#include "engine/vector_cache.h"
#include "engine/vector_graph_internal.h"
#include "index/index.h"
#include "index/segment.h"
#include "model/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Halves (halfvec) came with 0.7, scans that go on with 0.8. */
#define LEAST_VERSION 700
#define ITERATES_VERSION 800
/* Rows a scan of the graph looks at, at most, to find what a request lets
 * through; where it would need more, rows are compared one by one. */
#define MAX_SCANNED 20000
/* Of versions whose scans end with their first list. */
#define MAX_LIST 1000

/* Memory for vectors read before: one part in so many of index.ram_bytes. */
#define CACHE_PART 32u
#define CACHE_LEAST (1u << 20)

DB_SQL_SYSTEM(FIND_EXTENSION,
              "SELECT a.name, e.extversion, a.default_version,"
              " COALESCE((SELECT r.rolsuper FROM pg_roles r"
              " WHERE r.rolname = current_user), false) OR EXISTS (SELECT 1"
              " FROM pg_available_extension_versions v WHERE v.name = 'vector'"
              " AND v.trusted AND v.version = a.default_version) AND"
              " has_database_privilege(current_database(), 'CREATE')"
              " FROM pg_available_extensions a LEFT JOIN pg_extension e"
              " ON e.extname = a.name WHERE a.name = 'vector'");
DB_SQL(SELECT_STATE,
       "SELECT n.change_seq, g.number, g.through, g.graph_at FROM tenants n"
       " LEFT JOIN vector_graphs g ON g.tenant = n.tenant AND g.model = $2"
       " WHERE n.tenant = $1");
DB_SQL(COUNT_STATES, "SELECT COUNT(*) FROM vector_graphs WHERE tenant = $1");
DB_SQL(DELETE_STATE,
       "DELETE FROM vector_graphs WHERE tenant = $1 AND model = $2");
DB_SQL(DELETE_MODEL,
       "DELETE FROM graph_vectors WHERE tenant = $1 AND model = $2");
DB_SQL(DELETE_FORGOTTEN, "DELETE FROM graph_vectors WHERE tenant = $1 AND id IN"
                         " (SELECT id FROM forget_set WHERE tenant = $1)");
DB_SQL(READ_VECTORS, "SELECT id, change_seq, bytes FROM graph_vectors"
                     " WHERE tenant = $1 AND model = $2 AND id = ANY($3)");
/* The plan depends on the values: which graph, and how much they leave. */
DB_SQL(SET_SCAN,
       "SELECT set_config('plan_cache_mode', 'force_custom_plan', true),"
       " set_config('hnsw.ef_search', $2, true) WHERE $1 > 0");
DB_SQL(SET_ITERATION,
       "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
       " set_config('hnsw.max_scan_tuples', $2, true) WHERE $1 > 0");

#define NEAR_TEXT                                                              \
    "SELECT id, change_seq, bytes FROM graph_vectors WHERE tenant = $1"        \
    " AND model = $2 AND kind = $3 AND ($4 = ''::bytea OR user_key = $4)"      \
    " AND (cardinality($5) = 0 OR chat_id = ANY($5))"                          \
    " AND created_at >= $6 AND created_at < $7 AND created_at <= $8"           \
    " ORDER BY (v::halfvec(%zu) <=> $9::halfvec(%zu))%s LIMIT $10"

/* --- the extension ------------------------------------------------------- */

static int version_of(const char *text)
{
    char *end = NULL;
    long major = strtol(text, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, &end, 10) : 0;
    long patch = *end == '.' ? strtol(end + 1, &end, 10) : 0;

    return (int)(major * 10000 + minor * 100 + patch);
}

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct vector_graph *graph = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &FIND_EXTENSION, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    graph->is_created = false;
    graph->is_usable = false;
    if (db_next(&rows)) {
        struct str version;

        graph->is_created = !db_is_null(&rows, 1);
        version = db_get_text(&rows, graph->is_created ? 1 : 2);
        (void)snprintf(graph->version_text, sizeof(graph->version_text), "%.*s",
                       (int)version.len, version.s);
        graph->version = version_of(graph->version_text);
        graph->is_usable = graph->version >= LEAST_VERSION &&
                           (graph->is_created || db_get_int(&rows, 3) != 0);
    }
    return db_end(&rows, err);
}

static enum graph_mode mode_of(const struct config *config)
{
    const char *text = config_str(config, "index.pgvector");

    return strcmp(text, "on") == 0    ? GRAPH_ON
           : strcmp(text, "off") == 0 ? GRAPH_OFF
                                      : GRAPH_AUTO;
}

/* A little of what the index may have. */
static size_t cache_bytes(const struct config *config)
{
    size_t bytes = (size_t)config_int(config, "index.ram_bytes") / CACHE_PART;

    return bytes > CACHE_LEAST ? bytes : CACHE_LEAST;
}

/* With "on" the extension must be there when this returns. */
static enum clew_status insist(struct engine *engine, struct clew_error *err)
{
    static const char *const create[] = {
        "CREATE EXTENSION IF NOT EXISTS vector"};
    struct vector_graph *graph = engine->graph;

    if (graph->version > 0 && graph->version < LEAST_VERSION) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "index.pgvector is on and needs pgvector 0.7, but the "
                         "server has %s",
                         graph->version_text);
    }
    if (!graph->is_usable) {
        return clew_fail(err, CLEW_UNSUPPORTED, "index.pgvector is on, but %s",
                         graph->version == 0
                             ? "the server does not have pgvector"
                             : "this role may not create the extension: ask "
                               "for CREATE EXTENSION vector");
    }
    return graph->is_created ? CLEW_OK
                             : store_extend(engine->store, create, 1, err);
}

enum clew_status vector_graph_open(struct engine *engine,
                                   struct clew_error *err)
{
    enum graph_mode mode = mode_of(engine->config);
    enum clew_status status;

    if (mode == GRAPH_OFF) {
        return CLEW_OK;
    }
    if (strcmp(store_backend(engine->store), "postgres") != 0) {
        return mode == GRAPH_AUTO
                   ? CLEW_OK
                   : clew_fail(err, CLEW_UNSUPPORTED,
                               "index.pgvector is on, but the store is not "
                               "PostgreSQL");
    }
    engine->graph = alloc_zero(1, sizeof(*engine->graph));
    if (!engine->graph) {
        return clew_no_memory(err);
    }
    (void)pthread_mutex_init(&engine->graph->lock, NULL); /* cannot fail */
    engine->graph->mode = mode;
    engine->graph->cache_bytes = cache_bytes(engine->config);
    status = store_read_system(engine->store, do_look, engine->graph, err);
    return status == CLEW_OK && mode == GRAPH_ON ? insist(engine, err) : status;
}

void vector_graph_close(struct engine *engine)
{
    struct vector_graph *graph = engine->graph;

    if (!graph) {
        return;
    }
    for (size_t i = 0; i < graph->n_dims; i++) {
        vector_cache_free(graph->dims[i]->cache);
        alloc_free(graph->dims[i]);
    }
    (void)pthread_mutex_destroy(&graph->lock);
    alloc_free(graph);
    engine->graph = NULL;
}

bool vector_graph_is_on(const struct engine *engine, size_t dim)
{
    return engine->graph && engine->graph->is_usable && dim > 0 &&
           dim <= VECTOR_GRAPH_MAX_DIM;
}

const char *vector_graph_version(const struct engine *engine)
{
    return engine->graph && engine->graph->is_usable
               ? engine->graph->version_text
               : "";
}

int64_t vector_graph_number(const char *model, size_t dim)
{
    uint64_t hash = index_term_hash(str_of(model));

    hash ^= dim + SEGMENT_VERSION * VECTOR_GRAPH_MAX_DIM * 2u;
    return (int64_t)(hash & 0x7fffffff) + 1;
}

/* --- state --------------------------------------------------------------- */

enum clew_status vector_graph_get(struct store_tx *tx, const char *model,
                                  struct vector_graph_state *out,
                                  struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_STATE, DB_ARGS(db_cstr(model)), &rows, err);

    memset(out, 0, sizeof(*out));
    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        out->latest = db_get_int(&rows, 0);
        out->number = db_get_int(&rows, 1);
        out->through = db_get_int(&rows, 2);
        out->graph_at = db_get_int(&rows, 3);
    }
    return db_end(&rows, err);
}

static enum clew_status has_state(struct store_tx *tx, bool *out_has,
                                  struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &COUNT_STATES, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out_has = db_next(&rows) && db_get_int(&rows, 0) > 0;
    return db_end(&rows, err);
}

enum clew_status vector_graph_remove(struct store_tx *tx, const char *model,
                                     struct clew_error *err)
{
    struct vector_graph_state state;
    enum clew_status status = vector_graph_get(tx, model, &state, err);

    if (status != CLEW_OK || state.number == 0) {
        return status;
    }
    status = db_exec(tx, &DELETE_MODEL, DB_ARGS(db_int(state.number)), err);
    return status == CLEW_OK
               ? db_exec(tx, &DELETE_STATE, DB_ARGS(db_cstr(model)), err)
               : status;
}

enum clew_status vector_graph_forget(struct store_tx *tx,
                                     struct clew_error *err)
{
    bool has = false;
    enum clew_status status = has_state(tx, &has, err);

    return status == CLEW_OK && has
               ? db_exec(tx, &DELETE_FORGOTTEN, DB_NO_ARGS, err)
               : status;
}

/* --- checking ------------------------------------------------------------ */

#define NO_ROW(table, kind)                                                    \
    " AND NOT EXISTS (SELECT 1 FROM " table                                    \
    " t WHERE t.tenant = $1 AND t.id = g.id AND g.kind = " kind ")"
#define IS_GONE                                                                \
    NO_ROW("turns", "0") NO_ROW("memories", "1") NO_ROW("episodes", "2")
/* Vectors of rows that are gone, but for those whose turn is to come. */
DB_SQL(COUNT_STRAY,
       "SELECT COUNT(*) FROM graph_vectors g JOIN vector_graphs s"
       " ON s.tenant = g.tenant AND s.number = g.model"
       " WHERE g.tenant = $1" IS_GONE
       " AND NOT EXISTS (SELECT 1 FROM tombstones d WHERE d.tenant = $1"
       " AND d.id = g.id AND d.change_seq > s.through)");
/* Vectors of other models that the table lacks. */
DB_SQL(COUNT_MISSING,
       "SELECT COUNT(*) FROM vector_graphs s JOIN vectors v"
       " ON v.tenant = s.tenant AND v.model = s.model"
       " AND v.change_seq <= s.through WHERE s.tenant = $1 AND v.dim > 0"
       " AND (EXISTS (SELECT 1 FROM turns t WHERE t.tenant = $1"
       " AND t.id = v.id AND t.change_seq = v.source_change)"
       " OR EXISTS (SELECT 1 FROM memories t WHERE t.tenant = $1"
       " AND t.id = v.id AND t.change_seq = v.source_change)"
       " OR EXISTS (SELECT 1 FROM episodes t WHERE t.tenant = $1"
       " AND t.id = v.id AND t.change_seq = v.source_change))"
       " AND NOT EXISTS (SELECT 1 FROM graph_vectors g WHERE g.tenant = $1"
       " AND g.model = s.number AND g.id = v.id"
       " AND g.change_seq = v.change_seq)");
/* Rows the shipped model's vectors are missing for: it has no others. */
#define LACKING(table, where)                                                  \
    "SELECT COUNT(*) FROM vector_graphs s JOIN " table                         \
    " t ON t.tenant = s.tenant AND t.change_seq <= s.through"                  \
    " WHERE s.tenant = $1 AND NOT EXISTS (SELECT 1 FROM vector_models m"       \
    " WHERE m.tenant = $1 AND m.model = s.model)" where                        \
    " AND NOT EXISTS (SELECT 1 FROM graph_vectors g WHERE g.tenant = $1"       \
    " AND g.model = s.number AND g.id = t.id"                                  \
    " AND g.change_seq = t.change_seq)"
DB_SQL(COUNT_TURNS, LACKING("turns", ""));
DB_SQL(COUNT_MEMORIES, LACKING("memories", ""));
DB_SQL(COUNT_EPISODES, LACKING("episodes", " AND t.micro IS NOT NULL"));

enum clew_status vector_graph_check(struct store_tx *tx, int64_t *out_broken,
                                    struct clew_error *err)
{
    static const struct db_sql *const checks[] = {&COUNT_STRAY, &COUNT_MISSING,
                                                  &COUNT_TURNS, &COUNT_MEMORIES,
                                                  &COUNT_EPISODES};
    bool has = false;
    enum clew_status status = has_state(tx, &has, err);

    *out_broken = 0;
    for (size_t i = 0;
         has && i < sizeof(checks) / sizeof(checks[0]) && status == CLEW_OK;
         i++) {
        struct db_rows rows;

        status = db_query(tx, checks[i], DB_NO_ARGS, &rows, err);
        if (status == CLEW_OK) {
            *out_broken += db_next(&rows) ? db_get_int(&rows, 0) : 0;
            status = db_end(&rows, err);
        }
    }
    return status;
}

/* --- vectors for recall -------------------------------------------------- */

struct source {
    struct recall_far far;
    struct engine *engine;
    struct scope scope;
    const char *model;
    size_t dim;
    struct graph_dim *by_dim;
    struct vector_owner owner;
    struct vector_graph_state state;
};

/* One question to the table. */
struct ask {
    const struct source *source;
    struct arena *arena;
    const struct uuid *ids; /* these, or ... */
    size_t n_ids;
    const struct recall_far_query *query; /* ... what is near this */
    struct rows_list found;
};

static float float_of(const char *bytes)
{
    uint32_t bits = 0;
    float value;

    for (int i = 0; i < 4; i++) {
        bits |= (uint32_t)(unsigned char)bytes[i] << (8 * i);
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The bytes as they are; decode() makes a vector of them. */
static bool vector_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct recall_far_vector *out = item;
    struct str bytes = db_get_bytes(rows, 2);
    int8_t *values = arena_alloc(arena, bytes.len + 1);

    if (!values) {
        return false;
    }
    if (bytes.len > 0) {
        memcpy(values, bytes.s, bytes.len);
    }
    out->id = db_get_uuid(rows, 0);
    out->change_seq = db_get_int(rows, 1);
    out->values = values;
    out->dim = bytes.len;
    return true;
}

/* False for a row without a vector; what is damaged is as good as that. */
static bool decode(struct arena *arena, size_t dim,
                   struct recall_far_vector *vector)
{
    const char *bytes = (const char *)vector->values;
    size_t len = vector->dim;
    struct segment_half *half;

    if (len != VECTOR_GRAPH_HEAD + dim &&
        len != VECTOR_GRAPH_HEAD + VECTOR_GRAPH_HALF + 2 * dim) {
        return false;
    }
    vector->form = (struct vec_form){.scale = float_of(bytes),
                                     .bias = float_of(bytes + 4)};
    vector->values += VECTOR_GRAPH_HEAD;
    vector->dim = dim;
    if (len == VECTOR_GRAPH_HEAD + dim) {
        return true;
    }
    bytes += VECTOR_GRAPH_HEAD + dim;
    half = arena_zero(arena, 1, sizeof(*half));
    if (!half) {
        return false; /* found by its words */
    }
    half->form = (struct vec_form){.scale = float_of(bytes),
                                   .bias = float_of(bytes + 4)};
    half->whole = float_of(bytes + 8);
    half->first = float_of(bytes + 12);
    vector->half = half;
    vector->first = vector->values + dim + VECTOR_GRAPH_HALF;
    return true;
}

static enum clew_status do_read(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct ask *ask = arg;

    ask->found.count = 0;
    return rows_add(tx, &ask->found, &READ_VECTORS,
                    DB_ARGS(db_int(ask->source->state.number),
                            db_uuids(ask->ids, ask->n_ids)),
                    err);
}

static struct graph_dim *dim_new(size_t dim, size_t cache_bytes)
{
    struct graph_dim *own = alloc_zero(1, sizeof(*own));

    if (!own) {
        return NULL;
    }
    own->dim = dim;
    own->cache = vector_cache_new(dim, cache_bytes);
    (void)snprintf(own->near_text, sizeof(own->near_text), NEAR_TEXT, dim, dim,
                   "");
    (void)snprintf(own->exact_text, sizeof(own->exact_text), NEAR_TEXT, dim,
                   dim, " + 0"); /* which no index has */
    own->near_by_graph = (struct db_sql){own->near_text, DB_TENANT};
    own->near_exactly = (struct db_sql){own->exact_text, DB_TENANT};
    if (!own->cache) {
        alloc_free(own);
        return NULL;
    }
    return own;
}

/* What belongs to a dimension, made when first needed. */
static enum clew_status dim_of(struct vector_graph *graph, size_t dim,
                               struct graph_dim **out, struct clew_error *err)
{
    struct graph_dim *own = NULL;

    (void)pthread_mutex_lock(&graph->lock);
    for (size_t i = 0; i < graph->n_dims && !own; i++) {
        own = graph->dims[i]->dim == dim ? graph->dims[i] : NULL;
    }
    if (!own && graph->n_dims < VECTOR_GRAPH_DIMS) {
        own = dim_new(dim, graph->cache_bytes);
        if (own) {
            graph->dims[graph->n_dims++] = own;
        }
    }
    (void)pthread_mutex_unlock(&graph->lock);
    *out = own;
    return own ? CLEW_OK : clew_no_memory(err);
}

/* "[0.1,-0.2,...]" */
static enum clew_status format_query(const struct recall_far_query *query,
                                     struct buf *out)
{
    char number[32];

    for (size_t i = 0; i < query->dim; i++) {
        (void)snprintf(number, sizeof(number), "%c%.5g", i == 0 ? '[' : ',',
                       (double)query->vector[i]);
        buf_append_cstr(out, number);
    }
    buf_append_char(out, ']');
    return buf_status(out);
}

static enum clew_status run_setting(struct store_tx *tx,
                                    const struct db_sql *sql, size_t value,
                                    struct clew_error *err)
{
    struct db_rows rows;
    char text[24];
    enum clew_status status;

    (void)snprintf(text, sizeof(text), "%zu", value);
    status = db_query(tx, sql, DB_ARGS(db_cstr(text)), &rows, err);
    return status == CLEW_OK ? db_end(&rows, err) : status;
}

/*
 * How to look: by the graph while what the request leaves is dense enough that
 * a scan of bounded length finds what is wanted; else one by one, which is then
 * little.
 */
static enum clew_status
choose(struct store_tx *tx, const struct vector_graph *graph,
       const struct recall_far_query *query, const struct graph_dim *dim,
       const struct db_sql **out, struct clew_error *err)
{
    bool iterates = graph->version >= ITERATES_VERSION;
    size_t n_reach = query->n_reach > 0 ? query->n_reach : 1;
    double expected =
        (double)query->want * (double)query->n_all / (double)n_reach;
    /* twice what is wanted finds nearly all of it */
    size_t list = 2 * query->want > 200 ? 2 * query->want : 200;
    enum clew_status status;

    if (!iterates && 2 * expected > (double)list) {
        list = (size_t)(2 * expected);
    }
    list = list < MAX_LIST ? list : MAX_LIST;
    if (expected > (iterates ? MAX_SCANNED : MAX_LIST / 2)) {
        *out = &dim->near_exactly;
        return CLEW_OK;
    }
    *out = &dim->near_by_graph;
    status = run_setting(tx, &SET_SCAN, list, err);
    return status == CLEW_OK && iterates
               ? run_setting(tx, &SET_ITERATION, MAX_SCANNED, err)
               : status;
}

static enum clew_status ask_near(struct store_tx *tx, struct ask *ask,
                                 const struct db_sql *sql, struct str vector,
                                 struct clew_error *err)
{
    const struct recall_far_query *query = ask->query;
    struct user_key key = user_key_of(query->user);
    struct uuid *chats =
        arena_zero(ask->arena, query->n_lines + 1, sizeof(*chats));

    if (!chats) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < query->n_lines; i++) {
        chats[i] = query->lines[i].chat;
    }
    return rows_add(
        tx, &ask->found, sql,
        DB_ARGS(db_int(ask->source->state.number), db_int(query->kind),
                db_bytes(key.b, query->user.len ? sizeof(key.b) : 0),
                db_uuids(chats, query->n_lines), db_int(query->since_ms),
                db_int(query->until_ms), db_int(query->at_ms), db_text(vector),
                db_int((int64_t)query->want)),
        err);
}

static enum clew_status do_near(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct ask *ask = arg;
    const struct db_sql *sql = NULL;
    const struct vector_graph *graph = ask->source->engine->graph;
    struct buf text;
    enum clew_status status;

    ask->found.count = 0;
    buf_init(&text, 32u * VECTOR_GRAPH_MAX_DIM);
    status = format_query(ask->query, &text);
    if (status == CLEW_OK) {
        status = choose(tx, graph, ask->query, ask->source->by_dim, &sql, err);
    }
    if (status == CLEW_OK) {
        status = ask_near(tx, ask, sql, (struct str){text.data, text.len}, err);
    }
    buf_release(&text);
    return status;
}

/* Ask, and remember the vectors that come. */
static enum clew_status ask_table(const struct source *source, store_fn fn,
                                  struct ask *ask, struct arena *arena,
                                  struct recall_far_vector **out_vectors,
                                  size_t *out_count, struct clew_error *err)
{
    enum clew_status status;
    size_t n = 0;

    ask->source = source;
    ask->arena = arena;
    ask->found = (struct rows_list){.arena = arena,
                                    .size = sizeof(struct recall_far_vector),
                                    .fn = vector_of};
    status = store_read(source->engine->store, &source->scope, fn, ask, err);
    if (status != CLEW_OK) {
        return status;
    }
    *out_vectors = ask->found.items;
    for (size_t i = 0; i < ask->found.count; i++) {
        if (decode(arena, source->dim, &(*out_vectors)[i])) {
            (*out_vectors)[n++] = (*out_vectors)[i];
        }
    }
    *out_count = n;
    vector_cache_put(source->by_dim->cache, &source->owner, *out_vectors, n);
    return CLEW_OK;
}

static enum clew_status far_find(void *arg, struct arena *arena,
                                 const struct recall_far_query *query,
                                 struct recall_far_vector **out_vectors,
                                 size_t *out_count, struct clew_error *err)
{
    struct ask ask = {.query = query};

    return ask_table(arg, do_near, &ask, arena, out_vectors, out_count, err);
}

static enum clew_status far_read(void *arg, struct arena *arena,
                                 const struct recall_far_key *keys,
                                 size_t count,
                                 struct recall_far_vector **out_vectors,
                                 size_t *out_count, struct clew_error *err)
{
    const struct source *source = arg;
    struct recall_far_vector *all = arena_zero(arena, count + 1, sizeof(*all));
    struct uuid *missing = arena_zero(arena, count + 1, sizeof(*missing));
    struct recall_far_vector *read = NULL;
    size_t n_known = 0;
    size_t n_read = 0;
    enum clew_status status = CLEW_OK;

    if (!all || !missing ||
        vector_cache_get(source->by_dim->cache, &source->owner, keys, count,
                         arena, all, &n_known, missing) != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (n_known < count) {
        struct ask ask = {.ids = missing, .n_ids = count - n_known};

        status = ask_table(source, do_read, &ask, arena, &read, &n_read, err);
    }
    if (status == CLEW_OK && n_read > 0) { /* no more than were missing */
        memcpy(all + n_known, read, n_read * sizeof(*all));
    }
    *out_vectors = all;
    *out_count = n_known + n_read;
    return status;
}

static enum clew_status do_state(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct source *source = arg;

    return vector_graph_get(tx, source->model, &source->state, err);
}

enum clew_status
vector_graph_view(struct engine *engine, const struct scope *scope,
                  const struct model_lease *model, struct arena *arena,
                  struct index_view **out_view,
                  const struct recall_far **out_far, struct clew_error *err)
{
    const char *id = model->slot ? model->id : engine->embedder->id;
    size_t dim = model->slot ? model->dim : engine->embedder->dim;
    struct source *source;
    int64_t bare;
    enum clew_status status =
        index_view_open(model->indexes, scope->tenant, out_view, err);

    *out_far = NULL;
    bare = status == CLEW_OK ? index_view_bare(*out_view) : 0;
    if (status != CLEW_OK || bare == 0) {
        return status;
    }
    source = arena_zero(arena, 1, sizeof(*source));
    if (!source) {
        return clew_no_memory(err);
    }
    *source = (struct source){.far = {source, far_find, far_read},
                              .engine = engine,
                              .scope = *scope,
                              .model = id,
                              .dim = dim};
    status = dim_of(engine->graph, dim, &source->by_dim, err);
    if (status == CLEW_OK) {
        status = store_read(engine->store, scope, do_state, source, err);
    }
    source->owner = (struct vector_owner){scope->tenant, source->state.number};
    if (status == CLEW_OK && source->state.graph_at != 0 &&
        source->state.number == vector_graph_number(id, dim) &&
        source->state.through >= bare) {
        *out_far = &source->far;
        return CLEW_OK;
    }
    index_view_close(*out_view);
    *out_view = NULL;
    if (status == CLEW_OK) {
        status = index_drop(model->indexes, scope->tenant, err);
    }
    return status == CLEW_OK
               ? index_view_open(model->indexes, scope->tenant, out_view, err)
               : status;
}
