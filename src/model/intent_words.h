/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_words.h - an utterance as segments of normalised words.
 *
 * Lower case, one spelling for contractions and chat forms, punctuation gone;
 * every word keeps its byte range in the source. What the intent rules and the
 * extraction of artifacts read English by; search has its own tokens
 * (text/token.h).
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef MODEL_INTENT_WORDS_H
#define MODEL_INTENT_WORDS_H

#include "base/arena.h"
#include "base/str.h"
#include "clew/attr.h"
#include "clew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Segments looked at: as many as the two windows can hold. */
#define INTENT_MAX_SEGMENTS 4096

/* A normalised word: lower case, apostrophes joined, no punctuation. */
struct intent_word {
    const char *s; /* NUL-terminated */
    uint16_t len;
    uint16_t has_comma; /* a comma or dash follows */
    uint32_t from;      /* byte range in the source */
    uint32_t to;
    bool is_capital; /* first letter was upper case */
    uint64_t mask;   /* one bit of 64, from first byte and length */
};

struct intent_piece {
    const struct intent_word *words;
    size_t n_words;
    size_t body;   /* first word after openers such as "well", "ok", "Ann," */
    char end;      /* '?', '!', '.', or 0 where nothing ended it */
    uint64_t mask; /* of all its words together, to skip cues at once */
};

struct intent_pieces {
    struct intent_piece *items;
    size_t count;
    bool has_end; /* the text's last mark is . ? or ! */
};

/* Cut a text; everything is in the arena. Fails only with CLEW_NO_MEMORY. */
enum clew_status intent_split(struct arena *arena, struct str text,
                              struct intent_pieces *out) CLEW_MUST_CHECK;

/* The bit of a word in the masks. */
uint64_t intent_mask(const char *word, size_t len);

/* A verb in its base form; one that is a noun as well. */
bool intent_is_verb(const struct intent_word *word);
bool intent_is_noun_verb(const struct intent_word *word);
/* An auxiliary, negated or not. */
bool intent_is_aux(const struct intent_word *word);

#endif
