/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thought_write.c - store a thought, reinforce what was retrieved.
 *
 * Everything here runs in one transaction; weights are read again inside it,
 * so that no gain is lost when many agents write at once.
 */
#include "engine/thought/thought_internal.h"

#include "base/buf.h"
#include "engine/core/action.h"
#include "engine/core/rows.h"
#include "store/db.h"
#include "text/analysis.h"

#include <math.h>
#include <string.h>

#define AUTO_TAGS 3

DB_SQL(REINFORCE, "UPDATE memories SET weight = $3, weight_at = $4,"
                  " retrieval_count = retrieval_count + 1"
                  " WHERE tenant = $1 AND id = $2");
DB_SQL(CREDIT, "UPDATE memories SET weight = $3, weight_at = $4"
               " WHERE tenant = $1 AND id = $2");
DB_SQL(COUNT_ACCESS,
       "INSERT INTO memory_access (tenant, memory_id, agent_id, access_count)"
       " VALUES ($1, $2, $3, 1) ON CONFLICT (tenant, memory_id, agent_id)"
       " DO UPDATE SET access_count = memory_access.access_count + 1");
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

/* --- contribution
 * ---------------------------------------------------------------- */

static enum clew_status not_found(struct clew_error *err)
{
    return clew_fail_code(err, CLEW_NOT_FOUND, "THOUGHT_NOT_FOUND",
                          "there is no such thought");
}

/* The memories that are refined or consolidated; all must exist. */
static enum clew_status load_sources(struct thought_work *work,
                                     struct store_tx *tx,
                                     struct memory **out_sources,
                                     const struct uuid **out_ids,
                                     size_t *out_count, struct clew_error *err)
{
    const struct thought_input *input = work->input;
    bool is_refinement = thought_is_refinement(input);
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
    status =
        memory_find_many(tx, work->arena, ids, count, out_sources, &found, err);
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

enum clew_status thought_check_sources(struct store_tx *tx, void *arg,
                                       struct clew_error *err)
{
    struct memory *sources;
    const struct uuid *ids;
    size_t count;

    return load_sources(arg, tx, &sources, &ids, &count, err);
}

/* Up to three telling words of the text. */
static enum clew_status auto_tags(struct thought_work *work, struct str *out,
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
    return out->s ? CLEW_OK : clew_no_memory(err);
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
    memory->weight = fmax(MEMORY_WEIGHT_START, 0.5 * sum / (double)count);
}

static enum clew_status contribute(struct thought_work *work,
                                   struct store_tx *tx, struct clew_error *err)
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
    if (thought_is_refinement(input)) {
        struct lineage_mark mark = {.id = input->refines};

        status =
            lineage_find_refiners(tx, work->arena, &mark, 1, INT64_MAX, err);
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

/* --- effects of retrieval
 * ----------------------------------------------------------- */

static enum clew_status reinforce(struct thought_work *work,
                                  struct store_tx *tx, struct clew_error *err)
{
    struct thought_result *out = work->out;
    struct uuid *ids = arena_zero(work->arena, out->n_sources, sizeof(*ids));
    struct memory *fresh;
    size_t count;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
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
            status = db_exec(
                tx, &COUNT_ACCESS,
                DB_ARGS(db_uuid(&fresh[i].id), db_text(work->input->agent_id)),
                err);
        }
        if (status == CLEW_OK) {
            status =
                db_exec(tx, &NOTE_RESULT,
                        DB_ARGS(db_uuid(&out->session_id),
                                db_uuid(&fresh[i].id), db_int(work->now_ms)),
                        err);
        }
    }
    return status;
}

/* A contribution says that what this session was given before was of use. */
static enum clew_status credit(struct thought_work *work, struct store_tx *tx,
                               bool *out_any, struct clew_error *err)
{
    struct rows_list ids = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
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
static enum clew_status meet(struct thought_work *work, struct store_tx *tx,
                             bool *out_is_new, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status = db_query(
        tx, &SELECT_AGENT, DB_ARGS(db_text(work->input->agent_id)), &rows, err);

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

enum clew_status thought_write(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct thought_work *work = arg;
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
        if (status == CLEW_OK) {
            struct action_new action = {.kind = ACTION_THOUGHT,
                                        .made = &work->new_id,
                                        .at_ms = work->now_ms};

            status = action_add(tx, &action, err);
        }
        thought_add_operation(out, THOUGHT_CONTRIBUTE);
    }
    if (status == CLEW_OK && out->n_sources > 0) {
        status = reinforce(work, tx, err);
    }
    if (status == CLEW_OK) {
        status = meet(work, tx, &is_new_agent, err);
    }
    thought_add_operation(out, THOUGHT_RETRIEVE);
    if (out->n_sources > 0) {
        thought_add_operation(out, THOUGHT_REINFORCE);
    }
    if (out->n_clusters > 0) {
        thought_add_operation(out, THOUGHT_DISAMBIGUATE);
    }
    if (is_new_agent) {
        thought_add_operation(out, THOUGHT_ONBOARD);
        out->onboarding = STR(
            "Welcome. What you state here in a full sentence is kept and found "
            "by other agents; questions only retrieve. To correct a thought, "
            "refine it; to merge several, consolidate them; nothing is "
            "deleted.");
    }
    if (is_credited) {
        thought_add_operation(out, THOUGHT_FEEDBACK);
    }
    return status;
}
