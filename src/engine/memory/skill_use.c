/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skill_use.c - the fields of a skill through its life. See skill_use.h.
 */
#include "engine/memory/skill_use.h"

#include "base/buf.h"
#include "base/json.h"
#include "talk/skill.h"

#define FIELD_BYTES (1u << 20)

static double real_of(const json_t *fields, const char *name, double fallback)
{
    const json_t *value = json_object_get(fields, name);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

static int64_t count_of(const json_t *fields, const char *name)
{
    const json_t *value = json_object_get(fields, name);

    return json_is_integer(value) && json_integer_value(value) > 0
               ? (int64_t)json_integer_value(value)
               : 0;
}

/* An object's text in the arena; takes the object. */
static struct str text_of(struct arena *arena, json_t *fields, bool is_ok)
{
    struct str out = {NULL, 0};
    struct buf text;

    buf_init(&text, FIELD_BYTES);
    if (is_ok && json_write(&text, fields) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    json_decref(fields);
    return out;
}

static json_t *object_of(struct str fields)
{
    json_t *json = NULL;

    if (!fields.s || json_parse(fields, &json, NULL) != CLEW_OK ||
        !json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* The fields to be changed: a skill that a person wrote has none yet. */
static json_t *begun(struct str fields)
{
    return fields.len > 0 ? object_of(fields) : json_object();
}

static bool add_uses(json_t *fields, size_t n, bool has_worked, int64_t now_ms)
{
    double initial =
        real_of(fields, "initial_confidence", real_of(fields, "confidence", 0));
    int64_t uses = count_of(fields, "uses") + (int64_t)n;
    int64_t successes =
        count_of(fields, "successes") + (has_worked ? (int64_t)n : 0);
    double after = skill_after_use(initial, (size_t)successes, (size_t)uses);

    return json_set_real(fields, "initial_confidence", initial) &&
           json_set_int(fields, "uses", uses) &&
           json_set_int(fields, "successes", successes) &&
           json_set_time(fields, "used_at", &now_ms) &&
           json_set_real(fields, "confidence",
                         skill_after_outcome(after, has_worked));
}

struct str skill_use_add(struct arena *arena, struct str fields, size_t n,
                         bool has_worked, int64_t now_ms)
{
    json_t *json = begun(fields);

    return text_of(arena, json, json && add_uses(json, n, has_worked, now_ms));
}

struct str skill_use_take_back(struct arena *arena, struct str fields,
                               bool has_worked)
{
    json_t *json = begun(fields);
    int64_t uses = count_of(json, "uses");
    int64_t successes = count_of(json, "successes");
    double initial = real_of(json, "initial_confidence", 0);

    uses -= uses > 0;
    successes -= has_worked && successes > 0;
    return text_of(arena, json,
                   json && json_set_int(json, "uses", uses) &&
                       json_set_int(json, "successes", successes) &&
                       json_set_real(json, "confidence",
                                     skill_after_use(initial, (size_t)successes,
                                                     (size_t)uses)));
}

struct str skill_use_offered(struct arena *arena, struct str fields,
                             int64_t now_ms)
{
    json_t *json = begun(fields);

    return text_of(
        arena, json,
        json && json_set_int(json, "offered", count_of(json, "offered") + 1) &&
            json_set_time(json, "offered_at", &now_ms));
}

static double idled(const json_t *json, const struct memory *memory,
                    int64_t now_ms)
{
    int64_t used_at_ms = memory->updated_at_ms;

    /* never used: since it was found last */
    clew_ignore(
        json_get_time(json, "used_at", JSON_OPTIONAL, &used_at_ms, NULL));
    return skill_after_idling(real_of(json, "confidence", 0),
                              now_ms - used_at_ms);
}

double skill_use_confidence(const struct memory *memory, int64_t now_ms)
{
    json_t *json = object_of(memory->fields);
    double confidence = json ? idled(json, memory, now_ms) : 0;

    json_decref(json);
    return confidence;
}

struct str skill_use_at(struct arena *arena, const struct memory *memory,
                        int64_t now_ms)
{
    json_t *json;

    if (!str_eq(memory->type, STR("skill"))) {
        return memory->fields;
    }
    json = object_of(memory->fields);
    if (!json) {
        return memory->fields;
    }
    return text_of(
        arena, json,
        json_set_real(json, "confidence", idled(json, memory, now_ms)));
}
