/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch_known.c - what is known beside turns. See stretch_known.h.
 */
#include "engine/llmread/stretch_known.h"

#include "base/json.h"
#include "base/sha256.h"
#include "engine/chat/chat.h"
#include "engine/chat/sight.h"
#include "engine/core/rows.h"
#include "engine/effort/effort.h"
#include "engine/keep/keep_key.h"
#include "engine/llmread/stretch.h"
#include "engine/llmread/stretch_near.h"
#include "engine/memory/lineage.h"
#include "engine/memory/memory.h"
#include "engine/memory/memory_seen.h"
#include "engine/understand/observation.h"
#include "store/db.h"
#include "text/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rare words of a stretch that the oldest notes are looked for by, and how many
 * notes one word finds. */
#define RARE_WORDS 24
#define NOTES_A_WORD 6
#define HASH_BYTES 3

DB_SQL(SELECT_NOTES,
       "SELECT DISTINCT m.id, m.created_at FROM memory_refs r JOIN memories m"
       " ON m.tenant = r.tenant AND m.id = r.memory_id WHERE r.tenant = $1"
       " AND r.chat_id = $2 AND r.first_seq >= $3 AND r.first_seq <= $4"
       " AND m.type <> 'effort' AND m.type <> 'skill'"
       " AND m.retracted_at IS NULL AND m.user_id = $5"
       " ORDER BY m.created_at, m.id LIMIT $6");

/* Guesses of the same turn that were taken back. CROSS: SQLite reads the first
 * table first; the lines of a note are few. */
DB_SQL(SELECT_REPLACED,
       "SELECT m.id FROM memory_refs r CROSS JOIN memory_refs q"
       " CROSS JOIN memories m WHERE r.tenant = $1 AND q.tenant = $1"
       " AND m.tenant = $1 AND r.memory_id = $2 AND q.chat_id = r.chat_id"
       " AND q.first_seq = r.first_seq AND q.last_seq = q.first_seq"
       " AND m.id = q.memory_id"
       " AND m.origin = 'extracted' AND m.retracted_at IS NOT NULL"
       " AND m.type <> 'effort' ORDER BY +m.created_at, m.id LIMIT $3");

/* Notes of turns that efforts cite. CROSS: SQLite reads the first table first;
 * the lines of a few efforts are few. */
DB_SQL(SELECT_CITED,
       "SELECT DISTINCT m.id, m.created_at FROM memory_refs r"
       " CROSS JOIN memory_refs q CROSS JOIN memories m WHERE r.tenant = $1"
       " AND q.tenant = $1 AND m.tenant = $1 AND r.memory_id = ANY($2)"
       " AND q.chat_id = r.chat_id AND q.first_seq >= r.first_seq"
       " AND q.first_seq <= r.last_seq AND m.id = q.memory_id"
       " AND m.user_id = $3 AND m.created_at < $4 AND m.type <> 'effort'"
       " AND m.type <> 'skill' AND m.retracted_at IS NULL"
       " ORDER BY m.created_at DESC, m.id DESC LIMIT $5");

/* --- labels ----------------------------------------------------------------
 */

/* What a note says in its own words: what clew wrote beside them (days, whom
 * they are about) may be written otherwise one day; and the words that opened
 * an effort, whatever it is called since. */
static struct str own_words(struct arena *arena, const struct memory *memory)
{
    json_t *fields = NULL;
    struct str out = memory->summary;

    if (memory->fields.s &&
        json_parse(memory->fields, &fields, NULL) == CLEW_OK) {
        const json_t *said = json_object_get(
            fields, str_eq(memory->type, STR("effort")) ? "goal" : "statement");

        if (json_string_length(said) > 0) {
            out = arena_str(arena, json_text(said));
        }
    }
    json_decref(fields);
    return out;
}

/* A label that follows from what is said, and when. */
static enum clew_status label(struct arena *arena, char kind,
                              const struct memory *memory,
                              char out[STRETCH_LABEL], struct clew_error *err)
{
    struct str words = own_words(arena, memory);
    struct sha256 hash;
    unsigned char full[SHA256_SIZE];
    char head[64];

    if (!words.s) {
        return clew_no_memory(err);
    }
    (void)snprintf(head, sizeof(head), "%lld ",
                   (long long)memory->created_at_ms);
    sha256_init(&hash);
    sha256_add_str(&hash, str_of(head));
    sha256_add_str(&hash, words);
    sha256_get(&hash, full);
    out[0] = kind;
    hex_format(full, HASH_BYTES, out + 1);
    return CLEW_OK;
}

/* The labels of what the note was put in the place of: guesses whose words hold
 * its own, or are held by them. */
static enum clew_status load_aliases(struct store_tx *tx, struct arena *arena,
                                     struct stretch_known *known,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct str words = own_words(arena, &known->memory);
    const struct uuid *ids;
    enum clew_status status = rows_add(
        tx, &list, &SELECT_REPLACED,
        DB_ARGS(db_uuid(&known->memory.id), db_int(STRETCH_ALIASES)), err);

    ids = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        struct memory guess;
        struct str said = {NULL, 0};

        status = memory_find(tx, arena, &ids[i], &guess, err);
        if (status == CLEW_OK) {
            said = own_words(arena, &guess);
        }
        if (said.s && words.s &&
            (str_find(said, words, 0) != SIZE_MAX ||
             str_find(words, said, 0) != SIZE_MAX)) {
            status = label(arena, 'N', &guess, known->aliases[known->n_aliases],
                           err);
            known->n_aliases += status == CLEW_OK;
        }
    }
    return status;
}

/* --- efforts ---------------------------------------------------------------
 */

static enum clew_status add_effort(struct store_tx *tx, struct arena *arena,
                                   const struct effort *effort,
                                   struct stretch *s, struct clew_error *err)
{
    struct stretch_known *out = &s->efforts[s->n_efforts];
    enum clew_status status;

    if (!uuid_is_nil(&effort->parent_id) || effort->is_spawned) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < s->n_efforts; i++) {
        if (uuid_eq(&s->efforts[i].memory.id, &effort->memory_id)) {
            return CLEW_OK;
        }
    }
    status = memory_find(tx, arena, &effort->memory_id, &out->memory, err);
    if (status != CLEW_OK || out->memory.created_at_ms > s->until_ms) {
        return status;
    }
    if (out->memory.updated_at_ms > s->until_ms) { /* it ended later */
        out->memory.status = STR("open");
        out->memory.resolution = (struct str){NULL, 0};
    }
    out->is_here = uuid_eq(&effort->thread_id, &s->chat_id);
    status = label(arena, 'E', &out->memory, out->label, err);
    s->n_efforts += status == CLEW_OK;
    return status;
}

static enum clew_status add_efforts(struct store_tx *tx, struct arena *arena,
                                    const struct effort *items, size_t count,
                                    size_t most, struct stretch *s,
                                    struct clew_error *err)
{
    size_t end = s->n_efforts + most;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK && s->n_efforts < end;
         i++) {
        status = add_effort(tx, arena, &items[i], s, err);
    }
    return status;
}

/* Those of the chat that are open or were at work in these turns; then of the
 * user's other chats open ones, the newest, and ones that ended of late. */
static enum clew_status load_efforts(struct store_tx *tx, struct arena *arena,
                                     struct stretch *s, struct clew_error *err)
{
    struct effort *items = NULL;
    size_t count = 0;
    size_t n = 0;
    enum clew_status status =
        effort_list(tx, arena, &s->chat_id, true, &items, &count, err);

    s->efforts = arena_zero(
        arena, STRETCH_EFFORTS + STRETCH_FAR_EFFORTS + STRETCH_ENDED_EFFORTS,
        sizeof(*s->efforts));
    if (!s->efforts) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i].is_open || items[i].last_seq >= s->from_seq) {
            items[n++] = items[i];
        }
    }
    if (status == CLEW_OK) {
        status = add_efforts(tx, arena, items, n, STRETCH_EFFORTS, s, err);
    }
    if (status == CLEW_OK) {
        status =
            effort_list_user(tx, arena, s->user_id, false, &items, &count, err);
    }
    if (status == CLEW_OK) {
        status =
            add_efforts(tx, arena, items, count, STRETCH_FAR_EFFORTS, s, err);
    }
    if (status == CLEW_OK) {
        status = effort_list_ended(tx, arena, s->user_id,
                                   s->from_ms - STRETCH_ENDED_MS, &items,
                                   &count, err);
    }
    return status == CLEW_OK ? add_efforts(tx, arena, items, count,
                                           STRETCH_ENDED_EFFORTS, s, err)
                             : status;
}

/* --- notes -----------------------------------------------------------------
 */

/* Notes on their way into a stretch. */
struct gathering {
    struct store_tx *tx;
    struct arena *arena;
    struct stretch *stretch;
    struct sight sight; /* of a chat whose conversation has other branches */
    bool is_parted;
    size_t bytes; /* of the earlier ones, so far */
};

/* May the note be shown here: is it this user's, was it said by then, and does
 * it hold as far as these turns know? */
static enum clew_status may_show(struct gathering *g,
                                 const struct memory *memory, bool *out,
                                 struct clew_error *err)
{
    const struct stretch *s = g->stretch;
    bool is_hidden = false;
    bool was_replaced = false;
    enum clew_status status = CLEW_OK;

    *out = str_eq(memory->user_id, s->user_id) &&
           memory->created_at_ms <= s->until_ms;
    if (*out && g->is_parted) {
        status =
            memory_hide(g->tx, g->arena, &g->sight, memory, 1, &is_hidden, err);
    }
    /* what only a guess of these turns replaced the model may judge itself */
    if (status == CLEW_OK && *out && !is_hidden) {
        status = lineage_was_replaced(g->tx, &memory->id, s->from_ms - 1,
                                      &was_replaced, err);
    }
    *out = *out && !is_hidden && !was_replaced;
    return status;
}

static enum clew_status add_note(struct gathering *g, const struct uuid *id,
                                 bool is_here, struct clew_error *err)
{
    struct stretch *s = g->stretch;
    struct stretch_known *out = &s->notes[s->n_notes];
    bool is_ok = false;
    enum clew_status status;

    for (size_t i = 0; i < s->n_notes; i++) {
        if (uuid_eq(&s->notes[i].memory.id, id)) {
            return CLEW_OK;
        }
    }
    status = memory_find(g->tx, g->arena, id, &out->memory, err);
    if (status == CLEW_OK) {
        status = may_show(g, &out->memory, &is_ok, err);
    }
    if (!is_here && g->bytes + out->memory.summary.len > STRETCH_FAR_BYTES) {
        is_ok = false;
    }
    if (status != CLEW_OK || !is_ok) {
        return status;
    }
    out->is_here = is_here;
    out->n_aliases = 0;
    status = label(g->arena, 'N', &out->memory, out->label, err);
    if (status == CLEW_OK && str_eq(out->memory.origin, STR("llm"))) {
        status = load_aliases(g->tx, g->arena, out, err);
    }
    g->bytes += is_here ? 0 : out->memory.summary.len;
    s->n_notes += status == CLEW_OK;
    return status;
}

/* Add earlier ones until the stretch has `most`. */
static enum clew_status add_notes(struct gathering *g, const struct uuid *ids,
                                  size_t count, size_t most,
                                  struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0;
         i < count && status == CLEW_OK && g->stretch->n_notes < most; i++) {
        status = add_note(g, &ids[i], false, err);
    }
    return status;
}

static enum clew_status load_here(struct gathering *g, struct clew_error *err)
{
    struct stretch *s = g->stretch;
    struct rows_list list = {
        .arena = g->arena, .size = sizeof(struct uuid), .fn = rows_id};
    const struct uuid *ids;
    enum clew_status status =
        rows_add(g->tx, &list, &SELECT_NOTES,
                 DB_ARGS(db_uuid(&s->chat_id), db_int(s->from_seq),
                         db_int(s->through_seq), db_text(s->user_id),
                         db_int(STRETCH_NOTES)),
                 err);

    ids = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = add_note(g, &ids[i], true, err);
    }
    return status;
}

/* The newest of those drawn from turns that the efforts shown cite: what goes
 * on with an effort often changes what was said of it. */
static enum clew_status load_cited(struct gathering *g, struct clew_error *err)
{
    struct stretch *s = g->stretch;
    struct rows_list list = {
        .arena = g->arena, .size = sizeof(struct uuid), .fn = rows_id};
    struct uuid *efforts =
        arena_zero(g->arena, s->n_efforts + 1, sizeof(*efforts));
    enum clew_status status;

    if (!efforts) {
        return clew_no_memory(err);
    }
    if (s->n_efforts == 0) {
        return CLEW_OK;
    }
    for (size_t i = 0; i < s->n_efforts; i++) {
        efforts[i] = s->efforts[i].memory.id;
    }
    status =
        rows_add(g->tx, &list, &SELECT_CITED,
                 DB_ARGS(db_uuids(efforts, s->n_efforts), db_text(s->user_id),
                         db_int(s->from_ms), db_int(STRETCH_CITED_NOTES)),
                 err);
    return status == CLEW_OK ? add_notes(g, list.items, list.count,
                                         s->n_notes + STRETCH_CITED_NOTES, err)
                             : status;
}

/* Notes of whatever age that share rare words with these turns. */
static enum clew_status load_by_words(struct gathering *g,
                                      struct clew_error *err)
{
    struct stretch *s = g->stretch;
    struct observation o = {.arena = g->arena, .tx = g->tx};
    size_t most = s->n_notes + STRETCH_OLD_NOTES;
    enum clew_status status = CLEW_OK;
    struct analysis_options options = {.time_ms = 0};
    size_t n_words = 0;

    for (size_t t = 0; t < s->n_turns && status == CLEW_OK; t++) {
        struct analysis a;

        if (!s->turns[t].is_own || s->turns[t].turn.role != TURN_USER) {
            continue;
        }
        status = analysis_run(g->arena, s->turns[t].shown, &options, &a, err);
        for (size_t k = 0; status == CLEW_OK && k < a.n_keywords && k < 4 &&
                           n_words < RARE_WORDS;
             k++, n_words++) {
            struct uuid digest = keep_key_word(s->user_id, a.keywords[k].stem);
            struct uuid *ids = NULL;
            size_t count = 0;

            status = keep_key_find(&o, KEEP_KEY_WORD, &digest, NOTES_A_WORD,
                                   &ids, &count, err);
            if (status == CLEW_OK) {
                status = add_notes(g, ids, count, most, err);
            }
        }
    }
    return status;
}

/* The oldest first: the list tells how things came to be. */
static int by_time(const void *a, const void *b)
{
    const struct stretch_known *x = a;
    const struct stretch_known *y = b;

    if (x->memory.created_at_ms != y->memory.created_at_ms) {
        return x->memory.created_at_ms < y->memory.created_at_ms ? -1 : 1;
    }
    return strcmp(x->label, y->label);
}

static enum clew_status load_far(struct engine *engine, struct gathering *g,
                                 struct clew_error *err)
{
    struct stretch *s = g->stretch;
    size_t n_here = s->n_notes;
    struct stretch_nearest nearest;
    size_t most;
    enum clew_status status =
        stretch_near(engine, g->tx, g->arena, s, &nearest, err);

    if (status != CLEW_OK) {
        return status;
    }
    most = n_here + (nearest.count <= STRETCH_FEW_NOTES ? STRETCH_FEW_NOTES
                                                        : STRETCH_FAR_NOTES);
    status = load_cited(g, err);
    if (status == CLEW_OK && nearest.count == STRETCH_COMPARED) {
        status = load_by_words(g, err); /* some are older still */
    }
    if (status == CLEW_OK) {
        status = add_notes(g, nearest.ids, nearest.count, most, err);
    }
    qsort(s->notes + n_here, s->n_notes - n_here, sizeof(*s->notes), by_time);
    return status;
}

static enum clew_status load_notes(struct engine *engine, struct store_tx *tx,
                                   struct arena *arena, struct stretch *s,
                                   struct clew_error *err)
{
    struct gathering g = {.tx = tx, .arena = arena, .stretch = s};
    struct chat chat;
    enum clew_status status;

    /* one more: a note is read where it would lie */
    s->notes = arena_zero(arena, STRETCH_NOTES + STRETCH_FEW_NOTES + 1,
                          sizeof(*s->notes));
    if (!s->notes) {
        return clew_no_memory(err);
    }
    status = chat_find(tx, arena, &s->chat_id, &chat, err);
    if (status == CLEW_OK) {
        status = sight_is_parted(tx, &chat, &g.is_parted, err);
    }
    if (status == CLEW_OK && g.is_parted) {
        status = sight_open(tx, arena, &chat, &g.sight, err);
    }
    if (status == CLEW_OK) {
        status = load_here(&g, err);
    }
    return status == CLEW_OK ? load_far(engine, &g, err) : status;
}

enum clew_status stretch_load_known(struct engine *engine, struct store_tx *tx,
                                    struct arena *arena,
                                    struct stretch *stretch,
                                    struct clew_error *err)
{
    enum clew_status status = load_efforts(tx, arena, stretch, err);

    return status == CLEW_OK ? load_notes(engine, tx, arena, stretch, err)
                             : status;
}
