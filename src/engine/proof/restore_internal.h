/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_internal.h - the lines of one call, for restore.c,
 * restore_fit.c and restore_gone.c.
 */
#ifndef ENGINE_RESTORE_INTERNAL_H
#define ENGINE_RESTORE_INTERNAL_H

#include "base/sha256.h"
#include "engine/core/forgotten.h"
#include "engine/core/read_log.h"
#include "engine/proof/export_kinds.h"
#include "engine/proof/restore.h"

struct restore_line {
    size_t kind;
    struct uuid id;               /* of kinds with a change number */
    int64_t version;              /* of kinds that have one */
    bool is_twice;                /* a line before it is the same row */
    bool is_gone;                 /* what it tells was forgotten here */
    bool is_added;                /* with a change number, by this call */
    bool is_fresh;                /* and its row was not there before */
    struct read_log_item reading; /* of an action that is one; else no reader */
    struct forgotten_name set;    /* restore_note_set(); so the next two */
    bool has_words;               /* it sets right how words are read */
    unsigned char words[SHA256_SIZE]; /* their digest */
    struct db_value values[EXPORT_MAX_COLUMNS + 1];
};

struct restore_work {
    struct engine *engine;
    struct arena *arena;
    struct restore_line *lines;
    size_t count;
    bool brings_back;   /* also what was forgotten */
    int64_t sent_at_ms; /* but not at this moment or later */
    bool has_nameless;  /* a chain came in without its topic */
    struct restore_report report;
    const struct restore_line *conflict; /* it contradicts what is stored */
    struct uuid *buried; /* turns that came in, and are forgotten */
    size_t n_buried;
    struct uuid *orphans; /* memories of what was left out */
    size_t n_orphans;
    int64_t orphans_since_ms; /* when the first of them was made */
};

/* The place of a kind's column; its number of columns if it has none such. */
size_t restore_column_of(size_t kind, const char *name);
/* The id in a column of a line; false if there is none. */
bool restore_id_at(const struct restore_line *line, size_t column,
                   struct uuid *out);
/* The text in one; s == NULL if there is none. */
struct str restore_text_at(const struct restore_line *line, size_t column);
/* When a line's row was made, by the column `name`. */
int64_t restore_time_at(const struct restore_line *line, const char *name);

/*
 * Mark the lines of a kind that tell what was forgotten here, and count them in
 * the report. Call when the kinds before it are written. Forks and turns that
 * go with a chat get tombstones of their own, for what later calls say of them.
 * Where the work brings back, what forbids them goes instead, but for what was
 * forgotten since it was sent.
 */
enum clew_status restore_mark_gone(struct store_tx *tx,
                                   struct restore_work *work, size_t kind,
                                   struct clew_error *err) CLEW_MUST_CHECK;

/* Note the name under which what a line sets is forgotten, if it has one. */
void restore_note_set(struct arena *arena, const json_t *json,
                      struct restore_line *line);
/* Mark the lines of a kind that set what was forgotten since they did. */
enum clew_status restore_mark_set(struct store_tx *tx,
                                  struct restore_work *work, size_t kind,
                                  struct clew_error *err) CLEW_MUST_CHECK;

/* Mark the lines of a kind that set words right which no turn here says, where
 * turns were forgotten. Call when turns are written. */
enum clew_status restore_mark_words(struct store_tx *tx,
                                    struct restore_work *work, size_t kind,
                                    struct clew_error *err) CLEW_MUST_CHECK;

/* Take out of a kind's lines what may be words of turns that were forgotten
 * here; of chats that lost some. Call before they are written. */
enum clew_status restore_blank(struct store_tx *tx, struct restore_work *work,
                               size_t kind,
                               struct clew_error *err) CLEW_MUST_CHECK;

/* After the lines are written: fill work->buried and work->orphans, and drop
 * references to turns that were left out. */
enum clew_status restore_find_buried(struct store_tx *tx,
                                     struct restore_work *work,
                                     struct clew_error *err) CLEW_MUST_CHECK;

/*
 * The same: a memory or an episode that lines bury and that is here
 * nevertheless was made anew since. It gets a later change number than its
 * tombstone, or the index would drop it.
 */
enum clew_status restore_unbury(struct store_tx *tx,
                                const struct restore_work *work,
                                struct clew_error *err) CLEW_MUST_CHECK;

#endif
