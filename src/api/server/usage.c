/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.c - what the language model was asked, and what it cost.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/limits.h"
#include "engine/core/advice.h"
#include "engine/core/engine.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Of one call; no model reads or writes nearly so many. */
#define MAX_TOKENS 1000000000LL

/* Micro-units of a currency, as a number of units. */
#define MICROS 1e6

static json_t *form_row(const struct api_call *call, const void *row)
{
    const struct advice_usage *usage = row;
    char day[CLOCK_TEXT_SIZE];
    json_t *out = json_object();
    bool is_ok;

    (void)call;
    clock_format(usage->day_ms, day);
    day[10] = '\0'; /* the date alone */
    is_ok = out && json_set_cstr(out, "day", day) &&
            json_set_str(out, "purpose", usage->purpose) &&
            json_set_str(out, "model", usage->model) &&
            json_set_int(out, "calls", usage->calls) &&
            json_set_int(out, "failures", usage->failures) &&
            json_set_int(out, "input_tokens", usage->input_tokens) &&
            json_set_int(out, "output_tokens", usage->output_tokens) &&
            json_set_real(out, "cost", (double)usage->cost_micros / MICROS);
    return form_finish(out, is_ok);
}

enum clew_status usage_list(struct api_call *call, struct clew_error *err)
{
    struct advice_usage *usages = NULL;
    size_t count = 0;
    int64_t days = 30;
    enum clew_status status = api_query_int(call, "days", 1, 3660, &days, err);

    if (status == CLEW_OK) {
        status = advice_usage_list(call->engine, &call->scope, call->arena,
                                   days, &usages, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, NULL,
                                 API_ROWS(usages, count, form_row, NULL), err)
               : status;
}

/* Letters, digits and what joins them: a name, not a text. */
static bool is_name(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!isalnum((unsigned char)text.s[i]) && !strchr("-_.", text.s[i])) {
            return false;
        }
    }
    return text.len > 0;
}

static enum clew_status read_call(struct api_call *call,
                                  struct advice_call *out,
                                  struct clew_error *err)
{
    enum clew_status status =
        json_get_str(call->body, "purpose", JSON_REQUIRED, LIMIT_NAME_BYTES,
                     &out->purpose, err);

    if (status == CLEW_OK && !is_name(out->purpose)) {
        return clew_fail_field(err, "purpose",
                               "\"purpose\" must be a name: letters, digits, "
                               "\"-\", \"_\" and \".\"");
    }
    if (status == CLEW_OK) {
        status = json_get_str(call->body, "model", JSON_REQUIRED,
                              LIMIT_NAME_BYTES, &out->model, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(call->body, "input_tokens", JSON_OPTIONAL, 0,
                              MAX_TOKENS, &out->input_tokens, err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(call->body, "output_tokens", JSON_OPTIONAL, 0,
                              MAX_TOKENS, &out->output_tokens, err);
    }
    return status == CLEW_OK
               ? json_get_bool(call->body, "failed", JSON_OPTIONAL,
                               &out->has_failed, err)
               : status;
}

enum clew_status usage_post(struct api_call *call, struct clew_error *err)
{
    struct advice_call made = {0};
    struct advice_usage *usages = NULL;
    size_t count = 0;
    int64_t used = 0;
    enum clew_status status = read_call(call, &made, err);

    if (status == CLEW_OK) {
        status = advice_note(call->engine, &call->scope, &made, err);
    }
    if (status == CLEW_OK) {
        status = advice_usage_list(call->engine, &call->scope, call->arena, 1,
                                   &usages, &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        used += usages[i].input_tokens + usages[i].output_tokens;
    }
    call->out = json_object();
    return call->out && json_set_int(call->out, "used_tokens", used) &&
                   json_set_int(
                       call->out, "daily_tokens",
                       config_int(call->engine->config, "llm.daily_tokens"))
               ? CLEW_OK
               : clew_no_memory(err);
}
