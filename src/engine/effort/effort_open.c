/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_open.c - a turn that sets out to get something done.
 */
#include "engine/effort/effort_cache.h"
#include "engine/effort/effort_skill.h"

#include "engine/chat/chat.h"
#include "engine/chat/place.h"
#include "engine/core/engine.h"
#include "engine/chat/turn.h"
#include "engine/memory/note.h"
#include "text/title.h"

#include <math.h>
#include <string.h>

/* So sure that it is about an open effort a turn is a detail of it; of another
 * chat's it must be surer, or it ends up among what it has nothing to do with.
 */
#define RELATED 0.38f
#define RELATED_FAR 0.85f
/* What the logits weigh of its saying that it opens one, and of its being about
 * one that is known. Fitted to worlds that the reader had not seen. */
#define OPEN_SAID 0.27
#define OPEN_NEAR 0.48
/* Nothing is taken to be surer than so. */
#define SURE_LEAST 0.02

enum clew_status effort_title_chat(struct observation *o, const struct uuid *id,
                                   struct str title, struct clew_error *err)
{
    struct place_chat *slot = o->work->placement->slot;
    bool is_only = false;
    enum clew_status status =
        effort_is_only(o->tx, &slot->chat.id, id, &is_only, err);

    if (status == CLEW_OK && is_only && !slot->chat.is_titled_by_user) {
        struct str short_one = {NULL, 0};

        if (title_of(o->arena, title, &short_one) != CLEW_OK) {
            return clew_no_memory(err);
        }
        if (short_one.s) { /* "can you help me with this?" names nothing */
            slot->chat.title = short_one;
            slot->is_dirty = true;
        }
    }
    return status;
}

/* What worked for such an effort before. */
static enum clew_status tell_skill(struct observation *o,
                                   const struct memory *skill,
                                   struct clew_error *err)
{
    enum clew_status status = note_told(o->work, skill, "offered", err);

    return status == CLEW_OK
               ? note_notice(o->work, err, "[skill] %.*s => %.*s",
                             (int)skill->summary.len, skill->summary.s,
                             (int)skill->resolution.len, skill->resolution.s)
               : status;
}

/* Open one, at work or beside the one that is. */
static enum clew_status open_effort(struct observation *o,
                                    struct effort_cache *cache,
                                    const struct select_opening *item,
                                    enum effort_state state,
                                    struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct memory memory = note_memory(o->work, "effort", "open", item->title);
    struct effort effort = {.memory_id = memory.id,
                            .thread_id = turn->chat_id,
                            .state = state,
                            .is_open = true,
                            .first_seq = turn->seq,
                            .last_seq = turn->seq,
                            .last_at_ms = turn->created_at_ms,
                            .raw_tokens = turn->token_count};
    struct memory skill = {0};
    json_t *fields = json_object();
    enum clew_status status = CLEW_OK;

    if (state == EFFORT_ACTIVE) {
        status = effort_collapse_active(o, cache, NULL, err);
        o->matter = item->title;
    }
    effort_cache_forget(o);
    if (fields && json_set_str(fields, "goal", item->title) &&
        json_set_real(fields, "confidence", (double)item->confidence)) {
        memory.fields = note_json(o->arena, fields);
    } else {
        json_decref(fields);
    }
    if (!memory.fields.s) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = effort_skill_offer(o->work->batch, &memory, &skill, err);
    }
    if (status == CLEW_OK) {
        status = note_insert(o->work, &memory, 0, NULL, err);
    }
    if (status == CLEW_OK) {
        status = effort_insert(o->tx, &effort, err);
    }
    if (status == CLEW_OK) {
        status = effort_title_chat(o, &memory.id, item->title, err);
    }
    if (status == CLEW_OK) {
        status = note_notice(o->work, err, "[effort:open] %.*s",
                             (int)item->title.len, item->title.s);
    }
    return status == CLEW_OK && !uuid_is_nil(&skill.id)
               ? tell_skill(o, &skill, err)
               : status;
}

/* Half of the words of the new title, and more than half of the shorter one:
 * "fix the login page" is not "fix the signup page". */
bool effort_is_same(const struct effort_words *wanted,
                    const struct effort_words *known)
{
    size_t n = 2 * effort_words_shared(wanted, known);
    size_t shorter =
        wanted->count < known->count ? wanted->count : known->count;

    return wanted->count > 0 && n >= wanted->count && n > shorter;
}

/* An open effort that the new title is about as well, or NULL. */
static enum clew_status same_effort(struct observation *o,
                                    struct effort_cache *cache,
                                    struct str title, struct effort **out,
                                    struct clew_error *err)
{
    struct effort_words wanted;
    enum clew_status status = effort_cache_words(o, title, &wanted, err);

    *out = NULL;
    for (size_t i = 0; i < cache->count && status == CLEW_OK && !*out; i++) {
        struct effort_words known;

        if (!cache->items[i].is_open ||
            !uuid_is_nil(&cache->items[i].parent_id)) {
            continue;
        }
        status = effort_cache_words(o, cache->items[i].summary, &known, err);
        if (status == CLEW_OK && effort_is_same(&wanted, &known)) {
            *out = &cache->items[i];
        }
    }
    return status;
}

static double logit(float p)
{
    double within = fmin(fmax((double)p, SURE_LEAST), 1 - SURE_LEAST);

    return log(within / (1 - within));
}

/* Whether the turn opens an effort: by what it says, and by how it stands to
 * those that are known, for most talks come back to one matter again and again.
 * `out` is the open one that it goes on with rather, or NULL. */
static enum clew_status weigh(struct observation *o, struct effort_cache *cache,
                              bool *out_opens, struct effort **out,
                              struct clew_error *err)
{
    struct effort_standing standing;
    float best = 0;
    float near = 0;
    enum clew_status status = effort_stand_open(o, cache, &standing, err);

    *out = NULL;
    for (size_t i = 0; status == CLEW_OK && i < standing.n; i++) {
        struct effort *effort = standing.efforts[i];
        float p = 1.0f - standing.verdicts[i].p[READER_ENDING_UNRELATED];

        near = fmaxf(near, p);
        if (p > best && effort->is_open &&
            p > (effort_is_here(o, effort) ? RELATED : RELATED_FAR)) {
            best = p;
            *out = effort;
        }
    }
    *out_opens =
        OPEN_SAID * logit(o->opening.confidence) >= OPEN_NEAR * logit(near);
    return status;
}

/* "/resolve it was the token", where nothing is open: of all commands only
 * "/start" sets out to do what stands behind it. */
static bool is_other_command(const struct observation *o)
{
    return o->intent.level == INTENT_LEVEL_COMMAND &&
           strcmp(o->intent.rule, "start") != 0;
}

enum clew_status effort_try_open(struct observation *o,
                                 struct effort_cache *cache, bool *out_done,
                                 struct clew_error *err)
{
    struct effort *known = NULL;
    bool opens = false;
    enum clew_status status;

    *out_done = false;
    if (o->opening.confidence <= 0 || (o->intent.flags & INTENT_REMINDER) ||
        is_other_command(o) || (cache->active && cache->active->is_spawned)) {
        return CLEW_OK;
    }
    status = same_effort(o, cache, o->opening.title, &known, err);
    if (status == CLEW_OK && !known) {
        status = weigh(o, cache, &opens, &known, err);
    }
    if (status != CLEW_OK || (!opens && !known)) {
        return status;
    }
    *out_done = true;
    if (opens) {
        return open_effort(o, cache, &o->opening, EFFORT_ACTIVE, err);
    }
    if (known->state != EFFORT_ACTIVE || !effort_is_here(o, known)) {
        return effort_reactivate(o, cache, known, err);
    }
    return effort_take_turn(o, known, err);
}

enum clew_status effort_open_further(struct observation *o,
                                     struct clew_error *err)
{
    struct effort_cache *cache = NULL;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < o->n_further && status == CLEW_OK; i++) {
        const struct select_opening *item = &o->further[i];
        struct effort *known = NULL;

        status = effort_cache_load(o, &cache, err);
        if (status == CLEW_OK) {
            status = same_effort(o, cache, item->title, &known, err);
        }
        if (status == CLEW_OK && !known) {
            status = open_effort(o, cache, item, EFFORT_COLLAPSED, err);
        }
    }
    return status;
}
