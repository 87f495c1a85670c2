/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_reader.c - reading by rules. See rule_reader.h.
 */
#include "talk/rule_reader.h"

#include "talk/claim_type.h"
#include "talk/slots.h"

#include <string.h>

/* What a rule is worth: above every floor there is, below a sure reader. */
#define LIKELY 0.7f
#define KEPT 0.85f
/* Sentences of a turn whose form is looked at. */
#define MAX_LIFTED 64
/* ... where it is said outright: "that fixed it", "it still fails". */
#define SURE 0.9f

static bool is_within(const struct span *span, const struct sentence *s)
{
    return span->from >= s->span.from && span->to <= s->span.to;
}

static bool has_date(const struct analysis *a, const struct sentence *s)
{
    for (size_t i = 0; i < a->n_dates; i++) {
        if (is_within(&a->dates[i].span, s)) {
            return true;
        }
    }
    return false;
}

static bool names_something(const struct analysis *a, const struct sentence *s)
{
    for (size_t i = 0; i < a->n_entities; i++) {
        const struct entity *e = &a->entities[i];

        if (e->kind != ENTITY_NUMBER && e->kind != ENTITY_DATE &&
            is_within(&e->span, s)) {
            return true;
        }
    }
    return false;
}

static enum reader_keep keep_of(const struct analysis *a,
                                const struct sentence *s, enum claim_type type)
{
    if (s->is_question || s->is_code || type == CLAIM_QUESTION ||
        type == CLAIM_HYPOTHETICAL) {
        return READER_KEEP_NONE;
    }
    if (type == CLAIM_PREFERENCE || type == CLAIM_VALUE ||
        type == CLAIM_HABIT) {
        return READER_KEEP_PREFERENCE;
    }
    if (type == CLAIM_DECISION || type == CLAIM_COMMITMENT) {
        return READER_KEEP_DECISION;
    }
    if (has_date(a, s)) {
        return READER_KEEP_EVENT;
    }
    return names_something(a, s) || type == CLAIM_RELATIONSHIP ||
                   type == CLAIM_CHANGE_MARKER
               ? READER_KEEP_FACT
               : READER_KEEP_NONE;
}

static enum reader_act act_of(const struct intent *intent)
{
    if (intent->act == INTENT_ACCEPT) {
        return READER_ACT_RESOLVES;
    }
    if (intent->act == INTENT_REJECT) {
        return READER_ACT_FAILS;
    }
    return (intent->flags & INTENT_PROBLEM) || intent->act == INTENT_REQUEST
               ? READER_ACT_OPENS
               : READER_ACT_NONE;
}

enum clew_status rule_read(struct arena *arena, const struct analysis *analysis,
                           const struct intent *intent,
                           struct reader_sentence *out)
{
    enum reader_act act = act_of(intent);
    float sure = act != READER_ACT_OPENS && (intent->flags & INTENT_STRONG)
                     ? SURE
                     : LIKELY;

    for (size_t i = 0; i < analysis->n_sentences; i++) {
        enum claim_type type;
        bool is_hedged;
        enum reader_keep keep;

        if (!claim_type_of(arena, analysis, i, &type, &is_hedged)) {
            return CLEW_NO_MEMORY;
        }
        keep = keep_of(analysis, &analysis->sentences[i], type);
        memset(&out[i], 0, sizeof(out[i]));
        out[i].keep[READER_KEEP_NONE] = 1.0f - KEPT;
        out[i].keep[keep] += KEPT;
        out[i].about[READER_ABOUT_SELF] = 1.0f;
        out[i].flag[READER_HEDGED] = is_hedged ? LIKELY : 0;
        out[i].goes_on = 1.0f; /* rules have no word on it */
        out[i].act[READER_ACT_NONE] = 1.0f - sure;
        /* what is asked for is told by the sentence that asks */
        out[i].act[i == 0 || act != READER_ACT_OPENS ? act : READER_ACT_ON] +=
            sure;
    }
    return CLEW_OK;
}

/* What a sentence surely is, or READER_KEEP_NONE. */
static enum reader_keep surely(struct arena *arena,
                               const struct analysis *analysis, size_t i,
                               struct str speaker, enum claim_type type)
{
    const struct sentence *s = &analysis->sentences[i];
    struct slot slot;

    if (s->is_question || s->is_code) {
        return READER_KEEP_NONE;
    }
    if (type == CLAIM_PREFERENCE) {
        return READER_KEEP_PREFERENCE;
    }
    if (type == CLAIM_DECISION) {
        return READER_KEEP_DECISION;
    }
    return slot_of(arena, str_sub(analysis->text, s->span.from, s->span.to),
                   speaker, &slot)
               ? READER_KEEP_FACT
               : READER_KEEP_NONE;
}

enum clew_status rule_lift(struct arena *arena, const struct analysis *analysis,
                           struct str speaker, struct reader_sentence *read)
{
    for (size_t i = 0; i < analysis->n_sentences && i < MAX_LIFTED; i++) {
        enum claim_type type;
        bool is_hedged;
        enum reader_keep keep;

        if (!claim_type_of(arena, analysis, i, &type, &is_hedged)) {
            return CLEW_NO_MEMORY;
        }
        keep = surely(arena, analysis, i, speaker, type);
        if (keep == READER_KEEP_NONE) {
            continue;
        }
        if (read[i].keep[READER_KEEP_NONE] > 1.0f - KEPT) {
            memset(read[i].keep, 0, sizeof(read[i].keep));
            read[i].keep[READER_KEEP_NONE] = 1.0f - KEPT;
            read[i].keep[keep] = KEPT;
        }
        if (keep == READER_KEEP_FACT || keep == READER_KEEP_PREFERENCE) {
            read[i].act[READER_ACT_OPENS] = 0;
        }
    }
    return CLEW_OK;
}

struct reader_verdict rule_ending(const struct reader_sentence *read,
                                  size_t n_sentences)
{
    struct reader_verdict out = {{0}};

    for (size_t i = 0; i < n_sentences; i++) {
        if (read[i].act[READER_ACT_RESOLVES] >= LIKELY) {
            out.p[READER_ENDING_RESOLVED] = read[i].act[READER_ACT_RESOLVES];
        } else if (read[i].act[READER_ACT_FAILS] >= LIKELY) {
            out.p[READER_ENDING_FAILED] = read[i].act[READER_ACT_FAILS];
        }
    }
    return out;
}
