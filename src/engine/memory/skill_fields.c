/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill_fields.c - the fields of a skill, read and added to. See
 * skill_fields.h.
 */
#include "engine/memory/skill_fields.h"

#include "base/json.h"
#include "engine/memory/note.h"

static json_t *object_of(struct str fields)
{
    json_t *json = NULL;

    if (!fields.s) {
        return json_object();
    }
    if (json_parse(fields, &json, NULL) != CLEW_OK || !json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static struct str text_at(struct arena *arena, const json_t *list, size_t i)
{
    const json_t *item = json_array_get(list, i);

    return json_is_string(item) ? arena_str(arena, json_text(item)) : STR("");
}

bool skill_fields_read(struct arena *arena, struct str fields,
                       struct skill_sheet *out)
{
    json_t *json = fields.s ? object_of(fields) : NULL;
    const json_t *goals = json_object_get(json, "examples");
    const json_t *ways = json_object_get(json, "ways");
    const json_t *efforts = json_object_get(json, "efforts");
    bool is_ok = true;

    *out = (struct skill_sheet){0};
    for (size_t i = 0; is_ok && out->n_examples < SKILL_MAX_EXAMPLES &&
                       i < json_array_size(goals) && i < json_array_size(ways);
         i++) {
        out->goals[i] = text_at(arena, goals, i);
        out->ways[i] = text_at(arena, ways, i);
        is_ok = out->goals[i].s && out->ways[i].s;
        out->n_examples++;
    }
    for (size_t i = 0; is_ok && out->n_efforts < SKILL_MAX_EFFORTS &&
                       i < json_array_size(efforts);
         i++) {
        struct str id = text_at(arena, efforts, i);

        is_ok = id.s != NULL;
        out->n_efforts +=
            is_ok && uuid_parse(id, &out->efforts[out->n_efforts]);
    }
    json_decref(json);
    return is_ok && out->n_examples > 0 && out->n_efforts > 0;
}

bool skill_sheet_has(const struct skill_sheet *sheet, const struct uuid *id)
{
    for (size_t i = 0; i < sheet->n_efforts; i++) {
        if (uuid_eq(&sheet->efforts[i], id)) {
            return true;
        }
    }
    return false;
}

/* The list of that name, made if there is none; NULL without memory. */
static json_t *list_in(json_t *json, const char *name)
{
    json_t *list = json_object_get(json, name);

    if (!json_is_array(list)) {
        list = json_array();
        return json_set(json, name, list) ? list : NULL;
    }
    return list;
}

/* Add to a list of at most `max`; the last ones stay, or the first ones. */
static bool add_text(json_t *json, const char *name, struct str text,
                     size_t max, bool is_last)
{
    json_t *list = list_in(json, name);

    if (!list) {
        return false;
    }
    if (json_array_size(list) >= max && !is_last) {
        return true;
    }
    while (json_array_size(list) >= max) {
        (void)json_array_remove(list, 0); /* it is there */
    }
    return json_array_append_new(list, json_stringn(text.s, text.len)) == 0;
}

/* The mean of what all sightings are worth, with this one. */
static bool add_checks(json_t *json, const double *checks, int64_t n)
{
    json_t *old = json_object_get(json, "checks");
    json_t *list = json_array();
    double means[SKILL_CHECKS];

    for (size_t i = 0; list && i < SKILL_CHECKS; i++) {
        double before = json_number_value(json_array_get(old, i));

        means[i] = (before * (double)(n - 1) + checks[i]) / (double)n;
        if (json_array_append_new(list, json_real(means[i])) != 0) {
            json_decref(list);
            return false;
        }
    }
    return list && json_set(json, "checks", list) &&
           json_set_real(json, "initial_confidence",
                         skill_confidence((size_t)n, means));
}

/* Half of it is how often it worked, once it was used. */
static bool set_confidence(json_t *json)
{
    double initial =
        json_number_value(json_object_get(json, "initial_confidence"));
    int64_t uses = json_integer_value(json_object_get(json, "uses"));
    int64_t worked = json_integer_value(json_object_get(json, "successes"));

    return json_set_real(json, "confidence",
                         skill_after_use(initial, (size_t)worked,
                                         (size_t)(uses > 0 ? uses : 0)));
}

struct str skill_fields_add(struct arena *arena, struct str fields,
                            const struct skill_sighting *sighting)
{
    json_t *json = object_of(fields);
    int64_t n = json_integer_value(json_object_get(json, "frequency")) + 1;
    char id[UUID_TEXT_SIZE];

    uuid_format(&sighting->effort_id, id);
    if (json && n > 0 &&
        add_text(json, "examples", sighting->goal, SKILL_MAX_EXAMPLES, false) &&
        add_text(json, "ways", sighting->way, SKILL_MAX_EXAMPLES, false) &&
        add_text(json, "efforts", str_of(id), SKILL_MAX_EFFORTS, true) &&
        json_set_int(json, "frequency", n) &&
        add_checks(json, sighting->checks, n) && set_confidence(json)) {
        return note_json(arena, json);
    }
    json_decref(json);
    return (struct str){0};
}

static bool set_list(json_t *json, const char *name, const struct str *items,
                     size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < n; i++) {
        if (json_array_append_new(
                list, json_stringn(items[i].s, items[i].len)) != 0) {
            json_decref(list);
            return false;
        }
    }
    return list && json_set(json, name, list);
}

struct str skill_fields_tell(struct arena *arena, struct str fields,
                             const struct skill_told *told)
{
    json_t *json = object_of(fields);

    if (json && json_set_str(json, "name", told->name) &&
        json_set_str(json, "description", told->description) &&
        set_list(json, "preconditions", &told->description, 1) &&
        set_list(json, "steps", told->steps, told->n_steps) &&
        set_list(json, "postconditions", &told->success, 1)) {
        return note_json(arena, json);
    }
    json_decref(json);
    return (struct str){0};
}
