/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_skill_rows.c - the skills of a user as they are stored, and the fields
 * of an effort. See effort_skill_internal.h.
 */
#include "engine/effort/effort_skill_internal.h"

/* Skills of a user that are looked at. */
#define MAX_SKILLS 64

json_t *effort_skill_fields(const struct memory *memory)
{
    json_t *fields = NULL;

    if (!memory->fields.s ||
        json_parse(memory->fields, &fields, NULL) != CLEW_OK ||
        !json_is_object(fields)) {
        json_decref(fields);
        return json_object();
    }
    return fields;
}

double effort_skill_number(const struct memory *effort, const char *name,
                           double fallback)
{
    json_t *fields = effort_skill_fields(effort);
    const json_t *value = json_object_get(fields, name);
    double out = json_is_number(value) ? json_number_value(value) : fallback;

    json_decref(fields);
    return out;
}

enum clew_status effort_skill_list(struct batch_work *batch, struct str user_id,
                                   struct memory **out, size_t *out_count,
                                   struct clew_error *err)
{
    struct memory_filter filter = {.user_id = user_id,
                                   .type = STR("skill"),
                                   .limit = MAX_SKILLS,
                                   .with_retracted = true};

    return memory_list(batch->tx, batch->arena, &filter, out, out_count, err);
}

enum clew_status effort_skill_examples(struct batch_work *batch,
                                       const struct skill_sheet *sheet,
                                       struct effort_alike *out,
                                       struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < sheet->n_examples && status == CLEW_OK; i++) {
        status = effort_alike_make(batch, sheet->goals[i], sheet->ways[i],
                                   &out[i], err);
    }
    return status;
}
