/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflicts.c - memories that disagree, and taking back what one source said.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/thought/conflict.h"
#include "engine/thought/undo.h"

/* --- conflicts -------------------------------------------------------------
 */

static json_t *form_side(const struct memory *memory, const struct slot *slot)
{
    json_t *out = json_object();

    return form_finish(
        out, out && json_set_uuid(out, "id", &memory->id) &&
                 json_set_str(out, "summary", memory->summary) &&
                 json_set_str(out, "value", slot->value) &&
                 json_set_time(out, "created_at", &memory->created_at_ms));
}

/* What would settle it: the older one refined to say what the newer says. */
static json_t *form_suggestion(const struct conflict *conflict)
{
    json_t *out = json_object();

    return form_finish(
        out, out && json_set_uuid(out, "refines", &conflict->older.id) &&
                 json_set_str(out, "prompt", conflict->newer.summary));
}

static json_t *form_conflict(const struct conflict *conflict)
{
    const struct slot *slot = &conflict->newer_slot;
    json_t *out = json_object();

    return form_finish(
        out, out && json_set_str(out, "user_id", conflict->newer.user_id) &&
                 json_set_str(out, "subject", slot->subject) &&
                 json_set_str(out, "attribute", slot->attribute) &&
                 json_set_str(out, "qualifier", slot->qualifier) &&
                 json_set(out, "older",
                          form_side(&conflict->older, &conflict->older_slot)) &&
                 json_set(out, "newer", form_side(&conflict->newer, slot)) &&
                 json_set(out, "suggestion", form_suggestion(conflict)));
}

static json_t *form_row(const struct api_call *call, const void *row)
{
    (void)call;
    return form_conflict(row);
}

enum clew_status conflicts_list(struct api_call *call, struct clew_error *err)
{
    struct conflict *conflicts = NULL;
    struct str user_id = {0};
    int64_t limit = LIMIT_PAGE_DEFAULT;
    size_t count = 0;
    enum clew_status status =
        api_query_str(call, "user_id", LIMIT_NAME_BYTES, &user_id, err);

    if (status == CLEW_OK) {
        status = api_query_int(call, "limit", 1, LIMIT_PAGE_MAX, &limit, err);
    }
    if (status == CLEW_OK) {
        status = conflict_list(call->engine, &call->scope, call->arena, user_id,
                               (size_t)limit, &conflicts, &count, err);
    }
    return status == CLEW_OK
               ? api_answer_rows(call, NULL,
                                 API_ROWS(conflicts, count, form_row, NULL),
                                 err)
               : status;
}

/* --- undo ------------------------------------------------------------------
 */

enum clew_status memories_undo(struct api_call *call, struct clew_error *err)
{
    struct undo_input input = {0};
    struct uuid *ids = NULL;
    size_t count = 0;
    bool has_more = false;
    json_t *list;
    bool is_ok;
    enum clew_status status = json_get_str(call->body, "from", JSON_REQUIRED,
                                           LIMIT_NAME_BYTES, &input.from, err);

    if (status == CLEW_OK && input.from.len == 0) {
        status = clew_fail_field(err, "from", "\"from\" must not be blank");
    }
    if (status == CLEW_OK) {
        status = json_get_time(call->body, "since", JSON_REQUIRED,
                               &input.since_ms, err);
    }
    if (status == CLEW_OK) {
        status = json_get_bool(call->body, "dry_run", JSON_OPTIONAL,
                               &input.is_dry_run, err);
    }
    if (status == CLEW_OK) {
        status = undo_run(call->engine, &call->scope, call->arena, &input, &ids,
                          &count, &has_more, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    list = json_array();
    is_ok = list != NULL;
    for (size_t i = 0; is_ok && i < count; i++) {
        char text[UUID_TEXT_SIZE];

        uuid_format(&ids[i], text);
        is_ok = json_array_append_new(list, json_string(text)) == 0;
    }
    call->out = json_object();
    is_ok = json_set(call->out, "retracted", list) && is_ok &&
            json_set_bool(call->out, "more", has_more) &&
            json_set_bool(call->out, "dry_run", input.is_dry_run);
    return is_ok ? CLEW_OK : clew_no_memory(err);
}
