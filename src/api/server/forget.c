/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forget.c - POST /api/v1/forget: remove, and leave a receipt.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/proof/forget.h"

#include <stdlib.h>
#include <string.h>

/* Things named in one call; more takes several calls, or a chat or user. */
#define MAX_NAMED 10000

static int compare_ids(const void *a, const void *b)
{
    return uuid_cmp(a, b);
}

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Named twice is named once; how many are left. */
static size_t drop_doubles(void *items, size_t count, size_t size,
                           int (*compare)(const void *, const void *))
{
    char *item = items;
    size_t n = 0;

    qsort(items, count, size, compare);
    for (size_t i = 0; i < count; i++) {
        if (n == 0 || compare(item + (n - 1) * size, item + i * size) != 0) {
            memmove(item + n++ * size, item + i * size, size);
        }
    }
    return n;
}

static enum clew_status read_ids(struct api_call *call, const char *field,
                                 const struct uuid **out_ids, size_t *out_count,
                                 struct clew_error *err)
{
    const json_t *list = NULL;
    struct uuid *ids;
    size_t i;
    json_t *item;
    enum clew_status status =
        json_get_array(call->body, field, JSON_OPTIONAL, MAX_NAMED, &list, err);

    if (status != CLEW_OK || !list) {
        return status;
    }
    ids = arena_zero(call->arena, json_array_size(list), sizeof(*ids));
    if (!ids) {
        return clew_no_memory(err);
    }
    json_array_foreach (list, i, item) {
        if (!json_is_string(item) ||
            !uuid_parse(str_of(json_string_value(item)), &ids[i])) {
            return clew_fail_field(err, field, "\"%s[%zu]\" must be a UUID",
                                   field, i);
        }
    }
    *out_ids = ids;
    *out_count =
        drop_doubles(ids, json_array_size(list), sizeof(*ids), compare_ids);
    return CLEW_OK;
}

static enum clew_status read_names(struct api_call *call,
                                   struct forget_input *input,
                                   struct clew_error *err)
{
    const json_t *list = NULL;
    struct str *names;
    size_t i;
    json_t *item;
    enum clew_status status = json_get_array(
        call->body, "external_ids", JSON_OPTIONAL, MAX_NAMED, &list, err);

    if (status != CLEW_OK || !list) {
        return status;
    }
    names = arena_zero(call->arena, json_array_size(list), sizeof(*names));
    if (!names) {
        return clew_no_memory(err);
    }
    json_array_foreach (list, i, item) {
        names[i] = json_text(item);
        if (!json_is_string(item)) {
            return clew_fail_field(err, "external_ids",
                                   "\"external_ids[%zu]\" must be a string", i);
        }
    }
    input->external_ids = names;
    input->n_external_ids = drop_doubles(names, json_array_size(list),
                                         sizeof(*names), compare_names);
    return CLEW_OK;
}

static enum clew_status read_input(struct api_call *call,
                                   struct forget_input *input,
                                   struct clew_error *err)
{
    enum clew_status status =
        read_ids(call, "turn_ids", &input->turn_ids, &input->n_turn_ids, err);

    if (status == CLEW_OK) {
        status = read_ids(call, "memory_ids", &input->memory_ids,
                          &input->n_memory_ids, err);
    }
    if (status == CLEW_OK) {
        status = read_names(call, input, err);
    }
    if (status == CLEW_OK) {
        status = json_get_uuid(call->body, "chat_id", JSON_OPTIONAL,
                               &input->chat_id, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(call->body, "user_id", JSON_OPTIONAL,
                              LIMIT_NAME_BYTES, &input->user_id, err);
    }
    return status == CLEW_OK
               ? json_get_bool(call->body, "dry_run", JSON_OPTIONAL,
                               &input->is_dry_run, err)
               : status;
}

enum clew_status forget_post(struct api_call *call, struct clew_error *err)
{
    struct forget_input input = {0};
    struct forget_receipt receipt = {0};
    json_t *counts;
    bool is_ok;
    enum clew_status status = read_input(call, &input, err);

    if (status == CLEW_OK) {
        status = forget_run(call->engine, &call->scope, call->arena, &input,
                            &receipt, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    call->out = json_object();
    counts = json_object();
    is_ok = call->out && counts;
    for (size_t i = 0; is_ok && i < receipt.n_counts; i++) {
        is_ok = json_set_int(counts, receipt.counts[i].name,
                             receipt.counts[i].count);
    }
    is_ok = json_set(call->out, "forgotten", counts) && is_ok &&
            json_set_uuid(call->out, "receipt_id", uuid_or_null(&receipt.id)) &&
            json_set_cstr(call->out, "sha256", receipt.sha256) &&
            json_set_bool(call->out, "scrubbed", receipt.is_scrubbed) &&
            (!receipt.remains ||
             json_set_cstr(call->out, "remains", receipt.remains)) &&
            json_set_bool(call->out, "dry_run", input.is_dry_run);
    return is_ok ? CLEW_OK : clew_no_memory(err);
}
