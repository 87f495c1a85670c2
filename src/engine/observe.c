/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.c - one turn observed. See observe.h.
 */
#include "engine/observe.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "engine/correction.h"
#include "engine/intent_ask.h"
#include "engine/observe_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A notice is a line. */
#define NOTICE_BYTES 2048

/* The talk before, as extraction sees it. */
static void fill_previous(struct observation *o)
{
    for (size_t i = 0; i < o->desk->n_turns; i++) {
        struct desk_turn *turn = &o->desk->turns[i];

        if (turn->role == EXTRACT_OTHER || turn->text.len == 0) {
            continue;
        }
        o->previous[o->n_previous] =
            (struct extract_turn){.text = turn->text,
                                  .speaker = turn->speaker,
                                  .role = turn->role,
                                  .time_ms = turn->time_ms,
                                  .timezone = turn->timezone,
                                  .intent = &o->previous_intent};
        o->previous_turns[o->n_previous] = turn;
        o->previous_seq[o->n_previous++] = turn->seq;
    }
}

/* The act of the turn before, after the one before that. */
static enum clew_status previous_intent(struct observation *o,
                                        struct clew_error *err)
{
    const struct intent_reading *reading = NULL;
    const struct intent_reading *earlier = NULL;
    struct intent first;
    enum clew_status status =
        desk_intent(o->arena, o->previous_turns[0], &reading, err);

    if (status == CLEW_OK && o->n_previous > 1) {
        status = desk_intent(o->arena, o->previous_turns[1], &earlier, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (earlier && intent_decide(o->arena, earlier, NULL, &first) != CLEW_OK) {
        return clew_no_memory(err);
    }
    return intent_decide(o->arena, reading, earlier ? &first : NULL,
                         &o->previous_intent) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

static enum clew_status read_intents(struct observation *o,
                                     struct clew_error *err)
{
    const struct intent_reading *reading = &o->work->reading->intent;
    const struct intent *before = o->n_previous ? &o->previous_intent : NULL;
    struct correction_turn turn;
    bool is_corrected;
    enum clew_status status = CLEW_OK;

    o->previous_intent = (struct intent){.act = INTENT_INFORM};
    if (o->n_previous > 0) {
        status = previous_intent(o, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (intent_decide(o->arena, reading, before, &o->intent) != CLEW_OK) {
        return clew_no_memory(err);
    }
    turn =
        (struct correction_turn){.pieces = reading->pieces,
                                 .previous = before,
                                 .stored_at_ms = o->work->turn->stored_at_ms};
    return o->desk->may_be_corrected
               ? correction_apply(o->tx, o->arena, &turn, &o->intent,
                                  &is_corrected, err)
               : CLEW_OK;
}

/* --- what the steps share --------------------------------------------------
 */

struct memory observe_memory(struct observation *o, const char *type,
                             const char *status, struct str summary)
{
    const struct turn *turn = o->work->turn;

    return (struct memory){
        .id =
            uuid_derive(turn->created_at_ms, &turn->id, "memory", o->n_made++),
        .user_id = turn->user_id,
        .type = str_of(type),
        .status = str_of(status),
        .summary = summary,
        .tags = STR(""),
        .origin = STR("extracted"),
        .chat_id = turn->chat_id,
        .is_instruction = memory_reads_like_instruction(summary),
        .weight = MEMORY_WEIGHT_START,
        .weight_at_ms = turn->created_at_ms,
        .created_at_ms = turn->created_at_ms,
        .updated_at_ms = turn->created_at_ms,
    };
}

/* One reference for each turn cited; the cites of a turn come together. */
static size_t refs_of(const struct observation *o,
                      const struct extract_cite *cites, size_t n_cites,
                      struct memory_ref out[EXTRACT_MAX_CITES])
{
    size_t n = 0;

    for (size_t i = 0; i < n_cites; i++) {
        int64_t seq = cites[i].back == 0 ? o->work->turn->seq
                      : cites[i].back <= o->n_previous
                          ? o->previous_seq[cites[i].back - 1]
                          : 0;
        bool is_known = seq == 0;

        for (size_t k = 0; k < n; k++) {
            is_known = is_known || out[k].first_seq == seq;
        }
        if (!is_known) {
            out[n++] = (struct memory_ref){o->work->turn->chat_id, seq, seq};
        }
    }
    if (n == 0) {
        out[n++] = (struct memory_ref){o->work->turn->chat_id,
                                       o->work->turn->seq, o->work->turn->seq};
    }
    return n;
}

enum clew_status observe_told(struct observation *o,
                              const struct memory *memory, const char *change,
                              struct clew_error *err)
{
    struct memory_update update = {.id = memory->id,
                                   .type = memory->type,
                                   .status = memory->status,
                                   .summary = memory->summary,
                                   .change = change};

    return updates_add_memory(o->work->updates, o->arena, &update) == CLEW_OK
               ? CLEW_OK
               : clew_no_memory(err);
}

enum clew_status observe_insert(struct observation *o, struct memory *memory,
                                const struct extract_cite *cites,
                                size_t n_cites, const struct uuid *refines,
                                struct clew_error *err)
{
    struct memory_ref refs[EXTRACT_MAX_CITES];
    size_t n_refs = refs_of(o, cites, n_cites, refs);
    enum clew_status status;

    memory->lineage = refines ? MEMORY_REFINEMENT : MEMORY_ORIGINAL;
    status = memory_insert(o->work->batch, memory, refs, n_refs, refines,
                           refines ? 1 : 0, err);
    return status == CLEW_OK
               ? observe_told(o, memory, refines ? "refined" : "created", err)
               : status;
}

enum clew_status observe_notice(struct observation *o, struct clew_error *err,
                                const char *fmt, ...)
{
    char line[NOTICE_BYTES];
    struct str kept;
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, args); /* a long one is cut */
    va_end(args);
    kept = str_of(line);
    kept.len = utf8_cut(kept, sizeof(line) - 8); /* not inside a character */
    kept = arena_str(o->arena, kept);
    if (!kept.s ||
        updates_add_notice(o->work->updates, o->arena, kept) != CLEW_OK) {
        return clew_no_memory(err);
    }
    return CLEW_OK;
}

struct str observe_tags(struct observation *o, const struct extract_item *item)
{
    struct buf tags;
    struct str out;

    buf_init(&tags, 4096);
    for (size_t i = 0; i < item->n_tags; i++) {
        if (str_find(item->tags[i], STR(","), 0) == SIZE_MAX) {
            (void)buf_append_cstr(&tags, tags.len ? "," : "");
            (void)buf_append_str(&tags, item->tags[i]); /* cut at the limit */
        }
    }
    out = arena_str(o->arena, buf_str(&tags));
    buf_release(&tags);
    return out.s ? out : STR("");
}

struct str observe_json(struct arena *arena, json_t *object)
{
    struct buf text;
    struct str out = {0};

    buf_init(&text, (size_t)1 << 20);
    if (object && json_write(&text, object) == CLEW_OK) {
        out = arena_str(arena, buf_str(&text));
    }
    buf_release(&text);
    json_decref(object);
    return out;
}

/* --- the whole -------------------------------------------------------------
 */

/* What was understood, for the trace. */
static void trace_intent(const struct observation *o)
{
    json_t *entry = o->work->trace ? json_object() : NULL;

    if (entry && json_set_cstr(entry, "act", intent_act_name(o->intent.act)) &&
        json_set_score(entry, "confidence", (double)o->intent.confidence) &&
        json_set_cstr(entry, "level", intent_level_name(o->intent.level)) &&
        json_set_cstr(entry, "rule", o->intent.rule ? o->intent.rule : "") &&
        json_set_int(entry, "candidates", (int64_t)o->extract.n_items)) {
        (void)json_set(o->work->trace, "observe", entry); /* a trace may lack */
    } else {
        json_decref(entry);
    }
}

/* Turns before, intent, candidates. */
static enum clew_status understand(struct observation *o,
                                   struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    enum clew_status status;

    o->analysis = o->work->reading->analysis;
    o->turn = (struct extract_turn){
        .text = o->work->reading->said,
        .speaker = turn->name,
        .role = turn->role == TURN_USER ? EXTRACT_USER : EXTRACT_ASSISTANT,
        .time_ms = turn->created_at_ms,
        .timezone = turn->timezone,
        .intent = &o->intent,
        .analysis = &o->analysis,
        .pieces = o->work->reading->intent.pieces};
    status = desk_enter(o->work, &o->desk, err);
    if (status == CLEW_OK) {
        fill_previous(o);
        status = read_intents(o, err);
    }
    for (size_t i = 0; i < o->n_previous; i++) {
        o->previous[i].pieces = o->previous_turns[i]->is_read
                                    ? o->previous_turns[i]->intent.pieces
                                    : NULL;
    }
    o->input = (struct extract_input){
        .turn = &o->turn, .previous = o->previous, .n_previous = o->n_previous};
    if (status == CLEW_OK &&
        extract_run(o->arena, &o->input, &o->extract) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    return status;
}

/* NULL on OOM. */
static struct observation *observation_of(struct turn_work *work)
{
    struct observation *o =
        arena_zero(work->batch->arena, 1, sizeof(struct observation));

    if (o) {
        o->work = work;
        o->arena = work->batch->arena;
        o->tx = work->batch->tx;
    }
    return o;
}

static enum clew_status observe_talk(struct turn_work *work,
                                     struct clew_error *err)
{
    struct observation *o = observation_of(work);
    enum clew_status status;

    if (!o) {
        return clew_no_memory(err);
    }
    status = understand(o, err);
    if (status == CLEW_OK) {
        trace_intent(o);
        status = effort_observe(o, err);
    }
    if (status == CLEW_OK) {
        status = observe_keep(o, err);
    }
    if (status == CLEW_OK && work->turn->role == TURN_USER) {
        status = observe_agents(o, err);
    }
    return status == CLEW_OK ? intent_ask_later(work, &o->intent, err) : status;
}

/* --- once more -------------------------------------------------------------
 */

/* Memories that a turn makes later are numbered from here. */
#define LATER_MADE 1000

/* Has the turn ended an effort, or does it belong to one? */
static enum clew_status find_owner(const struct observation *o, bool *out_owned,
                                   bool *out_ended, struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status = effort_list(o->tx, o->arena, &turn->chat_id, true,
                                          &efforts, &count, err);

    *out_owned = false;
    *out_ended = false;
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (efforts[i].last_seq >= turn->seq) {
            *out_owned = true;
            *out_ended = *out_ended || !efforts[i].is_open;
        }
    }
    return status;
}

/* Replies that came meanwhile go where the turn they answer went. */
static enum clew_status take_replies(struct observation *o,
                                     const struct observe_word *word,
                                     struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    struct effort *efforts = NULL;
    size_t count = 0;
    enum clew_status status = effort_list(o->tx, o->arena, &turn->chat_id,
                                          false, &efforts, &count, err);

    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        struct effort *effort = &efforts[i];

        if (effort->state != EFFORT_ACTIVE || !effort->is_open ||
            effort->last_seq != turn->seq) {
            continue;
        }
        for (size_t k = 0; status == CLEW_OK && k < word->n_replies; k++) {
            const struct turn *reply = &word->replies[k];

            if (reply->role == TURN_ASSISTANT) {
                status =
                    effort_own(o->tx, effort, reply->seq, reply->created_at_ms,
                               reply->token_count, err);
            }
        }
        break;
    }
    return status;
}

static enum clew_status move_later(struct observation *o,
                                   struct observe_word *word,
                                   struct clew_error *err)
{
    size_t n_before = o->work->updates->n_memories;
    bool is_owned;
    bool has_ended;
    enum clew_status status = find_owner(o, &is_owned, &has_ended, err);

    if (status != CLEW_OK || has_ended ||
        (is_owned && word->act == INTENT_REQUEST)) {
        return status;
    }
    if (intent_take(o->arena, &o->intent, word->act, word->confidence) !=
            CLEW_OK ||
        extract_run(o->arena, &o->input, &o->extract) != CLEW_OK) {
        return clew_no_memory(err);
    }
    status = effort_observe(o, err);
    word->has_moved = o->work->updates->n_memories > n_before;
    return status == CLEW_OK && word->has_moved ? take_replies(o, word, err)
                                                : status;
}

enum clew_status observe_later(struct turn_work *work,
                               struct observe_word *word,
                               struct clew_error *err)
{
    struct observation *o = observation_of(work);
    enum clew_status status;

    if (!o) {
        return clew_no_memory(err);
    }
    o->is_later = true;
    o->n_made = LATER_MADE;
    status = understand(o, err);
    if (status != CLEW_OK || !intent_is_unsure(&o->intent) ||
        o->intent.act == word->act ||
        (word->act != INTENT_REQUEST && word->act != INTENT_ACCEPT &&
         word->act != INTENT_REJECT)) {
        return status;
    }
    return move_later(o, word, err);
}

enum clew_status observe_turn(struct turn_work *work, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (work->turn->role == TURN_USER || work->turn->role == TURN_ASSISTANT) {
        status = observe_talk(work, err);
    }
    return status == CLEW_OK ? desk_leave(work, err) : status;
}
