/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reembed.c - batches of vectors by the chosen model. See reembed.h.
 */
#include "engine/feed/reembed.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/task.h"
#include "engine/feed/feed_kind.h"
#include "engine/feed/model_use.h"
#include "engine/feed/vector.h"
#include "index/index.h"
#include "model/embed.h"
#include "store/db.h"

#include <stdio.h>
#include <string.h>

/* One claim works this long, well inside its lease, then lets others on. */
#define CLAIM_NS (15 * 1000000000LL)
/* The claim is renewed with each batch, for this long and four times what the
 * slowest took, so that another worker goes on soon after one died. */
#define LEASE_MS 2000
/* What a model gets of a text: encoders read 512 tokens, and endpoints refuse
 * what is too long. */
#define TEXT_BYTES 8192
/* A task that failed for good is not made again before this. */
#define PLAN_AGAIN_MS CLOCK_MINUTE_MS

DB_SQL_SYSTEM(
    SELECT_BEHIND,
    "SELECT n.tenant FROM tenants n LEFT JOIN vector_models v"
    " ON v.tenant = n.tenant AND v.model = $1"
    " WHERE n.change_seq > 0 AND (v.ready_at IS NULL"
    " OR n.change_seq > v.through) AND NOT EXISTS"
    " (SELECT 1 FROM tasks k WHERE k.tenant = n.tenant AND k.unique_key = $2"
    " AND (k.finished_at IS NULL OR (k.status = 'failed'"
    " AND k.finished_at > $3))) ORDER BY n.tenant LIMIT 1000");
DB_SQL_SYSTEM(COUNT_UNREADY,
              "SELECT COUNT(*) FROM tenants n LEFT JOIN vector_models v"
              " ON v.tenant = n.tenant AND v.model = $1"
              " WHERE n.change_seq > 0 AND v.ready_at IS NULL");
/* --- one batch ----------------------------------------------------------- */

struct batch {
    struct arena *arena;
    const struct task *task;
    int64_t lease_until_ms;
    const char *model;
    size_t dim;
    struct vector_progress at; /* when the rows were read */
    struct feed_rows rows[INDEX_KINDS];
    int64_t through;        /* what these rows are complete up to */
    struct vector *vectors; /* of the rows up to there */
    struct str *texts;
    size_t count;
    int64_t reached; /* what has its vectors once the batch is stored */
    bool is_all;     /* nothing was written meanwhile: nothing is left */
};

static enum clew_status do_read(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct batch *batch = arg;
    enum clew_status status =
        vector_progress_get(tx, batch->model, &batch->at, err);

    return status == CLEW_OK ? feed_list(tx, batch->arena, batch->at.through,
                                         REEMBED_BATCH, batch->rows, err)
                             : status;
}

/* Which rows are in the batch, and their texts: those the index searches. */
static enum clew_status take_rows(struct batch *batch, struct clew_error *err)
{
    size_t max = 1;

    for (size_t k = 0; k < INDEX_KINDS; k++) {
        max += batch->rows[k].count;
    }
    batch->through = feed_through(batch->rows, REEMBED_BATCH, batch->at.latest);
    batch->vectors = arena_zero(batch->arena, max, sizeof(*batch->vectors));
    batch->texts = arena_zero(batch->arena, max, sizeof(*batch->texts));
    if (!batch->vectors || !batch->texts) {
        return clew_no_memory(err);
    }
    for (size_t k = 0; k < INDEX_KINDS; k++) {
        const struct feed_kind *kind = &feed_kinds[k];

        for (size_t i = 0; i < batch->rows[k].count; i++) {
            const void *row = feed_row(kind, &batch->rows[k], i);
            struct str text = kind->text(batch->arena, row);

            if (!text.s) {
                return clew_no_memory(err);
            }
            if (feed_change(kind, row) <= batch->through) {
                batch->vectors[batch->count] =
                    (struct vector){.kind = (enum index_kind)k,
                                    .id = *feed_id(kind, row),
                                    .source_change = feed_change(kind, row)};
                batch->texts[batch->count++] = utf8_head(text, TEXT_BYTES);
            }
        }
    }
    return CLEW_OK;
}

/* True if the model answered that it does not take these texts. */
static bool is_refusal(enum clew_status status)
{
    return status == CLEW_INVALID || status == CLEW_TOO_LARGE;
}

/* Embed; a text the model refuses gets no vector and holds up no other. */
static enum clew_status embed_batch(struct batch *batch,
                                    struct embedder *embedder,
                                    struct clew_error *err)
{
    float *values = arena_zero(batch->arena, batch->count * batch->dim + 1,
                               sizeof(*values));
    enum clew_status status;
    bool is_one_by_one;

    if (!values) {
        return clew_no_memory(err);
    }
    status = embed_run(embedder, batch->texts, batch->count, values, err);
    is_one_by_one = is_refusal(status);
    if (is_one_by_one) {
        status = CLEW_OK;
    }
    for (size_t i = 0; i < batch->count && status == CLEW_OK; i++) {
        float *own = values + i * batch->dim;

        if (is_one_by_one) {
            status = embed_run(embedder, &batch->texts[i], 1, own, err);
            if (is_refusal(status)) {
                status = CLEW_OK;
                continue;
            }
        }
        batch->vectors[i].dim = batch->dim;
        batch->vectors[i].values = own;
    }
    return status;
}

/* Store the batch, and how far that brings the model. */
static enum clew_status do_write(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct batch *batch = arg;
    struct vector_progress now;
    int64_t first = 0;
    enum clew_status status = vector_progress_get(tx, batch->model, &now, err);

    if (status == CLEW_OK && now.through != batch->at.through) {
        return clew_fail(err, CLEW_CONFLICT,
                         "another worker is embedding this tenant");
    }
    batch->is_all = now.latest == batch->through;
    batch->reached = batch->through;
    if (status == CLEW_OK && batch->count > 0) {
        status = db_take_changes(tx, (int64_t)batch->count, &first, err);
    }
    for (size_t i = 0; i < batch->count && status == CLEW_OK; i++) {
        batch->vectors[i].change_seq = first + (int64_t)i;
        status = vector_put(tx, batch->model, &batch->vectors[i], err);
    }
    if (batch->is_all && batch->count > 0) {
        /* between what was read and now there are only these vectors */
        batch->reached = first + (int64_t)batch->count - 1;
    }
    return status == CLEW_OK ? vector_progress_set(tx, batch->model, batch->dim,
                                                   batch->reached, 0, err)
                             : status;
}

/* One claim of the task. */
struct claim {
    struct engine *engine;
    const struct task *task;
    const struct model_lease *model;
    struct embedder *embedder;
    int64_t slowest_ms; /* batch so far */
    bool is_all;        /* nothing is left */
};

/* One batch from reading to storing. */
static enum clew_status step(struct claim *claim, struct arena *arena,
                             struct clew_error *err)
{
    struct engine *engine = claim->engine;
    const struct scope *scope = &claim->task->scope;
    int64_t start_ns = clock_mono_ns();
    struct batch batch = {.arena = arena,
                          .task = claim->task,
                          .model = claim->model->id,
                          .dim = claim->model->dim};
    enum clew_status status =
        store_read(engine->store, scope, do_read, &batch, err);
    int64_t took_ms;

    if (status == CLEW_OK) {
        status = take_rows(&batch, err);
    }
    if (status == CLEW_OK && batch.count > 0) {
        status = embed_batch(&batch, claim->embedder, err);
    }
    took_ms = (clock_mono_ns() - start_ns) / 1000000;
    if (took_ms > claim->slowest_ms) {
        claim->slowest_ms = took_ms;
    }
    batch.lease_until_ms =
        clock_now_ms(engine->clock) + LEASE_MS + 4 * claim->slowest_ms;
    if (status == CLEW_OK) {
        status = store_write(engine->store, scope, do_write, &batch, err);
    }
    if (status == CLEW_OK) {
        claim->is_all = batch.is_all;
    }
    return status;
}

/* --- the task ------------------------------------------------------------ */

struct end_work {
    const struct task *task;
    struct arena *arena;
    const char *model;
    size_t dim;
    int64_t now_ms;
    bool is_ready; /* the index is made: serve with it */
};

/* The task is done if nothing was written since; else it goes on as another.
 */
static enum clew_status do_end(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct end_work *work = arg;
    struct task_new next = {.kind = REEMBED_TASK,
                            .unique_key = str_of(work->model),
                            .payload = work->task->payload,
                            .priority = work->task->priority,
                            .execute_at_ms = work->now_ms,
                            .now_ms = work->now_ms};
    struct vector_progress at;
    enum clew_status status = vector_progress_get(tx, work->model, &at, err);

    if (status == CLEW_OK && work->is_ready) {
        status = vector_progress_set(tx, work->model, work->dim, at.through,
                                     work->now_ms, err);
    }
    if (status == CLEW_OK) {
        status = task_complete(tx, work->task, work->now_ms, err);
    }
    if (status == CLEW_OK && at.through < at.latest) {
        status = task_add(tx, work->arena, &next, err);
    }
    return status;
}

/* Bring the model's index up to date and onto the disk. */
static enum clew_status make_index(const struct model_lease *model,
                                   const struct scope *scope,
                                   struct clew_error *err)
{
    struct index_view *view = NULL;
    enum clew_status status =
        index_view_open(model->indexes, scope->tenant, &view, err);

    index_view_close(view);
    if (status == CLEW_OK) {
        /* what stays in memory is only made again after a restart */
        clew_ignore(index_flush(model->indexes, scope->tenant, NULL));
    }
    return status;
}

static enum clew_status work_on(struct engine *engine, const struct task *task,
                                const struct model_lease *model,
                                struct arena *arena, struct clew_error *err)
{
    int64_t until_ns = clock_mono_ns() + CLAIM_NS;
    struct claim claim = {.engine = engine, .task = task, .model = model};
    struct end_work end = {
        .task = task, .arena = arena, .model = model->id, .dim = model->dim};
    struct arena scratch;
    enum clew_status status =
        model_use_embedder(engine, model, false, &claim.embedder, err);

    arena_init(&scratch, (size_t)1 << 30);
    while (status == CLEW_OK && !claim.is_all && clock_mono_ns() < until_ns &&
           !model_use_is_stopping(engine)) {
        arena_clear(&scratch);
        status = step(&claim, &scratch, err);
    }
    arena_release(&scratch);
    model_use_report(engine, status == CLEW_OK || !err ? NULL : err->message);
    if (status == CLEW_OK && claim.is_all) {
        status = make_index(model, &task->scope, err);
        end.is_ready = true;
    }
    end.now_ms = clock_now_ms(engine->clock);
    return status == CLEW_OK
               ? store_write(engine->store, &task->scope, do_end, &end, err)
               : status;
}

enum clew_status reembed_task(struct engine *engine, const struct task *task,
                              struct arena *arena, struct clew_error *err)
{
    struct str key = STR(REEMBED_TASK ":");
    struct model_lease model;
    enum clew_status status = CLEW_OK;

    if (!model_use_chosen(engine, &model)) {
        return CLEW_OK; /* another was chosen meanwhile: plan adds its own */
    }
    /* the key is "reembed:<model>" */
    if (str_eq(str_sub(task->unique_key, key.len, task->unique_key.len),
               str_of(model.id))) {
        status = work_on(engine, task, &model, arena, err);
    }
    model_use_release(engine, &model);
    return status;
}

/* --- planning ------------------------------------------------------------ */

struct plan_work {
    struct arena *arena;
    const char *model;
    char key[128];
    int64_t now_ms;
    int64_t n_unready;
    struct rows_list tenants;
};

static bool tenant_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    (void)arena;
    *(int64_t *)item = db_get_int(rows, 0);
    return true;
}

static enum clew_status do_behind(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct plan_work *work = arg;
    enum clew_status status =
        rows_number(tx, &COUNT_UNREADY, DB_ARGS(db_cstr(work->model)),
                    &work->n_unready, err);

    work->tenants.count = 0;
    return status == CLEW_OK
               ? rows_add(tx, &work->tenants, &SELECT_BEHIND,
                          DB_ARGS(db_cstr(work->model), db_cstr(work->key),
                                  db_int(work->now_ms - PLAN_AGAIN_MS)),
                          err)
               : status;
}

static enum clew_status do_add(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct plan_work *work = arg;
    struct task_new input = {.kind = REEMBED_TASK,
                             .unique_key = str_of(work->model),
                             .payload = STR("{}"),
                             .priority = -10, /* after what people wait for */
                             .execute_at_ms = work->now_ms,
                             .now_ms = work->now_ms};

    return task_add(tx, work->arena, &input, err);
}

enum clew_status reembed_plan(struct engine *engine, struct reembed_lag *out,
                              struct clew_error *err)
{
    struct model_lease model;
    struct arena arena;
    struct plan_work work = {
        .arena = &arena,
        .now_ms = clock_now_ms(engine->clock),
        .tenants = {.arena = &arena, .size = sizeof(int64_t), .fn = tenant_of}};
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    if (!model_use_chosen(engine, &model)) {
        return CLEW_OK;
    }
    arena_init(&arena, 1u << 24);
    work.model = model.id;
    (void)snprintf(work.key, sizeof(work.key), REEMBED_TASK ":%s", model.id);
    status = store_read_system(engine->store, do_behind, &work, err);
    for (size_t i = 0; i < work.tenants.count && status == CLEW_OK; i++) {
        struct scope scope = {((int64_t *)work.tenants.items)[i]};

        status = store_write(engine->store, &scope, do_add, &work, err);
    }
    out->n_added = work.tenants.count;
    out->n_unready = work.n_unready;
    arena_release(&arena);
    model_use_release(engine, &model);
    return status;
}
