/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild_diff.c - two stores side by side, row by row.
 *
 * Both are read in the order of their keys (export_kinds.h knows tables,
 * columns and keys), so one walk finds what is missing, extra or changed.
 * Within a kind all deletions come before all insertions; a changed row is
 * both. Rows that indexes hold take a new change number, those that go leave a
 * tombstone, so indexes and caches catch up as after any write.
 */
#include "engine/proof/rebuild_internal.h"

#include "base/buf.h"
#include "engine/call/call_trace.h"
#include "engine/proof/export_kinds.h"
#include "engine/proof/renew.h"
#include "store/db.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PAGE 500
#define ARENA_BYTES ((size_t)1 << 33)
#define SQL_BYTES 512

/* How a column is treated. */
enum keep {
    KEEP_NOT,     /* derived: compared and written */
    KEEP_REAL,    /* not derived: the real row's value stays */
    KEEP_LARGEST, /* a number that only grows */
};

static const struct kept {
    const char *type;
    const char *column;
    enum keep keep;
} kept[] = {
    {"user", "inactivity_minutes", KEEP_REAL},
    /* the tree of a captured conversation is call_rebuild.h's */
    {"chat", "conversation_id", KEEP_REAL},
    {"chat", "parent_id", KEEP_REAL},
    {"chat", "depth", KEEP_REAL},
    {"chat", "branch", KEEP_REAL},
    /* the numbers of forgotten turns are not given out again */
    {"chat", "last_seq", KEEP_LARGEST},
    /* grow by use */
    {"memory", "weight", KEEP_REAL},
    {"memory", "weight_at", KEEP_REAL},
    {"memory", "retrieval_count", KEEP_REAL},
};

/* What is derived, in the order it is written. */
static const char *const derived[] = {
    "user",          "chat",       "session",       "memory",
    "memory_source", "memory_ref", "memory_key",    "chat_memory",
    "effort",        "chain",      "chain_step",    "chain_block",
    "chain_update",  "chain_term", "session_talk",  "session_summary",
    "chat_profile",  "chat_term",  "link_decision", "link_tuning",
    "link_counter",  "episode",    "episode_chat",  "correction",
    "gist",          "trace",
};
#define N_DERIVED (sizeof(derived) / sizeof(derived[0]))
_Static_assert(N_DERIVED <= REBUILD_MAX_KINDS, "the report has room for all");

DB_SQL(BURY, "INSERT INTO tombstones (tenant, change_seq, kind, id, created_at)"
             " VALUES ($1, $2, $3, $4, $5)");
DB_SQL(DROP_VECTORS,
       "DELETE FROM vectors WHERE tenant = $1 AND kind = $2 AND id = $3");

struct row {
    struct db_value values[EXPORT_MAX_COLUMNS + 1];
};

/* One kind's walk. */
struct walk {
    struct rebuild *r;
    struct store_tx *tx; /* of the real store */
    struct arena *arena;
    size_t number; /* of export_kinds */
    const struct export_kind *kind;
    enum keep keep[EXPORT_MAX_COLUMNS];
    struct rebuild_kind_report *report;
    struct row **gone; /* rows of the real store to delete */
    size_t n_gone, cap_gone;
    struct row **fresh; /* rows of the scratch store to insert */
    size_t n_fresh, cap_fresh;
    int64_t now_ms;
};

/* --- reading ---------------------------------------------------------------
 */

static bool value_of(const struct walk *walk, const struct db_rows *rows,
                     int column, struct db_value *out)
{
    enum export_type type = walk->kind->columns[column].type;
    struct arena *arena = walk->arena;
    struct str text = {NULL, 0};

    if (!export_is_packed(type) && db_is_null(rows, column)) {
        *out = db_null();
        return true;
    }
    switch (type) {
    case EXPORT_ID: {
        struct uuid *id = arena_zero(arena, 1, sizeof(*id));

        if (!id) {
            return false;
        }
        *id = db_get_uuid(rows, column);
        *out = db_bytes(id->b, sizeof(id->b));
        out->type = DB_UUID; /* the nil id is a value here, not NULL */
        return true;
    }
    case EXPORT_TEXT:
        text = arena_str(arena, db_get_text(rows, column));
        *out = db_text(text);
        return text.s != NULL;
    case EXPORT_PACKED:
    case EXPORT_BESIDE: {
        bool is_ok = export_unpack(arena, rows, walk->kind, column, &text);

        *out = text.s ? db_text(text) : db_null();
        return is_ok;
    }
    case EXPORT_BYTES:
        text = arena_str(arena, db_get_bytes(rows, column));
        /* a row of an earlier form is no other row */
        if (!text.s || !renew_bytes(arena, walk->kind->type,
                                    walk->kind->columns[column].name, &text)) {
            return false;
        }
        *out = db_bytes(text.s, text.len);
        return true;
    case EXPORT_REAL:
        *out = db_real(db_get_real(rows, column));
        return true;
    case EXPORT_INT:
    case EXPORT_HASH:
    case EXPORT_TIME:
        *out = db_int(db_get_int(rows, column));
        return true;
    }
    return false;
}

/* A side of the comparison. */
struct side {
    struct walk *walk;
    struct store *store; /* NULL: the walk's transaction */
    struct row *page[PAGE];
    size_t count;
    size_t at;
    const struct row *last;
    bool is_end;
};

static enum clew_status do_page(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct side *side = arg;
    struct walk *walk = side->walk;
    const struct export_sql *sql = export_sql_of(walk->number);
    struct db_value args[1 + EXPORT_MAX_KEYS] = {db_int(PAGE)};
    size_t n_args = 1;
    struct db_rows rows;
    enum clew_status status;
    bool is_ok = true;

    for (size_t i = 0; side->last && i < walk->kind->n_keys; i++) {
        args[n_args++] = side->last->values[i];
    }
    side->count = 0;
    side->at = 0;
    status = db_query(tx, side->last ? &sql->next : &sql->first, args, n_args,
                      &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    while (is_ok && side->count < PAGE && db_next(&rows)) {
        struct row *row = arena_zero(walk->arena, 1, sizeof(*row));

        is_ok = row != NULL;
        for (size_t i = 0; is_ok && i < walk->kind->n_columns; i++) {
            is_ok = value_of(walk, &rows, (int)i, &row->values[i]);
        }
        side->page[side->count++] = row;
    }
    status = db_end(&rows, err);
    side->is_end = side->count < PAGE;
    return status == CLEW_OK && !is_ok ? clew_no_memory(err) : status;
}

/* The row a side stands at; NULL at the end. */
static enum clew_status head(struct side *side, struct row **out,
                             struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    *out = NULL;
    if (side->at == side->count && !side->is_end) {
        status = side->store ? store_read(side->store, &side->walk->r->scope,
                                          do_page, side, err)
                             : do_page(side->walk->tx, side, err);
    }
    if (status == CLEW_OK && side->at < side->count) {
        *out = side->page[side->at];
    }
    return status;
}

static void pass(struct side *side)
{
    side->last = side->page[side->at++];
}

/* --- comparing -------------------------------------------------------------
 */

static int compare_bytes(const struct db_value *a, const struct db_value *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order = len ? memcmp(a->p, b->p, len) : 0;

    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static int compare_value(const struct db_value *a, const struct db_value *b)
{
    if (a->type == DB_NULL || b->type == DB_NULL) {
        return (a->type != DB_NULL) - (b->type != DB_NULL);
    }
    switch (a->type) {
    case DB_INT:
        return (a->i > b->i) - (a->i < b->i);
    case DB_REAL:
        return (a->r > b->r) - (a->r < b->r);
    case DB_TEXT:
    case DB_BYTES:
    case DB_UUID:
        return compare_bytes(a, b);
    case DB_NULL:
    case DB_UUIDS:
    case DB_INTS:
    case DB_TEXTS:
        break;
    }
    return 0;
}

static int compare_key(const struct walk *walk, const struct row *a,
                       const struct row *b)
{
    int order = 0;

    for (size_t i = 0; i < walk->kind->n_keys && order == 0; i++) {
        order = compare_value(&a->values[i], &b->values[i]);
    }
    return order;
}

/* What is not derived is taken over from the real row. */
static void take_kept(const struct walk *walk, const struct row *real,
                      struct row *scratch)
{
    for (size_t i = 0; i < walk->kind->n_columns; i++) {
        if (walk->keep[i] == KEEP_REAL ||
            (walk->keep[i] == KEEP_LARGEST &&
             real->values[i].i > scratch->values[i].i)) {
            scratch->values[i] = real->values[i];
        }
    }
}

/* The first column that differs; NULL if none does. */
static const char *differing(const struct walk *walk, const struct row *a,
                             const struct row *b)
{
    for (size_t i = 0; i < walk->kind->n_columns; i++) {
        if (compare_value(&a->values[i], &b->values[i]) != 0) {
            return export_field(&walk->kind->columns[i]);
        }
    }
    return NULL;
}

/* "id" or "chat_id 0190… seq 3", without texts but ids of people. */
static const char *key_text(const struct walk *walk, const struct row *row)
{
    struct buf out;
    const char *copy;

    buf_init(&out, 1024);
    for (size_t i = 0; i < walk->kind->n_keys; i++) {
        const struct db_value *value = &row->values[i];
        char id[UUID_TEXT_SIZE];

        (void)buf_printf(&out, "%s%s ", i ? " " : "",
                         walk->kind->columns[i].name);
        if (value->type == DB_UUID) {
            struct uuid copied;

            memcpy(copied.b, value->p, sizeof(copied.b));
            uuid_format(&copied, id);
            (void)buf_append_cstr(&out, id);
        } else if (value->type == DB_TEXT) {
            (void)buf_append_str(&out, (struct str){value->p, value->len});
        } else {
            (void)buf_printf(&out, "%lld", (long long)value->i);
        }
    }
    copy = arena_copy(walk->r->arena, out.data, out.len);
    buf_release(&out);
    return copy ? copy : "";
}

static void show(struct walk *walk, const char *what, const struct row *row,
                 const char *column)
{
    struct rebuild_report *report = &walk->r->report;

    report->n_differences++;
    if (report->n_shown < REBUILD_MAX_SHOWN) {
        report->shown[report->n_shown++] =
            (struct rebuild_difference){.type = walk->kind->type,
                                        .what = what,
                                        .key = key_text(walk, row),
                                        .column = column};
    }
}

static enum clew_status add_row(struct walk *walk, struct row *row,
                                bool is_fresh, struct clew_error *err)
{
    struct row ***list = is_fresh ? &walk->fresh : &walk->gone;
    size_t *count = is_fresh ? &walk->n_fresh : &walk->n_gone;
    struct row **grown = arena_grow(
        walk->arena, *list, *count,
        is_fresh ? &walk->cap_fresh : &walk->cap_gone, sizeof(*grown));

    if (!grown) {
        return clew_no_memory(err);
    }
    *list = grown;
    grown[(*count)++] = row;
    return CLEW_OK;
}

/* Both sides stand at the same key. */
static enum clew_status meet(struct walk *walk, struct row *real,
                             struct row *scratch, struct clew_error *err)
{
    const char *column;
    enum clew_status status = CLEW_OK;

    take_kept(walk, real, scratch);
    column = differing(walk, real, scratch);
    if (column) {
        walk->report->n_changed++;
        show(walk, "changed", real, column);
        status = add_row(walk, real, false, err);
        if (status == CLEW_OK) {
            status = add_row(walk, scratch, true, err);
        }
    }
    return status;
}

/* The trace of a captured call is call_rebuild.h's, like the call's place. */
static bool is_of_link(const struct walk *walk, const struct row *row)
{
    const struct db_value *data = &row->values[walk->kind->n_keys];

    return strcmp(walk->kind->type, "trace") == 0 && data->type == DB_TEXT &&
           call_trace_is((struct str){data->p, data->len});
}

static enum clew_status compare(struct walk *walk, struct clew_error *err)
{
    struct side *sides = arena_zero(walk->arena, 2, sizeof(*sides));
    struct side *real = sides;
    struct side *scratch;
    enum clew_status status = CLEW_OK;

    if (!sides) {
        return clew_no_memory(err);
    }
    scratch = &sides[1];
    real->walk = walk;
    scratch->walk = walk;
    scratch->store = walk->r->scratch.store;
    for (;;) {
        struct row *a = NULL;
        struct row *b = NULL;
        int order;

        status = head(real, &a, err);
        if (status == CLEW_OK) {
            status = head(scratch, &b, err);
        }
        if (status != CLEW_OK || (!a && !b)) {
            return status;
        }
        order = !a ? 1 : !b ? -1 : compare_key(walk, a, b);
        if (order < 0 && is_of_link(walk, a)) {
            status = CLEW_OK;
        } else if (order < 0) {
            walk->report->n_extra++;
            show(walk, "extra", a, NULL);
            status = add_row(walk, a, false, err);
        } else if (order > 0) {
            walk->report->n_missing++;
            show(walk, "missing", b, NULL);
            status = add_row(walk, b, true, err);
        } else {
            status = meet(walk, a, b, err);
        }
        if (status != CLEW_OK) {
            return status;
        }
        if (order <= 0) {
            pass(real);
        }
        if (order >= 0) {
            pass(scratch);
            walk->report->n_rows++;
        }
    }
}

/* --- writing ---------------------------------------------------------------
 */

static struct db_sql deletions[N_DERIVED];
static char deletion_texts[N_DERIVED][SQL_BYTES];
static size_t numbers[N_DERIVED];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_statements(void)
{
    for (size_t i = 0; i < N_DERIVED; i++) {
        const struct export_kind *kind;
        int len;

        (void)export_kind_find(str_of(derived[i]), &numbers[i]); /* all are */
        kind = &export_kinds[numbers[i]];
        len = snprintf(deletion_texts[i], SQL_BYTES,
                       "DELETE FROM %s WHERE tenant = $1", kind->table);
        for (size_t k = 0; k < kind->n_keys; k++) {
            len += snprintf(deletion_texts[i] + len, SQL_BYTES - (size_t)len,
                            " AND %s = $%zu", kind->columns[k].name, k + 2);
        }
        deletions[i] = (struct db_sql){deletion_texts[i], DB_TENANT};
    }
}

/* A row that indexes hold is gone for good: tell them. */
static enum clew_status bury(struct walk *walk, const struct row *row,
                             struct clew_error *err)
{
    int64_t change = 0;
    enum clew_status status = db_take_changes(walk->tx, 1, &change, err);

    if (status == CLEW_OK) {
        status = db_exec(walk->tx, &BURY,
                         DB_ARGS(db_int(change), db_cstr(walk->kind->type),
                                 row->values[0], db_int(walk->now_ms)),
                         err);
    }
    return status == CLEW_OK
               ? db_exec(walk->tx, &DROP_VECTORS,
                         DB_ARGS(db_cstr(walk->kind->type), row->values[0]),
                         err)
               : status;
}

static bool comes_back(const struct walk *walk, const struct row *row)
{
    for (size_t i = 0; i < walk->n_fresh; i++) {
        if (compare_key(walk, walk->fresh[i], row) == 0) {
            return true;
        }
    }
    return false;
}

static enum clew_status write_kind(struct walk *walk,
                                   const struct db_sql *deletion,
                                   struct clew_error *err)
{
    const struct export_kind *kind = walk->kind;
    const struct db_sql *insertion = &export_sql_of(walk->number)->insert;
    enum clew_status status = CLEW_OK;
    int64_t change = 0;

    for (size_t i = 0; i < walk->n_gone && status == CLEW_OK; i++) {
        status = db_exec(walk->tx, deletion, walk->gone[i]->values,
                         kind->n_keys, err);
        if (status == CLEW_OK && kind->has_change &&
            !comes_back(walk, walk->gone[i])) {
            status = bury(walk, walk->gone[i], err);
        }
    }
    if (status == CLEW_OK && kind->has_change && walk->n_fresh > 0) {
        status =
            db_take_changes(walk->tx, (int64_t)walk->n_fresh, &change, err);
    }
    for (size_t i = 0; i < walk->n_fresh && status == CLEW_OK; i++) {
        struct row *row = walk->fresh[i];
        size_t n_values = export_n_stored(kind);

        if (kind->has_change) {
            row->values[n_values++] = db_int(change++);
        }
        status = export_pack(walk->arena, kind, row->values)
                     ? db_exec(walk->tx, insertion, row->values, n_values, err)
                     : clew_no_memory(err);
    }
    return status;
}

/* --- all kinds -------------------------------------------------------------
 */

static void set_keep(struct walk *walk)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        for (size_t k = 0; k < walk->kind->n_columns; k++) {
            if (strcmp(kept[i].type, walk->kind->type) == 0 &&
                strcmp(kept[i].column, walk->kind->columns[k].name) == 0) {
                walk->keep[k] = kept[i].keep;
            }
        }
    }
}

enum clew_status rebuild_diff(struct rebuild *r, struct store_tx *tx,
                              struct clew_error *err)
{
    struct rebuild_report *report = &r->report;
    enum clew_status status = CLEW_OK;
    struct arena arena;

    (void)pthread_once(&once, make_statements);
    /* the transaction may be run again */
    memset(report->kinds, 0, sizeof(report->kinds));
    report->n_kinds = 0;
    report->n_shown = 0;
    report->n_differences = 0;
    report->n_tasks = 0;
    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < N_DERIVED && status == CLEW_OK; i++) {
        struct walk walk = {.r = r,
                            .tx = tx,
                            .arena = &arena,
                            .number = numbers[i],
                            .kind = &export_kinds[numbers[i]],
                            .report = &report->kinds[report->n_kinds++],
                            .now_ms = clock_now_ms(r->engine->clock)};

        walk.report->type = walk.kind->type;
        set_keep(&walk);
        status = compare(&walk, err);
        if (status == CLEW_OK && !r->options->is_dry_run) {
            status = write_kind(&walk, &deletions[i], err);
        }
        arena_clear(&arena);
    }
    if (status == CLEW_OK) {
        status = rebuild_compare_tasks(r, tx, &arena, err);
    }
    arena_release(&arena);
    return status;
}
