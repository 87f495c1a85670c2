/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget_effort.c - what is left of an effort. See forget_effort.h.
 */
#include "engine/proof/forget_effort.h"

#include "base/buf.h"
#include "base/json.h"
#include "engine/core/engine.h"
#include "engine/core/rows.h"
#include "engine/core/work.h"
#include "engine/effort/effort.h"
#include "engine/memory/memory.h"
#include "store/db.h"

#include <string.h>

#define FIELDS_BYTES ((size_t)4 << 20)
#define FORGOTTEN(chat, seq)                                                   \
    "EXISTS (SELECT 1 FROM forget_set g WHERE g.tenant = $1"                   \
    " AND g.kind = 'turn' AND g.chat_id = " chat " AND g.seq = " seq ")"

DB_SQL(SELECT_LOSING,
       "SELECT m.id FROM forget_set f CROSS JOIN memories m WHERE f.tenant = $1"
       " AND f.kind = 'memory' AND m.tenant = $1 AND m.id = f.id"
       " AND m.type = 'effort' AND m.origin = 'extracted' AND m.tags = ''"
       " ORDER BY m.id");
DB_SQL(SELECT_OWN, "SELECT t.text FROM memory_refs r CROSS JOIN turns t"
                   " WHERE r.tenant = $1 AND r.memory_id = $2 AND t.tenant = $1"
                   " AND t.chat_id = r.chat_id AND t.seq BETWEEN r.first_seq"
                   " AND r.last_seq AND NOT " FORGOTTEN(
                       "t.chat_id", "t.seq") " ORDER BY t.created_at, t.seq");
DB_SQL(SPARE, "DELETE FROM forget_set WHERE tenant = $1 AND kind = 'memory'"
              " AND id = $2");
DB_SQL(SELECT_TEXT, "SELECT t.text FROM turns t WHERE t.tenant = $1"
                    " AND t.chat_id = $2 AND t.seq = $3"
                    " AND NOT " FORGOTTEN("t.chat_id", "t.seq"));
/* A range that loses a turn becomes a line for each that stays; its own line is
 * the first of them, if that stays. */
#define LOSES(refs)                                                            \
    "EXISTS (SELECT 1 FROM forget_set f WHERE f.tenant = $1"                   \
    " AND f.kind = 'turn' AND f.chat_id = " refs ".chat_id"                    \
    " AND f.seq BETWEEN " refs ".first_seq AND " refs ".last_seq)"
#define OWN_LINE                                                               \
    " ON CONFLICT (tenant, memory_id, chat_id, first_seq) DO UPDATE"           \
    " SET last_seq = excluded.last_seq WHERE " LOSES("memory_refs")
DB_SQL(SPLIT_REFS,
       "INSERT INTO memory_refs (tenant, memory_id, chat_id, first_seq,"
       " last_seq) SELECT DISTINCT r.tenant, r.memory_id, t.chat_id, t.seq,"
       " t.seq FROM memory_refs r CROSS JOIN turns t WHERE r.tenant = $1"
       " AND r.memory_id = $2 AND t.tenant = $1 AND t.chat_id = r.chat_id"
       " AND t.seq BETWEEN r.first_seq AND r.last_seq"
       " AND NOT " FORGOTTEN("t.chat_id", "t.seq") " AND " LOSES("r") OWN_LINE);
DB_SQL(DROP_REFS, "DELETE FROM memory_refs WHERE tenant = $1"
                  " AND memory_id = $2 AND " LOSES("memory_refs"));
/* It is at work where it was, or where else it has turns. */
DB_SQL(SELECT_PLACE,
       "SELECT chat_id, MIN(first_seq), MAX(last_seq) FROM memory_refs"
       " WHERE tenant = $1 AND memory_id = $2 GROUP BY chat_id"
       " ORDER BY CASE WHEN chat_id = $3 THEN 0 ELSE 1 END, chat_id LIMIT 1");
DB_SQL(SET_PLACE, "UPDATE efforts SET thread_id = $3, first_seq = $4,"
                  " last_seq = $5 WHERE tenant = $1 AND memory_id = $2");

/* --- whose words they are --- */

static bool read_text(struct arena *arena, const struct db_rows *rows,
                      void *out)
{
    return rows_text(arena, rows, 0, out);
}

/* Are these words of the turn at this place, and does it stay? */
static enum clew_status says(struct forget_work *work, struct store_tx *tx,
                             const struct uuid *chat_id, int64_t seq,
                             struct str words, bool *out,
                             struct clew_error *err)
{
    struct str text = {NULL, 0};
    enum clew_status status = rows_one(
        tx, work->arena, &SELECT_TEXT, DB_ARGS(db_uuid(chat_id), db_int(seq)),
        read_text, &text, sizeof(text), "turn", NULL);

    *out = status == CLEW_OK && str_ifind(text, words, 0) != SIZE_MAX;
    return status == CLEW_OK || status == CLEW_NOT_FOUND
               ? CLEW_OK
               : clew_fail(err, status, "could not read a turn");
}

/* Is it called by words of a turn that stays? */
static enum clew_status is_called_by_rest(struct forget_work *work,
                                          struct store_tx *tx,
                                          const struct uuid *id, bool *out,
                                          struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct str), .fn = read_text};
    struct memory memory;
    enum clew_status status = memory_find(tx, work->arena, id, &memory, err);

    if (status == CLEW_OK) {
        status = rows_add(tx, &list, &SELECT_OWN, DB_ARGS(db_uuid(id)), err);
    }
    *out = false;
    for (size_t i = 0; i < list.count && status == CLEW_OK && !*out; i++) {
        *out = str_ifind(((const struct str *)list.items)[i], memory.summary,
                         0) != SIZE_MAX;
    }
    return status;
}

enum clew_status forget_effort_spare(struct forget_work *work,
                                     struct store_tx *tx,
                                     struct clew_error *err)
{
    struct rows_list list = {
        .arena = work->arena, .size = sizeof(struct uuid), .fn = rows_id};
    enum clew_status status =
        rows_add(tx, &list, &SELECT_LOSING, DB_NO_ARGS, err);

    work->spared = list.items;
    work->n_spared = 0;
    for (size_t i = 0; i < list.count && status == CLEW_OK; i++) {
        struct uuid id = ((const struct uuid *)list.items)[i];
        bool stays = false;

        status = is_called_by_rest(work, tx, &id, &stays, err);
        if (status == CLEW_OK && stays) {
            work->spared[work->n_spared++] = id;
            status = db_exec(tx, &SPARE, DB_ARGS(db_uuid(&id)), err);
        }
    }
    return status;
}

/* --- taking out --- */

/* Keep a change that stands at a turn that stays, with its words only if they
 * are that turn's or a person's. */
static enum clew_status keep_change(struct forget_work *work,
                                    struct store_tx *tx, json_t *entry,
                                    bool *out_stays, struct clew_error *err)
{
    struct uuid chat_id = {{0}};
    struct str words = STR("");
    int64_t seq = json_integer_value(json_object_get(entry, "seq"));
    bool is_own = false;
    enum clew_status status;

    *out_stays = true;
    if (json_is_true(json_object_get(entry, "by_hand"))) {
        return CLEW_OK;
    }
    if (json_get_uuid(entry, "chat_id", JSON_REQUIRED, &chat_id, NULL) !=
            CLEW_OK ||
        json_get_str(entry, "resolution", JSON_OPTIONAL, SIZE_MAX, &words,
                     NULL) != CLEW_OK) {
        *out_stays = false;
        return CLEW_OK;
    }
    status = says(work, tx, &chat_id, seq, STR(""), out_stays, err);
    if (status == CLEW_OK && *out_stays && words.len > 0) {
        status = says(work, tx, &chat_id, seq, words, &is_own, err);
        if (!is_own) {
            (void)json_object_del(entry, "resolution"); /* it is there */
        }
    }
    return status;
}

/* The changes that stay; a new reference. NULL: no memory. */
static enum clew_status keep_changes(struct forget_work *work,
                                     struct store_tx *tx, const json_t *fields,
                                     json_t **out_list, struct clew_error *err)
{
    json_t *list = json_deep_copy(json_object_get(fields, "changes"));
    enum clew_status status = CLEW_OK;
    size_t i = 0;

    if (!json_is_array(list)) {
        json_decref(list);
        list = json_array();
    }
    while (status == CLEW_OK && i < json_array_size(list)) {
        bool stays = false;

        status = keep_change(work, tx, json_array_get(list, i), &stays, err);
        if (stays) {
            i++;
        } else {
            (void)json_array_remove(list, i); /* it is there */
        }
    }
    *out_list = list;
    return !list ? clew_no_memory(err) : status;
}

/* As the last change left it. */
static bool set_standing(struct arena *arena, const json_t *list,
                         struct memory *memory)
{
    const json_t *last =
        json_array_get(list, json_array_size(list) - 1); /* NULL if none */
    const char *status = json_string_value(json_object_get(last, "status"));
    const json_t *words = json_object_get(last, "resolution");

    memory->status = arena_str(arena, str_of(status ? status : "open"));
    memory->resolution =
        words ? arena_str(arena, json_text(words)) : (struct str){NULL, 0};
    return memory->status.s && (!words || memory->resolution.s);
}

/* As it was, if it was there. */
static bool keep_field(json_t *kept, const json_t *fields, const char *name)
{
    json_t *value = json_object_get(fields, name);

    return !value || json_object_set(kept, name, value) == 0;
}

/* Only what is known to be of turns that stay. */
static bool set_fields(struct arena *arena, const json_t *fields, json_t *list,
                       struct memory *memory)
{
    json_t *kept = json_object();
    struct buf text;
    bool is_ok = kept && json_set_str(kept, "goal", memory->summary) &&
                 keep_field(kept, fields, "confidence") &&
                 json_object_set(kept, "changes", list) == 0;

    if (is_ok && !str_eq(memory->status, STR("open"))) {
        is_ok = keep_field(kept, fields, "resolution_confidence");
    }
    buf_init(&text, FIELDS_BYTES);
    is_ok = is_ok && json_write(&text, kept) == CLEW_OK;
    memory->fields =
        is_ok ? arena_str(arena, buf_str(&text)) : (struct str){NULL, 0};
    buf_release(&text);
    json_decref(kept);
    return memory->fields.s != NULL;
}

static enum clew_status write_back(struct forget_work *work,
                                   struct store_tx *tx, struct memory *memory,
                                   struct effort *effort,
                                   struct clew_error *err)
{
    struct batch_work batch = {.engine = work->engine,
                               .tx = tx,
                               .arena = work->arena,
                               .is_unread = true};
    enum clew_status status;

    memory->updated_at_ms = work->now_ms > memory->updated_at_ms
                                ? work->now_ms
                                : memory->updated_at_ms + 1;
    status = memory_update(&batch, memory, err);
    effort->is_open = str_eq(memory->status, STR("open"));
    effort->state = effort->is_open ? EFFORT_ACTIVE : EFFORT_COLLAPSED;
    if (effort->is_open) {
        effort->outcome = (struct str){NULL, 0};
    }
    return status == CLEW_OK ? effort_update(tx, effort, err) : status;
}

static bool read_place(struct arena *arena, const struct db_rows *rows,
                       void *out)
{
    struct memory_ref *place = out;

    (void)arena;
    place->chat_id = db_get_uuid(rows, 0);
    place->first_seq = db_get_int(rows, 1);
    place->last_seq = db_get_int(rows, 2);
    return true;
}

static enum clew_status trim_refs(struct forget_work *work, struct store_tx *tx,
                                  const struct effort *effort,
                                  struct clew_error *err)
{
    struct db_value id = db_uuid(&effort->memory_id);
    struct memory_ref place;
    enum clew_status status = db_exec(tx, &SPLIT_REFS, DB_ARGS(id), err);

    if (status == CLEW_OK) {
        status = db_exec(tx, &DROP_REFS, DB_ARGS(id), err);
    }
    if (status == CLEW_OK) {
        status = rows_one(tx, work->arena, &SELECT_PLACE,
                          DB_ARGS(id, db_uuid(&effort->thread_id)), read_place,
                          &place, sizeof(place), "turn of the effort", err);
    }
    return status == CLEW_OK ? db_exec(tx, &SET_PLACE,
                                       DB_ARGS(id, db_uuid(&place.chat_id),
                                               db_int(place.first_seq),
                                               db_int(place.last_seq)),
                                       err)
                             : status;
}

static enum clew_status trim(struct forget_work *work, struct store_tx *tx,
                             const struct uuid *id, struct clew_error *err)
{
    struct memory memory;
    struct effort effort;
    json_t *fields = NULL;
    json_t *list = NULL;
    enum clew_status status = memory_find(tx, work->arena, id, &memory, err);

    if (status == CLEW_OK) {
        status = effort_find(tx, work->arena, id, &effort, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (memory.fields.s) {
        clew_ignore(json_parse(memory.fields, &fields, NULL)); /* or none */
    }
    status = keep_changes(work, tx, fields, &list, err);
    if (status == CLEW_OK &&
        (!set_standing(work->arena, list, &memory) ||
         !set_fields(work->arena, fields, list, &memory))) {
        status = clew_no_memory(err);
    }
    json_decref(list);
    json_decref(fields);
    if (status == CLEW_OK) {
        status = write_back(work, tx, &memory, &effort, err);
    }
    return status == CLEW_OK ? trim_refs(work, tx, &effort, err) : status;
}

enum clew_status forget_effort_trim(struct forget_work *work,
                                    struct store_tx *tx, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->n_spared && status == CLEW_OK; i++) {
        status = trim(work, tx, &work->spared[i], err);
    }
    return status;
}
