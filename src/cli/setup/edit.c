/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.c - change one entry, leave the rest. See edit.h.
 *
 * The JSON scanner runs only on texts that json_parse() took, so it need not
 * check them again.
 */
#include "cli/setup/edit.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* --- JSON ------------------------------------------------------------------
 */

/* A member of an object, or where one would go. */
struct member {
    bool is_found;
    size_t from;      /* its key's first quote */
    size_t value;     /* its value's first byte */
    size_t end;       /* one past its value */
    size_t next;      /* the next member's first byte; 0 if it is the last */
    size_t prev_end;  /* one past the member before; 0 if it is the first */
    size_t insert_at; /* one past the last member, or past the "{" */
    bool is_empty;    /* the object has no member */
};

static size_t skip_space(struct str text, size_t at)
{
    while (at < text.len && strchr(" \t\r\n", text.s[at])) {
        at++;
    }
    return at;
}

static size_t skip_string(struct str text, size_t at)
{
    for (at++; at < text.len && text.s[at] != '"'; at++) {
        at += text.s[at] == '\\';
    }
    return at + 1;
}

static size_t skip_value(struct str text, size_t at)
{
    int depth = 0;

    while (at < text.len) {
        char c = text.s[at];

        if (c == '"') {
            at = skip_string(text, at);
        } else if (depth == 0 && strchr(",}] \t\r\n", c)) {
            return at;
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            at++;
        }
        if (depth == 0 && (c == '"' || c == '}' || c == ']')) {
            return at;
        }
    }
    return at;
}

/* Look for `key` in the object that begins at `at`. */
static struct member find_member(struct str text, size_t at, const char *key)
{
    struct member m = {.insert_at = at + 1, .is_empty = true};
    size_t prev_end = 0;

    at = skip_space(text, at + 1);
    while (at < text.len && text.s[at] == '"') {
        size_t key_end = skip_string(text, at);
        size_t value = skip_space(text, skip_space(text, key_end) + 1);
        size_t end = skip_value(text, value);
        size_t comma = skip_space(text, end);
        bool has_next = comma < text.len && text.s[comma] == ',';
        size_t next = has_next ? skip_space(text, comma + 1) : 0;

        if (!m.is_found &&
            str_eq(str_sub(text, at + 1, key_end - 1), str_of(key))) {
            m.is_found = true;
            m.from = at;
            m.value = value;
            m.end = end;
            m.next = next;
            m.prev_end = prev_end;
        }
        m.is_empty = false;
        m.insert_at = end;
        prev_end = end;
        if (!has_next) {
            break;
        }
        at = next;
    }
    return m;
}

/* A plain JSON object? */
static enum clew_status check(struct str text, struct clew_error *err)
{
    json_t *json = NULL;
    enum clew_status status = json_parse(text, &json, NULL);
    bool is_object = status == CLEW_OK && json_is_object(json);

    json_decref(json);
    return is_object ? CLEW_OK
                     : clew_fail(err, CLEW_UNSUPPORTED,
                                 "it is no plain JSON object (with comments, "
                                 "perhaps): add the entry by hand");
}

static enum clew_status find_group(struct str text, const char *group,
                                   struct member *out, struct clew_error *err)
{
    enum clew_status status = check(text, err);

    if (status != CLEW_OK) {
        return status;
    }
    *out = find_member(text, skip_space(text, 0), group);
    if (out->is_found && text.s[out->value] != '{') {
        return clew_fail(err, CLEW_UNSUPPORTED, "\"%s\" is no object", group);
    }
    return CLEW_OK;
}

/* `text` with [from, to) replaced by what `middle` holds. */
static enum clew_status splice(struct buf *out, struct str text, size_t from,
                               size_t to, const struct buf *middle)
{
    /* checked once, by buf_status() */
    (void)buf_append_str(out, str_sub(text, 0, from));
    (void)buf_append_str(out, buf_str(middle));
    (void)buf_append_str(out, str_sub(text, to, text.len));
    return buf_status(middle) == CLEW_OK ? buf_status(out) : buf_status(middle);
}

enum clew_status edit_json_set(struct str text, const char *group,
                               const char *name, struct str value,
                               struct buf *out, struct clew_error *err)
{
    struct member outer;
    struct member inner;
    struct buf entry;
    enum clew_status status;
    size_t from;
    size_t to;

    if (str_trim(text).len == 0) {
        text = STR("{\n}\n");
    }
    status = find_group(text, group, &outer, err);
    if (status != CLEW_OK) {
        return status;
    }
    buf_init(&entry, out->limit);
    if (!outer.is_found) {
        from = to = outer.insert_at;
        (void)buf_printf(&entry, "%s\n  \"%s\": {\n    \"%s\": %.*s\n  }%s",
                         outer.is_empty ? "" : ",", group, name, (int)value.len,
                         value.s,
                         outer.is_empty && text.s[to] == '}' ? "\n" : "");
    } else {
        inner = find_member(text, outer.value, name);
        from = inner.is_found ? inner.value : inner.insert_at;
        to = inner.is_found ? inner.end : inner.insert_at;
        if (!inner.is_found) {
            (void)buf_printf(
                &entry, "%s\n    \"%s\": ", inner.is_empty ? "" : ",", name);
        }
        (void)buf_append_str(&entry, value);
        if (inner.is_empty && text.s[to] == '}') {
            (void)buf_append_cstr(&entry, "\n  ");
        }
    }
    status = splice(out, text, from, to, &entry);
    buf_release(&entry);
    return status;
}

enum clew_status edit_json_remove(struct str text, const char *group,
                                  const char *name, struct buf *out,
                                  struct clew_error *err)
{
    struct buf nothing;
    struct member outer = {0};
    struct member inner = {0};
    enum clew_status status = CLEW_OK;
    size_t from = 0;
    size_t to = 0;

    buf_init(&nothing, 1);
    if (str_trim(text).len > 0) {
        status = find_group(text, group, &outer, err);
    }
    if (status != CLEW_OK) {
        return status;
    }
    if (outer.is_found) {
        inner = find_member(text, outer.value, name);
    }
    if (inner.is_found && inner.prev_end > 0) {
        from = inner.prev_end;
        to = inner.end;
    } else if (inner.is_found) {
        from = inner.next > 0 ? inner.from : outer.value + 1;
        to = inner.next > 0 ? inner.next : skip_space(text, inner.end);
    }
    return splice(out, text, from, to, &nothing);
}

/* --- TOML ------------------------------------------------------------------
 */

/* "[group.name]", or the beginning of a subtable's header. */
static bool is_own_header(struct str line, const char *group, const char *name)
{
    char header[128];
    size_t len =
        (size_t)snprintf(header, sizeof(header), "[%s.%s", group, name);

    line = str_trim(line);
    return str_starts(line, str_of(header)) && line.len > len &&
           (line.s[len] == ']' || line.s[len] == '.');
}

enum clew_status edit_toml_remove(struct str text, const char *group,
                                  const char *name, struct buf *out)
{
    bool had_own = false;
    bool is_own = false;
    size_t at = 0;

    while (at < text.len) {
        size_t end = str_find(text, STR("\n"), at);
        struct str line;

        end = end == SIZE_MAX ? text.len : end + 1;
        line = str_sub(text, at, end);
        if (str_trim(line).len > 0 && str_trim(line).s[0] == '[') {
            is_own = is_own_header(line, group, name);
        }
        if (!is_own) {
            (void)buf_append_str(out, line); /* checked once, below */
        }
        had_own = had_own || is_own;
        at = end;
    }
    /* the empty line that edit_toml_set() put in front */
    if (had_own && str_ends(buf_str(out), STR("\n\n"))) {
        out->data[--out->len] = '\0';
    }
    return buf_status(out);
}

enum clew_status edit_toml_set(struct str text, const char *group,
                               const char *name, struct str lines,
                               struct buf *out)
{
    enum clew_status status = edit_toml_remove(text, group, name, out);

    if (status != CLEW_OK) {
        return status;
    }
    if (out->len > 0) {
        bool has_end = out->data[out->len - 1] == '\n';
        bool has_gap = out->len > 1 && out->data[out->len - 2] == '\n';

        (void)buf_append_cstr(out, !has_end ? "\n\n" : !has_gap ? "\n" : "");
    }
    (void)buf_printf(out, "[%s.%s]\n", group, name);
    (void)buf_append_str(out, lines);
    return buf_status(out);
}
