/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers.c - which programs called, and when each last did.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/clock.h"
#include "engine/core/engine.h"
#include "engine/key/caller.h"

static json_t *form_caller(const struct api_call *call, const void *row)
{
    const struct caller *caller = row;
    json_t *out = json_object();

    (void)call;
    return form_finish(out,
                       out && json_set_str(out, "name", caller->name) &&
                           json_set_str(out, "via", caller->via) &&
                           form_set_time(out, "last_at", caller->last_at_ms));
}

enum clew_status callers_list(struct api_call *call, struct clew_error *err)
{
    struct caller *callers = NULL;
    size_t count = 0;
    enum clew_status status = caller_list(call->engine, &call->scope,
                                          call->arena, &callers, &count, err);

    return status == CLEW_OK
               ? api_answer_rows(call, NULL,
                                 API_ROWS(callers, count, form_caller, NULL),
                                 err)
               : status;
}

/* For who only reads: the call is noted as any other would be that stores. */
enum clew_status callers_post(struct api_call *call, struct clew_error *err)
{
    struct caller caller = {
        .name = caller_name(http_header_of(call->request, CALLER_HEADER)),
        .via = STR(CALLER_API),
        .last_at_ms = clock_now_ms(call->engine->clock)};
    enum clew_status status;

    if (caller.name.len == 0) {
        return clew_fail_field(err, CALLER_HEADER,
                               CALLER_HEADER " must name the program");
    }
    status = caller_note(call->engine, &call->scope, caller.name, CALLER_API,
                         caller.last_at_ms, err);
    return status == CLEW_OK ? api_answer(call, form_caller(call, &caller), err)
                             : status;
}
