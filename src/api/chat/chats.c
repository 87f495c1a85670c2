/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chats.c - make, list, read, rename, fork and close chats.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "api/answer/turn_out.h"
#include "base/limits.h"
#include "engine/capture/close.h"
#include "engine/chat/chat.h"
#include "engine/chat/timeout.h"
#include "engine/chat/turn.h"

static enum clew_status answer_chat(struct api_call *call,
                                    const struct chat *chat,
                                    struct clew_error *err)
{
    return api_answer(call, form_chat(call->engine, chat), err);
}

enum clew_status chats_post(struct api_call *call, struct clew_error *err)
{
    struct chat_new input = {.sent_at_ms = api_sent_ms(call)};
    struct chat chat;
    enum clew_status status =
        json_get_str(call->body, "user_id", JSON_REQUIRED, LIMIT_NAME_BYTES,
                     &input.user_id, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "channel", JSON_OPTIONAL,
                              LIMIT_NAME_BYTES, &input.channel, err);
    }
    if (status == CLEW_OK) {
        status = api_body_text(call, "title", JSON_OPTIONAL, LIMIT_TITLE_BYTES,
                               &input.title, err);
    }
    if (status == CLEW_OK) {
        status =
            json_get_int(call->body, "inactivity_minutes", JSON_OPTIONAL, 1,
                         TIMEOUT_MAX_MINUTES, &input.inactivity_minutes, err);
    }
    if (status == CLEW_OK) {
        status = chat_create(call->engine, &call->scope, call->arena, &input,
                             &chat, err);
    }
    call->http_status = 201;
    return status == CLEW_OK ? answer_chat(call, &chat, err) : status;
}

static json_t *form_chat_row(const struct api_call *call, const void *row)
{
    return form_chat(call->engine, row);
}

static struct str mark_activity(struct api_call *call, const void *row)
{
    const struct chat *chat = row;

    return api_mark(call, chat_sort_number(chat, CHAT_BY_ACTIVITY), &chat->id);
}

static struct str mark_start(struct api_call *call, const void *row)
{
    const struct chat *chat = row;

    return api_mark(call, chat_sort_number(chat, CHAT_BY_START), &chat->id);
}

static struct str mark_turns(struct api_call *call, const void *row)
{
    const struct chat *chat = row;

    return api_mark(call, chat_sort_number(chat, CHAT_BY_TURNS), &chat->id);
}

static const struct {
    const char *name;
    struct str (*mark)(struct api_call *call, const void *row);
} sorts[] = {
    [CHAT_BY_ACTIVITY] = {"activity", mark_activity},
    [CHAT_BY_START] = {"created", mark_start},
    [CHAT_BY_TURNS] = {"turns", mark_turns},
};

static enum clew_status read_sort(const struct api_call *call,
                                  enum chat_sort *out, struct clew_error *err)
{
    struct str name = {0};
    enum clew_status status =
        api_query_str(call, "sort", LIMIT_NAME_BYTES, &name, err);

    if (status != CLEW_OK || !name.s) {
        return status;
    }
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
        if (str_eq(name, str_of(sorts[i].name))) {
            *out = (enum chat_sort)i;
            return CLEW_OK;
        }
    }
    return clew_fail_field(err, "sort",
                           "\"sort\" must be activity, created or turns");
}

static enum clew_status read_filter(const struct api_call *call,
                                    struct chat_filter *filter,
                                    struct clew_error *err)
{
    enum clew_status status =
        api_query_str(call, "user_id", LIMIT_NAME_BYTES, &filter->user_id, err);

    if (status == CLEW_OK) {
        status =
            api_query_str(call, "q", LIMIT_TITLE_BYTES, &filter->query, err);
    }
    if (status == CLEW_OK) {
        status = read_sort(call, &filter->sort, err);
    }
    if (status == CLEW_OK) {
        status = api_query_time(call, "since", &filter->since_ms, err);
    }
    return status == CLEW_OK
               ? api_query_time(call, "until", &filter->until_ms, err)
               : status;
}

enum clew_status chats_list(struct api_call *call, struct clew_error *err)
{
    struct chat_filter filter = {0};
    struct chat *chats = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = read_filter(call, &filter, err);
    }
    if (status == CLEW_OK) {
        status =
            api_mark_parse(&page, &filter.after_number, &filter.after_id, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    filter.limit = page.limit + 1; /* one more tells whether there is more */
    status = chat_list(call->engine, &call->scope, call->arena, &filter, &chats,
                       &count, err);
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(chats, count, form_chat_row,
                                          sorts[filter.sort].mark),
                                 err)
               : status;
}

API_BY_ID(chats_get, struct chat, chat_get, form_chat_row)

enum clew_status chats_patch(struct api_call *call, struct clew_error *err)
{
    struct chat_change change = {0};
    struct str title = {0};
    int64_t minutes = 0;
    struct uuid id;
    struct chat chat;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = api_body_text(call, "title", JSON_OPTIONAL, LIMIT_TITLE_BYTES,
                               &title, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(call->body, "inactivity_minutes", JSON_OPTIONAL,
                              1, TIMEOUT_MAX_MINUTES, &minutes, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    change.title = title.s ? &title : NULL;
    change.inactivity_minutes = minutes ? &minutes : NULL;
    status = chat_patch(call->engine, &call->scope, call->arena, &id, &change,
                        &chat, err);
    return status == CLEW_OK ? answer_chat(call, &chat, err) : status;
}

static struct str mark_turn(struct api_call *call, const void *row)
{
    const struct turn *turn = row;

    return api_mark(call, turn->seq, &turn->id);
}

/* Back from a turn: the page before it, oldest first. The next one back begins
 * before the first of these. */
static enum clew_status turns_before(struct api_call *call,
                                     const struct uuid *id, int64_t before_seq,
                                     int64_t limit, struct clew_error *err)
{
    struct turn *turns = NULL;
    size_t count = 0;
    enum clew_status status =
        turn_list_before(call->engine, &call->scope, call->arena, id,
                         before_seq, limit, &turns, &count, err);

    return status == CLEW_OK ? turns_answer(call, NULL, turns, count, NULL, err)
                             : status;
}

enum clew_status chats_turns(struct api_call *call, struct clew_error *err)
{
    struct turn *turns = NULL;
    struct api_page page;
    struct uuid id;
    struct uuid last_id;
    int64_t after_seq = 0;
    int64_t before_seq = 0;
    size_t count = 0;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = api_page_of(call, &page, err);
    }
    if (status == CLEW_OK) {
        status =
            api_query_int(call, "before_seq", 1, INT64_MAX, &before_seq, err);
    }
    if (status == CLEW_OK && before_seq) {
        return turns_before(call, &id, before_seq, page.limit, err);
    }
    if (status == CLEW_OK) {
        status =
            api_query_int(call, "after_seq", 0, INT64_MAX, &after_seq, err);
    }
    if (status == CLEW_OK) {
        status = api_mark_parse(&page, &after_seq, &last_id, err);
    }
    if (status == CLEW_OK) {
        status = turn_list(call->engine, &call->scope, call->arena, &id,
                           after_seq, page.limit + 1, &turns, &count, err);
    }
    return status == CLEW_OK
               ? turns_answer(call, &page, turns, count, mark_turn, err)
               : status;
}

enum clew_status chats_fork(struct api_call *call, struct clew_error *err)
{
    struct str title = {0};
    struct chat_origin origin = {.at_seq = -1}; /* at the end */
    struct uuid id;
    struct chat chat;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = api_body_fork(call, &origin, err);
    }
    if (status == CLEW_OK) {
        status = api_body_text(call, "title", JSON_OPTIONAL, LIMIT_TITLE_BYTES,
                               &title, err);
    }
    if (status == CLEW_OK && origin.subtask.s && title.s) {
        status = clew_fail_field(err, "subtask",
                                 "\"subtask\" goes with no other field");
    }
    if (status == CLEW_OK && origin.subtask.s) {
        status = chat_fork_subtask(call->engine, &call->scope, call->arena, &id,
                                   origin.subtask, &chat, err);
    } else if (status == CLEW_OK) {
        status = chat_fork_at(call->engine, &call->scope, call->arena, &id,
                              origin.at_seq, title, &chat, err);
    }
    call->http_status = 201;
    return status == CLEW_OK ? answer_chat(call, &chat, err) : status;
}

enum clew_status chats_tree(struct api_call *call, struct clew_error *err)
{
    struct chat *chats = NULL;
    struct uuid id;
    size_t count = 0;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = chat_tree(call->engine, &call->scope, call->arena, &id, &chats,
                           &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    status = api_answer_rows(call, NULL,
                             API_ROWS(chats, count, form_chat_row, NULL), err);
    if (status == CLEW_OK && count > 0 &&
        !json_set_uuid(call->out, "conversation_id",
                       &chats[0].conversation_id)) {
        status = clew_no_memory(err);
    }
    return status;
}

API_BY_ID(chats_close, struct chat, chat_close, form_chat_row)
