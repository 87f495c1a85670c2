/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill_keep.c - from turns to memories of type "skill". See skill_keep.h.
 */
#include "engine/episode/skill_keep.h"

#include "base/buf.h"
#include "base/json.h"
#include "engine/chat/chat.h"
#include "engine/core/work.h"
#include "engine/episode/episode.h"
#include "engine/memory/memory.h"
#include "engine/memory/skill_use.h"

#include <string.h>

/* Linked chats looked at, and turns of each. */
#define MAX_CHATS 8
#define MAX_TURNS 60

/* --- reading ---------------------------------------------------------------
 */

struct stretch {
    struct turn *turns;
    size_t count;
    size_t n_chats;
};

static enum clew_status read_episode(struct store_tx *tx, struct arena *arena,
                                     const struct chat *chat,
                                     const struct uuid *episode_id,
                                     struct stretch *out,
                                     struct clew_error *err)
{
    struct uuid *ids = NULL;
    size_t n_ids = 0;
    enum clew_status status =
        episode_chats(tx, arena, episode_id, &ids, &n_ids, err);

    for (size_t i = 0;
         i < n_ids && status == CLEW_OK && out->n_chats < MAX_CHATS; i++) {
        struct turn *turns = NULL;
        size_t count = 0;

        if (uuid_eq(&ids[i], &chat->id)) {
            continue;
        }
        status =
            turn_list_last(tx, arena, &ids[i], MAX_TURNS, &turns, &count, err);
        if (status == CLEW_OK && count > 0) {
            memcpy(out->turns + out->count, turns, count * sizeof(*turns));
            out->count += count;
            out->n_chats++;
        }
    }
    return status;
}

enum clew_status skill_read_linked(struct store_tx *tx, struct arena *arena,
                                   const struct chat *chat,
                                   struct turn **out_turns, size_t *out_count,
                                   struct clew_error *err)
{
    struct stretch stretch = {0};
    struct str rest = chat->cross_episodes;
    struct str part;
    enum clew_status status = CLEW_OK;

    if (rest.len) {
        stretch.turns = arena_zero(arena, (size_t)MAX_CHATS * MAX_TURNS,
                                   sizeof(*stretch.turns));
        if (!stretch.turns) {
            return clew_no_memory(err);
        }
    }
    while (status == CLEW_OK && str_split(&rest, ',', &part)) {
        struct uuid id;

        if (uuid_parse(part, &id)) {
            status = read_episode(tx, arena, chat, &id, &stretch, err);
        }
    }
    *out_turns = stretch.turns;
    *out_count = stretch.count;
    return status;
}

/* --- finding ---------------------------------------------------------------
 */

static enum clew_status add_turns(struct arena *arena, const struct turn *turns,
                                  size_t count, struct skill_turn *out,
                                  const struct turn **rows, size_t *n,
                                  struct clew_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct analysis_options options = {.time_ms = turns[i].created_at_ms};
        struct analysis *analysis = arena_zero(arena, 1, sizeof(*analysis));
        enum clew_status status;

        if (turns[i].role != TURN_USER && turns[i].role != TURN_ASSISTANT) {
            continue;
        }
        if (!analysis) {
            return clew_no_memory(err);
        }
        status = analysis_run(arena, turns[i].text, &options, analysis, err);
        if (status != CLEW_OK) {
            return status;
        }
        out[*n] = (struct skill_turn){analysis, turns[i].role == TURN_USER};
        rows[(*n)++] = &turns[i];
    }
    return CLEW_OK;
}

enum clew_status skill_collect(struct arena *arena, const struct turn *linked,
                               size_t n_linked, const struct turn *own,
                               size_t n_own, struct skill_list *out,
                               struct clew_error *err)
{
    size_t total = n_linked + n_own;
    struct skill_turn *turns = arena_zero(arena, total + 1, sizeof(*turns));
    size_t n = 0;
    size_t kept = 0;
    enum clew_status status;

    memset(out, 0, sizeof(*out));
    out->turns = arena_zero(arena, total + 1, sizeof(*out->turns));
    if (!turns || !out->turns) {
        return clew_no_memory(err);
    }
    status = add_turns(arena, linked, n_linked, turns, out->turns, &n, err);
    if (status == CLEW_OK) {
        status = add_turns(arena, own, n_own, turns, out->turns, &n, err);
    }
    if (status == CLEW_OK &&
        skill_find(arena, turns, n, &out->skills, &out->count) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    for (size_t i = 0; status == CLEW_OK && i < out->count; i++) {
        if (skill_is_kept(out->skills[i].confidence)) {
            out->skills[kept++] = out->skills[i];
        }
    }
    out->count = kept;
    return status;
}

/* --- storing ---------------------------------------------------------------
 */

static json_t *list_of(const struct str *items, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < count; i++) {
        if (json_array_append_new(
                list, json_stringn(items[i].s, items[i].len)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static struct str fields_of(struct arena *arena, const struct skill_list *list,
                            const struct skill *skill)
{
    struct str examples[SKILL_MAX_EXAMPLES];
    struct str out = {NULL, 0};
    json_t *json = json_object();
    struct buf text;

    for (size_t i = 0; i < skill->n_examples; i++) {
        examples[i] = list->turns[skill->examples[i]]->text;
    }
    buf_init(&text, 1 << 20);
    if (json && json_set_str(json, "name", skill->name) &&
        json_set_str(json, "description", skill->description) &&
        json_set(json, "preconditions", list_of(&skill->description, 1)) &&
        json_set(json, "steps", list_of(skill->steps, skill->n_steps)) &&
        json_set(json, "postconditions", list_of(&skill->success, 1)) &&
        json_set(json, "examples", list_of(examples, skill->n_examples)) &&
        json_set_real(json, "confidence", skill->confidence) &&
        json_set_int(json, "frequency", (int64_t)skill->n_sightings) &&
        json_write(&text, json) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    json_decref(json);
    return out;
}

static enum clew_status keep_one(struct batch_work *batch,
                                 const struct skill_list *list,
                                 const struct skill *skill, int64_t now_ms,
                                 struct clew_error *err)
{
    const struct turn *first = list->turns[skill->examples[0]];
    struct uuid id = uuid_derive(first->created_at_ms, &first->id, "skill", 0);
    struct memory_ref refs[SKILL_MAX_EXAMPLES];
    struct memory memory;
    struct str fields = fields_of(batch->arena, list, skill);
    enum clew_status status =
        memory_find(batch->tx, batch->arena, &id, &memory, err);

    if (!fields.s) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        memory.fields =
            skill_use_merge(batch->arena, memory.fields, fields, now_ms);
        memory.updated_at_ms = now_ms;
        return memory.fields.s ? memory_update(batch, &memory, err)
                               : clew_no_memory(err);
    }
    if (status != CLEW_NOT_FOUND) {
        return status;
    }
    memset(&memory, 0, sizeof(memory));
    memory.id = id;
    memory.user_id = first->user_id;
    memory.type = STR("skill");
    memory.status = STR("active");
    memory.summary = skill->description;
    memory.tags = STR("");
    memory.fields = fields;
    memory.origin = STR("extracted");
    memory.chat_id = first->chat_id;
    memory.weight = MEMORY_WEIGHT_START;
    memory.weight_at_ms = first->created_at_ms;
    memory.created_at_ms = first->created_at_ms;
    memory.updated_at_ms = now_ms;
    for (size_t i = 0; i < skill->n_examples; i++) {
        const struct turn *turn = list->turns[skill->examples[i]];

        refs[i] = (struct memory_ref){turn->chat_id, turn->seq, turn->seq + 2};
    }
    return memory_insert(batch, &memory, refs, skill->n_examples, NULL, 0, err);
}

enum clew_status skill_keep(struct batch_work *batch,
                            const struct skill_list *list, int64_t now_ms,
                            struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < list->count && status == CLEW_OK; i++) {
        status = keep_one(batch, list, &list->skills[i], now_ms, err);
    }
    return status;
}
