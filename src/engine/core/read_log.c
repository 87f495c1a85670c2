/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_log.c - rows of the readings table. See read_log.h.
 *
 * A reading is a letter for its place within the stretch and two numbers: from
 * the turn's change number to the place, and from when the turn was stored to
 * when it was read. A number is letters of five bits, low ones first, the last
 * below 32, its sign in the lowest bit. They are text, not bytes: text is what
 * one statement appends on both databases.
 */
#include "engine/core/read_log.h"

#include "base/buf.h"
#include "base/json.h"
#include "engine/core/action.h"
#include "engine/core/rows.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

/* Places of the log in a stretch: what one letter tells apart. */
#define PLACE_BITS 6
#define PLACES ((int64_t)1 << PLACE_BITS)
#define MORE 32u
#define NUMBER_LETTERS 13 /* of 64 bits */
#define ENTRY_LETTERS (1 + 2 * NUMBER_LETTERS)
/* Stretches that are read at once. */
#define STRETCHES 32

static const char letters[] =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

DB_SQL(APPEND, "INSERT INTO readings (tenant, stretch, reader, entries)"
               " VALUES ($1, $2, $3, $4) ON CONFLICT (tenant, stretch, reader)"
               " DO UPDATE SET entries = readings.entries || excluded.entries");
DB_SQL(SELECT_ONE, "SELECT entries FROM readings WHERE tenant = $1"
                   " AND stretch = $2 AND reader = $3");
DB_SQL(SELECT_AFTER, "SELECT stretch, reader, entries FROM readings WHERE"
                     " tenant = $1 AND (stretch, reader) > ($2, $3)"
                     " ORDER BY stretch, reader LIMIT $4");
DB_SQL(SELECT_BY_CHANGE, "SELECT id, change_seq, stored_at FROM turns WHERE"
                         " tenant = $1 AND change_seq = ANY($2)");
DB_SQL(SELECT_BY_ID, "SELECT id, change_seq, stored_at FROM turns WHERE"
                     " tenant = $1 AND id = ANY($2)");

/* --- letters ---------------------------------------------------------------
 */

static int value_of(char letter)
{
    const char *at = letter ? strchr(letters, letter) : NULL;

    return at ? (int)(at - letters) : -1;
}

/* `to - from` may be any difference: it wraps, and so does its way back. */
static size_t put_number(char *out, int64_t from, int64_t to)
{
    int64_t difference = (int64_t)((uint64_t)to - (uint64_t)from);
    uint64_t left = ((uint64_t)difference << 1) ^
                    (difference < 0 ? UINT64_MAX : (uint64_t)0);
    size_t n = 0;

    do {
        out[n++] = letters[(left & 31u) | (left > 31 ? MORE : 0)];
        left >>= 5;
    } while (left > 0);
    return n;
}

/* False if there is none. */
static bool take_number(struct str *text, uint64_t *out)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text->len && i < NUMBER_LETTERS; i++) {
        int value = value_of(text->s[i]);

        if (value < 0) {
            return false;
        }
        number |= ((uint64_t)value & 31u) << (5 * i);
        if (!((unsigned)value & MORE)) {
            *out = (number >> 1) ^ (number & 1 ? UINT64_MAX : 0);
            *text = str_sub(*text, i + 1, text->len);
            return true;
        }
    }
    return false;
}

/* One reading as its letters say it. */
struct entry {
    int64_t seq;
    int64_t change;   /* of the turn */
    uint64_t late_ms; /* after it was stored */
    struct str reader;
};

static size_t put_entry(char out[ENTRY_LETTERS], int64_t seq, int64_t change,
                        int64_t stored_at_ms, int64_t at_ms)
{
    size_t n = 1;

    out[0] = letters[seq & (PLACES - 1)];
    n += put_number(out + n, change, seq);
    n += put_number(out + n, stored_at_ms, at_ms);
    return n;
}

/* The next one; false at the end, or where letters make no sense. */
static bool take_entry(int64_t stretch, struct str *text, struct entry *out)
{
    int place = text->len > 0 ? value_of(text->s[0]) : -1;
    uint64_t back = 0;

    if (place < 0) {
        return false;
    }
    *text = str_sub(*text, 1, text->len);
    out->seq = stretch * PLACES + place;
    if (!take_number(text, &back) || !take_number(text, &out->late_ms)) {
        return false;
    }
    out->change = (int64_t)((uint64_t)out->seq - back);
    return true;
}

enum clew_status read_log_add(struct store_tx *tx, int64_t turn_change,
                              int64_t stored_at_ms, const char *reader,
                              int64_t at_ms, struct clew_error *err)
{
    char text[ENTRY_LETTERS];
    int64_t seq = 0;
    size_t len;
    enum clew_status status = db_take_changes(tx, 1, &seq, err);

    if (status != CLEW_OK) {
        return status;
    }
    len = put_entry(text, seq, turn_change, stored_at_ms, at_ms);
    return db_exec(tx, &APPEND,
                   DB_ARGS(db_int(seq / PLACES), db_cstr(reader),
                           db_text((struct str){text, len})),
                   err);
}

/* --- turns -----------------------------------------------------------------
 */

/* What is asked of a turn. */
struct place {
    struct uuid id;
    int64_t change;
    int64_t stored_at_ms;
};

static bool place_of(struct arena *arena, const struct db_rows *rows,
                     void *item)
{
    struct place *out = item;

    (void)arena; /* nothing to copy */
    out->id = db_get_uuid(rows, 0);
    out->change = db_get_int(rows, 1);
    out->stored_at_ms = db_get_int(rows, 2);
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct place *left = a;
    const struct place *right = b;

    return uuid_cmp(&left->id, &right->id);
}

static int by_change(const void *a, const void *b)
{
    const struct place *left = a;
    const struct place *right = b;

    return left->change < right->change ? -1 : left->change > right->change;
}

static enum clew_status
find_places(struct store_tx *tx, struct arena *arena, const struct db_sql *sql,
            struct db_value which, int (*order)(const void *, const void *),
            struct place **out, size_t *out_count, struct clew_error *err)
{
    struct rows_list list = {
        .arena = arena, .size = sizeof(struct place), .fn = place_of};
    enum clew_status status =
        rows_all(tx, &list, sql, DB_ARGS(which), out, out_count, err);

    if (status == CLEW_OK && *out_count > 1) {
        qsort(*out, *out_count, sizeof(**out), order);
    }
    return status;
}

/* --- from elsewhere --------------------------------------------------------
 */

/* One stretch that grows. */
struct growing {
    int64_t stretch;
    struct str reader;
    struct buf text;  /* all of it */
    size_t was_bytes; /* that were there */
};

static enum clew_status load(struct store_tx *tx, struct growing *g,
                             const struct read_log_item *item,
                             struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status;

    g->stretch = item->seq / PLACES;
    g->reader = item->reader;
    buf_clear(&g->text);
    status =
        db_query(tx, &SELECT_ONE,
                 DB_ARGS(db_int(g->stretch), db_text(g->reader)), &rows, err);
    if (status == CLEW_OK && db_next(&rows)) {
        struct str text = db_get_text(&rows, 0);

        (void)buf_append(&g->text, text.s, text.len); /* buf_status() looks */
    }
    g->was_bytes = g->text.len;
    if (status == CLEW_OK) {
        status = db_end(&rows, err);
    }
    return status == CLEW_OK && buf_status(&g->text) != CLEW_OK
               ? clew_no_memory(err)
               : status;
}

static enum clew_status save(struct store_tx *tx, struct growing *g,
                             struct clew_error *err)
{
    struct str fresh = str_sub(buf_str(&g->text), g->was_bytes, g->text.len);

    if (buf_status(&g->text) != CLEW_OK) {
        return clew_no_memory(err);
    }
    g->was_bytes = g->text.len;
    return fresh.len > 0 ? db_exec(tx, &APPEND,
                                   DB_ARGS(db_int(g->stretch),
                                           db_text(g->reader), db_text(fresh)),
                                   err)
                         : CLEW_OK;
}

/* Add one reading to its stretch unless it is in it, or the stretch is full. */
static void put(struct growing *g, struct read_log_item *item,
                const struct place *turn)
{
    struct str left = buf_str(&g->text);
    struct entry entry;
    char text[ENTRY_LETTERS];

    while (take_entry(g->stretch, &left, &entry)) {
        if (entry.seq == item->seq && entry.change == turn->change) {
            item->is_kept = true;
            return;
        }
    }
    if (g->text.len <= READ_LOG_MAX_BYTES - ENTRY_LETTERS) {
        size_t len = put_entry(text, item->seq, turn->change,
                               turn->stored_at_ms, item->at_ms);

        (void)buf_append(&g->text, text, len); /* save() looks */
        item->is_kept = true;
        item->is_added = true;
    }
}

static enum clew_status put_all(struct store_tx *tx, struct growing *g,
                                struct read_log_item *items, size_t count,
                                const struct place *turns, size_t n_turns,
                                struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        struct place wanted = {.id = items[i].turn_id};
        const struct place *turn =
            n_turns > 0
                ? bsearch(&wanted, turns, n_turns, sizeof(wanted), by_id)
                : NULL;

        if (!turn || items[i].seq < 0) {
            continue;
        }
        if (g->stretch != items[i].seq / PLACES ||
            !str_eq(g->reader, items[i].reader)) {
            status = save(tx, g, err);
            if (status == CLEW_OK) {
                status = load(tx, g, &items[i], err);
            }
        }
        if (status == CLEW_OK) {
            put(g, &items[i], turn);
        }
    }
    return status == CLEW_OK ? save(tx, g, err) : status;
}

enum clew_status read_log_put(struct store_tx *tx, struct arena *arena,
                              struct read_log_item *items, size_t count,
                              struct clew_error *err)
{
    struct growing g = {.stretch = -1};
    struct uuid *ids = arena_zero(arena, count + 1, sizeof(*ids));
    struct place *turns = NULL;
    size_t n_turns = 0;
    enum clew_status status;

    if (!ids) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = items[i].turn_id;
        items[i].is_kept = false;
        items[i].is_added = false;
    }
    status = find_places(tx, arena, &SELECT_BY_ID, db_uuids(ids, count), by_id,
                         &turns, &n_turns, err);
    buf_init(&g.text, 2 * (size_t)READ_LOG_MAX_BYTES);
    if (status == CLEW_OK) {
        status = put_all(tx, &g, items, count, turns, n_turns, err);
    }
    buf_release(&g.text);
    return status;
}

/* --- listing ---------------------------------------------------------------
 */

struct stretch {
    int64_t number;
    struct str reader;
    struct str entries;
};

static bool stretch_of(struct arena *arena, const struct db_rows *rows,
                       void *item)
{
    struct stretch *out = item;

    out->number = db_get_int(rows, 0);
    return rows_text(arena, rows, 1, &out->reader) &&
           rows_text(arena, rows, 2, &out->entries);
}

struct listing {
    struct arena *arena;
    int64_t after_seq;
    struct uuid after_id;
    struct action *actions;
    size_t count;
    size_t cap;
};

static bool is_after(const struct listing *l, const struct action *action)
{
    return action->seq > l->after_seq ||
           (action->seq == l->after_seq &&
            uuid_cmp(&action->id, &l->after_id) > 0);
}

static bool detail_of(struct arena *arena, struct str reader, struct str *out)
{
    json_t *detail = json_object();
    struct buf text;
    bool is_ok = detail && json_set_str(detail, "by", reader);

    buf_init(&text, READ_LOG_MAX_BYTES);
    is_ok = is_ok && json_write(&text, detail) == CLEW_OK;
    if (is_ok) {
        *out = arena_str(arena, buf_str(&text));
        is_ok = out->s != NULL;
    }
    buf_release(&text);
    json_decref(detail);
    return is_ok;
}

bool read_log_reader(struct arena *arena, struct str detail,
                     struct str *out_reader)
{
    struct str reader = {NULL, 0};
    struct str again = {NULL, 0};
    json_t *json = NULL;
    bool is_ok =
        json_parse(detail, &json, NULL) == CLEW_OK &&
        json_get_str(json, "by", JSON_REQUIRED, READ_LOG_MAX_BYTES / 16,
                     &reader, NULL) == CLEW_OK;

    if (is_ok) {
        *out_reader = arena_str(arena, reader);
        is_ok = out_reader->s && detail_of(arena, *out_reader, &again) &&
                str_eq(again, detail);
    }
    json_decref(json);
    return is_ok;
}

/* The readings of a stretch that were found, as actions. */
static bool add_action(struct listing *l, const struct entry *entry,
                       const struct place *turn, struct str detail)
{
    struct action *grown =
        arena_grow(l->arena, l->actions, l->count, &l->cap, sizeof(*grown));
    struct action *action;

    if (!grown) {
        return false;
    }
    l->actions = grown;
    action = &grown[l->count];
    *action = (struct action){.seq = entry->seq,
                              .kind = STR(ACTION_READ),
                              .subject = turn->id,
                              .detail = detail};
    action->at_ms = (int64_t)((uint64_t)turn->stored_at_ms + entry->late_ms);
    action->id = uuid_derive(action->at_ms, &turn->id, "reading", 0);
    l->count += is_after(l, action) ? 1 : 0;
    return true;
}

static bool add_actions(struct listing *l, const struct entry *entries,
                        size_t count, const struct place *turns, size_t n_turns)
{
    struct str reader = {NULL, 0};
    struct str detail = {NULL, 0};

    for (size_t i = 0; i < count; i++) {
        struct place wanted = {.change = entries[i].change};
        const struct place *turn =
            n_turns > 0
                ? bsearch(&wanted, turns, n_turns, sizeof(wanted), by_change)
                : NULL;

        if (!turn) {
            continue; /* it was forgotten */
        }
        if (!reader.s || !str_eq(reader, entries[i].reader)) {
            reader = entries[i].reader;
            if (!detail_of(l->arena, reader, &detail)) {
                return false;
            }
        }
        if (!add_action(l, &entries[i], turn, detail)) {
            return false;
        }
    }
    return true;
}

/* Take the readings of some stretches apart. */
static enum clew_status add_stretches(struct store_tx *tx, struct listing *l,
                                      const struct stretch *rows, size_t count,
                                      struct clew_error *err)
{
    struct place *turns = NULL;
    size_t n_turns = 0;
    size_t n = 0;
    size_t most = 0;
    struct entry *entries;
    int64_t *changes;
    enum clew_status status;

    for (size_t i = 0; i < count; i++) {
        most += rows[i].entries.len / 3 + 1; /* letters of the shortest */
    }
    entries = arena_zero(l->arena, most + 1, sizeof(*entries));
    changes = arena_zero(l->arena, most + 1, sizeof(*changes));
    if (!entries || !changes) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        struct str left = rows[i].entries;

        while (take_entry(rows[i].number, &left, &entries[n])) {
            entries[n].reader = rows[i].reader;
            changes[n] = entries[n].change;
            n++;
        }
    }
    status = find_places(tx, l->arena, &SELECT_BY_CHANGE, db_ints(changes, n),
                         by_change, &turns, &n_turns, err);
    return status == CLEW_OK && !add_actions(l, entries, n, turns, n_turns)
               ? clew_no_memory(err)
               : status;
}

static int in_order(const void *a, const void *b)
{
    const struct action *left = a;
    const struct action *right = b;

    if (left->seq != right->seq) {
        return left->seq < right->seq ? -1 : 1;
    }
    return uuid_cmp(&left->id, &right->id);
}

/* How many stand before a stretch. */
static size_t count_below(const struct listing *l, int64_t stretch)
{
    size_t n = 0;

    while (n < l->count && l->actions[n].seq / PLACES < stretch) {
        n++;
    }
    return n;
}

enum clew_status read_log_list(struct store_tx *tx, struct arena *arena,
                               int64_t after_seq, const struct uuid *after_id,
                               size_t limit, struct action **out_actions,
                               size_t *out_count, struct clew_error *err)
{
    struct listing l = {
        .arena = arena, .after_seq = after_seq, .after_id = *after_id};
    int64_t number = after_seq > 0 ? after_seq / PLACES - 1 : -1;
    struct str reader = STR("");
    size_t count = STRETCHES;
    size_t n_whole = 0; /* of stretches that were read for all readers */
    enum clew_status status = CLEW_OK;

    while (status == CLEW_OK && count == STRETCHES && n_whole < limit) {
        struct rows_list list = {
            .arena = arena, .size = sizeof(struct stretch), .fn = stretch_of};
        struct stretch *rows = NULL;

        status = rows_all(
            tx, &list, &SELECT_AFTER,
            DB_ARGS(db_int(number), db_text(reader), db_int(STRETCHES)), &rows,
            &count, err);
        if (status == CLEW_OK && count > 0) {
            number = rows[count - 1].number;
            reader = rows[count - 1].reader;
            status = add_stretches(tx, &l, rows, count, err);
        }
        if (status == CLEW_OK && l.count > 0) {
            qsort(l.actions, l.count, sizeof(*l.actions), in_order);
        }
        n_whole = count == STRETCHES ? count_below(&l, number) : l.count;
    }
    if (status == CLEW_OK) {
        *out_actions = l.actions;
        *out_count = n_whole < limit ? n_whole : limit;
    }
    return status;
}
