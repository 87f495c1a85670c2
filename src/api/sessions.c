/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.c - end a work period.
 */
#include "api/handlers.h"

#include "api/forms.h"
#include "engine/session.h"

enum clew_status sessions_end(struct api_call *call, struct clew_error *err)
{
    struct uuid id;
    struct session session;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = session_end(call->engine, &call->scope, call->arena, &id,
                             &session, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = form_session(&session);
    return call->out ? CLEW_OK : api_no_memory(err);
}
