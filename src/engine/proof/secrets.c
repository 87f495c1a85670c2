/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secrets.c - every text of a tenant, looked at again. See secrets.h.
 *
 * Tables, columns and keys are those of an export (export_kinds.h). Each page
 * of rows is read and, if asked for, starred in one transaction, so that
 * others go on meanwhile.
 */
#include "engine/proof/secrets.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "engine/core/engine.h"
#include "engine/chat/content_redact.h"
#include "engine/core/redact.h"
#include "engine/core/rows.h"
#include "engine/feed/model_use.h"
#include "engine/proof/export_kinds.h"
#include "engine/proof/rebuild.h"
#include "index/index.h"
#include "store/db.h"
#include "text/secret_scan.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PAGE 200
#define SQL_BYTES 512
#define AROUND 40 /* bytes shown on either side */
#define ARENA_BYTES ((size_t)1 << 31)

/* What others are packed beside comes before them. */
static const struct place {
    const char *type;
    const char *column;
    enum secrets_form form;
} places[] = {
    {"chat", "title", SECRETS_TEXT},
    {"chat", "summary", SECRETS_TEXT},
    {"turn", "name", SECRETS_TEXT},
    {"turn", "channel", SECRETS_TEXT},
    {"turn", "text", SECRETS_TEXT},
    {"turn", "content", SECRETS_JSON}, /* only where nothing is to be kept */
    {"action", "detail", SECRETS_JSON},
    {"memory", "summary", SECRETS_TEXT},
    {"memory", "resolution", SECRETS_TEXT},
    {"memory", "tags", SECRETS_TEXT},
    {"memory", "fields", SECRETS_JSON},
    {"memory", "context", SECRETS_TEXT},
    {"chain", "topic", SECRETS_TEXT},
    {"chain_step", "said", SECRETS_TEXT},
    {"chain_update", "reasoning", SECRETS_TEXT},
    {"session_summary", "summary", SECRETS_TEXT},
    {"episode", "micro", SECRETS_TEXT},
    {"episode", "meso", SECRETS_TEXT},
    {"episode", "macro", SECRETS_TEXT},
    {"trace", "data", SECRETS_JSON},
    {"llm_answer", "answer", SECRETS_JSON},
};
#define N_PLACES (sizeof(places) / sizeof(places[0]))

/* A turn's text and what it said before, at once. */
DB_SQL(MASK_TURN, "UPDATE turns SET text = $4, content = $5 WHERE tenant = $1"
                  " AND chat_id = $2 AND seq = $3");

static struct db_sql updates[N_PLACES];
static char update_texts[N_PLACES][SQL_BYTES];
static size_t kinds[N_PLACES];
static size_t columns[N_PLACES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_statements(void)
{
    for (size_t i = 0; i < N_PLACES; i++) {
        const struct export_column *column;
        const struct export_kind *kind;
        int len;

        (void)export_kind_find(str_of(places[i].type), &kinds[i]); /* all are */
        kind = &export_kinds[kinds[i]];
        for (size_t k = 0; k < kind->n_columns; k++) {
            if (strcmp(export_field(&kind->columns[k]), places[i].column) ==
                0) {
                columns[i] = k;
            }
        }
        column = &kind->columns[columns[i]];
        len = snprintf(update_texts[i], SQL_BYTES, "UPDATE %s SET %s = $2",
                       kind->table, column->name);
        if (export_is_packed(column->type)) {
            len += snprintf(update_texts[i] + len, SQL_BYTES - (size_t)len,
                            ", %s = %s", column->field,
                            export_plain_value(column));
        }
        len += snprintf(update_texts[i] + len, SQL_BYTES - (size_t)len,
                        " WHERE tenant = $1");
        for (size_t k = 0; k < kind->n_keys; k++) {
            len += snprintf(update_texts[i] + len, SQL_BYTES - (size_t)len,
                            " AND %s = $%zu", kind->columns[k].name, k + 3);
        }
        updates[i] = (struct db_sql){update_texts[i], DB_TENANT};
    }
}

enum secrets_form secrets_form_of(const char *type, const char *column)
{
    for (size_t i = 0; i < N_PLACES; i++) {
        if (strcmp(places[i].type, type) == 0 &&
            strcmp(places[i].column, column) == 0) {
            return places[i].form;
        }
    }
    return SECRETS_NONE;
}

/* One look at one kind of row. */
struct looking {
    struct engine *engine;
    struct arena *arena; /* the report's */
    struct arena scratch;
    struct secrets_report *report;
    bool is_masking;
    size_t kind;
    struct db_value last[EXPORT_MAX_KEYS];
    bool has_last;
    bool is_end;
};

struct row {
    struct db_value keys[EXPORT_MAX_KEYS];
    struct str texts[EXPORT_MAX_COLUMNS];
    bool is_new[EXPORT_MAX_COLUMNS]; /* the text was starred just now */
};

static bool key_of(struct arena *arena, const struct db_rows *rows, int column,
                   enum export_type type, struct db_value *out)
{
    struct str bytes = {NULL, 0};

    switch (type) {
    case EXPORT_ID: {
        struct uuid id = db_get_uuid(rows, column);

        bytes = arena_str(arena, (struct str){(char *)id.b, sizeof(id.b)});
        *out = db_bytes(bytes.s, bytes.len);
        out->type = DB_UUID;
        return bytes.s != NULL;
    }
    case EXPORT_BYTES:
        bytes = arena_str(arena, db_get_bytes(rows, column));
        *out = db_bytes(bytes.s, bytes.len);
        return bytes.s != NULL;
    case EXPORT_TEXT:
        bytes = arena_str(arena, db_get_text(rows, column));
        *out = db_text(bytes);
        return bytes.s != NULL;
    case EXPORT_INT:
    case EXPORT_HASH:
    case EXPORT_TIME:
    case EXPORT_REAL:
        *out = db_int(db_get_int(rows, column));
        return true;
    case EXPORT_PACKED:
    case EXPORT_BESIDE:
        break;
    }
    return false;
}

static const char *key_text(struct looking *l, const struct row *row)
{
    const struct export_kind *kind = &export_kinds[l->kind];
    struct buf out;
    const char *copy;

    buf_init(&out, 512);
    for (size_t i = 0; i < kind->n_keys; i++) {
        const struct db_value *key = &row->keys[i];

        (void)buf_printf(&out, "%s%s ", i ? " " : "", kind->columns[i].name);
        if (key->type == DB_UUID) {
            char text[UUID_TEXT_SIZE];
            struct uuid id;

            memcpy(id.b, key->p, sizeof(id.b));
            uuid_format(&id, text);
            (void)buf_append_cstr(&out, text);
        } else if (key->type == DB_INT) {
            (void)buf_printf(&out, "%lld", (long long)key->i);
        }
    }
    copy = arena_copy(l->arena, out.data, out.len);
    buf_release(&out);
    return copy ? copy : "";
}

/* Tell of one text; `masked` is the whole of it, starred. */
static void show(struct looking *l, const struct row *row, size_t place,
                 struct str text, struct str masked)
{
    struct secrets_report *report = l->report;
    struct secret_span span = {0, 0, SECRET_PASSWORD};
    size_t from;
    size_t to;

    report->n_found++;
    if (report->n_shown == SECRETS_MAX_SHOWN) {
        return;
    }
    (void)secret_scan_find(text, 0, &span); /* in JSON it may be a field's */
    from = span.from > AROUND ? span.from - AROUND : 0;
    to = span.to + AROUND < masked.len ? span.to + AROUND : masked.len;
    from = utf8_cut(masked, from);
    to = utf8_cut(masked, to);
    report->shown[report->n_shown++] = (struct secrets_found){
        .type = places[place].type,
        .column = places[place].column,
        .key = key_text(l, row),
        .kind = secret_kind_name(span.kind),
        .around = arena_copy(l->arena, masked.s + from, to - from)};
}

static bool is_turn_text(const struct looking *l, size_t place)
{
    return strcmp(export_kinds[l->kind].type, "turn") == 0 &&
           strcmp(places[place].column, "text") == 0;
}

/* What was sent, of a row of turns. */
static struct str content_of(const struct looking *l, const struct row *row)
{
    struct str content = {NULL, 0};

    for (size_t i = 0; i < N_PLACES; i++) {
        if (kinds[i] == l->kind && strcmp(places[i].column, "content") == 0) {
            content = row->texts[columns[i]];
        }
    }
    return content;
}

static enum clew_status mask_turn(struct looking *l, struct store_tx *tx,
                                  const struct row *row, struct str text,
                                  struct clew_error *err)
{
    struct str content = content_of(l, row);
    enum clew_status status =
        content_redact(l->engine, &l->scratch, &text, &content, err);
    return status == CLEW_OK ? db_exec(tx, &MASK_TURN,
                                       DB_ARGS(row->keys[0], row->keys[1],
                                               db_text(text), db_text(content)),
                                       err)
                             : status;
}

/* Write down the text of one column, starred or because what it is packed
 * beside was. */
static enum clew_status write_text(struct looking *l, struct store_tx *tx,
                                   const struct row *row, size_t place,
                                   struct str text, struct clew_error *err)
{
    const struct export_kind *kind = &export_kinds[l->kind];
    const struct export_column *column = &kind->columns[columns[place]];
    int at = export_beside(kind, columns[place]);
    struct str beside = at >= 0 ? row->texts[at] : (struct str){NULL, 0};
    struct db_value args[1 + EXPORT_MAX_KEYS];

    args[0] = db_text(text);
    if (export_is_packed(column->type) &&
        !export_pack_text(&l->scratch, column, text, beside, &args[0])) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < kind->n_keys; i++) {
        args[1 + i] = row->keys[i];
    }
    return db_exec(tx, &updates[place], args, 1 + kind->n_keys, err);
}

/* The text of one column with its secrets starred; itself if it has none. */
static enum clew_status star(struct looking *l, const struct row *row,
                             size_t place, struct str *text,
                             struct clew_error *err)
{
    struct str before = *text;
    enum clew_status status = places[place].form == SECRETS_JSON
                                  ? redact_json(&l->scratch, text, err)
                                  : redact_str(&l->scratch, text, err);

    if (status == CLEW_OK && text->s == before.s && is_turn_text(l, place)) {
        status =
            content_redact_blocks(&l->scratch, text, content_of(l, row), err);
        *text = status == CLEW_OK && str_eq(*text, before) ? before : *text;
    }
    return status;
}

static enum clew_status look_at(struct looking *l, struct store_tx *tx,
                                struct row *row, size_t place,
                                struct clew_error *err)
{
    const struct export_kind *kind = &export_kinds[l->kind];
    int beside = export_beside(kind, columns[place]);
    struct str text = row->texts[columns[place]];
    struct str masked = text;
    enum clew_status status;

    if (!text.s) {
        return CLEW_OK;
    }
    l->report->n_rows++;
    status = star(l, row, place, &masked, err);
    if (status != CLEW_OK) {
        return status;
    }
    if (masked.s == text.s) {
        return beside >= 0 && row->is_new[beside]
                   ? write_text(l, tx, row, place, text, err)
                   : CLEW_OK;
    }
    show(l, row, place, text, masked);
    if (!l->is_masking) {
        return CLEW_OK;
    }
    l->report->n_masked++;
    if (is_turn_text(l, place)) {
        return mask_turn(l, tx, row, text, err);
    }
    row->texts[columns[place]] = masked;
    row->is_new[columns[place]] = true;
    return write_text(l, tx, row, place, masked, err);
}

/* What was sent stays with the turn, unless nothing is to be kept. */
static bool is_looked_at(const struct looking *l, size_t place)
{
    return kinds[place] == l->kind &&
           (strcmp(places[place].column, "content") != 0 ||
            redact_mode(l->engine) == REDACT_DROP);
}

/* A text of the current row; s == NULL if it has none. False on OOM. */
static bool text_of(struct looking *l, const struct db_rows *rows, int column,
                    struct str *out)
{
    const struct export_kind *kind = &export_kinds[l->kind];

    return export_is_packed(kind->columns[column].type)
               ? export_unpack(&l->scratch, rows, kind, column, out)
               : rows_text(&l->scratch, rows, column, out);
}

static enum clew_status read_page(struct looking *l, struct store_tx *tx,
                                  struct row **out, size_t *out_count,
                                  struct clew_error *err)
{
    const struct export_kind *kind = &export_kinds[l->kind];
    const struct export_sql *sql = export_sql_of(l->kind);
    struct db_value args[1 + EXPORT_MAX_KEYS] = {db_int(PAGE)};
    struct row *page = arena_zero(&l->scratch, PAGE, sizeof(*page));
    struct db_rows rows;
    size_t count = 0;
    bool is_ok = page != NULL;
    enum clew_status status;

    for (size_t i = 0; l->has_last && i < kind->n_keys; i++) {
        args[1 + i] = l->last[i];
    }
    status = db_query(tx, l->has_last ? &sql->next : &sql->first, args,
                      l->has_last ? 1 + kind->n_keys : 1, &rows, err);
    if (status != CLEW_OK) {
        return status;
    }
    while (is_ok && count < PAGE && db_next(&rows)) {
        struct row *row = &page[count++];

        for (size_t i = 0; i < kind->n_keys && is_ok; i++) {
            is_ok = key_of(&l->scratch, &rows, (int)i, kind->columns[i].type,
                           &row->keys[i]);
        }
        for (size_t i = 0; i < N_PLACES && is_ok; i++) {
            int column = (int)columns[i];

            if (kinds[i] == l->kind) {
                is_ok = text_of(l, &rows, column, &row->texts[column]);
            }
        }
    }
    status = db_end(&rows, err);
    *out = page;
    *out_count = count;
    return status == CLEW_OK && !is_ok ? clew_no_memory(err) : status;
}

static enum clew_status do_page(struct store_tx *tx, void *arg,
                                struct clew_error *err)
{
    struct looking *l = arg;
    struct secrets_report before = *l->report;
    struct row *page = NULL;
    size_t count = 0;
    enum clew_status status = read_page(l, tx, &page, &count, err);

    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        for (size_t k = 0; k < N_PLACES && status == CLEW_OK; k++) {
            if (is_looked_at(l, k)) {
                status = look_at(l, tx, &page[i], k, err);
            }
        }
    }
    if (status != CLEW_OK) {
        *l->report = before; /* the transaction may be run again */
        return status;
    }
    l->is_end = count < PAGE;
    if (count > 0) {
        memcpy(l->last, page[count - 1].keys, sizeof(l->last));
    }
    return CLEW_OK;
}

/* A key outlives the page it was read with. */
static enum clew_status keep_last(struct looking *l, struct arena *arena,
                                  struct clew_error *err)
{
    for (size_t i = 0; i < export_kinds[l->kind].n_keys; i++) {
        struct db_value *key = &l->last[i];

        if (key->type == DB_UUID || key->type == DB_BYTES ||
            key->type == DB_TEXT) {
            key->p = arena_copy(arena, key->p, key->len);
            if (!key->p) {
                return clew_no_memory(err);
            }
        }
    }
    l->has_last = true;
    return CLEW_OK;
}

static enum clew_status look_through(struct looking *l,
                                     const struct scope *scope, size_t kind,
                                     struct clew_error *err)
{
    struct store *store = l->engine->store;
    enum clew_status status = CLEW_OK;

    l->kind = kind;
    l->has_last = false;
    l->is_end = false;
    while (status == CLEW_OK && !l->is_end) {
        status = l->is_masking ? store_write(store, scope, do_page, l, err)
                               : store_read(store, scope, do_page, l, err);
        if (status == CLEW_OK && !l->is_end) {
            status = keep_last(l, l->arena, err);
        }
        arena_clear(&l->scratch);
    }
    return status;
}

/* Everything that follows from the texts, made of them as they are now. */
static enum clew_status derive(struct engine *engine, const struct scope *scope,
                               struct arena *arena, struct clew_error *err)
{
    struct rebuild_options options = {.is_dry_run = false};
    struct rebuild_report *report = arena_zero(arena, 1, sizeof(*report));
    enum clew_status status =
        report ? rebuild_run(engine, scope, arena, &options, report, err)
               : clew_no_memory(err);

    if (status == CLEW_UNSUPPORTED) {
        status = CLEW_OK; /* an old log; its rows were starred one by one */
    }
    if (status == CLEW_OK && engine->indexes) {
        status = index_drop(engine->indexes, scope->tenant, err);
    }
    if (status == CLEW_OK) {
        status = model_use_purge(engine, scope, err);
    }
    return status == CLEW_OK ? store_scrub(engine->store, err) : status;
}

enum clew_status secrets_run(struct engine *engine, const struct scope *scope,
                             struct arena *arena, bool is_masking,
                             struct secrets_report *out, struct clew_error *err)
{
    struct looking l = {.engine = engine,
                        .arena = arena,
                        .report = out,
                        .is_masking = is_masking};
    enum clew_status status = CLEW_OK;

    (void)pthread_once(&once, make_statements);
    if (is_masking && redact_mode(engine) == REDACT_OFF) {
        return clew_fail(err, CLEW_CONFLICT,
                         "redact.mode is off: set it to mask or drop first");
    }
    *out = (struct secrets_report){0};
    arena_init(&l.scratch, ARENA_BYTES);
    for (size_t kind = 0; kind < export_n_kinds && status == CLEW_OK; kind++) {
        bool is_one = false;

        for (size_t i = 0; i < N_PLACES; i++) {
            is_one = is_one || kinds[i] == kind;
        }
        if (is_one) {
            status = look_through(&l, scope, kind, err);
        }
    }
    arena_release(&l.scratch);
    return status == CLEW_OK && out->n_masked > 0
               ? derive(engine, scope, arena, err)
               : status;
}
