/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_value.c - fields of a line to values. See restore_value.h.
 */
#include "engine/proof/restore_value.h"

#include "base/sha256.h"
#include "engine/chat/content_redact.h"
#include "engine/chat/turn.h"
#include "engine/core/action.h"
#include "engine/core/redact.h"
#include "engine/proof/secrets.h"
#include "engine/read/gist.h"

#include <string.h>

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
    if (status == CLEW_OK && uuid_is_nil(id)) { /* nothing has this one */
        return clew_fail_field(err, field, "\"%s\" is the nil id", field);
    }
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
        status = json_get_int(json, field, JSON_OPTIONAL, -EXPORT_MAX_INT,
                              EXPORT_MAX_INT, &number, err);
        *out = db_int(number);
        break;
    case EXPORT_HASH:
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

/* --- lines --- */

static enum clew_status check_turn(const json_t *json, struct clew_error *err)
{
    enum turn_role role;
    const char *name = json_string_value(json_object_get(json, "role"));

    if (!name || !turn_role_parse(str_of(name), &role)) {
        return clew_fail_field(err, "role", "\"role\" is none of a turn's");
    }
    return CLEW_OK;
}

/* What the index takes. */
static enum clew_status check_gist(const json_t *json, struct clew_error *err)
{
    size_t n = json_string_length(json_object_get(json, "place"));

    return n == 2 * INDEX_GIST_DIM
               ? CLEW_OK
               : clew_fail_field(err, "place", "\"place\" must have %d bytes",
                                 INDEX_GIST_DIM);
}

/* What a rebuild will do again. */
static enum clew_status check_action(const json_t *json, struct clew_error *err)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *text = json_string_value(json_object_get(json, "detail"));
    json_t *detail = NULL;
    bool is_object;

    if (!kind || !action_is_kind(str_of(kind))) {
        return clew_fail_field(err, "kind", "\"kind\" is none of an action's");
    }
    is_object = text && json_parse(str_of(text), &detail, NULL) == CLEW_OK &&
                json_is_object(detail);
    json_decref(detail);
    if (!is_object) {
        return clew_fail_field(err, "detail",
                               "\"detail\" must be an object, as text");
    }
    if (json_integer_value(json_object_get(json, "seq")) < 1) {
        return clew_fail_field(err, "seq", "\"seq\" must be 1 or more");
    }
    return CLEW_OK;
}

enum clew_status restore_check(const struct export_kind *kind,
                               const json_t *json, struct clew_error *err)
{
    static const struct {
        const char *type;
        enum clew_status (*check)(const json_t *json, struct clew_error *err);
    } checks[] = {
        {"turn", check_turn},
        {"action", check_action},
        {GIST_KIND, check_gist},
    };

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (strcmp(kind->type, checks[i].type) == 0) {
            return checks[i].check(json, err);
        }
    }
    return CLEW_OK;
}

/* --- rows --- */

enum clew_status restore_redact(const struct engine *engine,
                                struct arena *arena,
                                const struct export_kind *kind,
                                struct db_value *values, struct clew_error *err)
{
    struct db_value *text = NULL;
    struct db_value *content = NULL;
    enum clew_status status = CLEW_OK;

    for (size_t i = 0; i < kind->n_columns && status == CLEW_OK; i++) {
        struct db_value *value = &values[i];
        enum secrets_form form =
            secrets_form_of(kind->type, export_field(&kind->columns[i]));
        struct str was = {value->p, value->len};

        if (form == SECRETS_NONE) {
            continue;
        }
        if (strcmp(kind->type, "turn") == 0) {
            text = form == SECRETS_TEXT ? value : text;
            content = form == SECRETS_JSON ? value : content;
            continue;
        }
        if (value->type == DB_TEXT) {
            status = form == SECRETS_JSON ? redact_json(arena, &was, err)
                                          : redact_str(arena, &was, err);
            *value = db_text(was);
        }
    }
    if (status == CLEW_OK && text && content) {
        struct str said = {text->p, text->len};
        struct str sent = {NULL, 0};

        if (content->type == DB_TEXT) {
            sent = (struct str){content->p, content->len};
        }
        status = content_redact(engine, arena, &said, &sent, err);
        *text = db_text(said);
        *content = db_text(sent);
    }
    return status;
}
