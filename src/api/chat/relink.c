/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relink.c - decide again which captured call continues which.
 *
 * A stretch of it a call: it remembers how far it came, so whoever asked asks
 * again until it is done.
 */
#include "engine/call/call_rebuild.h"

#include "api/handlers.h"
#include "base/json.h"

/* One transaction a call, so that none takes long. */
static bool stop(void *arg, const struct call_rebuild_report *report)
{
    (void)arg;
    (void)report;
    return false;
}

static json_t *form_report(const struct call_rebuild_report *report)
{
    json_t *by = json_object();
    json_t *out = json_object();
    bool is_ok = by && out;

    for (size_t i = 0; is_ok && i < CALL_STRATEGIES; i++) {
        is_ok = json_set_int(by, call_strategy_name((enum call_strategy)i),
                             report->n_by[i]);
    }
    is_ok = json_set(out, "by_strategy", by) && is_ok;
    if (is_ok && json_set_int(out, "requests", report->n_done) &&
        json_set_int(out, "total", report->n_total) &&
        json_set_int(out, "changed", report->n_changed) &&
        json_set_bool(out, "resumed", report->is_resumed) &&
        json_set_bool(out, "done", report->is_done)) {
        return out;
    }
    json_decref(out);
    return NULL;
}

enum clew_status requests_relink(struct api_call *call, struct clew_error *err)
{
    struct call_rebuild_report report;
    enum clew_status status =
        call_rebuild(call->engine, &call->scope, stop, NULL, &report, err);

    if (status == CLEW_OK) {
        call->out = form_report(&report);
        status = call->out ? CLEW_OK : clew_no_memory(err);
    }
    return status;
}
