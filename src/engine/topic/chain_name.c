/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_name.c - what a chain is called. See chain_name.h.
 */
#include "engine/topic/chain_name.h"

#include "engine/chat/turn.h"
#include "engine/core/engine.h"
#include "engine/read/reading.h"
#include "engine/understand/chat_name.h"
#include "engine/understand/observation.h"
#include "text/title.h"

#include <string.h>

/* How likely a sentence opens something, in CHAIN_NAME_STEPS steps: from so
 * many on it names the matter, and so many more take its place. */
#define NAMES 4
#define BETTER 4
/* What an assistant says names a matter until its user does. */
#define BY_ASSISTANT 3

struct name {
    struct str title;
    uint32_t words[CHAIN_TOPIC_WORDS];
    size_t n_words;
    uint8_t weight;
};

/* The sentences of the group: [first, *out_end); false where the reader read
 * another text, or there is none. */
static bool is_read(const struct chain_group *group, size_t *out_end)
{
    const struct turn_work *work = group->work;
    const struct chain_reading *reading = &work->reading->chains;
    const struct observation *o = work->observation;

    if (!work->batch->engine->reader || !o || !group->part ||
        work->batch->chains->is_seed ||
        o->analysis.n_sentences != work->reading->analysis.n_sentences) {
        return false;
    }
    *out_end = reading->n_parts > 1 && group->part == &reading->parts[0]
                   ? reading->parts[1].first
                   : o->analysis.n_sentences;
    return group->part->first < *out_end;
}

bool chain_name_is_empty(const struct chain_group *group)
{
    size_t end = 0;

    return is_read(group, &end) &&
           chat_name_is_empty(group->work->observation, group->part->first, end,
                              group->session->n_open == 0);
}

/* The phrase, or the beginning, that was found without a reader. */
static void name_by_phrase(const struct chain_group *group, struct name *out)
{
    out->title = group->part->topic;
    memcpy(out->words, group->part->topic_words, sizeof(out->words));
    out->n_words = group->part->n_topic_words;
}

/* Phrases are found as English has them; elsewhere they hold half a verb. */
static bool has_phrase(const struct chain_group *group,
                       const struct analysis *analysis)
{
    return group->part->is_phrase &&
           (analysis->tokens.language == TEXT_ENGLISH ||
            analysis->tokens.language == TEXT_UNKNOWN);
}

static enum clew_status find_name(const struct chain_group *group,
                                  struct name *out, struct clew_error *err)
{
    const struct observation *o = group->work->observation;
    const struct analysis *a;
    struct str sentence;
    struct str title = {0};
    size_t end = 0;
    size_t best;
    float opens = 0;

    *out = (struct name){0};
    name_by_phrase(group, out);
    if (!is_read(group, &end)) {
        return CLEW_OK;
    }
    best = group->part->first;
    for (size_t i = best; i < end; i++) {
        if (o->read[i].act[READER_ACT_OPENS] > opens) {
            opens = o->read[i].act[READER_ACT_OPENS];
            best = i;
        }
    }
    /* what a rule adds may make it more than certain */
    out->weight = (uint8_t)((opens < 1 ? opens : 1) * (CHAIN_NAME_STEPS - 1));
    if (!group->part->features.is_user && out->weight > BY_ASSISTANT) {
        out->weight = BY_ASSISTANT;
    }
    a = &o->analysis;
    if (out->weight < NAMES && has_phrase(group, a)) {
        return CLEW_OK;
    }
    sentence = str_sub(a->text, a->sentences[best].span.from,
                       a->sentences[best].span.to);
    if (title_of(o->arena, sentence, &title) != CLEW_OK) {
        return clew_no_memory(err);
    }
    if (title.s) {
        out->title = title;
        out->n_words = chain_read_words(a, sentence, out->words);
    }
    return CLEW_OK;
}

static enum clew_status take(const struct chain_group *group,
                             const struct name *name, struct chain *chain,
                             struct clew_error *err)
{
    chain->topic = arena_str(group->work->batch->arena, name->title);
    memcpy(chain->state.topic, name->words, sizeof(chain->state.topic));
    chain->state.n_topic = (uint8_t)name->n_words;
    chain->state.topic_weight = name->weight;
    return chain->topic.s ? CLEW_OK : clew_no_memory(err);
}

enum clew_status chain_name_set(const struct chain_group *group,
                                struct chain *chain, struct clew_error *err)
{
    struct name name;
    enum clew_status status = find_name(group, &name, err);

    return status == CLEW_OK ? take(group, &name, chain, err) : status;
}

enum clew_status chain_name_refine(const struct chain_group *group,
                                   struct chain *chain, struct clew_error *err)
{
    const struct chain_state *state = &chain->state;
    struct name name;
    enum clew_status status = find_name(group, &name, err);
    float now;
    float then;

    if (status != CLEW_OK) {
        return status;
    }
    if (state->topic_weight < NAMES && name.weight >= NAMES &&
        name.weight >= state->topic_weight + BETTER) {
        return take(group, &name, chain, err);
    }
    /* a phrase of something less of a matter does not stand for it */
    if (!has_phrase(group, &group->work->reading->analysis) ||
        name.weight + BETTER <= state->topic_weight) {
        return CLEW_OK;
    }
    name_by_phrase(group, &name);
    now = chain_state_central(state, state->topic, state->n_topic);
    then = chain_state_central(state, name.words, name.n_words);
    return then > CHAIN_TOPIC_GAIN * now ? take(group, &name, chain, err)
                                         : CLEW_OK;
}
