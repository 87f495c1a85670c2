/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_view.c - memories with what belongs to them. See memory_view.h.
 */
#include "engine/thought/memory_view.h"

#include "base/clock.h"
#include "engine/core/action.h"
#include "engine/core/commit.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/effort/effort_fork.h"
#include "engine/memory/lineage.h"
#include "engine/memory/skill_use.h"
#include "store/db.h"

#include <string.h>

DB_SQL(SELECT_SOURCES,
       "SELECT memory_id, source_id FROM memory_sources WHERE tenant = $1"
       " AND memory_id = ANY($2) ORDER BY memory_id, ordinal LIMIT 10000");

struct work {
    struct engine *engine;
    struct arena *arena;
    const struct uuid *id;
    const struct memory_filter *filter;
    const struct memory_action *action;
    int64_t now_ms;
    int64_t limit;
    struct memory_view *views;
    size_t count;
    struct turn *turns;
    size_t n_turns;
    struct batch_work batch;
};

struct source {
    struct uuid memory_id;
    struct uuid source_id;
};

static bool source_of(struct arena *arena, const struct db_rows *rows,
                      void *item)
{
    struct source *out = item;

    (void)arena;
    out->memory_id = db_get_uuid(rows, 0);
    out->source_id = db_get_uuid(rows, 1);
    return true;
}

/* What each refines or consolidates. */
static enum clew_status add_sources(struct store_tx *tx, struct work *work,
                                    const struct uuid *ids,
                                    struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct source), .fn = source_of};
    enum clew_status status = rows_add(
        tx, &list, &SELECT_SOURCES, DB_ARGS(db_uuids(ids, work->count)), err);
    const struct source *sources = list.items;
    struct uuid *found = NULL;

    if (status == CLEW_OK && list.count > 0) {
        found = arena_zero(work->arena, list.count, sizeof(*found));
        status = found ? CLEW_OK : clew_no_memory(err);
    }
    for (size_t k = 0; status == CLEW_OK && k < list.count; k++) {
        found[k] = sources[k].source_id;
        for (size_t i = 0; i < work->count; i++) { /* ordered by memory */
            struct memory_view *view = &work->views[i];

            if (uuid_eq(&view->memory.id, &sources[k].memory_id)) {
                view->source_ids =
                    view->n_source_ids ? view->source_ids : &found[k];
                view->n_source_ids++;
            }
        }
    }
    return status;
}

/* Add references and lineage to memories, each with one query. */
static enum clew_status complete(struct store_tx *tx, struct work *work,
                                 const struct memory *memories, size_t count,
                                 struct clew_error *err)
{
    struct arena *arena = work->arena;
    struct lineage_mark *marks = arena_zero(arena, count, sizeof(*marks));
    struct uuid *ids = arena_zero(arena, count, sizeof(*ids));
    struct uuid *owners;
    struct memory_ref *refs;
    size_t n_refs;
    enum clew_status status;

    work->views = arena_zero(arena, count, sizeof(*work->views));
    work->count = count;
    if (!marks || !ids || !work->views) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = memories[i].id;
        marks[i].id = memories[i].id;
    }
    status = memory_refs(tx, arena, ids, count, &owners, &refs, &n_refs, err);
    if (status == CLEW_OK) {
        status = lineage_find_refiners(tx, arena, marks, count, INT64_MAX, err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct memory_view *view = &work->views[i];

        view->memory = memories[i];
        view->memory.fields = skill_use_at(arena, &memories[i],
                                           clock_now_ms(work->engine->clock));
        view->memory.weight =
            memory_weight_at(&memories[i], clock_now_ms(work->engine->clock));
        view->is_superseded = marks[i].is_superseded;
        view->refined_by = marks[i].refined_by;
        for (size_t k = 0; k < n_refs; k++) { /* ordered by owner */
            if (uuid_eq(&owners[k], &ids[i])) {
                view->refs = view->n_refs ? view->refs : &refs[k];
                view->n_refs++;
            }
        }
    }
    return status == CLEW_OK ? add_sources(tx, work, ids, err) : status;
}

enum clew_status memory_view_read(struct store_tx *tx, struct engine *engine,
                                  struct arena *arena, const struct uuid *id,
                                  struct memory_view *out,
                                  struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .id = id};
    struct memory memory;
    enum clew_status status = memory_find(tx, arena, id, &memory, err);

    if (status == CLEW_OK) {
        status = complete(tx, &work, &memory, 1, err);
    }
    if (status == CLEW_OK) {
        *out = work.views[0];
    }
    return status;
}

static enum clew_status do_get(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;
    struct memory memory;
    enum clew_status status =
        memory_find(tx, work->arena, work->id, &memory, err);

    return status == CLEW_OK ? complete(tx, work, &memory, 1, err) : status;
}

enum clew_status memory_view_get(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id, struct memory_view *out,
                                 struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .id = id};
    enum clew_status status =
        store_read(engine->store, scope, do_get, &work, err);

    if (status == CLEW_OK) {
        *out = work.views[0];
    }
    return status;
}

static enum clew_status do_list(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct work *work = arg;
    struct memory *memories;
    size_t count;
    enum clew_status status =
        memory_list(tx, work->arena, work->filter, &memories, &count, err);

    return status == CLEW_OK ? complete(tx, work, memories, count, err)
                             : status;
}

enum clew_status memory_view_list(struct engine *engine,
                                  const struct scope *scope,
                                  struct arena *arena,
                                  const struct memory_filter *filter,
                                  struct memory_view **out_views,
                                  size_t *out_count, struct clew_error *err)
{
    struct work work = {.engine = engine, .arena = arena, .filter = filter};
    enum clew_status status =
        store_read(engine->store, scope, do_list, &work, err);

    if (status == CLEW_OK) {
        *out_views = work.views;
        *out_count = work.count;
    }
    return status;
}

/* Only efforts are opened, resolved and abandoned. */
static enum clew_status check_status(const struct memory *memory,
                                     const char *status, struct clew_error *err)
{
    bool is_effort = str_eq(memory->type, STR("effort"));
    bool is_effort_status = strcmp(status, "active") != 0;

    if (is_effort != is_effort_status) {
        return clew_fail(err, CLEW_INVALID, "a %.*s cannot be %s",
                         (int)memory->type.len, memory->type.s, status);
    }
    return CLEW_OK;
}

static enum clew_status note_act(struct store_tx *tx, const struct work *work,
                                 struct clew_error *err)
{
    const struct memory_action *act = work->action;
    struct action_new action = {.kind = ACTION_MEMORY_ACT,
                                .subject = work->id,
                                .detail = json_object(),
                                .at_ms = work->now_ms};
    json_t *detail = action.detail;

    if (!detail ||
        (act->status && !json_set_cstr(detail, "status", act->status)) ||
        (act->resolution &&
         !json_set_str(detail, "resolution", *act->resolution)) ||
        (act->tags && !json_set_str(detail, "tags", *act->tags)) ||
        (act->expires_at_ms &&
         !json_set_int(detail, "expires_at", *act->expires_at_ms)) ||
        (act->has_worked &&
         !json_set_bool(detail, "has_worked", *act->has_worked)) ||
        (act->is_pinned &&
         !json_set_bool(detail, "is_pinned", *act->is_pinned)) ||
        (act->type && !json_set_str(detail, "type", *act->type)) ||
        (act->chat_id && !json_set_uuid(detail, "chat_id", act->chat_id))) {
        json_decref(detail);
        return clew_no_memory(err);
    }
    return action_add(tx, &action, err);
}

/* What it is called and whether it is pinned. */
static enum clew_status relabel(const struct work *work, struct memory *memory,
                                struct clew_error *err)
{
    const struct memory_action *action = work->action;

    if (action->tags) {
        memory->tags = *action->tags;
    }
    if (action->is_pinned) {
        memory->pinned_at_ms = !*action->is_pinned    ? 0
                               : memory->pinned_at_ms ? memory->pinned_at_ms
                                                      : work->now_ms;
    }
    if (action->type && !str_eq(*action->type, memory->type)) {
        if (str_eq(memory->type, STR("effort")) ||
            str_eq(*action->type, STR("effort"))) {
            return clew_fail_field(err, "type",
                                   "an effort is opened, not made of another "
                                   "memory, and stays one");
        }
        memory->type = *action->type;
    }
    return CLEW_OK;
}

/* The effort that is meant, as the chat has it. */
static enum clew_status find_in_chat(struct store_tx *tx, struct work *work,
                                     struct memory *out, struct clew_error *err)
{
    struct effort *efforts = NULL;
    struct chat chat;
    size_t count = 0;
    enum clew_status status = memory_find(tx, work->arena, work->id, out, err);

    if (status != CLEW_OK) {
        return status; /* nobody's, whatever the chat is */
    }
    status = chat_find(tx, work->arena, work->action->chat_id, &chat, NULL);
    if (status == CLEW_OK) {
        status = effort_list_line(tx, work->arena, &chat, chat.last_seq, true,
                                  &efforts, &count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (uuid_eq(&efforts[i].memory_id, work->id) ||
            uuid_eq(&efforts[i].twin_of, work->id)) {
            status = effort_part(&work->batch, &chat, &efforts[i], err);
            return status == CLEW_OK
                       ? memory_find(tx, work->arena, &efforts[i].memory_id,
                                     out, err)
                       : status;
        }
    }
    return status == CLEW_OK || status == CLEW_NOT_FOUND
               ? clew_fail_field(err, "chat_id", "that chat has no such effort")
               : status;
}

/* It is only taken out of view, whatever became of it. */
static bool is_unpin(const struct memory_action *action)
{
    return action->is_pinned && !*action->is_pinned && !action->status &&
           !action->tags && !action->type && !action->has_worked &&
           !action->expires_at_ms;
}

static enum clew_status do_act(struct store_tx *tx, void *arg,
                               struct clew_error *err)
{
    struct work *work = arg;
    const struct memory_action *action = work->action;
    struct memory memory;
    enum clew_status status = CLEW_OK;

    work->batch = (struct batch_work){
        .engine = work->engine, .tx = tx, .arena = work->arena};
    status = action->chat_id
                 ? find_in_chat(tx, work, &memory, err)
                 : memory_find(tx, work->arena, work->id, &memory, err);
    if (status == CLEW_OK && !is_unpin(action)) {
        status = lineage_must_hold(&work->batch, &memory, err);
    }
    if (status == CLEW_OK && action->status) {
        status = check_status(&memory, action->status, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = relabel(work, &memory, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (action->expires_at_ms) {
        memory.expires_at_ms = *action->expires_at_ms;
    }
    if (action->has_worked) {
        if (!str_eq(memory.type, STR("skill"))) {
            return clew_fail(err, CLEW_INVALID, "only a skill has outcomes");
        }
        memory.fields = skill_use_add(work->arena, memory.fields, 1,
                                      *action->has_worked, work->now_ms);
        if (!memory.fields.s) {
            return clew_no_memory(err);
        }
    }
    if (action->status && str_eq(memory.type, STR("effort"))) {
        struct effort_change change = {.status = action->status,
                                       .time_ms = work->now_ms};

        if (action->resolution) {
            change.resolution = *action->resolution;
        }
        status = effort_set_status(&work->batch, &memory, &change, err);
    } else {
        memory.updated_at_ms = work->now_ms;
        memory.resolution =
            action->resolution ? *action->resolution : memory.resolution;
        status = memory_update(&work->batch, &memory, err);
    }
    if (status == CLEW_OK) {
        status = note_act(tx, work, err);
    }
    return status == CLEW_OK ? complete(tx, work, &memory, 1, err) : status;
}

enum clew_status memory_view_act(struct engine *engine,
                                 const struct scope *scope, struct arena *arena,
                                 const struct uuid *id,
                                 const struct memory_action *action,
                                 struct memory_view *out,
                                 struct clew_error *err)
{
    struct work work = {.engine = engine,
                        .arena = arena,
                        .id = id,
                        .action = action,
                        .now_ms = clock_now_ms(engine->clock)};
    enum clew_status status =
        commit_write(engine, scope, do_act, &work, &work.batch, err);

    if (status == CLEW_OK) {
        *out = work.views[0];
    }
    return status;
}

static enum clew_status do_source(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct work *work = arg;
    size_t cap = 0;
    enum clew_status status = do_get(tx, arg, err);

    work->turns = NULL;
    work->n_turns = 0;
    for (size_t i = 0; status == CLEW_OK && i < work->views[0].n_refs; i++) {
        const struct memory_ref *ref = &work->views[0].refs[i];
        int64_t want = ref->last_seq - ref->first_seq + 1;
        int64_t left = work->limit - (int64_t)work->n_turns;
        struct turn *part;
        size_t n_part;

        status =
            turn_list_line(tx, work->arena, &ref->chat_id, ref->first_seq - 1,
                           want < left ? want : left, &part, &n_part, err);
        for (size_t k = 0; status == CLEW_OK && k < n_part; k++) {
            struct turn *grown = arena_grow(
                work->arena, work->turns, work->n_turns, &cap, sizeof(*grown));

            if (!grown) {
                return clew_no_memory(err);
            }
            work->turns = grown;
            work->turns[work->n_turns++] = part[k];
        }
    }
    return status;
}

enum clew_status memory_view_source(struct engine *engine,
                                    const struct scope *scope,
                                    struct arena *arena, const struct uuid *id,
                                    int64_t limit, struct turn **out_turns,
                                    size_t *out_count, struct clew_error *err)
{
    struct work work = {
        .engine = engine, .arena = arena, .id = id, .limit = limit};
    enum clew_status status =
        store_read(engine->store, scope, do_source, &work, err);

    if (status == CLEW_OK) {
        *out_turns = work.turns;
        *out_count = work.n_turns;
    }
    return status;
}
