/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch.c - what a model is shown. See stretch.h.
 */
#include "engine/llmread/stretch.h"

#include "base/json.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/core/redact.h"
#include "engine/core/rows.h"
#include "engine/effort/effort.h"
#include "engine/keep/keep_key.h"
#include "engine/llmread/stretch_near.h"
#include "engine/memory/lineage.h"
#include "engine/read/reading.h"
#include "engine/understand/observation.h"
#include "store/db.h"
#include "text/analysis.h"

#include <stdio.h>
#include <string.h>

/* Rare words of a stretch that older notes are looked for by, and how many
 * notes one word finds. */
#define RARE_WORDS 24
#define NOTES_A_WORD 6
#define HASH_BYTES 3

DB_SQL(SELECT_UNREAD, "SELECT turn_id FROM unread WHERE tenant = $1"
                      " AND turn_id = ANY($2) AND given_up_at IS NULL");
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

/* --- turns -----------------------------------------------------------------
 */

/* Drop turns from the first on that the reader has not read. */
static enum clew_status cut_unread(struct store_tx *tx, struct arena *arena,
                                   const struct turn *turns, size_t *count,
                                   struct clew_error *err)
{
    struct uuid *ids = arena_zero(arena, *count + 1, sizeof(*ids));
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    const struct uuid *found;
    size_t n = *count;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        ids[i] = turns[i].id;
    }
    status =
        rows_add(tx, &list, &SELECT_UNREAD, DB_ARGS(db_uuids(ids, n)), err);
    found = list.items;
    for (size_t i = 0; i < list.count; i++) {
        for (size_t k = 0; k < n; k++) {
            n = uuid_eq(&found[i], &turns[k].id) ? k : n;
        }
    }
    *count = n;
    return status;
}

enum clew_status stretch_say(struct arena *arena, const struct turn *turn,
                             size_t max_bytes, struct stretch_turn *out,
                             struct clew_error *err)
{
    struct str text = turn->text;
    enum clew_status status;

    *out = (struct stretch_turn){.turn = *turn, .said = STR("")};
    if (turn->role != TURN_USER && turn->role != TURN_ASSISTANT) {
        return CLEW_OK;
    }
    status = redact_str(arena, &text, err);
    if (status == CLEW_OK) {
        status = reading_said(arena, text, &out->said, err);
    }
    out->shown = str_sub(out->said, 0, utf8_cut(out->said, max_bytes));
    return status;
}

static void label_turns(struct stretch *s)
{
    struct sha256 hash;
    char hex[SHA256_HEX_SIZE];

    sha256_init(&hash);
    for (size_t i = 0; i < s->n_turns; i++) {
        struct stretch_turn *t = &s->turns[i];
        char head[64];

        if (!t->is_own) {
            continue;
        }
        (void)snprintf(t->label, sizeof(t->label), "T%u", (unsigned)++s->n_own);
        (void)snprintf(head, sizeof(head), "%d %lld ", (int)t->turn.role,
                       (long long)t->turn.created_at_ms);
        sha256_add_str(&hash, str_of(head));
        sha256_add_str(&hash, t->turn.name.s ? t->turn.name : STR(""));
        sha256_add(&hash, "", 1);
        sha256_add_str(&hash, t->said);
        sha256_add(&hash, "", 1);
    }
    sha256_get_hex(&hash, hex);
    memcpy(s->digest, hex, STRETCH_DIGEST - 1);
    s->digest[STRETCH_DIGEST - 1] = '\0';
}

/* Take the turns that are read now, and those before them. */
static enum clew_status take_turns(struct arena *arena,
                                   const struct turn *turns, size_t count,
                                   int64_t after_seq, struct stretch *s,
                                   struct clew_error *err)
{
    size_t bytes = 0;
    size_t n_own = 0;
    enum clew_status status = CLEW_OK;

    s->turns = arena_zero(arena, count + 1, sizeof(*s->turns));
    if (!s->turns) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct stretch_turn *t = &s->turns[s->n_turns];

        status = stretch_say(arena, &turns[i], STRETCH_TURN_BYTES, t, err);
        t->is_own =
            turns[i].seq > after_seq && uuid_eq(&turns[i].chat_id, &s->chat_id);
        if (t->is_own && n_own > 0 &&
            (n_own == STRETCH_TURNS || bytes + t->shown.len > STRETCH_BYTES)) {
            s->is_full = true;
            break;
        }
        if (t->is_own) {
            s->from_ms = s->from_seq ? s->from_ms : turns[i].created_at_ms;
            s->until_ms = turns[i].created_at_ms;
            s->from_seq = s->from_seq ? s->from_seq : turns[i].seq;
            s->through_seq = turns[i].seq;
            s->user_id = turns[i].user_id;
        }
        if (t->shown.len > 0) {
            bytes += t->is_own ? t->shown.len : 0;
            n_own += t->is_own;
            s->n_turns++;
        }
    }
    label_turns(s);
    return status;
}

static enum clew_status load_turns(struct engine *engine, struct store_tx *tx,
                                   struct arena *arena, int64_t after_seq,
                                   int64_t through_seq, struct stretch *s,
                                   struct clew_error *err)
{
    int64_t from = after_seq > STRETCH_BEFORE ? after_seq - STRETCH_BEFORE : 0;
    /* tool output between what was said is passed over */
    int64_t limit = STRETCH_BEFORE + 4 * STRETCH_TURNS;
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status = turn_list_line(tx, arena, &s->chat_id, from,
                                             limit, &turns, &count, err);

    if (status == CLEW_OK && !engine->replay) {
        status = cut_unread(tx, arena, turns, &count, err);
    }
    for (size_t i = 0; i < count; i++) {
        s->last_stored_ms = turns[i].stored_at_ms;
        if (through_seq > 0 && turns[i].seq > through_seq) {
            count = i;
        }
    }
    return status == CLEW_OK
               ? take_turns(arena, turns, count, after_seq, s, err)
               : status;
}

/* --- what is known ---------------------------------------------------------
 */

/* What a note says in its own words: what clew wrote beside them (days, whom
 * they are about) may be written otherwise one day. */
static struct str own_words(struct arena *arena, const struct memory *memory)
{
    json_t *fields = NULL;
    struct str out = memory->summary;

    if (memory->fields.s &&
        json_parse(memory->fields, &fields, NULL) == CLEW_OK) {
        const json_t *said = json_object_get(fields, "statement");

        if (json_string_length(said) > 0) {
            out = arena_str(arena, (struct str){json_string_value(said),
                                                json_string_length(said)});
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
        status = effort_list_user(tx, arena, s->user_id, &items, &count, err);
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

static enum clew_status add_note(struct store_tx *tx, struct arena *arena,
                                 const struct uuid *id, bool is_here,
                                 struct stretch *s, struct clew_error *err)
{
    struct stretch_known *out = &s->notes[s->n_notes];
    bool was_replaced = false;
    enum clew_status status;

    for (size_t i = 0; i < s->n_notes; i++) {
        if (uuid_eq(&s->notes[i].memory.id, id)) {
            return CLEW_OK;
        }
    }
    /* what only a guess of these turns replaced the model may judge itself */
    status = lineage_was_replaced(tx, id, s->from_ms - 1, &was_replaced, err);
    if (status != CLEW_OK || was_replaced) {
        return status;
    }
    status = memory_find(tx, arena, id, &out->memory, err);
    if (status == CLEW_OK && (!str_eq(out->memory.user_id, s->user_id) ||
                              out->memory.created_at_ms > s->until_ms)) {
        return CLEW_OK;
    }
    out->is_here = is_here;
    if (status == CLEW_OK) {
        status = label(arena, 'N', &out->memory, out->label, err);
    }
    out->n_aliases = 0;
    if (status == CLEW_OK && str_eq(out->memory.origin, STR("llm"))) {
        status = load_aliases(tx, arena, out, err);
    }
    s->n_notes += status == CLEW_OK;
    return status;
}

/* Notes of other turns that share rare words with these. */
static enum clew_status load_far_notes(struct store_tx *tx, struct arena *arena,
                                       struct stretch *s,
                                       struct clew_error *err)
{
    struct observation o = {.arena = arena, .tx = tx};
    size_t most = s->n_notes + STRETCH_FAR_NOTES;
    enum clew_status status = CLEW_OK;
    struct analysis_options options = {.time_ms = 0};
    size_t n_words = 0;

    for (size_t t = 0; t < s->n_turns && status == CLEW_OK; t++) {
        struct analysis a;

        if (!s->turns[t].is_own || s->turns[t].turn.role != TURN_USER) {
            continue;
        }
        status = analysis_run(arena, s->turns[t].shown, &options, &a, err);
        for (size_t k = 0; status == CLEW_OK && k < a.n_keywords && k < 4 &&
                           n_words < RARE_WORDS;
             k++, n_words++) {
            struct uuid digest = keep_key_word(s->user_id, a.keywords[k].stem);
            struct uuid *ids = NULL;
            size_t count = 0;

            status = keep_key_find(&o, KEEP_KEY_WORD, &digest, NOTES_A_WORD,
                                   &ids, &count, err);
            for (size_t i = 0;
                 i < count && status == CLEW_OK && s->n_notes < most; i++) {
                status = add_note(tx, arena, &ids[i], false, s, err);
            }
        }
    }
    return status;
}

/* … and ones that mean what is spoken of here. */
static enum clew_status load_near_notes(struct engine *engine,
                                        struct store_tx *tx,
                                        struct arena *arena, struct stretch *s,
                                        struct clew_error *err)
{
    size_t most = s->n_notes + STRETCH_NEAR_NOTES;
    const struct uuid *ids = NULL;
    size_t count = 0;
    enum clew_status status =
        stretch_near(engine, tx, arena, s, &ids, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK && s->n_notes < most;
         i++) {
        status = add_note(tx, arena, &ids[i], false, s, err);
    }
    return status;
}

static enum clew_status load_notes(struct engine *engine, struct store_tx *tx,
                                   struct arena *arena, struct stretch *s,
                                   struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct uuid), .fn = rows_id};
    const struct uuid *ids;
    enum clew_status status;

    s->notes = arena_zero(
        arena, STRETCH_NOTES + STRETCH_FAR_NOTES + STRETCH_NEAR_NOTES + 1,
        sizeof(*s->notes));
    if (!s->notes) {
        return clew_no_memory(err);
    }
    status = rows_add(tx, &list, &SELECT_NOTES,
                      DB_ARGS(db_uuid(&s->chat_id), db_int(s->from_seq),
                              db_int(s->through_seq), db_text(s->user_id),
                              db_int(STRETCH_NOTES)),
                      err);
    ids = list.items;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        status = add_note(tx, arena, &ids[i], true, s, err);
    }
    if (status == CLEW_OK) {
        status = load_far_notes(tx, arena, s, err);
    }
    return status == CLEW_OK ? load_near_notes(engine, tx, arena, s, err)
                             : status;
}

/* --- the whole -------------------------------------------------------------
 */

enum clew_status stretch_load(struct engine *engine, struct store_tx *tx,
                              struct arena *arena, const struct uuid *chat_id,
                              int64_t after_seq, int64_t through_seq,
                              struct stretch *out, struct clew_error *err)
{
    enum clew_status status;

    *out = (struct stretch){.chat_id = *chat_id};
    status = load_turns(engine, tx, arena, after_seq, through_seq, out, err);
    if (status != CLEW_OK || out->n_own == 0) {
        return status;
    }
    status = load_efforts(tx, arena, out, err);
    return status == CLEW_OK ? load_notes(engine, tx, arena, out, err) : status;
}

static bool has_alias(const struct stretch_known *known, struct str label)
{
    for (size_t i = 0; i < known->n_aliases; i++) {
        if (str_eq(str_of(known->aliases[i]), label)) {
            return true;
        }
    }
    return false;
}

const struct stretch_known *stretch_find(const struct stretch_known *list,
                                         size_t count, struct str label)
{
    const struct stretch_known *found = NULL;
    const struct stretch_known *other = NULL;
    size_t n_found = 0;
    size_t n_other = 0;

    for (size_t i = 0; i < count; i++) {
        if (str_eq(str_of(list[i].label), label)) {
            found = &list[i];
            n_found++;
        } else if (has_alias(&list[i], label)) {
            other = &list[i];
            n_other++;
        }
    }
    if (n_found + n_other == 0 || n_found > 1 ||
        (n_found == 0 && n_other > 1)) {
        return NULL; /* there is none, or nobody knows which */
    }
    return n_found == 1 ? found : other;
}

const struct stretch_chat *stretch_chat_of(const struct stretch *stretch,
                                           struct str label)
{
    const struct stretch_chat *found = NULL;

    for (size_t i = 0; i < stretch->n_chats; i++) {
        if (str_eq(str_of(stretch->chats[i].label), label)) {
            if (found) {
                return NULL; /* nobody knows which */
            }
            found = &stretch->chats[i];
        }
    }
    return found;
}

const struct stretch_turn *stretch_turn_of(const struct stretch *stretch,
                                           struct str label)
{
    for (size_t i = 0; i < stretch->n_turns; i++) {
        if (stretch->turns[i].is_own &&
            str_eq(str_of(stretch->turns[i].label), label)) {
            return &stretch->turns[i];
        }
    }
    return NULL;
}
