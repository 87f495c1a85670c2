/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_calc.c - the calendar behind date expressions. See dates_internal.h.
 */
#include "text/date/dates_internal.h"

#define DAY CLOCK_DAY_MS

/* Numbers of units past this are no date anybody means. */
#define MAX_SHIFT 100000

int day_weekday(int64_t day)
{
    return (int)(((day + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
}

static int month_days(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && is_leap ? 29 : days[month - 1];
}

bool day_of(int64_t year, int64_t month, int64_t day, int64_t *out)
{
    if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 ||
        day > month_days(year, month)) {
        return false;
    }
    *out = clock_days_from_civil(year, (int)month, (int)day);
    return true;
}

struct when when_days(int64_t from_day, int64_t to_day, enum date_grain grain)
{
    return (struct when){
        .from = from_day * DAY, .to = to_day * DAY, .grain = grain};
}

/* First day of a month; months may run over years. */
static int64_t month_start(int64_t year, int64_t month)
{
    int64_t index = year * 12 + month - 1;
    int64_t y = index / 12 - (index % 12 < 0);

    return clock_days_from_civil(y, (int)(index - y * 12) + 1, 1);
}

struct when when_month(int64_t year, int64_t month, int64_t n_months)
{
    return when_days(month_start(year, month),
                     month_start(year, month + n_months),
                     n_months == 1 ? DATE_MONTH : DATE_RANGE);
}

struct when when_year(int64_t year, int64_t n_years)
{
    return when_days(month_start(year, 1), month_start(year + n_years, 1),
                     n_years == 1 ? DATE_YEAR : DATE_RANGE);
}

int64_t day_move(int64_t day, enum date_unit unit, int64_t n)
{
    int64_t year;
    int month;
    int dom;
    int64_t start;
    int64_t months = unit == DU_MONTH     ? n
                     : unit == DU_QUARTER ? n * 3
                     : unit == DU_YEAR    ? n * 12
                     : unit == DU_DECADE  ? n * 120
                                          : n * 1200;

    if (unit <= DU_DAY) {
        return day + n;
    }
    if (unit <= DU_FORTNIGHT) {
        return day + n * (unit == DU_FORTNIGHT ? 14 : 7);
    }
    clock_civil_from_days(day, &year, &month, &dom);
    start = month_start(year, month + months);
    clock_civil_from_days(start, &year, &month, &(int){0});
    if (dom > month_days(year, month)) {
        dom = month_days(year, month); /* 31 May - 3 months: 28 February */
    }
    return start + dom - 1;
}

static int64_t floor_to(int64_t value, int64_t step)
{
    int64_t rest = value % step;

    return value - (rest < 0 ? rest + step : rest);
}

struct when when_unit(int64_t day, enum date_unit unit, int64_t shift)
{
    int64_t year;
    int month;
    int dom;

    day = day_move(day, unit, shift);
    clock_civil_from_days(day, &year, &month, &dom);
    switch (unit) {
    case DU_SECOND:
    case DU_MINUTE:
    case DU_HOUR:
    case DU_DAY:
        return when_days(day, day + 1, DATE_DAY);
    case DU_WEEK:
        day -= day_weekday(day);
        return when_days(day, day + 7, DATE_WEEK);
    case DU_WEEKEND:
        day += 5 - day_weekday(day);
        return when_days(day, day + 2, DATE_RANGE);
    case DU_FORTNIGHT:
        day -= day_weekday(day);
        return when_days(day, day + 7, DATE_WEEK);
    case DU_MONTH:
        return when_month(year, month, 1);
    case DU_QUARTER:
        return when_month(year, (month - 1) / 3 * 3 + 1, 3);
    case DU_YEAR:
        return when_year(year, 1);
    case DU_DECADE:
        return when_year(floor_to(year, 10), 10);
    case DU_CENTURY:
        return when_year(floor_to(year, 100), 100);
    }
    return when_days(day, day + 1, DATE_DAY);
}

static int64_t unit_ms(enum date_unit unit)
{
    return unit == DU_SECOND   ? CLOCK_SECOND_MS
           : unit == DU_MINUTE ? CLOCK_MINUTE_MS
                               : CLOCK_HOUR_MS;
}

static int64_t clamp_count(int64_t n)
{
    return n > MAX_SHIFT ? MAX_SHIFT : n < -MAX_SHIFT ? -MAX_SHIFT : n;
}

struct when when_away(const struct date_ref *ref, enum date_unit unit,
                      int64_t n)
{
    struct when when;

    n = clamp_count(n);
    if (unit <= DU_HOUR) {
        int64_t at = ref->now_utc + n * unit_ms(unit);

        return (struct when){.from = at,
                             .to = at + unit_ms(unit),
                             .grain = DATE_TIME,
                             .is_relative = true,
                             .is_utc = true};
    }
    when = when_unit(ref->today, unit, n);
    when.is_relative = true;
    return when;
}

struct when when_span(const struct date_ref *ref, enum date_unit unit,
                      int64_t n)
{
    struct when when = {.grain = DATE_RANGE, .is_relative = true};
    int64_t time = ref->now_local - ref->today * DAY;
    int64_t other;

    n = clamp_count(n);
    if (unit <= DU_HOUR) {
        other = ref->now_utc + n * unit_ms(unit);
        when.from = n < 0 ? other : ref->now_utc;
        when.to = n < 0 ? ref->now_utc : other;
        when.is_utc = true;
        return when;
    }
    other = day_move(ref->today, unit, n) * DAY;
    when.from = n < 0 ? other : ref->now_local;
    when.to = n < 0 ? ref->now_local : other + (time > 0 ? DAY : 0);
    return when;
}

bool week_of(int64_t year, int64_t week, struct when *out)
{
    int64_t first;
    int64_t next;

    /* 4 January is in the first week of its year */
    if (week < 1 || week > 53 || !day_of(year, 1, 4, &first) ||
        !day_of(year + 1, 1, 4, &next)) {
        return false;
    }
    *out = when_unit(first, DU_WEEK, week - 1);
    return out->from < when_unit(next, DU_WEEK, 0).from;
}

struct when when_season(int64_t season, int64_t year)
{
    /* spring, summer, autumn, winter (into the next year) */
    struct when when = when_month(year, 3 + season * 3, 3);

    when.grain = DATE_RANGE;
    return when;
}

/* Sunday of Easter by the Gregorian computus. */
static int64_t easter(int64_t year)
{
    int64_t a = year % 19;
    int64_t b = year / 100;
    int64_t c = year % 100;
    int64_t h = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
    int64_t l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7;
    int64_t m = (a + 11 * h + 22 * l) / 451;
    int64_t n = h + l - 7 * m + 114;

    return clock_days_from_civil(year, (int)(n / 31), (int)(n % 31) + 1);
}

/* The n-th `weekday` of a month; n = 5 is the last. */
static int64_t nth_weekday(int64_t year, int month, int weekday, int n)
{
    int64_t first = month_start(year, month);
    int64_t day = first + (weekday - day_weekday(first) + 7) % 7;

    day += (int64_t)(n - 1) * 7;
    while (day >= month_start(year, month + 1)) {
        day -= 7;
    }
    return day;
}

enum {
    HOLIDAY_EASTER = 1,
    HOLIDAY_GOOD_FRIDAY,
    HOLIDAY_THANKSGIVING,
    HOLIDAY_BLACK_FRIDAY,
    HOLIDAY_LABOR,
    HOLIDAY_MEMORIAL,
    HOLIDAY_MOTHERS,
    HOLIDAY_FATHERS,
    HOLIDAY_PENTECOST,
    HOLIDAY_WHIT_MONDAY,
    HOLIDAY_EASTER_MONDAY,
    HOLIDAY_ASCENSION,
    HOLIDAY_SHROVE_MONDAY
};

int64_t holiday_day(int64_t holiday, int64_t year)
{
    if (holiday >= 100) { /* month * 100 + day */
        return clock_days_from_civil(year, (int)(holiday / 100),
                                     (int)(holiday % 100));
    }
    switch (holiday) {
    case HOLIDAY_EASTER:
        return easter(year);
    case HOLIDAY_GOOD_FRIDAY:
        return easter(year) - 2;
    case HOLIDAY_THANKSGIVING:
        return nth_weekday(year, 11, 3, 4);
    case HOLIDAY_BLACK_FRIDAY:
        return nth_weekday(year, 11, 3, 4) + 1;
    case HOLIDAY_LABOR:
        return nth_weekday(year, 9, 0, 1);
    case HOLIDAY_MEMORIAL:
        return nth_weekday(year, 5, 0, 5);
    case HOLIDAY_MOTHERS:
        return nth_weekday(year, 5, 6, 2);
    case HOLIDAY_PENTECOST:
        return easter(year) + 49;
    case HOLIDAY_WHIT_MONDAY:
        return easter(year) + 50;
    case HOLIDAY_EASTER_MONDAY:
        return easter(year) + 1;
    case HOLIDAY_ASCENSION:
        return easter(year) + 39;
    case HOLIDAY_SHROVE_MONDAY:
        return easter(year) - 48;
    default:
        return nth_weekday(year, 6, 6, 3);
    }
}

struct when when_daypart(int64_t day, enum date_part part)
{
    static const struct {
        int from;
        int to; /* minutes from the day's start */
    } parts[] = {
        [DP_MORNING] = {300, 720},   [DP_AFTERNOON] = {720, 1080},
        [DP_EVENING] = {1080, 1440}, [DP_NIGHT] = {1080, 1800},
        [DP_NOON] = {720, 721},      [DP_MIDNIGHT] = {1440, 1441},
    };

    return (struct when){.from = day * DAY + parts[part].from * CLOCK_MINUTE_MS,
                         .to = day * DAY + parts[part].to * CLOCK_MINUTE_MS,
                         .grain = DATE_TIME};
}

struct when when_third(struct when whole, int third)
{
    int64_t days = (whole.to - whole.from) / DAY;
    int64_t step = days / 3;
    struct when when = whole;

    if (whole.grain == DATE_YEAR) {
        int64_t year;
        int month;
        int day;
        struct when months;

        clock_civil_from_days(whole.from / DAY, &year, &month, &day);
        months = when_month(year, 1 + 4 * (int64_t)third, 4);
        months.is_relative = whole.is_relative;
        return months;
    }
    if (whole.grain == DATE_MONTH) {
        step = 10;
    }
    when.from = whole.from + third * step * DAY;
    when.to = third == 2 ? whole.to : when.from + step * DAY;
    when.grain = DATE_RANGE;
    return when;
}
