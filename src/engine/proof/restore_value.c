/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_value.c - a field of a line to a value. See restore_value.h.
 */
#include "engine/proof/restore_value.h"

#include "base/sha256.h"

#define BYTES_BYTES (16u << 20)

static enum clew_status read_bytes(struct arena *arena, const json_t *json,
                                   const char *field, struct db_value *out,
                                   struct clew_error *err)
{
    struct str hex = {NULL, 0};
    unsigned char *bytes;
    enum clew_status status =
        json_get_str(json, field, JSON_OPTIONAL, 2 * BYTES_BYTES, &hex, err);

    if (status != CLEW_OK || !hex.s) {
        return status;
    }
    bytes = arena_zero(arena, hex.len / 2 + 1, 1);
    if (!bytes) {
        return clew_no_memory(err);
    }
    if (hex.len % 2 != 0 || !hex_parse(hex, bytes, hex.len / 2)) {
        return clew_fail_field(err, field, "\"%s\" must be hexadecimal", field);
    }
    *out = db_bytes(bytes, hex.len / 2);
    return CLEW_OK;
}

static enum clew_status read_id(struct arena *arena, const json_t *json,
                                const char *field, struct db_value *out,
                                struct clew_error *err)
{
    struct uuid *id = arena_zero(arena, 1, sizeof(*id));
    enum clew_status status;

    if (!id) {
        return clew_no_memory(err);
    }
    status = json_get_uuid(json, field, JSON_OPTIONAL, id, err);
    *out = db_uuid(id);
    return status;
}

enum clew_status restore_value(struct arena *arena, const json_t *json,
                               const struct export_column *column,
                               struct db_value *out, struct clew_error *err)
{
    const char *field = export_field(column);
    enum clew_status status = CLEW_INTERNAL;
    struct str text = {NULL, 0};
    int64_t number = 0;
    double real = 0;

    switch (column->type) {
    case EXPORT_ID:
        return read_id(arena, json, field, out, err);
    case EXPORT_BYTES:
        return read_bytes(arena, json, field, out, err);
    case EXPORT_TEXT:
    case EXPORT_PACKED:
    case EXPORT_BESIDE:
        status = json_get_str(json, field, JSON_OPTIONAL, RESTORE_VALUE_BYTES,
                              &text, err);
        *out = db_text(text);
        break;
    case EXPORT_INT:
        status = json_get_int(json, field, JSON_OPTIONAL, INT64_MIN, INT64_MAX,
                              &number, err);
        *out = db_int(number);
        break;
    case EXPORT_TIME:
        status = json_get_time(json, field, JSON_OPTIONAL, &number, err);
        *out = db_int(number);
        break;
    case EXPORT_REAL:
        status = json_get_real(json, field, JSON_OPTIONAL, -1e300, 1e300, &real,
                               err);
        *out = db_real(real);
        break;
    }
    return status;
}
