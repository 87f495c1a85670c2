/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.c - stars over secrets in messages, by the mode. See redact.h;
 * redact_tree.c has what stands in a text, or in JSON.
 */
#include "engine/core/redact.h"

#include "base/buf.h"
#include "base/config.h"
#include "engine/core/engine.h"

#include <string.h>

#define JSON_BYTES ((size_t)256 << 20)

enum redact_mode redact_mode(const struct engine *engine)
{
    const char *mode = config_str(engine->config, "redact.mode");

    return strcmp(mode, "off") == 0    ? REDACT_OFF
           : strcmp(mode, "drop") == 0 ? REDACT_DROP
                                       : REDACT_MASK;
}

enum clew_status redact_text(const struct engine *engine, struct arena *arena,
                             struct str *text, struct clew_error *err)
{
    return redact_mode(engine) == REDACT_OFF ? CLEW_OK
                                             : redact_str(arena, text, err);
}

/* --- JSON --- */

static enum clew_status write_json(struct arena *arena, const json_t *tree,
                                   struct str *out, struct clew_error *err)
{
    struct buf text;
    enum clew_status status;
    struct str copy;

    buf_init(&text, JSON_BYTES);
    status = json_write(&text, tree);
    copy = status == CLEW_OK ? arena_str(arena, buf_str(&text))
                             : (struct str){NULL, 0};
    buf_release(&text);
    if (!copy.s) {
        return clew_no_memory(err);
    }
    *out = copy;
    return CLEW_OK;
}

enum clew_status redact_json(struct arena *arena, struct str *json,
                             struct clew_error *err)
{
    enum clew_status status = CLEW_OK;
    bool is_changed = false;
    json_t *tree = NULL;

    if (!json->s || json_parse(*json, &tree, NULL) != CLEW_OK) {
        return CLEW_OK;
    }
    status = redact_tree(arena, &tree, &is_changed, err);
    if (status == CLEW_OK && is_changed) {
        status = write_json(arena, tree, json, err);
    }
    json_decref(tree);
    return status;
}

/* --- messages --- */

/* A plain text as JSON, for what it was before it was starred. */
static enum clew_status quote(struct arena *arena, struct str text,
                              struct str *out, struct clew_error *err)
{
    json_t *string = json_stringn(text.s, text.len);
    enum clew_status status =
        string ? write_json(arena, string, out, err) : clew_no_memory(err);

    json_decref(string);
    return status;
}

enum clew_status redact_content(const struct engine *engine,
                                struct arena *arena, struct str *text,
                                struct str *json, struct clew_error *err)
{
    enum redact_mode mode = redact_mode(engine);
    struct str before = *text;
    enum clew_status status = CLEW_OK;

    if (mode != REDACT_OFF) {
        status = redact_str(arena, text, err);
    }
    if (status == CLEW_OK && mode == REDACT_DROP) {
        status = redact_json(arena, json, err);
    }
    if (status == CLEW_OK && mode == REDACT_MASK && !json->s &&
        text->s != before.s) {
        status = quote(arena, before, json, err);
    }
    return status;
}

/* What a plain string was before it was starred; false if it is none. */
static bool unquote(struct arena *arena, struct str json, struct str *out)
{
    json_t *tree = NULL;
    bool is_plain = json.len > 0 && json.s[0] == '"' &&
                    json_parse(json, &tree, NULL) == CLEW_OK &&
                    json_is_string(tree);

    if (is_plain) {
        *out = arena_str(arena, json_text(tree));
    }
    json_decref(tree);
    return is_plain && out->s;
}

enum clew_status redact_show(const struct engine *engine, struct arena *arena,
                             bool is_verbatim, struct str *text,
                             struct str *json, struct clew_error *err)
{
    struct str plain;
    struct str masked;
    enum clew_status status = CLEW_OK;

    if (!json->s) {
        return CLEW_OK;
    }
    if (unquote(arena, *json, &plain)) {
        masked = plain;
        status = redact_str(arena, &masked, err);
        if (status == CLEW_OK && masked.s != plain.s) {
            *text = is_verbatim ? plain : *text;
            *json = (struct str){NULL, 0}; /* it is the text and no more */
        }
        return status;
    }
    return is_verbatim || redact_mode(engine) == REDACT_OFF
               ? CLEW_OK
               : redact_json(arena, json, err);
}
