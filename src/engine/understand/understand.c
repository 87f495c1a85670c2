/* SPDX-License-Identifier: Apache-2.0 */
/*
 * understand.c - what a turn does and says. See observation.h.
 */
#include "engine/understand/observation.h"

#include "engine/chat/place.h"
#include "engine/chat/turn.h"
#include "engine/read/reading.h"
#include "engine/understand/correction.h"
#include "talk/rule_reader.h"
#include "text/smalltalk.h"

#include <string.h>

#include <assert.h>

/* What a turn makes later is numbered from here. */
#define LATER_MADE 1000
/* What a person said of a turn is so. */
#define TOLD 0.99f
/* A request in form, and trouble by its words, make an opening more likely. */
#define MAY_OPEN 0.10f
#define SURE_ACT 0.70f
#define LIFT_REQUEST 0.22f
#define LIFT_PROBLEM 0.12f

/* The talk before, the last line first; of a sub-agent what it said, not what
 * a model told it. */
static void fill_previous(struct observation *o)
{
    bool is_told = chat_is_subtask(&o->work->placement->slot->chat);

    for (size_t i = 0; i < o->talk->n_turns; i++) {
        struct talk_turn *turn = &o->talk->turns[i];

        if (turn->role == TALK_OTHER || turn->text.len == 0 ||
            (is_told && turn->role == TALK_USER)) {
            continue;
        }
        o->previous[o->n_previous] =
            (struct talk_line){.text = turn->text,
                               .speaker = turn->speaker,
                               .role = turn->role,
                               .time_ms = turn->time_ms,
                               .timezone = turn->timezone};
        o->previous_turns[o->n_previous] = turn;
        o->previous_seq[o->n_previous++] = turn->seq;
    }
    assert(o->n_previous <= TALK_PREVIOUS);
    o->work->before = o->previous_seq;
    o->work->n_before = o->n_previous;
}

/* The act of the turn before, after the one before that. */
static enum clew_status previous_intent(struct observation *o,
                                        struct clew_error *err)
{
    const struct intent_reading *reading = NULL;
    const struct intent_reading *earlier = NULL;
    struct intent first;
    enum clew_status status =
        talk_cache_intent(o->arena, o->previous_turns[0], &reading, err);

    if (status == CLEW_OK && o->n_previous > 1) {
        status =
            talk_cache_intent(o->arena, o->previous_turns[1], &earlier, err);
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
    return o->talk->may_be_corrected
               ? correction_apply(o->tx, o->arena, &turn, &o->intent,
                                  &o->is_told, err)
               : CLEW_OK;
}

/* What was understood, for the trace. */
static void trace_intent(const struct observation *o)
{
    json_t *entry = o->work->trace ? json_object() : NULL;

    if (entry && json_set_cstr(entry, "act", intent_act_name(o->intent.act)) &&
        json_set_score(entry, "confidence", (double)o->intent.confidence) &&
        json_set_cstr(entry, "level", intent_level_name(o->intent.level)) &&
        json_set_cstr(entry, "rule", o->intent.rule ? o->intent.rule : "")) {
        (void)json_set(o->work->trace, "observe", entry); /* a trace may lack */
    } else {
        json_decref(entry);
    }
}

static struct reader_said said_of(const struct talk_line *line)
{
    return (struct reader_said){
        sense_speaker(line->role == TALK_ASSISTANT, line->speaker), line->text};
}

void understand_act(struct observation *o, enum intent_act act,
                    float confidence)
{
    enum reader_act does = act == INTENT_REQUEST  ? READER_ACT_OPENS
                           : act == INTENT_ACCEPT ? READER_ACT_RESOLVES
                           : act == INTENT_REJECT ? READER_ACT_FAILS
                                                  : READER_ACT_NONE;

    o->is_told = true;
    o->opening.confidence = 0;
    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        memset(o->read[i].act, 0, sizeof(o->read[i].act));
        o->read[i].act[does] = confidence;
    }
}

/* The form of a request, or of trouble, is certain where the reader, which
 * learned from people's reports, is not: it counts for the sentence that opens
 * most. */
static void lift_request(struct observation *o)
{
    struct reader_sentence *best = NULL;
    float lift = 0;

    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        if (!best ||
            o->read[i].act[READER_ACT_OPENS] > best->act[READER_ACT_OPENS]) {
            best = &o->read[i];
        }
    }
    if (!best || o->turn.role != TALK_USER ||
        best->act[READER_ACT_OPENS] < MAY_OPEN) {
        return;
    }
    if (o->intent.act == INTENT_REQUEST && o->intent.confidence >= SURE_ACT) {
        lift += LIFT_REQUEST;
    }
    if (o->intent.flags & INTENT_PROBLEM) {
        lift += LIFT_PROBLEM;
    }
    best->act[READER_ACT_OPENS] += lift;
}

/* Were the turns before mere courtesies? After "hello" and "how can I help?" a
 * matter begins; a reader that has learned few greetings takes it for the
 * answer to a question. */
static bool is_after_courtesy(const struct observation *o)
{
    size_t n_said = 0;

    for (size_t i = 0; i < o->n_before; i++) {
        const struct talk_line *line = &o->previous[i];
        bool is_first = o->n_previous <= SENSE_BEFORE;

        /* what answers a greeting at the very beginning is none of a matter */
        if (!(is_first && line->role == TALK_ASSISTANT) &&
            !smalltalk_is(line->text)) {
            return false;
        }
        n_said += line->role == TALK_USER;
    }
    return n_said > 0;
}

/* What the reader says of it. */
static enum clew_status read_turn(struct observation *o, struct clew_error *err)
{
    struct sense_turn turn;
    enum clew_status status;

    o->said = said_of(&o->turn);
    o->n_before = o->n_previous < SENSE_BEFORE ? o->n_previous : SENSE_BEFORE;
    for (size_t i = 0; i < o->n_before; i++) {
        o->before[i] = said_of(&o->previous[o->n_before - 1 - i]);
    }
    o->select =
        (struct select_turn){.text = o->turn.text,
                             .is_assistant = o->turn.role == TALK_ASSISTANT,
                             .timezone = o->turn.timezone,
                             .at_ms = o->turn.time_ms,
                             .analysis = &o->analysis};
    turn =
        (struct sense_turn){.said = o->said,
                            .analysis = &o->analysis,
                            .intent = &o->intent,
                            .before = o->before,
                            .n_before = is_after_courtesy(o) ? 0 : o->n_before};
    status = sense_read(o->work->batch, &turn, &o->read, &o->gist, err);
    o->select.read = o->read;
    if (status == CLEW_OK && o->is_told) {
        understand_act(o, o->intent.act, TOLD);
    } else if (status == CLEW_OK && o->turn.role == TALK_USER) {
        status = rule_lift(o->arena, &o->analysis, o->said.speaker, o->read) ==
                         CLEW_OK
                     ? CLEW_OK
                     : clew_no_memory(err);
        lift_request(o);
    }
    if (status == CLEW_OK &&
        select_opening(o->arena, &o->select, &o->opening) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    if (status == CLEW_OK && !o->is_told &&
        select_further(o->arena, &o->select, &o->opening, o->further,
                       &o->n_further) != CLEW_OK) {
        status = clew_no_memory(err);
    }
    return status;
}

/* What the chat sees, where its conversation has other branches. */
static enum clew_status look_around(struct observation *o,
                                    struct clew_error *err)
{
    const struct chat *chat = &o->work->placement->slot->chat;
    struct sight *sight;
    bool is_parted = false;
    enum clew_status status = sight_is_parted(o->tx, chat, &is_parted, err);

    if (status != CLEW_OK || !is_parted) {
        return status;
    }
    sight = arena_zero(o->arena, 1, sizeof(*sight));
    if (!sight) {
        return clew_no_memory(err);
    }
    o->sight = sight;
    return sight_open(o->tx, o->arena, chat, sight, err);
}

/* Turns before, intent, what is read. */
static enum clew_status understand(struct observation *o,
                                   struct clew_error *err)
{
    const struct turn *turn = o->work->turn;
    enum clew_status status;

    o->analysis = o->work->reading->analysis;
    o->turn = (struct talk_line){
        .text = o->work->reading->said,
        .speaker = turn->name,
        .role = turn->role == TURN_USER ? TALK_USER : TALK_ASSISTANT,
        .time_ms = turn->created_at_ms,
        .timezone = turn->timezone};
    status = talk_cache_enter(o->work, &o->talk, err);
    if (status == CLEW_OK) {
        status = look_around(o, err);
    }
    if (status == CLEW_OK) {
        fill_previous(o);
        status = read_intents(o, err);
    }
    return status == CLEW_OK ? read_turn(o, err) : status;
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
    work->observation = o;
    return o;
}

/* What a sub-agent is told is no talk: a model wrote it. */
static bool is_talk(const struct turn_work *work)
{
    return work->turn->role == TURN_ASSISTANT ||
           (work->turn->role == TURN_USER &&
            !chat_is_subtask(&work->placement->slot->chat));
}

enum clew_status understand_turn(struct turn_work *work, struct clew_error *err)
{
    struct observation *o;
    enum clew_status status;

    if (!is_talk(work)) {
        return CLEW_OK;
    }
    o = observation_of(work);
    status = o ? understand(o, err) : clew_no_memory(err);
    if (status == CLEW_OK) {
        trace_intent(o);
    }
    return status;
}

enum clew_status understand_again(struct turn_work *work,
                                  struct clew_error *err)
{
    struct observation *o = observation_of(work);

    if (!o) {
        return clew_no_memory(err);
    }
    o->is_later = true;
    work->n_made = LATER_MADE;
    return understand(o, err);
}
