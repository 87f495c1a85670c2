/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.c - /api/v1/chains: what was talked about, thread by thread.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/topic/chain.h"

static json_t *form_chain(const struct chain *chain)
{
    json_t *out = json_object();
    bool is_ok =
        out && json_set_uuid(out, "id", &chain->id) &&
        json_set_str(out, "user_id", chain->user_id) &&
        json_set_uuid(out, "chat_id", &chain->chat_id) &&
        json_set_uuid(out, "session_id", &chain->session_id) &&
        json_set_str(out, "topic", chain->topic) &&
        json_set_cstr(out, "state", chain_phase_name(chain->phase)) &&
        json_set_time(out, "started_at", &chain->started_at_ms) &&
        json_set_time(out, "last_extended", &chain->last_extended_at_ms) &&
        json_set_int(out, "claim_count", chain->n_claims) &&
        json_set_uuid(out, "branches_from",
                      uuid_or_null(&chain->branches_from)) &&
        json_set_uuid(out, "merged_into", uuid_or_null(&chain->merged_into)) &&
        json_set_uuid(out, "twin_of", uuid_or_null(&chain->twin_of));

    return form_finish(out, is_ok);
}

/* "a,b" as ["a","b"]. */
static json_t *form_list(struct str text)
{
    json_t *out = json_array();
    struct str part;
    bool is_ok = out != NULL;

    while (is_ok && str_split(&text, ',', &part)) {
        is_ok = part.len == 0 ||
                json_array_append_new(out, json_stringn(part.s, part.len)) == 0;
    }
    return form_finish(out, is_ok);
}

static json_t *form_claim(const struct claim *claim)
{
    json_t *out = json_object();
    bool is_ok = out && json_set_uuid(out, "id", &claim->id) &&
                 json_set_uuid(out, "chain_id", &claim->chain_id) &&
                 json_set_uuid(out, "turn_id", &claim->turn_id) &&
                 json_set_uuid(out, "chat_id", &claim->chat_id) &&
                 json_set_int(out, "seq", claim->seq) &&
                 json_set_int(out, "position", claim->position) &&
                 json_set_int(out, "first_byte", claim->first_byte) &&
                 json_set_int(out, "end_byte", claim->end_byte) &&
                 json_set_cstr(out, "type", claim_type_name(claim->type)) &&
                 json_set_str(out, "statement", claim->statement) &&
                 json_set_str(out, "subject", claim->subject) &&
                 json_set(out, "entities", form_list(claim->entities)) &&
                 json_set(out, "keywords", form_list(claim->keywords)) &&
                 json_set_real(out, "confidence", claim->confidence) &&
                 form_set_time(out, "valid_from", claim->valid_from_ms) &&
                 json_set_time(out, "created_at", &claim->created_at_ms);

    return form_finish(out, is_ok);
}

static json_t *form_event(const struct chain_event *event)
{
    json_t *out = json_object();
    bool is_ok = out && json_set_uuid(out, "id", &event->id) &&
                 json_set_str(out, "type", event->type) &&
                 json_set_uuid(out, "chain_id", &event->chain_id) &&
                 json_set_uuid(out, "turn_id", uuid_or_null(&event->turn_id)) &&
                 json_set_uuid(out, "parent_chain_id",
                               uuid_or_null(&event->parent_id)) &&
                 json_set(out, "claim_ids", form_list(event->claim_ids)) &&
                 (event->distance < 0
                      ? json_set(out, "distance", json_null())
                      : json_set_real(out, "distance", event->distance)) &&
                 json_set_str(out, "reasoning", event->reasoning) &&
                 json_set_time(out, "created_at", &event->created_at_ms);

    return form_finish(out, is_ok);
}

static enum clew_status read_filter(struct api_call *call,
                                    const struct api_page *page,
                                    struct chain_filter *filter,
                                    struct clew_error *err)
{
    enum chain_phase phase;
    enum clew_status status =
        api_query_str(call, "user_id", LIMIT_NAME_BYTES, &filter->user_id, err);

    if (status == CLEW_OK) {
        status =
            api_query_str(call, "state", LIMIT_NAME_BYTES, &filter->state, err);
    }
    if (status == CLEW_OK && filter->state.s &&
        !chain_phase_parse(filter->state, &phase)) {
        return clew_fail_field(err, "state",
                               "must be active, dormant or concluded");
    }
    if (status == CLEW_OK) {
        status = api_query_uuid(call, "session_id", &filter->session_id, err);
    }
    if (status == CLEW_OK) {
        status = api_query_uuid(call, "chat_id", &filter->chat_id, err);
    }
    return status == CLEW_OK ? api_mark_parse(page, &filter->before_time_ms,
                                              &filter->before_id, err)
                             : status;
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_chain(row);
}

static struct str mark_row(struct api_call *call, const void *row)
{
    const struct chain *chain = row;

    return api_mark(call, chain->last_extended_at_ms, &chain->id);
}

enum clew_status chains_list(struct api_call *call, struct clew_error *err)
{
    struct chain_filter filter = {0};
    struct chain *chains = NULL;
    struct api_page page;
    size_t count = 0;
    enum clew_status status = api_page_of(call, &page, err);

    if (status == CLEW_OK) {
        status = read_filter(call, &page, &filter, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    filter.limit = page.limit + 1; /* one more tells whether there is more */
    status = chain_list(call->engine, &call->scope, call->arena, &filter,
                        &chains, &count, err);
    return status == CLEW_OK
               ? api_answer_rows(call, &page,
                                 API_ROWS(chains, count, form_row, mark_row),
                                 err)
               : status;
}

enum clew_status chains_get(struct api_call *call, struct clew_error *err)
{
    struct chain_detail detail = {0};
    struct uuid id;
    json_t *claims;
    json_t *updates;
    bool is_ok;
    enum clew_status status = api_param_id(call, 0, &id, err);

    if (status == CLEW_OK) {
        status = chain_get(call->engine, &call->scope, call->arena, &id,
                           &detail, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = form_chain(&detail.chain);
    claims = json_array();
    updates = json_array();
    is_ok = call->out && claims && updates;
    for (size_t i = 0; is_ok && i < detail.n_claims; i++) {
        is_ok =
            json_array_append_new(claims, form_claim(&detail.claims[i])) == 0;
    }
    for (size_t i = 0; is_ok && i < detail.n_events; i++) {
        is_ok =
            json_array_append_new(updates, form_event(&detail.events[i])) == 0;
    }
    /* json_set() takes its value in any case, so each call must happen. */
    is_ok = json_set(call->out, "claims", claims) && is_ok;
    is_ok = json_set(call->out, "updates", updates) && is_ok;
    return is_ok ? CLEW_OK : clew_no_memory(err);
}

API_BY_ID(chains_conclude, struct chain, chain_conclude, form_row)
API_BY_ID(chains_reopen, struct chain, chain_reopen, form_row)
