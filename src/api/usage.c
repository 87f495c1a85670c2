/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.c - what the language model was asked, and what it cost.
 */
#include "api/handlers.h"

#include "api/forms.h"
#include "base/clock.h"
#include "engine/advice.h"

#include <stdio.h>

/* Micro-units of a currency, as a number of units. */
#define MICROS 1e6

static json_t *form_usage(const struct advice_usage *usage)
{
    char day[CLOCK_TEXT_SIZE];
    json_t *out = json_object();
    bool is_ok;

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
    json_t *items;
    enum clew_status status = api_query_int(call, "days", 1, 3660, &days, err);

    if (status == CLEW_OK) {
        status = advice_usage_list(call->engine, &call->scope, call->arena,
                                   days, &usages, &count, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    items = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(items, form_usage(&usages[i])) != 0) {
            json_decref(items);
            return api_no_memory(err);
        }
    }
    return api_list(call, items, NULL, err);
}
