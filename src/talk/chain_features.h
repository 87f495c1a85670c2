/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_features.h - what a turn shows about the topic it belongs to.
 *
 * The telling words, names and the cues of conversation: does it point back
 * ("it", "that one"), does it open something ("by the way", "I also need"),
 * what does it ask, what could it answer. A pure function of the analysis and
 * of who speaks; chain_score.h weighs it against the chains.
 * Words are kept as 32-bit hashes of their stems.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef ENGINE_CHAIN_FEATURES_H
#define ENGINE_CHAIN_FEATURES_H

#include "base/arena.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "talk/said.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stdint.h>

/* Telling words that count: without a cap long answers swallow every topic. */
#define CHAIN_TURN_WORDS 12
#define CHAIN_TURN_NAMES 12
#define CHAIN_TURN_NOUNS 6
/* … of the phrase shown as a topic. */
#define CHAIN_TOPIC_WORDS 8

enum chain_cue {
    CUE_PRONOUN = 1 << 0, /* it, that, they, the second one, ... */
    CUE_PRONOUN_EARLY = 1 << 1,
    CUE_WHAT_ABOUT = 1 << 2,
    CUE_CONTINUES = 1 << 3, /* starts with and, but, which, why, ... */
    CUE_CLOSES = 1 << 4,    /* thanks, bye, you're welcome */
    CUE_GREETS = 1 << 5,
    CUE_OPENS = 1 << 6,     /* by the way, one more thing, I also need */
    CUE_REQUESTS = 1 << 7,  /* can you, I need, is there, tell me */
    CUE_OFFERS = 1 << 8,    /* anything else I can help with */
    CUE_SERVICE = 1 << 9,   /* would you like, I found, here is your */
    CUE_SELF = 1 << 10,     /* my job, I am a, I love */
    CUE_PERSONAL = 1 << 11, /* do you like, what do you do, and you? */
    CUE_YOU = 1 << 12,
    CUE_EXPLETIVE = 1 << 13, /* "there is", "it is raining": no pronoun */
    CUE_SWITCHES = 1 << 14,  /* says itself that the topic changes */
    CUE_CONCLUDES = 1 << 15, /* that settles it, let's close this topic */
    CUE_RETURNS = 1 << 16,   /* back to, as for, regarding */
    CUE_CHOOSES = 1 << 17,   /* either, the first, don't mind */
    CUE_YES_NO = 1 << 18,
    CUE_PLACE_WORD = 1 << 19, /* north, downtown, from, to */
    CUE_NUMBER_WORD = 1 << 20,
    CUE_QUESTION = 1 << 21, /* its last sentence asks, marked or not */
    CUE_ASKS = 1 << 22,     /* some sentence asks */
    CUE_DAY_WORD = 1 << 23,
    CUE_TIME_WORD = 1 << 24,
    CUE_FILLER = 1 << 25, /* a word before the body: ok, well, yes */
    CUE_REACTS = 1 << 26  /* begins by taking up what was said: great, I see */
};

/* Kinds of answers, as asked for and as supplied. */
enum chain_slot {
    SLOT_YES_NO = 1 << 0,
    SLOT_TIME = 1 << 1,
    SLOT_DAY = 1 << 2,
    SLOT_NUMBER = 1 << 3,
    SLOT_PLACE = 1 << 4,
    SLOT_CHOICE = 1 << 5
};

struct chain_word {
    uint32_t hash;
    float idf;
    bool is_noun;
};

struct chain_name {
    uint32_t hash;
    float weight;
    bool is_figure; /* a number, date or amount */
};

struct chain_features {
    bool is_user;
    uint32_t cues;    /* enum chain_cue */
    uint8_t asks;     /* enum chain_slot: what its questions ask for */
    uint8_t supplies; /* what it could answer */
    struct chain_word words[CHAIN_TURN_WORDS];
    struct chain_name names[CHAIN_TURN_NAMES];
    uint32_t fresh[CHAIN_TURN_NOUNS];    /* nouns after a, an, some, another */
    uint32_t definite[CHAIN_TURN_NOUNS]; /* after the, this, that, your */
    uint8_t n_words;
    uint8_t n_names;
    uint8_t n_fresh;
    uint8_t n_definite;
    uint32_t n_said; /* words spoken */
    float mass;      /* sum of the idf of `words` */
};

/*
 * The features of sentences [first, end) of an analysed turn. Scratch space
 * comes from the arena. Fails only with CLEW_NO_MEMORY.
 */
enum clew_status chain_features_of(struct arena *arena,
                                   const struct analysis *analysis,
                                   size_t first, size_t end, bool is_user,
                                   struct chain_features *out) CLEW_MUST_CHECK;

/* How stems and names are kept. */
uint32_t chain_hash(struct str text);

/* --- the table of cues (chain_cues.c) --- */

extern const struct phrase chain_phrases[];
extern const size_t chain_n_phrases;

#endif
