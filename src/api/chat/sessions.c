/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.c - the work periods of a chat: list them, end one.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "engine/capture/close.h"
#include "engine/chat/session.h"

static json_t *form_row(const struct api_call *call, const void *row)
{
    const struct session_view *view = row;
    json_t *out = form_session(&view->session);

    (void)call;
    return form_finish(out, out && json_set_str(out, "summary", view->summary));
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct session_view *view = row;

    return api_mark(call, view->session.started_at_ms, &view->session.id);
}

enum clew_status sessions_list(struct api_call *call, struct clew_error *err)
{
    struct session_view *views = NULL;
    struct uuid chat_id = {{0}};
    struct uuid after_id = {{0}};
    int64_t after_ms = INT64_MIN;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = api_query_uuid(call, "chat_id", &chat_id, err);
    }
    if (status == CLEW_OK && uuid_is_nil(&chat_id)) {
        status = clew_fail_field(err, "chat_id", "\"chat_id\" is required");
    }
    if (status == CLEW_OK) {
        status = api_mark_parse(&page, &after_ms, &after_id, err);
    }
    if (status == CLEW_OK) {
        status = session_list(call->engine, &call->scope, call->arena, &chat_id,
                              after_ms, &after_id, page.limit + 1, &views,
                              &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(views, count, form_row, mark_row),
                                 err)
               : status;
}

static json_t *form_ended(const struct api_call *call, const void *row)
{
    (void)call;
    return form_session(row);
}
API_BY_ID(sessions_end, struct session, session_end, form_ended)
