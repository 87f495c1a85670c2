/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_graph_fill.c - bring the table up to date, and make its graphs. See
 * vector_graph.h.
 *
 * One task per tenant and model. It makes the tenant's part of the table, puts
 * in documents in the order of their changes, a batch and the mark of how far
 * that is in one transaction, and when it has come to the end makes the graphs,
 * one for each kind of document. Whatever interrupts it, it goes on after the
 * last batch; a graph that was half made is made again. Later the task puts in
 * what came since, a good many at a time.
 */
#include "engine/feed/vector_graph.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/feed/feed.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector_graph_internal.h"
#include "index/build.h"
#include "model/embed.h"

#include <stdio.h>
#include <string.h>

/* One claim works this long, then lets others on. */
#define CLAIM_NS (15 * 1000000000LL)
/* Documents read at one time. */
#define LOAD_DOCS 1000u
/* Documents stored in one transaction: while there is no graph, and with one,
 * where each takes a millisecond or more and the tenant's writers wait. */
#define BATCH_DOCS 250u
#define BATCH_DOCS_GRAPH 8u
/* So many changes wait before they are put in: their vectors are in memory. */
#define LAG_CHANGES 4096
#define TEXT_BYTES (8u * VECTOR_GRAPH_MAX_DIM)

DB_SQL(INSERT_STATE,
       "INSERT INTO vector_graphs (tenant, model, number, dim, through)"
       " VALUES ($1, $2, $3, $4, 0) ON CONFLICT (tenant, model) DO NOTHING");
DB_SQL(MOVE_ON, "UPDATE vector_graphs SET through = $3 WHERE tenant = $1"
                " AND model = $2 AND through = $4");
DB_SQL(SET_GRAPH, "UPDATE vector_graphs SET graph_at = $3 WHERE tenant = $1"
                  " AND model = $2 AND graph_at IS NULL");
DB_SQL(COUNT_GONE, "SELECT COUNT(*) FROM tombstones WHERE tenant = $1"
                   " AND change_seq > $2");
DB_SQL(COUNT_FAILED,
       "SELECT COUNT(*) FROM tasks WHERE tenant = $1"
       " AND unique_key = $2" TASK_FAILED " AND finished_at > $3");
DB_SQL_SYSTEM(COUNT_ALL, "SELECT COUNT(g.graph_at), COALESCE(SUM(n.change_seq"
                         " - g.through), 0) FROM vector_graphs g JOIN tenants n"
                         " ON n.tenant = g.tenant");

/* A tenant's part of the table of one model. */
struct part {
    struct engine *engine;
    const struct task *task;
    const struct feed_source *source;
    const char *model;
    int64_t number;
    struct vector_graph_state state;
    bool is_all; /* nothing is left */
};

/* --- one batch ----------------------------------------------------------- */

struct batch {
    const struct part *part;
    const struct index_doc *docs;
    size_t count;
    int64_t seen;    /* what the documents were read at, or later */
    int64_t from;    /* the mark before ... */
    int64_t through; /* ... and after */
    bool is_stale;   /* something was forgotten: nothing was stored */
};

static void float_to(float value, unsigned char out[4])
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 4; i++) {
        out[i] = (unsigned char)(bits >> (8 * i));
    }
}

/* Whole numbers are exact in halves, and angles do not mind the scale. */
static enum clew_status format_vector(const float *vector, size_t dim,
                                      struct buf *out)
{
    int8_t values[VECTOR_GRAPH_MAX_DIM];
    char number[8];

    (void)vec_quantise(vector, dim, values);
    for (size_t i = 0; i < dim; i++) {
        (void)snprintf(number, sizeof(number), "%c%d", i == 0 ? '[' : ',',
                       values[i]);
        buf_append_cstr(out, number);
    }
    buf_append_char(out, ']');
    return buf_status(out);
}

/* The row's bytes; 0 if the document has no vector. */
static size_t encode(const struct part *part, const struct index_doc *doc,
                     unsigned char out[VECTOR_GRAPH_MAX_BYTES])
{
    struct segment_kind kind = {.dim = (uint32_t)part->source->dim,
                                .centre = part->source->centre};
    size_t len = VECTOR_GRAPH_HEAD + kind.dim;
    struct vec_form form = {0};
    struct segment_half half;

    if (doc->vector) {
        vec_quantise_about(doc->vector, kind.centre, kind.dim,
                           (int8_t *)out + VECTOR_GRAPH_HEAD, &form);
    }
    if (form.scale <= 0) {
        return 0;
    }
    float_to(form.scale, out);
    float_to(form.bias, out + 4);
    if (!doc->halves) {
        return len;
    }
    build_half(&kind, doc, &half, (int8_t *)out + len + VECTOR_GRAPH_HALF);
    float_to(half.form.scale, out + len);
    float_to(half.form.bias, out + len + 4);
    float_to(half.whole, out + len + 8);
    float_to(half.first, out + len + 12);
    return len + VECTOR_GRAPH_HALF + kind.dim;
}

/* A document without a vector has a row too: it is known that it has none. */
static enum clew_status put(struct store_tx *tx, const struct part *part,
                            const struct index_doc *doc, struct buf *text,
                            struct clew_error *err)
{
    unsigned char bytes[VECTOR_GRAPH_MAX_BYTES];
    struct user_key key = user_key_of(doc->user);
    size_t len = encode(part, doc, bytes);
    struct vector_row row = {.id = doc->id,
                             .model = part->number,
                             .kind = (int)doc->kind,
                             .user_key = {(const char *)key.b, sizeof(key.b)},
                             .chat_id = doc->chat,
                             .created_at_ms = doc->created_at_ms,
                             .change_seq = doc->change_seq};
    enum clew_status status = CLEW_OK;

    buf_clear(text);
    if (len > 0) {
        status = format_vector(doc->vector, part->source->dim, text);
    }
    if (status != CLEW_OK) {
        return clew_no_memory(err);
    }
    row.bytes = (struct str){(const char *)bytes, len};
    if (len > 0) {
        row.vector = (struct str){text->data, text->len};
    }
    return vector_table_put(tx, &row, err);
}

/*
 * Store a batch. What was forgotten since the documents were read must not come
 * back: then nothing is stored and they are read again. What was changed since
 * has a later change number, and its turn comes.
 */
static enum clew_status do_batch(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct batch *batch = arg;
    const struct part *part = batch->part;
    struct buf text;
    int64_t count = 0;
    enum clew_status status =
        rows_number(tx, &COUNT_GONE, DB_ARGS(db_int(batch->seen)), &count, err);

    batch->is_stale = status == CLEW_OK && count > 0;
    if (batch->is_stale) {
        return CLEW_OK;
    }
    if (status == CLEW_OK) {
        status =
            db_exec_count(tx, &MOVE_ON,
                          DB_ARGS(db_cstr(part->model), db_int(batch->through),
                                  db_int(batch->from)),
                          &count, err);
    }
    if (status == CLEW_OK && count != 1) {
        return clew_fail(err, CLEW_CONFLICT, "another worker is filling this");
    }
    buf_init(&text, TEXT_BYTES);
    for (size_t i = 0; i < batch->count && status == CLEW_OK; i++) {
        const struct index_doc *doc = &batch->docs[i];

        status = doc->is_removed
                     ? vector_table_remove(tx, &doc->id, part->number, err)
                     : put(tx, part, doc, &text, err);
    }
    buf_release(&text);
    return status;
}

struct look {
    const char *model;
    struct vector_graph_state state;
};

static enum clew_status do_look(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct look *look = arg;

    return vector_graph_get(tx, look->model, &look->state, err);
}

static enum clew_status look_at(const struct part *part,
                                struct vector_graph_state *out,
                                struct clew_error *err)
{
    struct look look = {.model = part->model};
    enum clew_status status = store_read(
        part->engine->store, &part->task->scope, do_look, &look, err);

    *out = look.state;
    return status;
}

/* Read the next documents and store them, a few at a time. */
static enum clew_status step(struct part *part, struct arena *arena,
                             struct clew_error *err)
{
    size_t size = part->state.graph_at ? BATCH_DOCS_GRAPH : BATCH_DOCS;
    struct index_doc *docs = NULL;
    struct vector_graph_state before;
    int64_t through = 0;
    size_t count = 0;
    /* read first: whatever is forgotten later has a higher number */
    enum clew_status status = look_at(part, &before, err);

    if (status == CLEW_OK) {
        status =
            feed_load(part->source, part->task->scope.tenant, before.through,
                      LOAD_DOCS, arena, &docs, &count, &through, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (through <= before.through) { /* nothing is left */
        through = before.latest;
    }
    for (size_t at = 0; (at < count || at == 0) && status == CLEW_OK;) {
        size_t n = count - at < size ? count - at : size;
        struct batch batch = {
            .part = part,
            .docs = docs + at,
            .count = n,
            .seen = before.latest,
            .from = before.through,
            .through = at + n == count ? through : docs[at + n - 1].change_seq};

        status = batch.through > batch.from
                     ? store_write(part->engine->store, &part->task->scope,
                                   do_batch, &batch, err)
                     : CLEW_OK;
        if (batch.is_stale) {
            return status; /* the caller comes back */
        }
        before.through = batch.through;
        at += n > 0 ? n : 1;
    }
    part->is_all = status == CLEW_OK && before.through >= before.latest;
    return status;
}

/* --- the task ------------------------------------------------------------ */

static enum clew_status do_clear(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    const struct part *part = arg;

    return vector_graph_remove(tx, part->model, err);
}

static enum clew_status do_begin(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct part *part = arg;
    enum clew_status status =
        db_exec(tx, &INSERT_STATE,
                DB_ARGS(db_cstr(part->model), db_int(part->number),
                        db_int((int64_t)part->source->dim)),
                err);

    return status == CLEW_OK
               ? vector_graph_get(tx, part->model, &part->state, err)
               : status;
}

struct end_work {
    const struct part *part;
    struct arena *arena;
    int64_t now_ms;
    bool has_graphs;
};

static enum clew_status do_end(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct end_work *work = arg;
    const struct part *part = work->part;
    struct task_new next = {.kind = VECTOR_GRAPH_TASK,
                            .unique_key = str_of(part->model),
                            .payload = STR("{}"),
                            .priority = part->task->priority,
                            .execute_at_ms = work->now_ms,
                            .now_ms = work->now_ms};
    enum clew_status status = CLEW_OK;

    if (work->has_graphs) {
        status =
            db_exec(tx, &SET_GRAPH,
                    DB_ARGS(db_cstr(part->model), db_int(work->now_ms)), err);
    }
    if (status == CLEW_OK) {
        status = task_complete(tx, part->task, work->now_ms, err);
    }
    return status == CLEW_OK && !part->is_all
               ? task_add(tx, work->arena, &next, err)
               : status;
}

static enum clew_status fill(struct part *part, struct arena *arena,
                             struct clew_error *err)
{
    struct engine *engine = part->engine;
    int64_t until_ns = clock_mono_ns() + CLAIM_NS;
    struct end_work end = {.part = part, .arena = arena};
    struct arena scratch;
    enum clew_status status = look_at(part, &part->state, err);

    if (status == CLEW_OK && part->state.number != 0 &&
        part->state.number != part->number) { /* of an older form */
        status =
            store_write(engine->store, &part->task->scope, do_clear, part, err);
        part->state.number = 0;
    }
    if (status == CLEW_OK && part->state.number == 0) {
        status = vector_table_make(part->engine->store,
                                   part->task->scope.tenant, err);
        if (status == CLEW_OK) {
            status = store_write(engine->store, &part->task->scope, do_begin,
                                 part, err);
        }
    }
    arena_init(&scratch, (size_t)1 << 30);
    while (status == CLEW_OK && !part->is_all && clock_mono_ns() < until_ns &&
           !model_use_is_stopping(engine)) {
        arena_clear(&scratch);
        status = step(part, &scratch, err);
    }
    arena_release(&scratch);
    if (status == CLEW_OK && part->is_all && part->state.graph_at == 0) {
        status = vector_table_index(part->engine->store,
                                    part->task->scope.tenant, part->number,
                                    part->source->dim, INDEX_KINDS, err);
        end.has_graphs = status == CLEW_OK;
    }
    end.now_ms = clock_now_ms(engine->clock);
    return status == CLEW_OK ? store_write(engine->store, &part->task->scope,
                                           do_end, &end, err)
                             : status;
}

enum clew_status vector_graph_task(struct engine *engine,
                                   const struct task *task, struct arena *arena,
                                   struct clew_error *err)
{
    struct str key = STR(VECTOR_GRAPH_TASK ":");
    struct str model = str_sub(task->unique_key, key.len, task->unique_key.len);
    struct part part = {.engine = engine, .task = task};
    struct model_lease open[MODEL_USE_SLOTS];
    struct feed_source other;
    enum clew_status status = CLEW_OK;
    size_t n = model_use_all(engine, open);

    if (str_eq(model, str_of(engine->embedder->id))) {
        part.source = engine->feed;
        part.model = engine->embedder->id;
    }
    for (size_t i = 0; i < n; i++) {
        if (str_eq(model, str_of(open[i].id))) {
            other = (struct feed_source){
                .engine = engine, .model = open[i].id, .dim = open[i].dim};
            feed_find_centre(&other);
            part.source = &other;
            part.model = open[i].id;
        }
    }
    /* a model that is no longer open needs no graph */
    if (part.source && vector_graph_is_on(engine, part.source->dim)) {
        part.number = vector_graph_number(part.model, part.source->dim);
        status = fill(&part, arena, err);
    }
    for (size_t i = 0; i < n; i++) {
        model_use_release(engine, &open[i]);
    }
    return status;
}

/* --- planning ------------------------------------------------------------ */

struct keep_work {
    struct look look;
    struct arena *arena;
    int64_t now_ms;
    int64_t n_failed;
};

/* A task that failed for good is not made again before this. */
#define AGAIN_MS CLOCK_MINUTE_MS

static enum clew_status do_keep(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct keep_work *work = arg;
    char key[160];
    enum clew_status status =
        vector_graph_get(tx, work->look.model, &work->look.state, err);

    (void)snprintf(key, sizeof(key), VECTOR_GRAPH_TASK ":%s", work->look.model);
    return status == CLEW_OK
               ? rows_number(
                     tx, &COUNT_FAILED,
                     DB_ARGS(db_cstr(key), db_int(work->now_ms - AGAIN_MS)),
                     &work->n_failed, err)
               : status;
}

static enum clew_status do_add(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct keep_work *work = arg;
    struct task_new input = {.kind = VECTOR_GRAPH_TASK,
                             .unique_key = str_of(work->look.model),
                             .payload = STR("{}"),
                             .priority = -20, /* after embedding */
                             .execute_at_ms = work->now_ms,
                             .now_ms = work->now_ms};

    return task_add(tx, work->arena, &input, err);
}

/* Do the tenant's vectors go into the database, and are there enough of them
 * here to ask how far it has come? */
static bool is_wanted(const struct engine *engine, struct index_set *indexes,
                      size_t dim, int64_t tenant)
{
    struct index_stats stats;
    uint64_t each = dim + sizeof(struct vec_form) + VEC_BIT_BYTES(dim);
    uint64_t ram = (uint64_t)config_int(engine->config, "index.ram_bytes");

    return index_stats_get(indexes, tenant, &stats) == CLEW_OK &&
           stats.n_docs > 0 &&
           (stats.n_bare == 0 || stats.n_docs >= stats.n_bare + LAG_CHANGES) &&
           (engine->graph->mode == GRAPH_ON || stats.n_docs * each > ram);
}

enum clew_status vector_graph_keep(struct engine *engine,
                                   struct index_set *indexes, const char *model,
                                   size_t dim, int64_t tenant,
                                   bool *out_is_added, struct clew_error *err)
{
    struct scope scope = {tenant};
    struct arena arena;
    struct keep_work work = {.look = {.model = model}, .arena = &arena};
    const struct vector_graph_state *state = &work.look.state;
    enum clew_status status;

    *out_is_added = false;
    if (!vector_graph_is_on(engine, dim) ||
        !is_wanted(engine, indexes, dim, tenant)) {
        return CLEW_OK;
    }
    arena_init(&arena, 1u << 20);
    work.now_ms = clock_now_ms(engine->clock);
    status = store_read(engine->store, &scope, do_keep, &work, err);
    if (state->number != vector_graph_number(model, dim)) {
        work.look.state.graph_at = 0; /* made anew */
    }
    if (status == CLEW_OK && state->graph_at != 0) {
        index_set_far(indexes, tenant, state->through);
    }
    if (status == CLEW_OK && work.n_failed == 0 &&
        (state->graph_at == 0 ||
         state->latest - state->through >= LAG_CHANGES)) {
        status = store_write(engine->store, &scope, do_add, &work, err);
        *out_is_added = status == CLEW_OK;
    }
    arena_release(&arena);
    return status;
}

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct vector_graph_counts *out = arg;
    struct db_rows rows;
    enum clew_status status = db_query(tx, &COUNT_ALL, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (db_next(&rows)) {
        out->n_graphs = db_get_int(&rows, 0);
        out->n_behind = db_get_int(&rows, 1);
    }
    return db_end(&rows, err);
}

enum clew_status vector_graph_count(struct engine *engine,
                                    struct vector_graph_counts *out,
                                    struct clew_error *err)
{
    memset(out, 0, sizeof(*out));
    return engine->graph ? store_read_system(engine->store, do_count, out, err)
                         : CLEW_OK;
}
