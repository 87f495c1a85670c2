/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mime.c - headers and bodies of mails. See mime.h.
 */
#include "import/mime.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "import/said.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Parts within parts: deeper is nobody's mail. */
#define MAX_DEPTH 8
#define MAX_TEXT (32u << 20)
#define MAX_HEADER 65536u

void mime_init(struct mime_message *mail)
{
    *mail = (struct mime_message){0};
    buf_init(&mail->message_id, MAX_HEADER);
    buf_init(&mail->parent_id, MAX_HEADER);
    buf_init(&mail->from, MAX_HEADER);
    buf_init(&mail->subject, MAX_HEADER);
    buf_init(&mail->text, MAX_TEXT);
}

void mime_release(struct mime_message *mail)
{
    buf_release(&mail->message_id);
    buf_release(&mail->parent_id);
    buf_release(&mail->from);
    buf_release(&mail->subject);
    buf_release(&mail->text);
}

/* --- encodings ------------------------------------------------------------ */

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* `is_word`: of a header, where "_" is a space. */
static void put_quoted(struct buf *out, struct str text, bool is_word)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.s[i];

        if (c == '=' && i + 2 < text.len && hex_of(text.s[i + 1]) >= 0 &&
            hex_of(text.s[i + 2]) >= 0) {
            c = (char)(hex_of(text.s[i + 1]) * 16 + hex_of(text.s[i + 2]));
            i += 2;
        } else if (c == '=' && i + 1 < text.len && text.s[i + 1] == '\n') {
            i++; /* the line goes on */
            continue;
        } else if (c == '_' && is_word) {
            c = ' ';
        }
        (void)buf_append_char(out, c); /* kept in it */
    }
}

static void put_base64(struct buf *out, struct str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0;
    int n = 0;

    for (size_t i = 0; i < text.len && text.s[i] != '='; i++) {
        const char *at = text.s[i] ? strchr(digits, text.s[i]) : NULL;

        if (!at) {
            continue;
        }
        bits = bits << 6 | (unsigned)(at - digits);
        n += 6;
        if (n >= 8) {
            n -= 8;
            (void)buf_append_char(out, (char)(bits >> n & 0xff));
            bits &= (1u << n) - 1;
        }
    }
}

/* Bytes of some charset as UTF-8: UTF-8 if they are, else Latin-1. */
static void put_utf8(struct buf *out, struct str bytes)
{
    if (utf8_is_valid(bytes)) {
        (void)buf_append(out, bytes.s ? bytes.s : "", bytes.len);
        return;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.s[i];
        char utf8[4];

        (void)buf_append(out, utf8, utf8_put(c ? c : ' ', utf8));
    }
}

/* "=?utf-8?q?caf=C3=A9?=" in a header; 0 if there is none at `at`. */
static size_t put_word(struct buf *out, struct str text, size_t at)
{
    size_t charset = str_find(text, STR("?"), at + 2);
    size_t kind =
        charset == SIZE_MAX ? charset : str_find(text, STR("?"), charset + 1);
    size_t end = kind == SIZE_MAX ? kind : str_find(text, STR("?="), kind + 1);
    struct str inner;
    struct buf raw;

    if (end == SIZE_MAX || kind != charset + 2) {
        return 0;
    }
    inner = str_sub(text, kind + 1, end);
    buf_init(&raw, MAX_HEADER);
    if (text.s[charset + 1] == 'B' || text.s[charset + 1] == 'b') {
        put_base64(&raw, inner);
    } else {
        put_quoted(&raw, inner, true);
    }
    put_utf8(out, buf_str(&raw));
    buf_release(&raw);
    return end + 2 - at;
}

static void put_header(struct buf *out, struct str text)
{
    size_t at = 0;

    while (at < text.len) {
        size_t used = 0;

        if (str_starts(str_sub(text, at, text.len), STR("=?"))) {
            used = put_word(out, text, at);
            while (
                used && at + used < text.len && text.s[at + used] == ' ' &&
                str_starts(str_sub(text, at + used + 1, text.len), STR("=?"))) {
                used++; /* spaces between two such words go */
            }
        }
        if (used == 0) {
            put_utf8(out, str_sub(text, at, at + 1));
            used = 1;
        }
        at += used;
    }
}

/* --- headers -------------------------------------------------------------- */

/* The value of a header of the block, its lines joined; in `out`. */
static bool find_header(struct str head, const char *name, struct buf *out)
{
    struct str line;
    bool is_in = false;

    buf_clear(out);
    while (str_split(&head, '\n', &line)) {
        if (line.len > 0 && (line.s[0] == ' ' || line.s[0] == '\t')) {
            if (is_in) {
                struct str more = str_trim(line);

                (void)buf_append_char(out, ' '); /* kept in it */
                (void)buf_append(out, more.s, more.len);
            }
            continue;
        }
        if (is_in) {
            return true;
        }
        is_in = str_istarts(line, str_of(name)) && line.len > strlen(name) &&
                line.s[strlen(name)] == ':';
        if (is_in) {
            struct str value =
                str_trim(str_sub(line, strlen(name) + 1, line.len));

            (void)buf_append(out, value.s, value.len);
        }
    }
    return is_in;
}

/* "name=value" or name="value" of a header. */
static struct str parameter(struct str header, const char *name)
{
    size_t at = 0;

    for (;;) {
        struct str rest;
        size_t end;

        at = str_find(header, STR(";"), at);
        if (at == SIZE_MAX) {
            return (struct str){0};
        }
        at++;
        rest = str_trim(str_sub(header, at, header.len));
        if (!str_istarts(rest, str_of(name)) || rest.len <= strlen(name) ||
            rest.s[strlen(name)] != '=') {
            continue;
        }
        rest = str_sub(rest, strlen(name) + 1, rest.len);
        if (rest.len > 0 && rest.s[0] == '"') {
            rest = str_sub(rest, 1, rest.len);
            return str_sub(rest, 0, str_find(rest, STR("\""), 0));
        }
        end = str_find(rest, STR(";"), 0);
        return str_trim(str_sub(rest, 0, end));
    }
}

/* The last "<...>" of a header, or the first. */
static void put_id(struct buf *out, struct str header, bool is_last)
{
    size_t from = SIZE_MAX;

    for (size_t i = 0; i < header.len; i++) {
        if (header.s[i] == '<' && (is_last || from == SIZE_MAX)) {
            from = i + 1;
        }
    }
    if (from != SIZE_MAX) {
        struct str id = str_sub(header, from, header.len);

        id = str_trim(str_sub(id, 0, str_find(id, STR(">"), 0)));
        put_utf8(out, id);
    }
}

/* "Ada Lovelace" of "Ada Lovelace <ada@x>", else the address. */
static void put_sender(struct buf *out, struct str header)
{
    struct buf text;
    struct str all;
    struct str name;
    size_t angle;

    buf_init(&text, MAX_HEADER);
    put_header(&text, header);
    all = buf_str(&text);
    angle = str_find(all, STR("<"), 0);
    name = str_trim(str_sub(all, 0, angle));
    if (name.len > 1 && name.s[0] == '"') {
        name = str_sub(name, 1, str_find(name, STR("\""), 1));
    }
    if (name.len == 0 && angle != SIZE_MAX) {
        name = str_sub(all, angle + 1, str_find(all, STR(">"), 0));
    }
    (void)buf_append(out, name.s ? name.s : "", name.len);
    buf_release(&text);
}

/* "Tue, 2 Jan 2024 10:00:00 +0100 (CET)"; 0 if it cannot be read. */
static int64_t time_of(struct str text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char copy[64];
    char name[4] = "";
    char sign = '+';
    int day = 0;
    int year = 0;
    int hour = 0;
    int minute = 0;
    int seconds = 0;
    int zone = 0;
    const char *at;
    const char *month;
    size_t comma = str_find(text, STR(","), 0);
    struct str rest =
        comma == SIZE_MAX ? text : str_trim(str_sub(text, comma + 1, text.len));
    int n;

    rest.len = rest.len > sizeof(copy) - 1 ? sizeof(copy) - 1 : rest.len;
    memcpy(copy, rest.s ? rest.s : "", rest.len);
    copy[rest.len] = '\0';
    at = copy;
    n = sscanf(at, "%2d %3s %4d %2d:%2d:%2d %c%4d", &day, name, &year, &hour,
               &minute, &seconds, &sign, &zone);
    if (n == 5 || n == 3) { /* no seconds */
        n = sscanf(at, "%2d %3s %4d %2d:%2d %c%4d", &day, name, &year, &hour,
                   &minute, &sign, &zone);
    }
    month = strlen(name) == 3 ? strstr(months, name) : NULL;
    year += year < 70 ? 2000 : year < 100 ? 1900 : 0;
    if (n < 5 || !month || day < 1 || day > 31 || hour > 23 || hour < 0 ||
        minute > 59 || minute < 0 || year < 1970) {
        return 0;
    }
    zone = (sign == '+' || sign == '-') ? zone / 100 * 60 + zone % 100 : 0;
    return clock_days_from_civil(year, (int)(month - months) / 3 + 1, day) *
               CLOCK_DAY_MS +
           hour * CLOCK_HOUR_MS + minute * CLOCK_MINUTE_MS +
           seconds * CLOCK_SECOND_MS -
           (sign == '-' ? -zone : zone) * CLOCK_MINUTE_MS;
}

/* --- bodies --------------------------------------------------------------- */

/* Where the headers end; the body follows. */
static size_t end_of_head(struct str bytes)
{
    size_t end = str_find(bytes, STR("\n\n"), 0);

    return end == SIZE_MAX ? bytes.len : end;
}

static void put_body(struct buf *out, struct str encoding, struct str body,
                     bool is_html)
{
    struct buf raw;
    struct buf text;

    buf_init(&raw, MAX_TEXT);
    buf_init(&text, MAX_TEXT);
    if (str_istarts(encoding, STR("base64"))) {
        put_base64(&raw, body);
    } else if (str_istarts(encoding, STR("quoted-printable"))) {
        put_quoted(&raw, body, false);
    } else {
        (void)buf_append(&raw, body.s ? body.s : "", body.len);
    }
    put_utf8(&text, buf_str(&raw));
    if (is_html) {
        said_html(out, buf_str(&text));
    } else {
        said_append(out, str_trim(buf_str(&text)));
    }
    buf_release(&raw);
    buf_release(&text);
}

static void read_part(struct buf *out, struct str part, int depth);

/* Each part between the boundaries; of alternatives the first that has text. */
static void read_parts(struct buf *out, struct str body, struct str boundary,
                       bool is_choice, int depth)
{
    struct str rest = body;
    struct str line;
    size_t from = SIZE_MAX;

    while (str_split(&rest, '\n', &line)) {
        size_t at = (size_t)(line.s - body.s);
        bool is_mark = line.len >= boundary.len + 2 && line.s[0] == '-' &&
                       line.s[1] == '-' &&
                       str_starts(str_sub(line, 2, line.len), boundary);

        if (!is_mark) {
            continue;
        }
        if (from != SIZE_MAX && from <= at) {
            size_t before = out->len;

            read_part(out, str_sub(body, from, at), depth + 1);
            if (is_choice && out->len > before) {
                return;
            }
        }
        from = at + line.len + 1;
    }
    if (from != SIZE_MAX && from < body.len) { /* the end mark is missing */
        read_part(out, str_sub(body, from, body.len), depth + 1);
    }
}

static void read_part(struct buf *out, struct str part, int depth)
{
    size_t end = end_of_head(part);
    /* a part may begin with its empty line: it has no headers */
    bool is_bare = part.len > 0 && part.s[0] == '\n';
    struct str head = is_bare ? (struct str){"", 0} : str_sub(part, 0, end);
    struct str body = is_bare ? part : str_sub(part, end + 2, part.len);
    struct buf type;
    struct buf other;
    struct str kind;

    buf_init(&type, MAX_HEADER);
    buf_init(&other, MAX_HEADER);
    (void)find_header(head, "content-type", &type); /* text if there is none */
    kind = buf_str(&type);
    if (str_istarts(kind, STR("multipart/")) && depth < MAX_DEPTH) {
        struct str boundary = parameter(kind, "boundary");

        if (boundary.len > 0) {
            read_parts(out, body, boundary,
                       str_istarts(kind, STR("multipart/alternative")), depth);
        }
    } else if (find_header(head, "content-disposition", &other) &&
               str_istarts(buf_str(&other), STR("attachment"))) {
        struct str name = parameter(buf_str(&other), "filename");

        said_attach(out,
                    utf8_is_valid(name) && name.len ? name : STR("attachment"));
    } else if (kind.len == 0 || str_istarts(kind, STR("text/"))) {
        (void)find_header(head, "content-transfer-encoding", &other);
        put_body(out, buf_str(&other), body,
                 str_istarts(kind, STR("text/html")));
    } else {
        struct str name = parameter(kind, "name");

        said_attach(out,
                    utf8_is_valid(name) && name.len ? name : STR("attachment"));
    }
    buf_release(&type);
    buf_release(&other);
}

void mime_read(struct mime_message *mail, struct str bytes)
{
    struct str head = str_sub(bytes, 0, end_of_head(bytes));
    struct buf value;

    buf_init(&value, MAX_HEADER);
    if (find_header(head, "message-id", &value)) {
        put_id(&mail->message_id, buf_str(&value), false);
    }
    if (find_header(head, "in-reply-to", &value)) {
        put_id(&mail->parent_id, buf_str(&value), false);
    }
    if (mail->parent_id.len == 0 && find_header(head, "references", &value)) {
        put_id(&mail->parent_id, buf_str(&value), true);
    }
    if (find_header(head, "from", &value)) {
        put_sender(&mail->from, buf_str(&value));
    }
    if (find_header(head, "subject", &value)) {
        put_header(&mail->subject, buf_str(&value));
    }
    if (find_header(head, "date", &value)) {
        mail->time_ms = time_of(buf_str(&value));
    }
    buf_release(&value);
    read_part(&mail->text, bytes, 0);
}
