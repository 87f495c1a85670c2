/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - wall and monotonic time, RFC 3339. See clock.h.
 */
#include "base/clock.h"

#include <string.h>
#include <time.h>

struct clock clock_system = {.is_fake = false};

int64_t clock_now_ms(struct clock *clock)
{
    struct timespec now;

    if (clock->is_fake) {
        return atomic_load(&clock->fake_ms);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_init_fake(struct clock *clock, int64_t now_ms)
{
    clock->is_fake = true;
    atomic_store(&clock->fake_ms, now_ms);
}

void clock_set_ms(struct clock *clock, int64_t now_ms)
{
    atomic_store(&clock->fake_ms, now_ms);
}

void clock_add_ms(struct clock *clock, int64_t delta_ms)
{
    atomic_fetch_add(&clock->fake_ms, delta_ms);
}

int64_t clock_mono_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_steady_ms(struct clock *clock)
{
    return clock->is_fake ? atomic_load(&clock->fake_ms)
                          : clock_mono_ns() / 1000000;
}

void clock_wait_past(struct clock *clock, int64_t ms)
{
    const struct timespec moment = {.tv_nsec = 250000};

    if (clock->is_fake && clock_now_ms(clock) == ms) {
        clock_add_ms(clock, 1);
    }
    while (clock_now_ms(clock) == ms) {
        (void)nanosleep(&moment, NULL); /* shorter is fine */
    }
}

/* Both civil conversions count in 400-year eras that begin on 1 March, so
 * that the leap day is the last day of a year. */
int64_t clock_days_from_civil(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year =
        (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

void clock_civil_from_days(int64_t days, int64_t *out_year, int *out_month,
                           int *out_day)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    int month = (int)(mp < 10 ? mp + 3 : mp - 9);

    *out_day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *out_month = month;
    *out_year = yoe + era * 400 + (month <= 2);
}

/* Over zeros, from the last digit to the left. */
static void put_digits(char *last, int64_t value)
{
    for (; value > 0; value /= 10) {
        *last-- = (char)('0' + value % 10);
    }
}

void clock_format(int64_t time_ms, char out[CLOCK_TEXT_SIZE])
{
    static const char zero[] = "0000-00-00T00:00:00.000Z";
    int64_t days;
    int64_t rest;
    int64_t year;
    int month;
    int day;

    if (time_ms < CLOCK_MIN_MS) {
        time_ms = CLOCK_MIN_MS;
    } else if (time_ms > CLOCK_MAX_MS) {
        time_ms = CLOCK_MAX_MS;
    }
    days = time_ms / CLOCK_DAY_MS;
    rest = time_ms % CLOCK_DAY_MS;
    if (rest < 0) {
        rest += CLOCK_DAY_MS;
        days--;
    }
    clock_civil_from_days(days, &year, &month, &day);
    memcpy(out, zero, sizeof(zero));
    put_digits(out + 3, year);
    put_digits(out + 6, month);
    put_digits(out + 9, day);
    put_digits(out + 12, rest / CLOCK_HOUR_MS);
    put_digits(out + 15, rest / CLOCK_MINUTE_MS % 60);
    put_digits(out + 18, rest / CLOCK_SECOND_MS % 60);
    put_digits(out + 22, rest % 1000);
}

/* `n` digits at `*at`, advancing it; false if they are not all digits. */
static bool digits(struct str text, size_t *at, int n, int *out_value)
{
    int value = 0;

    if (text.len - *at < (size_t)n) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        char c = text.s[*at + (size_t)i];

        if (c < '0' || c > '9') {
            return false;
        }
        value = value * 10 + (c - '0');
    }
    *at += (size_t)n;
    *out_value = value;
    return true;
}

static bool expect(struct str text, size_t *at, char c)
{
    if (*at < text.len && text.s[*at] == c) {
        (*at)++;
        return true;
    }
    return false;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && is_leap);
}

static bool parse_date(struct str text, size_t *at, int64_t *out_days)
{
    int year;
    int month;
    int day;

    if (!digits(text, at, 4, &year) || !expect(text, at, '-') ||
        !digits(text, at, 2, &month) || !expect(text, at, '-') ||
        !digits(text, at, 2, &day) || year < 1 || month < 1 || month > 12 ||
        day < 1 || day > days_in_month(year, month)) {
        return false;
    }
    *out_days = clock_days_from_civil(year, month, day);
    return true;
}

static bool parse_fraction(struct str text, size_t *at, int *out_ms)
{
    int ms = 0;
    int scale = 100;
    size_t start;

    if (!expect(text, at, '.')) {
        *out_ms = 0;
        return true;
    }
    start = *at;
    while (*at < text.len && text.s[*at] >= '0' && text.s[*at] <= '9') {
        ms += (text.s[*at] - '0') * scale;
        scale /= 10;
        (*at)++;
    }
    *out_ms = ms;
    return *at > start;
}

static bool parse_offset(struct str text, size_t *at, int64_t *out_ms)
{
    int sign;
    int hours;
    int minutes;

    if (expect(text, at, 'Z') || expect(text, at, 'z')) {
        *out_ms = 0;
        return true;
    }
    if (expect(text, at, '+')) {
        sign = 1;
    } else if (expect(text, at, '-')) {
        sign = -1;
    } else {
        return false;
    }
    if (!digits(text, at, 2, &hours)) {
        return false;
    }
    (void)expect(text, at, ':'); /* the colon is optional */
    if (!digits(text, at, 2, &minutes) || hours > 23 || minutes > 59) {
        return false;
    }
    *out_ms = sign * (hours * CLOCK_HOUR_MS + minutes * CLOCK_MINUTE_MS);
    return true;
}

static bool parse_time(struct str text, size_t *at, int64_t *out_ms)
{
    int hour;
    int minute;
    int second;
    int ms;
    int64_t offset_ms;

    if (!digits(text, at, 2, &hour) || !expect(text, at, ':') ||
        !digits(text, at, 2, &minute) || !expect(text, at, ':') ||
        !digits(text, at, 2, &second) || !parse_fraction(text, at, &ms) ||
        !parse_offset(text, at, &offset_ms) || hour > 23 || minute > 59 ||
        second > 60) {
        return false;
    }
    if (second == 60) {
        second = 59; /* a leap second has no number of its own */
        ms = 999;
    }
    *out_ms = hour * CLOCK_HOUR_MS + minute * CLOCK_MINUTE_MS +
              second * CLOCK_SECOND_MS + ms - offset_ms;
    return true;
}

bool clock_parse(struct str text, int64_t *out_ms)
{
    size_t at = 0;
    int64_t days;
    int64_t day_ms = 0;
    int64_t value;

    if (!parse_date(text, &at, &days)) {
        return false;
    }
    if (at < text.len) {
        char sep = text.s[at++];

        if ((sep != 'T' && sep != 't' && sep != ' ') ||
            !parse_time(text, &at, &day_ms)) {
            return false;
        }
    }
    value = days * CLOCK_DAY_MS + day_ms;
    if (at != text.len || value < CLOCK_MIN_MS || value > CLOCK_MAX_MS) {
        return false;
    }
    *out_ms = value;
    return true;
}
