/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - rows to lines. See export.h.
 *
 * One read transaction, so that no line speaks of something that another
 * lacks; pages by key, so that memory stays small.
 */
#include "engine/proof/export.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/proof/chain_lines.h"
#include "engine/proof/export_kinds.h"
#include "store/db.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PAGE_ROWS 200
#define WRITE_BYTES (1u << 16)
#define LINE_BYTES (256u << 20)
#define SCRATCH_BYTES (128u << 20)

struct export_work {
    struct engine *engine;
    struct arena *arena;
    struct arena scratch; /* of one row, or a page of steps */
    int fd;
    struct buf out;
    int64_t n_rows;
    struct db_value key[EXPORT_MAX_KEYS]; /* of the last row, in the arena */
    struct uuid key_ids[EXPORT_MAX_KEYS];
};

static enum clew_status flush(struct export_work *work, struct clew_error *err)
{
    if (buf_status(&work->out) != CLEW_OK) {
        return clew_fail(err, buf_status(&work->out), "a line is too long");
    }
    if (!fd_write_all(work->fd, buf_str(&work->out))) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not write the export: %s", strerror(errno));
    }
    buf_clear(&work->out);
    return CLEW_OK;
}

static bool set_bytes(json_t *line, const char *name, struct str bytes)
{
    char *hex = alloc_array(NULL, 2 * bytes.len + 1, 1);
    bool ok;

    if (!hex) {
        return false;
    }
    hex_format((const unsigned char *)bytes.s, bytes.len, hex);
    ok = json_set_cstr(line, name, hex);
    alloc_free(hex);
    return ok;
}

/* Set one column of the current row; false without memory. */
static bool set_column(const struct db_rows *rows, int column,
                       const struct export_column *form, json_t *line)
{
    const char *name = export_field(form);
    int64_t time_ms;
    struct uuid id;

    if (db_is_null(rows, column)) {
        return true;
    }
    switch (form->type) {
    case EXPORT_ID:
        id = db_get_uuid(rows, column);
        return json_set_uuid(line, name, &id);
    case EXPORT_TEXT:
        return json_set_str(line, name, db_get_text(rows, column));
    case EXPORT_INT:
    case EXPORT_HASH:
        return json_set_int(line, name, db_get_int(rows, column));
    case EXPORT_TIME:
        time_ms = db_get_int(rows, column);
        return json_set_time(line, name, &time_ms);
    case EXPORT_REAL:
        return json_set_real(line, name, db_get_real(rows, column));
    case EXPORT_BYTES:
        return set_bytes(line, name, db_get_bytes(rows, column));
    case EXPORT_PACKED:
    case EXPORT_BESIDE:
        break;
    }
    return false;
}

/* The same for a text that is kept packed. */
static bool set_packed(struct export_work *work, const struct db_rows *rows,
                       const struct export_kind *kind, size_t column,
                       json_t *line)
{
    struct str text = {NULL, 0};
    bool is_ok =
        export_unpack(&work->scratch, rows, kind, (int)column, &text) &&
        (!text.s ||
         json_set_str(line, export_field(&kind->columns[column]), text));

    arena_clear(&work->scratch);
    return is_ok;
}

/* A chain_line_fn. */
static enum clew_status add_line(void *arg, const json_t *line,
                                 struct clew_error *err)
{
    struct export_work *work = arg;

    if (json_write(&work->out, line) != CLEW_OK) {
        return clew_no_memory(err);
    }
    (void)buf_append_char(&work->out, '\n'); /* flush() looks */
    work->n_rows++;
    return work->out.len >= WRITE_BYTES ? flush(work, err) : CLEW_OK;
}

/* The same of a line that is the caller's to give away; NULL: there was no
 * memory for it. */
static enum clew_status end_line(struct export_work *work, json_t *line,
                                 struct clew_error *err)
{
    enum clew_status status =
        line ? add_line(work, line, err) : clew_no_memory(err);

    json_decref(line);
    return status;
}

static enum clew_status add_row(struct export_work *work,
                                const struct db_rows *rows,
                                const struct export_kind *kind,
                                struct clew_error *err)
{
    json_t *line = json_object();
    bool ok = line && json_set_cstr(line, "type", kind->type);

    for (size_t i = 0; ok && i < kind->n_columns; i++) {
        ok = export_is_packed(kind->columns[i].type)
                 ? set_packed(work, rows, kind, i, line)
                 : set_column(rows, (int)i, &kind->columns[i], line);
    }
    if (!ok) {
        json_decref(line);
        line = NULL;
    }
    return end_line(work, line, err);
}

/* Remember where this row is, for the next page. */
static enum clew_status keep_key(struct export_work *work,
                                 const struct db_rows *rows,
                                 const struct export_kind *kind,
                                 struct clew_error *err)
{
    for (size_t i = 0; i < kind->n_keys; i++) {
        int column = (int)i;
        struct str text;

        switch (kind->columns[i].type) {
        case EXPORT_ID:
            work->key_ids[i] = db_get_uuid(rows, column);
            work->key[i] = db_uuid(&work->key_ids[i]);
            break;
        case EXPORT_INT:
        case EXPORT_HASH:
        case EXPORT_TIME:
            work->key[i] = db_int(db_get_int(rows, column));
            break;
        case EXPORT_TEXT:
            text = arena_str(work->arena, db_get_text(rows, column));
            work->key[i] = db_text(text);
            if (!text.s) {
                return clew_no_memory(err); /* after NULL there is nothing */
            }
            break;
        case EXPORT_BYTES:
            text = arena_str(work->arena, db_get_bytes(rows, column));
            work->key[i] = db_bytes(text.s, text.len);
            if (!text.s) {
                return clew_no_memory(err);
            }
            break;
        case EXPORT_REAL:
        case EXPORT_PACKED:
        case EXPORT_BESIDE:
            return clew_fail(err, CLEW_INTERNAL, "this is no key");
        }
    }
    return CLEW_OK;
}

/* One page; how many rows it had. */
static enum clew_status add_page(struct store_tx *tx, struct export_work *work,
                                 size_t number, bool is_first,
                                 int64_t *out_count, struct clew_error *err)
{
    const struct export_kind *kind = &export_kinds[number];
    const struct export_sql *sql = export_sql_of(number);
    struct db_value args[1 + EXPORT_MAX_KEYS] = {db_int(PAGE_ROWS)};
    struct clew_error ignored;
    struct db_rows rows;
    enum clew_status status;

    memcpy(args + 1, work->key, sizeof(work->key));
    *out_count = 0;
    status = db_query(tx, is_first ? &sql->first : &sql->next, args,
                      is_first ? 1 : 1 + kind->n_keys, &rows, err);
    while (status == CLEW_OK && db_next(&rows)) {
        status = add_row(work, &rows, kind, err);
        if (status == CLEW_OK && ++*out_count == PAGE_ROWS) {
            status = keep_key(work, &rows, kind, err);
        }
    }
    if (status != CLEW_OK) {
        clew_ignore(db_end(&rows, &ignored)); /* the first failure is told */
        return status;
    }
    return db_end(&rows, err);
}

static json_t *action_line(const char *type, const struct action *action)
{
    json_t *line = json_object();
    bool is_ok = line && json_set_cstr(line, "type", type) &&
                 json_set_int(line, "seq", action->seq) &&
                 json_set_uuid(line, "id", &action->id) &&
                 json_set_str(line, "kind", action->kind);

    if (is_ok && !uuid_is_nil(&action->subject)) {
        is_ok = json_set_uuid(line, "subject", &action->subject);
    }
    if (is_ok && !uuid_is_nil(&action->made)) {
        is_ok = json_set_uuid(line, "made", &action->made);
    }
    if (!is_ok || !json_set_str(line, "detail", action->detail) ||
        !json_set_time(line, "created_at", &action->at_ms)) {
        json_decref(line);
        return NULL;
    }
    return line;
}

/* Actions stand in two tables, and are one list in a line's order. */
static enum clew_status add_actions(struct store_tx *tx,
                                    struct export_work *work, const char *type,
                                    struct clew_error *err)
{
    struct action last = {.seq = INT64_MIN};
    size_t count = PAGE_ROWS;
    enum clew_status status = CLEW_OK;

    while (status == CLEW_OK && count == PAGE_ROWS) {
        struct action *actions = NULL;

        status = action_list(tx, &work->scratch, last.seq, &last.id, PAGE_ROWS,
                             &actions, &count, err);
        for (size_t i = 0; status == CLEW_OK && i < count; i++) {
            last = actions[i];
            status = end_line(work, action_line(type, &last), err);
        }
        arena_clear(&work->scratch);
    }
    return status;
}

/* All lines of a kind. */
static enum clew_status add_kind(struct store_tx *tx, struct export_work *work,
                                 size_t number, struct clew_error *err)
{
    const struct export_kind *kind = &export_kinds[number];
    int64_t count = kind->form == EXPORT_ROWS ? PAGE_ROWS : 0;
    enum clew_status status = CLEW_OK;

    for (int page = 0; status == CLEW_OK && count == PAGE_ROWS; page++) {
        status = add_page(tx, work, number, page == 0, &count, err);
    }
    if (status == CLEW_OK && strcmp(kind->type, "claim") == 0) {
        status = chain_lines_claims(work->engine, tx, &work->scratch, add_line,
                                    work, err);
    }
    if (status == CLEW_OK && strcmp(kind->type, "chain_update") == 0) {
        status = chain_lines_updates(work->engine, tx, &work->scratch, add_line,
                                     work, err);
    }
    return status;
}

static enum clew_status do_export(struct store_tx *tx, void *arg,
                                  struct clew_error *err)
{
    struct export_work *work = arg;
    enum clew_status status = CLEW_OK;

    buf_clear(&work->out);
    work->n_rows = 0;
    if (lseek(work->fd, 0, SEEK_SET) != 0 || ftruncate(work->fd, 0) != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE,
                         "could not write the export: %s", strerror(errno));
    }
    (void)buf_printf(&work->out, "{\"type\":\"export\",\"version\":%d}\n",
                     EXPORT_VERSION);
    for (size_t i = 0; i < export_n_kinds && status == CLEW_OK; i++) {
        status = strcmp(export_kinds[i].type, "action") == 0
                     ? add_actions(tx, work, export_kinds[i].type, err)
                     : add_kind(tx, work, i, err);
    }
    (void)buf_printf(&work->out, "{\"type\":\"end\",\"rows\":%lld}\n",
                     (long long)work->n_rows);
    return status == CLEW_OK ? flush(work, err) : status;
}

enum clew_status export_write(struct engine *engine, const struct scope *scope,
                              struct arena *arena, int fd,
                              struct clew_error *err)
{
    struct export_work work = {.engine = engine, .arena = arena, .fd = fd};
    enum clew_status status;

    buf_init(&work.out, LINE_BYTES);
    arena_init(&work.scratch, SCRATCH_BYTES);
    status = store_read(engine->store, scope, do_export, &work, err);
    arena_release(&work.scratch);
    buf_release(&work.out);
    return status;
}
