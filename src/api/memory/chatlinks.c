/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chatlinks.c - decisions about links between chats, outcomes, the tuning.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/chatlink/chatlink_decision.h"
#include "engine/chatlink/chatlink_feedback.h"
#include "engine/chatlink/chatlink_tuning.h"

#define HISTORY 100

static bool set_json(json_t *out, const char *field, struct str text)
{
    json_t *value = NULL;

    return json_parse(text, &value, NULL) == CLEW_OK &&
           json_set(out, field, value);
}

static json_t *form_link(const struct chatlink_decision *link)
{
    json_t *out = json_object();
    bool is_ok = out && json_set_uuid(out, "id", &link->id) &&
                 json_set_str(out, "user_id", link->user_id) &&
                 json_set_uuid(out, "chat_id", &link->chat_id) &&
                 json_set_uuid(out, "other_chat_id", &link->other_chat_id) &&
                 json_set_uuid(out, "turn_id", &link->turn_id) &&
                 json_set_str(out, "decision", link->decision) &&
                 json_set_real(out, "algorithmic", link->algorithmic) &&
                 (link->llm < 0 ? json_set(out, "llm", json_null())
                                : json_set_real(out, "llm", link->llm)) &&
                 json_set_real(out, "threshold", link->threshold) &&
                 json_set_str(out, "agreement", link->agreement) &&
                 json_set_str(out, "confidence", link->confidence) &&
                 set_json(out, "signals", link->signals) &&
                 json_set_str(out, "outcome", link->outcome) &&
                 json_set_str(out, "outcome_by", link->outcome_by) &&
                 form_set_time(out, "outcome_at", link->outcome_at_ms) &&
                 json_set_time(out, "created_at", &link->created_at_ms) &&
                 json_set_time(out, "updated_at", &link->updated_at_ms);

    return form_finish(out, is_ok);
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_link(row);
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct chatlink_decision *link = row;

    return api_mark(call, link->created_at_ms, &link->id);
}

enum clew_status links_list(struct api_call *call, struct clew_error *err)
{
    struct chatlink_filter filter = {0};
    struct chatlink_decision *links = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = api_query_uuid(call, "chat_id", &filter.chat_id, err);
    }
    if (status == CLEW_OK) {
        status = api_query_str(call, "decision", LIMIT_NAME_BYTES,
                               &filter.decision, err);
    }
    if (status == CLEW_OK && filter.decision.s &&
        !str_eq(filter.decision, STR("link")) &&
        !str_eq(filter.decision, STR("no_link"))) {
        return clew_fail_field(err, "decision",
                               "\"decision\" is link or no_link");
    }
    if (status == CLEW_OK) {
        status = api_query_str(call, "user_id", LIMIT_NAME_BYTES,
                               &filter.user_id, err);
    }
    if (status == CLEW_OK) {
        status = api_mark_parse(&page, &filter.before_time_ms,
                                &filter.before_id, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    filter.limit = page.limit + 1;
    status = chatlink_decision_list(call->engine, &call->scope, call->arena,
                                    &filter, &links, &count, err);
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(links, count, form_row, mark_row),
                                 err)
               : status;
}

API_BY_ID(links_get, struct chatlink_decision, chatlink_decision_get, form_row)

enum clew_status links_feedback(struct api_call *call, struct clew_error *err)
{
    struct str outcome = {0};
    struct chatlink_decision link;
    struct uuid id;
    bool is_correct;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "outcome", JSON_REQUIRED,
                              LIMIT_NAME_BYTES, &outcome, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    is_correct = str_eq(outcome, STR("correct"));
    if (!is_correct && !str_eq(outcome, STR("incorrect"))) {
        return clew_fail_field(err, "outcome",
                               "\"outcome\" must be correct or incorrect");
    }
    status = chatlink_feedback(call->engine, &call->scope, call->arena, &id,
                               is_correct, &link, err);
    if (status != CLEW_OK) {
        return status;
    }
    return api_answer(call, form_link(&link), err);
}

static json_t *form_weights(const struct chatlink_weights *weights)
{
    json_t *out = json_object();

    return form_finish(out,
                       out && json_set_real(out, "keyword", weights->keyword) &&
                           json_set_real(out, "entity", weights->entity) &&
                           json_set_real(out, "topic", weights->topic) &&
                           json_set_real(out, "recency", weights->recency));
}

static json_t *form_tuning(const struct chatlink_tuning *tuning)
{
    json_t *out = json_object();
    bool has_id = !uuid_is_nil(&tuning->id);
    bool has_previous = !uuid_is_nil(&tuning->previous_id);
    bool is_ok = out && json_set_uuid(out, "id", has_id ? &tuning->id : NULL) &&
                 json_set_uuid(out, "previous_id",
                               has_previous ? &tuning->previous_id : NULL) &&
                 json_set_bool(out, "current", tuning->is_current) &&
                 json_set_real(out, "threshold", tuning->threshold) &&
                 json_set(out, "weights", form_weights(&tuning->weights)) &&
                 json_set_real(out, "llm_weight", tuning->llm_weight) &&
                 set_json(out, "prompt_signals", tuning->prompt_signals) &&
                 json_set_str(out, "reason", tuning->reason) &&
                 set_json(out, "metrics", tuning->metrics) &&
                 form_set_time(out, "created_at", tuning->created_at_ms);

    return form_finish(out, is_ok);
}

enum clew_status tuning_get(struct api_call *call, struct clew_error *err)
{
    struct chatlink_tuning current;
    struct chatlink_tuning *history = NULL;
    size_t count = 0;
    json_t *items;
    bool is_ok;
    enum clew_status status =
        chatlink_tuning_list(call->engine, &call->scope, call->arena, HISTORY,
                             &current, &history, &count, err);

    if (status != CLEW_OK) {
        return status;
    }
    call->out = json_object();
    items = json_array();
    is_ok = call->out && items &&
            json_set(call->out, "current", form_tuning(&current));
    for (size_t i = 0; is_ok && i < count; i++) {
        is_ok = json_array_append_new(items, form_tuning(&history[i])) == 0;
    }
    is_ok = json_set(call->out, "history", items) && is_ok;
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

enum clew_status tuning_revert(struct api_call *call, struct clew_error *err)
{
    struct chatlink_tuning tuning;
    enum clew_status status = chatlink_tuning_revert(call->engine, &call->scope,
                                                     call->arena, &tuning, err);

    if (status != CLEW_OK) {
        return status;
    }
    return api_answer(call, form_tuning(&tuning), err);
}
