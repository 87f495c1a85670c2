/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - what handlers read from path, query and body, and list pages. See
 * api.h.
 */
#include "api/api.h"

#include "api/answer/cursor.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "engine/chat/chat.h"
#include "engine/core/engine.h"
#include "engine/key/secret.h"
#include "text/analysis.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define CURSOR_SECRET "cursor"

enum clew_status api_answer(struct api_call *call, json_t *out,
                            struct clew_error *err)
{
    call->out = out;
    return out ? CLEW_OK : clew_no_memory(err);
}

enum clew_status api_param_id(const struct api_call *call, int i,
                              struct uuid *out_id, struct clew_error *err)
{
    assert(i >= 0 && i < API_MAX_PARAMS);
    if (!uuid_parse(call->params[i], out_id)) {
        return clew_fail(err, CLEW_NOT_FOUND, "not found");
    }
    return CLEW_OK;
}

/* The parameter, with s == NULL if it is missing or empty. */
static enum clew_status query_text(const struct api_call *call,
                                   const char *name, struct str *out,
                                   struct clew_error *err)
{
    enum clew_status status = http_query_of(call->request, name, out, err);

    if (status == CLEW_OK && out->len == 0) {
        *out = (struct str){0};
    }
    return status;
}

enum clew_status api_query_str(const struct api_call *call, const char *name,
                               size_t max_bytes, struct str *out,
                               struct clew_error *err)
{
    struct str text;
    enum clew_status status = query_text(call, name, &text, err);

    if (status != CLEW_OK || !text.s) {
        return status;
    }
    if (text.len > max_bytes) {
        return clew_fail_field(err, name, "\"%s\" has more than %zu bytes",
                               name, max_bytes);
    }
    *out = text;
    return CLEW_OK;
}

enum clew_status api_query_int(const struct api_call *call, const char *name,
                               int64_t min, int64_t max, int64_t *out,
                               struct clew_error *err)
{
    struct str text;
    int64_t value = 0;
    enum clew_status status = query_text(call, name, &text, err);

    if (status != CLEW_OK || !text.s) {
        return status;
    }
    if (!str_parse_int(text, &value) || value < min || value > max) {
        return clew_fail_field(
            err, name, "\"%s\" must be a number from %" PRId64 " to %" PRId64,
            name, min, max);
    }
    *out = value;
    return CLEW_OK;
}

enum clew_status api_query_uuid(const struct api_call *call, const char *name,
                                struct uuid *out, struct clew_error *err)
{
    struct str text;
    enum clew_status status = query_text(call, name, &text, err);

    if (status == CLEW_OK && text.s && !uuid_parse(text, out)) {
        return clew_fail_field(err, name, "\"%s\" must be an id", name);
    }
    return status;
}

enum clew_status api_query_time(const struct api_call *call, const char *name,
                                int64_t *out_ms, struct clew_error *err)
{
    struct str text;
    enum clew_status status = query_text(call, name, &text, err);

    if (status == CLEW_OK && text.s && !clock_parse(text, out_ms)) {
        return clew_fail_field(err, name, "\"%s\" must be an RFC 3339 time",
                               name);
    }
    return status;
}

int64_t api_sent_ms(const struct api_call *call)
{
    int64_t began_ms = call->request->began_ms;

    return began_ms > 0 ? began_ms : clock_now_ms(call->engine->clock);
}

enum clew_status api_body_begun(const struct api_call *call, bool *out_is_given,
                                int64_t *out_ms, struct clew_error *err)
{
    int64_t sent_ms = api_sent_ms(call);
    int64_t begun_ms = sent_ms;
    enum clew_status status =
        json_get_time(call->body, "begun_at", JSON_OPTIONAL, &begun_ms, err);

    if (status == CLEW_OK) {
        *out_is_given = json_object_get(call->body, "begun_at") != NULL;
        *out_ms = begun_ms < sent_ms ? begun_ms : sent_ms;
    }
    return status;
}

/* Of a sub-agent's name. */
#define SUBTASK_BYTES 64

enum clew_status api_body_fork(const struct api_call *call,
                               struct chat_origin *out, struct clew_error *err)
{
    enum clew_status status = json_get_int(call->body, "at_seq", JSON_OPTIONAL,
                                           0, INT64_MAX, &out->at_seq, err);

    if (status == CLEW_OK) {
        status = json_get_str(call->body, "subtask", JSON_OPTIONAL,
                              SUBTASK_BYTES, &out->subtask, err);
    }
    if (status == CLEW_OK && out->subtask.s && out->at_seq >= 0) {
        return clew_fail_field(err, "subtask",
                               "\"subtask\" goes with no \"at_seq\"");
    }
    if (status == CLEW_OK && out->subtask.s) {
        out->at_seq = 0;
    }
    return status;
}

enum clew_status api_body_times(const struct api_call *call,
                                int64_t *out_since_ms, int64_t *out_until_ms,
                                int64_t *out_at_ms, struct clew_error *err)
{
    enum clew_status status =
        json_get_time(call->body, "since", JSON_OPTIONAL, out_since_ms, err);

    if (status == CLEW_OK) {
        status = json_get_time(call->body, "until", JSON_OPTIONAL, out_until_ms,
                               err);
    }
    return status == CLEW_OK
               ? json_get_time(call->body, "at", JSON_OPTIONAL, out_at_ms, err)
               : status;
}

enum clew_status api_pages_open(struct engine *engine, struct clew_error *err)
{
    unsigned char key[CURSOR_KEY_SIZE];
    enum clew_status status = secret_get(engine, CURSOR_SECRET, key, err);

    explicit_bzero(key, sizeof(key));
    return status;
}

static enum clew_status scope_of(const struct api_call *call,
                                 unsigned char key[CURSOR_KEY_SIZE],
                                 struct cursor_scope *out,
                                 struct clew_error *err)
{
    *out = (struct cursor_scope){key, call->scope.tenant, call->route->path};
    return secret_get(call->engine, CURSOR_SECRET, key, err);
}

enum clew_status api_page_of(const struct api_call *call, struct api_page *out,
                             struct clew_error *err)
{
    struct api_page page = {.limit = LIMIT_PAGE_DEFAULT};
    unsigned char key[CURSOR_KEY_SIZE];
    struct cursor_scope scope;
    struct str text = {0};
    enum clew_status status =
        api_query_int(call, "limit", 1, LIMIT_PAGE_MAX, &page.limit, err);

    if (status == CLEW_OK) {
        status = query_text(call, "cursor", &text, err);
    }
    if (status == CLEW_OK && text.s) {
        status = scope_of(call, key, &scope, err);
        if (status == CLEW_OK) {
            status = cursor_parse(&scope, call->arena, text, &page.cursor, err);
        }
        explicit_bzero(key, sizeof(key));
    }
    if (status == CLEW_OK) {
        *out = page;
    }
    return status;
}

/* The cursor of a payload. */
static enum clew_status format_next(struct api_call *call, struct str next,
                                    struct str *out, struct clew_error *err)
{
    unsigned char key[CURSOR_KEY_SIZE];
    struct cursor_scope scope;
    enum clew_status status =
        next.s ? scope_of(call, key, &scope, err) : clew_no_memory(err);

    if (status != CLEW_OK) {
        return status;
    }
    *out = cursor_format(&scope, call->arena, next);
    explicit_bzero(key, sizeof(key));
    return out->s ? CLEW_OK : clew_no_memory(err);
}

enum clew_status api_cursor_of(const struct api_call *call,
                               struct api_page *out, struct clew_error *err)
{
    unsigned char key[CURSOR_KEY_SIZE];
    struct cursor_scope scope;
    struct str text = {0};
    enum clew_status status =
        json_get_str(call->body, "cursor", JSON_OPTIONAL,
                     2 * (CURSOR_MAX_PAYLOAD + CURSOR_KEY_SIZE), &text, err);

    if (status == CLEW_OK && text.s) {
        status = scope_of(call, key, &scope, err);
        if (status == CLEW_OK) {
            status = cursor_parse(&scope, call->arena, text, &out->cursor, err);
        }
        explicit_bzero(key, sizeof(key));
    }
    return status;
}

enum clew_status api_cursor_make(struct api_call *call, struct str payload,
                                 struct str *out, struct clew_error *err)
{
    return format_next(call, payload, out, err);
}

enum clew_status api_list(struct api_call *call, json_t *items,
                          const struct str *next, struct clew_error *err)
{
    struct str cursor = {0};
    enum clew_status status =
        next ? format_next(call, *next, &cursor, err) : CLEW_OK;

    call->out = status == CLEW_OK ? json_object() : NULL;
    if (!call->out) {
        json_decref(items);
        return status == CLEW_OK ? clew_no_memory(err) : status;
    }
    return json_set(call->out, "items", items) &&
                   json_set_str(call->out, "next_cursor", cursor)
               ? CLEW_OK
               : clew_no_memory(err);
}

struct str api_mark(struct api_call *call, int64_t number,
                    const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    uuid_format(id, text);
    return str_of(arena_printf(call->arena, "%" PRId64 ":%s", number, text));
}

/* How many of the rows make the page; where the next one begins, if there is
 * one (else s == NULL in `*out_next`, and false). */
static bool cut_rows(struct api_call *call, const struct api_page *page,
                     const struct api_rows *rows, size_t *out_count,
                     struct str *out_next)
{
    size_t limit = page ? (size_t)page->limit : rows->count;
    const char *first = rows->first;

    *out_count = rows->count < limit ? rows->count : limit;
    *out_next = (struct str){0};
    if (*out_count == rows->count) {
        return false;
    }
    /* what is cut says where it goes on */
    assert(rows->mark && *out_count > 0);
    *out_next = rows->mark(call, first + (*out_count - 1) * rows->size);
    return true;
}

enum clew_status api_answer_rows(struct api_call *call,
                                 const struct api_page *page,
                                 const struct api_rows *rows,
                                 struct clew_error *err)
{
    struct str next;
    size_t count;
    bool is_cut = cut_rows(call, page, rows, &count, &next);
    const char *row = rows->first;
    json_t *items = json_array();
    bool is_ok = items != NULL;

    for (size_t i = 0; is_ok && i < count; i++, row += rows->size) {
        is_ok = json_array_append_new(items, rows->form(call, row)) == 0;
    }
    if (!is_ok) {
        json_decref(items);
        return clew_no_memory(err);
    }
    return api_list(call, items, is_cut ? &next : NULL, err);
}

enum clew_status
api_write_rows(struct api_call *call, const struct api_page *page,
               const struct api_rows *rows,
               void (*write)(struct json_out *out, const void *row),
               struct clew_error *err)
{
    struct str next;
    size_t count;
    bool is_cut = cut_rows(call, page, rows, &count, &next);
    const char *row = rows->first;
    struct str cursor = {0};
    struct json_out out;
    enum clew_status status =
        is_cut ? format_next(call, next, &cursor, err) : CLEW_OK;

    json_out_init(&out, &call->response->body);
    json_out_object(&out, NULL);
    json_out_array(&out, "items");
    for (size_t i = 0; i < count; i++, row += rows->size) {
        write(&out, row);
    }
    json_out_end_array(&out);
    json_out_str(&out, "next_cursor", cursor);
    json_out_end_object(&out);
    return status; /* a full buffer is found by whoever sends it */
}

enum clew_status api_mark_parse(const struct api_page *page,
                                int64_t *out_number, struct uuid *out_id,
                                struct clew_error *err)
{
    size_t colon;

    if (!page->cursor.s) {
        return CLEW_OK;
    }
    colon = str_find(page->cursor, STR(":"), 0);
    if (colon == SIZE_MAX ||
        !str_parse_int(str_sub(page->cursor, 0, colon), out_number) ||
        !uuid_parse(str_sub(page->cursor, colon + 1, page->cursor.len),
                    out_id)) {
        return clew_fail_field(err, "cursor",
                               "this cursor does not belong here");
    }
    return CLEW_OK;
}

enum clew_status api_body_zone(const json_t *body, struct str *out,
                               struct clew_error *err)
{
    enum clew_status status = json_get_str(body, "timezone", JSON_OPTIONAL,
                                           LIMIT_NAME_BYTES, out, err);
    int64_t offset;

    /* a machine without zones knows none: nothing is lost for that */
    if (status == CLEW_OK && out->len > 0 &&
        !text_zone_offset(*out, 0, &offset) &&
        text_zone_offset(STR("Europe/London"), 0, &offset)) {
        return clew_fail_field(err, "timezone",
                               "\"timezone\" is no zone that is known; give "
                               "one like Europe/Berlin or +02:00");
    }
    return status;
}
