/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memories.c - /api/v1/memories: look at memories and act on them by hand.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "api/answer/turn_out.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "engine/memory/lineage.h"
#include "engine/thought/memory_hand.h"
#include "engine/thought/memory_view.h"

#define MAX_TAGS 50
#define PREVIEW_CHARS 80
#define MAX_TYPE_BYTES 64

static enum clew_status answer_view(struct api_call *call,
                                    const struct memory_view *view,
                                    struct clew_error *err)
{
    return api_answer(call, form_memory(view), err);
}

static enum clew_status read_flag(const struct api_call *call, const char *name,
                                  bool *out, struct clew_error *err)
{
    struct str text = {0};
    enum clew_status status =
        api_query_str(call, name, LIMIT_NAME_BYTES, &text, err);

    if (status != CLEW_OK || !text.s) {
        return status;
    }
    *out = str_eq(text, STR("true"));
    return *out || str_eq(text, STR("false"))
               ? CLEW_OK
               : clew_fail_field(err, name, "\"%s\" must be true or false",
                                 name);
}

/* How a memory stands; "retracted", that it was taken back, is none of the
 * statuses that are stored. */
static enum clew_status read_status(const struct api_call *call,
                                    struct memory_filter *filter,
                                    struct clew_error *err)
{
    static const char *const names[] = {"active", "open", "resolved",
                                        "abandoned"};
    struct str status = {0};
    enum clew_status result =
        api_query_str(call, "status", LIMIT_NAME_BYTES, &status, err);

    if (result != CLEW_OK || status.len == 0) {
        return result;
    }
    filter->is_retracted = str_eq(status, STR("retracted"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (str_eq(status, str_of(names[i]))) {
            filter->status = status;
        }
    }
    return filter->is_retracted || filter->status.s
               ? CLEW_OK
               : clew_fail_field(err, "status",
                                 "\"status\" must be active, open, resolved, "
                                 "abandoned or retracted");
}

static enum clew_status read_filter(struct api_call *call,
                                    struct memory_filter *filter,
                                    struct clew_error *err)
{
    enum clew_status status =
        api_query_str(call, "user_id", LIMIT_NAME_BYTES, &filter->user_id, err);

    if (status == CLEW_OK) {
        status =
            api_query_str(call, "type", LIMIT_NAME_BYTES, &filter->type, err);
    }
    if (status == CLEW_OK) {
        status = read_status(call, filter, err);
    }
    if (status == CLEW_OK) {
        status =
            api_query_str(call, "tag", LIMIT_NAME_BYTES, &filter->tag, err);
    }
    if (status == CLEW_OK) {
        status =
            api_query_str(call, "q", LIMIT_TITLE_BYTES, &filter->query, err);
    }
    if (status == CLEW_OK) {
        status = api_query_str(call, "origin", LIMIT_NAME_BYTES,
                               &filter->origin, err);
    }
    if (status == CLEW_OK) {
        status = api_query_str(call, "agent_id", LIMIT_NAME_BYTES,
                               &filter->agent_id, err);
    }
    if (status == CLEW_OK) {
        status = read_flag(call, "pinned", &filter->is_pinned, err);
    }
    if (status == CLEW_OK) {
        status = read_flag(call, "retracted", &filter->with_retracted, err);
    }
    return status == CLEW_OK
               ? api_query_uuid(call, "chat_id", &filter->chat_id, err)
               : status;
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_memory(row);
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct memory_view *view = row;

    return api_mark(call, view->memory.created_at_ms, &view->memory.id);
}

enum clew_status memories_list(struct api_call *call, struct clew_error *err)
{
    struct memory_filter filter = {0};
    struct memory_view *views = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = read_filter(call, &filter, err);
    }
    if (status == CLEW_OK) {
        status = api_mark_parse(&page, &filter.before_time_ms,
                                &filter.before_id, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    filter.limit = page.limit + 1; /* one more tells whether there is more */
    status = memory_view_list(call->engine, &call->scope, call->arena, &filter,
                              &views, &count, err);
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(views, count, form_row, mark_row),
                                 err)
               : status;
}

API_BY_ID(memories_get, struct memory_view, memory_view_get, form_row)

/* Run an action on the memory named in the path. */
static enum clew_status act(struct api_call *call,
                            const struct memory_action *action,
                            struct clew_error *err)
{
    struct memory_view view;
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = memory_view_act(call->engine, &call->scope, call->arena, &id,
                                 action, &view, err);
    }
    return status == CLEW_OK ? answer_view(call, &view, err) : status;
}

/* ["a","b"] as "a,b". */
static enum clew_status read_tags(struct api_call *call, const json_t *list,
                                  struct str *out, struct clew_error *err)
{
    struct buf tags;
    size_t i;
    json_t *item;

    buf_init(&tags, (size_t)MAX_TAGS * (LIMIT_NAME_BYTES + 1));
    json_array_foreach (list, i, item) {
        struct str tag = json_text(item);

        if (!json_is_string(item) || tag.len == 0 ||
            tag.len > LIMIT_NAME_BYTES ||
            str_find(tag, STR(","), 0) != SIZE_MAX) {
            buf_release(&tags);
            return clew_fail_field(err, "tags",
                                   "\"tags[%zu]\" must be a word without "
                                   "commas",
                                   i);
        }
        (void)buf_append_cstr(&tags, i ? "," : ""); /* checked below */
        (void)buf_append_str(&tags, tag);
    }
    *out = arena_str(call->arena, buf_str(&tags));
    buf_release(&tags);
    return out->s ? CLEW_OK : clew_no_memory(err);
}

/* What a memory is called: a short word in lower case. */
static enum clew_status read_type(const struct api_call *call, struct str *out,
                                  struct clew_error *err)
{
    struct str type = {0};
    enum clew_status status = json_get_str(call->body, "type", JSON_OPTIONAL,
                                           MAX_TYPE_BYTES, &type, err);

    if (status != CLEW_OK || !type.s) {
        return status;
    }
    for (size_t i = 0; i < type.len; i++) {
        char c = type.s[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
            c != '-') {
            type.len = 0;
        }
    }
    if (type.len == 0) {
        return clew_fail_field(err, "type",
                               "\"type\" must be a word of a-z, 0-9, _ and -");
    }
    *out = type;
    return CLEW_OK;
}

static enum clew_status read_summary(struct api_call *call, enum json_need need,
                                     struct str *out, struct clew_error *err)
{
    struct str text = {0};
    enum clew_status status =
        api_body_text(call, "summary", need, LIMIT_CONTENT_BYTES, &text, err);

    if (status != CLEW_OK || !text.s) {
        return status;
    }
    text = str_trim(text);
    if (text.len == 0) {
        return clew_fail_field(err, "summary", "\"summary\" must not be empty");
    }
    *out = text;
    return CLEW_OK;
}

/* What POST and PATCH share; `*has_pin` if the body says. */
static enum clew_status read_labels(struct api_call *call,
                                    struct memory_hand *hand, bool *pin,
                                    struct clew_error *err)
{
    const json_t *list = NULL;
    enum clew_status status = read_type(call, &hand->type, err);

    if (status == CLEW_OK) {
        status = json_get_array(call->body, "tags", JSON_OPTIONAL, MAX_TAGS,
                                &list, err);
    }
    if (status == CLEW_OK && list) {
        status = read_tags(call, list, &hand->tags, err);
    }
    if (status == CLEW_OK && json_object_get(call->body, "pinned")) {
        status = json_get_bool(call->body, "pinned", JSON_OPTIONAL, pin, err);
        hand->is_pinned = pin;
    }
    hand->key_id = str_of(call->key_id);
    return status;
}

static enum clew_status write_hand(struct api_call *call,
                                   const struct memory_hand *hand,
                                   struct clew_error *err)
{
    struct memory_view view;
    enum clew_status status = memory_hand_write(call->engine, &call->scope,
                                                call->arena, hand, &view, err);

    if (status != CLEW_OK) {
        return status;
    }
    call->http_status = 201;
    return answer_view(call, &view, err);
}

enum clew_status memories_post(struct api_call *call, struct clew_error *err)
{
    struct memory_hand hand = {.user_id = STR(""),
                               .sent_at_ms = api_sent_ms(call)};
    bool pin = false;
    enum clew_status status =
        json_get_str(call->body, "user_id", JSON_OPTIONAL, LIMIT_NAME_BYTES,
                     &hand.user_id, err);

    if (status == CLEW_OK) {
        status = read_summary(call, JSON_REQUIRED, &hand.summary, err);
    }
    if (status == CLEW_OK) {
        status = read_labels(call, &hand, &pin, err);
    }
    return status == CLEW_OK ? write_hand(call, &hand, err) : status;
}

enum clew_status memories_patch(struct api_call *call, struct clew_error *err)
{
    struct memory_hand hand = {0};
    struct memory_action action = {0};
    int64_t expires_at_ms = 0;
    bool pin = false;
    enum clew_status status = read_labels(call, &hand, &pin, err);

    if (status == CLEW_OK && json_object_get(call->body, "expires_at")) {
        status = json_get_time(call->body, "expires_at", JSON_OPTIONAL,
                               &expires_at_ms, err);
        action.expires_at_ms = &expires_at_ms;
    }
    if (status == CLEW_OK) {
        status = read_summary(call, JSON_OPTIONAL, &hand.summary, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (hand.summary.s) { /* other words are another memory */
        if (action.expires_at_ms) {
            return clew_fail_field(err, "expires_at",
                                   "\"expires_at\" is set on its own");
        }
        status = api_param_id(call, 0, &hand.corrects, err);
        return status == CLEW_OK ? write_hand(call, &hand, err) : status;
    }
    action.tags = hand.tags.s ? &hand.tags : NULL;
    action.type = hand.type.s ? &hand.type : NULL;
    action.is_pinned = hand.is_pinned;
    return act(call, &action, err);
}

/* Of an effort, as the chat has it that the body names. */
static enum clew_status act_in_chat(struct api_call *call,
                                    const struct memory_action *wanted,
                                    struct clew_error *err)
{
    struct memory_action action = *wanted;
    struct uuid chat_id = {{0}};
    enum clew_status status =
        json_get_uuid(call->body, "chat_id", JSON_OPTIONAL, &chat_id, err);

    if (!uuid_is_nil(&chat_id)) {
        action.chat_id = &chat_id;
    }
    return status == CLEW_OK ? act(call, &action, err) : status;
}

enum clew_status memories_resolve(struct api_call *call, struct clew_error *err)
{
    struct memory_action action = {.status = "resolved"};
    struct str resolution = {0};
    enum clew_status status =
        api_body_text(call, "resolution", JSON_OPTIONAL, LIMIT_CONTENT_BYTES,
                      &resolution, err);

    if (resolution.s) {
        action.resolution = &resolution;
    }
    return status == CLEW_OK ? act_in_chat(call, &action, err) : status;
}

enum clew_status memories_outcome(struct api_call *call, struct clew_error *err)
{
    bool has_worked = false;
    struct memory_action action = {.has_worked = &has_worked};
    enum clew_status status =
        json_get_bool(call->body, "worked", JSON_REQUIRED, &has_worked, err);

    return status == CLEW_OK ? act(call, &action, err) : status;
}

enum clew_status memories_reopen(struct api_call *call, struct clew_error *err)
{
    struct memory_action action = {.status = "open"};

    return act_in_chat(call, &action, err);
}

enum clew_status memories_abandon(struct api_call *call, struct clew_error *err)
{
    struct memory_action action = {.status = "abandoned"};

    return act_in_chat(call, &action, err);
}

enum clew_status memories_retract(struct api_call *call, struct clew_error *err)
{
    struct memory_view view = {0};
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = lineage_retract(call->engine, &call->scope, call->arena, &id,
                                 &view.memory, err);
    }
    if (status == CLEW_OK) {
        status = memory_view_get(call->engine, &call->scope, call->arena, &id,
                                 &view, err);
    }
    return status == CLEW_OK ? answer_view(call, &view, err) : status;
}

static json_t *form_node(const struct lineage_node *node)
{
    const struct memory *memory = &node->memory;
    struct str text = memory->summary;
    json_t *sources = json_array();
    json_t *out = json_object();
    bool is_ok = out && sources;

    for (size_t i = 0; is_ok && i < node->n_source_ids; i++) {
        char id[UUID_TEXT_SIZE];

        uuid_format(&node->source_ids[i], id);
        is_ok = json_array_append_new(sources, json_string(id)) == 0;
    }
    is_ok =
        json_set(out, "source_ids", sources) && is_ok &&
        json_set_uuid(out, "thought_id", &memory->id) &&
        json_set_uuid(out, "id", &memory->id) &&
        json_set_cstr(out, "thought_type",
                      memory_lineage_name(memory->lineage)) &&
        json_set_cstr(out, "type", memory_lineage_name(memory->lineage)) &&
        json_set_str(out, "content_preview",
                     str_sub(text, 0, utf8_cut_chars(text, PREVIEW_CHARS))) &&
        json_set_str(out, "contributor",
                     memory->agent_name.s ? memory->agent_name
                                          : memory->origin) &&
        json_set_time(out, "created_at", &memory->created_at_ms) &&
        json_set_int(out, "depth", node->depth) &&
        json_set_bool(out, "retracted", memory->retracted_at_ms != 0);
    return form_finish(out, is_ok);
}

enum clew_status memories_lineage(struct api_call *call, struct clew_error *err)
{
    struct lineage lineage;
    struct uuid id;
    int64_t at_ms = INT64_MAX;
    json_t *chain;
    bool is_ok;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = api_query_time(call, "at", &at_ms, err);
    }
    if (status == CLEW_OK) {
        status = lineage_get(call->engine, &call->scope, call->arena, &id,
                             at_ms, &lineage, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    chain = json_array();
    is_ok = chain != NULL;
    for (size_t i = 0; is_ok && i < lineage.count; i++) {
        is_ok = json_array_append_new(chain, form_node(&lineage.nodes[i])) == 0;
    }
    call->out = json_object();
    is_ok = json_set(call->out, "chain", chain) && is_ok &&
            json_set_uuid(call->out, "thought_id", &id) &&
            json_set_bool(call->out, "truncated", lineage.is_truncated);
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

enum clew_status memories_source(struct api_call *call, struct clew_error *err)
{
    struct turn *turns = NULL;
    size_t count = 0;
    struct uuid id;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = memory_view_source(call->engine, &call->scope, call->arena,
                                    &id, LIMIT_PAGE_MAX, &turns, &count, err);
    }
    return status == CLEW_OK ? turns_answer(call, NULL, turns, count, NULL, err)
                             : status;
}
