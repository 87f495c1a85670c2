/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redacted.c - texts that come in and go out without their secrets.
 */
#include "api/api.h"

#include "engine/chat/turn.h"
#include "engine/core/redact.h"

enum clew_status api_body_text(struct api_call *call, const char *field,
                               enum json_need need, size_t max_bytes,
                               struct str *out, struct clew_error *err)
{
    enum clew_status status =
        json_get_str(call->body, field, need, max_bytes, out, err);

    return status == CLEW_OK ? redact_text(call->engine, call->arena, out, err)
                             : status;
}

enum clew_status api_show_turns(struct api_call *call, struct turn *turns,
                                size_t count, struct clew_error *err)
{
    struct str wish = {NULL, 0};
    enum clew_status status = api_query_str(call, "secrets", 16, &wish, err);
    bool is_verbatim = str_eq(wish, STR("show"));

    if (status == CLEW_OK && wish.len > 0 && !is_verbatim &&
        !str_eq(wish, STR("mask"))) {
        return clew_fail_field(err, "secrets",
                               "\"secrets\" must be mask or show");
    }
    if (status == CLEW_OK && is_verbatim && call->role < API_ROLE_ADMIN) {
        return clew_fail(err, CLEW_FORBIDDEN,
                         "secrets are shown to the role admin only");
    }
    for (size_t i = 0; i < count && status == CLEW_OK; i++) {
        status = redact_show(call->engine, call->arena, is_verbatim,
                             &turns[i].text, &turns[i].content, err);
    }
    return status;
}
