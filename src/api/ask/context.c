/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - POST /api/v1/chats/{id}/context: what the next turn needs.
 */
#include "api/handlers.h"

#include "api/answer/forms.h"
#include "base/limits.h"
#include "engine/ask/context.h"

#include <string.h>

enum form { FORM_TEXT, FORM_OPENAI, FORM_ANTHROPIC };

static enum clew_status read_form(const json_t *body, enum form *out,
                                  struct clew_error *err)
{
    static const char *const names[] = {"text", "openai", "anthropic"};
    struct str name = STR("text");
    enum clew_status status = json_get_str(body, "format", JSON_OPTIONAL,
                                           LIMIT_NAME_BYTES, &name, err);

    for (int i = 0; status == CLEW_OK && i < 3; i++) {
        if (str_eq(name, str_of(names[i]))) {
            *out = (enum form)i;
            return CLEW_OK;
        }
    }
    return status != CLEW_OK
               ? status
               : clew_fail_field(err, "format",
                                 "\"format\" must be text, openai or "
                                 "anthropic");
}

static json_t *form_left_out(const struct context *context)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;

    for (size_t i = 0; is_ok && i < context->n_left; i++) {
        const struct context_left *left = &context->left[i];
        json_t *item = json_object();

        is_ok = json_set_cstr(item, "section",
                              context_section_name(left->section)) &&
                json_set_str(item, "source", left->source) &&
                json_set_cstr(item, "reason", context_why_name(left->why)) &&
                (left->score < 0 ? json_set(item, "score", json_null())
                                 : json_set_score(item, "score", left->score));
        is_ok = json_array_append_new(list, item) == 0 && is_ok;
    }
    return form_finish(list, is_ok);
}

static json_t *form_sections(const struct context *context)
{
    json_t *list = json_array();
    bool is_ok = list != NULL;

    for (int i = 0; is_ok && i < CONTEXT_SECTIONS; i++) {
        const struct context_part *part = &context->parts[i];
        json_t *sources = json_array();
        json_t *section = json_object();

        if (part->count == 0) {
            json_decref(sources);
            json_decref(section);
            continue;
        }
        is_ok = sources && section;
        for (size_t k = 0; is_ok && k < part->count; k++) {
            is_ok = json_array_append_new(
                        sources, json_stringn(part->lines[k].source.s,
                                              part->lines[k].source.len)) == 0;
        }
        is_ok = json_set(section, "sources", sources) && is_ok &&
                json_set_cstr(section, "name",
                              context_section_name((enum context_section)i)) &&
                json_set_int(section, "tokens", (int64_t)part->tokens);
        if (json_array_append_new(list, section) != 0) {
            is_ok = false;
        }
    }
    return form_finish(list, is_ok);
}

/* --- messages --------------------------------------------------------------
 */

/* The lines of a section that are no turns, with the heading. */
static bool append_notes(struct buf *text, const struct context_part *part)
{
    bool has_head = false;

    for (size_t i = 0; i < part->count; i++) {
        if (part->lines[i].is_turn) {
            continue;
        }
        if (!has_head) {
            (void)buf_append_str(text, part->head); /* checked below */
            (void)buf_append_char(text, '\n');
            has_head = true;
        }
        (void)buf_append_str(text, part->lines[i].text);
        (void)buf_append_char(text, '\n');
    }
    return buf_status(text) == CLEW_OK;
}

static bool add_message(json_t *messages, const char *role, struct str text)
{
    json_t *message = json_object();

    if (json_set_cstr(message, "role", role) &&
        json_set_str(message, "content", text)) {
        return json_array_append_new(messages, message) == 0;
    }
    json_decref(message);
    return false;
}

/* Anthropic's first message must be the user's: answers to what is out of view
 * are left out there. */
static bool add_turns(json_t *messages, const struct context_part *part,
                      enum form form)
{
    bool is_ok = true;

    for (size_t i = 0; is_ok && i < part->count; i++) {
        bool is_first = json_array_size(messages) == 0;

        if (part->lines[i].is_turn && (form != FORM_ANTHROPIC || !is_first ||
                                       part->lines[i].role == TURN_USER)) {
            is_ok = add_message(messages, turn_role_name(part->lines[i].role),
                                part->lines[i].body);
        }
    }
    return is_ok;
}

/* Anthropic: what comes before the turns is the system prompt, with the cache
 * breakpoint at the end of the stable block. */
static bool set_system(json_t *out, const struct context *context)
{
    static const int order[] = {CONTEXT_MEMORY, CONTEXT_CONTINUITY,
                                CONTEXT_EFFORT};
    json_t *system = json_array();
    bool is_ok = system != NULL;

    for (size_t i = 0; is_ok && i < sizeof(order) / sizeof(order[0]); i++) {
        struct buf text;
        json_t *block = NULL;

        buf_init(&text, (size_t)256 << 20);
        is_ok = append_notes(&text, &context->parts[order[i]]);
        if (is_ok && text.len > 0) {
            block = json_object();
            is_ok = json_set_cstr(block, "type", "text") &&
                    json_set_str(block, "text", buf_str(&text)) &&
                    (order[i] != CONTEXT_MEMORY ||
                     json_set(block, "cache_control",
                              json_pack("{s:s}", "type", "ephemeral")));
            is_ok = json_array_append_new(system, block) == 0 && is_ok;
        }
        buf_release(&text);
    }
    return json_set(out, "system", system) && is_ok;
}

static bool set_messages(json_t *out, const struct context *context,
                         enum form form)
{
    json_t *messages = json_array();
    struct buf text;
    bool is_ok = messages != NULL;

    buf_init(&text, (size_t)256 << 20);
    for (int i = CONTEXT_MEMORY;
         is_ok && form == FORM_OPENAI && i <= CONTEXT_EFFORT; i++) {
        is_ok = append_notes(&text, &context->parts[i]);
    }
    if (is_ok && text.len > 0) {
        is_ok = add_message(messages, "system", buf_str(&text));
    }
    is_ok = is_ok &&
            add_turns(messages, &context->parts[CONTEXT_EFFORT], form) &&
            add_turns(messages, &context->parts[CONTEXT_RECENT], form);
    buf_clear(&text);
    is_ok = is_ok && append_notes(&text, &context->parts[CONTEXT_RECALL]);
    if (is_ok && text.len > 0) {
        /* Anthropic has no system role among the messages */
        is_ok = add_message(messages, form == FORM_OPENAI ? "system" : "user",
                            buf_str(&text));
    }
    buf_release(&text);
    is_ok = json_set(out, "messages", messages) && is_ok;
    return is_ok && (form != FORM_ANTHROPIC || set_system(out, context));
}

/* What both forms have. */
static bool set_rest(json_t *out, const struct context *context)
{
    return json_set_int(out, "tokens", (int64_t)context->tokens) &&
           json_set_cstr(out, "hash", context->hash) &&
           json_set_bool(out, "cached", context->is_cached) &&
           json_set(out, "sections", form_sections(context)) &&
           json_set(out, "left_out", form_left_out(context));
}

json_t *form_context(const struct context *context)
{
    json_t *out = json_object();
    bool is_ok =
        json_set_str(out, "text", context->text) && set_rest(out, context);

    return form_finish(out, is_ok);
}

static json_t *form_messages(const struct context *context, enum form form)
{
    json_t *out = json_object();
    bool is_ok = set_messages(out, context, form) && set_rest(out, context);

    return form_finish(out, is_ok);
}

enum clew_status context_post(struct api_call *call, struct clew_error *err)
{
    struct context_request request = {0};
    struct context *context = arena_zero(call->arena, 1, sizeof(*context));
    enum form form = FORM_TEXT;
    enum clew_status status = api_param_id(call, 0, &request.chat_id, err);

    if (!context) {
        return clew_no_memory(err);
    }
    if (status == CLEW_OK) {
        status = json_get_int(call->body, "budget_tokens", JSON_OPTIONAL,
                              CONTEXT_MIN_TOKENS, CONTEXT_MAX_TOKENS,
                              &request.budget_tokens, err);
    }
    if (status == CLEW_OK) {
        status = json_get_str(call->body, "message", JSON_OPTIONAL,
                              LIMIT_CONTENT_BYTES, &request.message, err);
    }
    if (status == CLEW_OK) {
        status = read_form(call->body, &form, err);
    }
    request.for_messages = form != FORM_TEXT;
    if (status == CLEW_OK) {
        status = context_build(call->engine, &call->scope, call->arena,
                               &request, context, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    return api_answer(call,
                      form == FORM_TEXT ? form_context(context)
                                        : form_messages(context, form),
                      err);
}
