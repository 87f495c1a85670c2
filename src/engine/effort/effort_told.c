/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_told.c - what a model read of efforts. See effort_told.h.
 */
#include "engine/effort/effort_told.h"

#include "base/json.h"
#include "engine/chat/chat.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/work.h"
#include "engine/effort/effort_cache.h"
#include "engine/effort/effort_skill.h"
#include "engine/memory/note.h"

/* An effort named so few turns before the end of its chat is at work. */
#define AT_WORK_TURNS 2

/* Of one turn: is it the same effort, in more or fewer of its words? One turn
 * may hold several ("three things for tomorrow: …"). */
static bool is_part(const struct effort_words *a, const struct effort_words *b)
{
    size_t fewer = a->count < b->count ? a->count : b->count;

    return fewer > 0 && 2 * effort_words_shared(a, b) >= fewer;
}

/* The effort that is known by this turn or by these words; NULL if none is. */
static enum clew_status find_known(struct observation *o, struct str title,
                                   const struct effort **out,
                                   struct clew_error *err)
{
    struct effort *items = NULL;
    size_t count = 0;
    struct effort_words wanted;
    enum clew_status status = effort_list(
        o->tx, o->arena, &o->work->turn->chat_id, true, &items, &count, err);

    *out = NULL;
    if (status == CLEW_OK &&
        effort_words_of(o->arena, title, &wanted) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK && !*out; i++) {
        struct effort_words known;
        struct memory memory;

        if (!uuid_is_nil(&items[i].parent_id) || items[i].is_spawned) {
            continue;
        }
        status =
            memory_find(o->tx, o->arena, &items[i].memory_id, &memory, err);
        if (status == CLEW_OK &&
            effort_words_of(o->arena, items[i].summary, &known) != CLEW_OK) {
            status = clew_no_memory(err);
        }
        if (status == CLEW_OK &&
            (effort_is_same(&wanted, &known) ||
             (memory.created_at_ms == o->work->turn->created_at_ms &&
              is_part(&wanted, &known)))) {
            *out = &items[i];
        }
    }
    return status;
}

static enum clew_status insert(struct observation *o, struct str words,
                               struct str title, float confidence,
                               struct uuid *out_id, struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    const struct chat *chat = &o->work->placement->slot->chat;
    struct memory memory = note_memory(o->work, "effort", "open", title);
    struct effort effort = {.memory_id = memory.id,
                            .thread_id = turn->chat_id,
                            .is_open = true,
                            .first_seq = turn->seq,
                            .last_seq = turn->seq,
                            .last_at_ms = turn->created_at_ms,
                            .raw_tokens = turn->token_count};
    struct memory skill;
    json_t *fields = json_object();
    enum clew_status status;

    effort.state = turn->seq + AT_WORK_TURNS > chat->last_seq
                       ? EFFORT_ACTIVE
                       : EFFORT_COLLAPSED;
    *out_id = memory.id;
    if (!fields || !json_set_str(fields, "goal", words) ||
        !json_set_real(fields, "confidence", (double)confidence)) {
        json_decref(fields);
        return clew_no_memory(err);
    }
    memory.fields = note_json(o->arena, fields);
    if (!memory.fields.s) {
        return clew_no_memory(err);
    }
    status = effort_skill_offer(o->work->batch, &memory, &skill, err);
    if (status == CLEW_OK) {
        status = note_insert(o->work, &memory, 0, NULL, err);
    }
    if (status == CLEW_OK) {
        status = effort_insert(o->tx, &effort, err);
    }
    return status == CLEW_OK ? effort_title_chat(o, &memory.id, title, err)
                             : status;
}

enum clew_status effort_told_open(struct observation *o, struct str words,
                                  struct str name, float confidence,
                                  struct uuid *out_id, bool *out_new,
                                  struct clew_error *err)
{
    const struct effort *known = NULL;
    enum clew_status status = find_known(o, words, &known, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out_new = !known;
    if (known) {
        *out_id = known->memory_id;
        return CLEW_OK;
    }
    return insert(o, words, name.len > 0 ? name : words, confidence, out_id,
                  err);
}

enum clew_status effort_told_name(struct batch_work *batch,
                                  const struct uuid *id, struct str name,
                                  bool *out_changed, struct clew_error *err)
{
    struct memory memory;
    enum clew_status status =
        memory_find(batch->tx, batch->arena, id, &memory, err);

    *out_changed = false;
    if (status != CLEW_OK || memory.pinned_at_ms != 0 ||
        memory.retracted_at_ms != 0 || str_eq(memory.summary, name) ||
        (!str_eq(memory.origin, STR("extracted")) &&
         !str_eq(memory.origin, STR("llm")))) {
        return status;
    }
    memory.summary = name;
    *out_changed = true;
    return memory_update(batch, &memory, err);
}

/* Was the end of the effort a guess, that may be told better? */
static bool effort_told_is_guess(const struct memory *memory)
{
    json_t *fields = NULL;
    bool is_guess = false;

    if (memory->fields.s &&
        json_parse(memory->fields, &fields, NULL) == CLEW_OK) {
        is_guess = json_real_value(
                       json_object_get(fields, "resolution_confidence")) > 0;
    }
    json_decref(fields);
    return is_guess;
}

/* The turn is one of those the effort comes from. */
static enum clew_status cite_turn(struct observation *o, const struct uuid *id,
                                  struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct memory_ref ref = {turn->chat_id, turn->seq, turn->seq};
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t n_refs = 0;
    enum clew_status status =
        memory_refs(o->tx, o->arena, id, 1, &owners, &refs, &n_refs, err);

    for (size_t i = 0; i < n_refs && status == CLEW_OK; i++) {
        if (uuid_eq(&refs[i].chat_id, &turn->chat_id) &&
            refs[i].first_seq <= turn->seq && refs[i].last_seq >= turn->seq) {
            return CLEW_OK; /* it is */
        }
    }
    return status == CLEW_OK ? memory_add_ref(o->tx, id, &ref, err) : status;
}

enum clew_status effort_told_stand(struct observation *o, const struct uuid *id,
                                   const struct effort_told *told,
                                   bool *out_changed, struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct effort_change change = {.status = told->status,
                                   .resolution = told->resolution,
                                   .time_ms = turn->created_at_ms};
    struct memory memory;
    bool is_end = told->status[0] != 'o';
    bool is_open;
    enum clew_status status = memory_find(o->tx, o->arena, id, &memory, err);

    *out_changed = false;
    if (status != CLEW_OK) {
        return status;
    }
    is_open = str_eq(memory.status, STR("open"));
    if ((!is_open && !effort_told_is_guess(&memory)) || (is_open && !is_end) ||
        (str_eq(memory.status, str_of(told->status)) &&
         str_eq(memory.resolution, told->resolution))) {
        return CLEW_OK;
    }
    change.confidence = is_end ? told->confidence : 0;
    memory.resolution = (struct str){NULL, 0}; /* a guess, told better */
    status = effort_set_status(o->work->batch, &memory, &change, err);
    if (status == CLEW_OK && is_end) {
        status = cite_turn(o, id, err);
    }
    *out_changed = true;
    return status == CLEW_OK ? note_told(o->work, &memory, told->status, err)
                             : status;
}
