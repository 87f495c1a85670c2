/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.c - lines to rows. See restore.h.
 *
 * Lines are read before the writer is taken. Rows that take a change number
 * are looked up first, so that a repeated import takes none.
 */
#include "engine/proof/restore.h"

#include "base/json.h"
#include "base/pack.h"
#include "engine/core/action.h"
#include "engine/core/engine.h"
#include "engine/core/read_log.h"
#include "engine/core/redact.h"
#include "engine/proof/chain_lines.h"
#include "engine/proof/export_kinds.h"
#include "engine/proof/forget.h"
#include "engine/proof/rebuild_later.h"
#include "engine/proof/renew.h"
#include "engine/proof/restore_fit.h"
#include "engine/proof/restore_internal.h"
#include "engine/proof/restore_value.h"
#include "store/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row that is there. */
struct known {
    struct uuid id;
    int64_t version;
};

/* Those of one kind, by id. */
struct known_set {
    struct known *items;
    size_t count;
};

/* --- reading lines --- */

/* Fields of lines from before: what they say follows from the others. */
static const struct {
    const char *type;
    const char *field;
} former[] = {{"claim", "id"}, {"claim", "turn_id"}, {"claim", "statement"}};

static size_t count_former(const char *type, const json_t *json)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof(former) / sizeof(former[0]); i++) {
        count += strcmp(former[i].type, type) == 0 &&
                 json_object_get(json, former[i].field) != NULL;
    }
    return count;
}

/* Bytes of an earlier version's form. */
static enum clew_status renew_value(struct arena *arena,
                                    const struct export_kind *kind,
                                    const struct export_column *column,
                                    struct db_value *value,
                                    struct clew_error *err)
{
    struct str bytes = {value->p, value->len};

    if (!renew_bytes(arena, kind->type, column->name, &bytes)) {
        return clew_no_memory(err);
    }
    *value = db_bytes(bytes.s, bytes.len);
    return CLEW_OK;
}

static enum clew_status read_columns(struct arena *arena, const json_t *json,
                                     struct restore_line *line,
                                     struct clew_error *err)
{
    const struct export_kind *kind = &export_kinds[line->kind];
    size_t n_fields = 1 + count_former(kind->type, json); /* 1: "type" */
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < kind->n_columns && status == CLEW_OK; i++) {
        const struct export_column *column = &kind->columns[i];
        const char *field = export_field(column);
        const json_t *value = json_object_get(json, field);

        line->values[i] = db_null();
        n_fields += value ? 1 : 0;
        if (value && !json_is_null(value)) {
            status = restore_value(arena, json, column, &line->values[i], err);
            if (status == CLEW_OK && column->type == EXPORT_BYTES) {
                status =
                    renew_value(arena, kind, column, &line->values[i], err);
            }
        } else if (!column->is_optional) {
            status = clew_fail_field(err, field, "\"%s\" is missing", field);
        }
        if (kind->version && strcmp(column->name, kind->version) == 0) {
            line->version = line->values[i].i;
        }
    }
    if (status == CLEW_OK && json_object_size(json) > n_fields) {
        status = clew_fail_field(err, kind->type, "unknown field in a \"%s\"",
                                 kind->type);
    }
    return status;
}

/* A reading has a place of its own, unless it says more than others do. */
static void note_reading(struct arena *arena, const json_t *json,
                         struct restore_line *line)
{
    struct read_log_item item = {.seq = line->values[0].i};
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *text = json_string_value(json_object_get(json, "detail"));
    struct clew_error ignored;

    if (!kind || strcmp(kind, ACTION_READ) != 0 ||
        json_object_get(json, "made") ||
        json_get_uuid(json, "subject", JSON_REQUIRED, &item.turn_id,
                      &ignored) != CLEW_OK ||
        !read_log_reader(arena, str_of(text), &item.reader)) {
        return;
    }
    item.at_ms = line->values[export_kinds[line->kind].n_columns - 1].i;
    line->reading = item;
}

static enum clew_status read_line(struct arena *arena, const json_t *json,
                                  struct restore_line *line,
                                  struct clew_error *err)
{
    struct str type = {NULL, 0};
    const struct export_kind *kind;
    enum clew_status status =
        json_get_str(json, "type", JSON_REQUIRED, 64, &type, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (!export_kind_find(type, &line->kind) ||
        export_kinds[line->kind].form == EXPORT_INNER) {
        return clew_fail_field(err, "type", "\"type\" is unknown");
    }
    kind = &export_kinds[line->kind];
    status = read_columns(arena, json, line, err);
    if (status == CLEW_OK) {
        status = restore_check(kind, json, err);
    }
    if (status == CLEW_OK && strcmp(kind->type, "action") == 0) {
        note_reading(arena, json, line);
    }
    restore_note_set(arena, json, line);
    if (status == CLEW_OK && kind->has_change) {
        status = json_get_uuid(json, "id", JSON_REQUIRED, &line->id, err);
    }
    return status;
}

/* A fault of a line is told with its place. */
static void name_row(const struct restore_work *work,
                     const struct restore_line *line, enum clew_status status,
                     struct clew_error *err)
{
    char field[sizeof(err->field)];

    if (err && status == CLEW_INVALID) {
        (void)snprintf(field, sizeof(field), "rows[%zu].%.50s",
                       (size_t)(line - work->lines), err->field);
        memcpy(err->field, field, sizeof(field));
    }
}

static enum clew_status read_lines(struct restore_work *work,
                                   const json_t *lines, struct clew_error *err)
{
    const json_t *json;
    size_t i;

    json_array_foreach (lines, i, json) {
        enum clew_status status =
            read_line(work->arena, json, &work->lines[i], err);

        if (status == CLEW_OK && redact_mode(work->engine) != REDACT_OFF) {
            status = restore_redact(work->engine, work->arena,
                                    &export_kinds[work->lines[i].kind],
                                    work->lines[i].values, err);
        }
        if (status == CLEW_OK &&
            !export_pack(work->arena, &export_kinds[work->lines[i].kind],
                         work->lines[i].values)) {
            status = clew_no_memory(err);
        }
        if (status != CLEW_OK) {
            name_row(work, &work->lines[i], status, err);
            return status;
        }
    }
    return CLEW_OK;
}

/* --- what is there already --- */

/* By id, the latest version first. */
static int by_id(const void *a, const void *b)
{
    const struct known *left = a;
    const struct known *right = b;
    int order = memcmp(&left->id, &right->id, sizeof(left->id));

    if (order != 0) {
        return order;
    }
    return left->version > right->version ? -1 : left->version < right->version;
}

/* The latest that is there of this line's row, or NULL. */
static const struct known *known_find(const struct known_set *set,
                                      const struct restore_line *line)
{
    size_t low = 0;
    size_t high = set->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (memcmp(&set->items[mid].id, &line->id, sizeof(line->id)) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < set->count && uuid_eq(&set->items[low].id, &line->id)
               ? &set->items[low]
               : NULL;
}

static bool is_new(const struct known_set *set, const struct restore_line *line)
{
    const struct known *known = known_find(set, line);

    return !line->is_twice && !line->is_gone &&
           !(known && known->version >= line->version);
}

static int by_id_and_place(const void *a, const void *b)
{
    const struct restore_line *left = *(struct restore_line *const *)a;
    const struct restore_line *right = *(struct restore_line *const *)b;
    int order = uuid_cmp(&left->id, &right->id);

    return order != 0 ? order : left < right ? -1 : left > right;
}

/* Of rows that do not change the first line counts: who puts two exports into
 * one file has some twice. */
static enum clew_status mark_twice(struct restore_work *work, size_t kind,
                                   struct clew_error *err)
{
    struct restore_line **lines =
        arena_zero(work->arena, work->count + 1, sizeof(*lines));
    size_t n = 0;

    if (!lines) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        if (work->lines[i].kind == kind) {
            lines[n++] = &work->lines[i];
        }
    }
    qsort((void *)lines, n, sizeof(struct restore_line *), by_id_and_place);
    for (size_t i = 1; i < n; i++) {
        lines[i]->is_twice = uuid_eq(&lines[i]->id, &lines[i - 1]->id);
    }
    return CLEW_OK;
}

static enum clew_status add_known(struct store_tx *tx, const struct db_sql *sql,
                                  const struct uuid *ids, size_t n_ids,
                                  struct known_set *set, struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, sql, DB_ARGS(db_uuids(ids, n_ids)), &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    while (set->count < 4 * n_ids && db_next(&rows)) {
        set->items[set->count++] =
            (struct known){db_get_uuid(&rows, 0), db_get_int(&rows, 1)};
    }
    return db_end(&rows, err);
}

/* The rows of one kind's lines that are stored. */
static enum clew_status find_known(struct store_tx *tx,
                                   const struct restore_work *work, size_t kind,
                                   struct known_set *set,
                                   struct clew_error *err)
{
    struct uuid *ids =
        arena_zero(work->arena, work->count + 1, sizeof(struct uuid));
    size_t n_ids = 0;
    enum clew_status status;

    set->items =
        arena_zero(work->arena, 4 * work->count + 1, sizeof(struct known));
    set->count = 0;
    if (!ids || !set->items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        if (work->lines[i].kind == kind) {
            ids[n_ids++] = work->lines[i].id;
        }
    }
    if (n_ids == 0) {
        return CLEW_OK;
    }
    status = add_known(tx, &export_sql_of(kind)->known, ids, n_ids, set, err);
    qsort(set->items, set->count, sizeof(*set->items), by_id);
    return status;
}

/* --- claims and chain updates --- */

static struct uuid id_of(const struct restore_line *line, size_t column)
{
    struct uuid id = {{0}};

    (void)restore_id_at(line, column, &id); /* nil if there is none */
    return id;
}

static struct str text_of(const struct db_value *value)
{
    return (struct str){value->p, value->len};
}

/* As claim_columns of export_kinds.c has them. */
static enum clew_status write_claim(struct store_tx *tx,
                                    struct restore_work *work,
                                    struct restore_line *line,
                                    struct clew_error *err)
{
    const struct db_value *v = line->values;
    struct claim claim = {.chat_id = id_of(line, 0),
                          .seq = v[1].i,
                          .position = v[2].i,
                          .chain_id = id_of(line, 3),
                          .first_byte = v[4].i,
                          .end_byte = v[5].i,
                          .confidence = v[10].r,
                          .created_at_ms = v[12].i};
    bool is_added = false;
    enum clew_status status;

    if (claim.position < 0 || claim.position >= CHAIN_STEP_LOOSE ||
        claim.first_byte < 0 || claim.end_byte < claim.first_byte ||
        uuid_is_nil(&claim.chat_id) || uuid_is_nil(&claim.chain_id) ||
        !claim_type_parse(text_of(&v[6]), &claim.type)) {
        return clew_fail_field(err, "claim", "this is no claim");
    }
    status =
        restore_fit_claim(tx, &claim.chat_id, claim.seq, &line->is_gone, err);
    if (status != CLEW_OK || line->is_gone) {
        work->report.n_forgotten += line->is_gone ? 1 : 0;
        return status;
    }
    status = chain_lines_add_claim(tx, work->arena, &claim, &is_added, err);
    work->report.n_added += is_added ? 1 : 0;
    return status;
}

/* As chain_update_columns has them; what no step tells is a row of its own. */
static enum clew_status fold_update(struct store_tx *tx,
                                    struct restore_work *work,
                                    const struct restore_line *line,
                                    bool *out_folded, struct clew_error *err)
{
    const struct db_value *v = line->values;
    struct chain_event event = {.chain_id = id_of(line, 0),
                                .created_at_ms = v[1].i,
                                .position = v[2].i,
                                .id = id_of(line, 3),
                                .turn_id = id_of(line, 4),
                                .type = text_of(&v[5]),
                                .parent_id = id_of(line, 6),
                                .distance = v[8].type == DB_REAL ? v[8].r : -1,
                                .reasoning = text_of(&v[9])};
    enum chain_fold fold = CHAIN_FOLD_NOT;
    struct buf ids;
    enum clew_status status = CLEW_OK;

    if (uuid_is_nil(&event.turn_id) || uuid_is_nil(&event.chain_id)) {
        return CLEW_OK;
    }
    buf_init(&ids, RESTORE_VALUE_BYTES);
    event.claim_ids = text_of(&v[7]);
    if (v[7].type == DB_BYTES) { /* packed by export_pack() */
        status = unpack(event.claim_ids, &ids);
        event.claim_ids = buf_str(&ids);
    }
    status = status == CLEW_OK
                 ? chain_lines_fold(tx, work->arena, &event, &fold, err)
                 : clew_no_memory(err);
    buf_release(&ids);
    *out_folded = fold != CHAIN_FOLD_NOT;
    work->report.n_added += fold == CHAIN_FOLD_ADDED ? 1 : 0;
    return status;
}

/* --- writing --- */

static enum clew_status write_line(struct store_tx *tx,
                                   struct restore_work *work,
                                   struct restore_line *line,
                                   struct clew_error *err)
{
    const struct export_kind *kind = &export_kinds[line->kind];
    size_t n_values = export_n_stored(kind) + (kind->has_change ? 1 : 0);
    int64_t count = 0;
    bool is_folded = false;
    enum clew_status status = CLEW_OK;

    if (strcmp(kind->type, "claim") == 0) {
        status = write_claim(tx, work, line, err);
        name_row(work, line, status, err);
        return status;
    }
    if (strcmp(kind->type, "chain_update") == 0) {
        status = fold_update(tx, work, line, &is_folded, err);
    }
    if (status != CLEW_OK || is_folded) {
        return status;
    }
    status = db_exec_count(tx, &export_sql_of(line->kind)->insert, line->values,
                           n_values, &count, err);
    if (status == CLEW_OK) {
        work->report.n_added += count > 0 ? 1 : 0;
    }
    if (status == CLEW_CONFLICT) {
        work->conflict = line;
    }
    return status;
}

/* Put the readings among the lines where they belong. */
static enum clew_status write_readings(struct store_tx *tx,
                                       struct restore_work *work,
                                       struct clew_error *err)
{
    struct read_log_item *items =
        arena_zero(work->arena, work->count + 1, sizeof(*items));
    size_t n = 0;
    enum clew_status status;

    if (!items) {
        return clew_no_memory(err);
    }
    for (size_t i = 0; i < work->count; i++) {
        if (work->lines[i].reading.reader.s && !work->lines[i].is_gone) {
            items[n++] = work->lines[i].reading;
        }
    }
    status = n > 0 ? read_log_put(tx, work->arena, items, n, err) : CLEW_OK;
    n = 0;
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        if (work->lines[i].reading.reader.s && !work->lines[i].is_gone) {
            work->lines[i].reading = items[n++];
            work->report.n_added += work->lines[i].reading.is_added ? 1 : 0;
        }
    }
    return status;
}

static enum clew_status write_plain(struct store_tx *tx,
                                    struct restore_work *work, size_t kind,
                                    struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct restore_line *line = &work->lines[i];

        if (line->kind == kind && !line->is_gone && !line->reading.is_kept) {
            status = write_line(tx, work, line, err);
        }
    }
    return status;
}

/* The same for a kind whose rows have change numbers. */
static enum clew_status write_changes(struct store_tx *tx,
                                      struct restore_work *work, size_t kind,
                                      struct clew_error *err)
{
    struct known_set known;
    int64_t change = 0;
    int64_t n_new = 0;
    enum clew_status status = find_known(tx, work, kind, &known, err);

    if (status == CLEW_OK && !export_kinds[kind].version) {
        status = mark_twice(work, kind, err);
    }
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        n_new += work->lines[i].kind == kind && is_new(&known, &work->lines[i]);
    }
    if (status == CLEW_OK && n_new > 0) {
        status = db_take_changes(tx, n_new, &change, err);
    }
    for (size_t i = 0; i < work->count && status == CLEW_OK; i++) {
        struct restore_line *line = &work->lines[i];

        if (line->kind == kind && is_new(&known, line)) {
            line->values[export_n_stored(&export_kinds[kind])] =
                db_int(change++);
            line->is_added = true;
            line->is_fresh = !known_find(&known, line);
            status = write_line(tx, work, line, err);
        }
    }
    return status;
}

/* What comes next comes after all that was imported, in the log as well. */
static enum clew_status pass_log(struct store_tx *tx,
                                 const struct restore_work *work,
                                 struct clew_error *err)
{
    int64_t latest = 0;
    int64_t now = 0;
    enum clew_status status;

    for (size_t i = 0; i < work->count; i++) {
        const struct restore_line *line = &work->lines[i];
        const struct export_kind *kind = &export_kinds[line->kind];

        for (size_t k = 0; k < kind->n_columns; k++) {
            bool is_place = strcmp(kind->columns[k].name, "log_seq") == 0 ||
                            (k == 0 && strcmp(kind->type, "action") == 0);

            if (is_place && line->values[k].type == DB_INT &&
                line->values[k].i > latest) {
                latest = line->values[k].i;
            }
        }
    }
    if (latest == 0) {
        return CLEW_OK;
    }
    status = db_take_changes(tx, 1, &now, err);
    return status == CLEW_OK && latest > now
               ? db_take_changes(tx, latest - now, &now, err)
               : status;
}

static enum clew_status do_restore(struct store_tx *tx, void *arg,
                                   struct clew_error *err)
{
    struct restore_work *work = arg;
    enum clew_status status = CLEW_OK;

    work->report = (struct restore_report){.n_rows = (int64_t)work->count};
    for (size_t i = 0; i < work->count; i++) {
        work->lines[i].is_gone = false; /* it may be done once more */
        work->lines[i].is_added = false;
    }
    work->conflict = NULL;
    work->has_nameless = false;
    for (size_t i = 0; i < export_n_kinds && status == CLEW_OK; i++) {
        status = restore_mark_gone(tx, work, i, err);
        if (status == CLEW_OK) {
            status = restore_mark_set(tx, work, i, err);
        }
        if (status == CLEW_OK) {
            status = restore_blank(tx, work, i, err);
        }
        if (status == CLEW_OK && strcmp(export_kinds[i].type, "action") == 0) {
            status = write_readings(tx, work, err); /* after the turns */
        }
        if (status != CLEW_OK) {
            return status;
        }
        status = export_kinds[i].has_change ? write_changes(tx, work, i, err)
                                            : write_plain(tx, work, i, err);
    }
    if (status == CLEW_OK && work->has_nameless) {
        status = chain_lines_name(work->engine, tx, work->arena, err);
    }
    if (status == CLEW_OK) {
        status = restore_unbury(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = restore_find_buried(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = restore_fit(tx, work, err);
    }
    if (status == CLEW_OK) {
        status = pass_log(tx, work, err);
    }
    return status == CLEW_OK && work->report.n_added > 0
               ? rebuild_later(work->engine, tx, work->arena,
                               clock_now_ms(work->engine->clock), err)
               : status;
}

/* What was forgotten where the lines come from goes here, too, and so do
 * memories that were made elsewhere of what was forgotten here. */
static enum clew_status forget_also(struct restore_work *work,
                                    const struct scope *scope,
                                    struct clew_error *err)
{
    struct forget_input turns = {.turn_ids = work->buried,
                                 .n_turn_ids = work->n_buried};
    struct forget_input memories = {.memory_ids = work->orphans,
                                    .n_memory_ids = work->n_orphans,
                                    .at_ms = work->orphans_since_ms};
    struct forget_receipt receipt;
    enum clew_status status = CLEW_OK;

    if (work->n_buried > 0) {
        status =
            forget_run(work->engine, scope, work->arena, &turns, &receipt, err);
    }
    if (work->n_orphans > 0 &&
        (status == CLEW_OK || status == CLEW_NOT_FOUND)) {
        status = forget_run(work->engine, scope, work->arena, &memories,
                            &receipt, err);
        work->report.n_forgotten += (int64_t)work->n_orphans;
    }
    return status == CLEW_NOT_FOUND ? CLEW_OK : status; /* another did */
}

/* In words of its own: the store tells of a statement. */
static void tell_conflict(const struct restore_work *work,
                          struct clew_error *err)
{
    (void)clew_fail(err, CLEW_CONFLICT, "a \"%s\" contradicts what is stored",
                    export_kinds[work->conflict->kind].type);
    if (err) {
        (void)snprintf(err->field, sizeof(err->field), "rows[%zu]",
                       (size_t)(work->conflict - work->lines));
    }
}

enum clew_status restore_rows(struct engine *engine, const struct scope *scope,
                              struct arena *arena,
                              const struct restore_input *input,
                              struct restore_report *out,
                              struct clew_error *err)
{
    struct restore_work work = {.engine = engine,
                                .arena = arena,
                                .count = json_array_size(input->lines),
                                .brings_back = input->brings_back,
                                .sent_at_ms = input->sent_at_ms};
    enum clew_status status;

    if (work.count > RESTORE_MAX_ROWS) {
        return clew_fail_field(err, "rows", "at most %d rows at once",
                               RESTORE_MAX_ROWS);
    }
    if (work.sent_at_ms == 0) {
        work.sent_at_ms = clock_now_ms(engine->clock);
    }
    work.lines = arena_zero(arena, work.count + 1, sizeof(*work.lines));
    if (!work.lines) {
        return clew_no_memory(err);
    }
    status = read_lines(&work, input->lines, err);
    if (status == CLEW_OK) {
        status = store_write(engine->store, scope, do_restore, &work, err);
    }
    if (status == CLEW_CONFLICT && work.conflict) {
        tell_conflict(&work, err);
    }
    if (status == CLEW_OK) {
        status = forget_also(&work, scope, err);
    }
    if (status == CLEW_OK) {
        *out = work.report;
    }
    return status;
}

enum clew_status restore_look(struct arena *arena, const json_t *json,
                              struct clew_error *err)
{
    struct restore_line line = {.kind = 0};

    return read_line(arena, json, &line, err);
}
