/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.c - what was worked out about a stretch of a chat, turn by turn.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/json_out.h"
#include "engine/view/chat_marks.h"

#define DEFAULT_TURNS 100

static void write_topics(struct json_out *out, const struct chat_marks *marks)
{
    json_out_array(out, "topics");
    for (size_t i = 0; i < marks->n_topics; i++) {
        const struct chat_mark_topic *topic = &marks->topics[i];

        json_out_object(out, NULL);
        json_out_int(out, "seq", topic->seq);
        json_out_uuid(out, "chain_id", &topic->chain_id);
        json_out_str(out, "topic", topic->topic);
        json_out_str(out, "state", topic->state);
        json_out_end_object(out);
    }
    json_out_end_array(out);
}

static void write_memories(struct json_out *out, const char *field,
                           const struct chat_mark_memory *list, size_t count)
{
    json_out_array(out, field);
    for (size_t i = 0; i < count; i++) {
        const struct chat_mark_memory *memory = &list[i];

        json_out_object(out, NULL);
        json_out_uuid(out, "id", &memory->id);
        json_out_str(out, "type", memory->type);
        json_out_str(out, "status", memory->status);
        json_out_str(out, "summary", memory->summary);
        json_out_str(out, "resolution", memory->resolution);
        json_out_int(out, "first_seq", memory->first_seq);
        json_out_int(out, "last_seq", memory->last_seq);
        json_out_bool(out, "retracted", memory->is_retracted);
        json_out_bool(out, "superseded", memory->is_superseded);
        json_out_end_object(out);
    }
    json_out_end_array(out);
}

static void write_forks(struct json_out *out, const struct chat_marks *marks)
{
    json_out_array(out, "forks");
    for (size_t i = 0; i < marks->n_forks; i++) {
        const struct chat_mark_fork *fork = &marks->forks[i];

        json_out_object(out, NULL);
        json_out_uuid(out, "chat_id", &fork->chat_id);
        json_out_int(out, "seq", fork->seq);
        json_out_str(out, "branch", fork->branch);
        json_out_str(out, "title", fork->title);
        json_out_int(out, "turn_count", fork->n_turns);
        json_out_end_object(out);
    }
    json_out_end_array(out);
}

static void write_episodes(struct json_out *out, const struct chat_marks *marks)
{
    json_out_array(out, "episodes");
    for (size_t i = 0; i < marks->n_episodes; i++) {
        const struct chat_mark_episode *episode = &marks->episodes[i];

        json_out_object(out, NULL);
        json_out_uuid(out, "id", &episode->id);
        json_out_int(out, "first_seq", episode->first_seq);
        json_out_int(out, "last_seq", episode->last_seq);
        json_out_bool(out, "compacted", episode->is_compacted);
        json_out_end_object(out);
    }
    json_out_end_array(out);
}

enum clew_status chats_marks(struct api_call *call, struct clew_error *err)
{
    struct chat_marks marks;
    struct json_out out;
    struct uuid id;
    int64_t after_seq = 0;
    int64_t limit = DEFAULT_TURNS;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status =
            api_query_int(call, "after_seq", 0,
                          INT64_MAX - CHAT_MARKS_MAX_TURNS, &after_seq, err);
    }
    if (status == CLEW_OK) {
        status =
            api_query_int(call, "limit", 1, CHAT_MARKS_MAX_TURNS, &limit, err);
    }
    if (status == CLEW_OK) {
        status = chat_marks_read(call->engine, &call->scope, call->arena, &id,
                                 after_seq, after_seq + limit, &marks, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    json_out_init(&out, &call->response->body);
    json_out_object(&out, NULL);
    write_topics(&out, &marks);
    write_memories(&out, "memories", marks.memories, marks.n_memories);
    write_memories(&out, "efforts", marks.efforts, marks.n_efforts);
    write_forks(&out, &marks);
    write_episodes(&out, &marks);
    json_out_end_object(&out);
    return CLEW_OK; /* a full buffer is found by whoever sends it */
}
