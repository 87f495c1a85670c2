/* SPDX-License-Identifier: Apache-2.0 */
/*
 * episodes.c - list, read and make episodes' summaries.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/episode/compact.h"
#include "engine/episode/episode.h"

/* A number, or null for what a cross_chat episode does not have. */
static bool set_seq(json_t *out, const char *field, int64_t seq)
{
    return seq ? json_set_int(out, field, seq)
               : json_set(out, field, json_null());
}

static bool set_json(json_t *out, const char *field, struct str text)
{
    json_t *value = NULL;

    if (text.s && json_parse(text, &value, NULL) != CLEW_OK) {
        return false;
    }
    return json_set(out, field, value ? value : json_null());
}

static json_t *form_episode(const struct episode_view *view)
{
    const struct episode *episode = &view->episode;
    json_t *out = json_object();
    bool is_ok =
        out && json_set_uuid(out, "id", &episode->id) &&
        json_set_str(out, "type", episode->type) &&
        json_set_str(out, "user_id", episode->user_id) &&
        json_set_uuid(out, "chat_id", uuid_or_null(&episode->chat_id)) &&
        json_set(out, "chat_ids", form_ids(view->chat_ids, view->n_chat_ids)) &&
        json_set_int(out, "ordinal", episode->ordinal) &&
        set_seq(out, "first_seq", episode->first_seq) &&
        set_seq(out, "last_seq", episode->last_seq) &&
        json_set_bool(out, "compacted", episode->compacted_at_ms != 0) &&
        json_set_int(out, "compacted_seq", episode->compacted_seq) &&
        form_set_time(out, "compacted_at", episode->compacted_at_ms) &&
        json_set_str(out, "cause", episode->cause) &&
        json_set_str(out, "micro", episode->micro) &&
        json_set_str(out, "meso", episode->meso) &&
        json_set_str(out, "macro", episode->macro) &&
        set_json(out, "citations", episode->citations) &&
        json_set_str(out, "method", episode->method) &&
        json_set_real(out, "coverage", episode->coverage) &&
        json_set_time(out, "created_at", &episode->created_at_ms) &&
        json_set_time(out, "updated_at", &episode->updated_at_ms);

    return form_finish(out, is_ok);
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_episode(row);
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct episode_view *view = row;

    return api_mark(call, view->episode.created_at_ms, &view->episode.id);
}

enum clew_status episodes_list(struct api_call *call, struct clew_error *err)
{
    struct episode_view *views = NULL;
    struct uuid chat_id = {{0}};
    struct uuid before_id = {{0}};
    struct str user_id = STR("");
    int64_t before_ms = 0;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = api_query_uuid(call, "chat_id", &chat_id, err);
    }
    if (status == CLEW_OK) {
        status =
            api_query_str(call, "user_id", LIMIT_NAME_BYTES, &user_id, err);
    }
    if (status == CLEW_OK) {
        status = api_mark_parse(&page, &before_ms, &before_id, err);
    }
    if (status == CLEW_OK && !uuid_is_nil(&chat_id)) {
        status = episode_list(call->engine, &call->scope, call->arena, &chat_id,
                              before_ms, &before_id, page.limit + 1, &views,
                              &count, err);
    } else if (status == CLEW_OK) {
        status = episode_list_of(call->engine, &call->scope, call->arena,
                                 user_id, before_ms, &before_id, page.limit + 1,
                                 &views, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(views, count, form_row, mark_row),
                                 err)
               : status;
}

API_BY_ID(episodes_get, struct episode_view, episode_get, form_row)

enum clew_status episodes_compact(struct api_call *call, struct clew_error *err)
{
    struct episode_view *views = NULL;
    size_t count = 0;
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = compact_chat(call->engine, &call->scope, call->arena, &id,
                              &views, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, NULL,
                                 API_ROWS(views, count, form_row, NULL), err)
               : status;
}
