/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.c - what indexes catch up from, and the indexes. See feed.h.
 */
#include "engine/feed/feed.h"

#include "base/alloc.h"
#include "base/config.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/feed/feed_kind.h"
#include "engine/feed/vector.h"
#include "engine/feed/vector_graph.h"
#include "engine/read/gist.h"
#include "index/doc.h"
#include "model/embed.h"
#include "model/model_store.h"
#include "store/db.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DB_SQL(SELECT_LATEST, "SELECT change_seq FROM tenants WHERE tenant = $1");
DB_SQL(SELECT_GONE, "SELECT change_seq, kind, id FROM tombstones"
                    " WHERE tenant = $1 AND change_seq > $2"
                    " ORDER BY change_seq LIMIT $3");

/* --- the source the indexes catch up from ----------------------------------
 */

static enum clew_status do_latest(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    return rows_number(tx, &SELECT_LATEST, DB_NO_ARGS, arg, err);
}

static enum clew_status source_latest(void *arg, int64_t tenant,
                                      int64_t *out_change,
                                      struct clew_error *err)
{
    const struct feed_source *from = arg;
    struct scope scope = {tenant};

    return store_read(from->engine->store, &scope, do_latest, out_change, err);
}

struct load_work {
    struct arena *arena;
    const char *model; /* NULL = the shipped one */
    int64_t after;
    int64_t max;
    int64_t latest;
    struct feed_rows rows[INDEX_KINDS];
    struct index_doc *gone;
    size_t n_gone;
    size_t n_gone_rows; /* tombstones read, of whatever kind */
    int64_t last_gone;
    struct vector *vectors; /* new ones, and the rows they belong to */
    size_t n_vectors;
    struct feed_rows vector_rows[INDEX_KINDS];
    int64_t gist_model;
    struct gist *gists; /* new ones, then those that are gone */
    size_t n_gists;
    size_t n_new_gists;
    struct feed_rows gist_rows; /* the turns they belong to */
};

static bool kind_parse(struct str text, enum index_kind *out_kind)
{
    for (int i = 0; i < INDEX_KINDS; i++) {
        if (str_eq(text, str_of(feed_kinds[i].name))) {
            *out_kind = (enum index_kind)i;
            return true;
        }
    }
    return false;
}

static enum clew_status load_gone(struct store_tx *tx, struct load_work *work,
                                  struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status;

    work->gone =
        arena_zero(work->arena, (size_t)work->max, sizeof(*work->gone));
    work->n_gone = 0;
    if (!work->gone) {
        return clew_no_memory(err);
    }
    status =
        db_query(tx, &SELECT_GONE,
                 DB_ARGS(db_int(work->after), db_int(work->max)), &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    while (work->n_gone_rows < (size_t)work->max && db_next(&rows)) {
        struct index_doc *doc = &work->gone[work->n_gone];
        struct str kind = db_get_text(&rows, 1);

        work->n_gone_rows++;
        work->last_gone = db_get_int(&rows, 0);
        if (kind_parse(kind, &doc->kind)) {
            doc->is_removed = true;
            doc->change_seq = work->last_gone;
            doc->id = db_get_uuid(&rows, 2);
            work->n_gone++;
        } else if (!work->model && str_eq(kind, STR(GIST_KIND))) {
            work->gists[work->n_gists++] = (struct gist){
                .id = db_get_uuid(&rows, 2), .change_seq = work->last_gone};
        }
    }
    return db_end(&rows, err);
}

/* New gists, with room for those that are gone. */
static enum clew_status load_gists(struct store_tx *tx, struct load_work *work,
                                   struct clew_error *err)
{
    struct gist *found = NULL;
    size_t count = 0;
    enum clew_status status =
        gist_list_changes(tx, work->arena, work->gist_model, work->after,
                          work->max, &found, &count, err);

    if (status != CLEW_OK) {
        return status;
    }
    work->gists = arena_zero(work->arena, count + (size_t)work->max,
                             sizeof(*work->gists));
    if (!work->gists) {
        return clew_no_memory(err);
    }
    if (count > 0) {
        memcpy(work->gists, found, count * sizeof(*found));
    }
    work->n_gists = count;
    work->n_new_gists = count;
    return CLEW_OK;
}

/* The turns that gists belong to. */
static enum clew_status load_gist_rows(struct store_tx *tx,
                                       struct load_work *work,
                                       struct clew_error *err)
{
    struct uuid *ids = arena_zero(work->arena, work->n_gists + 1, sizeof(*ids));

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->n_gists; i++) {
        ids[i] = work->gists[i].id;
    }
    return work->n_gists == 0
               ? CLEW_OK
               : feed_kinds[INDEX_TURN].find_many(
                     tx, work->arena, ids, work->n_gists,
                     &work->gist_rows.items, &work->gist_rows.count, err);
}

/* The model's new vectors with their rows. */
static enum clew_status load_vectors(struct store_tx *tx,
                                     struct load_work *work,
                                     struct clew_error *err)
{
    enum clew_status status =
        vector_list_changes(tx, work->arena, work->model, work->after,
                            work->max, &work->vectors, &work->n_vectors, err);
    struct uuid *ids;

    if (status != CLEW_OK || work->n_vectors == 0) {
        return status;
    }
    ids = arena_zero(work->arena, work->n_vectors, sizeof(*ids));
    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->n_vectors; i++) {
        ids[i] = work->vectors[i].id;
    }
    for (size_t k = 0; k < INDEX_KINDS && status == CLEW_OK; k++) {
        struct feed_rows *rows = &work->vector_rows[k];

        status = feed_kinds[k].find_many(tx, work->arena, ids, work->n_vectors,
                                         &rows->items, &rows->count, err);
    }
    return status;
}

static enum clew_status do_load(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct load_work *work = arg;
    enum clew_status status = do_latest(tx, &work->latest, err);

    if (status == CLEW_OK) {
        status =
            feed_list(tx, work->arena, work->after, work->max, work->rows, err);
    }
    if (status == CLEW_OK && !work->model) {
        status = load_gists(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = load_gone(tx, work, err);
    }
    if (status == CLEW_OK && !work->model) {
        status = load_gist_rows(tx, work, err);
    }
    return status == CLEW_OK && work->model ? load_vectors(tx, work, err)
                                            : status;
}

/* Lower `*through` to what a list cut at `max` is complete up to. */
static void limit_to(int64_t *through, size_t count, int64_t max, int64_t last)
{
    if ((int64_t)count >= max && last < *through) {
        *through = last;
    }
}

static int64_t complete_through(const struct load_work *work)
{
    int64_t through = feed_through(work->rows, work->max, work->latest);

    limit_to(&through, work->n_gone_rows, work->max, work->last_gone);
    if (work->n_new_gists > 0) {
        limit_to(&through, work->n_new_gists, work->max,
                 work->gists[work->n_new_gists - 1].change_seq);
    }
    if (work->n_vectors > 0) {
        limit_to(&through, work->n_vectors, work->max,
                 work->vectors[work->n_vectors - 1].change_seq);
    }
    return through;
}

static int by_change(const void *a, const void *b)
{
    int64_t left = ((const struct index_doc *)a)->change_seq;
    int64_t right = ((const struct index_doc *)b)->change_seq;

    return left < right ? -1 : left > right;
}

/* Documents of all rows up to `through`, in the order of their changes. */
static enum clew_status make_docs(struct engine *engine,
                                  const struct load_work *work, int64_t through,
                                  struct index_doc *docs, size_t *out_count,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    size_t n = 0;

    for (size_t k = 0; k < INDEX_KINDS; k++) {
        const struct feed_kind *kind = &feed_kinds[k];
        const struct feed_rows *rows = &work->rows[k];

        for (size_t i = 0; i < rows->count && status == CLEW_OK; i++) {
            const void *row = feed_row(kind, rows, i);

            if (feed_change(kind, row) <= through) {
                status = kind->doc(engine, work->arena, row, &docs[n++], err);
            }
        }
    }
    for (size_t i = 0; i < work->n_gone; i++) {
        if (work->gone[i].change_seq <= through) {
            docs[n++] = work->gone[i];
        }
    }
    qsort(docs, n, sizeof(*docs), by_change);
    *out_count = n;
    return status;
}

/* The document of the row a vector belongs to; nothing if the row is gone or
 * has changed: then its own change tells, or told, the index. */
static enum clew_status doc_of_vector(struct engine *engine,
                                      const struct load_work *work,
                                      const struct vector *vector,
                                      struct index_doc *out, bool *out_is_made,
                                      struct clew_error *err)
{
    *out_is_made = false;
    for (size_t k = 0; k < INDEX_KINDS; k++) {
        const struct feed_kind *kind = &feed_kinds[k];
        const struct feed_rows *rows = &work->vector_rows[k];

        for (size_t i = 0; i < rows->count; i++) {
            const void *row = feed_row(kind, rows, i);

            if (uuid_eq(feed_id(kind, row), &vector->id) &&
                feed_change(kind, row) == vector->source_change) {
                *out_is_made = true;
                return kind->doc(engine, work->arena, row, out, err);
            }
        }
    }
    return CLEW_OK;
}

/*
 * Documents for another model's index: those of rows get no vector, those of
 * vectors follow, each with the change number of its vector. A row whose vector
 * was made long ago is told of twice when an index is made anew; the second
 * telling replaces the first.
 */
static enum clew_status add_vectors(const struct feed_source *from,
                                    const struct load_work *work,
                                    int64_t through, struct index_doc *docs,
                                    size_t *count, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    size_t n = *count;

    for (size_t i = 0; i < n; i++) {
        docs[i].vector = NULL;
        docs[i].halves = NULL;
    }
    for (size_t i = 0; i < work->n_vectors && status == CLEW_OK; i++) {
        const struct vector *vector = &work->vectors[i];
        bool is_made;

        if (vector->change_seq > through) {
            break;
        }
        status =
            doc_of_vector(from->engine, work, vector, &docs[n], &is_made, err);
        if (status == CLEW_OK && is_made) {
            docs[n].change_seq = vector->change_seq;
            docs[n].halves = NULL; /* those are the shipped model's */
            docs[n++].vector = vector->dim == from->dim ? vector->values : NULL;
        }
    }
    qsort(docs, n, sizeof(*docs), by_change);
    *count = n;
    return status;
}

/* Turns once more, as their gists make them. A turn whose gist was made long
 * ago is told of twice when an index is made anew. */
static enum clew_status add_gists(const struct feed_source *from,
                                  const struct load_work *work, int64_t through,
                                  struct index_doc *docs, size_t *count,
                                  struct clew_error *err)
{
    const struct feed_kind *kind = &feed_kinds[INDEX_TURN];
    const struct feed_rows *rows = &work->gist_rows;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->n_gists; i++) {
        const struct gist *gist = &work->gists[i];
        size_t at = 0;

        while (at < rows->count &&
               !uuid_eq(feed_id(kind, feed_row(kind, rows, at)), &gist->id)) {
            at++;
        }
        if (status == CLEW_OK && at < rows->count &&
            gist->change_seq <= through) {
            struct index_doc *doc = &docs[(*count)++];

            status = kind->doc(from->engine, work->arena,
                               feed_row(kind, rows, at), doc, err);
            doc->change_seq = gist->change_seq;
            doc->gist = gist->place;
        }
    }
    qsort(docs, *count, sizeof(*docs), by_change);
    return status;
}

enum clew_status feed_load(const struct feed_source *from, int64_t tenant,
                           int64_t after, size_t max, struct arena *arena,
                           struct index_doc **out_docs, size_t *out_count,
                           int64_t *out_through, struct clew_error *err)
{
    struct scope scope = {tenant};
    struct load_work work = {.arena = arena,
                             .model = from->model,
                             .gist_model = gist_model(from->engine),
                             .after = after,
                             .max = (int64_t)max};
    struct index_doc *docs;
    int64_t through;
    size_t count;
    enum clew_status status =
        store_read(from->engine->store, &scope, do_load, &work, err);

    if (status != CLEW_OK) {
        return status;
    }
    count = work.n_gone + work.n_vectors + work.n_gists;
    for (size_t k = 0; k < INDEX_KINDS; k++) {
        count += work.rows[k].count;
    }
    docs = arena_zero(arena, count, sizeof(*docs));
    if (!docs) {
        return clew_no_memory(err);
    }
    through = complete_through(&work);
    assert(through >= after); /* else the index would go back */
    status = make_docs(from->engine, &work, through, docs, &count, err);
    if (status == CLEW_OK) {
        status = from->model
                     ? add_vectors(from, &work, through, docs, &count, err)
                     : add_gists(from, &work, through, docs, &count, err);
    }
    if (status == CLEW_OK) {
        *out_docs = docs;
        *out_count = count;
        *out_through = through;
    }
    return status;
}

static enum clew_status source_load(void *arg, int64_t tenant, int64_t after,
                                    size_t max, struct arena *arena,
                                    struct index_doc **out_docs,
                                    size_t *out_count, int64_t *out_through,
                                    struct clew_error *err)
{
    return feed_load(arg, tenant, after, max, arena, out_docs, out_count,
                     out_through, err);
}

/* --- whether an index is of these tables -----------------------------------
 */

DB_SQL(COUNT_KNOWN,
       "SELECT COUNT(*) FROM (SELECT id FROM turns WHERE tenant = $1"
       " AND id = ANY($2) UNION SELECT id FROM memories WHERE tenant = $1"
       " AND id = ANY($2) UNION SELECT id FROM tombstones WHERE tenant = $1"
       " AND id = ANY($2)) AS known");
#define LAST_OF(table)                                                         \
    "SELECT id FROM " table " WHERE tenant = $1 AND change_seq <= $2"          \
    " ORDER BY change_seq DESC LIMIT $3"
DB_SQL(LAST_TURNS, LAST_OF("turns"));
DB_SQL(LAST_MEMORIES, LAST_OF("memories"));

static enum clew_status add_last(struct store_tx *tx, const struct db_sql *sql,
                                 struct index_proof *proof,
                                 struct clew_error *err)
{
    size_t end = proof->n_last + INDEX_PROOF_IDS / 2;
    struct db_rows rows;
    enum clew_status status = db_query(
        tx, sql, DB_ARGS(db_int(proof->through), db_int(INDEX_PROOF_IDS / 2)),
        &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    while (proof->n_last < end && db_next(&rows)) {
        proof->last[proof->n_last++] = db_get_uuid(&rows, 0);
    }
    return db_end(&rows, err);
}

static enum clew_status do_prove(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct index_proof *proof = arg;
    int64_t n_known = 0;
    enum clew_status status =
        rows_number(tx, &COUNT_KNOWN,
                    DB_ARGS(db_uuids(proof->ids, proof->n_ids)), &n_known, err);

    proof->is_known = n_known == (int64_t)proof->n_ids;
    proof->n_last = 0;
    if (status == CLEW_OK) {
        status = add_last(tx, &LAST_TURNS, proof, err);
    }
    return status == CLEW_OK ? add_last(tx, &LAST_MEMORIES, proof, err)
                             : status;
}

static enum clew_status source_prove(void *arg, int64_t tenant,
                                     struct index_proof *proof,
                                     struct clew_error *err)
{
    const struct feed_source *from = arg;
    struct scope scope = {tenant};

    return store_read(from->engine->store, &scope, do_prove, proof, err);
}

static enum clew_status open_set(struct feed_source *source, const char *dir,
                                 struct index_set **out_set,
                                 struct clew_error *err)
{
    struct engine *engine = source->engine;
    struct index_options options = {
        .dir = dir,
        .ram_bytes = (size_t)config_int(engine->config, "index.ram_bytes"),
        .model = source->model ? source->model : engine->embedder->id,
        .dim = source->dim,
        .centre = source->centre,
        .analyser = DOC_ANALYSER_VERSION,
        .gists = source->model ? 0 : (uint64_t)gist_model(engine),
        .store = engine->store_id,
        .can_be_bare = vector_graph_is_on(engine, source->dim),
        .source = {source, source_latest, source_load, source_prove}};

    return index_set_open(&options, out_set, err);
}

void feed_dir(const struct engine *engine, char *out, size_t size)
{
    if (engine->index_dir) {
        (void)snprintf(out, size, "%s", engine->index_dir);
    } else {
        (void)snprintf(out, size, "%s/index", engine->data_dir);
    }
}

enum clew_status feed_open(struct engine *engine, struct clew_error *err)
{
    char path[4096];

    engine->feed = alloc_zero(1, sizeof(*engine->feed));
    if (!engine->feed) {
        return clew_no_memory(err);
    }
    engine->feed->engine = engine;
    engine->feed->dim = engine->embedder->dim;
    if (embed_centre(engine->embedder, engine->feed->own_centre)) {
        engine->feed->centre = engine->feed->own_centre;
    }
    feed_dir(engine, path, sizeof(path));
    return open_set(engine->feed, path, &engine->indexes, err);
}

void feed_close(struct engine *engine)
{
    index_set_close(engine->indexes);
    engine->indexes = NULL;
    alloc_free(engine->feed);
    engine->feed = NULL;
}

void feed_model_dir(const struct engine *engine, const char *model, char *out,
                    size_t size)
{
    char dir[4000];

    feed_dir(engine, dir, sizeof(dir));
    (void)snprintf(out, size, "%s/m-%016llx", dir,
                   (unsigned long long)index_term_hash(str_of(model)));
}

/* The centre that was found when the model was added to the data folder. A
 * model that is not there, or came without, is kept about the origin. */
void feed_find_centre(struct feed_source *source)
{
    const char *dir = source->engine->data_dir;
    struct embedder model = {.dim = source->dim};
    int16_t centre[EMBED_MAX_DIM];
    json_t *list = NULL;
    const json_t *row;
    size_t i;

    source->centre = NULL;
    if (source->dim > EMBED_MAX_DIM ||
        model_store_list(dir, &list, NULL) != CLEW_OK) {
        return;
    }
    json_array_foreach (list, i, row) {
        const char *id = json_string_value(json_object_get(row, "id"));
        const char *name = json_string_value(json_object_get(row, "name"));

        if (id && name && strcmp(id, source->model) == 0 &&
            model_store_centre(dir, name, source->dim, centre, NULL) ==
                CLEW_OK) {
            model.centre = centre;
        }
    }
    json_decref(list);
    if (embed_centre(&model, source->own_centre)) {
        source->centre = source->own_centre;
    }
}

enum clew_status feed_open_model(struct feed_source *source,
                                 struct index_set **out_set,
                                 struct clew_error *err)
{
    char path[4096];

    feed_find_centre(source);
    feed_model_dir(source->engine, source->model, path, sizeof(path));
    return open_set(source, path, out_set, err);
}
