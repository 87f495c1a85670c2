/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_skill.c - what worked for efforts before. See effort_skill.h.
 */
#include "engine/effort/effort_skill_internal.h"

#include "base/json.h"
#include "engine/core/work.h"
#include "engine/memory/note.h"
#include "engine/memory/skill_use.h"

/* --- fields of the effort ---------------------------------------------------
 */

/* Set a text of the effort's fields. */
static enum clew_status put(struct arena *arena, struct memory *effort,
                            const char *name, struct str value,
                            struct clew_error *err)
{
    json_t *fields = effort_skill_fields(effort);

    if (!fields || !json_set_str(fields, name, value)) {
        json_decref(fields);
        return clew_no_memory(err);
    }
    effort->fields = note_json(arena, fields);
    return effort->fields.s ? CLEW_OK : clew_no_memory(err);
}

static struct str text_in(struct arena *arena, const json_t *fields,
                          const char *name)
{
    const json_t *value = json_object_get(fields, name);

    return json_is_string(value)
               ? arena_str(arena, str_of(json_string_value(value)))
               : STR("");
}

/* The skill it was offered and what became of that; false if none was. */
static bool offered(struct arena *arena, const struct memory *effort,
                    struct uuid *out_id, struct str *out_outcome)
{
    json_t *fields = effort_skill_fields(effort);
    struct str id = text_in(arena, fields, "skill_id");

    *out_outcome = text_in(arena, fields, "skill_outcome");
    json_decref(fields);
    return id.s && out_outcome->s && uuid_parse(id, out_id);
}

/* --- offering ---------------------------------------------------------------
 */

/* The skill for such a goal; NULL if there is none. */
static enum clew_status best_for(struct batch_work *batch,
                                 const struct memory *effort,
                                 struct memory *skills, size_t count,
                                 struct memory **out, struct clew_error *err)
{
    struct effort_alike goal;
    double best = EFFORT_ALIKE_GOAL;
    enum clew_status status =
        effort_alike_make(batch, effort->summary, STR(""), &goal, err);

    *out = NULL;
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct effort_alike examples[SKILL_MAX_EXAMPLES];
        struct skill_sheet sheet;
        double near;

        if (skills[i].retracted_at_ms || skills[i].is_instruction ||
            !skill_fields_read(batch->arena, skills[i].fields, &sheet) ||
            skill_use_confidence(&skills[i], effort->created_at_ms) <
                SKILL_OFFERED_AT) {
            continue;
        }
        status = effort_skill_examples(batch, &sheet, examples, err);
        near = status == CLEW_OK
                   ? effort_alike_goal(&goal, examples, sheet.n_examples)
                   : 0;
        if (near >= best) {
            best = near;
            *out = &skills[i];
        }
    }
    return status;
}

enum clew_status effort_skill_offer(struct batch_work *batch,
                                    struct memory *effort,
                                    struct memory *out_skill,
                                    struct clew_error *err)
{
    struct memory *skills = NULL;
    struct memory *best = NULL;
    size_t count = 0;
    char id[UUID_TEXT_SIZE];
    enum clew_status status =
        effort_skill_list(batch, effort->user_id, &skills, &count, err);

    *out_skill = (struct memory){0};
    if (status == CLEW_OK && count > 0) {
        status = best_for(batch, effort, skills, count, &best, err);
    }
    if (status != CLEW_OK || !best) {
        return status;
    }
    best->fields =
        skill_use_offered(batch->arena, best->fields, effort->created_at_ms);
    uuid_format(&best->id, id);
    status =
        best->fields.s ? memory_update(batch, best, err) : clew_no_memory(err);
    if (status == CLEW_OK) {
        status = put(batch->arena, effort, "skill_id", str_of(id), err);
    }
    if (status == CLEW_OK) {
        *out_skill = *best;
    }
    return status;
}

enum clew_status effort_skill_of(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *effort_id,
                                 struct memory *out_skill,
                                 struct clew_error *err)
{
    struct memory effort;
    struct str outcome;
    struct uuid id;
    enum clew_status status = memory_find(tx, arena, effort_id, &effort, err);

    if (status == CLEW_OK && !offered(arena, &effort, &id, &outcome)) {
        return CLEW_NOT_FOUND;
    }
    if (status == CLEW_OK) {
        status = memory_find(tx, arena, &id, out_skill, err);
    }
    return status == CLEW_OK &&
                   (out_skill->retracted_at_ms || out_skill->is_instruction)
               ? CLEW_NOT_FOUND
               : status;
}

/* --- tracking ---------------------------------------------------------------
 */

/* What became of the skill that was offered changes from one to another. */
static enum clew_status count_outcome(struct batch_work *batch,
                                      const struct uuid *skill_id,
                                      struct str before, struct str after,
                                      int64_t now_ms, struct clew_error *err)
{
    struct memory skill;
    bool was_use =
        str_eq(before, STR("worked")) || str_eq(before, STR("failed"));
    bool is_use = str_eq(after, STR("worked")) || str_eq(after, STR("failed"));
    enum clew_status status =
        memory_find(batch->tx, batch->arena, skill_id, &skill, NULL);

    if (status != CLEW_OK || str_eq(before, after) || (!was_use && !is_use)) {
        return status == CLEW_NOT_FOUND ? CLEW_OK : status; /* forgotten */
    }
    if (was_use) {
        skill.fields = skill_use_take_back(batch->arena, skill.fields,
                                           str_eq(before, STR("worked")));
    }
    if (is_use && skill.fields.s) {
        skill.fields = skill_use_add(batch->arena, skill.fields, 1,
                                     str_eq(after, STR("worked")), now_ms);
    }
    return skill.fields.s ? memory_update(batch, &skill, err)
                          : clew_no_memory(err);
}

enum clew_status effort_skill_end(struct batch_work *batch,
                                  struct memory *effort, struct clew_error *err)
{
    struct uuid learnt = {0};
    struct uuid skill_id;
    struct str before;
    struct str after = STR("");
    enum clew_status status = CLEW_OK;

    if (str_eq(effort->status, STR("resolved")) && effort->resolution.len) {
        status = effort_skill_learn(batch, effort, &learnt, err);
    }
    if (status != CLEW_OK ||
        !offered(batch->arena, effort, &skill_id, &before)) {
        return status;
    }
    if (str_eq(effort->status, STR("abandoned"))) {
        after = STR("failed");
    } else if (str_eq(effort->status, STR("resolved"))) {
        after = uuid_eq(&learnt, &skill_id) ? STR("worked") : STR("other");
    }
    status = count_outcome(batch, &skill_id, before, after,
                           effort->updated_at_ms, err);
    return status == CLEW_OK && !str_eq(before, after)
               ? put(batch->arena, effort, "skill_outcome", after, err)
               : status;
}
