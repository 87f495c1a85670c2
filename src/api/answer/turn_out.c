/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn_out.c - see turn_out.h.
 */
#include "api/answer/turn_out.h"

#include "api/api.h"
#include "base/json.h"
#include "engine/capture/capture.h"
#include "engine/chat/turn.h"
#include "engine/core/updates.h"

/* Blocks as they were sent; a plain string is `text` itself and is left out. */
static void content_out(struct json_out *out, struct str content)
{
    json_t *blocks = NULL;
    enum clew_status status;

    if (!content.s) {
        return;
    }
    status = json_parse(content, &blocks, NULL);
    if (status != CLEW_OK) { /* the log holds JSON only */
        buf_fail(out->buf, status == CLEW_NO_MEMORY ? status : CLEW_CORRUPT);
        return;
    }
    json_out_tree(out, "content", blocks);
    json_decref(blocks);
}

void turn_out(struct json_out *out, const void *row)
{
    const struct turn *turn = row;

    json_out_object(out, NULL);
    json_out_uuid(out, "id", &turn->id);
    json_out_uuid(out, "chat_id", &turn->chat_id);
    json_out_uuid(out, "session_id", &turn->session_id);
    json_out_int(out, "seq", turn->seq);
    json_out_str(out, "user_id", turn->user_id);
    json_out_str(out, "role", str_of(turn_role_name(turn->role)));
    json_out_str(out, "name", turn->name);
    json_out_str(out, "channel", turn->channel);
    json_out_str(out, "text", turn->text);
    content_out(out, turn->content);
    json_out_int(out, "token_count", turn->token_count);
    json_out_time(out, "created_at", &turn->created_at_ms);
    json_out_time(out, "stored_at", &turn->stored_at_ms);
    json_out_str(out, "timezone", turn->timezone);
    json_out_str(out, "external_id", turn->external_id);
    json_out_end_object(out);
}

static void memory_out(struct json_out *out, const struct memory_update *entry)
{
    json_out_object(out, NULL);
    json_out_uuid(out, "id", &entry->id);
    json_out_str(out, "type", entry->type);
    json_out_str(out, "status", entry->status);
    json_out_str(out, "summary", entry->summary);
    json_out_str(out, "change", str_of(entry->change));
    json_out_end_object(out);
}

static void chain_out(struct json_out *out, const struct chain_update *entry)
{
    json_out_object(out, NULL);
    json_out_str(out, "type", str_of(entry->type));
    json_out_uuid(out, "chain_id", &entry->chain_id);
    json_out_array(out, "claim_ids");
    for (size_t i = 0; i < entry->n_claim_ids; i++) {
        json_out_uuid(out, NULL, &entry->claim_ids[i]);
    }
    json_out_end_array(out);
    json_out_str(out, "reasoning", entry->reasoning);
    if (!uuid_is_nil(&entry->parent_chain_id)) {
        json_out_uuid(out, "parent_chain_id", &entry->parent_chain_id);
    }
    if (entry->distance >= 0) {
        json_out_real(out, "distance", entry->distance);
    }
    json_out_end_object(out);
}

static void link_out(struct json_out *out, const struct chatlink_update *entry)
{
    json_out_object(out, NULL);
    json_out_uuid(out, "id", &entry->id);
    json_out_uuid(out, "chat_id", &entry->chat_id);
    json_out_uuid(out, "other_chat_id", &entry->other_chat_id);
    json_out_str(out, "decision", str_of(entry->decision));
    json_out_real(out, "algorithmic", entry->algorithmic);
    if (entry->llm >= 0) {
        json_out_real(out, "llm", entry->llm);
    } else {
        json_out_null(out, "llm");
    }
    json_out_str(out, "confidence", str_of(entry->confidence));
    json_out_end_object(out);
}

static void episode_out(struct json_out *out,
                        const struct episode_update *entry)
{
    json_out_object(out, NULL);
    json_out_uuid(out, "id", &entry->id);
    json_out_str(out, "type", str_of(entry->type));
    json_out_str(out, "change", str_of(entry->change));
    json_out_end_object(out);
}

static void updates_out(struct json_out *out, const struct updates *updates)
{
    json_out_object(out, "updates");
    json_out_array(out, "memories");
    for (size_t i = 0; i < updates->n_memories; i++) {
        memory_out(out, &updates->memories[i]);
    }
    json_out_end_array(out);
    json_out_array(out, "chains");
    for (size_t i = 0; i < updates->n_chains; i++) {
        chain_out(out, &updates->chains[i]);
    }
    json_out_end_array(out);
    json_out_array(out, "links");
    for (size_t i = 0; i < updates->n_links; i++) {
        link_out(out, &updates->links[i]);
    }
    json_out_end_array(out);
    json_out_array(out, "episodes");
    for (size_t i = 0; i < updates->n_episodes; i++) {
        episode_out(out, &updates->episodes[i]);
    }
    json_out_end_array(out);
    json_out_end_object(out);
}

void capture_out(struct json_out *out, const struct capture_result *result,
                 struct str chat)
{
    const struct updates *updates = &result->updates;

    json_out_object(out, NULL);
    json_out_field(out, STR("turn"));
    turn_out(out, &result->turn);
    json_out_raw(out, "chat", chat);
    updates_out(out, updates);
    json_out_array(out, "notices");
    for (size_t i = 0; i < updates->n_notices; i++) {
        json_out_str(out, NULL, updates->notices[i]);
    }
    json_out_end_array(out);
    json_out_uuid(out, "trace_id", &result->turn.id);
    json_out_bool(out, "repeated", result->is_repeat);
    json_out_end_object(out);
}

enum clew_status
turns_answer(struct api_call *call, const struct api_page *page,
             struct turn *turns, size_t count,
             struct str (*mark)(struct api_call *call, const void *row),
             struct clew_error *err)
{
    enum clew_status status = api_show_turns(call, turns, count, err);

    return status == CLEW_OK
               ? api_write_rows(call, page, API_ROWS(turns, count, NULL, mark),
                                turn_out, err)
               : status;
}
