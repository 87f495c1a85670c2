/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - what the methods of the protocol use. See mcp_internal.h.
 */
#include "mcp/mcp_internal.h"

#include "base/sha256.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum clew_status mcp_fail(struct mcp_request *request, enum mcp_code code,
                          struct clew_error *err, const char *fmt, ...)
{
    char text[256];
    va_list list;

    va_start(list, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, list);
    va_end(list);
    request->code = code;
    return clew_fail(err, CLEW_INVALID, "%s", text);
}

enum clew_status mcp_no_cursor(struct mcp_request *request,
                               struct clew_error *err)
{
    const json_t *cursor = json_object_get(request->params, "cursor");

    return cursor && !json_is_null(cursor)
               ? mcp_fail(request, MCP_INVALID_PARAMS, err, "no such cursor")
               : CLEW_OK;
}

const char *mcp_text(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));

    return text ? text : "";
}

const char *mcp_encode(struct arena *arena, const char *text)
{
    size_t len = strlen(text);
    char *out = arena_alloc(arena, 3 * len + 1);
    size_t at = 0;

    for (size_t i = 0; out && i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
            (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.') {
            out[at++] = (char)c;
        } else {
            out[at++] = '%';
            hex_format(&c, 1, out + at);
            at += 2;
        }
    }
    if (out) {
        out[at] = '\0';
    }
    return out;
}
