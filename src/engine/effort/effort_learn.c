/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_learn.c - efforts that were resolved the same way become a skill. See
 * effort_skill.h.
 */
#include "engine/effort/effort_skill_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "engine/core/work.h"
#include "engine/effort/effort.h"
#include "text/title.h"

#include <math.h>
#include <string.h>

/* Efforts that ended which are looked at, and since when. */
#define MAX_ENDED 256
#define ENDED_MS (365 * CLOCK_DAY_MS)
/* Of those, the nearest are held against each other. */
#define MAX_NEAR 6
/* Lines of how it ended that a skill shows, in bytes. */
#define STEPS_BYTES 2000

/* An effort that was resolved, to compare. */
struct ended {
    struct uuid id;
    struct uuid root; /* it is a fork's twin of; itself if it is none's */
    struct effort_alike alike;
    double near; /* to the one that ends now */
    double way;  /* to how the others ended, on the mean */
};

static struct skill_sighting sighting_of(const struct ended *it,
                                         const struct memory *effort,
                                         const struct effort_steps *steps,
                                         double alike)
{
    return (struct skill_sighting){
        .effort_id = it->root,
        .goal = it->alike.goal,
        .way = it->alike.way,
        .checks = {effort_skill_number(effort, "confidence", 1),
                   steps->is_list ? 1 : 0.5,
                   effort_skill_number(effort, "resolution_confidence", 1),
                   fmin(1, fmax(0, alike))}};
}

/* The lines an effort stands in are the skill's too. */
static enum clew_status cite(struct batch_work *batch, const struct uuid *skill,
                             const struct uuid *effort, struct clew_error *err)
{
    struct uuid *owners = NULL;
    struct memory_ref *refs = NULL;
    size_t count = 0;
    enum clew_status status = memory_refs(batch->tx, batch->arena, effort, 1,
                                          &owners, &refs, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = memory_add_ref(batch->tx, skill, &refs[i], err);
    }
    return status;
}

/* One more effort of a skill that is known. */
static enum clew_status join(struct batch_work *batch, struct memory *skill,
                             const struct skill_sheet *sheet,
                             const struct effort_alike *examples,
                             const struct ended *own,
                             const struct memory *effort,
                             struct clew_error *err)
{
    struct effort_steps steps;
    struct skill_sighting sighting;
    double way = 0;
    enum clew_status status =
        effort_steps_of(batch, &effort->id, own->alike.way, &steps, err);

    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < sheet->n_examples; i++) {
        way += effort_alike_way(&own->alike, &examples[i]) /
               (double)sheet->n_examples;
    }
    sighting = sighting_of(own, effort, &steps, way);
    skill->fields = skill_fields_add(batch->arena, skill->fields, &sighting);
    skill->updated_at_ms = effort->updated_at_ms;
    status = skill->fields.s ? memory_update(batch, skill, err)
                             : clew_no_memory(err);
    return status == CLEW_OK && sheet->n_examples < SKILL_MAX_EXAMPLES
               ? cite(batch, &skill->id, &effort->id, err)
               : status;
}

/* The skill this way of ending belongs to; nil if none. Counts it there. */
static enum clew_status find_skill(struct batch_work *batch,
                                   struct memory *skills, size_t count,
                                   const struct ended *own,
                                   const struct memory *effort,
                                   struct uuid *out, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    *out = (struct uuid){0};
    for (size_t i = 0; i < count && status == CLEW_OK && uuid_is_nil(out);
         i++) {
        struct effort_alike examples[SKILL_MAX_EXAMPLES];
        struct skill_sheet sheet;
        bool is_same = false;

        if (!skill_fields_read(batch->arena, skills[i].fields, &sheet)) {
            continue;
        }
        if (skill_sheet_has(&sheet, &own->root)) {
            *out = skills[i].id;
            return CLEW_OK;
        }
        status = effort_skill_examples(batch, &sheet, examples, err);
        if (status == CLEW_OK) {
            status = effort_alike_is(batch, &own->alike, examples,
                                     sheet.n_examples, &is_same, err);
        }
        if (status != CLEW_OK || !is_same) {
            continue;
        }
        *out = skills[i].id;
        if (!skills[i].retracted_at_ms) { /* nobody wants that one */
            status =
                join(batch, &skills[i], &sheet, examples, own, effort, err);
        }
    }
    return status;
}

static bool is_in_skill(const struct skill_sheet *sheets, size_t n,
                        const struct uuid *id)
{
    for (size_t i = 0; i < n; i++) {
        if (skill_sheet_has(&sheets[i], id)) {
            return true;
        }
    }
    return false;
}

/* Did one turn end both? Then one way was seen once, however many it ended. */
static enum clew_status is_same_end(struct batch_work *batch,
                                    const struct uuid *id,
                                    const struct memory *effort, bool *out,
                                    struct clew_error *err)
{
    struct memory other;
    enum clew_status status =
        memory_find(batch->tx, batch->arena, id, &other, err);

    *out = status == CLEW_OK && other.updated_at_ms == effort->updated_at_ms &&
           str_eq(other.resolution, effort->resolution);
    return status;
}

/* Keep the nearest, the nearest first; each matter once. */
static void keep_near(struct ended *list, size_t *n, const struct ended *it)
{
    size_t at = *n;

    for (size_t i = 0; i < *n; i++) {
        if (uuid_eq(&list[i].root, &it->root)) {
            return;
        }
    }
    while (at > 0 && list[at - 1].near < it->near) {
        at--;
    }
    if (at >= MAX_NEAR) {
        return;
    }
    *n += *n < MAX_NEAR;
    memmove(&list[at + 1], &list[at], (*n - 1 - at) * sizeof(*list));
    list[at] = *it;
}

/* Efforts that were resolved somewhat like this one, and are in no skill. */
static enum clew_status list_near(struct batch_work *batch,
                                  const struct ended *own,
                                  const struct memory *effort,
                                  const struct skill_sheet *sheets,
                                  size_t n_sheets, struct ended *out,
                                  size_t *out_count, struct clew_error *err)
{
    struct effort *items = NULL;
    size_t count = 0;
    enum clew_status status = effort_list_ended(
        batch->tx, batch->arena, effort->user_id,
        effort->updated_at_ms - ENDED_MS, &items, &count, err);

    *out_count = 0;
    for (size_t i = 0; i < count && i < MAX_ENDED && status == CLEW_OK; i++) {
        struct ended it = {.id = items[i].memory_id,
                           .root = uuid_is_nil(&items[i].twin_of)
                                       ? items[i].memory_id
                                       : items[i].twin_of};

        if (!items[i].resolution.len || uuid_eq(&it.root, &own->root) ||
            !str_eq(items[i].status, STR("resolved")) ||
            is_in_skill(sheets, n_sheets, &it.root)) {
            continue;
        }
        status = effort_alike_make(batch, items[i].summary, items[i].resolution,
                                   &it.alike, err);
        it.near =
            status == CLEW_OK ? effort_alike_near(&own->alike, &it.alike) : 0;
        if (it.near >= EFFORT_ALIKE_LEAST) {
            bool is_same = false;

            status = is_same_end(batch, &it.id, effort, &is_same, err);
            if (status == CLEW_OK && !is_same) {
                keep_near(out, out_count, &it);
            }
        }
    }
    return status;
}

/* Which of them are one problem ended one way, this one first. */
static enum clew_status group_up(struct batch_work *batch,
                                 const struct ended *near, size_t n_near,
                                 struct ended *group, size_t *n_group,
                                 struct clew_error *err)
{
    struct effort_alike members[SKILL_MAX_EXAMPLES];
    enum clew_status status = CLEW_OK;

    members[0] = group[0].alike;
    for (size_t i = 0;
         i < n_near && *n_group < SKILL_MAX_EXAMPLES && status == CLEW_OK;
         i++) {
        bool is_same = false;

        status = effort_alike_is(batch, &near[i].alike, members, *n_group,
                                 &is_same, err);
        if (status == CLEW_OK && is_same) {
            members[*n_group] = near[i].alike;
            group[(*n_group)++] = near[i];
        }
    }
    return status;
}

/* How much like the others each is; the one most so speaks for all. */
static size_t middle_of(struct ended *group, size_t n)
{
    size_t best = 0;
    double most = -1;

    for (size_t i = 0; i < n; i++) {
        double near = 0;

        group[i].way = 0;
        for (size_t k = 0; k < n; k++) {
            near += k == i
                        ? 0
                        : effort_alike_near(&group[i].alike, &group[k].alike);
            group[i].way +=
                k == i ? 0
                       : effort_alike_way(&group[i].alike, &group[k].alike) /
                             (double)(n - 1);
        }
        if (near > most) {
            most = near;
            best = i;
        }
    }
    return best;
}

/* "1. Do this 2. Do that"; one step stands by itself. */
static struct str steps_text(struct arena *arena,
                             const struct effort_steps *steps)
{
    struct buf text;
    struct str out;

    if (steps->count == 1) {
        return steps->items[0];
    }
    buf_init(&text, STEPS_BYTES);
    for (size_t i = 0; i < steps->count; i++) {
        (void)buf_printf(&text, "%s%zu. %.*s", i ? " " : "", i + 1,
                         (int)steps->items[i].len,
                         steps->items[i].s); /* a long one is left out */
    }
    out = arena_str(arena, buf_str(&text));
    buf_release(&text);
    return out;
}

/* All sightings into the fields; the steps of the one in the middle, or of
 * whoever was told a list. */
static enum clew_status add_sightings(struct batch_work *batch,
                                      const struct memory *now,
                                      const struct ended *group, size_t n,
                                      size_t middle, struct str *fields,
                                      struct effort_steps *out_steps,
                                      struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        struct memory effort = *now;
        struct effort_steps steps;
        struct skill_sighting sighting;

        if (i > 0) {
            status = memory_find(batch->tx, batch->arena, &group[i].id, &effort,
                                 err);
        }
        if (status == CLEW_OK) {
            status = effort_steps_of(batch, &group[i].id, group[i].alike.way,
                                     &steps, err);
        }
        if (status != CLEW_OK) {
            break;
        }
        sighting = sighting_of(&group[i], &effort, &steps, group[i].way);
        *fields = skill_fields_add(batch->arena, *fields, &sighting);
        if (i == 0 || (!out_steps->is_list && (steps.is_list || i == middle)) ||
            (steps.is_list && i == middle)) {
            *out_steps = steps;
        }
        status = fields->s ? CLEW_OK : clew_no_memory(err);
    }
    return status;
}

/* The first that was seen: a skill's id follows from it. */
static const struct ended *oldest(const struct ended *group, size_t n)
{
    const struct ended *first = &group[0];

    for (size_t i = 1; i < n; i++) {
        first = uuid_cmp(&group[i].id, &first->id) < 0 ? &group[i] : first;
    }
    return first;
}

static enum clew_status make_skill(struct batch_work *batch,
                                   const struct memory *effort,
                                   struct ended *group, size_t n,
                                   struct uuid *out, struct clew_error *err)
{
    size_t middle = middle_of(group, n);
    struct effort_steps steps = {0};
    struct skill_told told = {.description = group[middle].alike.goal,
                              .success = group[middle].alike.way};
    struct memory skill = {.id = uuid_derive(effort->updated_at_ms,
                                             &oldest(group, n)->id, "skill", 0),
                           .user_id = effort->user_id,
                           .type = STR("skill"),
                           .status = STR("active"),
                           .summary = told.description,
                           .tags = STR(""),
                           .origin = STR("extracted"),
                           .chat_id = effort->chat_id,
                           .weight = MEMORY_WEIGHT_START,
                           .weight_at_ms = effort->updated_at_ms,
                           .created_at_ms = effort->updated_at_ms,
                           .updated_at_ms = effort->updated_at_ms};
    enum clew_status status = add_sightings(batch, effort, group, n, middle,
                                            &skill.fields, &steps, err);

    if (status == CLEW_OK &&
        title_of(batch->arena, told.description, &told.name) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    told.name = told.name.s ? told.name : told.description;
    told.steps = steps.items;
    told.n_steps = steps.count;
    skill.fields = skill_fields_tell(batch->arena, skill.fields, &told);
    skill.resolution = steps_text(batch->arena, &steps);
    if (!skill.fields.s || !skill.resolution.s) {
        return clew_no_memory(err);
    }
    skill.is_instruction = memory_reads_like_instruction(skill.summary) ||
                           memory_reads_like_instruction(skill.resolution);
    *out = skill.id;
    status = memory_insert(batch, &skill, NULL, 0, NULL, 0, err);
    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        status = cite(batch, &skill.id, &group[i].id, err);
    }
    return status;
}

enum clew_status effort_skill_learn(struct batch_work *batch,
                                    const struct memory *effort,
                                    struct uuid *out, struct clew_error *err)
{
    struct ended group[SKILL_MAX_EXAMPLES] = {{.id = effort->id}};
    struct ended near[MAX_NEAR + 1];
    struct skill_sheet *sheets;
    struct memory *skills = NULL;
    struct effort row;
    size_t count = 0;
    size_t n_near = 0;
    size_t n_group = 1;
    enum clew_status status =
        effort_find(batch->tx, batch->arena, &effort->id, &row, NULL);

    *out = (struct uuid){0};
    if (status == CLEW_NOT_FOUND) {
        return CLEW_OK; /* contributed: nothing is known of how it went */
    }
    if (status == CLEW_OK) {
        group[0].root = uuid_is_nil(&row.twin_of) ? effort->id : row.twin_of;
        status =
            effort_skill_list(batch, effort->user_id, &skills, &count, err);
    }
    if (status == CLEW_OK) {
        status = effort_alike_make(batch, effort->summary, effort->resolution,
                                   &group[0].alike, err);
    }
    if (status == CLEW_OK) {
        status = find_skill(batch, skills, count, &group[0], effort, out, err);
    }
    if (status != CLEW_OK || !uuid_is_nil(out)) {
        return status;
    }
    sheets = arena_zero(batch->arena, count + 1, sizeof(*sheets));
    for (size_t i = 0; sheets && i < count; i++) {
        (void)skill_fields_read(batch->arena, skills[i].fields,
                                &sheets[i]); /* by hand: of no effort */
    }
    status = sheets ? list_near(batch, &group[0], effort, sheets, count, near,
                                &n_near, err)
                    : clew_no_memory(err);
    if (status == CLEW_OK && n_near + 1 >= SKILL_MIN_SIGHTINGS) {
        status = group_up(batch, near, n_near, group, &n_group, err);
    }
    return status == CLEW_OK && n_group >= SKILL_MIN_SIGHTINGS
               ? make_skill(batch, effort, group, n_group, out, err)
               : status;
}
