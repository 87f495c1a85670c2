/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.h - the words of a turn as they are spoken, and tables of phrases.
 *
 * Plain folded words, contractions without their apostrophe ("im", "whats"),
 * each with its sentence. A table of phrases is sorted by first word, so that
 * one search per word finds all that begin there.
 * Thread-safety: pure functions over immutable tables.
 */
#ifndef ENGINE_SAID_H
#define ENGINE_SAID_H

#include "base/arena.h"
#include "clew/attr.h"
#include "text/analysis.h"

#include <stdbool.h>
#include <stdint.h>

/* Tokens of the head and of the tail of a long text that are read. */
#define SAID_WINDOW 128

struct said_word {
    struct str text;
    uint32_t token; /* its first token */
    uint32_t sentence;
};

struct said {
    struct said_word *words;
    size_t count;
};

/* Where a phrase must stand. */
enum said_place {
    AT_ANY,
    AT_TURN,     /* at the start of the turn, openers skipped */
    AT_SENTENCE, /* at the start of any sentence, openers skipped */
    AT_FIRST,    /* the very first word of the turn */
    IN_QUESTION  /* in a question at the end */
};

/* Words, "*" for any one. Tables: by first word, longer phrases first. */
struct phrase {
    const char *text;
    uint32_t bits;
    enum said_place place;
};

/* The words of sentences [first, end), code left out. False on OOM. */
bool said_read(struct arena *arena, const struct analysis *analysis,
               size_t first, size_t end, struct said *out);
/* The first phrase that begins with `word`; those after it may as well. */
size_t phrase_find(const struct phrase *table, size_t count, struct str word);
bool phrase_begins(const struct phrase *phrase, struct str word);
/* Words of the phrase if it stands at word `at`, in one sentence; or 0. */
size_t phrase_match(const struct phrase *phrase, const struct said *said,
                    size_t at);
/* Is the word one of a list with spaces between? */
bool said_is_any(struct str word, const char *list);

#endif
