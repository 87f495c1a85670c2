/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_kinds.h - which tables an export holds, and how a row looks in it.
 *
 * One table for both directions: export.c writes a line per row from it,
 * restore.c reads it back. A line is {"type": …, column: value, …}; ids are
 * text, times RFC 3339, bytes hexadecimal; NULL is left out. The tenant and the
 * change numbers are not in it: they belong to the store a row is in.
 *
 * Claims and what turns did to chains are kept together (chain_lines.h): their
 * lines have kinds here, and the rows they are made from have others.
 * Rows derived from others are in it too, so that an import is the same memory
 * at once; left out are vectors (made again), tasks, and starts that wait for
 * an answer. A new table is added here. Thread-safety: immutable; the SQL is
 * made once, on first use.
 */
#ifndef ENGINE_EXPORT_KINDS_H
#define ENGINE_EXPORT_KINDS_H

#include "base/arena.h"
#include "base/str.h"
#include "store/db.h"

#include <stdbool.h>
#include <stddef.h>

#define EXPORT_VERSION 1
#define EXPORT_MAX_COLUMNS 48
#define EXPORT_MAX_KEYS 4
#define EXPORT_MAX_KINDS 64
/* No count and no place gets so far, and every reader of JSON does; from higher
 * ones the next might be past the end of numbers. */
#define EXPORT_MAX_INT (INT64_C(1) << 53)
/* The column of a turn that says where it stands in the log. */
#define EXPORT_LOG_SEQ "log_seq"
/* The version of a row that does not change, as SQL: later than any. */
#define EXPORT_NEVER "9223372036854775807"

enum export_type {
    EXPORT_ID,
    EXPORT_TEXT,
    EXPORT_INT,  /* counted, up to EXPORT_MAX_INT */
    EXPORT_HASH, /* any number: nobody counts on from it */
    EXPORT_TIME,
    EXPORT_REAL,
    EXPORT_BYTES,
    /* A text kept packed (core/rows.h). Its field in a line is also the name of
     * the column that holds it plain, in rows from before; the statements read
     * that one after all others. */
    EXPORT_PACKED,
    /* The same, packed beside another column of its row that is not packed
     * itself (export_beside()): bound anew where that one changes. */
    EXPORT_BESIDE
};

struct export_column {
    const char *name;
    enum export_type type;
    bool is_optional;  /* may be NULL */
    const char *field; /* its name in a line; NULL = the column's */
};

/* How lines and rows are related. */
enum export_form {
    EXPORT_ROWS,  /* a line is a row */
    EXPORT_LINES, /* lines without a table of their own: made from others */
    EXPORT_INNER  /* rows that are not lines: others are made from them */
};

struct export_kind {
    const char *type;  /* of a line: "turn" */
    const char *table; /* "turns"; NULL if there is none */
    const struct export_column *columns;
    size_t n_columns;
    size_t n_keys;   /* the first columns: unique, and the order of lines */
    bool has_change; /* takes a change number; then the id is column "id" */
    /* The column whose larger value is the later state of a row; NULL if rows
     * do not change. */
    const char *version;
    enum export_form form;
};

extern const struct export_kind export_kinds[];
extern const size_t export_n_kinds;

/* Statements of kind number `kind`. */
struct export_sql {
    struct db_sql first; /* $2 = limit */
    struct db_sql next;  /* $2 = limit, $3 … = the key of the last row */
    /* $2 … = those of the columns that are stored, then the change number
     * where there is one */
    struct db_sql insert;
    /* id and version of those among the list $2; only with has_change */
    struct db_sql known;
};
const struct export_sql *export_sql_of(size_t kind);

/* How many columns of a kind are stored: those after follow from other rows,
 * and are in a line only. */
size_t export_n_stored(const struct export_kind *kind);
/* The kind of a line's type; false if there is none. */
bool export_kind_find(struct str type, size_t *out_kind);
/* What a column is called in a line. */
const char *export_field(const struct export_column *column);
/* Is a column of this type kept packed? */
bool export_is_packed(enum export_type type);
/* What then stands in the column that held it plain, as SQL. */
const char *export_plain_value(const struct export_column *column);
/* The column that one of type EXPORT_BESIDE is packed beside; -1: none. */
int export_beside(const struct export_kind *kind, size_t column);
/* The text of a packed column in the current row of a kind's statement; false
 * on OOM. */
bool export_unpack(struct arena *arena, const struct db_rows *rows,
                   const struct export_kind *kind, int column, struct str *out);
/* What is bound for a packed column; `beside` is the text of the column it
 * stands beside. False on OOM. */
bool export_pack_text(struct arena *arena, const struct export_column *column,
                      struct str text, struct str beside, struct db_value *out);
/* Texts of packed columns become what is bound for them. False on OOM. */
bool export_pack(struct arena *arena, const struct export_kind *kind,
                 struct db_value *values);

#endif
