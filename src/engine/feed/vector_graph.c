/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_graph.c - find the extension, its vectors, and what is near. See
 * vector_graph.h.
 *
 * graph_vectors (store/vector_table.h) is asked only where vector_graphs has a
 * row of the tenant: then the table is there.
 */
#include "engine/feed/vector_graph.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/config.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector_cache.h"
#include "engine/feed/vector_graph_internal.h"
#include "index/index.h"
#include "index/segment.h"
#include "model/embed.h"

#include <stdio.h>
#include <string.h>

/* Memory for vectors read before: one part in so many of index.ram_bytes. */
#define CACHE_PART 32u
#define CACHE_LEAST (1u << 20)

DB_SQL(SELECT_STATE,
       "SELECT n.change_seq, g.number, g.through, g.graph_at FROM tenants n"
       " LEFT JOIN vector_graphs g ON g.tenant = n.tenant AND g.model = $2"
       " WHERE n.tenant = $1");
DB_SQL(COUNT_STATES, "SELECT COUNT(*) FROM vector_graphs WHERE tenant = $1");
DB_SQL(DELETE_STATE,
       "DELETE FROM vector_graphs WHERE tenant = $1 AND model = $2");
/* --- the extension ------------------------------------------------------- */

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
    const struct vector_table_support *graph = &engine->graph->support;

    if (graph->version > 0 && graph->version < VECTOR_TABLE_VERSION) {
        return clew_fail(
            err, CLEW_UNSUPPORTED,
            "index.pgvector is on and needs pgvector " VECTOR_TABLE_VERSION_TEXT
            ", but the server has %s",
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
                             : vector_table_extend(engine->store, err);
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
    if (strcmp(config_str(engine->config, "store.pooling"), "session") != 0) {
        /* graphs are made on a connection that is kept */
        return mode == GRAPH_AUTO
                   ? CLEW_OK
                   : clew_fail(err, CLEW_UNSUPPORTED,
                               "index.pgvector is on, but store.url is a "
                               "pooler");
    }
    engine->graph = alloc_zero(1, sizeof(*engine->graph));
    if (!engine->graph) {
        return clew_no_memory(err);
    }
    (void)pthread_mutex_init(&engine->graph->lock, NULL); /* cannot fail */
    engine->graph->mode = mode;
    engine->graph->cache_bytes = cache_bytes(engine->config);
    status = store_read_system(engine->store, vector_table_look,
                               &engine->graph->support, err);
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
    return engine->graph && engine->graph->support.is_usable && dim > 0 &&
           dim <= VECTOR_GRAPH_MAX_DIM;
}

const char *vector_graph_version(const struct engine *engine)
{
    return engine->graph && engine->graph->support.is_usable
               ? engine->graph->support.version_text
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
    status = vector_table_remove_model(tx, state.number, err);
    return status == CLEW_OK
               ? db_exec(tx, &DELETE_STATE, DB_ARGS(db_cstr(model)), err)
               : status;
}

enum clew_status vector_graph_forget(struct store_tx *tx,
                                     struct clew_error *err)
{
    bool has = false;
    enum clew_status status = has_state(tx, &has, err);

    return status == CLEW_OK && has ? vector_table_remove_forgotten(tx, err)
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
        int64_t count = 0;

        status = rows_number(tx, checks[i], DB_NO_ARGS, &count, err);
        *out_broken += count;
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
    struct db_rows rows;
    enum clew_status status = vector_table_read(
        tx, ask->source->state.number, ask->ids, ask->n_ids, &rows, err);

    ask->found.count = 0;
    return status == CLEW_OK ? rows_take(&ask->found, &rows, err) : status;
}

static struct graph_dim *dim_new(size_t dim, size_t cache_bytes)
{
    struct graph_dim *own = alloc_zero(1, sizeof(*own));

    if (!own) {
        return NULL;
    }
    own->dim = dim;
    own->cache = vector_cache_new(dim, cache_bytes);
    vector_near_init(&own->near, dim);
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

static enum clew_status ask_near(struct store_tx *tx, struct ask *ask,
                                 struct str vector, struct clew_error *err)
{
    const struct recall_far_query *query = ask->query;
    struct user_key key = user_key_of(query->user);
    struct uuid *chats =
        arena_zero(ask->arena, query->n_lines + 1, sizeof(*chats));
    struct vector_query near = {
        .model = ask->source->state.number,
        .kind = (int)query->kind,
        .user_key = {(const char *)key.b, query->user.len ? sizeof(key.b) : 0},
        .chats = chats,
        .n_chats = query->n_lines,
        .since_ms = query->since_ms,
        .until_ms = query->until_ms,
        .at_ms = query->at_ms,
        .vector = vector,
        .want = query->want,
        .n_reach = query->n_reach,
        .n_all = query->n_all};
    struct db_rows rows;
    enum clew_status status;

    if (!chats) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < query->n_lines; i++) {
        chats[i] = query->lines[i].chat;
    }
    status = vector_table_near(tx, &ask->source->by_dim->near,
                               ask->source->engine->graph->support.version,
                               &near, &rows, err);
    return status == CLEW_OK ? rows_take(&ask->found, &rows, err) : status;
}

static enum clew_status do_near(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct ask *ask = arg;
    struct buf text;
    enum clew_status status;

    ask->found.count = 0;
    buf_init(&text, 32u * VECTOR_GRAPH_MAX_DIM);
    status = format_query(ask->query, &text);
    if (status == CLEW_OK) {
        status = ask_near(tx, ask, (struct str){text.data, text.len}, err);
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
feed_view_open(struct engine *engine, const struct scope *scope,
               const struct model_lease *model, struct arena *arena,
               struct index_view **out_view, const struct recall_far **out_far,
               struct clew_error *err)
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
