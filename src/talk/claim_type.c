/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_type.c - the phrases of each kind of statement. See claim_type.h.
 *
 * Where several kinds show, the more specific wins (`precedence`). Phrases
 * have no apostrophes, are sorted by first word, longer ones first.
 */
#include "talk/claim_type.h"

#include "talk/said.h"

#define BIT(type) (1u << CLAIM_##type)
#define HEDGE (1u << CLAIM_TYPES)

/* clang-format off */
static const struct phrase phrases[] = {
#include "lexicon/en/claim_types.def"
};
/* clang-format on */

static const enum claim_type precedence[] = {
    CLAIM_HYPOTHETICAL,  CLAIM_DECISION,
    CLAIM_CONCERN,       CLAIM_EMOTION,
    CLAIM_CHANGE_MARKER, CLAIM_LEARNING,
    CLAIM_GOAL,          CLAIM_MEMORY_REFERENCE,
    CLAIM_VALUE,         CLAIM_PREFERENCE,
    CLAIM_HABIT,         CLAIM_INTENTION,
    CLAIM_COMMITMENT,    CLAIM_CAUSAL,
    CLAIM_RELATIONSHIP,  CLAIM_BELIEF,
    CLAIM_ASSESSMENT,    CLAIM_SELF_PERCEPTION,
};

static const char *const names[CLAIM_TYPES] = {"factual",
                                               "belief",
                                               "intention",
                                               "assessment",
                                               "preference",
                                               "causal",
                                               "question",
                                               "decision",
                                               "emotion",
                                               "goal",
                                               "value",
                                               "relationship",
                                               "self_perception",
                                               "habit",
                                               "memory_reference",
                                               "concern",
                                               "learning",
                                               "change_marker",
                                               "hypothetical",
                                               "commitment"};

const char *claim_type_name(enum claim_type type)
{
    return names[type];
}

bool claim_type_parse(struct str name, enum claim_type *out_type)
{
    for (size_t i = 0; i < CLAIM_TYPES; i++) {
        if (str_eq(name, str_of(names[i]))) {
            *out_type = (enum claim_type)i;
            return true;
        }
    }
    return false;
}

/* Everything the phrases of the sentence say. */
static uint32_t bits_of(const struct said *said)
{
    const size_t count = sizeof(phrases) / sizeof(phrases[0]);
    uint32_t bits = 0;

    for (size_t w = 0; w < said->count; w++) {
        struct str word = said->words[w].text;

        for (size_t i = phrase_find(phrases, count, word);
             i < count && phrase_begins(&phrases[i], word); i++) {
            if (phrase_match(&phrases[i], said, w) > 0) {
                bits |= phrases[i].bits;
            }
        }
    }
    return bits;
}

bool claim_type_of(struct arena *arena, const struct analysis *analysis,
                   size_t sentence, enum claim_type *out_type, bool *out_hedged)
{
    struct said said;
    uint32_t bits;

    if (!said_read(arena, analysis, sentence, sentence + 1, &said)) {
        return false;
    }
    bits = bits_of(&said);
    *out_hedged = (bits & HEDGE) != 0;
    *out_type = CLAIM_FACTUAL;
    if (analysis->sentences[sentence].is_question) {
        *out_type =
            bits & BIT(HYPOTHETICAL) ? CLAIM_HYPOTHETICAL : CLAIM_QUESTION;
        return true;
    }
    for (size_t i = 0; i < sizeof(precedence) / sizeof(precedence[0]); i++) {
        if (bits & (1u << precedence[i])) {
            *out_type = precedence[i];
            break;
        }
    }
    return true;
}
