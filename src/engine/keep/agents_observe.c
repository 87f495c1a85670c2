/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents_observe.c - packages of the user's own watch the turns too.
 *
 * A package has at most one artifact open in a chat: a memory of its type with
 * status "open". A turn opens it, adds to its fields, or concludes it, as the
 * package's rules say (agents.h, agent_follow.h). Without packages this costs
 * nothing.
 */
#include "engine/keep/keep.h"

#include "base/json.h"
#include "base/utf8.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/keep/agent_follow.h"
#include "engine/keep/agents_live.h"
#include "engine/memory/memory.h"
#include "engine/memory/note.h"
#include "engine/understand/observation.h"
#include "store/db.h"

#include <string.h>

/* A summary is a line or two. */
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

/* This turn, or the one before it, as packages see them. */
static void view_turns(const struct observation *o, struct agent_said *turn,
                       struct agent_said *before)
{
    *turn = (struct agent_said){.text = o->turn.text,
                                .intent = &o->intent,
                                .analysis = &o->analysis,
                                .read = o->read,
                                .seq = o->work->turn->seq,
                                .is_user = o->turn.role == TALK_USER};
    *before = (struct agent_said){.text = o->previous[0].text,
                                  .intent = &o->previous_intent,
                                  .seq = o->previous_seq[0],
                                  .is_user = o->previous[0].role == TALK_USER};
}

static enum clew_status open_one(struct observation *o,
                                 const struct agent *agent, struct str fields,
                                 const struct agent_news *news,
                                 struct clew_error *err)
{
    const char *type = arena_copy(o->arena, agent->name.s, agent->name.len);
    struct str summary = news->first.s ? news->first : str_trim(o->turn.text);
    struct memory memory;
    enum clew_status status;

    if (!type) {
        return clew_no_memory(err);
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

static enum clew_status go_on(struct observation *o, struct memory *memory,
                              const struct agent_news *news,
                              struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct memory_ref ref = {turn->chat_id, turn->seq, turn->seq};
    const char *how = news->step != AGENT_CONCLUDES ? "extended"
                      : news->is_incomplete         ? "abandoned"
                                                    : "resolved";
    enum clew_status status;

    if (news->step == AGENT_CONCLUDES) {
        memory->status = str_of(how);
        memory->resolution = news->first;
    }
    memory->updated_at_ms = turn->created_at_ms;
    status = memory_update(o->work->batch, memory, err);
    if (status == CLEW_OK) {
        status = memory_add_ref(o->tx, &memory->id, &ref, err);
    }
    if (status == CLEW_OK) {
        status = note_told(o->work, memory, how, err);
    }
    return status == CLEW_OK && news->step == AGENT_CONCLUDES
               ? note_notice(o->work, err, "[%.*s:%s] %.*s",
                             (int)memory->type.len, memory->type.s, how,
                             (int)memory->summary.len, memory->summary.s)
               : status;
}

/* The fields of an artifact as they are, or none. */
static json_t *fields_of(const struct memory *memory)
{
    json_t *fields = NULL;

    return memory->fields.s &&
                   json_parse(memory->fields, &fields, NULL) == CLEW_OK
               ? fields
               : json_object();
}

static enum clew_status watch(struct observation *o, const struct agent *agent,
                              struct clew_error *err)
{
    struct memory memory;
    struct agent_said turn;
    struct agent_said before;
    struct agent_news news;
    bool is_open;
    json_t *fields;
    enum clew_status status = find_open(o, agent, &memory, err);

    if (status != CLEW_OK) {
        return status;
    }
    is_open = !uuid_is_nil(&memory.id);
    if (!is_open && o->turn.role != TALK_USER) {
        return CLEW_OK;
    }
    view_turns(o, &turn, &before);
    fields = fields_of(&memory);
    if (!fields ||
        agent_follow(o->arena, agent, &turn, o->n_previous ? &before : NULL,
                     is_open, fields, &news) != CLEW_OK) {
        json_decref(fields);
        return clew_no_memory(err);
    }
    memory.fields = note_json(o->arena, fields);
    if (!memory.fields.s) {
        return clew_no_memory(err);
    }
    if (news.step == AGENT_NONE) {
        return CLEW_OK;
    }
    return is_open ? go_on(o, &memory, &news, err)
                   : open_one(o, agent, memory.fields, &news, err);
}

enum clew_status agents_observe(struct turn_work *work, struct clew_error *err)
{
    struct agents_live *live = work->batch->engine->agents;
    struct agents *agents = NULL;
    enum clew_status status = CLEW_OK;

    if (live && work->observation) {
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
