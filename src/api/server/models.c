/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models.c - which embedding models there are, as one tenant sees them.
 */
#include "api/handlers.h"

#include "engine/feed/model_list.h"

enum clew_status models_list(struct api_call *call, struct clew_error *err)
{
    json_t *items = NULL;
    enum clew_status status =
        model_list(call->engine, &call->scope, call->arena, &items, err);

    return status == CLEW_OK ? api_list(call, items, NULL, err) : status;
}
