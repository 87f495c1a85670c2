/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_pack.c - columns that are kept packed, in rows and in lines. See
 * export_kinds.h.
 */
#include "engine/proof/export_kinds.h"

#include "engine/core/rows.h"

#include <string.h>

/* What is packed beside what, by their names in a line. */
static const struct {
    const char *type;
    const char *field;
    const char *beside;
} besides[] = {
    {"memory", "fields", "summary"},
    {"episode", "meso", "micro"},
    {"episode", "macro", "micro"},
};

bool export_is_packed(enum export_type type)
{
    return type == EXPORT_PACKED || type == EXPORT_BESIDE;
}

const char *export_plain_value(const struct export_column *column)
{
    return column->is_optional ? "NULL" : "''";
}

int export_beside(const struct export_kind *kind, size_t column)
{
    const char *field = export_field(&kind->columns[column]);

    for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++) {
        if (strcmp(besides[i].type, kind->type) != 0 ||
            strcmp(besides[i].field, field) != 0) {
            continue;
        }
        for (size_t k = 0; k < kind->n_columns; k++) {
            if (strcmp(kind->columns[k].name, besides[i].beside) == 0) {
                return (int)k;
            }
        }
    }
    return -1;
}

bool export_unpack(struct arena *arena, const struct db_rows *rows,
                   const struct export_kind *kind, int column, struct str *out)
{
    int beside = export_beside(kind, (size_t)column);
    int plain = (int)kind->n_columns;
    struct str text = {NULL, 0};

    for (int i = 0; i < column; i++) {
        plain += export_is_packed(kind->columns[i].type) ? 1 : 0;
    }
    if (beside >= 0) {
        text = db_get_text(rows, beside);
    }
    return rows_packed_beside(arena, rows, column, plain, text, out);
}

bool export_pack_text(struct arena *arena, const struct export_column *column,
                      struct str text, struct str beside, struct db_value *out)
{
    return column->type == EXPORT_BESIDE
               ? rows_pack_beside(arena, text, beside, out)
               : rows_pack(arena, text, out);
}

bool export_pack(struct arena *arena, const struct export_kind *kind,
                 struct db_value *values)
{
    bool is_ok = true;

    for (size_t i = 0; i < kind->n_columns && is_ok; i++) {
        int at = export_beside(kind, i);
        struct str beside = {NULL, 0};

        if (at >= 0 && values[at].type == DB_TEXT) {
            beside = (struct str){values[at].p, values[at].len};
        }
        if (export_is_packed(kind->columns[i].type) &&
            values[i].type == DB_TEXT) {
            is_ok = export_pack_text(arena, &kind->columns[i],
                                     (struct str){values[i].p, values[i].len},
                                     beside, &values[i]);
        }
    }
    return is_ok;
}
