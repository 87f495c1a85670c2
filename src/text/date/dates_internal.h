/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dates_internal.h - what the files of the date reader share.
 *
 * date_words.c and date_numbers.c say what a token can mean, date_items.c what
 * those of a text do, date_calc.c does the calendar, date_name.c tells a day
 * from a name, date_tense.c says whether a sentence looks back or ahead,
 * date_which.c, date_days.c, date_nth.c and date_rules.c read single dates,
 * date_recur.c what comes again and again, date_parse.c puts them together,
 * dates.c walks the text. date_spaceless.c and date_marks.c read Chinese,
 * Japanese and Korean by themselves.
 */
#ifndef TEXT_DATES_INTERNAL_H
#define TEXT_DATES_INTERNAL_H

#include "base/clock.h"
#include "text/date/dates.h"

enum date_class {
    DC_OTHER,
    DC_MONTH,
    DC_WEEKDAY,  /* 0 = Monday */
    DC_WEEKDAYS, /* "Fridays" */
    DC_UNIT,
    DC_NUMBER,  /* a count: digits, "three", "a", "couple", "few" */
    DC_ORDINAL, /* 5th, third */
    DC_YEAR,    /* 1950-2049 as digits; `value` also serves as a number */
    DC_DECADE,  /* 90s, 1990s */
    DC_QUARTER, /* Q3 */
    DC_WEEK_NO, /* KW, "calendar week": its number follows; `value` of "KW48" */
    DC_TIME,    /* `value` = minute of the day; length in `extra` */
    DC_DATE,    /* 2024-03-01 and the like: `value` = days, `extra` = unit */
    DC_MOMENT,  /* RFC 3339 with a zone: `value` = ms UTC */
    DC_DAYS,    /* 5-7 as in "May 5-7": value, extra */
    DC_TODAY,   /* `value` = days from today */
    DC_TONIGHT, /* a part of the day + 1, of yesterday below 0; 0: evening */
    DC_THIS,
    DC_LAST, /* `value` = how many before that: "vorletzte" */
    DC_NEXT,
    DC_COMING, /* the one to come, not that of next week; from DC_NEXT */
    DC_PAST,
    DC_AGO,
    DC_IN,
    DC_ON,
    DC_AT,
    DC_THE,
    DC_OF,
    DC_SINCE,
    DC_UNTIL,
    DC_BY,
    DC_BETWEEN,
    DC_AND,
    DC_FROM,
    DC_TO, /* also a dash */
    DC_BEFORE,
    DC_AFTER,
    DC_EARLY,
    DC_MID,
    DC_LATE,
    DC_DAYPART,
    DC_SEASON,
    DC_HOLIDAY,
    DC_NOW,
    DC_OTHER_DAY, /* "other" of "the other day" */
    DC_COMMA,
    DC_MERIDIEM, /* am = 0, pm = 1 */
    DC_OCLOCK,
    DC_PART_HOUR, /* "y media": 30; risky: before the hour, "halb neun" */
    DC_EVERY,
    DC_DAILY, /* daily, mornings, weekdays: again and again; `value`: the part
                 of the day + 1 that "abends" is behind an hour */
    DC_LATER, /* later: 1, earlier: -1 */
    DC_EVE,
    DC_DAY_WORD, /* "day" of "Christmas Day" is DC_UNIT */
    DC_NAMED,    /* a name follows: named, Mrs, Frau */
    DC_END
};

enum date_unit {
    DU_SECOND,
    DU_MINUTE,
    DU_HOUR,
    DU_DAY,
    DU_WEEK,
    DU_WEEKEND,
    DU_FORTNIGHT,
    DU_MONTH,
    DU_QUARTER,
    DU_YEAR,
    DU_DECADE,
    DU_CENTURY
};

enum date_part {
    DP_MORNING,
    DP_AFTERNOON,
    DP_EVENING,
    DP_NIGHT,
    DP_NOON,
    DP_MIDNIGHT
};

struct date_item {
    enum date_class class;
    int64_t value;
    int64_t extra;
    uint32_t token;
    uint32_t last; /* token: of "que viene" the second */
    bool is_capital;
    bool is_short;    /* an abbreviation like Sat or Mar */
    bool is_risky;    /* also a common word: may, march, sun, fall, second */
    bool is_name;     /* also a person: April, June */
    bool is_vague;    /* one of many: "the Monday meeting" */
    bool is_rota;     /* closed, open, 9-5: of a timetable */
    bool is_street;   /* rue, plaza: named after a day */
    bool is_verb;     /* more often a verb than a noun */
    bool starts;      /* first word of its sentence */
    bool breaks;      /* a sentence begins here */
    uint8_t language; /* enum text_language of the word */
};

enum date_tense { TENSE_NONE, TENSE_PAST, TENSE_FUTURE };

/* A range of local time; UTC if `is_utc`. */
struct when {
    int64_t from;
    int64_t to;
    enum date_grain grain;
    bool is_relative;
    bool is_utc;
    bool is_unsure; /* may as well be another day */
    bool is_weekly; /* a weekday: the next is a week away, not a year */
    bool is_yearly; /* of a year that was not said */
    bool begins;    /* from this one on */
    bool is_open;   /* since or until this one: */
    int64_t said_from;
    int64_t said_to;
    enum date_grain said_grain;
};

/* What the words around a date say of its side. */
struct date_tense_seen {
    enum date_tense tense;
    bool is_strong;        /* a verb says so, not a participle */
    enum date_tense bound; /* the side a preposition says, whatever the tense */
    bool is_arranged;      /* booked, agreed: the day itself may be to come */
    bool is_done;          /* "we visited Rome in January": the month it was */
    bool is_for;           /* "for" stands before the date */
    bool is_from;          /* "from", "ab": what begins then may be to come */
    bool begins;           /* … or "as of": and it goes on */
    bool is_yearly;        /* of a birthday and the like: no year is meant */
    bool is_move;          /* "moved from Monday to Friday" is no range */
    bool is_mixed;         /* "Fixed: tap, sink, Tuesday": what was Tuesday? */
    bool is_habit;         /* "we always eat fish on Friday" */
    bool is_regular;       /* rent, wages: a day of each month */
    bool is_named;         /* "today is Sunday": the day is what is told */
    bool is_owned;         /* "in her last year": of hers, not of ours */
};

struct date_ref {
    int64_t now_utc;
    int64_t now_local;
    int64_t today; /* days since 1970, local */
    int64_t year;
    int month;
    int day;
    int weekday;     /* 0 = Monday */
    bool looks_back; /* analysis_options */
    struct date_tense_seen seen;
    bool has_said;       /* a month was said shortly before: */
    int64_t said_day;    /* the day it was part of */
    size_t said_reach;   /* the first sentence it no longer holds for */
    bool has_day;        /* the sentence named a day: */
    int64_t that_day;    /* which a time alone belongs to */
    bool has_anchor;     /* a day was told of shortly before: */
    int64_t anchor;      /* "two weeks after that", "the next day" */
    size_t anchor_reach; /* as said_reach */
};

struct date_parser {
    const struct date_item *items; /* one DC_END at the end */
    size_t n;
    struct date_ref ref;
};

/* What `token` can mean in a date. */
struct date_item date_item_of(struct str text, const struct tokens *tokens,
                              size_t index);

/* The same of `word`, a part of that token: "année" of "l'année". */
struct date_item date_item_as(const struct tokens *tokens, size_t index,
                              struct str word);

static inline void date_item_set(struct date_item *item, enum date_class class,
                                 int64_t value, int64_t extra)
{
    item->class = class;
    item->value = value;
    item->extra = extra;
}

/* A number, and what has digits and signs or letters. */
void date_read_number(struct str text, struct date_item *item);
void date_read_code(struct str text, const struct token *token,
                    struct date_item *item);

/* Items of a text and the DC_END behind them, at most. */
#define DATE_ITEMS_MAX(tokens) ((tokens)->count * 2 + 1)

/* The items of `tokens`; false if none of them can be a date. */
bool date_items_read(struct str text, const struct tokens *tokens,
                     struct date_item *items, size_t *out_n);

/* The next date of a script without spaces at or behind `*at`, which moves past
 * it; false if there is none. */
bool date_spaceless(struct str text, const struct date_ref *ref, size_t *at,
                    size_t *out_from, struct when *out);

/* The language, not English, that has most of a text's words as words of dates;
 * the text's own if that has as many, or none has `least`. */
enum text_language date_language(const struct tokens *tokens, size_t least);

/* ---- calendar; all on local days ---- */
struct when when_days(int64_t from_day, int64_t to_day, enum date_grain grain);
struct when when_month(int64_t year, int64_t month, int64_t n_months);
struct when when_year(int64_t year, int64_t n_years);
/* The unit that holds `day`, `shift` units later. */
struct when when_unit(int64_t day, enum date_unit unit, int64_t shift);
/* `n` units before (n < 0) or after now. */
struct when when_away(const struct date_ref *ref, enum date_unit unit,
                      int64_t n);
/* The `n` units up to now (n < 0) or from now. */
struct when when_span(const struct date_ref *ref, enum date_unit unit,
                      int64_t n);
/* `day` moved by n units. */
int64_t day_move(int64_t day, enum date_unit unit, int64_t n);
int day_weekday(int64_t day);
/* False if there is no such day. */
bool day_of(int64_t year, int64_t month, int64_t day, int64_t *out);
/* A week of a year by its number in ISO 8601; false if there is none. */
bool week_of(int64_t year, int64_t week, struct when *out);
struct when when_season(int64_t season, int64_t year);
int64_t holiday_day(int64_t holiday, int64_t year);
struct when when_daypart(int64_t day, enum date_part part);
/* First, second or third third of a range: 0, 1, 2. */
struct when when_third(struct when whole, int third);

static inline int64_t date_days_between(int64_t a, int64_t b)
{
    return a < b ? b - a : a - b;
}

/* ---- reading items ---- */
static inline const struct date_item *date_item_at(const struct date_parser *p,
                                                   size_t at)
{
    return &p->items[at < p->n ? at : p->n];
}

static inline enum date_class date_class_at(const struct date_parser *p,
                                            size_t at)
{
    const struct date_item *item = date_item_at(p, at);

    return item->class;
}

static inline bool date_is(const struct date_parser *p, size_t at,
                           enum date_class class)
{
    return date_class_at(p, at) == class;
}

static inline void date_skip(const struct date_parser *p, size_t *at,
                             enum date_class class)
{
    *at += date_is(p, *at, class);
}

static inline bool date_is_preposition(enum date_class class)
{
    return class == DC_IN || class == DC_ON || class == DC_LAST ||
           class == DC_NEXT || class == DC_THIS || class == DC_SINCE ||
           class == DC_UNTIL || class == DC_BY || class == DC_EARLY ||
           class == DC_MID || class == DC_LATE || class == DC_OF ||
           class == DC_FROM || class == DC_BETWEEN || class == DC_BEFORE ||
           class == DC_AFTER || class == DC_PAST;
}

static inline enum date_class date_class_before(const struct date_parser *p,
                                                size_t at)
{
    return at == 0 || date_item_at(p, at)->breaks ? DC_END
                                                  : date_class_at(p, at - 1);
}

/* Does a clause end here: a sentence, a comma, a sign? */
static inline bool date_ends_at(const struct date_parser *p, size_t at)
{
    const struct date_item *item = date_item_at(p, at);

    return item->breaks || item->class == DC_END || item->class == DC_COMMA ||
           (item->class == DC_OTHER && item->extra == 1);
}

/* The tokens of a date: its sentence's first, its own, the first behind. */
struct date_place {
    size_t sentence;
    size_t at;
    size_t to;
    size_t skip;    /* token behind a day beside it: "sat" of "sat and sun" */
    bool is_bare;   /* it begins with no "by", "since", "until" */
    bool has_until; /* it begins with "until" */
    bool has_from;  /* "from", "vom", "del" stands right before it */
    bool has_of;    /* "of", "de" stands there */
};

/* Past or to come: the words around a date. */
struct date_tense_seen date_tense_at(const struct tokens *tokens,
                                     enum text_language language,
                                     const struct date_place *place);

/* The same of scripts without spaces, by what stands behind the date's end. */
struct date_tense_seen date_tense_spaceless(struct str text, size_t at);
/* Does what stands before a Chinese date move or fix something to it: 改到? */
bool date_is_moved_to(struct str before);

/* Take away the days and months that are names: "the Sunday Times", "May is
 * here", "Easter Road". */
void date_unname(const struct tokens *tokens, struct date_item *items,
                 size_t n);

/* ---- rules: match at `*at`, which moves past the words ---- */
/* Of a yearly range, the year that is meant when none is said. */
int64_t date_year_for(const struct date_ref *ref, struct when this_year,
                      bool *out_unsure);
/* The day of a weekday after last, this or next (DC_ON: none of them). */
int64_t date_weekday_from(const struct date_ref *ref, int64_t weekday,
                          enum date_class which);
struct when date_weekend_by(const struct date_ref *ref, enum date_class which);
struct when date_season_by(const struct date_ref *ref, enum date_class which,
                           int64_t season);
struct when date_holiday_in(int64_t holiday, int64_t year);
/* A count: 3, three, a, a couple of, a few, twenty five. */
bool date_take_count(const struct date_parser *p, size_t *at, int64_t *out);
/* three weeks ago, in two days, 5 minutes from now, two Fridays ago */
bool date_rule_count(const struct date_parser *p, size_t *at, struct when *out);
/* last, this, next and what follows: Thursday, week, May, summer, 3 days */
bool date_rule_which(const struct date_parser *p, size_t *at, struct when *out);
/* May 5th, May 5-7, May 2021, May */
bool date_rule_month(const struct date_parser *p, size_t *at, struct when *out);
/* 5 May, Sat 5 - Sun 6 May, the 5th of May 2023, 5-7 May; 5 of "5 and 7 May" */
bool date_rule_days(const struct date_parser *p, size_t *at, struct when *out);
/* on the 5th, Friday the 5th */
bool date_rule_nth(const struct date_parser *p, size_t *at, struct when *out);
/* the second Tuesday in March, the last weekend of next month */
bool date_rule_rank(const struct date_parser *p, size_t *at, struct when *out);
/* Move past such words without a month: "my first Monday", "the last Friday of
 * the month". */
bool date_is_rank_alone(const struct date_parser *p, size_t *at);
/* "Sat 14", "the 14th", "14"; the weekday is -1 if none was said */
bool date_take_day(const struct date_parser *p, size_t *at, int64_t *out_day,
                   int64_t *out_weekday);
bool date_take_year(const struct date_parser *p, size_t *at, int64_t *out);
/* The minutes of a clock time, and how many it covers. */
bool date_take_time(const struct date_parser *p, size_t *at, bool may_be_bare,
                    int64_t *out_minute, int64_t *out_length);
/* Move past what recurs: "every morning at 7", "Sundays at 6 PM". */
bool date_recurs(const struct date_parser *p, size_t *at);
/* Does what was read belong to something that recurs? "6 PM on Sundays" */
bool date_recurs_behind(const struct date_parser *p, size_t *at,
                        const struct when *when);
/* One day, month, year ... as it is said. */
bool date_base(const struct date_parser *p, size_t *at, struct when *out);
/* The expression at `*at`, which moves past it. */
bool date_parse(const struct date_parser *parser, size_t *at, struct when *out);

#endif
