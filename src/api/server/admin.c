/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin.c - what an admin manages: the tenant's keys and its own word on
 * language models, the settings in force.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/buf.h"
#include "base/config.h"
#include "base/limits.h"
#include "engine/core/consent.h"
#include "engine/core/engine.h"
#include "engine/key/key.h"
#include "engine/key/tenant.h"

#include <string.h>

#define MAX_LABEL_BYTES 200
#define MAX_SETTINGS_BYTES ((size_t)1 << 20)

static json_t *form_key(const struct key *key)
{
    json_t *out = json_object();

    return form_finish(
        out,
        out && json_set_cstr(out, "id", key->id) &&
            json_set_cstr(out, "role", key_role_name(key->role)) &&
            json_set_str(out, "label",
                         key->label ? str_of(key->label) : (struct str){0}) &&
            json_set_time(out, "created_at", &key->created_at_ms) &&
            form_set_time(out, "revoked_at", key->revoked_at_ms));
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_key(row);
}

enum clew_status keys_list(struct api_call *call, struct clew_error *err)
{
    struct key *keys = NULL;
    size_t count = 0;
    enum clew_status status = key_list_in(call->engine, call->arena,
                                          &call->scope, &keys, &count, err);

    return status == CLEW_OK
               ? api_answer_rows(call, NULL,
                                 API_ROWS(keys, count, form_row, NULL), err)
               : status;
}

enum clew_status keys_post(struct api_call *call, struct clew_error *err)
{
    struct str role_name = {0};
    struct str label = {0};
    enum key_role role;
    struct key key;
    char text[KEY_TEXT_SIZE];
    bool is_ok;
    enum clew_status status = json_get_str(call->body, "role", JSON_REQUIRED,
                                           LIMIT_NAME_BYTES, &role_name, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "label", JSON_OPTIONAL,
                              MAX_LABEL_BYTES, &label, err);
    }
    if (status == CLEW_OK && !key_role_parse(role_name, &role)) {
        status = clew_fail_field(err, "role",
                                 "\"role\" must be read, write or admin");
    }
    if (status == CLEW_OK) {
        status = key_create_in(
            call->engine, call->arena, &call->scope, role,
            label.s ? arena_copy(call->arena, label.s, label.len) : NULL, &key,
            text, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->http_status = 201;
    call->out = form_key(&key);
    is_ok = call->out && json_set_cstr(call->out, "key", text);
    explicit_bzero(text, sizeof(text));
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

enum clew_status keys_delete(struct api_call *call, struct clew_error *err)
{
    struct key *keys = NULL;
    size_t count = 0;
    struct str id = call->params[0];
    enum clew_status status =
        key_revoke_in(call->engine, &call->scope, id, err);

    if (status == CLEW_OK) {
        status = key_list_in(call->engine, call->arena, &call->scope, &keys,
                             &count, err);
    }
    for (size_t i = 0; status == CLEW_OK && i < count; i++) {
        if (str_eq(id, str_of(keys[i].id))) {
            call->out = form_key(&keys[i]);
        }
    }
    if (status != CLEW_OK) {
        return status;
    }
    return call->out ? CLEW_OK : clew_no_memory(err);
}

/* --- settings --------------------------------------------------------------
 */

enum clew_status settings_get(struct api_call *call, struct clew_error *err)
{
    json_t *settings = NULL;
    struct buf text;
    enum clew_status status;

    buf_init(&text, MAX_SETTINGS_BYTES);
    status = config_show(call->engine->config, true, &text);
    if (status == CLEW_OK) {
        status = json_parse(buf_str(&text), &settings, NULL);
    }
    buf_release(&text);
    if (status != CLEW_OK) {
        return clew_fail(err, status, "could not show the settings");
    }
    call->out = json_object();
    return json_set(call->out, "settings", settings) &&
                   json_set_cstr(call->out, "version", CLEW_VERSION)
               ? CLEW_OK
               : clew_no_memory(err);
}

enum clew_status tenant_show(struct api_call *call, struct clew_error *err)
{
    struct tenant tenant = {0};
    json_t *out;
    enum clew_status status =
        tenant_get(call->engine, &call->scope, call->arena, &tenant, err);

    if (status != CLEW_OK) {
        return status;
    }
    out = json_object();
    return api_answer(
        call,
        form_finish(
            out,
            out && json_set_str(out, "name", tenant.name) &&
                json_set_cstr(out, "llm",
                              tenant.forbids_llm ? "forbidden" : "allowed") &&
                form_set_time(out, "now", clock_now_ms(call->engine->clock))),
        err);
}

enum clew_status tenant_patch(struct api_call *call, struct clew_error *err)
{
    struct str llm = {0};
    enum clew_status status = json_get_str(call->body, "llm", JSON_REQUIRED,
                                           LIMIT_NAME_BYTES, &llm, err);
    bool is_forbidden = str_eq(llm, STR("forbidden"));

    if (status == CLEW_OK && !is_forbidden && !str_eq(llm, STR("allowed"))) {
        return clew_fail_field(err, "llm",
                               "\"llm\" must be allowed or forbidden");
    }
    if (status == CLEW_OK) {
        status = consent_set(call->engine, &call->scope, is_forbidden, err);
    }
    return status == CLEW_OK ? tenant_show(call, err) : status;
}
