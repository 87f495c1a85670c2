/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_sense.c - the reader is asked about chains. See chain_sense.h.
 */
#include "engine/topic/chain_sense.h"

#include "base/utf8.h"
#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/read/reading.h"
#include "engine/read/sense.h"
#include "engine/understand/observation.h"

/* Bytes of the turn, and of each of the two it is compared with. */
#define TURN_BYTES 200
#define SAID_BYTES 100
#define STRETCH_TURNS 2
/* How sure the reader is of an end, and of one given up: "not done with this
 * yet" looks like that to it. */
#define SURE_DONE 0.6f
#define SURE_GIVEN_UP 0.9f
/* An end says little else: who reports how something went goes on about it. */
#define END_WORDS 12
/* What may be quoted, supposed or denied is not said. */
#define SAID_FLAG 0.5f
/* Words that close a topic and say nothing of a matter: the reader was taught
 * matters. It must see nothing else in them. */
#define SEES_NOTHING 0.5f
#define PLAIN_FLAG 0.15f

bool chain_sense_has(const struct chain_group *group)
{
    const struct turn_work *work = group->work;

    return work->batch->engine->reader && work->observation && group->part &&
           group->part->features.is_user &&
           work->reading->chains.n_parts == 1 && !work->batch->chains->is_seed;
}

double chain_sense_goes_on(const struct chain_group *group)
{
    const struct observation *o = group->work->observation;

    return o->analysis.n_sentences > 0 ? (double)o->read[0].goes_on : -1;
}

/* --- texts ------------------------------------------------------------------
 */

static struct str said(struct arena *arena, const struct turn *turn)
{
    struct str text = str_trim(turn->text);
    struct reader_said it = {
        sense_speaker(turn->role == TURN_ASSISTANT, turn->name),
        utf8_head(text, SAID_BYTES)};

    return sense_said(arena, &it);
}

/* What is said now, without what a client put there. */
static struct str said_now(const struct chain_group *group)
{
    const struct observation *o = group->work->observation;
    struct str text = str_trim(o->said.text);
    struct reader_said it = {o->said.speaker, utf8_head(text, TURN_BYTES)};

    return sense_said(group->work->batch->arena, &it);
}

/* The chain's first two turns; s == NULL: they are gone. */
static enum clew_status stretch_of(const struct batch_work *batch,
                                   const struct chain *chain, struct str *out,
                                   struct clew_error *err)
{
    struct arena *arena = batch->arena;
    struct turn *turns = NULL;
    size_t count = 0;
    struct chain_step first;
    struct str texts[STRETCH_TURNS] = {{0}};
    size_t n = 0;
    enum clew_status status =
        chain_step_first(batch->tx, arena, &chain->id, &first, err);

    *out = (struct str){0};
    if (status != CLEW_OK) {
        return status == CLEW_NOT_FOUND ? CLEW_OK : status;
    }
    status = turn_list_line(batch->tx, arena, &first.chat_id, first.seq - 1,
                            STRETCH_TURNS, &turns, &count, err);
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        bool is_talk =
            turns[i].role == TURN_USER || turns[i].role == TURN_ASSISTANT;

        if (is_talk && turns[i].seq < first.seq + STRETCH_TURNS) {
            texts[n] = said(arena, &turns[i]);
            status = texts[n++].s ? CLEW_OK : clew_no_memory(err);
        }
    }
    if (status != CLEW_OK || n == 0) {
        return status;
    }
    *out = texts[0];
    if (n > 1) {
        const char *both =
            arena_printf(arena, "%.*s %.*s", (int)texts[0].len, texts[0].s,
                         (int)texts[1].len, texts[1].s);

        *out = str_of(both);
        return both ? CLEW_OK : clew_no_memory(err);
    }
    return CLEW_OK;
}

enum clew_status chain_sense(const struct chain_group *group,
                             struct chain_meant *items, size_t n,
                             struct clew_error *err)
{
    struct batch_work *batch = group->work->batch;
    struct str turn = said_now(group);
    struct reader_pair pairs[CHAIN_MEANT_MAX];
    struct reader_verdict verdicts[CHAIN_MEANT_MAX];
    size_t places[CHAIN_MEANT_MAX];
    size_t n_pairs = 0;
    enum clew_status status = turn.s ? CLEW_OK : clew_no_memory(err);

    for (size_t i = 0; i < n && status == CLEW_OK; i++) {
        struct reader_pair pair = {.a = turn};

        items[i].same = -1;
        status = stretch_of(batch, items[i].chain, &pair.b, err);
        if (status == CLEW_OK && pair.b.s) {
            places[n_pairs] = i;
            pairs[n_pairs++] = pair;
        }
    }
    if (status == CLEW_OK && n_pairs > 0) {
        status =
            sense_compare(batch, READER_MATTER, pairs, n_pairs, verdicts, err);
    }
    for (size_t i = 0; i < n_pairs && status == CLEW_OK; i++) {
        items[places[i]].same = (double)verdicts[i].p[0];
    }
    return status;
}

/* --- ends -------------------------------------------------------------------
 */

static float most_of(float a, float b)
{
    return a > b ? a : b;
}

/* Is it said, and not only quoted or supposed? */
static bool is_said(const struct reader_sentence *read)
{
    return read->flag[READER_QUOTED] < SAID_FLAG &&
           read->flag[READER_SUPPOSED] < SAID_FLAG;
}

/* Something is done, or given up. */
static bool is_end(const struct reader_sentence *read)
{
    bool is_done = read->act[READER_ACT_RESOLVES] >= SURE_DONE &&
                   read->flag[READER_NEGATED] < SAID_FLAG;

    return is_said(read) &&
           (is_done || read->act[READER_ACT_ABANDONS] >= SURE_GIVEN_UP);
}

/* Something else is going on. */
static bool is_more(const struct reader_sentence *read)
{
    return most_of(read->act[READER_ACT_OPENS],
                   most_of(read->act[READER_ACT_ON],
                           read->act[READER_ACT_FAILS])) >= SAID_FLAG;
}

/* "Let's close this topic": of the topic alone. */
static bool is_close(const struct chain_group *group, size_t at)
{
    const struct observation *o = group->work->observation;
    const struct reader_sentence *read = &o->read[at];
    struct chain_features features;

    if (read->act[READER_ACT_NONE] < SEES_NOTHING ||
        most_of(read->flag[READER_NEGATED],
                most_of(read->flag[READER_QUOTED],
                        read->flag[READER_SUPPOSED])) >= PLAIN_FLAG ||
        chain_features_of(o->arena, &o->analysis, at, at + 1, true,
                          &features) != CLEW_OK) {
        return false;
    }
    return (features.cues & CUE_CONCLUDES) != 0;
}

bool chain_sense_ends(const struct chain_group *group)
{
    const struct observation *o = group->work->observation;
    bool has_phrase = (group->part->features.cues & CUE_CONCLUDES) != 0;
    bool is_over = false;

    if (group->part->features.n_said > END_WORDS) {
        return false;
    }
    for (size_t i = 0; i < o->analysis.n_sentences; i++) {
        if (is_more(&o->read[i])) {
            return false;
        }
        is_over = is_over || is_end(&o->read[i]) ||
                  (has_phrase && is_close(group, i));
    }
    return is_over;
}
