/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexicon.h - what is known of words before any text is read.
 *
 * A read-only table compiled into the program (models/lexicon): for each
 * English word its stem, rarity, share of noun and verb uses and of capitals;
 * function words of several languages; names of people, places, organisations
 * and products (a name of several words has spaces in it).
 *
 * Layout, little-endian: "CLEWLEX1", u32 slots, u32 entries, u32 pool bytes,
 * u32 lines of the background; slots of u32 (top byte of the hash << 24 |
 * offset + 1, open addressing by FNV-1a); then the pool of records.
 * Thread-safety: immutable.
 */
#ifndef TEXT_LEXICON_H
#define TEXT_LEXICON_H

#include "base/str.h"
#include "text/language.h"

#include <stdbool.h>
#include <stdint.h>

enum lex_kind {
    LEX_NO_NAME,
    LEX_PERSON,
    LEX_PLACE,
    LEX_ORGANISATION,
    LEX_PRODUCT
};

enum lex_flags {
    LEX_CHAT = 1 << 0,      /* small talk: says nothing about a topic */
    LEX_STEM_ONLY = 1 << 1, /* not a word, only a stem */
    LEX_SEEN = 1 << 2,      /* occurs in the background, or is a name */
    LEX_TAGGED = 1 << 3     /* WordNet knows it: the shares are real */
};

struct lex_word {
    struct str word;      /* in the table: lives as long as the program */
    struct str stem;      /* the same */
    uint16_t stop_mask;   /* bit per enum text_language */
    uint16_t capital_log; /* 16 log2(1 + uses inside sentences) */
    uint8_t noun;         /* shares, 255 = all */
    uint8_t verb;
    uint8_t capital; /* of uses inside a sentence */
    uint8_t flags;   /* enum lex_flags */
    uint8_t kind;    /* enum lex_kind */
    /*
     * Tokens an LLM makes of the word, two bits each for "word", " word",
     * "Word", " Word": the larger of two encodings less one (3 = four or
     * more), and the sum of both less two (3 = five or more).
     */
    uint8_t token_max;
    uint8_t token_sum;
    float idf;      /* of the stem */
    float stem_idf; /* of the word itself taken as a stem */
};

/* Look up a folded word, with its str_hash(); false if it is not there. */
bool lexicon_find(struct str word, uint64_t hash, struct lex_word *out);
/* The idf of a stem never seen: ln(lines + 1). */
float lexicon_max_idf(void);

#endif
