/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.c - bring a store's schema up to what this program expects.
 *
 * Migrations are numbered files of SQL embedded in the program. The table
 * schema_migrations remembers which were applied, with a checksum: one that
 * was changed afterwards, or that this program does not know, stops the open.
 * All that are missing are applied in one transaction which excludes every
 * other migration, so two programs may start at once.
 *
 * A line "--@ system NAME" marks a table that system transactions see whole.
 * Lines between "--@ only BACKEND" and "--@ only end" are for one backend.
 */
#include "store/driver.h"

#include "base/buf.h"
#include "base/sha256.h"

#include <string.h>

/* Text of one migration with its types filled in. */
#define MAX_SCRIPT_BYTES (1024u * 1024)
/* Begins and ends what one backend alone does. */
#define ONLY "--@ only "
/* Attempts that end in CLEW_BUSY. */
#define MAX_TRIES 5

struct migration {
    int64_t number;
    const char *name;
    const unsigned char *text;
    size_t len;
};

#include "store/migrations.inc"

#define N_MIGRATIONS (sizeof(migrations) / sizeof(migrations[0]))

static const char create_table[] =
    "CREATE TABLE schema_migrations (number {int} NOT NULL PRIMARY KEY, "
    "name {text} NOT NULL, checksum {text} NOT NULL\n);\n";

DB_SQL_SYSTEM(list_applied, "SELECT number, checksum FROM schema_migrations "
                            "ORDER BY number");
DB_SQL_SYSTEM(add_applied, "INSERT INTO schema_migrations "
                           "(number, name, checksum) VALUES ($1, $2, $3)");

static struct str text_of(const struct migration *m)
{
    return (struct str){(const char *)m->text, m->len};
}

/* `text` begins with a line ONLY: how much of it this backend leaves out. */
static size_t skip_others(const struct driver_ops *ops, struct str text)
{
    struct str rest = text;
    struct str line = {NULL, 0};
    bool has_line = str_split(&rest, '\n', &line);
    struct str whom = str_trim(str_sub(line, strlen(ONLY), line.len));

    if (!str_eq(whom, STR("end")) && !str_eq(whom, str_of(ops->name))) {
        do {
            has_line = str_split(&rest, '\n', &line);
        } while (has_line && !str_starts(line, STR(ONLY)));
    }
    return has_line ? (size_t)(line.s - text.s) + line.len : text.len;
}

/* The script with types and table ends as this backend wants them. */
static enum clew_status fill_in(const struct driver_ops *ops, struct str text,
                                struct buf *out)
{
    const struct {
        struct str from;
        const char *to;
    } words[] = {
        {STR("{int}"), ops->type_int},
        {STR("{real}"), ops->type_real},
        {STR("{text}"), ops->type_text},
        {STR("{bytes}"), ops->type_bytes},
        {STR("{id}"), ops->type_id},
        {STR("\n);"), ops->table_end},
        {STR("\n) {keyed};"), ops->keyed_end},
    };
    size_t at = 0;

    while (at < text.len) {
        struct str rest = str_sub(text, at, text.len);
        size_t i = 0;

        if (str_starts(rest, STR(ONLY))) {
            at += skip_others(ops, rest);
            continue;
        }
        while (i < sizeof(words) / sizeof(words[0]) &&
               !str_starts(rest, words[i].from)) {
            i++;
        }
        if (i < sizeof(words) / sizeof(words[0])) {
            buf_append_cstr(out, words[i].to);
            at += words[i].from.len;
        } else {
            buf_append_char(out, text.s[at++]);
        }
    }
    return buf_status(out);
}

/* Names of all marked tables, comma-separated. */
static enum clew_status list_system(struct buf *out)
{
    for (size_t i = 0; i < N_MIGRATIONS; i++) {
        struct str rest = text_of(&migrations[i]);
        struct str line;

        while (str_split(&rest, '\n', &line)) {
            if (str_starts(line, STR("--@ system "))) {
                if (out->len > 0) {
                    buf_append_char(out, ',');
                }
                buf_append_str(out, str_trim(str_sub(line, 11, line.len)));
            }
        }
    }
    return buf_status(out);
}

/* Compare one row of the table with what is known here. */
static enum clew_status check_applied(int64_t number, struct str checksum,
                                      bool is_applied[N_MIGRATIONS],
                                      struct clew_error *err)
{
    char expected[SHA256_HEX_SIZE];

    for (size_t i = 0; i < N_MIGRATIONS; i++) {
        if (migrations[i].number != number) {
            continue;
        }
        sha256_hex_of(text_of(&migrations[i]), expected);
        if (!str_eq(checksum, str_of(expected))) {
            return clew_fail(err, CLEW_CORRUPT,
                             "migration %lld differs from the one applied",
                             (long long)number);
        }
        is_applied[i] = true;
        return CLEW_OK;
    }
    return clew_fail(err, CLEW_NEWER_SCHEMA,
                     "a newer clew wrote this store (it has migration %lld): "
                     "install that version",
                     (long long)number);
}

static enum clew_status read_applied(struct store_tx *tx,
                                     bool is_applied[N_MIGRATIONS],
                                     struct clew_error *err)
{
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &list_applied, DB_NO_ARGS, &rows, err);
    enum clew_status ended;

    while (status == CLEW_OK && db_next(&rows)) {
        status = check_applied(db_get_int(&rows, 0), db_get_text(&rows, 1),
                               is_applied, err);
    }
    ended = db_end(&rows, status == CLEW_OK ? err : NULL);
    return status == CLEW_OK ? ended : status;
}

static enum clew_status run_script(struct store_tx *tx, struct str text,
                                   struct clew_error *err)
{
    struct buf script;
    enum clew_status status;

    buf_init(&script, MAX_SCRIPT_BYTES);
    status = fill_in(tx->ops, text, &script);
    if (status != CLEW_OK) {
        status = clew_fail(err, status, "could not prepare a migration");
    } else {
        status = tx->ops->script(tx->conn, script.data, err);
    }
    buf_release(&script);
    return status;
}

static enum clew_status apply(struct store_tx *tx, const struct migration *m,
                              struct clew_error *err)
{
    char checksum[SHA256_HEX_SIZE];
    enum clew_status status = run_script(tx, text_of(m), err);

    if (status != CLEW_OK) {
        return status;
    }
    sha256_hex_of(text_of(m), checksum);
    return db_exec_count(
        tx, &add_applied,
        DB_ARGS(db_int(m->number), db_cstr(m->name), db_cstr(checksum)), NULL,
        err);
}

/* Make all changes, in order. */
static enum clew_status apply_missing(struct store_tx *tx,
                                      const bool is_applied[N_MIGRATIONS],
                                      struct clew_error *err)
{
    struct buf system_tables;
    enum clew_status status = tx->ops->start_changes(tx->conn, err);

    buf_init(&system_tables, MAX_SCRIPT_BYTES);
    for (size_t i = 0; i < N_MIGRATIONS && status == CLEW_OK; i++) {
        if (!is_applied[i]) {
            status = apply(tx, &migrations[i], err);
        }
    }
    if (status == CLEW_OK && list_system(&system_tables) != CLEW_OK) {
        status = clew_fail(err, CLEW_NO_MEMORY, "could not migrate");
    }
    if (status == CLEW_OK) {
        status = tx->ops->end_migration(tx->conn, system_tables.data, err);
    }
    buf_release(&system_tables);
    return status;
}

static bool has_all(const bool is_applied[N_MIGRATIONS])
{
    for (size_t i = 0; i < N_MIGRATIONS; i++) {
        if (!is_applied[i]) {
            return false;
        }
    }
    return true;
}

/* Inside the migration's transaction: look again, another program may have
 * been first. */
static enum clew_status look_and_apply(struct store_tx *tx,
                                       struct clew_error *err)
{
    bool is_applied[N_MIGRATIONS] = {false};
    bool is_new = false;
    enum clew_status status = tx->ops->is_new(tx->conn, &is_new, err);

    if (status == CLEW_OK && is_new) {
        status = run_script(tx, str_of(create_table), err);
    }
    if (status == CLEW_OK) {
        status = read_applied(tx, is_applied, err);
    }
    if (status == CLEW_OK && !has_all(is_applied)) {
        status = apply_missing(tx, is_applied, err);
    }
    return status;
}

static enum clew_status is_complete(struct store_tx *tx, bool *out_complete,
                                    bool *out_new, struct clew_error *err)
{
    bool is_applied[N_MIGRATIONS] = {false};
    bool is_new = false;
    enum clew_status status = tx->ops->begin(tx->conn, false, err);

    if (status != CLEW_OK) {
        return status;
    }
    status = tx->ops->enter(tx->conn, 0, false, err);
    if (status == CLEW_OK) {
        status = tx->ops->is_new(tx->conn, &is_new, err);
    }
    if (status == CLEW_OK && !is_new) {
        status = read_applied(tx, is_applied, err);
    }
    tx->ops->rollback(tx->conn);
    *out_complete = has_all(is_applied);
    *out_new = is_new;
    return status;
}

static enum clew_status migrate_once(const struct driver_ops *ops,
                                     struct conn *conn, struct clew_error *err)
{
    struct store_tx tx = {.ops = ops, .conn = conn, .is_write = true};
    enum clew_status status = ops->begin_migration(conn, err);

    if (status == CLEW_OK) {
        status = look_and_apply(&tx, err);
    }
    if (status == CLEW_OK) {
        status = ops->commit(conn, err);
    }
    if (status != CLEW_OK) {
        ops->rollback(conn);
    }
    return status;
}

enum clew_status migrate(const struct driver_ops *ops, struct conn *conn,
                         const struct store_options *options,
                         struct clew_error *err)
{
    struct store_tx look = {.ops = ops, .conn = conn};
    bool is_done = false;
    bool is_new = false;
    enum clew_status status = is_complete(&look, &is_done, &is_new, err);

    if (status != CLEW_OK || is_done) {
        return status;
    }
    if (is_new && options->must_exist) {
        return clew_fail(err, CLEW_NOT_FOUND,
                         "there is no store in this database");
    }
    if (options->is_read_only) {
        return clew_fail(err, CLEW_CONFLICT,
                         "the store must be upgraded before it can be read");
    }
    /* Changing tables may deadlock with programs that are using them. */
    for (int i = 0; i < MAX_TRIES; i++) {
        status = migrate_once(ops, conn, err);
        if (status != CLEW_BUSY) {
            break;
        }
    }
    return status;
}
