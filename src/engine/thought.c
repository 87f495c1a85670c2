/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thought.c - contribute, retrieve, reinforce. See thought.h.
 *
 * Retrieval runs on the index before anything is stored, so a new thought
 * cannot find itself; everything that writes happens in one transaction.
 */
#include "engine/thought.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/feed.h"
#include "engine/rows.h"
#include "engine/search.h"
#include "engine/work.h"
#include "model/embed.h"
#include "store/db.h"
#include "text/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_STORED_CHARS 50
#define SIMILAR 0.85
#define NEAR_TIE 0.01 /* score difference within which weight may decide */
#define CLUSTER_HITS 10
#define CLUSTER_TAGS 3
#define AUTO_TAGS 3
#define HIGHWAY_ACCESSES 3
#define HIGHWAY_AGENTS 2

DB_SQL(REINFORCE, "UPDATE memories SET weight = $3, weight_at = $4,"
                  " retrieval_count = retrieval_count + 1"
                  " WHERE tenant = $1 AND id = $2");
DB_SQL(CREDIT, "UPDATE memories SET weight = $3, weight_at = $4"
               " WHERE tenant = $1 AND id = $2");
DB_SQL(COUNT_ACCESS,
       "INSERT INTO memory_access (tenant, memory_id, agent_id, access_count)"
       " VALUES ($1, $2, $3, 1) ON CONFLICT (tenant, memory_id, agent_id)"
       " DO UPDATE SET access_count = memory_access.access_count + 1");
DB_SQL(SELECT_HIGHWAYS,
       "SELECT memory_id, SUM(access_count), COUNT(*) FROM memory_access"
       " WHERE tenant = $1 AND memory_id = ANY($2) GROUP BY memory_id"
       " HAVING SUM(access_count) >= $3 AND COUNT(*) >= $4");
DB_SQL(SELECT_AGENT, "SELECT first_seen_at FROM agents WHERE tenant = $1"
                     " AND agent_id = $2");
DB_SQL(INSERT_AGENT, "INSERT INTO agents (tenant, agent_id, agent_name,"
                     " first_seen_at) VALUES ($1, $2, $3, $4)"
                     " ON CONFLICT DO NOTHING");
DB_SQL(NOTE_RESULT,
       "INSERT INTO agent_results (tenant, agent_session, memory_id,"
       " created_at, is_credited) VALUES ($1, $2, $3, $4, 0)"
       " ON CONFLICT (tenant, agent_session, memory_id)"
       " DO UPDATE SET is_credited = 0");
DB_SQL(SELECT_UNCREDITED,
       "SELECT memory_id FROM agent_results WHERE tenant = $1"
       " AND agent_session = $2 AND is_credited = 0 LIMIT 1000");
DB_SQL(MARK_CREDITED, "UPDATE agent_results SET is_credited = 1"
                      " WHERE tenant = $1 AND agent_session = $2");

static const char *const operation_names[] = {
    "contribute",   "retrieve", "reinforce",
    "disambiguate", "onboard",  "feedback_implicit"};

const char *thought_operation_name(enum thought_operation operation)
{
    return operation_names[operation];
}

static enum clew_status no_memory(struct clew_error *err)
{
    return clew_fail(err, CLEW_NO_MEMORY, "out of memory");
}

static void add_operation(struct thought_result *out,
                          enum thought_operation operation)
{
    out->operations[out->n_operations++] = operation;
}

/* --- what is worth storing -------------------------------------------------- */

static bool is_lone_question(struct str text)
{
    return text.s[text.len - 1] == '?' && !memchr(text.s, '.', text.len) &&
           !memchr(text.s, '!', text.len);
}

bool thought_is_worth_storing(struct str prompt)
{
    /* talk about an earlier answer, not knowledge of its own */
    static const char *const replies[] = {"based on", "you said", "you told me",
                                          "regarding your",
                                          "about your response"};
    struct str text = str_trim(prompt);

    if (utf8_count(text) <= MIN_STORED_CHARS || is_lone_question(text)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        if (str_istarts(text, str_of(replies[i]))) {
            return false;
        }
    }
    return true;
}

/* --- validation -------------------------------------------------------------- */

static enum clew_status check_text(struct str text, const char *field,
                                   size_t max_chars, bool is_required,
                                   struct clew_error *err)
{
    if (is_required && str_trim(text).len == 0) {
        return clew_fail_field(err, field, "\"%s\" must not be blank", field);
    }
    if (utf8_count(text) > max_chars) {
        return clew_fail_field(err, field,
                               "\"%s\" is longer than %zu characters", field,
                               max_chars);
    }
    return CLEW_OK;
}

static enum clew_status check_sources(const struct thought_input *input,
                                      struct clew_error *err)
{
    if (!uuid_is_nil(&input->refines) && input->has_consolidates) {
        return clew_fail_code(err, CLEW_INVALID, "MUTUAL_EXCLUSION",
                              "\"refines\" and \"consolidates\" exclude each "
                              "other");
    }
    if (!input->has_consolidates) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < input->n_consolidates; i++) {
        for (size_t k = 0; k < i; k++) {
            if (uuid_eq(&input->consolidates[i], &input->consolidates[k])) {
                return clew_fail_code(err, CLEW_INVALID, "MIN_CONSOLIDATION",
                                      "\"consolidates\" names a thought twice");
            }
        }
    }
    if (input->n_consolidates < 2) {
        return clew_fail_code(err, CLEW_INVALID, "MIN_CONSOLIDATION",
                              "\"consolidates\" must name at least 2 thoughts");
    }
    return CLEW_OK;
}

static enum clew_status check_input(const struct thought_input *input,
                                    struct clew_error *err)
{
    enum clew_status status =
        check_text(input->prompt, "prompt", THOUGHT_MAX_PROMPT_CHARS, true, err);

    if (status == CLEW_OK) {
        status = check_text(input->agent_id, "agent_id",
                            THOUGHT_MAX_AGENT_ID_CHARS, true, err);
    }
    if (status == CLEW_OK) {
        status = check_text(input->agent_name, "agent_name",
                            THOUGHT_MAX_AGENT_NAME_CHARS, true, err);
    }
    if (status == CLEW_OK) {
        status = check_text(input->context, "context",
                            THOUGHT_MAX_CONTEXT_CHARS, false, err);
    }
    if (status == CLEW_OK && input->n_consolidates > THOUGHT_MAX_SOURCES) {
        return clew_fail_field(err, "consolidates",
                               "\"consolidates\" names more than %d thoughts",
                               THOUGHT_MAX_SOURCES);
    }
    return status == CLEW_OK ? check_sources(input, err) : status;
}

/* --- retrieval ----------------------------------------------------------------- */

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct thought_input *input;
    int64_t now_ms;
    struct search_result found;
    struct uuid new_id;
    const struct memory *similar; /* a near-duplicate found, or NULL */
    struct uuid refined_by; /* what had already refined the one refined now */
    bool is_stored;
    struct thought_result *out;
    struct batch_work batch;
};

/* Best first; within a near-tie the heavier one. */
static int by_score(const void *a, const void *b)
{
    const struct thought_source *left = a;
    const struct thought_source *right = b;
    double left_band = floor(left->score / NEAR_TIE);
    double right_band = floor(right->score / NEAR_TIE);

    if (left_band != right_band) {
        return left_band > right_band ? -1 : 1;
    }
    if (left->memory.weight != right->memory.weight) {
        return left->memory.weight > right->memory.weight ? -1 : 1;
    }
    if (left->score != right->score) {
        return left->score > right->score ? -1 : 1;
    }
    return -uuid_cmp(&left->memory.id, &right->memory.id);
}

static enum clew_status retrieve(struct work *work, const struct scope *scope,
                                 struct clew_error *err)
{
    const struct thought_input *input = work->input;
    struct search_query query = {.query = input->prompt,
                                 .kinds = RECALL_MEMORY,
                                 .limit = THOUGHT_RETRIEVED,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = work->now_ms};
    struct thought_result *out = work->out;
    enum clew_status status;

    if (str_trim(input->context).len > 0) {
        out->is_context_used = true;
        query.query = str_of(arena_printf(
            work->arena, "%.*s\n%.*s", (int)input->prompt.len, input->prompt.s,
            (int)input->context.len, input->context.s));
        if (!query.query.s) {
            return no_memory(err);
        }
    }
    status = search_run(work->engine, scope, work->arena, &query, &work->found,
                        err);
    if (status != CLEW_OK) {
        return status;
    }
    out->sources = arena_zero(work->arena, THOUGHT_RETRIEVED,
                              sizeof(*out->sources));
    if (!out->sources) {
        return no_memory(err);
    }
    for (size_t i = 0; i < work->found.count; i++) {
        const struct search_hit *hit = &work->found.hits[i];
        struct thought_source *source = &out->sources[out->n_sources++];

        source->memory = *hit->memory;
        source->memory.weight = memory_weight_at(hit->memory, work->now_ms);
        source->score = fmin(1.0, fmax(0.0, hit->item.score));
        source->is_superseded = hit->is_superseded;
        source->refined_by = hit->refined_by;
    }
    qsort(out->sources, out->n_sources, sizeof(*out->sources), by_score);
    return CLEW_OK;
}

/* Among what was found, a thought that says nearly the same. */
static enum clew_status find_similar(struct work *work, struct clew_error *err)
{
    struct embedder *embedder = work->engine->embedder;
    float *own = arena_zero(work->arena, embedder->dim, sizeof(*own));
    float *other = arena_zero(work->arena, embedder->dim, sizeof(*other));
    double best = SIMILAR;
    enum clew_status status;

    if (!own || !other) {
        return no_memory(err);
    }
    status = embed_run(embedder, &work->input->prompt, 1, own, err);
    for (size_t i = 0; status == CLEW_OK && i < work->out->n_sources; i++) {
        const struct memory *memory = &work->out->sources[i].memory;
        double cosine = 0;

        status = embed_run(embedder, &memory->summary, 1, other, err);
        for (size_t k = 0; k < embedder->dim; k++) {
            cosine += (double)own[k] * (double)other[k];
        }
        if (status == CLEW_OK && cosine > best) {
            best = cosine;
            work->similar = memory;
        }
    }
    return status;
}

/* --- contribution ---------------------------------------------------------------- */

static enum clew_status not_found(struct clew_error *err)
{
    return clew_fail_code(err, CLEW_NOT_FOUND, "THOUGHT_NOT_FOUND",
                          "there is no such thought");
}

/* The memories that are refined or consolidated; all must exist. */
static enum clew_status load_sources(struct work *work, struct store_tx *tx,
                                     struct memory **out_sources,
                                     const struct uuid **out_ids,
                                     size_t *out_count, struct clew_error *err)
{
    const struct thought_input *input = work->input;
    bool is_refinement = !uuid_is_nil(&input->refines);
    const struct uuid *ids =
        is_refinement ? &input->refines : input->consolidates;
    size_t count = is_refinement ? 1 : input->n_consolidates;
    size_t found;
    enum clew_status status;

    *out_ids = ids;
    *out_count = count;
    *out_sources = NULL;
    if (count == 0) {
        return CLEW_OK;
    }
    status = memory_find_many(tx, work->arena, ids, count, out_sources, &found,
                              err);
    if (status != CLEW_OK) {
        return status;
    }
    if (found != count) {
        return not_found(err);
    }
    for (size_t i = 0; i < count; i++) {
        if ((*out_sources)[i].retracted_at_ms != 0) {
            return not_found(err);
        }
    }
    return CLEW_OK;
}

/* Up to three telling words of the text. */
static enum clew_status auto_tags(struct work *work, struct str *out,
                                  struct clew_error *err)
{
    struct analysis_options options = {.time_ms = work->now_ms};
    struct analysis analysis;
    struct buf tags;
    size_t n = 0;
    enum clew_status status = analysis_run(work->arena, work->input->prompt,
                                           &options, &analysis, err);

    if (status != CLEW_OK) {
        return status;
    }
    buf_init(&tags, 4096);
    for (size_t i = 0; i < analysis.n_keywords && n < AUTO_TAGS; i++) {
        struct str word = analysis.keywords[i].word;

        if (analysis.keywords[i].is_noun && !memchr(word.s, ',', word.len)) {
            (void)buf_printf(&tags, "%s%.*s", n ? "," : "", (int)word.len,
                             word.s); /* checked below */
            n++;
        }
    }
    *out = arena_str(work->arena, buf_str(&tags));
    buf_release(&tags);
    return out->s ? CLEW_OK : no_memory(err);
}

/* What a refinement or consolidation takes over from its sources. */
static void inherit(struct memory *memory, const struct memory *sources,
                    size_t count, int64_t now_ms)
{
    double sum = 0;

    memory->type = sources[0].type;
    memory->user_id = sources[0].user_id;
    memory->lineage = count == 1 ? MEMORY_REFINEMENT : MEMORY_CONSOLIDATION;
    for (size_t i = 0; i < count; i++) {
        sum += memory_weight_at(&sources[i], now_ms);
        if (!str_eq(sources[i].type, memory->type)) {
            memory->type = STR("thought");
        }
        if (!str_eq(sources[i].user_id, memory->user_id)) {
            memory->user_id = STR("");
        }
    }
    memory->weight =
        fmax(MEMORY_WEIGHT_START, 0.5 * sum / (double)count);
}

static enum clew_status contribute(struct work *work, struct store_tx *tx,
                                   struct clew_error *err)
{
    const struct thought_input *input = work->input;
    struct memory memory = {.user_id = STR(""),
                            .type = STR("thought"),
                            .status = STR("active"),
                            .summary = input->prompt,
                            .origin = STR("contributed"),
                            .agent_id = input->agent_id,
                            .agent_name = input->agent_name,
                            .key_id = input->key_id,
                            .context = input->context,
                            .agent_session = work->out->session_id,
                            .weight = MEMORY_WEIGHT_START,
                            .weight_at_ms = work->now_ms,
                            .created_at_ms = work->now_ms,
                            .updated_at_ms = work->now_ms};
    struct memory *sources;
    const struct uuid *ids;
    size_t count;
    enum clew_status status =
        load_sources(work, tx, &sources, &ids, &count, err);

    if (status == CLEW_OK) {
        status = auto_tags(work, &memory.tags, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (!uuid_is_nil(&input->refines)) {
        struct lineage_mark mark = {.id = input->refines};

        status = lineage_find_refiners(tx, work->arena, &mark, 1, INT64_MAX,
                                       err);
        if (status != CLEW_OK) {
            return status;
        }
        work->refined_by = mark.refined_by;
    }
    memory.id = work->new_id;
    memory.is_instruction = memory_reads_like_instruction(input->prompt);
    if (count > 0) {
        inherit(&memory, sources, count, work->now_ms);
    }
    return memory_insert(&work->batch, &memory, NULL, 0, ids, count, err);
}

/* --- effects of retrieval ----------------------------------------------------------- */

static enum clew_status reinforce(struct work *work, struct store_tx *tx,
                                  struct clew_error *err)
{
    struct thought_result *out = work->out;
    struct uuid *ids = arena_zero(work->arena, out->n_sources, sizeof(*ids));
    struct memory *fresh;
    size_t count;
    enum clew_status status;

    if (!ids) {
        return no_memory(err);
    }
    for (size_t i = 0; i < out->n_sources; i++) {
        ids[i] = out->sources[i].memory.id;
    }
    /* read again inside the transaction, so that no gain is lost */
    status = memory_find_many(tx, work->arena, ids, out->n_sources, &fresh,
                              &count, err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        double weight = memory_weight_at(&fresh[i], work->now_ms);

        weight = fmin(MEMORY_WEIGHT_MAX, weight + MEMORY_WEIGHT_RETRIEVED);
        status = db_exec(tx, &REINFORCE,
                         DB_ARGS(db_uuid(&fresh[i].id), db_real(weight),
                                 db_int(work->now_ms)),
                         err);
        if (status == CLEW_OK) {
            status = db_exec(tx, &COUNT_ACCESS,
                             DB_ARGS(db_uuid(&fresh[i].id),
                                     db_text(work->input->agent_id)),
                             err);
        }
        if (status == CLEW_OK) {
            status = db_exec(tx, &NOTE_RESULT,
                             DB_ARGS(db_uuid(&out->session_id),
                                     db_uuid(&fresh[i].id),
                                     db_int(work->now_ms)),
                             err);
        }
    }
    return status;
}

static bool id_of(struct arena *arena, const struct db_rows *rows, void *item)
{
    (void)arena;
    *(struct uuid *)item = db_get_uuid(rows, 0);
    return true;
}

/* A contribution says that what this session was given before was of use. */
static enum clew_status credit(struct work *work, struct store_tx *tx,
                               bool *out_any, struct clew_error *err)
{
    struct rows_list ids = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = id_of};
    struct db_value session = db_uuid(&work->out->session_id);
    struct memory *earlier;
    size_t count;
    enum clew_status status =
        rows_add(tx, &ids, &SELECT_UNCREDITED, DB_ARGS(session), err);

    *out_any = false;
    if (status != CLEW_OK || ids.count == 0) {
        return status;
    }
    status = memory_find_many(tx, work->arena, ids.items, ids.count, &earlier,
                              &count, err);
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        double weight = memory_weight_at(&earlier[i], work->now_ms);

        weight = fmin(MEMORY_WEIGHT_MAX, weight + MEMORY_WEIGHT_FEEDBACK);
        status = db_exec(tx, &CREDIT,
                         DB_ARGS(db_uuid(&earlier[i].id), db_real(weight),
                                 db_int(work->now_ms)),
                         err);
    }
    *out_any = count > 0;
    return status == CLEW_OK
               ? db_exec(tx, &MARK_CREDITED, DB_ARGS(session), err)
               : status;
}

/* Note the agent; true if it was never seen before. */
static enum clew_status meet(struct work *work, struct store_tx *tx,
                             bool *out_is_new, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_AGENT, DB_ARGS(db_text(work->input->agent_id)),
                 &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out_is_new = !db_next(&rows);
    status = db_end(&rows, err);
    if (status != CLEW_OK || !*out_is_new) {
        return status;
    }
    return db_exec(tx, &INSERT_AGENT,
                   DB_ARGS(db_text(work->input->agent_id),
                           db_text(work->input->agent_name),
                           db_int(work->now_ms)),
                   err);
}

static enum clew_status do_write(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    struct work *work = arg;
    struct thought_result *out = work->out;
    bool is_new_agent = false;
    bool is_credited = false;
    enum clew_status status = CLEW_OK;

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    out->n_operations = 0;
    if (work->is_stored) {
        status = credit(work, tx, &is_credited, err);
        if (status == CLEW_OK) {
            status = contribute(work, tx, err);
        }
        add_operation(out, THOUGHT_CONTRIBUTE);
    }
    if (status == CLEW_OK && out->n_sources > 0) {
        status = reinforce(work, tx, err);
    }
    if (status == CLEW_OK) {
        status = meet(work, tx, &is_new_agent, err);
    }
    add_operation(out, THOUGHT_RETRIEVE);
    if (out->n_sources > 0) {
        add_operation(out, THOUGHT_REINFORCE);
    }
    if (out->n_clusters > 0) {
        add_operation(out, THOUGHT_DISAMBIGUATE);
    }
    if (is_new_agent) {
        add_operation(out, THOUGHT_ONBOARD);
        out->onboarding = STR(
            "Welcome. What you state here in a full sentence is kept and found "
            "by other agents; questions only retrieve. To correct a thought, "
            "refine it; to merge several, consolidate them; nothing is "
            "deleted.");
    }
    if (is_credited) {
        add_operation(out, THOUGHT_FEEDBACK);
    }
    return status;
}

/* --- what is said about the results --------------------------------------------------- */

/* Many hits over several tags: show how they fall apart. */
static enum clew_status cluster(struct work *work, struct clew_error *err)
{
    struct thought_result *out = work->out;
    struct thought_cluster *clusters = NULL;
    size_t count = 0;
    size_t cap = 0;

    for (size_t i = 0; i < out->n_sources; i++) {
        struct str rest = out->sources[i].memory.tags;
        struct str tag;

        while (str_split(&rest, ',', &tag)) {
            size_t k = 0;
            struct thought_cluster *grown;

            while (k < count && !str_eq(clusters[k].tag, tag)) {
                k++;
            }
            grown = arena_grow(work->arena, clusters, count, &cap,
                               sizeof(*grown));
            if (!grown) {
                return no_memory(err);
            }
            clusters = grown;
            if (k == count) {
                clusters[count++] = (struct thought_cluster){tag, 0};
            }
            clusters[k].count++;
        }
    }
    if (out->n_sources >= CLUSTER_HITS && count >= CLUSTER_TAGS) {
        out->clusters = clusters;
        out->n_clusters = count;
    }
    return CLEW_OK;
}

static struct str preview(const struct memory *memory)
{
    return str_sub(memory->summary, 0,
                   utf8_cut_chars(memory->summary, THOUGHT_PREVIEW_CHARS));
}

static bool highway_of(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct thought_highway *out = item;

    (void)arena;
    out->id = db_get_uuid(rows, 0);
    out->access_count = db_get_int(rows, 1);
    out->agent_count = db_get_int(rows, 2);
    return true;
}

static enum clew_status find_highways(struct work *work, struct store_tx *tx,
                                      struct clew_error *err)
{
    struct thought_result *out = work->out;
    struct rows_list list = {.arena = work->arena,
                             .size = sizeof(struct thought_highway),
                             .fn = highway_of};
    struct uuid *ids = arena_zero(work->arena, out->n_sources, sizeof(*ids));
    enum clew_status status;

    if (!ids) {
        return no_memory(err);
    }
    for (size_t i = 0; i < out->n_sources; i++) {
        ids[i] = out->sources[i].memory.id;
    }
    status = rows_add(tx, &list, &SELECT_HIGHWAYS,
                      DB_ARGS(db_uuids(ids, out->n_sources),
                              db_int(HIGHWAY_ACCESSES), db_int(HIGHWAY_AGENTS)),
                      err);
    out->highways = list.items;
    out->n_highways = list.count;
    for (size_t i = 0; i < list.count; i++) {
        for (size_t k = 0; k < out->n_sources; k++) {
            if (uuid_eq(&out->highways[i].id, &ids[k])) {
                out->highways[i].preview = preview(&out->sources[k].memory);
            }
        }
    }
    return status;
}

/* The thought whose lineage the answer summarises. */
static const struct uuid *lineage_subject(const struct work *work)
{
    const struct thought_result *out = work->out;

    if (!uuid_is_nil(&out->contributed) &&
        (!uuid_is_nil(&work->input->refines) || work->input->n_consolidates)) {
        return &out->contributed;
    }
    for (size_t i = 0; i < out->n_sources; i++) {
        if (out->sources[i].is_superseded ||
            out->sources[i].memory.lineage != MEMORY_ORIGINAL) {
            return &out->sources[i].memory.id;
        }
    }
    return NULL;
}

static enum clew_status do_read(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    const struct uuid *subject = lineage_subject(work);
    enum clew_status status = find_highways(work, tx, err);

    if (status == CLEW_OK && subject) {
        status = lineage_read(tx, work->arena, subject, INT64_MAX,
                              &work->out->lineage, err);
        work->out->has_lineage = work->out->lineage.count > 1;
    }
    return status;
}

/* Suggest to refine instead; or say that the refined one was superseded. */
static enum clew_status guide(struct work *work, struct clew_error *err)
{
    struct thought_result *out = work->out;
    bool is_explicit = !uuid_is_nil(&work->input->refines) ||
                       work->input->n_consolidates > 0;
    char id[UUID_TEXT_SIZE];
    const char *text = NULL;

    if (!uuid_is_nil(&work->refined_by)) {
        uuid_format(&work->refined_by, id);
        text = arena_printf(work->arena,
                            "The refined thought is already superseded by %s; "
                            "its lineage now forks.",
                            id);
    } else if (work->is_stored && !is_explicit && work->similar) {
        struct str old = preview(work->similar);

        uuid_format(&work->similar->id, id);
        text = arena_printf(
            work->arena,
            "Similar thought exists (id: %s, preview: '%.*s'). Consider /brain "
            "refine %s \"updated insight\" instead.",
            id, (int)old.len, old.s, id);
    } else {
        return CLEW_OK;
    }
    out->guidance = str_of(text);
    return text ? CLEW_OK : no_memory(err);
}

enum clew_status thought_handle(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct thought_input *input,
                                struct thought_result *out,
                                struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .arena = arena,
                        .input = input,
                        .now_ms = clock_now_ms(engine->clock),
                        .out = out};
    bool is_explicit =
        !uuid_is_nil(&input->refines) || input->n_consolidates > 0;
    enum clew_status status = check_input(input, err);

    memset(out, 0, sizeof(*out));
    if (status != CLEW_OK) {
        return status;
    }
    out->session_id = uuid_is_nil(&input->session_id) ? uuid_new(work.now_ms)
                                                      : input->session_id;
    out->is_over_threshold = thought_is_worth_storing(input->prompt);
    work.is_stored =
        !input->is_read_only && (is_explicit || out->is_over_threshold);
    work.new_id = uuid_new(work.now_ms);
    status = retrieve(&work, scope, err);
    if (status == CLEW_OK && work.is_stored) {
        status = find_similar(&work, err);
    }
    if (status == CLEW_OK) {
        status = cluster(&work, err);
    }
    if (status == CLEW_OK && !input->is_read_only) {
        status = store_write(engine->store, scope, do_write, &work, err);
    } else if (status == CLEW_OK) {
        add_operation(out, THOUGHT_RETRIEVE);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (work.is_stored) {
        out->contributed = work.new_id;
        feed_offer(engine, scope, &work.batch);
    }
    status = store_read(engine->store, scope, do_read, &work, err);
    return status == CLEW_OK ? guide(&work, err) : status;
}
