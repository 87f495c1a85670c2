/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_trace.c - see call_trace.h.
 */
#include "engine/call/call_trace.h"

#include "base/buf.h"
#include "base/json.h"
#include "engine/core/trace.h"

#define MAX_BYTES 4096

static json_t *steps_json(const struct call_decision *decision)
{
    json_t *list = json_array();

    for (size_t i = 0; i < decision->n_steps; i++) {
        const struct call_step *step = &decision->steps[i];

        /* a failure shows as a shorter list, which is caught below */
        (void)json_array_append_new(
            list, json_pack("{s:s,s:s,s:b}", "strategy",
                            call_strategy_name(step->strategy), "by", step->by,
                            "found", step->is_found));
    }
    if (json_array_size(list) != decision->n_steps) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static bool fill(json_t *link, const struct request *request,
                 const struct call_decision *decision, const char *note)
{
    bool is_ok = json_set_str(link, "strategy", request->strategy) &&
                 json_set_str(link, "branch_id", request->branch) &&
                 json_set_cstr(link, "branch_why",
                               decision->branch_why ? decision->branch_why
                                                    : "a new conversation") &&
                 json_set(link, "considered", steps_json(decision));

    if (is_ok && !uuid_is_nil(&request->parent_id)) {
        is_ok = json_set_uuid(link, "parent_request_id", &request->parent_id);
    }
    if (is_ok && decision->has_twin) {
        is_ok = json_set_uuid(link, "retry_of", &decision->twin.id);
    }
    return is_ok && (!note || json_set_cstr(link, "note", note));
}

bool call_trace_is(struct str data)
{
    return str_starts(data, STR("{\"link\":"));
}

enum clew_status call_trace_put(struct store_tx *tx,
                                const struct request *request,
                                const struct call_decision *decision,
                                const char *note, struct clew_error *err)
{
    json_t *link = json_object();
    json_t *data = NULL;
    struct buf text;
    enum clew_status status = CLEW_NO_MEMORY;

    buf_init(&text, MAX_BYTES);
    if (link && fill(link, request, decision, note)) {
        data = json_pack("{s:O}", "link", link);
    }
    if (data) {
        status = json_write(&text, data);
    }
    if (status == CLEW_OK) {
        status = trace_put(tx, &request->id, buf_str(&text), err);
    } else {
        status = clew_no_memory(err);
    }
    buf_release(&text);
    json_decref(link);
    json_decref(data);
    return status;
}
