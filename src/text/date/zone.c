/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone.c - offsets of time zones from the system's zoneinfo files.
 *
 * libc's own zone is one per process, so the TZif files (RFC 8536) are read
 * here. A zone is read once, kept until exit and never changed; slots are
 * published with atomic operations, so readers take no lock.
 */
#include "text/date/zone.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ZONE_FOLDER "/usr/share/zoneinfo/"
/* The largest file of tzdata has under 4 KB; fat ones under 16 KB. */
#define ZONE_FILE_BYTES 65536
#define ZONE_NAME_BYTES 64
#define ZONE_SLOTS 1024 /* tzdata has about 600 names */
#define HEADER_BYTES 44

/* A day of a POSIX rule: Mm.w.d, Jn or n, and the local time of the change. */
struct rule_day {
    char form; /* 'M', 'J' or '0' */
    int month;
    int week;
    int day;
    int64_t seconds;
};

struct rule {
    bool is_set;
    bool has_dst;
    int64_t std;
    int64_t dst;
    struct rule_day start;
    struct rule_day end;
};

struct zone {
    char name[ZONE_NAME_BYTES];
    size_t n_transitions;
    int64_t *times;   /* seconds, UTC */
    int32_t *offsets; /* after each transition, seconds */
    int32_t first_offset;
    struct rule rule; /* after the last transition */
};

static _Atomic(struct zone *) slots[ZONE_SLOTS];

static void zone_free(struct zone *zone)
{
    if (zone) {
        alloc_free(zone->times);
        alloc_free(zone->offsets);
        alloc_free(zone);
    }
}

__attribute__((destructor)) static void release_at_exit(void)
{
    for (size_t i = 0; i < ZONE_SLOTS; i++) {
        zone_free(atomic_exchange(&slots[i], NULL));
    }
}

/* ---- the POSIX rule in the footer ---- */

static bool read_int(struct str *rest, int64_t *out)
{
    size_t n = 0;
    int64_t value = 0;

    while (n < rest->len && n < 6 && rest->s[n] >= '0' && rest->s[n] <= '9') {
        value = value * 10 + (rest->s[n] - '0');
        n++;
    }
    *rest = str_sub(*rest, n, rest->len);
    *out = value;
    return n > 0;
}

static bool take_char(struct str *rest, char c)
{
    if (rest->len == 0 || rest->s[0] != c) {
        return false;
    }
    *rest = str_sub(*rest, 1, rest->len);
    return true;
}

/* [+-]hh[:mm[:ss]] */
static bool read_hms(struct str *rest, int64_t *out)
{
    bool is_negative = take_char(rest, '-');
    int64_t hours;
    int64_t minutes = 0;
    int64_t seconds = 0;

    if (!is_negative) {
        (void)take_char(rest, '+'); /* optional */
    }
    if (!read_int(rest, &hours) ||
        (take_char(rest, ':') && !read_int(rest, &minutes)) ||
        (take_char(rest, ':') && !read_int(rest, &seconds))) {
        return false;
    }
    *out = hours * 3600 + minutes * 60 + seconds;
    *out = is_negative ? -*out : *out;
    return true;
}

static bool skip_name(struct str *rest)
{
    size_t n = 0;

    if (take_char(rest, '<')) {
        while (n < rest->len && rest->s[n] != '>') {
            n++;
        }
        *rest = str_sub(*rest, n + 1, rest->len);
        return n > 0;
    }
    while (n < rest->len && ((rest->s[n] | 0x20) >= 'a') &&
           ((rest->s[n] | 0x20) <= 'z')) {
        n++;
    }
    *rest = str_sub(*rest, n, rest->len);
    return n > 0;
}

static bool read_day(struct str *rest, struct rule_day *out)
{
    int64_t a = 0;
    int64_t b = 0;
    int64_t c = 0;

    out->seconds = 7200;
    if (take_char(rest, 'M')) {
        out->form = 'M';
        if (!read_int(rest, &a) || !take_char(rest, '.') ||
            !read_int(rest, &b) || !take_char(rest, '.') ||
            !read_int(rest, &c) || a < 1 || a > 12 || b < 1 || b > 5 || c > 6) {
            return false;
        }
    } else {
        out->form = take_char(rest, 'J') ? 'J' : '0';
        if (!read_int(rest, &c) || c > 366) {
            return false;
        }
    }
    out->month = (int)a;
    out->week = (int)b;
    out->day = (int)c;
    return !take_char(rest, '/') || read_hms(rest, &out->seconds);
}

static bool read_rule(struct str text, struct rule *out)
{
    int64_t west;

    if (!skip_name(&text) || !read_hms(&text, &west)) {
        return false;
    }
    out->std = -west; /* POSIX counts westward */
    out->dst = out->std + 3600;
    if (text.len == 0) {
        out->is_set = true;
        return true;
    }
    if (!skip_name(&text)) {
        return false;
    }
    if (text.len && text.s[0] != ',') {
        if (!read_hms(&text, &west)) {
            return false;
        }
        out->dst = -west;
    }
    if (!take_char(&text, ',') || !read_day(&text, &out->start) ||
        !take_char(&text, ',') || !read_day(&text, &out->end)) {
        return false;
    }
    out->has_dst = true;
    out->is_set = true;
    return true;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Local seconds since 1970 of a rule's change in `year`. */
static int64_t change_at(const struct rule_day *day, int64_t year)
{
    int64_t days;

    if (day->form == 'M') {
        int64_t first = clock_days_from_civil(year, day->month, 1);
        int64_t next = day->month == 12
                           ? clock_days_from_civil(year + 1, 1, 1)
                           : clock_days_from_civil(year, day->month + 1, 1);
        /* 1970-01-01 was a Thursday (4) */
        int weekday = (int)(((first + 4) % 7 + 7) % 7);

        days =
            first + (day->day - weekday + 7) % 7 + (int64_t)(day->week - 1) * 7;
        while (days >= next) {
            days -= 7;
        }
    } else if (day->form == 'J') {
        days = clock_days_from_civil(year, 1, 1) + day->day - 1;
        if (is_leap(year) && day->day >= 60) {
            days++;
        }
    } else {
        days = clock_days_from_civil(year, 1, 1) + day->day;
    }
    return days * 86400 + day->seconds;
}

static int64_t rule_offset(const struct rule *rule, int64_t seconds)
{
    int64_t year;
    int month;
    int day;
    int64_t start;
    int64_t end;
    int64_t days = (seconds + rule->std) / 86400;

    if (!rule->has_dst) {
        return rule->std;
    }
    if ((seconds + rule->std) % 86400 < 0) {
        days--;
    }
    clock_civil_from_days(days, &year, &month, &day);
    start = change_at(&rule->start, year) - rule->std;
    end = change_at(&rule->end, year) - rule->dst;
    if (start < end) {
        return seconds >= start && seconds < end ? rule->dst : rule->std;
    }
    return seconds >= end && seconds < start ? rule->std : rule->dst;
}

/* ---- the file ---- */

static int64_t be_at(const unsigned char *p, size_t n)
{
    uint64_t value = p[0] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; i < n; i++) {
        value = value << 8 | p[i];
    }
    return (int64_t)value;
}

struct counts {
    size_t isut;
    size_t isstd;
    size_t leap;
    size_t time;
    size_t type;
    size_t chars;
};

static bool read_counts(const unsigned char *p, size_t len, struct counts *out)
{
    size_t *const fields[] = {&out->isut, &out->isstd, &out->leap,
                              &out->time, &out->type,  &out->chars};

    if (len < HEADER_BYTES || memcmp(p, "TZif", 4) != 0) {
        return false;
    }
    for (size_t i = 0; i < 6; i++) {
        int64_t value = be_at(p + 20 + i * 4, 4);

        if (value < 0 || value > ZONE_FILE_BYTES) {
            return false;
        }
        *fields[i] = (size_t)value;
    }
    return out->type > 0;
}

static size_t body_len(const struct counts *c, size_t time_bytes)
{
    return c->time * (time_bytes + 1) + c->type * 6 + c->chars +
           c->leap * (time_bytes + 4) + c->isstd + c->isut;
}

static bool read_body(const unsigned char *p, const struct counts *c,
                      size_t time_bytes, struct zone *zone)
{
    const unsigned char *kinds = p + c->time * time_bytes;
    const unsigned char *types = kinds + c->time;

    zone->n_transitions = c->time;
    zone->times = alloc_zero(c->time + 1, sizeof(*zone->times));
    zone->offsets = alloc_zero(c->time + 1, sizeof(*zone->offsets));
    if (!zone->times || !zone->offsets) {
        return false;
    }
    zone->first_offset = (int32_t)be_at(types, 4);
    for (size_t i = 0; i < c->time; i++) {
        if (kinds[i] >= c->type) {
            return false;
        }
        zone->times[i] = be_at(p + i * time_bytes, time_bytes);
        zone->offsets[i] = (int32_t)be_at(types + (size_t)kinds[i] * 6, 4);
    }
    return true;
}

static bool read_tzif(const unsigned char *p, size_t len, struct zone *zone)
{
    struct counts c;
    size_t at = HEADER_BYTES;
    size_t time_bytes = 4;
    size_t end;

    if (!read_counts(p, len, &c)) {
        return false;
    }
    if (p[4] >= '2') {
        size_t skip = HEADER_BYTES + body_len(&c, 4);

        if (skip > len || !read_counts(p + skip, len - skip, &c)) {
            return false;
        }
        at = skip + HEADER_BYTES;
        time_bytes = 8;
    }
    end = at + body_len(&c, time_bytes);
    if (end > len || !read_body(p + at, &c, time_bytes, zone)) {
        return false;
    }
    if (time_bytes == 8 && end + 1 < len && p[end] == '\n') {
        struct str footer = {(const char *)p + end + 1, len - end - 1};
        size_t stop = str_find(footer, STR("\n"), 0);

        footer = str_sub(footer, 0, stop);
        (void)read_rule(footer, &zone->rule); /* then the last offset holds */
    }
    return true;
}

static bool is_plain_name(struct str name)
{
    if (name.len == 0 || name.len >= ZONE_NAME_BYTES || name.s[0] == '/') {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.s[i];

        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              (c >= '0' && c <= '9') || (c != '\0' && strchr("_+-/", c)))) {
            return false; /* so "." and ".." cannot be part of a path */
        }
    }
    return true;
}

static struct zone *zone_read(struct str name)
{
    char path[sizeof(ZONE_FOLDER) + ZONE_NAME_BYTES];
    unsigned char *bytes = alloc_bytes(ZONE_FILE_BYTES);
    struct zone *zone = alloc_zero(1, sizeof(*zone));
    size_t len = 0;
    bool is_read = false;
    int fd = -1;

    (void)snprintf(path, sizeof(path), ZONE_FOLDER "%.*s", (int)name.len,
                   name.s);
    if (bytes && zone) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    while (fd >= 0 && len < ZONE_FILE_BYTES) {
        ssize_t n = read(fd, bytes + len, ZONE_FILE_BYTES - len);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            is_read = n == 0;
            break;
        }
        len += (size_t)n;
    }
    if (fd >= 0) {
        (void)close(fd); /* only read from */
    }
    if (!is_read || !read_tzif(bytes, len, zone)) {
        zone_free(zone);
        zone = NULL;
    } else {
        memcpy(zone->name, name.s, name.len);
    }
    alloc_free(bytes);
    return zone;
}

static bool names_zone(const struct zone *zone, struct str name)
{
    return strlen(zone->name) == name.len &&
           memcmp(zone->name, name.s, name.len) == 0;
}

/* The shared zone, read on first use; NULL if there is none of that name. */
static const struct zone *zone_find(struct str name)
{
    size_t i = str_hash(name) % ZONE_SLOTS;
    struct zone *made = NULL;

    for (size_t n = 0; n < ZONE_SLOTS; n++, i = (i + 1) % ZONE_SLOTS) {
        struct zone *zone = atomic_load(&slots[i]);

        if (!zone) {
            if (!made) {
                made = zone_read(name);
            }
            if (!made ||
                atomic_compare_exchange_strong(&slots[i], &zone, made)) {
                return made;
            }
            /* another thread took the slot; `zone` is what it put there */
        }
        if (names_zone(zone, name)) {
            zone_free(made);
            return zone;
        }
    }
    zone_free(made);
    return NULL;
}

static int64_t zone_offset_at(const struct zone *zone, int64_t seconds)
{
    size_t low = 0;
    size_t high = zone->n_transitions;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (zone->times[mid] <= seconds) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (low == zone->n_transitions && zone->rule.is_set) {
        return rule_offset(&zone->rule, seconds);
    }
    return low == 0 ? zone->first_offset : zone->offsets[low - 1];
}

/* "+02:00", "-0530", "+2", "UTC+2", "GMT-3" */
static bool fixed_offset(struct str text, int64_t *out_ms)
{
    int64_t value = 0;
    int64_t hours;
    int64_t minutes = 0;
    size_t digits = 0;
    bool is_negative;

    if (str_istarts(text, STR("utc")) || str_istarts(text, STR("gmt"))) {
        text = str_sub(text, 3, text.len);
    }
    if (text.len < 2 || (text.s[0] != '+' && text.s[0] != '-')) {
        return false;
    }
    is_negative = text.s[0] == '-';
    for (size_t i = 1; i < text.len; i++) {
        if (text.s[i] == ':' && digits > 0 && digits <= 2) {
            continue;
        }
        if (text.s[i] < '0' || text.s[i] > '9' || ++digits > 4) {
            return false;
        }
        value = value * 10 + (text.s[i] - '0');
    }
    hours = digits > 2 ? value / 100 : value;
    minutes = digits > 2 ? value % 100 : 0;
    if (hours > 18 || minutes > 59) {
        return false;
    }
    value = (hours * 60 + minutes) * CLOCK_MINUTE_MS;
    *out_ms = is_negative ? -value : value;
    return true;
}

bool text_zone_offset(struct str name, int64_t time_ms, int64_t *out_ms)
{
    const struct zone *zone;
    int64_t seconds = time_ms / 1000 - (time_ms % 1000 < 0);

    if (name.len == 0 || str_ieq(name, STR("z")) || str_ieq(name, STR("utc"))) {
        *out_ms = 0;
        return true;
    }
    if (fixed_offset(name, out_ms)) {
        return true;
    }
    if (!is_plain_name(name)) {
        return false;
    }
    zone = zone_find(name);
    if (!zone) {
        return false;
    }
    *out_ms = zone_offset_at(zone, seconds) * 1000;
    return true;
}

static int64_t offset_or_utc(struct str name, int64_t time_ms)
{
    int64_t offset;

    return text_zone_offset(name, time_ms, &offset) ? offset : 0;
}

int64_t zone_to_local(struct str name, int64_t time_ms)
{
    return time_ms + offset_or_utc(name, time_ms);
}

int64_t zone_to_utc(struct str name, int64_t local_ms)
{
    int64_t before = offset_or_utc(name, local_ms - CLOCK_DAY_MS);
    int64_t after;

    if (offset_or_utc(name, local_ms - before) == before) {
        return local_ms - before; /* of two, the first */
    }
    after = offset_or_utc(name, local_ms + CLOCK_DAY_MS);
    if (offset_or_utc(name, local_ms - after) == after) {
        return local_ms - after;
    }
    return local_ms - before; /* in the gap: as if the clock had gone on */
}
