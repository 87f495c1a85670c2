/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatsapp.c - "Export chat" of WhatsApp: a text file, in a .zip or not.
 *
 * "15/11/2024, 18:20 - Ada: text" (Android) or "[15.11.24, 18:20:01] Ada: text"
 * (iOS); lines that do not begin so go on with the message before. Whether the
 * day or the month comes first depends on the phone: a number over 12 anywhere
 * in the beginning of the file tells, else the day does. Times are of the
 * phone's zone, which is not said: they are taken as UTC.
 */
#include "import/pieces.h"
#include "import/reader.h"
#include "import/said.h"

#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stamp {
    int first;
    int second;
    int year;
    int hour;
    int minute;
    int seconds;
    size_t len; /* of all before the speaker */
};

static bool number(struct str text, size_t *at, int *out)
{
    size_t from = *at;

    *out = 0;
    while (*at < text.len && *at - from < 4 &&
           isdigit((unsigned char)text.s[*at])) {
        *out = *out * 10 + (text.s[*at] - '0');
        ++*at;
    }
    return *at > from;
}

static bool one_of(struct str text, size_t *at, const char *chars)
{
    if (*at < text.len && strchr(chars, text.s[*at])) {
        ++*at;
        return true;
    }
    return false;
}

/* Spaces of all kinds, and marks of direction. */
static void skip_space(struct str text, size_t *at)
{
    while (*at < text.len) {
        if (text.s[*at] == ' ') {
            ++*at;
        } else if (str_starts(str_sub(text, *at, text.len), STR("\u202f")) ||
                   str_starts(str_sub(text, *at, text.len), STR("\u200e"))) {
            *at += 3;
        } else {
            return;
        }
    }
}

/* ":59", then "pm". */
static void rest_of_time(struct str text, size_t *at, struct stamp *out)
{
    if (one_of(text, at, ":.")) {
        (void)number(text, at, &out->seconds);
    }
    skip_space(text, at);
    if (*at + 1 < text.len && strchr("aApP", text.s[*at]) &&
        strchr("mM", text.s[*at + 1])) {
        bool is_pm = text.s[*at] == 'p' || text.s[*at] == 'P';

        out->hour = out->hour % 12 + (is_pm ? 12 : 0);
        *at += 2;
    }
}

static bool read_stamp(struct str line, struct stamp *out)
{
    size_t at = 0;
    bool is_ios;

    *out = (struct stamp){0};
    skip_space(line, &at);
    is_ios = one_of(line, &at, "[");
    if (!number(line, &at, &out->first) || !one_of(line, &at, "/.-") ||
        !number(line, &at, &out->second) || !one_of(line, &at, "/.-") ||
        !number(line, &at, &out->year) || !one_of(line, &at, ", ")) {
        return false;
    }
    skip_space(line, &at);
    if (!number(line, &at, &out->hour) || !one_of(line, &at, ":.") ||
        !number(line, &at, &out->minute)) {
        return false;
    }
    rest_of_time(line, &at, out);
    skip_space(line, &at);
    if (!one_of(line, &at, is_ios ? "]" : "-")) {
        return false;
    }
    skip_space(line, &at);
    out->year += out->year < 100 ? 2000 : 0;
    out->len = at;
    return out->year >= 2009 && out->year < 2200 && out->hour < 24 &&
           out->minute < 60 && out->seconds < 61;
}

bool import_whatsapp_is(struct str head)
{
    struct stamp stamp;
    struct str line = head;

    (void)str_split(&head, '\n', &line);
    return read_stamp(line, &stamp);
}

/* Look through the beginning of the file for a number over 12. */
static bool is_month_first(struct str head)
{
    struct stamp stamp;
    struct str line;

    while (str_split(&head, '\n', &line)) {
        if (read_stamp(line, &stamp)) {
            if (stamp.first > 12) {
                return false;
            }
            if (stamp.second > 12) {
                return true;
            }
        }
    }
    return false;
}

struct talk {
    struct importer *importer;
    bool is_month_first;
    struct buf text; /* of the message being read */
    struct buf name;
    int64_t time_ms;
    int64_t nth; /* how many of the same were there before it */
    char last[SAID_ID_SIZE];
    char same[SAID_ID_SIZE]; /* id without `nth` of the last one */
};

/* The message that is whole now. */
static enum clew_status hand_on(struct talk *talk, struct clew_error *err)
{
    struct import_message out = {.role = "user",
                                 .name = buf_str(&talk->name),
                                 .created_at_ms = talk->time_ms};
    char own[SAID_ID_SIZE];
    char plain[SAID_ID_SIZE];
    struct str id = said_hash("whatsapp", out.name, buf_str(&talk->text),
                              talk->time_ms, 0, plain);
    struct buf text;
    enum clew_status status;

    if (talk->name.len == 0) {
        if (talk->text.len == 0) {
            return CLEW_OK;
        }
        buf_clear(&talk->text);
        return importer_skip(talk->importer, (struct str){0}, (struct str){0},
                             IMPORT_PLUMBING, err);
    }
    talk->nth = strcmp(plain, talk->same) == 0 ? talk->nth + 1 : 0;
    (void)snprintf(talk->same, sizeof(talk->same), "%s", plain);
    if (talk->nth > 0) {
        id = said_hash("whatsapp", out.name, buf_str(&talk->text),
                       talk->time_ms, talk->nth, plain);
    }
    (void)snprintf(own, sizeof(own), "%.*s", (int)id.len, id.s);
    out.id = (struct str){own, id.len};
    out.parent = talk->last[0] ? str_of(talk->last) : (struct str){0};
    buf_init(&text, SAID_MAX_BYTES);
    said_append(&text, str_trim(buf_str(&talk->text)));
    if (text.len > 0) {
        char before[SAID_ID_SIZE];

        (void)snprintf(before, sizeof(before), "%s", talk->last);
        out.parent = before[0] ? str_of(before) : (struct str){0};
        (void)snprintf(talk->last, sizeof(talk->last), "%s", own);
        status = said_add(talk->importer, &out, &text, err);
    } else {
        status = said_add(talk->importer, &out, &text, err);
    }
    buf_clear(&talk->text);
    buf_clear(&talk->name);
    return status;
}

/* A line with a time in front. */
static enum clew_status begin(struct talk *talk, struct str line,
                              const struct stamp *stamp, struct clew_error *err)
{
    struct str said = str_sub(line, stamp->len, line.len);
    size_t colon = str_find(said, STR(": "), 0);
    int month = talk->is_month_first ? stamp->first : stamp->second;
    int day = talk->is_month_first ? stamp->second : stamp->first;
    enum clew_status status = hand_on(talk, err);

    if (status != CLEW_OK) {
        return status;
    }
    if (month < 1 || month > 12 || day < 1 || day > 31) {
        return clew_fail(err, CLEW_INVALID, "its date does not exist");
    }
    talk->time_ms =
        clock_days_from_civil(stamp->year, month, day) * CLOCK_DAY_MS +
        stamp->hour * CLOCK_HOUR_MS + stamp->minute * CLOCK_MINUTE_MS +
        stamp->seconds * CLOCK_SECOND_MS;
    buf_clear(&talk->text);
    buf_clear(&talk->name);
    if (colon != SIZE_MAX && colon < 100) { /* else a notice of the program */
        (void)buf_append(&talk->name, said.s, colon); /* kept in it */
        said = str_sub(said, colon + 2, said.len);
    }
    (void)buf_append(&talk->text, said.s, said.len);
    return CLEW_OK;
}

enum clew_status import_whatsapp(struct importer *importer,
                                 struct pieces *pieces, struct clew_error *err)
{
    struct str head = {(const char *)pieces->head, pieces->n_head};
    struct talk talk = {.importer = importer,
                        .is_month_first = is_month_first(head)};
    bool has_line = true;
    enum clew_status status =
        importer_begin(importer, import_title(importer), false, err);

    buf_init(&talk.text, SAID_MAX_BYTES);
    buf_init(&talk.name, 4096);
    while (status == CLEW_OK && has_line) {
        struct str line;
        struct stamp stamp;

        status = pieces_line(pieces, &has_line, err);
        line = buf_str(&pieces->text);
        if (status != CLEW_OK || !has_line) {
            break;
        }
        if (read_stamp(line, &stamp)) {
            status = begin(&talk, line, &stamp, err);
        } else {
            (void)buf_append_char(&talk.text, '\n'); /* kept in it */
            (void)buf_append(&talk.text, line.s ? line.s : "", line.len);
        }
    }
    if (status == CLEW_OK) {
        status = hand_on(&talk, err);
    }
    buf_release(&talk.text);
    buf_release(&talk.name);
    return status;
}
