/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents_observe.c - packages of the user's own watch the turns too.
 *
 * A package has at most one artifact open in a chat: a memory of its type with
 * status "open". A turn opens it, adds to its fields, or concludes it, as the
 * package's rules say (agents.h). Without packages this costs nothing.
 */
#include "engine/keep/keep.h"

#include "base/json.h"
#include "base/utf8.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/keep/agents.h"
#include "engine/keep/agents_live.h"
#include "engine/memory/memory.h"
#include "engine/memory/note.h"
#include "engine/understand/observation.h"
#include "store/db.h"

#include <string.h>

/* A value may be a whole turn, but not a book; a summary is a line or two. */
#define MAX_VALUE_BYTES (16u * 1024)
#define MAX_SUMMARY_BYTES 500u

DB_SQL(SELECT_OPEN, "SELECT id FROM memories WHERE tenant = $1"
                    " AND chat_id = $2 AND type = $3 AND status = 'open'"
                    " AND retracted_at IS NULL"
                    " ORDER BY created_at DESC, id DESC LIMIT 1");

/* The artifact the package has open in this chat; nil id if there is none. */
static enum clew_status find_open(struct observation *o,
                                  const struct agent *agent, struct memory *out,
                                  struct clew_error *err)
{
    struct uuid id = {{0}};
    enum clew_status status = rows_one(
        o->tx, o->arena, &SELECT_OPEN,
        DB_ARGS(db_uuid(&o->work->turn->chat_id), db_text(agent->name)),
        rows_id, &id, sizeof(id), "artifact", err);

    memset(out, 0, sizeof(*out));
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK;
    }
    return status == CLEW_OK ? memory_find(o->tx, o->arena, &id, out, err)
                             : status;
}

/* Set one field, or add a line to one that takes many. */
static bool set_field(json_t *fields, const struct agent_field *field,
                      struct str value, struct arena *arena)
{
    const char *name = arena_copy(arena, field->name.s, field->name.len);
    json_t *list;

    if (!name || !field->is_many) {
        return name && json_set_str(fields, name, value);
    }
    list = json_object_get(fields, name);
    if (!json_is_array(list)) {
        list = json_array();
        if (!json_set(fields, name, list)) {
            return false;
        }
    }
    return json_array_append_new(list, json_stringn(value.s, value.len)) == 0;
}

/* A field found at this step that must be there, and is not. */
static bool lacks_required(const struct observation *o,
                           const struct agent *agent, enum agent_step step)
{
    for (size_t i = 0; i < agent->n_fields; i++) {
        const struct agent_field *field = &agent->fields[i];

        if (field->is_required && field->has_extraction &&
            (field->from == step || field->from == AGENT_NONE) &&
            agent_value(field, step, o->turn.text, &o->intent).len == 0) {
            return true;
        }
    }
    return false;
}

/* What this turn gives to the fields goes into the memory; the first value
 * found is handed out for the summary. */
static enum clew_status take_fields(struct observation *o,
                                    const struct agent *agent,
                                    enum agent_step step, struct memory *memory,
                                    struct str *out_first,
                                    struct clew_error *err)
{
    json_t *fields = NULL;
    bool is_ok = true;

    *out_first = (struct str){NULL, 0};
    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK) {
        fields = json_object();
    }
    for (size_t i = 0; i < agent->n_fields && fields && is_ok; i++) {
        struct str value = str_trim(
            agent_value(&agent->fields[i], step, o->turn.text, &o->intent));

        value.len = utf8_cut(value, MAX_VALUE_BYTES);
        if (value.len > 0) {
            *out_first = out_first->s ? *out_first : value;
            is_ok = set_field(fields, &agent->fields[i], value, o->arena);
        }
    }
    if (!fields || !is_ok) {
        json_decref(fields);
        return clew_no_memory(err);
    }
    memory->fields = note_json(o->arena, fields);
    return memory->fields.s ? CLEW_OK : clew_no_memory(err);
}

static enum clew_status open_one(struct observation *o,
                                 const struct agent *agent,
                                 struct clew_error *err)
{
    const char *type = arena_copy(o->arena, agent->name.s, agent->name.len);
    struct memory memory = {0};
    struct str first;
    enum clew_status status =
        take_fields(o, agent, AGENT_OPENS, &memory, &first, err);
    struct str fields = memory.fields;
    struct str summary = first.s ? first : str_trim(o->turn.text);

    if (lacks_required(o, agent, AGENT_OPENS)) {
        return CLEW_OK;
    }
    if (status != CLEW_OK || !type) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    summary.len = utf8_cut(summary, MAX_SUMMARY_BYTES);
    memory = note_memory(o->work, type, "open", summary);
    memory.fields = fields;
    status = note_insert(o->work, &memory, 0, NULL, err);
    return status == CLEW_OK
               ? note_notice(o->work, err, "[%s:open] %.*s", type,
                             (int)memory.summary.len, memory.summary.s)
               : status;
}

static enum clew_status go_on(struct observation *o, const struct agent *agent,
                              enum agent_step step, struct memory *memory,
                              struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct memory_ref ref = {turn->chat_id, turn->seq, turn->seq};
    bool is_end = step == AGENT_CONCLUDES;
    struct str first;
    enum clew_status status = take_fields(o, agent, step, memory, &first, err);

    if (status == CLEW_OK && is_end) {
        memory->status = STR("resolved");
        memory->resolution = first;
    }
    memory->updated_at_ms = turn->created_at_ms;
    if (status == CLEW_OK) {
        status = memory_update(o->work->batch, memory, err);
    }
    if (status == CLEW_OK) {
        status = memory_add_ref(o->tx, &memory->id, &ref, err);
    }
    if (status == CLEW_OK) {
        status =
            note_told(o->work, memory, is_end ? "resolved" : "extended", err);
    }
    return status == CLEW_OK && is_end
               ? note_notice(o->work, err, "[%.*s:resolved] %.*s",
                             (int)memory->type.len, memory->type.s,
                             (int)memory->summary.len, memory->summary.s)
               : status;
}

static enum clew_status watch(struct observation *o, const struct agent *agent,
                              struct clew_error *err)
{
    struct memory memory;
    bool is_open;
    enum agent_step step;
    enum clew_status status = find_open(o, agent, &memory, err);

    if (status != CLEW_OK) {
        return status;
    }
    is_open = !uuid_is_nil(&memory.id);
    step = agent_match(agent, o->turn.text, &o->intent, is_open);
    if (step == AGENT_OPENS && !is_open) {
        return open_one(o, agent, err);
    }
    return step != AGENT_NONE && is_open ? go_on(o, agent, step, &memory, err)
                                         : CLEW_OK;
}

enum clew_status agents_observe(struct turn_work *work, struct clew_error *err)
{
    struct agents_live *live = work->batch->engine->agents;
    struct agents *agents = NULL;
    enum clew_status status = CLEW_OK;

    if (live && work->turn->role == TURN_USER) {
        agents = agents_live_take(live);
    }
    for (size_t i = 0; agents && i < agents->n_items && status == CLEW_OK;
         i++) {
        if (!agents->items[i].is_builtin) {
            status = watch(work->observation, &agents->items[i], err);
        }
    }
    agents_unref(agents);
    return status;
}
