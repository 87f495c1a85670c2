/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date_marks.c - past or to come in Chinese, Japanese and Korean. See
 * dates_internal.h.
 *
 * Chinese tells it by the first mark behind the day (了, 会), Japanese and
 * Korean by the last one of the sentence (ました, 予定, 었).
 */
#include "text/date/dates_internal.h"

#include "base/utf8.h"

#include <string.h>

/* Bytes behind a date that are looked at for its verb. */
#define TENSE_BYTES 180
/* Every mark is at U+3000 or above. */
#define LEAST_LEAD 0xe3

static const struct tense_mark {
    const char *mark;
    enum date_tense tense;
} marks[] = {
#include "lexicon/cjk/tense.def"
};

static const struct tense_mark *mark_at(struct str rest)
{
    const struct tense_mark *best = NULL;

    if ((unsigned char)rest.s[0] < LEAST_LEAD) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (str_starts(rest, str_of(marks[i].mark)) &&
            (!best || strlen(marks[i].mark) > strlen(best->mark))) {
            best = &marks[i];
        }
    }
    return best;
}

static bool ends_sentence(struct str rest)
{
    return rest.s[0] == '\n' || rest.s[0] == '.' || rest.s[0] == '!' ||
           rest.s[0] == '?' || str_starts(rest, STR("。")) ||
           str_starts(rest, STR("！")) || str_starts(rest, STR("？"));
}

/* 会 of 开会 is a meeting, no "will". */
static bool is_meeting(struct str text, size_t at)
{
    static const char *const words[] = {"开会", "開會", "開会", "聚会", "聚會"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct str word = str_of(words[i]);

        if (at >= word.len / 2 &&
            str_starts(str_sub(text, at - word.len / 2, text.len), word)) {
            return true;
        }
    }
    return false;
}

/* Who writes kana or Hangul puts the verb last. */
static bool is_verb_last(struct str rest)
{
    unsigned char lead = (unsigned char)rest.s[0];
    unsigned char second = rest.len > 1 ? (unsigned char)rest.s[1] : 0;

    return (lead == 0xe3 && second >= 0x81 && second <= 0x83) ||
           (lead >= 0xea && lead <= 0xed);
}

static bool starts_with_one(struct str rest, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_starts(rest, str_of(list[i]))) {
            return true;
        }
    }
    return false;
}
#define STARTS(rest, list)                                                     \
    starts_with_one(rest, list, sizeof(list) / sizeof((list)[0]))

/* "by Friday": to come, if no verb says otherwise. */
static const char *const limits[] = {"まで", "까지", "之前", "以前", "前"};
/* "to Thursday", and verbs that put something on a day: done already, the day
 * itself to come. */
static const char *const directions[] = {"로", "으로"};
static const char *const moves[] = {"変更",   "延期", "延ば",    "延び",
                                    "ずらし", "移し", "振り替え"};
/* … or the day on which they were done. */
static const char *const bookings[] = {"予約", "約束", "예약", "약속"};

/* The side that the day itself is on, where the verb tells of something done
 * about it. */
static void see_arranged(struct str rest, size_t len,
                         struct date_tense_seen *seen)
{
    bool is_moved = STARTS(rest, directions);
    bool is_booked = false;

    for (size_t at = 0; at < len; at++) {
        is_moved |= STARTS(str_sub(rest, at, len), moves);
        is_booked |= STARTS(str_sub(rest, at, len), bookings);
    }
    if (STARTS(rest, limits) && seen->tense == TENSE_NONE) {
        seen->tense = TENSE_FUTURE;
    } else if (is_moved) {
        seen->tense = TENSE_FUTURE;
    } else if (is_booked && seen->tense == TENSE_PAST) {
        seen->tense = TENSE_NONE;
    }
}

bool date_is_moved_to(struct str before)
{
    static const char *const verbs[] = {"改", "推", "延", "迟", "遲", "期",
                                        "挪", "调", "調", "移", "前", "换",
                                        "約", "约", "定", "订", "訂"};
    static const char *const ends[] = {"到", "至", "成", "为", "為", "在"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct str end = str_of(ends[i]);

        for (size_t k = 0;
             str_ends(before, end) && k < sizeof(verbs) / sizeof(verbs[0]);
             k++) {
            if (str_ends(str_sub(before, 0, before.len - end.len),
                         str_of(verbs[k]))) {
                return true;
            }
        }
    }
    return false;
}

struct date_tense_seen date_tense_spaceless(struct str text, size_t at)
{
    struct date_tense_seen seen = {0};
    struct str behind = str_sub(text, at, text.len);
    struct str rest = behind;
    size_t end = rest.len < TENSE_BYTES ? text.len : at + TENSE_BYTES;
    bool has_since =
        str_starts(rest, STR("から")) || str_starts(rest, STR("부터"));
    bool is_last = false;

    for (; at < end && !ends_sentence(rest);
         rest = str_sub(text, at, text.len)) {
        const struct tense_mark *mark = mark_at(rest);

        is_last |= is_verb_last(rest);
        if (!mark || is_meeting(text, at)) {
            (void)utf8_next(text, &at);
            continue;
        }
        if (is_last || seen.tense == TENSE_NONE) {
            bool goes_on = str_starts(str_of(mark->mark), STR("てい"));

            /* "月曜日から続いている": since then */
            seen.tense = goes_on && has_since ? TENSE_PAST : mark->tense;
        }
        at += strlen(mark->mark);
    }
    see_arranged(behind, at - (size_t)(behind.s - text.s), &seen);
    return seen;
}
