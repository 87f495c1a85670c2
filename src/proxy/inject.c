/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.c - see inject.h.
 */
#include "proxy/inject.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "engine/call/call_hash.h"
#include "engine/call/call_text.h"
#include "engine/read/reading.h"

#include <stdint.h>
#include <string.h>

/* --- walking JSON bytes that are known to be valid -------------------------
 */

static size_t skip_space(struct str s, size_t at)
{
    while (at < s.len && strchr(" \t\r\n", s.s[at])) {
        at++;
    }
    return at;
}

/* The offset after the string that starts at `at`. */
static size_t skip_string(struct str s, size_t at)
{
    for (at++; at < s.len && s.s[at] != '"'; at++) {
        at += s.s[at] == '\\';
    }
    return at < s.len ? at + 1 : s.len;
}

/* The offset after the value that starts at `at`. */
static size_t skip_value(struct str s, size_t at)
{
    size_t depth = 0;

    at = skip_space(s, at);
    while (at < s.len) {
        char c = s.s[at];

        if (c == '"') {
            at = skip_string(s, at);
        } else {
            depth += c == '{' || c == '[';
            if (c == '}' || c == ']') {
                if (depth == 0) {
                    return at;
                }
                depth--;
            } else if (depth == 0 && (c == ',' || c == ':')) {
                return at;
            }
            at++;
        }
        if (depth == 0 &&
            (s.s[at - 1] == '"' || s.s[at - 1] == '}' || s.s[at - 1] == ']')) {
            return at;
        }
    }
    return s.len;
}

/* The offset of the value of `key` in the object at `at`, or SIZE_MAX. The
 * last one of several counts, as readers of JSON have it. */
static size_t find_key(struct str s, size_t at, struct str key)
{
    size_t found = SIZE_MAX;

    at = skip_space(s, at);
    if (at >= s.len || s.s[at] != '{') {
        return SIZE_MAX;
    }
    at = skip_space(s, at + 1);
    while (at < s.len && s.s[at] == '"') {
        size_t end = skip_string(s, at);
        struct str name = str_sub(s, at + 1, end - 1);

        at = skip_space(s, end);
        at = skip_space(s, at + 1); /* past the colon */
        if (str_eq(name, key)) {
            found = at;
        }
        at = skip_space(s, skip_value(s, at));
        if (at < s.len && s.s[at] == ',') {
            at = skip_space(s, at + 1);
        }
    }
    return found;
}

/* The offset of the last item of the array at `at`, or SIZE_MAX. */
static size_t last_item(struct str s, size_t at)
{
    size_t found = SIZE_MAX;

    at = skip_space(s, at);
    if (at >= s.len || s.s[at] != '[') {
        return SIZE_MAX;
    }
    at = skip_space(s, at + 1);
    while (at < s.len && s.s[at] != ']') {
        found = at;
        at = skip_space(s, skip_value(s, at));
        if (at < s.len && s.s[at] == ',') {
            at = skip_space(s, at + 1);
        }
    }
    return found;
}

/* --- the place -------------------------------------------------------------
 */

static bool is_user(struct str body, size_t message)
{
    size_t role = find_key(body, message, STR("role"));

    return role != SIZE_MAX &&
           str_starts(str_sub(body, role, body.len), STR("\"user\""));
}

/* The own words of the message that stands at `at`. */
static struct str words_at(struct str body, size_t at, struct arena *arena)
{
    struct str bytes = str_sub(body, at, skip_value(body, at));
    struct str text = {NULL, 0};
    json_t *message = NULL;

    if (json_parse(bytes, &message, NULL) != CLEW_OK) {
        return text;
    }
    if (json_is_string(message)) {
        message = json_pack("{s:o}", "content", message);
    }
    if (call_message_text(arena, message, &text) != CLEW_OK) {
        text = (struct str){NULL, 0};
    }
    json_decref(message);
    return text;
}

bool inject_find(enum canon_api api, struct str body, struct arena *arena,
                 struct inject_place *out)
{
    size_t list = find_key(
        body, 0, api == CANON_RESPONSES ? STR("input") : STR("messages"));
    size_t message = SIZE_MAX;
    size_t content = SIZE_MAX;
    size_t end;

    memset(out, 0, sizeof(*out));
    if (list == SIZE_MAX) {
        return false;
    }
    if (body.s[list] == '"') { /* Responses: the input is one text */
        message = content = list;
    } else {
        message = last_item(body, list);
        if (message == SIZE_MAX || !is_user(body, message)) {
            return false;
        }
        content = find_key(body, message, STR("content"));
    }
    if (content == SIZE_MAX ||
        (body.s[content] != '"' && body.s[content] != '[')) {
        return false;
    }
    end = skip_value(body, content);
    if (end <= content + 1 || end > body.len) {
        return false;
    }
    out->is_string = body.s[content] == '"';
    out->at = end - 1;
    out->is_empty = !out->is_string && skip_space(body, content + 1) == end - 1;
    out->text = words_at(body, message, arena);
    return out->text.len > 0;
}

/* --- the fence -------------------------------------------------------------
 */

enum clew_status inject_fence(struct str context, struct buf *out)
{
    struct buf safe;
    char hex[SHA256_HEX_SIZE];
    size_t done = 0;
    size_t at;
    enum clew_status status;

    buf_init(&safe, LIMIT_BODY_BYTES);
    while ((at = str_ifind(context, STR(READING_FENCE_CLOSE), done)) !=
           SIZE_MAX) {
        (void)buf_append_str(&safe, str_sub(context, done, at + 1));
        (void)buf_append_char(&safe, ' ');
        done = at + 1;
    }
    (void)buf_append_str(&safe, str_sub(context, done, context.len));
    status = buf_status(&safe);
    if (status == CLEW_OK) {
        sha256_hex_of(buf_str(&safe), hex);
        (void)buf_printf(out, "\n\n" READING_FENCE_OPEN " sha256=\"%s\">\n",
                         hex);
        (void)buf_append_str(out, buf_str(&safe));
        status = buf_append_cstr(out, "\n" READING_FENCE_CLOSE);
    }
    buf_release(&safe);
    return status;
}

enum clew_status inject_apply(enum canon_api api, struct str body,
                              const struct inject_place *place,
                              struct str fence, struct buf *out)
{
    json_t *text = json_stringn(fence.s, fence.len);
    struct buf quoted;
    struct str inner;
    enum clew_status status;

    if (!text) {
        return CLEW_NO_MEMORY;
    }
    buf_init(&quoted, LIMIT_BODY_BYTES);
    status = json_write(&quoted, text);
    json_decref(text);
    inner = str_sub(buf_str(&quoted), 1, quoted.len ? quoted.len - 1 : 0);
    (void)buf_append_str(out, str_sub(body, 0, place->at));
    if (place->is_string) {
        (void)buf_append_str(out, inner);
    } else {
        (void)buf_printf(out, "%s{\"type\":\"%s\",\"text\":\"",
                         place->is_empty ? "" : ",",
                         api == CANON_RESPONSES ? "input_text" : "text");
        (void)buf_append_str(out, inner);
        (void)buf_append_cstr(out, "\"}");
    }
    (void)buf_append_str(out, str_sub(body, place->at, body.len));
    buf_release(&quoted);
    return status == CLEW_OK ? buf_status(out) : status;
}
