/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch.h - turns of a chat that a model reads at once, with what is known.
 *
 * The next turns after those that were read, as many as one question should
 * hold, a few before them to understand them by, the efforts they may move and
 * the notes they may touch. Efforts and notes are known to the model by labels
 * made of what they say, not by ids: the same talk gives the same question, in
 * whatever store it lies, and no label leads to another user's.
 * Thread-safety: none; loaded inside one transaction function.
 */
#ifndef ENGINE_LLMREAD_STRETCH_H
#define ENGINE_LLMREAD_STRETCH_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"
#include "clew/attr.h"
#include "clew/status.h"
#include "base/clock.h"
#include "engine/chat/turn.h"
#include "engine/memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* Turns read at once, turns before them that are shown. */
#define STRETCH_TURNS 40
#define STRETCH_BEFORE 4
/* Bytes shown of one turn, and of all of them: some 6,000 tokens. */
#define STRETCH_TURN_BYTES 4000u
#define STRETCH_BYTES 24000u
/* Efforts shown: of the chat, open ones of the user's other chats, and ended
 * ones that began so short a time before: they may come up again. */
#define STRETCH_EFFORTS 16
#define STRETCH_FAR_EFFORTS 10
#define STRETCH_ENDED_EFFORTS 8
#define STRETCH_ENDED_MS (90 * CLOCK_DAY_MS)
/* Notes shown: those of the stretch; of earlier ones all, where they are few,
 * else so many, and so many bytes (some 4,000 tokens). Among them go first
 * those of turns that the efforts shown cite and, where there are more than are
 * compared (stretch_near.h), older ones that share rare words. */
#define STRETCH_NOTES 64
#define STRETCH_FEW_NOTES 60
#define STRETCH_FAR_NOTES 40
#define STRETCH_CITED_NOTES 8
#define STRETCH_OLD_NOTES 12
#define STRETCH_FAR_BYTES 12000u
/* Labels that a note has taken over: it stands where others stood. */
#define STRETCH_ALIASES 4

#define STRETCH_LABEL 8
#define STRETCH_DIGEST 17

struct stretch_turn {
    struct turn turn;
    struct str said;           /* without machine text; secrets starred */
    struct str shown;          /* the head of it that the model sees */
    bool is_own;               /* read; else shown to understand by */
    char label[STRETCH_LABEL]; /* "T1"; "" unless it is own */
};

/* An effort or a note, as it stood at the end of the stretch. */
struct stretch_known {
    struct memory memory;
    bool is_here;              /* of these turns; else of earlier ones */
    char label[STRETCH_LABEL]; /* "E3fa91c", "N…" */
    /* of the guesses it was put in the place of: a model that was shown one of
     * them, while another reading replaced it, means this */
    char aliases[STRETCH_ALIASES][STRETCH_LABEL];
    size_t n_aliases;
};

/* Of an earlier chat: how it began, its last turns, and bytes of each. */
#define STRETCH_CHAT_TURNS 3
#define STRETCH_CHAT_BYTES 300u

/* A chat of the same user that this one may go on with. */
struct stretch_chat {
    struct uuid id;
    char label[STRETCH_LABEL]; /* "C…", of what its first turn says, and when */
    struct str title;          /* s == NULL: none */
    int64_t began_ms;
    int64_t ended_ms; /* so far, as seen from the stretch */
    struct stretch_turn turns[STRETCH_CHAT_TURNS]; /* the first is a person's */
    size_t n_turns;
};

struct stretch {
    struct uuid chat_id;
    struct str user_id;
    int64_t from_seq;       /* the first turn after those read */
    int64_t through_seq;    /* the last that counts as read then; 0: nothing */
    bool is_full;           /* more turns wait than fit */
    int64_t last_stored_ms; /* of the last turn that waits */
    struct stretch_turn *turns; /* in order; only what people and models said */
    size_t n_turns;
    size_t n_own;
    struct stretch_known *efforts;
    size_t n_efforts;
    struct stretch_known *notes;
    size_t n_notes;
    struct stretch_chat *chats; /* earlier.h */
    size_t n_chats;
    int64_t from_ms;             /* of its first own turn */
    int64_t until_ms;            /* of its last: what came later is not shown */
    char digest[STRETCH_DIGEST]; /* of what its turns say, and when */
};

/*
 * Load what comes after `after_seq`, up to `through_seq` (0: as much as fits
 * and is read by the reader, which goes first). n_own == 0: nothing to read,
 * though through_seq may say that some turns need none.
 */
enum clew_status stretch_load(struct engine *engine, struct store_tx *tx,
                              struct arena *arena, const struct uuid *chat_id,
                              int64_t after_seq, int64_t through_seq,
                              struct stretch *out,
                              struct clew_error *err) CLEW_MUST_CHECK;
/* What a turn says to a model, up to `max_bytes` shown; nothing if no person or
 * model said it. */
enum clew_status stretch_say(struct arena *arena, const struct turn *turn,
                             size_t max_bytes, struct stretch_turn *out,
                             struct clew_error *err) CLEW_MUST_CHECK;
/* The effort or note with this label; NULL if there is none, or two. */
const struct stretch_known *stretch_find(const struct stretch_known *list,
                                         size_t count, struct str label);
/* The chat with this label; NULL if there is none, or two. */
const struct stretch_chat *stretch_chat_of(const struct stretch *stretch,
                                           struct str label);
/* The own turn with this label, or NULL. */
const struct stretch_turn *stretch_turn_of(const struct stretch *stretch,
                                           struct str label);

#endif
