/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_spaceless.c - dates of Chinese, Japanese and Korean. See dates.h.
 *
 * These are read from the characters: without spaces there are no words to
 * classify. A word of models/lexicon/cjk, a number with what it counts, or
 * both: "昨天", "三天前", "2026年6月3日", "上周二", "先月の15日", "지난주
 * 화요일". Which side a bare weekday lies on says date_marks.c; where nothing
 * does it is the one to come, and marked unsure.
 */
#include "text/date/dates_internal.h"

#include "base/utf8.h"

#include <string.h>

enum spaceless_class {
    SD_WHEN,
    SD_WEEKDAY,
    SD_UNIT,
    SD_AGO,
    SD_PART,    /* 下午, of a day that was said */
    SD_THIRD,   /* 上旬, 月底 */
    SD_SEASON,  /* of a year that was said */
    SD_HOLIDAY, /* month * 100 + day */
    SD_NONE     /* 春节 is no spring */
};

struct spaceless_word {
    const char *word;
    uint8_t class;
    uint8_t unit; /* enum date_unit */
    int value;
};

/* Sorted by bytes: looked up by halving. */
static const struct spaceless_word words[] = {
#include "lexicon/cjk/dates.def"
};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* Bytes of a character of these scripts. */
#define CHAR 3
/* Every one of them is at U+3000 or above. */
#define LEAST_LEAD 0xe3
/* Syllables of Korean. */
#define LEAST_HANGUL 0xea

/* A text and the moment it was said at. */
struct spaceless {
    struct str text;
    const struct date_ref *ref;
};

static struct str rest_of(const struct spaceless *s, size_t at)
{
    return str_sub(s->text, at, s->text.len);
}

/* Bytes that a word has at the start of a text, 0 if it does not stand there.
 * Korean puts a blank into many: "다음 주". */
static size_t word_at(struct str text, const char *word)
{
    size_t at = 0;

    for (size_t i = 0; word[i]; i += CHAR) {
        at += i > 0 && at < text.len && text.s[at] == ' ' &&
              (unsigned char)word[i] >= LEAST_HANGUL;
        if (text.len < at + CHAR || memcmp(text.s + at, word + i, CHAR) != 0) {
            return 0;
        }
        at += CHAR;
    }
    return at;
}

/* The longest word at `at`; `*at` moves past it. */
static const struct spaceless_word *take_word(const struct spaceless *s,
                                              size_t *at)
{
    struct str rest = rest_of(s, *at);
    const struct spaceless_word *found = NULL;
    size_t len = 0;
    size_t low = 0;
    size_t high = N_WORDS;

    if (rest.len < CHAR || (unsigned char)rest.s[0] < LEAST_LEAD) {
        return NULL;
    }
    while (low < high) { /* the first that begins with this character */
        size_t mid = low + (high - low) / 2;

        if (strncmp(words[mid].word, rest.s, CHAR) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    for (; low < N_WORDS && strncmp(words[low].word, rest.s, CHAR) == 0;
         low++) {
        size_t n = word_at(rest, words[low].word);

        if (n > len) {
            found = &words[low];
            len = n;
        }
    }
    *at += len;
    return found;
}

static bool take(const struct spaceless *s, size_t *at, const char *word)
{
    if (!str_starts(rest_of(s, *at), str_of(word))) {
        return false;
    }
    *at += strlen(word);
    return true;
}

/* Is the character at `at` one of these? */
static bool is_one_of(const struct spaceless *s, size_t at, const char *chars)
{
    struct str all = str_of(chars);

    if (at >= s->text.len || s->text.len - at < CHAR ||
        (unsigned char)s->text.s[at] < LEAST_LEAD) {
        return false;
    }
    for (size_t i = 0; i + CHAR <= all.len; i += CHAR) {
        if (memcmp(all.s + i, s->text.s + at, CHAR) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_behind(const struct spaceless *s, size_t at, const char *chars)
{
    return at >= CHAR && is_one_of(s, at - CHAR, chars);
}

static int han_digit(const struct spaceless *s, size_t at)
{
    static const char digits[] = "〇一二三四五六七八九";
    struct str rest = rest_of(s, at);

    for (int i = 0; i < 10 && rest.len >= CHAR; i++) {
        if (memcmp(digits + (size_t)i * CHAR, rest.s, CHAR) == 0) {
            return i;
        }
    }
    return str_starts(rest, STR("两")) || str_starts(rest, STR("兩")) ? 2 : -1;
}

/* Characters of the longest number, a year. */
#define MAX_DIGITS 4

/* 三, 十二, 二十三, 二〇二六; the characters it has. */
static int take_han(const struct spaceless *s, size_t *at, int64_t *out)
{
    bool has_ten = false;
    int64_t value = 0;
    int n = 0;

    for (; n <= MAX_DIGITS; n++) {
        int digit = han_digit(s, *at);

        if (digit >= 0) {
            value = has_ten ? value + digit : value * 10 + digit;
            *at += CHAR;
        } else if (!has_ten && value < 10 && take(s, at, "十")) {
            value = (value ? value : 1) * 10;
            has_ten = true;
        } else {
            break;
        }
    }
    *out = value;
    return n;
}

/* Bytes of the digit at `at`, wide (３) or not; 0: none. */
static size_t digit_at(struct str text, size_t at, int *out)
{
    if (at < text.len && text.s[at] >= '0' && text.s[at] <= '9') {
        *out = text.s[at] - '0';
        return 1;
    }
    if (at + CHAR <= text.len && memcmp(text.s + at, "\xef\xbc", 2) == 0 &&
        (unsigned char)text.s[at + 2] >= 0x90 &&
        (unsigned char)text.s[at + 2] <= 0x99) {
        *out = (unsigned char)text.s[at + 2] - 0x90;
        return CHAR;
    }
    return 0;
}

static bool take_number(const struct spaceless *s, size_t *at, int64_t *out)
{
    size_t next = *at;
    int64_t value = 0;
    size_t len;
    int digit;
    int n = 0;

    while (n <= MAX_DIGITS && (len = digit_at(s->text, next, &digit)) > 0) {
        value = value * 10 + digit;
        next += len;
        n++;
    }
    n = n > 0 ? n : take_han(s, &next, &value);
    if (n == 0 || n > MAX_DIGITS) {
        return false;
    }
    *out = value;
    *at = next;
    (void)take(s, at, " "); /* many write "3 月 18 号" */
    return true;
}

/* What joins a week and its day: 的, の, a space. */
static size_t joint_at(const struct spaceless *s, size_t at)
{
    (void)(take(s, &at, "的") || take(s, &at, "の"));
    (void)take(s, &at, " ");
    return at;
}

/* 15日, 15号 */
static bool take_day(const struct spaceless *s, size_t *at, int64_t *out)
{
    size_t next = joint_at(s, *at);

    if (!take_number(s, &next, out) ||
        !(take(s, &next, "日") || take(s, &next, "号") ||
          take(s, &next, "號") || take(s, &next, "일")) ||
        is_one_of(s, next, "前后後間间曜")) {
        return false;
    }
    *at = next;
    return true;
}

/* 六月, 6월; not Monday. */
static bool take_month(const struct spaceless *s, size_t *at, int64_t *out)
{
    size_t next = joint_at(s, *at);

    if (!take_number(s, &next, out) || *out < 1 || *out > 12 ||
        !(take(s, &next, "月") || take(s, &next, "월")) ||
        is_one_of(s, next, "曜요") ||
        (is_one_of(s, next, "天") && !is_one_of(s, next + CHAR, "气氣"))) {
        return false; /* 五月天 is a band, 六月天气 the weather */
    }
    *at = next;
    return true;
}

/* What stands between the ends of a range: 至, から, a dash. */
static bool take_to(const struct spaceless *s, size_t *at)
{
    static const char *const joints[] = {"至", "到", "から", "부터", "〜",
                                         "～", "－", "–",    "~",    "-"};

    (void)take(s, at, " ");
    for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
        if (take(s, at, joints[i])) {
            (void)take(s, at, " ");
            return true;
        }
    }
    return false;
}

/* 至14日 behind 6月12日, 至7月3日: the last day, else the first again. */
static int64_t take_last(const struct spaceless *s, size_t *at, int64_t year,
                         int64_t month, int64_t first)
{
    size_t next = *at;
    int64_t other;
    int64_t number;
    int64_t last;

    if (!take_to(s, &next)) {
        return first;
    }
    if (take_month(s, &next, &other)) {
        month = other;
    }
    if (!take_day(s, &next, &number) || !day_of(year, month, number, &last) ||
        last <= first) {
        return first;
    }
    *at = next;
    return last;
}

/* 上旬 of 4月上旬, 末 of 今月末: a third of the range. */
static void take_third(const struct spaceless *s, size_t *at,
                       enum date_unit unit, struct when *when)
{
    size_t next = joint_at(s, *at);
    const struct spaceless_word *word = take_word(s, &next);

    if (word && word->class == SD_THIRD &&
        (word->unit == unit || strlen(word->word) == CHAR)) {
        *when = when_third(*when, word->value);
        *at = next;
    }
}

/* What follows a month: its day, if it has one. */
static bool day_in(const struct spaceless *s, size_t *at, int64_t year,
                   int64_t month, struct when *out)
{
    size_t next = *at;
    int64_t number;
    int64_t day;
    int64_t last;

    *out = when_month(year, month, 1);
    if (!take_day(s, &next, &number)) {
        take_third(s, at, DU_MONTH, out);
        return true;
    }
    if (!day_of(year, month, number, &day)) {
        return false;
    }
    last = take_last(s, &next, year, month, day);
    *out = when_days(day, last + 1, last > day ? DATE_RANGE : DATE_DAY);
    *at = next;
    return true;
}

/* 6月, 6月3日: the year that is meant. */
static bool read_month(const struct spaceless *s, size_t *at, struct when *out)
{
    size_t next = *at;
    size_t after;
    int64_t month;
    int64_t year;
    bool is_unsure = false;

    if (!take_month(s, &next, &month)) {
        return false;
    }
    after = next;
    if (!day_in(s, &after, s->ref->year, month, out)) {
        return false;
    }
    year = date_year_for(s->ref, *out, &is_unsure);
    if (!day_in(s, &next, year, month, out)) {
        return false;
    }
    out->is_relative = true;
    out->is_yearly = true;
    out->is_unsure = is_unsure;
    *at = next;
    return true;
}

/* The month and day of a year, if they are said. */
static bool read_in_year(const struct spaceless *s, size_t *at, int64_t year,
                         struct when *out)
{
    size_t next = *at;
    int64_t month;

    *out = when_year(year, 1);
    if (!take_month(s, &next, &month)) {
        const struct spaceless_word *word;

        next = joint_at(s, *at);
        word = take_word(s, &next);
        if (word && word->class == SD_SEASON) {
            *out = when_season(word->value, year);
            *at = next;
        } else {
            take_third(s, at, DU_YEAR, out);
        }
        return true;
    }
    if (!day_in(s, &next, year, month, out)) {
        return false;
    }
    *at = next;
    return true;
}

/* 三天前, 2週間前, 3일 전, 两个月后 */
static bool read_count(const struct spaceless *s, size_t *at, struct when *out)
{
    const struct spaceless_word *unit;
    const struct spaceless_word *side;
    size_t next = *at;
    int64_t n;

    if (!take_number(s, &next, &n)) {
        return false;
    }
    unit = take_word(s, &next);
    if (!unit || unit->class != SD_UNIT) {
        return false;
    }
    (void)take(s, &next, " ");
    side = take_word(s, &next);
    /* "三天后他走了": after three days, then */
    if (!side || side->class != SD_AGO ||
        (side->value > 0 &&
         date_tense_spaceless(s->text, next).tense == TENSE_PAST)) {
        return false;
    }
    *out = when_away(s->ref, (enum date_unit)unit->unit, n * side->value);
    *at = next;
    return true;
}

/* 2026年6月3日, 2026年 */
static bool read_year(const struct spaceless *s, size_t *at, struct when *out)
{
    size_t next = *at;
    int64_t year;

    if (!take_number(s, &next, &year) || year < 1900 || year >= 2100 ||
        !(take(s, &next, "年") || take(s, &next, "년")) ||
        !read_in_year(s, &next, year, out)) {
        return false;
    }
    *at = next;
    return true;
}

/* 二 of 上周二, unless it counts what follows: 上周三个人, 上周日本队. */
static bool take_week_char(const struct spaceless *s, size_t *at,
                           int64_t *out_weekday)
{
    int digit = han_digit(s, *at);
    size_t next = *at + CHAR;

    if (is_one_of(s, *at, "日天")) {
        digit = 7;
    }
    if (digit < 1 || digit > 7 || is_one_of(s, *at, "两兩七") ||
        is_one_of(s, next, "个個天次共本起直些般切样樣名人位年月十")) {
        return false;
    }
    *out_weekday = digit - 1;
    *at = next;
    return true;
}

/* A week's day, a month's day, a year's month. */
static bool narrow(const struct spaceless *s, size_t *at,
                   const struct spaceless_word *word, struct when *when)
{
    int64_t first = when->from / CLOCK_DAY_MS;
    size_t next = joint_at(s, *at);
    int64_t number;
    int64_t year;
    int month;
    int dom;

    clock_civil_from_days(first, &year, &month, &dom);
    if (word->unit == DU_WEEK) {
        const struct spaceless_word *weekday;
        size_t bare = *at;

        if (take_week_char(s, &bare, &number)) {
            next = bare;
        } else {
            weekday = take_word(s, &next);
            if (!weekday || weekday->class != SD_WEEKDAY) {
                return true;
            }
            number = weekday->value;
        }
        *when = when_days(first + number, first + number + 1, DATE_DAY);
        *at = next;
    } else if (word->unit == DU_MONTH) {
        return day_in(s, at, year, month, when);
    } else if (word->unit == DU_YEAR) {
        return read_in_year(s, at, year, when);
    }
    return true;
}

/* Characters before which 上, 前 and the like are the end of another word:
 * 晚上, 以前, 然后, 日本. */
static bool is_tail(const struct spaceless *s, size_t at)
{
    return is_one_of(s, at, "上下前后後本") &&
           is_behind(s, at, "早晚以之然目最日空马馬网網手地路");
}

/* 每周二, 毎週火曜日, 매주 화요일, 三周一次: no one day. */
static bool is_one_of_many(const struct spaceless *s, size_t at)
{
    static const char *const leads[] = {"每个", "每個", "毎週", "毎週の",
                                        "隔週", "매주", "매주 "};
    struct str before = str_sub(s->text, 0, at);

    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        if (str_ends(before, str_of(leads[i]))) {
            return true;
        }
    }
    return is_behind(s, at, "一二三四五六七八九十每毎两兩几幾매");
}

/* 周五 of 周一至周五: days behind the first, 0 if there is no other. */
static int64_t take_last_weekday(const struct spaceless *s, size_t *at,
                                 int64_t first)
{
    const struct spaceless_word *word;
    size_t next = *at;

    if (!take_to(s, &next)) {
        return 0;
    }
    word = take_word(s, &next);
    if (!word || word->class != SD_WEEKDAY) {
        return 0;
    }
    *at = next;
    return (word->value - first + 7) % 7;
}

/* 三点半, 15時30分, 6시 반: minutes of the day, by the part said before. */
static bool take_clock(const struct spaceless *s, size_t *at,
                       const struct spaceless_word *part, int64_t *out,
                       bool *out_exact)
{
    size_t next = *at;
    int64_t hour;
    int64_t minute = 0;

    if (!take_number(s, &next, &hour) || hour > 24 ||
        !(take(s, &next, "点") || take(s, &next, "點") ||
          take(s, &next, "時") || take(s, &next, "时") ||
          take(s, &next, "시")) ||
        is_one_of(s, next, "間间간")) {
        return false; /* 三時間 is how long */
    }
    *at = next;
    (void)take(s, &next, " ");
    *out_exact = true;
    if (take(s, &next, "半") || take(s, &next, "반")) {
        minute = 30;
        *at = next;
    } else if (take_number(s, &next, &minute) && minute < 60 &&
               (take(s, &next, "分") || take(s, &next, "분"))) {
        *at = next;
    } else {
        minute = 0;
        *out_exact = false;
    }
    if (part && hour < 12 &&
        (part->value == DP_AFTERNOON || part->value == DP_EVENING)) {
        hour += 12;
    }
    *out = hour % 24 * 60 + minute;
    return true;
}

/* A day may be followed by a part of it or an hour: 明天下午三点. */
static void narrow_day(const struct spaceless *s, size_t *at, struct when *when)
{
    size_t next = joint_at(s, *at);
    size_t after = next;
    const struct spaceless_word *part = take_word(s, &after);
    int64_t day = when->from / CLOCK_DAY_MS;
    bool is_relative = when->is_relative;
    struct when whole = *when;
    bool is_exact;
    int64_t minute;

    if (when->grain != DATE_DAY) {
        return;
    }
    if (part && part->class == SD_PART) {
        *when = when_daypart(day, (enum date_part)part->value);
        next = joint_at(s, after);
        *at = after;
    } else {
        part = NULL;
    }
    if (take_clock(s, &next, part, &minute, &is_exact)) {
        when->from = day * CLOCK_DAY_MS + minute * CLOCK_MINUTE_MS;
        when->to = when->from + (is_exact ? 1 : 60) * CLOCK_MINUTE_MS;
        when->grain = DATE_TIME;
        *at = next;
    }
    when->is_relative = is_relative;
    when->is_unsure = whole.is_unsure;
    when->is_weekly = whole.is_weekly;
    when->is_yearly = whole.is_yearly;
}

/* 国庆节, クリスマス: of the year that is meant */
static struct when holiday_of(const struct spaceless *s,
                              const struct spaceless_word *word)
{
    bool is_unsure = false;
    struct when when = date_holiday_in(word->value, s->ref->year);

    when =
        date_holiday_in(word->value, date_year_for(s->ref, when, &is_unsure));
    when.is_relative = true;
    when.is_yearly = true;
    when.is_unsure = is_unsure;
    return when;
}

static bool read_word(const struct spaceless *s, size_t *at, struct when *out)
{
    size_t next = *at;
    const struct spaceless_word *word = take_word(s, &next);

    if (!word || is_tail(s, *at)) {
        return false;
    }
    if (word->class == SD_WHEN) {
        *out = when_away(s->ref, (enum date_unit)word->unit, word->value);
        if (!narrow(s, &next, word, out)) {
            return false;
        }
        out->is_relative = true;
    } else if (word->class == SD_WEEKDAY && !is_one_of_many(s, *at)) {
        int64_t day = date_weekday_from(s->ref, word->value, DC_ON);
        int64_t more = take_last_weekday(s, &next, word->value);

        *out = when_days(day, day + more + 1, more ? DATE_RANGE : DATE_DAY);
        out->is_relative = true;
        out->is_weekly = true;
        /* 周一至周五 is every week's */
        out->is_unsure = s->ref->seen.tense == TENSE_NONE || more >= 4;
    } else if (word->class == SD_HOLIDAY) {
        *out = holiday_of(s, word);
    } else if (word->class == SD_THIRD && strlen(word->word) > CHAR &&
               is_one_of(s, *at, "月年연") && !is_one_of_many(s, *at)) {
        *out =
            when_third(when_unit(s->ref->today, (enum date_unit)word->unit, 0),
                       word->value); /* 月底: of this month */
        out->is_relative = true;
    } else {
        return false;
    }
    *at = next;
    return true;
}

/* A day by its characters, before its verb is known. */
static bool read_any(const struct spaceless *s, size_t *at, struct when *out)
{
    if (!read_word(s, at, out) &&
        (is_behind(s, *at, "第") ||
         !(read_count(s, at, out) || read_year(s, at, out) ||
           read_month(s, at, out)))) {
        return false;
    }
    narrow_day(s, at, out);
    return true;
}

bool date_spaceless(struct str text, const struct date_ref *ref, size_t *at,
                    size_t *out_from, struct when *out)
{
    struct date_ref now = *ref;
    const struct spaceless s = {text, &now};
    int digit;

    while (*at < text.len) {
        size_t from = *at;
        size_t len = digit_at(text, from, &digit);

        now.seen = (struct date_tense_seen){0};
        if ((len > 0 || (unsigned char)text.s[from] >= LEAST_LEAD) &&
            read_any(&s, at, out)) {
            if (out->is_weekly || out->is_yearly) {
                now.seen = date_tense_spaceless(text, *at);
                if (date_is_moved_to(str_sub(text, 0, from))) {
                    now.seen.tense = TENSE_FUTURE; /* 改到周五了 */
                }
                *at = from;
                (void)read_any(&s, at, out); /* it was read before */
            }
            *out_from = from;
            return true;
        }
        if (len > 0) {
            while ((len = digit_at(text, *at, &digit)) > 0) {
                *at += len;
            }
        } else {
            (void)utf8_next(text, at);
        }
    }
    return false;
}
