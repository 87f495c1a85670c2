/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_words.c - an import and what somebody set right elsewhere about words
 * that were forgotten here.
 *
 * A correction stands under a digest of words, and only those that were here
 * when the words went left a name (core/forgotten.h). One that was made in
 * another store is known by nothing: a name for all that is forgotten would be
 * a digest that guesses could be tried against. So where turns were forgotten,
 * one that is new comes in only if a turn that is here says its words. Turns
 * stand before corrections in an export.
 */
#include "base/sha256.h"
#include "engine/core/rows.h"
#include "engine/proof/restore_internal.h"
#include "engine/proof/said_page.h"
#include "engine/understand/correction.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

DB_SQL(COUNT_FORGETS,
       "SELECT COUNT(*) FROM (SELECT 1 FROM tombstones WHERE tenant = $1"
       " AND kind = 'turn' AND created_at >= $2 LIMIT 1) AS d");
DB_SQL(SELECT_SAID, "SELECT id, text FROM turns WHERE tenant = $1"
                    " AND id > $2 ORDER BY id LIMIT $3");

/* Words that a line of the import sets right; the same may be in several. */
struct doubt {
    struct correction_key words;
    bool is_said;
};

/* Those of a kind's lines that nobody set right here, in order. */
struct doubts {
    struct doubt *items;
    size_t count;
    size_t n_said;
};

static int by_words(const void *a, const void *b)
{
    return memcmp(((const struct doubt *)a)->words.b,
                  ((const struct doubt *)b)->words.b, SHA256_SIZE);
}

static struct doubt *doubt_find(const struct doubts *doubts,
                                const unsigned char words[SHA256_SIZE])
{
    struct doubt key;

    memcpy(key.words.b, words, SHA256_SIZE);
    return doubts->count == 0 ? NULL
                              : bsearch(&key, doubts->items, doubts->count,
                                        sizeof(key), by_words);
}

/* Sorted, each once. */
static void put_in_order(struct doubts *doubts)
{
    size_t n = 0;

    qsort(doubts->items, doubts->count, sizeof(struct doubt), by_words);
    for (size_t i = 0; i < doubts->count; i++) {
        if (n == 0 || by_words(&doubts->items[n - 1], &doubts->items[i]) != 0) {
            doubts->items[n++] = doubts->items[i];
        }
    }
    doubts->count = n;
}

static bool sets_right(const struct restore_line *line, size_t kind)
{
    return line->kind == kind && !line->is_gone && line->has_words;
}

static enum clew_status find_doubts(struct store_tx *tx,
                                    struct restore_work *work, size_t kind,
                                    struct doubts *out, struct clew_error *err)
{
    struct correction_key *kept = NULL;
    size_t n_kept = 0;
    enum clew_status status =
        correction_list(tx, work->arena, &kept, &n_kept, err);

    out->items = arena_zero(work->arena, work->count + 1, sizeof(*out->items));
    if (!out->items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        const struct restore_line *line = &work->lines[i];

        if (sets_right(line, kind)) {
            memcpy(out->items[out->count++].words.b, line->words, SHA256_SIZE);
        }
    }
    if (status == CLEW_OK && out->count > 0) {
        put_in_order(out);
    }
    for (size_t i = 0; i < n_kept && status == CLEW_OK; i++) {
        struct doubt *same = doubt_find(out, kept[i].b);

        if (same) { /* it is here, and goes when its words do */
            same->is_said = true;
            out->n_said++;
        }
    }
    return status;
}

static enum clew_status note_said(struct store_tx *tx, struct arena *arena,
                                  struct str text, void *arg,
                                  struct clew_error *err)
{
    struct doubts *doubts = arg;
    struct correction_key own[CORRECTION_KEYS];

    (void)tx; /* what is asked stands in the import */
    if (correction_keys_of(arena, text, own) != CLEW_OK) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < CORRECTION_KEYS; i++) {
        struct doubt *same = doubt_find(doubts, own[i].b);

        if (same && !same->is_said) {
            same->is_said = true;
            doubts->n_said++;
        }
    }
    return CLEW_OK;
}

static void mark(struct restore_work *work, size_t kind,
                 const struct doubts *doubts)
{
    for (size_t i = 0; i < work->count; i++) {
        struct restore_line *line = &work->lines[i];

        if (sets_right(line, kind) &&
            !doubt_find(doubts, line->words)->is_said) {
            line->is_gone = true;
            work->report.n_forgotten++;
        }
    }
}

enum clew_status restore_mark_words(struct store_tx *tx,
                                    struct restore_work *work, size_t kind,
                                    struct clew_error *err)
{
    struct db_value since = db_int(work->brings_back ? work->sent_at_ms : 0);
    struct doubts doubts = {0};
    struct uuid after = {{0}};
    size_t n = SAID_PAGE;
    int64_t n_forgets = 0;
    enum clew_status status = find_doubts(tx, work, kind, &doubts, err);

    if (status == CLEW_OK && doubts.n_said < doubts.count) {
        status =
            rows_number(tx, &COUNT_FORGETS, DB_ARGS(since), &n_forgets, err);
    }
    if (status != CLEW_OK || n_forgets == 0) {
        return status;
    }
    while (status == CLEW_OK && n == SAID_PAGE &&
           doubts.n_said < doubts.count) {
        status =
            said_page(tx, &SELECT_SAID, &after, note_said, &doubts, &n, err);
    }
    if (status == CLEW_OK) {
        mark(work, kind, &doubts);
    }
    return status;
}
