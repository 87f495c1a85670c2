/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thought.c - contribute, retrieve, reinforce. See thought.h.
 *
 * Retrieval runs on the index before anything is stored, so a new thought
 * cannot find itself; everything that writes happens in one transaction
 * (thought_write.c).
 */
#include "engine/thought/thought_internal.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "model/embed.h"
#include "store/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_STORED_CHARS 50
#define SIMILAR 0.85
/* As for the start of a chat (ask/start.c): how near the meaning must be, and
 * how far behind the best is not related. */
#define MEANING_FLOOR 0.5
#define BEHIND 0.3
#define NEAR_TIE 0.01 /* difference within which weight may decide */
#define CLUSTER_HITS 10
#define CLUSTER_TAGS 3
#define HIGHWAY_ACCESSES 3
#define HIGHWAY_AGENTS 2

DB_SQL(SELECT_HIGHWAYS,
       "SELECT memory_id, SUM(access_count), COUNT(*) FROM memory_access"
       " WHERE tenant = $1 AND memory_id = ANY($2) GROUP BY memory_id"
       " HAVING SUM(access_count) >= $3 AND COUNT(*) >= $4");
static const char *const operation_names[] = {
    "contribute",   "retrieve", "reinforce",
    "disambiguate", "onboard",  "feedback_implicit"};

const char *thought_operation_name(enum thought_operation operation)
{
    return operation_names[operation];
}

/* --- what is worth storing --------------------------------------------------
 */

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

/* --- validation --------------------------------------------------------------
 */

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
    if (thought_is_refinement(input) && input->has_consolidates) {
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
    enum clew_status status = check_text(input->prompt, "prompt",
                                         THOUGHT_MAX_PROMPT_CHARS, true, err);

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

/* --- retrieval
 * ----------------------------------------------------------------- */

/* The heavier first; both match about as well. */
static int by_weight(const void *a, const void *b)
{
    const struct thought_source *left = a;
    const struct thought_source *right = b;

    if (left->memory.weight != right->memory.weight) {
        return left->memory.weight > right->memory.weight ? -1 : 1;
    }
    if (left->score != right->score) {
        return left->score > right->score ? -1 : 1;
    }
    return -uuid_cmp(&left->memory.id, &right->memory.id);
}

/* True if weight may decide between them: never between a memory and what
 * holds in its place. */
static bool is_near_tie(const struct thought_source *a,
                        const struct thought_source *b)
{
    return !a->is_outrun && !b->is_outrun &&
           a->is_superseded == b->is_superseded &&
           fabs(a->match - b->match) < NEAR_TIE &&
           fabs(a->score - b->score) < NEAR_TIE;
}

/* Among neighbours that match about as well the heavier comes first. */
static void break_ties(struct thought_source *sources, size_t count)
{
    size_t end;

    for (size_t first = 0; first < count; first = end) {
        end = first + 1;
        while (end < count && is_near_tie(&sources[first], &sources[end])) {
            end++;
        }
        qsort(sources + first, end - first, sizeof(*sources), by_weight);
    }
}

/* Strangers are found for every text: without a common word the meaning must be
 * near, or there is nothing to tell and nothing to reinforce. */
static bool is_related(const struct search_hit *hit, double best)
{
    return (hit->item.parts.lexical + hit->item.parts.neighbour > 0 ||
            hit->item.score >= MEANING_FLOOR) &&
           hit->item.score >= BEHIND * best;
}

/* Has a question an answer above the floor of recall? Only then is anything
 * told; what is told is what is near, as lineage orders it. What is contributed
 * asks nothing. */
static enum clew_status is_answered(struct thought_work *work,
                                    const struct scope *scope,
                                    const struct search_query *asked,
                                    bool *out_is, struct clew_error *err)
{
    const struct thought_input *input = work->input;
    struct search_query query = *asked;
    struct search_result answers = {0};
    enum clew_status status;

    *out_is = true;
    if (thought_is_explicit(input) ||
        !is_lone_question(str_trim(input->prompt))) {
        return CLEW_OK;
    }
    query.query = input->prompt;
    query.is_floored = true;
    status =
        search_run(work->engine, scope, work->arena, &query, &answers, err);
    *out_is = answers.count > 0;
    return status;
}

static enum clew_status retrieve(struct thought_work *work,
                                 const struct scope *scope,
                                 struct clew_error *err)
{
    const struct thought_input *input = work->input;
    struct search_query query = {.query = input->prompt,
                                 .kinds = RECALL_MEMORY,
                                 .limit = THOUGHT_RETRIEVED,
                                 .since_ms = INT64_MIN,
                                 .until_ms = INT64_MAX,
                                 .at_ms = work->now_ms,
                                 .ahead_ms = SEARCH_AHEAD_MS};
    struct thought_result *out = work->out;
    bool is_told = true;
    enum clew_status status;

    if (str_trim(input->context).len > 0) {
        out->is_context_used = true;
        query.query = str_of(arena_printf(
            work->arena, "%.*s\n%.*s", (int)input->prompt.len, input->prompt.s,
            (int)input->context.len, input->context.s));
        if (!query.query.s) {
            return clew_no_memory(err);
        }
    }
    status = search_plain(work->engine, scope, work->arena, &query,
                          &work->found, err);
    if (status == CLEW_OK) {
        status = is_answered(work, scope, &query, &is_told, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    out->sources =
        arena_zero(work->arena, THOUGHT_RETRIEVED, sizeof(*out->sources));
    if (!out->sources) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; is_told && i < work->found.count; i++) {
        const struct search_hit *hit = &work->found.hits[i];
        struct thought_source *source = &out->sources[out->n_sources];

        if (!is_related(hit, work->found.hits[0].item.score)) {
            continue;
        }
        out->n_sources++;
        source->memory = *hit->memory;
        source->memory.weight = memory_weight_at(hit->memory, work->now_ms);
        source->score = fmax(0.0, hit->item.score);
        source->match = hit->match;
        source->is_superseded = hit->is_superseded;
        source->is_outrun = hit->is_outrun;
        source->refined_by = hit->refined_by;
    }
    break_ties(out->sources, out->n_sources);
    return CLEW_OK;
}

/* Among what was found, a thought that says nearly the same. */
static enum clew_status find_similar(struct thought_work *work,
                                     struct clew_error *err)
{
    struct embedder *embedder = work->engine->embedder;
    float *own = arena_zero(work->arena, embedder->dim, sizeof(*own));
    float *other = arena_zero(work->arena, embedder->dim, sizeof(*other));
    double best = SIMILAR;
    enum clew_status status;

    if (!own || !other) {
        return clew_no_memory(err);
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
            work->similar = &work->out->sources[i];
        }
    }
    return status;
}

/* --- what is said about the results
 * --------------------------------------------------- */

static bool has_tag(struct str tags, struct str wanted)
{
    struct str tag;

    while (str_split(&tags, ',', &tag)) {
        if (str_eq(tag, wanted)) {
            return true;
        }
    }
    return false;
}

/* Of the thoughts that no cluster has, how many have this tag. */
static size_t count_tagged(const struct thought_result *out, const bool *taken,
                           struct str tag)
{
    size_t n = 0;

    for (size_t i = 0; i < out->n_sources; i++) {
        n += !taken[i] && has_tag(out->sources[i].memory.tags, tag);
    }
    return n;
}

static size_t count_all(const struct thought_result *out, struct str tag)
{
    size_t n = 0;

    for (size_t i = 0; i < out->n_sources; i++) {
        n += has_tag(out->sources[i].memory.tags, tag);
    }
    return n;
}

/* The tag that most of the thoughts left have, and of those the one that fewest
 * have in all; s == NULL if none has any that tells them apart. */
static struct str next_tag(const struct thought_result *out, const bool *taken,
                           size_t *out_count)
{
    struct str best = {NULL, 0};
    size_t best_all = 0;

    *out_count = 0;
    for (size_t i = 0; i < out->n_sources; i++) {
        struct str rest = out->sources[i].memory.tags;
        struct str tag;

        while (!taken[i] && str_split(&rest, ',', &tag)) {
            size_t n = count_tagged(out, taken, tag);
            size_t all = count_all(out, tag);

            /* what most of them have tells nothing apart */
            if (2 * all <= out->n_sources &&
                (n > *out_count || (n == *out_count && all < best_all))) {
                *out_count = n;
                best_all = all;
                best = tag;
            }
        }
    }
    return best;
}

/* Many hits over several tags: show how they fall apart. Each thought is in one
 * cluster, so that clusters are about different things. */
static enum clew_status cluster(struct thought_work *work,
                                struct clew_error *err)
{
    struct thought_result *out = work->out;
    struct thought_cluster *clusters =
        arena_zero(work->arena, out->n_sources + 1, sizeof(*clusters));
    bool *taken = arena_zero(work->arena, out->n_sources + 1, sizeof(*taken));
    size_t count = 0;
    size_t size = 0;

    if (!clusters || !taken) {
        return clew_no_memory(err);
    }
    for (struct str tag = next_tag(out, taken, &size); tag.s;
         tag = next_tag(out, taken, &size)) {
        clusters[count++] = (struct thought_cluster){tag, size};
        for (size_t i = 0; i < out->n_sources; i++) {
            taken[i] = taken[i] || has_tag(out->sources[i].memory.tags, tag);
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

static enum clew_status find_highways(struct thought_work *work,
                                      struct store_tx *tx,
                                      struct clew_error *err)
{
    struct thought_result *out = work->out;
    struct rows_list list = {.arena = work->arena,
                             .size = sizeof(struct thought_highway),
                             .fn = highway_of};
    struct uuid *ids = arena_zero(work->arena, out->n_sources, sizeof(*ids));
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
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
static const struct uuid *lineage_subject(const struct thought_work *work)
{
    const struct thought_result *out = work->out;

    if (!uuid_is_nil(&out->contributed) && thought_is_explicit(work->input)) {
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
    struct thought_work *work = arg;
    const struct uuid *subject = lineage_subject(work);
    enum clew_status status = find_highways(work, tx, err);

    if (status == CLEW_OK && subject) {
        status = lineage_read(tx, work->arena, subject, INT64_MAX,
                              &work->out->lineage, err);
        work->out->has_lineage = work->out->lineage.count > 1;
    }
    return status;
}

/* What holds in the place of a superseded one, as far as it is known. */
static const struct uuid *holder_of(const struct thought_result *out,
                                    const struct thought_source *source)
{
    const struct uuid *id = &source->refined_by;

    for (size_t step = 0; step < out->n_sources; step++) {
        size_t i = 0;

        while (i < out->n_sources && !uuid_eq(&out->sources[i].memory.id, id)) {
            i++;
        }
        if (i == out->n_sources || !out->sources[i].is_superseded) {
            break;
        }
        id = &out->sources[i].refined_by;
    }
    return id;
}

/* Suggest to refine instead; or say that the refined one was superseded. */
static enum clew_status guide(struct thought_work *work, struct clew_error *err)
{
    struct thought_result *out = work->out;
    bool is_explicit = thought_is_explicit(work->input);
    char id[UUID_TEXT_SIZE];
    const char *text = NULL;

    if (!uuid_is_nil(&work->refined_by)) {
        uuid_format(&work->refined_by, id);
        text = arena_printf(work->arena,
                            "The refined thought is already superseded by %s; "
                            "its lineage now forks.",
                            id);
    } else if (work->is_stored && !is_explicit && work->similar &&
               work->similar->is_superseded) {
        uuid_format(holder_of(out, work->similar), id);
        text = arena_printf(work->arena,
                            "A similar thought was superseded by %s. Consider "
                            "/brain refine %s \"updated insight\" instead.",
                            id, id);
    } else if (work->is_stored && !is_explicit && work->similar) {
        struct str old = preview(&work->similar->memory);

        uuid_format(&work->similar->memory.id, id);
        text = arena_printf(
            work->arena,
            "Similar thought exists (id: %s, preview: '%.*s'). Consider /brain "
            "refine %s \"updated insight\" instead.",
            id, (int)old.len, old.s, id);
    } else {
        return CLEW_OK;
    }
    out->guidance = str_of(text);
    return text ? CLEW_OK : clew_no_memory(err);
}

/* What was found before this one was stored holds no longer if it is replaced.
 */
static void mark_replaced(struct thought_work *work)
{
    const struct thought_input *input = work->input;
    struct thought_result *out = work->out;

    for (size_t i = 0; i < out->n_sources; i++) {
        struct thought_source *source = &out->sources[i];
        const struct uuid *id = &source->memory.id;
        bool is_replaced =
            thought_is_refinement(input) && uuid_eq(id, &input->refines);

        for (size_t k = 0; k < input->n_consolidates && !is_replaced; k++) {
            is_replaced = uuid_eq(id, &input->consolidates[k]);
        }
        if (is_replaced) {
            source->is_superseded = true;
            source->refined_by = work->new_id;
        }
    }
}

enum clew_status thought_handle(struct engine *engine,
                                const struct scope *scope, struct arena *arena,
                                const struct thought_input *input,
                                struct thought_result *out,
                                struct clew_error *err)
{
    struct thought_work work = {.engine = engine,
                                .arena = arena,
                                .input = input,
                                .now_ms = clock_now_ms(engine->clock),
                                .out = out};
    bool is_explicit = thought_is_explicit(input);
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
        status =
            commit_write(engine, scope, thought_write, &work, &work.batch, err);
    } else if (status == CLEW_OK) {
        status =
            store_read(engine->store, scope, thought_check_sources, &work, err);
        thought_add_operation(out, THOUGHT_RETRIEVE);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (work.is_stored) {
        out->contributed = work.new_id;
        mark_replaced(&work);
    }
    status = store_read(engine->store, scope, do_read, &work, err);
    return status == CLEW_OK ? guide(&work, err) : status;
}
