/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_type.c - what kind of statement a sentence is, by its phrases.
 *
 * Where several kinds show, the more specific wins (`precedence`). Phrases
 * have no apostrophes, are sorted by first word, longer ones first.
 */
#include "engine/claim.h"

#include "engine/said.h"

#define BIT(type) (1u << CLAIM_##type)
#define HEDGE (1u << CLAIM_TYPES)

/* clang-format off */
static const struct phrase phrases[] = {
    {"aiming to", BIT(GOAL), AT_ANY},
    {"any more", BIT(CHANGE_MARKER), AT_ANY},
    {"anymore", BIT(CHANGE_MARKER), AT_ANY},
    {"apparently", HEDGE, AT_ANY},
    {"are bad", BIT(ASSESSMENT), AT_ANY},
    {"are good", BIT(ASSESSMENT), AT_ANY},
    {"are great", BIT(ASSESSMENT), AT_ANY},
    {"as a result", BIT(CAUSAL), AT_ANY},
    {"as i mentioned", BIT(MEMORY_REFERENCE), AT_ANY},
    {"as i said", BIT(MEMORY_REFERENCE), AT_ANY},
    {"as we discussed", BIT(MEMORY_REFERENCE), AT_ANY},
    {"because", BIT(CAUSAL), AT_ANY},
    {"caused by", BIT(CAUSAL), AT_ANY},
    {"causes", BIT(CAUSAL), AT_ANY},
    {"changed my mind", BIT(CHANGE_MARKER), AT_ANY},
    {"concerns me", BIT(CONCERN), AT_ANY},
    {"consequently", BIT(CAUSAL), AT_ANY},
    {"could be", HEDGE, AT_ANY},
    {"could have", BIT(HYPOTHETICAL), AT_ANY},
    {"decided on", BIT(DECISION), AT_ANY},
    {"decided to", BIT(DECISION), AT_ANY},
    {"do you remember", BIT(MEMORY_REFERENCE), AT_ANY},
    {"due to", BIT(CAUSAL), AT_ANY},
    {"each day", BIT(HABIT), AT_ANY},
    {"each morning", BIT(HABIT), AT_ANY},
    {"earlier you", BIT(MEMORY_REFERENCE), AT_ANY},
    {"every day", BIT(HABIT), AT_ANY},
    {"every morning", BIT(HABIT), AT_ANY},
    {"every night", BIT(HABIT), AT_ANY},
    {"every week", BIT(HABIT), AT_ANY},
    {"every weekend", BIT(HABIT), AT_ANY},
    {"final decision", BIT(DECISION), AT_ANY},
    {"from now on", BIT(CHANGE_MARKER), AT_ANY},
    {"has changed", BIT(CHANGE_MARKER), AT_ANY},
    {"have changed", BIT(CHANGE_MARKER), AT_ANY},
    {"hypothetically", BIT(HYPOTHETICAL), AT_ANY},
    {"i am not good at", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am a fan", BIT(PREFERENCE), AT_ANY},
    {"i am bad at", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am going to", BIT(INTENTION), AT_ANY},
    {"i am going with", BIT(DECISION), AT_ANY},
    {"i am good at", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am looking for", BIT(INTENTION), AT_ANY},
    {"i am not very", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am thinking of", BIT(INTENTION), AT_ANY},
    {"i am trying to", BIT(GOAL), AT_ANY},
    {"i am working towards", BIT(GOAL), AT_ANY},
    {"i do not like", BIT(PREFERENCE), AT_ANY},
    {"i will go with", BIT(DECISION), AT_ANY},
    {"i would like to", BIT(INTENTION), AT_ANY},
    {"i am a", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am afraid", BIT(CONCERN), AT_ANY},
    {"i am an", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am angry", BIT(EMOTION), AT_ANY},
    {"i am concerned", BIT(CONCERN), AT_ANY},
    {"i am convinced", BIT(BELIEF), AT_ANY},
    {"i am excited", BIT(EMOTION), AT_ANY},
    {"i am frustrated", BIT(EMOTION), AT_ANY},
    {"i am glad", BIT(EMOTION), AT_ANY},
    {"i am grateful", BIT(EMOTION), AT_ANY},
    {"i am happy", BIT(EMOTION), AT_ANY},
    {"i am lonely", BIT(EMOTION), AT_ANY},
    {"i am nervous", BIT(EMOTION), AT_ANY},
    {"i am planning", BIT(INTENTION), AT_ANY},
    {"i am proud", BIT(EMOTION), AT_ANY},
    {"i am sad", BIT(EMOTION), AT_ANY},
    {"i am sure", BIT(BELIEF), AT_ANY},
    {"i am the", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am tired", BIT(EMOTION), AT_ANY},
    {"i am upset", BIT(EMOTION), AT_ANY},
    {"i am very", BIT(SELF_PERCEPTION), AT_ANY},
    {"i am worried", BIT(CONCERN), AT_ANY},
    {"i believe in", BIT(VALUE), AT_ANY},
    {"i cant stand", BIT(PREFERENCE), AT_ANY},
    {"i care about", BIT(VALUE), AT_ANY},
    {"i consider myself", BIT(SELF_PERCEPTION), AT_ANY},
    {"i dont like", BIT(PREFERENCE), AT_ANY},
    {"i figured out", BIT(LEARNING), AT_ANY},
    {"i found out", BIT(LEARNING), AT_ANY},
    {"i have decided", BIT(DECISION), AT_ANY},
    {"i have learned", BIT(LEARNING), AT_ANY},
    {"i have started", BIT(CHANGE_MARKER), AT_ANY},
    {"i have stopped", BIT(CHANGE_MARKER), AT_ANY},
    {"i hope to", BIT(GOAL), AT_ANY},
    {"i just learned", BIT(LEARNING), AT_ANY},
    {"i need to", BIT(INTENTION), AT_ANY},
    {"i now understand", BIT(LEARNING), AT_ANY},
    {"i plan on", BIT(INTENTION), AT_ANY},
    {"i plan to", BIT(INTENTION), AT_ANY},
    {"i see myself", BIT(SELF_PERCEPTION), AT_ANY},
    {"i tend to", BIT(HABIT), AT_ANY},
    {"i told you", BIT(MEMORY_REFERENCE), AT_ANY},
    {"i want to", BIT(INTENTION), AT_ANY},
    {"i would rather", BIT(PREFERENCE), AT_ANY},
    {"i aim", BIT(GOAL), AT_ANY},
    {"i always", BIT(HABIT), AT_ANY},
    {"i assume", BIT(BELIEF), AT_ANY},
    {"i believe", BIT(BELIEF) | HEDGE, AT_ANY},
    {"i chose", BIT(DECISION), AT_ANY},
    {"i commit", BIT(COMMITMENT), AT_ANY},
    {"i decided", BIT(DECISION), AT_ANY},
    {"i discovered", BIT(LEARNING), AT_ANY},
    {"i dislike", BIT(PREFERENCE), AT_ANY},
    {"i doubt", BIT(BELIEF), AT_ANY},
    {"i enjoy", BIT(PREFERENCE), AT_ANY},
    {"i fear", BIT(CONCERN), AT_ANY},
    {"i feel", BIT(EMOTION), AT_ANY},
    {"i guarantee", BIT(COMMITMENT), AT_ANY},
    {"i guess", BIT(BELIEF) | HEDGE, AT_ANY},
    {"i hate", BIT(PREFERENCE), AT_ANY},
    {"i intend", BIT(INTENTION), AT_ANY},
    {"i learned", BIT(LEARNING), AT_ANY},
    {"i learnt", BIT(LEARNING), AT_ANY},
    {"i like", BIT(PREFERENCE), AT_ANY},
    {"i love", BIT(PREFERENCE), AT_ANY},
    {"i mentioned", BIT(MEMORY_REFERENCE), AT_ANY},
    {"i miss", BIT(EMOTION), AT_ANY},
    {"i moved", BIT(CHANGE_MARKER), AT_ANY},
    {"i need", BIT(INTENTION), AT_ANY},
    {"i never", BIT(HABIT), AT_ANY},
    {"i normally", BIT(HABIT), AT_ANY},
    {"i often", BIT(HABIT), AT_ANY},
    {"i owe", BIT(COMMITMENT), AT_ANY},
    {"i picked", BIT(DECISION), AT_ANY},
    {"i prefer", BIT(PREFERENCE), AT_ANY},
    {"i promise", BIT(COMMITMENT), AT_ANY},
    {"i quit", BIT(CHANGE_MARKER), AT_ANY},
    {"i realised", BIT(LEARNING), AT_ANY},
    {"i realized", BIT(LEARNING), AT_ANY},
    {"i remember", BIT(MEMORY_REFERENCE), AT_ANY},
    {"i shall", BIT(COMMITMENT), AT_ANY},
    {"i stopped", BIT(CHANGE_MARKER), AT_ANY},
    {"i suppose", BIT(BELIEF) | HEDGE, AT_ANY},
    {"i suspect", BIT(BELIEF), AT_ANY},
    {"i swear", BIT(COMMITMENT), AT_ANY},
    {"i switched", BIT(CHANGE_MARKER), AT_ANY},
    {"i think", BIT(BELIEF) | HEDGE, AT_ANY},
    {"i typically", BIT(HABIT), AT_ANY},
    {"i usually", BIT(HABIT), AT_ANY},
    {"i value", BIT(VALUE), AT_ANY},
    {"i will", BIT(COMMITMENT), AT_ANY},
    {"i worry", BIT(CONCERN), AT_ANY},
    {"id like to", BIT(INTENTION), AT_ANY},
    {"id prefer", BIT(PREFERENCE), AT_ANY},
    {"id rather", BIT(PREFERENCE), AT_ANY},
    {"if i had", BIT(HYPOTHETICAL), AT_ANY},
    {"if i were", BIT(HYPOTHETICAL), AT_ANY},
    {"if we had", BIT(HYPOTHETICAL), AT_ANY},
    {"if we were", BIT(HYPOTHETICAL), AT_ANY},
    {"ill go with", BIT(DECISION), AT_ANY},
    {"ill", BIT(COMMITMENT), AT_ANY},
    {"im not good at", BIT(SELF_PERCEPTION), AT_ANY},
    {"im a fan", BIT(PREFERENCE), AT_ANY},
    {"im about to", BIT(INTENTION), AT_ANY},
    {"im bad at", BIT(SELF_PERCEPTION), AT_ANY},
    {"im going to", BIT(INTENTION), AT_ANY},
    {"im going with", BIT(DECISION), AT_ANY},
    {"im good at", BIT(SELF_PERCEPTION), AT_ANY},
    {"im looking for", BIT(INTENTION), AT_ANY},
    {"im not very", BIT(SELF_PERCEPTION), AT_ANY},
    {"im thinking of", BIT(INTENTION), AT_ANY},
    {"im trying to", BIT(GOAL), AT_ANY},
    {"im a", BIT(SELF_PERCEPTION), AT_ANY},
    {"im afraid", BIT(CONCERN), AT_ANY},
    {"im an", BIT(SELF_PERCEPTION), AT_ANY},
    {"im angry", BIT(EMOTION), AT_ANY},
    {"im concerned", BIT(CONCERN), AT_ANY},
    {"im convinced", BIT(BELIEF), AT_ANY},
    {"im disappointed", BIT(EMOTION), AT_ANY},
    {"im excited", BIT(EMOTION), AT_ANY},
    {"im frustrated", BIT(EMOTION), AT_ANY},
    {"im glad", BIT(EMOTION), AT_ANY},
    {"im grateful", BIT(EMOTION), AT_ANY},
    {"im happy", BIT(EMOTION), AT_ANY},
    {"im lonely", BIT(EMOTION), AT_ANY},
    {"im nervous", BIT(EMOTION), AT_ANY},
    {"im planning", BIT(INTENTION), AT_ANY},
    {"im proud", BIT(EMOTION), AT_ANY},
    {"im sad", BIT(EMOTION), AT_ANY},
    {"im sure", BIT(BELIEF), AT_ANY},
    {"im the", BIT(SELF_PERCEPTION), AT_ANY},
    {"im thrilled", BIT(EMOTION), AT_ANY},
    {"im tired", BIT(EMOTION), AT_ANY},
    {"im upset", BIT(EMOTION), AT_ANY},
    {"im very", BIT(SELF_PERCEPTION), AT_ANY},
    {"im worried", BIT(CONCERN), AT_ANY},
    {"imagine", BIT(HYPOTHETICAL), AT_ANY},
    {"important to me", BIT(VALUE), AT_ANY},
    {"in my opinion", BIT(BELIEF), AT_ANY},
    {"instead of before", BIT(CHANGE_MARKER), AT_ANY},
    {"is amazing", BIT(ASSESSMENT), AT_ANY},
    {"is awful", BIT(ASSESSMENT), AT_ANY},
    {"is bad", BIT(ASSESSMENT), AT_ANY},
    {"is best", BIT(ASSESSMENT), AT_ANY},
    {"is better", BIT(ASSESSMENT), AT_ANY},
    {"is cheap", BIT(ASSESSMENT), AT_ANY},
    {"is difficult", BIT(ASSESSMENT), AT_ANY},
    {"is easy", BIT(ASSESSMENT), AT_ANY},
    {"is excellent", BIT(ASSESSMENT), AT_ANY},
    {"is expensive", BIT(ASSESSMENT), AT_ANY},
    {"is fine", BIT(ASSESSMENT), AT_ANY},
    {"is good", BIT(ASSESSMENT), AT_ANY},
    {"is great", BIT(ASSESSMENT), AT_ANY},
    {"is hard", BIT(ASSESSMENT), AT_ANY},
    {"is perfect", BIT(ASSESSMENT), AT_ANY},
    {"is terrible", BIT(ASSESSMENT), AT_ANY},
    {"is too", BIT(ASSESSMENT), AT_ANY},
    {"is worse", BIT(ASSESSMENT), AT_ANY},
    {"it turns out", BIT(LEARNING), AT_ANY},
    {"it seems", BIT(BELIEF) | HEDGE, AT_ANY},
    {"ive chosen", BIT(DECISION), AT_ANY},
    {"ive decided", BIT(DECISION), AT_ANY},
    {"ive learned", BIT(LEARNING), AT_ANY},
    {"ive started", BIT(CHANGE_MARKER), AT_ANY},
    {"kind of", HEDGE, AT_ANY},
    {"last time", BIT(MEMORY_REFERENCE), AT_ANY},
    {"leads to", BIT(CAUSAL), AT_ANY},
    {"led to", BIT(CAUSAL), AT_ANY},
    {"let us say", BIT(HYPOTHETICAL), AT_ANY},
    {"lets go with", BIT(DECISION), AT_ANY},
    {"lets say", BIT(HYPOTHETICAL), AT_ANY},
    {"like i said", BIT(MEMORY_REFERENCE), AT_ANY},
    {"looks good", BIT(ASSESSMENT), AT_ANY},
    {"makes me feel", BIT(EMOTION), AT_ANY},
    {"matters to me", BIT(VALUE), AT_ANY},
    {"maybe", HEDGE, AT_ANY},
    {"means a lot to me", BIT(VALUE), AT_ANY},
    {"might", HEDGE, AT_ANY},
    {"most days", BIT(HABIT), AT_ANY},
    {"my aim", BIT(GOAL), AT_ANY},
    {"my aunt", BIT(RELATIONSHIP), AT_ANY},
    {"my boss", BIT(RELATIONSHIP), AT_ANY},
    {"my boyfriend", BIT(RELATIONSHIP), AT_ANY},
    {"my brother", BIT(RELATIONSHIP), AT_ANY},
    {"my children", BIT(RELATIONSHIP), AT_ANY},
    {"my colleague", BIT(RELATIONSHIP), AT_ANY},
    {"my colleagues", BIT(RELATIONSHIP), AT_ANY},
    {"my concern", BIT(CONCERN), AT_ANY},
    {"my cousin", BIT(RELATIONSHIP), AT_ANY},
    {"my dad", BIT(RELATIONSHIP), AT_ANY},
    {"my daughter", BIT(RELATIONSHIP), AT_ANY},
    {"my dream", BIT(GOAL), AT_ANY},
    {"my family", BIT(RELATIONSHIP), AT_ANY},
    {"my father", BIT(RELATIONSHIP), AT_ANY},
    {"my favorite", BIT(PREFERENCE), AT_ANY},
    {"my favourite", BIT(PREFERENCE), AT_ANY},
    {"my friend", BIT(RELATIONSHIP), AT_ANY},
    {"my friends", BIT(RELATIONSHIP), AT_ANY},
    {"my girlfriend", BIT(RELATIONSHIP), AT_ANY},
    {"my goal", BIT(GOAL), AT_ANY},
    {"my guess", BIT(BELIEF), AT_ANY},
    {"my husband", BIT(RELATIONSHIP), AT_ANY},
    {"my kids", BIT(RELATIONSHIP), AT_ANY},
    {"my manager", BIT(RELATIONSHIP), AT_ANY},
    {"my mom", BIT(RELATIONSHIP), AT_ANY},
    {"my mother", BIT(RELATIONSHIP), AT_ANY},
    {"my mum", BIT(RELATIONSHIP), AT_ANY},
    {"my neighbor", BIT(RELATIONSHIP), AT_ANY},
    {"my neighbour", BIT(RELATIONSHIP), AT_ANY},
    {"my objective", BIT(GOAL), AT_ANY},
    {"my parents", BIT(RELATIONSHIP), AT_ANY},
    {"my partner", BIT(RELATIONSHIP), AT_ANY},
    {"my principle", BIT(VALUE), AT_ANY},
    {"my roommate", BIT(RELATIONSHIP), AT_ANY},
    {"my sister", BIT(RELATIONSHIP), AT_ANY},
    {"my son", BIT(RELATIONSHIP), AT_ANY},
    {"my target", BIT(GOAL), AT_ANY},
    {"my uncle", BIT(RELATIONSHIP), AT_ANY},
    {"my values", BIT(VALUE), AT_ANY},
    {"my wife", BIT(RELATIONSHIP), AT_ANY},
    {"my worry", BIT(CONCERN), AT_ANY},
    {"no longer", BIT(CHANGE_MARKER), AT_ANY},
    {"not sure", HEDGE, AT_ANY},
    {"on weekends", BIT(HABIT), AT_ANY},
    {"once a week", BIT(HABIT), AT_ANY},
    {"our goal", BIT(GOAL), AT_ANY},
    {"our target", BIT(GOAL), AT_ANY},
    {"perhaps", HEDGE, AT_ANY},
    {"possibly", HEDGE, AT_ANY},
    {"principles", BIT(VALUE), AT_ANY},
    {"probably", HEDGE, AT_ANY},
    {"remember when", BIT(MEMORY_REFERENCE), AT_ANY},
    {"results in", BIT(CAUSAL), AT_ANY},
    {"right thing to do", BIT(VALUE), AT_ANY},
    {"scares me", BIT(CONCERN), AT_ANY},
    {"settled on", BIT(DECISION), AT_ANY},
    {"should be", BIT(ASSESSMENT), AT_ANY},
    {"since then", BIT(CAUSAL), AT_ANY},
    {"sort of", HEDGE, AT_ANY},
    {"sounds good", BIT(ASSESSMENT), AT_ANY},
    {"suppose", BIT(HYPOTHETICAL), AT_ANY},
    {"supposing", BIT(HYPOTHETICAL), AT_ANY},
    {"that is why", BIT(CAUSAL), AT_ANY},
    {"thats why", BIT(CAUSAL), AT_ANY},
    {"the kind of person", BIT(SELF_PERCEPTION), AT_ANY},
    {"the goal is", BIT(GOAL), AT_ANY},
    {"the reason", BIT(CAUSAL), AT_ANY},
    {"therefore", BIT(CAUSAL), AT_ANY},
    {"turns out", BIT(LEARNING), AT_ANY},
    {"twice a week", BIT(HABIT), AT_ANY},
    {"used to", BIT(CHANGE_MARKER), AT_ANY},
    {"was amazing", BIT(ASSESSMENT), AT_ANY},
    {"was bad", BIT(ASSESSMENT), AT_ANY},
    {"was good", BIT(ASSESSMENT), AT_ANY},
    {"was great", BIT(ASSESSMENT), AT_ANY},
    {"was terrible", BIT(ASSESSMENT), AT_ANY},
    {"we are going to", BIT(INTENTION), AT_ANY},
    {"we will go with", BIT(DECISION), AT_ANY},
    {"we talked about", BIT(MEMORY_REFERENCE), AT_ANY},
    {"we agreed", BIT(DECISION), AT_ANY},
    {"we aim", BIT(GOAL), AT_ANY},
    {"we chose", BIT(DECISION), AT_ANY},
    {"we decided", BIT(DECISION), AT_ANY},
    {"we discussed", BIT(MEMORY_REFERENCE), AT_ANY},
    {"we plan", BIT(INTENTION), AT_ANY},
    {"we switched", BIT(CHANGE_MARKER), AT_ANY},
    {"we will", BIT(COMMITMENT), AT_ANY},
    {"well go with", BIT(DECISION), AT_ANY},
    {"were going to", BIT(INTENTION), AT_ANY},
    {"weve decided", BIT(DECISION), AT_ANY},
    {"what if", BIT(HYPOTHETICAL), AT_ANY},
    {"works well", BIT(ASSESSMENT), AT_ANY},
    {"worries me", BIT(CONCERN), AT_ANY},
    {"would have", BIT(HYPOTHETICAL), AT_ANY},
    {"you can count on me", BIT(COMMITMENT), AT_ANY},
    {"you told me", BIT(MEMORY_REFERENCE), AT_ANY},
    {"you mentioned", BIT(MEMORY_REFERENCE), AT_ANY},
    {"you said", BIT(MEMORY_REFERENCE), AT_ANY},
};
/* clang-format on */

static const enum claim_type precedence[] = {
    CLAIM_HYPOTHETICAL,  CLAIM_DECISION,         CLAIM_CONCERN,
    CLAIM_EMOTION,       CLAIM_CHANGE_MARKER,    CLAIM_LEARNING,
    CLAIM_GOAL,          CLAIM_MEMORY_REFERENCE, CLAIM_VALUE,
    CLAIM_PREFERENCE,    CLAIM_HABIT,            CLAIM_INTENTION,
    CLAIM_COMMITMENT,    CLAIM_CAUSAL,           CLAIM_RELATIONSHIP,
    CLAIM_BELIEF,        CLAIM_ASSESSMENT,       CLAIM_SELF_PERCEPTION,
};

static const char *const names[CLAIM_TYPES] = {
    "factual",      "belief",   "intention", "assessment",
    "preference",   "causal",   "question",  "decision",
    "emotion",      "goal",     "value",     "relationship",
    "self_perception", "habit", "memory_reference", "concern",
    "learning",     "change_marker", "hypothetical", "commitment"};

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
