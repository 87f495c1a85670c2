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

/* Who writes kana or Hangul puts the verb last. */
static bool is_verb_last(struct str rest)
{
    unsigned char lead = (unsigned char)rest.s[0];
    unsigned char second = rest.len > 1 ? (unsigned char)rest.s[1] : 0;

    return (lead == 0xe3 && second >= 0x81 && second <= 0x83) ||
           (lead >= 0xea && lead <= 0xed);
}

struct date_tense_seen date_tense_spaceless(struct str text, size_t at)
{
    struct date_tense_seen seen = {0};
    struct str rest = str_sub(text, at, text.len);
    size_t end = rest.len < TENSE_BYTES ? text.len : at + TENSE_BYTES;
    bool has_since =
        str_starts(rest, STR("から")) || str_starts(rest, STR("부터"));
    bool is_last = false;

    for (; at < end && !ends_sentence(rest);
         rest = str_sub(text, at, text.len)) {
        const struct tense_mark *mark = mark_at(rest);

        is_last |= is_verb_last(rest);
        if (!mark) {
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
    return seen;
}
