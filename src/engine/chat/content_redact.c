/* SPDX-License-Identifier: Apache-2.0 */
/*
 * content_redact.c - see content_redact.h.
 */
#include "engine/chat/content_redact.h"

#include "base/json.h"
#include "base/limits.h"
#include "engine/chat/content.h"
#include "engine/core/redact.h"

/* The text of blocks; s == NULL if they are none. */
static enum clew_status text_of(struct arena *arena, struct str json,
                                struct str *out, struct clew_error *err)
{
    struct content content = {{NULL, 0}, {NULL, 0}};
    json_t *tree = NULL;
    enum clew_status status = CLEW_OK;

    if (json_parse(json, &tree, NULL) == CLEW_OK) {
        status = content_parse(arena, tree, LIMIT_BODY_BYTES, &content, err);
    }
    json_decref(tree);
    *out = content.text;
    return status == CLEW_INVALID ? CLEW_OK : status;
}

/* Only where the text is that of the blocks. */
enum clew_status content_redact_blocks(struct arena *arena, struct str *text,
                                       struct str json, struct clew_error *err)
{
    struct str masked = json;
    struct str was;
    struct str is;
    enum clew_status status = CLEW_OK;

    if (json.len == 0 || json.s[0] != '[') {
        return CLEW_OK;
    }
    status = redact_json(arena, &masked, err);
    if (status != CLEW_OK || masked.s == json.s) {
        return status;
    }
    status = text_of(arena, json, &was, err);
    if (status == CLEW_OK && was.s && str_eq(was, *text)) {
        status = text_of(arena, masked, &is, err);
        *text = status == CLEW_OK && is.s ? is : *text;
    }
    return status;
}

enum clew_status content_redact(const struct engine *engine,
                                struct arena *arena, struct str *text,
                                struct str *json, struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (redact_mode(engine) != REDACT_OFF) {
        status = content_redact_blocks(arena, text, *json, err);
    }
    return status == CLEW_OK ? redact_content(engine, arena, text, json, err)
                             : status;
}
