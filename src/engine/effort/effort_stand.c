/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effort_stand.c - the efforts a turn may be about, and what the reader says of
 * the turn and each of them.
 */
#include "engine/effort/effort_cache.h"
#include "engine/effort/effort_fork.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "talk/rule_reader.h"

#include <string.h>

#define GATE 0.05f
/* What is accepted in form is the effort last touched. */
#define SURE_ACCEPT 0.70f
#define RESOLVES 0.40f
/* An end that was so sure stands. */
#define SURE_END 0.90f
/* Efforts opened longer ago are not looked at again. */
#define ENDED_MS (90 * CLOCK_DAY_MS)
/* Efforts a turn is held against: of its chat, of the user's other chats. */
#define MAX_NEAR 6
#define MAX_FAR (EFFORT_HELD - MAX_NEAR)
/* Of the latter so many are read together; some may turn out to be others. */
#define FAR_AT_ONCE 16
/* Of both together, with the newest, where a turn may open one. */
#define MAX_NEWEST 8
/* Of a title so much, where what was said last stands behind it, as in
 * models/train/reader_examples.py. */
#define TITLE_BYTES 90
/* Turns of an effort among which the last is looked for. */
#define LAST_AMONG 8

/* Is the turn before the one that opened it? What stands on one side of the
 * comparison already says nothing new on the other; where something may open,
 * it tells that both are about the same. */
bool effort_is_just_opened(const struct observation *o,
                           const struct effort *effort)
{
    const struct turn *turn = o->work->turn;

    return o->opening.confidence <= 0 && effort->first_seq == turn->seq - 1 &&
           uuid_eq(&effort->thread_id, &turn->chat_id);
}

/* … or the one by which it ended? That it ended says nothing of what is told
 * now. */
static bool ended_just_before(const struct observation *o,
                              const struct effort *effort)
{
    const struct turn *turn = o->work->turn;

    return effort->last_seq >= turn->seq - 1 &&
           uuid_eq(&effort->thread_id, &turn->chat_id);
}

/* Of another branch of this conversation: what is said here is not about that;
 * what this side has of it is told by effort_list_line(). */
static bool is_other_side(const struct observation *o,
                          const struct effort *effort)
{
    const struct chat *chat = &o->work->placement->slot->chat;

    return uuid_eq(&effort->conversation_id, &chat->conversation_id) &&
           !uuid_eq(&effort->thread_id, &chat->id);
}

/* Was it opened after this turn? What was imported is read when there are later
 * chats already: it ends nothing of theirs. */
static bool is_to_come(const struct observation *o, const struct effort *effort)
{
    return effort->created_at_ms > o->turn.time_ms &&
           !uuid_eq(&effort->thread_id, &o->work->turn->chat_id);
}

/* May it be held against the turn beside those that are there? */
static bool is_further(const struct observation *o, const struct effort *effort,
                       struct effort *const *there, size_t n)
{
    bool is_known = !uuid_is_nil(&effort->parent_id) || effort->is_spawned ||
                    is_other_side(o, effort) || is_to_come(o, effort);

    for (size_t k = 0; k < n && !is_known; k++) {
        is_known = uuid_eq(&there[k]->memory_id, &effort->memory_id);
    }
    return !is_known;
}

static struct effort *find_effort(struct effort *efforts, size_t count,
                                  const struct uuid *id)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_eq(&efforts[i].memory_id, id)) {
            return &efforts[i];
        }
    }
    return NULL;
}

/* Of those with these ids the ones that may be held against the turn, in this
 * order, until there are `max`. */
static enum clew_status add_these(struct observation *o, const struct uuid *ids,
                                  size_t n_ids, struct effort **out, size_t *n,
                                  size_t max, struct clew_error *err)
{
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status = CLEW_OK;

    if (n_ids > 0) {
        status = effort_list_these(o->tx, o->arena, ids, n_ids, &efforts,
                                   &count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < n_ids && *n < max; i++) {
        struct effort *effort = find_effort(efforts, count, &ids[i]);

        if (effort && is_further(o, effort, out, *n)) {
            out[(*n)++] = effort;
        }
    }
    return status;
}

/* Open efforts of the user's other chats that share words with the turn. Only
 * those are read: most of a user's efforts are about something else. Where it
 * may open one, the newest beside them. */
static enum clew_status add_far(struct observation *o, bool with_newest,
                                struct effort **out, size_t *n,
                                struct clew_error *err)
{
    struct effort_title *titles = NULL;
    struct uuid ids[FAR_AT_ONCE];
    size_t max = *n + MAX_FAR;
    size_t n_titles = 0;
    size_t n_ids = 0;
    size_t at = 0;
    enum clew_status status = effort_list_titles(
        o->tx, o->arena, o->work->turn->user_id, &titles, &n_titles, err);

    while (status == CLEW_OK && at < n_titles && *n < max) {
        status = effort_near_titles(o, titles, n_titles, &at, ids, FAR_AT_ONCE,
                                    &n_ids, err);
        if (status == CLEW_OK) {
            status = add_these(o, ids, n_ids, out, n, max, err);
        }
    }
    if (status != CLEW_OK || !with_newest) {
        return status;
    }
    for (n_ids = 0; n_ids < n_titles && n_ids < FAR_AT_ONCE; n_ids++) {
        ids[n_ids] = titles[n_ids].memory_id;
    }
    return add_these(o, ids, n_ids, out, n, MAX_NEWEST, err);
}

/* What the turn may be about: open efforts of its chat, and of its user's other
 * chats. */
static enum clew_status candidates(struct observation *o,
                                   struct effort_cache *cache, bool to_open,
                                   struct effort **out, size_t *out_count,
                                   struct clew_error *err)
{
    size_t n = 0;
    enum clew_status status;

    for (size_t i = 0; i < cache->count && n < MAX_NEAR; i++) {
        if (cache->items[i].is_open && !cache->items[i].is_spawned &&
            uuid_is_nil(&cache->items[i].parent_id)) {
            out[n++] = &cache->items[i];
        }
    }
    status = add_far(o, to_open, out, &n, err);
    *out_count = n;
    return status;
}

/* How sure the reader was of an end; 0 where a person ended it. */
static float sure_of(const struct memory *memory)
{
    json_t *fields = NULL;
    double sure = 0;

    if (memory->fields.s &&
        json_parse(memory->fields, &fields, NULL) == CLEW_OK) {
        sure =
            json_real_value(json_object_get(fields, "resolution_confidence"));
    }
    json_decref(fields);
    return (float)sure;
}

/* Was it this chat's, or does the turn share words with it? */
static enum clew_status may_be_about(struct observation *o,
                                     const struct effort *effort, bool *out,
                                     struct clew_error *err)
{
    size_t shared = 0;
    enum clew_status status = CLEW_OK;

    *out = uuid_eq(&effort->thread_id, &o->work->turn->chat_id);
    if (!*out) {
        status = effort_shared_with(o, effort->summary, &shared, err);
        *out = shared > 0;
    }
    return status;
}

/* Those of this line that ended, as it has them, and those of the user's other
 * conversations; the newest first. */
static enum clew_status list_ended(struct observation *o, struct effort **out,
                                   size_t *out_count, struct clew_error *err)
{
    const struct chat *chat = &o->work->placement->slot->chat;
    int64_t since_ms = o->turn.time_ms - ENDED_MS;
    struct effort *items = NULL;
    struct effort *line = NULL;
    struct effort *all;
    size_t n_items = 0;
    size_t n_line = 0;
    size_t n = 0;
    enum clew_status status =
        effort_list_ended(o->tx, o->arena, o->work->turn->user_id, since_ms,
                          &items, &n_items, err);

    if (status == CLEW_OK && !uuid_is_nil(&chat->parent_id)) {
        status = effort_list_line(o->tx, o->arena, chat, o->work->turn->seq,
                                  true, &line, &n_line, err);
    }
    all = arena_zero(o->arena, n_items + n_line + 1, sizeof(*all));
    if (status != CLEW_OK || !all) {
        return status != CLEW_OK ? status : clew_no_memory(err);
    }
    for (size_t i = 0; i < n_line; i++) {
        if (line[i].is_shared && !line[i].is_open &&
            line[i].created_at_ms > since_ms) {
            all[n++] = line[i];
        }
    }
    for (size_t i = 0; i < n_items; i++) {
        if (!is_other_side(o, &items[i]) && !is_to_come(o, &items[i])) {
            all[n++] = items[i];
        }
    }
    *out = all;
    *out_count = n;
    return CLEW_OK;
}

/* Efforts that ended before and may be what this turn is about, and how sure
 * that end was; those only that may not have ended, or all. */
static enum clew_status add_ended(struct observation *o, bool is_any,
                                  struct effort_standing *out,
                                  struct clew_error *err)
{
    struct effort *items = NULL;
    size_t count = 0;
    enum clew_status status = list_ended(o, &items, &count, err);

    for (size_t i = 0;
         i < count && out->n < out->n_open + EFFORT_ENDED && status == CLEW_OK;
         i++) {
        struct memory memory;
        bool is_near = items[i].is_shared || is_any;
        float sure = 0;

        if (!is_near) {
            status = may_be_about(o, &items[i], &is_near, err);
        }
        if (status == CLEW_OK && is_near && !is_any) {
            status =
                memory_find(o->tx, o->arena, &items[i].memory_id, &memory, err);
            sure = status == CLEW_OK ? sure_of(&memory) : 0;
        }
        if (is_near && (is_any || (sure > 0 && sure < SURE_END))) {
            out->sure[out->n] = sure;
            out->efforts[out->n++] = &items[i];
        }
    }
    return status;
}

/* A user takes what was done as good, in so many words; where trouble is named
 * too ("the error is gone", "perfect, another error") the reader tells which.
 */
bool effort_is_accepted(const struct observation *o)
{
    float resolves = 0;

    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        float p = o->read[i].act[READER_ACT_RESOLVES];

        resolves = p > resolves ? p : resolves;
    }
    return o->turn.role == TALK_USER && o->intent.act == INTENT_ACCEPT &&
           o->intent.confidence >= SURE_ACCEPT &&
           (!(o->intent.flags & INTENT_PROBLEM) || resolves >= RESOLVES);
}

/* Does any sentence do something to an effort, or the turn take what was done
 * as good ("brilliant, thanks!")? If so, it is compared with them. */
bool effort_may_end(const struct observation *o)
{
    if (effort_is_accepted(o) ||
        (o->turn.role == TALK_USER && (o->intent.flags & INTENT_THANKS) != 0)) {
        return true;
    }
    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        const float *act = o->select.read[i].act;

        if (act[READER_ACT_RESOLVES] + act[READER_ACT_ABANDONS] +
                act[READER_ACT_FAILS] >
            GATE) {
            return true;
        }
    }
    return false;
}

/* Without a reader: what a user says is about the effort at hand, and one that
 * was set aside needs more than thanks. */
static void stand_by_rules(const struct observation *o,
                           struct effort_standing *out)
{
    size_t n = o->turn.role == TALK_USER ? out->n : 0;

    out->n = out->n_open = 0;
    for (size_t i = 0; i < n && out->n == 0; i++) {
        struct effort *effort = out->efforts[i];
        struct reader_verdict verdict =
            rule_ending(o->read, o->analysis.n_sentences);

        if (effort->state != EFFORT_COLLAPSED ||
            verdict.p[READER_ENDING_RESOLVED] >= EFFORT_SETTLED) {
            out->efforts[0] = effort;
            out->verdicts[0] = verdict;
            out->n = out->n_open = 1;
        }
    }
}

/* "user: the boiler knocks", and with what was said of it last, if that is
 * given: "user: the boiler knocks || ada: he comes on Monday". */
static struct str known_as(struct arena *arena, const struct effort *effort,
                           struct reader_said last)
{
    struct reader_said said = {STR("user"), effort->summary};

    if (!last.text.s) {
        return sense_said(arena, &said);
    }
    said.text = utf8_head(said.text, TITLE_BYTES);
    return sense_step(arena, &said, &last);
}

/* What was said of it last, unless that is what opened it. */
static enum clew_status last_said(struct observation *o,
                                  const struct effort *effort,
                                  struct reader_said *out,
                                  struct clew_error *err)
{
    struct turn *turns = NULL;
    size_t count = 0;
    size_t last = 0;
    enum clew_status status =
        turn_find_cited(o->tx, o->arena, &effort->memory_id, 1, LAST_AMONG,
                        &turns, &count, err);

    *out = (struct reader_said){0};
    if (status != CLEW_OK || count < 2) {
        return status;
    }
    for (size_t i = 1; i < count; i++) {
        if (turns[i].created_at_ms > turns[last].created_at_ms ||
            (turns[i].created_at_ms == turns[last].created_at_ms &&
             turns[i].seq > turns[last].seq)) {
            last = i;
        }
    }
    *out = (struct reader_said){
        sense_speaker(turns[last].role == TURN_ASSISTANT, turns[last].name),
        turns[last].text};
    return CLEW_OK;
}

/* The efforts that this turn is held against. What a chat begins with may be an
 * old trouble that is back: it opens one, however like it is to one that ended.
 */
static enum clew_status add_all(struct observation *o,
                                struct effort_cache *cache, bool to_open,
                                struct effort_standing *out,
                                struct clew_error *err)
{
    bool has_reader = o->work->batch->engine->reader && !o->is_told;
    enum clew_status status =
        candidates(o, cache, to_open, out->efforts, &out->n_open, err);

    out->n = out->n_open;
    return status == CLEW_OK && has_reader && (!to_open || o->n_previous > 0)
               ? add_ended(o, to_open, out, err)
               : status;
}

/* One of them and the turn. What was said of an effort last tells best whether
 * this is about it, and by its name alone is told best whether this ends it. */
static enum clew_status make_pair(struct observation *o,
                                  const struct effort *effort, bool has_ended,
                                  bool to_open, struct reader_pair *out,
                                  struct clew_error *err)
{
    bool is_alone = !to_open && (effort_is_just_opened(o, effort) ||
                                 (has_ended && ended_just_before(o, effort)));
    bool has_before = o->n_before > 0 && !is_alone;
    struct reader_said last = {0};
    enum clew_status status = CLEW_OK;

    if (to_open && !effort_is_here(o, effort)) {
        status = last_said(o, effort, &last, err);
    }
    *out = (struct reader_pair){
        known_as(o->arena, effort, last),
        sense_step(o->arena, &o->said,
                   has_before ? &o->before[o->n_before - 1] : NULL)};
    return status != CLEW_OK || (out->a.s && out->b.s) ? status
                                                       : clew_no_memory(err);
}

static enum clew_status stand(struct observation *o, struct effort_cache *cache,
                              bool to_open, struct effort_standing *out,
                              struct clew_error *err)
{
    struct reader_pair pairs[EFFORT_HELD + EFFORT_ENDED];
    enum clew_status status = add_all(o, cache, to_open, out, err);

    if (status != CLEW_OK || out->n == 0) {
        return status;
    }
    if (!o->work->batch->engine->reader || o->is_told) {
        stand_by_rules(o, out);
        return CLEW_OK;
    }
    for (size_t i = 0; i < out->n && status == CLEW_OK; i++) {
        status = make_pair(o, out->efforts[i], i >= out->n_open, to_open,
                           &pairs[i], err);
    }
    return status == CLEW_OK ? sense_compare(o->work->batch, READER_ENDING,
                                             pairs, out->n, out->verdicts, err)
                             : status;
}

enum clew_status effort_stand(struct observation *o, struct effort_cache *cache,
                              struct effort_standing *out,
                              struct clew_error *err)
{
    memset(out, 0, sizeof(*out));
    return effort_may_end(o) ? stand(o, cache, false, out, err) : CLEW_OK;
}

enum clew_status effort_stand_open(struct observation *o,
                                   struct effort_cache *cache,
                                   struct effort_standing *out,
                                   struct clew_error *err)
{
    bool has_reader = o->work->batch->engine->reader && !o->is_told;

    memset(out, 0, sizeof(*out));
    return has_reader && o->opening.confidence > 0
               ? stand(o, cache, true, out, err)
               : CLEW_OK;
}

enum clew_status effort_foresee(struct turn_work *work, struct clew_error *err)
{
    struct observation *o = work->observation;
    struct effort_cache *cache = NULL;
    struct effort_standing standing;
    enum clew_status status = o ? effort_cache_load(o, &cache, err) : CLEW_OK;

    if (o && status == CLEW_OK) {
        status = effort_stand(o, cache, &standing, err);
    }
    return o && status == CLEW_OK ? effort_stand_open(o, cache, &standing, err)
                                  : status;
}
