/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forms.c - rows as JSON. See forms.h.
 */
#include "api/answer/forms.h"

#include "base/clock.h"
#include "base/json.h"
#include "engine/chat/chat.h"
#include "engine/chat/session.h"
#include "engine/chat/timeout.h"
#include "engine/thought/memory_view.h"

#include <stdio.h>

json_t *form_finish(json_t *object, bool is_ok)
{
    if (!is_ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}

bool form_set_time(json_t *object, const char *field, int64_t time_ms)
{
    return json_set_time(object, field, time_ms ? &time_ms : NULL);
}

/* "sms,email" as ["sms","email"]. */
static json_t *form_names(struct str names)
{
    json_t *list = json_array();
    struct str name;
    bool is_ok = list != NULL;

    while (is_ok && str_split(&names, ',', &name)) {
        is_ok = name.len == 0 || json_array_append_new(
                                     list, json_stringn(name.s, name.len)) == 0;
    }
    return form_finish(list, is_ok);
}

json_t *form_chat(const struct engine *engine, const struct chat *chat)
{
    json_t *out = json_object();
    bool is_ok =
        out && json_set_uuid(out, "id", &chat->id) &&
        json_set_uuid(out, "conversation_id", &chat->conversation_id) &&
        json_set_uuid(out, "parent_id", uuid_or_null(&chat->parent_id)) &&
        json_set_str(out, "user_id", chat->user_id) &&
        json_set_str(out, "branch", chat->branch) &&
        json_set_str(out, "title", chat->title) &&
        json_set_str(out, "summary", chat->summary) &&
        json_set(out, "channels", form_names(chat->channels)) &&
        json_set_bool(out, "is_explicit", chat->is_explicit) &&
        json_set_int(out, "fork_seq", chat->fork_seq) &&
        json_set_int(out, "depth", chat->depth) &&
        json_set_int(out, "last_seq", chat->last_seq) &&
        (chat->inactivity_minutes
             ? json_set_int(out, "inactivity_minutes", chat->inactivity_minutes)
             : json_set(out, "inactivity_minutes", json_null())) &&
        json_set_int(out, "inactivity_timeout_minutes",
                     timeout_of_chat_ms(engine, chat) / CLOCK_MINUTE_MS) &&
        json_set_bool(out, "explicit_channel", chat->is_explicit) &&
        json_set_uuid(out, "primary_episode_id",
                      uuid_or_null(&chat->primary_episode_id)) &&
        json_set(out, "cross_chat_episodes",
                 form_names(chat->cross_episodes)) &&
        json_set_int(out, "turn_count", chat->last_seq - chat->fork_seq) &&
        json_set_time(out, "created_at", &chat->created_at_ms) &&
        json_set_time(out, "last_activity_at", &chat->last_activity_at_ms) &&
        form_set_time(out, "closed_at", chat->closed_at_ms);

    return form_finish(out, is_ok);
}

json_t *form_session(const struct session *session)
{
    json_t *out = json_object();
    bool is_ok =
        out && json_set_uuid(out, "id", &session->id) &&
        json_set_uuid(out, "chat_id", &session->chat_id) &&
        json_set_str(out, "user_id", session->user_id) &&
        json_set_time(out, "started_at", &session->started_at_ms) &&
        json_set_time(out, "last_activity_at", &session->last_activity_at_ms) &&
        form_set_time(out, "ended_at", session->ended_at_ms);

    return form_finish(out, is_ok);
}

/* Append `item` (taken) to `list`; false if either is missing. */
static bool append(json_t *list, json_t *item)
{
    return json_array_append_new(list, item) == 0;
}

json_t *form_ids(const struct uuid *ids, size_t count)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;

    for (size_t i = 0; is_ok && i < count; i++) {
        char text[UUID_TEXT_SIZE];

        uuid_format(&ids[i], text);
        is_ok = append(list, json_string(text));
    }
    return form_finish(list, is_ok);
}

/* The first reference as `source_ref`, all of them as `source_refs`. */
static bool set_refs(json_t *out, const struct memory_view *view)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;
    char text[UUID_TEXT_SIZE + 64];

    if (view->n_refs == 0) {
        is_ok = is_ok && json_set(out, "source_ref", json_null());
    }
    for (size_t i = 0; is_ok && i < view->n_refs; i++) {
        const struct memory_ref *ref = &view->refs[i];

        uuid_format(&ref->chat_id, text);
        (void)snprintf(text + UUID_TEXT_SIZE - 1, 64, ":lines-%lld-%lld",
                       (long long)ref->first_seq, (long long)ref->last_seq);
        is_ok = (i > 0 || json_set_cstr(out, "source_ref", text)) &&
                json_array_append_new(list, json_string(text)) == 0;
    }
    return json_set(out, "source_refs", list) && is_ok;
}

static bool set_fields(json_t *out, struct str fields)
{
    json_t *object = NULL;

    if (fields.s && json_parse(fields, &object, NULL) != CLEW_OK) {
        return false;
    }
    return json_set(out, "fields", object ? object : json_null());
}

json_t *form_memory(const struct memory_view *view)
{
    const struct memory *memory = &view->memory;
    json_t *out = json_object();
    bool is_ok =
        out && json_set_uuid(out, "id", &memory->id) &&
        json_set_str(out, "user_id", memory->user_id) &&
        json_set_str(out, "type", memory->type) &&
        json_set_str(out, "status", memory->status) &&
        json_set_str(out, "summary", memory->summary) &&
        json_set_str(out, "resolution", memory->resolution) &&
        json_set(out, "tags", form_names(memory->tags)) &&
        set_fields(out, memory->fields) && set_refs(out, view) &&
        json_set_str(out, "origin", memory->origin) &&
        json_set_cstr(out, "thought_type",
                      memory_lineage_name(memory->lineage)) &&
        json_set_uuid(out, "chat_id", uuid_or_null(&memory->chat_id)) &&
        json_set_uuid(out, "parent_id", uuid_or_null(&memory->parent_id)) &&
        json_set_str(out, "agent_id", memory->agent_id) &&
        json_set_str(out, "agent_name", memory->agent_name) &&
        json_set(out, "source_ids",
                 form_ids(view->source_ids, view->n_source_ids)) &&
        json_set_bool(out, "pinned", memory->pinned_at_ms != 0) &&
        json_set_bool(out, "is_instruction", memory->is_instruction) &&
        json_set_int(out, "token_count", memory->token_count) &&
        json_set_real(out, "weight", memory->weight) &&
        json_set_bool(out, "superseded", view->is_superseded) &&
        json_set_uuid(out, "refined_by", uuid_or_null(&view->refined_by)) &&
        json_set_time(out, "created_at", &memory->created_at_ms) &&
        json_set_time(out, "updated_at", &memory->updated_at_ms) &&
        form_set_time(out, "expires_at", memory->expires_at_ms) &&
        form_set_time(out, "retracted_at", memory->retracted_at_ms);

    return form_finish(out, is_ok);
}
