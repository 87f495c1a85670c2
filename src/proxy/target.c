/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.c - see target.h.
 */
#include "proxy/target.h"

#include <stdint.h>

static const struct {
    const char *path;
    enum canon_api api;
} captured[] = {{"/v1/messages", CANON_ANTHROPIC},
                {"/v1/chat/completions", CANON_CHAT},
                {"/v1/responses", CANON_RESPONSES}};

bool target_of(const struct http_request *request, struct target *out)
{
    struct str path = request->path;

    *out = (struct target){.route = "/v1/*"};
    if (str_starts(path, STR("/key/"))) {
        size_t end = str_find(path, STR("/"), 5);

        if (end == SIZE_MAX) {
            return false;
        }
        out->key = str_sub(path, 5, end);
        path = str_sub(path, end, path.len);
    }
    out->path = path;
    for (size_t i = 0; i < sizeof(captured) / sizeof(captured[0]); i++) {
        if (str_eq(path, str_of(captured[i].path))) {
            out->route = captured[i].path;
            out->api = captured[i].api;
            out->is_captured = request->method == HTTP_POST;
        }
    }
    return str_starts(path, STR("/v1/"));
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One character of a path, read as the upstream may read it. */
static char char_at(struct str path, size_t *at)
{
    char c = path.s[*at];

    if (c == '%' && *at + 2 < path.len) {
        int high = hex_of(path.s[*at + 1]);
        int low = hex_of(path.s[*at + 2]);

        if (high >= 0 && low >= 0) {
            *at += 2;
            c = (char)(high * 16 + low);
        }
    }
    (*at)++;
    return c == '\\' ? '/' : c;
}

/* Does it hold a "." or ".." that leads out of the configured address? */
static bool has_dots(struct str path)
{
    size_t at = 0;
    size_t n_dots = 0; /* of the segment so far; over 2: it is a name */

    while (at < path.len) {
        char c = char_at(path, &at);

        if (c == '/') {
            if (n_dots == 1 || n_dots == 2) {
                return true;
            }
            n_dots = 0;
        } else {
            n_dots = c == '.' && n_dots < 3 ? n_dots + 1 : 3;
        }
    }
    return n_dots == 1 || n_dots == 2;
}

static bool has_controls(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.s[i] <= ' ' || text.s[i] == 0x7F) {
            return true;
        }
    }
    return false;
}

enum clew_status target_check(const struct target *target,
                              const struct http_request *request,
                              struct clew_error *err)
{
    if (has_dots(target->path) || has_controls(target->path) ||
        has_controls(request->query)) {
        return clew_fail(err, CLEW_INVALID,
                         "the path has dot segments or control characters");
    }
    /* no upstream has such an address, and nothing of it would be captured */
    if (str_starts(target->path, STR("/v1/v1/"))) {
        return clew_fail(err, CLEW_NOT_FOUND,
                         "no such address: this client adds the /v1 itself, so "
                         "its base URL has one too many");
    }
    return CLEW_OK;
}
