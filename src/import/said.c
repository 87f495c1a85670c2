/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.c - ids, texts and lines of talk. See said.h.
 */
#include "import/said.h"

#include "base/json.h"
#include "base/sha256.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole characters: a name is text. */
static int cut(struct str part)
{
    return (int)utf8_head(part, 100).len;
}

struct str said_id(const char *program, struct str a, struct str b,
                   char out[SAID_ID_SIZE])
{
    int len =
        snprintf(out, SAID_ID_SIZE, "%.40s/%.*s%s%.*s", program, cut(a),
                 a.s ? a.s : "", b.len ? "/" : "", cut(b), b.s ? b.s : "");

    return (struct str){out, (size_t)len};
}

struct str said_hash(const char *program, struct str who, struct str text,
                     int64_t time_ms, int64_t nth, char out[SAID_ID_SIZE])
{
    char number[64];
    char hex[SHA256_HEX_SIZE];
    struct sha256 hash;

    (void)snprintf(number, sizeof(number), "\n%lld\n%lld\n", (long long)time_ms,
                   (long long)nth);
    sha256_init(&hash);
    sha256_add_str(&hash, who);
    sha256_add_str(&hash, str_of(number));
    sha256_add_str(&hash, text);
    sha256_get_hex(&hash, hex);
    return said_id(program, str_of(hex), (struct str){0}, out);
}

void said_append(struct buf *out, struct str text)
{
    if (text.len > 0) {
        if (out->len > 0) {
            (void)buf_append_char(out, '\n'); /* kept in it */
        }
        (void)buf_append(out, text.s, text.len);
    }
}

void said_attach(struct buf *out, struct str name)
{
    if (name.len > 0) {
        (void)buf_printf(out, "%s[", out->len ? "\n" : ""); /* kept in it */
        (void)buf_append(out, name.s, name.len);
        (void)buf_append_char(out, ']');
    }
}

struct str said_kind(struct str type)
{
    static const char *const kinds[] = {"image", "video", "audio"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (str_find(type, str_of(kinds[i]), 0) != SIZE_MAX) {
            return str_of(kinds[i]);
        }
    }
    return type.len > 0 ? type : STR("other");
}

enum clew_status said_add(struct importer *importer,
                          struct import_message *message, struct buf *text,
                          struct clew_error *err)
{
    enum clew_status status = CLEW_OK;

    if (buf_status(text) != CLEW_OK) {
        status = clew_fail(err, buf_status(text), "a message is too long");
    } else if (text->len == 0) {
        status = importer_skip(importer, message->id, message->parent,
                               IMPORT_EMPTY, err);
    } else if (!utf8_is_valid(buf_str(text))) {
        status = clew_fail(err, CLEW_INVALID, "a message is no UTF-8");
    } else {
        message->content = json_stringn(text->data, text->len);
        status = message->content ? importer_add(importer, message, err)
                                  : clew_no_memory(err);
        json_decref(message->content);
        message->content = NULL;
    }
    buf_release(text);
    return status;
}

json_t *said_take(struct buf *text, enum clew_status *out_status,
                  struct clew_error *err)
{
    json_t *out = NULL;

    *out_status = CLEW_OK;
    if (buf_status(text) != CLEW_OK) {
        *out_status = clew_fail(err, buf_status(text), "a message is too long");
    } else if (text->len > 0) {
        out = json_stringn(text->data, text->len);
        *out_status = out ? CLEW_OK : clew_no_memory(err);
    }
    buf_release(text);
    return out;
}

struct str said_last(struct importer *importer, struct str line)
{
    const json_t *id =
        json_object_getn(importer_memo(importer), line.s, line.len);

    return json_text(id);
}

enum clew_status said_set_last(struct importer *importer, struct str line,
                               struct str id, struct clew_error *err)
{
    return json_object_setn_new_nocheck(importer_memo(importer), line.s,
                                        line.len,
                                        json_stringn(id.s, id.len)) == 0
               ? CLEW_OK
               : clew_no_memory(err);
}

struct str import_folder(const struct importer *importer)
{
    struct str path = str_of(importer_source(importer));
    size_t to = 0;
    size_t from = 0;

    for (size_t i = 0; i < path.len; i++) {
        if (path.s[i] == '/') {
            from = to ? to + 1 : 0;
            to = i;
        }
    }
    return str_sub(path, from, to);
}

struct str import_title(const struct importer *importer)
{
    struct str path = str_of(importer_source(importer));
    size_t from = 0;
    size_t to = path.len;

    for (size_t i = 0; i < path.len; i++) {
        if (path.s[i] == '/') {
            from = i + 1;
            to = path.len;
        } else if (path.s[i] == '.' && i > from) {
            to = i;
        }
    }
    return str_sub(path, from, to);
}

/* --- HTML ----------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *text;
} entities[] = {{"amp", "&"},    {"lt", "<"},    {"gt", ">"},
                {"quot", "\""},  {"nbsp", " "},  {"apos", "'"},
                {"hellip", "…"}, {"mdash", "—"}, {"ndash", "–"}};

/* The character that "&...;" at `at` means; bytes used, 0 if it is none. */
static size_t put_entity(struct buf *out, struct str html, size_t at)
{
    size_t end = str_find(html, STR(";"), at);
    struct str name;

    if (end == SIZE_MAX || end - at > 10) {
        return 0;
    }
    name = str_sub(html, at + 1, end);
    if (name.len > 1 && name.s[0] == '#') {
        bool is_hex = name.s[1] == 'x' || name.s[1] == 'X';
        unsigned long c =
            strtoul(name.s + (is_hex ? 2 : 1), NULL, is_hex ? 16 : 10);
        char bytes[4];

        if (c > 0 && c < 0x110000 && (c < 0xd800 || c > 0xdfff)) {
            (void)buf_append(out, bytes, utf8_put((uint32_t)c, bytes));
            return end + 1 - at;
        }
        return 0;
    }
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
        if (str_eq(name, str_of(entities[i].name))) {
            (void)buf_append_cstr(out, entities[i].text);
            return end + 1 - at;
        }
    }
    return 0;
}

static bool ends_line(struct str tag)
{
    static const char *const names[] = {"br", "/p",  "/div", "/li", "/tr",
                                        "/h", "/ul", "/ol",  "/pre"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (str_istarts(tag, str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

void said_html(struct buf *out, struct str html)
{
    size_t at = 0;

    while (at < html.len) {
        char c = html.s[at];
        size_t used = 1;

        if (c == '<') {
            size_t end = str_find(html, STR(">"), at);

            if (end == SIZE_MAX) {
                return; /* a tag that was cut off */
            }
            if (ends_line(str_sub(html, at + 1, end)) && out->len > 0 &&
                out->data[out->len - 1] != '\n') {
                (void)buf_append_char(out, '\n'); /* kept in it */
            }
            used = end + 1 - at;
        } else if (c == '&') {
            used = put_entity(out, html, at);
            if (used == 0) {
                (void)buf_append_char(out, c);
                used = 1;
            }
        } else {
            (void)buf_append_char(out, c);
        }
        at += used;
    }
    while (out->len > 0 && out->data[out->len - 1] == '\n') {
        out->len--;
        out->data[out->len] = '\0';
    }
}
