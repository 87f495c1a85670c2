/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.c - what an id begins with, for people who type.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/view/ids.h"

static json_t *form_id(const struct api_call *call, const void *row)
{
    const struct ids_found *found = row;
    json_t *out = json_object();

    (void)call;
    return form_finish(out, out && json_set_cstr(out, "kind", found->kind) &&
                                json_set_uuid(out, "id", &found->id));
}

enum clew_status ids_get(struct api_call *call, struct clew_error *err)
{
    struct ids_found *found = NULL;
    struct str kind = {0};
    size_t count = 0;
    enum clew_status status =
        api_query_str(call, "kind", LIMIT_NAME_BYTES, &kind, err);

    if (status == CLEW_OK && kind.s && !ids_is_kind(kind)) {
        return clew_fail_field(err, "kind", "there is no kind \"%.*s\"",
                               (int)(kind.len > 40 ? 40 : kind.len), kind.s);
    }
    if (status == CLEW_OK) {
        status = ids_find(call->engine, &call->scope, call->arena,
                          call->params[0], kind, &found, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, NULL,
                                 API_ROWS(found, count, form_id, NULL), err)
               : status;
}
